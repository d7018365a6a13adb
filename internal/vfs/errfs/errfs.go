// Package errfs lets chosen calls of another vfs.FS fail.
//
// A test asks for "the n-th call of this kind" for n = 1, 2, … until a run no longer reaches it, so that every
// error path is walked.
package errfs

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// Kind is a kind of call.
type Kind string

const (
	Open     Kind = "open"
	Write    Kind = "write"
	Read     Kind = "read"
	Sync     Kind = "fdatasync"
	Truncate Kind = "truncate"
	Allocate Kind = "fallocate"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	Mkdir    Kind = "mkdir"
	List     Kind = "readdir"
	SyncDir  Kind = "fsync"
	// Durable is the commit of a library that writes a real file. It fails as a write would, without having run.
	Durable Kind = "durable"
)

// Kinds are all of them.
var Kinds = []Kind{Open, Write, Read, Sync, Truncate, Allocate, Rename, Remove, Mkdir, List, SyncDir, Durable}

// Rule says which calls fail.
type Rule struct {
	Kind   Kind
	N      int // the n-th call of the kind since the rule was set, from 1
	Err    error
	Sticky bool // and all later ones of the kind
	Short  bool // a failing write writes its first half
	// Match limits the rule to some files; nil = all.
	Match func(name string) bool
}

// FS wraps another FS.
type FS struct {
	in vfs.FS

	mu   sync.Mutex
	rule *Rule
	n    int
	hits int

	limited bool
	room    int64 // bytes left, when limited
	inside  bool
	exact   bool
}

// SetExact counts also what commits of a library (Durable) make its file longer, which they do on a disk that is too small for it too.
// Without it such a file is longer for nothing, and gives room back when it is cut: that is good for a few commits.
func (f *FS) SetExact(exact bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exact = exact
}

// SetInside lets a commit of a library (Durable) find its room in pages of its file that are in no use.
func (f *FS) SetInside(inside bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inside = inside
}

// SetRoom makes the disk small: what a file grows by is taken from room, what a removal or a cut frees is given
// back. A commit of a library (Durable) needs a spare of nativeSpare. Negative = unlimited.
func (f *FS) SetRoom(room int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limited, f.room = room >= 0, room
}

const nativeSpare = 64 << 10

// grow takes n bytes of room, or gives them back when n is negative.
func (f *FS) grow(op, name string, n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.limited {
		return nil
	}
	if n > f.room {
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
	}
	f.room -= n
	return nil
}

func (f *FS) sizeOf(name string) int64 {
	st, err := f.in.Stat(name)
	if err != nil {
		return 0
	}
	return st.Size()
}

// New wraps in; nothing fails until Set.
func New(in vfs.FS) *FS { return &FS{in: in} }

// Set puts a rule in force, counting from now; nil = nothing fails.
func (f *FS) Set(r *Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule, f.n, f.hits = r, 0, 0
}

// Hits tells how many calls failed since Set.
func (f *FS) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

func (f *FS) fail(k Kind, name string) (short bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rule
	if r == nil || r.Kind != k || (r.Match != nil && !r.Match(name)) {
		return false, nil
	}
	f.n++
	if f.n != r.N && (!r.Sticky || f.n < r.N) {
		return false, nil
	}
	f.hits++
	op := string(k)
	if k == Durable {
		op = "write"
	}
	return r.Short, &fs.PathError{Op: op, Path: name, Err: r.Err}
}

func (f *FS) check(k Kind, name string) error {
	_, err := f.fail(k, name)
	return err
}

// OpenFile implements vfs.FS.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if err := f.check(Open, name); err != nil {
		return nil, err
	}
	in, err := f.in.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{File: in, fs: f}, nil
}

// OpenNative implements vfs.Native, when the FS below does.
func (f *FS) OpenNative(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := f.check(Open, name); err != nil {
		return nil, err
	}
	return f.in.(vfs.Native).OpenNative(name, flag, perm)
}

// native accounts for what a commit of a library took, or gave back.
func (f *FS) native(grown int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if grown < 0 || f.exact {
		f.room -= grown
	}
}

// Durable implements vfs.Native.
func (f *FS) Durable(name string, commit func() error) error {
	if err := f.check(Durable, name); err != nil {
		return err
	}
	before := f.sizeOf(name)
	f.mu.Lock()
	inside := f.inside
	f.mu.Unlock()
	if !inside {
		if err := f.grow("write", name, nativeSpare); err != nil {
			return err
		}
		_ = f.grow("write", name, -nativeSpare)
	}
	defer func() { f.native(f.sizeOf(name) - before) }()
	return f.in.(vfs.Native).Durable(name, commit)
}

// Rename implements vfs.FS.
func (f *FS) Rename(from, to string) error {
	if err := f.check(Rename, from); err != nil {
		return err
	}
	return f.in.Rename(from, to)
}

// Remove implements vfs.FS.
func (f *FS) Remove(name string) error {
	if err := f.check(Remove, name); err != nil {
		return err
	}
	size := f.sizeOf(name)
	err := f.in.Remove(name)
	if err == nil {
		_ = f.grow("remove", name, -size)
	}
	return err
}

// RemoveAll implements vfs.FS.
func (f *FS) RemoveAll(name string) error {
	if err := f.check(Remove, name); err != nil {
		return err
	}
	return f.in.RemoveAll(name)
}

// MkdirAll implements vfs.FS.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.check(Mkdir, name); err != nil {
		return err
	}
	return f.in.MkdirAll(name, perm)
}

// List implements vfs.FS.
func (f *FS) List(dir string) ([]string, error) {
	if err := f.check(List, dir); err != nil {
		return nil, err
	}
	return f.in.List(dir)
}

// Stat implements vfs.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.in.Stat(name) }

// SyncDir implements vfs.FS.
func (f *FS) SyncDir(dir string) error {
	if err := f.check(SyncDir, dir); err != nil {
		return err
	}
	return f.in.SyncDir(dir)
}

// Lock implements vfs.FS.
func (f *FS) Lock(name string) (io.Closer, error) { return f.in.Lock(name) }

// Free implements vfs.FS.
func (f *FS) Free(dir string) (uint64, error) {
	f.mu.Lock()
	limited, room := f.limited, f.room
	f.mu.Unlock()
	if limited {
		return uint64(max(room, 0)), nil
	}
	return f.in.Free(dir)
}

type file struct {
	vfs.File
	fs *FS
}

// more takes the room for a file that ends at size or later.
func (f *file) more(k Kind, size int64) error {
	n, err := f.Size()
	if err != nil || size <= n {
		return err
	}
	return f.fs.grow(string(k), f.Name(), size-n)
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	short, err := f.fs.fail(Write, f.Name())
	if err == nil {
		if err := f.more(Write, off+int64(len(b))); err != nil {
			return 0, err
		}
		return f.File.WriteAt(b, off)
	}
	if !short {
		return 0, err
	}
	n, _ := f.File.WriteAt(b[:len(b)/2], off)
	return n, err
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if err := f.fs.check(Read, f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *file) Sync() error {
	if err := f.fs.check(Sync, f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) Truncate(size int64) error {
	if err := f.fs.check(Truncate, f.Name()); err != nil {
		return err
	}
	if n, err := f.Size(); err == nil && size < n {
		_ = f.fs.grow("truncate", f.Name(), size-n)
	}
	return f.File.Truncate(size)
}

func (f *file) Allocate(off, size int64) error {
	if err := f.fs.check(Allocate, f.Name()); err != nil {
		return err
	}
	if err := f.more(Allocate, off+size); err != nil {
		return err
	}
	return f.File.Allocate(off, size)
}
