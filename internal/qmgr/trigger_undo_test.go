package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// newTriggerRig has a process P and an initiation queue INIT that is open for input.
func newTriggerRig(t *testing.T) *psRig {
	t.Helper()
	r := newPSRig(t)
	r.ok("DEFINE PROCESS(P) APPLICID('x')")
	r.ok("DEFINE QLOCAL(INIT)")
	openFor(t, r.c, "INIT", mqi.MQOO_INPUT_SHARED)
	return r
}

func (r *psRig) wantTriggers(n int, when string) {
	r.t.Helper()
	if got := r.curDepth("INIT"); got != n {
		r.t.Errorf("%s: %d trigger messages, not %d", when, got, n)
	}
}

// A publication that is refused after DEPTH fired for one of its copies leaves triggering on, and no trigger message.
func TestTriggerRefusedPublication(t *testing.T) {
	r := newTriggerRig(t)
	r.ok("DEFINE QLOCAL(A) TRIGGER TRIGTYPE(DEPTH) TRIGDPTH(2) INITQ(INIT) PROCESS(P)")
	r.ok("DEFINE QLOCAL(B) MAXDEPTH(0)")
	r.ok("DEFINE SUB(SA) TOPICSTR('T') DEST(A)")
	r.ok("DEFINE SUB(SB) TOPICSTR('T') DEST(B)")
	a := openFor(t, r.c, "A", mqi.MQOO_OUTPUT)
	put := func() {
		_, err := tryPut(r.c, a, "x", 0)
		wantRC(t, err, 0)
	}
	put()
	wantRC(t, tryPub(r.c, "T", "x", 0, persistent), mqi.MQRC_PUBLICATION_FAILURE)
	r.wantTriggers(0, "refused")
	if d := r.m.lookup(ClassQueue, "A").Def(); !d.Yes("TRIGGER") {
		t.Error("triggering is off")
	}
	put()
	r.wantTriggers(1, "second message")
}

// A message cut into segments of which one finds the queue full is no trigger event.
func TestTriggerRefusedSegment(t *testing.T) {
	r := newTriggerRig(t)
	r.ok("DEFINE QLOCAL(A) MAXMSGL(16) MAXDEPTH(3) TRIGGER TRIGTYPE(DEPTH) TRIGDPTH(2) INITQ(INIT) PROCESS(P)")
	a := openFor(t, r.c, "A", mqi.MQOO_OUTPUT)
	_, err := tryPut(r.c, a, string(make([]byte, 80)), 0, func(md *mqi.MD) {
		md.Version, md.MsgFlags = 2, mqi.MQMF_SEGMENTATION_ALLOWED
	})
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.wantTriggers(0, "refused")
	for range 2 {
		_, err := tryPut(r.c, a, "x", 0)
		wantRC(t, err, 0)
	}
	r.wantTriggers(1, "two messages")
}

// FIRST is looked at again when the queue, or its initiation queue, is enabled.
func TestTriggerEnabled(t *testing.T) {
	for _, off := range []string{"ALTER QLOCAL(A) GET(DISABLED)", "ALTER QLOCAL(INIT) GET(DISABLED)", "ALTER QLOCAL(INIT) PUT(DISABLED)"} {
		r := newTriggerRig(t)
		r.ok("DEFINE QLOCAL(A) TRIGGER INITQ(INIT) PROCESS(P)")
		a := openFor(t, r.c, "A", mqi.MQOO_OUTPUT|mqi.MQOO_SET)
		r.ok(off)
		_, err := tryPut(r.c, a, "x", 0)
		wantRC(t, err, 0)
		r.wantTriggers(0, off)
		r.ok(off[:len(off)-len("DISABLED)")] + "ENABLED)")
		r.wantTriggers(1, off+" and enabled")
	}
	r := newTriggerRig(t)
	r.ok("DEFINE QLOCAL(A) TRIGGER INITQ(INIT) PROCESS(P) GET(DISABLED)")
	a := openFor(t, r.c, "A", mqi.MQOO_OUTPUT|mqi.MQOO_SET)
	_, err := tryPut(r.c, a, "x", 0)
	wantRC(t, err, 0)
	wantRC(t, r.c.Set(bg, a, []int32{mqi.MQIA_INHIBIT_GET}, []int32{mqi.MQQA_GET_ALLOWED}, nil), 0)
	r.wantTriggers(1, "MQSET")
}

// A put that the store refuses is no trigger event, whatever had been made of it before.
func TestTriggerStoreRefuses(t *testing.T) {
	for _, typ := range []string{"FIRST", "DEPTH"} {
		r := newTrigRig(t, "TRIGTYPE", typ, "TRIGDPTH", "1")
		r.fault.fail = func(tx *store.Tx) error {
			if tx.Bytes() > 50_000 {
				return store.ErrFull
			}
			return nil
		}
		_, err := tryPut(r.app, r.a, strings.Repeat("x", 100_000), 0)
		wantRC(t, err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
		_, err = tryPut(r.app, r.a, strings.Repeat("x", 100_000), mqi.MQPMO_SYNCPOINT)
		wantRC(t, err, 0)
		wantRC(t, r.app.Commit(bg), mqi.MQRC_BACKED_OUT)
		r.want(0, typ+" refused")
		if !r.m.lookup(ClassQueue, "A").Def().Yes("TRIGGER") {
			t.Errorf("%s: triggering is off", typ)
		}
		r.put(r.app, r.a, "x", 0)
		r.want(1, typ+" afterwards")
	}
}
