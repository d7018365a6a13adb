package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Group commit: one goroutine at a time takes whatever waits and makes it durable in one go, in the order of Submit. That is whoever
// waits for a unit of its own, which saves two changes of goroutine where few work at a time; else the committer's own goroutine.

const (
	maxBatchUnits   = 4096      // units made durable together
	maxBatchBytes   = 16 << 20  // bytes made durable together; a larger unit goes alone
	maxWaitingUnits = 1 << 16   // Submit blocks beyond this
	maxWaitingBytes = 256 << 20 // and beyond this
	gatherFrom      = 3         // units of a batch, on average, from which others are let in first
	gatherTurns     = 8         // at most
)

// unit is a Tx on its way; it is the Ticket.
type unit struct {
	tx     *Tx
	num    uint64      // rising, gives the overlay its order
	staged []stagedPut // room already taken for the nonpersistent puts
	logged []logOp     // what the log wrote of it; nil where there is none
	err    error
	done   chan struct{}
	com    *committer              // who waits may commit with it; nil: nothing to do
	then   func(by any, err error) // called by whoever has committed it; nil: somebody waits

	waits *patience // not nil: it waits for company
	since time.Time // the same
	asked bool      // whether it is to wait has been decided

	// control is not nil for a unit that only runs something between two batches, on the committer's goroutine.
	control func()
}

var alreadyDone = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// refused is the ticket of a unit that never got on its way.
func refused(err error) *unit { return &unit{err: err, done: alreadyDone} }

