package pubsub

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Node is one level of one topic: 56 bytes without a pointer (slab). Whatever few nodes have is in ext.
// self, parent, hash and the name never change; everything else is guarded by Tree.mu.
type Node struct {
	ref    RetainedRef
	self   uint32 // its number; the root's is 0
	parent uint32
	kids   uint32 // in nodes.kids
	ext    uint32 // in nodes.exts
	idle   uint32 // in the idle list, or 0
	hash   uint32
	uses   uint32 // reasons to stay, children included; the highest bit says retained
	size   uint8  // of the name
	short  [shortName]byte
}

const (
	shortName = 19
	// longName is the size of a name that is in nodes.long; short is its number there.
	longName = 255
)

const (
	retainedBit = 1 << 31
	usesMask    = retainedBit - 1
)

// nodes are those of a tree, with what they refer to. The zero value has none, not even a root.
type nodes struct {
	slab[Node]
	kids refs[kids]
	exts refs[ext]
	long refs[longText]
	last [internSlots]uint32 // of long, by hash
}

// longText is a name that has no room in its node. Equal ones are shared as far as nodes.last still has them.
type longText struct {
	text []byte
	uses int
}

const (
	internSlots  = 4096
	maxInternLen = 64 // longer levels are rarely shared
)

// make makes the node of a level, which has no place yet.
func (m *nodes) make(level string, h uint32, parent *Node) *Node {
	i, n := m.add()
	n.self, n.hash, n.size = i, h, uint8(min(len(level), longName))
	if parent != nil {
		n.parent = parent.self
	}
	if len(level) <= shortName {
		copy(n.short[:], level)
		return n
	}
	n.size = longName
	binary.LittleEndian.PutUint32(n.short[:], m.shared(level, h))
	return n
}

// shared is the number of a long name.
func (m *nodes) shared(level string, h uint32) uint32 {
	last := &m.last[h%internSlots]
	if l := m.long.at(*last); l != nil && string(l.text) == level {
		l.uses++
		return *last
	}
	i := m.long.add(&longText{text: []byte(level), uses: 1})
	if len(level) <= maxInternLen {
		*last = i
	}
	return i
}

func (m *nodes) unshare(i, h uint32) {
	l := m.long.at(i)
	if l.uses--; l.uses > 0 {
		return
	}
	if last := &m.last[h%internSlots]; *last == i {
		*last = 0
	}
	m.long.remove(i)
}

// drop forgets a node that has neither children nor an ext.
func (m *nodes) drop(n *Node) {
	if n.size == longName {
		m.unshare(binary.LittleEndian.Uint32(n.short[:]), n.hash)
	}
	m.remove(n.self)
}

// name is that of this level only. It is the node's memory: it is valid while mu is held.
func (m *nodes) name(n *Node) []byte {
	if n.size == longName {
		return m.long.at(binary.LittleEndian.Uint32(n.short[:])).text
	}
	return n.short[:n.size]
}

func (m *nodes) kidsOf(n *Node) *kids { return m.kids.at(n.kids) }

func (m *nodes) extOf(n *Node) *ext { return m.exts.at(n.ext) }

// up is the node above, nil above the root.
func (m *nodes) up(n *Node) *Node {
	if n.self == 0 {
		return nil
	}
	return m.at(n.parent)
}

// ext holds what most nodes do not have.
type ext struct {
	object *Topic
	subs   []*Sub // made on exactly this topic string
	wild   []*Sub // wildcard subscriptions whose literal beginning is this topic string
	pubs   []*PubHandle
	expiry *expiry // of the retained publication, if it has one
}

func (e *ext) empty() bool {
	return e.object == nil && len(e.subs) == 0 && len(e.wild) == 0 && len(e.pubs) == 0 && e.expiry == nil
}

// topic returns the full topic string; for the root "".
func (m *nodes) topic(n *Node) string {
	if n.self == 0 {
		return ""
	}
	size := -1
	for x := n; x.self != 0; x = m.at(x.parent) {
		size += len(m.name(x)) + 1
	}
	var b strings.Builder
	b.Grow(size)
	m.spell(&b, n)
	return b.String()
}

func (m *nodes) spell(b *strings.Builder, n *Node) {
	if up := m.at(n.parent); up.self != 0 {
		m.spell(b, up)
		b.WriteByte('/')
	}
	b.Write(m.name(n))
}

// depth is the number of levels.
func (m *nodes) depth(n *Node) int {
	d := 0
	for ; n.self != 0; n = m.at(n.parent) {
		d++
	}
	return d
}

