package web

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

var errNoPeer = errors.New("the connection has no peer credentials")

// peerOf asks the kernel (LOCAL_PEERCRED), which knows the user but here not the process.
func peerOf(c net.Conn) (Peer, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return Peer{}, errNoPeer
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Xucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if cerr != nil {
		return Peer{}, cerr
	}
	return Peer{UID: int(cred.Uid)}, nil
}
