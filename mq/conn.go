package mq

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/direct"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Options of Connect. Addr and Channel are required, or CCDT.
type Options struct {
	Addr         string // host:port of the listener; several with commas between them are tried in turn
	Channel      string // a server-connection channel
	QueueManager string // blank, or *anything: whatever the channel reaches

	// CCDT has the addresses and channels instead of Addr and Channel: those for QueueManager are tried in turn.
	CCDT *CCDT

	// User and Password are checked by the queue manager if it asks for them. Without TLS the password crosses the network
	// readable. A blank User is that of the process, which proves nothing.
	User     string
	Password string

	// TLS makes the connection one of TLS. ServerName defaults to the host of Addr. With CCDT it is for definitions that have a
	// cipher specification.
	TLS *tls.Config

	ApplName     string        // shown by DISPLAY CONN and in messages; blank: the program's name
	Heartbeat    time.Duration // longest silence before the other end is asked; 0: what the channel says
	MaxMsgLength int           // of this connection; 0: what the channel allows, up to 100 MiB

	// Reconnect has a connection that was lost made again (reconnect.go says what becomes of verbs); nil: it stays lost.
	Reconnect *Reconnect

	// Dial replaces the dialer, for proxies and tests.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// handshakeTime bounds the time to connect when the context does not.
const handshakeTime = 30 * time.Second

// Conn is a connection to a queue manager.
type Conn struct {
	opt  Options
	life context.Context // ends with the connection
	end  context.CancelCauseFunc

	mu  sync.Mutex
	now *link // the present one, for those who have no token

	verb chan struct{} // holds one token; whoever has it runs a verb, and has what follows
	*link
	putBuf  wire.Put // of the put under way
	getBuf  wire.Get // of the get under way
	handles []reopener
	unit    unit

	async       bool // there were puts that are not answered since the last Flush
	interrupted bool // and the connection was lost meanwhile
}

// Connect connects to a queue manager. ctx bounds only the attempt.
func Connect(ctx context.Context, o Options) (*Conn, error) {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, handshakeTime)
		defer cancel()
	}
	c := &Conn{opt: o, verb: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancelCause(context.Background())
	if err := c.establish(ctx); err != nil {
		c.end(err)
		return nil, err
	}
	c.verb <- struct{}{}
	return c, nil
}

// establish connects to the first address that answers as a queue manager does. A definition whose channel cannot be started
// leaves it to the next one.
func (c *Conn) establish(ctx context.Context) error {
	all, err := c.opt.candidates()
	for i := range all {
		if err = c.connectBy(ctx, &all[i]); err == nil || ctx.Err() != nil || !passing(err) && !notStarted(err) {
			return err
		}
	}
	return err
}

func (c *Conn) connectBy(ctx context.Context, by *candidate) error {
	err := by.bad
	if err != nil {
		return err
	}
	for addr := range strings.SplitSeq(by.Addr, ",") {
		if err = c.connectTo(ctx, &by.Options, strings.TrimSpace(addr)); err == nil || ctx.Err() != nil || !passing(err) {
			break
		}
	}
	return err
}

func (c *Conn) connectTo(ctx context.Context, o *Options, addr string) error {
	nc, err := dial(ctx, o, addr)
	if err != nil {
		return err
	}
	l := &link{}
	l.init(nc)
	l.atEnd = c.linkEnded
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	err = l.handshake(o)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		nc.Close()
		return l.explain("MQCONN", o.QueueManager, ctx, err)
	}
	c.link = l
	l.start()
	if err := c.connect(ctx, o); err != nil {
		l.atEnd = func(error) {}
		l.close(errClosed)
		l.wait()
		return err
	}
	c.mu.Lock()
	c.now = l
	c.mu.Unlock()
	if c.life.Err() != nil { // closed meanwhile
		l.close(errClosed)
		l.wait()
		return fail("MQCONN", o.QueueManager, ConnectionBroken, errClosed)
	}
	return nil
}

// linkEnded ends the connection with its link, unless there will be another.
func (c *Conn) linkEnded(err error) {
	if c.opt.Reconnect == nil {
		c.end(err)
	}
}

// present is the link for those who have no token.
func (c *Conn) present() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// finish ends the connection for good. Its goroutines have ended then.
func (c *Conn) finish(err error) {
	c.end(err)
	l := c.present()
	l.close(err)
	l.wait()
}

