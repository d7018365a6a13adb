// Package storetest is the suite every implementation of store.Store must pass.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
)

// Opener opens a store on a directory; the same directory is opened again after a Close.
type Opener struct {
	Open func(t testing.TB, dir string) store.Store
	// Forgets: nothing survives a Close (the memory store).
	Forgets bool
}

// Run plays the whole suite.
func Run(t *testing.T, o Opener) {
	for _, c := range []struct {
		name   string
		reopen bool
		fn     func(*testing.T, Opener)
	}{
		{"Messages", false, testMessages},
		{"Tables", false, testTables},
		{"RangeMerges", false, testRange},
		{"GetMany", false, testGetMany},
		{"RangeMaySubmit", false, testRangeMaySubmit},
		{"Closed", false, testClosed},
		{"Pipeline", false, testPipeline},
		{"Cancel", false, testCancel},
		{"Nonpersistent", false, testNonpersistent},
		{"MixedUnit", false, testMixed},
		{"BigUnit", false, testBigUnit},
		{"Reopen", true, testReopen},
		{"LiveOrder", true, testLiveOrder},
		{"DropQueue", true, testDropQueue},
		{"Keep", true, testKeep},
		{"KeepNone", true, testKeepNone},
		{"History", true, testHistory},
		{"Concurrent", true, testConcurrent},
	} {
		if c.reopen && o.Forgets {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.fn(t, o) })
	}
}

func commit(t testing.TB, s store.Store, build func(*store.Tx)) []store.Loc {
	t.Helper()
	tx := &store.Tx{}
	build(tx)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	locs, err := s.Commit(ctx, tx)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return locs
}

func rec(head, body string, persistent bool) store.Rec {
	return store.Rec{Head: []byte(head), Body: []byte(body), Persistent: persistent}
}

func wantRec(t testing.TB, s store.Store, q store.QID, n store.Seq, l store.Loc, head, body string) {
	t.Helper()
	r, err := s.Read(q, n, l)
	if err != nil {
		t.Fatalf("read %d/%d: %v", q, n, err)
	}
	if string(r.Head) != head || string(r.Body) != body {
		t.Fatalf("read %d/%d: head %.40q body %.40q (%d bytes), want %.40q %.40q", q, n, r.Head, r.Body, len(r.Body),
			head, body)
	}
}

func wantNone(t testing.TB, s store.Store, q store.QID, n store.Seq, l store.Loc) {
	t.Helper()
	if _, err := s.Read(q, n, l); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("read %d/%d: %v, want ErrNotFound", q, n, err)
	}
}

