package fap

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

const (
	// pollSlice is how often several open requests of one conversation are looked at in turn. A single one waits in its get.
	pollSlice = 100 * time.Millisecond
	// inhibitedPause is how often a request for a queue with GET(DISABLED) tries again.
	inhibitedPause = time.Second
	// hintPause is how soon a client that its window is closed for is told again; each time it is twice as long.
	hintPause = 50 * time.Millisecond
	mostHints = 8 // and then no longer
	// connStarted is the value of CONN_STATE with which a client starts its listeners; others stop them.
	connStarted = 2
	// queueConsumer is in the value of Q_STATE of a handle that has a listener.
	queueConsumer = 16
	// requestID is that of what nobody waits for.
	requestID = 1
	// sizeMD2 counts for each message in the window of a request.
	sizeMD2 = 364
)

// stream is what a client has asked for on one handle with REQUEST_MSGS: messages are sent as they come.
type stream struct {
	req   wire.Request
	sel   wire.Selection
	h     wire.Header // of the last request
	open  bool        // wants a message
	next  bool        // the browse cursor has been set by this request
	index int32       // messages sent
	ahead int         // bytes sent that the client has not reported yet
	seq   int64       // of the last request
	asked bool        // somebody waits for the message
	last  int32       // number of the last message in the conversation
	doubt bool        // a request that was sent before the last message was has not been taken for one of somebody who waits
	shut  bool        // the client has been told that its window is closed, and no message since
	hint  int         // how often it has been told while it asks for nothing
	vain  bool        // somebody has looked in vain: the request that follows may be to have the window open only
	told  mqi.RC      // why its listener is not served, as it has been told
	again bool        // it has been told that it is served again, whereupon the client repeats its request

	wait   Wait        // of a connection whose gets need no goroutine
	parked bool        // it waits there
	blocks bool        // it is to be finished by the conversation's goroutine
	until  time.Time   // it is left alone until then,
	alarm  clock.Timer // which this says; nil: never yet
	md     mqi.MD
	gmo    mqi.GMO
}

// streams are those of a conversation, by handle.
type streams struct {
	c       *conv
	slow    bool // one of them looks into messages: all are served by the conversation's goroutine, in turn
	open    map[int32]*stream
	started bool
	global  int32     // messages sent
	list    []*stream // wanted's
}

func (s *streams) wanted() []*stream {
	out := s.list[:0]
	for _, st := range s.open {
		if st.open && (s.started || st.req.Flags&wire.ReqCallback == 0) {
			out = append(out, st)
		}
	}
	s.list = out
	return out
}

func (s *streams) ready() bool { return len(s.wanted()) > 0 }

// reset begins anew. No get of them waits.
func (s *streams) reset(c *conv) {
	for _, st := range s.open {
		st.endPause()
	}
	*s = streams{c: c, open: map[int32]*stream{}}
}

// hush ends the request on a handle that its client closes. When that fails another request may refer to its selection.
func (s *streams) hush(hobj int32) {
	if st := s.open[hobj]; st != nil {
		s.c.unpark(st)
		st.endPause()
		st.open, st.asked, st.hint = false, false, 0
	}
}

// forget ends what was asked for on a handle.
func (s *streams) forget(hobj int32) {
	s.hush(hobj)
	delete(s.open, hobj)
}

