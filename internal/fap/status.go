package fap

import (
	"context"
	"errors"
	"sort"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// Status is one running channel instance, as DISPLAY CHSTATUS shows it.
type Status struct {
	Channel   string
	ConnName  string // address of the peer
	User      string // as the client says; who it is for the queue manager is the backend's knowledge
	Product   string // RPRODUCT and RVERSION
	Level     byte   // FAP
	TLS       bool
	Shared    int           // conversations now, CURSHCNV
	MaxShared int           // MAXSHCNV; 0: not shared
	MaxMsg    int           // agreed MAXMSGL
	Heartbeat time.Duration // agreed HBINT
	Started   time.Time
	LastCall  time.Time // zero: none yet
	Calls     int64     // MSGS: calls of the MQI
	BytesIn   int64
	BytesOut  int64
}

// counts are what a socket's status adds up.
type counts struct {
	started  time.Time
	calls    atomic.Int64
	lastCall atomic.Int64 // Unix nanoseconds
	in, out  atomic.Int64
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
	shared, user := len(k.convs), k.user.LongUser
	k.mu.Unlock()
	st := Status{Channel: k.inst.Channel, ConnName: k.peer.Addr.String(), User: user, Product: k.peer.Product, Level: l.fap,
		TLS: k.peer.TLS != nil, Shared: shared, MaxShared: int(l.convs), MaxMsg: l.maxMsg, Heartbeat: l.heartbeat,
		Started: k.counts.started, Calls: k.counts.calls.Load(), BytesIn: k.counts.in.Load(), BytesOut: k.counts.out.Load()}
	if n := k.counts.lastCall.Load(); n != 0 {
		st.LastCall = time.Unix(0, n)
	}
	return st, true
}

// errStopped ends the sockets of a channel that is stopped by force.
var errStopped = errors.New("the channel was stopped")

// StopChannel ends the instances of a channel and returns their number. Without force the clients are asked to end: calls
// with FAIL_IF_QUIESCING answer 2202 by the backend. With force the connections are closed and their work is backed out.
// New instances are the backend's to refuse.
func (s *Server) StopChannel(channel string, force bool) int {
	n := 0
	s.mu.Lock()
	all := make([]*socket, 0, len(s.sockets))
	for k := range s.sockets {
		all = append(all, k)
	}
	s.mu.Unlock()
	for _, k := range all {
		if k.link.Load().fap == 0 || k.inst.Channel != channel {
			continue
		}
		n++
		if force {
			k.cancel(errStopped)
		} else {
			k.sayQuiesce(wire.StopQuiesce)
		}
	}
	return n
}

// lastCode is what a client is told before its socket is closed for the reason given.
func lastCode(cause error) (wire.Code, bool) {
	switch {
	case errors.Is(cause, context.Canceled):
		return wire.CodeQMTerminating, true
	case errors.Is(cause, errStopped):
		return wire.CodeUserClosed, true
	}
	return 0, false
}
