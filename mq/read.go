package mq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// readBuffer is the first size of the buffer that is read into, readMost what a busy one grows to.
const (
	readBuffer = 8 << 10
	readMost   = 64 << 10
)

// reader is the receiving half of a link. It belongs to whoever has the role of the reader.
type reader struct {
	b    []byte
	r, w int // what has arrived and is not used yet
	asm  wire.Assembler

	bulk     bool      // the last read brought much
	heard    bool      // something has arrived since silent was set
	asked    bool      // the server was asked for a sign of life
	silent   time.Time // by then something must have arrived
	deadline time.Time // of the socket, unless moved
	moved    bool

	mu     sync.Mutex
	done   <-chan struct{} // of the context whose end wakes the reader
	forget func() bool
}

func (in *reader) init() {
	in.b = make([]byte, readBuffer)
	in.asm.Max = room
	in.heard = true
}

// segment is one whole message, or a part of one that was pushed.
type segment struct {
	h    wire.Header
	body []byte
	own  bool // body is memory of its own; else it lies in the read buffer, and is good until the next read
}

// decode reads any segment. What it returns is kept.
func (s *segment) decode(l *link) (wire.API, wire.Body, error) {
	c := codec
	if !s.h.Plain() {
		var ok bool
		if c, ok = s.h.Codec(); !ok {
			return wire.API{}, nil, fmt.Errorf("the server wrote in code page %d, which is not known", s.h.CCSID)
		}
	}
	if s.h.Type.IsCallReply() && len(s.body) == sizeAPI { // of a call that failed there may be no more
		a, err := wire.DecodeAPI(s.body, c)
		return a, &wire.Empty{}, err
	}
	return wire.Decode(s.h.Type, s.kept(), c)
}

// kept is the body in memory of its own.
func (s *segment) kept() []byte {
	if !s.own {
		s.body, s.own = append(make([]byte, 0, len(s.body)), s.body...), true
	}
	return s.body
}

var (
	errSilent = errors.New("the server has gone silent")
	errLate   = errors.New("nothing has come in time")
)

// next returns the next message. It waits until the time given, if there is one, and as long as ctx lasts; the errors of these
// two leave the link good.
func (l *link) next(ctx context.Context, until time.Time) (segment, error) {
	in := &l.in
	for {
		h, body, size, whole, err := wire.CutSegment(in.b[in.r:in.w], max(l.size, wire.DefaultTransmission))
		if err != nil {
			return segment{}, err
		}
		if !whole {
			if err := l.fill(ctx, until, size); err != nil {
				return segment{}, err
			}
			continue
		}
		in.r += size
		if h.Type == wire.AsyncMsg { // whose parts have a layout of their own
			return segment{h: h, body: body}, nil
		}
		one := h.Flags&wire.FlagWhole == wire.FlagWhole
		msg, done, err := in.asm.Add(h, body)
		if err != nil {
			return segment{}, err
		}
		if done {
			return segment{h: h, body: msg, own: !one}, nil
		}
	}
}

// ready reports whether a whole segment has been read, and the size of the one that has begun.
func (l *link) ready() (whole bool, size int, err error) {
	in := &l.in
	_, _, size, whole, err = wire.CutSegment(in.b[in.r:in.w], max(l.size, wire.DefaultTransmission))
	return whole, size, err
}

// fill reads something. need is the size of the segment that has begun.
func (l *link) fill(ctx context.Context, until time.Time, need int) error {
	in := &l.in
	in.makeRoom(need)
	for {
		if err := l.arm(until); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := l.receive(in.b[in.w:])
		if n > 0 {
			in.w += n
			in.bulk = n >= bulkRead
			in.heard, in.asked = true, false
			return nil
		}
		var ne net.Error
		if !errors.As(err, &ne) || !ne.Timeout() {
			if err != nil {
				return err
			}
			continue
		}
		if err := l.late(ctx, until); err != nil {
			return err
		}
	}
}

// calls counts the verbs of the process that are to be answered at once, by whatever server.
var calls atomic.Int32

// bulkRead is how much a read has to bring to be followed by others that bring much.
const bulkRead = 8 << 10

// receive reads what is there, or waits for it. When more verbs are under way than the processors can be busy with, the others have
// their turn first: by then the server has often answered, which costs less than to go to sleep for it and to be woken. Then, and
// while much comes, the read goes past the runtime (package direct). Otherwise its own way is the quicker one.
func (l *link) receive(b []byte) (int, error) {
	switch {
	case l.direct == nil:
	case int(calls.Load()) > 2*runtime.GOMAXPROCS(0):
		runtime.Gosched()
		return l.direct.Read(b)
	case l.in.bulk:
		return l.direct.Read(b)
	}
	return l.nc.Read(b)
}

// late says what a timeout means: the end of a wait, a silent server, or nothing for the one who reads now.
func (l *link) late(ctx context.Context, until time.Time) error {
	in := &l.in
	in.moved = true // if a context woke us
	now := time.Now()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !until.IsZero() && !now.Before(until):
		return errLate
	case !l.beats() || now.Before(in.silent):
		return nil
	case in.asked:
		return errSilent
	}
	in.asked, in.silent = true, now.Add(l.beat)
	h := l.header(wire.Heartbeat, 0)
	h.Flags = wire.FlagConfirm
	return l.sendH(h, wire.API{}, &wire.Empty{})
}

func (l *link) beats() bool { return l.beat > 0 && l.shared }

// arm sets the deadline of the socket for a read. It is set anew only when it has to be.
func (l *link) arm(until time.Time) error {
	in := &l.in
	d := until
	if l.beats() {
		if now := time.Now(); in.heard && in.silent.Sub(now) < l.beat-l.beat/4 {
			in.silent, in.heard = now.Add(l.beat), false
		}
		if d.IsZero() || in.silent.Before(d) {
			d = in.silent
		}
	}
	if d.Equal(in.deadline) && !in.moved {
		return nil
	}
	in.deadline, in.moved = d, false
	return l.nc.SetReadDeadline(d)
}

// makeRoom makes place for what is read next. The buffer grows while it is read full, so that a busy link reads seldom.
func (in *reader) makeRoom(need int) {
	full := in.w == len(in.b)
	in.w = copy(in.b, in.b[in.r:in.w])
	in.r = 0
	size := len(in.b)
	if full && size < readMost {
		size *= 2
	}
	if size = max(size, need); size > len(in.b) {
		in.b = append(make([]byte, 0, size), in.b[:in.w]...)[:size]
	}
}

// follow has the end of ctx wake the reader. The last context stays followed: programs use the same one again and again.
func (l *link) follow(ctx context.Context) {
	in := &l.in
	done := ctx.Done()
	in.mu.Lock()
	defer in.mu.Unlock()
	select {
	case <-l.ended:
		return
	default:
	}
	if done == nil || done == in.done {
		return
	}
	if in.forget != nil {
		in.forget()
		in.forget = nil
	}
	in.done = done
	in.forget = context.AfterFunc(ctx, func() { l.nc.SetReadDeadline(past) })
}

var past = time.Unix(1, 0)

// unfollow forgets the context at the end.
func (in *reader) unfollow() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.forget != nil {
		in.forget()
		in.forget, in.done = nil, nil
	}
}
