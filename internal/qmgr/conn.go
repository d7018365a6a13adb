package qmgr

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// ConnectOptions describe a connecting application, for its messages' context and for DISPLAY CONN.
type ConnectOptions struct {
	ApplName string
	ApplType int32 // MQAT_*; 0 is MQAT_UNIX
	ApplDesc string
	PID, TID int
	Channel  string
	ConnName string
	Options  int32 // MQCNO_*
	// Internal marks the queue manager's own connections: accepted while quiescing, and not waited for.
	Internal bool
	// Commands marks a session of commands (runmqsc): it is shown as an application's, but accepted while quiescing and
	// not waited for, so that an operator who looks on does not keep the queue manager from ending.
	Commands bool
	// Collects says that RunWoken is called after each verb, so that the caller can serve those whom it has woken.
	Collects bool
	// Whole says that a get gives all of a message that stays because it is longer than the buffer (2080).
	Whole bool
	// Broken is called when the connection is broken by STOP CONN or by Break, and must not wait; nil: nobody.
	Broken func()
}

// Conn is a connection: handles and at most one unit of work. Its verbs are meant for one goroutine at a time; a call
// while another is in progress is refused with 2219. Break may come from anywhere.
type Conn struct {
	m    *Manager
	id   mqi.ID
	num  uint32
	who  auth.Identity
	opt  ConnectOptions
	born time.Time

	verb   invariants.Turn                    // held by the verb in progress
	look   invariants.Ranked[invariants.Leaf] // a leaf; held while somebody tries whether a verb is in progress
	broken chan struct{}
	chlEnd atomic.Bool // the client's channel is being stopped
	once   sync.Once
	end    mqi.RC // why broken; set before broken is closed
	closed bool   // under verb

	mu      invariants.Ranked[invariants.Leaf]
	handles map[Handle]*handle
	opened  int // what handles count for MAXHANDS
	last    Handle
	msgs    map[MsgHandle]*msgHandle // message handles; under verb, as what follows
	lastMsg MsgHandle
	async   mqi.AsyncPuts
	acct    *account      // accounting, under statsState.mu
	matches []*pubsub.Sub // buffer of publish; under verb
	gather  gathered      // publications whose copies wait for Deliver; under verb
	hex     string        // id as ACTCONN shows it, once asked for; under verb
	work    *uow          // the unit of work; changed by verbs only, under mu for those who look
	xa      xaConn        // active as work, the rest under verb
	due     int64         // PutDelayed: when the put's message is to be delivered, Unix milliseconds; under verb
	woken   []*Waiting    // gets that verbs have woken, until RunWoken
	lent    bool          // the body of the put in progress is the caller's
	host    any           // and who gets it may get it at once
	settles chan struct{} // not nil: a get settles; closed when it is over. Under verb
	head    msgHead       // of the put in progress
	again   again         // the last put, when it can be repeated with its head; under verb
	token   mqi.Account   // of who connected, once asked for; under verb
	parked  []*waiter     // gets that wait without a goroutine; under mu
	paced   *pacedPut     // under verb

	consumes consuming
}

// Connect makes a connection (MQCONN, MQCONNX). The caller has been authenticated.
func (m *Manager) Connect(ctx context.Context, id auth.Identity, o ConnectOptions) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, mqi.Wrap("MQCONN", m.opt.Name, mqi.MQRC_CONNECTION_BROKEN, err)
	}
	if o.ApplType == 0 {
		o.ApplType = mqi.MQAT_UNIX
	}
	c := &Conn{m: m, id: m.newID("AMQC"), num: m.rt.connSeq.Add(1), who: id, opt: o, born: m.opt.Clock.Now(),
		broken: make(chan struct{}), handles: map[Handle]*handle{}}
	if err := c.mayConnect(); err != nil {
		return nil, err
	}
	if rc := m.admit(c); rc != 0 {
		return nil, mqi.E("MQCONN", m.opt.Name, rc)
	}
	m.count(c, nil, &deed{kind: didConnect})
	return c, nil
}

// admit registers a connection, unless the queue manager ends.
func (m *Manager) admit(c *Conn) mqi.RC {
	m.rt.mu.Lock()
	defer m.rt.mu.Unlock()
	switch {
	case m.rt.stopping.Load():
		return mqi.MQRC_Q_MGR_STOPPING
	case m.rt.quiescing.Load() && !c.opt.Internal && !c.opt.Commands:
		return mqi.MQRC_Q_MGR_QUIESCING
	}
	m.rt.conns[c.num] = c
	return 0
}

// ID is the connection identifier: "AMQC", queue manager, unique part.
func (c *Conn) ID() mqi.ID { return c.id }

// Identity is who connected.
func (c *Conn) Identity() auth.Identity { return c.who }

// Done is closed when the connection has been broken by the other side, an operator or the queue manager's end.
func (c *Conn) Done() <-chan struct{} { return c.broken }

// EndReason is why a connection is broken; to be asked when Done is closed.
func (c *Conn) EndReason() mqi.RC { return c.end }

// takeTurn tries again when it is certain that nobody only looks.
func (c *Conn) takeTurn() bool {
	c.look.Lock()
	defer c.look.Unlock()
	return c.verb.TryLock()
}

