package pubsub

import (
	"bytes"
	"fmt"
	"slices"
)

// Check recounts what the tree counts and returns the first difference it finds. It holds the lock for the whole tree
// and is for tests and the debug build.
func (t *Tree) Check() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := checker{t: t}
	if err := c.node(t.root, nil); err != nil {
		return err
	}
	if c.nodes-1 != t.nodes || c.subs != t.subs || c.retained != t.retained || c.idle != t.idle.n || c.expiring != len(t.expiry) {
		return fmt.Errorf("counted nodes %d subs %d retained %d idle %d expiring %d, noted %d %d %d %d %d", c.nodes-1, c.subs,
			c.retained, c.idle, c.expiring, t.nodes, t.subs, t.retained, t.idle.n, len(t.expiry))
	}
	if c.durable != t.durable {
		return fmt.Errorf("%d durable subscriptions, noted %d", c.durable, t.durable)
	}
	if c.brief != t.brief {
		return fmt.Errorf("nodes count %d uses that nothing is there for, %d handles are open for a moment", c.brief, t.brief)
	}
	if n := t.wild.root.count(); n != c.wild {
		return fmt.Errorf("trie has %d wildcard subscriptions, the tree %d", n, c.wild)
	}
	seen, last := 0, int64(0)
	for i := t.idle.at(0).next; i != 0; i = t.idle.at(i).next {
		e := t.idle.at(i)
		if n := t.mem.at(e.node); n.idle != i || e.at < last {
			return fmt.Errorf("idle list is broken at %q", t.mem.topic(n))
		}
		seen, last = seen+1, e.at
	}
	if seen != t.idle.n {
		return fmt.Errorf("idle list has %d entries, noted %d", seen, t.idle.n)
	}
	return nil
}

type checker struct {
	t                                           *Tree
	nodes, subs, wild, retained, idle, expiring int
	brief, durable                              int
}

func (c *checker) node(n, parent *Node) error {
	c.nodes++
	m := &c.t.mem
	if m.up(n) != parent || m.at(n.self) != n {
		return fmt.Errorf("node %q has a wrong number or parent", m.name(n))
	}
	want := m.kidsOf(n).len()
	if parent == nil {
		want++
	}
	if n.retained() {
		want++
		c.retained++
	}
	if e := m.extOf(n); e != nil {
		if e.empty() {
			return fmt.Errorf("node %q keeps an empty extension", m.topic(n))
		}
		if e.object != nil {
			want++
		}
		want += len(e.subs) + len(e.wild) + len(e.pubs)
		c.subs += len(e.subs) + len(e.wild)
		for _, s := range slices.Concat(e.subs, e.wild) {
			if s.Durable {
				c.durable++
			}
		}
		c.wild += len(e.wild)
		if e.expiry != nil {
			c.expiring++
			if !n.retained() || e.expiry.node != n || c.t.expiry[e.expiry.i] != e.expiry {
				return fmt.Errorf("node %q has a stray expiry", m.topic(n))
			}
		}
	}
	got := int(n.uses & usesMask)
	c.brief += got - want // no list has those
	if got < want {
		return fmt.Errorf("node %q counts %d uses, has %d", m.topic(n), got, want)
	}
	if (n.idle != 0) != (got == 0) {
		return fmt.Errorf("node %q has %d uses and is idle: %t", m.topic(n), got, n.idle != 0)
	}
	if n.idle != 0 {
		c.idle++
	}
	return c.kids(n)
}

func (c *checker) kids(n *Node) error {
	if n.kids == 0 {
		return nil
	}
	m := &c.t.mem
	list := m.kidsOf(n)
	seen := 0
	var last *Node
	var bad error
	list.each(m, func(k *Node) bool {
		seen++
		switch {
		case k.hash != c.t.hash(string(m.name(k))):
			bad = fmt.Errorf("node %q has a wrong hash", m.topic(k))
		case list.find(m, k.hash, string(m.name(k))) != k:
			bad = fmt.Errorf("node %q is not found", m.topic(k))
		case last != nil && (last.hash > k.hash || last.hash == k.hash && bytes.Compare(m.name(last), m.name(k)) >= 0):
			bad = fmt.Errorf("node %q is out of order", m.topic(k))
		default:
			last = k
			bad = c.node(k, n)
		}
		return bad == nil
	})
	if bad == nil {
		bad = list.checkSize()
	}
	if bad == nil && seen != list.n {
		bad = fmt.Errorf("node %q has %d children, noted %d", m.topic(n), seen, list.n)
	}
	return bad
}

// checkSize reports a table that should have been split.
func (k *kids) checkSize() error {
	if k == nil {
		return nil
	}
	if k.sub == nil && len(k.nodes) > maxFlat && k.bits < maxHashBit {
		return fmt.Errorf("a table of %d children is not split", len(k.nodes))
	}
	if k.sub != nil {
		for _, s := range k.sub {
			if err := s.checkSize(); err != nil {
				return err
			}
		}
	}
	return nil
}

// count is the number of subscriptions in a trie.
func (w *wnode) count() int {
	n := len(w.subs) + len(w.long) + w.chars.n
	for _, c := range w.kids {
		n += c.count()
	}
	for _, c := range []*wnode{w.plus, w.hash} {
		if c != nil {
			n += c.count()
		}
	}
	return n
}
