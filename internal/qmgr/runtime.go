package qmgr

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// runtime is the message half's part of a Manager: connections, and the loops that look after queues.
type runtime struct {
	mu    invariants.Ranked[invariants.Leaf]
	conns map[uint32]*Conn
	gone  chan struct{} // closed and replaced when a connection ends

	connSeq   atomic.Uint32
	handleSeq atomic.Uint32
	idSeq     atomic.Uint64
	quiescing atomic.Bool // no new connections; gets with FAIL_IF_QUIESCING end
	stopping  atomic.Bool // no verbs any more

	expire struct {
		timer clock.Timer
		busy  sync.WaitGroup
		mu    invariants.Ranked[invariants.Leaf]
		off   bool
	}
}

// startMessaging loads the messages of every queue and starts the expiry scanner. Objects are there already.
func (m *Manager) startMessaging() error {
	m.rt.conns = map[uint32]*Conn{}
	m.rt.gone = make(chan struct{})
	// Identifiers made by this run must differ from those of every run before: time in the upper half, a counter
	// that starts anywhere in the lower.
	m.rt.idSeq.Store(uint64(m.opt.Clock.Now().Unix())<<32 | uint64(rand.Uint32()&0xFFFFFF))
	if err := m.loadMessages(); err != nil {
		return err
	}
	m.startExpirer()
	return nil
}

// stopMessaging ends the loops. Connections are gone by then.
func (m *Manager) stopMessaging() {
	m.rt.stopping.Store(true)
	m.stopExpirer()
}

// loadMessages fills the queues from the store. Messages of a queue that is no more are dropped.
func (m *Manager) loadMessages() error {
	indoubt, err := m.loadIndoubt()
	if err != nil {
		return err
	}
	defer m.tellIndoubt()
	var tx store.Tx
	orphans := map[store.QID]bool{}
	var q *Queue
	var h msgHead
	err = m.opt.Store.Live(func(l store.Live) error {
		if q == nil || q.qid != l.Q {
			q = nil
			o := m.objectByQID(l.Q)
			if o == nil || o.Queue == nil {
				orphans[l.Q] = true
				return nil
			}
			q = o.Queue
		}
		if err := h.decode(l.Head, false, nil); err != nil { // the queue is damaged; the others are served
			q.damaged = true
			m.opt.Log.Error().Err(err).Str("qmgr", m.opt.Name).Str("queue", q.obj.Name).Uint64("message", uint64(l.S)).
				Msg("queue is damaged: a message cannot be read. delete the queue and define it again")
			return nil
		}
		slot := q.load(&l, &h)
		if a, is := indoubt[msgRef{l.Q, l.S}]; is {
			a.hide(q, slot, &l, h.md.BackoutCount)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id := range orphans {
		tx.DropQueue(id)
	}
	if tx.Len() == 0 {
		return nil
	}
	_, err = m.opt.Store.Commit(context.Background(), &tx)
	return err
}

// load puts back one message that the store kept.
func (q *Queue) load(l *store.Live, h *msgHead) (slot uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := entry{seq: l.S, expire: h.expire, mid: hashID(&h.md.MsgID), cid: hashID(&h.md.CorrelID),
		put: uint32(h.putNanos / 1e9), size: l.BodyLen, prio: min(h.deliver, 9)}
	if l.Persistent {
		e.flags |= fPersistent
	}
	if wantsReport(h.md.Report) {
		e.flags |= fReport
	}
	slot = q.link(&e)
	if p := partOf(&h.md, int(l.BodyLen)); p != nil {
		q.parts.add(slot, p)
	}
	if l.S >= q.nextSeq {
		q.nextSeq = l.S + 1
	}
	return slot
}

// keepNonpersistent tells Store.Close whose nonpersistent messages stay: those of NPMCLASS(HIGH) queues, as the
// attribute is now, but never those of a temporary dynamic queue.
func (m *Manager) keepNonpersistent(id store.QID) bool {
	o := m.objectByQID(id)
	if o == nil || o.Queue == nil {
		return false
	}
	cfg := o.Queue.cfg.Load()
	return cfg.npmHigh && cfg.deftype != "TEMPDYN"
}

// newID makes a message, group or connection identifier: product, queue manager, unique part.
func (m *Manager) newID(product string) (id mqi.ID) {
	copy(id[:16], product+"            ")
	copy(id[4:16], m.opt.Name)
	binary.BigEndian.PutUint64(id[16:], m.rt.idSeq.Add(1))
	return id
}

// quiesceConns ends all connections. Quiesce waits until they have gone by themselves, or ctx is over; the other modes
// break them at once.
func (m *Manager) quiesceConns(ctx context.Context, mode store.StopMode) {
	m.rt.quiescing.Store(true)
	if mode == store.Quiesce {
		for _, o := range m.localQueues() {
			o.Queue.quiesce()
		}
		m.waitConns(ctx)
	}
	m.rt.stopping.Store(true)
	for _, c := range m.connections() {
		c.breakWith(mqi.MQRC_Q_MGR_STOPPING)
	}
}

// waitConns returns when only the queue manager's own connections are left.
func (m *Manager) waitConns(ctx context.Context) {
	for {
		m.rt.mu.Lock()
		left, gone := 0, m.rt.gone
		for _, c := range m.rt.conns {
			if !c.opt.Internal && !c.opt.Commands {
				left++
			}
		}
		m.rt.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return
		}
	}
}

// quiesce ends the waits that asked for it.
func (q *Queue) quiesce() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait.endIf(func(w *waiter) bool { return w.quiet }, waitResult{rc: mqi.MQRC_Q_MGR_QUIESCING})
}

func (m *Manager) connections() []*Conn {
	m.rt.mu.Lock()
	defer m.rt.mu.Unlock()
	out := make([]*Conn, 0, len(m.rt.conns))
	for _, c := range m.rt.conns {
		out = append(out, c)
	}
	return out
}

// eachHandle calls fn for every open handle.
func (m *Manager) eachHandle(fn func(h *handle)) {
	for _, c := range m.connections() {
		c.eachHandle(fn)
	}
}

func (c *Conn) eachHandle(fn func(h *handle)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.handles {
		h.handlesOf(fn)
	}
}
