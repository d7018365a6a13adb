package qmgr

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
)

// Subscriptions that are defined: their rules, their managed queues, their place in the topic tree.

// templateSub is the subscription that others start from; it receives nothing.
const templateSub = "SYSTEM.DEFAULT.SUB"

// newSubID makes a subscription identifier: AMQ, the queue manager's name, a number that rises.
func (m *Manager) newSubID() string {
	var id [24]byte
	copy(id[:], fmt.Sprintf("AMQ %-12.12s", m.opt.Name))
	binary.BigEndian.PutUint64(id[16:], m.topics.serial.Add(1))
	return hexID(id)
}

// subSerial is the number in a subscription's identifier.
func subSerial(d *Def) (uint64, bool) {
	b, err := hex.DecodeString(d.Get("SUBID"))
	if err != nil || len(b) != 24 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b[16:]), true
}

// subName finds the name of the subscription that a command means by name or SUBID.
func (x *exec) subName() (string, *attr.Reply) {
	id, ok := x.c.Get("SUBID")
	if !ok || id == "" {
		if n, ok := x.c.Get("SUBNAME"); ok && x.c.Name == "" {
			return n, nil
		}
		return x.c.Name, nil
	}
	for _, o := range x.list("*", ClassSub) {
		if strings.EqualFold(o.Def().Get("SUBID"), id) && (x.c.Name == "" || x.c.Name == o.Name) {
			return o.Name, nil
		}
	}
	return "", failed(mqi.MQRC_NO_SUBSCRIPTION, msgNotFound, id)
}

// settleReferences completes changes under way of what a definition leans on, so that a script sees its own work.
func (x *exec) settleReferences(base *Def) *attr.Reply {
	if x.c.Kind != "SUB" {
		return nil
	}
	d := base.clone()
	x.apply(d, attrDefine)
	if t := d.Get("TOPICOBJ"); !blank(t) {
		if _, err := x.m.settled(x.ctx, ClassTopic, t); err != nil {
			return interrupted(err)
		}
	}
	if err := x.m.settleDest(x.ctx, d.Get("DEST")); err != nil {
		return interrupted(err)
	}
	full, err := x.m.fullTopic(d)
	if err != nil {
		return nil // ruleSub says so
	}
	if err := x.m.settleSwitches(x.ctx, full); err != nil {
		return interrupted(err)
	}
	return nil
}

// settleDest completes changes under way of a queue and of those that it stands for: retained publications are put there.
func (m *Manager) settleDest(ctx context.Context, name string) error {
	for hops := 0; !blank(name) && hops < 8; hops++ {
		o, err := m.settled(ctx, ClassQueue, name)
		if err != nil || o == nil {
			return err
		}
		switch d := o.Def(); d.Kind {
		case "QALIAS":
			name = d.Get("TARGET")
		case "QREMOTE":
			if name = d.Get("XMITQ"); blank(name) {
				name = d.Get("RQMNAME")
			}
		default:
			return nil
		}
	}
	return nil
}

// settleSwitches completes changes under way of what may stop a new subscription to a topic (newSubStopped).
func (m *Manager) settleSwitches(ctx context.Context, full string) error {
	refs := []key{{ClassQmgr, qmgrName}, {ClassQueue, durableStore}, {ClassQueue, retainedQueue}, {ClassTopic, pubsub.BaseTopic}}
	m.mu.RLock()
	for i := 0; i <= len(full); i++ {
		if i == len(full) || full[i] == '/' {
			if o := m.topicStrs[full[:i]]; o != nil {
				refs = append(refs, key{ClassTopic, o.Name})
			}
		}
	}
	m.mu.RUnlock()
	for _, k := range refs {
		if _, err := m.settled(ctx, k.class, k.name); err != nil {
			return err
		}
	}
	return nil
}

// subFixed are attributes of a subscription that stay as they were defined, with the reason for which another value is refused.
var subFixed = []struct {
	key string
	rc  mqi.RC
}{
	{"TOPICSTR", mqi.MQRC_TOPIC_NOT_ALTERABLE}, {"TOPICOBJ", mqi.MQRC_TOPIC_NOT_ALTERABLE}, {"WSCHEMA", mqi.MQRC_TOPIC_NOT_ALTERABLE},
	{"SELECTOR", mqi.MQRC_SELECTOR_NOT_ALTERABLE}, {"SUBSCOPE", mqi.MQRC_TOPIC_NOT_ALTERABLE},
	{"SUBLEVEL", mqi.MQRC_SUBLEVEL_NOT_ALTERABLE}, {"DESTCLAS", mqi.MQRC_DEST_CLASS_NOT_ALTERABLE},
}

// subGroup are what a subscription of a group (MQSO_GROUP_SUB) has in common with the others.
var subGroup = []string{"DEST", "DESTQMGR", "DESTCORL"}

