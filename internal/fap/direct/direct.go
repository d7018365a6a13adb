// Package direct reads from and writes to TCP sockets with fewer turns of the Go runtime than net.Conn takes.
//
// The runtime watches each system call, since it may last: it notes where it begins and ends, its monitor looks every 20 µs
// whether it still goes on, and takes the processor away meanwhile. Calls on a socket that does not block last a few
// microseconds, and the watch is a good part of them: 14 % of the server's processor time of a confirmed message with 16
// producers and 16 consumers (docs/bench.md). So they go past it, as long as what they copy is short.
//
// Everything else is net.Conn's: waiting, deadlines, closing.
package direct

import (
	"io"
	"net"
	"os"
	"syscall"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// short is up to how many bytes a call goes past the runtime. It cannot stop a goroutine in such a call, so more than this is
// left to it.
const short = 64 << 10

// Socketed is a connection that changes nothing of what is written to its socket, nor of what is read from it after the first
// bytes. Socket is nil when it has none.
type Socketed interface{ Socket() *net.TCPConn }

// Conn is a TCP connection. One goroutine at a time may read, and one may write.
type Conn struct {
	raw     syscall.RawConn
	in, out half
}

// half is one direction: what a call is about, and the function that the runtime's poller calls. Once is one closure less a call.
type half struct {
	b    []byte
	n    int
	err  error
	wait bool // for the kernel to take all
	fn   func(fd uintptr) bool
}

// bare is the socket whose bytes are those of the connection. is reports a connection that knows: its socket may be nil.
func bare(nc net.Conn) (t *net.TCPConn, is bool) {
	switch c := nc.(type) {
	case *net.TCPConn:
		return c, true
	case Socketed:
		return c.Socket(), true
	}
	return nil, false
}

// New is nil for connections that are not TCP, for TLS for example, and on systems without such calls.
func New(nc net.Conn) *Conn {
	t, _ := bare(nc)
	if t == nil || !possible {
		return nil
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nil
	}
	c := &Conn{raw: raw}
	c.in.fn, c.out.fn = c.in.receive, c.out.send
	return c
}

// Read is that of io.Reader. Errors are those of net.Conn, a deadline and an end called "raw-read".
func (c *Conn) Read(b []byte) (int, error) {
	invariants.Blocking("waiting for a peer")
	if len(b) == 0 {
		return 0, nil
	}
	c.in.b, c.in.n, c.in.err = b, 0, nil
	err := c.raw.Read(c.in.fn)
	c.in.b = nil
	if err == nil {
		err = c.in.err
	}
	return c.in.n, err
}

// Write is that of io.Writer: it waits until the kernel has taken all.
func (c *Conn) Write(b []byte) (int, error) { return c.write(b, true) }

// TryWrite writes as much as the kernel takes at once; less than all is no error.
func (c *Conn) TryWrite(b []byte) (int, error) { return c.write(b, false) }

func (c *Conn) write(b []byte, wait bool) (int, error) {
	invariants.Blocking("a write to a socket") // TryWrite does not wait, but is one
	if len(b) == 0 {
		return 0, nil
	}
	c.out.b, c.out.n, c.out.err, c.out.wait = b, 0, nil, wait
	err := c.raw.Write(c.out.fn)
	c.out.b = nil
	if err == nil {
		err = c.out.err
	}
	return c.out.n, err
}

// receive reports whether the read is over; if not it is called again when there is something.
func (h *half) receive(fd uintptr) bool {
	for {
		n, err := recv(fd, h.b)
		switch err {
		case 0:
			if h.n = n; n == 0 {
				h.err = io.EOF
			}
			return true
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			h.err = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("recv", err)}
			return true
		}
	}
}

// send reports whether the write is over; if not it is called again when there is room.
func (h *half) send(fd uintptr) bool {
	for h.n < len(h.b) {
		n, err := send(fd, h.b[h.n:])
		switch err {
		case 0:
			h.n += n
			if !h.wait {
				return true
			}
		case syscall.EINTR:
		case syscall.EAGAIN:
			return !h.wait
		default:
			h.err = &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("send", err)}
			return true
		}
	}
	return true
}
