package daemon

import (
	"fmt"
	"net"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// What a peer costs before it has said who it is: about 130 KiB (fap) for at most firstByteTime plus fap.DefaultHandshake.
const (
	// maxEarly bounds such peers, maxEarlyAddr those of one address.
	maxEarly     = 2048
	maxEarlyAddr = 1000
)

// early counts the peers that have not connected yet. The zero value is ready.
type early struct {
	mu   invariants.Mutex
	open map[string]string // remote address → its host
	by   map[string]int    // by host
}

// enter counts a peer, or says why there are enough of its kind.
func (e *early) enter(a net.Addr) error {
	addr := a.String()
	host := hostOf(addr)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open, e.by = map[string]string{}, map[string]int{}
	}
	switch {
	case len(e.open) >= maxEarly:
		return fmt.Errorf("%d peers have not connected yet, which is the maximum", maxEarly)
	case e.by[host] >= maxEarlyAddr:
		return fmt.Errorf("%d peers of %s have not connected yet, which is the maximum", maxEarlyAddr, host)
	}
	e.open[addr] = host
	e.by[host]++
	return nil
}

// leave counts a peer no more: it has connected, or is gone. It may be called again.
func (e *early) leave(a net.Addr) {
	addr := a.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	host, ok := e.open[addr]
	if !ok {
		return
	}
	delete(e.open, addr)
	if e.by[host]--; e.by[host] == 0 {
		delete(e.by, host)
	}
}
