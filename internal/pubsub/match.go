package pubsub

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// Who gets a publication.

const (
	cacheSlots     = 1024
	maxCachedSubs  = 1024 // matches of one topic that are kept
	maxCachedTopic = 1024 // bytes of its string
)

// cacheSlot remembers the matches of one topic. An entry is good as long as its generation is the tree's. A topic is
// kept when it is asked for the second time in a row in its slot, so a stream of new topics leaves no garbage.
type cacheSlot struct {
	seen  atomic.Uint64 // hash of the topic last missed here
	entry atomic.Pointer[cacheEntry]
}

type cacheEntry struct {
	topic string
	gen   uint64
	subs  []*Sub // never changed
}

// Match appends the subscriptions that fit a topic, highest SUBLEVEL first. The topic need not be in the tree.
// Wildcard subscriptions made above a topic object with WILDCARD(BLOCK) do not get what is published at or below it.
func (t *Tree) Match(dst []*Sub, topic string) []*Sub {
	h := maphash.String(t.seed, topic)
	slot := &t.cache[h%cacheSlots]
	if e := slot.entry.Load(); e != nil && e.gen == t.gen.Load() && e.topic == topic {
		return append(dst, e.subs...)
	}
	from := len(dst)
	dst, gen := t.matchNow(dst, topic)
	got := dst[from:]
	byLevel(got)
	if slot.seen.Swap(h) == h && len(got) <= maxCachedSubs && len(topic) <= maxCachedTopic {
		slot.entry.Store(&cacheEntry{topic: topic, gen: gen, subs: slices.Clone(got)})
	}
	return dst
}

// matchNow is match with the generation that it is of.
func (t *Tree) matchNow(dst []*Sub, topic string) ([]*Sub, uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.match(dst, topic), t.gen.Load()
}

// match finds the exact ones on the way down the tree, and how deep the lowest blocking object is.
func (t *Tree) match(dst []*Sub, topic string) []*Sub {
	n, depth, block := t.root, 0, 0
	rest, more := topic, topic != ""
	for more {
		var lv string
		lv, rest, more = nextLevel(rest)
		if n = t.child(n, lv); n == nil {
			break
		}
		depth++
		if o := t.mem.object(n); o != nil && o.blocks() {
			block = depth
		}
	}
	if n != nil && n.ext != 0 {
		dst = append(dst, t.mem.extOf(n).subs...)
	}
	return t.wild.match(dst, topic, block)
}

// byLevel sorts by falling SUBLEVEL. Nearly always all have the same.
func byLevel(subs []*Sub) {
	for i := 1; i < len(subs); i++ {
		if subs[i].Level != subs[0].Level {
			slices.SortStableFunc(subs, func(a, b *Sub) int { return int(b.Level) - int(a.Level) })
			return
		}
	}
}

// AtLevel picks from a Match those that get a publication of a level: the ones with the highest SUBLEVEL that is not
// above it. Those with SUBLEVEL 0 get what nobody else gets.
func AtLevel(matched []*Sub, pubLevel uint8) []*Sub {
	i := 0
	for i < len(matched) && matched[i].Level > pubLevel {
		i++
	}
	j := i
	for j < len(matched) && matched[j].Level == matched[i].Level {
		j++
	}
	return matched[i:j]
}

// OncePerGroup leaves the most significant subscription of each group, since a group gets a publication once: the one whose
// topic string goes furthest before its first wildcard, and of equal ones the first. It works in place; those without a
// group all stay.
func OncePerGroup(subs []*Sub) []*Sub {
	grouped := slices.IndexFunc(subs, func(s *Sub) bool { return s.Group != "" })
	if grouped < 0 {
		return subs
	}
	at := map[string]int{} // in out
	out := subs[:grouped]
	for _, s := range subs[grouped:] {
		i, seen := at[s.Group]
		switch {
		case s.Group == "" || !seen:
			at[s.Group] = len(out)
			out = append(out, s)
		case s.filter.literalRunes() > out[i].filter.literalRunes():
			out[i] = s
		}
	}
	return out
}
