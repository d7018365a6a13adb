package direct

import (
	"net"
	"strings"
	"syscall"
)

// Some hosts have a congestion control for the networks of the world that sends by the clock: BBR. Between two programs of one machine
// nothing can be congested, and the timers cost a streamed message a seventh of its processor time on both sides (docs/bench.md). So
// connections within the machine have another control. They have it from their beginning, where that can be: a control that sends by
// the clock leaves a part of that behind when it is changed, which makes writes of 16 KiB a quarter dearer.

// Listening has the connections that a listener accepts begin unpaced. Accepted then decides.
func Listening(l net.Listener) {
	if t, is := l.(*net.TCPListener); is {
		if raw, err := t.SyscallConn(); err == nil {
			listening(raw)
		}
	}
}

// Accepted ends the pacing of an accepted connection within the machine. One with another machine gets the host's control back.
func Accepted(nc net.Conn) {
	t := beneath(nc)
	if t == nil {
		return
	}
	if raw, err := t.SyscallConn(); err == nil {
		accepted(raw, within(t.LocalAddr(), t.RemoteAddr()))
	}
}

// Control is that of a net.Dialer: connections to a loopback address begin unpaced.
func Control(_, address string, raw syscall.RawConn) error {
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		unpace(raw)
	}
	return nil
}

// Unpaced ends the pacing of a connection within the machine that was made in another way.
func Unpaced(nc net.Conn) {
	if t := beneath(nc); t != nil && within(t.LocalAddr(), t.RemoteAddr()) {
		if raw, err := t.SyscallConn(); err == nil {
			unpace(raw)
		}
	}
}

// beneath is the TCP connection under a few others, nil when there is none. Programs bring connections of their own: one may name itself.
func beneath(nc net.Conn) *net.TCPConn {
	for range 8 {
		if t, is := bare(nc); is {
			return t
		}
		c, over := nc.(interface{ NetConn() net.Conn })
		if !over {
			return nil
		}
		nc = c.NetConn()
	}
	return nil
}

// within reports whether both ends are on one machine.
func within(local, remote net.Addr) bool {
	l, ok := local.(*net.TCPAddr)
	r, is := remote.(*net.TCPAddr)
	return ok && is && (r.IP.IsLoopback() || r.IP.Equal(l.IP))
}

// paced reports whether a congestion control sends by the clock.
func paced(name string) bool { return strings.HasPrefix(name, "bbr") }
