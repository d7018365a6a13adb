package qmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// inTime fails the test when f does not return.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s does not return", what)
	}
}

// curDepth is CURDEPTH of a local queue.
func (r *psRig) curDepth(name string) int { return r.m.lookup(ClassQueue, name).Queue.depth() }

// The retained publications sent to a new managed subscription may raise an event or a trigger of its queue, which change
// the queue that MQSUB and DEFINE SUB hold.
func TestSubscribeManagedQueueEvents(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR PERFMEV(ENABLED)")
	r.ok("DEFINE PROCESS(P) APPLICID('x')")
	r.ok("DEFINE QLOCAL(INIT)")
	for _, model := range []string{"SYSTEM.NDURABLE.MODEL.QUEUE", "SYSTEM.DURABLE.MODEL.QUEUE"} {
		r.ok("ALTER QMODEL(" + model + ") MAXDEPTH(10) QDEPTHHI(20) QDPHIEV(ENABLED) " +
			"TRIGGER TRIGTYPE(DEPTH) TRIGDPTH(3) INITQ(INIT) PROCESS(P)")
	}
	openFor(t, r.c, "INIT", mqi.MQOO_INPUT_SHARED)
	for i := range 5 {
		r.pub(fmt.Sprint("D/", i), "x", mqi.MQPMO_RETAIN)
	}
	events := r.curDepth("SYSTEM.ADMIN.PERFM.EVENT")
	var q Handle
	inTime(t, "MQSUB", func() { q, _ = r.managed(r.c, "D/#", 0) })
	name := r.c.handles[q].queue.obj.Name
	inTime(t, "DEFINE SUB", func() { r.ok("DEFINE SUB(S) TOPICSTR('D/#') DESTCLAS(MANAGED)") })
	durable := r.field("DISPLAY SUB(S) DEST", "DEST")
	for _, n := range []string{name, durable} {
		o := r.m.lookup(ClassQueue, n)
		r.eventually(n+" changed by event and trigger", func() bool {
			d := o.Def()
			return d.Get("QDPHIEV") == "DISABLED" && d.Get("TRIGGER") == "NO"
		})
		if d := o.Queue.depth(); d != 5 {
			t.Errorf("%s has %d messages", n, d)
		}
	}
	// One event each: the messages after the first one found it switched off.
	if n := r.curDepth("SYSTEM.ADMIN.PERFM.EVENT") - events; n != 2 {
		t.Errorf("%d event messages", n)
	}
	if n := r.curDepth("INIT"); n != 2 {
		t.Errorf("%d trigger messages", n)
	}
	inTime(t, "a command afterwards", func() { r.ok("DELETE SUB(S)") })
}

// A managed queue that the retained publications do not fit on: no subscription, 2526.
func TestSubscribeManagedQueueFull(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR PERFMEV(ENABLED)")
	r.ok("DEFINE QMODEL(SMALL) MAXDEPTH(3) QDPMAXEV(ENABLED)")
	r.ok("DEFINE TOPIC(R) TOPICSTR('r') MNDURMDL(SMALL) USEDLQ(NO)")
	for i := range 5 {
		r.pub(fmt.Sprint("r/", i), "x", mqi.MQPMO_RETAIN)
	}
	inTime(t, "MQSUB", func() {
		_, _, err := r.c.Subscribe(bg, subSD("r/#", mqi.MQSO_CREATE|mqi.MQSO_MANAGED), 0)
		wantRC(t, err, mqi.MQRC_RETAINED_NOT_DELIVERED)
	})
	if l := r.m.list(managedNondurable+"*", ClassQueue); len(l) != 0 {
		t.Errorf("%s stayed", l[0].Name)
	}
	inTime(t, "the end of the connection", r.c.Break)
}
