package store_test

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

func putOne(s store.Store, n store.Seq, size int) error {
	tx := &store.Tx{}
	tx.Put(1, n, store.Rec{Head: []byte("h"), Body: bytes.Repeat([]byte{byte(n)}, size), Persistent: true})
	_, err := s.Commit(context.Background(), tx)
	return err
}

func takeOne(s store.Store, n store.Seq) error {
	tx := &store.Tx{}
	tx.Remove(1, n, true)
	_, err := s.Commit(context.Background(), tx)
	return err
}

// fill puts messages until the disk is full. That must come after at least least and before tries of them; it returns the last one's
// number.
func fill(t *testing.T, s store.Store, tries, size int, least store.Seq) store.Seq {
	t.Helper()
	var err error
	last := store.Seq(0)
	for range tries {
		if err = putOne(s, last+1, size); err != nil {
			break
		}
		last++
	}
	if !errors.Is(err, store.ErrFull) || last < least {
		t.Fatalf("%d messages, then %v", last, err)
	}
	return last
}

// The disk fills up with messages: puts are refused, what was accepted can be read and taken away, the room comes
// back, and puts work again. The store never fails.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	efs := errfs.New(vfs.OS())
	efs.SetRoom(2 << 20)
	o := store.Options{Dir: dir, FS: efs, SegmentSize: 256 << 10, LogSegments: 64, Clock: clock.NewFake(time.Unix(0, 0)),
		CheckpointBytes: 1 << 40}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	last := fill(t, s, 10_000, 8<<10, 50)
	if err := putOne(s, last+1, 8<<10); !errors.Is(err, store.ErrFull) {
		t.Fatalf("another put: %v", err)
	}
	for n := store.Seq(1); n <= last; n++ {
		if r, err := s.Read(1, n, store.Loc{}); err != nil || len(r.Body) != 8<<10 || r.Body[9] != byte(n) {
			t.Fatalf("read %d of %d: %v", n, last, err)
		}
	}
	if _, err := s.Read(1, last+1, store.Loc{}); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("the refused message: %v", err)
	}
	for n := store.Seq(1); n < last; n++ {
		if err := takeOne(s, n); err != nil {
			t.Fatalf("take %d of %d away from the full store: %v", n, last, err)
		}
	}
	// A restart on the disk as it is.
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(o); err != nil {
		t.Fatalf("start on a full disk: %v", err)
	}
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatalf("checkpoint: %v", err)
	}
	for n := last + 1; n < last+30; n++ {
		if err := putOne(s, n, 8<<10); err != nil {
			t.Fatalf("put after the room came back: %v", err)
		}
	}
	if r, err := s.Read(1, last, store.Loc{}); err != nil || len(r.Body) != 8<<10 {
		t.Fatalf("the message that stayed: %v", err)
	}
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
	if ps, err := store.Check(dir, nil); err != nil || len(ps) > 0 {
		t.Fatalf("check: %v, %v", ps, err)
	}
}

// The log is bounded: when it has its number of segments, commits wait for a checkpoint.
func TestLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	o := store.Options{Dir: dir, SegmentSize: 64 << 10, LogSegments: 3, CheckpointBytes: 1 << 40,
		Clock: clock.NewFake(time.Unix(0, 0))}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for n := range store.Seq(200) {
		if err := putOne(s, n+1, 3<<10); err != nil {
			t.Fatal(err)
		}
		if st := s.Stats(); st.LogSegments > 4 {
			t.Fatalf("%d segments", st.LogSegments)
		}
	}
	if st := s.Stats(); st.Checkpoints == 0 {
		t.Fatalf("%+v", st)
	}
	for n := range store.Seq(200) {
		if r, err := s.Read(1, n+1, store.Loc{Seg: 1, Off: 64, Len: 3 << 10}); err != nil || r.Body[0] != byte(n+1) {
			t.Fatalf("message %d: %v", n+1, err)
		}
	}
	if err := s.Close(store.Immediate, nil); err != nil {
		t.Fatal(err)
	}
}

