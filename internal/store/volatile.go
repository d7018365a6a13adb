package store

import (
	"fmt"
	"hash/crc32"
	"sort"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Nonpersistent messages: heads in memory, bodies in memory up to a bound and beyond it in the spill file. A unit's
// puts are staged (room taken, nothing visible) before the unit is submitted and applied when it is durable.

const defaultMemoryLimit = 64 << 20

type vrec struct {
	head []byte
	body []byte // nil when spilled
	at   extent
	crc  uint32 // of a spilled body
}

func (r *vrec) bodyLen() int {
	if r.at.class != 0 {
		return int(r.at.n)
	}
	return len(r.body)
}

type volatile struct {
	mu     invariants.RWMutex
	queues map[QID]map[Seq]*vrec
	msgs   uint64
	mem    int64 // bytes of bodies in memory, staged ones included
	limit  int64
	spill  *spill
}

func newVolatile(limit int64, sp *spill) *volatile {
	if limit <= 0 {
		limit = defaultMemoryLimit
	}
	return &volatile{queues: map[QID]map[Seq]*vrec{}, limit: limit, spill: sp}
}

// stage takes room for every nonpersistent put of t, in order. On error nothing is taken.
func (v *volatile) stage(t *Tx) ([]*vrec, error) {
	var recs []*vrec
	for i := range t.ops {
		op := &t.ops[i]
		if op.kind != opPut || op.persistent {
			continue
		}
		r, err := v.take(op.a, op.b)
		if err != nil {
			v.discard(recs)
			return nil, err
		}
		recs = append(recs, r)
	}
	return recs, nil
}

func (v *volatile) take(head, body []byte) (*vrec, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := &vrec{head: head}
	if v.spill == nil || len(body) == 0 || v.mem+int64(len(body)) <= v.limit {
		r.body = body
		v.mem += int64(len(body))
		return r, nil
	}
	at, err := v.spill.write(body)
	if err != nil {
		return nil, err
	}
	r.at, r.crc = at, crc32.Checksum(body, castagnoli)
	return r, nil
}

func (v *volatile) discard(recs []*vrec) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range recs {
		v.release(r)
	}
}

// release gives room back. v.mu is held.
func (v *volatile) release(r *vrec) {
	if r.at.class != 0 {
		v.spill.free(r.at)
		return
	}
	v.mem -= int64(len(r.body))
}

// apply makes the nonpersistent part of t visible. staged is what stage returned for it.
func (v *volatile) apply(t *Tx, staged []*vrec) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range t.ops {
		op := &t.ops[i]
		switch {
		case op.kind == opDropQueue:
			v.dropQueue(op.q)
		case op.persistent:
		case op.kind == opPut:
			v.insert(op.q, op.s, staged[0])
			staged = staged[1:]
		case op.kind == opRemove:
			v.remove(op.q, op.s)
		case op.kind == opHead:
			if r := v.queues[op.q][op.s]; r != nil {
				r.head = op.a
			}
		}
	}
}

func (v *volatile) insert(q QID, s Seq, r *vrec) {
	m := v.queues[q]
	if m == nil {
		m = map[Seq]*vrec{}
		v.queues[q] = m
	}
	if old := m[s]; old != nil {
		v.release(old)
		v.msgs--
	}
	m[s] = r
	v.msgs++
}

func (v *volatile) remove(q QID, s Seq) {
	m := v.queues[q]
	r := m[s]
	if r == nil {
		return
	}
	v.release(r)
	delete(m, s)
	if len(m) == 0 {
		delete(v.queues, q)
	}
	v.msgs--
}

func (v *volatile) dropQueue(q QID) {
	m := v.queues[q]
	for _, r := range m {
		v.release(r)
	}
	v.msgs -= uint64(len(m))
	delete(v.queues, q)
}

// read returns copies. ok is false when there is no such message here.
func (v *volatile) read(q QID, s Seq) (rec Rec, ok bool, err error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r := v.queues[q][s]
	if r == nil {
		return Rec{}, false, nil
	}
	body, err := v.body(r)
	if err != nil {
		return Rec{}, true, err
	}
	return Rec{Head: append([]byte(nil), r.head...), Body: body}, true, nil
}

// body returns a copy of r's body. v.mu is held.
func (v *volatile) body(r *vrec) ([]byte, error) {
	if r.at.class == 0 {
		return append([]byte(nil), r.body...), nil
	}
	b, err := v.spill.read(r.at)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != r.crc {
		return nil, corrupt(v.spill.name, fmt.Sprintf("offset %d", r.at.off), "checksum of a nonpersistent body")
	}
	return b, nil
}

// seqs returns the messages of q in order.
func (v *volatile) seqs(q QID) []Seq {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make([]Seq, 0, len(v.queues[q]))
	for s := range v.queues[q] {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func (v *volatile) qids() []QID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make([]QID, 0, len(v.queues))
	for q := range v.queues {
		out = append(out, q)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func (v *volatile) live(q QID, s Seq) (Live, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r := v.queues[q][s]
	if r == nil {
		return Live{}, false
	}
	return Live{Q: q, S: s, L: Loc{Len: uint32(r.bodyLen())}, Head: r.head, BodyLen: uint32(r.bodyLen())}, true
}

func (v *volatile) stats() (msgs, bytes uint64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.msgs, uint64(v.mem)
}
