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
	groups map[mqi.ID]*groupSet // those of a group or of a logical message
}

// groupSet are the messages of one group, and how many of them are the last of the group or of a logical message.
type groupSet struct {
	members            map[uint32]*part
	lastMsgs, lastSegs int
}

func (g *groupSet) count(p *part, n int) {
	if p.lastInGroup() {
		g.lastMsgs += n
	}
	if p.lastSegment() {
		g.lastSegs += n
	}
}

func (x *parts) add(slot uint32, p *part) {
	if x.bySlot == nil {
		x.bySlot, x.groups = map[uint32]*part{}, map[mqi.ID]*groupSet{}
	}
	x.bySlot[slot] = p
	if !p.inGroup() && !p.segment() {
		return
	}
	g := x.groups[p.group]
	if g == nil {
		g = &groupSet{members: map[uint32]*part{}}
		x.groups[p.group] = g
	}
	g.members[slot] = p
	g.count(p, 1)
}

func (x *parts) remove(slot uint32) {
	p := x.bySlot[slot]
	if p == nil {
		return
	}
	delete(x.bySlot, slot)
	if g := x.groups[p.group]; g != nil && g.members[slot] != nil {
		delete(g.members, slot)
		g.count(p, -1)
		if len(g.members) == 0 {
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
	return e.flags&unserved == 0 && (e.expire == 0 || e.expire > s.now) &&
		(e.flags&fLocked == 0 || e.owner == s.h.id)
}

// member is a message of a group or logical message.
type member struct {
	slot uint32
	p    *part
}

// members lists the available messages of p's group in logical order; only those of the same logical message when one is true.
func (q *Queue) members(s *search, p *part, one bool) []member {
	g := q.parts.groups[p.group]
	if g == nil {
		return nil
	}
	var all []member
	for slot, x := range g.members {
		if (!one || x.seq == p.seq) && q.available(s, slot) {
			all = append(all, member{slot, x})
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i].p, all[j].p
		switch {
		case a.seq != b.seq:
			return a.seq < b.seq
		case a.offset != b.offset:
			return a.offset < b.offset
		}
		return q.slab.at(all[i].slot).seq < q.slab.at(all[j].slot).seq // put twice: the older one
	})
	return all
}

// segments lists, by offset, the available segments of the logical message that p belongs to, as far as they are without a
// gap. whole says that the last one is among them.
func (q *Queue) segments(s *search, p *part) (slots []uint32, whole bool) {
	next := int32(0)
	for _, x := range q.members(s, p, true) {
		if !x.p.segment() || x.p.offset != next {
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
	seq, off := int32(1), int32(0) // of what must come next
	for _, x := range q.members(s, p, false) {
		if !x.p.inGroup() || x.p.seq < seq || x.p.seq == seq && x.p.offset < off {
			continue // put twice
		}
		if x.p.seq != seq || x.p.offset != off {
			return false // a gap
		}
		if off += x.p.size; x.p.segment() && !x.p.lastSegment() {
			continue
		}
		if x.p.lastInGroup() {
			return true
		}
		seq, off = seq+1, 0
	}
	return false
}

// partKey names a logical message, with seq 0 its group.
type partKey struct {
	group mqi.ID
	seq   int32
}

// once asks whether a group or logical message is whole once for each search.
func (s *search) once(k partKey, ask func() bool) bool {
	whole, known := s.whole[k]
	if !known {
		if whole = ask(); s.whole == nil {
			s.whole = map[partKey]bool{}
		}
		s.whole[k] = whole
	}
	return whole
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
		g := q.parts.groups[p.group]
		if g == nil || g.lastSegs == 0 || !s.once(partKey{p.group, p.seq}, func() bool {
			_, whole := q.segments(s, p)
			return whole
		}) {
			return false
		}
	}
	if t.whole && p.inGroup() && !(t.logical != nil && t.logical.inside()) {
		g := q.parts.groups[p.group]
		return g != nil && g.lastMsgs > 0 && s.once(partKey{p.group, 0}, func() bool { return q.wholeGroup(s, p) })
	}
	return true
}

// manyMembers is the size of a group from which its next message is sooner found by walking the queue.
const manyMembers = 64

// nextInGroup finds the next message of what has been begun in logical order among the members of its group. known is false when
// the queue must be walked.
func (q *Queue) nextInGroup(s *search) (slot uint32, known bool) {
	l := s.match.logical
	if l == nil || !l.inside() {
		return 0, false
	}
	g := q.parts.groups[l.id]
	switch {
	case g == nil:
		return 0, true
	case len(g.members) > manyMembers:
		return 0, false
	}
	var best place
	for x := range g.members {
		e := q.slab.at(x)
		if s.after.behind(e) && q.fits(s, x) && (slot == 0 || !best.behind(e)) {
			slot, best = x, place{prio: e.prio, seq: e.seq, set: true}
		}
	}
	return slot, true
}
