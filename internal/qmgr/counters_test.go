package qmgr

import (
	"math"
	"strconv"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A queue whose counters nobody resets counts beyond what a PCF number holds: the highest stays there then, in RESET QSTATS as in
// events.
func TestCountersBeyondPCF(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	c := r.connect()
	h := r.openQ(c, "Q", mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED)
	q := r.m.lookup(ClassQueue, "Q").Queue
	reset := func() (enq, deq int) {
		for _, i := range q.resetStats(r.clk.Now(), r.m.startedAt).Items {
			switch n, _ := strconv.Atoi(i.Val); i.Key {
			case rowStatEnq.Name:
				enq = n
			case rowStatDeq.Name:
				deq = n
			}
		}
		return enq, deq
	}
	event := func() (enq, deq int) {
		e, _ := q.startEvent(r.clk.Now(), r.m.startedAt)
		return int(e.Enqueued), int(e.Dequeued)
	}
	for _, ask := range []func() (enq, deq int){reset, event} {
		q.under(func() { q.watch.enq, q.watch.deq = math.MaxInt32, math.MaxInt32 })
		r.put(c, h, 0)
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		_, _, err := c.Get(bg, h, &md, &gmo, 100)
		wantRC(t, err, 0)
		if enq, deq := ask(); enq != math.MaxInt32 || deq != math.MaxInt32 {
			t.Errorf("%d put and %d got, want %d of both", enq, deq, math.MaxInt32)
		}
	}
}
