package pubsub

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
	chars  []*Sub
}

func (w *wnode) empty() bool {
	return len(w.kids) == 0 && w.plus == nil && w.hash == nil && len(w.subs) == 0 && len(w.chars) == 0
}

func (w *wnode) child(k levelKind, name string) *wnode {
	switch k {
	case plus:
		if w.plus == nil {
			w.plus = &wnode{parent: w, kind: plus}
		}
		return w.plus
	case hash:
		if w.hash == nil {
			w.hash = &wnode{parent: w, kind: hash}
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

// add puts a wildcard subscription in.
func (w *wnode) add(s *Sub) {
	f := s.filter
	if f.scheme == SchemeChar {
		for rest, more := f.lead, f.lits > 0; more; {
			var lv string
			lv, rest, more = nextLevel(rest)
			w = w.child(literal, lv)
		}
		s.trie, s.tpos = w, len(w.chars)
		w.chars = append(w.chars, s)
		return
	}
	for i, k := range f.kind {
		w = w.child(k, f.level[i])
	}
	s.trie, s.tpos = w, len(w.subs)
	w.subs = append(w.subs, s)
}

// remove takes a subscription out, and the levels that nobody else needs. w is the trie's root.
func (w *wnode) remove(s *Sub) {
	c := s.trie
	s.trie = nil
	moved := func(m *Sub, i int) { m.tpos = i }
	if s.filter.scheme == SchemeChar {
		c.chars = cutSub(c.chars, s.tpos, moved)
	} else {
		c.subs = cutSub(c.subs, s.tpos, moved)
	}
	for c != w && c.empty() {
		p := c.parent
		switch c.kind {
		case plus:
			p.plus = nil
		case hash:
			p.hash = nil
		default:
			if delete(p.kids, c.name); len(p.kids) == 0 {
				p.kids = nil
			}
		}
		c = p
	}
}

// wstates is the set of trie nodes that fit the levels so far. Only '#' nodes can be reached twice: they stay for
// every level, and are entered for nothing from their parent.
type wstates struct {
	list []*wnode
	seen map[*wnode]bool // of '#' nodes, once there are many
}

const scanStates = 24

// enter adds a trie node, and the '#' below it, which may stand for no level at all.
func (s *wstates) enter(w *wnode) {
	if w.kind == hash && s.has(w) {
		return
	}
	s.list = append(s.list, w)
	if s.seen != nil && w.kind == hash {
		s.seen[w] = true
	}
	if w.hash != nil {
		s.enter(w.hash)
	}
}

func (s *wstates) has(w *wnode) bool {
	if s.seen != nil {
		return s.seen[w]
	}
	for _, x := range s.list {
		if x == w {
			return true
		}
	}
	if len(s.list) > scanStates {
		s.seen = map[*wnode]bool{}
		for _, x := range s.list {
			if x.kind == hash {
				s.seen[x] = true
			}
		}
	}
	return false
}

func (s *wstates) reset() { s.list, s.seen = s.list[:0], nil }

// match appends the wildcard subscriptions that fit a topic and are made at least at block levels deep.
func (w *wnode) match(dst []*Sub, topic string, block int) []*Sub {
	var a, b [16]*wnode
	cur, next := wstates{list: a[:0]}, wstates{list: b[:0]}
	cur.enter(w)
	lit := w // the way without wildcards, where the character patterns are
	dst = lit.matchChars(dst, topic, block)
	for rest, more := topic, topic != ""; more; {
		var lv string
		lv, rest, more = nextLevel(rest)
		next.reset()
		for _, x := range cur.list {
			if x.kind == hash {
				next.enter(x)
			}
			if c := x.kids[lv]; c != nil {
				next.enter(c)
			}
			if x.plus != nil {
				next.enter(x.plus)
			}
		}
		cur, next = next, cur
		if lit != nil {
			if lit = lit.kids[lv]; lit != nil {
				dst = lit.matchChars(dst, topic, block)
			}
		}
		if len(cur.list) == 0 {
			return dst
		}
	}
	for _, x := range cur.list {
		for _, s := range x.subs {
			if s.filter.lits >= block {
				dst = append(dst, s)
			}
		}
	}
	return dst
}

func (w *wnode) matchChars(dst []*Sub, topic string, block int) []*Sub {
	for _, s := range w.chars {
		if s.filter.lits >= block && globMatch(s.filter.glob, topic) {
			dst = append(dst, s)
		}
	}
	return dst
}
