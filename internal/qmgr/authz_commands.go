package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// The authorities that commands need of somebody who is no administrator.

// verbAuths are the authorities that a command on an object needs over it.
var verbAuths = map[string]auth.Auth{"ALTER": auth.Change, "DELETE": auth.Delete, "CLEAR": auth.Clear, "START": auth.Control,
	"STOP": auth.Control, "PING": auth.Control, "RESET": auth.ControlX, "RESOLVE": auth.ControlX, "PURGE": auth.Control}

// commandNeeds are commands that are not about one object: what they need over the queue manager.
var commandNeeds = map[string]auth.Auth{
	"ALTER QMGR": auth.Change, "PING QMGR": auth.Display, "REFRESH SECURITY": auth.Change, "REFRESH QMGR": auth.Change,
	"SET AUTHREC": auth.Change, "DELETE AUTHREC": auth.Change, "SET CHLAUTH": auth.Change, "STOP CONN": auth.Change,
	"DISPLAY AUTHREC": auth.Display, "DISPLAY AUTHSERV": auth.Display, "DISPLAY CHLAUTH": auth.Display,
	"DISPLAY CONN": auth.Display, "DISPLAY ENTAUTH": auth.Display, "DISPLAY PUBSUB": auth.Display,
	"DISPLAY QMSTATUS": auth.Display, "DISPLAY CHSTATUS": auth.Display, "DISPLAY QMGR": auth.Display,
	"DISPLAY APSTATUS": auth.Display,
}

// needs lists what a command needs; ok is false for commands that administrators alone may give.
func (x *exec) needs() (list []need, ok bool) {
	c := x.c
	if a, ok := commandNeeds[c.Verb+" "+c.Object]; ok {
		return []need{{objType: "QMGR", name: selfProfile, auth: a}}, true
	}
	if c.Verb == "DISPLAY" {
		return nil, displayFiltered[c.Object] // what may not be seen is left out
	}
	if c.Object == "SUB" || c.Object == "TOPICSTR" {
		return x.topicNeeds()
	}
	class := classOf(attr.Kind(c.Object))
	t := authTypeOf(class)
	if t == "" {
		return nil, false
	}
	if class == ClassChannel && (c.Kind == "CHANNEL(CLNTCONN)" || paramOf(c, "CHLTYPE") == "CLNTCONN") {
		class, t = ClassClntconn, string(ClassClntconn)
	}
	if c.Verb == "DEFINE" {
		list = append(list, need{objType: t, name: classProfile, auth: auth.Create})
		if like := paramOf(c, "LIKE"); !blank(like) {
			list = append(list, need{objType: t, name: like, auth: auth.Display})
		}
		if x.m.lookup(class, c.Name) != nil {
			list = append(list, need{objType: t, name: c.Name, auth: auth.Change})
		}
		return list, true
	}
	a := verbAuths[c.Verb]
	if c.Verb == "DELETE" && x.yes("PURGE") {
		a |= auth.Clear
	}
	return []need{{objType: t, name: c.Name, auth: a}}, a != 0
}

// topicNeeds are the needs of commands on subscriptions and topic strings: over the topic.
func (x *exec) topicNeeds() ([]need, bool) {
	topic, a := x.c.Name, auth.Clear
	if x.c.Object == "SUB" {
		a = auth.Control
		if x.c.Verb == "DEFINE" && x.m.lookup(ClassSub, x.c.Name) == nil {
			return nil, true // checked when LIKE and TOPICOBJ have said what the topic is: maySub
		}
		scheme := pubsub.SchemeTopic
		if o := x.m.lookup(ClassSub, x.c.Name); o != nil {
			topic, scheme = o.Def().subExtra().topic, subScheme(o.Def())
		} else {
			topic = ""
		}
		topic = aboveWild(topic, scheme)
	} else {
		topic = aboveWild(topic, pubsub.SchemeTopic)
	}
	return []need{{objType: "TOPIC", auth: a, topic: topic}}, true
}

// maySub checks the definition of a subscription by somebody who is no administrator: CTRL over its topic; to have its
// publications put in another user's name the right to act for others, over the queue manager; and that user must be allowed to
// put to the queue, with an identity context that the command chooses (PUBACCT, PUBAPPID) to set that too, as by MQSUB.
func (x *exec) maySub(d, old *Def, topic string) *attr.Reply {
	if x.id.Admin {
		return nil
	}
	if old == nil {
		if r := x.requireNeed(&need{objType: "TOPIC", auth: auth.Control, topic: aboveWild(topic, subScheme(d))}); r != nil {
			return r
		}
	}
	user := x.subUser(old)
	same := old != nil && user == old.Get("SUBUSER")
	for _, k := range []string{"DEST", "DESTQMGR", "DESTCLAS"} {
		same = same && d.Get(k) == old.Get(k)
	}
	identity := setsIdentity(d, old, same)
	if same && !identity {
		return nil
	}
	who := &x.id
	if user != x.id.User {
		if r := x.requireNeed(&need{objType: "QMGR", name: selfProfile, auth: auth.AltUser}); r != nil {
			return r
		}
		who = x.m.contextIdentity(user)
		who.Admin = false // an administrator's name gives nobody his rights
	}
	if d.Get("DESTCLAS") == "MANAGED" {
		return nil
	}
	n, made := x.m.reportNeed(d.Get("DEST"), d.Get("DESTQMGR"), who)
	if n == nil { // nobody knows yet where that leads
		n = &need{objType: "RQMNAME", name: d.Get("DESTQMGR"), auth: auth.Put}
	}
	needs := []need{*n}
	if identity {
		needs[0].auth |= auth.SetID
		needs = append(needs, need{objType: "QMGR", name: selfProfile, auth: auth.SetID})
	}
	if made.by(who.User) {
		needs = needs[1:]
	}
	for i := range needs {
		if lacks, by := x.m.missing(who, &needs[i]); lacks != 0 {
			return x.deniedTo(who.User, &needs[i], lacks, by)
		}
	}
	return nil
}

