package pubsub

import (
	"sync"
	"unicode/utf8"
)

// An index of filters of the character scheme. A filter with a wildcard at its beginning fits nothing that lacks any of the
// runs of ordinary characters behind it, so each is filed under a piece of such a run, the least crowded one. What is published is
// cut into pieces of the lengths in use, and only the filters filed under those are tried.

const (
	maxRun   = 8  // bytes of a piece, so that it is a number
	maxRuns  = 64 // pieces of one filter that are considered
	plainTry = 16 // so many filters are tried one by one
)

// run is a piece of a filter; its length is apart, because the bytes may begin with zeros.
type run struct {
	bytes uint64
	n     uint8
}

// charIndex is a set of filters: small while it is empty, since few trie nodes have one.
type charIndex struct {
	n int
	*charRuns
}

type charRuns struct {
	plain []*Sub // those without a run
	by    map[run][]*Sub
	uses  [maxRun + 1]int // filters by the length of their piece
}

// runsOf calls fn with the pieces of a filter that lie behind its literal levels: of each run all of maxRun bytes, or the
// whole of a shorter one.
func (f *Filter) runsOf(fn func(run)) {
	var b []byte
	left := maxRuns
	flush := func() {
		for at := 0; left > 0 && len(b) > 0; at++ {
			n := min(maxRun, len(b))
			if at+n > len(b) {
				break
			}
			fn(pack(string(b[at : at+n])))
			left--
		}
		b = b[:0]
	}
	for _, tok := range f.glob[min(utf8.RuneCountInString(f.lead), len(f.glob)):] {
		if tok.kind != literal || tok.r == utf8.RuneError { // that one fits bytes that are no character, too
			flush()
			continue
		}
		b = utf8.AppendRune(b, tok.r)
	}
	flush()
}

func pack(s string) run {
	r := run{n: uint8(len(s))}
	for i := range len(s) {
		r.bytes = r.bytes<<8 | uint64(s[i])
	}
	return r
}

func (x *charIndex) add(s *Sub) {
	if x.charRuns == nil {
		x.charRuns = &charRuns{}
	}
	x.n++
	var best run
	size := -1
	s.filter.runsOf(func(r run) {
		// Of equally crowded ones the longest is the rarest.
		if n := len(x.by[r]); size < 0 || n < size || n == size && r.n > best.n {
			best, size = r, n
		}
	})
	s.run, s.runLen = best.bytes, best.n
	if size < 0 {
		s.tpos = len(x.plain)
		x.plain = append(x.plain, s)
		return
	}
	if x.by == nil {
		x.by = map[run][]*Sub{}
	}
	s.tpos = size
	x.by[best] = append(x.by[best], s)
	x.uses[best.n]++
}

func (x *charIndex) remove(s *Sub) {
	moved := func(m *Sub, i int) { m.tpos = i }
	r := run{s.run, s.runLen}
	if x.n--; r.n == 0 {
		x.plain = cutSub(x.plain, s.tpos, moved)
	} else {
		if left := cutSub(x.by[r], s.tpos, moved); left == nil {
			delete(x.by, r)
		} else {
			x.by[r] = left
		}
		x.uses[r.n]--
	}
	if x.n == 0 {
		x.charRuns = nil
	}
}

// match appends those that fit a topic and are made at least at block levels deep.
func (x *charIndex) match(dst []*Sub, topic string, block int) []*Sub {
	if x.n == 0 {
		return dst
	}
	dst = tryChars(dst, x.plain, topic, block)
	if x.n-len(x.plain) <= plainTry {
		for _, list := range x.by {
			dst = tryChars(dst, list, topic, block)
		}
		return dst
	}
	found := runPool.Get().(*foundRuns)
	defer found.done()
	for n := 1; n <= maxRun; n++ {
		if x.uses[n] > 0 {
			found.cut(x.by, topic, n)
		}
	}
	for _, r := range found.list {
		dst = tryChars(dst, x.by[r], topic, block)
	}
	return dst
}

// foundRuns are the pieces of a topic that filters are filed under.
type foundRuns struct {
	list []run
	seen map[run]struct{}
}

var runPool = sync.Pool{New: func() any { return &foundRuns{seen: map[run]struct{}{}} }}

func (f *foundRuns) done() {
	if len(f.list) <= 1024 {
		f.list = f.list[:0]
		clear(f.seen)
		runPool.Put(f)
	}
}

// cut adds the pieces of n bytes.
func (f *foundRuns) cut(by map[run][]*Sub, topic string, n int) {
	mask := ^uint64(0) >> (64 - 8*n)
	r := run{n: uint8(n)}
	for i := range len(topic) {
		r.bytes = (r.bytes<<8 | uint64(topic[i])) & mask
		if i < n-1 {
			continue
		}
		if _, there := by[r]; !there {
			continue
		}
		if _, had := f.seen[r]; !had {
			f.seen[r] = struct{}{}
			f.list = append(f.list, r)
		}
	}
}

func tryChars(dst, subs []*Sub, topic string, block int) []*Sub {
	for _, s := range subs {
		if s.filter.lits >= block && s.filter.matchRunes(topic) {
			dst = append(dst, s)
		}
	}
	return dst
}
