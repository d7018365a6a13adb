package direct

import (
	"net"

	"golang.org/x/sys/unix"
)

// unpaced is a congestion control that every kernel has, and every user may choose.
const unpaced = "reno"

// unpace does what it can: a connection that stays paced is a slower one.
func unpace(t *net.TCPConn) {
	raw, err := t.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		if name, err := unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION); err == nil && paced(name) {
			_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, unpaced)
		}
	})
}
