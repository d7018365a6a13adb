package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

var errReadOnly = errors.New("store: opened for reading only")

// isFull tells "no room" from every other error of a write. A sync that answers "no room" is not this: what it left
// on disk is unknown.
func isFull(err error) bool {
	if errors.Is(err, ErrFull) {
		return true
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		switch pe.Op {
		case "fdatasync", "fsync", "sync":
			return false
		}
		// No descriptor for a new segment is want of room too: what is open goes on, and one comes free again.
		if pe.Op == "open" && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) {
			return true
		}
		return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
	}
	// bbolt keeps only the text of an error of its truncate.
	if err != nil && strings.HasPrefix(err.Error(), "file resize error") {
		return strings.Contains(err.Error(), syscall.ENOSPC.Error()) ||
			strings.Contains(err.Error(), syscall.EDQUOT.Error())
	}
	return false
}

// full wraps err so that the caller sees ErrFull and the cause.
func full(err error) error {
	if errors.Is(err, ErrFull) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

// corruption is an ErrCorrupt that names where the damage is.
type corruption struct{ Problem }

func (c *corruption) Error() string { return ErrCorrupt.Error() + ": " + c.Problem.String() }
func (c *corruption) Unwrap() error { return ErrCorrupt }

func corrupt(file, where, what string) error { return &corruption{Problem{file, where, what}} }

// boltClosed turns bbolt's word for a closed database into ours.
func boltClosed(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) || errors.Is(err, berrors.ErrTxClosed) {
		return ErrClosed
	}
	return err
}
