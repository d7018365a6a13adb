package storetest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/store"
)

func testNonpersistent(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	// It completes before Submit returns.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	const n, size = 80, 1 << 20 // more than the default memory bound
	for i := range n {
		tx := &store.Tx{}
		tx.Put(1, store.Seq(i+1), store.Rec{Head: []byte{byte(i)}, Body: bytes.Repeat([]byte{byte(i)}, size)})
		if k := s.Submit(tx); k.Wait(ctx) != nil || len(k.Locs()) != 1 {
			t.Fatalf("put %d is not complete", i)
		}
	}
	st := s.Stats()
	if st.MemoryMessages != n || (!o.Forgets && st.MemoryBytes > 64<<20) {
		t.Fatalf("stats %+v", st)
	}
	for i := range n {
		wantRec(t, s, 1, store.Seq(i+1), store.Loc{}, string([]byte{byte(i)}), strings.Repeat(string([]byte{byte(i)}), size))
	}
	if r, err := s.Read(1, 1, store.Loc{}); err != nil || r.Persistent {
		t.Fatalf("persistent: %v, %v", r.Persistent, err)
	}
	commit(t, s, func(tx *store.Tx) { tx.SetHead(1, 80, []byte("new"), false) })
	wantRec(t, s, 1, 80, store.Loc{}, "new", strings.Repeat("\x4f", size))
	for i := range n {
		commit(t, s, func(tx *store.Tx) { tx.Remove(1, store.Seq(i+1), false) })
	}
	if st := s.Stats(); st.MemoryMessages != 0 || st.MemoryBytes != 0 {
		t.Fatalf("after removing all: %+v", st)
	}
	wantNone(t, s, 1, 1, store.Loc{})
}

func testMixed(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	locs := commit(t, s, func(tx *store.Tx) {
		tx.Put(1, 1, rec("n", "volatile", false))
		tx.Put(1, 2, rec("p", "durable", true))
		tx.Put(1, 3, rec("n", "volatile too", false))
		tx.Set(store.TableMeta, []byte("k"), []byte("v"))
	})
	if len(locs) != 3 || locs[0].Len != 8 || locs[1].Len != 7 || locs[2].Len != 12 {
		t.Fatalf("locs %v", locs)
	}
	wantRec(t, s, 1, 1, locs[0], "n", "volatile")
	wantRec(t, s, 1, 2, locs[1], "p", "durable")
	wantRec(t, s, 1, 3, locs[2], "n", "volatile too")
	commit(t, s, func(tx *store.Tx) {
		tx.Remove(1, 1, false)
		tx.Remove(1, 2, true)
	})
	wantNone(t, s, 1, 1, locs[0])
	wantNone(t, s, 1, 2, locs[1])
	wantRec(t, s, 1, 3, locs[2], "n", "volatile too")
	commit(t, s, func(tx *store.Tx) { tx.DropQueue(1) })
	wantNone(t, s, 1, 3, locs[2])
}

// A unit far beyond every buffer, with one body on several queues.
func testBigUnit(t *testing.T, o Opener) {
	dir := t.TempDir()
	s := o.Open(t, dir)
	body := make([]byte, 100<<20)
	for i := range body {
		body[i] = byte(i * 7 >> 3)
	}
	mid := body[:300<<10]
	locs := commit(t, s, func(tx *store.Tx) {
		tx.Put(1, 1, store.Rec{Head: []byte("a"), Body: body, Persistent: true})
		for i := range 40 {
			tx.Put(2, store.Seq(i+1), store.Rec{Head: []byte("b"), Body: mid, Persistent: true})
		}
		tx.Set(store.TableMeta, []byte("k"), []byte("v"))
	})
	check := func(s store.Store, locs []store.Loc) {
		t.Helper()
		wantRec(t, s, 1, 1, locs[0], "a", string(body))
		for i := range 40 {
			wantRec(t, s, 2, store.Seq(i+1), locs[i+1], "b", string(mid))
		}
	}
	check(s, locs)
	if o.Forgets {
		closeStore(t, s, store.Immediate, nil)
		return
	}
	closeStore(t, s, store.Preempt, nil)
	s = o.Open(t, dir)
	check(s, make([]store.Loc, 41))
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	check(s, locs)
	commit(t, s, func(tx *store.Tx) { tx.Remove(1, 1, true); tx.DropQueue(2) })
	wantNone(t, s, 1, 1, store.Loc{})
	closeStore(t, s, store.Immediate, nil)
	wantLive(t, o, dir, "")
}

