package fap_test

import (
	"context"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// reading is a client that reads ahead, and counts what it has got as the vendor's does.
type reading struct {
	*peer
	clk    *clock.Fake
	m      *memory.Manager
	q      int32
	seen   int32
	size   int32 // of what it has not reported
	option int32
}

const aheadWindow = 100_000

func startReading(t *testing.T, options int32) *reading {
	m := memory.New("QM1", "Q1", "Q2")
	clk := clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	p := start(t, m, nil, clk).client(t)
	return &reading{peer: p, clk: clk, m: m, q: p.open(1, "Q1"), option: options}
}

// ask sends a request, with the numbers of what has arrived.
func (r *reading) ask(flags int32) {
	r.t.Helper()
	r.askLate(flags, r.seen)
}

func (r *reading) askLate(flags, seen int32) {
	r.t.Helper()
	b := &wire.Request{Hobj: r.q, Requested: aheadWindow, Received: r.size, MaxMsg: -1, Options: r.option | mqi.MQGMO_WAIT, Flags: flags,
		QueueStatus: 1, GlobalIndex: seen}
	if flags&wire.ReqSelection != 0 {
		b.Sel = &wire.Selection{Index: 1, MDVersion: 2, CCSID: 819, Encoding: 273}
	}
	h := r.header(wire.RequestMsgs, 1, 1, 0)
	if flags&wire.ReqNoWait != 0 {
		h.Req, h.Flags = 3, wire.FlagConfirm
	}
	r.size = 0
	r.sendH(h, wire.API{}, b)
}

// puts puts messages of one letter; those in capitals are persistent.
func (r *reading) puts(texts string) {
	r.t.Helper()
	for _, c := range texts {
		p := newPut(string(c), 0)
		if p.MD.Persistence = mqi.MQPER_NOT_PERSISTENT; c < 'a' {
			p.MD.Persistence = mqi.MQPER_PERSISTENT
		}
		r.send(wire.MQPUT, 1, r.q, p)
	}
}

// got checks what is sent: letters are messages, "!" tells that the window is shut, "0" and "-" that a message is there or not, and
// "." answers a put. After a persistent message the window is shut.
func (r *reading) got(want string) {
	r.t.Helper()
	for i, c := range want {
		h, a, b := r.recv()
		got := "."
		switch b := b.(type) {
		case *wire.Async:
			r.seen, r.size = b.GlobalIndex, r.size+364+int32(len(b.Data))
			got = string(b.Data)
			if shut := b.Status == wire.WindowClosed; shut != (b.MD.Persistence == mqi.MQPER_PERSISTENT) || b.Status > wire.WindowClosed {
				r.t.Errorf("%q has status %d", got, b.Status)
			}
		case *wire.Notify:
			switch {
			case b.Code == wire.NoteTxnPaused && h.Req == 1 && b.Hobj == r.q && b.Value == 0:
				got = "!"
			case b.Code == wire.NoteQStateReply && b.Value == 0:
				got = "0"
			case b.Code == wire.NoteQStateReply && b.Value == mqi.MQRC_NO_MSG_AVAILABLE:
				got = "-"
			default:
				r.t.Fatalf("notified of %+v", b)
			}
		default:
			if h.Type != wire.MQPUT.Reply() || a.CompCode != 0 {
				r.t.Fatalf("%v: %+v", h.Type, a)
			}
		}
		if got != string(c) {
			r.t.Fatalf("%q at place %d of %q", got, i, want)
		}
	}
}

func (r *reading) left(n int) {
	r.t.Helper()
	r.quiet()
	if d := r.m.Depth("Q1"); d != n {
		r.t.Fatalf("depth %d, want %d", d, n)
	}
}

const (
	firstWait = wire.ReqSelection | wire.ReqSync
	checks    = wire.ReqSync | wire.ReqNoWait // what a get ends with
)

// Nonpersistent messages are sent ahead; a persistent one when somebody waits for it, and then nothing behind it.
func TestReadAheadPersistent(t *testing.T) {
	r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
	r.puts("abCDefG")
	r.got(".......")
	r.ask(firstWait)
	r.got("ab!")
	r.left(5)
	r.ask(0) // of the window alone
	r.got("!")
	r.left(5)
	r.ask(wire.ReqSync)
	r.got("C")
	r.left(4)
	r.ask(checks)
	r.got("D0")
	r.left(3)
	r.ask(wire.ReqSync)
	r.got("ef!")
	r.left(1)
	r.ask(wire.ReqSync)
	r.got("G")
	r.ask(wire.ReqSync) // waits
	r.puts("H")
	r.got(".H")
	r.ask(wire.ReqSync)
	r.puts("i") // this is the one that is waited for
	r.got(".i")
	r.puts("J")
	r.got(".!")
	r.left(1)
}

// A get that has ended in vain waits no more; the window stays open for what may be lost.
func TestReadAheadInVain(t *testing.T) {
	r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
	r.ask(firstWait)
	r.quiet()
	r.ask(checks)
	r.got("-")
	r.puts("a")
	r.got(".a")
	r.puts("B")
	r.got(".!")
	r.left(1)
	r.ask(wire.ReqSync)
	r.got("B")
	r.ask(wire.ReqSync)
	r.ask(checks)
	r.got("-")
	r.ask(wire.ReqSync) // the vendor's client sends one more when its window was shut, and nobody waits
	r.puts("C")
	r.got(".!")
	r.left(1)
	r.ask(wire.ReqSync)
	r.got("C")
	// One that ends its requests has its messages stay.
	r.ask(checks | wire.ReqCheck)
	r.got("-")
	r.puts("d")
	r.got(".")
	r.left(1)
}

// What was sent while a request was on its way is what that has asked for.
func TestReadAheadCrossing(t *testing.T) {
	r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
	r.ask(firstWait)
	r.puts("A")
	r.got(".A")
	r.puts("BC")
	r.got("..")
	before := r.seen - 1
	r.askLate(checks, before)
	r.got("0!") // it has A; the note is for who looks next
	r.left(2)
	r.ask(wire.ReqSync)
	r.got("B")
	r.left(1)
	r.askLate(wire.ReqSync, before)
	r.got("!")
	r.left(1)
	r.askLate(wire.ReqSync, before) // it does not count
	r.got("C")
}

// A client that takes no notice is told again, ever less often.
func TestReadAheadTold(t *testing.T) {
	r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
	r.puts("A")
	r.got(".")
	r.ask(wire.ReqSelection)
	r.got("!")
	for _, d := range []time.Duration{50, 100, 200} {
		r.clk.Advance((d - 1) * time.Millisecond)
		r.quiet()
		r.clk.Advance(time.Millisecond)
		r.got("!")
	}
	r.ask(wire.ReqSync)
	r.got("A")
	r.clk.Advance(30 * time.Second) // heartbeats are rarer
	r.quiet()
}

// It is told again also while the conversation's goroutine waits for messages of another handle.
func TestReadAheadToldBeside(t *testing.T) {
	r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
	r.puts("A")
	r.got(".")
	r.ask(wire.ReqSelection)
	r.got("!")
	held := r.q
	r.q = r.open(1, "Q2")
	r.ask(firstWait)
	r.quiet()
	r.q = held
	for _, d := range []time.Duration{50, 100} {
		r.clk.Advance(d * time.Millisecond)
		r.got("!")
	}
	r.ask(wire.ReqSync)
	r.got("A")
}

// Who has taken no notice, and waits, can still be woken.
func TestReadAheadToldWake(t *testing.T) {
	for _, waiter := range []bool{false, true} {
		b := &slow{Manager: memory.New("QM1", "Q1")}
		if waiter {
			b.waits = &fakeWait{held: true}
		}
		clk := clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
		p := start(t, nil, b, clk).client(t)
		p.startConv(3)
		conn := p.connect(3)
		r := &reading{peer: p, clk: clk, m: b.Manager, q: p.open(1, "Q1")}
		r.puts("A")
		r.got(".")
		q := p.open(3, "Q1")
		p.sendH(p.header(wire.RequestMsgs, 3, 1, 0), wire.API{}, &wire.Request{Hobj: q, Requested: aheadWindow, MaxMsg: -1,
			Flags: wire.ReqSelection, Sel: &wire.Selection{Index: 1, MDVersion: 2, CCSID: 819, Encoding: 273}})
		p.want(wire.Notification)
		p.quiet()
		p.sendH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1,
			OutLength: 12, Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED, Connection: conn}})
		for woken, answered := false, false; !woken || !answered; {
			switch h, _, b := p.recv(); {
			case h.Type == wire.SPI.Reply():
				answered = true
			case h.Type == wire.AsyncMsg && b.(*wire.Async).Reason == mqi.MQRC_XWAIT_CANCELED:
				woken = true
			default:
				t.Fatalf("%+v", b)
			}
		}
		r.left(1)
	}
}

