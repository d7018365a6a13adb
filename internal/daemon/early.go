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
	open map[pair]*earlyPeer
	all  list.List             // of *earlyPeer, the oldest first
	by   map[string]*earlyHost // the same of one host
	ends tally
}

// pair is the addresses of a connection. A peer may use one port of his for several of ours.
type pair struct{ local, remote string }

func pairOf(local, remote net.Addr) pair {
	if local == nil {
		return pair{remote: remote.String()}
	}
	return pair{local.String(), remote.String()}
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
	at         pair
	host       string
	since      time.Time // it came, or sent MQCONN
	inAll, inH *list.Element
}

// enter notes a peer. It returns the one that the caller has to close, the newcomer or one that makes room for it, and why.
func (e *early) enter(nc net.Conn, now time.Time) (drop net.Conn, why error) {
	p := &earlyPeer{nc: nc, at: pairOf(nc.LocalAddr(), nc.RemoteAddr()), since: now}
	p.host = hostOf(p.at.remote)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open, e.by = map[pair]*earlyPeer{}, map[string]*earlyHost{}
	}
	if old := e.open[p.at]; old != nil { // its end has not been seen yet
		e.remove(old, false)
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
		e.remove(oldest, false)
	}
	of := e.by[p.host]
	if of == nil {
		of = &earlyHost{}
		e.by[p.host] = of
	}
	e.open[p.at] = p
	p.inAll, p.inH = e.all.PushBack(p), of.PushBack(p)
	return drop, why
}

// asks notes that a peer has sent MQCONN: its password may take time to be looked at.
func (e *early) asks(at pair, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.open[at]; p != nil {
		p.since = now
		e.all.MoveToBack(p.inAll)
		e.by[p.host].MoveToBack(p.inH)
	}
}

// connected forgets a peer because it has connected.
func (e *early) connected(at pair) { e.end(at, true) }

// leave forgets a peer that is gone. It may be called again, and of one that has connected.
func (e *early) leave(at pair) { e.end(at, false) }

func (e *early) end(at pair, connected bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.open[at]; p != nil {
		e.remove(p, connected)
	}
}

// remove takes a peer out. mu is held.
func (e *early) remove(p *earlyPeer, connected bool) {
	delete(e.open, p.at)
	e.all.Remove(p.inAll)
	e.ends.note(connected)
	of := e.by[p.host]
	of.ends.note(connected)
	if of.Remove(p.inH); of.Len() == 0 {
		delete(e.by, p.host)
	}
}
