package fap

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// inboxLen bounds the messages of a conversation that wait for their turn. Only asynchronous puts come ahead of replies; when
// the inbox is full the reader waits, and with it the client.
const inboxLen = 8

// No socket is for trying passwords: maxRefused is how many MQCONNs of one conversation may be refused, maxRefusedEarly how many of a
// socket none of whose conversations has connected. It is as many as the usual SHARECNV, so that threads of a program that connect at
// once with a wrong password all hear so.
const (
	maxRefused      = 5
	maxRefusedEarly = 10
)

// errRefused ends a socket that tries too often. The last answer goes before.
var errRefused = errors.New("refused attempts to connect")

// conv is one conversation: one MQCONN with its handles and unit of work.
//
// At any time it has one owner at most, who alone touches its state: the socket's reader while a message is served that need not
// wait, the goroutine of the conversation, or, for as long as it takes to send one message, whoever put a message for which
// a get of this conversation waits. An owner that leaves something undone hands over to the goroutine.
type conv struct {
	k    *socket
	id   uint32
	in   chan call
	hand chan struct{} // one token: the goroutine is the owner now

	// What follows is the owner's.
	auth     *wire.ConAuth
	refused  int // MQCONNs
	conn     Conn
	prompt   Prompter // conn, if it is one
	waiter   Waiter   // the same
	gatherer Gatherer // the same
	repeater Repeater // the same
	passer   Passer   // the same
	streams  streams
	held1    heldGet
	waitsNow int  // gets that wait
	flow     flow // of puts that are not answered; the reader's, also while it is not the owner
	puts     *wire.PutDecoder
	again    bool        // what puts has read last was put by PutBy, and can be repeated
	putHead  wire.Header // its header
	taker    *conv       // who was handed the message of the put in progress
	turn     *turn       // of the goroutine that is the owner
	blocks   bool        // the owner may wait for the disk
	mine     turn        // of the conversation's goroutine
	getReply wire.GetReply
	async    wire.Async
	poke     chan struct{} // holds one token when a message has arrived

	ctx        context.Context // ends with the conversation
	cancel     context.CancelCauseFunc
	turnedAway bool // its MQCONN was refused before any of the socket had connected. Under the socket's lock
	gone       bool // the client has ended it: nothing is sent on it any more, its id may be another's. Under the outbox's lock

	mu             invariants.Ranked[invariants.Leaf]
	owned          bool
	ready          bool                    // when there is no owner: a get waits
	caught         chan struct{}           // not nil: closed when that is so
	kicked         bool                    // a get that waits is to be looked at
	ended          bool                    // the goroutine wants to clean up
	held           bool                    // an MQGET waits: later messages wait for its answer
	gets           int                     // MQGETs that have arrived and not been answered
	wake           mqi.RC                  // reason that ends the get that waits, or the next one of gets
	wakeStream     mqi.RC                  // the same for a streamed get
	reqs, wakeUpTo int64                   // REQUEST_MSGS that have arrived; which of them wakeStream is for
	stopIt         context.CancelCauseFunc // ends the verb that waits
	asides         bool                    // what waits is a stream: any message goes before
}

// call is one message of the client.
type call struct {
	h    wire.Header
	body []byte
	seq  int64 // of REQUEST_MSGS: how many have arrived
	lent bool  // body is the read buffer's
}

// size is what the message holds of the socket's room.
func (m call) size() int64 { return int64(len(m.body)) }

var (
	errEndConv = errors.New("the conversation ended")
	errWoken   = errors.New("woken by the client")
	errMoved   = errors.New("another message arrived")
)

