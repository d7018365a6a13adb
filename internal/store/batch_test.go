package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// batched submits puts all at once, so that many share a batch, and sorts them by answer.
func batched(t *testing.T, s store.Store, n, size int) (acked, refused, unknown []store.Seq) {
	t.Helper()
	tickets := make([]store.Ticket, n)
	for i := range tickets {
		tx := &store.Tx{}
		tx.Put(1, store.Seq(i+1), store.Rec{Head: []byte("h"), Body: bytes.Repeat([]byte{byte(i)}, size), Persistent: true})
		tickets[i] = s.Submit(tx)
	}
	for i, k := range tickets {
		n := store.Seq(i + 1)
		switch err := k.Wait(context.Background()); {
		case err == nil:
			acked = append(acked, n)
		case errors.Is(err, store.ErrFull):
			refused = append(refused, n)
		case errors.Is(err, store.ErrFailed):
			unknown = append(unknown, n)
		default:
			t.Fatalf("put %d: %v", n, err)
		}
	}
	return acked, refused, unknown
}

// mustHold opens the store again: what was acknowledged is there and whole, what was refused is not.
func mustHold(t *testing.T, k kind, fs vfs.FS, size int, acked, refused []store.Seq) {
	t.Helper()
	s, err := k.open(fs, "/d/QM")
	if err != nil {
		t.Fatalf("open again: %v", err)
	}
	defer s.Close(store.Preempt, nil)
	for _, n := range acked {
		r, err := s.Read(1, n, store.Loc{})
		if err != nil || len(r.Body) != size || bytes.Count(r.Body, []byte{byte(n - 1)}) != size {
			t.Fatalf("acknowledged message %d of %d: %v, %d bytes", n, len(acked), err, len(r.Body))
		}
	}
	for _, n := range refused {
		if _, err := s.Read(1, n, store.Loc{}); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("refused message %d: %v", n, err)
		}
	}
}

// Every n-th call of every kind fails while a batch of many units is written: TestErrorAtEveryCall with batches.
func TestErrorInABatch(t *testing.T) {
	const units, size = 60, 3000
	for _, k := range kinds {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
			for _, call := range errfs.Kinds {
				t.Run(fmt.Sprintf("%s/%v/%s", k.name, errno, call), func(t *testing.T) {
					for n := 1; n < 60; n++ {
						for _, sticky := range []bool{false, true} {
							if !errorInBatch(t, k, errfs.Rule{Kind: call, N: n, Err: errno, Short: n%2 == 0, Sticky: sticky}, units, size) {
								return
							}
							wipe(t)
						}
					}
				})
			}
		}
	}
}

func errorInBatch(t *testing.T, k kind, rule errfs.Rule, units, size int) (hit bool) {
	t.Helper()
	disk := crashfs.New(scratchSub(t))
	efs := errfs.New(disk)
	s, err := k.open(efs, "/d/QM")
	if err != nil {
		t.Fatal(err)
	}
	efs.Set(&rule)
	acked, refused, unknown := batched(t, s, units, size)
	if rule.Err == syscall.ENOSPC && rule.Kind == errfs.Write && len(unknown) > 0 {
		t.Fatalf("%+v: no room must not end the store", rule)
	}
	hit = efs.Hits() > 0
	efs.Set(nil)
	_ = s.Close(store.Preempt, nil)
	mustHold(t, k, disk, size, acked, refused)
	after, err := disk.Crash(crashfs.None, 1, scratchSub(t))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, k, after, size, acked, refused)
	return hit
}

// The file system finds no room for a write in a segment whose room it had promised, in the middle of a batch of
// hundreds of units.
func TestNoRoomInTheMiddleOfABatch(t *testing.T) {
	const units, size = 398, 8000
	k := kind{"log", func(f vfs.FS, dir string) (store.Store, error) {
		o := opts(f, dir)
		o.SegmentSize, o.LogSegments = 256<<10, 64
		return store.OpenLog(o)
	}}
	for n := 1; n < 40; n++ {
		for _, short := range []bool{false, true} {
			disk := crashfs.New(scratchSub(t))
			efs := errfs.New(disk)
			s, err := k.open(efs, "/d/QM")
			if err != nil {
				t.Fatal(err)
			}
			efs.Set(&errfs.Rule{Kind: errfs.Write, N: n, Err: syscall.ENOSPC, Short: short,
				Match: func(name string) bool { return strings.HasSuffix(filepath.Base(name), ".seg") }})
			acked, refused, unknown := batched(t, s, units, size)
			hits := efs.Hits()
			efs.Set(nil)
			if len(unknown) > 0 {
				t.Fatalf("write %d: %d units of unknown outcome", n, len(unknown))
			}
			_ = s.Close(store.Preempt, nil)
			mustHold(t, k, disk, size, acked, refused)
			wipe(t)
			if hits == 0 {
				return
			}
		}
	}
}