func dial(ctx context.Context, o *Options, addr string) (net.Conn, error) {
	d := o.Dial
	if d == nil {
		d = (&net.Dialer{Control: direct.Control}).DialContext
	}
	nc, err := d(ctx, "tcp", addr)
	if err != nil {
		return nil, fail("MQCONN", addr, HostNotAvailable, err)
	}
	if o.TLS == nil {
		return nc, nil
	}
	cfg := o.TLS
	if cfg.ServerName == "" && !cfg.InsecureSkipVerify {
		cfg = cfg.Clone()
		cfg.ServerName, _, _ = net.SplitHostPort(addr)
	}
	t := tls.Client(nc, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, fail("MQCONN", addr, SSLInitialization, err)
	}
	return t, nil
}

// connect sends the credentials and MQCONN.
func (c *Conn) connect(ctx context.Context, o *Options) error {
	name := osUser()
	short := strings.ToUpper(name)
	if err := c.send(wire.UserIDData, 0, 0, &wire.UserID{User: short[:min(len(short), 12)], LongUser: name}); err != nil {
		return fail("MQCONN", o.QueueManager, ConnectionBroken, err)
	}
	if o.User != "" {
		if _, err := c.roundTrip(ctx, "MQCONN", o.User, wire.ConAuthInfo, 0, &wire.ConAuth{AuthType: authUserPassword, User: o.User,
			Password: o.Password}); err != nil {
			return err
		}
	}
	appl := o.ApplName
	if appl == "" {
		appl = filepath.Base(os.Args[0])
	}
	b := &wire.Conn{QMgr: o.QueueManager, ApplName: appl, ApplType: mqi.MQAT_UNIX, Version: 2}
	if o.Reconnect != nil { // so that a queue manager that ends can send its clients away
		b.XOptions = mqi.MQCNO_RECONNECT
	}
	r, err := c.roundTrip(ctx, "MQCONN", o.QueueManager, wire.MQCONN, 0, b)
	if err != nil {
		return err
	}
	b, ok := r.body.(*wire.Conn)
	if !ok {
		return fail("MQCONN", o.QueueManager, unexpected, nil)
	}
	c.names.qmgr = b.QMgr
	copy(c.names.id[:], b.ConnTag[:])
	return nil
}

// authUserPassword is MQCSP_AUTH_USER_ID_AND_PWD.
const authUserPassword = 1

func osUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// QueueManager is the name of the queue manager that was reached.
func (c *Conn) QueueManager() string { return c.present().names.qmgr }

// ID is the connection's identifier, as DISPLAY CONN shows it.
func (c *Conn) ID() ID { return ID(c.present().names.id) }

// Quiescing is closed when the queue manager or the channel asks its clients to end. A connection that is made again has
// another.
func (c *Conn) Quiescing() <-chan struct{} { return c.present().quiescing }

// Done is closed when the connection has ended for good, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.life.Done() }

// Commit commits the unit of work (MQCMIT): what was put and got with Syncpoint.
func (c *Conn) Commit(ctx context.Context) error { return c.endUnit(ctx, "MQCMIT", wire.MQCMIT) }

// Backout undoes the unit of work (MQBACK).
func (c *Conn) Backout(ctx context.Context) error { return c.endUnit(ctx, "MQBACK", wire.MQBACK) }

// Flush waits until all puts with Async have been served, and returns the first failure among those since the last Flush.
func (c *Conn) Flush(ctx context.Context) error {
	if err := c.lock(ctx, "MQSTAT", ""); err != nil {
		return err
	}
	defer c.unlock()
	if err := c.revive(ctx, "MQSTAT", ""); err != nil {
		return err
	}
	r, err := c.once(ctx, "MQSTAT", c.names.qmgr, wire.MQSTAT, none, &wire.Stat{Type: mqi.MQSTAT_TYPE_ASYNC_ERROR, STS: mqi.DefaultSTS()},
		true)
	interrupted := c.interrupted
	c.async, c.interrupted = false, false
	switch {
	case err != nil:
		return err
	case interrupted:
		return fail("MQPUT", "", CallInterrupted, nil)
	}
	b, ok := r.body.(*wire.Stat)
	if !ok {
		return fail("MQSTAT", c.names.qmgr, unexpected, nil)
	}
	st := b.STS
	if st.CompCode == mqi.CCOK {
		return nil
	}
	name := st.ObjectName
	if name == "" {
		name = st.ResolvedObject
	}
	return &Error{Op: "MQPUT", Object: name, Code: CompletionCode(st.CompCode), Reason: Reason(st.Reason)}
}

