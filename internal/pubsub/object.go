package pubsub

import "fmt"

// Topic objects: definitions tied to a node by their topic string, and the attributes that topics below inherit.

// Attr is one attribute that a topic object may set and a topic resolves.
type Attr uint8

const (
	DURSUB Attr = iota
	PUB
	SUB
	DEFPSIST
	DEFPRTY
	DEFPRESP
	PMSGDLV
	NPMSGDLV
	PUBSCOPE
	SUBSCOPE
	WILDCARD
	MDURMDL
	MNDURMDL
	MCAST
	USEDLQ
	CLUSTER
	CLROUTE
	COMMINFO
	CAPEXPRY
	PROXYSUB
	NumAttrs
)

// Attrs holds canonical MQSC words by Attr. ASPARENT, or nothing, means: as the topic above.
type Attrs [NumAttrs]string

// attrNames is in the order of the constants.
var attrNames = [NumAttrs]string{
	"DURSUB", "PUB", "SUB", "DEFPSIST", "DEFPRTY", "DEFPRESP", "PMSGDLV", "NPMSGDLV", "PUBSCOPE", "SUBSCOPE",
	"WILDCARD", "MDURMDL", "MNDURMDL", "MCAST", "USEDLQ", "CLUSTER", "CLROUTE", "COMMINFO", "CAPEXPRY", "PROXYSUB",
}

func (a Attr) String() string {
	if a < NumAttrs {
		return attrNames[a]
	}
	return fmt.Sprintf("Attr(%d)", uint8(a))
}

// builtin are the values where not even the root's object says one.
var builtin = Attrs{
	DURSUB: "YES", PUB: "ENABLED", SUB: "ENABLED", DEFPSIST: "NO", DEFPRTY: "0", DEFPRESP: "SYNC",
	PMSGDLV: "ALLDUR", NPMSGDLV: "ALLAVAIL", PUBSCOPE: "ALL", SUBSCOPE: "ALL", WILDCARD: "PASSTHRU",
	MDURMDL: "SYSTEM.DURABLE.MODEL.QUEUE", MNDURMDL: "SYSTEM.NDURABLE.MODEL.QUEUE", MCAST: "DISABLED", USEDLQ: "YES",
	CLROUTE: "NONE", COMMINFO: "SYSTEM.DEFAULT.COMMINFO.MULTICAST", CAPEXPRY: "NOLIMIT", PROXYSUB: "FIRSTUSE",
}

const (
	asParent = "ASPARENT"
	// BaseTopic is the object of the root. Other supplied objects have an empty topic string too; they are known by
	// name but give the root nothing.
	BaseTopic = "SYSTEM.BASE.TOPIC"
)

// Topic is a topic object. It is not changed after it was given to the tree.
type Topic struct {
	Name     string
	TopicStr string
	Attrs    Attrs

	node *Node // nil for objects that are only known by name
}

// own reports a value that the object says itself.
func (o *Topic) own(a Attr) (string, bool) {
	v := o.Attrs[a]
	return v, v != "" && v != asParent
}

func (o *Topic) blocks() bool { return o.Attrs[WILDCARD] == "BLOCK" }

// SetTopic ties an object to the node of its topic string, which is made if it is missing, or replaces the attributes
// of the object of that name. A topic string that another object has, or another topic string for a known object, is
// refused with RCObjectExists.
func (t *Tree) SetTopic(name, topicStr string, attrs *Attrs) error {
	if err := CheckLen(topicStr); err != nil {
		return err
	}
	o := &Topic{Name: name, TopicStr: topicStr, Attrs: *attrs}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.objects[name]
	if old != nil && old.TopicStr != topicStr {
		return refuse(RCObjectExists, name, "the topic string of a topic object cannot be changed; delete and define it again")
	}
	if topicStr != "" || name == BaseTopic {
		if n := t.find(topicStr); n != nil {
			if has := t.mem.object(n); has != nil && has != old {
				return refuse(RCObjectExists, topicStr, "topic object "+has.Name+" already has this topic string")
			}
		}
		n := t.ensure(topicStr)
		o.node = n
		t.mem.needExt(n).object = o
		if old == nil {
			t.use(n)
		}
	}
	t.objects[name] = o
	t.gen.Add(1)
	return nil
}

