package qmgr

import (
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Queue is the running part of a local queue: the order of its messages, who waits for them, who has it open.
//
// A message takes its place when it is put, is seen by others when its unit of work is durable, and leaves the list when
// the unit of work that took it is durable. mu is held for memory work only (LOCKS.md).
type Queue struct {
	m   *Manager
	obj *Object
	qid store.QID
	cfg atomic.Pointer[queueCfg]

	mu      invariants.Ranked[invariants.Queue]
	nextSeq store.Seq
	damaged bool // a message could not be read at start: every verb answers 2101
	dead    bool // deleted: handles answer 2052
	*queueRun
}

// queueRun is what a queue needs once it is in use; the greater part of thousands rests. mu of the Queue guards it, the pointer
// too.
type queueRun struct {
	slab    slab
	lists   [10]list // by delivery priority
	got     int      // messages taken by units of work in flight; not in CURDEPTH
	uncom   int      // uncommitted puts and gets
	byMsg   *idIndex
	byCor   *idIndex
	wait    waiters
	served  uint64 // counts messages that became visible
	handles map[*handle]struct{}
	in, out int
	excl    bool
	cursors map[uint32][]*handle
	coop    map[uint32]coopMark
	parts   parts
	late    store.Tx // what dropLate is to take out of the store
	soonest int64    // earliest expiry of any message, 0 when none expires (Unix milliseconds)

	scanMin  int64  // earliest expiry seen by the scan under way, or linked since it began
	scanning bool   // a scan is under way
	scanPrio int8   // list it is in
	scanSlot uint32 // entry it looked at last, 0: the start of that list

	stats queueStats
	watch queueWatch
	paced pacing
}

// resting is shared by the queues that nobody has used yet: it is empty, and only read.
var resting = new(queueRun)

// use comes before what changes a queueRun. q.mu is held.
func (q *Queue) use() *queueRun {
	if q.queueRun == resting {
		q.queueRun = new(queueRun)
	}
	return q.queueRun
}

// list is a doubly linked list through the slab. All entries before first are hidden (taken, or not committed), so
// that a get needn't walk over them each time; with none set all entries are. first 0 and not none: nothing is known.
type list struct {
	head, tail, first uint32
	none              bool
	n                 int // entries no unit of work has taken
}

// coopMark is a mark of the cooperating browsers.
type coopMark struct {
	seq   store.Seq
	until int64 // Unix milliseconds
}

// deadMsg is a message that is to be discarded because its time is over.
type deadMsg struct {
	slot uint32
	seq  store.Seq
	pers bool
	rep  bool
}

// expireBatch bounds how many expired messages one hold of the lock meets.
const expireBatch = 256

func newQueue(m *Manager, o *Object, qid store.QID) *Queue {
	q := &Queue{m: m, obj: o, qid: qid, nextSeq: 1, queueRun: resting}
	q.cfg.Store(m.cfgs.of(o.Def()))
	m.ev.noteInitQ(q.cfg.Load())
	return q
}

// place is a position in delivery order.
type place struct {
	prio uint8
	seq  store.Seq
	set  bool
}

// behind reports whether e comes after p.
func (p place) behind(e *entry) bool {
	return !p.set || e.prio < p.prio || e.prio == p.prio && e.seq > p.seq
}

// newMsg is what reserve needs to know of a message.
type newMsg struct {
	prio     uint8
	mid, cid uint32
	size     int
	expire   int64
	pers     bool
	report   bool
	part     *part
	owner    uint32
	now      time.Time
	fx       outcome // set by reserve
}

// reserve gives a message its place, uncommitted. The reason code is 0 or says why it cannot have one.
func (q *Queue) reserve(n *newMsg) (slot uint32, seq store.Seq, rc mqi.RC) {
	q.mu.Lock()
	defer q.mu.Unlock()
	cfg := q.cfg.Load()
	switch {
	case q.dead:
		return 0, 0, mqi.MQRC_Q_DELETED
	case q.damaged:
		return 0, 0, mqi.MQRC_OBJECT_DAMAGED
	case cfg.putInhibited:
		return 0, 0, mqi.MQRC_PUT_INHIBITED
	case q.depthLocked() >= cfg.maxDepth:
		n.fx = q.refusedFull(cfg)
		return 0, 0, mqi.MQRC_Q_FULL
	}
	seq = q.nextSeq
	q.nextSeq++
	e := entry{seq: seq, expire: n.expire, mid: n.mid, cid: n.cid, put: uint32(n.now.Unix()), size: uint32(n.size),
		owner: n.owner, flags: fUncommitted, prio: n.prio}
	if n.pers {
		e.flags |= fPersistent
	}
	if n.report {
		e.flags |= fReport
	}
	slot = q.link(&e)
	if n.part != nil {
		q.parts.add(slot, n.part)
	}
	q.uncom++
	n.fx = q.arrived(&e, cfg, n.now)
	return slot, seq, 0
}

// link appends an entry to its list and the indexes.
func (q *Queue) link(e *entry) uint32 {
	slot := q.use().slab.alloc()
	l := &q.lists[e.prio]
	e.prev, e.next = l.tail, 0
	*q.slab.at(slot) = *e
	if l.tail != 0 {
		q.slab.at(l.tail).next = slot
	} else {
		l.head = slot
	}
	l.tail = slot
	l.n++
	if q.byMsg != nil {
		q.byMsg.add(slot)
	}
	if q.byCor != nil {
		q.byCor.add(slot)
	}
	if e.expire != 0 {
		q.soonest = sooner(q.soonest, e.expire)
		if q.scanning { // its place may be behind the scan
			q.scanMin = sooner(q.scanMin, e.expire)
		}
	}
	return slot
}

// unlink takes an entry out of everything that knows it.
func (q *Queue) unlink(slot uint32) {
	e := q.slab.at(slot)
	if e.flags&fCursor != 0 {
		q.moveCursors(slot, e.prev)
	}
	if q.byMsg != nil {
		q.byMsg.remove(slot)
	}
	if q.byCor != nil {
		q.byCor.remove(slot)
	}
	if e.flags&fCoop != 0 {
		delete(q.coop, slot)
	}
	if q.parts.bySlot != nil {
		q.parts.remove(slot)
	}
	if q.scanSlot == slot {
		q.scanSlot = e.prev // the scan goes on behind the one before
	}
	l := &q.lists[e.prio]
	if e.flags&fGot == 0 {
		l.n--
	}
	if l.first == slot {
		l.first, l.none = e.next, e.next == 0
	}
	if e.prev != 0 {
		q.slab.at(e.prev).next = e.next
	} else {
		l.head = e.next
	}
	if e.next != 0 {
		q.slab.at(e.next).prev = e.prev
	} else {
		l.tail = e.prev
	}
	q.slab.release(slot)
	if q.slab.used == 0 {
		q.byMsg, q.byCor, q.soonest = nil, nil, 0
	}
}

// show makes a reserved message visible, now that it is durable, and serves a waiter.
func (q *Queue) show(slot uint32, now time.Time) {
	e := q.slab.at(slot)
	e.flags &^= fUncommitted
	e.owner = 0
	q.uncom--
	q.stats.put(now)
	q.serve(slot)
}

// drop takes back a reserved message.
func (q *Queue) drop(slot uint32) {
	q.uncom--
	q.unlink(slot)
}

// claim hides a message while a get is at work on it.
func (q *Queue) claim(slot uint32) { q.slab.at(slot).flags |= fClaimed }

// unclaim gives a claimed message back. On a queue that was deleted meanwhile it goes; the caller calls dropLate when it
// has let q.mu go.
func (q *Queue) unclaim(slot uint32) {
	e := q.slab.at(slot)
	e.flags &^= fClaimed
	if q.dead {
		q.late.Remove(q.qid, e.seq, e.flags&fPersistent != 0)
		q.unlink(slot)
		return
	}
	q.serve(slot)
}

// under runs fn with the lock held. A panic of a client's verb ends that client only, so the lock must not stay behind.
func (q *Queue) under(fn func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	fn()
}

// seqAt is the number of the message at a place.
func (q *Queue) seqAt(slot uint32) store.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.slab.at(slot).seq
}

