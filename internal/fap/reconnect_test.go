package fap_test

import (
	"context"
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestReconnect: clients that asked for automatic reconnection lose their connection without a word, others keep it.
func TestReconnect(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	stays, goes := s.client(t), s.dial(t)
	goes.negotiate(firstID())
	a, _ := goes.call(wire.MQCONN, 1, 0, &wire.Conn{QMgr: "QM1", ApplName: "test", ApplType: 28, Version: 4,
		XOptions: mqi.MQCNO_RECONNECT})
	if a.CompCode != 0 {
		t.Fatalf("MQCONN: %+v", a)
	}
	if n := s.Reconnect(); n != 1 {
		t.Errorf("%d connections broken, want 1", n)
	}
	goes.closed()
	if a, _ := stays.call(wire.MQCMIT, 1, 0, &wire.Empty{}); a.CompCode != 0 {
		t.Errorf("the other client: %+v", a)
	}
}

// xaConn takes part in global units of work, keeps subscriptions, and remembers what it was asked.
type xaConn struct {
	fap.Conn
	asked []wire.Type
	flags int32
	info  string
	xid   wire.XID
	sd    mqi.SD
}

func (c *xaConn) XA(_ context.Context, verb wire.Type, info string, x wire.XID, flags int32) int32 {
	c.asked, c.info, c.xid, c.flags = append(c.asked, verb), info, x, flags
	if verb == wire.XAPrepare {
		return 3
	}
	return 0
}

func (c *xaConn) XARecover(_ context.Context, max, flags int32) ([]wire.XID, int32) {
	c.flags = flags
	return []wire.XID{{Format: max, Global: []byte("gtrid"), Branch: []byte{0, 255}}}, 0
}

func (c *xaConn) Subscribe(_ context.Context, sd *mqi.SD, _ int32) (queue, hsub int32, err error) {
	c.sd = *sd
	return 7, 8, nil
}

func (c *xaConn) SubRequest(context.Context, int32, int32, *mqi.SRO) error { return nil }

// xaBackend gives every client the same xaConn.
type xaBackend struct {
	*memory.Manager
	conn *xaConn
}

func (b *xaBackend) Connect(ctx context.Context, r fap.ConnectRequest) (fap.Conn, error) {
	c, err := b.Manager.Connect(ctx, r)
	b.conn.Conn = c
	return b.conn, err
}

// TestXA: XA verbs reach the connection with branch and flags, and their return values come back in the header.
func TestXA(t *testing.T) {
	m := memory.New("QM1", "Q1")
	b := &xaBackend{Manager: m, conn: &xaConn{}}
	p := start(t, m, b, nil).client(t)
	call := func(verb wire.Type, flags int32, body wire.Body) (wire.API, wire.Body) {
		h := p.header(verb, 1, 0, 0)
		p.sendH(h, wire.API{Reason: flags, Hobj: 5}, body)
		_, a, r := p.want(verb + wire.ReplyOffset)
		if a.Hobj != 5 || a.Reason != flags {
			t.Errorf("%v: the reply has rmid %d and flags %#x", verb, a.Hobj, a.Reason)
		}
		return a, r
	}
	if a, _ := call(wire.XAOpen, 0, &wire.XAInfo{Info: "QM1"}); a.CompCode != 0 || b.conn.info != "QM1" {
		t.Errorf("open %+v, %q", a, b.conn.info)
	}
	x := wire.XID{Format: 9, Global: []byte("g"), Branch: []byte("b")}
	if a, _ := call(wire.XAStart, 0x200000, &wire.XABranch{XID: x}); a.CompCode != 0 || b.conn.flags != 0x200000 ||
		string(b.conn.xid.Global) != "g" || string(b.conn.xid.Branch) != "b" || b.conn.xid.Format != 9 {
		t.Errorf("start %+v, %+v", a, b.conn)
	}
	if a, _ := call(wire.XAPrepare, 0, &wire.XABranch{XID: x}); a.CompCode != 3 {
		t.Errorf("prepare %+v", a)
	}
	a, r := call(wire.XARecover, 0x1000000, &wire.XACount{Count: 15})
	if l := r.(*wire.XAList); a.CompCode != 0 || len(l.XIDs) != 1 || l.XIDs[0].Format != 15 || string(l.XIDs[0].Branch) != "\x00\xff" {
		t.Errorf("recover %+v, %+v", a, r)
	}
	if a, _ := call(wire.XARecover, 0x1000000, &wire.XACount{Count: -1}); a.CompCode != -5 {
		t.Errorf("recover of -1: %+v", a)
	}
}

// TestXANotOffered: a connection without two-phase units answers XAER_PROTO.
func TestXANotOffered(t *testing.T) {
	p := start(t, memory.New("QM1", "Q1"), nil, nil).client(t)
	p.sendH(p.header(wire.XAOpen, 1, 0, 0), wire.API{}, &wire.XAInfo{Info: "QM1"})
	if _, a, _ := p.want(wire.XAOpen + wire.ReplyOffset); a.CompCode != -6 {
		t.Errorf("%+v", a)
	}
}

// TestSubscribeAgain: the reply to a subscribe verb has the strings with which a client subscribes again, and RESUME beside ALTER
// means resume.
func TestSubscribeAgain(t *testing.T) {
	m := memory.New("QM1", "Q1")
	b := &xaBackend{Manager: m, conn: &xaConn{}}
	p := start(t, m, b, nil).client(t)
	sd := mqi.DefaultSD()
	sd.ObjectString, sd.SubName, sd.SelectionString = "a/b", "JMS:QM1:c:s", "x > 1"
	sd.Options = mqi.MQSO_CREATE | mqi.MQSO_ALTER | mqi.MQSO_RESUME | mqi.MQSO_DURABLE | mqi.MQSO_MANAGED
	a, r := p.call(wire.SPI, 1, 0, &wire.SPIBody{Verb: wire.SPISubscribe, OutVersion: 1, Part: &wire.SPISub{SD: sd}})
	if a.CompCode != 0 || a.Hobj != 7 {
		t.Fatalf("SPI SUBSCRIBE: %+v, %+v", a, r)
	}
	got := r.(*wire.SPIBody).Part.(*wire.SPISub).SD
	if got.ObjectString != sd.ObjectString || got.SubName != sd.SubName || got.SelectionString != sd.SelectionString {
		t.Errorf("reply %+v to %+v", got, sd)
	}
	if b.conn.sd.Options != sd.Options&^mqi.MQSO_ALTER {
		t.Errorf("asked with options %#x", b.conn.sd.Options)
	}
	a, r = p.call(wire.MQSUB, 1, 0, &wire.Sub{Hsub: -1, SD: sd})
	if s := r.(*wire.Sub); a.CompCode != 0 || s.Hsub != 8 || s.SD.SubName != sd.SubName || b.conn.sd.Options != sd.Options {
		t.Errorf("MQSUB: %+v, %+v, asked with %#x", a, s, b.conn.sd.Options)
	}
}
