package daemon

import (
	"context"
	"net"
	"testing"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/qmgrd/qmgrd/internal/obs"
)

// The segments of a connection are bounded in both directions, with a backlog or without: see maxSegment.
func TestSegmentsAreBounded(t *testing.T) {
	log := zerolog.Nop()
	g := obs.NewGroup(context.Background(), &log)
	defer g.Stop()
	h := newListeners(g, &log, &activation{})
	accepted := make(chan net.Conn, 2)
	h.open(func(_ context.Context, _ string, l net.Listener) error {
		for {
			c, err := l.Accept()
			if err != nil {
				return nil
			}
			accepted <- c
		}
	})
	for name, backlog := range map[string]int{"ONE": 0, "TWO": 10} {
		addr, err := h.Start(name, "127.0.0.1:0", backlog)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s := <-accepted
		defer s.Close()
		for _, end := range []net.Conn{c, s} {
			if n := segment(t, end); n > maxSegment {
				t.Errorf("backlog %d: segments of %d bytes", backlog, n)
			}
		}
	}
}

func segment(t *testing.T, c net.Conn) (n int) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var gerr error
	err = raw.Control(func(fd uintptr) { n, gerr = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG) })
	if err != nil || gerr != nil {
		t.Fatal(err, gerr)
	}
	return n
}
