package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestStreamQueue(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "STREAMQ", "COPY")
	r.define("QLOCAL", "COPY", "MAXDEPTH", "3", "STREAMQ", "Q2", "MSGDLVSQ", "FIFO")
	r.define("QLOCAL", "Q2")
	h, d := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "COPY", inOut)
	put := r.put(r.c, h, "1", 0, func(md *mqi.MD) { md.Report, md.ReplyToQ, md.Expiry = mqi.MQRO_COD, "Q2", 50 })
	text, md := r.get(r.c, d, 0)
	if text != "1" || md.MsgID != put.MsgID || md.Expiry != 50 || md.Report != 0 {
		t.Errorf("%q %+v", text, md)
	}
	r.wantNext(h, 0, "1")
	if n := r.depth("Q2"); n != 1 { // the COD report of the message itself: a copy is not copied, nor reported
		t.Errorf("%d messages on Q2", n)
	}
	// In the same unit of work.
	r.put(r.c, h, "2", mqi.MQPMO_SYNCPOINT)
	r.wantNext(d, 0, "")
	wantRC(t, r.c.Backout(bg), 0)
	if a, b := r.depth("Q"), r.depth("COPY"); a != 0 || b != 0 {
		t.Errorf("depths after backout %d %d", a, b)
	}
	r.put(r.c, h, "3", mqi.MQPMO_SYNCPOINT)
	wantRC(t, r.c.Commit(bg), 0)
	r.wantNext(d, 0, "3")
	// Best effort: the message is put without its copy.
	r.alter(ClassQueue, "COPY", "PUT", "DISABLED")
	r.put(r.c, h, "4", 0)
	if a, b := r.depth("Q"), r.depth("COPY"); a != 2 || b != 0 {
		t.Errorf("depths %d %d", a, b)
	}
	// Both or none.
	r.alter(ClassQueue, "Q", "STRMQOS", "MUSTDUP")
	_, err := tryPut(r.c, h, "5", 0)
	wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
	_, err = tryPut(r.c, h, "5", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
	wantRC(t, r.c.Commit(bg), 0)
	if n := r.depth("Q"); n != 2 {
		t.Errorf("depth %d", n)
	}
	r.alter(ClassQueue, "COPY", "PUT", "ENABLED")
	for range 3 {
		r.put(r.c, h, "6", 0)
	}
	_, err = tryPut(r.c, h, "7", 0)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.alter(ClassQueue, "Q", "STREAMQ", "NOWHERE")
	_, err = tryPut(r.c, h, "8", 0)
	wantRC(t, err, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	if a, b := r.depth("Q"), r.depth("COPY"); a != 5 || b != 3 || r.m.lookup(ClassQueue, "Q").Queue.uncommitted() {
		t.Errorf("depths %d %d", a, b)
	}
}

func TestCapExpiry(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "CAPEXPRY", "100")
	r.define("QALIAS", "A", "TARGET", "Q", "CAPEXPRY", "30")
	q, a := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	for _, c := range []struct {
		h         Handle
		put, want int32
	}{{q, -1, 100}, {q, 500, 100}, {q, 20, 20}, {a, -1, 30}, {a, 20, 20}} {
		r.put(r.c, c.h, "x", 0, func(md *mqi.MD) { md.Expiry = c.put })
		if _, md := r.get(r.c, q, 0); md.Expiry != c.want {
			t.Errorf("put with %d: %d, want %d", c.put, md.Expiry, c.want)
		}
	}
	r.put(r.c, q, "x", 0)
	r.clk.Advance(11 * time.Second)
	r.wantNext(q, 0, "")
}

// Attributes that are changed are in force for handles that are open.
func TestLimitsChangeLive(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXDEPTH", "1", "MAXMSGL", "3")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "abc", 0)
	for _, c := range []struct {
		text, kw, val string
		rc            mqi.RC
	}{
		{"x", "MAXDEPTH", "1", mqi.MQRC_Q_FULL},
		{"abcd", "MAXDEPTH", "5", mqi.MQRC_MSG_TOO_BIG_FOR_Q},
		{"abcd", "MAXMSGL", "4", 0},
		{"abc", "MAXMSGL", "2", mqi.MQRC_MSG_TOO_BIG_FOR_Q},
	} {
		r.alter(ClassQueue, "Q", c.kw, c.val)
		_, err := tryPut(r.c, h, c.text, 0)
		wantRC(t, err, c.rc)
	}
	r.wantNext(h, 0, "abc") // what is there is not measured again
}

func TestAsyncPuts(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXMSGL", "10")
	h := r.openQ(r.c, "Q", inOut)
	const async = mqi.MQPMO_ASYNC_RESPONSE
	r.put(r.c, h, "answered", 0)
	r.put(r.c, h, "1", async)
	_, err := tryPut(r.c, h, "2", async, func(md *mqi.MD) { md.Priority = 12 })
	wantRC(t, err, mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM)
	_, err = tryPut(r.c, h, "much too long", async)
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
	od.ObjectName, pmo.Options = "NOWHERE", async
	wantRC(t, r.c.Put1(bg, &od, &md, &pmo, nil), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	_, err = r.c.Stat(9)
	wantRC(t, err, mqi.MQRC_STAT_TYPE_ERROR)
	_, err = r.c.Stat(mqi.MQSTAT_TYPE_RECONNECTION)
	wantRC(t, err, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	s, err := r.c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR)
	if err != nil || s.PutSuccessCount != 1 || s.PutWarningCount != 1 || s.PutFailureCount != 2 ||
		s.CompCode != mqi.CCFailed || s.Reason != mqi.MQRC_MSG_TOO_BIG_FOR_Q || s.ObjectName != "Q" || s.ObjectType != mqi.MQOT_Q {
		t.Errorf("%+v %v", s, err)
	}
	if s, _ = r.c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR); s != (mqi.STS{}) {
		t.Errorf("asked again: %+v", s)
	}
}

// A unit of work that goes on for long is told of in the log.
func TestLongUnitIsLogged(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	tick := func() int {
		r.log.Reset()
		r.clk.Advance(expiryScan)
		return strings.Count(r.log.String(), msgLongUnit)
	}
	for i := range 4 {
		if n := tick(); n != 0 {
			t.Errorf("minute %d: %s", i+1, r.log.String())
		}
	}
	if n := tick(); n != 1 || !strings.Contains(r.log.String(), "amqsput") {
		t.Errorf("after five minutes: %s", r.log.String())
	}
	if n := tick(); n != 0 {
		t.Errorf("told again: %s", r.log.String())
	}
	wantRC(t, r.c.Commit(bg), 0)
	r.put(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	if n := tick(); n != 0 {
		t.Errorf("new unit: %s", r.log.String())
	}
}
