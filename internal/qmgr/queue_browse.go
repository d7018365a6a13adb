package qmgr

import "github.com/qmgrd/qmgrd/internal/store"

// setCursor moves a handle's browse cursor and keeps q.cursors in step: it lists, by slot, the handles whose cursor
// must move when the message there leaves the queue.
func (q *Queue) setCursor(h *handle, c cursor) {
	if old := h.cur.slot; old != 0 {
		list := q.cursors[old]
		for i, x := range list {
			if x == h {
				list[i] = list[len(list)-1]
				list = list[:len(list)-1]
				break
			}
		}
		if len(list) == 0 {
			delete(q.cursors, old)
			q.slab.at(old).flags &^= fCursor
		} else {
			q.cursors[old] = list
		}
	}
	h.cur = c
	if c.slot == 0 {
		return
	}
	if q.cursors == nil {
		q.cursors = map[uint32][]*handle{}
	}
	q.cursors[c.slot] = append(q.cursors[c.slot], h)
	q.slab.at(c.slot).flags |= fCursor
}

// moveCursors is called when the message at slot leaves: the cursors on it then stand behind the message before.
func (q *Queue) moveCursors(slot, before uint32) {
	list := q.cursors[slot]
	delete(q.cursors, slot)
	q.slab.at(slot).flags &^= fCursor
	for _, h := range list {
		h.cur.slot, h.cur.gone = before, true
	}
	if before != 0 && len(list) > 0 {
		q.cursors[before] = append(q.cursors[before], list...)
		q.slab.at(before).flags |= fCursor
	}
}

// standOn puts the cursor on a message.
func (q *Queue) standOn(h *handle, slot uint32) {
	e := q.slab.at(slot)
	q.setCursor(h, cursor{at: place{prio: e.prio, seq: e.seq, set: true}, slot: slot})
}

// underCursor returns the message the cursor stands on, 0 when that message is gone or hidden.
func (q *Queue) underCursor(h *handle, now int64) uint32 {
	c := &h.cur
	if !c.at.set || c.gone || c.slot == 0 {
		return 0
	}
	e := q.slab.at(c.slot)
	if e.flags&unserved != 0 || e.expire != 0 && e.expire <= now || e.flags&fLocked != 0 && e.owner != h.id {
		return 0
	}
	return c.slot
}

// setLock locks the parts of a message for the handle, which loses the lock it had.
func (q *Queue) setLock(h *handle, parts []*found) {
	q.unlock(h)
	for _, x := range parts {
		e := q.slab.at(x.slot)
		e.flags |= fLocked
		e.owner = h.id
		h.locks = append(h.locks, locked{slot: x.slot, seq: e.seq})
	}
}

// unlock gives up the handle's browse lock and reports whether there was one.
func (q *Queue) unlock(h *handle) (was bool) {
	list := h.locks
	h.locks = nil
	for _, l := range list {
		if !q.slab.valid(l.slot, l.seq) {
			continue
		}
		e := q.slab.at(l.slot)
		if e.flags&fLocked == 0 || e.owner != h.id {
			continue
		}
		e.flags &^= fLocked
		e.owner = 0
		was = true
	}
	for _, l := range list { // when all of them are free: who waits may want them together
		if q.slab.valid(l.slot, l.seq) && q.slab.at(l.slot).flags&fLocked == 0 {
			q.serve(l.slot)
		}
	}
	return was
}

// markHandle and markCoop note that a message was browsed.
func (q *Queue) markHandle(h *handle, slot uint32) {
	if h.marks == nil {
		h.marks = map[uint32]store.Seq{}
	}
	h.marks[slot] = q.slab.at(slot).seq
}

func (q *Queue) markCoop(slot uint32, until int64) {
	if q.coop == nil {
		q.coop = map[uint32]coopMark{}
	}
	e := q.slab.at(slot)
	e.flags |= fCoop
	q.coop[slot] = coopMark{seq: e.seq, until: until}
}

// marked reports whether the handle must pass over a message with MQGMO_UNMARKED_BROWSE_MSG: it is marked by the
// handle itself or, for a handle of the cooperating set, by any of the set.
func (q *Queue) marked(h *handle, slot uint32, now int64) bool {
	e := q.slab.at(slot)
	if h.marks != nil && h.marks[slot] == e.seq {
		return true
	}
	return h.cooperates() && e.flags&fCoop != 0 && q.coopMarked(slot, now)
}

// coopMarked asks for the set's mark, which ends after MARKINT.
func (q *Queue) coopMarked(slot uint32, now int64) bool {
	if m, ok := q.coop[slot]; ok && m.seq == q.slab.at(slot).seq && (m.until == 0 || m.until > now) {
		return true
	}
	q.unmarkCoop(slot)
	return false
}

func (q *Queue) unmarkCoop(slot uint32) {
	delete(q.coop, slot)
	q.slab.at(slot).flags &^= fCoop
}
