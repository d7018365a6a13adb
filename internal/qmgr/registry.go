package qmgr

import (
	"context"
	"sort"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/store"
)

// lookup returns an object whose definition is in force, or nil.
func (m *Manager) lookup(c Class, name string) *Object {
	m.mu.RLock()
	defer m.mu.RUnlock()
	o := m.objects[c][name]
	if o == nil || o.Def() == nil {
		return nil
	}
	return o
}

// Defined reports whether there is an object, its definition in force.
func (m *Manager) Defined(c Class, name string) bool { return m.lookup(c, name) != nil }

// objectByQID returns the local queue with that id, or nil.
func (m *Manager) objectByQID(id store.QID) *Object {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.byQID[id]
}

// limits are the attributes of the queue manager that every put asks for, parsed once per definition.
type limits struct {
	def      *Def
	maxMsgL  int
	maxUMsgs int
	ccsid    int32
}

func (m *Manager) limits() *limits {
	d := m.qmgrDef()
	if l := m.limit.Load(); l != nil && l.def == d {
		return l
	}
	l := &limits{def: d, maxMsgL: numAttr(d, "MAXMSGL", 4194304), maxUMsgs: numAttr(d, "MAXUMSGS", 10000),
		ccsid: int32(numAttr(d, "CCSID", 1208))}
	m.limit.Store(l)
	return l
}

// qmgrDef returns the queue manager's own definition.
func (m *Manager) qmgrDef() *Def {
	o := m.self.Load()
	if o == nil {
		if o = m.lookup(ClassQmgr, qmgrName); o == nil {
			return m.noQmgr
		}
		m.self.Store(o) // it stays as long as the manager
	}
	return o.Def()
}

// qmgrName is the key of the queue manager's own object: its name space holds one.
const qmgrName = "QMGR"

// list returns the objects of some classes whose name fits the pattern (exact, or with a final *), in name order
// within a class.
func (m *Manager) list(pattern string, classes ...Class) []*Object {
	var out []*Object
	prefix, generic := strings.CutSuffix(pattern, "*")
	for _, c := range classes {
		if !generic {
			if o := m.lookup(c, pattern); o != nil {
				out = append(out, o)
			}
			continue
		}
		from := len(out)
		out = m.appendWith(out, c, prefix)
		part := out[from:]
		sort.Slice(part, func(i, j int) bool { return part[i].Name < part[j].Name })
	}
	return out
}

// appendWith appends the objects of a class whose names begin with a prefix, in no order.
func (m *Manager) appendWith(out []*Object, c Class, prefix string) []*Object {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for n, o := range m.objects[c] {
		if strings.HasPrefix(n, prefix) && o.Def() != nil {
			out = append(out, o)
		}
	}
	return out
}

// keysOf returns the keys of a class that begin with a prefix, those whose DEFINE is under way too.
func (m *Manager) keysOf(c Class, prefix string) []key {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []key
	for n := range m.objects[c] {
		if strings.HasPrefix(n, prefix) {
			out = append(out, key{c, n})
		}
	}
	return out
}

// localQueues returns every local queue in name order.
func (m *Manager) localQueues() []*Object {
	all := m.list("*", ClassQueue)
	out := all[:0]
	for _, o := range all {
		if o.Queue != nil {
			out = append(out, o)
		}
	}
	return out
}

// key names an object before it exists.
type key struct {
	class Class
	name  string
}

// latch gives p the right to change the named objects, making empty entries for those that do not exist. A change
// that is under way for one of them is completed first, so one goroutine that holds several pending changes never
// waits for itself. Nothing is held while it waits.
func (m *Manager) latch(ctx context.Context, p *Pending, keys ...key) ([]*Object, error) {
	for {
		objs, busy := m.latchNow(p, keys)
		if busy == nil {
			return objs, nil
		}
		if err := busy.settle(ctx); err != nil {
			return nil, err
		}
	}
}

