package store

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Writing a frozen generation to the state file.

// ckptBytes bounds a transaction of the state file; tests make it small. One of a table's entries may have half of it: its commit does
// not step aside for who reads others.
var ckptBytes = 4 << 20

const ckptOps = 50_000

// freezer writes a generation to the state file.
type freezer struct {
	s     *logStore
	g     *generation
	steps []step
	bytes int

	taken, spare [][]byte // memory of records (take)
	run          []byte   // of values that lie close together
	recs         [][]byte // of a group
	at           []placed

	maxBytes, maxSteps int // of a transaction

	waited time.Duration // for readers, of this transaction
}

// step is a part of a transaction that is not cut in two: do, or, when that is nil, a table's entry.
type step struct {
	do    func(*stateTx) error
	table Table
	key   []byte // of the generation
	rec   []byte // sealed; nil: the entry is gone
	takes bool   // pages, and gives none back
}

func (s *step) run(tx *stateTx) error {
	switch {
	case s.do != nil:
		return s.do(tx)
	case s.rec == nil:
		return tx.unset(s.table, s.key)
	}
	return tx.setSealed(s.table, s.key, s.rec)
}

func (f *freezer) write(pos position) error {
	f.measure()
	qs := make([]QID, 0, len(f.g.queues))
	for q := range f.g.queues {
		qs = append(qs, q)
	}
	slices.Sort(qs)
	if f.s.noReserve.Load() {
		if err := f.goneSince(); err != nil {
			return err
		}
	}
	for _, step := range []func(QID, *genQueue) error{f.removals, f.messages} { // what gives room comes first
		for _, q := range qs {
			if err := step(q, f.g.queues[q]); err != nil {
				return err
			}
		}
		if f.s.noReserve.Load() && len(f.steps) > 0 { // on their own: what takes room may fail
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	for t := Table(0); len(f.g.tables) > 0; t++ {
		if err := f.table(t, f.g.tables[t]); err != nil {
			return err
		}
		if t == 255 {
			break
		}
	}
	f.steps = append(f.steps, step{do: func(tx *stateTx) error { return tx.setReplay(pos) }})
	return f.flush()
}

func (f *freezer) flush() error {
	err := f.apply(f.steps)
	clear(f.steps)
	f.steps, f.bytes = f.steps[:0], 0
	f.giveBack()
	f.waited = 0
	return err
}

// apply runs steps in one transaction. bbolt writes every page that it touches anew: when there is no room for that, halves
// are tried, because the pages that one transaction frees serve the next.
func (f *freezer) apply(steps []step) error {
	if err := f.leave(steps); err != nil {
		return err
	}
	err := f.s.state.update(func(tx *stateTx) error {
		for i := range steps {
			if i%asideSteps == 0 {
				f.stepAside()
			}
			if err := steps[i].run(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if !isFull(err) || len(steps) < 2 {
		return err
	}
	half := len(steps) / 2
	if err := f.apply(steps[:half]); err != nil {
		return err
	}
	return f.apply(steps[half:])
}

// leave refuses steps that would take the last free pages: what gives pages back must go on.
func (f *freezer) leave(steps []step) error {
	if !slices.ContainsFunc(steps, func(s step) bool { return s.takes }) {
		return nil
	}
	free, err := f.s.opt.FS.Free(f.s.opt.Dir)
	if least := leastPages * uint64(f.s.state.page); err != nil || free+f.s.state.spare() >= least {
		return nil
	}
	return fmt.Errorf("%w: %d free pages are left in %s", ErrFull, f.s.state.freePages(), f.s.state.path)
}

// pagesOfStep is what a step may touch of head, body and their branches.
const pagesOfStep = 8

func (f *freezer) add(bytes int, do func(*stateTx) error) error {
	return f.addStep(bytes, step{do: do})
}

func (f *freezer) addStep(bytes int, s step) error {
	f.steps = append(f.steps, s)
	f.bytes += bytes
	most := f.maxBytes
	if s.do == nil {
		most = min(most, ckptBytes/2)
	}
	if f.bytes < most && len(f.steps) < f.maxSteps {
		return nil
	}
	if err := f.flush(); err != nil {
		return err
	}
	f.measure()
	return nil
}

// measure makes the next transaction so small that its pages find room.
func (f *freezer) measure() {
	f.maxBytes, f.maxSteps = ckptBytes, ckptOps
	free, err := f.s.opt.FS.Free(f.s.opt.Dir)
	if err != nil {
		return
	}
	// Pages that are in the file already come first: what it grows by it keeps, and the log has no room any more.
	room := min(f.s.state.spare(), 1<<40)
	if room < uint64(minReserve) || free > uint64(f.s.opt.SegmentSize)*8 {
		room = min(free+room, 1<<40)
	}
	f.maxBytes = max(min(f.maxBytes, int(room/8)), 1)
	f.maxSteps = max(min(f.maxSteps, int(room/8)/(pagesOfStep*f.s.state.page)), 1)
}

func (f *freezer) removals(q QID, gq *genQueue) error {
	if gq.dropped {
		if err := f.add(0, func(tx *stateTx) error { return tx.dropQueue(q) }); err != nil {
			return err
		}
	}
	for _, s := range sortedKeys(gq.removed) {
		if err := f.add(0, func(tx *stateTx) error { return tx.remove(q, s) }); err != nil {
			return err
		}
	}
	return nil
}

// goneSince takes out of the state file what was taken away after the generation was frozen. The log says so until the next
// checkpoint, and again at a start: it is early, and makes room for this one.
func (f *freezer) goneSince() error {
	d := f.s.delta
	d.mu.RLock()
	gone := map[QID]*genQueue{}
	for q, gq := range d.cur.queues {
		gone[q] = &genQueue{dropped: gq.dropped, removed: maps.Clone(gq.removed)}
	}
	d.mu.RUnlock()
	for q, gq := range gone {
		if err := f.removals(q, gq); err != nil {
			return err
		}
	}
	if len(f.steps) == 0 {
		return nil
	}
	return f.flush()
}

func (f *freezer) messages(q QID, gq *genQueue) error {
	for _, s := range sortedKeys(gq.heads) {
		head, err := f.s.files.read(gq.heads[s])
		if err != nil {
			return err
		}
		err = f.add(len(head), func(tx *stateTx) error { return tx.setHead(f.s.state.path, q, s, head) })
		if err != nil {
			return err
		}
	}
	for seqs := sortedKeys(gq.msgs); len(seqs) > 0; {
		n, size := 0, 0
		for n < len(seqs) && n < tableAtOnce && (n == 0 || size < tableBytes) {
			size += messageRoom(gq.msgs[seqs[n]])
			n++
		}
		if err := f.someMessages(q, gq, f.s.delta.notRemoved(q, seqs[:n]), size); err != nil {
			return err
		}
		seqs = seqs[n:]
	}
	return nil
}

// messageRoom is how much memory the records of a message take.
func messageRoom(e entry) int { return 2*recordHeader + bodyLenSize + int(e.head.n) + int(e.body.n) }

// someMessages reads messages that lie close together, into size bytes, and adds them.
func (f *freezer) someMessages(q QID, gq *genQueue, seqs []Seq, size int) error {
	room := f.take(size)
	next := func(n int) []byte {
		b := room[:n:n]
		room = room[n:]
		return b
	}
	f.recs, f.at = f.recs[:0], f.at[:0]
	for _, s := range seqs {
		e := gq.msgs[s]
		head, body := next(recordHeader+bodyLenSize+int(e.head.n)), []byte(nil)
		le.PutUint32(head[recordHeader:], e.body.n)
		if e.head.n > 0 {
			f.at = append(f.at, placed{e.head, head[recordHeader+bodyLenSize:]})
		}
		if e.body.n > 0 {
			body = next(recordHeader + int(e.body.n))
			f.at = append(f.at, placed{e.body, body[recordHeader:]})
		}
		f.recs = append(f.recs, head, body)
	}
	if err := f.s.files.readAll(&f.run, f.at); err != nil {
		return err
	}
	heads, bodies := queueBucket(bucketHead, q), queueBucket(bucketBody, q)
	var key [8]byte
	for i, s := range seqs {
		head, body := f.recs[2*i], f.recs[2*i+1]
		be.PutUint64(key[:], uint64(s))
		sealInPlace(heads, key[:], head)
		if body != nil {
			sealInPlace(bodies, key[:], body)
		}
		err := f.addStep(len(head)+len(body), step{takes: true, do: func(tx *stateTx) error { return tx.putSealed(heads, bodies, s, head, body) }})
		if err != nil {
			return err
		}
	}
	return nil
}

// tableAtOnce is how many values are read in one go, tableBytes how many bytes of them.
const (
	tableAtOnce = 1024
	tableBytes  = 1 << 20
)

func (f *freezer) table(t Table, tab *entries) error {
	name, rows := tableBucket(t), tab.sorted()
	var key []byte
	for len(rows) > 0 {
		n, size := 0, 0
		for n < len(rows) && n < tableAtOnce && (n == 0 || size < tableBytes) {
			size += recordHeader + int(tab.row(int(rows[n])).val.n)
			n++
		}
		f.stepAside()
		room := f.take(size)
		recs, at := f.recs[:0], f.at[:0]
		for _, i := range rows[:n] {
			r := tab.row(int(i))
			if r.unset {
				recs = append(recs, nil)
				continue
			}
			end := recordHeader + int(r.val.n)
			rec := room[:end:end]
			room = room[end:]
			if recs = append(recs, rec); r.val.n > 0 {
				at = append(at, placed{r.val, rec[recordHeader:]})
			}
		}
		f.recs, f.at = recs, at
		if err := f.s.files.readAll(&f.run, at); err != nil {
			return err
		}
		for k, i := range rows[:n] {
			s := step{table: t, key: tab.key(tab.row(int(i))), rec: recs[k]}
			if s.rec != nil {
				s.takes = true
				key = append(append(key[:0], storedPrefix), s.key...)
				sealInPlace(name, key, s.rec)
			}
			if err := f.addStep(len(s.key)+len(s.rec), s); err != nil {
				return err
			}
		}
		rows = rows[n:]
	}
	return nil
}

// take is memory for a group of records, which is used again when the transaction after the one that they go into is over. So
// a checkpoint leaves little garbage, however long it is.
func (f *freezer) take(n int) []byte {
	var b []byte
	if last := len(f.spare) - 1; last >= 0 {
		b, f.spare = f.spare[last], f.spare[:last]
	}
	if cap(b) < n {
		b = make([]byte, n)
	}
	f.taken = append(f.taken, b)
	return b[:n]
}

// giveBack is called when a transaction is over. Of the last group some records may be for the next one.
func (f *freezer) giveBack() {
	last := len(f.taken) - 1
	if last < 0 {
		return
	}
	for _, b := range f.taken[:last] {
		if cap(b) <= 2*tableBytes {
			f.spare = append(f.spare, b)
		}
	}
	f.taken = append(f.taken[:0], f.taken[last])
}

func sortedKeys[V any](m map[Seq]V) []Seq {
	out := make([]Seq, 0, len(m))
	for s := range m {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}
