package crashtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// killFS is the machine's disk, at one named place of which the process kills itself with signal 9. So kills hit the
// moments between two system calls that a random one hits hardly ever, without a hook in the product.
type killFS struct {
	vfs.FS
	point string
	left  atomic.Int64 // calls of that kind until the kill
	armed atomic.Bool
}

// killPoints are the places (reliability.md §3.1).
var killPoints = []string{
	"before write",      // of log frames
	"torn write",        // half of it is in the file
	"after write",       // before its sync
	"after sync",        // before the reply
	"segment made",      // of the log, empty so far
	"before checkpoint", // a bbolt commit of it
	"in checkpoint",     // while bbolt writes and syncs
	"after checkpoint",  // before the old segments are deleted
	"segment removed",
	"after directory sync",
}

// anyPoint counts every change of the disk: for kills during a start. A rename is a place there alone.
const anyPoint = "any"

func (k *killFS) reach(point string) {
	if !k.armed.Load() || k.point != point && k.point != anyPoint || k.left.Add(-1) != 0 {
		return
	}
	kill9()
}

func kill9() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way: this goroutine does nothing more
}

func isSegment(name string) bool { return strings.HasSuffix(name, ".seg") }

func (k *killFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := k.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if flag&os.O_CREATE != 0 && isSegment(name) {
		k.reach("segment made")
	}
	return &killFile{f, k, isSegment(name)}, nil
}

func (k *killFS) Rename(from, to string) error {
	k.reach("before rename")
	err := k.FS.Rename(from, to)
	k.reach("after rename")
	return err
}

func (k *killFS) Remove(name string) error {
	err := k.FS.Remove(name)
	if isSegment(name) || filepath.Base(filepath.Dir(name)) == "big" {
		k.reach("segment removed")
	}
	return err
}

func (k *killFS) SyncDir(dir string) error {
	err := k.FS.SyncDir(dir)
	k.reach("after directory sync")
	return err
}

// OpenNative implements vfs.Native.
func (k *killFS) OpenNative(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return k.FS.(vfs.Native).OpenNative(name, flag, perm)
}

// Durable implements vfs.Native.
func (k *killFS) Durable(name string, commit func() error) error {
	k.reach("before checkpoint")
	if k.armed.Load() && k.point == "in checkpoint" && k.left.Add(-1) == 0 {
		time.AfterFunc(time.Duration(time.Now().UnixNano()%4000)*time.Microsecond, kill9)
	}
	err := k.FS.(vfs.Native).Durable(name, commit)
	k.reach("after checkpoint")
	return err
}

type killFile struct {
	vfs.File
	k   *killFS
	seg bool
}

func (f *killFile) WriteAt(b []byte, off int64) (int, error) {
	if !f.seg {
		f.k.reach(anyPoint)
		return f.File.WriteAt(b, off)
	}
	f.k.reach("before write")
	if f.k.armed.Load() && f.k.point == "torn write" && f.k.left.Add(-1) == 0 {
		_, _ = f.File.WriteAt(b[:len(b)/2], off)
		kill9()
	}
	n, err := f.File.WriteAt(b, off)
	f.k.reach("after write")
	return n, err
}

func (f *killFile) Truncate(size int64) error {
	f.k.reach(anyPoint)
	return f.File.Truncate(size)
}

func (f *killFile) Allocate(off, size int64) error {
	f.k.reach(anyPoint)
	return f.File.Allocate(off, size)
}

func (f *killFile) Sync() error {
	err := f.File.Sync()
	if f.seg {
		f.k.reach("after sync")
	}
	return err
}