// settled returns an object after any change of it under way is complete; nil when there is none then.
func (m *Manager) settled(ctx context.Context, c Class, name string) (*Object, error) {
	for {
		m.mu.RLock()
		o := m.objects[c][name]
		m.mu.RUnlock()
		if o == nil {
			return nil, nil
		}
		p := o.latched()
		if p == nil {
			return m.lookup(c, name), nil
		}
		if err := p.settle(ctx); err != nil {
			return nil, err
		}
	}
}

func (m *Manager) insertLocked(o *Object) {
	byName := m.objects[o.Class]
	if byName == nil {
		byName = map[string]*Object{}
		m.objects[o.Class] = byName
	}
	byName[o.Name] = o
}

// removeLocked takes an object out of the registry if it is still the one registered.
func (m *Manager) removeLocked(o *Object) {
	if m.objects[o.Class][o.Name] == o {
		delete(m.objects[o.Class], o.Name)
	}
}

// latchNow is latch unless a change is under way for one of the objects; then it returns that.
func (m *Manager) latchNow(p *Pending, keys []key) ([]*Object, *Pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		if o := m.objects[k.class][k.name]; o != nil {
			if busy := o.latched(); busy != nil {
				return nil, busy
			}
		}
	}
	objs := make([]*Object, len(keys))
	for i, k := range keys {
		o := m.objects[k.class][k.name]
		if o == nil {
			o = &Object{Class: k.class, Name: k.name}
			m.insertLocked(o)
		}
		p.objs = append(p.objs, o) // first: release is to find it
		o.setPending(p)
		objs[i] = o
	}
	return objs, nil
}

// release ends p's right over its objects; entries that were made for it and got no definition go.
func (m *Manager) release(p *Pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range p.objs {
		if o.Def() == nil {
			m.removeLocked(o)
		}
		o.unlatch(p)
	}
	p.released.Store(true)
}

// tableOf says where a class is stored.
func tableOf(c Class) store.Table {
	switch c {
	case ClassSub:
		return store.TableSubs
	case ClassChlauth, ClassAuthrec:
		return store.TableAuthority
	}
	return store.TableObjects
}

func storeKey(c Class, name string) []byte { return []byte(string(c) + "\x00" + name) }

// templateOf names the SYSTEM object whose values a new object of the kind starts with.
func templateOf(k attr.Kind) string {
	switch k {
	case "QLOCAL":
		return "SYSTEM.DEFAULT.LOCAL.QUEUE"
	case "QMODEL":
		return "SYSTEM.DEFAULT.MODEL.QUEUE"
	case "QALIAS":
		return "SYSTEM.DEFAULT.ALIAS.QUEUE"
	case "QREMOTE":
		return "SYSTEM.DEFAULT.REMOTE.QUEUE"
	case "LISTENER":
		return "SYSTEM.DEFAULT.LISTENER.TCP"
	case "COMMINFO":
		return "SYSTEM.DEFAULT.COMMINFO.MULTICAST"
	case "TOPIC", "SUB", "PROCESS", "NAMELIST", "SERVICE":
		return "SYSTEM.DEFAULT." + string(k)
	}
	if classOf(k) == ClassAuthinfo {
		return "SYSTEM.DEFAULT.AUTHINFO." + subtype(k)
	}
	switch t := chlType(k); t {
	case "SDR":
		return "SYSTEM.DEF.SENDER"
	case "SVR":
		return "SYSTEM.DEF.SERVER"
	case "RCVR":
		return "SYSTEM.DEF.RECEIVER"
	case "RQSTR":
		return "SYSTEM.DEF.REQUESTER"
	case "":
		return ""
	default:
		return "SYSTEM.DEF." + t
	}
}

// IsModel reports whether a model queue has that name.
func (m *Manager) IsModel(name string) bool {
	o := m.lookup(ClassQueue, name)
	if o == nil {
		return false
	}
	d := o.Def()
	return d != nil && d.Kind == "QMODEL"
}
