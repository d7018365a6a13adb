package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// fullLog is a store on a disk without a free block, with the messages that must be there.
type fullLog struct {
	s      store.Store
	o      store.Options
	efs    *errfs.FS
	left   map[store.Seq]bool
	taking []store.Seq // these may be there or not
}

const (
	fullLogEarly = 600 // messages in the state file
	fullLogTake  = 3   // in one unit
)

func fullLogBody(n store.Seq) int {
	if n <= fullLogEarly {
		return 100
	}
	return 1 << 10
}

func openFullLog(disk *crashfs.FS, room int64) (*fullLog, error) {
	f := &fullLog{efs: errfs.New(disk), left: map[store.Seq]bool{}}
	f.efs.SetRoom(room)
	f.efs.SetInside(room == 0)
	f.o = store.Options{Dir: "/d/QM", FS: f.efs, SegmentSize: 64 << 10, LogSegments: 64, JoinDelay: -1, CheckpointBytes: 1 << 40,
		Clock: clock.NewFake(time.Unix(0, 0))}
	var err error
	f.s, err = store.Open(f.o)
	return f, err
}

// fill puts until nothing goes on any more, with a checkpoint in between.
func (f *fullLog) fill() error {
	tx := &store.Tx{}
	for n := store.Seq(1); n <= fullLogEarly; n++ {
		tx.Put(1, n, store.Rec{Head: []byte("h"), Body: bytes.Repeat([]byte{byte(n)}, fullLogBody(n)), Persistent: true})
		f.left[n] = true
	}
	if _, err := f.s.Commit(context.Background(), tx); err != nil {
		return err
	}
	if err := f.s.Checkpoint(context.Background()); err != nil {
		return err
	}
	for n := store.Seq(fullLogEarly + 1); n < 2000; n++ {
		if err := putOne(f.s, n, fullLogBody(n)); err != nil {
			if errors.Is(err, store.ErrFull) && n > fullLogEarly+20 {
				f.efs.SetRoom(0)
				f.efs.SetInside(true)
				return nil
			}
			return err
		}
		f.left[n] = true
	}
	return errors.New("the disk is not full")
}

// takeAll takes the oldest first, which are in the state file. With ends set it is closed and opened again at times.
func (f *fullLog) takeAll(ends bool) error {
	left := slices.Sorted(maps.Keys(f.left))
	for i, some := range slices.Collect(slices.Chunk(left, fullLogTake)) {
		tx := &store.Tx{}
		for _, n := range some {
			tx.Remove(1, n, true)
		}
		f.taking = some
		if _, err := f.s.Commit(context.Background(), tx); err != nil {
			return fmt.Errorf("take %d away, %d are left: %w", some, len(f.left), err)
		}
		f.taken()
		f.efs.SetRoom(0) // what came back is taken at once
		if ends && i%29 == 0 {
			if err := f.s.Close(store.StopMode(i%3), nil); err != nil {
				return fmt.Errorf("close: %w", err)
			}
			s, err := store.Open(f.o)
			if err != nil {
				return fmt.Errorf("open: %w", err)
			}
			f.s = s
		}
	}
	return nil
}

func (f *fullLog) taken() {
	for _, n := range f.taking {
		delete(f.left, n)
	}
	f.taking = nil
}

// compare takes over whether the messages that were being taken are there.
func (f *fullLog) compare(s store.Store) error {
	got := map[store.Seq]bool{}
	err := s.Live(func(l store.Live) error { got[l.S] = true; return nil })
	if err != nil {
		return err
	}
	if len(f.taking) > 0 && !got[f.taking[0]] {
		f.taken()
	}
	if !maps.Equal(got, f.left) {
		return fmt.Errorf("%d messages, want %d", len(got), len(f.left))
	}
	for n := range got {
		if r, err := s.Read(1, n, store.Loc{}); err != nil || !bytes.Equal(r.Body, bytes.Repeat([]byte{byte(n)}, fullLogBody(n))) {
			return fmt.Errorf("message %d: %w", n, err)
		}
	}
	return nil
}

// The power fails, or the process is killed, at any of the changes that a store makes on a disk without a free block: while the log goes
// on in the reserve, while a segment becomes the reserve, and when the log leaves the only segment that it has. What was taken away stays
// away, what was not is there, and all of it can be taken away after the start, still without a free block.
func TestCrashWithoutAFreeBlock(t *testing.T) {
	defer store.SetMinReserve(16 << 10)()
	for seed := range uint64(seeds(t, 2, 60)) {
		changes := crashFull(t, seed, 0, crashfs.All)
		rnd := rand.New(rand.NewPCG(seed, 4))
		for i := range 6 {
			crashFull(t, seed, 1+rnd.IntN(changes), []crashfs.Keep{crashfs.All, crashfs.Random, crashfs.None}[i%3])
		}
		t.Logf("seed %d: %d changes", seed, changes)
	}
}

// crashFull lets the power fail before the n-th change, 0: never. It returns how many there were.
func crashFull(t *testing.T, seed uint64, n int, keep crashfs.Keep) int {
	t.Helper()
	defer wipe(t)
	disk := crashfs.New(scratchSub(t))
	f, err := openFullLog(disk, 400<<10)
	if err == nil {
		err = f.fill()
	}
	if err != nil {
		t.Fatal(err)
	}
	from := disk.Ops()
	disk.CrashAt(n)
	if err = f.takeAll(seed%2 == 1); err != nil && !disk.Dead() {
		t.Fatal(err)
	}
	changes := disk.Ops() - from
	_ = f.s.Close(store.Preempt, nil)
	after, err := disk.Crash(keep, seed*1000+uint64(n), scratchSub(t))
	if err != nil {
		t.Fatal(err)
	}
	g, err := openFullLog(after, 0)
	if err == nil {
		err = f.compare(g.s)
	}
	if err == nil {
		g.left = f.left
		err = g.takeAll(seed%2 == 0)
	}
	if err != nil {
		t.Fatalf("seed %d, crash before change %d, keep %d: %v", seed, n, keep, err)
	}
	if err := g.s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if ps, err := store.Check("/d/QM", after); err != nil || len(ps) > 0 {
		t.Fatalf("seed %d, crash before change %d, keep %d: check: %v, %v", seed, n, keep, ps, err)
	}
	return changes
}
