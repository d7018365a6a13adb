package qmgr

import "github.com/qmgrd/qmgrd/internal/store"

// entry is what a queue keeps in memory of one message: 48 bytes, free of pointers, so that the garbage collector
// never looks into a deep queue. Head and body are the store's, which finds them by queue and number.
type entry struct {
	seq        store.Seq
	expire     int64  // Unix milliseconds, 0 never
	mid, cid   uint32 // hashes of MsgId and CorrelId
	prev, next uint32 // neighbours in the delivery list; 0 none
	put        uint32 // Unix seconds of the put
	size       uint32 // bytes of the body
	owner      uint32 // conn of an uncommitted put or get, handle of a lock
	flags      uint16
	prio       uint8 // delivery priority
	_          uint8
}

const (
	fPersistent  uint16 = 1 << iota
	fUncommitted        // put, its unit of work has not ended
	fClaimed            // a get is at work on it right now
	fGot                // taken in a unit of work that has not ended
	fLocked             // browse lock, owner is the handle
	fCursor             // a browse cursor stands on it
	fCoop               // marked for the cooperating browsers (Queue.coop)
	fReport             // asks for an expiration or delivery report
	fDamaged            // could not be read back: it is passed over, and stays until it is cleared
)

// hidden are the states in which nobody else sees a message.
const hidden = fUncommitted | fClaimed | fGot

// unserved are the states in which nobody gets or browses a message.
const unserved = hidden | fDamaged

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// slab holds the entries of a queue in chunks; a slot is a stable number, 0 is never given out.
type slab struct {
	chunks [][]entry
	free   uint32 // chain through next
	used   int
}

func (s *slab) at(slot uint32) *entry { return &s.chunks[slot>>chunkBits][slot&(chunkSize-1)] }

func (s *slab) alloc() uint32 {
	if s.free == 0 {
		s.grow()
	}
	slot := s.free
	s.free = s.at(slot).next
	s.used++
	return slot
}

func (s *slab) grow() {
	base := uint32(len(s.chunks)) << chunkBits
	c := make([]entry, chunkSize)
	s.chunks = append(s.chunks, c)
	for i := chunkSize - 1; i >= 0; i-- {
		if slot := base + uint32(i); slot != 0 {
			c[i].next = s.free
			s.free = slot
		}
	}
}

// release gives the slot back; an emptied slab gives its memory back too.
func (s *slab) release(slot uint32) {
	*s.at(slot) = entry{next: s.free}
	s.free = slot
	if s.used--; s.used == 0 && len(s.chunks) > 1 {
		*s = slab{}
	}
}

// slots is one more than the highest slot ever given out.
func (s *slab) slots() int { return len(s.chunks) << chunkBits }

// valid reports whether the slot holds the message with this number.
func (s *slab) valid(slot uint32, seq store.Seq) bool {
	return slot != 0 && int(slot) < s.slots() && seq != 0 && s.at(slot).seq == seq
}