// Disconnect ends the connection in order (MQDISC): the unit of work is committed. Afterwards, and after an error, the
// connection is closed. A second call does nothing.
func (c *Conn) Disconnect(ctx context.Context) error {
	if c.life.Err() != nil {
		return nil
	}
	if err := c.lock(ctx, "MQDISC", ""); err != nil {
		c.finish(errClosed)
		return err
	}
	defer c.unlock()
	var err error
	if c.alive() { // else there is nothing to end
		if _, err = c.roundTrip(ctx, "MQDISC", c.names.qmgr, wire.MQDISC, 0, &wire.Empty{}); err == nil {
			err = c.goodbye()
		}
	}
	if err == nil && (c.unit == lost || c.unit == begun && !c.alive()) {
		err = fail("MQDISC", c.names.qmgr, BackedOut, nil)
	}
	c.finish(errClosed)
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// Close drops the connection; the queue manager backs out the unit of work. It waits until the connection's goroutines have ended,
// not for verbs in progress, which fail. It returns nil, for io.Closer.
func (c *Conn) Close() error {
	c.finish(errClosed)
	return nil
}

var errClosed = errors.New("the connection was closed")

// lock takes the token of verbs.
func (c *Conn) lock(ctx context.Context, op, object string) error {
	select {
	case <-c.verb:
		return nil
	default:
	}
	select {
	case <-c.verb:
		return nil
	case <-c.life.Done():
		return fail(op, object, ConnectionBroken, context.Cause(c.life))
	case <-ctx.Done():
		return fail(op, object, unexpected, context.Cause(ctx))
	}
}

func (c *Conn) unlock() { c.verb <- struct{}{} }

// call runs one verb on what h stands for. It does no harm when it is run twice.
func (c *Conn) call(ctx context.Context, op, object string, t wire.Type, h *handle, b wire.Body) (reply, error) {
	if err := c.lock(ctx, op, object); err != nil {
		return reply{}, err
	}
	defer c.unlock()
	return c.once(ctx, op, object, t, h, b, true)
}

// once is call for who has the token. A verb that must not run twice is not known to have run when the connection breaks.
func (c *Conn) once(ctx context.Context, op, object string, t wire.Type, h *handle, b wire.Body, twice bool) (r reply, err error) {
	if err := c.revive(ctx, op, object); err != nil {
		return reply{}, err
	}
	r, err = c.roundTrip(ctx, op, object, t, h.hobj, b)
	for c.again(ctx, op, object, twice, &err) {
		r, err = c.roundTrip(ctx, op, object, t, h.hobj, b)
	}
	return r, err
}

// roundTrip sends a call and waits for its answer. A warning comes with the answer.
func (c *Conn) roundTrip(ctx context.Context, op, object string, t wire.Type, hobj int32, b wire.Body) (reply, error) {
	calls.Add(1)
	defer calls.Add(-1)
	c.role.want()
	defer c.role.release()
	c.req++
	if err := c.send(t, c.req, hobj, b); err != nil {
		return reply{}, fail(op, object, ConnectionBroken, c.why(err))
	}
	s, err := c.answer(ctx)
	if err != nil {
		return reply{}, c.abandon(ctx, op, object, err)
	}
	var r reply
	if r.api, r.body, err = s.decode(c.link); err != nil {
		return reply{}, c.garbled(ctx, op, object, err)
	}
	return r, r.err(op, object)
}

// abandon ends the connection because the answer to a verb cannot be waited for, and makes the verb's error.
func (c *Conn) abandon(ctx context.Context, op, object string, err error) error {
	if ctx.Err() != nil {
		c.close(context.Cause(ctx))
		return fail(op, object, ConnectionBroken, context.Cause(ctx))
	}
	c.close(err)
	return c.explain(op, object, ctx, c.cause())
}

// garbled is the same for an answer that cannot be read.
func (c *Conn) garbled(ctx context.Context, op, object string, err error) error {
	c.close(err)
	return c.explain(op, object, ctx, c.cause())
}

// reply answers a call.
type reply struct {
	api  wire.API
	body wire.Body
}

// err is the error that the codes of a reply stand for.
func (r *reply) err(op, object string) error { return codes(r.api, op, object) }

func codes(a wire.API, op, object string) error {
	if a.CompCode == 0 {
		return nil
	}
	return &Error{Op: op, Object: object, Code: CompletionCode(a.CompCode), Reason: Reason(a.Reason)}
}
