package qmgr

import (
	"slices"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Shared subscriptions, as JMS 2 makes them: several applications have one subscription open, and get from its managed
// queue in turn, so that each publication reaches one of them. A nondurable one ends with the last of them.

// subHolders are the connections that have a subscription open, one entry for each handle. mu is a leaf.
type subHolders struct {
	mu    invariants.Ranked[invariants.Leaf]
	conns []string
}

// add notes a handle; the subscription shows the connection that came last.
func (h *subHolders) add(s *pubsub.Sub, conn string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = append(h.conns, conn)
	s.Attach(conn, now)
}

// drop takes a handle back and reports whether there are others. The subscription then shows one of those.
func (h *subHolders) drop(s *pubsub.Sub, conn string, now time.Time) (others bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.conns, conn); i >= 0 {
		h.conns = slices.Delete(h.conns, i, i+1)
	}
	if n := len(h.conns); n > 0 {
		s.HandOver(h.conns[n-1])
		return true
	}
	s.Attach("", now)
	return false
}

// has reports whether a connection has the subscription open: it is one of its own then, also when others share it.
func (h *subHolders) has(conn string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.conns, conn)
}

func (h *subHolders) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}

// checkShared says whether a subscription that is there may be opened by one more. join: nothing of it changes, since
// others have it.
func (s *subscribing) checkShared(d *Def, ps *pubsub.Sub) (join bool, rc mqi.RC) {
	shared, held := d.subExtra().shared, ps.Conn() != ""
	switch {
	case held && !(shared && s.sd.Shared):
		return false, mqi.MQRC_SUBSCRIPTION_IN_USE
	case shared != s.sd.Shared && s.asks(mqi.MQSO_CREATE|mqi.MQSO_ALTER): // MQSO_RESUME alone is on its way to remove it
		return false, mqi.MQRC_SUB_JOIN_NOT_ALTERABLE
	}
	return held, 0
}
