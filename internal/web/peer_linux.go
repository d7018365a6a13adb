package web

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

var errNoPeer = errors.New("the connection has no peer credentials")

// peerOf asks the kernel (SO_PEERCRED).
func peerOf(c net.Conn) (Peer, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return Peer{}, errNoPeer
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if cerr != nil {
		return Peer{}, cerr
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}
