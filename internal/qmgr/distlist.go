package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Distribution lists: one handle for several queues, one put for all of them. Each destination is opened and put to by the
// rules of a single queue, with its own reason; what is put outside syncpoint is one unit of work, so one wait for the disk.

// distList is what the handle of a list leads to. The handles of its queues belong to no number: only the list's is known.
type distList struct{ dests []destination }

// destination is one queue of a list.
type destination struct {
	h   *handle // nil when it could not be opened
	cc  mqi.CC  // of the last verb
	rc  mqi.RC
	rem bool
}

// set notes what a verb came to.
func (d *destination) set(err error) { d.cc, d.rc = mqi.Reason(err) }

// handlesOf are the handles that stand for queues: those of a list, or the handle itself.
func (h *handle) handlesOf(fn func(*handle)) {
	if h.list == nil {
		fn(h)
		return
	}
	for i := range h.list.dests {
		if d := h.list.dests[i].h; d != nil {
			fn(d)
		}
	}
}

// openCount is how many handles the connection has open, by the count of MAXHANDS: each queue of a list is one.
func (c *Conn) openCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// weight is what a handle counts for MAXHANDS.
func (h *handle) weight() (n int) {
	h.handlesOf(func(*handle) { n++ })
	return n
}

// checkList checks the fields of a descriptor that opens a distribution list.
func checkList(od *mqi.OD, options int32) mqi.RC {
	switch {
	case od.RecsPresent < 0, od.ObjectType != mqi.MQOT_Q:
		return mqi.MQRC_RECS_PRESENT_ERROR
	case !blank(od.ObjectName):
		return mqi.MQRC_OBJECT_NAME_ERROR
	case !blank(od.ObjectQMgrName):
		return mqi.MQRC_OBJECT_Q_MGR_NAME_ERROR
	case len(od.ObjectRecords) < int(od.RecsPresent):
		return mqi.MQRC_OBJECT_RECORDS_ERROR
	case options&openKinds != mqi.MQOO_OUTPUT:
		return mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	}
	return 0
}

// openList opens the queues of a list. It fails when none can be opened; room is how many handles MAXHANDS still allows.
func (c *Conn) openList(ctx context.Context, op string, h *handle, od *mqi.OD, room int) error {
	h.list = &distList{dests: make([]destination, od.RecsPresent)}
	h.res = &resolved{qmName: c.m.opt.Name}
	for i := range h.list.dests {
		d := &h.list.dests[i]
		if room == 0 {
			d.set(mqi.E(op, od.ObjectRecords[i].ObjectName, mqi.MQRC_HANDLE_NOT_AVAILABLE))
			continue
		}
		one, err := c.openDestination(ctx, op, h, od, &od.ObjectRecords[i])
		d.set(err)
		if err != nil {
			continue
		}
		d.h, d.rem = one, one.res.remote
		room--
	}
	od.KnownDestCount, od.UnknownDestCount, od.InvalidDestCount = h.list.tally()
	err := h.list.outcome(op)
	if mixed(err) {
		od.ResponseRecords = h.list.responses()
	}
	if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
		return err
	}
	h.warning = err
	return nil
}

// openDestination opens one queue of a list. Model queues cannot be in one.
func (c *Conn) openDestination(ctx context.Context, op string, list *handle, od *mqi.OD, r *mqi.OR) (*handle, error) {
	one := mqi.DefaultOD()
	one.ObjectName, one.ObjectQMgrName, one.AlternateUserID = r.ObjectName, r.ObjectQMgrName, od.AlternateUserID
	h := &handle{id: c.m.rt.handleSeq.Add(1), conn: c, opts: list.opts, name: r.ObjectName, objType: mqi.MQOT_Q}
	if to, rc := c.m.namespace().resolve(r.ObjectQMgrName, r.ObjectName, h.opts); rc == 0 && to.model != nil {
		return nil, mqi.E(op, r.ObjectName, mqi.MQRC_Q_TYPE_ERROR)
	}
	if err := c.openQueue(ctx, op, h, &one); err != nil {
		return nil, err
	}
	return h, nil
}

// closeList closes the queues of a list.
func (c *Conn) closeList(ctx context.Context, h *handle, options int32) error {
	if options&^mqi.MQCO_QUIESCE != 0 {
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	}
	c.forget(h)
	var first error
	h.handlesOf(func(one *handle) {
		err := c.closeHandle(ctx, one, mqi.MQCO_NONE)
		if rc := one.putGroup.unfinished(); err == nil && rc != 0 {
			err = mqi.Warn("MQCLOSE", one.name, rc)
		}
		if first == nil {
			first = err
		}
	})
	return first
}

// tally counts the destinations that went well, local and remote, and those that did not.
func (l *distList) tally() (known, unknown, invalid int32) {
	for i := range l.dests {
		switch d := &l.dests[i]; {
		case d.cc == mqi.CCFailed:
			invalid++
		case d.rem:
			unknown++
		default:
			known++
		}
	}
	return known, unknown, invalid
}

