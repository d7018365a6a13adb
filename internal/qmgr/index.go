package qmgr

// idIndex finds the messages of a queue by the hash of one identifier, in delivery order. It is built when first asked
// for, and costs 16 bytes a message.
//
// Messages of one hash and one priority are in one chain, in the order of their numbers: a search goes from the highest priority down,
// and the first fit is the right one. So a queue full of one CorrelId, that of none for instance, is still served from the head of a chain,
// and a message takes its place at the end of one, whatever has come before.
type idIndex struct {
	q          *Queue
	hash       func(*entry) uint32
	head, tail []uint32 // per bucket
	prev, next []uint32 // per slot
	n          int
}

// indexFrom is the depth from which a get by identifier builds its index.
const indexFrom = 64

func newIDIndex(q *Queue, hash func(*entry) uint32) *idIndex {
	x := &idIndex{q: q, hash: hash}
	x.rebuild()
	return x
}

func (x *idIndex) rebuild() {
	size := 256
	for size < 2*x.q.slab.used {
		size *= 2
	}
	x.head, x.tail = make([]uint32, size), make([]uint32, size)
	x.prev, x.next, x.n = nil, nil, 0
	for p := len(x.q.lists) - 1; p >= 0; p-- {
		for s := x.q.lists[p].head; s != 0; s = x.q.slab.at(s).next {
			x.link(s)
		}
	}
}

func (x *idIndex) bucket(h uint32, prio uint8) uint32 {
	return ((h + uint32(prio)*0x85EBCA6B) * 0x9E3779B1) >> 7 & uint32(len(x.head)-1)
}

// bucketOf is that of an entry.
func (x *idIndex) bucketOf(slot uint32) uint32 {
	e := x.q.slab.at(slot)
	return x.bucket(x.hash(e), e.prio)
}

func (x *idIndex) add(slot uint32) {
	if x.n >= 2*len(x.head) {
		x.rebuild() // the queue's lists already hold slot
		return
	}
	x.link(slot)
}

func (x *idIndex) link(slot uint32) {
	if n := x.q.slab.slots(); n > len(x.next) {
		grow := n - len(x.next)
		x.next = append(x.next, make([]uint32, grow)...)
		x.prev = append(x.prev, make([]uint32, grow)...)
	}
	b := x.bucketOf(slot)
	last := x.tail[b]
	if last != 0 {
		x.next[last] = slot
	} else {
		x.head[b] = slot
	}
	x.tail[b] = slot
	x.prev[slot], x.next[slot] = last, 0
	x.n++
}

func (x *idIndex) remove(slot uint32) {
	b := x.bucketOf(slot)
	p, n := x.prev[slot], x.next[slot]
	if p != 0 {
		x.next[p] = n
	} else {
		x.head[b] = n
	}
	if n != 0 {
		x.prev[n] = p
	} else {
		x.tail[b] = p
	}
	x.n--
}
