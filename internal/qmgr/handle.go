package qmgr

import (
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Handle is an object handle (Hobj) of one connection. 0 is never given out.
type Handle int32

// handle is an open object.
type handle struct {
	num     Handle
	id      uint32 // unique in the manager, owner of browse locks
	conn    *Conn
	opts    int32 // as opened
	name    string
	objType int32
	res     *resolved
	queue   *Queue // where messages are put and got; nil when opened only to inquire or set
	input   bool
	browse  bool
	output  bool
	excl    bool
	creator bool // created the temporary dynamic queue
	first   bool // of the MQSUB that made the queue (Object.making)

	topic *topicHandle // MQOPEN of a topic; then queue is nil
	sub   *subHandle   // Hsub; then queue is nil

	sel *selector.Selector // selection string of the open

	list    *distList // distribution list; then queue is nil
	gather  *uow      // during a put to a list: takes what is put outside syncpoint, to be committed by the list
	warning error     // with which the open was completed

	changed  atomic.Bool // 2041 from now on
	consumer atomic.Bool // MQCB has given it one

	putGroup, getGroup, browseGroup groupPos // logical order; the connection's
	browsed, browseLogical          bool     // the last browse, and whether it was in logical order

	// What follows is touched under queue.mu, but for saved, which is the connection's.
	cur   cursor
	locks []locked // what MQGMO_LOCK holds: a message, or the segments of one
	marks map[uint32]store.Seq
	saved *savedContext
}

// cursor is a browse cursor. Once its message has left the queue it stands between two messages: slot is then the one
// before (0: start of the list of that priority).
type cursor struct {
	at   place
	slot uint32
	gone bool
}

// locked is a message with the handle's browse lock.
type locked struct {
	slot uint32
	seq  store.Seq
}

// savedContext is the context of the last message got through a SAVE_ALL_CONTEXT handle.
type savedContext struct {
	md    mqi.MD
	valid bool
}

// check says whether the handle still leads where it did.
func (h *handle) check() mqi.RC {
	if h.changed.Load() {
		return mqi.MQRC_OBJECT_CHANGED
	}
	return 0
}

// forceChanged marks every handle that was opened through o: it answers 2041 from now on.
func (m *Manager) forceChanged(o *Object) {
	for _, h := range m.handlesThrough(o) {
		h.changed.Store(true)
		h.endWaits(mqi.MQRC_OBJECT_CHANGED)
	}
}

// handlesThrough are the handles that were opened through o.
func (m *Manager) handlesThrough(o *Object) (out []*handle) {
	m.eachHandle(func(h *handle) {
		if h.res.through(o) {
			out = append(out, h)
		}
	})
	return out
}

// inhibitGets ends the gets that wait through an alias which is GET(DISABLED) now.
func (m *Manager) inhibitGets(o *Object) {
	for _, h := range m.handlesThrough(o) {
		h.endWaits(mqi.MQRC_GET_INHIBITED)
	}
}

// endWaits ends the get that waits by this handle.
func (h *handle) endWaits(rc mqi.RC) {
	if h.queue == nil || !h.input && !h.browse {
		return
	}
	q := h.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait.endIf(func(w *waiter) bool { return w.h == h }, waitResult{rc: rc})
}

// openedVia counts the handles opened through an alias or remote definition.
func (m *Manager) openedVia(name string) int {
	n := 0
	m.eachHandle(func(h *handle) {
		for _, o := range h.res.path {
			if o.Name == name && o.Queue == nil {
				n++
				break
			}
		}
	})
	return n
}

// attach counts the handle on its queue; the reason code says why it cannot be. first means: the only one for input.
func (q *Queue) attach(h *handle) (first bool, rc mqi.RC) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dead || q.obj.deleting.Load() || q.obj.making.Load() && !h.first {
		return false, mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	if q.damaged {
		return false, mqi.MQRC_OBJECT_DAMAGED
	}
	q.use()
	if h.input {
		if q.excl || h.excl && q.in > 0 {
			return false, mqi.MQRC_OBJECT_IN_USE
		}
		q.in++
		q.excl = h.excl
	}
	if h.output {
		q.out++
	}
	if q.handles == nil {
		q.handles = map[*handle]struct{}{}
	}
	q.handles[h] = struct{}{}
	return h.input && q.in == 1, 0
}

// detach forgets the handle with its cursor, lock and marks.
func (q *Queue) detach(h *handle) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.handles[h]; !there {
		return
	}
	delete(q.handles, h)
	q.wait.endIf(func(w *waiter) bool { return w.h == h }, waitResult{rc: mqi.MQRC_HOBJ_ERROR})
	if h.input {
		q.in--
		q.excl = false
	}
	if h.output {
		q.out--
	}
	q.unlock(h)
	q.setCursor(h, cursor{})
	h.marks = nil
}
