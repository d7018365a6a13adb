package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// noted is a file that keeps the places it is written at.
type noted struct {
	vfs.File
	at [][2]int64
}

func (f *noted) WriteAt(b []byte, off int64) (int, error) {
	f.at = append(f.at, [2]int64{off, off + int64(len(b))})
	return f.File.WriteAt(b, off)
}

// The pages behind the end of the log are filled once in a while, never over what is there, never beyond the segment, and a log that was
// filled ahead ends where it ended.
func TestFillAhead(t *testing.T) {
	const size = 4 << 20
	dir := t.TempDir()
	file, err := vfs.OS().OpenFile(filepath.Join(dir, "seg"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Allocate(0, size); err != nil {
		t.Fatal(err)
	}
	f := &noted{File: file}
	w := &logWriter{segSize: size, cur: &segment{f: f, size: size}, off: segHeaderLen, lsn: 1}
	commit := func(n int) {
		t.Helper()
		if _, _, err := w.frame(kindBody, bytes.Repeat([]byte{7}, n)); err != nil {
			t.Fatal(err)
		}
		if err := w.sync(); err != nil {
			t.Fatal(err)
		}
	}
	fills, end := 0, int64(0)
	for w.off+frameSize(1000) <= size {
		f.at = nil
		commit(1000)
		if len(f.at) == 1 {
			if w.off > end {
				t.Fatalf("at %d of %d nothing was filled beyond %d", w.off, size, end)
			}
			continue
		}
		zeros := f.at[1]
		if len(f.at) != 2 || zeros[0] < w.off || zeros[0]%filePage != 0 || zeros[1] > size || zeros[1] <= end {
			t.Fatalf("at %d, filled to %d before: writes %v", w.off, end, f.at)
		}
		fills, end = fills+1, zeros[1]
	}
	if most := size/aheadMost + 2; fills < 2 || fills > most {
		t.Errorf("filled %d times, want 2 to %d", fills, most)
	}
	b := make([]byte, size-w.off)
	if _, err := file.ReadAt(b, w.off); err != nil || !bytes.Equal(b, make([]byte, len(b))) {
		t.Errorf("behind the end: %v, zeros %v", err, bytes.Equal(b, make([]byte, len(b))))
	}
	if n, err := file.Size(); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A large batch is written alone.
func TestFillAheadNotAfterMuch(t *testing.T) {
	const size = 4 << 20
	file, err := vfs.OS().OpenFile(filepath.Join(t.TempDir(), "seg"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := &noted{File: file}
	w := &logWriter{segSize: size, cur: &segment{f: f, size: size}, off: segHeaderLen, lsn: 1}
	if _, _, err := w.frame(kindBody, make([]byte, aheadBusy)); err != nil {
		t.Fatal(err)
	}
	if err := w.sync(); err != nil || len(f.at) != 1 {
		t.Errorf("%v, writes %v", err, f.at)
	}
}
