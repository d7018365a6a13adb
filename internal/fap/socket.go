package fap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/direct"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/obs"
)

const (
	// streamBuffer is how much is gathered of messages that are streamed to a client before it is written.
	streamBuffer = 60 << 10
	// lastWordTime is how long a closing socket waits for a peer that reads nothing.
	lastWordTime = 2 * time.Second
)

// socket is one TCP connection. Its goroutine reads, and runs the verbs that need not wait; each conversation has a goroutine
// for the others.
type socket struct {
	s      *Server
	nc     net.Conn
	ctx    context.Context
	cancel context.CancelCauseFunc
	in     inBuffer
	turn   turn // of the reader
	asm    wire.Assembler
	wg     sync.WaitGroup
	room   *semaphore.Weighted // bytes of messages that wait for their turn; the reader waits when it is used up

	peer Peer
	inst *Instance
	user atomic.Pointer[wire.UserID] // nil: not told yet; never replaced
	link atomic.Pointer[link]        // replaced as a whole by the reader

	out outbox

	fewer     chan struct{}        // holds one token when one of ending is done
	touchedBy atomic.Pointer[turn] // has it in touched
	counts    counts
	again     atomic.Bool  // the client connects again by itself
	working   atomic.Int32 // conversations whose goroutine is busy

	mu         invariants.Ranked[invariants.Socket]
	convs      map[uint32]*conv // that are open
	early      []uint32         // that are to be opened when one has connected
	turnedAway int              // convs with turnedAway
	lastConv   uint32           // the highest id so far
	ending     int              // conversations that the client has ended, and that still clean up
	closed     bool
	deadline   clock.Timer
	due        due          // of the server's agenda
	busyAt     int64        // when DISCINT last saw a get wait; the agenda's
	connected  atomic.Bool  // an MQCONN has been accepted: the handshake is over
	lastRead   atomic.Int64 // clock.Ticks
	waits      atomic.Int32 // gets that wait, for heartbeats of unshared sockets
	stopping   atomic.Bool  // the channel was asked to end: no conversation connects any more
	refused    atomic.Bool  // the peer has been told why
	refusals   atomic.Int32 // refused MQCONNs
	deaf       atomic.Bool  // the reader waits for verbs, and reads nothing
}

// link is what both ends use. Before the negotiation fap is 0.
type link struct {
	fap          byte
	shared       bool
	protected    bool // passwords are not readable
	transmission int
	maxMsg       int
	heartbeat    time.Duration
	convs        int32
	style        style // of segments that the server sends by itself
}

// style is the byte order and code page of what is written.
type style struct {
	order    wire.Order
	encoding int32
	ccsid    uint16
	ebcdic   bool
}

func styleOf(h wire.Header) style {
	return style{order: h.Order, encoding: h.Encoding, ccsid: h.CCSID, ebcdic: h.EBCDIC}
}

func newSocket(ctx context.Context, s *Server, nc net.Conn) *socket {
	k := &socket{s: s, nc: nc, convs: map[uint32]*conv{}, fewer: make(chan struct{}, 1)}
	k.ctx, k.cancel = context.WithCancelCause(ctx)
	direct.Accepted(nc)
	k.out.init(nc, &k.wg, func(err error) { k.cancel(err) }, k.hasRoom)
	k.turn.home = k
	k.asm.Max = maxEarly
	k.counts.number, k.counts.started = s.count.Add(1), s.opt.Clock.Now()
	k.deadline = s.opt.Clock.AfterFunc(s.opt.Handshake, func() { k.cancel(errHandshake) })
	k.link.Store(&link{transmission: maxEarly, style: style{order: wire.Big, encoding: wire.EncodingBig, ccsid: 819}})
	return k
}

var (
	errHandshake = errors.New("the peer did not connect in time")
	errGoodbye   = errors.New("the peer ended the channel")
	errSilent    = errors.New("no data within the heartbeat interval")
	errIdle      = errors.New("no call within DISCINT")
	errTLS       = errors.New("TLS")
)

// refusalMessages are the identifiers of refusals that have one of their own in the log.
var refusalMessages = map[wire.Code]string{wire.CodeNoChannel: "AMQ9519E", wire.CodeCipherSpec: "AMQ9631E",
	wire.CodePeerName: "AMQ9636E", wire.CodeClientCertificate: "AMQ9637E"}

// run serves the socket until it ends.
func (k *socket) run() {
	ended := make(chan struct{})
	context.AfterFunc(k.ctx, func() {
		defer close(ended)
		_ = k.guarded("end", func() error { k.hardEnd(); return nil }) // what fails is in the log, and finish closes
	})
	err := k.guarded("reader", k.serve)
	k.cancel(err)
	<-ended
	k.finish()
	k.logEnd(err)
}