func closeStore(t testing.TB, s store.Store, m store.StopMode, keep func(store.QID) bool) {
	t.Helper()
	if err := s.Close(m, keep); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func testMessages(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	locs := commit(t, s, func(tx *store.Tx) {
		tx.Put(1, 1, rec("h1", "b1", true))
		tx.Put(1, 2, rec("h2", "", true))
		tx.Put(2, 1, rec("", "other queue", true))
	})
	if len(locs) != 3 || locs[0].Len != 2 || locs[1].Len != 0 {
		t.Fatalf("locs %v", locs)
	}
	wantRec(t, s, 1, 1, locs[0], "h1", "b1")
	wantRec(t, s, 1, 2, locs[1], "h2", "")
	wantRec(t, s, 2, 1, locs[2], "", "other queue")
	wantRec(t, s, 1, 1, store.Loc{}, "h1", "b1") // a Loc is a hint
	wantRec(t, s, 1, 1, store.Loc{Seg: 1 << 30, Off: 1 << 40, Len: 7}, "h1", "b1")
	wantNone(t, s, 1, 3, store.Loc{})
	wantNone(t, s, 3, 1, locs[0])

	r, err := s.Read(1, 1, locs[0])
	if err != nil || !r.Persistent {
		t.Fatalf("persistence is lost: %v %v", r.Persistent, err)
	}
	r.Body[0], r.Head[0] = 'X', 'X' // the caller's own
	wantRec(t, s, 1, 1, locs[0], "h1", "b1")

	commit(t, s, func(tx *store.Tx) { tx.SetHead(1, 1, []byte("longer head"), true) })
	wantRec(t, s, 1, 1, locs[0], "longer head", "b1")
	commit(t, s, func(tx *store.Tx) {
		tx.Remove(1, 1, true)
		tx.SetHead(1, 1, []byte("late"), true) // nobody there: nothing happens
		tx.Remove(9, 9, true)
	})
	wantNone(t, s, 1, 1, locs[0])
	wantRec(t, s, 1, 2, locs[1], "h2", "")
}

func testTables(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	if _, err := s.Get(store.TableMeta, []byte("k")); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("absent key: %v", err)
	}
	commit(t, s, func(tx *store.Tx) {
		tx.Set(store.TableMeta, []byte("k"), []byte("v"))
		tx.Set(store.TableObjects, []byte("k"), []byte("other"))
		tx.Set(store.TableMeta, []byte{}, []byte("empty key"))
		tx.Set(store.TableMeta, []byte("empty"), nil)
		tx.Set(store.TableMeta, []byte("twice"), []byte("1"))
		tx.Set(store.TableMeta, []byte("twice"), []byte("2"))
		tx.Set(store.TableMeta, []byte("gone"), []byte("1"))
		tx.Unset(store.TableMeta, []byte("gone"))
		tx.Unset(store.TableMeta, []byte("never"))
	})
	for k, want := range map[string]string{"k": "v", "": "empty key", "empty": "", "twice": "2"} {
		if v, err := s.Get(store.TableMeta, []byte(k)); err != nil || string(v) != want {
			t.Fatalf("get %q: %q, %v; want %q", k, v, err, want)
		}
	}
	if _, err := s.Get(store.TableMeta, []byte("gone")); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a key set and unset in one unit: %v", err)
	}
	// What is submitted is seen, in whatever state its unit is.
	for i := range 50 {
		tx := &store.Tx{}
		tx.Set(store.TableMeta, []byte("k"), []byte(fmt.Sprint(i)))
		k := s.Submit(tx)
		if v, err := s.Get(store.TableMeta, []byte("k")); err != nil || string(v) != fmt.Sprint(i) {
			t.Fatalf("after Submit %d: %q, %v", i, v, err)
		}
		if i%7 == 0 {
			if err := k.Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit(t, s, func(tx *store.Tx) { tx.Unset(store.TableMeta, []byte("k")) })
	if _, err := s.Get(store.TableMeta, []byte("k")); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("an unset key: %v", err)
	}
}

func collect(t testing.TB, s store.Store, from, to []byte) string {
	t.Helper()
	var b bytes.Buffer
	err := s.Range(store.TableSubs, from, to, func(k, v []byte) error {
		fmt.Fprintf(&b, "%s=%s ", k, v)
		return nil
	})
	if err != nil {
		t.Fatalf("range: %v", err)
	}
	return b.String()
}

