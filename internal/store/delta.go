package store

import (
	"bytes"
	"slices"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// The delta is what the log holds and the state file does not. It has two generations: units go into cur; a
// checkpoint freezes cur as old, writes old to the state file and drops it. A question goes to cur, then old, then
// the state file.

// entry says where a message lies in the log.
type entry struct{ head, body ref }

// genQueue is what happened to a queue in one generation.
type genQueue struct {
	dropped bool // everything older is gone
	msgs    map[Seq]entry
	removed map[Seq]struct{} // of older messages
	heads   map[Seq]ref      // new heads of older messages
}

type generation struct {
	// recovered: it was replayed from the log, and a checkpoint that a crash cut short may have written a part of it
	// to the state file. So whatever is removed from it needs a tombstone.
	recovered bool

	queues map[QID]*genQueue
	tables map[Table]*entries

	alive, bytes int64 // messages in it, and their bytes but for those in big files
}

func newGeneration() *generation {
	return &generation{queues: map[QID]*genQueue{}, tables: map[Table]*entries{}}
}

func (g *generation) queue(q QID) *genQueue {
	gq := g.queues[q]
	if gq == nil {
		gq = &genQueue{msgs: map[Seq]entry{}, removed: map[Seq]struct{}{}, heads: map[Seq]ref{}}
		g.queues[q] = gq
	}
	return gq
}

// apply plays an intent.
func (g *generation) apply(o *logOp) {
	switch o.kind {
	case opPut:
		gq := g.queue(o.q)
		if e, ok := gq.msgs[o.s]; ok {
			g.count(e, -1)
		}
		gq.msgs[o.s] = entry{o.a, o.b}
		g.count(gq.msgs[o.s], 1)
		delete(gq.removed, o.s)
		delete(gq.heads, o.s)
	case opRemove:
		gq := g.queue(o.q)
		e, mine := gq.msgs[o.s]
		if mine {
			g.count(e, -1)
		}
		delete(gq.msgs, o.s)
		delete(gq.heads, o.s)
		if !mine || g.recovered {
			gq.removed[o.s] = struct{}{}
		}
	case opHead:
		gq := g.queue(o.q)
		if e, ok := gq.msgs[o.s]; ok {
			g.count(e, -1)
			e.head = o.a
			g.count(e, 1)
			gq.msgs[o.s] = e
		} else if _, gone := gq.removed[o.s]; !gone && !gq.dropped {
			gq.heads[o.s] = o.a
		}
	case opDropQueue:
		for _, e := range g.queue(o.q).msgs {
			g.count(e, -1)
		}
		delete(g.queues, o.q)
		g.queue(o.q).dropped = true
	case opSet, opUnset:
		tab := g.tables[o.table]
		if tab == nil {
			tab = &entries{}
			g.tables[o.table] = tab
		}
		tab.set(o.key, genEntry{o.b, o.kind == opUnset})
	}
}

// count counts a message in, or out.
func (g *generation) count(e entry, by int64) {
	g.alive += by
	for _, r := range []ref{e.head, e.body} {
		if r.seg != segBig {
			g.bytes += by * int64(r.n)
		}
	}
}

// delta is the two generations under one lock.
type delta struct {
	mu  invariants.RankedRW[invariants.Leaf]
	cur *generation
	old *generation // nil when no checkpoint is under way
}

func newDelta() *delta { return &delta{cur: newGeneration()} }

func (d *delta) apply(ops []logOp) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range ops {
		d.cur.apply(&ops[i])
	}
}

// freeze begins a checkpoint. It does nothing when the last one is not finished.
func (d *delta) freeze() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.old == nil {
		d.old, d.cur = d.cur, newGeneration()
	}
}

func (d *delta) thaw() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.old = nil
}

// gens returns the generations, the newest first. d.mu is held.
func (d *delta) gens() []*generation {
	if d.old == nil {
		return []*generation{d.cur}
	}
	return []*generation{d.cur, d.old}
}

// place is where a message is.
type place uint8

const (
	inState place = iota
	inLog
	gone
)

// find returns a message's place. head is set when the state file's head was replaced; e when it is in the log.
func (d *delta) find(q QID, s Seq) (p place, e entry, head *ref) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, g := range d.gens() {
		gq := g.queues[q]
		if gq == nil {
			continue
		}
		if e, ok := gq.msgs[s]; ok {
			if head != nil {
				e.head = *head
			}
			return inLog, e, nil
		}
		if _, ok := gq.removed[s]; ok || gq.dropped {
			return gone, entry{}, nil
		}
		if h, ok := gq.heads[s]; ok && head == nil {
			head = &h
		}
	}
	return inState, entry{}, head
}

func (d *delta) table(t Table, key []byte) (e genEntry, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, g := range d.gens() {
		if e, ok := g.tables[t].get(key); ok {
			return e, true
		}
	}
	return genEntry{}, false
}

func (d *delta) keys(t Table, from, to []byte) []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var out []string
	for _, g := range d.gens() {
		tab := g.tables[t]
		tab.each(func(r *entryRow) {
			if k := tab.key(r); bytes.Compare(k, from) >= 0 && (to == nil || bytes.Compare(k, to) < 0) {
				out = append(out, string(k))
			}
		})
	}
	return out
}

// qids lists the queues that have messages in the log.
func (d *delta) qids() []QID {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var out []QID
	for _, g := range d.gens() {
		for q, gq := range g.queues {
			if len(gq.msgs) > 0 {
				out = append(out, q)
			}
		}
	}
	return out
}

// seqs lists the messages of q that have an entry in the log, in order; some may be gone.
func (d *delta) seqs(q QID) []Seq {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var out []Seq
	for _, g := range d.gens() {
		if gq := g.queues[q]; gq != nil {
			for s := range gq.msgs {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// notRemoved leaves out the messages of the frozen generation that are gone by now: they need not go to the state file, since the newer
// generation hides them. It uses seqs.
func (d *delta) notRemoved(q QID, seqs []Seq) []Seq {
	d.mu.RLock()
	defer d.mu.RUnlock()
	gq := d.cur.queues[q]
	switch {
	case gq == nil:
		return seqs
	case gq.dropped:
		return nil
	}
	return slices.DeleteFunc(seqs, func(s Seq) bool {
		_, ok := gq.removed[s]
		return ok
	})
}