// hardEnd closes the connection when the context ends, which wakes the reader and the writers. A client of a queue manager
// that stops is told first. When it is we who end it, what is for the client, and was not written yet, goes before: messages that
// were got for it, the answer to its last attempt to connect.
func (k *socket) hardEnd() {
	cause := context.Cause(k.ctx)
	switch code, tell := lastCode(cause); {
	case tell && k.link.Load().fap > 0:
		k.lastWord(wire.FlagClose, code)
	case errors.Is(cause, errReconnect), errors.Is(cause, errRefused):
		k.sendRest()
	}
	k.hangUp()
}

// lastWord sends a STATUS before the connection is closed.
func (k *socket) lastWord(flags byte, code wire.Code) {
	h := k.plain(wire.StatusData)
	h.Flags = flags
	if k.add(h, wire.API{}, &wire.Status{Code: code}) != nil || k.sendRest() != nil {
		k.hangUp()
	}
}

// sendRest writes what there is. A peer that reads nothing does not hold it up: the timer closes the connection, and with it frees a
// writer that holds the lock.
func (k *socket) sendRest() error {
	t := k.s.opt.Clock.AfterFunc(lastWordTime, func() { k.hangUp() })
	defer t.Stop()
	return k.out.drain()
}

// finish ends timers, conversations and the channel instance.
func (k *socket) finish() {
	k.mu.Lock()
	k.closed = true
	k.deadline.Stop()
	k.mu.Unlock()
	k.s.agenda.drop(k)
	k.hangUp()
	k.out.close(net.ErrClosed)
	invariants.Blocking("waiting for a socket's goroutines")
	k.wg.Wait()
	if k.inst != nil && k.inst.Close != nil {
		k.inst.Close()
	}
}

// logEnd writes one line when the end was not the client's wish.
func (k *socket) logEnd(err error) {
	if c := context.Cause(k.ctx); c != nil {
		err = c // what came first; the reader was woken by it
	}
	log := k.s.opt.Log
	ev, amq := log.Warn(), "AMQ9999E"
	var bad *wire.Error
	var page ccsidError
	var r *Refusal
	switch {
	case errors.Is(err, errGoodbye), errors.Is(err, context.Canceled), errors.Is(err, errStopped), errors.Is(err, errReconnect):
		ev, amq = log.Debug(), ""
	case errors.Is(err, io.EOF) && !k.connected.Load():
		ev, amq = log.Debug(), "" // a port check
	case errors.As(err, &r) && r.ID != "":
		amq = r.ID
	case errors.As(err, &r) && refusalMessages[r.Code] != "":
		amq = refusalMessages[r.Code]
	case errors.Is(err, errIdle):
		ev, amq = log.Info(), "AMQ9545I"
	case errors.Is(err, errTLS):
		amq = "AMQ9633E"
	case errors.Is(err, errHandshake), errors.Is(err, errSilent):
		amq = "AMQ9259E"
	case errors.As(err, &bad), errors.As(err, &page):
		amq = "AMQ9504E"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(net.Error)):
		amq = "AMQ9208E"
	}
	if amq != "" {
		if !k.s.opt.Repeats.Allow(amq+" "+k.peer.Channel, func(left int) {
			log.Warn().Str(obs.FieldAMQ, amq).Str("channel", k.peer.Channel).Int("left_out", left).
				Msgf("channel %q: %d more ended for such a reason in the last minute", k.peer.Channel, left)
		}) {
			return
		}
		ev = ev.Str(obs.FieldAMQ, amq)
	}
	ev.Err(err).Str("channel", k.peer.Channel).Stringer("peer", k.nc.RemoteAddr()).
		Msgf("channel %q to %s ended", k.peer.Channel, k.nc.RemoteAddr())
}

// guarded runs fn so that a panic ends this socket and nothing else.
func (k *socket) guarded(name string, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			k.s.opt.Log.Error().Str(obs.FieldAMQ, "AMQ6125E").Str("loop", name).Str("stack", string(debug.Stack())).
				Str("channel", k.peer.Channel).Msgf("internal error on a client channel: %v", p)
		}
	}()
	return fn()
}

// spawn starts a goroutine of the socket; it ends with it.
func (k *socket) spawn(name string, fn func() error) {
	k.wg.Add(1)
	go func() {
		defer k.wg.Done()
		if err := k.guarded(name, fn); err != nil {
			k.cancel(err)
		}
	}()
}

func (k *socket) shakeHands(t *tls.Conn) error {
	invariants.Blocking("a TLS handshake")
	return t.HandshakeContext(k.ctx)
}

