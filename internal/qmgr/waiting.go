package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Prompt reports whether a put through the handle is over without waiting for the disk. What cannot be put at all is.
func (c *Conn) Prompt(hobj Handle, md *mqi.MD, pmo *mqi.PMO) bool {
	c.mu.Lock()
	h := c.handles[hobj]
	c.mu.Unlock()
	switch {
	case h == nil:
		return true
	case h.topic != nil:
		return c.publishesNow(h.topic, md, pmo)
	case h.queue == nil: // lists have many receivers, and stores
		return false
	case pmo.Options&mqi.MQPMO_SYNCPOINT != 0, md.Persistence == mqi.MQPER_NOT_PERSISTENT:
		return true
	case md.Persistence == mqi.MQPER_PERSISTENCE_AS_Q_DEF:
		return h.res.first().Get("DEFPSIST") != "YES"
	}
	return false
}

// publishesNow is Prompt for a topic.
func (c *Conn) publishesNow(t *topicHandle, md *mqi.MD, pmo *mqi.PMO) bool {
	switch {
	case pmo.Options&(mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN) != 0:
		return false
	case md.Persistence == mqi.MQPER_PERSISTENCE_AS_TOPIC_DEF:
		attrs := t.pub.ResolveAll(c.m.topics.tree)
		return attrs[pubsub.DEFPSIST] != "YES"
	}
	return md.Persistence == mqi.MQPER_NOT_PERSISTENT
}

// Waiting is a place for one get at a time that waits without a goroutine. While it waits it is no verb in progress. Its methods
// belong to whoever runs the connection's verbs.
type Waiting struct {
	c      *Conn
	waker  Waker
	g      getting
	w      *waiter // of this wait alone: who ends waits may still hold that of another one
	ch     chan waitResult
	direct found // of handOver
	timer  clock.Timer
	heads  [2]*msgHead // of the messages it got last
	in     bool        // it waits, or has been woken and not resumed
	f      *found      // what Finish is to take
	late   settling
}

// GetState says how far a get has come.
type GetState uint8

const (
	GetOver    GetState = iota
	GetWaits            // the waker will be told
	GetBlocks           // Finish goes on, and may wait for the disk
	GetUnfit            // nothing was done: only Conn.Get can do it
	GetSettles          // a message was taken, and is on its way to be so durably. The waker will be told, and Resume goes on
)

// NewWaiting makes a place.
func (c *Conn) NewWaiting(waker Waker) *Waiting {
	w := &Waiting{c: c, waker: waker, ch: make(chan waitResult, 1)}
	w.g.parked = w
	return w
}

// collector is the connection itself if its caller serves those whom it wakes.
func (c *Conn) collector() *Conn {
	if c.opt.Collects {
		return c
	}
	return nil
}

// RunWoken wakes those whom the connection's verbs have made something available for. No verb of it may be in progress.
func (c *Conn) RunWoken(by any) {
	for len(c.woken) > 0 {
		list := c.woken
		c.woken = nil
		for i, w := range list {
			list[i] = nil
			w.waker.Wake(by)
		}
		if c.woken == nil {
			c.woken = list[:0]
		}
	}
}

// waiting reports whether a get of the connection waits without a goroutine.
func (c *Conn) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.parked) > 0
}

// endParked ends the gets that wait.
func (c *Conn) endParked(rc mqi.RC) {
	c.mu.Lock()
	list := append([]*waiter(nil), c.parked...)
	c.mu.Unlock()
	for _, w := range list {
		w.h.queue.endWait(w, rc)
	}
}

// endReason is why the connection ends.
func (c *Conn) endReason() mqi.RC {
	select {
	case <-c.broken:
		return c.end
	default:
		return mqi.MQRC_HCONN_ERROR
	}
}

// Get starts a get (Conn.Get) and takes it as far as it goes without waiting.
func (w *Waiting) Get(hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int) (data []byte, n int, s GetState, err error) {
	return w.get(hobj, md, gmo, max, nil)
}

