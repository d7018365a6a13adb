package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// Values in files of their own must not eat the room that the next checkpoint and the taking away need.
func TestLargeMessagesLeaveRoom(t *testing.T) {
	dir := t.TempDir()
	efs := errfs.New(vfs.OS())
	efs.SetRoom(8 << 20)
	o := store.Options{Dir: dir, FS: efs, SegmentSize: 256 << 10, LogSegments: 64, Clock: clock.NewFake(time.Unix(0, 0)),
		CheckpointBytes: 1 << 40}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	last := fill(t, s, 1000, 200<<10, 4)
	if free, err := efs.Free(dir); err != nil || free < 2<<20 {
		t.Fatalf("%d bytes are left for a checkpoint of %d large messages: %v", free, last, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "log", "reserve")); err != nil {
		t.Fatal(err)
	}
	for n := store.Seq(1); n <= last; n++ {
		if err := takeOne(s, n); err != nil {
			t.Fatalf("take %d of %d away: %v", n, last, err)
		}
	}
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
}

// Without the reserve nothing is accepted; with the room for it back, work goes on.
func TestNothingIsAcceptedWithoutTheReserve(t *testing.T) {
	dir := t.TempDir()
	efs := errfs.New(vfs.OS())
	s, err := store.Open(store.Options{Dir: dir, FS: efs, SegmentSize: 64 << 10, Clock: clock.NewFake(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	reserve := filepath.Join(dir, "log", "reserve")
	if err := os.Remove(reserve); err != nil {
		t.Fatal(err)
	}
	efs.Set(&errfs.Rule{Kind: errfs.Allocate, N: 1, Err: syscall.ENOSPC, Sticky: true,
		Match: func(name string) bool { return filepath.Base(name) == "reserve" }})
	for n := store.Seq(1); err == nil && n < 100; n++ {
		err = putOne(s, n, 3<<10)
	}
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("puts without a reserve: %v", err)
	}
	if err := takeOne(s, 1); err != nil {
		t.Fatal(err)
	}
	efs.Set(nil)
	if err := putOne(s, 1000, 3<<10); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(reserve); err != nil {
		t.Fatal(err)
	}
}

// A reserve whose making was cut short by a kill is none, and made anew.
func TestShortReserve(t *testing.T) {
	dir := t.TempDir()
	o := store.Options{Dir: dir, FS: vfs.OS(), SegmentSize: 64 << 10, Clock: clock.NewFake(time.Unix(0, 0))}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	reserve := filepath.Join(dir, "log", "reserve")
	st, err := os.Stat(reserve)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{0, 4096, st.Size() - 1} {
		if err := os.WriteFile(reserve, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err = store.Open(o); err != nil {
			t.Fatal(err)
		}
		if again, err := os.Stat(reserve); err != nil || again.Size() != st.Size() {
			t.Errorf("a reserve of %d bytes has become one of %v, want %d: %v", size, again.Size(), st.Size(), err)
		}
		if err := s.Close(store.Quiesce, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// An orderly end keeps the reserve: who fills the disk before the next start does not keep it from giving messages away.
func TestTheReserveOutlivesAnOrderlyEnd(t *testing.T) {
	dir := t.TempDir()
	efs := errfs.New(vfs.OS())
	efs.SetRoom(8 << 20)
	o := store.Options{Dir: dir, FS: efs, SegmentSize: 256 << 10, LogSegments: 64, Clock: clock.NewFake(time.Unix(0, 0))}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := putOne(s, 1, 3<<10); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(store.Quiesce, func(store.QID) bool { return true }); err != nil {
		t.Fatal(err)
	}
	efs.SetRoom(0)
	if s, err = store.Open(o); err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	if err := putOne(s, 2, 3<<10); !errors.Is(err, store.ErrFull) {
		t.Errorf("a put on a full disk: %v", err)
	}
	if err := takeOne(s, 1); err != nil {
		t.Error(err)
	}
}

// A checkpoint for which there is no room in one transaction is done in smaller ones.
func TestCheckpointInSmallerPieces(t *testing.T) {
	dir := t.TempDir()
	efs := errfs.New(vfs.OS())
	s, err := store.Open(store.Options{Dir: dir, FS: efs, SegmentSize: 1 << 20, Clock: clock.NewFake(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	for n := range store.Seq(64) {
		if err := putOne(s, n+1, 1<<10); err != nil {
			t.Fatal(err)
		}
	}
	calls := 0 // the first three transactions find no room
	efs.Set(&errfs.Rule{Kind: errfs.Durable, N: 1, Err: syscall.ENOSPC, Sticky: true, Match: func(string) bool {
		calls++
		return calls <= 3
	}})
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatalf("checkpoint: %v", err)
	}
	efs.Set(nil)
	if st := s.Stats(); st.Checkpoints != 1 || calls <= 3 {
		t.Fatalf("%d transactions, %+v", calls, st)
	}
	for n := range store.Seq(64) {
		if r, err := s.Read(1, n+1, store.Loc{}); err != nil || r.Body[0] != byte(n+1) {
			t.Fatalf("message %d: %v", n+1, err)
		}
	}
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
	if ps, err := store.Check(dir, nil); err != nil || len(ps) > 0 {
		t.Fatalf("check: %v, %v", ps, err)
	}
}