// request serves REQUEST_MSGS. With the confirm flag the client wants to know now whether there is a message; without, the
// message is sent when it comes, and the client keeps the time.
func (c *conv) request(m call, r *wire.Request) error {
	st := c.streams.open[r.Hobj]
	if st == nil {
		if r.Sel == nil {
			return c.k.complain(&wire.Error{Struct: "REQUEST_MSGS", Off: 32, Why: wire.BadValue})
		}
		st = &stream{}
		if c.waiter != nil {
			st.wait = c.waiter.NewWait(&waker{c: c, st: st})
		}
		c.streams.open[r.Hobj] = st
	}
	if r.Flags&wire.ReqCallback != 0 && st.req.Flags&wire.ReqCallback == 0 {
		if watched, ok := c.conn.(Watched); ok && !watched.Consumer(r.Hobj, true) {
			return c.listensToNothing(m, r)
		}
	}
	confirm := m.h.Flags&wire.FlagConfirm != 0
	waits := confirm || r.Flags&(wire.ReqSync|wire.ReqCallback) != 0 || r.Wait != 0
	if r.Sel == nil {
		r.Flags |= st.req.Flags & wire.ReqCallback // a listener that has been told of an event leaves it out at times
		if st.again && r.Received == 0 {           // those after a message report its bytes
			if st.again = false; !st.open {
				return nil // what it asked for has been sent meanwhile
			}
		}
	} else {
		st.sel, st.again = *r.Sel, false
	}
	c.unpark(st)
	st.endPause()
	st.req, st.h, st.seq, st.open, st.next = *r, m.h, m.seq, true, false
	st.ahead = max(0, st.ahead-int(r.Received))
	if r.Requested <= 1 {
		st.ahead = 0
	}
	crossed := st.ask(waits, confirm)
	if !confirm {
		return nil
	}
	if crossed { // there is a message: on its way
		st.open = st.readsAhead()
		return c.note(m.h, &wire.Notify{Hobj: r.Hobj, Code: wire.NoteQStateReply})
	}
	rc, err := c.deliver(c.ctx, st, false)
	if err != nil {
		return err
	}
	defer c.forgetUnknown(st, rc)
	if rc != 0 { // the client gives up this request, and goes on to count on its window
		st.open = rc == mqi.MQRC_NO_MSG_AVAILABLE && st.readsAhead() && r.Flags&wire.ReqCheck == 0
		st.asked, st.vain = false, st.open && st.shut // then the client asks once more, though nobody waits
	}
	if rc != 0 && rc != mqi.MQRC_NO_MSG_AVAILABLE && r.Flags&wire.ReqCallback == 0 {
		if err := c.sendReason(st, rc); err != nil {
			return err
		}
	}
	if err := c.note(m.h, &wire.Notify{Hobj: r.Hobj, Code: wire.NoteQStateReply, Value: int32(rc)}); err != nil {
		return err
	}
	if rc != 0 && rc != mqi.MQRC_NO_MSG_AVAILABLE && r.Flags&(wire.ReqCallback|wire.ReqCheck) == 0 && st.readsAhead() {
		return c.hold(st) // as endGet
	}
	return nil
}

// listensToNothing is the answer to a listener's request on a handle that is not open: it may never be looked at, and is not kept.
func (c *conv) listensToNothing(m call, r *wire.Request) error {
	c.streams.forget(r.Hobj)
	if m.h.Flags&wire.FlagConfirm == 0 {
		return nil
	}
	return c.note(m.h, &wire.Notify{Hobj: r.Hobj, Code: wire.NoteQStateReply, Value: mqi.MQRC_HOBJ_ERROR})
}

// forgetUnknown forgets what was asked for on a handle that is not open: a client can name any number of them.
func (c *conv) forgetUnknown(st *stream, rc mqi.RC) {
	if rc == mqi.MQRC_HOBJ_ERROR {
		c.streams.forget(st.req.Hobj)
	}
}

// ask notes whether somebody waits for what a request asks for. What he waits for may have been sent while his request was on its
// way: crossed. Then he gets that, and a message more would be one that nobody waits for. A client that does not count what it has
// got is believed the second time.
func (st *stream) ask(waits, confirm bool) (crossed bool) {
	crossed = st.index > 0 && st.req.GlobalIndex-st.last < 0 && !st.doubt
	st.asked, st.hint = waits && !crossed && (confirm || !st.vain), 0
	st.doubt = st.doubt || waits && crossed
	st.vain = st.vain && !waits
	return crossed
}

// hold tells a client that reads ahead that its window is closed, since the next message must not be lost with it: whoever waits
// then, or comes to wait later, asks for it.
func (c *conv) hold(st *stream) error {
	st.open, st.asked, st.shut, st.again = false, false, true, false
	c.pause(st, hintPause<<st.hint)
	st.hint = min(st.hint+1, mostHints)
	h := st.h
	h.Req = requestID
	return c.note(h, &wire.Notify{Hobj: st.req.Hobj, Code: wire.NoteTxnPaused})
}

// remind tells those clients again that have not asked since. One that was about to wait when it was told for the first time takes
// no notice.
func (c *conv) remind() error {
	for _, st := range c.streams.open {
		if st.hint > 0 && (c.streams.started || st.req.Flags&wire.ReqCallback == 0) && !c.pausing(st) {
			if err := c.hold(st); err != nil {
				return err
			}
		}
	}
	return nil
}

