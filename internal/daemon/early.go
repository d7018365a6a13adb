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
)

// early holds the peers that have not connected yet. When there are enough of them the oldest makes room for the newcomer, if it
// has had its time: clients connect within moments, so peers that do not mean to connect lock nobody out, and in a rush those
// that are on their way get through. The zero value is ready.
type early struct {
	mu   invariants.Mutex
	open map[string]*earlyPeer // by remote address
	all  list.List             // of *earlyPeer, the oldest first
	by   map[string]*list.List // the same of one host
}

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
		e.open, e.by = map[string]*earlyPeer{}, map[string]*list.List{}
	}
	if old := e.open[addr]; old != nil { // its end has not been seen yet
		e.remove(addr, old)
	}
	var oldest *earlyPeer
	switch of := e.by[p.host]; {
	case of != nil && of.Len() >= maxEarlyAddr:
		oldest = of.Front().Value.(*earlyPeer)
		why = fmt.Errorf("%d peers of %s have not connected yet, which is the maximum", maxEarlyAddr, p.host)
	case len(e.open) >= maxEarly:
		oldest = e.all.Front().Value.(*earlyPeer)
		why = fmt.Errorf("%d peers have not connected yet, which is the maximum", maxEarly)
	}
	if oldest != nil {
		if now.Sub(oldest.since) < earlyGrace {
			return nc, why
		}
		drop = oldest.nc
		e.remove(drop.RemoteAddr().String(), oldest)
	}
	of := e.by[p.host]
	if of == nil {
		of = list.New()
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

// leave forgets a peer: it has connected, or is gone. It may be called again.
func (e *early) leave(a net.Addr) {
	addr := a.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.open[addr]; p != nil {
		e.remove(addr, p)
	}
}

// remove takes a peer out. mu is held.
func (e *early) remove(addr string, p *earlyPeer) {
	delete(e.open, addr)
	e.all.Remove(p.inAll)
	of := e.by[p.host]
	if of.Remove(p.inH); of.Len() == 0 {
		delete(e.by, p.host)
	}
}