// liveText lists the live messages as "queue/seq:head:bodyLen" in the order they come.
func liveText(t testing.TB, s store.Store) string {
	t.Helper()
	var b strings.Builder
	err := s.Live(func(l store.Live) error {
		p := ""
		if !l.Persistent {
			p = "~"
		}
		fmt.Fprintf(&b, "%s%d/%d:%s:%d ", p, l.Q, l.S, l.Head, l.BodyLen)
		return nil
	})
	if err != nil {
		t.Fatalf("live: %v", err)
	}
	return b.String()
}

func wantLive(t testing.TB, o Opener, dir, want string) {
	t.Helper()
	s := o.Open(t, dir)
	if got := liveText(t, s); got != want {
		t.Fatalf("live %q, want %q", got, want)
	}
	closeStore(t, s, store.Preempt, nil)
}

func testReopen(t *testing.T, o Opener) {
	dir := t.TempDir()
	s := o.Open(t, dir)
	commit(t, s, func(tx *store.Tx) {
		tx.Put(7, 1, rec("h1", "body one", true))
		tx.Put(7, 2, rec("h2", "", true))
		tx.Put(7, 3, rec("h3", "body three", true))
		tx.Set(store.TableMeta, []byte("k"), []byte("v"))
	})
	commit(t, s, func(tx *store.Tx) {
		tx.Remove(7, 1, true)
		tx.SetHead(7, 3, []byte("H3"), true)
	})
	closeStore(t, s, store.Preempt, nil)
	for range 3 {
		s = o.Open(t, dir)
		var locs []store.Loc
		if err := s.Live(func(l store.Live) error { locs = append(locs, l.L); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(locs) != 2 {
			t.Fatalf("%d live messages, want 2", len(locs))
		}
		wantRec(t, s, 7, 2, locs[0], "h2", "")
		wantRec(t, s, 7, 3, locs[1], "H3", "body three")
		wantNone(t, s, 7, 1, store.Loc{})
		if v, err := s.Get(store.TableMeta, []byte("k")); err != nil || string(v) != "v" {
			t.Fatalf("table: %q, %v", v, err)
		}
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s, store.Quiesce, nil)
	}
	wantLive(t, o, dir, "7/2:h2:0 7/3:H3:10 ")
}

// Seq order, although commits come in another order and a checkpoint lies between.
func testLiveOrder(t *testing.T, o Opener) {
	dir := t.TempDir()
	s := o.Open(t, dir)
	for i, n := range []store.Seq{5, 1, 9, 3} {
		commit(t, s, func(tx *store.Tx) { tx.Put(1, n, rec("p", "x", true)) })
		if i == 1 {
			if err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit(t, s, func(tx *store.Tx) { tx.Put(1, 4, rec("n", "y", false)) })
	commit(t, s, func(tx *store.Tx) { tx.Put(2, 2, rec("n", "y", false)) })
	commit(t, s, func(tx *store.Tx) { tx.Put(3, 1, rec("p", "", true)) })
	closeStore(t, s, store.Quiesce, func(store.QID) bool { return true })
	wantLive(t, o, dir, "1/1:p:1 1/3:p:1 ~1/4:n:1 1/5:p:1 1/9:p:1 ~2/2:n:1 3/1:p:0 ")
}

func testDropQueue(t *testing.T, o Opener) {
	dir := t.TempDir()
	s := o.Open(t, dir)
	commit(t, s, func(tx *store.Tx) {
		tx.Put(1, 1, rec("a", "x", true))
		tx.Put(2, 1, rec("b", "x", true))
	})
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	commit(t, s, func(tx *store.Tx) { tx.Put(1, 2, rec("c", "x", true)) })
	locs := commit(t, s, func(tx *store.Tx) {
		tx.DropQueue(1)
		tx.Put(1, 3, rec("after", "x", true))
	})
	wantNone(t, s, 1, 1, store.Loc{})
	wantNone(t, s, 1, 2, store.Loc{})
	wantRec(t, s, 1, 3, locs[0], "after", "x")
	closeStore(t, s, store.Preempt, nil)
	wantLive(t, o, dir, "1/3:after:1 2/1:b:1 ")
	wantLive(t, o, dir, "1/3:after:1 2/1:b:1 ")
}

// NPMCLASS(HIGH) is kept over a clean end only, and only once.
func testKeep(t *testing.T, o Opener) {
	for _, m := range []store.StopMode{store.Quiesce, store.Immediate} {
		dir := t.TempDir()
		s := o.Open(t, dir)
		commit(t, s, func(tx *store.Tx) {
			tx.Put(1, 1, rec("high", "body", false))
			tx.Put(2, 1, rec("normal", "body", false))
			tx.Put(2, 2, rec("pers", "body", true))
			tx.Put(1, 2, rec("read", "body", false))
		})
		commit(t, s, func(tx *store.Tx) { tx.Remove(1, 2, false) })
		closeStore(t, s, m, func(q store.QID) bool { return q == 1 })
		s = o.Open(t, dir)
		if got := liveText(t, s); got != "~1/1:high:4 2/2:pers:4 " {
			t.Fatalf("after the clean end: %q", got)
		}
		wantRec(t, s, 1, 1, store.Loc{}, "high", "body")
		// A preemptive end keeps none, also of those that came through the last one.
		closeStore(t, s, store.Preempt, func(store.QID) bool { t.Error("asked"); return true })
		wantLive(t, o, dir, "2/2:pers:4 ")
	}
}

func testKeepNone(t *testing.T, o Opener) {
	dir := t.TempDir()
	s := o.Open(t, dir)
	commit(t, s, func(tx *store.Tx) { tx.Put(1, 1, rec("n", "", false)) })
	closeStore(t, s, store.Quiesce, func(store.QID) bool { return false })
	wantLive(t, o, dir, "")
	s = o.Open(t, dir)
	commit(t, s, func(tx *store.Tx) { tx.Put(1, 1, rec("n", "", false)) })
	closeStore(t, s, store.Quiesce, nil)
	wantLive(t, o, dir, "")
}

// testHistory plays random units against the memory store, with restarts and checkpoints between.
func testHistory(t *testing.T, o Opener) {
	seeds := uint64(6)
	if invariants.Enabled { // the race detector makes it ten times slower
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := NewHistory(seed)
			dir := t.TempDir()
			s := o.Open(t, dir)
			for step := range 300 {
				u := h.Next()
				if _, err := s.Commit(context.Background(), u.Tx()); err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
				h.Apply(u)
				switch r := h.Rand.IntN(100); {
				case r < 3:
					if err := s.Checkpoint(context.Background()); err != nil {
						t.Fatal(err)
					}
				case r < 6:
					m := store.StopMode(h.Rand.IntN(3))
					closeStore(t, s, m, h.Keep)
					h.Restart(m)
					s = o.Open(t, dir)
					if err := h.Compare(s); err != nil {
						t.Fatalf("seed %d step %d after a restart: %v", seed, step, err)
					}
				case r < 16:
					if err := h.CompareReads(s); err != nil {
						t.Fatalf("seed %d step %d: %v", seed, step, err)
					}
				}
			}
			closeStore(t, s, store.Preempt, nil)
		})
	}
}

// testConcurrent lets writers and readers meet, and a restart find exactly what was acknowledged.
func testConcurrent(t *testing.T, o Opener) {
	dir := t.TempDir()
	s := o.Open(t, dir)
	const writers, each = 8, 60
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			q := store.QID(w + 1)
			for i := range each {
				n := store.Seq(i + 1)
				body := strings.Repeat(fmt.Sprint(w), 1+rnd.IntN(4000))
				tx := &store.Tx{}
				tx.Put(q, n, rec("h", body, true))
				tx.Set(store.TableMeta, []byte(fmt.Sprint(w)), []byte(fmt.Sprint(i)))
				if i%3 == 2 {
					tx.Remove(q, n-1, true)
				}
				locs, err := s.Commit(context.Background(), tx)
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				if r, err := s.Read(q, n, locs[0]); err != nil || string(r.Body) != body {
					t.Errorf("writer %d reads its message back: %v", w, err)
					return
				}
				if i%20 == 10 {
					if err := s.Checkpoint(context.Background()); err != nil {
						t.Errorf("checkpoint: %v", err)
					}
				}
			}
		}()
	}
	wg.Wait()
	closeStore(t, s, store.Preempt, nil)
	s = o.Open(t, dir)
	defer s.Close(store.Preempt, nil)
	n := 0
	if err := s.Live(func(store.Live) error { n++; return nil }); err != nil || n != writers*each*2/3 {
		t.Fatalf("%d live messages, want %d (%v)", n, writers*each*2/3, err)
	}
}
