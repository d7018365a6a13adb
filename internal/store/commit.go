package store

import (
	"fmt"
	"slices"
)

// The log store's commit path, all by whoever has the committer's token.

// besideRemoves is how many bytes a unit that gives room back may write along with that, such as a counter or the outcome of a
// unit of work.
const besideRemoves = 512

// removesOnly reports that a unit gives room back and takes next to none but for its own frame.
func removesOnly(t *Tx) bool {
	gives, takes := false, 0
	for i := range t.ops {
		switch o := &t.ops[i]; o.kind {
		case opRemove, opDropQueue, opUnset:
			gives = true
		case opSet:
			gives = gives || o.shrinks
			takes += len(o.a) + len(o.b)
		default:
			return false
		}
	}
	return gives && takes <= besideRemoves
}

// commitBatch writes the frames of a batch and makes them durable with one sync. A unit for which there is no room
// leaves nothing; the others go on.
func (s *logStore) commitBatch(batch []*unit) {
	again := s.commitUnits(batch, false)
	if len(again) == 0 {
		return
	}
	s.moreRoom()
	s.commitUnits(again, true)
}

// commitUnits is commitBatch. When a unit that only takes messages away finds no room it is handed back, with those behind it, unless
// last is set: a checkpoint may help.
func (s *logStore) commitUnits(batch []*unit, last bool) (again []*unit) {
	room := s.awaitRoom()
	if room == nil && (s.noReserve.Load() || s.noSpare.Load()) && slices.ContainsFunc(batch, func(u *unit) bool { return !removesOnly(u.tx) }) {
		room = s.needReserve(0)
	}
	if p := s.cause.Load(); p != nil {
		s.finishAll(batch, *p)
		return nil
	}
	w := s.w
	before := w.mark()
	results := make([]error, len(batch))
	ops := make([][]logOp, len(batch))
	for i, u := range batch {
		takes := !removesOnly(u.tx)
		if takes && room != nil {
			results[i] = room
			continue
		}
		m := w.mark()
		w.reserve = nil
		if !takes {
			w.reserve = s.useReserve
		}
		var err error
		if ops[i], err = w.unit(u.tx); err == nil {
			continue
		}
		if !isFull(err) {
			s.finishAll(batch, s.fail(fmt.Errorf("write log: %w", err)))
			return nil
		}
		serr := w.secure(m)
		if isFull(serr) {
			s.refuseBatch(batch, before, serr)
			return nil
		}
		if serr == nil {
			serr = w.rollback(m)
		}
		if serr != nil {
			s.finishAll(batch, s.fail(fmt.Errorf("write log: %w", serr)))
			return nil
		}
		if !takes && !last { // in their order: they may be about the same entry
			batch, again = batch[:i], batch[i:]
			break
		}
		results[i], ops[i] = full(err), nil
		s.ck.ask()
	}
	if len(batch) == 0 {
		return again
	}
	if err := w.sync(); err != nil {
		if !w.torn || !isFull(err) {
			s.finishAll(batch, s.fail(fmt.Errorf("sync log: %w", err)))
			return again
		}
		s.refuseBatch(batch, before, err)
		return again
	}
	s.vouch.say(w.synced)
	s.syncs.Add(1)
	s.written.Store(w.written)
	s.apply(batch, results, ops)
	if w.written-s.ck.writtenAt >= uint64(s.opt.CheckpointBytes) {
		s.ck.ask()
	}
	return again
}

// refuseBatch takes a batch back for which the file system found no room though it was allocated.
func (s *logStore) refuseBatch(batch []*unit, before mark, err error) {
	rerr := s.w.rollback(before)
	if rerr == nil {
		rerr = s.w.sync()
	}
	if rerr != nil {
		s.finishAll(batch, s.fail(fmt.Errorf("write log: %w", rerr)))
		return
	}
	s.finishAll(batch, full(err))
	s.ck.ask()
}

func (s *logStore) apply(batch []*unit, results []error, ops [][]logOp) {
	for i, u := range batch {
		if results[i] == nil {
			s.delta.apply(ops[i])
			s.cache.apply(u.tx)
			u.logged = ops[i]
		}
		s.finish(u, results[i])
	}
}

// logLocs gives each Put of the unit its place.
func logLocs(t *Tx, ops []logOp) []Loc {
	var locs []Loc
	for i := range t.ops {
		o := &t.ops[i]
		if o.kind == opPut && !o.persistent {
			locs = append(locs, Loc{Len: uint32(len(o.b))})
		}
		if !o.persistent {
			continue
		}
		if o.kind == opPut {
			locs = append(locs, ops[0].b.loc())
		}
		ops = ops[1:]
	}
	return locs
}

// awaitRoom holds commits back while the log is at its bound and a checkpoint can make it shorter. It returns why
// there is no room, nil when there is.
func (s *logStore) awaitRoom() error {
	for {
		n, _ := s.files.count()
		if n < s.opt.LogSegments || s.cause.Load() != nil || s.closed.Load() {
			return nil
		}
		ran, err := s.awaitCheckpoint(false)
		if !ran || err != nil {
			return err // not run: the bound is smaller than one generation, nothing can be moved
		}
	}
}

// awaitCheckpoint freezes, unless a frozen generation waits, and waits for an attempt to write it. ran is false when there is nothing to
// write, or the store ends.
func (s *logStore) awaitCheckpoint(leave bool) (ran bool, err error) {
	s.freeze(leave)
	s.ck.mu.Lock()
	attempt, pending := s.ck.attempt, s.ck.pending
	s.ck.mu.Unlock()
	if !pending {
		return false, nil
	}
	select {
	case s.ck.frozen <- struct{}{}:
	default:
	}
	s.ck.ask()
	select {
	case <-attempt:
	case <-s.ck.quit:
		return false, nil
	case <-s.failed:
		return false, nil
	}
	s.ck.mu.Lock()
	defer s.ck.mu.Unlock()
	return true, s.ck.err
}

// attemptAt is how things stood when a checkpoint was tried.
type attemptAt struct {
	lsn, free uint64
}

// moreRoom has checkpoints make room for units that only take messages away, until there is a reserve.
func (s *logStore) moreRoom() {
	now := attemptAt{lsn: s.w.lsn}
	now.free, _ = s.opt.FS.Free(s.opt.Dir)
	if now == s.tried {
		return // it would fail again
	}
	leave := false
	for range 3 {
		ran, err := s.awaitCheckpoint(leave)
		switch {
		case s.reserveHas() >= leastGive:
			return
		case !ran && leave, s.cause.Load() != nil, s.closed.Load():
			return
		case err == nil && leave:
			return // no segment was long enough
		case err == nil:
			leave = true // the next one needs little: it can be risked that the rest of the segment is not used
		}
	}
	s.tried = now
}
