//go:build linux && (amd64 || arm64) && !race

package direct

import (
	"syscall"
	"unsafe"
)

const possible = true

// recv reads what is there. b is not empty.
func recv(fd uintptr, b []byte) (int, syscall.Errno) {
	return call(syscall.SYS_RECVFROM, fd, b, syscall.MSG_DONTWAIT)
}

// send writes what the kernel takes at once. b is not empty.
func send(fd uintptr, b []byte) (int, syscall.Errno) {
	return call(syscall.SYS_SENDTO, fd, b, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
}

// call has the address of b made in the expression that calls, as the rules of package unsafe want it.
func call(trap, fd uintptr, b []byte, flags uintptr) (int, syscall.Errno) {
	if len(b) > short {
		n, _, err := syscall.Syscall6(trap, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
		return int(n), err
	}
	n, _, err := syscall.RawSyscall6(trap, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
	return int(n), err
}
