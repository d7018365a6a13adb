package store_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// Somebody else's file takes all that is left of the disk: everything that was accepted can be taken away, none of it is refused
// even once, and when the other file is gone the first put is accepted.
func TestDrainOfADiskThatOthersFill(t *testing.T) {
	efs := errfs.New(vfs.OS())
	efs.SetRoom(64 << 20)
	s, err := store.Open(store.Options{Dir: t.TempDir(), FS: efs, Clock: clock.NewFake(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	n := store.Seq(0)
	for n < 1000 {
		tx := &store.Tx{}
		for range 50 {
			n++
			tx.Put(1, n, store.Rec{Head: []byte("head"), Body: bytes.Repeat([]byte{byte(n)}, 10_000), Persistent: true})
		}
		if _, err := s.Commit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
	}
	efs.SetRoom(0)
	for i := store.Seq(1); i <= n; i++ {
		if err := takeOne(s, i); err != nil {
			t.Fatalf("message %d of %d: %v", i, n, err)
		}
	}
	efs.SetRoom(32 << 20)
	if err := putOne(s, n+1, 10_000); err != nil {
		t.Errorf("the first put: %v", err)
	}
	if err := s.Close(store.Quiesce, nil); err != nil {
		t.Error(err)
	}
}