// A checkpoint comes by itself, 30 s after the last one, when something was written.
func TestCheckpointByTime(t *testing.T) {
	clk := clock.NewFake(time.Unix(0, 0))
	s, err := store.Open(store.Options{Dir: t.TempDir(), SegmentSize: 64 << 10, Clock: clk, JoinDelay: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	commit(t, s, "k")
	for range 2000 { // the clock's timers and the goroutine behind them take turns
		clk.Advance(time.Second)
		if s.Stats().Checkpoints > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	st := s.Stats()
	if st.Checkpoints != 1 {
		t.Fatalf("%d checkpoints", st.Checkpoints)
	}
	for range 200 {
		clk.Advance(time.Second)
		time.Sleep(time.Millisecond)
	}
	if n := s.Stats().Checkpoints; n > 2 {
		t.Fatalf("%d checkpoints of nothing", n)
	}
	if _, err := s.Get(store.TableMeta, []byte("k")); err != nil {
		t.Fatal(err)
	}
}

// A full disk keeps an orderly end from nothing: what is to be kept of nonpersistent messages finds the room of the
// reserve, and when even that is too small the end names the queues.
func TestKeptMessagesOnAFullDisk(t *testing.T) {
	for _, size := range []int{4 << 10, 4 << 20} {
		dir := t.TempDir()
		efs := errfs.New(vfs.OS())
		efs.SetRoom(2 << 20)
		o := store.Options{Dir: dir, FS: efs, SegmentSize: 256 << 10, LogSegments: 64, Clock: clock.NewFake(time.Unix(0, 0)),
			CheckpointBytes: 1 << 40}
		s, err := store.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Put(7, 1, store.Rec{Head: []byte("h"), Body: bytes.Repeat([]byte{3}, size)})
		if _, err := s.Commit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
		for n := store.Seq(1); err == nil; n++ {
			err = putOne(s, n, 8<<10)
		}
		err = s.Checkpoint(context.Background())
		efs.SetRoom(0) // others have taken the rest
		cerr := s.Close(store.Quiesce, func(store.QID) bool { return true })
		var ke *store.KeepError
		if size > 1<<20 {
			if !errors.As(cerr, &ke) || len(ke.Queues) != 1 || ke.Queues[0] != 7 || !errors.Is(cerr, syscall.ENOSPC) {
				t.Fatalf("close: %v", cerr)
			}
			continue
		}
		if cerr != nil {
			t.Fatalf("close: %v (checkpoint %v)", cerr, err)
		}
		efs.SetRoom(1 << 20)
		if s, err = store.Open(o); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Read(7, 1, store.Loc{}); err != nil || len(r.Body) != size {
			t.Fatalf("the nonpersistent message: %v", err)
		}
		if err := s.Close(store.Preempt, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever only takes away works on a full disk, with the counter that goes along with it.
func TestDropOnAFullDisk(t *testing.T) {
	efs := errfs.New(vfs.OS())
	efs.SetRoom(2 << 20)
	s, err := store.Open(store.Options{Dir: t.TempDir(), FS: efs, SegmentSize: 256 << 10, LogSegments: 64,
		Clock: clock.NewFake(time.Unix(0, 0)), CheckpointBytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(store.Preempt, nil)
	for n := store.Seq(1); err == nil; n++ {
		err = putOne(s, n, 8<<10)
	}
	for n := store.Seq(1000_000); ; n++ { // until not even a small one fits
		if err := putOne(s, n, 10); errors.Is(err, store.ErrFull) {
			break
		}
	}
	tx := &store.Tx{}
	tx.Unset(store.TableObjects, []byte("Q"))
	tx.DropQueue(1)
	tx.Set(store.TableMeta, []byte("next"), []byte{0, 0, 0, 1})
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatalf("delete of the queue: %v", err)
	}
}