// DeleteTopic unties an object. Its node stays as long as it is used otherwise. An unknown name does nothing.
func (t *Tree) DeleteTopic(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.objects[name]
	if o == nil {
		return
	}
	delete(t.objects, name)
	if n := o.node; n != nil {
		t.mem.extOf(n).object = nil
		t.mem.dropExtIfEmpty(n)
		t.unuse(n)
	}
	t.gen.Add(1)
}

// deepest returns the deepest node that is there at or above a topic string, and whether it is the topic itself.
func (t *Tree) deepest(topic string) (*Node, bool) {
	n := t.root
	for more := topic != ""; more; {
		var level string
		level, topic, more = nextLevel(topic)
		c := t.child(n, level)
		if c == nil {
			return n, false
		}
		n = c
	}
	return n, true
}

// Resolve gives one attribute of a topic, never ASPARENT. The topic need not be in the tree.
func (t *Tree) Resolve(topic string, a Attr) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, exact := t.deepest(topic)
	return t.mem.resolve(n, a, exact)
}

// ResolveAll gives all attributes of a topic.
func (t *Tree) ResolveAll(topic string) Attrs {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, exact := t.deepest(topic)
	return t.mem.resolveAll(n, exact)
}

// ResolveAll gives all attributes of the topic that the handle is open on.
func (p *PubHandle) ResolveAll(t *Tree) Attrs {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.mem.resolveAll(p.node, true)
}

// MayRetain reports whether the topic that the handle is open on has a retained publication, or another one fits beside
// those that there are.
func (p *PubHandle) MayRetain(t *Tree, max int) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return p.node.retained() || t.retained < max
}

// resolve takes the value of the nearest object at or above n. exact is false when n only stands for a topic below it.
func (m *nodes) resolve(n *Node, a Attr, exact bool) string {
	all := m.resolveSet(n, 1<<a, exact)
	return all[a]
}

func (m *nodes) resolveAll(n *Node, exact bool) Attrs { return m.resolveSet(n, 1<<NumAttrs-1, exact) }

// resolveSet resolves the attributes whose bits are set in want. Three do not follow the common rule: WILDCARD and
// PROXYSUB hold for the object's own node only, and CLROUTE belongs to the object that gives CLUSTER.
func (m *nodes) resolveSet(n *Node, want uint32, exact bool) Attrs {
	out := builtin
	const own, route = 1<<WILDCARD | 1<<PROXYSUB, 1 << CLROUTE
	if o := m.object(n); exact && want&own != 0 && o != nil {
		for _, a := range []Attr{WILDCARD, PROXYSUB} {
			if v, ok := o.own(a); ok {
				out[a] = v
			}
		}
	}
	open := want &^ (own | route)
	if want&route != 0 {
		open |= 1 << CLUSTER
	}
	for ; n != nil && open != 0; n = m.up(n) {
		o := m.object(n)
		if o == nil {
			continue
		}
		for a := Attr(0); a < NumAttrs; a++ {
			v, ok := o.own(a)
			if !ok || open>>a&1 == 0 {
				continue
			}
			out[a] = v
			open &^= 1 << a
			if a == CLUSTER {
				out[CLROUTE] = "DIRECT"
				if r, ok := o.own(CLROUTE); ok {
					out[CLROUTE] = r
				}
			}
		}
		if o.TopicStr == AdminTopic {
			break
		}
	}
	return out
}

// Origin names the topic object that an attribute of a topic comes from, "" when none says anything about it.
func (t *Tree) Origin(topic string, a Attr) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, _ := t.deepest(topic)
	for ; n != nil; n = t.mem.up(n) {
		o := t.mem.object(n)
		if o == nil {
			continue
		}
		if _, ok := o.own(a); ok {
			return o.Name
		}
		if o.TopicStr == AdminTopic {
			break
		}
	}
	return ""
}
