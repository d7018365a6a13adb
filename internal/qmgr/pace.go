package qmgr

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A persistent put is one trip to the queue manager and a wait for the disk, a get with its MQCMIT two trips and a wait. Where as many
// put as get the queue therefore grows, and since all share the machine, the putters' lead is work that the getters do not get done.
// There the answer of a put comes a little later: when a message has left the queue, or after paceWait. Its message is durable and on
// the queue already; nothing but the answer waits. Getters that are far behind are so for reasons of their own, and the queue is there to
// take what they do not: they hold up nobody. Nor are fewer than paceFrom putters held up: they share syncs with their getters
// (ADR 0002, "company").
const (
	paceFrom   = 4   // putters at work on the queue
	paceDepth  = 64  // messages on the queue: the getters do not run out of them
	paceWindow = 256 // puts; the getters are near when half as many messages left meanwhile
	paceWait   = time.Millisecond
)

// pacing is a queue's part of it, under its lock.
type pacing struct {
	putters     int // of persistent messages outside syncpoint that have no answer yet
	first, last *pacedPut
	timer       clock.Timer
	armed       bool // the timer runs
	puts, gets  int  // since the window began
	near        bool // in the window before
}

// pacedPut is a put whose answer waits; of each connection one at a time.
type pacedPut struct {
	over  chan struct{} // holds a token when the wait is
	since time.Time
	next  *pacedPut
}

// commitPut is commit of the unit of a put outside syncpoint.
func (c *Conn) commitPut(u *uow, q *Queue, head *msgHead, pmo *mqi.PMO) error {
	if !c.m.paces || head.md.Persistence != mqi.MQPER_PERSISTENT || pmo.Options&mqi.MQPMO_ASYNC_RESPONSE != 0 {
		return c.m.commit(u)
	}
	q.under(func() { q.paced.putters++ })
	left := false
	defer func() {
		if !left {
			q.under(func() { q.paced.putters-- })
		}
	}()
	err := c.m.commit(u)
	if err != nil || len(c.woken) > 0 { // gets that it has woken are served behind the answer
		return err
	}
	w := q.pace(c)
	left = true
	if w != nil {
		invariants.Blocking("waiting for a getter")
		<-w.over
	}
	return nil
}

// pace ends the put of a connection, or has it wait.
func (q *Queue) pace(c *Conn) *pacedPut {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := &q.paced
	p.put()
	if !p.near || p.putters < paceFrom || q.depthLocked() < paceDepth {
		p.putters--
		return nil
	}
	if c.paced == nil {
		c.paced = &pacedPut{over: make(chan struct{}, 1)}
	}
	w := c.paced
	w.since, w.next = q.m.opt.Clock.Now(), nil
	if p.first == nil {
		p.first = w
	} else {
		p.last.next = w
	}
	p.last = w
	if !p.armed {
		q.armPace(paceWait)
	}
	return w
}

// put counts a put. A window begins with one: what left before, and was no such message perhaps, says nothing.
func (p *pacing) put() {
	if p.puts == 0 {
		p.gets = 0
	}
	if p.puts++; p.puts == paceWindow {
		p.near = 2*p.gets >= p.puts
		p.puts, p.gets = 0, 0
	}
}

// leave ends the wait that is the longest.
func (p *pacing) leave() {
	w := p.first
	p.first, w.next = w.next, nil
	p.putters--
	select {
	case w.over <- struct{}{}:
	default: // there is room: one wait, one token
	}
}

// got is told of each message that has left the queue. Under the queue's lock.
func (p *pacing) got() {
	if p.gets++; p.first != nil {
		p.leave()
	}
}

// armPace sets the timer. It is not stopped, but set once more when it comes too early: that costs less than to set it for each put.
func (q *Queue) armPace(d time.Duration) {
	p := &q.paced
	p.armed = true
	if p.timer == nil {
		p.timer = q.m.opt.Clock.AfterFunc(d, q.paceOver)
	} else {
		p.timer.Reset(d)
	}
}

// paceOver ends the waits that have been long enough.
func (q *Queue) paceOver() {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := &q.paced
	p.armed = false
	now := q.m.opt.Clock.Now()
	for p.first != nil {
		if left := paceWait - now.Sub(p.first.since); left > 0 {
			q.armPace(left)
			return
		}
		p.leave()
	}
}
