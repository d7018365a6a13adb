package qmgr

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Topic objects: what ties a definition to the topic tree.

// topicFeed holds the topic tree and the counters that name what is made for it.
type topicFeed struct {
	tree   *pubsub.Tree
	serial atomic.Uint64 // last part of the next SUBID
	ends   subEnds       // of subscriptions with EXPIRY
	over   overQueues
}

func (f *topicFeed) init(m *Manager) {
	f.tree = pubsub.New(pubsub.Options{Clock: m.opt.Clock, Life: pubsub.DefaultTreeLife})
	f.ends.init()
	m.retain.init(f.tree)
	f.serial.Store(uint64(m.opt.Clock.Now().UnixNano()))
}

// loadTopics puts the topic objects and subscriptions of the registry into the tree.
func (m *Manager) loadTopics() {
	m.setTreeLife(m.qmgrDef())
	for _, o := range m.list("*", ClassTopic) {
		d := o.Def()
		if s := d.Get("TOPICSTR"); s != "" {
			m.topicStrs[s] = o
		}
		m.topicChanged(d)
	}
	for _, o := range m.list("*", ClassSub) {
		m.subChanged(o, o.Def())
		// An id is never given twice, whatever the machine's clock does between two runs.
		if n, ok := subSerial(o.Def()); ok && n > m.topics.serial.Load() {
			m.topics.serial.Store(n)
		}
	}
}

func (m *Manager) setTreeLife(d *Def) {
	m.topics.tree.SetLife(time.Duration(d.Int("TREELIFE")) * time.Second)
}

// templateTopic is the object that others start from; it is never part of the tree.
const templateTopic = "SYSTEM.DEFAULT.TOPIC"

// topicChanged gives a definition to the tree.
func (m *Manager) topicChanged(d *Def) {
	if d.Name == templateTopic {
		return
	}
	attrs := topicAttrs(d)
	if err := m.topics.tree.SetTopic(d.Name, d.Get("TOPICSTR"), &attrs); err != nil {
		// The registry keeps topic strings apart, so the tree has no reason to refuse.
		m.opt.Log.Error().Err(err).Str("topic", d.Name).Msg("topic object not tied to the topic tree")
	}
}

func topicAttrs(d *Def) pubsub.Attrs {
	var a pubsub.Attrs
	for i := range pubsub.NumAttrs {
		a[i] = d.Get(i.String())
	}
	if v := capExpiryOf(d); numOf(v, 0) > 0 {
		a[pubsub.CAPEXPRY] = v
	}
	return a
}

// ruleTopic: the topic string is there, is the object's own, and stays.
func ruleTopic(_ *exec, d, old *Def, _ *Object) *attr.Reply {
	s := d.Get("TOPICSTR")
	if s == "" && !rootTopics[d.Name] {
		return conflict(mqi.MQRCCF_PARM_MISSING, d.Name, "TOPICSTR is needed")
	}
	if err := pubsub.CheckLen(s); err != nil {
		return conflict(mqi.MQRC_TOPIC_STRING_ERROR, d.Name, err.Error())
	}
	if old == nil {
		return nil
	}
	if s != old.Get("TOPICSTR") {
		return failed(mqi.MQRC_TOPIC_NOT_ALTERABLE, msgFixed, "TOPICSTR of topic "+d.Name)
	}
	if s == pubsub.AdminTopic && d.Get("WILDCARD") != old.Get("WILDCARD") {
		return failed(mqi.MQRCCF_PARM_VALUE_ERROR, msgFixed, "WILDCARD of topic "+d.Name)
	}
	if d.Get("CLROUTE") != old.Get("CLROUTE") && !blank(old.Get("CLUSTER")) && !blank(d.Get("CLUSTER")) {
		return conflict(mqi.MQRCCF_PARM_CONFLICT, d.Name, "CLROUTE cannot be changed while CLUSTER is set: set CLUSTER(' ') first")
	}
	return nil
}

// rootTopics may have an empty topic string.
var rootTopics = map[string]bool{
	templateTopic: true, pubsub.BaseTopic: true, "SYSTEM.BROKER.DEFAULT.STREAM": true, "SYSTEM.BROKER.DEFAULT.SUBPOINT": true,
}

// storeTopic reserves the topic string and adds the definition to the unit.
func (x *exec) storeTopic(u *unit, o *Object, old, d *Def) *attr.Reply {
	m, s := x.m, d.Get("TOPICSTR")
	if old == nil && s != "" {
		other, err := m.takeTopicStr(x.ctx, s, o)
		switch {
		case err != nil:
			return interrupted(err)
		case other != nil:
			return failed(mqi.MQRCCF_TOPICSTR_ALREADY_EXISTS, msgTopicStrTaken, s, other.Name)
		}
		u.onUndo(func() { m.freeTopicStr(s, o) })
	}
	m.putObject(u, o, d)
	u.onSwap(func() { m.topicChanged(d) })
	return nil
}

// takeTopicStr makes a topic string an object's own, or returns the object that has it. A change under way of that one
// may free the string, so it is completed first; it has its string already, so it waits for nobody.
func (m *Manager) takeTopicStr(ctx context.Context, s string, o *Object) (*Object, error) {
	for {
		other, p := m.takeTopicStrNow(s, o)
		if p == nil {
			return other, nil
		}
		if err := p.settle(ctx); err != nil {
			return nil, err
		}
	}
}

// takeTopicStrNow is takeTopicStr unless the one that has the string is being changed; then it returns that change too.
func (m *Manager) takeTopicStrNow(s string, o *Object) (*Object, *Pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	other := m.topicStrs[s]
	if other == nil {
		m.topicStrs[s] = o
		return nil, nil
	}
	return other, other.latched()
}

func (m *Manager) freeTopicStr(s string, o *Object) {
	m.mu.Lock()
	if m.topicStrs[s] == o {
		delete(m.topicStrs, s)
	}
	m.mu.Unlock()
}

// topicGone takes a deleted topic object out of the tree; the topics below then resolve without it. Its topic string is free
// only then: the tree refuses another object on it before.
func (m *Manager) topicGone(o *Object, d *Def) {
	m.topics.tree.DeleteTopic(d.Name)
	m.freeTopicStr(d.Get("TOPICSTR"), o)
}

// clearTopicStr runs CLEAR TOPICSTR: it removes the retained publications of every topic that fits the string.
func (x *exec) clearTopicStr() *attr.Reply {
	f, err := pubsub.ParseFilter(x.c.Name, pubsub.SchemeTopic)
	if err != nil {
		return topicRefused(err, x.c.Name)
	}
	if err := x.m.clearRetained(f); err != nil {
		return x.m.storeFailed(err)
	}
	return x.success(x.c.Name)
}

func topicRefused(err error, name string) *attr.Reply {
	var e *pubsub.Error
	if errors.As(err, &e) {
		return conflict(mqi.RC(e.RC), name, e.Why)
	}
	return failed(mqi.MQRC_TOPIC_STRING_ERROR, msgUnexpected, err.Error())
}