// note sends a NOTIFICATION in answer to h.
func (c *conv) note(h wire.Header, n *wire.Notify) error {
	h.Type, h.Flags = wire.Notification, 0
	c.turn.touch(c.k, 0)
	return c.add(h, wire.API{}, n)
}

// notified serves NOTIFICATION.
func (c *conv) notified(m call, n *wire.Notify) error {
	watched, ok := c.conn.(Watched)
	switch n.Code {
	case wire.NoteConnState:
		c.streams.started = n.Value == connStarted
		if ok {
			watched.Consuming(n.Value)
		}
	case wire.NoteQState:
		if ok {
			watched.Consumer(n.Hobj, n.Value&queueConsumer != 0)
		}
	}
	if m.h.Flags&wire.FlagConfirm == 0 {
		return nil
	}
	n.Code++ // each reply follows its request in the numbering
	return c.note(m.h, n)
}

// pump serves the open requests, in the conversation's goroutine, until something has been sent or a message of the client
// arrived. An error ends the socket.
func (c *conv) pump() error {
	all := c.streams.wanted()
	if len(all) == 1 {
		rc, err := c.deliver(c.ctx, all[0], false)
		if err != nil || rc == 0 {
			return err
		}
		c.turn.flush()
		ctx, done := c.waiting(true)
		rc, err = c.deliver(ctx, all[0], true)
		moved := ctx.Err() != nil
		done()
		if err != nil || rc == 0 || moved {
			return err
		}
		return c.cannot(all[0], rc)
	}
	sent := false
	for _, st := range all {
		rc, err := c.deliver(c.ctx, st, false)
		if err != nil {
			return err
		}
		sent = sent || rc == 0
		if rc != 0 && rc != mqi.MQRC_NO_MSG_AVAILABLE {
			if err := c.cannot(st, rc); err != nil {
				return err
			}
		}
	}
	if !sent {
		c.turn.flush()
		c.idle(pollSlice)
	}
	return nil
}

// woken takes the reason with which the client ends its streamed gets, or 0, and the last request that it is for.
func (c *conv) woken() (mqi.RC, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rc := c.wakeStream
	c.wakeStream = 0
	return rc, c.wakeUpTo
}

// endWaits ends the gets that wait for a stream; listeners do not wait for anything, and a get that began later goes on. Of several
// that read ahead it is not known for which the client waits: all are told, and their windows stay open, since a client that does
// not wait takes no notice, and asks for nothing as long as its window has room. One that has been told that its window is closed
// may wait all the same.
func (c *conv) endWaits(rc mqi.RC, upTo int64) error {
	for _, st := range c.streams.open {
		if st.req.Flags&wire.ReqCallback != 0 || st.seq > upTo || !st.open && st.hint == 0 {
			continue
		}
		st.open, st.asked = st.open && st.readsAhead(), false
		if err := c.sendReason(st, rc); err != nil {
			return err
		}
	}
	return nil
}

// sendReason ends a synchronous get with a reason. The client looks at the reason of messages only; this one is no message,
// and must never go to a listener.
func (c *conv) sendReason(st *stream, rc mqi.RC) error {
	return c.sendAsync(st, &wire.Async{Reason: int32(rc), MD: mqi.DefaultMD()})
}

// endGet ends a synchronous get that cannot go on. A client that reads ahead asks for nothing as long as it takes its window for open,
// but waits in silence, for ever if it likes: it is told that it is closed, so that who gets next asks, and hears why there is nothing.
func (c *conv) endGet(st *stream, rc mqi.RC) error {
	asked := st.asked
	st.open, st.asked = false, false
	if asked {
		if err := c.sendReason(st, rc); err != nil {
			return err
		}
	}
	if st.readsAhead() {
		return c.hold(st)
	}
	return nil
}

// tell lets a listener's event handler know why there are no messages for it, once for each time.
func (c *conv) tell(st *stream, rc mqi.RC) error {
	if st.req.Flags&wire.ReqCallback == 0 || st.told == rc {
		return nil
	}
	st.told = rc
	h := st.h
	h.Req = requestID
	return c.note(h, &wire.Notify{Hobj: st.req.Hobj, Code: wire.NoteGetInhibited, Value: int32(rc)})
}

