//go:build unix

package fap

import (
	"net"
	"syscall"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// tryWriter writes to a TCP connection without ever waiting for it.
type tryWriter struct {
	raw syscall.RawConn
	b   []byte
	n   int
	err error
	fn  func(fd uintptr) bool // once is one closure less a write
}

// newTryWriter is nil for connections that it cannot serve.
func newTryWriter(nc net.Conn) *tryWriter {
	t, ok := nc.(syscall.Conn) // TCP, or something around it that does not change what is written
	if !ok {
		return nil
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nil
	}
	w := &tryWriter{raw: raw}
	w.fn = w.try
	return w
}

// write writes as much as the kernel takes. One goroutine at a time.
func (w *tryWriter) write(b []byte) (int, error) {
	invariants.Blocking("a write to a socket") // it does not wait, but it is one
	w.b, w.n, w.err = b, 0, nil
	if err := w.raw.Write(w.fn); err != nil {
		return 0, err
	}
	w.b = nil
	return w.n, w.err
}

func (w *tryWriter) try(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), w.b)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
		case err != nil:
			w.err = err
		default:
			w.n = n
		}
		return true
	}
}
