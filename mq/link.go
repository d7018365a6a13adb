package mq

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

const (
	// level is the protocol level that is offered: the last at which a password is not hidden by an algorithm that is not
	// public.
	level = 12
	// writeBuffer gathers puts that are not answered.
	writeBuffer = 64 << 10
	readBuffer  = 16 << 10
	// gatherAfter is the distance below which such puts are taken for a stream.
	gatherAfter = 50 * time.Microsecond
	// maxMessage is the most that a channel can carry.
	maxMessage = 100 << 20
	// room is what descriptors and options may add to a message.
	room = 64 << 10
	// defaultHeartbeat is offered when the program has no wish, and replaced by the channel's.
	defaultHeartbeat = 1
	conversation     = 1
)

// reply answers a call.
type reply struct {
	req  uint32
	api  wire.API
	body wire.Body
}

// link is the socket below a connection, with one conversation on it. One goroutine reads, another flushes what was written
// without an answer to wait for.
type link struct {
	nc     net.Conn
	r      *bufio.Reader
	asm    wire.Assembler
	shared bool
	size   int // of a segment
	maxMsg int
	beat   time.Duration
	codec  wire.Codec

	wmu  sync.Mutex
	w    *bufio.Writer
	buf  []byte    // the message being written
	last time.Time // when something was written without an answer to wait for
	kick chan struct{}

	replies chan reply
	notices chan reply // answers to SPI NOTIFY
	pushed  pushed

	quiescing chan struct{}
	quiesce   sync.Once
	ended     chan struct{}
	once      sync.Once
	err       error // set before ended is closed
}

func (l *link) init(nc net.Conn) {
	l.nc, l.r, l.w = nc, bufio.NewReaderSize(nc, readBuffer), bufio.NewWriterSize(nc, writeBuffer)
	l.size = wire.DefaultTransmission
	l.asm.Max = room
	text, _ := wire.NewText(ccsidUTF8, nil)
	l.codec = wire.Codec{Order: wire.Little, Text: text}
	l.kick, l.replies, l.notices = make(chan struct{}, 1), make(chan reply, 1), make(chan reply, 1)
	l.quiescing, l.ended = make(chan struct{}), make(chan struct{})
	l.pushed.init()
}

// header is that of a segment that we send.
func (l *link) header(t wire.Type, req uint32) wire.Header {
	h := wire.Header{Magic: wire.TSH, Order: wire.Little, Encoding: wire.EncodingLittle, CCSID: ccsidUTF8, Type: t, Req: req}
	if !l.shared {
		return h
	}
	h.Magic, h.Conv = wire.TSHM, conversation
	if t == wire.SocketAction || t == wire.Heartbeat {
		h.Magic = wire.TSHC
	}
	return h
}

// send writes one message. Without now it may stay in the buffer for a moment.
func (l *link) send(t wire.Type, req uint32, hobj int32, b wire.Body, now bool) error {
	return l.sendH(l.header(t, req), wire.API{Hobj: hobj}, b, now)
}

