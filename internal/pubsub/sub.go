package pubsub

import (
	"slices"
	"sync/atomic"
	"time"
)

// SubType is SUBTYPE.
type SubType uint8

const (
	SubAPI SubType = iota + 1
	SubAdmin
	SubProxy
)

// String is the word of SUBTYPE.
func (s SubType) String() string {
	switch s {
	case SubAPI:
		return "API"
	case SubAdmin:
		return "ADMIN"
	case SubProxy:
		return "PROXY"
	}
	return ""
}

// MaxSubLevel is the highest SUBLEVEL, and the publication level of those that say nothing.
const MaxSubLevel = 9

// Sub is a subscription. The caller fills the exported fields before Subscribe and leaves them alone after.
type Sub struct {
	ID      [24]byte
	Name    string
	Topic   string // full topic string, with its wildcards
	Scheme  Scheme
	Level   uint8  // SUBLEVEL, 0..MaxSubLevel
	Scope   string // SUBSCOPE: ALL or QMGR
	Durable bool
	Type    SubType
	User    string
	Group   string // subscriptions of one group get a publication once; "" is no group
	Owner   any    // the caller's part

	filter *Filter
	node   *Node  // where it hangs: its topic, or the literal beginning of its filter
	trie   *wnode // wildcards only
	pos    int    // in its node's ext.subs or wild
	tpos   int    // in trie.subs or long, or in its list of trie.chars
	run    uint64 // where trie.chars has it, 0: among those without a run
	runLen uint8
	counts bool // its filter matches its own node, so it is seen there

	numMsgs atomic.Int64
	lastMsg atomic.Int64 // unix nanoseconds, 0: none
	resumed atomic.Int64
	conn    atomic.Pointer[string]
}

// Delivered counts messages put to the subscription's destination.
func (s *Sub) Delivered(n int, now time.Time) {
	s.numMsgs.Add(int64(n))
	s.lastMsg.Store(now.UnixNano())
}

// Attach notes the connection that holds the subscription (48 hex digits); "" when it is closed. A durable one stays
// a subscriber all the same.
func (s *Sub) Attach(conn string, now time.Time) {
	if conn == "" {
		s.conn.Store(nil)
		return
	}
	s.conn.Store(&conn)
	s.resumed.Store(now.UnixNano())
}

// HandOver notes another connection that holds the subscription too, when the one that was shown has closed it.
func (s *Sub) HandOver(conn string) { s.conn.Store(&conn) }

// Conn is the connection that holds the subscription, or "".
func (s *Sub) Conn() string {
	if c := s.conn.Load(); c != nil {
		return *c
	}
	return ""
}

// Wild reports whether the subscription's topic string has a wildcard. Only after Subscribe.
func (s *Sub) Wild() bool { return s.filter.wild }

// Filter is the parsed topic string. Only after Subscribe.
func (s *Sub) Filter() *Filter { return s.filter }

// Subscribe adds a subscription. Its topic is made if it is missing; a wildcard makes no topic of its own but keeps
// the one before its first wildcard in use.
func (t *Tree) Subscribe(s *Sub) error {
	f, err := ParseFilter(s.Topic, s.Scheme)
	if err != nil {
		return err
	}
	if s.Level > MaxSubLevel {
		return refuse(RCOptions, s.Topic, "subscription level above 9")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Group != "" && t.inGroup(s, f) {
		return refuse(RCDuplicateGroupSub, s.Topic, "its group already has a subscription to this topic string")
	}
	s.filter = f
	if !f.wild {
		s.node = t.ensure(f.exact)
		e := t.mem.needExt(s.node)
		s.counts, s.pos = true, len(e.subs)
		e.subs = append(e.subs, s)
	} else {
		s.node = t.ensureLevels(f.lead, f.lits > 0)
		e := t.mem.needExt(s.node)
		s.counts, s.pos = f.matchesLead(), len(e.wild)
		e.wild = append(e.wild, s)
		t.wild.add(s)
	}
	t.use(s.node)
	t.subs++
	if s.Durable {
		t.durable++
	}
	t.gen.Add(1)
	return nil
}

// inGroup reports whether a subscription's group has one to the same topic string.
func (t *Tree) inGroup(s *Sub, f *Filter) bool {
	topic, more := f.exact, f.exact != ""
	if f.wild {
		topic, more = f.lead, f.lits > 0
	}
	n := t.findLevels(topic, more)
	if n == nil || n.ext == 0 {
		return false
	}
	e := t.mem.extOf(n)
	list := e.subs
	if f.wild {
		list = e.wild
	}
	return slices.ContainsFunc(list, func(o *Sub) bool {
		return o.Group == s.Group && o.Topic == s.Topic && o.Scheme == s.Scheme
	})
}

// Unsubscribe takes a subscription out. A second call does nothing.
func (t *Tree) Unsubscribe(s *Sub) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := s.node
	if n == nil {
		return
	}
	e := t.mem.extOf(n)
	if s.filter.wild {
		e.wild = cutSub(e.wild, s.pos, func(m *Sub, i int) { m.pos = i })
		t.wild.remove(s)
	} else {
		e.subs = cutSub(e.subs, s.pos, func(m *Sub, i int) { m.pos = i })
	}
	s.node = nil
	t.mem.dropExtIfEmpty(n)
	t.unuse(n)
	t.subs--
	if s.Durable {
		t.durable--
	}
	t.gen.Add(1)
}

// cutSub removes the i-th of a list whose order does not matter; moved tells the one that took its place.
func cutSub(list []*Sub, i int, moved func(*Sub, int)) []*Sub {
	last := len(list) - 1
	if i != last {
		list[i] = list[last]
		moved(list[i], i)
	}
	list[last] = nil
	if list = list[:last]; last == 0 {
		return nil
	}
	if cap(list) >= 32 && last < cap(list)/4 {
		list = slices.Clone(list)
	}
	return list
}

// matchesLead reports whether a wildcard filter fits the topic of its own literal levels: a/# fits a.
func (f *Filter) matchesLead() bool {
	if f.scheme == SchemeChar {
		return f.matchRunes(f.lead)
	}
	return f.lits == len(f.kind)-1 && f.kind[f.lits] == hash
}