func (u *unit) Wait(ctx context.Context) error {
	invariants.Blocking("waiting for a unit of work")
	select {
	case <-u.done:
		return u.err
	default:
	}
	if u.com != nil && ctx.Done() == nil {
		u.com.help(u)
		return u.err
	}
	select {
	case <-u.done:
		return u.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (u *unit) Locs() []Loc {
	switch {
	case u.err != nil:
		return nil
	case u.logged != nil:
		return logLocs(u.tx, u.logged)
	}
	return putLocs(u.tx)
}

func (u *unit) complete(err error) {
	u.err = err
	close(u.done)
}

// committer holds the units that wait.
type committer struct {
	lead    chan struct{} // holds one token while somebody commits
	helpers atomic.Int32  // wait for their unit, or for the token
	left    []*unit       // complete, and not told yet. The token's
	idle    atomic.Bool   // the committer's goroutine has nothing to do

	mu      invariants.Ranked[invariants.Store]
	room    sync.Cond // signalled when waiting units were taken
	coming  int       // units that were let in and are not submitted yet; their bytes are in bytes
	wake    chan struct{}
	queue   []*unit
	bytes   int
	next    uint64
	stopped bool
	dropErr error // not nil: what still waits is answered with it instead of committed

	commit  func([]*unit)      // makes a batch durable; completes every unit of it
	drop    func(*unit, error) // completes a unit that will not be committed
	lately  int                // units of a batch lately, times 4; of who has the token
	company *company           // nil: no unit waits for another
	ended   chan struct{}
}

func newCommitter(commit func([]*unit), drop func(*unit, error)) *committer {
	c := &committer{lead: make(chan struct{}, 1), wake: make(chan struct{}, 1), ended: make(chan struct{}), commit: commit, drop: drop}
	c.room.L = &c.mu
	return c
}

func (c *committer) start() { go c.run() }

// awaitRoom waits until a unit of n bytes may be queued. Called with mu held.
func (c *committer) awaitRoom(n int) {
	for !c.stopped && len(c.queue) > 0 && (len(c.queue)+c.coming >= maxWaitingUnits || c.bytes+n > maxWaitingBytes) {
		c.room.Wait()
	}
}

// admit waits for the room that t takes, with n bytes more than it has now.
func (c *committer) admit(t *Tx, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n += t.bytes
	c.awaitRoom(n)
	t.room = n + 1
	c.bytes += n
	c.coming++
}

// used gives the room back that admit kept. Called with mu held.
func (c *committer) used(t *Tx) {
	if t.room > 0 {
		c.bytes -= t.room - 1
		c.coming--
		t.room = 0
	}
}

// dismiss is used for a unit that is not queued.
func (c *committer) dismiss(t *Tx) {
	if t.room == 0 {
		return
	}
	c.mu.Lock()
	c.used(t)
	c.room.Broadcast()
	c.mu.Unlock()
}

// submit queues u. enlist runs under the queue's lock, so that it sees units in commit order. A control unit passes the
// bound: the checkpoint that would make room must not wait for room.
func (c *committer) submit(u *unit, enlist func()) error {
	c.mu.Lock()
	if u.control == nil && u.tx.room == 0 {
		c.awaitRoom(u.tx.bytes)
	}
	c.used(u.tx)
	if c.stopped {
		c.mu.Unlock()
		return ErrClosed
	}
	c.next++
	u.num = c.next
	enlist()
	c.queue = append(c.queue, u)
	c.bytes += u.tx.bytes
	c.mu.Unlock()
	if u.tx.awaited {
		u.com = c
	} else {
		c.kick()
	}
	return nil
}

// between lets fn run on the committer's goroutine, between two batches; the unit is complete when it ran.
func (c *committer) between(fn func()) *unit {
	u := &unit{tx: &Tx{}, done: make(chan struct{}), control: fn}
	if err := c.submit(u, func() {}); err != nil {
		return refused(err)
	}
	return u
}

func (c *committer) kick() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take removes the next batch. ok is false when there is nothing and never will be.
func (c *committer) take() (batch []*unit, dropErr error, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil, nil, !c.stopped
	}
	n, size := 0, 0
	for n < len(c.queue) && n < maxBatchUnits {
		b := c.queue[n].tx.bytes
		if n > 0 && (size+b > maxBatchBytes || c.queue[n].control != nil || c.queue[0].control != nil) {
			break
		}
		n, size = n+1, size+b
	}
	batch = append(batch, c.queue[:n]...)
	if c.company != nil {
		c.company.note(batch)
	}
	rest := copy(c.queue, c.queue[n:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
	c.bytes -= size
	c.room.Broadcast()
	return batch, c.dropErr, true
}

// run commits what nobody waits for.
func (c *committer) run() {
	defer close(c.ended)
	for {
		c.lead <- struct{}{}
		n, ok := c.step()
		left := c.takeLeft()
		<-c.lead
		tell(left, nil)
		if !ok {
			return
		}
		if n == 0 {
			c.rest()
			c.idle.Store(true)
			<-c.wake
			c.idle.Store(false)
		}
	}
}

// help returns when u is complete, and commits meanwhile if nobody else does.
func (c *committer) help(u *unit) {
	c.helpers.Add(1)
	lead := c.token(u)
	if lead && c.keepAlone(u) {
		<-c.lead
		<-u.done // the alarm sees to it if nobody comes
		lead = false
	}
	c.helpers.Add(-1)
	if lead {
		c.stepUntil(u)
		left := c.takeLeft()
		<-c.lead
		tell(left, u.tx.by)
	}
	c.rest()
}

// takeLeft is what tell is to be called with. The caller has the token.
func (c *committer) takeLeft() []*unit {
	left := c.left
	c.left = nil
	return left
}

// token waits for the committer's token. It is not needed any more, false, when u is complete.
func (c *committer) token(u *unit) bool {
	select {
	case <-u.done:
		return false
	case c.lead <- struct{}{}:
		return true
	}
}

// stepUntil commits until u is complete. A panic ends the process as it does on the committer's goroutine, whoever would recover it.
func (c *committer) stepUntil(u *unit) {
	defer func() {
		if p := recover(); p != nil {
			go panic(p)
			select {}
		}
	}()
	for {
		select {
		case <-u.done:
			return
		default:
			c.step()
		}
	}
}

// step commits the next batch, and says how many units it had. ok is false when there is nothing and never will be. The caller has
// the token.
func (c *committer) step() (n int, ok bool) {
	c.gather()
	batch, dropErr, ok := c.take()
	c.lately = (3*c.lately + len(batch)*4) / 4
	switch {
	case !ok || len(batch) == 0:
	case batch[0].control != nil && dropErr == nil:
		batch[0].control()
		batch[0].complete(nil)
	case dropErr != nil:
		for _, u := range batch {
			c.drop(u, dropErr)
		}
	default:
		c.commit(batch)
	}
	for _, u := range batch {
		if u.then != nil {
			c.left = append(c.left, u)
		}
	}
	return len(batch), ok
}

// gather lets those who are about to submit do so, where several work at a time: what can run at once shares the sync.
func (c *committer) gather() {
	if c.lately < 4*gatherFrom {
		return
	}
	for range gatherTurns {
		n := c.waiting()
		runtime.Gosched()
		if c.waiting() == n {
			return
		}
	}
}

func (c *committer) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// stop refuses new units; with dropErr nil it commits those that wait. It returns when the goroutine has ended.
func (c *committer) stop(dropErr error) {
	c.mu.Lock()
	c.stopped, c.dropErr = true, dropErr
	c.room.Broadcast()
	c.mu.Unlock()
	c.kick()
	<-c.ended
}
