package qmgr

import (
	"math"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// perfEvents says for each performance event: its reason code, and which attributes it changes. An event switches itself
// off and the opposite ones on, so that it comes again only after the way back.
var perfEvents = [...]struct {
	bit    perfEvent
	rc     mqi.RC
	change []setting
}{
	{depthHigh, mqi.MQRC_Q_DEPTH_HIGH, []setting{{"QDPHIEV", "DISABLED"}, {"QDPLOEV", "ENABLED"}, {"QDPMAXEV", "ENABLED"}}},
	{depthLow, mqi.MQRC_Q_DEPTH_LOW, []setting{{"QDPLOEV", "DISABLED"}, {"QDPHIEV", "ENABLED"}, {"QDPMAXEV", "ENABLED"}}},
	{depthFull, mqi.MQRC_Q_FULL, []setting{{"QDPMAXEV", "DISABLED"}, {"QDPLOEV", "ENABLED"}}},
	{serviceHigh, mqi.MQRC_Q_SERVICE_INTERVAL_HIGH, []setting{{"QSVCIEV", "OK"}}},
	{serviceOK, mqi.MQRC_Q_SERVICE_INTERVAL_OK, []setting{{"QSVCIEV", "HIGH"}}},
}

// perform raises the performance events a verb caused.
func (m *Manager) perform(q *Queue, set perfEvent) {
	if !m.eventCfg().perfm {
		return
	}
	for i := range perfEvents {
		e := &perfEvents[i]
		if set&e.bit == 0 || !q.cfg.Load().watch.wants(e.bit) { // the last one may have switched it off
			continue
		}
		ev, ok := q.startEvent(m.opt.Clock.Now(), m.startedAt)
		if !ok {
			continue // another verb raises one just now
		}
		ev.Reason = e.rc
		m.RaiseEvent(ev)
		m.changeOwn(q, true, e.change...)
		q.mu.Lock()
		q.watch.busy = false
		q.mu.Unlock()
	}
}

// startEvent claims the queue's events until its attributes are changed, and gives the queue's counters, which begin
// again.
func (q *Queue) startEvent(now, began time.Time) (e mqi.Event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &q.use().watch
	if w.busy || q.dead {
		return e, false
	}
	w.busy = true
	from := began
	if w.resetAt != 0 {
		from = time.Unix(0, w.resetAt)
	}
	e = mqi.Event{QName: q.obj.Name, SinceReset: int32(min(max(now.Sub(from)/time.Second, 0), statMax)),
		HighDepth: int32(w.highest), Enqueued: int32(min(w.enq, math.MaxInt32)), Dequeued: int32(min(w.deq, math.MaxInt32))}
	w.resetAt, w.enq, w.deq, w.highest = now.UnixNano(), 0, 0, q.depthLocked()
	return e, true
}
