package direct

import (
	"net"
	"strings"
)

// Unpaced ends the pacing of a connection within the machine. Some hosts have a congestion control for the networks of the world that
// sends by the clock: BBR. Between two programs of one machine nothing can be congested, and the timers cost a streamed message a
// seventh of its processor time on both sides (docs/bench.md).
func Unpaced(nc net.Conn) {
	if t := beneath(nc); t != nil && within(t.LocalAddr(), t.RemoteAddr()) {
		unpace(t)
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
