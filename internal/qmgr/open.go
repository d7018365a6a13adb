package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

const (
	openKinds = inputOptions | mqi.MQOO_OUTPUT | mqi.MQOO_INQUIRE | mqi.MQOO_SET

	openKnown = openKinds | mqi.MQOO_SAVE_ALL_CONTEXT | mqi.MQOO_PASS_IDENTITY_CONTEXT | mqi.MQOO_PASS_ALL_CONTEXT |
		mqi.MQOO_SET_IDENTITY_CONTEXT | mqi.MQOO_SET_ALL_CONTEXT | mqi.MQOO_ALTERNATE_USER_AUTHORITY |
		mqi.MQOO_FAIL_IF_QUIESCING | mqi.MQOO_BIND_ON_OPEN | mqi.MQOO_BIND_NOT_FIXED | mqi.MQOO_BIND_ON_GROUP |
		mqi.MQOO_RESOLVE_NAMES | mqi.MQOO_CO_OP | mqi.MQOO_NO_READ_AHEAD | mqi.MQOO_READ_AHEAD |
		mqi.MQOO_NO_MULTICAST | mqi.MQOO_RESOLVE_LOCAL_Q

	contextOptions = mqi.MQOO_PASS_IDENTITY_CONTEXT | mqi.MQOO_PASS_ALL_CONTEXT | mqi.MQOO_SET_IDENTITY_CONTEXT |
		mqi.MQOO_SET_ALL_CONTEXT
)

// checkOpenOptions checks MQOO_* for themselves.
func checkOpenOptions(o int32) mqi.RC {
	switch {
	case o&^openKnown != 0,
		o&openKinds == 0,
		bits(o&(mqi.MQOO_INPUT_AS_Q_DEF|mqi.MQOO_INPUT_SHARED|mqi.MQOO_INPUT_EXCLUSIVE)) > 1,
		bits(o&(mqi.MQOO_BIND_ON_OPEN|mqi.MQOO_BIND_NOT_FIXED|mqi.MQOO_BIND_ON_GROUP)) > 1,
		bits(o&(mqi.MQOO_READ_AHEAD|mqi.MQOO_NO_READ_AHEAD)) > 1,
		o&mqi.MQOO_SAVE_ALL_CONTEXT != 0 && o&(inputOptions&^mqi.MQOO_BROWSE) == 0,
		o&mqi.MQOO_NO_MULTICAST != 0 && o&mqi.MQOO_OUTPUT == 0,
		o&mqi.MQOO_CO_OP != 0 && o&mqi.MQOO_BROWSE == 0,
		o&contextOptions != 0 && o&mqi.MQOO_OUTPUT == 0:
		return mqi.MQRC_OPTIONS_ERROR
	}
	return 0
}

func bits(v int32) int {
	n := 0
	for u := uint32(v); u != 0; u &= u - 1 {
		n++
	}
	return n
}

// Open opens an object (MQOPEN), or with RecsPresent a distribution list. od gets the name of a dynamic queue and the resolved
// names. A completion with a warning (some queues of a list) comes with a handle.
func (c *Conn) Open(ctx context.Context, od *mqi.OD, options int32) (n Handle, err error) {
	if err := c.begin("MQOPEN", od.ObjectName); err != nil {
		return 0, err
	}
	defer c.verb.Unlock()
	h, err := c.open(ctx, "MQOPEN", od, options)
	c.handleDone(didOpen, h, od.ObjectType, err)
	if err != nil {
		return 0, err
	}
	return h.num, h.warning
}

func (c *Conn) open(ctx context.Context, op string, od *mqi.OD, options int32) (*handle, error) {
	fail := func(rc mqi.RC) (*handle, error) { return nil, mqi.E(op, od.ObjectName, rc) }
	if od.Version < 1 || od.Version > 4 {
		return fail(mqi.MQRC_OD_ERROR)
	}
	if rc := checkOpenOptions(options); rc != 0 {
		return fail(rc)
	}
	if rc := c.quiescing(); rc != 0 && options&mqi.MQOO_FAIL_IF_QUIESCING != 0 {
		return fail(rc)
	}
	list := od.Version >= 2 && od.RecsPresent != 0
	if list {
		if rc := checkList(od, options); rc != 0 {
			return fail(rc)
		}
	}
	sel, err := openSelector(od, options)
	if err != nil {
		return nil, err
	}
	room := numAttr(c.m.qmgrDef(), "MAXHANDS", 256) - c.openCount()
	if room <= 0 {
		return fail(mqi.MQRC_HANDLE_NOT_AVAILABLE)
	}
	h := &handle{id: c.m.rt.handleSeq.Add(1), conn: c, opts: options, name: od.ObjectName, objType: od.ObjectType,
		sel: sel}
	switch {
	case list:
		err = c.openList(ctx, op, h, od, room)
	case od.ObjectType == mqi.MQOT_TOPIC:
		err = c.openTopic(op, h, od, nil)
	case od.ObjectType == mqi.MQOT_Q && c.m.aliasOfTopic(od, options) != nil:
		err = c.openTopic(op, h, od, c.m.aliasOfTopic(od, options))
	case od.ObjectType == mqi.MQOT_Q:
		err = c.openQueue(ctx, op, h, od)
	default:
		err = c.openOther(op, h, od)
	}
	if err != nil {
		return nil, err
	}
	c.register(h)
	return h, nil
}

