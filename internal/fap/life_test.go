package fap_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestConversations: conversations of one socket have their own handles and do not wait for each other.
func TestConversations(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Instance.ShareCnv = 2
	s := start(t, m, nil, nil)
	p := s.client(t)
	p.startConv(3)
	p.connect(3)
	q1, q3 := p.open(1, "Q1"), p.open(3, "Q1")
	p.send(wire.MQGET, 1, q1, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	p.put(3, q3, "for the other", mqi.MQPMO_SYNCPOINT)
	p.put(3, q3, "undone", mqi.MQPMO_SYNCPOINT) // conversation 1 still waits
	p.send(wire.MQCMIT, 3, 0, &wire.Empty{})
	var got string
	for i := 0; i < 2; i++ { // the answers come in either order
		h, a, b := p.recv()
		if g, ok := b.(*wire.GetReply); ok && h.Conv == 1 && a.CompCode == 0 {
			got = string(g.Data)
		}
	}
	if got != "for the other" {
		t.Errorf("got %q", got)
	}
	p.endConv(3, 0)
	eventually(t, "conversation 3 ended", func() bool { return m.Ended() == 1 })
	p.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	p.startConv(5)
	// One more than was agreed.
	p.send(wire.SocketAction, 0, 0, &wire.Socket{Conv: 7, Action: wire.StartConv})
	p.status(wire.CodeConvID)
	p.closed()
}

// TestNotify: SPI NOTIFY ends the waiting get of another conversation, and only of the same client.
func TestNotify(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	p, stranger, another, early := s.client(t), s.dial(t), s.dial(t), s.dial(t)
	id := firstID()
	id.Channel = "OTHER"
	stranger.negotiate(id)
	stranger.connect(1)
	another.user = "another"
	another.negotiate(firstID())
	another.connect(1)
	early.negotiate(firstID())
	p.startConv(3)
	conn := p.connect(3)
	q := p.open(3, "Q1")
	notify := func(p *peer) {
		p.sendH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1,
			OutLength: 12, Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED, Connection: conn}})
	}
	p.send(wire.MQGET, 3, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	for what, x := range map[string]*peer{"channel": stranger, "user": another} {
		notify(x)
		if _, a, _ := x.want(wire.SPI.Reply()); a.CompCode != 2 || a.Reason != mqi.MQRC_HCONN_ERROR {
			t.Errorf("another %s woke the get: %+v", what, a)
		}
	}
	notify(early) // the same in all, but not connected
	h, body, err := wire.ReadSegment(early.nc, 1<<20)
	codec, _ := h.Codec()
	if a, _ := wire.DecodeAPI(body, codec); err != nil || h.Type != wire.SPI.Reply() || a.Reason != mqi.MQRC_HCONN_ERROR {
		t.Errorf("a peer that has not connected: %v %v %+v", err, h.Type, a)
	}
	notify(p)
	var woken, answered bool
	for i := 0; i < 2; i++ {
		h, a, _ := p.recv()
		switch h.Type {
		case wire.SPI.Reply():
			answered = a.CompCode == 0 && h.Req == 3 && h.Conv == 1
		case wire.MQGET.Reply():
			woken = a.CompCode == 2 && a.Reason == mqi.MQRC_XWAIT_CANCELED && h.Conv == 3
		}
	}
	if !woken || !answered {
		t.Errorf("woken %v, answered %v", woken, answered)
	}
	if _, rc := p.get(3, q, mqi.MQGMO_WAIT, 20); rc != mqi.MQRC_NO_MSG_AVAILABLE { // the next get waits again
		t.Errorf("next get: %d", rc)
	}
}

// TestHeartbeats: the server answers at once, asks a silent client after the interval, and gives it up later.
func TestHeartbeats(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, clk)
	p := s.client(t)
	q := p.open(1, "Q1")
	p.send(wire.MQGET, 1, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	beat := func() {
		h, _, _ := p.want(wire.Heartbeat)
		if h.Magic != wire.TSHC || h.Flags&wire.FlagConfirm == 0 {
			t.Errorf("heartbeat %+v", h)
		}
	}
	p.sendH(p.header(wire.Heartbeat, 0, 0, wire.FlagConfirm), wire.API{}, &wire.Empty{})
	if h, _, _ := p.want(wire.Heartbeat); h.Flags != wire.FlagWhole {
		t.Errorf("answer %+v", h)
	}
	clk.Advance(300 * time.Second)
	beat()
	clk.Advance(30 * time.Second)
	if s.Sockets() != 1 {
		t.Fatal("given up too early")
	}
	clk.Advance(31 * time.Second)
	p.closed()
	eventually(t, "the get ended and its connection was broken", func() bool { return m.Ended() == 1 })
	eventually(t, "the log says why", func() bool { return strings.Contains(s.log.String(), "heartbeat") })
}

