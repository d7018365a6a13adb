package qmgr

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// MQSUB: making a subscription. Resuming and altering one is in subscribe_resume.go, the checks are in subscribe_check.go.

// subHandle is an open subscription (Hsub).
type subHandle struct{ obj *Object }

// subscribing is one MQSUB in progress.
type subscribing struct {
	c    *Conn
	m    *Manager
	sd   *mqi.SD
	hobj Handle
	p    *Pending // holds the latches of what is made
	user string
	work uow // the retained publications that a new subscription gets, with its definition

	full   string // topic string, with its wildcards
	scheme pubsub.Scheme
	filter *pubsub.Filter
}

func (s *subscribing) fail(rc mqi.RC) error { return mqi.E("MQSUB", s.object(), rc) }

// object is what messages name.
func (s *subscribing) object() string {
	for _, n := range [...]string{s.sd.SubName, s.full, s.sd.ObjectString, s.sd.ObjectName} {
		if n != "" {
			return cut(n, 200)
		}
	}
	return ""
}

func (s *subscribing) asks(option int32) bool { return s.sd.Options&option != 0 }

// Subscribe makes, resumes or alters a subscription (MQSUB). hobj is the queue for the publications, or 0 with
// MQSO_MANAGED; queue is its handle on return, hsub that of the subscription. sd gets the fields that the queue manager
// fills.
func (c *Conn) Subscribe(ctx context.Context, sd *mqi.SD, hobj Handle) (queue, hsub Handle, err error) {
	if err := c.begin("MQSUB", sd.SubName); err != nil {
		return 0, 0, err
	}
	defer c.verb.Unlock()
	s := &subscribing{c: c, m: c.m, sd: sd, hobj: hobj, p: newPending(c.m),
		work: uow{latched: true}}
	if rc := s.check(); rc != 0 {
		return 0, 0, s.fail(rc)
	}
	s.user = c.who.User
	if s.asks(mqi.MQSO_ALTERNATE_USER_AUTHORITY) && !blank(sd.AlternateUserID) {
		s.user = strings.TrimSpace(sd.AlternateUserID)
	}
	id, name := c.m.newSubID(), strings.TrimRight(sd.SubName, " \x00")
	if name == "" {
		name = unnamed + id // nobody can name it: it is known by its SUBID
	}
	objs, err := c.m.latch(ctx, s.p, key{ClassSub, name})
	if err != nil {
		return 0, 0, mqi.Wrap("MQSUB", sd.SubName, mqi.MQRC_CONNECTION_BROKEN, err)
	}
	defer s.work.unlatched()
	defer s.p.finish(nil)
	o := objs[0]
	verbs := sd.Options & (mqi.MQSO_CREATE | mqi.MQSO_RESUME | mqi.MQSO_ALTER) // MQSO_RESUME says nothing beside MQSO_ALTER
	switch exists := o.Def() != nil; {
	case exists && verbs == mqi.MQSO_CREATE:
		return 0, 0, s.fail(mqi.MQRC_SUB_ALREADY_EXISTS)
	case !exists && verbs&mqi.MQSO_CREATE == 0:
		return 0, 0, s.fail(mqi.MQRC_NO_SUBSCRIPTION)
	case exists:
		return s.resume(o)
	}
	return s.create(ctx, o, id)
}

