package mq

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// readAhead is a queue whose messages are sent before they are asked for. It belongs to whoever has the connection's token.
type readAhead struct {
	*ahead
	open  bool  // the server has a request and sends
	taken int   // bytes taken and not reported
	last  int32 // number of the last message, of the conversation
	told  bool  // the first request has said which messages are wanted
}

// getAhead takes the next message that was sent ahead, or waits for it.
func (q *Queue) getAhead(ctx context.Context, m *Message, o *GetOptions) error {
	q.c.role.want()
	defer q.c.role.release()
	if !q.ahead.open {
		if err := q.request(o, wire.ReqSync); err != nil {
			return err
		}
	}
	var until time.Time
	if o.Wait > 0 {
		until = time.Now().Add(o.Wait)
	}
	found, err := q.pull(ctx, m, o, until)
	switch {
	case found:
		return err
	case err == errLate:
		return q.check(ctx, m, o)
	case ctx.Err() != nil && q.c.alive():
		return fail("MQGET", q.name, NoMsgAvailable, context.Cause(ctx))
	}
	return q.c.abandon(ctx, "MQGET", q.name, err)
}

// pull takes the next message as it arrives, until there is nothing more in time. Without a wait it takes what has been read.
func (q *Queue) pull(ctx context.Context, m *Message, o *GetOptions, until time.Time) (found bool, err error) {
	c := q.c
	for {
		w, ok, shut := c.pushed.pop(q.ahead.ahead)
		if ok {
			w.m.Body = append(m.Body[:0], w.m.Body...)
			*m = *w.m
			if found, err = q.found(m, o, w.arrival); found || err != nil {
				return found, err
			}
			continue
		}
		if o.Wait == 0 {
			if !c.role.reads() {
				return false, errLate
			}
			if whole, _, err := c.ready(); err == nil && !whole {
				return false, errLate
			}
		}
		if shut && o.Wait != 0 {
			if err := q.request(o, wire.ReqSync); err != nil {
				return false, err
			}
		}
		s, err := c.await(ctx, until)
		if err != nil {
			return false, err
		}
		if s.h.Type == wire.AsyncMsg && s.h.Flags&wire.FlagWhole == wire.FlagWhole {
			a, err := m.aheadFrom(c.link, &s)
			if err != nil {
				return false, err
			}
			if a.hobj == q.h.hobj && a.segment == 0 {
				m.setBody(&s, a.data)
				if found, err = q.found(m, o, a); found || err != nil {
					return found, err
				}
				continue
			}
		}
		if err := c.dispatch(&s); err != nil {
			return false, err
		}
	}
}

// found notes what has arrived. It is nothing when it only ends the request though nobody wanted that: what ends a get that
// waits names the connection, and may be for another get, which was over already. Then the request is made again, or without a
// wait the server is asked (errLate).
func (q *Queue) found(m *Message, o *GetOptions, a arrival) (bool, error) {
	ended := a.ended(m)
	if err := q.arrived(m, o, a); !ended {
		return true, err
	}
	*m = Message{Body: m.Body[:0]}
	if o.Wait == 0 {
		return false, errLate
	}
	return false, q.request(o, wire.ReqSync)
}

// ended reports whether it is the end of a get that waits, and no message: with our reason, or that of the vendor's clients.
func (a *arrival) ended(m *Message) bool {
	return a.none(m) && (Reason(a.reason) == NoMsgAvailable || Reason(a.reason) == Reason(mqi.MQRC_XWAIT_CANCELED))
}

// check asks the server whether there is a message now, and thereby ends the request.
func (q *Queue) check(ctx context.Context, m *Message, o *GetOptions) error {
	a, c := q.ahead, q.c
	if err := q.request(o, wire.ReqSync|wire.ReqCheck|wire.ReqNoWait); err != nil {
		return err
	}
	var rc int32
	for known := false; !known; rc, known = c.pushed.noted(a.ahead) { // a message would have come before it
		s, err := c.await(ctx, time.Time{})
		if err == nil {
			err = c.dispatch(&s)
		}
		if err != nil {
			return c.abandon(ctx, "MQGET", q.name, err)
		}
	}
	a.open = rc == 0
	for w, ok, _ := c.pushed.pop(a.ahead); ok; w, ok, _ = c.pushed.pop(a.ahead) {
		if w.ended(w.m) {
			continue
		}
		w.m.Body = append(m.Body[:0], w.m.Body...)
		*m = *w.m
		return q.arrived(m, o, w.arrival)
	}
	if rc == 0 {
		rc = int32(NoMsgAvailable)
	}
	return fail("MQGET", q.name, Reason(rc), nil)
}

// request opens the window for as many bytes as were taken since the last one. The flags tell the server whether somebody waits
// (ReqSync): it sends a persistent message only then.
func (q *Queue) request(o *GetOptions, flags int32) error {
	a := q.ahead
	gmo, md := o.gmo()
	r := &wire.Request{Hobj: q.h.hobj, Received: int32(a.taken), Requested: windowBytes, MaxMsg: -1, Options: gmo.Options &^ mqi.MQGMO_WAIT,
		QueueStatus: 1, Flags: flags, GlobalIndex: a.last}
	if !a.told {
		r.Flags |= wire.ReqSelection
		r.Sel = &wire.Selection{Index: 1, MDVersion: 2, CCSID: md.CodedCharSetID, Encoding: md.Encoding}
	}
	h := q.c.header(wire.RequestMsgs, 1)
	if flags&wire.ReqCheck != 0 {
		h.Req, h.Flags = 3, wire.FlagConfirm
	}
	if flags&wire.ReqSync != 0 {
		q.c.pushed.unshut(a.ahead)
	}
	a.told, a.open, a.taken = true, true, 0
	if err := q.c.sendH(h, wire.API{}, r); err != nil {
		return fail("MQGET", q.name, ConnectionBroken, q.c.why(err))
	}
	return nil
}

// arrived notes a message that is taken, and asks for more when half of the window is used up.
func (q *Queue) arrived(m *Message, o *GetOptions, w arrival) error {
	a := q.ahead
	a.last = w.global
	if w.none(m) {
		a.open = false
		return fail("MQGET", q.name, Reason(w.reason), nil)
	}
	a.taken += sizeDescriptor + len(m.Body)
	if w.status&wire.WindowClosed != 0 {
		a.open = false // the next get asks
	} else if a.taken >= windowBytes/2 {
		if err := q.request(o, 0); err != nil {
			return err
		}
	}
	if w.reason != 0 {
		return &Error{Op: "MQGET", Object: q.name, Code: Warning, Reason: Reason(w.reason)}
	}
	return nil
}
