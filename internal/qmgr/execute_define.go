package qmgr

import (
	"slices"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// define runs DEFINE of every kind.
func (x *exec) define() *attr.Reply {
	c := x.c
	class := classOf(c.Kind)
	base, r := x.baseDef()
	if r != nil {
		return r
	}
	if r := x.settleReferences(base); r != nil {
		return r
	}
	objs, err := x.m.latch(x.ctx, x.p, key{class, c.Name})
	if err != nil {
		return interrupted(err)
	}
	o := objs[0]
	old := o.Def()
	if old != nil {
		if !x.yes("REPLACE") {
			return x.alreadyExists()
		}
		if old.Kind != c.Kind {
			return wrongType(c.Name, old.Kind, c.Kind)
		}
	}
	d := base.clone()
	x.apply(d, attrDefine)
	if old != nil {
		x.keepFixed(d, old)
	}
	if r := x.check(d, old, o); r != nil {
		return r
	}
	now := x.m.opt.Clock.Now()
	if old == nil {
		d.stampCreated(now)
	} else {
		d.set("CRDATE", old.Get("CRDATE"))
		d.set("CRTIME", old.Get("CRTIME"))
		d.set("DEFTYPE", defTypeOf(old, d))
		d.stampAltered(now)
	}
	u := x.p.newUnit(x.success(c.Name))
	if r := x.store(u, o, old, d); r != nil {
		u.cancel()
		return r
	}
	return x.submit(u)
}

// defTypeOf keeps a dynamic queue dynamic when it is replaced; models say their DEFTYPE themselves.
func defTypeOf(old, d *Def) string {
	if d.Kind == "QLOCAL" {
		return old.Get("DEFTYPE")
	}
	return d.Get("DEFTYPE")
}

// cancel undoes what was reserved for a unit that does not come to be. Once.
func (u *unit) cancel() {
	list := u.undo
	u.undo = nil
	slices.Reverse(list)
	allOf(list)
}

// store adds what a new or changed definition needs to the unit, by kind.
func (x *exec) store(u *unit, o *Object, old, d *Def) *attr.Reply {
	switch d.Kind {
	case "TOPIC":
		return x.storeTopic(u, o, old, d)
	case "SUB":
		return x.storeSub(u, o, old, d)
	}
	x.m.putObject(u, o, d)
	return nil
}

// putObject adds a definition to a unit: stored, and in force when the unit is durable.
func (m *Manager) putObject(u *unit, o *Object, d *Def) {
	var id store.QID
	fresh := false
	record := d.Get("DEFTYPE") != "TEMPDYN" || d.Kind != "QLOCAL" // a temporary queue is gone with the manager
	if o.Class == ClassSub && d.Get("DURABLE") == "NO" {
		record = false // it ends with its application
	}
	switch {
	case o.Queue != nil:
		id = o.qid()
	case d.Kind == "QLOCAL":
		id, fresh = m.newQID(), true
	}
	if record {
		u.tx.Set(tableOf(o.Class), storeKey(o.Class, o.Name), m.portable(d).encode(id))
	}
	u.changes = append(u.changes, change{o, o.Def(), d})
	u.onSwap(func() { m.swapDef(o, d, id, fresh) })
}

func (m *Manager) register(o *Object, d *Def, id store.QID, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o.def.Store(d)
	if fresh {
		o.Queue = newQueue(m, o, id)
		m.byQID[id] = o
	}
}

// swapDef puts a definition in force.
func (m *Manager) swapDef(o *Object, d *Def, id store.QID, fresh bool) {
	m.register(o, d, id, fresh)
	m.recordsChanged(o.Class)
	if o.Queue != nil && !fresh {
		o.Queue.defChanged(d)
	}
	if d.Kind == "QALIAS" && d.Get("GET") == "DISABLED" && !fresh {
		m.inhibitGets(o)
	}
}

func (m *Manager) newQID() store.QID { return store.QID(m.nextQID.Add(1) - 1) }

// alreadyExists is the refusal of DEFINE without REPLACE.
func (x *exec) alreadyExists() *attr.Reply {
	if isChannel(x.c.Kind) {
		return failed(mqi.MQRCCF_CHANNEL_ALREADY_EXISTS, msgChannelExists, x.c.Name)
	}
	if x.c.Kind == "SUB" {
		return failed(mqi.MQRCCF_SUB_ALREADY_EXISTS, msgExists, x.c.Name)
	}
	return failed(mqi.MQRCCF_OBJECT_ALREADY_EXISTS, msgExists, x.c.Name)
}

// wrongType is the refusal of a command whose object is of another type of its name space.
func wrongType(name string, is, wanted attr.Kind) *attr.Reply {
	return failed(mqi.MQRCCF_OBJECT_WRONG_TYPE, msgWrongType, name, string(is), string(wanted))
}

// notFound is the refusal of a command that names an object which is not there.
func (x *exec) notFound(name string) *attr.Reply { return notFoundOf(classOf(x.c.Kind), name) }

func notFoundOf(c Class, name string) *attr.Reply {
	if c == ClassChannel || c == ClassClntconn {
		return failed(mqi.MQRCCF_CHANNEL_NOT_FOUND, msgChannelNotFound, name)
	}
	return failed(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNotFound, name)
}

// baseDef makes the values that a DEFINE starts from: those of LIKE's object, else of the SYSTEM.DEFAULT object of
// the kind as it is now, else of the table.
func (x *exec) baseDef() (*Def, *attr.Reply) {
	c := x.c
	d, err := newDef(c.Kind, c.Name)
	if err != nil {
		return nil, failed(mqi.MQRC_UNEXPECTED_ERROR, msgUnexpected, err.Error())
	}
	from, isLike := c.Get("LIKE")
	if !isLike || from == "" {
		from, isLike = templateOf(c.Kind), false
	}
	if from == "" || from == c.Name && !isLike {
		return d, nil
	}
	o, err := x.m.settled(x.ctx, classOf(c.Kind), from)
	if err != nil {
		return nil, interrupted(err)
	}
	if o == nil || o.Def().Kind != c.Kind {
		switch {
		case !isLike:
			return d, nil
		case o == nil:
			return nil, notFoundOf(classOf(c.Kind), from)
		}
		return nil, failed(mqi.MQRCCF_LIKE_OBJECT_WRONG_TYPE, msgWrongType, from, string(o.Def().Kind), string(c.Kind))
	}
	src := o.Def()
	for i := range d.Schema.Attrs {
		if a := &d.Schema.Attrs[i]; a.Define == attr.Yes && !a.Positional {
			d.setVal(i, src.val(i))
		}
	}
	if !isLike && c.Kind == "TOPIC" {
		d.set("TOPICSTR", "")
	}
	d.fix()
	return d, nil
}

// applyTo says which column decides whether a keyword changes an attribute.
type applyTo uint8

const (
	attrDefine applyTo = iota
	attrAlter
)

// apply writes the command's parameters into a definition that is not in force yet.
func (x *exec) apply(d *Def, by applyTo) {
	for i := range x.c.Params {
		p := &x.c.Params[i]
		if p.Attr == nil || !p.HasValue || p.Attr.Positional {
			continue
		}
		use := p.Attr.Define
		if by == attrAlter {
			use = p.Attr.Alter
		}
		if use != attr.Yes {
			continue
		}
		v := p.Val
		if p.Attr.Hidden && v != "" {
			v = hide(v)
		}
		d.set(p.Key, v)
	}
}

// alter runs ALTER of every kind but QMGR.
func (x *exec) alter() *attr.Reply {
	o, r := x.existing(x.c.Name)
	if r != nil {
		return r
	}
	old := o.Def()
	if r := x.settleReferences(old); r != nil {
		return r
	}
	objs, err := x.m.latch(x.ctx, x.p, key{o.Class, o.Name})
	if err != nil {
		return interrupted(err)
	}
	o = objs[0]
	if r := x.stillThere(o); r != nil {
		return r
	}
	old = o.Def()
	if v, ok := x.c.Get("TRPTYPE"); ok && old.Kind == "LISTENER" && v != old.Get("TRPTYPE") {
		return failed(mqi.MQRCCF_OBJECT_WRONG_TYPE, msgWrongType, o.Name, "LISTENER TRPTYPE("+old.Get("TRPTYPE")+")", "LISTENER TRPTYPE("+v+")")
	}
	d := old.clone()
	x.apply(d, attrAlter)
	if r := x.check(d, old, o); r != nil {
		return r
	}
	d.stampAltered(x.m.opt.Clock.Now())
	u := x.p.newUnit(x.success(o.Name))
	if r := x.store(u, o, old, d); r != nil {
		u.cancel()
		return r
	}
	if x.c.Has("FORCE") {
		u.onSwap(func() { x.m.forceChanged(o) })
	}
	return x.submit(u)
}

// existing finds the object of an ALTER or DELETE, once no change of it is under way, and checks its kind.
func (x *exec) existing(name string) (*Object, *attr.Reply) {
	class := classOf(x.c.Kind)
	if x.c.Object == "SUB" {
		var r *attr.Reply
		if name, r = x.subName(); r != nil {
			return nil, r
		}
	}
	o, err := x.m.settled(x.ctx, class, name)
	if err != nil {
		return nil, interrupted(err)
	}
	if o == nil && x.c.Kind == "CHANNEL" {
		// DELETE CHANNEL without a type: the client-connection channel of that name, if any, is asked for by
		// CHLTABLE(CLNTTBL); without it the one that is left over is meant.
		if o, err = x.m.settled(x.ctx, ClassClntconn, name); err != nil {
			return nil, interrupted(err)
		}
	}
	if o == nil {
		return nil, x.notFound(name)
	}
	if k := o.Def().Kind; !kindFits(x.c.Kind, k) {
		return nil, wrongType(name, k, x.c.Kind)
	}
	return o, nil
}

// stillThere looks again at an object that was found before it was latched: another command may have deleted it
// meanwhile, or made one of another type under its name.
func (x *exec) stillThere(o *Object) *attr.Reply {
	d := o.Def()
	switch {
	case d == nil:
		return x.notFound(o.Name)
	case !kindFits(x.c.Kind, d.Kind):
		return wrongType(o.Name, d.Kind, x.c.Kind)
	}
	return nil
}

// delete runs DELETE of every kind.
func (x *exec) delete() *attr.Reply {
	o, r := x.existingForDelete()
	if r != nil {
		if x.yes("IGNSTATE") && (r.RC == mqi.MQRC_UNKNOWN_OBJECT_NAME || r.RC == mqi.MQRCCF_CHANNEL_NOT_FOUND) {
			return x.success(x.c.Name)
		}
		return r
	}
	keys := []key{{o.Class, o.Name}}
	if o.Class == ClassSub {
		if q := managedQueue(o.Def()); q != "" {
			keys = append(keys, key{ClassQueue, q})
		}
	}
	keys = append(keys, x.authrecsOf(o)...)
	objs, err := x.m.latch(x.ctx, x.p, keys...)
	if err != nil {
		return interrupted(err)
	}
	o = objs[0]
	if r := x.stillThere(o); r != nil {
		return r
	}
	u := x.p.newUnit(x.success(o.Name))
	if r := x.checkDelete(u, o); r != nil {
		u.cancel()
		return r
	}
	for _, o := range objs {
		if o.Def() != nil {
			x.m.dropObject(u, o)
		}
	}
	return x.submit(u)
}

func (x *exec) existingForDelete() (*Object, *attr.Reply) {
	if x.c.Object == "CHANNEL" {
		if t, ok := x.c.Get("CHLTABLE"); ok {
			class := ClassChannel
			if t == "CLNTTBL" {
				class = ClassClntconn
			}
			o, err := x.m.settled(x.ctx, class, x.c.Name)
			switch {
			case err != nil:
				return nil, interrupted(err)
			case o == nil:
				return nil, notFoundOf(class, x.c.Name)
			}
			return o, nil
		}
	}
	return x.existing(x.c.Name)
}

// checkDelete refuses the deletion of what is in use, and marks a queue so that nobody opens it meanwhile.
func (x *exec) checkDelete(u *unit, o *Object) *attr.Reply {
	switch o.Class {
	case ClassQueue:
		return x.checkDeleteQueue(u, o)
	case ClassSub:
		return x.checkDeleteSub(u, o)
	case ClassChannel:
		if x.m.channelRuns(o.Name) {
			return failed(mqi.MQRCCF_CHANNEL_IN_USE, msgChannelInUse, o.Name)
		}
	case ClassListener, ClassService:
		if r := o.run.Load(); r != nil && r.active() {
			return failed(mqi.MQRCCF_OBJECT_IN_USE, msgInUse, o.Name)
		}
	}
	return nil
}

func (x *exec) checkDeleteQueue(u *unit, o *Object) *attr.Reply {
	inUse := failed(mqi.MQRC_OBJECT_IN_USE, msgInUse, o.Name)
	if x.m.openedVia(o.Name) > 0 {
		return inUse
	}
	q := o.Queue
	if q == nil {
		return nil
	}
	o.deleting.Store(true)
	u.onUndo(func() { o.deleting.Store(false) })
	if q.inUse() || q.uncommitted() {
		return inUse
	}
	if q.depth() > 0 && !x.purge() {
		return failed(mqi.MQRC_Q_NOT_EMPTY, msgNotEmpty, o.Name)
	}
	return nil
}

// dropObject adds the removal of an object to a unit.
func (m *Manager) dropObject(u *unit, o *Object) {
	u.tx.Unset(tableOf(o.Class), storeKey(o.Class, o.Name))
	if o.Queue != nil {
		u.tx.DropQueue(o.qid())
		u.tx.Set(store.TableMeta, []byte(metaNextQID), putBE32(m.nextQID.Load()))
	}
	if o.stopped.Load() {
		u.tx.Unset(store.TableChannels, []byte(stoppedPrefix+o.Name))
	}
	d := o.Def()
	u.changes = append(u.changes, change{o, d, nil})
	u.onSwap(func() { m.forget(o, d) })
}

func (m *Manager) unregister(o *Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.removeLocked(o)
	if o.Queue != nil {
		delete(m.byQID, o.qid())
	}
}

// forget takes an object out of the registry and out of whatever follows it.
func (m *Manager) forget(o *Object, d *Def) {
	m.unregister(o)
	m.recordsChanged(o.Class)
	switch o.Class {
	case ClassQueue:
		if o.Queue != nil {
			o.Queue.deleted()
		}
	case ClassTopic:
		m.topicGone(o, d)
	case ClassSub:
		m.subGone(o, d)
	}
}
