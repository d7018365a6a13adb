package pubsub

import (
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Paged walks over the topics that fit a filter. A walk goes down only where the filter can still match, so it costs
// what it returns; and it holds the lock for pageVisits nodes at most, however many there are.

const (
	pageVisits = 1000
	// sortedKids is how many children are shown by name. More are shown in the order of their hashes, because
	// sorting a million names for each page would block everybody.
	sortedKids = 1024
	// PageRows is the most rows of a page when the caller names no number.
	PageRows = 1000
)

// Page is a place in a walk. The zero value is the beginning.
type Page struct {
	Limit int // rows a page; 0 is PageRows

	path    []step // of the node last visited, from below the root
	started bool
	off     int // rows of that node already given; -1: all
	done    bool
}

// step is one level of the way down, with the order in which its siblings are walked.
type step struct {
	name   string
	byName bool
}

// Done reports that a walk has reached its end.
func (p Page) Done() bool { return p.done }

// level is a step of a walk that goes on, while mu is held.
type level struct {
	n      *Node
	byName bool
}

// walker visits nodes in preorder.
type walker struct {
	t       *Tree
	f       *Filter
	auto    *automaton[string] // SchemeTopic
	glob    *automaton[rune]   // SchemeChar
	rows    int                // still wanted
	visits  int
	resume  []step // way to go on along; nil once it was reached
	off     int
	path    []level
	out     Page
	nameSet states     // what names are for
	names   []string   // of namesOf
	room    [][]uint64 // of the states at each depth
	// emit is given a matching node and how many of its rows were given before. It says how many it gave now, at
	// most max, and whether there are more.
	emit func(n *Node, from, max int) (int, bool)
}

// walk runs one page of a walk. Called with mu held.
func (t *Tree) walk(f *Filter, p Page, emit func(n *Node, from, max int) (int, bool)) Page {
	limit := p.Limit
	if limit <= 0 || limit > PageRows {
		limit = PageRows
	}
	w := &walker{t: t, f: f, rows: limit, visits: pageVisits, emit: emit, off: -2}
	if p.done {
		return p
	}
	if p.started {
		w.resume, w.off = p.path, p.off
	}
	w.out = Page{Limit: p.Limit}
	over := w.run()
	invariants.Work(pageVisits - w.visits)
	if over {
		return Page{Limit: p.Limit, done: true}
	}
	return w.out
}

// run starts at the deepest node that every match is at or below.
func (w *walker) run() bool {
	f := w.f
	if !f.wild {
		if n := w.t.find(f.exact); n != nil {
			return w.self(n, true)
		}
		return true
	}
	n := w.t.findLevels(f.lead, f.lits > 0)
	if n == nil {
		return true
	}
	if f.scheme == SchemeChar {
		w.glob = f.runes()
		return w.node(n, w.spell(w.glob.start(0), f.lead))
	}
	w.auto = f.levels()
	return w.node(n, w.auto.start(f.lits))
}

// stop notes where to go on.
func (w *walker) stop(off int) bool {
	w.out.path = make([]step, len(w.path))
	for i, l := range w.path {
		w.out.path[i] = step{string(w.t.mem.name(l.n)), l.byName}
	}
	w.out.started, w.out.off = true, off
	return false
}

// self gives a node's own rows. It returns false when the page is full.
func (w *walker) self(n *Node, matches bool) bool {
	from := 0
	switch {
	case w.off == -1: // all its rows were given by the page before
		w.off = -2
		return true
	case w.off >= 0:
		from = w.off
		w.off = -2
	}
	w.visits--
	if matches {
		gave, more := w.emit(n, from, w.rows)
		w.rows -= gave
		if more {
			return w.stop(from + gave)
		}
	}
	if w.rows <= 0 || w.visits <= 0 {
		return w.stop(-1)
	}
	return true
}

func (w *walker) matches(set states) bool {
	if w.f.scheme == SchemeChar {
		return w.glob.accepts(set)
	}
	return w.auto.accepts(set)
}

// node visits n and what is below it.
func (w *walker) node(n *Node, set states) bool {
	depth := len(w.path)
	resuming := depth < len(w.resume)
	if !resuming {
		w.resume = nil
		if !w.self(n, w.matches(set)) {
			return false
		}
	}
	if n.kids == 0 {
		w.lost(depth)
		return true
	}
	if w.f.scheme == SchemeTopic && !w.auto.open(set) {
		return w.named(n, set)
	}
	return w.all(n, set)
}

// lost gives up the way of the page before when its next node has gone: the walk goes on behind its place.
func (w *walker) lost(depth int) {
	if depth < len(w.resume) {
		w.resume, w.off = nil, -2
	}
}

// namesOf are the names that the filter has next, in order. Nodes beside one another have the same.
func (w *walker) namesOf(set states) []string {
	if w.names != nil && w.nameSet.from == set.from && slices.Equal(w.nameSet.w, set.w) {
		return w.names
	}
	w.nameSet = states{from: set.from, w: append(w.nameSet.w[:0], set.w...)}
	names := make([]string, 0, 1)
	set.each(func(place int) {
		if place < len(w.f.level) {
			names = append(names, w.f.level[place])
		}
	})
	slices.Sort(names)
	w.names = slices.Compact(names)
	return w.names
}

// named goes down to the children that the filter names.
func (w *walker) named(n *Node, set states) bool {
	names := w.namesOf(set)
	depth := len(w.path)
	resuming := depth < len(w.resume)
	from := ""
	if resuming {
		from = w.resume[depth].name
	}
	for _, name := range names {
		if name < from {
			continue
		}
		if resuming && name != from {
			w.lost(depth)
		}
		if c := w.t.child(n, name); c != nil && !w.down(c, set, true) {
			return false
		}
		w.lost(depth)
		resuming = false
	}
	w.lost(depth)
	return true
}

// all goes down to every child that may match.
func (w *walker) all(n *Node, set states) bool {
	depth := len(w.path)
	resuming := depth < len(w.resume)
	m, list := &w.t.mem, w.t.mem.kidsOf(n)
	byName := list.n <= sortedKids
	var from string
	if resuming {
		from, byName = w.resume[depth].name, w.resume[depth].byName
	}
	visit := func(c *Node) bool {
		if resuming && string(m.name(c)) != from {
			w.lost(depth)
		}
		ok := w.down(c, set, byName)
		if ok {
			w.lost(depth)
		}
		resuming = false
		return ok
	}
	if !byName {
		if resuming {
			if !list.from(m, w.t.hash(from), from, visit) {
				return false
			}
		} else if !list.each(m, visit) {
			return false
		}
		w.lost(depth)
		return true
	}
	sorted := list.sorted(m)
	if resuming {
		i, _ := slices.BinarySearchFunc(sorted, from, func(c *Node, s string) int { return strings.Compare(string(m.name(c)), s) })
		sorted = sorted[i:]
	}
	for _, c := range sorted {
		if !visit(c) {
			return false
		}
	}
	w.lost(depth)
	return true
}

// spell returns the states that characters lead to. The ones it is given stay as they are.
func (w *walker) spell(set states, text string) states {
	var spare, own []uint64
	for _, r := range text {
		next := w.glob.step(spare, set, r)
		spare, own = own, next.w
		if set = next; len(set.w) == 0 {
			break
		}
	}
	return set
}

// down enters a child with the states its level leads to.
func (w *walker) down(c *Node, set states, byName bool) bool {
	depth := len(w.path)
	name := string(w.t.mem.name(c))
	switch {
	case w.f.scheme == SchemeTopic:
		for len(w.room) <= depth {
			w.room = append(w.room, nil)
		}
		set = w.auto.step(w.room[depth], set, name)
		w.room[depth] = set.w
	case c.parent == 0: // the first level
		set = w.spell(set, name)
	default:
		set = w.spell(w.glob.step(nil, set, '/'), name)
	}
	dead := len(set.w) == 0
	if dead {
		if w.visits--; w.visits > 0 { // it was looked at, too
			return true
		}
	}
	w.path = append(w.path, level{c, byName})
	ok := false
	if dead {
		w.stop(-1) // behind it
	} else {
		ok = w.node(c, set)
	}
	w.path = w.path[:depth]
	return ok
}
