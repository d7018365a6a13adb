package direct

import (
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// unpaced is a congestion control that every kernel has, and every user may choose.
const unpaced = "reno"

// hosts is the host's congestion control where Listening has replaced it.
var hosts atomic.Pointer[string]

// What follows does what it can: a connection that stays paced is a slower one.

// unpace replaces a control that sends by the clock, and says which it was.
func unpace(raw syscall.RawConn) (was string) {
	replace(raw, paced, func(name string) string { was = name; return unpaced })
	return was
}

// replace sets another control where the present one is of the kind given.
func replace(raw syscall.RawConn, kind func(string) bool, by func(string) string) {
	_ = raw.Control(func(fd uintptr) {
		if name, err := unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION); err == nil && kind(name) {
			_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, by(name))
		}
	})
}

func listening(raw syscall.RawConn) {
	if was := unpace(raw); was != "" {
		hosts.Store(&was)
	}
}

func accepted(raw syscall.RawConn, within bool) {
	was := hosts.Load()
	switch {
	case within:
		unpace(raw)
	case was != nil:
		replace(raw, func(name string) bool { return name == unpaced }, func(string) string { return *was })
	}
}
