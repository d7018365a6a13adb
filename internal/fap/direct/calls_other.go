//go:build !unix

package direct

import "syscall"

const possible = false

func recv(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }

func send(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }
