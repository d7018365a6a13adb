package vfs

import (
	"errors"
	"io/fs"
	"os"
)

// ErrLocked is wrapped by the error of a second Lock on a name.
var ErrLocked = errors.New("already locked")

// Native is what an FS offers a library that needs a real file because it maps it into memory (bbolt). The FS
// cannot see what such a library writes, so the caller wraps everything that makes the file durable in Durable.
type Native interface {
	// OpenNative opens a real file of the operating system.
	OpenNative(name string, flag int, perm fs.FileMode) (*os.File, error)
	// Durable runs commit, after which the file's content is on disk. A test FS may refuse to run it, or take the
	// state before and after it for its picture of the disk.
	Durable(name string, commit func() error) error
}
