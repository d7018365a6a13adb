package qmgr

import (
	"encoding/binary"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
	"github.com/qmgrd/qmgrd/internal/store"
)

// match is what a get asks of a message: the MQMD fields that MatchOptions puts in force.
type match struct {
	byMsg, byCor, byGroup, bySeq, byOffset, byToken bool

	msgID, corID, groupID mqi.ID
	mid, cid              uint32
	seqNo, offset         int32
	token                 mqi.Token
	unmarked              bool               // MQGMO_UNMARKED_BROWSE_MSG
	logical               *groupPos          // MQGMO_LOGICAL_ORDER: the handle's place
	whole                 bool               // MQGMO_ALL_MSGS_AVAILABLE: the first of a group only when all of it is there
	wholeMsg              bool               // MQGMO_ALL_SEGMENTS_AVAILABLE: a segment only when all of them are there
	complete              bool               // MQGMO_COMPLETE_MSG: the first of the segments stands for all
	sel                   *selector.Selector // of the handle; nil selects all
}

// plain reports whether identifiers alone answer the match: a waiter can then be given the message that comes.
func (t *match) plain() bool { return t.sure() && !t.unmarked && !t.byToken && !t.placed() }

// placed reports whether the match asks for the place in a group or logical message.
func (t *match) placed() bool {
	return t.byGroup || t.bySeq || t.byOffset || t.logical != nil || t.whole || t.wholeMsg || t.complete
}

// direct reports whether a message's own identifiers and place answer the match, whatever else is on the queue.
func (t *match) direct() bool { return t.sure() && t.alone() }

// alone reports whether nothing but the message itself answers the match.
func (t *match) alone() bool {
	return !t.unmarked && !t.byToken && t.logical == nil && !t.whole && !t.wholeMsg && !t.complete
}

// sure reports whether what the queue has in memory answers the match, but for a collision of hashes. Else the message must be
// looked into before it is claimed.
func (t *match) sure() bool { return t.sel == nil }

// certain reports whether what the queue has in memory answers the match for sure.
func (t *match) certain() bool { return t.sure() && !t.byMsg && !t.byCor }

// accepts checks what the queue has only hashes of.
func (t *match) accepts(md *mqi.MD) bool {
	return (!t.byMsg || t.msgID == md.MsgID) && (!t.byCor || t.corID == md.CorrelID)
}

// search is one look through a queue for the next message that fits.
type search struct {
	h     *handle
	match *match
	after place
	from  uint32 // slot to go on from without walking, 0: start of the queue
	now   int64  // Unix milliseconds
	dead  []deadMsg
	whole map[partKey]bool // what has been found out of groups and logical messages
}

// top is the highest priority that the search has to look at.
func (s *search) top(q *Queue) int {
	if s.after.set {
		return int(s.after.prio)
	}
	return len(q.lists) - 1
}

// find returns the slot of the first message that fits, 0 when there is none (or when dead is full: look again).
// Expired messages on the way are claimed and listed in s.dead.
func (q *Queue) find(s *search) uint32 {
	if s.match.byToken {
		slot, seq := splitToken(s.match.token, q.qid)
		if q.slab.valid(slot, seq) && q.fits(s, slot) {
			return slot
		}
		return 0
	}
	if slot, known := q.nextInGroup(s); known {
		return slot
	}
	switch x := q.indexFor(s.match); {
	case x != nil:
		h := s.match.cid
		if x == q.byMsg {
			h = s.match.mid
		}
		return q.findBy(x, h, s)
	default:
		return q.walk(s)
	}
}

// findBy is find by an index.
func (q *Queue) findBy(x *idIndex, hash uint32, s *search) uint32 {
	top := s.top(q)
	for p := top; p >= 0; p-- {
		if q.lists[p].head == 0 {
			continue
		}
		b := x.bucket(hash, uint8(p))
		slot := x.head[b]
		if s.from != 0 && p == top && x.bucketOf(s.from) == b { // which is in the chain: go on behind it
			slot = x.next[s.from]
		}
		for slot != 0 && len(s.dead) < expireBatch {
			e, next := q.slab.at(slot), x.next[slot]
			if int(e.prio) == p && s.after.behind(e) && q.fits(s, slot) {
				return slot
			}
			slot = next
		}
	}
	return 0
}

// tokenMarked reports whether the message that the search's token names is there, but marked for the cooperating browsers.
func (q *Queue) tokenMarked(s *search) bool {
	slot, seq := splitToken(s.match.token, q.qid)
	return q.slab.valid(slot, seq) && q.available(s, slot) && s.h.cooperates() && q.slab.at(slot).flags&fCoop != 0 &&
		q.coopMarked(slot, s.now)
}

