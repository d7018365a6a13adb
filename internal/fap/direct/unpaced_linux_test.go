package direct

import (
	"crypto/tls"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// congestion is the congestion control of a connection.
func congestion(t *testing.T, c *net.TCPConn) (name string) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		name, failed = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return name
}

// Within a machine nothing sends by the clock, under TLS neither. What does not anyway stays as the host has it.
func TestUnpaced(t *testing.T) {
	for _, wrap := range []func(net.Conn) net.Conn{
		func(c net.Conn) net.Conn { return c },
		func(c net.Conn) net.Conn { return tls.Client(c, &tls.Config{ServerName: "x"}) },
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		before := congestion(t, nc.(*net.TCPConn))
		Unpaced(wrap(nc))
		switch after := congestion(t, nc.(*net.TCPConn)); {
		case paced(before) && after != unpaced:
			t.Errorf("%s became %s", before, after)
		case !paced(before) && after != before:
			t.Errorf("%s became %s, though it is not paced", before, after)
		}
	}
	Unpaced(new(net.UnixConn)) // nothing to be done
	Unpaced(itself{})
}

// itself is a connection over itself.
type itself struct{ net.Conn }

func (i itself) NetConn() net.Conn { return i }

func TestWithin(t *testing.T) {
	at := func(s string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(s), Port: 1414} }
	for _, tc := range []struct {
		local, remote net.Addr
		want          bool
	}{
		{at("127.0.0.1"), at("127.0.0.1"), true},
		{at("::1"), at("::1"), true},
		{at("192.0.2.1"), at("192.0.2.1"), true},
		{at("192.0.2.1"), at("192.0.2.2"), false},
		{at("192.0.2.1"), &net.UnixAddr{Name: "x"}, false},
	} {
		if got := within(tc.local, tc.remote); got != tc.want {
			t.Errorf("from %v to %v: %v", tc.local, tc.remote, got)
		}
	}
	for name, want := range map[string]bool{"bbr": true, "bbr2": true, "cubic": false, "reno": false, "": false} {
		if paced(name) != want {
			t.Errorf("%q: paced %v", name, !want)
		}
	}
}