// setsIdentity reports whether a definition chooses the identity context of publications: by values that the subscription has not
// had, or that an operator gave it and that go along to another queue or user (same: they don't). What MQSUB has given is its
// application's own.
func setsIdentity(d, old *Def, same bool) bool {
	for k, none := range map[string]string{"PUBACCT": "0", "PUBAPPID": " "} {
		v := d.Get(k)
		switch {
		case strings.Trim(v, none) == "":
		case old == nil, v != old.Get(k), !same && old.Get("SUBTYPE") != "API":
			return true
		}
	}
	return false
}

// subUser is whose name a subscription gets its publications in: the one given, the one it has, or who defines it.
func (x *exec) subUser(old *Def) string {
	v, given := x.c.Get("SUBUSER")
	switch {
	case given && !blank(v):
		return v
	case old != nil:
		return old.Get("SUBUSER")
	}
	return x.id.User
}

// displayFiltered are the DISPLAY commands whose lists leave out what the user has no DSP for.
var displayFiltered = map[string]bool{"QUEUE": true, "QLOCAL": true, "QALIAS": true, "QREMOTE": true, "QMODEL": true, "QSTATUS": true,
	"TOPIC": true, "CHANNEL": true, "PROCESS": true, "NAMELIST": true, "AUTHINFO": true, "COMMINFO": true, "LISTENER": true,
	"SERVICE": true, "LSSTATUS": true, "SVSTATUS": true, "SUB": true, "SBSTATUS": true}

// authorized refuses somebody who is no administrator and lacks what the command needs.
func (x *exec) authorized() *attr.Reply {
	if x.id.Admin {
		return nil
	}
	list, ok := x.needs()
	if !ok {
		list = []need{{objType: "QMGR", name: selfProfile, auth: auth.SystemAuth}}
	}
	for i := range list {
		if r := x.requireNeed(&list[i]); r != nil {
			return r
		}
	}
	return nil
}

func (x *exec) requireNeed(n *need) *attr.Reply {
	var lacks auth.Auth
	var by []string
	if n.topic != "" || n.objType == "TOPIC" && n.name == "" {
		for _, name := range x.m.topicPath(n.topic) {
			n.name = name
			l, b := x.m.missing(&x.id, n)
			if l == 0 {
				return nil
			}
			lacks, by = l, append(by, b...)
		}
	} else {
		lacks, by = x.m.missing(&x.id, n)
	}
	if lacks == 0 {
		return nil
	}
	return x.denied(n, lacks, by)
}

func (x *exec) denied(n *need, lacks auth.Auth, by []string) *attr.Reply {
	return x.deniedTo(x.id.User, n, lacks, by)
}

// deniedTo refuses a command for what a user lacks in whose name it would work.
func (x *exec) deniedTo(user string, n *need, lacks auth.Auth, by []string) *attr.Reply {
	e := mqi.Event{Qualifier: mqi.MQRQ_CMD_NOT_AUTHORIZED}
	if x.c.Spec != nil {
		e.Command = x.c.Spec.PCFNum
	}
	x.m.deny(&denial{op: x.c.Verb + " " + x.c.Object, need: *n, lacks: lacks, by: by, user: user, event: e})
	return failed(mqi.MQRC_NOT_AUTHORIZED, msgNotAuthorized, user)
}

// list is Manager.list without what the user may not see. x.unseen counts that.
func (x *exec) list(pattern string, classes ...Class) []*Object {
	all := x.m.list(pattern, classes...)
	if x.id.Admin {
		return all
	}
	out := all[:0]
	for _, o := range all {
		if x.maySee(o) {
			out = append(out, o)
		} else {
			x.unseen = append(x.unseen, o)
		}
	}
	return out
}

func (x *exec) maySee(o *Object) bool {
	d := o.Def()
	switch {
	case d == nil:
		return false // deleted meanwhile
	case o.Class == ClassQmgr:
		return true // asked for before
	case o.Class == ClassSub:
		for _, name := range x.m.topicPath(aboveWild(d.subExtra().topic, subScheme(d))) {
			if l, _ := x.m.missing(&x.id, &need{objType: "TOPIC", name: name, auth: auth.Display}); l == 0 {
				return true
			}
		}
		return false
	}
	t := authTypeOf(o.Class)
	if t == "" {
		return false
	}
	l, _ := x.m.missing(&x.id, &need{objType: t, name: o.Name, auth: auth.Display})
	return l == 0
}

// hidden answers a DISPLAY that found nothing because all of it was left out: 2035, as when there was one object only.
func (x *exec) hidden(r *attr.Reply) *attr.Reply {
	if r == nil || !r.Failed() || len(x.unseen) == 0 || x.c.Verb != "DISPLAY" {
		return r
	}
	o := x.unseen[0]
	n := need{objType: authTypeOf(o.Class), name: o.Name, auth: auth.Display}
	if strings.HasSuffix(x.c.Name, "*") {
		n.name = x.c.Name
	}
	_, by := x.m.missing(&x.id, &n)
	return x.denied(&n, auth.Display, by)
}
