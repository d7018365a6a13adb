package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// The authorities that verbs need.

// openAuths says which authority an open option needs over the object that was named.
var openAuths = [...]struct {
	options int32
	auth    auth.Auth
}{
	{mqi.MQOO_INPUT_AS_Q_DEF | mqi.MQOO_INPUT_SHARED | mqi.MQOO_INPUT_EXCLUSIVE, auth.Get},
	{mqi.MQOO_BROWSE, auth.Browse},
	{mqi.MQOO_OUTPUT, auth.Put},
	{mqi.MQOO_INQUIRE, auth.Inquire},
	{mqi.MQOO_SET, auth.Set},
	{mqi.MQOO_PASS_IDENTITY_CONTEXT, auth.PassID},
	{mqi.MQOO_PASS_ALL_CONTEXT, auth.PassAll},
	{mqi.MQOO_SET_IDENTITY_CONTEXT, auth.SetID},
	{mqi.MQOO_SET_ALL_CONTEXT, auth.SetAll},
}

// acting is the identity whose authority counts: with an alternate user its own, once the connection's user is found to
// have the right to act for others.
func (c *Conn) acting(op string, alternate bool, user string, e mqi.Event) (*auth.Identity, error) {
	if !alternate {
		return &c.who, nil
	}
	if err := c.require(op, &c.who, need{objType: "QMGR", name: selfProfile, auth: auth.AltUser}, e); err != nil {
		return nil, err
	}
	user = strings.TrimRight(user, " \x00")
	acc := c.m.Account(user)
	return &auth.Identity{User: user, UID: -1, Groups: acc.Groups, Admin: acc.Admin && c.who.Admin, Origin: c.who.Origin}, nil
}

// mayAll reports whether an open needs no check: an administrator's own. One who acts for somebody else is checked as that
// user, so that a server that replies for its clients does not lend them its authority.
func (c *Conn) mayAll(options int32, alternate string) bool {
	if !c.who.Admin || options&mqi.MQOO_ALTERNATE_USER_AUTHORITY == 0 {
		return c.who.Admin
	}
	return c.m.Account(strings.TrimRight(alternate, " \x00")).Admin
}

// require refuses an identity that lacks an authority.
func (c *Conn) require(op string, id *auth.Identity, n need, e mqi.Event) error {
	lacks, by := c.m.missing(id, &n)
	if lacks == 0 {
		return nil
	}
	return c.m.deny(&denial{op: op, need: n, lacks: lacks, by: by, user: id.User, event: e, unproven: id.Unproven})
}

// mayConnect checks MQCONN.
func (c *Conn) mayConnect() error {
	e := c.event(0)
	e.Qualifier = mqi.MQRQ_CONN_NOT_AUTHORIZED
	return c.require("MQCONN", &c.who, need{objType: "QMGR", name: selfProfile, auth: auth.Connect}, e)
}

// openEvent is the event of a refused MQOPEN or MQPUT1.
func (c *Conn) openEvent(h *handle, od *mqi.OD) mqi.Event {
	e := c.event(0)
	e.Qualifier, e.Options = mqi.MQRQ_OPEN_NOT_AUTHORIZED, h.opts
	e.ObjectQMgr, e.ObjectType = od.ObjectQMgrName, od.ObjectType
	switch od.ObjectType {
	case mqi.MQOT_Q:
		e.QName = od.ObjectName
	case mqi.MQOT_PROCESS:
		e.Process = od.ObjectName
	}
	return e
}

// mayOpen checks the options of an open over one object, and those that need a right over the queue manager too. Who made
// the object (made, nil when that does not count) needs only the latter, when he acts for himself.
func (c *Conn) mayOpen(op string, h *handle, od *mqi.OD, objType, name string, more auth.Auth, made *maker) error {
	if c.mayAll(h.opts, od.AlternateUserID) {
		return nil
	}
	e := c.openEvent(h, od)
	id, err := c.acting(op, h.opts&mqi.MQOO_ALTERNATE_USER_AUTHORITY != 0, od.AlternateUserID, e)
	if err != nil {
		return err
	}
	n := need{objType: objType, name: name, auth: more}
	for _, o := range openAuths {
		if h.opts&o.options != 0 {
			n.auth |= o.auth
		}
	}
	if !made.by(c.who.User) || id.User != c.who.User {
		if err := c.require(op, id, n, e); err != nil {
			return err
		}
	}
	return c.require(op, id, need{objType: "QMGR", name: selfProfile, auth: n.auth & (auth.SetAll | auth.SetID)}, e)
}

