package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// leftTicket is a unit that was left to others; the test says when it is complete.
type leftTicket struct {
	store.Ticket
	s *faultStore
}

func (l leftTicket) Leave(then func(any, error)) bool {
	l.s.left = append(l.s.left, then)
	return true
}

// settling starts a get of the only message of Q that does not wait for its unit of work.
func (r *rig) settling(opts int32, leave bool) (*taker, GetState) {
	r.t.Helper()
	c := r.connect()
	x := &taker{h: r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED)}
	x.w = c.NewWaiting(x)
	x.md, x.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
	x.gmo.Options, x.gmo.WaitInterval = mqi.MQGMO_WAIT|opts, -1
	_, _, s, err := x.w.Get(x.h, &x.md, &x.gmo, 100)
	switch {
	case err == nil && s == GetOver:
		return x, s
	case err != nil || s != GetBlocks:
		r.t.Fatal(s, err)
	}
	_, _, s, err = x.w.Finish(leave)
	if err != nil {
		r.t.Fatal(err)
	}
	return x, s
}

func settlingRig(t *testing.T) *rig {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.put(r.c, r.openQ(r.c, "Q", inOut), "m", 0, persistent)
	r.fault.leave = true
	return r
}

// A get of a persistent message goes on when somebody else has committed it; until then nobody has the message.
func TestGetSettles(t *testing.T) {
	r := settlingRig(t)
	x, s := r.settling(0, true)
	if s != GetSettles || len(r.fault.left) != 1 {
		t.Fatalf("state %v, %d units left", s, len(r.fault.left))
	}
	if _, _, s, err := x.w.Resume(); s != GetSettles || err != nil {
		t.Fatalf("before it is durable: %v, %v", s, err)
	}
	if got := r.texts("Q"); got != "" {
		t.Errorf("another one finds %q", got)
	}
	r.fault.left[0](r, nil)
	if x.woken != 1 {
		t.Errorf("woken %d times", x.woken)
	}
	data, n, s, err := x.w.Resume()
	if s != GetOver || err != nil || string(data) != "m" || n != 1 || x.md.Persistence != mqi.MQPER_PERSISTENT {
		t.Errorf("%q, %d bytes, %v, %v", data, n, s, err)
	}
	if r.depth("Q") != 0 {
		t.Error("the message is still there")
	}
	r.fault.leave = false
	x.again(r, 100, 0) // the place is free for the next get
	x.w.Cancel()
}

// The store refuses: the getter hears why, and the message is there again as it was.
func TestGetSettlesRefused(t *testing.T) {
	r := settlingRig(t)
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	x, _ := r.settling(0, true)
	r.fault.left[0](nil, store.ErrFull)
	_, _, s, err := x.w.Resume()
	if s != GetOver {
		t.Fatal(s)
	}
	wantRC(t, err, mqi.MQRC_RESOURCE_PROBLEM)
	r.fault.leave, r.fault.fail = false, nil
	if got := r.texts("Q"); got != "m" {
		t.Errorf("on the queue: %q", got)
	}
}

// The connection ends meanwhile: Cancel returns when the unit is complete, which is not undone.
func TestCancelSettling(t *testing.T) {
	r := settlingRig(t)
	x, _ := r.settling(0, true)
	over := make(chan struct{})
	go func() { x.w.Cancel(); close(over) }()
	select {
	case <-over:
		t.Error("cancelled before the unit was complete")
	case <-time.After(20 * time.Millisecond):
	}
	r.fault.left[0](nil, nil)
	<-over
	if r.depth("Q") != 0 {
		t.Error("the message came back")
	}
}

// The queue manager ends meanwhile: that waits for the get, which has its message, as for a verb in progress.
func TestBreakWaitsForSettling(t *testing.T) {
	r := settlingRig(t)
	x, _ := r.settling(0, true)
	over := make(chan struct{})
	go func() { x.w.c.breakWith(mqi.MQRC_Q_MGR_STOPPING); close(over) }()
	select {
	case <-over:
		t.Fatal("the connection was ended while its get settled")
	case <-time.After(20 * time.Millisecond):
	}
	r.fault.left[0](nil, nil)
	select {
	case <-over:
		t.Fatal("the connection was ended before the get had its message")
	case <-time.After(20 * time.Millisecond):
	}
	data, _, s, err := x.w.Resume()
	if s != GetOver || err != nil || string(data) != "m" {
		t.Errorf("%q, %v, %v", data, s, err)
	}
	<-over
}

// Who is not ready for it waits, and so does a get in syncpoint, or one that causes a report.
func TestGetDoesNotSettle(t *testing.T) {
	t.Run("not ready", func(t *testing.T) {
		r := settlingRig(t)
		if _, s := r.settling(0, false); s != GetOver || len(r.fault.left) != 0 {
			t.Errorf("%v, %d units left", s, len(r.fault.left))
		}
	})
	t.Run("syncpoint", func(t *testing.T) {
		r := settlingRig(t)
		if _, s := r.settling(mqi.MQGMO_SYNCPOINT, true); s != GetOver || len(r.fault.left) != 0 {
			t.Errorf("%v, %d units left", s, len(r.fault.left))
		}
	})
	t.Run("report", func(t *testing.T) {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		r.define("QLOCAL", "R")
		r.put(r.c, r.openQ(r.c, "Q", inOut), "m", 0, persistent, func(md *mqi.MD) {
			md.Report, md.ReplyToQ = mqi.MQRO_COD, "R"
		})
		r.fault.leave = true
		if _, s := r.settling(0, true); s != GetOver || len(r.fault.left) != 0 || r.depth("R") != 1 {
			t.Errorf("%v, %d units left, %d reports", s, len(r.fault.left), r.depth("R"))
		}
	})
}