func (w *Waiting) get(hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int, ahead func(*getting)) (data []byte, n int, s GetState, err error) {
	c := w.c
	if err := c.begin("MQGET", ""); err != nil {
		return nil, 0, GetOver, err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQGET", hobj)
	if err != nil {
		return nil, 0, GetOver, err
	}
	if h.sel != nil || gmo.Options&mqi.MQGMO_UNMARKED_BROWSE_MSG != 0 {
		return nil, 0, GetUnfit, nil // looks into messages, or has to look again when marks run out
	}
	over, err := w.g.start(c, h, md, gmo, max)
	if over {
		return w.over(h, md, gmo, nil, 0, err)
	}
	if ahead != nil {
		ahead(&w.g)
	}
	return w.run()
}

// over ends the verb.
func (w *Waiting) over(h *handle, md *mqi.MD, gmo *mqi.GMO, data []byte, n int, err error) ([]byte, int, GetState, error) {
	w.c.getDone(h, md, gmo, n, err)
	w.g.msg = readMsg{}
	return data, n, GetOver, err
}

func (w *Waiting) done(data []byte, n int, err error) ([]byte, int, GetState, error) {
	return w.over(w.g.h, w.g.md, w.g.gmo, data, n, err)
}

// run looks until there is an answer, or something to wait for.
func (w *Waiting) run() ([]byte, int, GetState, error) {
	for {
		f, wait, err := w.g.look()
		switch {
		case err != nil:
			return w.done(nil, 0, err)
		case wait != nil:
			w.park()
			return nil, 0, GetWaits, nil
		case f == nil:
		case w.mayWait(f):
			w.f = f
			return nil, 0, GetBlocks, nil
		default:
			if data, n, again, err := w.g.fetch(f); !again {
				return w.done(data, n, err)
			}
		}
		if rc := w.g.stopped(context.Background()); rc != 0 {
			return w.done(nil, 0, w.g.ended(rc))
		}
	}
}

// mayWait reports whether taking the message may wait for the disk. What is taken in a unit of work, and lies in memory, does not.
func (w *Waiting) mayWait(f *found) bool {
	if f.e.flags&fPersistent == 0 {
		return false
	}
	if w.g.spare.holds(f.e.flags) { // it is only looked into
		return !w.c.m.opt.Store.InMemory(w.g.q.qid, f.e.seq)
	}
	return !w.g.inWork(true) || w.g.browse || len(f.more) > 0 || !w.c.m.opt.Store.InMemory(w.g.q.qid, f.e.seq)
}

// register makes a waiter the place's.
func (w *Waiting) register(as *waiter) {
	as.ch, as.place = w.ch, w
	w.w = as
}

// park notes that the get waits, and for how long.
func (w *Waiting) park() {
	c, g := w.c, &w.g
	w.in = true
	c.mu.Lock()
	c.parked = append(c.parked, w.w)
	c.mu.Unlock()
	if g.until.IsZero() {
		return
	}
	q, x := g.q, w.w // when it runs the place may have gone on to another queue
	w.timer = c.m.opt.Clock.AfterFunc(g.until.Sub(c.m.opt.Clock.Now()), func() {
		q.endWait(x, mqi.MQRC_NO_MSG_AVAILABLE)
	})
}

// unpark ends what park began.
func (w *Waiting) unpark() {
	c := w.c
	w.in = false
	c.mu.Lock()
	for i, x := range c.parked {
		if x == w.w {
			last := len(c.parked) - 1
			c.parked[i] = c.parked[last]
			c.parked[last] = nil
			c.parked = c.parked[:last]
			break
		}
	}
	c.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// Resume goes on with a get that was woken; one that was not still waits.
func (w *Waiting) Resume() ([]byte, int, GetState, error) {
	if w.late.f != nil {
		return w.settled()
	}
	if !w.in {
		return nil, 0, GetWaits, nil
	}
	if err := w.c.begin("MQGET", w.g.h.name); err != nil {
		w.Cancel()
		return w.done(nil, 0, err)
	}
	defer w.c.verb.Unlock()
	select {
	case r := <-w.ch:
		w.unpark()
		f, err := w.g.answered(r)
		switch {
		case err != nil:
			return w.done(nil, 0, err)
		case f == nil:
			return w.run()
		case w.mayWait(f):
			w.f = f
			return nil, 0, GetBlocks, nil
		}
		data, n, again, err := w.g.fetch(f)
		if again {
			return w.run()
		}
		return w.done(data, n, err)
	default:
		return nil, 0, GetWaits, nil
	}
}

// Finish takes the message that a get has come to. The get may have to wait again when that is gone. With leave the caller is
// ready for GetSettles.
func (w *Waiting) Finish(leave bool) ([]byte, int, GetState, error) {
	f := w.f
	w.f = nil
	if err := w.c.begin("MQGET", w.g.h.name); err != nil {
		w.g.giveUp(f)
		return w.done(nil, 0, err)
	}
	defer w.c.verb.Unlock()
	w.late.allowed = leave
	defer func() { w.late.allowed = false }()
	for {
		data, n, again, err := w.g.fetch(f)
		switch {
		case err == errSettles:
			return nil, 0, GetSettles, nil
		case !again:
			return w.done(data, n, err)
		}
		data, n, s, err := w.run()
		if s != GetBlocks {
			return data, n, s, err
		}
		f = w.f
		w.f = nil
	}
}

// Cancel ends a get that waits or has to be finished: no message has left its queue by it. One that settles has taken its message,
// and nobody gets that: the connection is at its end.
func (w *Waiting) Cancel() {
	if f := w.f; f != nil {
		w.f = nil
		w.g.giveUp(f)
	}
	w.late.await(w.c)
	if !w.in {
		return
	}
	q := w.g.q
	q.under(func() {
		w.w.place = nil // nobody need be told
		q.wait.end(w.w, waitResult{rc: mqi.MQRC_NO_MSG_AVAILABLE})
	})
	w.g.abandon(<-w.ch)
	w.unpark()
}