func (s *subscribing) create(ctx context.Context, o *Object, id string) (Handle, Handle, error) {
	m := s.m
	if err := s.maySubscribe(s.full, s.scheme, auth.Subscribe); err != nil {
		return 0, 0, err
	}
	if rc := s.checkCreate(); rc != 0 {
		return 0, 0, s.fail(rc)
	}
	n := &creation{o: o, mem: !s.asks(mqi.MQSO_DURABLE)}
	d, rc := s.definition(id)
	if rc == 0 {
		n.d = d
		rc = s.destination(ctx, n)
	}
	if rc != 0 {
		return 0, 0, s.fail(rc)
	}
	undo := func(rc mqi.RC, cause error) (Handle, Handle, error) {
		m.undoSub(n)
		return 0, 0, mqi.Wrap("MQSUB", s.object(), rc, cause)
	}
	u := &s.work
	defer m.leftover(u)
	if !n.mem {
		u.tx.Set(tableOf(o.Class), storeKey(o.Class, o.Name), d.encode(0))
		if n.q != nil {
			u.tx.Set(tableOf(n.q.Class), storeKey(n.q.Class, n.q.Name), n.qd.encode(n.q.qid()))
		}
	}
	if rc, err := m.enterSub(u, n, s.asks(mqi.MQSO_NEW_PUBLICATIONS_ONLY)); rc != 0 {
		return undo(rc, err)
	}
	if err := m.commit(u); err != nil {
		_, rc := mqi.Reason(storeReason("MQSUB", d.Name, err))
		return undo(rc, err)
	}
	// From here on nothing fails but by damage: nobody else can have opened the managed queue.
	queue := s.hobj
	if n.q != nil {
		h, err := s.openManaged(n.q)
		if err != nil {
			return undo(mqi.MQRC_OBJECT_IN_USE, err)
		}
		n.q.making.Store(false)
		queue = s.c.register(h)
	}
	m.swapDef(o, d, 0, false)
	o.sub.Store(n.ps)
	m.topics.ends.set(o, subEnd(d))
	s.returned(d)
	return queue, s.hold(o, n.ps), nil
}

// definition makes the definition of the new subscription.
func (s *subscribing) definition(id string) (*Def, mqi.RC) {
	sd := s.sd
	d, err := newDef("SUB", strings.TrimRight(sd.SubName, " \x00"))
	if err != nil {
		return nil, mqi.MQRC_UNEXPECTED_ERROR
	}
	set := func(kv ...string) {
		for i := 0; i < len(kv); i += 2 {
			d.set(kv[i], kv[i+1])
		}
	}
	set("SUBID", id, "SUBTYPE", "API", "TOPICSTR", sd.ObjectString, "TOPICOBJ", sd.ObjectName, "WSCHEMA", s.scheme.String(),
		"SUBLEVEL", strconv.Itoa(int(sd.SubLevel)), "SUBUSER", s.user, "DURABLE", yesNo(s.asks(mqi.MQSO_DURABLE)),
		"SELECTOR", sd.SelectionString, "DESTCLAS", "PROVIDED", "SUBSCOPE", "ALL")
	if strings.TrimSpace(sd.SelectionString) != "" {
		set("SELTYPE", "STANDARD")
	}
	if s.asks(mqi.MQSO_SCOPE_QMGR) || s.m.topics.tree.Resolve(s.full, pubsub.SUBSCOPE) == "QMGR" {
		set("SUBSCOPE", "QMGR")
	}
	if s.asks(mqi.MQSO_MANAGED) {
		set("DESTCLAS", "MANAGED")
	}
	set("DESTCORL", id)
	s.applyAlterable(d)
	d.setSubExtra(subExtra{topic: s.full, group: s.asks(mqi.MQSO_GROUP_SUB), shared: sd.Shared, expires: expiresAt(s.m.opt.Clock.Now(), int64(sd.SubExpiry))})
	d.stampCreated(s.m.opt.Clock.Now())
	return d, 0
}

// applyAlterable writes the attributes that MQSO_ALTER may change too.
func (s *subscribing) applyAlterable(d *Def) {
	sd := s.sd
	d.set("USERDATA", sd.SubUserData)
	d.set("REQONLY", yesNo(s.asks(mqi.MQSO_PUBLICATIONS_ON_REQUEST)))
	d.set("VARUSER", "FIXED") // also when neither option was given
	if s.asks(mqi.MQSO_ANY_USERID) {
		d.set("VARUSER", "ANY")
	}
	d.set("EXPIRY", "UNLIMITED")
	if sd.SubExpiry > 0 {
		d.set("EXPIRY", strconv.Itoa(int(sd.SubExpiry)))
	}
	switch sd.PubPriority {
	case mqi.MQPRI_PRIORITY_AS_PUBLISHED:
		d.set("PUBPRTY", "ASPUB")
	case mqi.MQPRI_PRIORITY_AS_Q_DEF:
		d.set("PUBPRTY", "ASQDEF")
	default:
		d.set("PUBPRTY", strconv.Itoa(int(sd.PubPriority)))
	}
	if s.asks(mqi.MQSO_SET_CORREL_ID) {
		d.set("DESTCORL", hexID(sd.SubCorrelID))
	}
	account, applID := sd.PubAccountingToken, sd.PubApplIdentityData
	if !s.asks(mqi.MQSO_SET_IDENTITY_CONTEXT) {
		var md mqi.MD
		s.c.identityContext(&md)
		account, applID = md.AccountingToken, md.ApplIdentityData
	}
	d.set("PUBACCT", strings.ToUpper(hex.EncodeToString(account[:])))
	d.set("PUBAPPID", cut(applID, mqi.MQ_APPL_IDENTITY_DATA_LENGTH))
}