func (k *socket) newConv(id uint32) {
	c := &conv{k: k, id: id, in: make(chan call, inboxLen), hand: make(chan struct{}, 1), poke: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancelCause(k.ctx)
	c.mine.home = k
	c.streams.reset(c)
	k.mu.Lock()
	k.convs[id] = c
	k.lastConv = max(k.lastConv, id)
	k.mu.Unlock()
	k.spawn("conversation", c.run)
}

// run serves the conversation until it ends: what may wait, and what others have left. Whatever was not committed is backed
// out.
func (c *conv) run() error {
	defer c.cleanup()
	for {
		select {
		case <-c.hand:
		case <-c.ctx.Done():
			c.seize()
		}
		c.k.working.Add(1)
		err := c.work()
		c.k.working.Add(-1)
		c.mine.flush()
		if c.ctx.Err() != nil {
			return nil // the owner still
		}
		if err != nil {
			return err
		}
		c.release()
	}
}

// seize makes the goroutine the owner of a conversation that ends.
func (c *conv) seize() {
	c.mu.Lock()
	c.ended = true
	free := !c.owned
	c.owned = true
	c.mu.Unlock()
	if !free {
		<-c.hand // the owner's last deed
	}
}

// release ends the ownership, or hands it to the goroutine when there is something to do.
func (c *conv) release() {
	c.mu.Lock()
	hand := c.ended || c.kicked || len(c.in) > 0 && !c.held
	c.owned = hand
	c.ready = c.waitsNow > 0
	if c.ready && !hand && c.caught != nil {
		close(c.caught)
		c.caught = nil
	}
	c.mu.Unlock()
	if hand {
		c.hand <- struct{}{}
	}
}

// kick has the goroutine look at the gets that wait. It may be called by anyone, with locks of the queue manager held.
func (c *conv) kick() {
	if c.claim(true) {
		c.hand <- struct{}{}
	}
}

// claim makes the caller the owner, unless there is one: that one looks at the gets that wait. With later the goroutine is to look at
// them in any case.
func (c *conv) claim(later bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := !c.owned
	c.owned = true
	c.kicked = c.kicked || later || !free
	if !free && c.stopIt != nil && c.asides { // it looks when it no longer waits for a stream
		c.stopIt(errMoved)
	}
	return free
}

// visit lets the goroutine of another conversation run fn, which may not wait, as the owner.
func (c *conv) visit(from *conv, fn func() error) {
	t := from.turn
	err := c.k.guarded("delivery", func() error {
		defer c.release()
		c.turn, c.blocks = t, false
		if err := fn(); err != nil && c.ctx.Err() == nil {
			return err
		}
		return nil
	})
	if err != nil {
		c.k.cancel(err)
		return
	}
	if c.k.touchedBy.Load() != t {
		t.touch(c.k, 0)
	}
	t.flushMuch()
}

// work serves messages and gets that wait until there is nothing to do. The goroutine is the owner.
func (c *conv) work() error {
	c.turn, c.blocks = &c.mine, true
	for {
		if err := c.k.outRoomFor(c.turn); err != nil {
			return err
		}
		c.mu.Lock()
		kicked, held := c.kicked, c.held
		c.kicked = false
		c.mu.Unlock()
		if c.ctx.Err() != nil {
			return nil
		}
		if kicked {
			if err := c.resumeAll(true); err != nil {
				return err
			}
			continue
		}
		if held {
			return c.remind()
		}
		select {
		case m := <-c.in:
			err := c.serve(m)
			c.k.room.Release(m.size())
			if err != nil {
				return err
			}
			c.k.letOthersReply()
			c.turn.flush()
			continue
		default:
		}
		more, err := c.stream()
		if err != nil || !more {
			return err
		}
	}
}

func (c *conv) cleanup() {
	c.cancel(errEndConv)
	defer c.k.forget(c)
	defer c.drop()
	if c.conn != nil {
		c.k.s.unregister(c.conn.ID())
		c.cancelWaits()
		c.conn.Break()
		if c.waiter != nil {
			c.waiter.RunWoken(nil) // of a verb that did not come to its end
		}
		c.setConn(nil)
		c.streams.reset(c)
	}
}

// setConn sets the connection, with what it is beside.
func (c *conv) setConn(conn Conn) {
	c.conn = conn
	c.prompt, _ = conn.(Prompter)
	c.waiter, _ = conn.(Waiter)
	c.gatherer, _ = conn.(Gatherer)
	c.repeater, _ = conn.(Repeater)
	c.again = false
	c.passer, _ = conn.(Passer)
	c.held1 = heldGet{}
}

// drop forgets the messages that nobody will serve.
func (c *conv) drop() {
	for {
		select {
		case m := <-c.in:
			c.k.room.Release(m.size())
		default:
			return
		}
	}
}

// take serves the reader's message at once if that need not wait, and else gives it to the conversation. Called by the reader
// only.
func (c *conv) take(h wire.Header, body []byte) error {
	if h.Type == wire.SPI && h.Flags&wire.FlagConfirm != 0 && c.k.connected.Load() {
		if served, err := c.notifyNow(h, body); served || err != nil {
			return err
		}
	}
	if h.Type.IsCall() {
		c.k.counts.calls.Add(1)
		c.k.counts.lastCall.Store(c.k.lastRead.Load())
	}
	m := call{h: h, body: body, lent: true}
	here := quick(h.Type) || settles(h.Type) && c.k.alone()
	c.mu.Lock()
	switch h.Type {
	case wire.MQGET:
		c.gets++
	case wire.RequestMsgs:
		c.reqs++
		m.seq = c.reqs
	}
	mine := !c.owned && len(c.in) == 0 && !c.held && !c.ended && here
	if mine {
		c.owned = true
	}
	c.mu.Unlock()
	if mine {
		if err := c.k.outRoom(); err != nil {
			c.release()
			return err
		}
		served, err := c.inline(m)
		if served || err != nil {
			return err
		}
	}
	return c.queue(m)
}

// quick are the types that the reader may serve.
func quick(t wire.Type) bool {
	switch t {
	case wire.MQPUT, wire.MQGET, wire.MQINQ, wire.MQSTAT, wire.RequestMsgs, wire.Notification:
		return true
	}
	return false
}

// settles are the types that the reader may serve when nobody else needs it meanwhile.
func settles(t wire.Type) bool { return t == wire.MQCMIT || t == wire.MQBACK }

// inline serves a message in the reader, which is the owner. served is false when that would have to wait.
func (c *conv) inline(m call) (served bool, err error) {
	defer c.release()
	c.turn, c.blocks = &c.k.turn, c.k.alone()
	if c.conn == nil || c.ctx.Err() != nil {
		return false, nil
	}
	if served, err = c.serveNow(m); !served || err != nil {
		return served, err
	}
	return true, c.startStreams(inlineMessages)
}

// queue gives a message to the conversation's goroutine.
func (c *conv) queue(m call) error {
	k := c.k
	if m.lent {
		m.body, m.lent = append([]byte(nil), m.body...), false
	}
	if !k.room.TryAcquire(m.size()) {
		k.turn.flush()
		var err error
		k.notListening(func() { err = k.room.Acquire(c.ctx, m.size()) })
		if err != nil {
			return nil // a late message of a conversation that has ended
		}
	}
	select {
	case c.in <- m:
	default:
		k.turn.flush()
		k.notListening(func() {
			select {
			case c.in <- m:
			case <-c.ctx.Done():
				k.room.Release(m.size())
			}
		})
	}
	if c.ctx.Err() != nil {
		c.drop()
		return nil
	}
	select {
	case c.poke <- struct{}{}:
	default:
	}
	c.mu.Lock()
	hand := !c.owned && !c.held && len(c.in) > 0
	if hand {
		c.owned = true
	}
	if c.stopIt != nil && c.asides {
		c.stopIt(errMoved)
	}
	c.mu.Unlock()
	if hand {
		c.hand <- struct{}{}
	}
	return nil
}

// reply answers a call by its own header.
func (c *conv) reply(h wire.Header, a wire.API, b wire.Body) error {
	h.Type = h.Type.Reply()
	h.Flags = 0
	if err := c.add(h, a, b); err != nil {
		return err
	}
	c.turn.touch(c.k, 0)
	return nil
}

// api is the header of a reply.
func api(err error, hobj int32) wire.API {
	cc, rc := mqi.Reason(err)
	return wire.API{CompCode: int32(cc), Reason: int32(rc), Hobj: hobj}
}

// failed reports whether the verb did nothing: a warning has done its work.
func failed(err error) bool {
	cc, _ := mqi.Reason(err)
	return cc == mqi.CCFailed
}

// connect serves MQCONN.
func (c *conv) connect(m call, b *wire.Conn) error {
	asked := b.QMgr
	b.ConnTag, b.RetConnTag = [128]byte{}, [128]byte{}
	err := c.tryConnect(b)
	if err != nil {
		ev := c.k.s.opt.Log.Debug() // who refuses for want of authority has said so, with what decided
		if _, rc := mqi.Reason(err); rc != mqi.MQRC_NOT_AUTHORIZED {
			ev = c.k.s.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ9999E")
		}
		ev.Err(err).Str("channel", c.k.peer.Channel).Stringer("peer", c.k.peer.Addr).
			Str("user", c.userName()).Str("qmgr", asked).Str("appl", b.ApplName).Msg("client refused")
		if err := c.reply(m.h, api(err, m.hobj()), b); err != nil {
			return err
		}
		c.refused++
		if n := c.k.refusals.Add(1); c.refused >= maxRefused || n >= maxRefusedEarly && !c.k.connected.Load() {
			return fmt.Errorf("%d %w", n, errRefused)
		}
		return c.k.turnAway(c)
	}
	id := c.conn.ID()
	copy(b.ConnTag[:], id[:])
	b.QMgr = c.k.inst.QMgr
	c.k.s.register(c, id)
	c.k.noteReconnect(b.XOptions)
	first := c.k.accepted() // before the client can know
	if err := c.reply(m.h, wire.API{}, b); err != nil {
		return err
	}
	if !first {
		return nil
	}
	if a := c.k.s.quiescing(); a != 0 {
		c.k.sayQuiesce(a)
	}
	return c.k.startEarly()
}

func (c *conv) tryConnect(b *wire.Conn) error {
	if c.conn != nil {
		return mqi.Warn("MQCONN", b.QMgr, mqi.MQRC_ALREADY_CONNECTED)
	}
	// A blank name, or one that begins with an asterisk, is whatever the channel reaches.
	if name := b.QMgr; name != "" && !strings.HasPrefix(name, "*") && name != c.k.inst.QMgr {
		return mqi.E("MQCONN", name, mqi.MQRC_Q_MGR_NAME_ERROR)
	}
	if c.k.stopping.Load() {
		return mqi.E("MQCONN", c.k.inst.Channel, mqi.MQRC_CONNECTION_QUIESCING)
	}
	who := c.k.who()
	user := who.LongUser
	if user == "" {
		user = who.User
	}
	conn, err := c.k.s.backend.Connect(c.ctx, ConnectRequest{
		Peer: c.k.peer, Instance: c.k.inst, User: user, Password: who.Password, Auth: c.auth,
		Protected: c.k.link.Load().protected, ApplName: b.ApplName, ApplType: b.ApplType,
		AccountingToken: b.AccountingToken, Options: b.XOptions, Broken: c.lost,
	})
	if err != nil {
		return err
	}
	c.setConn(conn)
	return nil
}

// lost ends the socket when the connection of its only conversation was ended from elsewhere. Of several conversations the
// others go on, and this one's next call fails.
func (c *conv) lost() {
	c.k.mu.Lock()
	alone := len(c.k.convs) <= 1
	c.k.mu.Unlock()
	if alone && c.ctx.Err() == nil {
		c.k.cancel(errStopped)
	}
}

// userName is who asks, for the log.
func (c *conv) userName() string {
	if c.auth != nil {
		return c.auth.User
	}
	return c.k.who().LongUser
}

// disconnect serves MQDISC. The conversation stays until END_CONV.
func (c *conv) disconnect(m call) error {
	id := c.conn.ID()
	c.cancelWaits()
	err := c.conn.Disconnect(c.ctx)
	if failed(err) {
		c.conn.Break()
	}
	c.runWoken()
	c.k.s.unregister(id)
	c.setConn(nil)
	c.streams.reset(c)
	return c.reply(m.h, api(err, m.hobj()), &wire.Empty{})
}

// hobj is the handle in a message's API header.
func (m call) hobj() int32 {
	c, _ := m.h.Codec()
	a, _ := wire.DecodeAPI(m.body, c)
	return a.Hobj
}