func testRange(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	if got := collect(t, s, nil, nil); got != "" {
		t.Fatalf("empty table: %q", got)
	}
	commit(t, s, func(tx *store.Tx) {
		for _, k := range []string{"a", "c", "e", "g"} {
			tx.Set(store.TableSubs, []byte(k), []byte("1"))
		}
	})
	tx := &store.Tx{}
	tx.Set(store.TableSubs, []byte("b"), []byte("2"))
	tx.Set(store.TableSubs, []byte("c"), []byte("2"))
	tx.Unset(store.TableSubs, []byte("e"))
	tx.Set(store.TableSubs, []byte("z"), []byte("2"))
	k := s.Submit(tx)
	for range 2 { // before and after it is durable
		if got := collect(t, s, nil, nil); got != "a=1 b=2 c=2 g=1 z=2 " {
			t.Fatalf("whole: %q", got)
		}
		if got := collect(t, s, []byte("b"), []byte("g")); got != "b=2 c=2 " {
			t.Fatalf("part: %q", got)
		}
		if got := collect(t, s, []byte("x"), nil); got != "z=2 " {
			t.Fatalf("end: %q", got)
		}
		if err := k.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	stop := errors.New("stop")
	if err := s.Range(store.TableSubs, nil, nil, func(_, _ []byte) error { return stop }); err != stop {
		t.Fatalf("fn's error: %v", err)
	}
	// More than one piece of a walk.
	commit(t, s, func(tx *store.Tx) {
		for i := range 3000 {
			tx.Set(store.TableFlows, []byte(fmt.Sprintf("%05d", i)), bytes.Repeat([]byte{'v'}, 700))
		}
	})
	n := 0
	err := s.Range(store.TableFlows, nil, nil, func(k, _ []byte) error {
		if string(k) != fmt.Sprintf("%05d", n) {
			return fmt.Errorf("key %s at place %d", k, n)
		}
		n++
		return nil
	})
	if err != nil || n != 3000 {
		t.Fatalf("%d keys, %v", n, err)
	}
}

// A walk's callback may write: no lock or transaction of the store is held.
func testRangeMaySubmit(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	commit(t, s, func(tx *store.Tx) {
		for i := range 20 {
			tx.Set(store.TableSubs, []byte{byte('a' + i)}, nil)
		}
	})
	done := make(chan error, 1)
	go func() {
		done <- s.Range(store.TableSubs, nil, nil, func(k, _ []byte) error {
			tx := &store.Tx{}
			tx.Put(1, store.Seq(k[0]), store.Rec{Body: make([]byte, 1<<18), Persistent: true})
			_, err := s.Commit(context.Background(), tx)
			if err == nil {
				_, err = s.Get(store.TableSubs, k)
			}
			return err
		})
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("a commit inside a walk hangs")
	}
}

func testClosed(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	closeStore(t, s, store.Quiesce, nil)
	tx := &store.Tx{}
	tx.Set(store.TableMeta, []byte("k"), nil)
	if _, err := s.Commit(context.Background(), tx); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("commit: %v", err)
	}
	if _, err := s.Get(store.TableMeta, []byte("k")); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("get: %v", err)
	}
	if _, err := s.Read(1, 1, store.Loc{}); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("read: %v", err)
	}
	if err := s.Range(store.TableMeta, nil, nil, nil); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("range: %v", err)
	}
	if err := s.Close(store.Quiesce, nil); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("second close: %v", err)
	}
	select {
	case <-s.Failed():
		t.Fatal("a closed store is not a failed one")
	default:
	}
}

// 10,000 definitions, 256 in flight, as a script gives them.
func testPipeline(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	start := time.Now()
	var flight []store.Ticket
	for i := range 10_000 {
		if len(flight) == 256 {
			if err := flight[0].Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
			flight = flight[1:]
		}
		tx := &store.Tx{}
		tx.Set(store.TableObjects, []byte(fmt.Sprintf("QLOCAL/%06d", i)), bytes.Repeat([]byte("x"), 500))
		flight = append(flight, s.Submit(tx))
	}
	for _, k := range flight {
		if err := k.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("10000 definitions in %v", time.Since(start))
	n := 0
	if err := s.Range(store.TableObjects, nil, nil, func(_, _ []byte) error { n++; return nil }); err != nil || n != 10_000 {
		t.Fatalf("%d definitions, %v", n, err)
	}
}

func testCancel(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tx := &store.Tx{}
	tx.Set(store.TableMeta, []byte("k"), []byte("v"))
	k := s.Submit(tx)
	if err := k.Wait(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled wait: %v", err)
	}
	if err := k.Wait(context.Background()); err != nil {
		t.Fatalf("the unit must not suffer from a cancelled wait: %v", err)
	}
	if v, err := s.Get(store.TableMeta, []byte("k")); err != nil || string(v) != "v" {
		t.Fatalf("%q, %v", v, err)
	}
}
