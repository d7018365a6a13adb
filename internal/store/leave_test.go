package store

import (
	"errors"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// On a full disk a checkpoint leaves the last free pages of the state file to what gives pages back, and takes out what was taken away
// since it froze, though it cannot bring over what is new.
func TestLastPagesAreForWhatGivesBack(t *testing.T) {
	efs := errfs.New(vfs.OS())
	st, err := OpenLog(Options{Dir: t.TempDir(), FS: efs, SegmentSize: 256 << 10, CheckpointBytes: 1 << 40, JoinDelay: -1,
		Clock: clock.NewFake(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close(Preempt, nil)
	s := st.(*logStore)
	do := func(fn func(*Tx)) {
		t.Helper()
		tx := &Tx{}
		fn(tx)
		if _, err := s.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	rec := Rec{Head: []byte("h"), Body: make([]byte, 500), Persistent: true}
	do(func(tx *Tx) { tx.Put(1, 1, rec); tx.Put(1, 2, rec) })
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := []byte(spareKey)
	for n := s.state.freePages() - leastPages/2; n > 0; n = s.state.freePages() - leastPages/2 { // take them
		err := s.state.update(func(tx *stateTx) error {
			b, err := tx.bucket([]byte(bucketLog), true)
			if err != nil {
				return err
			}
			key = append(key, 'x')
			return b.Put(key, sealRecord([]byte(bucketLog), key, make([]byte, (n-1)*s.state.page)))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	f := &freezer{s: s}
	takes, gives := []step{{}, {takes: true}}, []step{{}}
	if err := f.leave(takes); err != nil {
		t.Fatalf("with room on the disk: %v", err)
	}
	efs.SetRoom(0)
	efs.SetInside(true)
	if err := f.leave(takes); !errors.Is(err, ErrFull) {
		t.Fatalf("what takes, with %d free pages: %v", s.state.freePages(), err)
	}
	if err := f.leave(gives); err != nil {
		t.Fatalf("what gives back: %v", err)
	}
	do(func(tx *Tx) { tx.Remove(1, 1, true) })
	s.noReserve.Store(false)
	s.com.between(func() { s.delta.apply([]logOp{{kind: opPut, q: 1, s: 3}}); s.freezeNow() }) // there is no room to put one
	do(func(tx *Tx) { tx.Remove(1, 2, true) })
	s.noReserve.Store(true)
	if _, err := s.checkpoint(); !errors.Is(err, ErrFull) {
		t.Fatalf("a checkpoint with a message for which there is no room: %v", err)
	}
	for n := Seq(1); n <= 2; n++ {
		if _, err := s.state.read(1, n); !errors.Is(err, ErrNotFound) {
			t.Errorf("message %d is in the state file still: %v", n, err)
		}
	}
}
