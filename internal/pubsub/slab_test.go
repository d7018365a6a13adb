package pubsub

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Numbers stay while entries come and go, and a slab that was emptied keeps one part.
func TestSlab(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var s slab[uint64]
	have := map[uint32]uint64{}
	var list []uint32
	for step := range 60_000 {
		grow := step < 20_000 || step >= 40_000 && r.IntN(2) == 0
		switch {
		case grow:
			i, p := s.add()
			if _, twice := have[i]; twice || *p != 0 {
				t.Fatalf("step %d: entry %d is in use: %t, holds %d", step, i, twice, *p)
			}
			*p = r.Uint64() | 1
			have[i] = *p
			list = append(list, i)
		case len(list) > 0:
			k := r.IntN(len(list))
			i := list[k]
			if *s.at(i) != have[i] {
				t.Fatalf("step %d: entry %d holds %d, want %d", step, i, *s.at(i), have[i])
			}
			s.remove(i)
			delete(have, i)
			list[k] = list[len(list)-1]
			list = list[:len(list)-1]
		}
		if step%500 == 499 {
			checkSlab(t, &s, len(have))
		}
	}
	for _, i := range list {
		s.remove(i)
	}
	checkSlab(t, &s, 0)
	kept := 0
	for _, p := range s.parts {
		if p != nil {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("an empty slab keeps %d parts", kept)
	}
}

func checkSlab(t *testing.T, s *slab[uint64], want int) {
	t.Helper()
	n, room := 0, map[uint32]bool{}
	for _, p := range s.room {
		if room[p] {
			t.Fatalf("part %d is listed twice", p)
		}
		room[p] = true
	}
	for p := range s.parts {
		n += int(s.n[p])
		if full := s.n[p] == slabPart; full == room[uint32(p)] {
			t.Fatalf("part %d has %d entries and is listed as one with room: %t", p, s.n[p], room[uint32(p)])
		}
		if s.parts[p] == nil && s.n[p] > 0 {
			t.Fatalf("part %d has %d entries and no memory", p, s.n[p])
		}
	}
	if n != want {
		t.Fatalf("%d entries, want %d", n, want)
	}
}

// A part of nodes fills a size class of the allocator, and the tree's memory is what a topic costs.
func TestNodeSize(t *testing.T) {
	if n := unsafe.Sizeof(Node{}); n != 56 {
		t.Errorf("a node has %d bytes", n)
	}
}

// Names that have no room in a node: shared ones count who has them.
func TestLongNames(t *testing.T) {
	tr, clk := newTree(t, 1)
	const name = "a name that is too long for a node"
	touch(t, tr, "x/"+name, "y/"+name, name+"/"+name)
	if n := len(tr.mem.long.list); n != 1 {
		t.Errorf("%d copies of one name", n)
	}
	if !tr.Has("y/"+name) || !tr.Has(name+"/"+name) || tr.Has("z/"+name) {
		t.Error("a long name is not found, or one is that is not there")
	}
	if err := tr.Check(); err != nil {
		t.Error(err)
	}
	for range 3 { // children, then parents
		clk.Advance(10)
		tr.Reap(clk.Now(), 100)
	}
	if tr.Count() != 1 || len(tr.mem.long.list) != 0 {
		t.Errorf("%d topics, %d long names are left", tr.Count(), len(tr.mem.long.list))
	}
}
