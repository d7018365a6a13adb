package qmgr

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// An operator settles prepared units when the disk is full: which is when somebody has to.
func TestResolveOnFullDisk(t *testing.T) {
	for _, what := range []string{"put", "get"} {
		for _, act := range []string{ResolveCommit, ResolveBack} {
			t.Run(what+" "+act, func(t *testing.T) { resolveFull(t, what, act) })
		}
	}
}

func resolveFull(t *testing.T, what, act string) {
	efs := errfs.New(vfs.OS())
	st, err := store.Open(store.Options{Dir: filepath.Join(t.TempDir(), "QM1"), FS: efs, SegmentSize: 256 << 10,
		LogSegments: 64, CheckpointBytes: 1 << 40, Clock: clock.NewFake(testTime)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close(store.Preempt, nil) })
	r := &psRig{objRig: newObjRig(t, func(o *Options) { o.Store = st })}
	r.ok("DEFINE QLOCAL(A)")
	r.ok("DEFINE QLOCAL(F)")
	r.c = r.connect("app")
	a, f := openFor(t, r.c, "A", inOut), openFor(t, r.c, "F", inOut)
	_, err = tryPut(r.c, a, "in", 0, persistent)
	wantRC(t, err, 0)
	c := r.connect("app")
	wantXA(t, c.XAOpen(bg, ""), XAOK)
	x := XID{Format: 1, Global: fmt.Sprintf("%064d", 1), Branch: fmt.Sprintf("%064d", 2)}
	wantXA(t, c.XAStart(bg, x, 0), XAOK)
	h := openFor(t, c, "A", inOut)
	if what == "put" {
		_, err = tryPut(c, h, "out", syncPut, persistent)
	} else {
		_, _, err = tryGet(c, h, syncGet)
	}
	wantRC(t, err, 0)
	wantXA(t, c.XAEnd(bg, x, TMSuccess), XAOK)
	wantXA(t, c.XAPrepare(bg, x), XAOK)
	efs.SetRoom(2 << 20)
	for size := 50_000; size > 0; {
		if _, err = tryPut(r.c, f, string(make([]byte, size)), 0, persistent); err != nil {
			size /= 2
		}
	}
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := r.m.ResolveTransaction(r.m.Transactions()[0].Number, act, "op"); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"put " + ResolveCommit: 2, "put " + ResolveBack: 1, "get " + ResolveBack: 1}[what+" "+act]
	if n := r.m.lookup(ClassQueue, "A").Queue.depth(); n != want {
		t.Errorf("%d messages, want %d", n, want)
	}
	if list := r.m.Transactions(); len(list) != 1 {
		t.Errorf("the outcome is not kept for the transaction manager: %v", list)
	}
}
