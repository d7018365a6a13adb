package store

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// One who puts and one who gets, each waiting for the answer, have their syncs one after the other: each comes back while the
// other's goes on. Two syncs for a message become one when whoever comes first waits for the other. Whether that is worth it
// the last batch tells: a get alone waits when somebody has just put, a put alone only when both have just shared a sync. Nobody
// spins meanwhile, since the other one may need this very thread to arrive; and a get need not even wait in a goroutine (Leave).

// company is what the committer knows of those who shared a sync. Under the committer's lock.
type company struct {
	clk   clock.Clock
	wait  time.Duration
	over  func() // called some time after a unit has begun to wait
	timer clock.Timer
	armed bool // over will be called

	last  sides     // of the last batch
	ended time.Time // when it was taken
	get   patience
	put   patience
}

// sides are the kinds of units in a batch.
type sides uint8

const (
	getSide sides = 1 << iota // gives room back only
	putSide
)

// sideOf is none for what neither waits for company nor is any.
func sideOf(u *unit) sides {
	switch {
	case u.control != nil:
		return 0
	case removesOnly(u.tx):
		return getSide
	}
	return putSide
}

// patience is whether a wait pays: one in vain makes it leave out the next ones, twice as many each time.
type patience struct{ skip, step int }

const maxJoinStep = 256

func (p *patience) ask() bool {
	if p.skip > 0 {
		p.skip--
		return false
	}
	return true
}

func (p *patience) learn(useful bool) {
	if useful {
		p.step = 0
		return
	}
	p.step = min(2*p.step+1, maxJoinStep)
	p.skip = p.step
}

func newCompany(clk clock.Clock, wait time.Duration, over func()) *company {
	return &company{clk: clk, wait: wait, over: over}
}

// note is told of each batch when it is taken, and learns whether its first unit has waited in vain.
func (m *company) note(batch []*unit) {
	m.last = 0
	for _, u := range batch {
		if m.last |= sideOf(u); m.last == getSide|putSide {
			break
		}
	}
	m.ended = m.clk.Now()
	if u := batch[0]; u.waits != nil {
		u.waits.learn(len(batch) > 1 && m.ended.Sub(u.since) <= m.wait)
		u.waits = nil
	}
}

// keep lets a unit that is alone wait for another one, if that is worth it.
func (m *company) keep(u *unit) bool {
	if u.asked {
		return false
	}
	u.asked = true
	var p *patience
	switch s := sideOf(u); {
	case s == getSide && m.last&putSide != 0:
		p = &m.get
	case s == putSide && m.last == getSide|putSide:
		p = &m.put
	default:
		return false
	}
	now := m.clk.Now()
	if now.Sub(m.ended) > joinWithin*m.wait || !p.ask() {
		return false
	}
	u.waits, u.since = p, now
	if !m.armed {
		m.arm(m.wait)
	}
	return true
}

// arm sets the timer. It is seldom set anew, since that may cost a thread its sleep: one that comes too early is set once more.
func (m *company) arm(d time.Duration) {
	m.armed = true
	if m.timer == nil {
		m.timer = m.clk.AfterFunc(d, m.over)
	} else {
		m.timer.Reset(d)
	}
}

// alarm has a unit committed that has waited for long enough.
func (c *committer) alarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.company
	m.armed = false
	if len(c.queue) == 0 || c.queue[0].waits == nil {
		return
	}
	if left := m.wait - m.clk.Now().Sub(c.queue[0].since); left > 0 {
		m.arm(left)
		return
	}
	c.kick()
}

// joinWithin is how many waits ago the last batch may have been taken: its sync lies in between.
const joinWithin = 10

// keepAlone lets a unit wait for company. The caller has the token, and gives it back.
func (c *committer) keepAlone(u *unit) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.company != nil && c.only(u) && c.company.keep(u)
}

// only reports whether the unit is the only one that waits. Under mu.
func (c *committer) only(u *unit) bool {
	return !c.stopped && len(c.queue) == 1 && c.queue[0] == u
}

// Leave implements Ticket.
func (u *unit) Leave(then func(by any, err error)) bool {
	c := u.com
	if c == nil || c.company == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.only(u) || len(c.lead) == 0 && !c.company.keep(u) {
		return false
	}
	u.then = then // if somebody commits just now, rest sees to it
	return true
}

// rest is called when the token has been given back: units that nobody waits for are to be committed all the same.
func (c *committer) rest() {
	c.mu.Lock()
	left := len(c.queue) > 0 && c.helpers.Load() == 0
	if left && c.company != nil {
		u := c.queue[0]
		left = u.waits == nil && !(u.then != nil && c.only(u) && c.company.keep(u))
	}
	c.mu.Unlock()
	if left {
		c.kick()
	}
}

// tell calls those who have left their units, which are complete. The caller had the token.
func tell(left []*unit, by any) {
	if len(left) == 0 {
		return
	}
	defer tell(left[1:], by) // whatever becomes of the first
	left[0].then(by, left[0].err)
}