// mayOpenQueue checks the open of a queue, by the definition that was named: whoever may use an alias need not have
// rights over its target. A queue that is named with another queue manager counts as its transmission queue, unless a
// record for that queue manager (RQMNAME) says something of whoever it is for. Who made a dynamic queue may do with it what he likes, for himself.
func (c *Conn) mayOpenQueue(op string, h *handle, od *mqi.OD, r *resolved) error {
	switch {
	case c.mayAll(h.opts, od.AlternateUserID):
		return nil
	case r.model != nil:
		return c.mayOpen(op, h, od, "QUEUE", r.model.Name, auth.Display, nil)
	case r.remote && od.ObjectQMgrName != "" && od.ObjectQMgrName != c.m.opt.Name:
		user, groups := c.who.User, c.who.Groups
		if h.opts&mqi.MQOO_ALTERNATE_USER_AUTHORITY != 0 {
			user = strings.TrimRight(od.AlternateUserID, " \x00")
			groups = c.m.Account(user).Groups
		}
		if have, _ := c.m.authRecords().Has("RQMNAME", od.ObjectQMgrName, user, groups); have != 0 {
			return c.mayOpen(op, h, od, "RQMNAME", od.ObjectQMgrName, 0, nil)
		}
		return c.mayOpen(op, h, od, "QUEUE", r.base.Name, 0, nil)
	}
	o := r.path[0]
	if o.Name == policyQueue && o.Queue != nil && h.opts&openKinds == mqi.MQOO_BROWSE && o.Queue.depth() == 0 {
		if lacks, _ := c.m.missing(&c.who, &need{objType: "QUEUE", name: o.Name, auth: auth.Browse}); lacks != 0 {
			return mqi.E(op, od.ObjectName, mqi.MQRC_UNKNOWN_OBJECT_NAME)
		}
	}
	return c.mayOpen(op, h, od, "QUEUE", o.Name, 0, o.made.Load())
}

// policyQueue would hold policies of message protection. Clients look into it at each open, with the rights of their
// application: 2035 would make them give up, and while it is empty "no such queue" says the same as an empty one.
const policyQueue = "SYSTEM.PROTECTION.POLICY.QUEUE"

// maker remembers who made a dynamic queue. It holds until the queue manager ends.
type maker struct{ user string }

func (k *maker) by(user string) bool { return k != nil && user != "" && k.user == user }

// topicPath lists the topic objects that are asked about a topic: its own first, then those above, up to the root.
func (m *Manager) topicPath(topic string) []string {
	var out []string
	m.mu.RLock()
	defer m.mu.RUnlock()
	for t := topic; t != ""; {
		if o := m.topicStrs[t]; o != nil && o.Def() != nil {
			out = append(out, o.Name)
			if t == pubsub.AdminTopic { // nothing above it counts here
				return out
			}
		}
		i := strings.LastIndexByte(t, '/')
		if i < 0 {
			break
		}
		t = t[:i]
	}
	return append(out, pubsub.BaseTopic)
}

// aboveWild is the topic that a subscription's filter is asked about: the levels in front of the first that is, or with
// character wildcards holds, a wildcard. Less would be asked about too little: open* gets what is published on opensecret.
func aboveWild(filter string, scheme pubsub.Scheme) string {
	for at := 0; at <= len(filter); {
		level, _, _ := strings.Cut(filter[at:], "/")
		wild := level == "#" || level == "+"
		if scheme == pubsub.SchemeChar {
			wild = strings.ContainsAny(level, "*?")
		}
		switch {
		case wild && at == 1: // "/" itself
			return "/"
		case wild:
			return filter[:max(at-1, 0)]
		}
		at += len(level) + 1
	}
	return filter
}

// requireTopic checks an authority along the tree: the nearest topic object that gives it decides, and one that does not
// leaves the question to those above. from is where it begins for topic.
func (c *Conn) requireTopic(op string, id *auth.Identity, topic, from string, a auth.Auth, e mqi.Event) error {
	if id.Admin {
		return nil
	}
	e.TopicString = topic
	path := c.m.topicPath(from)
	d := denial{op: op, need: need{objType: "TOPIC", name: path[0], auth: a, topic: topic}, user: id.User, event: e, lacks: a,
		unproven: id.Unproven}
	for _, name := range path {
		lacks, by := c.m.missing(id, &need{objType: "TOPIC", name: name, auth: a})
		if lacks == 0 {
			return nil
		}
		d.by = append(d.by, by...)
	}
	return c.m.deny(&d)
}

// mayPublish checks the open of a topic, and of the alias that it was opened by.
func (c *Conn) mayPublish(op string, h *handle, od *mqi.OD, alias *Object, topic string) error {
	if c.mayAll(h.opts, od.AlternateUserID) {
		return nil
	}
	if alias != nil {
		if err := c.mayOpen(op, h, od, "QUEUE", alias.Name, 0, nil); err != nil {
			return err
		}
	}
	e := c.openEvent(h, od)
	id, err := c.acting(op, h.opts&mqi.MQOO_ALTERNATE_USER_AUTHORITY != 0, od.AlternateUserID, e)
	if err != nil {
		return err
	}
	want := auth.Publish
	for _, o := range openAuths {
		if o.options&contextOptions != 0 && h.opts&o.options != 0 {
			want |= o.auth
		}
	}
	if err := c.requireTopic(op, id, topic, topic, want, e); err != nil {
		return err
	}
	return c.require(op, id, need{objType: "QMGR", name: selfProfile, auth: want & (auth.SetAll | auth.SetID)}, e)
}