// dropLate takes out of the store what unclaim found on a deleted queue.
func (q *Queue) dropLate() {
	var tx store.Tx
	q.under(func() {
		if q.late.Len() > 0 {
			tx, q.late = q.late, store.Tx{}
		}
	})
	if tx.Len() > 0 {
		q.m.removeLate(&tx)
	}
}

// take turns a claim into "got in a unit of work".
func (q *Queue) take(slot uint32, owner uint32) {
	e := q.slab.at(slot)
	e.flags = e.flags&^(fClaimed|fLocked) | fGot
	e.owner = owner
	q.lists[e.prio].n--
	q.got++
	q.uncom++
}

// restore gives back a message whose unit of work was backed out.
func (q *Queue) restore(slot uint32) {
	e := q.slab.at(slot)
	e.flags &^= fGot
	e.owner = 0
	q.lists[e.prio].n++
	q.got--
	q.uncom--
	q.serve(slot)
}

// remove ends a message that was taken in a unit of work.
func (q *Queue) remove(slot uint32) {
	q.got--
	q.uncom--
	q.unlink(slot)
	q.paced.got()
}

// unhidden keeps what is known of the list true when an entry becomes visible.
func (l *list) unhidden(q *Queue, slot uint32, e *entry) {
	if l.none || l.first != 0 && e.seq < q.slab.at(l.first).seq {
		l.first, l.none = slot, false
	}
}

