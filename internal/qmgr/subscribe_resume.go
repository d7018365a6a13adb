package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// MQSUB with MQSO_RESUME and MQSO_ALTER.

// resume gives the application an existing subscription, after changing it when MQSO_ALTER asks for that. The latch of
// the subscription is held.
func (s *subscribing) resume(o *Object) (Handle, Handle, error) {
	d, ps := o.Def(), o.sub.Load()
	if ps == nil {
		return 0, 0, s.fail(mqi.MQRC_NO_SUBSCRIPTION)
	}
	want := auth.Resume
	if s.asks(mqi.MQSO_ALTER) {
		want = auth.Subscribe
	}
	if err := s.maySubscribe(d.subExtra().topic, subScheme(d), want); err != nil {
		return 0, 0, err
	}
	if rc := s.checkResume(d); rc != 0 {
		return 0, 0, s.fail(rc)
	}
	if err := s.mayUseDest(d); err != nil {
		return 0, 0, err
	}
	join, rc := s.checkShared(d, ps)
	if rc != 0 {
		return 0, 0, s.fail(rc)
	}
	// The queue first: a call that fails has changed nothing.
	h, err := s.resumedQueue(d)
	if err != nil {
		return 0, 0, err
	}
	switch {
	case join:
	case s.asks(mqi.MQSO_ALTER):
		d, err = s.alter(o, d)
	case d.Get("SUBUSER") != s.user && d.Get("VARUSER") != "FIXED":
		// The publications are now the new user's.
		d, err = s.changed(o, d, func(d *Def) { d.set("SUBUSER", s.user) })
	}
	if err != nil {
		s.letQueueGo(h)
		return 0, 0, err
	}
	queue := s.hobj
	switch {
	case h != nil:
		queue = s.c.register(h)
	case d.Get("DESTCLAS") == "MANAGED":
		queue = 0
	}
	s.returned(d)
	return queue, s.hold(o, ps), nil
}

// describes reports whether the call describes the subscription that it wants. To resume one its name is enough, and nothing else
// of the descriptor counts; those who share one must mean the same.
func (s *subscribing) describes() bool { return s.asks(mqi.MQSO_ALTER) || s.sd.Shared }

// checkResume compares what the call says with what cannot be altered.
func (s *subscribing) checkResume(d *Def) mqi.RC {
	e := d.subExtra()
	managed := d.Get("DESTCLAS") == "MANAGED"
	switch {
	case d.Get("VARUSER") == "FIXED" && d.Get("SUBUSER") != s.user:
		return mqi.MQRC_IDENTITY_MISMATCH
	case !s.describes():
		return s.checkGiven(d, managed)
	case s.asks(mqi.MQSO_DURABLE) != (d.Get("DURABLE") != "NO"):
		return mqi.MQRC_DURABILITY_NOT_ALTERABLE
	case s.full != "" && s.full != e.topic:
		return mqi.MQRC_TOPIC_NOT_ALTERABLE
	case s.full != "" && s.filter.Wild() && s.scheme != subScheme(d):
		return mqi.MQRC_TOPIC_NOT_ALTERABLE
	case s.asks(mqi.MQSO_MANAGED) && !managed:
		return mqi.MQRC_DEST_CLASS_NOT_ALTERABLE
	case s.asks(mqi.MQSO_ALTER):
		return s.checkAlter(d, e, managed)
	}
	return s.checkGiven(d, managed)
}

// checkGiven checks the queue that the application gives to resume a subscription: MQSO_ALTER changes the destination,
// MQSO_RESUME does not.
func (s *subscribing) checkGiven(d *Def, managed bool) mqi.RC {
	if managed || s.hobj == 0 {
		return 0
	}
	h, rc := s.givenQueue()
	if rc == 0 && (h.res.qName != d.Get("DEST") || h.res.qmName != d.Get("DESTQMGR")) {
		rc = mqi.MQRC_HOBJ_ERROR
	}
	return rc
}

func (s *subscribing) checkAlter(d *Def, e subExtra, managed bool) mqi.RC {
	sd := s.sd
	switch {
	case int64(sd.SubLevel) != d.Int("SUBLEVEL"):
		return mqi.MQRC_SUBLEVEL_NOT_ALTERABLE
	case s.asks(mqi.MQSO_GROUP_SUB) != e.group,
		e.group && hexID(sd.SubCorrelID) != d.Get("DESTCORL"):
		return mqi.MQRC_GROUPING_NOT_ALTERABLE
	case sd.SelectionString != d.Get("SELECTOR"):
		return mqi.MQRC_SELECTOR_NOT_ALTERABLE
	case managed && !s.asks(mqi.MQSO_MANAGED):
		return mqi.MQRC_DEST_CLASS_NOT_ALTERABLE
	case managed || s.hobj == 0:
		return 0
	}
	h, rc := s.givenQueue()
	if rc == 0 && d.Get("DURABLE") != "NO" && h.queue != nil && h.queue.cfg.Load().deftype == "TEMPDYN" {
		rc = mqi.MQRC_INVALID_DESTINATION
	}
	if rc == 0 && e.group && (h.res.qName != d.Get("DEST") || h.res.qmName != d.Get("DESTQMGR")) {
		rc = mqi.MQRC_GROUPING_NOT_ALTERABLE
	}
	return rc
}

// alter changes what may be changed.
func (s *subscribing) alter(o *Object, old *Def) (*Def, error) {
	return s.changed(o, old, func(d *Def) {
		s.applyAlterable(d)
		d.set("SUBUSER", s.user)
		if d.Get("DESTCLAS") != "MANAGED" && s.hobj != 0 {
			if h, rc := s.givenQueue(); rc == 0 {
				d.set("DEST", h.res.qName)
				d.set("DESTQMGR", h.res.qmName)
			}
		}
		e := d.subExtra()
		e.expires = expiresAt(s.m.opt.Clock.Now(), int64(s.sd.SubExpiry))
		d.setSubExtra(e)
	})
}

// changed stores a changed definition and puts it in force.
func (s *subscribing) changed(o *Object, old *Def, change func(*Def)) (*Def, error) {
	m := s.m
	d := old.clone()
	change(d)
	d.stampAltered(m.opt.Clock.Now())
	if d.Get("DURABLE") != "NO" {
		var tx store.Tx
		tx.Set(tableOf(o.Class), storeKey(o.Class, o.Name), d.encode(0))
		if _, err := m.opt.Store.Commit(context.Background(), &tx); err != nil {
			return nil, storeReason("MQSUB", d.Name, err)
		}
	}
	m.swapDef(o, d, 0, false)
	m.subChanged(o, d)
	return d, nil
}

// resumedQueue opens the managed queue, or the subscription's own when it is here and the application gave none. The handle is nil
// when there is nothing to open.
func (s *subscribing) resumedQueue(d *Def) (*handle, error) {
	if d.Get("DESTCLAS") != "MANAGED" && s.hobj != 0 {
		return nil, nil
	}
	o := s.m.lookup(ClassQueue, d.Get("DEST"))
	here := d.Get("DESTQMGR") == "" || d.Get("DESTQMGR") == s.m.opt.Name
	switch {
	case !here || o != nil && o.Queue == nil:
		return nil, nil // the publications go on from here
	case o == nil:
		return nil, s.fail(mqi.MQRC_INVALID_DESTINATION)
	case d.Get("DESTCLAS") == "MANAGED":
		return s.openManaged(o)
	}
	return s.openForGets(o, mqi.MQOO_INPUT_AS_Q_DEF|mqi.MQOO_BROWSE|mqi.MQOO_INQUIRE|mqi.MQOO_FAIL_IF_QUIESCING)
}