// cannot decides what becomes of a request whose get failed. A listener is never called for an error; it is told.
func (c *conv) cannot(st *stream, rc mqi.RC) error {
	defer c.forgetUnknown(st, rc)
	if rc == mqi.MQRC_CONNECTION_BROKEN && st.asked && st.req.Flags&wire.ReqCallback == 0 && !c.k.alone() {
		return c.endGet(st, rc) // the other conversations go on
	}
	switch rc {
	case mqi.MQRC_NO_MSG_AVAILABLE, mqi.MQRC_CONNECTION_BROKEN, mqi.MQRC_Q_MGR_STOPPING, mqi.MQRC_CONNECTION_STOPPING, mqi.MQRC_HCONN_ERROR:
	default:
		if st.req.Flags&wire.ReqCallback == 0 && (st.asked || st.readsAhead()) {
			return c.endGet(st, rc)
		}
		if err := c.tell(st, rc); err != nil {
			return err
		}
	}
	switch rc {
	case mqi.MQRC_GET_INHIBITED:
		if st.wait != nil && !c.streams.slow {
			c.pause(st, inhibitedPause)
			return nil
		}
		c.turn.flush()
		c.idle(inhibitedPause)
	case mqi.MQRC_NO_MSG_AVAILABLE:
		if st.wait != nil && !c.streams.slow {
			c.pause(st, pollSlice)
		}
	case mqi.MQRC_CONNECTION_BROKEN, mqi.MQRC_Q_MGR_STOPPING, mqi.MQRC_CONNECTION_STOPPING, mqi.MQRC_HCONN_ERROR:
		return mqi.E("MQGET", "", rc)
	default:
		st.open = false
	}
	return nil
}

// idle waits, unless a message of the client arrives.
func (c *conv) idle(d time.Duration) {
	select {
	case <-c.k.s.opt.Clock.After(d):
	case <-c.poke:
	case <-c.ctx.Done():
	}
}

// deliver gets one message for a request and sends it. rc is the reason when there was none, err that of the socket.
func (c *conv) deliver(ctx context.Context, st *stream, wait bool) (rc mqi.RC, err error) {
	md, gmo := st.wanted(wait)
	room := c.room(st, &gmo)
	get := c.conn.Get
	if st.readsAhead() && !st.asked {
		get = c.conn.GetAhead
	}
	body, total, gerr := get(ctx, st.req.Hobj, &md, &gmo, room)
	if gerr == ErrHeld {
		return 0, c.hold(st)
	}
	if err := c.served(st, gerr); err != nil {
		return 0, err
	}
	return c.send(st, &md, &gmo, body, total, gerr)
}

// served lets a listener's event handler know that its queue gives messages again, after it has heard that it does not.
func (c *conv) served(st *stream, gerr error) error {
	_, rc := mqi.Reason(gerr)
	if st.told == 0 || failed(gerr) && rc != mqi.MQRC_NO_MSG_AVAILABLE {
		return nil
	}
	told := st.told
	st.told = 0
	if told != mqi.MQRC_GET_INHIBITED {
		return nil
	}
	st.again = true
	h := st.h
	h.Req = requestID
	return c.note(h, &wire.Notify{Hobj: st.req.Hobj, Code: wire.NoteGetAllowed, Value: mqi.MQRC_GET_ENABLED})
}

// send sends what a get for a request has got. rc is the reason when that is no message.
func (c *conv) send(st *stream, md *mqi.MD, gmo *mqi.GMO, body []byte, total int, gerr error) (rc mqi.RC, err error) {
	limit, accept := c.k.link.Load().maxMsg, gmo.Options&mqi.MQGMO_ACCEPT_TRUNCATED_MSG != 0
	_, rc = mqi.Reason(gerr)
	switch {
	case failed(gerr):
		return rc, nil
	case rc == mqi.MQRC_TRUNCATED_MSG_FAILED && total > limit:
		return mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL, nil
	case rc == mqi.MQRC_TRUNCATED_MSG_FAILED: // the client has to see all of it, and then asks for it by its token
	case accept && !st.readsAhead() && st.req.MaxMsg >= 0 && total > int(st.req.MaxMsg):
		rc = mqi.MQRC_TRUNCATED_MSG_ACCEPTED // the client cuts it
	}
	st.next = true
	st.ahead += sizeMD2 + len(body)
	st.open = st.readsAhead() && st.ahead < int(st.req.Requested)
	asked := st.asked
	st.asked, st.vain, st.doubt, st.shut = false, false, false, false
	st.last = c.streams.global + 1
	a := &c.async
	*a = wire.Async{Reason: int32(rc), Total: int32(total), Actual: int32(len(body)), Token: gmo.MsgToken,
		Resolved: gmo.ResolvedQName, MD: *md, Data: body}
	if st.readsAhead() && st.keeps(md) {
		a.Status, st.open, st.shut = wire.WindowClosed, false, true // the next one may be persistent too, and has to be asked for
	}
	err = c.sendAsync(st, a)
	a.Data = nil
	if asked {
		c.turn.touch(c.k, 0) // it is not to be held back
	}
	return 0, err
}

