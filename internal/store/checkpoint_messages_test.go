package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// A checkpoint reads messages that lie close together in the log in one go, and each of them is in the state file what it was: short
// ones, ones without head or body, one body of two messages, large ones that have a place of their own, and several transactions of them.
func TestCheckpointReadsMessagesTogether(t *testing.T) {
	const messages, unit = 8000, 20
	var reads atomic.Int64
	fsys := errfs.New(vfs.OS())
	fsys.Set(&errfs.Rule{Kind: errfs.Read, N: 1 << 40, Err: errors.New("never"), Match: func(name string) bool {
		if strings.HasSuffix(name, ".seg") {
			reads.Add(1)
		}
		return false
	}})
	o := store.Options{Dir: t.TempDir(), FS: fsys, Clock: clock.NewFake(time.Unix(0, 0)), CheckpointBytes: 1 << 40, CacheBytes: 1}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	shared := bytes.Repeat([]byte("shared "), 100)
	rec := func(i int) store.Rec {
		r := store.Rec{Head: fmt.Appendf(nil, "head %d", i), Body: bytes.Repeat(fmt.Appendf(nil, "%d ", i), 100+i%50), Persistent: true}
		switch {
		case i%unit == 7 || i%unit == 8:
			r.Body = shared
		case i == 1000:
			r.Head = nil
		case i == 1001:
			r.Body = nil
		case i == 1002:
			r.Body = bytes.Repeat([]byte{2}, 200<<10) // frames of its own
		case i == 1003:
			r.Body = bytes.Repeat([]byte{3}, 3<<20) // a file of its own
		}
		return r
	}
	queue := func(i int) store.QID { return store.QID(1 + i/1000%2) }
	for i := 0; i < messages; i += unit {
		tx := &store.Tx{}
		for k := range unit {
			tx.Put(queue(i+k), store.Seq(i+k+1), rec(i+k))
		}
		if _, err := s.Commit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(i int) bool { return i%11 == 3 }
	tx := &store.Tx{}
	for i := range messages {
		if gone(i) {
			tx.Remove(queue(i), store.Seq(i+1), true)
		}
	}
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	before := reads.Load()
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := reads.Load() - before; n > messages/10 {
		t.Errorf("%d reads of the log for %d messages", n, messages)
	}
	check := func(when string) {
		t.Helper()
		for i := range messages {
			got, err := s.Read(queue(i), store.Seq(i+1), store.Loc{})
			if gone(i) {
				if !errors.Is(err, store.ErrNotFound) {
					t.Fatalf("%s: message %d, which was taken away: %v", when, i, err)
				}
				continue
			}
			if want := rec(i); err != nil || !bytes.Equal(got.Head, want.Head) || !bytes.Equal(got.Body, want.Body) {
				t.Fatalf("%s: message %d: %v, head %.20q, %d bytes of body, want %d", when, i, err, got.Head, len(got.Body), len(want.Body))
			}
		}
	}
	check("after the checkpoint")
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(o); err != nil {
		t.Fatal(err)
	}
	check("after a start")
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
}
