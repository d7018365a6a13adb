package fap

import (
	"context"
	"crypto/tls"
	"errors"
	"sort"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// Status is one running channel instance, as DISPLAY CHSTATUS shows it.
type Status struct {
	Instance  *Instance // what the backend answered
	Number    uint32    // tells the instances of a server apart
	Channel   string
	ConnName  string               // address of the peer
	Local     string               // and ours
	User      string               // as the client says; who it is for the queue manager is the backend's knowledge
	Product   string               // RPRODUCT and RVERSION
	Level     byte                 // FAP
	TLS       *tls.ConnectionState // nil without
	Shared    int                  // conversations now, CURSHCNV
	MaxShared int                  // MAXSHCNV; 0: not shared
	MaxMsg    int                  // agreed MAXMSGL
	Heartbeat time.Duration        // agreed HBINT
	Stopping  bool                 // it was asked to end
	Waiting   bool                 // a get waits
	Started   time.Time
	LastCall  time.Time // zero: none yet
	Calls     int64     // MSGS: calls of the MQI
	BytesIn   int64
	BytesOut  int64

	BuffersIn, BuffersOut int64 // segments
}

// counts are what a socket's status adds up.
type counts struct {
	number   uint32
	started  time.Time
	calls    atomic.Int64
	lastCall atomic.Int64 // clock.Ticks
	in, out  atomic.Int64

	bufsIn, bufsOut atomic.Int64
}

// received counts a segment of n bytes.
func (c *counts) received(n int) {
	c.in.Add(int64(n))
	c.bufsIn.Add(1)
}

// sent counts a message of n bytes, in segments of at most the size given.
func (c *counts) sent(n, segment int) {
	c.out.Add(int64(n))
	c.bufsOut.Add(int64(n/max(segment, 1)) + 1)
}

// Status lists the instances that have come through the negotiation, by channel and start.
func (s *Server) Status() []Status {
	s.mu.Lock()
	all := make([]*socket, 0, len(s.sockets))
	for k := range s.sockets {
		all = append(all, k)
	}
	s.mu.Unlock()
	var out []Status
	for _, k := range all {
		if st, ok := k.status(); ok {
			out = append(out, st)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		if a.Channel != b.Channel {
			return a.Channel < b.Channel
		}
		return a.Started.Before(b.Started)
	})
	return out
}

func (k *socket) status() (Status, bool) {
	l := k.link.Load()
	if l.fap == 0 {
		return Status{}, false
	}
	k.mu.Lock()
	shared := len(k.convs)
	k.mu.Unlock()
	n := &k.counts
	st := Status{Instance: k.inst, Number: n.number, Channel: k.inst.Channel, ConnName: k.peer.Addr.String(),
		Local: k.nc.LocalAddr().String(), User: k.who().LongUser, Product: k.peer.Product, Level: l.fap, TLS: k.peer.TLS, Shared: shared,
		MaxShared: int(l.convs), MaxMsg: l.maxMsg, Heartbeat: l.heartbeat, Stopping: k.stopping.Load(),
		Waiting: k.waits.Load() > 0, Started: n.started, Calls: n.calls.Load(), BytesIn: n.in.Load(), BytesOut: n.out.Load(),
		BuffersIn: n.bufsIn.Load(), BuffersOut: n.bufsOut.Load()}
	if at := n.lastCall.Load(); at != 0 {
		st.LastCall = clock.FromTicks(at, k.s.opt.Clock.Now())
	}
	return st, true
}

// errStopped ends the sockets of a channel that is stopped by force.
var errStopped = errors.New("the channel was stopped")

// Stop ends the instances that match and returns their number. Without force their clients are told: calls with
// FAIL_IF_QUIESCING answer 2202, and the connections stay until the clients end them. With force the connections are closed
// and their work is backed out. New instances are the backend's to refuse.
func (s *Server) Stop(match func(*Instance) bool, force bool) int {
	all, conns := s.matching(match, !force)
	for _, k := range all {
		k.stopping.Store(true)
		if force {
			k.cancel(errStopped)
			continue
		}
		k.aside("quiesce", func() error { k.sayQuiesce(wire.StopQuiesce); return nil })
	}
	for _, c := range conns {
		if q, ok := c.(Quiescer); ok {
			q.QuiesceChannel()
		}
	}
	return len(all)
}

// matching returns sockets, and if they are to be told those of their connections that work.
func (s *Server) matching(match func(*Instance) bool, tell bool) (all []*socket, conns []Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		if k.link.Load().fap != 0 && match(k.inst) {
			all = append(all, k)
		}
	}
	if !tell {
		return all, nil
	}
	for _, c := range s.convs { // while they are listed here their conn stays
		if match(c.k.inst) {
			conns = append(conns, c.conn)
		}
	}
	return all, conns
}

// aside runs fn in a goroutine of the socket's, unless that has ended: a client that reads nothing holds up nobody.
func (k *socket) aside(name string, fn func() error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.spawn(name, fn)
	}
}

// lastCode is what a client is told before its socket is closed for the reason given.
func lastCode(cause error) (wire.Code, bool) {
	switch {
	case errors.Is(cause, context.Canceled):
		return wire.CodeQMTerminating, true
	case errors.Is(cause, errStopped), errors.Is(cause, errIdle):
		return wire.CodeUserClosed, true
	}
	return 0, false
}
