package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Undeliverable does with a message what a mover does that cannot put it: it sends the exception report the message asks
// for, then discards the message if it says so (MQRO_DISCARD_MSG), and else puts it on the dead-letter queue. All of
// it is part of the connection's unit of work with sync. The error says that the message is nowhere: DEADQ is blank
// (2085), or its queue does not take it; the mover must keep the message then.
func (c *Conn) Undeliverable(ctx context.Context, md *mqi.MD, body []byte, queue, qmgr string, why mqi.RC, sync bool) error {
	const op = "dead letter"
	if err := c.begin(op, queue); err != nil {
		return err
	}
	defer c.verb.Unlock()
	now := c.m.opt.Clock.Now()
	head := &msgHead{md: *md, putNanos: now.UnixNano(), expire: expiryAt(now, md.Expiry)}
	if head.md.PutDate == "" { // a message that never had a context
		c.identityContext(&head.md)
		c.originContext(&head.md)
	}
	if head.md.MsgID.IsZero() {
		head.md.MsgID = c.m.newID("AMQ ")
	}
	c.characters(&head.md)
	reports := c.m.exceptionReports(head, body, why)
	if sync {
		if rc := c.room(1 + len(reports)); rc != 0 {
			return mqi.E(op, queue, rc)
		}
	}
	u := &uow{}
	if sync {
		u = c.begun()
	} else {
		defer c.m.leftover(u)
	}
	n := len(reports)
	if md.Report&mqi.MQRO_DISCARD_MSG == 0 {
		dlq := c.m.qmgrDef().Get("DEADQ")
		if blank(dlq) {
			return mqi.E(op, "DEADQ", mqi.MQRC_UNKNOWN_OBJECT_NAME)
		}
		if qmgr == "" {
			qmgr = c.m.opt.Name
		}
		dead, deadBody := c.m.deadLetter(why, queue, qmgr, head, body)
		if rc := c.m.putAs(u, dlq, "", dead, deadBody); rc != 0 {
			return mqi.E(op, dlq, rc)
		}
		n++
	}
	for _, r := range reports {
		c.m.sendReport(u, r)
	}
	if sync {
		u.n += n
		return nil
	}
	return storeReason(op, queue, c.m.commit(u))
}

// exceptionReports make the report that a message could not be delivered.
func (m *Manager) exceptionReports(h *msgHead, body []byte, why mqi.RC) []*report {
	return m.reports(h, body, mqi.MQRO_EXCEPTION, mqi.MQRO_EXCEPTION_WITH_FULL_DATA, int32(why))
}
