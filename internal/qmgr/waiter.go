package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// waiter is a get that waits: a record in its queue. It is woken once, either with a message already claimed for it,
// or to look again (browsers, and gets whose conditions only the message's head can answer), or with a reason code.
type waiter struct {
	h     *handle
	match *match
	quiet bool // ends when the queue manager quiesces
	ch    chan waitResult
	kind  waitKind
	place *Waiting // it has no goroutine: this is told
	list  *waitList
	key   uint32
	spare sparing // what it is not given, and
	later sparing // what not when it has been handed a message

	prev, next *waiter
}

type waitResult struct {
	slot uint32
	seq  store.Seq
	rc   mqi.RC
	look bool // search again; with slot: at that message first, which nobody has claimed
	seen uint64
}

type waitKind uint8

const (
	waitAny    waitKind = iota // any message will do
	waitMsg                    // one MsgId
	waitCor                    // one CorrelId
	waitLook                   // more than identifiers: looks for itself
	waitBrowse                 // browses
)

// waitList is a FIFO of waiters.
type waitList struct{ head, tail *waiter }

// waiters are all waiting gets of a queue.
type waiters struct {
	any, look, browse waitList
	msg, cor          map[uint32]*waitList
	n                 int
	by                *Conn // whose verb makes messages available now, and collects those it wakes
}

func (s *waiters) add(w *waiter) {
	switch w.kind {
	case waitMsg:
		w.key, w.list = w.match.mid, keyed(&s.msg, w.match.mid)
	case waitCor:
		w.key, w.list = w.match.cid, keyed(&s.cor, w.match.cid)
	case waitLook:
		w.list = &s.look
	case waitBrowse:
		w.list = &s.browse
	default:
		w.list = &s.any
	}
	w.prev = w.list.tail
	if w.prev != nil {
		w.prev.next = w
	} else {
		w.list.head = w
	}
	w.list.tail = w
	s.n++
}

func keyed(m *map[uint32]*waitList, k uint32) *waitList {
	l := (*m)[k]
	if l == nil {
		l = &waitList{}
		if *m == nil { // most queues never have such a waiter
			*m = map[uint32]*waitList{}
		}
		(*m)[k] = l
	}
	return l
}

// end takes a waiter out and tells it why. The channel has room for one, and a waiter is ended once.
func (s *waiters) end(w *waiter, r waitResult) {
	l := w.list
	if l == nil {
		return
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.tail = w.prev
	}
	if l.head == nil {
		switch w.kind {
		case waitMsg:
			delete(s.msg, w.key)
		case waitCor:
			delete(s.cor, w.key)
		}
	}
	w.list, w.prev, w.next = nil, nil, nil
	s.n--
	w.ch <- r
	switch {
	case w.place == nil:
	case s.by != nil:
		s.by.woken = append(s.by.woken, w.place)
	default:
		w.place.waker.Wake(nil)
	}
}

// lists calls fn for each list that there is.
func (s *waiters) lists(fn func(*waitList)) {
	for _, l := range s.msg {
		fn(l)
	}
	for _, l := range s.cor {
		fn(l)
	}
	fn(&s.any)
	fn(&s.look)
	fn(&s.browse)
}

func (s *waiters) endAll(r waitResult) {
	s.endIf(func(*waiter) bool { return true }, r)
}

func (s *waiters) endIf(cond func(*waiter) bool, r waitResult) {
	if s.n == 0 {
		return
	}
	s.lists(func(l *waitList) {
		for w := l.head; w != nil; {
			next := w.next
			if cond(w) {
				s.end(w, r)
			}
			w = next
		}
	})
}

// serve offers a message that became visible: every browser looks again, one get has it claimed. Those that asked for
// its MsgId or CorrelId come first.
func (q *Queue) serve(slot uint32) {
	e := q.slab.at(slot)
	if e.flags&hidden == 0 {
		q.served++
		q.lists[e.prio].unhidden(q, slot, e)
	}
	if q.wait.n == 0 || e.flags&unserved != 0 {
		return
	}
	if e.expire != 0 && e.expire <= q.m.opt.Clock.Now().UnixMilli() {
		q.serveExpired()
		return
	}
	look := waitResult{look: true}
	for q.wait.browse.head != nil {
		q.wait.end(q.wait.browse.head, look)
	}
	if e.flags&fLocked != 0 {
		return
	}
	for w := q.wait.pick(e); w != nil; w = q.wait.pick(e) {
		if w.spare.holds(e.flags) {
			q.wait.end(w, w.held())
			continue
		}
		e.flags |= fClaimed
		q.wait.end(w, waitResult{slot: slot, seq: e.seq})
		return
	}
	q.serveLookers(slot)
}

// held is what ends the wait for a message that is left to others: when only the hash of its identifier fits it has to be looked into.
func (w *waiter) held() waitResult {
	if w.match.certain() {
		return waitResult{rc: rcHeld}
	}
	return waitResult{look: true}
}

// serveExpired lets one get look: it finds that the message's time is over and discards it, with the report it asked for.
func (q *Queue) serveExpired() {
	for _, l := range []*waitList{&q.wait.look, &q.wait.any, &q.wait.browse} {
		if l.head != nil {
			q.wait.end(l.head, waitResult{look: true})
			return
		}
	}
}

// serveLookers gives a message to the first waiter whose conditions it meets by itself. If there is none, those whose conditions
// depend on other messages or on the data look for themselves.
func (q *Queue) serveLookers(slot uint32) {
	for w := q.wait.look.head; w != nil; {
		next := w.next
		switch e := q.slab.at(slot); {
		case !w.match.direct() || !q.meets(w.match, slot):
		case w.spare.holds(e.flags):
			q.wait.end(w, w.held())
		default:
			e.flags |= fClaimed
			q.wait.end(w, waitResult{slot: slot, seq: e.seq})
			return
		}
		w = next
	}
	for w := q.wait.look.head; w != nil; {
		next := w.next
		switch e := q.slab.at(slot); {
		case w.match.direct(), w.match.alone() && !q.meets(w.match, slot):
		case w.match.alone(): // but for its selector
			q.wait.end(w, waitResult{look: true, slot: slot, seq: e.seq, seen: q.served})
		default:
			q.wait.end(w, waitResult{look: true})
		}
		w = next
	}
}

// meets reports whether a visible message meets a direct match.
func (q *Queue) meets(t *match, slot uint32) bool {
	e := q.slab.at(slot)
	return (!t.byMsg || t.mid == e.mid) && (!t.byCor || t.cid == e.cid) && q.placeFits(&search{match: t}, slot)
}

func (s *waiters) pick(e *entry) *waiter {
	if l := s.msg[e.mid]; l != nil {
		for w := l.head; w != nil; w = w.next {
			if !w.match.byCor || w.match.cid == e.cid {
				return w
			}
		}
	}
	if l := s.cor[e.cid]; l != nil {
		return l.head
	}
	return s.any.head
}
