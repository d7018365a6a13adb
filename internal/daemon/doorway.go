package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/obs"
)

const (
	// firstByteTime is how long a peer may take until it sends anything.
	firstByteTime = 30 * time.Second
	// tlsRecord is the first byte of a TLS handshake; a segment of the client protocol begins with a letter.
	tlsRecord = 0x16
)

// doorway accepts the peers of one port. Blocked addresses are closed before anything of them is read; of the others the
// first byte tells whether they speak TLS. A peer that sends nothing holds up nobody.
//
// Its Accept ends with the context, or when the port is closed and the last peer that came through it has gone: whoever
// accepts ends its sockets then.
type doorway struct {
	net.Listener
	ctx   context.Context
	c     *clients
	name  string
	ready chan net.Conn
	wg    sync.WaitGroup

	inside atomic.Int64  // who may still use it: run, and each peer until it is closed
	empty  chan struct{} // closed when there is nobody
}

func newDoorway(ctx context.Context, c *clients, name string, l net.Listener) *doorway {
	d := &doorway{Listener: l, ctx: ctx, c: c, name: name, ready: make(chan net.Conn), empty: make(chan struct{})}
	d.inside.Add(1)
	d.wg.Go(d.run)
	return d
}

// leave counts one less inside.
func (d *doorway) leave() {
	if d.inside.Add(-1) == 0 {
		close(d.empty)
	}
}

// Accept returns the next peer that has sent its first byte.
func (d *doorway) Accept() (net.Conn, error) {
	select {
	case nc := <-d.ready:
		return nc, nil
	case <-d.empty:
		return nil, net.ErrClosed
	case <-d.ctx.Done():
		return nil, net.ErrClosed
	}
}

// acceptPause is the wait after a failed accept, so that it does not spin when descriptors are short.
const acceptPause = 50 * time.Millisecond

func (d *doorway) run() {
	defer d.leave()
	for {
		nc, err := d.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed), d.ctx.Err() != nil:
			if nc != nil {
				nc.Close()
			}
			return
		case err != nil:
			d.c.log.Warn().Err(err).Str("listener", d.name).Msg("accept failed, trying again")
			select {
			case <-d.c.clk.After(acceptPause):
			case <-d.ctx.Done():
				return
			}
			continue
		}
		d.meet(nc)
	}
}

// meet looks at a new peer's address, then waits for its first byte aside.
func (d *doorway) meet(nc net.Conn) {
	if d.c.qm.AddressBlocked(nc.RemoteAddr().String()) {
		nc.Close()
		return
	}
	if drop, why := d.c.early.enter(nc, d.c.clk.Now()); drop != nil {
		d.refuse(drop, why)
		if drop == nc {
			return
		}
	}
	d.inside.Add(1)
	d.wg.Go(func() {
		stop := context.AfterFunc(d.ctx, func() { nc.Close() })
		c, err := d.firstByte(nc)
		if !stop() || err != nil {
			nc.Close() // a port check, or the end
			d.c.early.leave(pairOf(nc.LocalAddr(), nc.RemoteAddr()))
			d.leave()
			return
		}
		select {
		case d.ready <- c:
		case <-d.ctx.Done():
			c.Close()
		}
	})
}

// refuse closes a peer for which there is no room any more. A flood of them does not flood the log.
func (d *doorway) refuse(nc net.Conn, why error) {
	defer nc.Close()
	entry := func() *zerolog.Event {
		return d.c.log.Warn().Str(obs.FieldAMQ, "AMQ9513E").Str("listener", d.name)
	}
	if d.c.repeats.Allow("AMQ9513E "+d.name, func(left int) {
		entry().Int("left_out", left).Msgf("listener %s: %d more connections were refused in the last minute", d.name, left)
	}) {
		entry().Stringer("peer", nc.RemoteAddr()).Msgf("connection refused: %v", why)
	}
}

// firstByte tells TLS from plain.
func (d *doorway) firstByte(nc net.Conn) (net.Conn, error) {
	if err := nc.SetReadDeadline(d.c.clk.Now().Add(firstByteTime)); err != nil {
		return nil, err
	}
	var b [1]byte
	if _, err := io.ReadFull(nc, b[:]); err != nil {
		return nil, err
	}
	if err := nc.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	p := &begun{Conn: nc, first: b[:], early: &d.c.early, left: sync.OnceFunc(d.leave)}
	if b[0] == tlsRecord {
		return tls.Server(p, d.c.tlsConfig(p)), nil
	}
	return p, nil
}

// begun is a connection of which the first byte was read.
type begun struct {
	net.Conn
	first []byte
	early *early
	left  func() // the doorway counts it no more

	channel string // that the peer has named in its TLS hello
}

// ChannelName implements fap.Named.
func (b *begun) ChannelName() string { return b.channel }

// Socket implements direct.Socketed: only the first byte is read from elsewhere.
func (b *begun) Socket() *net.TCPConn {
	t, _ := b.Conn.(*net.TCPConn)
	return t
}

// Close ends the connection, and counts it no more if it had not got as far as MQCONN.
func (b *begun) Close() error {
	b.early.leave(pairOf(b.Conn.LocalAddr(), b.Conn.RemoteAddr()))
	defer b.left()
	return b.Conn.Close()
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.first) > 0 && len(p) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}