// destination finds the queue that the application gave, or makes the managed one.
func (s *subscribing) destination(ctx context.Context, n *creation) mqi.RC {
	m := s.m
	if !s.asks(mqi.MQSO_MANAGED) {
		h, rc := s.givenQueue()
		if rc != 0 {
			return rc
		}
		if !n.mem && h.queue != nil && h.queue.cfg.Load().deftype == "TEMPDYN" {
			return mqi.MQRC_INVALID_DESTINATION
		}
		n.d.set("DEST", h.res.qName)
		n.d.set("DESTQMGR", h.res.qmName)
		return 0
	}
	modelOf, deftype, prefix := pubsub.MNDURMDL, "TEMPDYN", managedNondurable
	if !n.mem {
		modelOf, deftype, prefix = pubsub.MDURMDL, "PERMDYN", managedDurable
	}
	model := m.lookup(ClassQueue, m.topics.tree.Resolve(s.full, modelOf))
	switch {
	case model == nil, model.Def().Kind != "QMODEL":
		return mqi.MQRC_INVALID_DESTINATION
	case !n.mem && model.Def().Get("DEFTYPE") == "TEMPDYN":
		return mqi.MQRC_INVALID_DESTINATION // its queue would not outlive the queue manager
	}
	name := prefix + n.d.Get("SUBID")[32:]
	objs, err := m.latch(ctx, s.p, key{ClassQueue, name})
	if err != nil {
		return mqi.MQRC_CONNECTION_BROKEN
	}
	if n.qd, err = m.dynamicDef(model.Def(), name, deftype); err != nil {
		return mqi.MQRC_UNEXPECTED_ERROR
	}
	n.q = objs[0]
	n.q.making.Store(true)
	m.swapDef(n.q, n.qd, m.newQID(), true)
	n.d.set("DEST", name)
	n.d.set("DESTQMGR", m.opt.Name)
	return 0
}

// givenQueue checks the handle for the publications.
func (s *subscribing) givenQueue() (*handle, mqi.RC) {
	s.c.mu.Lock()
	h := s.c.handles[s.hobj]
	s.c.mu.Unlock()
	switch {
	case h == nil, h.topic != nil, h.sub != nil, h.objType != mqi.MQOT_Q:
		return nil, mqi.MQRC_HOBJ_ERROR
	case h.opts&inputOptions == 0 && !(h.opts&mqi.MQOO_OUTPUT != 0 && h.res.remote):
		return nil, mqi.MQRC_HOBJ_ERROR
	case h.check() != 0:
		return nil, h.check()
	}
	return h, 0
}

// managedOptions are those of the handle of a managed queue.
const managedOptions = mqi.MQOO_INPUT_SHARED | mqi.MQOO_BROWSE | mqi.MQOO_INQUIRE | mqi.MQOO_FAIL_IF_QUIESCING

// openManaged opens a managed queue for the application.
func (s *subscribing) openManaged(q *Object) (*handle, error) {
	return s.openForGets(q, managedOptions)
}

// openForGets makes a handle that has no number yet: what may fail comes before anything is stored.
func (s *subscribing) openForGets(q *Object, options int32) (*handle, error) {
	c := s.c
	h := &handle{id: c.m.rt.handleSeq.Add(1), conn: c, opts: options, name: q.Name, objType: mqi.MQOT_Q, first: q.making.Load(),
		res: &resolved{path: []*Object{q}, base: q, qName: q.Name, qmName: c.m.opt.Name}}
	if err := c.bind("MQSUB", h); err != nil {
		return nil, err
	}
	return h, nil
}

// letQueueGo closes such a handle, nil for none, when the call fails after all.
func (s *subscribing) letQueueGo(h *handle) {
	if h == nil {
		return
	}
	h.queue.detach(h)
	s.m.inputClosed(h.queue)
}

