package mq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/direct"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

const (
	// level is the protocol level that is offered: the last at which a password is not hidden by an algorithm that is not
	// public.
	level = 12
	// maxMessage is the most that a channel can carry.
	maxMessage = 100 << 20
	// room is what descriptors and options may add to a message.
	room = 64 << 10
	// defaultHeartbeat is offered when the program has no wish, and replaced by the channel's.
	defaultHeartbeat = 1
	conversation     = 1
)

// codec is that of what we write, and of what servers answer.
var codec = func() wire.Codec {
	text, _ := wire.NewText(ccsidUTF8, nil)
	return wire.Codec{Order: wire.Little, Text: text}
}()

// link is the socket below a connection, with one conversation on it. Whoever waits for something reads (read.go); a
// goroutine of the link reads while nobody does (watch.go).
type link struct {
	nc     net.Conn
	direct *direct.Conn // nil: there are only nc's ways
	w      io.Writer    // to nc, the quickest there is
	shared bool
	size   int // of a segment
	maxMsg int
	beat   time.Duration

	out    writer
	form   form // with the writer's lock
	in     reader
	role   role
	pushed pushed
	fields fields
	req    uint32 // request number of the last call; with the connection's token

	names struct { // of what was reached; set before anybody but Connect has the link
		qmgr string
		id   mqi.ID
	}

	atEnd     func(error)
	quiescing chan struct{}
	quiesce   sync.Once
	ended     chan struct{}
	once      sync.Once
	err       error          // set before ended is closed
	running   sync.WaitGroup // its goroutines
}

func (l *link) init(nc net.Conn) {
	l.nc, l.w, l.size = nc, nc, wire.DefaultTransmission
	direct.Unpaced(nc)
	if l.direct = direct.New(nc); l.direct != nil {
		l.w = l.direct
	}
	l.quiescing, l.ended = make(chan struct{}), make(chan struct{})
	l.in.init()
	l.out.init()
	l.role.init()
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

// start begins to watch.
func (l *link) start() { l.running.Go(l.watch) }

// goodbye ends the conversation and the channel.
func (l *link) goodbye() error {
	if l.shared {
		h := l.header(wire.SocketAction, 0)
		h.Flags = wire.FlagClose
		return l.sendH(h, wire.API{}, &wire.Socket{Conv: conversation, Action: wire.EndConv})
	}
	h := l.header(wire.StatusData, 0)
	h.Flags = wire.FlagClose
	return l.sendH(h, wire.API{}, &wire.Status{None: true})
}

// close ends the connection; the first cause stays.
func (l *link) close(err error) {
	l.once.Do(func() {
		l.err = err
		l.nc.Close()
		close(l.ended)
		l.in.unfollow()
		l.atEnd(err)
	})
}

// wait returns when the goroutines of a link that has been closed have ended. They never call it.
func (l *link) wait() {
	l.out.mu.Lock()
	l.out.flusher = true // none begins any more
	l.out.mu.Unlock()
	l.running.Wait()
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
	case op == "MQCONN" && refusedByTLS(err):
		return fail(op, object, SSLInitialization, err)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	var bad *wire.Error
	if errors.As(err, &bad) {
		err = fmt.Errorf("what arrived is no client protocol: %w", err)
	}
	return fail(op, object, ConnectionBroken, err)
}

// refusedByTLS reports whether the server has ended the connection by an alert. In TLS 1.3 the handshake is over for a client before
// the server has looked at its certificate.
func refusedByTLS(err error) bool {
	var o *net.OpError
	return errors.As(err, &o) && o.Op == "remote error"
}

// alive reports whether the link has not ended.
func (l *link) alive() bool {
	select {
	case <-l.ended:
		return false
	default:
		return true
	}
}
