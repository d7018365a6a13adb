package fap_test

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestConversationsChurn: on a socket that is full a conversation ends and another starts at once, under the same id or a new
// one, thousands of times. The socket's other conversation goes on, and nothing of an old conversation goes out under its id
// when that is another's.
func TestConversationsChurn(t *testing.T) {
	m := memory.New("QM1", "Q1", "EMPTY")
	m.Instance.ShareCnv = 2
	s := start(t, m, nil, nil)
	p := s.client(t)
	q := p.open(1, "Q1")
	const turns = 3000
	id, crossed := uint32(3), 0
	for i := range turns {
		p.send(wire.SocketAction, 0, 0, &wire.Socket{Conv: id, Action: wire.StartConv, Parm1: 1, Parm2: 2})
		h, _, b := p.recv()
		for h.Type != wire.StatusData { // an answer that was on its way when the conversation ended
			if h.Conv == 1 {
				t.Fatalf("turn %d: %v on conversation 1", i, h.Type)
			}
			crossed++
			h, _, b = p.recv()
		}
		if st := b.(*wire.Status); h.Conv != id || st.Code != 0 || h.Flags&wire.FlagClose != 0 {
			t.Fatalf("turn %d: START_CONV answered by %+v %+v", i, h, b)
		}
		p.connect(id) // the next that comes is its answer, and no late one of the old conversation
		switch i % 4 {
		case 0:
			p.send(wire.MQCMIT, id, 0, &wire.Empty{}) // its answer and END_CONV cross
		case 1:
			e := p.open(id, "EMPTY")
			p.send(wire.MQGET, id, e, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
		case 2:
			p.call(wire.MQDISC, id, 0, &wire.Empty{})
		}
		p.endConv(id, 0)
		p.send(wire.Notification, id, 0, &wire.Notify{}) // late: it disturbs nobody
		if i%4 != 0 && i%100 < 4 {
			p.put(1, q, "still here", 0)
		}
		if i%3 == 0 {
			id += 2
		}
	}
	eventually(t, "all have cleaned up", func() bool { return m.Ended() >= turns*3/4 }) // but those that have disconnected
	if d := m.Depth("Q1"); d != 3*turns/100 {
		t.Errorf("%d messages of the conversation that stayed", d)
	}
	t.Logf("%d answers crossed the end of their conversation", crossed)
}

// ask is a START_CONV whose answer is not waited for.
func (p *peer) ask(conv uint32) {
	p.t.Helper()
	p.send(wire.SocketAction, 0, 0, &wire.Socket{Conv: conv, Action: wire.StartConv, Parm1: 1, Parm2: 2})
}

// refuseConn is an MQCONN that is refused.
func (p *peer) refuseConn(conv uint32) {
	p.t.Helper()
	a, _ := p.call(wire.MQCONN, conv, 0, &wire.Conn{QMgr: "OTHER", ApplName: "test", ApplType: 28, Version: 4})
	if a.Reason != mqi.MQRC_Q_MGR_NAME_ERROR {
		p.t.Fatalf("MQCONN: %+v", a)
	}
}

// started takes the answer to a START_CONV.
func (p *peer) started(conv uint32) {
	p.t.Helper()
	if h, _, b := p.want(wire.StatusData); h.Magic != wire.TSHM || h.Conv != conv || b.(*wire.Status).Code != 0 {
		p.t.Fatalf("START_CONV of %d answered by %+v %+v", conv, h, b)
	}
}

// TestConversationsBeforeTheFirstConnects: the threads of a program that connect at once share a socket on which nobody has connected
// yet. Their conversations start when the first has connected, or in its place when it is gone.
func TestConversationsBeforeTheFirstConnects(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	p := s.dial(t)
	p.negotiate(firstID())
	for _, id := range []uint32{3, 5, 7} {
		p.ask(id)
	}
	p.endConv(5, 0) // given up before it began
	p.connect(1)    // the next that comes is its answer
	p.started(3)
	p.started(7)
	p.connect(7)
	p.connect(3)
	p.put(3, p.open(3, "Q1"), "x", 0)

	p = s.dial(t) // the first is gone without having connected: one takes its place, and then the others
	p.negotiate(firstID())
	p.ask(3)
	p.ask(5)
	p.ask(7)
	p.endConv(1, 0)
	p.started(3)
	p.endConv(3, 0)
	p.started(5)
	p.connect(5)
	p.started(7)

	p = s.dial(t) // the first was refused, and ends only when the others have been answered, as with the Java client
	p.negotiate(firstID())
	p.ask(3)
	p.ask(5)
	p.refuseConn(1)
	p.started(3)
	p.refuseConn(3)
	p.started(5)
	p.endConv(1, 0)
	p.ask(7)
	p.connect(5)
	p.started(7)
	p.connect(3)

	p = s.dial(t) // no more than were agreed, those that wait included
	id := firstID()
	id.Convs = 3
	p.negotiate(id)
	p.ask(3)
	p.ask(5)
	p.ask(7)
	p.status(wire.CodeConvID)
	p.closed()
	p = s.dial(t) // and none twice
	p.negotiate(firstID())
	p.ask(3)
	p.ask(3)
	p.status(wire.CodeConvID)
	p.closed()
}

// TestRefusalsOfASocket: who tries passwords gets no more tries by ending one conversation and starting the next.
func TestRefusalsOfASocket(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	p := s.dial(t)
	p.negotiate(firstID())
	for i := range 10 {
		id := uint32(2*i + 1)
		p.refuseConn(id)
		if i == 9 {
			break
		}
		p.ask(id + 2)
		p.endConv(id, 0)
		p.started(id + 2)
	}
	p.closed()
}
