package daemon

import (
	"container/list"
	"fmt"
	"net"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// What a peer costs before it has said who it is: about 130 KiB (fap) for at most firstByteTime plus fap.DefaultHandshake.
const (
	// maxEarly bounds such peers, maxEarlyAddr those of one address.
	maxEarly     = 2048
	maxEarlyAddr = 1000
	// earlyGrace is how long a peer may take without having to make room.
	earlyGrace = 5 * time.Second
	// maxTally is how many of the latest are remembered by how they ended, about; crowdMargin more that have not connected than
	// have are a crowd.
	maxTally    = 1000
	crowdMargin = 32
)

// early holds the peers that have not connected yet. When there are enough of them the oldest makes room for the newcomer, if it
// has had its time: clients connect within moments, so peers that do not mean to connect lock nobody out, and in a rush those
// that are on their way get through. Where most of the latest have not connected it is no rush but a crowd, and the oldest makes room
// at once: whoever comes and goes to be always young locks nobody out either. The zero value is ready.
type early struct {
	mu   invariants.Mutex
	open map[string]*earlyPeer // by remote address
	all  list.List             // of *earlyPeer, the oldest first
	by   map[string]*earlyHost // the same of one host
	ends tally
}

// earlyHost has the peers of one host, as long as it has any.
type earlyHost struct {
	list.List
	ends tally
}

// tally is how the latest peers ended.
type tally struct{ connected, gone int }

func (t *tally) note(connected bool) {
	if connected {
		t.connected++
	} else {
		t.gone++
	}
	if t.connected+t.gone > maxTally {
		t.connected /= 2
		t.gone /= 2
	}
}

func (t *tally) crowd() bool { return t.gone > t.connected+crowdMargin }

// earlyPeer is one of them.
type earlyPeer struct {
	nc         net.Conn
	host       string
	since      time.Time // it came, or sent MQCONN
	inAll, inH *list.Element
}

// enter notes a peer. It returns the one that the caller has to close, the newcomer or one that makes room for it, and why.
func (e *early) enter(nc net.Conn, now time.Time) (drop net.Conn, why error) {
	addr := nc.RemoteAddr().String()
	p := &earlyPeer{nc: nc, host: hostOf(addr), since: now}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open, e.by = map[string]*earlyPeer{}, map[string]*earlyHost{}
	}
	if old := e.open[addr]; old != nil { // its end has not been seen yet
		e.remove(addr, old, false)
	}
	var oldest *earlyPeer
	crowd := false
	switch of := e.by[p.host]; {
	case of != nil && of.Len() >= maxEarlyAddr:
		oldest, crowd = of.Front().Value.(*earlyPeer), of.ends.crowd()
		why = fmt.Errorf("%d peers of %s have not connected yet, which is the maximum", maxEarlyAddr, p.host)
	case len(e.open) >= maxEarly:
		oldest, crowd = e.all.Front().Value.(*earlyPeer), e.ends.crowd()
		why = fmt.Errorf("%d peers have not connected yet, which is the maximum", maxEarly)
	}
	if oldest != nil {
		if !crowd && now.Sub(oldest.since) < earlyGrace {
			return nc, why
		}
		drop = oldest.nc
		e.remove(drop.RemoteAddr().String(), oldest, false)
	}
	of := e.by[p.host]
	if of == nil {
		of = &earlyHost{}
		e.by[p.host] = of
	}
	e.open[addr] = p
	p.inAll, p.inH = e.all.PushBack(p), of.PushBack(p)
	return drop, why
}

// asks notes that a peer has sent MQCONN: its password may take time to be looked at.
func (e *early) asks(a net.Addr, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.open[a.String()]; p != nil {
		p.since = now
		e.all.MoveToBack(p.inAll)
		e.by[p.host].MoveToBack(p.inH)
	}
}

// connected forgets a peer because it has connected.
func (e *early) connected(a net.Addr) { e.end(a, true) }

// leave forgets a peer that is gone. It may be called again, and of one that has connected.
func (e *early) leave(a net.Addr) { e.end(a, false) }

func (e *early) end(a net.Addr, connected bool) {
	addr := a.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.open[addr]; p != nil {
		e.remove(addr, p, connected)
	}
}

// remove takes a peer out. mu is held.
func (e *early) remove(addr string, p *earlyPeer, connected bool) {
	delete(e.open, addr)
	e.all.Remove(p.inAll)
	e.ends.note(connected)
	of := e.by[p.host]
	of.ends.note(connected)
	if of.Remove(p.inH); of.Len() == 0 {
		delete(e.by, p.host)
	}
}