// TestBusyIsNoSilence: while the reader waits for verbs of one conversation, because too many of its messages wait for their turn, the
// peer is asked for a sign of life, and not given up for want of one that nobody listens to.
func TestBusyIsNoSilence(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	b := &slow{Manager: memory.New("QM1", "Q1"), commits: make(chan struct{})}
	s := start(t, nil, b, clk)
	p := s.client(t)
	p.startConv(3)
	p.connect(3)
	q := p.open(1, "Q1")
	before := s.Status()[0].Calls
	p.send(wire.MQCMIT, 1, 0, &wire.Empty{})
	const puts = 20
	for range puts {
		p.send(wire.MQPUT, 1, q, newPut("m", mqi.MQPMO_ASYNC_RESPONSE))
	}
	eventually(t, "no more are read", func() bool { return s.Status()[0].Calls == before+1+fap.InboxLen+1 })
	for range 3 {
		clk.Advance(300 * time.Second)
		p.want(wire.Heartbeat)
	}
	close(b.commits)
	p.want(wire.MQCMIT.Reply())
	p.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	if n := b.Depth("Q1"); n != puts {
		t.Errorf("%d messages, want %d", n, puts)
	}
	clk.Advance(300 * time.Second) // its silence begins anew
	p.want(wire.Heartbeat)
	clk.Advance(61 * time.Second)
	p.closed()
}

// TestUnsharedHeartbeats: without sharing the client hears of the server while its get waits, and only then.
func TestUnsharedHeartbeats(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := memory.New("QM1", "Q1")
	m.Instance.ShareCnv, m.Instance.Heartbeat = 0, 5
	s := start(t, m, nil, clk)
	p := s.client(t)
	q := p.open(0, "Q1")
	clk.Advance(time.Hour) // silence outside of a call is no fault, and nothing is sent
	p.send(wire.MQGET, 0, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	eventually(t, "the get waits", func() bool {
		st := s.Status()
		return len(st) == 1 && st[0].Waiting
	})
	for i := 0; i < 3; i++ {
		clk.Advance(5 * time.Second)
		if h, _, _ := p.want(wire.Heartbeat); h.Magic != wire.TSH {
			t.Errorf("heartbeat %+v", h)
		}
	}
	p.sendH(p.header(wire.StatusData, 0, 0, wire.FlagClose), wire.API{}, &wire.Status{None: true}) // goodbye
	p.closed()
}

// TestLost: what a lost client has not committed is backed out, also while it waits.
func TestLost(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, nil)
	p := s.client(t)
	q := p.open(1, "Q1")
	p.put(1, q, "kept", 0)
	p.put(1, q, "gone", mqi.MQPMO_SYNCPOINT)
	p.get(1, q, mqi.MQGMO_SYNCPOINT, 0)
	p.send(wire.MQGET, 1, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	p.nc.Close()
	eventually(t, "the connection was broken", func() bool { return m.Ended() == 1 })
	if d := m.Depth("Q1"); d != 1 {
		t.Errorf("depth %d", d)
	}
	eventually(t, "the socket is forgotten", func() bool { return s.Sockets() == 0 })
}

// TestStop: a client that waits is told that the queue manager ends, and Serve returns.
func TestStop(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, nil)
	p, idle := s.client(t), s.dial(t)
	q := p.open(1, "Q1")
	p.send(wire.MQGET, 1, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	s.Quiesce(wire.QMQuiesce)
	h, _, b := p.want(wire.SocketAction)
	if h.Magic != wire.TSHC || b.(*wire.Socket).Action != wire.QMQuiesce {
		t.Errorf("quiesce: %+v %+v", h, b)
	}
	late := s.client(t)
	if _, _, b := late.want(wire.SocketAction); b.(*wire.Socket).Action != wire.QMQuiesce {
		t.Errorf("a later client heard %+v", b)
	}
	s.stop()
	p.status(wire.CodeQMTerminating)
	p.closed()
	idle.closed()
	if m.Ended() != 2 {
		t.Errorf("%d connections were broken", m.Ended())
	}
}

// brokenConn is a connection whose puts panic.
type brokenConn struct{ fap.Conn }

func (brokenConn) Put(context.Context, int32, *mqi.MD, *mqi.PMO, []byte) error { panic("a fault") }

// TestPanic: a fault in a verb ends its socket, and no other.
func TestPanic(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, wrapped{m, func(c fap.Conn) fap.Conn { return brokenConn{c} }}, nil)
	p, other := s.client(t), s.client(t)
	p.send(wire.MQPUT, 1, p.open(1, "Q1"), newPut("x", 0))
	p.closed()
	other.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	eventually(t, "the connection was broken", func() bool { return m.Ended() == 1 })
	eventually(t, "the log has the fault", func() bool {
		return strings.Contains(s.log.String(), "a fault") && strings.Contains(s.log.String(), "AMQ6125")
	})
}