// hangUp closes the connection. With TLS that is a write.
func (k *socket) hangUp() {
	invariants.Blocking("a write to a socket")
	k.nc.Close()
}

// serve is the reader.
func (k *socket) serve() error {
	if t, ok := k.nc.(*tls.Conn); ok {
		if err := k.shakeHands(t); err != nil {
			if n, ok := t.NetConn().(Named); ok {
				k.peer.Channel = n.ChannelName() // for the log
			}
			return fmt.Errorf("%w: %w", errTLS, err)
		}
		st := t.ConnectionState()
		k.peer.TLS = &st
	}
	k.s.busy.Add(1)
	defer k.s.busy.Add(-1)
	if err := k.negotiate(); err != nil {
		return err
	}
	k.startHeartbeats()
	for {
		h, body, err := k.read()
		if err != nil {
			return k.complain(err)
		}
		if err := k.dispatch(h, body); err != nil {
			return k.complain(err)
		}
	}
}

// read returns the next whole message. Its body lies in the read buffer, until the next call, unless it came in parts.
func (k *socket) read() (h wire.Header, body []byte, err error) {
	l := k.link.Load()
	for {
		h, body, err = k.segment(l.transmission)
		if err != nil {
			return h, nil, err
		}
		k.counts.received(h.Size() + len(body))
		if h.Type == wire.AsyncMsg { // only servers send it, and its parts have a layout of their own
			return h, nil, &wire.Error{Struct: "TSH", Why: wire.BadValue}
		}
		if h.Flags&wire.FlagWhole == wire.FlagWhole {
			return h, body, nil
		}
		whole, done, err := k.gather(l, h, body)
		if err != nil || done {
			return h, whole, err
		}
	}
}

// gather takes a part of a message, which must be of a conversation that there is, or else of the negotiation.
func (k *socket) gather(l *link, h wire.Header, body []byte) (whole []byte, done bool, err error) {
	if h.Type != wire.InitialData || l.fap > 0 {
		if c, err := k.find(h); c == nil {
			return nil, false, err
		}
	}
	if k.connected.Load() {
		k.asm.Max, k.asm.Convs = l.maxMsg+overhead, max(1, int(l.convs))
	}
	return k.asm.Add(h, body)
}

// find is the conversation of a message. Without one there is an error, or the message has crossed the end of its
// conversation, and means nothing.
func (k *socket) find(h wire.Header) (*conv, error) {
	if k.link.Load().shared != (h.Magic == wire.TSHM) {
		return nil, &wire.Error{Struct: "TSH", Why: wire.BadStrucID}
	}
	c := k.conv(h.Conv)
	if c != nil || !h.Type.IsCall() && k.had(h.Conv) {
		return c, nil
	}
	k.refuse(wire.CodeConvID)
	return nil, fmt.Errorf("%v on conversation %d, which is not open", h.Type, h.Conv)
}

// outRoom waits while much is written that the peer does not read: before each answer that the reader gives.
func (k *socket) outRoom() error { return k.outRoomFor(&k.turn) }

// outRoomFor is outRoom in a goroutine of the socket's, whose turn it is.
func (k *socket) outRoomFor(t *turn) error {
	if !k.out.much(k.outLimit()) {
		return nil
	}
	t.flush()
	if !k.out.much(k.outLimit()) {
		return nil
	}
	return k.out.drain()
}

// outLimit is how much may wait to be written before whoever answers waits too.
func (k *socket) outLimit() int {
	if k.connected.Load() {
		return maxOut
	}
	return maxEarly
}

// segment takes the next one out of the read buffer. Before it waits for more, what was written is flushed.
func (k *socket) segment(max int) (wire.Header, []byte, error) {
	if k.turn.ahead != nil {
		k.catchUp()
	}
	for {
		most := max
		if !k.connected.Load() { // it is before a client that has its answer to MQCONN can send more
			most = min(most, maxEarly)
		}
		h, body, size, whole, err := wire.CutSegment(k.in.bytes(), most)
		if err != nil {
			return h, nil, err
		}
		if whole {
			k.in.skip(size)
			return h, body, nil
		}
		k.turn.flush()
		if err := k.more(size); err != nil {
			return h, nil, err
		}
		k.lastRead.Store(clock.Ticks(k.s.opt.Clock.Now()))
	}
}

// more waits for more of what the peer sends. Other readers that have something to do have their turn first: by then the peer has
// often sent more, and that costs less than to go to sleep for it and to be woken.
func (k *socket) more(size int) error {
	others := k.s.busy.Add(-1)
	defer k.s.busy.Add(1)
	if others > 0 {
		runtime.Gosched()
	}
	err := k.in.fill(k.reader(), size)
	if k.s.opt.Arrived != nil && err == nil {
		k.s.opt.Arrived()
	}
	return err
}

