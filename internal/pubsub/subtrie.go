package pubsub

import (
	"slices"
	"sync"
)

// Wildcard subscriptions by the levels of their filter, apart from the topic tree: it is small, and a publication
// looks only at the filters whose levels so far fit.

// wnode is one level of filters. Subscriptions of the character scheme stand at the end of their literal levels.
type wnode struct {
	parent *wnode
	name   string
	kind   levelKind
	kids   map[string]*wnode // literal levels
	plus   *wnode
	hash   *wnode
	subs   []*Sub
	long   []*Sub // of a '#': those that go on for more than maxTail levels
	chars  charIndex
	num    int // of a '#': its number in the trie, from 0
}

// maxTail is how many levels behind its first '#' a filter may have in the trie. What is there is looked at for every level
// of what is published, so the rest of longer ones is run on its own, at the end, and in a cheaper way.
const maxTail = 8

// subTrie is the trie with the numbers of its '#'.
type subTrie struct {
	root wnode
	nums int
	free []int
}

func (w *wnode) empty() bool {
	return len(w.kids) == 0 && w.plus == nil && w.hash == nil && len(w.subs) == 0 && len(w.long) == 0 && w.chars.n == 0
}

func (t *subTrie) child(w *wnode, k levelKind, name string) *wnode {
	switch k {
	case plus:
		if w.plus == nil {
			w.plus = &wnode{parent: w, kind: plus}
		}
		return w.plus
	case hash:
		if w.hash == nil {
			w.hash = &wnode{parent: w, kind: hash}
			if n := len(t.free); n > 0 {
				w.hash.num, t.free = t.free[n-1], t.free[:n-1]
			} else {
				w.hash.num = t.nums
				t.nums++
			}
		}
		return w.hash
	}
	c := w.kids[name]
	if c == nil {
		if w.kids == nil {
			w.kids = map[string]*wnode{}
		}
		c = &wnode{parent: w, name: name}
		w.kids[name] = c
	}
	return c
}

// tail is where a filter's part behind its first '#' begins, and whether it is too long for the trie.
func (f *Filter) tail() (from int, long bool) {
	from = slices.Index(f.kind, hash) + 1
	return from, from > 0 && len(f.kind)-from > maxTail
}

// add puts a wildcard subscription in.
func (t *subTrie) add(s *Sub) {
	f, w := s.filter, &t.root
	if f.scheme == SchemeChar {
		for rest, more := f.lead, f.lits > 0; more; {
			var lv string
			lv, rest, more = nextLevel(rest)
			w = t.child(w, literal, lv)
		}
		s.trie = w
		w.chars.add(s)
		return
	}
	from, long := f.tail()
	for i, k := range f.kind {
		if long && i == from {
			s.trie, s.tpos = w, len(w.long)
			w.long = append(w.long, s)
			return
		}
		w = t.child(w, k, f.level[i])
	}
	s.trie, s.tpos = w, len(w.subs)
	w.subs = append(w.subs, s)
}

// remove takes a subscription out, and the levels that nobody else needs.
func (t *subTrie) remove(s *Sub) {
	c := s.trie
	s.trie = nil
	moved := func(m *Sub, i int) { m.tpos = i }
	if s.filter.scheme == SchemeChar {
		c.chars.remove(s)
	} else if _, long := s.filter.tail(); long {
		c.long = cutSub(c.long, s.tpos, moved)
	} else {
		c.subs = cutSub(c.subs, s.tpos, moved)
	}
	for c != &t.root && c.empty() {
		p := c.parent
		switch c.kind {
		case plus:
			p.plus = nil
		case hash:
			p.hash = nil
			t.free = append(t.free, c.num)
		default:
			if delete(p.kids, c.name); len(p.kids) == 0 {
				p.kids = nil
			}
		}
		c = p
	}
}

// wstates is the set of trie nodes that fit the levels so far. A '#' fits every level from when it is reached; others are
// reached by one way only, so only a '#' need be looked for before it is added. cur is what fits beside those.
type wstates struct {
	hashes    []reached
	cur, next []*wnode
	in        []uint64 // numbers of hashes
}

// reached is a '#' with the part of the topic that was left when it was reached first.
type reached struct {
	w    *wnode
	rest string
	more bool
}

var statePool = sync.Pool{New: func() any { return &wstates{} }}

// enter adds a trie node, and the '#' below it, which may stand for no level at all.
func (s *wstates) enter(w *wnode, rest string, more bool) {
	s.next = append(s.next, w)
	if w.hash != nil {
		s.reach(w.hash, rest, more)
	}
}

func (s *wstates) reach(w *wnode, rest string, more bool) {
	i := w.num / 64
	if i >= len(s.in) {
		s.in = append(s.in, make([]uint64, i+1-len(s.in))...)
	}
	if bit := uint64(1) << (w.num % 64); s.in[i]&bit == 0 {
		s.in[i] |= bit
		s.hashes = append(s.hashes, reached{w, rest, more})
	}
}

// done forgets what was matched and gives the memory back.
func (s *wstates) done() {
	for _, r := range s.hashes {
		s.in[r.w.num/64] = 0
	}
	clear(s.hashes)
	clear(s.cur[:cap(s.cur)])
	clear(s.next[:cap(s.next)])
	s.hashes, s.cur, s.next = s.hashes[:0], s.cur[:0], s.next[:0]
	if cap(s.hashes)+cap(s.cur)+cap(s.next) <= 4096 {
		statePool.Put(s)
	}
}

// match appends the wildcard subscriptions that fit a topic and are made at least at block levels deep.
func (t *subTrie) match(dst []*Sub, topic string, block int) []*Sub {
	s := statePool.Get().(*wstates)
	defer s.done()
	rest, more := topic, topic != ""
	s.enter(&t.root, rest, more)
	s.cur, s.next = s.next, s.cur
	lit := &t.root // the way without wildcards, where the character patterns are
	dst = lit.chars.match(dst, topic, block)
	for more {
		var lv string
		lv, rest, more = nextLevel(rest)
		s.next = s.next[:0]
		for i := len(s.hashes) - 1; i >= 0; i-- { // from the end: what is added now begins behind this level
			s.follow(s.hashes[i].w, lv, rest, more)
		}
		for _, x := range s.cur {
			s.follow(x, lv, rest, more)
		}
		s.cur, s.next = s.next, s.cur
		if lit != nil {
			if lit = lit.kids[lv]; lit != nil {
				dst = lit.chars.match(dst, topic, block)
			}
		}
		if len(s.cur)+len(s.hashes) == 0 {
			return dst
		}
	}
	for _, x := range s.cur {
		dst = appendFrom(dst, x.subs, block)
	}
	for _, r := range s.hashes {
		dst = appendFrom(dst, r.w.subs, block)
		for _, sub := range r.w.long {
			from, _ := sub.filter.tail()
			// The '#' itself is run too: it may take levels.
			if sub.filter.lits >= block && sub.filter.matchLevels(from-1, r.rest, r.more) {
				dst = append(dst, sub)
			}
		}
	}
	return dst
}

// follow enters the nodes below one that fit a level.
func (s *wstates) follow(x *wnode, lv, rest string, more bool) {
	if c := x.kids[lv]; c != nil {
		s.enter(c, rest, more)
	}
	if x.plus != nil {
		s.enter(x.plus, rest, more)
	}
}

// appendFrom appends those that are made at least at block levels deep.
func appendFrom(dst, subs []*Sub, block int) []*Sub {
	for _, s := range subs {
		if s.filter.lits >= block {
			dst = append(dst, s)
		}
	}
	return dst
}
