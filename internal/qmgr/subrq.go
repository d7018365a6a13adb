package qmgr

import (
	"context"
	"math"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// MQSUBRQ, and the sending of retained publications to one subscription.

// SubRequest asks for the retained publications of a subscription that was made with MQSO_PUBLICATIONS_ON_REQUEST
// (MQSUBRQ). sro.NumPubs says how many were put to its queue.
func (c *Conn) SubRequest(ctx context.Context, hsub Handle, action int32, sro *mqi.SRO) error {
	if err := c.begin("MQSUBRQ", ""); err != nil {
		return err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQSUBRQ", hsub)
	if err != nil {
		return err
	}
	fail := func(rc mqi.RC) error { return mqi.E("MQSUBRQ", h.name, rc) }
	switch {
	case h.sub == nil:
		return fail(mqi.MQRC_HOBJ_ERROR)
	case sro.Version != 1:
		return fail(mqi.MQRC_SRO_ERROR)
	case sro.Options&^mqi.MQSRO_FAIL_IF_QUIESCING != 0:
		return fail(mqi.MQRC_OPTIONS_ERROR)
	case action != mqi.MQSR_ACTION_PUBLICATION:
		return fail(mqi.MQRC_ACTION_ERROR)
	case sro.Options&mqi.MQSRO_FAIL_IF_QUIESCING != 0 && c.quiescing() != 0:
		return fail(c.quiescing())
	}
	s := h.sub.obj.sub.Load()
	switch {
	case s == nil:
		return fail(mqi.MQRC_INVALID_SUBSCRIPTION) // it has expired or was deleted
	case !cfgOf(s).reqOnly:
		return fail(mqi.MQRC_ACTION_ERROR)
	}
	if rc := c.m.retainedReadable(); rc != 0 {
		return fail(rc)
	}
	u := &uow{}
	defer c.m.leftover(u)
	n, rc := c.m.sendRetained(u, s, math.MaxUint64)
	if rc == 0 && n == 0 {
		rc = mqi.MQRC_NO_RETAINED_MSG
	}
	if rc != 0 {
		c.m.withdraw(u)
		return fail(rc)
	}
	if err := c.m.commit(u); err != nil {
		return storeReason("MQSUBRQ", h.name, err)
	}
	sro.NumPubs = int32(n)
	return nil
}

// retainedLevel is the level at which retained publications are published again: interceptors do not get them.
const retainedLevel = 1

// sendRetained puts the retained publications that fit a subscription on its queue, as part of u. On failure the caller
// gives u back. Publications with a number above upTo are left out: they reach the subscription by themselves.
func (m *Manager) sendRetained(u *uow, s *pubsub.Sub, upTo uint64) (n int, rc mqi.RC) {
	if upTo != math.MaxUint64 {
		m.retain.settled(upTo)
	}
	if s.Level > retainedLevel {
		return 0, 0
	}
	reads := retainedReads{m: m}
	reads.search(s.Filter())
	defer reads.wait()
	for r := reads.next(); r != nil; r = reads.next() {
		got, rc := m.putRetained(u, s, r, upTo)
		if n += got; rc != 0 {
			return n, rc
		}
	}
	return n, 0
}

// putRetained puts copies of publications that have been read on the queue of a subscription.
func (m *Manager) putRetained(u *uow, s *pubsub.Sub, r *retainedRead, upTo uint64) (n int, rc mqi.RC) {
	defer r.over()
	if r.err != nil {
		m.opt.Log.Error().Err(r.err).Str("sub", s.Name).Msg("retained publications not readable")
		return 0, mqi.MQRC_RETAINED_MSG_Q_ERROR
	}
	cfg := cfgOf(s)
	u.grow(len(r.at))
	pub := &publication{}
	for i := range r.at {
		at, msg := &r.at[i], &r.got[i]
		if !msg.there || uint64(at.Ref)>>1 > upTo {
			continue
		}
		*pub = publication{m: m, topic: at.Topic, head: &msg.head, body: msg.body, level: pubsub.MaxSubLevel, retained: true}
		if !pub.selected(cfg.sel) {
			continue
		}
		rc := m.sendCopy(u, pub, s)
		if rc != 0 && m.topics.tree.Resolve(pub.topic, pubsub.USEDLQ) == "YES" {
			pub.useDLQ = true
			rc = m.sendCopy(u, pub, s)
		}
		if rc != 0 {
			return n, mqi.MQRC_RETAINED_NOT_DELIVERED
		}
		u.sent = append(u.sent, s)
		n++
	}
	return n, 0
}