// readsAhead reports whether messages are sent before anybody waits for them.
func (st *stream) readsAhead() bool { return st.req.Requested > 1 }

// keeps reports whether a message must not be lost with the client: one that it gets, and not just browses, and that is persistent, or
// part of the unit of work.
func (st *stream) keeps(md *mqi.MD) bool {
	o := st.req.Options
	return o&(mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_BROWSE_NEXT|mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR) == 0 &&
		(md.Persistence == mqi.MQPER_PERSISTENT || o&mqi.MQGMO_SYNCPOINT != 0)
}

// room is how much of a message a request wants. Who reads ahead is sent all of each, whatever its buffer was: it cuts a message
// itself, or keeps it for a get with a larger buffer. One that stayed on the queue would be sent again and again until the
// client asked for it, and what it then has of it twice, or drops, is beyond us.
func (c *conv) room(st *stream, gmo *mqi.GMO) int {
	limit := c.k.link.Load().maxMsg
	if !st.readsAhead() && st.req.MaxMsg >= 0 && gmo.Options&mqi.MQGMO_ACCEPT_TRUNCATED_MSG == 0 {
		return min(limit, int(st.req.MaxMsg))
	}
	return limit
}

// sendAsync numbers a message of a stream and puts it into the outbox.
func (c *conv) sendAsync(st *stream, a *wire.Async) error {
	st.index++
	c.streams.global++
	a.Hobj, a.Index, a.GlobalIndex, a.Selection = st.req.Hobj, st.index, c.streams.global, st.sel.Index
	h := st.h
	h.Type, h.Req = wire.AsyncMsg, 1 // 1 always, whatever the request had
	codec, _ := h.Codec()
	k := c.k
	max := k.link.Load().transmission
	gone, much := false, false
	err := k.out.add(func(b []byte) []byte {
		if gone = c.gone; gone {
			return b
		}
		k.counts.sent(sizeMD2+len(a.Data), max)
		b = wire.AppendAsync(b, h, a, codec, max)
		much = len(b) >= streamBuffer
		return b
	})
	switch {
	case err != nil || gone:
		return err
	case much:
		k.out.flush()
	case st.readsAhead() && a.Reason == 0 && a.MD.Persistence != mqi.MQPER_PERSISTENT:
		c.turn.push(k, sizeMD2+len(a.Data))
	default:
		c.turn.touch(k, sizeMD2+len(a.Data))
	}
	return nil
}

// wanted makes descriptor and options of the get that a request stands for.
func (st *stream) wanted(wait bool) (mqi.MD, mqi.GMO) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version = 2
	md.MsgID, md.CorrelID, md.GroupID = st.sel.MsgID, st.sel.CorrelID, st.sel.GroupID
	md.MsgSeqNumber, md.Offset = st.sel.SeqNumber, st.sel.Offset
	md.CodedCharSetID, md.Encoding = st.sel.CCSID, st.sel.Encoding
	gmo.Version = 4
	gmo.MatchOptions, gmo.MsgToken = st.sel.Match, st.sel.MsgToken
	gmo.Options = st.req.Options &^ mqi.MQGMO_WAIT
	gmo.WaitInterval = 0
	if wait {
		gmo.Options |= mqi.MQGMO_WAIT
		gmo.WaitInterval = mqi.MQWI_UNLIMITED
	}
	// A client that wants to browse from the start sets both bits: first, then on.
	if gmo.Options&mqi.MQGMO_BROWSE_FIRST != 0 {
		gmo.Options &^= mqi.MQGMO_BROWSE_NEXT
		if st.next {
			gmo.Options += mqi.MQGMO_BROWSE_NEXT - mqi.MQGMO_BROWSE_FIRST
		}
	}
	return md, gmo
}