// start is the first entry that may be visible.
func (l *list) start(q *Queue) uint32 {
	if l.none {
		return 0
	}
	s := l.first
	if s == 0 {
		s = l.head
	}
	for s != 0 && q.slab.at(s).flags&hidden != 0 {
		s = q.slab.at(s).next
	}
	l.first, l.none = s, s == 0
	return s
}

func (q *Queue) depthLocked() int { return q.slab.used - q.got }

// depth is CURDEPTH: committed and uncommitted puts, without what units of work have taken.
func (q *Queue) depth() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.depthLocked()
}

// opens counts the handles open for input and output (IPPROCS, OPPROCS).
func (q *Queue) opens() (in, out int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.in, q.out
}

// inUse reports whether any handle is open.
func (q *Queue) inUse() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.handles) > 0
}

// uncommitted reports whether a unit of work in flight has put to or got from the queue.
func (q *Queue) uncommitted() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.uncom > 0
}

// defChanged takes over a new definition. Waiting gets end when the queue is now GET(DISABLED).
func (q *Queue) defChanged(d *Def) {
	cfg := q.m.cfgs.of(d)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cfg.Store(cfg)
	q.m.ev.noteInitQ(cfg)
	if q.watch.disarmed && cfg.watch.trigger != mqi.MQTT_DEPTH { // else NOTRIGGER may still be on its way, and this another change
		q.watch.disarmed = false
	}
	if cfg.getInhibited {
		q.wait.endAll(waitResult{rc: mqi.MQRC_GET_INHIBITED})
	}
}

// deleted ends the queue: its handles answer 2052 from now on, what no unit of work holds is forgotten.
func (q *Queue) deleted() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deletedLocked()
}

func (q *Queue) deletedLocked() {
	q.dead = true
	q.wait.endAll(waitResult{rc: mqi.MQRC_Q_DELETED})
	q.each(func(slot uint32, e *entry) bool {
		if e.flags&hidden == 0 {
			q.unlink(slot)
		}
		return true
	})
}

// each walks all entries in delivery order until fn says false; fn may unlink the entry.
func (q *Queue) each(fn func(slot uint32, e *entry) bool) {
	for p := len(q.lists) - 1; p >= 0; p-- {
		for s := q.lists[p].head; s != 0; {
			e := q.slab.at(s)
			next := e.next
			if !fn(s, e) {
				return
			}
			s = next
		}
	}
}