// It is told again also while an MQGET waits.
func TestReadAheadToldWhileMQGET(t *testing.T) {
	b := &slow{Manager: memory.New("QM1", "Q1", "Q2"), waits: &fakeWait{held: true}}
	clk := clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	p := start(t, nil, b, clk).client(t)
	r := &reading{peer: p, clk: clk, m: b.Manager, q: p.open(1, "Q1")}
	q2 := p.open(1, "Q2")
	r.ask(wire.ReqSelection)
	r.got("!")
	p.send(wire.MQGET, 1, q2, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	r.quiet()
	for _, d := range []time.Duration{50, 100} {
		r.clk.Advance(d * time.Millisecond)
		r.got("!")
	}
}

// A listener is sent a persistent message when it has nothing more.
func TestReadAheadListener(t *testing.T) {
	r := startReading(t, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT)
	r.puts("aBC")
	r.got("...")
	r.ask(wire.ReqSelection | wire.ReqCallback)
	r.note(1, -1, wire.NoteConnState, 2, false)
	r.got("a!")
	r.ask(0)
	r.got("!")
	r.ask(wire.ReqCallback)
	r.got("B")
	r.left(1)
	r.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	r.quiet()
	r.ask(wire.ReqCallback)
	r.got("C")
}

// When it is told that its queue gives messages again, and then that its window is closed, its next request counts, though it is the
// same once more.
func TestReadAheadListenerAgain(t *testing.T) {
	r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
	r.note(1, -1, wire.NoteConnState, 2, false)
	r.ask(wire.ReqSelection | wire.ReqCallback)
	r.puts("a")
	r.got(".a")
	r.ask(0) // of the window alone
	set := func(inhibit int32, code wire.Note) {
		t.Helper()
		r.send(wire.MQSET, 1, r.q, &wire.Attrs{Selectors: []int32{mqi.MQIA_INHIBIT_GET}, IntCount: 1, Ints: []int32{inhibit}, Values: true})
		r.want(wire.MQSET.Reply())
		if _, _, b := r.want(wire.Notification); b.(*wire.Notify).Code != code {
			t.Fatalf("told %+v", b)
		}
	}
	set(mqi.MQQA_GET_INHIBITED, wire.NoteGetInhibited)
	set(mqi.MQQA_GET_ALLOWED, wire.NoteGetAllowed)
	r.puts("B")
	r.got(".!")
	r.left(1)
	r.ask(wire.ReqCallback)
	r.got("B")
}

// In a unit of work every message waits until it is asked for: the commit of the one before would take it along.
func TestReadAheadSyncpoint(t *testing.T) {
	r := startReading(t, mqi.MQGMO_SYNCPOINT)
	r.puts("ab")
	r.got("..")
	r.ask(firstWait)
	if _, _, b := r.want(wire.AsyncMsg); b.(*wire.Async).Status != wire.WindowClosed {
		t.Errorf("%+v", b)
	}
	r.seen = 1
	r.left(1)
	r.ask(0)
	r.got("!")
	r.left(1)
}

// Who browses reads ahead as before: messages stay.
func TestReadAheadBrowse(t *testing.T) {
	r := startReading(t, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_BROWSE_NEXT)
	r.puts("AB")
	r.got("..")
	r.ask(firstWait)
	for range 2 {
		if _, _, b := r.want(wire.AsyncMsg); b.(*wire.Async).Status != 0 {
			t.Errorf("%+v", b)
		}
	}
	r.left(2)
}

// What a conversation was to look at later ends with it, or with its handle: the timers that keep it in memory too.
func TestReadAheadEnds(t *testing.T) {
	for how, end := range map[string]func(r *reading){
		"MQCLOSE": func(r *reading) { r.call(wire.MQCLOSE, 1, r.q, &wire.Close{}) },
		"MQDISC":  func(r *reading) { r.call(wire.MQDISC, 1, 0, &wire.Empty{}) },
		"END_CONV": func(r *reading) {
			r.startConv(3)
			r.endConv(1, 0)
		},
		"the socket": func(r *reading) {
			r.sendH(r.header(wire.StatusData, 0, 0, wire.FlagClose), wire.API{}, &wire.Status{None: true})
		},
	} {
		r := startReading(t, mqi.MQGMO_NO_SYNCPOINT)
		before := r.clk.Timers()
		r.puts("A")
		r.got(".")
		r.ask(wire.ReqSelection)
		r.got("!")
		for _, d := range []time.Duration{50, 100, 200, 400} {
			r.clk.Advance(d * time.Millisecond)
			r.got("!")
		}
		if n := r.clk.Timers(); n != before+1 {
			t.Errorf("%s: %d timers, %d before", how, n, before)
		}
		end(r)
		eventually(t, how+": its timers have ended", func() bool { return r.clk.Timers() <= before })
	}
}

// inhibit sets GET of the queue by another connection.
func (r *reading) inhibit(q *peer, hobj, value int32) {
	r.t.Helper()
	q.call(wire.MQSET, 1, hobj, &wire.Attrs{Selectors: []int32{mqi.MQIA_INHIBIT_GET}, IntCount: 1, Ints: []int32{value}, Values: true})
}

// A get that waits ends when its queue gives nothing any more. The window is closed then, since a client that takes it for open asks
// for nothing, and would wait in silence until its time is up; the next get hears the reason at once, or has its message.
func TestReadAheadInhibited(t *testing.T) {
	m := memory.New("QM1", "Q1")
	clk := clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	s := start(t, m, nil, clk)
	p, other := s.client(t), s.client(t)
	r := &reading{peer: p, clk: clk, m: m, q: p.open(1, "Q1"), option: mqi.MQGMO_NO_SYNCPOINT}
	hobj := other.open(1, "Q1")
	refused := func() {
		t.Helper()
		_, _, b := p.want(wire.AsyncMsg)
		a := b.(*wire.Async)
		if a.Reason != mqi.MQRC_GET_INHIBITED || len(a.Data) > 0 {
			t.Fatalf("%+v", a)
		}
		r.seen = a.GlobalIndex
	}
	r.ask(firstWait)
	p.quiet()
	r.inhibit(other, hobj, mqi.MQQA_GET_INHIBITED)
	refused()
	r.got("!")
	r.ask(wire.ReqSync)
	refused()
	r.got("!")
	r.ask(checks) // which another get ends with
	refused()
	if _, _, b := p.want(wire.Notification); b.(*wire.Notify).Value != mqi.MQRC_GET_INHIBITED {
		t.Errorf("%+v", b)
	}
	r.got("!")
	r.inhibit(other, hobj, mqi.MQQA_GET_ALLOWED)
	other.put(1, hobj, "a", 0)
	r.left(1)
	r.ask(wire.ReqSync)
	r.got("a")
	r.left(0) // and the window is open, for nobody
	r.inhibit(other, hobj, mqi.MQQA_GET_INHIBITED)
	r.got("!") // who comes next asks
	r.left(0)
}

// So it is without read ahead.
func TestStreamedInhibited(t *testing.T) {
	m := memory.New("QM1", "Q1")
	clk := clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	s := start(t, m, nil, clk)
	p, other := s.client(t), s.client(t)
	r := &reading{peer: p, q: p.open(1, "Q1")}
	hobj := other.open(1, "Q1")
	for range 2 {
		p.request(1, r.q, firstWait, mqi.MQGMO_WAIT, 1, 0, false)
		p.quiet()
		r.inhibit(other, hobj, mqi.MQQA_GET_INHIBITED)
		if _, _, b := p.want(wire.AsyncMsg); b.(*wire.Async).Reason != mqi.MQRC_GET_INHIBITED {
			t.Fatalf("%+v", b)
		}
		clk.Advance(5 * time.Second)
		p.quiet()
		r.inhibit(other, hobj, mqi.MQQA_GET_ALLOWED)
	}
}

// stoppableConn is a connection whose gets that wait end when it is stopped.
type stoppableConn struct {
	fap.Conn
	stop chan struct{}
}

func (c *stoppableConn) Get(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, limit int) ([]byte, int, error) {
	if gmo.Options&mqi.MQGMO_WAIT != 0 {
		select {
		case <-c.stop:
			return nil, 0, mqi.E("MQGET", "", mqi.MQRC_CONNECTION_BROKEN)
		case <-ctx.Done():
		}
	}
	return c.Conn.Get(ctx, hobj, md, gmo, limit)
}

// A connection that is stopped while its get waits takes the other conversations of its socket along only if it has a listener, which
// could not be told.
func TestStreamedStopped(t *testing.T) {
	for _, listener := range []bool{false, true} {
		stop := make(chan struct{})
		p := start(t, nil, wrapped{memory.New("QM1", "Q1"), func(c fap.Conn) fap.Conn { return &stoppableConn{c, stop} }}, nil).client(t)
		p.startConv(3)
		p.connect(3)
		q := p.open(3, "Q1")
		flags := int32(firstWait)
		if listener {
			flags = wire.ReqSelection | wire.ReqCallback
			p.note(3, -1, wire.NoteConnState, 2, false)
		}
		p.request(3, q, flags, mqi.MQGMO_WAIT, 1, 0, false)
		p.quiet()
		close(stop)
		if listener {
			p.closed()
			continue
		}
		if h, _, r := p.want(wire.AsyncMsg); h.Conv != 3 || r.(*wire.Async).Reason != mqi.MQRC_CONNECTION_BROKEN {
			t.Errorf("%+v, %+v", h, r)
		}
		if a, _ := p.call(wire.MQCMIT, 1, 0, &wire.Empty{}); a.CompCode != 0 {
			t.Errorf("the other conversation: %+v", a)
		}
	}
}
