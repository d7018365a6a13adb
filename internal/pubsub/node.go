package pubsub

import (
	"slices"
	"strings"
)

// Node is one level of one topic: 64 bytes, one size class of the allocator. Whatever few nodes have is in ext.
// name, parent and hash never change; everything else is guarded by Tree.mu.
type Node struct {
	name   string // this level only; its bytes are shared with equal levels where the intern cache had them
	parent *Node
	kids   *kids
	ext    *ext
	idle   *idleEntry // in the idle list, or nil
	ref    RetainedRef
	hash   uint32
	uses   uint32 // reasons to stay, children included; the highest bit says retained
}

const (
	retainedBit = 1 << 31
	usesMask    = retainedBit - 1
)

// ext holds what most nodes do not have.
type ext struct {
	object *Topic
	subs   []*Sub // made on exactly this topic string
	wild   []*Sub // wildcard subscriptions whose literal beginning is this topic string
	pubs   []*PubHandle
	pins   [numUses]uint32
	expiry *expiry // of the retained publication, if it has one
}

func (e *ext) empty() bool {
	return e.object == nil && len(e.subs) == 0 && len(e.wild) == 0 && len(e.pubs) == 0 && e.pins == [numUses]uint32{} && e.expiry == nil
}

// Topic returns the full topic string; for the root "".
func (n *Node) Topic() string {
	if n.parent == nil {
		return ""
	}
	size := -1
	for m := n; m.parent != nil; m = m.parent {
		size += len(m.name) + 1
	}
	buf := make([]byte, size)
	at := size
	for m := n; m.parent != nil; m = m.parent {
		at -= len(m.name)
		copy(buf[at:], m.name)
		if at--; at >= 0 {
			buf[at] = '/'
		}
	}
	return string(buf)
}

// depth is the number of levels.
func (n *Node) depth() int {
	d := 0
	for m := n; m.parent != nil; m = m.parent {
		d++
	}
	return d
}

func (n *Node) needExt() *ext {
	if n.ext == nil {
		n.ext = &ext{}
	}
	return n.ext
}

func (n *Node) dropExtIfEmpty() {
	if n.ext != nil && n.ext.empty() {
		n.ext = nil
	}
}

func (n *Node) retained() bool { return n.uses&retainedBit != 0 }

const (
	maxFlat    = 256 // children in one table before it is split, so that no insertion moves more
	minSplit   = 64  // children in a split table before it becomes one again
	splitBits  = 4
	maxHashBit = 32 - splitBits
)

// kids is the set of children in order of (hash, name): a flat table while it is small, else sixteen tables by the
// next four bits of the hash. The order survives growth, so a walk can go on where it stopped.
type kids struct {
	hashes []uint32 // beside nodes, so that a search reads one or two cache lines
	nodes  []*Node
	sub    *[1 << splitBits]*kids
	n      int
	bits   uint8 // of the hash, used up by the tables above
}

// slot says in which part of a split table a hash lies.
func (k *kids) slot(h uint32) uint32 { return h << k.bits >> (32 - splitBits) }

// lower returns the place of the first entry whose hash is not below h. Hashes are spread evenly, so the first guess
// is off by a few places only.
func (k *kids) lower(h uint32) int {
	n := len(k.hashes)
	i := int(uint64(h<<k.bits) * uint64(n) >> 32)
	for i > 0 && k.hashes[i-1] >= h {
		i--
	}
	for i < n && k.hashes[i] < h {
		i++
	}
	return i
}

func (k *kids) find(h uint32, name string) *Node {
	for k != nil && k.sub != nil {
		k = k.sub[k.slot(h)]
	}
	if k == nil {
		return nil
	}
	for i := k.lower(h); i < len(k.hashes) && k.hashes[i] == h; i++ {
		if k.nodes[i].name == name {
			return k.nodes[i]
		}
	}
	return nil
}

// place returns where (h, name) is or belongs in a flat table.
func (k *kids) place(h uint32, name string) int {
	i := k.lower(h)
	for i < len(k.hashes) && k.hashes[i] == h && k.nodes[i].name < name {
		i++
	}
	return i
}

// add inserts a node that is not in the set.
func (k *kids) add(n *Node) {
	k.n++
	for k.sub != nil {
		p := &k.sub[k.slot(n.hash)]
		if *p == nil {
			*p = &kids{bits: k.bits + splitBits}
		}
		k = *p
		k.n++
	}
	i := k.place(n.hash, n.name)
	k.hashes = slices.Insert(k.hashes, i, n.hash)
	k.nodes = slices.Insert(k.nodes, i, n)
	if len(k.nodes) > maxFlat && k.bits < maxHashBit {
		k.split()
	}
}

func (k *kids) split() {
	hashes, nodes := k.hashes, k.nodes
	k.hashes, k.nodes, k.sub = nil, nil, new([1 << splitBits]*kids)
	for from := 0; from < len(nodes); {
		s := k.slot(hashes[from])
		to := from + 1
		for to < len(nodes) && k.slot(hashes[to]) == s {
			to++
		}
		k.sub[s] = &kids{hashes: slices.Clone(hashes[from:to]), nodes: slices.Clone(nodes[from:to]), n: to - from, bits: k.bits + splitBits}
		from = to
	}
}

// remove takes out a node that is in the set.
func (k *kids) remove(n *Node) {
	var merge *kids
	k.n--
	for k.sub != nil {
		if merge == nil && k.n <= minSplit {
			merge = k
		}
		k = k.sub[k.slot(n.hash)]
		k.n--
	}
	i := k.place(n.hash, n.name)
	k.hashes = slices.Delete(k.hashes, i, i+1)
	k.nodes = slices.Delete(k.nodes, i, i+1)
	if cap(k.nodes) >= 32 && len(k.nodes) < cap(k.nodes)/4 {
		k.hashes, k.nodes = slices.Clone(k.hashes), slices.Clone(k.nodes)
	}
	if merge != nil {
		merge.merge()
	}
}

func (k *kids) merge() {
	all := make([]*Node, 0, k.n)
	k.each(func(n *Node) bool { all = append(all, n); return true })
	k.sub, k.nodes, k.hashes = nil, all, make([]uint32, len(all))
	for i, n := range all {
		k.hashes[i] = n.hash
	}
}

// each calls fn for all children in order until it returns false.
func (k *kids) each(fn func(*Node) bool) bool {
	if k == nil {
		return true
	}
	if k.sub != nil {
		for _, s := range k.sub {
			if !s.each(fn) {
				return false
			}
		}
		return true
	}
	for _, n := range k.nodes {
		if !fn(n) {
			return false
		}
	}
	return true
}

// from is each, beginning with the first child not before (h, name).
func (k *kids) from(h uint32, name string, fn func(*Node) bool) bool {
	if k == nil {
		return true
	}
	if k.sub != nil {
		s := k.slot(h)
		if !k.sub[s].from(h, name, fn) {
			return false
		}
		for _, t := range k.sub[s+1:] {
			if !t.each(fn) {
				return false
			}
		}
		return true
	}
	for _, n := range k.nodes[k.place(h, name):] {
		if !fn(n) {
			return false
		}
	}
	return true
}

func (k *kids) len() int {
	if k == nil {
		return 0
	}
	return k.n
}

// sorted returns the children by name.
func (k *kids) sorted() []*Node {
	all := make([]*Node, 0, k.len())
	k.each(func(n *Node) bool { all = append(all, n); return true })
	slices.SortFunc(all, func(a, b *Node) int { return strings.Compare(a.name, b.name) })
	return all
}
