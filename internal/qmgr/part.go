package qmgr

import (
	"sort"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// part is a message's place in a group and in a logical message: the version 2 fields that gets match on. A queue keeps it
// beside the entries of those messages that have such a place, so that a get in logical order reads nothing it does not take.
type part struct {
	group  mqi.ID
	seq    int32
	offset int32
	flags  int32 // MQMF_*
	size   int32
}

const (
	groupFlags   = mqi.MQMF_MSG_IN_GROUP | mqi.MQMF_LAST_MSG_IN_GROUP
	segmentFlags = mqi.MQMF_SEGMENT | mqi.MQMF_LAST_SEGMENT
)

func (p *part) inGroup() bool     { return p.flags&groupFlags != 0 }
func (p *part) lastInGroup() bool { return p.flags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 }
func (p *part) segment() bool     { return p.flags&segmentFlags != 0 }
func (p *part) lastSegment() bool { return p.flags&mqi.MQMF_LAST_SEGMENT != 0 }

// alone is the place of a message that has none.
var alone = part{seq: 1}

// partOf gives a message's place, nil when it has none.
func partOf(md *mqi.MD, size int) *part {
	const flags = groupFlags | segmentFlags | mqi.MQMF_SEGMENTATION_ALLOWED
	if md.Version < 2 || md.MsgFlags&flags == 0 && md.GroupID.IsZero() && md.MsgSeqNumber == 1 && md.Offset == 0 {
		return nil
	}
	return &part{group: md.GroupID, seq: md.MsgSeqNumber, offset: md.Offset, flags: md.MsgFlags, size: int32(size)}
}

// parts are the places of a queue's messages, and which messages belong together.
type parts struct {
	bySlot map[uint32]*part
	groups map[mqi.ID]map[uint32]*part // those of a group or of a logical message
}

func (x *parts) add(slot uint32, p *part) {
	if x.bySlot == nil {
		x.bySlot, x.groups = map[uint32]*part{}, map[mqi.ID]map[uint32]*part{}
	}
	x.bySlot[slot] = p
	if !p.inGroup() && !p.segment() {
		return
	}
	g := x.groups[p.group]
	if g == nil {
		g = map[uint32]*part{}
		x.groups[p.group] = g
	}
	g[slot] = p
}

func (x *parts) remove(slot uint32) {
	p := x.bySlot[slot]
	if p == nil {
		return
	}
	delete(x.bySlot, slot)
	if g := x.groups[p.group]; g != nil {
		delete(g, slot)
		if len(g) == 0 {
			delete(x.groups, p.group)
		}
	}
	if len(x.bySlot) == 0 {
		*x = parts{}
	}
}

// of is the place of the message at slot.
func (x *parts) of(slot uint32) *part {
	if p := x.bySlot[slot]; p != nil {
		return p
	}
	return &alone
}

// available reports whether the search could have the message at slot, whatever it asks for.
func (q *Queue) available(s *search, slot uint32) bool {
	e := q.slab.at(slot)
	return e.flags&hidden == 0 && (e.expire == 0 || e.expire > s.now) &&
		(e.flags&fLocked == 0 || !s.get && !s.lock || e.owner == s.h.id)
}

// segments lists, by offset, the available segments of the logical message that p belongs to, as far as they are without a
// gap. whole says that the last one is among them.
func (q *Queue) segments(s *search, p *part) (slots []uint32, whole bool) {
	type seg struct {
		slot uint32
		p    *part
	}
	var all []seg
	for slot, x := range q.parts.groups[p.group] {
		if x.seq == p.seq && x.segment() && q.available(s, slot) {
			all = append(all, seg{slot, x})
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].p.offset != all[j].p.offset {
			return all[i].p.offset < all[j].p.offset
		}
		return q.slab.at(all[i].slot).seq < q.slab.at(all[j].slot).seq // put twice: the older one
	})
	next := int32(0)
	for _, x := range all {
		if x.p.offset != next {
			continue
		}
		slots = append(slots, x.slot)
		if x.p.lastSegment() {
			return slots, true
		}
		next += x.p.size
	}
	return slots, false
}

// wholeGroup reports whether every message of the group is available, with all of its segments.
func (q *Queue) wholeGroup(s *search, p *part) bool {
	seen, last := map[int32]bool{}, int32(0)
	for slot, x := range q.parts.groups[p.group] {
		if !x.inGroup() || !q.available(s, slot) {
			continue
		}
		if x.segment() {
			if x.offset != 0 {
				continue
			}
			if _, whole := q.segments(s, x); !whole {
				continue
			}
		}
		seen[x.seq] = true
		if x.lastInGroup() {
			last = x.seq
		}
	}
	for n := int32(1); n <= last; n++ {
		if !seen[n] {
			return false
		}
	}
	return last > 0
}

// placeFits decides about the version 2 conditions of a match: identifiers, logical order, completeness.
func (q *Queue) placeFits(s *search, slot uint32) bool {
	t := s.match
	if !t.placed() {
		return true
	}
	p := q.parts.of(slot)
	switch {
	case t.byGroup && t.groupID != p.group, t.bySeq && t.seqNo != p.seq, t.byOffset && t.offset != p.offset,
		t.logical != nil && !t.logical.next(p):
		return false
	case t.complete && p.segment() && p.offset != 0 && (t.logical == nil || !t.logical.inMsg):
		return false
	}
	if (t.complete || t.wholeMsg) && p.segment() && !(t.logical != nil && t.logical.inMsg) {
		if _, whole := q.segments(s, p); !whole {
			return false
		}
	}
	if t.whole && p.inGroup() && !(t.logical != nil && t.logical.inside()) {
		return q.wholeGroup(s, p)
	}
	return true
}
