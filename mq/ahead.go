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
func (q *Queue) getAhead(ctx context.Context, o *GetOptions) (*Message, error) {
	if err := q.c.lock(ctx, "MQGET", q.name); err != nil {
		return nil, err
	}
	defer q.c.unlock()
	a := q.ahead
	if !a.open {
		if err := q.request(o, false); err != nil {
			return nil, err
		}
	}
	select {
	case m := <-a.q:
		return q.arrived(o, m)
	default:
	}
	var late <-chan time.Time
	if o.Wait >= 0 {
		t := time.NewTimer(o.Wait)
		defer t.Stop()
		late = t.C
	}
	select {
	case m := <-a.q:
		return q.arrived(o, m)
	case <-q.c.ended:
		return nil, q.c.explain("MQGET", q.name, ctx, q.c.cause())
	case <-ctx.Done():
		return nil, fail("MQGET", q.name, NoMsgAvailable, context.Cause(ctx))
	case <-late:
		return q.check(ctx, o)
	}
}

// check asks the server whether there is a message now, and thereby ends the request.
func (q *Queue) check(ctx context.Context, o *GetOptions) (*Message, error) {
	a := q.ahead
	if err := q.request(o, true); err != nil {
		return nil, err
	}
	var rc int32
	select {
	case rc = <-a.notes: // a message would have come before it
	case <-q.c.ended:
		return nil, q.c.explain("MQGET", q.name, ctx, q.c.cause())
	case <-ctx.Done():
		q.c.close(context.Cause(ctx))
		return nil, fail("MQGET", q.name, ConnectionBroken, context.Cause(ctx))
	}
	a.open = rc == 0
	select {
	case m := <-a.q:
		return q.arrived(o, m)
	default:
	}
	if rc == 0 {
		rc = int32(NoMsgAvailable)
	}
	return nil, fail("MQGET", q.name, Reason(rc), nil)
}

// request opens the window for as many bytes as were taken since the last one.
func (q *Queue) request(o *GetOptions, now bool) error {
	a := q.ahead
	gmo, md := o.gmo()
	r := &wire.Request{Hobj: q.hobj, Received: int32(a.taken), Requested: windowBytes, MaxMsg: -1, Options: gmo.Options &^ mqi.MQGMO_WAIT,
		QueueStatus: 1, Flags: wire.ReqSync, GlobalIndex: a.last}
	if !a.told {
		r.Flags |= wire.ReqSelection
		r.Sel = &wire.Selection{Index: 1, MDVersion: 2, CCSID: md.CodedCharSetID, Encoding: md.Encoding}
	}
	h := q.c.header(wire.RequestMsgs, 1)
	if now {
		r.Flags |= wire.ReqCheck | wire.ReqNoWait
		h.Req, h.Flags = 3, wire.FlagConfirm
	}
	a.told, a.open, a.taken = true, true, 0
	if err := q.c.sendH(h, wire.API{}, r, true); err != nil {
		return fail("MQGET", q.name, ConnectionBroken, q.c.why(err))
	}
	return nil
}

// arrived makes a message of what was sent, and asks for more when half of the window is used up.
func (q *Queue) arrived(o *GetOptions, m *wire.Async) (*Message, error) {
	a := q.ahead
	a.last = m.GlobalIndex
	if m.Reason != 0 && m.MD.MsgID == (mqi.ID{}) { // no message, but the reason why none comes
		a.open = false
		return nil, fail("MQGET", q.name, Reason(m.Reason), nil)
	}
	a.taken += sizeDescriptor + len(m.Data)
	if a.taken >= windowBytes/2 {
		if err := q.request(o, false); err != nil {
			return nil, err
		}
	}
	msg := got(&m.MD, m.Data, m.Resolved, m.Token)
	if m.Reason != 0 {
		return msg, &Error{Op: "MQGET", Object: q.name, Code: Warning, Reason: Reason(m.Reason)}
	}
	return msg, nil
}
