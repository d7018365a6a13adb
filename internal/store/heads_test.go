package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
)

// deepStore makes a store with n messages in its state file, of which every third is taken away in the log and every fifth has
// another head there, and some more messages in the log.
func deepStore(t *testing.T, dir string, n int) (want map[Seq]string) {
	t.Helper()
	s, err := Open(Options{Dir: dir, LogSegments: 1000})
	if err != nil {
		t.Fatal(err)
	}
	want = map[Seq]string{}
	put := func(tx *Tx, sq Seq) {
		want[sq] = fmt.Sprintf("head %d %s", sq, bytes.Repeat([]byte{'h'}, 200))
		tx.Put(7, sq, Rec{Head: []byte(want[sq]), Body: []byte("body"), Persistent: true})
	}
	commit := func(fn func(*Tx)) {
		t.Helper()
		tx := &Tx{}
		if fn(tx); tx.Len() > 0 {
			if _, err := s.Commit(t.Context(), tx); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit(func(tx *Tx) {
		for i := range n {
			put(tx, Seq(i+1))
		}
	})
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(func(tx *Tx) {
		for sq := Seq(1); sq <= Seq(n); sq++ {
			switch {
			case sq%3 == 0:
				tx.Remove(7, sq, true)
				delete(want, sq)
			case sq%5 == 0:
				want[sq] = fmt.Sprintf("another head of %d", sq)
				tx.SetHead(7, sq, []byte(want[sq]), true)
			}
		}
		for sq := Seq(n + 1); sq <= Seq(n+2000); sq++ {
			put(tx, sq)
		}
	})
	if err := s.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
	return want
}

// liveHeads lists what Live finds.
func liveHeads(s Store) (map[Seq]string, error) {
	got, last := map[Seq]string{}, Seq(0)
	err := s.Live(func(l Live) error {
		if l.S <= last || l.Q != 7 || l.BodyLen != 4 || !l.Persistent {
			return fmt.Errorf("message %d of queue %d behind %d, %d bytes", l.S, l.Q, last, l.BodyLen)
		}
		last, got[l.S] = l.S, string(l.Head)
		return nil
	})
	return got, err
}

// Live of a queue that fills many leaves gives every message once, in order, with the head that counts, from the state file and
// from the log; and it may be left in the middle.
func TestLiveOfADeepQueue(t *testing.T) {
	dir := t.TempDir()
	want := deepStore(t, dir, 20_000)
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(Preempt, nil)
	for range 2 {
		got, err := liveHeads(s)
		if err != nil {
			t.Fatal(err)
		}
		for sq, h := range want {
			if got[sq] != h {
				t.Fatalf("message %d has the head %q, want %q", sq, got[sq], h)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d messages, want %d", len(got), len(want))
		}
		n, enough := 0, errors.New("enough")
		err = s.Live(func(Live) error {
			if n++; n == 5000 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Fatalf("a walk that ends itself: %v", err)
		}
	}
}

// A leaf with heads that was damaged while the manager was down, after an end that "clean" vouches for, is reported by Live,
// and by check.
func TestDamagedHeads(t *testing.T) {
	for what, spoil := range map[string]func(page []byte){
		"byte of a head":  func(p []byte) { p[bytes.Index(p, []byte("head"))+8] ^= 1 },
		"number of cells": func(p []byte) { p[10]-- },
		"kind":            func(p []byte) { p[8] ^= 3 },
		"number":          func(p []byte) { p[0] ^= 1 },
	} {
		dir := t.TempDir()
		deepStore(t, dir, 2000)
		b, err := os.ReadFile(statePath(dir))
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(b, []byte("head 700 ")) / os.Getpagesize() * os.Getpagesize()
		spoil(b[at : at+os.Getpagesize()])
		if err := os.WriteFile(statePath(dir), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if ps, err := Check(dir, nil); err != nil || len(ps) == 0 {
			t.Errorf("%s: check: %v, %v", what, ps, err)
		}
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := liveHeads(s); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: Live: %v", what, err)
		}
		s.Close(Preempt, nil)
	}
}
