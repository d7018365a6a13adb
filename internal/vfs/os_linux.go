package vfs

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Sync is fdatasync: data, and of the metadata only what is needed to read it back (the size).
func (f osFile) Sync() error {
	invariants.Blocking("a sync of a file")
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

func (f osFile) Allocate(off, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, off, size)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
		case unix.EOPNOTSUPP, unix.ENOSYS:
			return writeZeros(f, off, size)
		default:
			return &fs.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}

// Locks are of the open file (OFD), as flock's are, but can be asked about.
func ofdLock() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK} }

func lockFile(f *os.File) error {
	for {
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, ofdLock()); err != unix.EINTR {
			return err
		}
	}
}

func fileLocked(f *os.File) (bool, error) {
	l := ofdLock()
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, l)
	return err == nil && l.Type != unix.F_UNLCK, err
}
