package store

import (
	"sort"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Nonpersistent messages: in memory up to a bound, and beyond it in the spill file, head and body. Of one in the file 24
// bytes and its number stay in memory, in a map without pointers, which the garbage collector never looks into. A unit's
// puts are staged (room taken, nothing visible) before the unit is submitted and applied when it is durable.

const (
	defaultMemoryLimit = 64 << 20
	memOverhead        = 128 // bytes that a message in memory costs beside its own, about
	shrinkFrom         = 4096
	spareQueues        = 16
)

// vrec is a message in memory.
type vrec struct{ head, body []byte }

func (r vrec) size() int64 { return int64(len(r.head)+len(r.body)) + memOverhead }

// stagedPut is the room that was taken for a put.
type stagedPut struct {
	vrec
	at      extent
	spilled bool
}

// vqueue holds the messages of a queue. A message is in mem or in file.
type vqueue struct {
	mem        map[Seq]vrec
	file       map[Seq]extent
	heads      map[Seq][]byte // of messages in the file whose new head could not be written there
	most, wide int            // the size of mem and file at their largest: a map never shrinks by itself
}

func (m *vqueue) len() int { return len(m.mem) + len(m.file) }

type volatile struct {
	mu     invariants.RankedRW[invariants.Leaf]
	queues map[QID]*vqueue
	spare  []*vqueue // emptied small ones, to be used again
	msgs   uint64
	mem    int64 // bytes of messages in memory, staged ones included
	limit  int64
	spill  *spill
}

func newVolatile(limit int64, sp *spill) *volatile {
	if limit <= 0 {
		limit = defaultMemoryLimit
	}
	return &volatile{queues: map[QID]*vqueue{}, limit: limit, spill: sp}
}

// stage takes room for every nonpersistent put of t, in order. On error nothing is taken.
func (v *volatile) stage(t *Tx) ([]stagedPut, error) {
	n := 0
	for i := range t.ops {
		if op := &t.ops[i]; op.kind == opPut && !op.persistent {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	recs := make([]stagedPut, 0, n)
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

func (v *volatile) take(head, body []byte) (stagedPut, error) {
	r := stagedPut{vrec: vrec{head, body}}
	v.mu.Lock()
	if n := r.size(); v.spill == nil || v.mem+n <= v.limit {
		v.mem += n
		v.mu.Unlock()
		return r, nil
	}
	at, err := v.spill.reserve(len(head), len(body))
	f := v.spill.f
	v.mu.Unlock()
	if err != nil {
		return stagedPut{}, err
	}
	r = stagedPut{at: at, spilled: true}
	if err := r.at.fill(f, head, body); err != nil {
		v.discard([]stagedPut{r})
		return stagedPut{}, err
	}
	return r, nil
}

func (v *volatile) discard(recs []stagedPut) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range recs {
		if r.spilled {
			v.spill.free(r.at)
		} else {
			v.mem -= r.size()
		}
	}
}

// apply makes the nonpersistent part of t visible. staged is what stage returned for it.
func (v *volatile) apply(t *Tx, staged []stagedPut) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range t.ops {
		op := &t.ops[i]
		switch {
		case op.kind == opDropQueue:
			v.dropQueue(op.q)
		case op.persistent:
		case op.kind == opPut:
			v.insert(op.q, op.s, &staged[0], len(staged))
			staged = staged[1:]
		case op.kind == opRemove:
			v.remove(op.q, op.s)
		case op.kind == opHead:
			v.setHead(op.q, op.s, op.a)
		}
	}
}

// insert makes a message visible; it is the first of so many, perhaps for other queues. v.mu is held, as in all below that do not
// take it.
func (v *volatile) insert(q QID, s Seq, r *stagedPut, more int) {
	m := v.queues[q]
	if m == nil {
		m = v.newQueue(more)
		v.queues[q] = m
	}
	if v.release(m, s) {
		v.msgs--
	}
	if r.spilled {
		if m.file == nil {
			m.file = map[Seq]extent{}
		}
		m.file[s] = r.at
		m.wide = max(m.wide, len(m.file))
	} else {
		m.mem[s] = r.vrec
		m.most = max(m.most, len(m.mem))
	}
	v.msgs++
}

// manyAtOnce messages for a queue that has none come from one unit: its map is made for them at once.
const manyAtOnce = 256

func (v *volatile) newQueue(more int) *vqueue {
	n := len(v.spare)
	if more >= manyAtOnce {
		return &vqueue{mem: make(map[Seq]vrec, min(more, shrinkFrom))}
	}
	if n == 0 {
		return &vqueue{mem: map[Seq]vrec{}}
	}
	m := v.spare[n-1]
	v.spare = v.spare[:n-1]
	return m
}

// release takes a message out of m, and gives its room back.
func (v *volatile) release(m *vqueue, s Seq) bool {
	if r, ok := m.mem[s]; ok {
		v.mem -= r.size()
		delete(m.mem, s)
		m.mem = shrink(m.mem, &m.most)
		return true
	}
	at, ok := m.file[s]
	if !ok {
		return false
	}
	v.spill.free(at)
	v.mem -= int64(len(m.heads[s]))
	delete(m.heads, s)
	delete(m.file, s)
	m.file = shrink(m.file, &m.wide)
	return true
}

// shrink gives back what a map of most entries holds when only few are left.
func shrink[V any](m map[Seq]V, most *int) map[Seq]V {
	if *most < shrinkFrom || len(m) > *most/8 {
		return m
	}
	*most = len(m)
	small := make(map[Seq]V, len(m))
	for s, r := range m {
		small[s] = r
	}
	return small
}

func (v *volatile) remove(q QID, s Seq) {
	m := v.queues[q]
	if m == nil || !v.release(m, s) {
		return
	}
	v.msgs--
	if m.len() > 0 {
		return
	}
	delete(v.queues, q)
	if m.most < 64 && len(v.spare) < spareQueues {
		v.spare = append(v.spare, &vqueue{mem: m.mem, most: m.most})
	}
}

func (v *volatile) dropQueue(q QID) {
	m := v.queues[q]
	if m == nil {
		return
	}
	for _, r := range m.mem {
		v.mem -= r.size()
	}
	for _, at := range m.file {
		v.spill.free(at)
	}
	for _, h := range m.heads {
		v.mem -= int64(len(h))
	}
	v.msgs -= uint64(m.len())
	delete(v.queues, q)
}

// setHead replaces the head of a message, if it is there.
func (v *volatile) setHead(q QID, s Seq, head []byte) {
	m := v.queues[q]
	if m == nil {
		return
	}
	if r, ok := m.mem[s]; ok {
		v.mem += int64(len(head) - len(r.head))
		r.head = head
		m.mem[s] = r
		return
	}
	at, ok := m.file[s]
	if !ok {
		return
	}
	v.mem -= int64(len(m.heads[s]))
	delete(m.heads, s)
	if len(head) == int(at.head) {
		now, err := v.spill.setHead(at, head)
		if err == nil {
			m.file[s] = now
			return
		}
	}
	if m.heads == nil {
		m.heads = map[Seq][]byte{}
	}
	m.heads[s] = head
	v.mem += int64(len(head))
}

// read returns copies. ok is false when there is no such message here.
func (v *volatile) read(q QID, s Seq) (rec Rec, ok bool, err error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.queues[q]
	if m == nil {
		return Rec{}, false, nil
	}
	if r, ok := m.mem[s]; ok {
		n := len(r.head)
		b := append(append(make([]byte, 0, n+len(r.body)), r.head...), r.body...)
		rec.Head = b[:n:n]
		if len(r.body) > 0 {
			rec.Body = b[n:]
		}
		return rec, true, nil
	}
	at, ok := m.file[s]
	if !ok {
		return Rec{}, false, nil
	}
	if newer, ok := m.heads[s]; ok {
		body, err := v.spill.readBody(at)
		return Rec{Head: append([]byte(nil), newer...), Body: body}, true, err
	}
	head, body, err := v.spill.read(at)
	return Rec{Head: head, Body: body}, true, err
}

// seqs returns the messages of q in order.
func (v *volatile) seqs(q QID) []Seq {
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.queues[q]
	if m == nil {
		return nil
	}
	out := make([]Seq, 0, m.len())
	for s := range m.mem {
		out = append(out, s)
	}
	for s := range m.file {
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

// live tells of a message; its body is not read.
func (v *volatile) live(q QID, s Seq) (l Live, ok bool, err error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.queues[q]
	if m == nil {
		return Live{}, false, nil
	}
	var head []byte
	n := uint32(0)
	if r, in := m.mem[s]; in {
		head, n, ok = r.head, uint32(len(r.body)), true
	} else if at, in := m.file[s]; in {
		if head, ok = m.heads[s]; !ok {
			head, err = v.spill.readHead(at)
		}
		n, ok = at.body, true
	}
	return Live{Q: q, S: s, L: Loc{Len: n}, Head: head, BodyLen: n}, ok, err
}

func (v *volatile) stats() (msgs, bytes uint64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.msgs, uint64(v.mem)
}
