package qmgr

import "sync/atomic"

// Asynchronous consumption as DISPLAY shows it (ASTATE). MQCB and MQCTL are the client's: it asks for messages and calls its consumers.
// The door tells what it has seen of that, and what is shown is the state here, not that of the application.

// Consumption is what MQCTL has made of a connection's consumers.
type Consumption int32

// States of a connection's consumers.
const (
	NotConsuming Consumption = iota // no MQCTL yet
	ConsumptionStarted
	ConsumptionStopped
	ConsumptionSuspended
)

// consuming is a Consumption that others look at.
type consuming struct{ v atomic.Int32 }

func (s *consuming) load() Consumption { return Consumption(s.v.Load()) }

// word is ASTATE of the connection.
func (s *consuming) word() string {
	return [...]string{NotConsuming: "NONE", ConsumptionStarted: "STARTED", ConsumptionStopped: "STOPPED", ConsumptionSuspended: "SUSPENDED"}[s.load()]
}

// Consuming says what the client has done with its consumers (MQCTL). It is no verb: it may come at any time.
func (c *Conn) Consuming(s Consumption) { c.consumes.v.Store(int32(s)) }

// Consumer says that a handle has a consumer (MQCB), or has none any more. It reports whether there is such a handle. As Consuming.
func (c *Conn) Consumer(n Handle, there bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.handles[n]
	if h != nil {
		h.consumer.Store(there)
	}
	return h != nil
}

// consumption is ASTATE of a handle. Its consumer is suspended as long as its queue is GET(DISABLED).
func (h *handle) consumption() string {
	switch {
	case !h.consumer.Load():
		return "NONE"
	case h.conn.consumes.load() != ConsumptionStarted:
		return "INACTIVE"
	case h.queue != nil && (h.res.aliasGet() != 0 || h.queue.cfg.Load().getInhibited):
		return "SUSPTEMP"
	}
	return "ACTIVE"
}
