package fap_test

import (
	"context"
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// promptConn is a connection whose gets are over at once, and need no goroutine.
type promptConn struct {
	fap.Conn
	ended bool
}

func (c *promptConn) Disconnect(ctx context.Context) error {
	c.ended = true
	return c.Conn.Disconnect(ctx)
}

func (c *promptConn) NewWait(fap.Waker) fap.Wait { return promptWait{c: c} }
func (*promptConn) RunWoken(any)                 {}

type promptWait struct {
	fap.Wait
	c *promptConn
}

func (w promptWait) Get(hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) ([]byte, int, fap.WaitState, error) {
	if w.c.ended {
		return nil, 0, fap.Over, mqi.E("MQGET", "", mqi.MQRC_HCONN_ERROR)
	}
	body, total, err := w.c.Get(context.Background(), hobj, md, gmo, max)
	return body, total, fap.Over, err
}

// TestConnectedAgain: a conversation may connect again after MQDISC, and its gets are those of the new connection.
func TestConnectedAgain(t *testing.T) {
	p := start(t, nil, wrapped{memory.New("QM1", "Q1"), func(c fap.Conn) fap.Conn { return &promptConn{Conn: c} }}, nil).client(t)
	for range 2 {
		q := p.open(1, "Q1")
		p.call(wire.MQPUT, 1, q, newPut("m", 0))
		if text, rc := p.get(1, q, mqi.MQGMO_NO_SYNCPOINT, 0); text != "m" {
			t.Fatalf("MQGET: %q, %d", text, rc)
		}
		p.send(wire.MQDISC, 1, 0, &wire.Empty{})
		if a := p.refusal(wire.MQDISC.Reply()); a.CompCode != 0 {
			t.Fatalf("MQDISC: %+v", a)
		}
		p.connect(1)
	}
}

// unclosedConn is a connection whose queues cannot be closed at first.
type unclosedConn struct {
	fap.Conn
	tried bool
}

func (c *unclosedConn) Close(ctx context.Context, hobj, options int32) error {
	if !c.tried {
		c.tried = true
		return mqi.E("MQCLOSE", "Q1", mqi.MQRC_Q_NOT_EMPTY)
	}
	return c.Conn.Close(ctx, hobj, options)
}

// TestNotClosed: an MQCLOSE that fails ends what was asked for, and no more: the next request may refer to its selection.
func TestNotClosed(t *testing.T) {
	p := start(t, nil, wrapped{memory.New("QM1", "Q1"), func(c fap.Conn) fap.Conn { return &unclosedConn{Conn: c} }}, nil).client(t)
	in, out := p.open(1, "Q1"), p.open(1, "Q1")
	p.request(1, in, wire.ReqSelection, mqi.MQGMO_NO_SYNCPOINT, 1, 0, false)
	close := func() int32 {
		p.send(wire.MQCLOSE, 1, in, &wire.Close{})
		return p.refusal(wire.MQCLOSE.Reply()).Reason
	}
	if rc := close(); rc != mqi.MQRC_Q_NOT_EMPTY {
		t.Fatal(rc)
	}
	p.put(1, out, "m", 0)
	p.quiet()
	p.request(1, in, wire.ReqSync, mqi.MQGMO_NO_SYNCPOINT, 1, 0, false)
	p.message("m", 1, 1)
	if rc := close(); rc != 0 {
		t.Fatal(rc)
	}
}
