package qmgr

import (
	"fmt"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Puts with MQPMO_ASYNC_RESPONSE, which Conn.async counts since the last MQSTAT. The engine puts at once and its caller is told; a door that does not answer its client takes
// that as it is, and MQSTAT tells the client what became of them.
//
// A persistent message that was to be part of a unit of work is more than a count: to commit the unit without it would lose it
// silently. Such a unit is backed out when it is to be committed, and MQCMIT answers 2003.

// lostPuts are the persistent messages of a unit of work that are not in it, because puts without answer failed.
type lostPuts struct {
	n     int
	first error // why the first of them failed
}

// split gives what was lost before the first n and after.
func (l lostPuts) split(n int) (before, after lostPuts) {
	if n > 0 {
		before = lostPuts{min(n, l.n), l.first}
	}
	if n < l.n {
		after = lostPuts{l.n - n, l.first}
	}
	return before, after
}

// err is why the unit must not be committed; nil when it may.
func (l lostPuts) err() error {
	if l.n == 0 {
		return nil
	}
	return fmt.Errorf("%d asynchronous puts of persistent messages in this unit of work failed, the first of them: %w; MQSTAT tells more",
		l.n, l.first)
}

// commitUnlessLost commits a unit, or backs it out when a message that belongs to it is lost. The application had the messages that
// the unit got, so that counts as a backout of them.
func (m *Manager) commitUnlessLost(u *uow) error {
	if err := u.lost.err(); err != nil {
		m.undo(u)
		return err
	}
	return m.commit(u)
}

// countAsync counts a put that asked for no answer. h is nil when the put did not come to a handle.
func (c *Conn) countAsync(h *handle, typ int32, object string, md *mqi.MD, pmo *mqi.PMO, err error) {
	if pmo.Options&mqi.MQPMO_ASYNC_RESPONSE == 0 {
		return
	}
	if t := c.async.Count(err); t != nil {
		t.ObjectType, t.ObjectName, t.ObjectQMgrName = typ, object, c.m.opt.Name
		t.ResolvedObject, t.ResolvedQMgrName = pmo.ResolvedQName, pmo.ResolvedQMgrName
	}
	if cc, _ := mqi.Reason(err); pmo.Options&mqi.MQPMO_SYNCPOINT == 0 || cc != mqi.CCFailed && !mixed(err) || c.ephemeral(h, md) {
		return
	}
	l := &c.begun().lost
	if l.n++; l.first == nil {
		l.first = err
	}
}

// ephemeral reports that a message that was not put would not have been persistent. Where that depends on what is not known, as
// on a queue that is not there, it would have been.
func (c *Conn) ephemeral(h *handle, md *mqi.MD) bool {
	switch {
	case md.Persistence == mqi.MQPER_NOT_PERSISTENT:
		return true
	case md.Persistence != mqi.MQPER_PERSISTENCE_AS_Q_DEF || h == nil || h.list != nil:
		return false
	case h.topic != nil:
		attrs := h.topic.pub.ResolveAll(c.m.topics.tree)
		return attrs[pubsub.DEFPSIST] != "YES"
	case h.queue != nil:
		return h.res.first().Get("DEFPSIST") != "YES"
	}
	return false
}

// CountRefused counts a put that asked for no answer and that the caller has refused itself, by its handle; by the name of its
// object when the handle is none (MQPUT1).
func (c *Conn) CountRefused(n Handle, object string, md *mqi.MD, pmo *mqi.PMO, err error) {
	if c.begin("MQPUT", object) != nil {
		return
	}
	defer c.verb.Unlock()
	typ := int32(mqi.MQOT_Q)
	h, herr := c.handle("MQPUT", n)
	if herr == nil {
		typ, object = h.objType, h.name
	}
	c.countAsync(h, typ, object, md, pmo, err)
}

// Stat tells what became of the puts without answer since it was asked last (MQSTAT).
func (c *Conn) Stat(typ int32) (mqi.STS, error) {
	if err := c.begin("MQSTAT", c.m.opt.Name); err != nil {
		return mqi.STS{}, err
	}
	defer c.verb.Unlock()
	switch typ {
	case mqi.MQSTAT_TYPE_ASYNC_ERROR:
		return c.async.Take(), nil
	case mqi.MQSTAT_TYPE_RECONNECTION, mqi.MQSTAT_TYPE_RECONNECTION_ERROR: // it is the client that connects again
		return mqi.STS{}, mqi.E("MQSTAT", c.m.opt.Name, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
	return mqi.STS{}, mqi.E("MQSTAT", c.m.opt.Name, mqi.MQRC_STAT_TYPE_ERROR)
}
