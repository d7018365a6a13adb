package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// A fault in the map of the state file is damage, but on a full disk want of room.
func TestFaultInTheMap(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.db")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := os.Getpagesize()
	m, err := syscall.Mmap(int(f.Fd()), 0, page, syscall.PROT_READ, syscall.MAP_SHARED) // the file has no such page
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(m) }()
	var sum byte
	for _, tt := range []struct {
		room int64
		want error
	}{{1 << 20, ErrCorrupt}, {0, ErrFull}, {-1, ErrCorrupt}} {
		efs := errfs.New(vfs.OS())
		efs.SetRoom(tt.room)
		err := guard(efs, name, func() error { sum += m[0]; return nil })
		if !errors.Is(err, tt.want) || isFull(err) != (tt.want == ErrFull) {
			t.Errorf("room %d: %v", tt.room, err)
		}
		if err := guard(efs, name, func() error { panic("bbolt says so") }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("room %d: a panic is %v", tt.room, err)
		}
	}
}
