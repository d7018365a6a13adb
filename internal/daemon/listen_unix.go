//go:build unix

package daemon

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// maxSegment bounds the segments of TCP. It matters on this machine only, where they would be of 64 KiB: the vendor's clients ask for
// receive buffers of 32 KiB, and Linux waits for its timer of 200 ms when less than one segment has room, so that a client which had
// fallen behind once got 140 KB a second. Other networks have far smaller segments anyway.
const maxSegment = 8 << 10

// boundSegments has the connections that a listener accepts keep to maxSegment. Where that cannot be had it is done without.
func boundSegments(l net.Listener) {
	t, ok := l.(*net.TCPListener)
	if !ok {
		return
	}
	if raw, err := t.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG, maxSegment) })
	}
}

// listenTCP binds addr. Package net has no way to give a backlog, so for a backlog above zero listen is called again
// on the bound socket, which changes the length of its queue.
func listenTCP(addr string, backlog int) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil || backlog <= 0 {
		return l, err
	}
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err == nil {
		var lerr error
		if err = raw.Control(func(fd uintptr) { lerr = unix.Listen(int(fd), backlog) }); err == nil {
			err = lerr
		}
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("backlog %d: %w", backlog, os.NewSyscallError("listen", err))
	}
	return l, nil
}
