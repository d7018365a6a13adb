package fap_test

import (
	"context"
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// unfitConn is a connection whose gets need a goroutine, as those of connection consumers do, which mark what they browse; MQCLOSE waits.
type unfitConn struct {
	fap.Conn
	closes chan struct{}
}

func (c unfitConn) Close(ctx context.Context, hobj, options int32) error {
	<-c.closes
	return c.Conn.Close(ctx, hobj, options)
}

func (unfitConn) NewWait(fap.Waker) fap.Wait { return unfitWait{} }
func (unfitConn) RunWoken(any)               {}

// unfitWait waits for nothing: its other methods are not called.
type unfitWait struct{ fap.Wait }

func (unfitWait) Get(int32, *mqi.MD, *mqi.GMO, int) ([]byte, int, fap.WaitState, error) {
	return nil, 0, fap.Unfit, nil
}

// TestUnfitRequest: a request whose gets need the conversation's goroutine is served too when that goroutine, and not the reader, is
// the first to see it, since it is still at the call before.
func TestUnfitRequest(t *testing.T) {
	m, closes := memory.New("QM1", "Q1"), make(chan struct{})
	p := start(t, m, wrapped{m, func(c fap.Conn) fap.Conn { return unfitConn{c, closes} }}, nil).client(t)
	p.startConv(3)
	p.connect(3)
	q, beside, other := p.open(1, "Q1"), p.open(1, "Q1"), p.open(3, "Q1")
	p.send(wire.MQCLOSE, 1, beside, &wire.Close{})
	p.note(1, q, wire.NoteQState, 16, false)
	p.note(1, -1, wire.NoteConnState, 2, false)
	p.request(1, q, wire.ReqSelection|wire.ReqCallback, mqi.MQGMO_NO_SYNCPOINT, 1, 0, false)
	p.open(3, "Q1") // when it is answered the request has been read
	closes <- struct{}{}
	p.want(wire.MQCLOSE.Reply())
	p.quiet()
	p.send(wire.MQPUT, 3, other, newPut("m", 0))
	got := map[wire.Type]int{}
	for range 2 {
		h, _, _ := p.recv()
		got[h.Type]++
	}
	if got[wire.AsyncMsg] != 1 || got[wire.MQPUT.Reply()] != 1 {
		t.Fatalf("received %v", got)
	}
}
