package pubsub

import "math/bits"

// Memory that the collector does not look into. A tree may have a million topics, and a collector that follows each of their pointers
// whenever the heap has grown by some megabytes has more to do than everybody else. So nodes refer to one another by numbers, and
// lie in tables without pointers.

// slabPart is how many entries a slab gets at a time. 256 nodes of 56 bytes are a size class of the allocator.
const slabPart = 256

// slab numbers entries without pointers from 0. A number stays an entry's until it is removed; then the entry is zero.
type slab[T any] struct {
	parts []*[slabPart]T // nil where all entries were removed
	used  [][slabPart / 64]uint64
	n     []uint16 // used entries of each part
	room  []uint32 // parts that are not full
	empty int      // 1 + the empty part that is kept for what comes next; 0: none is
}

func (s *slab[T]) at(i uint32) *T { return &s.parts[i/slabPart][i%slabPart] }

func (s *slab[T]) add() (uint32, *T) {
	if len(s.room) == 0 {
		s.room = append(s.room, uint32(len(s.parts)))
		s.parts, s.n = append(s.parts, nil), append(s.n, 0)
		s.used = append(s.used, [slabPart / 64]uint64{})
	}
	p := s.room[len(s.room)-1]
	if s.parts[p] == nil {
		s.parts[p] = new([slabPart]T)
	}
	if s.empty == int(p)+1 {
		s.empty = 0
	}
	if s.n[p]++; s.n[p] == slabPart {
		s.room = s.room[:len(s.room)-1]
	}
	used, w := &s.used[p], 0
	for used[w] == ^uint64(0) {
		w++
	}
	b := bits.TrailingZeros64(^used[w])
	used[w] |= 1 << b
	i := p*slabPart + uint32(w*64+b)
	return i, s.at(i)
}

// remove gives an entry back, and its part's memory when that was the last of it.
func (s *slab[T]) remove(i uint32) {
	p, k := i/slabPart, i%slabPart
	var none T
	s.parts[p][k] = none
	s.used[p][k/64] &^= 1 << (k % 64)
	if s.n[p] == slabPart {
		s.room = append(s.room, p)
	}
	if s.n[p]--; s.n[p] > 0 {
		return
	}
	if s.empty == 0 {
		s.empty = int(p) + 1
		return
	}
	s.parts[p] = nil
}

// refs numbers what few nodes have, from 1; number 0 is nil. It is what the collector does look into.
type refs[T any] struct {
	list []*T
	free []uint32
}

func (r *refs[T]) at(i uint32) *T {
	if i == 0 {
		return nil
	}
	return r.list[i-1]
}

func (r *refs[T]) add(p *T) uint32 {
	if n := len(r.free); n > 0 {
		i := r.free[n-1]
		r.free = r.free[:n-1]
		r.list[i-1] = p
		return i
	}
	r.list = append(r.list, p)
	return uint32(len(r.list))
}

func (r *refs[T]) remove(i uint32) {
	r.list[i-1] = nil
	if r.free = append(r.free, i); len(r.free) == len(r.list) {
		r.list, r.free = nil, nil
	}
}
