// Package vfs is the only place that touches files of a queue manager's data.
//
// The store takes an FS, so that tests can lose, reorder and tear what was not synced (crashfs) or let the
// n-th call fail (errfs). Nothing here knows what is in the files.
package vfs

import (
	"io"
	"io/fs"
)

// File is an open file. WriteAt and ReadAt do not move any position.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes data and size durable (fdatasync where the system has it).
	Sync() error
	Truncate(size int64) error
	// Allocate reserves size bytes from off on, so that a later write cannot fail for want of space. The file
	// grows to off+size. Where the system cannot, it writes zeros.
	Allocate(off, size int64) error
	Size() (int64, error)
	Name() string
}

// FS is one directory tree. All names are paths as the operating system takes them.
type FS interface {
	// OpenFile takes the flags of package os (O_RDONLY, O_RDWR, O_CREATE, O_EXCL, O_TRUNC).
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	MkdirAll(name string, perm fs.FileMode) error
	// List returns the names in a directory, sorted.
	List(dir string) ([]string, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals in dir durable.
	SyncDir(dir string) error
	// Lock takes an exclusive advisory lock on name for as long as the Closer is open; a second taker gets
	// ErrLocked at once.
	Lock(name string) (io.Closer, error)
	// Free returns the bytes an unprivileged writer can still use below dir.
	Free(dir string) (uint64, error)
}