// TestLengths: large messages go in segments; one that the channel does not carry is refused, far more ends the channel.
func TestLengths(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Instance.MaxMsg = 200_000
	s := start(t, m, nil, nil)
	p := s.client(t)
	q := p.open(1, "Q1")
	text := strings.Repeat("0123456789", 20_000)
	p.put(1, q, text, 0)
	g := newGet(0, 0)
	a, b := p.call(wire.MQGET, 1, q, g)
	r := b.(*wire.GetReply)
	if a.CompCode != 1 || a.Reason != mqi.MQRC_TRUNCATED_MSG_FAILED || r.DataLength != 200_000 || len(r.Data) != 4096 {
		t.Fatalf("first get: %+v, %d of %d bytes", a, len(r.Data), r.DataLength)
	}
	g.GMO.MatchOptions, g.GMO.MsgToken, g.MaxLength = mqi.MQMO_MATCH_MSG_TOKEN, r.GMO.MsgToken, r.DataLength
	if a, b = p.call(wire.MQGET, 1, q, g); a.CompCode != 0 || string(b.(*wire.GetReply).Data) != text {
		t.Fatalf("second get: %+v", a)
	}
	if a, _ := p.call(wire.MQPUT, 1, q, newPut(text+"!", 0)); a.Reason != mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL {
		t.Errorf("a byte too many: %+v", a)
	}
	h := p.header(wire.MQPUT, 1, 0, 0)
	c, _ := h.Codec()
	wire.WriteMessage(p.nc, h, wire.Encode(nil, h.Type, wire.API{Hobj: q}, newPut(strings.Repeat(text, 3), 0), c, 0), wire.DefaultTransmission)
	p.status(wire.CodeLengthError)
}

// TestStatus: what DISPLAY CHSTATUS needs, and both ways to stop a channel.
func TestStatus(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, clk)
	p, early := s.client(t), s.dial(t)
	id := firstID()
	id.Channel = "OTHER"
	early.negotiate(id)
	early.connect(1)
	s.dial(t) // has not negotiated: no instance
	p.startConv(3)
	p.connect(3)
	clk.Advance(time.Minute)
	p.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	all := s.Status()
	if len(all) != 2 || all[0].Channel != "DEV.APP.SVRCONN" || all[1].Channel != "OTHER" {
		t.Fatalf("%+v", all)
	}
	st := all[0]
	if st.User != "app" || st.Shared != 2 || st.MaxShared != 10 || st.MaxMsg != 4<<20 || st.Heartbeat != 300*time.Second ||
		st.Product != "MQJB09040400" || st.Level != 12 || st.Calls != 3 || st.LastCall.Sub(st.Started) != time.Minute ||
		st.BytesIn < 1000 || st.BytesOut < 1000 || st.TLS != nil || st.ConnName != p.nc.LocalAddr().String() {
		t.Errorf("%+v", st)
	}
	if n := s.Stop(onChannel("DEV.APP.SVRCONN"), false); n != 1 {
		t.Errorf("%d told", n)
	}
	if _, _, b := p.want(wire.SocketAction); b.(*wire.Socket).Action != wire.StopQuiesce {
		t.Errorf("%+v", b)
	}
	p.call(wire.MQCMIT, 1, 0, &wire.Empty{}) // goes on
	if n := s.Stop(onChannel("DEV.APP.SVRCONN"), true); n != 1 {
		t.Errorf("%d stopped", n)
	}
	p.status(wire.CodeUserClosed)
	p.closed()
	eventually(t, "both connections were broken", func() bool { return m.Ended() == 2 })
	early.call(wire.MQCMIT, 1, 0, &wire.Empty{})
}

func onChannel(name string) func(*fap.Instance) bool {
	return func(i *fap.Instance) bool { return i.Channel == name }
}

// Whoever wants to know how much arrives is told of each read.
func TestArrived(t *testing.T) {
	var n atomic.Int64
	s := startWith(t, memory.New("QM1", "Q1"), fap.Options{Arrived: func() { n.Add(1) }}, nil)
	p := s.client(t)
	before := n.Load()
	if before == 0 {
		t.Error("nothing has arrived of a client that is connected")
	}
	p.open(1, "Q1")
	if n.Load() == before {
		t.Error("nothing has arrived of an MQOPEN that was answered")
	}
}