// openOther opens what can only be inquired: the queue manager, processes, namelists.
func (c *Conn) openOther(op string, h *handle, od *mqi.OD) error {
	var class Class
	switch od.ObjectType {
	case mqi.MQOT_Q_MGR:
		class = ClassQmgr
		if od.ObjectName != "" {
			return mqi.E(op, od.ObjectName, mqi.MQRC_NAME_NOT_VALID_FOR_TYPE)
		}
		if od.ObjectQMgrName != "" && od.ObjectQMgrName != c.m.opt.Name {
			return mqi.E(op, od.ObjectQMgrName, mqi.MQRC_UNKNOWN_OBJECT_Q_MGR)
		}
	case mqi.MQOT_PROCESS:
		class = ClassProcess
	case mqi.MQOT_NAMELIST:
		class = ClassNamelist
	default:
		return mqi.E(op, od.ObjectName, mqi.MQRC_OBJECT_TYPE_ERROR)
	}
	if h.opts&(openKinds&^mqi.MQOO_INQUIRE) != 0 {
		return mqi.E(op, od.ObjectName, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	}
	name := od.ObjectName
	if class == ClassQmgr {
		name = qmgrName
	}
	o := c.m.lookup(class, name)
	if o == nil {
		return mqi.E(op, od.ObjectName, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	}
	if class == ClassQmgr {
		name = selfProfile
	}
	if err := c.mayOpen(op, h, od, string(class), name, 0, nil); err != nil {
		return err
	}
	h.res = &resolved{path: []*Object{o}, qmName: c.m.opt.Name}
	return nil
}

func (c *Conn) openQueue(ctx context.Context, op string, h *handle, od *mqi.OD) error {
	r, rc := c.m.namespace().resolve(od.ObjectQMgrName, od.ObjectName, h.opts)
	if rc != 0 {
		c.openRefused(od, rc)
		return mqi.E(op, od.ObjectName, rc)
	}
	if err := c.mayOpenQueue(op, h, od, r); err != nil {
		return err
	}
	if r.model != nil {
		if op == "MQPUT1" {
			return mqi.E(op, od.ObjectName, mqi.MQRC_Q_TYPE_ERROR)
		}
		return c.openDynamic(ctx, op, h, r.model, od)
	}
	h.res = r
	if err := c.bind(op, h); err != nil {
		return err
	}
	c.resolvedNames(h, od)
	return nil
}

// bind counts the handle on its local queue.
func (c *Conn) bind(op string, h *handle) error {
	base := h.res.base
	if base == nil {
		return nil
	}
	h.output = h.opts&mqi.MQOO_OUTPUT != 0
	h.browse = h.opts&mqi.MQOO_BROWSE != 0
	h.input = h.opts&(mqi.MQOO_INPUT_AS_Q_DEF|mqi.MQOO_INPUT_SHARED|mqi.MQOO_INPUT_EXCLUSIVE) != 0
	cfg := base.Queue.cfg.Load()
	if h.input {
		h.excl = h.opts&mqi.MQOO_INPUT_EXCLUSIVE != 0 || h.opts&mqi.MQOO_INPUT_AS_Q_DEF != 0 && cfg.defExcl ||
			!cfg.share
	}
	first, rc := base.Queue.attach(h)
	if rc != 0 {
		return mqi.E(op, h.name, rc)
	}
	h.queue = base.Queue
	if first {
		c.m.initiatesAgain(h.queue)
	}
	return nil
}

// resolvedNames fills the output fields of the object descriptor.
func (c *Conn) resolvedNames(h *handle, od *mqi.OD) {
	od.KnownDestCount, od.UnknownDestCount, od.InvalidDestCount = 1, 0, 0
	if h.res.remote {
		od.KnownDestCount, od.UnknownDestCount = 0, 1
	}
	if od.Version < 3 {
		return
	}
	if od.ResolvedType = mqi.MQOT_Q; onlyLooks(h.opts) {
		od.ResolvedQName, od.ResolvedQMgrName = "", ""
		return
	}
	od.ResolvedQName, od.ResolvedQMgrName = h.res.qName, h.res.qmName
	if h.opts&mqi.MQOO_RESOLVE_LOCAL_Q != 0 && h.res.base != nil {
		od.ResolvedQName, od.ResolvedQMgrName = h.res.base.Name, c.m.opt.Name
	}
}
