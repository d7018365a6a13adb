package qmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A destination that a subscription cannot have, or has no more, is 2522; a handle that is none, or another queue's, 2019.
func TestSubscribeDestination(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QLOCAL(Q2)")
	r.ok("DEFINE QLOCAL(NOMODEL)")
	r.ok("DEFINE TOPIC(TT) TOPICSTR('m') MNDURMDL(NOMODEL) MDURMDL(SYSTEM.DEFAULT.MODEL.QUEUE)")
	const durable = mqi.MQSO_DURABLE
	try := func(rc mqi.RC, options int32, topic, name string, h Handle) {
		t.Helper()
		_, s, err := r.c.Subscribe(bg, subSD(topic, options, named(name)), h)
		wantRC(t, err, rc)
		if err == nil {
			r.close(r.c, s, mqi.MQCO_KEEP_SUB)
		}
	}
	try(mqi.MQRC_INVALID_DESTINATION, mqi.MQSO_CREATE|mqi.MQSO_MANAGED, "m", "A", 0)
	try(mqi.MQRC_INVALID_DESTINATION, mqi.MQSO_CREATE|mqi.MQSO_MANAGED|durable, "m", "A", 0)
	od := mqi.DefaultOD()
	od.ObjectName = "SYSTEM.DEFAULT.MODEL.QUEUE"
	temporary, err := r.c.Open(bg, &od, mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	try(mqi.MQRC_INVALID_DESTINATION, mqi.MQSO_CREATE|durable, "a", "A", temporary)
	h := openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED)
	h2 := openFor(t, r.c, "Q2", mqi.MQOO_INPUT_SHARED)
	try(0, mqi.MQSO_CREATE|durable, "a", "D", h)
	try(mqi.MQRC_INVALID_DESTINATION, mqi.MQSO_ALTER|durable, "a", "D", temporary)
	try(mqi.MQRC_HOBJ_ERROR, mqi.MQSO_RESUME|durable, "a", "D", 4711)
	try(mqi.MQRC_HOBJ_ERROR, mqi.MQSO_RESUME|durable, "a", "D", h2)
	try(0, mqi.MQSO_RESUME|durable, "a", "D", h)
	r.close(r.c, h, 0)
	r.ok("DELETE QLOCAL(Q)")
	try(mqi.MQRC_INVALID_DESTINATION, mqi.MQSO_RESUME|durable, "a", "D", 0)
}

// A subscription whose publications go on to another queue manager has no queue to open here, also where one is called the same.
func TestResumeWithQueueElsewhere(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(X) USAGE(XMITQ)")
	r.ok("DEFINE SUB(FAR) TOPICSTR('T') DEST(THERE) DESTQMGR(X)")
	r.ok("DEFINE QLOCAL(SAME)")
	r.ok("DEFINE SUB(ALIKE) TOPICSTR('T') DEST(SAME) DESTQMGR(X)")
	r.ok("DEFINE SUB(HERE) TOPICSTR('T') DEST(SAME) DESTQMGR(QM1)")
	for name, opens := range map[string]bool{"FAR": false, "ALIKE": false, "HERE": true} {
		q, s, err := r.c.Subscribe(bg, subSD("T", mqi.MQSO_RESUME|mqi.MQSO_DURABLE, named(name)), 0)
		wantRC(t, err, 0)
		if (q != 0) != opens {
			t.Errorf("%s: handle %d of a queue", name, q)
		}
		r.close(r.c, s, 0)
	}
}

// A subscription made between the put and the commit of a retained publication gets it, but not when it asked for new
// publications only or on request.
func TestSubscribeInFlightRetained(t *testing.T) {
	r := newPSRig(t)
	p := r.connect("p")
	wantRC(t, tryPub(p, "L", "ret", mqi.MQPMO_RETAIN|mqi.MQPMO_SYNCPOINT), 0)
	q1, _ := r.managed(r.c, "L", 0)
	q2, _ := r.managed(r.c, "L", mqi.MQSO_NEW_PUBLICATIONS_ONLY)
	q3, _ := r.managed(r.c, "L", mqi.MQSO_PUBLICATIONS_ON_REQUEST)
	wantRC(t, p.Commit(bg), 0)
	for q, want := range map[Handle]bool{q1: true, q2: false, q3: false} {
		if got := r.all(r.c, q); (got != "") != want {
			t.Errorf("handle %d: %q", q, got)
		}
	}
}

// The queue of retained publications is read at MQSUB only for a subscription that gets them then.
func TestSubscribeRetainedInhibited(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QLOCAL(SYSTEM.RETAINED.PUB.QUEUE) GET(DISABLED)")
	for o, rc := range map[int32]mqi.RC{0: mqi.MQRC_RETAINED_MSG_Q_ERROR, mqi.MQSO_NEW_PUBLICATIONS_ONLY: 0,
		mqi.MQSO_PUBLICATIONS_ON_REQUEST: 0} {
		_, _, err := r.c.Subscribe(bg, subSD("n", mqi.MQSO_CREATE|mqi.MQSO_MANAGED|o), 0)
		wantRC(t, err, rc)
	}
}