func (m *nodes) needExt(n *Node) *ext {
	if n.ext == 0 {
		n.ext = m.exts.add(&ext{})
	}
	return m.exts.at(n.ext)
}

func (m *nodes) dropExtIfEmpty(n *Node) {
	if n.ext != 0 && m.extOf(n).empty() {
		m.exts.remove(n.ext)
		n.ext = 0
	}
}

// object is the topic object that is tied to this very node, or nil.
func (m *nodes) object(n *Node) *Topic {
	if n.ext == 0 {
		return nil
	}
	return m.exts.at(n.ext).object
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
	nodes  []uint32 // their numbers
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

func (k *kids) find(m *nodes, h uint32, name string) *Node {
	for k != nil && k.sub != nil {
		k = k.sub[k.slot(h)]
	}
	if k == nil {
		return nil
	}
	for i := k.lower(h); i < len(k.hashes) && k.hashes[i] == h; i++ {
		if n := m.at(k.nodes[i]); string(m.name(n)) == name {
			return n
		}
	}
	return nil
}

// place returns where (h, name) is or belongs in a flat table.
func (k *kids) place(m *nodes, h uint32, name string) int {
	i := k.lower(h)
	for i < len(k.hashes) && k.hashes[i] == h && string(m.name(m.at(k.nodes[i]))) < name {
		i++
	}
	return i
}

// add inserts a node that is not in the set.
func (k *kids) add(m *nodes, n *Node) {
	k.n++
	for k.sub != nil {
		p := &k.sub[k.slot(n.hash)]
		if *p == nil {
			*p = &kids{bits: k.bits + splitBits}
		}
		k = *p
		k.n++
	}
	i := k.place(m, n.hash, string(m.name(n)))
	invariants.Work(len(k.nodes) - i)
	k.hashes = slices.Insert(k.hashes, i, n.hash)
	k.nodes = slices.Insert(k.nodes, i, n.self)
	if len(k.nodes) > maxFlat && k.bits < maxHashBit {
		k.split()
	}
}

func (k *kids) split() {
	invariants.Work(len(k.nodes))
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
func (k *kids) remove(m *nodes, n *Node) {
	var merge *kids
	k.n--
	for k.sub != nil {
		if merge == nil && k.n <= minSplit {
			merge = k
		}
		k = k.sub[k.slot(n.hash)]
		k.n--
	}
	i := k.lower(n.hash)
	for k.nodes[i] != n.self {
		i++
	}
	invariants.Work(len(k.nodes) - i)
	k.hashes = slices.Delete(k.hashes, i, i+1)
	k.nodes = slices.Delete(k.nodes, i, i+1)
	if cap(k.nodes) >= 32 && len(k.nodes) < cap(k.nodes)/4 {
		k.hashes, k.nodes = slices.Clone(k.hashes), slices.Clone(k.nodes)
	}
	if merge != nil {
		merge.merge(m)
	}
}

func (k *kids) merge(m *nodes) {
	invariants.Work(k.n)
	hashes, all := make([]uint32, 0, k.n), make([]uint32, 0, k.n)
	k.each(m, func(n *Node) bool {
		hashes, all = append(hashes, n.hash), append(all, n.self)
		return true
	})
	k.sub, k.nodes, k.hashes = nil, all, hashes
}

// each calls fn for all children in order until it returns false.
func (k *kids) each(m *nodes, fn func(*Node) bool) bool {
	if k == nil {
		return true
	}
	if k.sub != nil {
		for _, s := range k.sub {
			if !s.each(m, fn) {
				return false
			}
		}
		return true
	}
	for _, i := range k.nodes {
		if !fn(m.at(i)) {
			return false
		}
	}
	return true
}

// from is each, beginning with the first child not before (h, name).
func (k *kids) from(m *nodes, h uint32, name string, fn func(*Node) bool) bool {
	if k == nil {
		return true
	}
	if k.sub != nil {
		s := k.slot(h)
		if !k.sub[s].from(m, h, name, fn) {
			return false
		}
		for _, t := range k.sub[s+1:] {
			if !t.each(m, fn) {
				return false
			}
		}
		return true
	}
	for _, i := range k.nodes[k.place(m, h, name):] {
		if !fn(m.at(i)) {
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
func (k *kids) sorted(m *nodes) []*Node {
	invariants.Work(k.len())
	all := make([]*Node, 0, k.len())
	k.each(m, func(n *Node) bool { all = append(all, n); return true })
	slices.SortFunc(all, func(a, b *Node) int { return bytes.Compare(m.name(a), m.name(b)) })
	return all
}
