package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Programs put one message after the other that differ in nothing but their data. Of such a message everything has been checked and
// decided with the one before, except what PutAgain looks at: it makes no new head, but goes on with the last one's.

// again is the last verb, if it was such a put. Under verb.
type again struct {
	h              *handle
	cfg            *queueCfg // of its queue when it was about to be checked,
	qm             *Def      // and the queue manager's definition: what has been decided by them holds while they do
	newMsg, newCor bool      // each message has an identifier of its own
	quiesces       bool      // MQPMO_FAIL_IF_QUIESCING
	n              int       // how often it has been repeated
}

// stayMost is how many such messages, one after the other, go to the same getter, whose socket and conversation are in the processor's
// cache then and leave in one write.
const stayMost = 16

// againOptions are those of puts that can be repeated.
const againOptions = mqi.MQPMO_ASYNC_RESPONSE | mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_NEW_MSG_ID | mqi.MQPMO_NEW_CORREL_ID |
	mqi.MQPMO_DEFAULT_CONTEXT | mqi.MQPMO_FAIL_IF_QUIESCING

// noteAgain notes a put that a waiting get has just been given. rules are the handle, and what ruled the put; given is the descriptor
// before the queue manager filled it.
func (c *Conn) noteAgain(rules again, given *mqi.MD, pmo *mqi.PMO) {
	md, h := &c.head.md, rules.h
	switch {
	case !c.lent, pmo.Options&^againOptions != 0, pmo.Options&mqi.MQPMO_ASYNC_RESPONSE == 0,
		len(h.res.path) != 1, h.res.path[0].Queue != h.queue, // an alias has attributes of its own
		pmo.OriginalMsgHandle > 0, pmo.NewMsgHandle > 0, pmo.Version >= 3 && pmo.Action != mqi.MQACTP_NEW,
		c.head.props != nil, hasHeader(md.Format),
		given.Format != md.Format, md.Format == mqi.MQFMT_MD_EXTENSION, // an MQMDE is part of the data, and rules its own message
		given.ReplyToQ != "", c.head.expire != 0, md.MsgFlags != 0, md.Persistence != mqi.MQPER_NOT_PERSISTENT:
		return
	}
	o := pmo.Options
	rules.newMsg = o&mqi.MQPMO_NEW_MSG_ID != 0 || given.MsgID.IsZero()
	rules.newCor = o&mqi.MQPMO_NEW_CORREL_ID != 0
	rules.quiesces = o&mqi.MQPMO_FAIL_IF_QUIESCING != 0
	c.again = rules
}

// Repeats reports whether the connection's last verb was a PutBy that PutAgain can repeat.
func (c *Conn) Repeats() bool { return c.again.h != nil }

// PutAgain repeats the last PutBy of the connection with other data, which stay the caller's. With false nothing has happened: the
// message has to be put by PutBy.
func (c *Conn) PutAgain(by any, body []byte) bool {
	a := c.again
	if a.h == nil || c.begin("MQPUT", "") != nil { // which ends what could be repeated
		return false
	}
	defer c.verb.Unlock()
	h := a.h
	if h.check() != 0 || h.queue.cfg.Load() != a.cfg || c.m.qmgrDef() != a.qm || a.quiesces && c.quiescing() != 0 {
		return false
	}
	md := &c.head.md
	if limit, rc := c.checkLength(h, md, len(body)); limit != 0 || rc != 0 {
		return false
	}
	if a.newMsg {
		md.MsgID = c.m.newID("AMQ ")
	}
	if a.newCor {
		md.CorrelID = c.m.newID("AMQ ")
	}
	now := c.m.opt.Clock.Now()
	md.PutDate, md.PutTime = c.m.stamps.of(now)
	c.head.putNanos = now.UnixNano()
	a.n++
	if !c.m.handTo(by, h.queue, &c.head, body, a.n%stayMost != 0) {
		return false
	}
	c.putDone("MQPUT", h, md, len(body), nil)
	c.async.Count(nil)
	c.again = a
	return true
}

// Passed is how many messages have been put on a handle's queue since the start, and got from it, by whomever, and how many lie there.
// It is no verb.
func (c *Conn) Passed(n Handle) (put, got uint64, depth int) {
	c.mu.Lock()
	h := c.handles[n]
	c.mu.Unlock()
	if h == nil || h.queue == nil {
		return 0, 0, 0
	}
	q := h.queue
	q.under(func() { put, got, depth = q.watch.puts, q.watch.gets, q.depthLocked() })
	return put, got, depth
}
