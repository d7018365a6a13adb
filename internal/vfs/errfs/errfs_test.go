package errfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

func TestNthWriteFails(t *testing.T) {
	f := New(vfs.OS())
	h, err := f.OpenFile(filepath.Join(t.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f.Set(&Rule{Kind: Write, N: 2, Err: syscall.EIO, Short: true})
	if _, err := h.WriteAt([]byte("aaaa"), 0); err != nil {
		t.Fatalf("first write: %v", err)
	}
	n, err := h.WriteAt([]byte("bbbb"), 4)
	if n != 2 || !errors.Is(err, syscall.EIO) {
		t.Fatalf("second write: %d, %v", n, err)
	}
	if _, err := h.WriteAt([]byte("c"), 8); err != nil {
		t.Fatalf("third write: %v", err)
	}
	if f.Hits() != 1 {
		t.Fatalf("hits %d", f.Hits())
	}
	f.Set(&Rule{Kind: Sync, N: 1, Err: syscall.EIO, Sticky: true})
	for range 3 {
		if err := h.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("sticky sync: %v", err)
		}
	}
}
