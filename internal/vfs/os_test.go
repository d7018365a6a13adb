package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestOSLockRefusesASecondTaker(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	l, err := OS().Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OS().Lock(name); !errors.Is(err, ErrLocked) {
		t.Fatalf("second Lock: %v, want ErrLocked", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = OS().Lock(name)
	if err != nil {
		t.Fatalf("Lock after Close: %v", err)
	}
	l.Close()
}

func TestOSFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	f, err := OS().OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Allocate(0, 1<<16); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); err != nil || n != 1<<16 {
		t.Fatalf("size after Allocate: %d, %v", n, err)
	}
	if _, err := f.WriteAt([]byte("abc"), 100); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := f.ReadAt(got, 100); err != nil || string(got) != "abc\x00" {
		t.Fatalf("read %q, %v", got, err)
	}
	if err := OS().SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	names, err := OS().List(dir)
	if err != nil || len(names) != 1 || names[0] != "f" {
		t.Fatalf("List: %v, %v", names, err)
	}
	if free, err := OS().Free(dir); err != nil || free == 0 {
		t.Fatalf("Free: %d, %v", free, err)
	}
}

func TestOSFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if _, err := OS().OpenFile(link, os.O_RDWR, 0o600); err == nil {
		t.Fatal("a symbolic link was opened")
	}
	if _, err := OS().Lock(link); err == nil {
		t.Fatal("a symbolic link was locked")
	}
}

// To ask whether a lock is held neither needs nor takes it.
func TestLocked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	if held, err := Locked(name); held || err != nil {
		t.Fatalf("no file: %v, %v", held, err)
	}
	l, err := OS().Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := Locked(name); !held || err != nil {
		t.Fatalf("held: %v, %v", held, err)
	}
	l.Close()
	if held, err := Locked(name); held || err != nil {
		t.Fatalf("let go: %v, %v", held, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := Locked(name); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for range 2000 {
		l, err := OS().Lock(name)
		if err != nil {
			t.Errorf("a question kept us from the lock: %v", err)
			break
		}
		l.Close()
	}
	close(stop)
	wg.Wait()
}
