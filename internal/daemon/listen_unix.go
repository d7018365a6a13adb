//go:build unix

package daemon

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

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
