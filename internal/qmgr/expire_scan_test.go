package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The scan for expired messages goes on where it was, however many stay before that place, holds the lock for a bounded
// number of entries, and remembers the next time of expiry, that of messages put meanwhile too.
func TestExpiryScan(t *testing.T) {
	const live, over = 3 * scanBatch, 10 * expireBatch
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(999999)")
	h := openFor(t, r.c, "Q", inOut)
	put := func(prio, expiry int32) {
		_, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) { md.Priority, md.Expiry = prio, expiry })
		wantRC(t, err, 0)
	}
	for range live {
		put(4, -1)
	}
	for range over {
		put(4, 10)
	}
	q := r.m.lookup(ClassQueue, "Q").Queue
	start := r.clk.Now()
	now := start.Add(5 * time.Second).UnixMilli()
	holds, fresh := 0, true
	for more := true; more; holds++ {
		var dead []deadMsg
		dead, more = q.expired(now, fresh)
		if fresh = false; len(dead) > expireBatch {
			t.Fatalf("%d condemned at once", len(dead))
		}
		wantRC(t, r.m.discard(q, dead), 0)
		if holds == 0 {
			put(9, 20) // before the place of the scan
		}
		if holds > live/scanBatch+over/expireBatch+2 {
			t.Fatal("the scan does not go on where it was")
		}
	}
	if d := q.depth(); d != live+1 {
		t.Errorf("%d messages are left, not %d", d, live+1)
	}
	if want := start.Add(2 * time.Second).UnixMilli(); q.soonest != want {
		t.Errorf("next expiry %d, not %d", q.soonest, want)
	}
}
