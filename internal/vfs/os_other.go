//go:build !linux

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

func (f osFile) Sync() error {
	invariants.Blocking("a sync of a file")
	return f.File.Sync()
}

func (f osFile) Allocate(off, size int64) error { return writeZeros(f, off, size) }

func lockFile(f *os.File) error { return flock(f, unix.LOCK_EX) }

// fileLocked has no way to ask but to try; a shared lock for a moment disturbs other askers least.
func fileLocked(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_SH)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != unix.EINTR {
			return err
		}
	}
}
