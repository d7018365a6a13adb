package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

const asyncSync = mqi.MQPMO_ASYNC_RESPONSE | mqi.MQPMO_SYNCPOINT

// lose puts a message without answer that does not fit, on a queue with MAXMSGL(10).
func (r *rig) lose(c *Conn, h Handle, opts int32, change ...func(*mqi.MD)) {
	r.t.Helper()
	_, err := tryPut(c, h, "much too long", opts, change...)
	wantRC(r.t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
}

func wantBackedOut(t *testing.T, err error) {
	t.Helper()
	if cc, rc := mqi.Reason(err); cc != mqi.CCWarning || rc != mqi.MQRC_BACKED_OUT {
		t.Fatalf("%d/%d %v, want a warning with 2003", cc, rc, err)
	}
}

// A unit of work that lacks a persistent message, because a put without answer failed, is not committed.
func TestAsyncPutLost(t *testing.T) {
	notPersistent := func(md *mqi.MD) { md.Persistence = mqi.MQPER_NOT_PERSISTENT }
	asQueue := func(md *mqi.MD) { md.Persistence = mqi.MQPER_PERSISTENCE_AS_Q_DEF }
	put1 := func(name string, change func(*mqi.MD), rc mqi.RC) func(r *rig, c *Conn, _ Handle) {
		return func(r *rig, c *Conn, _ Handle) {
			od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
			od.ObjectName, pmo.Options = name, asyncSync
			change(&md)
			wantRC(r.t, c.Put1(bg, &od, &md, &pmo, []byte("much too long")), rc)
		}
	}
	for name, c := range map[string]struct {
		fail func(r *rig, c *Conn, h Handle)
		lost bool
	}{
		"persistent":                  {func(r *rig, c *Conn, h Handle) { r.lose(c, h, asyncSync, persistent) }, true},
		"default of the queue":        {func(r *rig, c *Conn, h Handle) { r.lose(c, r.openQ(c, "P", inOut), asyncSync, asQueue) }, true},
		"nonpersistent":               {func(r *rig, c *Conn, h Handle) { r.lose(c, h, asyncSync, notPersistent) }, false},
		"nonpersistent by the queue":  {func(r *rig, c *Conn, h Handle) { r.lose(c, h, asyncSync, asQueue) }, false},
		"outside syncpoint":           {func(r *rig, c *Conn, h Handle) { r.lose(c, h, mqi.MQPMO_ASYNC_RESPONSE, persistent) }, false},
		"with an answer":              {func(r *rig, c *Conn, h Handle) { r.lose(c, h, mqi.MQPMO_SYNCPOINT, persistent) }, false},
		"MQPUT1":                      {put1("B", persistent, mqi.MQRC_MSG_TOO_BIG_FOR_Q), true},
		"MQPUT1, no such queue":       {put1("NOWHERE", asQueue, mqi.MQRC_UNKNOWN_OBJECT_NAME), true},
		"MQPUT1, light, no such":      {put1("NOWHERE", notPersistent, mqi.MQRC_UNKNOWN_OBJECT_NAME), false},
		"refused before it was a put": {func(r *rig, c *Conn, h Handle) { refuse(c, h, persistent) }, true},
		"refused, light":              {func(r *rig, c *Conn, h Handle) { refuse(c, h, notPersistent) }, false},
		"no such handle": {func(r *rig, c *Conn, _ Handle) {
			_, err := tryPut(c, 999, "x", asyncSync, persistent)
			wantRC(r.t, err, mqi.MQRC_HOBJ_ERROR)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newXARig(t)
			r.alter(ClassQueue, "B", "MAXMSGL", "10")
			r.define("QLOCAL", "P", "MAXMSGL", "10", "DEFPSIST", "YES")
			a, b := r.openQ(r.c, "A", inOut), r.openQ(r.c, "B", inOut)
			r.get(r.c, a, syncGet)
			r.put(r.c, b, "1", asyncSync, persistent)
			c.fail(r, r.c, b)
			r.put(r.c, b, "2", asyncSync, persistent)
			err := r.c.Commit(bg)
			if !c.lost {
				wantRC(t, err, 0)
				r.wantQueues("", "1 2")
				return
			}
			wantBackedOut(t, err)
			if _, md := r.get(r.c, a, syncGet); md.BackoutCount != 1 {
				t.Errorf("backout count %d", md.BackoutCount)
			}
			r.put(r.c, b, "3", asyncSync, persistent)
			wantRC(t, r.c.Commit(bg), 0) // another unit
			r.wantQueues("", "3")
		})
	}
}

func refuse(c *Conn, h Handle, change func(*mqi.MD)) {
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	change(&md)
	pmo.Options = asyncSync
	c.CountRefused(h, "", &md, &pmo, mqi.E("MQPUT", "DEV.APP.SVRCONN", mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL))
}

// A unit in which nothing but the lost message was done is backed out too, and a backout is all that it takes.
func TestAsyncPutLostAlone(t *testing.T) {
	r := newXARig(t)
	r.alter(ClassQueue, "B", "MAXMSGL", "10")
	b := r.openQ(r.c, "B", inOut)
	r.lose(r.c, b, asyncSync, persistent)
	wantBackedOut(t, r.c.Commit(bg))
	wantRC(t, r.c.Commit(bg), 0)
	r.lose(r.c, b, asyncSync, persistent)
	wantRC(t, r.c.Backout(bg), 0)
	wantRC(t, r.c.Commit(bg), 0)
	c := r.connect()
	b = r.openQ(c, "B", inOut)
	r.put(c, b, "1", asyncSync, persistent)
	r.lose(c, b, asyncSync, persistent)
	wantBackedOut(t, c.Disconnect(bg))
	r.wantQueues("in", "")
}

// Publications are messages too.
func TestAsyncPublicationLost(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE TOPIC(T) TOPICSTR('t') PUB(DISABLED)")
	h, err := r.c.Open(bg, topicOD("t"), mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	for _, c := range []struct {
		change func(*mqi.MD)
		lost   bool
	}{{persistent, true}, {func(md *mqi.MD) { md.Persistence = mqi.MQPER_PERSISTENCE_AS_TOPIC_DEF }, false}} {
		_, err := tryPut(r.c, h, "x", asyncSync, c.change)
		wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
		if err := r.c.Commit(bg); c.lost {
			wantBackedOut(t, err)
		} else {
			wantRC(t, err, 0)
		}
	}
}

// One queue of a list that does not get the message is a message lost.
func TestAsyncListLost(t *testing.T) {
	r := newXARig(t)
	r.alter(ClassQueue, "B", "MAXMSGL", "10")
	od := listOf("A", "B")
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	persistent(&md)
	pmo.Version, pmo.Options = 2, asyncSync
	wantRC(t, r.c.Put(bg, h, &md, &pmo, []byte("much too long")), mqi.MQRC_MULTIPLE_REASONS)
	wantBackedOut(t, r.c.Commit(bg))
	r.wantQueues("in", "")
}

// A branch that lacks a message votes against the commit.
func TestAsyncPutLostXA(t *testing.T) {
	for name, settle := range map[string]func(c *Conn) XARet{
		"prepare":   func(c *Conn) XARet { return c.XAPrepare(bg, xid("1")) },
		"one phase": func(c *Conn) XARet { return c.XACommit(bg, xid("1"), TMOnePhase) },
	} {
		for _, light := range []bool{false, true} {
			r := newXARig(t)
			r.alter(ClassQueue, "B", "MAXMSGL", "10")
			c := r.xaConnect()
			b := r.openQ(c, "B", inOut)
			wantXA(t, c.XAStart(bg, xid("1"), TMNoFlags), XAOK)
			r.put(c, b, "1", asyncSync, persistent)
			if light {
				r.lose(c, b, asyncSync)
			} else {
				r.lose(c, b, asyncSync, persistent)
			}
			wantXA(t, c.XAEnd(bg, xid("1"), TMSuccess), XAOK)
			if light {
				wantXA(t, settle(c), XAOK)
				if name == "prepare" {
					wantXA(t, c.XACommit(bg, xid("1"), TMNoFlags), XAOK)
				}
				r.wantQueues("in", "1")
				continue
			}
			wantXA(t, settle(c), XARBRollback)
			wantXA(t, c.XARollback(bg, xid("1")), XANotA)
			r.wantQueues("in", "")
		}
	}
}

// What is committed up to a place in the unit is a unit of its own.
func TestAsyncPutLostBehindMark(t *testing.T) {
	r := newXARig(t)
	r.alter(ClassQueue, "B", "MAXMSGL", "10")
	b := r.openQ(r.c, "B", inOut)
	r.put(r.c, b, "1", asyncSync, persistent)
	first := r.c.Mark()
	r.put(r.c, b, "2", asyncSync, persistent)
	r.lose(r.c, b, asyncSync, persistent)
	second := r.c.Mark()
	r.put(r.c, b, "3", asyncSync, persistent)
	wantRC(t, r.c.CommitTo(bg, first), 0)
	wantBackedOut(t, r.c.CommitTo(bg, second.Since(first)))
	wantRC(t, r.c.Commit(bg), 0)
	r.wantQueues("in", "1 3")
}