// waiting starts a get that waits without end, and returns when it waits.
func (r *psRig) waiting(c *Conn, h Handle, queue string) chan error {
	r.t.Helper()
	q := r.m.lookup(ClassQueue, queue).Queue
	q.mu.Lock()
	n := q.wait.n
	q.mu.Unlock()
	ch := make(chan error, 1)
	go func() {
		s, _, err := tryGet(c, h, mqi.MQGMO_WAIT, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = -1 })
		if err == nil {
			err = fmt.Errorf("got %q", s)
		}
		ch <- err
	}()
	r.eventually("waits", func() bool { q.mu.Lock(); defer q.mu.Unlock(); return q.wait.n == n+1 })
	return ch
}

// A get that waits through an alias ends when the alias is inhibited (2016), or changed by force (2041).
func TestWaitThroughAlias(t *testing.T) {
	for cmd, rc := range map[string]mqi.RC{"ALTER QALIAS(AL) GET(DISABLED)": mqi.MQRC_GET_INHIBITED,
		"ALTER QALIAS(AL) TARGET(Q2) FORCE": mqi.MQRC_OBJECT_CHANGED} {
		r := newPSRig(t)
		r.ok("DEFINE QLOCAL(Q)")
		r.ok("DEFINE QLOCAL(Q2)")
		r.ok("DEFINE QALIAS(AL) TARGET(Q)")
		other := r.connect("other")
		direct := r.waiting(other, openFor(t, other, "Q", mqi.MQOO_INPUT_SHARED), "Q")
		ch := r.waiting(r.c, openFor(t, r.c, "AL", mqi.MQOO_INPUT_SHARED), "Q")
		r.ok(cmd)
		inTime(t, "the get", func() { wantRC(t, <-ch, rc) })
		if len(direct) != 0 {
			t.Errorf("%s ended the get of the queue itself: %v", cmd, <-direct)
		}
		other.Break()
		<-direct
	}
}

// Gets that wait with selectors look at the message that came, each gets its own, also when several come at once.
func TestWaitSelectors(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	const n = 5
	var chs []chan error
	for i := range n {
		c := r.connect("w")
		od := mqi.DefaultOD()
		od.Version, od.ObjectName = 4, "Q"
		od.SelectionString = fmt.Sprintf("Root.MQMD.Priority = %d", i)
		h, err := c.Open(bg, &od, mqi.MQOO_INPUT_SHARED)
		wantRC(t, err, 0)
		chs = append(chs, r.waiting(c, h, "Q"))
	}
	h := openFor(t, r.c, "Q", mqi.MQOO_OUTPUT)
	for _, prio := range []int32{9, 0, 3, 8, 1, 4, 2, 7} {
		_, err := tryPut(r.c, h, fmt.Sprint(prio), mqi.MQPMO_SYNCPOINT, func(md *mqi.MD) { md.Priority = prio })
		wantRC(t, err, 0)
	}
	wantRC(t, r.c.Commit(bg), 0)
	for i, ch := range chs {
		select {
		case err := <-ch:
			if want := fmt.Sprintf("got %q", fmt.Sprint(i)); err.Error() != want {
				t.Errorf("%v, not %s", err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the get for priority %d still waits", i)
		}
	}
	if d := r.curDepth("Q"); d != 3 {
		t.Errorf("%d messages left", d)
	}
}

// A put under syncpoint that is refused begins no unit of work.
func TestRefusedPutBeginsNothing(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(0)")
	h := openFor(t, r.c, "Q", mqi.MQOO_OUTPUT)
	_, err := tryPut(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	bo := mqi.DefaultBO()
	wantRC(t, r.c.Begin(bg, &bo), mqi.MQRC_NO_EXTERNAL_PARTICIPANTS)
}

// MAXUMSGS counts the trigger messages of a publication too.
func TestMaxUmsgsPublicationTriggers(t *testing.T) {
	r := newTriggerRig(t)
	r.ok("ALTER QMGR MAXUMSGS(4)")
	r.ok("DEFINE QLOCAL(A) TRIGGER TRIGTYPE(EVERY) INITQ(INIT) PROCESS(P)")
	r.ok("DEFINE SUB(SA) TOPICSTR('T') DEST(A)")
	for range 2 {
		wantRC(t, tryPub(r.c, "T", "x", mqi.MQPMO_SYNCPOINT), 0)
	}
	wantRC(t, tryPub(r.c, "T", "x", mqi.MQPMO_SYNCPOINT), mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
}