func (l *link) sendH(h wire.Header, a wire.API, b wire.Body, now bool) error {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	l.buf = wire.Encode(l.buf[:0], h.Type, a, b, l.codec, h.Size())
	if err := wire.WriteMessage(l.w, h, l.buf, l.size); err != nil {
		return err
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	if !now { // the first for some time goes at once, those that follow closely are gathered
		t := time.Now()
		now = t.Sub(l.last) > gatherAfter
		l.last = t
	}
	if now {
		return l.w.Flush()
	}
	select {
	case l.kick <- struct{}{}:
	default:
	}
	return nil
}

// handshake agrees on the values of the connection. What the server flags we take over, and propose once more.
func (l *link) handshake(o *Options) error {
	id := proposal(o)
	for try := 0; ; try++ {
		h := l.header(wire.InitialData, 0)
		h.Flags = wire.FlagConfirm
		if err := l.sendH(h, wire.API{}, id, true); err != nil {
			return err
		}
		got, h, err := l.answer()
		if err != nil {
			return err
		}
		l.shared = got.Convs > 0
		if h.Flags&wire.FlagError == 0 && got.Err1 == 0 {
			l.size, l.maxMsg = int(got.MaxTransmission), int(got.MaxMsgLength)
			l.beat = time.Duration(got.HeartbeatIv) * time.Second
			l.asm.Max = l.maxMsg + room
			return nil
		}
		if try > 0 {
			return &refused{CodeText: "the values of the channel could not be agreed", reason: ChannelConfigError}
		}
		adopt(id, got)
	}
}

func proposal(o *Options) *wire.ID {
	id := &wire.ID{Size: wire.IDSize(level), FAP: level, Cap1: wire.Cap1Conversion | wire.Cap1Split | wire.Cap1MQRequest,
		Cap2: wire.Cap2DistLists | wire.Cap2XA | wire.Cap2SPI, Cap3: wire.Cap3SyncGet,
		MaxTransmission: wire.DefaultTransmission, MaxMsgLength: maxMessage, Channel: o.Channel, CCSID: ccsidUTF8,
		QMgr: o.QueueManager, HeartbeatIv: defaultHeartbeat, EFLLength: uint16(wire.IDSize(level) - 102), Convs: 1,
		Product: product}
	if o.Heartbeat > 0 {
		id.HeartbeatIv = int32(max(1, (o.Heartbeat+time.Second-1)/time.Second))
	}
	if o.MaxMsgLength > 0 {
		id.MaxMsgLength = int32(min(o.MaxMsgLength, maxMessage))
	}
	return id
}

// product is the identifier of C clients with a version; a server only shows it.
const product = "MQCC09040100"

// adopt takes over the values that the server flagged.
func adopt(id, got *wire.ID) {
	if got.Err1&wire.ErrHeartbeat != 0 {
		id.HeartbeatIv = got.HeartbeatIv
	}
	if got.Err1&wire.ErrMsgLength != 0 {
		id.MaxMsgLength = got.MaxMsgLength
	}
	if got.Err1&wire.ErrTransmission != 0 {
		id.MaxTransmission = got.MaxTransmission
	}
	if got.Err1&wire.ErrFAP != 0 {
		id.FAP, id.Size = got.FAP, wire.IDSize(got.FAP)
	}
	id.Convs = got.Convs
}

// answer reads the server's INITIAL_DATA.
func (l *link) answer() (*wire.ID, wire.Header, error) {
	h, b, _, err := l.read()
	if err != nil {
		return nil, h, err
	}
	switch b := b.(type) {
	case *wire.ID:
		return b, h, nil
	case *wire.Status:
		return nil, h, refusal(b.Code)
	}
	return nil, h, fmt.Errorf("the peer is no queue manager: it answered with a segment of %v", h.Type)
}

// refused is a STATUS with which the server ends the channel.
type refused struct {
	CodeText string
	reason   Reason
}

func (r *refused) Error() string { return r.CodeText }

// refusals are the codes that tell a program something.
var refusals = map[wire.Code]refused{
	wire.CodeNoChannel:          {"the channel does not exist", UnknownChannel},
	wire.CodeWrongType:          {"the channel is not a server-connection channel", ChannelConfigError},
	wire.CodeQMUnavailable:      {"the queue manager is not available", QMgrNotAvailable},
	wire.CodeQMTerminating:      {"the queue manager is ending", QMgrStopping},
	wire.CodeUserClosed:         {"the channel was stopped", ConnectionBroken},
	wire.CodeSecurity:           {"the channel refused this client for security reasons", NotAuthorized},
	wire.CodeChannelUnavailable: {"the channel is stopped or all its instances are in use", ChannelNotAvailable},
	wire.CodeClosedByExit:       {"an exit closed the channel", NotAuthorized},
	wire.CodeCipherSpec:         {"the channel wants another cipher specification", SSLInitialization},
	wire.CodePeerName:           {"the channel does not accept the name in the certificate", SSLInitialization},
	wire.CodeClientCertificate:  {"the channel wants a client certificate", SSLInitialization},
}

func refusal(code wire.Code) error {
	if r, ok := refusals[code]; ok {
		return &r
	}
	return &refused{CodeText: fmt.Sprintf("the server ended the channel with status %d", code), reason: ConnectionBroken}
}

// start begins to read and to flush.
func (l *link) start() {
	l.touch()
	go func() { l.close(l.readLoop()) }()
	go l.flushLoop()
}

// flushLoop writes what nobody waits for.
func (l *link) flushLoop() {
	for {
		select {
		case <-l.kick:
			l.wmu.Lock()
			err := l.w.Flush()
			l.wmu.Unlock()
			if err != nil {
				l.close(err)
			}
		case <-l.ended:
			return
		}
	}
}

// read returns the next whole message, or a part of one that was pushed.
func (l *link) read() (wire.Header, wire.Body, wire.API, error) {
	for {
		h, body, err := wire.ReadSegment(l.r, max(l.size, wire.DefaultTransmission))
		if err != nil {
			return h, nil, wire.API{}, err
		}
		whole, done := body, true
		if h.Type != wire.AsyncMsg { // whose parts have a layout of their own
			if whole, done, err = l.asm.Add(h, body); err != nil {
				return h, nil, wire.API{}, err
			}
		}
		if !done {
			continue
		}
		c := l.codec
		if h.Order != wire.Little || h.CCSID != ccsidUTF8 {
			var ok bool
			if c, ok = h.Codec(); !ok {
				return h, nil, wire.API{}, fmt.Errorf("the server wrote in code page %d, which is not known", h.CCSID)
			}
		}
		a, b, err := wire.Decode(h.Type, whole, c)
		return h, b, a, err
	}
}

// touch sets the time by which something must arrive. Half of the time before it, the server is asked for a sign of life.
func (l *link) touch() {
	if l.beat > 0 && l.shared {
		l.nc.SetReadDeadline(time.Now().Add(l.beat))
	}
}

var errSilent = errors.New("the server has gone silent")

// readLoop serves what arrives until the connection ends.
func (l *link) readLoop() error {
	asked := false
	for {
		if l.r.Buffered() == 0 {
			l.touch()
			_, err := l.r.Peek(1)
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				if asked {
					return errSilent
				}
				asked = true
				h := l.header(wire.Heartbeat, 0)
				h.Flags = wire.FlagConfirm
				if err := l.sendH(h, wire.API{}, &wire.Empty{}, true); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
			asked = false
		}
		h, b, a, err := l.read()
		if err != nil {
			return err
		}
		if err := l.dispatch(h, a, b); err != nil {
			return err
		}
	}
}

func (l *link) dispatch(h wire.Header, a wire.API, b wire.Body) error {
	switch b := b.(type) {
	case *wire.Async:
		return l.pushed.add(h, b)
	case *wire.Notify:
		l.pushed.note(b)
		return nil
	case *wire.Socket:
		if b.Action == wire.QMQuiesce || b.Action == wire.StopQuiesce {
			l.quiesce.Do(func() { close(l.quiescing) })
		}
		return nil
	case *wire.Status:
		if h.Flags&wire.FlagClose != 0 {
			return refusal(b.Code)
		}
		return l.deliver(l.replies, reply{req: h.Req, body: b}) // the answer to credentials
	}
	switch {
	case h.Type == wire.Heartbeat:
		if h.Flags&wire.FlagConfirm == 0 {
			return nil
		}
		return l.sendH(l.header(wire.Heartbeat, h.Req), wire.API{}, &wire.Empty{}, true)
	case isNotice(b):
		return l.deliver(l.notices, reply{req: h.Req, api: a, body: b})
	case h.Type.IsCallReply():
		return l.deliver(l.replies, reply{req: h.Req, api: a, body: b})
	}
	return nil // what is new to us asks for nothing
}

func isNotice(b wire.Body) bool {
	s, ok := b.(*wire.SPIBody)
	if !ok {
		return false
	}
	_, ok = s.Part.(*wire.SPINotifyOut)
	return ok
}

// deliver hands a reply to whoever waits for it; there is one at most.
func (l *link) deliver(to chan reply, r reply) error {
	select {
	case to <- r:
		return nil
	default:
		return errors.New("the server answered what was not asked")
	}
}

// goodbye ends the conversation and the channel.
func (l *link) goodbye() error {
	if l.shared {
		h := l.header(wire.SocketAction, 0)
		h.Flags = wire.FlagClose
		return l.sendH(h, wire.API{}, &wire.Socket{Conv: conversation, Action: wire.EndConv}, true)
	}
	h := l.header(wire.StatusData, 0)
	h.Flags = wire.FlagClose
	return l.sendH(h, wire.API{}, &wire.Status{None: true}, true)
}

// close ends the connection; the first cause stays.
func (l *link) close(err error) {
	l.once.Do(func() {
		l.err = err
		l.nc.Close()
		close(l.ended)
	})
}

// cause is why the connection has ended.
func (l *link) cause() error { return l.err }

// why prefers the cause of the end to what a write said.
func (l *link) why(err error) error {
	l.close(err)
	return l.err
}

// explain makes the error of a verb during which the connection ended.
func (l *link) explain(op, object string, ctx context.Context, err error) error {
	var r *refused
	switch {
	case errors.As(err, &r):
		return fail(op, object, r.reason, err)
	case ctx.Err() != nil:
		return fail(op, object, ConnectionBroken, context.Cause(ctx))
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	var bad *wire.Error
	if errors.As(err, &bad) {
		err = fmt.Errorf("what arrived is no client protocol: %w", err)
	}
	return fail(op, object, ConnectionBroken, err)
}
