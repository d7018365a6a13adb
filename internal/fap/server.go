package fap

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

const (
	// DefaultHandshake is how long a peer may take from the first byte to its MQCONN.
	DefaultHandshake = 30 * time.Second
	// DefaultMaxSockets bounds the sockets of a server.
	DefaultMaxSockets = 20_000
	// acceptPause is the wait after a failed accept (out of descriptors), so that it does not spin.
	acceptPause = 50 * time.Millisecond
	// maxEarly bounds a segment, and all unfinished ones, of a peer that has not connected yet.
	maxEarly = 16 << 10
	// overhead is what a message's descriptors and options may add to its length.
	overhead = 64 << 10
)

// Options of a Server. Log is required.
type Options struct {
	Clock     clock.Clock // nil: the real one
	Log       *zerolog.Logger
	Handshake time.Duration // 0: DefaultHandshake
	// MaxSockets is how many sockets there may be; 0: DefaultMaxSockets. One more is closed at once.
	MaxSockets int
	// Arrived, if not nil, is called whenever a peer has sent something, by many at a time.
	Arrived func()
	// Repeats keeps floods out of the log; nil: a new one.
	Repeats *obs.Repeats
}

// Server serves one or more listeners.
type Server struct {
	backend Backend
	opt     Options

	mu      invariants.Ranked[invariants.Leaf]
	sockets map[*socket]struct{}
	convs   map[mqi.ID]*conv // by connection id, for SPI NOTIFY
	quiesce wire.Action      // sent to sockets that come later too
	count   atomic.Uint32    // sockets so far
	agenda  agenda
	busy    atomic.Int32 // readers that wait for nothing
}

// New makes a server; it does nothing before Serve.
func New(b Backend, o Options) *Server {
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	if o.Handshake == 0 {
		o.Handshake = DefaultHandshake
	}
	if o.Repeats == nil {
		o.Repeats = obs.NewRepeats(func(d time.Duration, f func()) func() bool { return o.Clock.AfterFunc(d, f).Stop })
	}
	if o.MaxSockets == 0 {
		o.MaxSockets = DefaultMaxSockets
	}
	return &Server{backend: b, opt: o, sockets: map[*socket]struct{}{}, convs: map[mqi.ID]*conv{},
		agenda: agenda{clk: o.Clock}}
}

// Serve accepts until ctx ends or the listener is closed. It returns when every socket that it accepted has ended.
func Serve(ctx context.Context, l net.Listener, b Backend, o Options) error {
	return New(b, o).Serve(ctx, l)
}

// Serve accepts on one listener until ctx ends or the listener is closed, and returns when every socket that it accepted has
// ended. Those of other listeners go on.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { l.Close() })
	var own sync.WaitGroup
	defer own.Wait()
	defer stop()
	defer cancel()
	for {
		nc, err := l.Accept()
		switch {
		case err == nil && s.Sockets() >= s.opt.MaxSockets:
			s.full(nc)
		case err == nil:
			k := newSocket(ctx, s, nc)
			s.mu.Lock()
			s.sockets[k] = struct{}{}
			s.mu.Unlock()
			own.Go(func() { s.serveSocket(k) })
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		default:
			s.opt.Log.Warn().Err(err).Str("listener", l.Addr().String()).Msg("accept failed, trying again")
			select {
			case <-s.opt.Clock.After(acceptPause):
			case <-ctx.Done():
			}
		}
	}
}

// full refuses a peer for want of sockets.
func (s *Server) full(nc net.Conn) {
	nc.Close()
	entry := func() *zerolog.Event { return s.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ9513E") }
	if s.opt.Repeats.Allow("AMQ9513E", func(left int) {
		entry().Int("left_out", left).Msgf("%d more connections were refused in the last minute", left)
	}) {
		entry().Stringer("peer", nc.RemoteAddr()).Msgf("connection refused: %d are open, which is the maximum", s.opt.MaxSockets)
	}
}

func (s *Server) serveSocket(k *socket) {
	k.run()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, k)
}

// Quiesce tells every client that the queue manager (QMQuiesce, 2161) or the channel (StopQuiesce, 2202) is ending. The
// connections stay usable.
func (s *Server) Quiesce(a wire.Action) {
	s.mu.Lock()
	s.quiesce = a
	all := make([]*socket, 0, len(s.sockets))
	for k := range s.sockets {
		all = append(all, k)
	}
	s.mu.Unlock()
	for _, k := range all {
		k.aside("quiesce", func() error { k.sayQuiesce(a); return nil })
	}
}

// Sockets is the number of sockets that are open.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

func (s *Server) quiescing() wire.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quiesce
}

func (s *Server) register(c *conv, id mqi.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.convs[id] = c
}

func (s *Server) unregister(id mqi.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.convs, id)
}

func (s *Server) byConnection(id mqi.ID) *conv {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.convs[id]
}
