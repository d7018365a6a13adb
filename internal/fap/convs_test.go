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
