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

// connected is a connection by d and l, with what it is on the side that has accepted it.
func connected(t *testing.T, d *net.Dialer, l net.Listener) (out, in *net.TCPConn) {
	t.Helper()
	o, err := d.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	i, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close(); i.Close() })
	return o.(*net.TCPConn), i.(*net.TCPConn)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// wanted is the control that a connection within the machine is to have, where the host's is as given.
func wanted(host string) string {
	if paced(host) {
		return unpaced
	}
	return host
}

// Within a machine nothing sends by the clock, under TLS neither. What does not anyway stays as the host has it.
func TestUnpaced(t *testing.T) {
	for _, wrap := range []func(net.Conn) net.Conn{
		func(c net.Conn) net.Conn { return c },
		func(c net.Conn) net.Conn { return tls.Client(c, &tls.Config{ServerName: "x"}) },
	} {
		for _, unpace := range []func(net.Conn){Unpaced, Accepted} {
			out, _ := connected(t, &net.Dialer{}, listen(t))
			host := congestion(t, out)
			unpace(wrap(out))
			if after := congestion(t, out); after != wanted(host) {
				t.Errorf("%s became %s", host, after)
			}
		}
	}
	Unpaced(new(net.UnixConn)) // nothing to be done
	Unpaced(itself{})
	Accepted(itself{})
}

// Connections begin so on both sides. What comes from another machine gets the host's control back.
func TestUnpacedFromTheBeginning(t *testing.T) {
	plain, _ := connected(t, &net.Dialer{}, listen(t))
	host := congestion(t, plain)
	l := listen(t)
	Listening(l)
	Listening(itselfListener{}) // nothing to be done
	out, in := connected(t, &net.Dialer{Control: Control}, l)
	for _, c := range []*net.TCPConn{out, in} {
		if got := congestion(t, c); got != wanted(host) {
			t.Errorf("%s began as %s", host, got)
		}
	}
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	accepted(raw, false)
	if got := congestion(t, in); got != host {
		t.Errorf("from another machine: %s, want %s", got, host)
	}
	accepted(raw, true)
	if got := congestion(t, in); got != wanted(host) {
		t.Errorf("within the machine: %s, want %s", got, wanted(host))
	}
}

// itself is a connection over itself.
type itself struct{ net.Conn }

func (i itself) NetConn() net.Conn { return i }

// itselfListener is no TCP listener.
type itselfListener struct{ net.Listener }

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
