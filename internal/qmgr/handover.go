package qmgr

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A message that a get waits for, and that nobody has promised to keep, goes from who puts it to who gets it: it takes no place
// in the queue, and the store never sees it. What counts messages counts it as put and got.

// Waker is told of a get that waits without a goroutine.
type Waker interface {
	// Wake says that the get has to be resumed: with nil from anywhere and with queues locked, so that it may do no more than
	// note it; or by RunWoken.
	Wake(by any)
	// Own asks whether the get may be given a message right now. With true nobody else touches the connection until Take or
	// Disown. It is called with a queue locked, and waits for nothing.
	Own() bool
	Disown()
	// Take brings the message. The get waits on, unless it is cancelled. body is valid during the call.
	Take(by any, body []byte, total int, err error)
}

// PutNow is Put with a body that stays the caller's. by goes to the wakers of those who get the message at once.
func (c *Conn) PutNow(ctx context.Context, by any, hobj Handle, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	c.lent, c.host = true, by
	err := c.Put(ctx, hobj, md, pmo, body)
	c.lent, c.host = false, nil
	return err
}

// handOver gives a message to a get that waits for any. It reports false when that cannot be, and nothing has happened.
func (c *Conn) handOver(h *handle, head *msgHead, body []byte, pmo *mqi.PMO) bool {
	if c.due != 0 || h.res.remote || h.gather != nil || pmo.Options&mqi.MQPMO_SYNCPOINT != 0 {
		return false
	}
	return c.m.handTo(c.host, h.queue, head, body)
}

// handTo gives a message, which is in no unit of work, to a get that waits for any on a queue. by is for whom, nil: it cannot be.
func (m *Manager) handTo(by any, q *Queue, head *msgHead, body []byte) bool {
	md := &head.md
	if by == nil || md.Persistence != mqi.MQPER_NOT_PERSISTENT || md.Report != 0 || md.MsgFlags != 0 {
		return false
	}
	now := m.opt.Clock.Now()
	q.mu.Lock()
	w := q.takerOf(len(body))
	if w == nil {
		q.mu.Unlock()
		return false
	}
	seq := q.nextSeq
	q.nextSeq++
	q.passed(now, head.putNanos)
	q.mu.Unlock()
	f := &w.direct
	*f = found{e: entry{seq: seq}}
	w.take(by, f, head, body)
	return true
}

// takerTries is how many gets are asked: those whose connection is busy are passed over.
const takerTries = 4

// takerOf is the get that takes a message of n bytes, whose connection is then the caller's. Under mu.
func (q *Queue) takerOf(n int) *Waiting {
	if q.wait.any.head == nil || len(q.wait.msg)+len(q.wait.cor) > 0 || q.wait.look.head != nil || q.wait.browse.head != nil {
		return nil
	}
	cfg := q.cfg.Load()
	switch {
	case q.dead, q.damaged, cfg.putInhibited, cfg.getInhibited, cfg.streamQ != "", q.depthLocked() >= cfg.maxDepth,
		cfg.watch.trigger != mqi.MQTT_NONE, cfg.watch.evHigh, cfg.watch.evLow, cfg.watch.service != 0:
		return nil // what follows from a put or a get needs its place
	}
	tries := takerTries
	for x := q.wait.any.head; x != nil && tries > 0; x = x.next {
		tries--
		w := x.place
		if w == nil || w.g.inWork(false) || w.g.tooSmall(n) {
			return nil // it is this one's turn, and it gets its message from the queue
		}
		if !w.waker.Own() {
			continue
		}
		if w.c.begin("MQGET", "") != nil {
			w.waker.Disown()
			continue
		}
		q.wait.any.toEnd(x)
		return w
	}
	return nil
}

// passed counts a message that was put and got at once. Under mu.
func (q *Queue) passed(now time.Time, putNanos int64) {
	w, depth := &q.watch, q.depthLocked()+1
	w.enq++
	w.deq++
	w.puts++
	w.gets++
	w.highest = max(w.highest, depth)
	w.statHigh = max(w.statHigh, depth)
	w.statLow = min(w.statLow, depth-1)
	q.stats.put(now)
	q.stats.get(now, putNanos)
}

// toEnd lets the others have their turn before this one.
func (l *waitList) toEnd(w *waiter) {
	if w == l.tail {
		return
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.head = w.next
	}
	w.next.prev = w.prev
	w.prev, w.next = l.tail, nil
	l.tail.next = w
	l.tail = w
}

// take gives the get that waits its message. The connection is the caller's, a verb of it in progress.
func (w *Waiting) take(by any, f *found, head *msgHead, body []byte) {
	g := &w.g
	g.msg = readMsg{head: head, body: body}
	out := g.shape(head, body)
	warn := g.moveOn(&g.msg, true)
	data, n, err := g.deliver(f, &g.msg, out)
	if err == nil && warn != 0 {
		err = mqi.Warn("MQGET", g.h.name, warn)
	}
	g.msg, g.out = readMsg{}, shaped{}
	w.c.getDone(g.h, g.md, g.gmo, n, err)
	w.c.verb.Unlock()
	w.waker.Take(by, data, n, err)
}
