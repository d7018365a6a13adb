package qmgr

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// A message that a get waits for goes from who puts it to who gets it: it takes no place in the queue. One that nobody has
// promised to keep never comes to the store; a persistent one is put and got there as one unit, which costs one sync instead of
// two, before either of them is answered. What counts messages counts it as put and got.

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
	// Settled says that a get in state GetSettles has been settled, and is to be resumed. by is nil or the one who has committed
	// it. No lock is held.
	Settled(by any)
}

// PutBy is Put; by goes to the wakers of those who get the message at once. A lent body stays the caller's.
func (c *Conn) PutBy(ctx context.Context, by any, hobj Handle, md *mqi.MD, pmo *mqi.PMO, body []byte, lent bool) error {
	c.lent, c.host = lent, by
	err := c.Put(ctx, hobj, md, pmo, body)
	c.lent, c.host = false, nil
	return err
}

// handOver gives a message to a get that waits for any. It reports false when that cannot be, and nothing has happened; an error
// is the store's, and the message is neither put nor got then.
func (c *Conn) handOver(h *handle, head *msgHead, body []byte, pmo *mqi.PMO) (bool, error) {
	if c.due != 0 || h.res.remote || h.gather != nil || pmo.Options&mqi.MQPMO_SYNCPOINT != 0 {
		return false, nil
	}
	if head.md.Persistence == mqi.MQPER_NOT_PERSISTENT {
		return c.m.handTo(c.host, h.queue, head, body, false), nil
	}
	if c.lent {
		return false, nil // the store keeps the body
	}
	return c.m.handSafely(c.host, h.queue, head, body)
}

// handTo gives a nonpersistent message, which is in no unit of work, to a get that waits for any on a queue. by is for whom, nil:
// it cannot be. With stay the next message may go to the same get; otherwise the others have their turn first.
func (m *Manager) handTo(by any, q *Queue, head *msgHead, body []byte, stay bool) bool {
	if head.md.Persistence != mqi.MQPER_NOT_PERSISTENT {
		return false
	}
	w := q.taker(by, head, body, stay)
	if w == nil {
		return false
	}
	w.take(by, q.pass(head, true))
	return true
}

// handSafely is handTo for a persistent message.
func (m *Manager) handSafely(by any, q *Queue, head *msgHead, body []byte) (bool, error) {
	w := q.taker(by, head, body, false)
	if w == nil {
		return false, nil
	}
	given := false
	defer func() {
		if !given {
			w.leave()
		}
	}()
	seq := q.pass(head, false)
	u := uow{host: by}
	u.tx.Put(q.qid, seq, store.Rec{Head: encodeHead(head), Body: body, Persistent: true})
	u.tx.Remove(q.qid, seq, true)
	if err := m.commit(&u); err != nil {
		return true, err
	}
	now := m.opt.Clock.Now()
	q.under(func() { q.passed(now, head.putNanos) })
	given = true
	w.take(by, seq)
	return true, nil
}

// pass gives a message that goes past the queue its number, and counts it when it is as good as got.
func (q *Queue) pass(head *msgHead, got bool) store.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	seq := q.nextSeq
	q.nextSeq++
	if got { // in the moment of the put
		q.passed(time.Unix(0, head.putNanos), head.putNanos)
	}
	return seq
}

// taker is the get that waits for a message and has room for it as it will be given. The getter's connection is the caller's, with
// a verb of it in progress, until take or leave.
func (q *Queue) taker(by any, head *msgHead, body []byte, stay bool) *Waiting {
	if by == nil || head.md.Report != 0 || head.md.MsgFlags != 0 {
		return nil
	}
	var w *Waiting
	q.under(func() { w = q.takerOf(len(body), head.md.Persistence == mqi.MQPER_PERSISTENT, stay) })
	if w == nil {
		return nil
	}
	fits := false
	defer func() {
		if !fits { // or a panic of the putter's verb: the getter is left as it was
			w.leave()
		}
	}()
	g := &w.g
	g.msg = readMsg{head: head, body: body}
	if fits = !g.tooSmall(len(g.shape(head, body).data)); !fits { // with what the descriptor has no room for
		return nil
	}
	return w
}

// takerTries is how many gets are asked: those whose connection is busy are passed over.
const takerTries = 4

// takerOf is the get that takes a message of n bytes, whose connection is then the caller's. Under mu.
func (q *Queue) takerOf(n int, pers, stay bool) *Waiting {
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
		if w == nil || w.g.inWork(pers) || w.g.tooSmall(n) || x.spare == spareAll || pers && x.spare != spareNone {
			return nil // it is this one's turn, and it gets its message from the queue
		}
		if !w.waker.Own() {
			continue
		}
		if w.c.begin("MQGET", "") != nil {
			w.waker.Disown()
			continue
		}
		if !stay {
			q.wait.any.toEnd(x)
		}
		x.spare = x.later
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

// leave lets the get wait on.
func (w *Waiting) leave() {
	w.g.msg, w.g.out = readMsg{}, shaped{}
	w.c.verb.Unlock()
	w.waker.Disown()
}

// take gives the get the message that taker has readied.
func (w *Waiting) take(by any, seq store.Seq) {
	data, n, err := w.give(seq)
	w.waker.Take(by, data, n, err)
}

// give ends the getter's verb.
func (w *Waiting) give(seq store.Seq) (data []byte, n int, err error) {
	given := false
	defer func() {
		if given {
			w.c.verb.Unlock()
		} else {
			w.leave()
		}
	}()
	f, g := &w.direct, &w.g
	*f = found{e: entry{seq: seq}}
	g.spare = g.later // as its waiter, when it has to look again
	data, n, err = g.give(f, true)
	g.msg, g.out = readMsg{}, shaped{}
	w.c.getDone(g.h, g.md, g.gmo, n, err)
	given = true
	return data, n, err
}
