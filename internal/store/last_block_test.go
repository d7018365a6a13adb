package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// On a disk that stays full to the last block everything can be taken away, whatever a kill leaves: no step of it waits for room that
// others may have taken.
func TestTakeWithoutAFreeBlock(t *testing.T) {
	for _, tt := range []struct {
		size    int // of a message
		segment int64
		every   store.Seq // a kill after so many gets
		inside  bool      // the state file has free pages
		early   bool      // what was put first is in the state file
		mode    store.StopMode
	}{
		{size: 3 << 10, segment: 256 << 10, every: 7, mode: store.Preempt},
		{size: 100, segment: 256 << 10, every: 500, mode: store.Preempt},
		{size: 100, segment: 64 << 10, every: 499, mode: store.Preempt},
		{size: 3 << 10, segment: 256 << 10, every: 7, inside: true, early: true, mode: store.Preempt},
		{size: 100, segment: 64 << 10, every: 1003, inside: true, early: true, mode: store.Preempt},
		{size: 100, segment: 1 << 20, every: 1003, inside: true, early: true, mode: store.Immediate},
		{size: 20 << 10, segment: 256 << 10, every: 3, inside: true, mode: store.Immediate},
		{size: 20 << 10, segment: 256 << 10, every: 1, mode: store.Preempt},
	} {
		t.Run(fmt.Sprintf("%d/%d/%d/%v", tt.size, tt.segment, tt.every, tt.inside), func(t *testing.T) {
			dir := scratch(t)
			efs := errfs.New(vfs.OS())
			efs.SetRoom(3 << 20)
			o := store.Options{Dir: dir, FS: efs, SegmentSize: tt.segment, LogSegments: 64, JoinDelay: -1,
				Clock: clock.NewFake(time.Unix(0, 0)), CheckpointBytes: 1 << 40}
			s, err := store.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			least := store.Seq(40)
			if tt.early {
				for n := range least {
					if err := putOne(s, n+1_000_000, tt.size); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Checkpoint(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			last := fill(t, s, 100_000, tt.size, least)
			efs.SetInside(tt.inside)
			efs.SetRoom(0) // others have taken the rest
			again := func(mode store.StopMode) {
				t.Helper()
				if err := s.Close(mode, nil); err != nil {
					t.Fatal(err)
				}
				if s, err = store.Open(o); err != nil {
					t.Fatalf("start on a full disk: %v", err)
				}
			}
			take := func(n store.Seq) {
				t.Helper()
				if err := takeOne(s, n); err != nil {
					t.Fatalf("take %d of %d away: %v", n, last, err)
				}
			}
			for n := store.Seq(1); n <= last; n++ {
				if n%tt.every == 1%tt.every {
					again(tt.mode)
					for size := range 3 { // refused as soon as the segment is full
						if err := putOne(s, 2_000_000+n, 1<<(6*size)); err == nil {
							take(2_000_000 + n)
						} else if !errors.Is(err, store.ErrFull) {
							t.Fatal(err)
						}
					}
				}
				take(n)
				efs.SetRoom(0) // what came back is taken at once
			}
			if tt.early {
				for n := range least {
					take(n + 1_000_000)
				}
			}
			efs.SetRoom(8 << 20)
			efs.SetInside(false)
			if err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := putOne(s, 3_000_000, tt.size); err != nil {
				t.Fatalf("put on a disk with room: %v", err)
			}
			if err := s.Close(store.Quiesce, nil); err != nil {
				t.Fatal(err)
			}
			if ps, err := store.Check(dir, nil); err != nil || len(ps) > 0 {
				t.Fatalf("check: %v, %v", ps, err)
			}
		})
	}
}