// register gives a handle its number.
func (c *Conn) register(h *handle) Handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	h.num = c.last
	c.handles[h.num] = h
	c.opened += h.weight()
	return h.num
}

// hold makes the handle of the subscription.
func (s *subscribing) hold(o *Object, ps *pubsub.Sub) Handle {
	c := s.c
	ps.Owner.(*subState).held.add(ps, c.connHex(), c.m.opt.Clock.Now())
	return c.register(&handle{id: c.m.rt.handleSeq.Add(1), conn: c, name: o.Def().Name, objType: mqi.MQOT_TOPIC,
		res: &resolved{qmName: c.m.opt.Name}, sub: &subHandle{obj: o}})
}

// closeSub closes a subscription's handle: a nondurable one ends, a durable one is kept unless MQCO_REMOVE_SUB is given.
func (c *Conn) closeSub(ctx context.Context, h *handle, options int32) error {
	o := h.sub.obj
	d := o.Def()
	durable := d.Get("DURABLE") != "NO"
	switch {
	case options&(mqi.MQCO_DELETE|mqi.MQCO_DELETE_PURGE) != 0:
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	case options&mqi.MQCO_KEEP_SUB != 0 && !durable:
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTIONS_ERROR)
	}
	if durable && options&mqi.MQCO_REMOVE_SUB != 0 {
		// Under the latch, so that nobody resumes it in between.
		return c.m.removeSub(ctx, o, func(there bool) (bool, error) {
			if s := o.sub.Load(); there && s != nil && s.Owner.(*subState).held.count() > 1 {
				return false, mqi.E("MQCLOSE", h.name, mqi.MQRC_SUBSCRIPTION_IN_USE)
			}
			c.letGo(h)
			return true, nil
		})
	}
	if c.letGo(h) || durable {
		return nil
	}
	return c.m.removeSub(ctx, o, func(bool) (bool, error) {
		s := o.sub.Load()
		return s == nil || s.Conn() == "", nil // else somebody has joined it
	})
}

// letGo ends a subscription's handle and reports whether the subscription has others.
func (c *Conn) letGo(h *handle) (others bool) {
	if s := h.sub.obj.sub.Load(); s != nil {
		others = s.Owner.(*subState).held.drop(s, c.connHex(), c.m.opt.Clock.Now())
	}
	c.forget(h)
	return others
}

// pubsubNames fills what DISPLAY CONN TYPE(HANDLE) shows of topics and subscriptions.
func (h *handle) pubsubNames(row map[string]string) {
	switch {
	case h.topic != nil:
		row["TOPICSTR"] = h.topic.topic
		row["OBJNAME"] = ""
		for _, o := range h.res.path {
			if o.Class == ClassTopic {
				row["OBJNAME"] = o.Name
			}
		}
		row["OBJTYPE"] = "TOPIC"
	case h.sub != nil:
		d := h.sub.obj.Def()
		row["OBJNAME"], row["OBJTYPE"] = d.Get("TOPICOBJ"), "TOPIC"
		row["TOPICSTR"] = d.subExtra().topic
		row["SUBNAME"], row["SUBID"] = d.Name, d.Get("SUBID")
		row["DEST"], row["DESTQMGR"] = d.Get("DEST"), d.Get("DESTQMGR")
		row["OPENOPTS"] = ""
	}
}

// returned fills the descriptor with what the subscription is.
func (s *subscribing) returned(d *Def) {
	sd, cfg := s.sd, s.m.parseSubCfg(d)
	e := d.subExtra()
	sd.ResObjectString = e.topic
	sd.ObjectName, sd.ObjectString = d.Get("TOPICOBJ"), d.Get("TOPICSTR")
	sd.SubName = d.Name
	sd.SubUserData = cfg.userData
	sd.SubCorrelID = cfg.correl
	sd.PubPriority = cfg.priority
	sd.PubAccountingToken, sd.PubApplIdentityData = cfg.account, cfg.applID
	sd.SelectionString = d.Get("SELECTOR")
	sd.SubLevel = int32(d.Int("SUBLEVEL"))
	sd.SubExpiry = mqi.MQEI_UNLIMITED
	if e.expires != 0 {
		sd.SubExpiry = expiryLeft(s.m.opt.Clock.Now(), e.expires)
	}
}
