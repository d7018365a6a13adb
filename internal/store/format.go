package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The directory: meta/format says who may read the rest. Its number rises when a layout is added that older programs
// do not know; nothing is ever changed in place.

const (
	formatBolt = 1 // state.db alone
	formatLog  = 2 // log/ in front of state.db

	formatNewest = formatLog
)

const formatWord = "qmgrd-store"

func formatPath(dir string) string { return filepath.Join(dir, "meta", "format") }
func statePath(dir string) string  { return filepath.Join(dir, "state.db") }

// readFormat returns 0 when there is no format file.
func readFormat(fsys vfs.FS, dir string) (int, error) {
	name := formatPath(dir)
	b, err := readFile(fsys, name, 256)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("store: read %s: %w", name, err)
	}
	var n int
	if _, err := fmt.Sscanf(string(b), formatWord+" %d\n", &n); err != nil || n < 1 ||
		string(b) != formatText(n) {
		return 0, corrupt(name, "offset 0", fmt.Sprintf("%q is not a format line", b))
	}
	return n, nil
}

func formatText(n int) string { return fmt.Sprintf("%s %d\n", formatWord, n) }

func writeFormat(fsys vfs.FS, dir string, n int) error {
	if err := mkdirDurable(fsys, filepath.Join(dir, "meta")); err != nil {
		return err
	}
	return writeFileAtomic(fsys, formatPath(dir), []byte(formatText(n)))
}

// checkFormat refuses what this program cannot read. want is the highest number it knows.
func checkFormat(fsys vfs.FS, dir string, want int) (int, error) {
	n, err := readFormat(fsys, dir)
	if err != nil {
		return 0, err
	}
	if n > want {
		return 0, fmt.Errorf("store: %s has format %d, this program reads up to %d: use the program that wrote it, "+
			"or a newer one", dir, n, want)
	}
	return n, nil
}

// lockDir makes sure that one process at a time works in dir.
func lockDir(fsys vfs.FS, dir string) (io.Closer, error) {
	l, err := fsys.Lock(filepath.Join(dir, "store.lock"))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("store: %s is in use by another process: %w", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("store: lock %s: %w", dir, err)
	}
	return l, nil
}

// readFile reads a whole file of at most limit bytes.
func readFile(fsys vfs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, corrupt(name, "size", fmt.Sprintf("%d bytes, at most %d expected", n, limit))
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// writeFileAtomic leaves the old content or the new one, durably.
func writeFileAtomic(fsys vfs.FS, name string, b []byte) error {
	tmp := name + ".new"
	f, err := fsys.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err == nil {
		err = fsys.SyncDir(filepath.Dir(name))
	}
	return err
}

// mkdirDurable makes a directory, and those above it, that a power cut does not take away.
func mkdirDurable(fsys vfs.FS, dir string) error {
	if ok, err := exists(fsys, dir); ok || err != nil {
		return err
	}
	up := filepath.Dir(dir)
	if up != dir {
		if err := mkdirDurable(fsys, up); err != nil {
			return err
		}
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return fsys.SyncDir(up)
}

// exists tells a missing file from one that cannot be looked at.
func exists(fsys vfs.FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if err == nil {
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return false, err
}
