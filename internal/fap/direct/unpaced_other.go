//go:build !linux

package direct

import "syscall"

func unpace(syscall.RawConn)         {}
func listening(syscall.RawConn)      {}
func accepted(syscall.RawConn, bool) {}
