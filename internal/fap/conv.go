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

// maxRefused is how many MQCONNs of one conversation may be refused: no socket is for trying passwords.
const maxRefused = 5

// conv is one conversation: one MQCONN with its handles and unit of work.
type conv struct {
	k  *socket
	id uint32
	in chan call

	// What follows belongs to the conversation's goroutine.
	auth    *wire.ConAuth
	refused int // MQCONNs
	conn    Conn
	streams streams
	stat    asyncStat
	poke    chan struct{} // holds one token when a message has arrived

	ctx    context.Context // ends with the conversation
	cancel context.CancelCauseFunc

	mu             invariants.Mutex
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
}

// size is what the message holds of the socket's room.
func (m call) size() int64 { return int64(len(m.body)) }

var (
	errEndConv = errors.New("the conversation ended")
	errWoken   = errors.New("woken by the client")
	errMoved   = errors.New("another message arrived")
)

func (k *socket) newConv(id uint32) {
	c := &conv{k: k, id: id, in: make(chan call, inboxLen), poke: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancelCause(k.ctx)
	c.streams.reset()
	k.mu.Lock()
	k.convs[id] = c
	k.mu.Unlock()
	k.spawn("conversation", c.run)
}

// run serves the conversation until it ends. Whatever was not committed is backed out.
func (c *conv) run() error {
	defer c.cleanup()
	for {
		m, ok := c.next()
		if !ok {
			return nil
		}
		err := c.serve(m)
		c.k.room.Release(m.size())
		if err != nil {
			if c.ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

func (c *conv) cleanup() {
	c.cancel(errEndConv)
	defer c.drop()
	c.k.mu.Lock()
	if c.k.convs[c.id] == c {
		delete(c.k.convs, c.id)
	}
	c.k.mu.Unlock()
	if c.conn != nil {
		c.k.s.unregister(c.conn.ID())
		c.conn.Break()
		c.conn = nil
	}
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

// end is the client's END_CONV.
func (c *conv) end() { c.cancel(errEndConv) }

// take gives the reader's message to the conversation. Called by the reader only.
func (c *conv) take(h wire.Header, body []byte) error {
	if h.Type == wire.SPI && h.Flags&wire.FlagConfirm != 0 {
		if served, err := c.notifyNow(h, body); served || err != nil {
			return err
		}
	}
	if h.Type.IsCall() {
		c.k.counts.calls.Add(1)
		c.k.counts.lastCall.Store(c.k.lastRead.Load())
	}
	if h.Type == wire.MQGET {
		c.mu.Lock()
		c.gets++
		c.mu.Unlock()
	}
	m := call{h: h, body: body}
	if h.Type == wire.RequestMsgs {
		c.mu.Lock()
		c.reqs++
		m.seq = c.reqs
		c.mu.Unlock()
	}
	if c.k.room.Acquire(c.ctx, m.size()) != nil {
		return nil // a late message of a conversation that has ended
	}
	select {
	case c.in <- m:
	case <-c.ctx.Done():
		c.k.room.Release(m.size())
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
	defer c.mu.Unlock()
	if c.stopIt != nil && c.asides {
		c.stopIt(errMoved)
	}
	return nil
}

// next waits for a message, and meanwhile serves the streams.
func (c *conv) next() (call, bool) {
	for {
		if !c.streams.ready() {
			if err := c.k.flush(); err != nil {
				c.k.cancel(err)
				return call{}, false
			}
			select {
			case m := <-c.in:
				return m, true
			case <-c.ctx.Done():
				return call{}, false
			}
		}
		select {
		case m := <-c.in:
			return m, true
		case <-c.ctx.Done():
			return call{}, false
		default:
			if err := c.pump(); err != nil {
				c.k.cancel(err)
				return call{}, false
			}
		}
	}
}

// reply answers a call by its own header.
func (c *conv) reply(h wire.Header, a wire.API, b wire.Body) error {
	h.Type = h.Type.Reply()
	h.Flags = 0
	return c.k.write(h, a, b)
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
		if c.refused++; c.refused >= maxRefused {
			return fmt.Errorf("%d refused attempts to connect", c.refused)
		}
		return nil
	}
	id := c.conn.ID()
	copy(b.ConnTag[:], id[:])
	b.QMgr = c.k.inst.QMgr
	c.k.s.register(c, id)
	first := c.k.accepted() // before the client can know
	if err := c.reply(m.h, wire.API{}, b); err != nil {
		return err
	}
	if a := c.k.s.quiescing(); a != 0 && first {
		c.k.sayQuiesce(a)
	}
	return nil
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
	user := c.k.user.LongUser
	if user == "" {
		user = c.k.user.User
	}
	conn, err := c.k.s.backend.Connect(c.ctx, ConnectRequest{
		Peer: c.k.peer, Instance: c.k.inst, User: user, Password: c.k.user.Password, Auth: c.auth,
		Protected: c.k.link.Load().protected, ApplName: b.ApplName, ApplType: b.ApplType,
		AccountingToken: b.AccountingToken, Options: b.Options, Broken: c.lost,
	})
	if err != nil {
		return err
	}
	c.conn = conn
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
	return c.k.user.LongUser
}

// disconnect serves MQDISC. The conversation stays until END_CONV.
func (c *conv) disconnect(m call) error {
	id := c.conn.ID()
	err := c.conn.Disconnect(c.ctx)
	if failed(err) {
		c.conn.Break()
	}
	c.k.s.unregister(id)
	c.conn = nil
	c.streams.reset()
	return c.reply(m.h, api(err, m.hobj()), &wire.Empty{})
}

// hobj is the handle in a message's API header.
func (m call) hobj() int32 {
	c, _ := m.h.Codec()
	a, _ := wire.DecodeAPI(m.body, c)
	return a.Hobj
}
