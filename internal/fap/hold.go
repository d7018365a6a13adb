package fap

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// Messages that are read ahead have nobody who waits for just this one. When they come at a high rate, one by one, each from a put that
// is answered, it is dear to wake the getter up for each: it takes the processor, and the writes, from the putter whose next put is the
// next message. So they are held back until a few have come together, or for a moment. What is learned decides: a hold that was not
// filled makes it leave out the next ones, twice as many each time, so that a getter whose next message depends on what it does with
// this one hardly ever waits; and a message that follows none within holdRecent is never held.
const (
	holdLeast  = 4  // messages that are held at first,
	holdMost   = 16 // and when they come so fast that twice as many would have filled the time
	holdBytes  = 16 << 10
	holdFor    = time.Millisecond
	holdRecent = 500 * time.Microsecond
	skipMost   = 1 << 12 // messages that are left out at most
)

// hold is what an outbox holds back. Under the outbox's lock.
type hold struct {
	n          int       // messages
	full       int       // so many are enough
	last       time.Time // of the last message
	since      time.Time // of the first that is held
	skip, step int
	timer      clock.Timer
	armed      bool
}

// keep reports whether a message that has just come is to be held back.
func (h *hold) keep(now time.Time) bool {
	recent := now.Sub(h.last) < holdRecent
	h.last = now
	if h.n == 0 {
		switch {
		case !recent:
			return false
		case h.skip > 0:
			h.skip--
			return false
		}
		h.since = now
	}
	h.full = max(h.full, holdLeast)
	if h.n++; h.n < h.full {
		return true
	}
	h.step = 0
	if now.Sub(h.since) < holdFor/4 {
		h.full = min(2*h.full, holdMost)
	}
	return false
}

// late notes that a hold was not filled in time.
func (h *hold) late() {
	h.step = min(2*h.step+1, skipMost)
	h.n, h.skip, h.full = 0, h.step, holdLeast
}

// stop is the end of the outbox.
func (h *hold) stop() {
	if h.n = 0; h.timer != nil {
		h.timer.Stop()
	}
}

// flushSoon is flush for a message that nobody waits for.
func (o *outbox) flushSoon(clk clock.Clock) {
	if !o.holdBack(clk) {
		o.flush()
	}
}

// holdBack reports whether what there is may wait, in which case the alarm sees to it.
func (o *outbox) holdBack(clk clock.Clock) bool {
	now := clk.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf) == 0 || o.err != nil {
		return false // somebody else has flushed it already: that is no message
	}
	if !o.hold.keep(now) || len(o.buf) >= holdBytes {
		return false
	}
	if !o.hold.armed {
		o.arm(clk, holdFor)
	}
	return true
}

// arm sets the alarm. It is seldom set anew: one that comes too early is set once more. Under mu.
func (o *outbox) arm(clk clock.Clock, d time.Duration) {
	o.hold.armed = true
	if o.hold.timer == nil {
		o.hold.timer = clk.AfterFunc(d, func() { o.alarm(clk) })
	} else {
		o.hold.timer.Reset(d)
	}
}

// alarm writes what is held for too long.
func (o *outbox) alarm(clk clock.Clock) {
	if o.overdue(clk) {
		o.flush()
	}
}

func (o *outbox) overdue(clk clock.Clock) bool {
	now := clk.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	h := &o.hold
	h.armed = false
	if h.n == 0 || o.err != nil {
		return false
	}
	if left := holdFor - now.Sub(h.since); left > 0 {
		o.arm(clk, left)
		return false
	}
	h.late()
	return true
}