// ruleSub: the topic, the destination, and what REPLACE may not change.
func ruleSub(x *exec, d, old *Def, _ *Object) *attr.Reply {
	if d.Name == templateSub {
		return nil
	}
	m := x.m
	topicStr, topicObj := d.Get("TOPICSTR"), d.Get("TOPICOBJ")
	if topicStr == "" && blank(topicObj) {
		return conflict(mqi.MQRCCF_PARM_MISSING, d.Name, "TOPICSTR, TOPICOBJ or both are needed")
	}
	made := d
	if old != nil {
		made = old // its topic stays, whatever has become of its topic object
	} else if !blank(topicObj) && m.lookup(ClassTopic, topicObj) == nil {
		return failed(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNotFound, topicObj)
	}
	full, err := m.fullTopic(made)
	if err == nil {
		_, err = pubsub.ParseFilter(full, subScheme(d))
	}
	if err != nil {
		return topicRefused(err, d.Name)
	}
	if _, err := selector.Parse(d.Get("SELECTOR")); err != nil {
		rc := mqi.RC(mqi.MQRC_SELECTION_STRING_ERROR)
		var e *selector.Error
		if errors.As(err, &e) {
			rc = mqi.RC(e.RC)
		}
		return failed(rc, msgBadSelector, err.Error())
	}
	if old != nil {
		for _, f := range subFixed {
			if d.Get(f.key) != old.Get(f.key) {
				return failed(f.rc, msgFixed, f.key+" of subscription "+d.Name)
			}
		}
		if old.subExtra().group {
			for _, k := range subGroup {
				if d.Get(k) != old.Get(k) {
					return failed(mqi.MQRC_GROUPING_NOT_ALTERABLE, msgFixed, k+" of subscription "+d.Name+", which is in a group by it")
				}
			}
		}
	}
	if r := x.checkDest(d, old); r != nil {
		return r
	}
	if r := x.maySub(d, old, full); r != nil || old != nil {
		return r
	}
	if no := m.newSubStopped(full, true); no != nil {
		return no.refusal(d.Name)
	}
	if !d.Yes("REQONLY") {
		if rc := m.retainedReadable(); rc != 0 {
			return retainedRefusal(rc, d)
		}
	}
	return nil
}

// refusal is DEFINE SUB's: it names the switch.
func (no *subStop) refusal(sub string) *attr.Reply {
	rc := no.rc
	switch rc {
	case mqi.MQRC_DURABILITY_NOT_ALLOWED:
		rc = mqi.MQRCCF_DURABILITY_NOT_ALLOWED
	case mqi.MQRC_PUBSUB_INHIBITED:
		rc = mqi.MQRCCF_PUBSUB_INHIBITED
	}
	return conflict(rc, sub, "no new subscription while "+no.object+" is "+no.attr+" (reason "+strconv.Itoa(int(no.rc))+", "+no.rc.Name()+")")
}

func (x *exec) checkDest(d, old *Def) *attr.Reply {
	dest, qm := d.Get("DEST"), d.Get("DESTQMGR")
	if d.Get("DESTCLAS") == "MANAGED" {
		if given, ok := x.c.Get("DEST"); ok && !blank(given) && (old == nil || given != old.Get("DEST")) {
			return conflict(mqi.MQRCCF_PARM_CONFLICT, d.Name, "DEST cannot be given with DESTCLAS(MANAGED)")
		}
		return nil
	}
	if blank(dest) {
		return conflict(mqi.MQRCCF_PARM_MISSING, d.Name, "DEST is needed unless DESTCLAS(MANAGED) is given")
	}
	if blank(qm) || qm == x.m.opt.Name {
		if x.m.lookup(ClassQueue, dest) == nil {
			return failed(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNotFound, dest)
		}
	}
	return nil
}

