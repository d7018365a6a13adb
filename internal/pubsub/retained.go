package pubsub

import (
	"container/heap"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// The index of retained publications: which topics have one. The publications themselves are the caller's; a node
// holds a number for one and, rarely, its expiry.

// RetainedRef is the caller's number for a retained publication.
type RetainedRef uint64

// RetainedAt is a topic's retained publication.
type RetainedAt struct {
	Topic   string
	Ref     RetainedRef
	Expires time.Time // zero: never
}

// expiry is a place in the heap of retained publications that end.
type expiry struct {
	node *Node
	at   int64 // unix nanoseconds
	i    int
}

type expiryHeap []*expiry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h expiryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].i, h[j].i = i, j
}

// Push is for container/heap.
func (h *expiryHeap) Push(x any) {
	e := x.(*expiry)
	e.i = len(*h)
	*h = append(*h, e)
}

// Pop is for container/heap.
func (h *expiryHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}

// SetRetained notes a topic's retained publication, in place of an earlier one, whose number it returns. expires is
// zero for one that stays.
func (t *Tree) SetRetained(topic string, ref RetainedRef, expires time.Time) (old RetainedRef, had bool, err error) {
	if err := CheckLen(topic); err != nil {
		return 0, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old, had = t.setRetained(t.ensure(topic), ref, expires)
	return old, had, nil
}

// SetRetained is Tree.SetRetained for the topic that the handle is open on.
func (p *PubHandle) SetRetained(t *Tree, ref RetainedRef, expires time.Time) (old RetainedRef, had bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.setRetained(p.node, ref, expires)
}

// RetainedRef is Tree.RetainedRefOf for the topic that the handle is open on.
func (p *PubHandle) RetainedRef(t *Tree) (RetainedRef, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return p.node.ref, p.node.retained()
}

// setRetained is called with mu held.
func (t *Tree) setRetained(n *Node, ref RetainedRef, expires time.Time) (old RetainedRef, had bool) {
	old, had = n.ref, n.retained()
	if !had {
		t.use(n)
		n.uses |= retainedBit
		t.retained++
	}
	n.ref = ref
	t.setExpiry(n, expires)
	return old, had
}

func (t *Tree) setExpiry(n *Node, expires time.Time) {
	if e := t.mem.extOf(n); e != nil && e.expiry != nil {
		heap.Remove(&t.expiry, e.expiry.i)
		e.expiry = nil
	}
	if expires.IsZero() {
		t.mem.dropExtIfEmpty(n)
		return
	}
	e := &expiry{node: n, at: expires.UnixNano()}
	t.mem.needExt(n).expiry = e
	heap.Push(&t.expiry, e)
	if e.i == 0 {
		t.signal()
	}
}

// dropRetained is called with mu held, for a node that has one.
func (t *Tree) dropRetained(n *Node) {
	n.uses &^= retainedBit
	n.ref = 0
	t.setExpiry(n, time.Time{})
	t.retained--
	t.unuse(n)
}

// ClearRetained forgets a topic's retained publication and returns its number.
func (t *Tree) ClearRetained(topic string) (RetainedRef, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.find(topic)
	if n == nil || !n.retained() {
		return 0, false
	}
	ref := n.ref
	t.dropRetained(n)
	return ref, true
}

// ClearMatching forgets, for one page of the topics that fit a filter, the retained publications whose numbers are below a bound, also
// those that have expired, and returns their numbers.
func (t *Tree) ClearMatching(f *Filter, below RetainedRef, p Page) ([]RetainedRef, Page) {
	var gone []RetainedRef
	t.mu.Lock()
	defer t.mu.Unlock()
	p = t.walk(f, p, func(n *Node, _, _ int) (int, bool) {
		if !n.retained() || n.ref >= below {
			return 0, false
		}
		gone = append(gone, n.ref)
		t.dropRetained(n)
		return 1, false
	})
	return gone, p
}

// hasRetained leaves out what has expired and only waits to be removed.
func (m *nodes) hasRetained(n *Node, now int64) bool {
	if !n.retained() || n.ext == 0 {
		return n.retained()
	}
	e := m.extOf(n)
	return e.expiry == nil || e.expiry.at > now
}

func (m *nodes) retainedAt(n *Node, topic string) RetainedAt {
	r := RetainedAt{Topic: topic, Ref: n.ref}
	if e := m.extOf(n); e != nil && e.expiry != nil {
		r.Expires = time.Unix(0, e.expiry.at)
	}
	return r
}

// Retained returns a topic's retained publication.
func (t *Tree) Retained(topic string) (RetainedAt, bool) {
	now := t.clk.Now().UnixNano()
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.find(topic)
	if n == nil || !t.mem.hasRetained(n, now) {
		return RetainedAt{}, false
	}
	return t.mem.retainedAt(n, topic), true
}

// RetainedCount is the number of retained publications.
func (t *Tree) RetainedCount() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.retained
}

// RetainedMatching gives one page of the retained publications whose topics fit a filter, as CLEAR TOPICSTR means it. A page may be
// empty and not the last; go on until Page.Done.
func (t *Tree) RetainedMatching(f *Filter, p Page) ([]RetainedAt, Page) {
	return t.retainedPage(f, p, false)
}

// RetainedForSub is RetainedMatching without what a WILDCARD(BLOCK) keeps from the filter: what a new subscription,
// or MQSUBRQ, is sent.
func (t *Tree) RetainedForSub(f *Filter, p Page) ([]RetainedAt, Page) {
	return t.retainedPage(f, p, true)
}

func (t *Tree) retainedPage(f *Filter, p Page, blocks bool) ([]RetainedAt, Page) {
	now := t.clk.Now().UnixNano()
	var out []RetainedAt
	t.mu.RLock()
	defer t.mu.RUnlock()
	p = t.walk(f, p, func(n *Node, _, _ int) (int, bool) {
		if !t.mem.hasRetained(n, now) || (blocks && f.wild && t.mem.blockDepth(n) > f.lits) {
			return 0, false
		}
		out = append(out, t.mem.retainedAt(n, t.mem.topic(n)))
		return 1, false
	})
	return out, p
}

// blockDepth is the depth of the nearest object with WILDCARD(BLOCK) at or above a node, 0 without one.
func (m *nodes) blockDepth(n *Node) int {
	for ; n.self != 0; n = m.at(n.parent) {
		if o := m.object(n); o != nil && o.blocks() {
			return m.depth(n)
		}
	}
	return 0
}

// ExpireRetained forgets at most max retained publications that have expired, and returns them.
func (t *Tree) ExpireRetained(now time.Time, max int) []RetainedAt {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []RetainedAt
	for len(out) < min(max, reapChunk) && len(t.expiry) > 0 && t.expiry[0].at <= now.UnixNano() {
		n := t.expiry[0].node
		out = append(out, t.mem.retainedAt(n, t.mem.topic(n)))
		t.dropRetained(n)
	}
	invariants.Work(len(out))
	return out
}

// RetainedRefOf returns the number of a topic's retained publication, also of one that has expired and only waits to be
// removed.
func (t *Tree) RetainedRefOf(topic string) (RetainedRef, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.find(topic); n != nil && n.retained() {
		return n.ref, true
	}
	return 0, false
}
