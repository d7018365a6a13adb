package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// asideStore has n entries in its log, and a clock that stands.
func asideStore(t *testing.T, n int) (*logStore, *clock.Fake, [][]byte) {
	t.Helper()
	clk := clock.NewFake(time.Unix(1000, 0))
	st, err := OpenLog(Options{Dir: t.TempDir(), Clock: clk, SegmentSize: 256 << 10, CheckpointBytes: 1 << 40, JoinDelay: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*logStore)
	s.aside.off = false
	t.Cleanup(func() { s.Close(Immediate, nil) })
	var keys [][]byte
	var tx Tx
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "key/%d", i))
		tx.Set(TableRetained, keys[i], make([]byte, 100))
	}
	if _, err := s.Commit(t.Context(), &tx); err != nil {
		t.Fatal(err)
	}
	return s, clk, keys
}

func checkpointing(t *testing.T, s *logStore) chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Checkpoint(t.Context()) }()
	return done
}

// A checkpoint waits while somebody reads many entries and for asideFor after, and is complete then.
func TestCheckpointStepsAside(t *testing.T) {
	s, clk, keys := asideStore(t, 500)
	got := 0
	read := func(n int) {
		t.Helper()
		got = 0
		if err := s.GetMany(TableRetained, keys[:n], func(int, []byte) error { got++; return nil }); err != nil || got != n {
			t.Fatalf("%d of %d entries read, %v", got, n, err)
		}
	}
	read(asideKeys - 1) // few: nobody waits for that
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	var tx Tx
	tx.Set(TableRetained, keys[0], []byte("newer"))
	if _, err := s.Commit(t.Context(), &tx); err != nil {
		t.Fatal(err)
	}
	read(len(keys))
	until := clk.Now().Add(asideFor)
	done := checkpointing(t, s)
	for end := time.Now().Add(20 * time.Second); !clk.Waits(until); time.Sleep(time.Millisecond) { // a timer set later would be late
		if len(done) > 0 || time.Now().After(end) {
			t.Fatal("the checkpoint did not step aside")
		}
	}
	clk.Advance(asideFor - time.Millisecond)
	select {
	case err := <-done:
		t.Fatalf("the checkpoint went on too early: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	clk.Advance(time.Millisecond)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	read(len(keys))
}

// Reads without end hold a checkpoint back for asideMost a transaction, and no longer.
func TestCheckpointIsNotStarved(t *testing.T) {
	s, clk, _ := asideStore(t, 500)
	s.aside.ask(asideKeys)
	done := checkpointing(t, s)
	for waited := time.Duration(0); ; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		case <-time.After(100 * time.Microsecond):
		}
		if clk.Timers() < 2 { // it works, as long as the disk takes: one of them is that of the goroutine in the background
			continue
		}
		if waited > 4*asideMost { // two transactions
			t.Fatalf("a checkpoint that waited for %v is still waiting for readers", waited)
		}
		s.aside.ask(asideKeys)
		clk.Advance(time.Millisecond)
		waited += time.Millisecond
	}
}

// A checkpoint that others wait for waits for nobody: the store is being closed, the log is half full, or the reserve is gone.
func TestCheckpointInAHurry(t *testing.T) {
	for name, hurry := range map[string]func(*logStore){
		"closing":  func(s *logStore) { s.ck.stop() },
		"log full": func(s *logStore) { s.opt.LogSegments = 1 },
		"reserve":  func(s *logStore) { s.noReserve.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := asideStore(t, 500)
			s.aside.ask(asideKeys)
			if f := (&freezer{s: s}); s.hurry() || s.aside.left(s.clk.Now()) != asideFor || f.waited != 0 {
				t.Fatal("a hurry before there is one")
			}
			hurry(s)
			(&freezer{s: s}).stepAside() // returns, though the clock stands
		})
	}
	// A clock that is set back lets nobody wait for longer.
	s, clk, _ := asideStore(t, 1)
	s.aside.ask(asideKeys)
	if left := s.aside.left(clk.Now().Add(-time.Hour)); left != asideFor {
		t.Fatalf("%v to step aside after the clock was set back", left)
	}
}

// Where the file was read is still known when a checkpoint ends within the second after, and not for longer.
func TestReadLately(t *testing.T) {
	s, clk, _ := asideStore(t, 1)
	if s.aside.lately(clk.Now()) {
		t.Fatal("nobody has read")
	}
	s.aside.ask(asideKeys)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {asideFor + time.Second - 1, true}, {asideFor + time.Second, false},
		{-time.Hour, false}} { // the clock was set back
		if got := s.aside.lately(clk.Now().Add(c.after)); got != c.want {
			t.Errorf("%v after a read: %v", c.after, got)
		}
	}
}