// inVerb reports whether a verb is in progress, without being taken for one itself.
func (c *Conn) inVerb() bool {
	c.look.Lock()
	defer c.look.Unlock()
	if !c.verb.TryLock() {
		return true
	}
	c.verb.Unlock()
	return false
}

// begin starts a verb; the caller must call c.verb.Unlock when err is nil.
func (c *Conn) begin(op, object string) error {
	if !c.verb.TryLock() && !c.takeTurn() {
		select {
		case <-c.broken:
			return mqi.E(op, object, c.end)
		default:
		}
		return mqi.E(op, object, mqi.MQRC_CALL_IN_PROGRESS)
	}
	select {
	case <-c.broken:
		c.verb.Unlock()
		return mqi.E(op, object, c.end)
	default:
	}
	if c.closed {
		c.verb.Unlock()
		return mqi.E(op, object, mqi.MQRC_HCONN_ERROR)
	}
	c.again.h = nil
	return nil
}

// Disconnect ends the connection in order (MQDISC): the unit of work is committed, handles are closed. When the commit
// fails it warns with 2003 (2009 when its outcome is not known), and the connection is gone all the same.
func (c *Conn) Disconnect(ctx context.Context) error {
	if err := c.begin("MQDISC", c.m.opt.Name); err != nil {
		return err
	}
	defer c.verb.Unlock()
	c.endBranches()
	err := c.commitWork()
	c.finish(ctx)
	c.ended(didDisconnect, mqi.MQDISCONNECT_NORMAL)
	if err != nil { // with 2009 too: the connection is gone all the same
		return &mqi.Error{Op: "MQDISC", Object: c.m.opt.Name, CC: mqi.CCWarning, RC: commitReason(err), Err: err}
	}
	return nil
}

// Break ends the connection as when it is lost: the unit of work is backed out. A verb in progress is told, and
// Break returns after it has ended. It may be called more than once and by anyone but a verb of the same connection.
func (c *Conn) Break() { c.breakWith(mqi.MQRC_CONNECTION_BROKEN) }

func (c *Conn) breakWith(rc mqi.RC) {
	c.once.Do(func() {
		c.end = rc
		close(c.broken)
		if c.opt.Broken != nil && rc == mqi.MQRC_CONNECTION_BROKEN {
			c.opt.Broken()
		}
	})
	c.verb.Lock()
	defer c.verb.Unlock()
	for c.settles != nil { // a get that has taken its message is a verb in progress
		over := c.settles
		c.verb.Unlock()
		<-over
		c.verb.Lock()
	}
	if c.closed {
		return
	}
	c.endBranches()
	c.backoutWork(false)
	c.finish(context.Background())
	c.ended(didBreak, c.endKind())
}

// finish closes what is open and forgets the connection. The unit of work has ended.
func (c *Conn) finish(ctx context.Context) {
	c.closed = true
	c.endParked(c.endReason())
	for _, h := range c.openHandles() {
		c.closeHandle(context.WithoutCancel(ctx), h, mqi.MQCO_NONE)
	}
	rt := &c.m.rt
	rt.mu.Lock()
	delete(rt.conns, c.num)
	close(rt.gone)
	rt.gone = make(chan struct{})
	rt.mu.Unlock()
}

func (c *Conn) openHandles() []*handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*handle, 0, len(c.handles))
	for _, h := range c.handles {
		out = append(out, h)
	}
	return out
}

// handle finds an open handle.
func (c *Conn) handle(op string, n Handle) (*handle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.handles[n]; h != nil {
		return h, nil
	}
	return nil, mqi.E(op, "", mqi.MQRC_HOBJ_ERROR)
}

// stopConn breaks the connection with that CONN value: the last eight bytes of its identifier in hex.
func (m *Manager) stopConn(connID string) error {
	for _, c := range m.connections() {
		if strings.EqualFold(hex.EncodeToString(c.id[16:]), connID) {
			c.Break()
			return nil
		}
	}
	return mqi.E("STOP CONN", connID, mqi.MQRC_HCONN_ERROR)
}

// storeReason maps what the store refused to the reason code of a verb.
func storeReason(op, object string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrFull) && (op == "MQPUT" || op == "MQPUT1"):
		return mqi.Wrap(op, object, mqi.MQRC_Q_SPACE_NOT_AVAILABLE, err)
	case errors.Is(err, store.ErrFull):
		return mqi.Wrap(op, object, mqi.MQRC_RESOURCE_PROBLEM, err)
	case errors.Is(err, store.ErrClosed):
		return mqi.Wrap(op, object, mqi.MQRC_Q_MGR_STOPPING, err)
	case errors.Is(err, store.ErrCorrupt):
		return mqi.Wrap(op, object, mqi.MQRC_OBJECT_DAMAGED, err)
	case errors.Is(err, store.ErrFailed):
		return mqi.Wrap(op, object, mqi.MQRC_CONNECTION_BROKEN, err) // it may be on disk: the caller must not take it for refused
	}
	return mqi.Wrap(op, object, mqi.MQRC_UNEXPECTED_ERROR, err)
}
