package qmgr

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Streaming queues: what is put on a queue with STREAMQ is put on that queue too, in the same unit of work.

// enqueueStreamed puts a message and its copy. With STRMQOS(MUSTDUP) both are put or none; with BESTEF the message is put
// even when the copy cannot be. The copy of a copy is not made.
func (m *Manager) enqueueStreamed(u *uow, q *Queue, cfg *queueCfg, head *msgHead, body []byte, owner uint32) mqi.RC {
	both := u.part()
	if rc := m.enqueueAlone(both, q, head, body, owner); rc != 0 {
		u.join(both) // trigger messages of a refusal
		return rc
	}
	dup := u.part()
	if rc := m.streamCopy(dup, cfg.streamQ, head, body, owner); rc == 0 {
		both.join(dup)
	} else {
		m.withdraw(dup)
		u.later = append(u.later, dup.later...)
		if cfg.mustDup {
			m.withdraw(both)
			u.later = append(u.later, both.later...)
			m.opt.Log.Warn().Str("qmgr", m.opt.Name).Str("queue", q.obj.Name).Str("streamq", cfg.streamQ).Int32("rc", int32(rc)).
				Msg("message refused: STRMQOS(MUSTDUP) and its copy cannot be put on the STREAMQ")
			return rc
		}
	}
	u.join(both)
	return 0
}

// notStreamed are report options that a copy does not keep: its getter is not whom the putter waits for.
const notStreamed = mqi.MQRO_COA_WITH_FULL_DATA | mqi.MQRO_COD_WITH_FULL_DATA | mqi.MQRO_EXPIRATION_WITH_FULL_DATA |
	mqi.MQRO_EXCEPTION_WITH_FULL_DATA

// streamCopy puts the copy of a message.
func (m *Manager) streamCopy(u *uow, name string, head *msgHead, body []byte, owner uint32) mqi.RC {
	r, rc := m.namespace().resolve("", name, mqi.MQOO_OUTPUT)
	switch {
	case rc != 0:
		return rc
	case r.base == nil:
		return mqi.MQRC_Q_TYPE_ERROR
	case r.putAllowed() != 0, r.base.Name == delayQueue:
		return mqi.MQRC_PUT_INHIBITED
	}
	h := *head
	h.md.Report &^= notStreamed
	cfg := r.base.Queue.cfg.Load()
	if h.md.Persistence == mqi.MQPER_PERSISTENT && cfg.deftype == "TEMPDYN" {
		return mqi.MQRC_PERSISTENT_NOT_ALLOWED
	}
	if h.deliver = deliverAt(h.md.Priority); cfg.fifo {
		h.deliver = cfg.defPrty
	}
	out := &h
	if r.remote {
		out, body = m.envelope(r, &h, body)
	}
	if len(body) > cfg.maxMsgL {
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q
	}
	return m.enqueueAlone(u, r.base.Queue, out, body, owner)
}

// capExpiry shortens a message's time to the CAPEXPRY (tenths of a second) of a definition on its way.
func (h *msgHead) capExpiry(now time.Time, o *Object) {
	n := 0
	if o.Queue != nil {
		n = o.Queue.cfg.Load().capExpiry
	} else {
		n = capTenths(o.Def())
	}
	if end := expiryAt(now, int32(n)); n > 0 && (h.expire == 0 || h.expire > end) {
		h.expire, h.md.Expiry = end, int32(n)
	}
}
