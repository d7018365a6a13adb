package store_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// A table of more than a checkpoint reads at a time, and of several transactions of the state file: each entry is what was set last,
// from memory as from the file, though the memory that the checkpoint reads into is used again and again.
func TestCheckpointOfALargeTable(t *testing.T) {
	const entries, group = 12_000, 500
	dir := t.TempDir()
	o := store.Options{Dir: dir, FS: vfs.OS(), Clock: clock.NewFake(time.Unix(0, 0)), CheckpointBytes: 1 << 40}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "topic/%05d", i*7919%entries) } // not in their order
	value := func(i, round int) []byte {
		return bytes.Repeat(fmt.Appendf(nil, "%d.%d ", i, round), 700/(4+i%5)+i%300)
	}
	check := func(when string, round func(i int) int) {
		t.Helper()
		for i := range entries {
			got, err := s.Get(store.TableRetained, key(i))
			if want := value(i, round(i)); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: entry %d: %v, %.20q of %d bytes, want %.20q of %d", when, i, err, got, len(got), want, len(want))
			}
		}
	}
	put := func(round, every int) {
		t.Helper()
		tx := &store.Tx{}
		for i := 0; i < entries; i += every {
			tx.Set(store.TableRetained, key(i), value(i, round))
			if i/every%group == group-1 || i+every >= entries {
				if _, err := s.Commit(context.Background(), tx); err != nil {
					t.Fatal(err)
				}
				tx = &store.Tx{}
			}
		}
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	first := func(int) int { return 1 }
	second := func(i int) int {
		if i%3 == 0 {
			return 2
		}
		return 1
	}
	put(1, 1)
	check("after a checkpoint", first)
	put(2, 3)
	check("after another of a third", second)
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(o); err != nil {
		t.Fatal(err)
	}
	check("after a start", second)
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Fatal(err)
	}
}
