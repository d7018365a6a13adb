//go:build !unix

package fap

import "net"

// tryWriter is for systems whose sockets can be written to without waiting; here a goroutine writes always.
type tryWriter struct{}

func newTryWriter(net.Conn) *tryWriter { return nil }

func (*tryWriter) write([]byte) (int, error) { return 0, nil }