// outcome is the completion of a verb on the list: that of all destinations when they agree, else 2136.
func (l *distList) outcome(op string) error {
	best, same := mqi.CCFailed, true
	for i := range l.dests {
		d := &l.dests[i]
		best = min(best, d.cc)
		same = same && d.rc == l.dests[0].rc && d.cc == l.dests[0].cc
	}
	switch first := &l.dests[0]; {
	case !same && best == mqi.CCFailed:
		return mqi.E(op, "distribution list", mqi.MQRC_MULTIPLE_REASONS)
	case !same:
		return mqi.Warn(op, "distribution list", mqi.MQRC_MULTIPLE_REASONS)
	case first.cc == mqi.CCOK:
		return nil
	default:
		return &mqi.Error{Op: op, Object: "distribution list", CC: first.cc, RC: first.rc}
	}
}

// mixed reports whether the response records say more than the verb's reason.
func mixed(err error) bool {
	_, rc := mqi.Reason(err)
	return rc == mqi.MQRC_MULTIPLE_REASONS
}

func (l *distList) responses() []mqi.RR {
	out := make([]mqi.RR, len(l.dests))
	for i := range l.dests {
		out[i] = mqi.RR{CC: l.dests[i].cc, RC: l.dests[i].rc}
	}
	return out
}

const pmrKnown = mqi.MQPMRF_MSG_ID | mqi.MQPMRF_CORREL_ID | mqi.MQPMRF_GROUP_ID | mqi.MQPMRF_FEEDBACK |
	mqi.MQPMRF_ACCOUNTING_TOKEN

// checkRecords checks what a put says about put-message records.
func (h *handle) checkRecords(pmo *mqi.PMO) mqi.RC {
	if pmo.Version < 2 {
		return 0
	}
	n, f := pmo.RecsPresent, pmo.PutMsgRecFields
	switch {
	case n < 0, n > 0 && h.list == nil:
		return mqi.MQRC_RECS_PRESENT_ERROR
	case n == 0:
		return 0
	case f&^pmrKnown != 0, f == mqi.MQPMRF_NONE && len(pmo.PutMsgRecords) > 0,
		f&mqi.MQPMRF_ACCOUNTING_TOKEN != 0 && pmo.Options&(mqi.MQPMO_SET_IDENTITY_CONTEXT|mqi.MQPMO_SET_ALL_CONTEXT) == 0:
		return mqi.MQRC_PMO_RECORD_FLAGS_ERROR
	case len(pmo.PutMsgRecords) > 0 && len(pmo.PutMsgRecords) < int(n):
		return mqi.MQRC_PUT_MSG_RECORDS_ERROR
	}
	return 0
}

// putList puts a message to all queues of a list. md stays as it is: what it would return differs from queue to queue.
func (c *Conn) putList(op string, h *handle, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	fail := func(rc mqi.RC) error { return mqi.E(op, "distribution list", rc) }
	if md.Version < 1 || md.Version > 2 {
		return fail(mqi.MQRC_MD_ERROR)
	}
	if rc := c.checkPutOptions(op, h, pmo); rc != 0 {
		return fail(rc)
	}
	var all *uow
	if pmo.Options&mqi.MQPMO_SYNCPOINT == 0 {
		all = &uow{}
		defer c.m.leftover(all)
	}
	before := make([]groupPos, len(h.list.dests))
	for i := range h.list.dests {
		d := &h.list.dests[i]
		if d.h == nil {
			if op == "MQPUT" { // MQOPEN has told why; MQPUT1 tells it here
				d.cc, d.rc = mqi.CCFailed, mqi.MQRC_OPEN_FAILED
			}
			continue
		}
		before[i] = d.h.putGroup
		c.putTo(op, d, all, i, md, pmo, body)
	}
	if all != nil && len(all.puts) > 0 {
		if err := storeReason(op, "distribution list", c.m.commit(all)); err != nil {
			h.list.failed(err, before)
		}
	}
	pmo.ResolvedQName, pmo.ResolvedQMgrName = "", ""
	pmo.KnownDestCount, pmo.UnknownDestCount, pmo.InvalidDestCount = h.list.tally()
	err := h.list.outcome(op)
	if mixed(err) {
		pmo.ResponseRecords = h.list.responses()
	}
	return err
}

// failed takes back what was to be committed together.
func (l *distList) failed(err error, before []groupPos) {
	for i := range l.dests {
		if d := &l.dests[i]; d.h != nil && d.cc != mqi.CCFailed {
			d.set(err)
			d.h.putGroup = before[i]
		}
	}
}

// putTo puts the message to one queue of the list, with the fields of its record. all gathers what is outside syncpoint.
func (c *Conn) putTo(op string, d *destination, all *uow, i int, md *mqi.MD, pmo *mqi.PMO, body []byte) {
	one, opts := *md, *pmo
	opts.RecsPresent, opts.PutMsgRecFields, opts.PutMsgRecords, opts.ResponseRecords = 0, 0, nil, nil
	var rec *mqi.PMR
	if pmo.Version >= 2 && i < int(pmo.RecsPresent) && i < len(pmo.PutMsgRecords) {
		rec = &pmo.PutMsgRecords[i]
		rec.Fill(&one, pmo.PutMsgRecFields)
	}
	d.h.gather = all
	err := c.put(op, d.h, &one, &opts, body)
	d.h.gather = nil
	d.set(err)
	c.putDone(op, d.h, &one, len(body), err)
	if rec != nil && d.cc != mqi.CCFailed {
		rec.Take(&one, pmo.PutMsgRecFields)
	}
}
