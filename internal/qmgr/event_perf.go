package qmgr

import (
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
		if set&e.bit == 0 {
			continue
		}
		p, ok := q.startEvent(m.opt.Clock.Now(), m.startedAt)
		if !ok {
			continue // another verb raises one just now
		}
		m.raise(perfmEventQueue, mqi.CFMsg{Type: mqi.MQCFT_EVENT, Version: mqi.MQCFH_VERSION_1,
			Command: mqi.MQCMD_PERFM_EVENT, MsgSeqNumber: 1, Control: mqi.MQCFC_LAST, CompCode: mqi.CCWarning, Reason: e.rc,
			Params: append([]mqi.CFParam{mqi.CFString(mqi.MQCA_Q_MGR_NAME, m.opt.Name)}, p...)})
		m.changeOwn(q, true, e.change...)
	}
}

// startEvent claims the queue's events until its attributes are changed, and gives the queue's counters, which begin
// again.
func (q *Queue) startEvent(now, began time.Time) ([]mqi.CFParam, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &q.watch
	if w.busy || q.dead {
		return nil, false
	}
	w.busy = true
	from := began
	if w.resetAt != 0 {
		from = time.Unix(0, w.resetAt)
	}
	p := []mqi.CFParam{
		mqi.CFString(mqi.MQCA_BASE_OBJECT_NAME, q.obj.Name),
		mqi.CFInt(mqi.MQIA_TIME_SINCE_RESET, int32(min(max(now.Sub(from)/time.Second, 0), statMax))),
		mqi.CFInt(mqi.MQIA_HIGH_Q_DEPTH, int32(w.highest)),
		mqi.CFInt(mqi.MQIA_MSG_ENQ_COUNT, w.enq),
		mqi.CFInt(mqi.MQIA_MSG_DEQ_COUNT, w.deq),
	}
	w.resetAt, w.enq, w.deq, w.highest = now.UnixNano(), 0, 0, q.depthLocked()
	return p, true
}
