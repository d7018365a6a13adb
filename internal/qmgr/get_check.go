package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

const (
	getBrowse = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_BROWSE_NEXT | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR
	getSync   = mqi.MQGMO_SYNCPOINT | mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_SYNCPOINT_IF_PERSISTENT
	getMarks  = mqi.MQGMO_MARK_BROWSE_HANDLE | mqi.MQGMO_MARK_BROWSE_CO_OP | mqi.MQGMO_UNMARK_BROWSE_CO_OP |
		mqi.MQGMO_UNMARK_BROWSE_HANDLE | mqi.MQGMO_UNMARKED_BROWSE_MSG
	getProps = mqi.MQGMO_PROPERTIES_FORCE_MQRFH2 | mqi.MQGMO_NO_PROPERTIES | mqi.MQGMO_PROPERTIES_IN_HANDLE |
		mqi.MQGMO_PROPERTIES_COMPATIBILITY

	getKnown = mqi.MQGMO_WAIT | getSync | mqi.MQGMO_SET_SIGNAL | getBrowse | mqi.MQGMO_ACCEPT_TRUNCATED_MSG |
		mqi.MQGMO_MARK_SKIP_BACKOUT | mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_LOCK | mqi.MQGMO_UNLOCK |
		mqi.MQGMO_FAIL_IF_QUIESCING | mqi.MQGMO_CONVERT | mqi.MQGMO_LOGICAL_ORDER | mqi.MQGMO_COMPLETE_MSG |
		mqi.MQGMO_ALL_MSGS_AVAILABLE | mqi.MQGMO_ALL_SEGMENTS_AVAILABLE | getMarks | getProps
)

// checkGetOptions checks MQGMO_* for themselves and against the handle.
func (c *Conn) checkGetOptions(h *handle, gmo *mqi.GMO) mqi.RC {
	o := gmo.Options
	browse := o&getBrowse != 0
	switch {
	case gmo.Version < 1 || gmo.Version > 4:
		return mqi.MQRC_GMO_ERROR
	case o&^getKnown != 0,
		bits(o&getSync) > 1,
		bits(o&getBrowse) > 1,
		bits(o&getProps) > 1,
		browse && o&(mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_MARK_SKIP_BACKOUT|mqi.MQGMO_SYNCPOINT|mqi.MQGMO_SYNCPOINT_IF_PERSISTENT) != 0,
		o&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT != 0 && o&mqi.MQGMO_COMPLETE_MSG != 0,
		o&mqi.MQGMO_LOCK != 0 && !browse,
		o&mqi.MQGMO_UNLOCK != 0 && o&^(mqi.MQGMO_UNLOCK|mqi.MQGMO_NO_SYNCPOINT) != 0,
		o&mqi.MQGMO_SET_SIGNAL != 0,
		o&mqi.MQGMO_MARK_SKIP_BACKOUT != 0 && o&mqi.MQGMO_SYNCPOINT == 0,
		o&(mqi.MQGMO_MARK_BROWSE_HANDLE|mqi.MQGMO_MARK_BROWSE_CO_OP|mqi.MQGMO_UNMARKED_BROWSE_MSG) != 0 && !browse,
		o&mqi.MQGMO_UNMARKED_BROWSE_MSG != 0 && o&mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR != 0,
		o&mqi.MQGMO_MARK_BROWSE_CO_OP != 0 && !h.cooperates(),
		o&mqi.MQGMO_UNMARK_BROWSE_CO_OP != 0 && !h.cooperates():
		return mqi.MQRC_OPTIONS_ERROR
	case gmo.Version < 2 && o&(mqi.MQGMO_LOGICAL_ORDER|mqi.MQGMO_COMPLETE_MSG|mqi.MQGMO_ALL_MSGS_AVAILABLE|
		mqi.MQGMO_ALL_SEGMENTS_AVAILABLE) != 0:
		return mqi.MQRC_WRONG_GMO_VERSION
	case h.queue == nil || h.res.remote:
		return mqi.MQRC_HOBJ_ERROR
	case (browse || o&(mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_UNLOCK) != 0) && !h.browse:
		return mqi.MQRC_NOT_OPEN_FOR_BROWSE
	case !browse && o&(mqi.MQGMO_UNLOCK|mqi.MQGMO_UNMARK_BROWSE_CO_OP|mqi.MQGMO_UNMARK_BROWSE_HANDLE) == 0 && !h.input:
		return mqi.MQRC_NOT_OPEN_FOR_INPUT
	case o&mqi.MQGMO_WAIT != 0 && gmo.WaitInterval < mqi.MQWI_UNLIMITED:
		return mqi.MQRC_WAIT_INTERVAL_ERROR
	case o&mqi.MQGMO_FAIL_IF_QUIESCING != 0 && c.quiescing() != 0:
		return c.quiescing()
	}
	return 0
}

// cooperates reports whether the handle belongs to the cooperating browsers.
func (h *handle) cooperates() bool { return h.opts&mqi.MQOO_CO_OP != 0 }

// aliasGet checks GET(DISABLED) of an alias in the path; the queue's own is checked under its lock.
func (r *resolved) aliasGet() mqi.RC {
	for _, o := range r.path {
		if o != r.base && o.Def().Get("GET") == "DISABLED" {
			return mqi.MQRC_GET_INHIBITED
		}
	}
	return 0
}

// unmark serves the options that only take marks or locks away. done says that the verb ends with this.
func (h *handle) unmark(gmo *mqi.GMO) (done bool, warn, fail mqi.RC) {
	q, o := h.queue, gmo.Options
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.dead:
		return true, 0, mqi.MQRC_Q_DELETED
	case o&mqi.MQGMO_UNLOCK != 0:
		if !q.unlock(h) {
			return true, mqi.MQRC_NO_MSG_LOCKED, 0
		}
		return true, 0, 0
	case o&(mqi.MQGMO_UNMARK_BROWSE_HANDLE|mqi.MQGMO_UNMARK_BROWSE_CO_OP) == 0:
		return false, 0, 0
	}
	var slot uint32
	if gmo.Version >= 3 && gmo.MatchOptions&mqi.MQMO_MATCH_MSG_TOKEN != 0 {
		s, seq := splitToken(gmo.MsgToken, q.qid)
		if slot = s; !q.slab.valid(s, seq) {
			return true, 0, mqi.MQRC_NO_MSG_AVAILABLE
		}
	} else if slot = q.underCursor(h, h.conn.m.opt.Clock.Now().UnixMilli()); slot == 0 {
		return true, 0, mqi.MQRC_NO_MSG_UNDER_CURSOR
	}
	if o&mqi.MQGMO_UNMARK_BROWSE_HANDLE != 0 {
		delete(h.marks, slot)
	}
	if o&mqi.MQGMO_UNMARK_BROWSE_CO_OP != 0 {
		q.unmarkCoop(slot)
	}
	q.wait.endIf(func(w *waiter) bool { return w.kind == waitBrowse }, waitResult{look: true})
	return true, 0, 0
}