// notReading runs what the reader waits in for something else than its peer.
func (k *socket) notReading(fn func()) {
	k.s.busy.Add(-1)
	defer k.s.busy.Add(1)
	fn()
}

// reader is what the next bytes are read from. Until MQCONN is over that is the connection, which may hold some that were read
// before.
func (k *socket) reader() io.Reader {
	if d := k.out.direct; d != nil && k.connected.Load() {
		return d
	}
	return k.nc
}

// complain tells a peer that broke the protocol, as far as it can be told, and passes the error on.
func (k *socket) complain(err error) error {
	var bad *wire.Error
	var page ccsidError
	isPage := errors.As(err, &page)
	if !isPage && !errors.As(err, &bad) {
		return err
	}
	code := wire.CodeInvalidData
	switch {
	case isPage:
		code = wire.CodeCCSID
	case bad.Struct == "TSH" && bad.Why == wire.BadStrucID:
		code = wire.CodeProtocolID
	case bad.Why == wire.BadLength, bad.Why == wire.Short:
		code = wire.CodeLengthError
	}
	k.refuse(code)
	return err
}

// refuse sends the STATUS that ends the channel at the client, once.
func (k *socket) refuse(code wire.Code) {
	if !k.refused.Swap(true) {
		k.lastWord(wire.FlagClose|wire.FlagError, code)
	}
}

// dispatch takes one message to where it belongs.
func (k *socket) dispatch(h wire.Header, body []byte) error {
	switch h.Type {
	case wire.Heartbeat:
		if h.Flags&wire.FlagConfirm != 0 {
			if err := k.outRoom(); err != nil {
				return err
			}
			a := h
			a.Flags = 0
			return k.write(a, wire.API{}, &wire.Empty{})
		}
		return nil
	case wire.SocketAction:
		return k.action(h, body)
	case wire.StatusData:
		if h.Flags&wire.FlagClose != 0 {
			return errGoodbye
		}
		return nil
	case wire.UserIDData:
		return k.takeUser(h, body)
	}
	c, err := k.find(h)
	if c == nil {
		return err
	}
	return c.take(h, body)
}

// plain is the header of a segment that belongs to no conversation.
func (k *socket) plain(t wire.Type) wire.Header {
	l := k.link.Load()
	h := wire.Header{Magic: wire.TSH, Type: t, Order: l.style.order, Encoding: l.style.encoding, CCSID: l.style.ccsid,
		EBCDIC: l.style.ebcdic}
	if l.shared {
		h.Magic = wire.TSHC
	}
	return h
}

// write sends one message, in segments of the agreed size.
func (k *socket) write(h wire.Header, a wire.API, b wire.Body) error {
	if err := k.add(h, a, b); err != nil {
		return err
	}
	k.out.flush()
	return nil
}

// add puts a message into the outbox, from where the next flush takes it.
func (k *socket) add(h wire.Header, a wire.API, b wire.Body) error { return k.addFor(nil, h, a, b) }

// addFor leaves a message out when the conversation that it is of has been ended by the client.
func (k *socket) addFor(c *conv, h wire.Header, a wire.API, b wire.Body) error {
	codec, ok := h.Codec()
	if !ok {
		return ccsidError(h.CCSID)
	}
	l := k.link.Load()
	return k.out.add(func(buf []byte) []byte {
		if c != nil && c.gone {
			return buf
		}
		at := len(buf)
		buf = wire.AppendMessage(buf, h, a, b, codec, l.transmission)
		k.counts.sent(len(buf)-at, l.transmission)
		return buf
	})
}

// letOthersReply lets other conversations of the socket come to their answers, when they can at once: verbs that shared a sync
// end together, and then their answers leave in one write.
func (k *socket) letOthersReply() {
	if k.working.Load() > 1 {
		runtime.Gosched()
	}
}

func (k *socket) sayQuiesce(a wire.Action) {
	if k.connected.Load() && k.link.Load().shared {
		k.write(k.plain(wire.SocketAction), wire.API{}, &wire.Socket{Action: a})
	}
}

// ccsidError is a segment in a code page that is not known.
type ccsidError uint16

func (e ccsidError) Error() string { return fmt.Sprintf("CCSID %d is not supported", uint16(e)) }

// decode reads a message by its own header.
func decode(h wire.Header, body []byte) (wire.API, wire.Body, error) {
	c, ok := h.Codec()
	if !ok {
		return wire.API{}, nil, ccsidError(h.CCSID)
	}
	return wire.Decode(h.Type, body, c)
}
