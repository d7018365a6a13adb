package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// slowDisk stops what it is told to stop, on spill files only, until it is let go.
type slowDisk struct {
	vfs.FS
	mu   sync.Mutex
	gate map[string]chan struct{} // "write", "give back"
	met  chan string
}

func (d *slowDisk) stop(what string) (letGo func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	gate := make(chan struct{})
	d.gate[what] = gate
	return sync.OnceFunc(func() {
		d.mu.Lock()
		delete(d.gate, what)
		d.mu.Unlock()
		close(gate)
	})
}

func (d *slowDisk) pass(what, name string) {
	d.mu.Lock()
	gate := d.gate[what]
	d.mu.Unlock()
	if gate == nil || !strings.HasPrefix(filepath.Base(name), "spill") {
		return
	}
	select {
	case d.met <- what:
	default:
	}
	<-gate
}

func (d *slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil || !strings.HasPrefix(filepath.Base(name), "spill") {
		return f, err
	}
	return &slowFile{f, d}, nil
}

// OpenNative is for the state file.
func (d *slowDisk) OpenNative(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// Durable is too.
func (d *slowDisk) Durable(_ string, commit func() error) error { return commit() }

func (d *slowDisk) Remove(name string) error {
	d.pass("give back", name)
	return d.FS.Remove(name)
}

type slowFile struct {
	vfs.File
	d *slowDisk
}

func (f *slowFile) WriteAt(b []byte, off int64) (int, error) {
	f.d.pass("write", f.Name())
	return f.File.WriteAt(b, off)
}

func (f *slowFile) Truncate(n int64) error {
	f.d.pass("give back", f.Name())
	return f.File.Truncate(n)
}

func (f *slowFile) Close() error {
	f.d.pass("give back", f.Name())
	return f.File.Close()
}

// A disk that takes its time for the spill file keeps nobody waiting but the unit whose message is written: neither when a message is
// written nor when the file, which was large, is given back, and the queue that filled it goes on with another file meanwhile.
func TestSpillKeepsNobodyWaiting(t *testing.T) {
	disk := &slowDisk{FS: vfs.OS(), gate: map[string]chan struct{}{}, met: make(chan string, 1)}
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir, FS: disk, MemoryLimit: 10 << 10})
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 100<<10)
	put := func(q store.QID, n store.Seq, size int) func() error {
		return func() error {
			tx := &store.Tx{}
			tx.Put(q, n, store.Rec{Body: body[:size]})
			_, err := s.Commit(t.Context(), tx)
			return err
		}
	}
	soon := func(what string, do func() error) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- do() }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s waits for the spill file", what)
		}
	}
	for n := range store.Seq(40) {
		soon("a put", put(1, n+1, len(body)))
	}

	letGo := disk.stop("write")
	defer letGo()
	written := make(chan error, 1)
	go func() { written <- put(1, 41, len(body))() }()
	<-disk.met
	soon("a put to another queue while a message is written", put(2, 1, 10))
	soon("a get of the queue while a message is written", func() error { return takeVolatile(s, 1) })
	letGo()
	if err := <-written; err != nil {
		t.Fatal(err)
	}

	giveBack := disk.stop("give back")
	defer giveBack()
	for n := range store.Seq(40) {
		soon("a get", func() error { return takeVolatile(s, n+2) })
	}
	<-disk.met
	soon("a put to another queue while the file is given back", put(2, 2, 10))
	soon("a put to the queue while the file is given back", put(1, 42, len(body)))
	r, err := s.Read(1, 42, store.Loc{})
	if err != nil || len(r.Body) != len(body) {
		t.Fatalf("%d bytes, %v", len(r.Body), err)
	}
	giveBack()
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if left := spillFiles(t, dir); len(left) > 0 {
		t.Fatalf("files outlive the store: %v", left)
	}
}

// What spill files an earlier run left are removed by the start.
func TestOldSpillFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"spill", "spill.1", "spill.17"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if left := spillFiles(t, dir); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
}

func spillFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "spill*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
