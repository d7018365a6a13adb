package fap_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestBeforeConnect: a peer that has not connected gets one conversation, and no room for more than small messages.
func TestBeforeConnect(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	p := s.dial(t)
	p.negotiate(firstID())
	p.send(wire.MQPUT, 1, 1, newPut(strings.Repeat("x", 60_000), 0))
	p.status(wire.CodeLengthError)
	p.closed()

	p = s.dial(t) // nor for one large segment
	p.negotiate(firstID())
	p.send(wire.MQPUT, 1, 1, newPut(strings.Repeat("x", 20_000), 0))
	p.status(wire.CodeLengthError)
	p.closed()

	p = s.client(t) // connected, it has both
	p.startConv(3)
	q := p.open(1, "Q1")
	p.put(1, q, strings.Repeat("x", 200_000), 0)
	eventually(t, "the others are forgotten", func() bool { return s.Sockets() == 1 })
}

// TestDisconnectInterval: DISCINT ends an instance without calls, and none whose get waits; a heartbeat is no call.
func TestDisconnectInterval(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := memory.New("QM1", "Q1")
	m.Instance.Heartbeat, m.Instance.Disconnect = 100_000, time.Minute
	s := start(t, m, nil, clk)
	idle, busy := s.client(t), s.client(t)
	q := busy.open(1, "Q1")
	clk.Advance(40 * time.Second)
	idle.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	busy.send(wire.MQGET, 1, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	eventually(t, "the get waits", func() bool {
		for _, st := range s.Status() {
			if st.Waiting {
				return true
			}
		}
		return false
	})
	clk.Advance(40 * time.Second) // 40 s after the last call
	idle.sendH(idle.header(wire.Heartbeat, 0, 0, wire.FlagConfirm), wire.API{}, &wire.Empty{})
	idle.want(wire.Heartbeat)
	clk.Advance(21 * time.Second)
	idle.status(wire.CodeUserClosed)
	idle.closed()
	clk.Advance(time.Hour)
	putter := s.client(t)
	putter.put(1, putter.open(1, "Q1"), "late", 0)
	if _, _, b := busy.want(wire.MQGET.Reply()); string(b.(*wire.GetReply).Data) != "late" {
		t.Errorf("%+v", b)
	}
	eventually(t, "the log says why", func() bool { return strings.Contains(s.log.String(), "AMQ9545I") })
}

// TestRefusalFlood: of many refusals of one kind ten are written in a minute, and then how many there were.
func TestRefusalFlood(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := memory.New("QM1", "Q1")
	m.Refuse = map[string]error{"FULL": &fap.Refusal{Code: wire.CodeChannelUnavailable, ID: "AMQ9489E", Err: fmt.Errorf("no room")}}
	s := start(t, m, nil, clk)
	id := firstID()
	id.Channel = "FULL"
	for range 25 {
		p := s.dial(t)
		p.sendH(p.header(wire.InitialData, 0, 0, wire.FlagConfirm), wire.API{}, id)
		p.status(wire.CodeChannelUnavailable)
		p.closed()
	}
	eventually(t, "all have ended", func() bool { return s.Sockets() == 0 })
	if n := strings.Count(s.log.String(), "AMQ9489E"); n != 10 {
		t.Errorf("%d of 25 refusals written:\n%s", n, s.log)
	}
	clk.Advance(time.Minute)
	if log := s.log.String(); !strings.Contains(log, `"left_out":15`) {
		t.Errorf("no word of the others:\n%.2000s", log)
	}
}

// TestAgenda: sockets come and go while others are due; each is looked at in its time.
func TestAgenda(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	m := memory.New("QM1", "Q1")
	m.Instance.Heartbeat = 5
	s := start(t, m, nil, clk)
	const n = 20
	var all []*peer
	for range n {
		all = append(all, s.client(t))
		clk.Advance(100 * time.Millisecond)
	}
	for i := 0; i < n; i += 2 {
		all[i].nc.Close()
	}
	eventually(t, "half are gone", func() bool { return s.Sockets() == n/2 })
	clk.Advance(5 * time.Second)
	for i := 1; i < n; i += 2 {
		if h, _, _ := all[i].want(wire.Heartbeat); h.Flags&wire.FlagConfirm == 0 {
			t.Errorf("heartbeat %+v", h)
		}
	}
	clk.Advance(6 * time.Second) // nobody answered
	eventually(t, "the silent ones are gone", func() bool { return s.Sockets() == 0 })
	if bytes.Count([]byte(s.log.String()), []byte("AMQ9259E")) == 0 {
		t.Error("nothing in the log")
	}
}
