// Package clock is the only place that asks what time it is.
//
// Everything that waits or stamps takes a Clock, so that a test moves 30 minutes forward in no time.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time and wakes its callers.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once, d from now.
	After(d time.Duration) <-chan time.Time
	// AfterFunc calls f in its own goroutine, d from now. Stop reports whether it came in time.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending AfterFunc.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// Real is the machine's clock.
func Real() Clock { return realClock{} }

type realClock struct{}

func (realClock) Now() time.Time                            { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time    { return time.After(d) }
func (realClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Fake stands still until Advance. Its zero value is not usable: call NewFake.
type Fake struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*fakeTimer]struct{}
}

// NewFake starts at the given instant.
func NewFake(start time.Time) *Fake {
	return &Fake{now: start, timers: map[*fakeTimer]struct{}{}}
}

type fakeTimer struct {
	c    *Fake
	when time.Time
	f    func()
}

func (c *Fake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *Fake) After(d time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 1)
	c.AfterFunc(d, func() { ch <- c.Now() })
	return ch
}

func (c *Fake) AfterFunc(d time.Duration, f func()) Timer {
	t := &fakeTimer{c: c, f: f}
	t.Reset(d)
	return t
}

func (t *fakeTimer) Stop() bool {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	_, was := t.c.timers[t]
	delete(t.c.timers, t)
	return was
}

func (t *fakeTimer) Reset(d time.Duration) bool {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	_, was := t.c.timers[t]
	t.when = t.c.now.Add(d)
	t.c.timers[t] = struct{}{}
	return was
}

// Timers is how many wait, After's included.
func (c *Fake) Timers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// Waits reports whether a timer is set for an instant: whoever is to be woken then has looked at the clock, and at nothing since.
func (c *Fake) Waits(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.timers {
		if t.when.Equal(at) {
			return true
		}
	}
	return false
}

// Advance moves the clock and runs, in order of their time, all timers that became due, each before
// Advance returns.
func (c *Fake) Advance(d time.Duration) {
	c.mu.Lock()
	target := c.now.Add(d)
	for {
		var next *fakeTimer
		for t := range c.timers {
			if !t.when.After(target) && (next == nil || t.when.Before(next.when)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		if next.when.After(c.now) {
			c.now = next.when
		}
		delete(c.timers, next)
		c.mu.Unlock()
		next.f()
		c.mu.Lock()
	}
	c.now = target
	c.mu.Unlock()
}
