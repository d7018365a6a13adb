package pubsub

import (
	"math/bits"
	"slices"
)

// Patterns as automata. A filter may have thousands of wildcards, and what is published thousands of levels, so the states
// are bits and 64 of them take one step together. What a '#' has been reached for need not be looked at again: before it
// only the states behind the last one count, so the work for a symbol is that of one stretch between two '#'.

// automaton runs a pattern of n places, each an ordinary symbol, any one symbol (plus), or any number of them (hash). A
// state is the place that comes next; n is the accepting one. Two hash places are never neighbours.
type automaton[S comparable] struct {
	n          int
	plus, hash []uint64
	at         map[S]places
}

// places are where a symbol stands in a pattern: as bits when there are many.
type places struct {
	list []int32
	bits []uint64
}

// newAutomaton makes the automaton of a pattern of n places.
func newAutomaton[S comparable](n int, place func(i int) (levelKind, S)) *automaton[S] {
	words := n/64 + 1
	a := &automaton[S]{n: n, plus: make([]uint64, words), hash: make([]uint64, words), at: map[S]places{}}
	for i := range n {
		switch k, sym := place(i); k {
		case plus:
			a.plus[i/64] |= 1 << (i % 64)
		case hash:
			a.hash[i/64] |= 1 << (i % 64)
		default:
			p := a.at[sym]
			p.list = append(p.list, int32(i))
			a.at[sym] = p
		}
	}
	for sym, p := range a.at {
		if len(p.list) <= words {
			continue
		}
		b := make([]uint64, words)
		for _, i := range p.list {
			b[i/64] |= 1 << (i % 64)
		}
		a.at[sym] = places{bits: b}
	}
	return a
}

// states are the set of an automaton's states, from a word on. No words: there are none, and nothing can match any more.
type states struct {
	from int
	w    []uint64
}

// start returns the states before any symbol, with the first from places done.
func (a *automaton[S]) start(from int) states {
	s := states{from: from / 64, w: make([]uint64, 2)}
	s.w[0] = 1 << (from % 64)
	return a.settle(s)
}

// step returns the states after one more symbol. They use buf's memory, which may not be that of s.
func (a *automaton[S]) step(buf []uint64, s states, sym S) states {
	n := len(s.w)
	if n == 0 {
		return states{}
	}
	buf = slices.Grow(buf[:0], n+1)[:n+1]
	clear(buf)
	p := a.at[sym]
	for i, x := range s.w {
		g := s.from + i
		on := x & a.plus[g]
		if p.bits != nil {
			on |= x & p.bits[g]
		}
		buf[i] |= x&a.hash[g] | on<<1
		buf[i+1] |= on >> 63
	}
	low, high := int32(s.from*64), int32((s.from+n)*64)
	at, _ := slices.BinarySearch(p.list, low)
	for _, i := range p.list[at:] {
		if i >= high {
			break
		}
		if j := i - low; s.w[j/64]>>(j%64)&1 != 0 {
			buf[(j+1)/64] |= 1 << ((j + 1) % 64)
		}
	}
	return a.settle(states{from: s.from, w: buf})
}

// settle adds what follows a '#' for nothing, and forgets what comes before the last '#'.
func (a *automaton[S]) settle(s states) states {
	last := -1
	for i := range s.w {
		if s.from+i >= len(a.hash) {
			break
		}
		if h := s.w[i] & a.hash[s.from+i]; h != 0 {
			s.w[i] |= h << 1
			if h>>63 != 0 {
				s.w[i+1] |= 1 // the accepting state at the latest, so there is a word for it
			}
			last = i*64 + 63 - bits.LeadingZeros64(h)
		}
	}
	if last >= 0 {
		s.w[last/64] &^= 1<<(last%64) - 1
		s.from, s.w = s.from+last/64, s.w[last/64:]
	}
	for len(s.w) > 0 && s.w[0] == 0 {
		s.from, s.w = s.from+1, s.w[1:]
	}
	for len(s.w) > 0 && s.w[len(s.w)-1] == 0 {
		s.w = s.w[:len(s.w)-1]
	}
	return s
}

func (a *automaton[S]) accepts(s states) bool {
	i := a.n/64 - s.from
	return i >= 0 && i < len(s.w) && s.w[i]>>(a.n%64)&1 != 0
}

// open reports whether a wildcard may take the next symbol.
func (a *automaton[S]) open(s states) bool {
	for i, x := range s.w {
		if g := s.from + i; x&(a.plus[g]|a.hash[g]) != 0 {
			return true
		}
	}
	return false
}

// each calls fn for the states, in rising order.
func (s states) each(fn func(place int)) {
	for i, x := range s.w {
		for ; x != 0; x &= x - 1 {
			fn((s.from+i)*64 + bits.TrailingZeros64(x))
		}
	}
}
