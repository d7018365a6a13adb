package qmgr

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/store"
)

const (
	// delayBatch is how many messages are moved in one unit of work.
	delayBatch = 64
	// delayHidden is when a message that was due is looked at again because its unit of work has not ended, or because somebody
	// else holds it.
	delayHidden = 200 * time.Millisecond
	// delayRetry is when a message that neither its destination nor the dead-letter queue takes is tried again, and when the
	// staging queue is opened again that could not be.
	delayRetry = 30 * time.Second
)

// errDelayedHeld: the message is there, but locked by who browses it, or another get is at work on it.
var errDelayedHeld = errors.New("the delayed message is held by somebody else")

// delayed is a message on the staging queue.
type delayed struct {
	due  int64 // Unix milliseconds
	slot uint32
	seq  store.Seq
}

// delays are the messages on the staging queue, the next due first: 24 bytes of memory each.
type delays struct {
	mu   invariants.Ranked[invariants.Leaf]
	heap delayHeap
	wake chan struct{} // holds a token when the next due may be another
	told map[string]bool
}

type delayHeap []delayed

func (h delayHeap) Len() int { return len(h) }
func (h delayHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].seq < h[j].seq
}
func (h delayHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are for container/heap.
func (h *delayHeap) Push(x any) { *h = append(*h, x.(delayed)) }

func (h *delayHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (d *delays) init() { d.wake, d.told = make(chan struct{}, 1), map[string]bool{} }

func (d *delays) add(x delayed) {
	d.push(x)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *delays) push(x delayed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	heap.Push(&d.heap, x)
}

// due takes what is due, at most delayBatch, or says how long it is until the next; negative: nothing waits.
func (d *delays) due(now int64) (list []delayed, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.heap) > 0 && d.heap[0].due <= now && len(list) < delayBatch {
		list = append(list, heap.Pop(&d.heap).(delayed))
	}
	switch {
	case len(list) > 0:
		return list, 0
	case len(d.heap) == 0:
		return nil, -1
	}
	return nil, min(time.Duration(d.heap[0].due-now)*time.Millisecond, time.Hour)
}

// runDelays moves messages whose time has come, until the manager ends.
func (m *Manager) runDelays() {
	m.findDelayed()
	for m.ctx.Err() == nil {
		list, wait := m.delay.due(m.opt.Clock.Now().UnixMilli())
		if len(list) > 0 {
			m.moveDelayed(list)
			continue
		}
		var timer <-chan time.Time
		if wait >= 0 {
			timer = m.opt.Clock.After(wait)
		}
		select {
		case <-timer:
		case <-m.delay.wake:
		case <-m.ctx.Done():
		}
	}
}

// findDelayed reads what the last run left on the staging queue.
func (m *Manager) findDelayed() {
	o := m.lookup(ClassQueue, delayQueue)
	if o == nil || o.Queue == nil {
		return
	}
	q := o.Queue
	var all []delayed
	q.under(func() {
		q.each(func(slot uint32, e *entry) bool {
			all = append(all, delayed{slot: slot, seq: e.seq})
			return true
		})
	})
	for _, x := range all {
		rec, err := m.opt.Store.Read(q.qid, x.seq, store.Loc{})
		if err != nil {
			continue // gone meanwhile, or damaged: then every get says so
		}
		if d, _, err := parseDelay(rec.Body); err == nil {
			x.due = d.due
			m.delay.add(x)
		}
	}
}

// moveDelayed moves what is due; together, or one by one when that fails.
func (m *Manager) moveDelayed(list []delayed) {
	list = m.ready(list)
	if len(list) == 0 {
		return
	}
	c, err := m.Connect(m.ctx, auth.System(m.opt.User), ConnectOptions{ApplName: "delivery delay", Internal: true})
	if err != nil {
		m.againIn(delayRetry, list...) // the queue manager ends
		return
	}
	defer c.Break()
	od := mqi.DefaultOD()
	od.ObjectName = delayQueue
	h, err := c.Open(m.ctx, &od, mqi.MQOO_INPUT_AS_Q_DEF)
	if err != nil {
		m.delayTrouble(delayQueue, err, len(list))
		m.againIn(delayRetry, list...)
		return
	}
	if len(list) > 1 && m.moveUnit(c, h, list) == nil {
		return
	}
	for _, x := range list {
		switch err := m.moveUnit(c, h, []delayed{x}); {
		case errors.Is(err, errDelayedHeld):
			m.againIn(delayHidden, x)
		case err != nil:
			m.againIn(delayRetry, x)
		}
	}
}

// ready leaves out what is gone, and puts off what its unit of work still hides or a browser has locked.
func (m *Manager) ready(list []delayed) []delayed {
	o := m.lookup(ClassQueue, delayQueue)
	if o == nil || o.Queue == nil {
		return nil
	}
	q := o.Queue
	out := list[:0]
	soon := m.opt.Clock.Now().Add(delayHidden).UnixMilli()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, x := range list {
		switch {
		case !q.slab.valid(x.slot, x.seq):
		case q.slab.at(x.slot).flags&fDamaged != 0:
		case q.slab.at(x.slot).flags&(hidden|fLocked) != 0:
			x.due = soon
			m.delay.add(x)
		default:
			out = append(out, x)
		}
	}
	return out
}

// holds reports whether the message has not left the queue.
func (q *Queue) holds(x delayed) (there bool) {
	q.under(func() { there = q.slab.valid(x.slot, x.seq) })
	return there
}

func (m *Manager) againIn(d time.Duration, list ...delayed) {
	at := m.opt.Clock.Now().Add(d).UnixMilli()
	for _, x := range list {
		x.due = at
		m.delay.add(x)
	}
}

// moveUnit moves messages in one unit of work.
func (m *Manager) moveUnit(c *Conn, h Handle, list []delayed) error {
	for _, x := range list {
		if err := m.moveOne(c, h, x); err != nil {
			_ = c.Backout(m.ctx)
			return err
		}
	}
	return c.Commit(m.ctx)
}

// moveOne moves a message in the connection's unit of work. A message that its destination does not take is treated as one that
// came over a channel: an exception report if it asks for one, then the dead-letter queue unless it wants to be discarded.
func (m *Manager) moveOne(c *Conn, h Handle, x delayed) error {
	o := m.lookup(ClassQueue, delayQueue)
	if o == nil || o.Queue == nil {
		return mqi.E("MQGET", delayQueue, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	}
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version, gmo.Version = 2, 3
	gmo.Options = mqi.MQGMO_SYNCPOINT | mqi.MQGMO_PROPERTIES_FORCE_MQRFH2
	gmo.MatchOptions, gmo.MsgToken = mqi.MQMO_MATCH_MSG_TOKEN, makeToken(o.Queue.qid, x.slot, x.seq)
	body, _, err := c.Get(m.ctx, h, &md, &gmo, maxDelayedBody)
	switch _, rc := mqi.Reason(err); {
	case rc == mqi.MQRC_NO_MSG_AVAILABLE && o.Queue.holds(x):
		return errDelayedHeld
	case rc == mqi.MQRC_NO_MSG_AVAILABLE: // expired, or cleared
		return nil
	case err != nil:
		m.delayTrouble(delayQueue, err, 1)
		return err
	}
	head, data, d, err := undelayed(&msgHead{md: md}, body)
	if err != nil {
		m.delayTrouble(delayQueue, err, 1)
		return c.Undeliverable(m.ctx, &md, body, delayQueue, m.opt.Name, mqi.MQRC_FORMAT_ERROR, true)
	}
	dest := d.queue
	if d.topic != "" {
		dest = d.topic
	}
	err = m.deliverDelayed(c, head, data, d)
	cc, rc := mqi.Reason(err)
	if cc != mqi.CCFailed {
		m.delayWell(dest)
		return nil
	}
	if rc == mqi.MQRC_CONNECTION_BROKEN || m.ctx.Err() != nil {
		return err
	}
	m.delayTrouble(dest, err, 1)
	if err := c.Undeliverable(m.ctx, &head.md, data, dest, d.qmgr, rc, true); err != nil {
		m.delayTrouble(dest, err, 1)
		return err
	}
	return nil
}

// maxDelayedBody is room for any message and the header.
const maxDelayedBody = 1 << 30

// deliverDelayed puts the message where it was put.
func (m *Manager) deliverDelayed(c *Conn, head *msgHead, data []byte, d *delayHeader) error {
	od, pmo := mqi.DefaultOD(), mqi.DefaultPMO()
	pmo.Version = 2
	pmo.Options = mqi.MQPMO_SYNCPOINT | mqi.MQPMO_SET_ALL_CONTEXT | d.options
	if d.topic != "" {
		od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, d.topic
	} else {
		od.ObjectName, od.ObjectQMgrName = d.queue, d.qmgr
	}
	md := head.md
	return c.Put1(context.WithoutCancel(m.ctx), &od, &md, &pmo, data)
}

// delayTrouble writes to the log why delayed messages do not move: once for each destination.
func (m *Manager) delayTrouble(where string, err error, n int) {
	d := &m.delay
	d.mu.Lock()
	again := d.told[where]
	if len(d.told) < 1000 {
		d.told[where] = true
	}
	d.mu.Unlock()
	if again || m.ctx.Err() != nil {
		return
	}
	m.opt.Log.Warn().Err(err).Str(obs.FieldAMQ, "AMQ7489W").Str("qmgr", m.opt.Name).Str("destination", where).Int("messages", n).
		Msgf("delayed messages for %s could not be delivered: they are reported, put on the dead-letter queue or tried again", where)
}

// delayWell lets the next trouble with a destination be told again.
func (m *Manager) delayWell(where string) {
	m.delay.mu.Lock()
	defer m.delay.mu.Unlock()
	delete(m.delay.told, where)
}