// storeSub adds a subscription to a unit, with its managed queue when it is new and has one.
func (x *exec) storeSub(u *unit, o *Object, old, d *Def) *attr.Reply {
	m := x.m
	switch {
	case old != nil:
		for _, k := range []string{"SUBID", "SUBTYPE", "DURABLE"} {
			d.set(k, old.Get(k))
		}
		if d.Get("DESTCLAS") == "MANAGED" {
			d.set("DEST", old.Get("DEST"))
			d.set("DESTQMGR", old.Get("DESTQMGR"))
		}
	default:
		d.set("SUBID", m.newSubID())
	}
	if old != nil || d.Name != templateSub {
		d.set("SUBUSER", x.subUser(old))
	}
	e := subExtra{expires: expiresAt(m.opt.Clock.Now(), d.Int("EXPIRY"))}
	if old != nil {
		was := old.subExtra()
		e.topic, e.group, e.shared = was.topic, was.group, was.shared
		if _, given := x.c.Get("EXPIRY"); !given && d.Get("EXPIRY") == old.Get("EXPIRY") {
			e.expires = was.expires
		}
	}
	if _, given := x.c.Get("DESTCORL"); !given && old == nil && d.Name != templateSub {
		d.set("DESTCORL", d.Get("SUBID")) // 48 zeros, when they are given, keep the publisher's
	}
	if d.extra = ""; e.topic == "" && d.Name != templateSub {
		full, err := m.fullTopic(d)
		if err != nil {
			return topicRefused(err, d.Name)
		}
		e.topic = full
	}
	if d.Name != templateSub {
		d.setSubExtra(e)
	}
	sel := "NONE"
	if d.Get("SELECTOR") != "" {
		sel = "STANDARD"
	}
	d.set("SELTYPE", sel)
	if old != nil || d.Name == templateSub {
		m.putObject(u, o, d)
		u.onSwap(func() { m.subChanged(o, d) })
		return nil
	}
	n := &creation{o: o, d: d}
	if d.Get("DESTCLAS") == "MANAGED" {
		if r := x.managedQueueFor(u, n); r != nil {
			return r
		}
	}
	m.putObject(u, o, d)
	return x.makeSub(u, n)
}

// managedQueueFor makes the queue of a managed subscription from the model that its topic names. It is there at once, since
// publications may come before the unit is durable.
func (x *exec) managedQueueFor(u *unit, n *creation) *attr.Reply {
	m, d := x.m, n.d
	full, err := m.fullTopic(d)
	if err != nil {
		return topicRefused(err, d.Name)
	}
	name := m.topics.tree.Resolve(full, pubsub.MDURMDL)
	model, err := m.settled(x.ctx, ClassQueue, name)
	switch {
	case err != nil:
		return interrupted(err)
	case model == nil:
		return failed(mqi.MQRC_INVALID_DESTINATION, msgNotFound, name)
	case model.Def().Kind != "QMODEL" || model.Def().Get("DEFTYPE") == "TEMPDYN":
		return conflict(mqi.MQRC_INVALID_DESTINATION, d.Name, "model queue "+name+" does not make permanent queues: see MDURMDL of the topic")
	}
	qname := managedDurable + d.Get("SUBID")[32:]
	objs, err := m.latch(x.ctx, x.p, key{ClassQueue, qname})
	if err != nil {
		return interrupted(err)
	}
	qd, err := m.dynamicDef(model.Def(), qname, "PERMDYN")
	if err != nil {
		return failed(mqi.MQRC_UNEXPECTED_ERROR, msgUnexpected, err.Error())
	}
	d.set("DEST", qname)
	d.set("DESTQMGR", m.opt.Name)
	n.q, n.qd = objs[0], qd
	u.changes = append(u.changes, change{n.q, nil, qd})
	m.swapDef(n.q, qd, m.newQID(), true)
	u.tx.Set(tableOf(n.q.Class), storeKey(n.q.Class, n.q.Name), m.portable(qd).encode(n.q.qid()))
	return nil
}

// managedQueue is the name of the queue that goes with a subscription, "" for none.
func managedQueue(d *Def) string {
	if d.Get("DESTCLAS") == "MANAGED" {
		return d.Get("DEST")
	}
	return ""
}

func subScheme(d *Def) pubsub.Scheme {
	if d.Get("WSCHEMA") == "CHAR" {
		return pubsub.SchemeChar
	}
	return pubsub.SchemeTopic
}

// fullTopic joins TOPICOBJ's topic string and TOPICSTR.
func (m *Manager) fullTopic(d *Def) (string, error) {
	if e := d.subExtra(); e.topic != "" {
		return e.topic, nil // the topic object may have gone since
	}
	prefix, has := "", false
	if t := d.Get("TOPICOBJ"); !blank(t) {
		if o := m.lookup(ClassTopic, t); o != nil {
			prefix, has = o.Def().Get("TOPICSTR"), true
		}
	}
	return pubsub.Combine(prefix, has, d.Get("TOPICSTR"))
}

// checkDeleteSub refuses the deletion of a subscription that an application holds.
func (x *exec) checkDeleteSub(_ *unit, o *Object) *attr.Reply {
	if s := o.sub.Load(); s != nil && s.Conn() != "" {
		return failed(mqi.MQRC_SUBSCRIPTION_IN_USE, msgInUse, shownSub(o.Name))
	}
	return nil
}

// subValue is what DISPLAY SUB shows: topic and destination as resolved, unless DISTYPE(DEFINED) asks otherwise.
func (m *Manager) subValue(d *Def, key, v string) string {
	switch key {
	case "TOPICSTR":
		if full, err := m.fullTopic(d); err == nil {
			return full
		}
	case "DISTYPE":
		return "RESOLVED"
	}
	return v
}

func hexID(id [24]byte) string { return strings.ToUpper(hex.EncodeToString(id[:])) }
