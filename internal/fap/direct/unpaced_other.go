//go:build !linux

package direct

import "net"

func unpace(*net.TCPConn) {}
