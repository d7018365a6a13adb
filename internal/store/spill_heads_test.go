package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

func putVolatile(t *testing.T, s store.Store, n store.Seq, head, body []byte) {
	t.Helper()
	tx := &store.Tx{}
	tx.Put(1, n, store.Rec{Head: head, Body: body})
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
}

func setHead(t *testing.T, s store.Store, n store.Seq, head []byte) {
	t.Helper()
	tx := &store.Tx{}
	tx.SetHead(1, n, head, false)
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
}

// A new head of a message in the spill file replaces the old one: of the same length, of another, and when the disk does not
// take it.
func TestSpilledHead(t *testing.T) {
	dir := t.TempDir()
	efs := errfs.New(vfs.OS())
	o := store.Options{Dir: dir, FS: efs, MemoryLimit: 1}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("b"), 700)
	for n := range store.Seq(4) {
		putVolatile(t, s, n+1, []byte("head"), body)
	}
	putVolatile(t, s, 5, nil, nil)
	setHead(t, s, 2, []byte("same"))
	setHead(t, s, 3, []byte("longer than it was"))
	efs.Set(&errfs.Rule{Kind: errfs.Write, N: 1, Err: syscall.EIO, Match: func(name string) bool {
		return filepath.Base(name) == "spill"
	}})
	setHead(t, s, 4, []byte("fail"))
	setHead(t, s, 9, []byte("no such message"))
	want := map[store.Seq]string{1: "head", 2: "same", 3: "longer than it was", 4: "fail", 5: ""}
	check := func(n store.Seq) {
		t.Helper()
		r, err := s.Read(1, n, store.Loc{})
		wantBody := body
		if n == 5 {
			wantBody = nil
		}
		if err != nil || string(r.Head) != want[n] || !bytes.Equal(r.Body, wantBody) {
			t.Errorf("message %d: head %q, %d bytes, %v", n, r.Head, len(r.Body), err)
		}
	}
	for n := range want {
		check(n)
	}
	setHead(t, s, 4, []byte("good")) // the disk takes it now
	want[4] = "good"
	check(4)
	if err := s.Close(store.Quiesce, func(store.QID) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(o); err != nil { // they go to the spill file again
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	seen := 0
	err = s.Live(func(l store.Live) error {
		seen++
		if string(l.Head) != want[l.S] || l.BodyLen != uint32(len(body)) && l.S != 5 {
			t.Errorf("message %d at the start: head %q, %d bytes", l.S, l.Head, l.BodyLen)
		}
		return nil
	})
	if err != nil || seen != len(want) {
		t.Fatalf("%d messages at the start, %v", seen, err)
	}
	tx := &store.Tx{}
	tx.DropQueue(1)
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.MemoryBytes != 0 || st.MemoryMessages != 0 {
		t.Errorf("after the queue went: %+v", st)
	}
}

// A byte that changed in the spill file is told, not served: in a head and in a body.
func TestSpillDamaged(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir, MemoryLimit: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	for n := range store.Seq(3) { // each takes 512 bytes
		putVolatile(t, s, n+1, []byte("head"), bytes.Repeat([]byte{'b'}, 400))
	}
	f, err := os.OpenFile(filepath.Join(dir, "spill"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, off := range []int64{512 + 2, 1024 + 200} {
		if _, err := f.WriteAt([]byte{'X'}, off); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range []error{nil, store.ErrCorrupt, store.ErrCorrupt} {
		if _, err := s.Read(1, store.Seq(n+1), store.Loc{}); !errors.Is(err, want) {
			t.Errorf("message %d: %v, want %v", n+1, err, want)
		}
	}
}

// What a nonpersistent message beyond the bound costs in memory, however long it is; and a queue that was deep gives it back
// though it is never empty.
func TestSpillMemory(t *testing.T) {
	const n, limit = 100_000, 1 << 20
	s, err := store.Open(store.Options{Dir: t.TempDir(), MemoryLimit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	head, body := make([]byte, 300), make([]byte, 700)
	for i := range store.Seq(n) {
		putVolatile(t, s, i+1, bytes.Clone(head), bytes.Clone(body))
	}
	if each := (heap() - before - limit) / n; each > 80 {
		t.Errorf("a message in the spill file costs %d bytes of memory", each)
	}
	for i := range store.Seq(n - 1) {
		if err := takeVolatile(s, i+1); err != nil {
			t.Fatal(err)
		}
	}
	if left := heap() - before; left > 16*n+limit/4 { // the free places of the file
		t.Errorf("%d bytes with one message left", left)
	}
	if r, err := s.Read(1, n, store.Loc{}); err != nil || len(r.Body) != len(body) {
		t.Errorf("the last message: %d bytes, %v", len(r.Body), err)
	}
}
