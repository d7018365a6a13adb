package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// Bodies beyond the memory bound go to the spill file, come back right, and their room is used again. Nothing of it
// outlives the process.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir, MemoryLimit: 10 << 10})
	if err != nil {
		t.Fatal(err)
	}
	put := func(n store.Seq) {
		tx := &store.Tx{}
		tx.Put(1, n, store.Rec{Head: []byte{byte(n)}, Body: bytes.Repeat([]byte{byte(n)}, 1000+int(n))})
		if _, err := s.Commit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
	}
	check := func(n store.Seq) {
		t.Helper()
		r, err := s.Read(1, n, store.Loc{})
		if err != nil || len(r.Body) != 1000+int(n) || r.Body[0] != byte(n) || r.Body[len(r.Body)-1] != byte(n) {
			t.Fatalf("message %d: %d bytes, %v", n, len(r.Body), err)
		}
	}
	size := func() int64 {
		st, err := os.Stat(filepath.Join(dir, "spill"))
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	for n := store.Seq(1); n <= 100; n++ {
		put(n)
	}
	if st := s.Stats(); st.MemoryBytes > 10<<10 || st.MemoryMessages != 100 {
		t.Fatalf("%+v", st)
	}
	full := size()
	for n := store.Seq(1); n <= 300; n++ { // a steady stream does not let the file grow
		check(n)
		if err := takeVolatile(s, n); err != nil {
			t.Fatal(err)
		}
		put(n + 100)
	}
	if n := size(); n > 2*full {
		t.Fatalf("the spill file grew from %d to %d", full, n)
	}
	if err := s.Close(store.Quiesce, func(store.QID) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "spill")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the spill file outlives the store: %v", err)
	}
	if s, err = store.Open(store.Options{Dir: dir, MemoryLimit: 10 << 10}); err != nil {
		t.Fatal(err)
	}
	for n := store.Seq(301); n <= 400; n++ {
		check(n)
	}
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
}

func takeVolatile(s store.Store, n store.Seq) error {
	tx := &store.Tx{}
	tx.Remove(1, n, false)
	_, err := s.Commit(context.Background(), tx)
	return err
}

// When the spill file cannot take a body, the unit is refused as a whole and the store goes on.
func TestSpillFull(t *testing.T) {
	efs := errfs.New(vfs.OS())
	s, err := store.Open(store.Options{Dir: t.TempDir(), FS: efs, MemoryLimit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	efs.Set(&errfs.Rule{Kind: errfs.Write, N: 2, Err: syscall.ENOSPC, Match: func(name string) bool {
		return filepath.Base(name) == "spill"
	}})
	tx := &store.Tx{}
	tx.Put(1, 1, store.Rec{Body: make([]byte, 900)})
	tx.Put(1, 2, store.Rec{Body: make([]byte, 900)})
	tx.Put(1, 3, store.Rec{Body: make([]byte, 900)})
	tx.Set(store.TableMeta, []byte("k"), nil)
	if _, err := s.Commit(context.Background(), tx); !errors.Is(err, store.ErrFull) {
		t.Fatalf("commit: %v", err)
	}
	for n := range store.Seq(3) {
		if _, err := s.Read(1, n+1, store.Loc{}); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("message %d of a refused unit: %v", n+1, err)
		}
	}
	if _, err := s.Get(store.TableMeta, []byte("k")); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("table entry of a refused unit: %v", err)
	}
	if st := s.Stats(); st.MemoryBytes != 0 || st.MemoryMessages != 0 {
		t.Fatalf("%+v", st)
	}
	tx = &store.Tx{}
	tx.Put(1, 4, store.Rec{Body: make([]byte, 1900)})
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
}

// A unit no store can keep is refused before it is on its way, and hurts nobody.
func TestImpossibleUnit(t *testing.T) {
	for _, open := range []func(testing.TB, string) store.Store{openBolt, openLog} {
		s := open(t, t.TempDir())
		tx := &store.Tx{}
		tx.Set(store.TableMeta, make([]byte, 40_000), []byte("v"))
		if _, err := s.Commit(context.Background(), tx); err == nil || errors.Is(err, store.ErrFailed) {
			t.Fatalf("a key of 40000 bytes: %v", err)
		}
		commit(t, s, string(bytes.Repeat([]byte("k"), 32_000)))
		commit(t, s, "short")
		if err := s.Close(store.Quiesce, nil); err != nil {
			t.Fatal(err)
		}
	}
}