func (q *Queue) walk(s *search) uint32 {
	top := s.top(q)
	for p := top; p >= 0; p-- {
		slot := q.lists[p].start(q)
		if s.from != 0 && p == top {
			slot = q.slab.at(s.from).next
		}
		for slot != 0 && len(s.dead) < expireBatch {
			e := q.slab.at(slot)
			next := e.next
			if s.after.behind(e) && q.fits(s, slot) {
				return slot
			}
			slot = next
		}
	}
	return 0
}

// indexFor picks the index a match can use, building it when the queue is deep enough to be worth it.
func (q *Queue) indexFor(t *match) *idIndex {
	switch {
	case t.byMsg:
		if q.byMsg == nil && q.slab.used >= indexFrom {
			q.byMsg = newIDIndex(q, func(e *entry) uint32 { return e.mid })
		}
		return q.byMsg
	case t.byCor:
		if q.byCor == nil && q.slab.used >= indexFrom {
			q.byCor = newIDIndex(q, func(e *entry) uint32 { return e.cid })
		}
		return q.byCor
	}
	return nil
}

// fits decides by the entry alone whether the search may have this message.
func (q *Queue) fits(s *search, slot uint32) bool {
	e := q.slab.at(slot)
	if e.flags&unserved != 0 {
		return false
	}
	if e.expire != 0 && e.expire <= s.now {
		q.condemn(slot, &s.dead)
		return false
	}
	t := s.match
	if t.byMsg && t.mid != e.mid || t.byCor && t.cid != e.cid {
		return false
	}
	if e.flags&fLocked != 0 && e.owner != s.h.id { // hidden from every other handle, one that browses too
		return false
	}
	return (!t.unmarked || !q.marked(s.h, slot, s.now)) && q.placeFits(s, slot)
}

// condemn claims an expired message and lists it for discard.
func (q *Queue) condemn(slot uint32, dead *[]deadMsg) {
	e := q.slab.at(slot)
	e.flags |= fClaimed
	*dead = append(*dead, deadMsg{slot: slot, seq: e.seq, pers: e.flags&fPersistent != 0,
		rep: e.flags&fReport != 0})
}

// makeToken is MsgToken of a message: queue, slot and number. It means nothing after a restart.
func makeToken(q store.QID, slot uint32, seq store.Seq) (t mqi.Token) {
	binary.BigEndian.PutUint32(t[0:], uint32(q))
	binary.BigEndian.PutUint32(t[4:], slot)
	binary.BigEndian.PutUint64(t[8:], uint64(seq))
	return t
}

func splitToken(t mqi.Token, q store.QID) (slot uint32, seq store.Seq) {
	if binary.BigEndian.Uint32(t[0:]) != uint32(q) {
		return 0, 0
	}
	return binary.BigEndian.Uint32(t[4:]), store.Seq(binary.BigEndian.Uint64(t[8:]))
}

// read takes over MatchOptions. With a version 1 GMO identifiers that are not zero must match.
func (t *match) read(md *mqi.MD, gmo *mqi.GMO) mqi.RC {
	opts := int32(mqi.MQMO_MATCH_MSG_ID | mqi.MQMO_MATCH_CORREL_ID)
	if gmo.Version >= 2 {
		opts = gmo.MatchOptions
	}
	const known = mqi.MQMO_MATCH_MSG_ID | mqi.MQMO_MATCH_CORREL_ID | mqi.MQMO_MATCH_GROUP_ID |
		mqi.MQMO_MATCH_MSG_SEQ_NUMBER | mqi.MQMO_MATCH_OFFSET | mqi.MQMO_MATCH_MSG_TOKEN
	if opts&^known != 0 || opts&mqi.MQMO_MATCH_MSG_TOKEN != 0 && gmo.Version < 3 {
		return mqi.MQRC_MATCH_OPTIONS_ERROR
	}
	*t = match{msgID: md.MsgID, corID: md.CorrelID, groupID: md.GroupID, seqNo: md.MsgSeqNumber, offset: md.Offset,
		token: gmo.MsgToken}
	if opts&(mqi.MQMO_MATCH_GROUP_ID|mqi.MQMO_MATCH_MSG_SEQ_NUMBER|mqi.MQMO_MATCH_OFFSET) != 0 && md.Version < 2 {
		return mqi.MQRC_WRONG_MD_VERSION
	}
	t.byMsg = opts&mqi.MQMO_MATCH_MSG_ID != 0 && !md.MsgID.IsZero()
	t.byCor = opts&mqi.MQMO_MATCH_CORREL_ID != 0 && !md.CorrelID.IsZero()
	t.byGroup = opts&mqi.MQMO_MATCH_GROUP_ID != 0 && !md.GroupID.IsZero()
	t.bySeq = opts&mqi.MQMO_MATCH_MSG_SEQ_NUMBER != 0
	t.byOffset = opts&mqi.MQMO_MATCH_OFFSET != 0
	t.byToken = opts&mqi.MQMO_MATCH_MSG_TOKEN != 0
	if t.byMsg {
		t.mid = hashID(&t.msgID)
	}
	if t.byCor {
		t.cid = hashID(&t.corID)
	}
	return 0
}