// mayAll is Conn.mayAll of MQSUB.
func (s *subscribing) mayAll() bool {
	options := int32(0)
	if s.asks(mqi.MQSO_ALTERNATE_USER_AUTHORITY) {
		options = mqi.MQOO_ALTERNATE_USER_AUTHORITY
	}
	return s.c.mayAll(options, s.sd.AlternateUserID)
}

// maySubscribe checks MQSUB: the right over the topic, and to put to the queue that the application chose.
func (s *subscribing) maySubscribe(filter string, scheme pubsub.Scheme, a auth.Auth) error {
	c := s.c
	if s.mayAll() {
		return nil
	}
	e := c.event(0)
	e.Qualifier, e.Options, e.ObjectType = mqi.MQRQ_SUB_NOT_AUTHORIZED, s.sd.Options, mqi.MQOT_TOPIC
	id, err := c.acting("MQSUB", s.asks(mqi.MQSO_ALTERNATE_USER_AUTHORITY), s.sd.AlternateUserID, e)
	if err != nil {
		return err
	}
	if err := c.requireTopic("MQSUB", id, filter, aboveWild(filter, scheme), a, e); err != nil {
		return err
	}
	if s.asks(mqi.MQSO_MANAGED) || s.hobj == 0 {
		return nil
	}
	c.mu.Lock()
	h := c.handles[s.hobj]
	c.mu.Unlock()
	if h == nil || h.res == nil || len(h.res.path) == 0 || h.res.path[0].Class != ClassQueue {
		return nil // refused by what looks at the handle
	}
	n := need{objType: "QUEUE", name: h.res.path[0].Name, auth: auth.Put}
	if s.asks(mqi.MQSO_SET_IDENTITY_CONTEXT) {
		n.auth |= auth.SetID
	}
	e.Qualifier, e.QName = mqi.MQRQ_SUB_DEST_NOT_AUTHORIZED, n.name
	if !h.res.path[0].made.Load().by(c.who.User) || id.User != c.who.User {
		if err := c.require("MQSUB", id, n, e); err != nil {
			return err
		}
	}
	return c.require("MQSUB", id, need{objType: "QMGR", name: selfProfile, auth: n.auth & auth.SetID}, e)
}

// mayUseDest checks MQSO_RESUME and MQSO_ALTER of a subscription whose queue somebody chose and whose handle goes back to the
// application: its publications are put in the application's name from now on, and it gets and browses them. Who gives a handle
// of his own has shown that he may put there (maySubscribe), and managed queues belong to their subscription.
func (s *subscribing) mayUseDest(d *Def) error {
	c := s.c
	if s.mayAll() || d.Get("DESTCLAS") == "MANAGED" || s.hobj != 0 {
		return nil
	}
	e := c.event(0)
	e.Qualifier, e.Options, e.ObjectType = mqi.MQRQ_SUB_DEST_NOT_AUTHORIZED, s.sd.Options, mqi.MQOT_Q
	id, err := c.acting("MQSUB", s.asks(mqi.MQSO_ALTERNATE_USER_AUTHORITY), s.sd.AlternateUserID, e)
	if err != nil {
		return err
	}
	n, made := c.m.reportNeed(d.Get("DEST"), d.Get("DESTQMGR"), id)
	if n == nil || made.by(c.who.User) && id.User == c.who.User {
		return nil // nobody can put there: resumedQueue says so; or it is his own
	}
	if o := c.m.lookup(ClassQueue, n.name); n.objType == "QUEUE" && n.name == d.Get("DEST") && o != nil && o.Queue != nil {
		n.auth |= auth.Get | auth.Browse // resumedQueue opens it
	}
	e.QName = d.Get("DEST")
	return c.require("MQSUB", id, *n, e)
}

// mayDelete checks MQCLOSE with MQCO_DELETE or MQCO_DELETE_PURGE.
func (c *Conn) mayDelete(h *handle) error {
	if c.who.Admin || h.creator || h.queue.obj.made.Load().by(c.who.User) {
		return nil
	}
	e := c.event(0)
	e.Qualifier, e.QName, e.ObjectType = mqi.MQRQ_CLOSE_NOT_AUTHORIZED, h.name, mqi.MQOT_Q
	return c.require("MQCLOSE", &c.who, need{objType: "QUEUE", name: h.queue.obj.Name, auth: auth.Delete}, e)
}
