package daemon

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// onePeer accepts one connection that claims to come from addr, then is closed.
type onePeer struct {
	net.Listener
	conns []net.Conn
}

func (l *onePeer) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}

type from struct {
	net.Conn
	addr   string
	closed bool
}

func (c *from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.addr), Port: 4711} }
func (c *from) Close() error         { c.closed = true; return nil }

// Until channel authentication is enforced nobody from outside gets as far as the first byte.
func TestOnlyLoopbackIsLetIn(t *testing.T) {
	var out syncBuffer
	ctx, cancel := context.WithCancel(context.Background())
	far, near, six := &from{addr: "192.0.2.7"}, &from{addr: "127.0.0.9"}, &from{addr: "::1"}
	l := &loopbackOnly{Listener: &onePeer{conns: []net.Conn{far, near, six}}, ctx: ctx, name: "L1",
		log: obs.NewLogger(&out, zerolog.InfoLevel, "QM1", nil)}
	for _, want := range []net.Conn{near, six} {
		if got, err := l.Accept(); err != nil || got != want {
			t.Fatalf("accepted %v, %v", got, err)
		}
	}
	if !far.closed || near.closed {
		t.Errorf("closed: far %v near %v", far.closed, near.closed)
	}
	if s := out.String(); !strings.Contains(s, "AMQ9209E") || !strings.Contains(s, "192.0.2.7") || !strings.Contains(s, "L1") {
		t.Errorf("log %s", s)
	}
	// The end of the port is no end of its clients: that comes with the context.
	ended := make(chan error)
	go func() { _, err := l.Accept(); ended <- err }()
	select {
	case err := <-ended:
		t.Fatalf("Accept returned %v with its context alive", err)
	default:
	}
	cancel()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// MAXINST bounds all instances of a channel, MAXINSTC those of one address; an ended one makes room.
func TestInstanceLimits(t *testing.T) {
	c := &clients{inst: map[string]map[string]int{}}
	sc := &qmgr.ServerConn{Name: "APP", MaxInst: 3, MaxInstC: 2}
	for _, s := range []struct{ host, refused string }{{"a", ""}, {"a", ""}, {"a", "MAXINSTC"}, {"b", ""}, {"c", "MAXINST"}} {
		err := c.count(sc, s.host)
		if (err == nil) != (s.refused == "") || err != nil && !strings.HasSuffix(err.Error(), s.refused) {
			t.Fatalf("host %s: %v, want %q", s.host, err, s.refused)
		}
	}
	c.uncount("APP", "b")
	if err := c.count(sc, "c"); err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"a", "a", "c"} {
		c.uncount("APP", h)
	}
	if len(c.inst) != 0 {
		t.Errorf("left: %v", c.inst)
	}
}
