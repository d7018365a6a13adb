//go:build unix && (!linux || !(amd64 || arm64) || race)

package direct

import (
	"errors"
	"syscall"
)

// The race detector learns from these calls who has waited for whom; the raw ones would hide it from it.
const possible = true

// recv reads what is there. b is not empty.
func recv(fd uintptr, b []byte) (int, syscall.Errno) { return number(syscall.Read(int(fd), b)) }

// send writes what the kernel takes at once. b is not empty. The runtime ignores SIGPIPE of sockets.
func send(fd uintptr, b []byte) (int, syscall.Errno) { return number(syscall.Write(int(fd), b)) }

func number(n int, err error) (int, syscall.Errno) {
	var no syscall.Errno
	errors.As(err, &no)
	return n, no
}
