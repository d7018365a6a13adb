package qmgr

import (
	goruntime "runtime"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// paceRig is a queue manager whose puts wait for getters, with paceDepth messages on Q, whose getters have been near. As many others as
// it takes for that are putting there.
type paceRig struct {
	*rig
	q      *Queue
	getter Handle
}

func newPaceRig(t *testing.T) *paceRig {
	r := &paceRig{rig: newRig(t)}
	r.q = r.define("QLOCAL", "Q").Queue
	r.getter = r.openQ(r.c, "Q", inOut)
	for range paceDepth {
		r.put(r.c, r.getter, "m", 0, persistent)
	}
	r.m.paces = true
	r.q.under(func() { r.q.use().paced.near = true })
	r.others(paceFrom - 1)
	return r
}

func (r *paceRig) others(n int) { r.q.under(func() { r.q.use().paced.putters = n }) }

// held begins a put of another connection, whose answer is awaited in the channel, and returns when that waits.
func (r *paceRig) held() chan error {
	r.t.Helper()
	c := r.connect()
	h := r.openQ(c, "Q", mqi.MQOO_OUTPUT)
	before := r.waiting()
	done := make(chan error, 1)
	go func() {
		_, err := tryPut(c, h, "late", 0, persistent)
		done <- err
	}()
	for r.waiting() == before {
		select {
		case err := <-done:
			r.t.Fatal("the put did not wait: ", err)
		default:
			goruntime.Gosched()
		}
	}
	return done
}

func (r *paceRig) waiting() (n int) {
	r.q.under(func() {
		for w := r.q.paced.first; w != nil; w = w.next {
			n++
		}
	})
	return n
}

// A put is answered when a message has left the queue: one for each, in their order. Its own message is there before.
func TestPutIsAnsweredWhenAMessageLeft(t *testing.T) {
	r := newPaceRig(t)
	first, second := r.held(), r.held()
	if n := r.depth("Q"); n != paceDepth+2 {
		t.Errorf("%d messages on the queue while the answers wait", n)
	}
	r.get(r.c, r.getter, mqi.MQGMO_SYNCPOINT)
	if n := r.waiting(); n != 2 {
		t.Fatalf("%d puts wait after a get that is not committed", n)
	}
	if err := r.c.Commit(bg); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil || r.waiting() != 1 {
		t.Fatal(err, r.waiting())
	}
	r.get(r.c, r.getter, 0)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if n := r.q.paced.putters; n != paceFrom-1 {
		t.Errorf("%d putters are left", n)
	}
}

// Without a get it is answered all the same.
func TestPutIsAnsweredInTime(t *testing.T) {
	r := newPaceRig(t)
	first := r.held()
	r.clk.Advance(paceWait / 2)
	second := r.held()
	r.clk.Advance(paceWait / 2)
	if err := <-first; err != nil || r.waiting() != 1 {
		t.Fatal(err, r.waiting())
	}
	r.clk.Advance(paceWait / 2)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}

// Getters are near when they take half of what is put, and that is looked at again and again.
func TestPaceNeedsGettersThatAreNear(t *testing.T) {
	r := newPaceRig(t)
	out := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
	r.others(0) // nothing waits: only the counting is looked at
	run := func(gets int) bool {
		r.q.under(func() { r.q.paced.puts, r.q.paced.gets = 0, 0 })
		for i := range paceWindow {
			r.put(r.c, out, "m", 0, persistent)
			if i < gets {
				r.get(r.c, r.getter, 0)
			}
		}
		return r.q.paced.near
	}
	for _, x := range []struct {
		gets int
		near bool
	}{{0, false}, {paceWindow/2 - 1, false}, {paceWindow / 2, true}, {paceWindow, true}, {1, false}} {
		if near := run(x.gets); near != x.near {
			t.Errorf("%d gets beside %d puts: near is %t", x.gets, paceWindow, near)
		}
	}
}

// Who is not held up.
func TestPutsThatAreNotPaced(t *testing.T) {
	none := func(*mqi.MD) {}
	for name, x := range map[string]struct {
		opts   int32
		change func(*mqi.MD)
		before func(*paceRig)
	}{
		"nonpersistent":      {0, none, nil},
		"in syncpoint":       {mqi.MQPMO_SYNCPOINT, persistent, nil},
		"not answered":       {mqi.MQPMO_ASYNC_RESPONSE, persistent, nil},
		"few putters":        {0, persistent, func(r *paceRig) { r.others(paceFrom - 2) }},
		"a short queue":      {0, persistent, func(r *paceRig) { r.get(r.c, r.getter, 0); r.get(r.c, r.getter, 0) }},
		"getters far behind": {0, persistent, func(r *paceRig) { r.q.under(func() { r.q.paced.near = false }) }},
		"paces off":          {0, persistent, func(r *paceRig) { r.m.paces = false }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPaceRig(t)
			if x.before != nil {
				x.before(r)
			}
			c := r.connect()
			was := r.q.paced.putters
			r.put(c, r.openQ(c, "Q", mqi.MQOO_OUTPUT), "m", x.opts, x.change) // for ever, if it waited
			if n := r.q.paced.putters; n != was {
				t.Errorf("%d putters, %d before", n, was)
			}
		})
	}
}

// A put that fails leaves nothing.
func TestPacedPutFails(t *testing.T) {
	r := newPaceRig(t)
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	_, err := tryPut(r.c, r.getter, "m", 0, persistent)
	r.fault.fail = nil
	wantRC(t, err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	if n := r.q.paced.putters; n != paceFrom-1 {
		t.Errorf("%d putters are left", n)
	}
}

// Nobody paces by a clock that may stand still.
func TestPacesByTheRealClock(t *testing.T) {
	if newRig(t).m.paces {
		t.Error("puts wait by a clock of tests")
	}
}

// What left the queue before a window began does not make getters near that are not there any more.
func TestPaceCountsFromThePut(t *testing.T) {
	var p pacing
	for range 10 * paceWindow {
		p.got()
	}
	for range paceWindow {
		p.put()
	}
	if p.near {
		t.Error("near, and nobody has got anything since the first put")
	}
	for range paceWindow {
		p.put()
		p.got()
	}
	if !p.near {
		t.Error("not near, and each message was got")
	}
}
