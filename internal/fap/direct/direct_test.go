package direct

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// pair is a connection that is read and written directly, and its peer.
func pair(t *testing.T) (*Conn, net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	peer, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); peer.Close() })
	c := New(nc)
	if c == nil {
		t.Fatal("a TCP connection is not served")
	}
	return c, nc, peer
}

// More than the kernel takes, and more than goes past the runtime: all of it arrives, in order.
func TestMuch(t *testing.T) {
	for _, size := range []int{1, short, short + 1, 16 << 20} {
		c, _, peer := pair(t)
		want := make([]byte, size)
		rand.Read(want)
		back := make(chan error, 1)
		go func() { _, err := io.Copy(peer, io.LimitReader(peer, int64(size))); back <- err }()
		sent := make(chan error, 1)
		go func() { _, err := c.Write(want); sent <- err }()
		got := make([]byte, size)
		if _, err := io.ReadFull(c, got); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-sent, <-back); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back changed", size)
		}
	}
}

// TryWrite never waits: to a peer that reads nothing it writes less and less, and nothing at last, which is no error.
func TestTryWriteDoesNotWait(t *testing.T) {
	c, _, peer := pair(t)
	b := make([]byte, 1<<20)
	total := 0
	for {
		n, err := c.TryWrite(b)
		if err != nil {
			t.Fatal(err)
		}
		if total += n; n == 0 {
			break
		}
	}
	if n, err := io.CopyN(io.Discard, peer, int64(total)); err != nil {
		t.Fatalf("%d of %d bytes arrived: %v", n, total, err)
	}
}

func TestNothing(t *testing.T) {
	c, _, _ := pair(t)
	for name, fn := range map[string]func([]byte) (int, error){"Read": c.Read, "Write": c.Write, "TryWrite": c.TryWrite} {
		if n, err := fn(nil); n != 0 || err != nil {
			t.Errorf("%s of nothing: %d, %v", name, n, err)
		}
	}
}

// What ends a wait of net.Conn ends one here, with the same error.
func TestEnds(t *testing.T) {
	buf := make([]byte, 10)
	for name, tc := range map[string]struct {
		do   func(nc, peer net.Conn)
		want error
	}{
		"closed here":  {func(nc, _ net.Conn) { nc.Close() }, net.ErrClosed},
		"closed there": {func(_, peer net.Conn) { peer.Close() }, io.EOF},
		"deadline":     {func(nc, _ net.Conn) { nc.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"reset": {func(_, peer net.Conn) {
			peer.(*net.TCPConn).SetLinger(0)
			peer.Close()
		}, syscall.ECONNRESET},
	} {
		c, nc, peer := pair(t)
		waits := make(chan error, 1)
		go func() { _, err := c.Read(buf); waits <- err }()
		time.Sleep(5 * time.Millisecond) // so that it waits; when it does not yet, it ends as well
		tc.do(nc, peer)
		err := <-waits
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
		var ne net.Error
		if tc.want != io.EOF && !errors.As(err, &ne) {
			t.Errorf("%s: %T is no net.Error", name, err)
		}
	}
}

func TestWriteToNobody(t *testing.T) {
	c, _, peer := pair(t)
	peer.(*net.TCPConn).SetLinger(0)
	peer.Close()
	var err error
	for range 1000 {
		if _, err = c.TryWrite([]byte("x")); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if n, err := c.Write([]byte("x")); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
}

type around struct {
	net.Conn
	t *net.TCPConn
}

func (a around) Socket() *net.TCPConn { return a.t }

// A connection that changes what it carries is not gone around.
func TestWhoIsServed(t *testing.T) {
	_, nc, _ := pair(t)
	pipe, other := net.Pipe()
	defer pipe.Close()
	defer other.Close()
	for name, c := range map[string]net.Conn{"pipe": pipe, "TLS": tls.Server(nc, &tls.Config{}), "no socket": around{Conn: pipe},
		"hidden": struct{ net.Conn }{nc}} {
		if New(c) != nil {
			t.Errorf("%s: served", name)
		}
	}
	if New(around{pipe, nc.(*net.TCPConn)}) == nil {
		t.Error("a connection that names its socket is not served")
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		io.Copy(nc, struct{ io.Reader }{nc})
	}()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	for name, rw := range map[string]io.ReadWriter{"direct": New(nc), "net": nc} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 1024)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rw.Write(buf); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(rw, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
