package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// Open opens or creates the store of a queue manager: the log store. A store that OpenBolt made is taken over.
func Open(o Options) (Store, error) { return OpenLog(o) }

// OpenBolt opens implementation A: bbolt with group commit, no log. It is the model that the log store is compared
// with, and small enough to be right.
func OpenBolt(o Options) (Store, error) {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	b, err := openBase(o, formatBolt)
	if err != nil {
		return nil, err
	}
	s := &boltStore{base: b}
	s.com = newCommitter(s.commitBatch, s.finish)
	s.com.start()
	return s, nil
}

// base is what the stores on disk have in common: directory, state file, tables in flight, nonpersistent messages.
type base struct {
	opt    Options
	lock   io.Closer
	state  *state
	ov     overlay
	vol    *volatile
	spill  *spill
	com    *committer
	failed chan struct{}
	cause  atomic.Pointer[error]
	closed atomic.Bool
	once   sync.Once

	// get reads a table entry; moreKeys names entries that are neither submitted nor in the state file (may be nil).
	get      func(Table, []byte) ([]byte, error)
	moreKeys func(t Table, from, to []byte) []string

	commits, syncs, written atomic.Uint64
}

func openBase(o Options, format int) (_ *base, err error) {
	if !o.ReadOnly {
		if err := mkdirDurable(o.FS, o.Dir); err != nil {
			return nil, fmt.Errorf("store: make %s: %w", o.Dir, err)
		}
	}
	b := &base{opt: o, failed: make(chan struct{})}
	b.get = b.Get
	if b.lock, err = lockDir(o.FS, o.Dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.release(false)
		}
	}()
	if err := b.prepareDir(format); err != nil {
		return nil, err
	}
	if b.state, err = openState(o.FS, o.Dir, o.ReadOnly); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		faults, err := metaFaults(b.state.nat, b.state.path)
		if err != nil {
			return nil, err
		}
		for _, p := range faults {
			b.notice(p.String())
		}
		st, err := compactState(b.state, o.Dir)
		if b.state = st; err != nil {
			return nil, err
		}
	}
	if format == formatLog {
		b.state.list = listSmall
	}
	if o.ReadOnly {
		b.vol = newVolatile(o.MemoryLimit, nil)
		return b, readKeptInto(o.FS, o.Dir, b.vol)
	}
	if b.spill, err = newSpill(o.FS, o.Dir); err != nil {
		return nil, err
	}
	b.vol = newVolatile(o.MemoryLimit, b.spill)
	if err := b.takeKept(); err != nil {
		return nil, err
	}
	return b, nil
}

// prepareDir checks the format, or makes a new store. The format file comes last: without it nothing was made.
func (b *base) prepareDir(format int) error {
	fsys, dir := b.opt.FS, b.opt.Dir
	have, err := checkFormat(fsys, dir, format)
	if err != nil {
		return err
	}
	there, err := exists(fsys, statePath(dir))
	if err != nil {
		return err
	}
	switch {
	case b.opt.ReadOnly && (have == 0 || !there):
		return fmt.Errorf("store: there is no store in %s", dir)
	case b.opt.ReadOnly:
		return nil
	case have != 0 && !there:
		return corrupt(statePath(dir), "file", "missing, though "+formatPath(dir)+" is there")
	case have == 0 && there:
		if err := b.refuseUsed(); err != nil {
			return err
		}
	}
	if format == formatLog && have < format {
		for _, sub := range []string{"log", "big"} {
			if err := mkdirDurable(fsys, filepath.Join(dir, sub)); err != nil {
				return fmt.Errorf("store: make %s: %w", filepath.Join(dir, sub), err)
			}
		}
	}
	if !there {
		if err := createState(fsys, dir); err != nil {
			return err
		}
	}
	if have < format {
		if err := writeFormat(fsys, dir, format); err != nil {
			return fmt.Errorf("store: write %s: %w", formatPath(dir), err)
		}
	}
	return nil
}

// refuseUsed tells a creation that was cut short from a store that lost its format file.
func (b *base) refuseUsed() error {
	s, err := openState(b.opt.FS, b.opt.Dir, false)
	if err != nil {
		return err
	}
	defer s.close()
	used, err := s.used()
	if err == nil && used {
		err = corrupt(formatPath(b.opt.Dir), "file", "missing, though state.db holds data")
	}
	return err
}

// release gives up what openBase took; after an orderly end it leaves a state file that need not be read through.
func (b *base) release(orderly bool) error {
	var errs []error
	if b.spill != nil {
		errs = append(errs, b.spill.close())
	}
	switch {
	case b.state != nil && orderly:
		errs = append(errs, b.state.endClean())
	case b.state != nil:
		errs = append(errs, b.state.close())
	}
	return errors.Join(append(errs, b.lock.Close())...)
}

// fail ends the store's life: what the disk holds is unknown from here on.
func (b *base) fail(cause error) error {
	err := fmt.Errorf("%w: %w", ErrFailed, cause)
	b.once.Do(func() {
		b.cause.Store(&err)
		close(b.failed)
	})
	return *b.cause.Load()
}

func (b *base) notice(text string) {
	if b.opt.Notice != nil {
		b.opt.Notice("store: " + text)
	}
}

// refuse says why no call is served any more, or nil.
func (b *base) refuse() error {
	if p := b.cause.Load(); p != nil {
		return *p
	}
	if b.closed.Load() {
		return ErrClosed
	}
	return nil
}

// Admit implements Store.
func (b *base) Admit(t *Tx, more int) {
	invariants.Blocking("waiting for room in the store")
	if b.refuse() == nil {
		b.com.admit(t, more)
	}
}

// Submit implements Store.
func (b *base) Submit(t *Tx) Ticket {
	defer b.com.dismiss(t) // of a unit that was not queued
	if err := b.refuse(); err != nil {
		return refused(err)
	}
	if t.room == 0 { // Admit keeps none in a store that refuses, which never stops
		invariants.Blocking("waiting for room in the store")
	}
	if b.opt.ReadOnly {
		return refused(errReadOnly)
	}
	if err := t.validate(); err != nil {
		return refused(err)
	}
	staged, err := b.vol.stage(t)
	if err != nil {
		return refused(err)
	}
	u := &unit{tx: t, staged: staged}
	if !t.persistent {
		b.vol.apply(t, staged)
		b.commits.Add(1)
		u.done = alreadyDone
		return u
	}
	u.done = make(chan struct{})
	if err := b.com.submit(u, func() { b.ov.add(u.num, t) }); err != nil {
		b.vol.discard(staged)
		return refused(err)
	}
	return u
}

// Commit implements Store.
func (b *base) Commit(ctx context.Context, t *Tx) ([]Loc, error) {
	k := b.Submit(t)
	if err := k.Wait(ctx); err != nil {
		return nil, err
	}
	return k.Locs(), nil
}

// finish gives a unit its result. On nil its persistent part is durable already.
func (b *base) finish(u *unit, err error) {
	if err != nil {
		b.vol.discard(u.staged)
	} else {
		b.vol.apply(u.tx, u.staged)
		b.commits.Add(1)
	}
	b.ov.remove(u.num, u.tx)
	u.staged = nil
	u.complete(err)
}

// Get implements Store.
func (b *base) Get(table Table, key []byte) ([]byte, error) {
	if err := b.refuse(); err != nil {
		return nil, err
	}
	if v, ok := b.ov.get(table, key); ok {
		if v.unset {
			return nil, ErrNotFound
		}
		return append([]byte{}, v.val...), nil
	}
	return b.state.get(table, key)
}

// Range implements Store. It walks in pieces: an entry that changes during the walk may be seen or not.
func (b *base) Range(table Table, from, to []byte, fn func(k, v []byte) error) error {
	if err := b.refuse(); err != nil {
		return err
	}
	// The newer keys first: what leaves them in between is in the state file by then.
	newer := b.newerKeys(table, from, to)
	for {
		part, err := b.state.entries(table, from, to)
		if err != nil {
			return err
		}
		last := len(part) == 0
		end := to
		if !last {
			end = append(bytes.Clone(part[len(part)-1].k), 0)
		}
		n := 0
		for n < len(newer) && (end == nil || newer[n] < string(end)) {
			n++
		}
		if err := b.merge(table, part, newer[:n], fn); err != nil {
			return err
		}
		if last {
			return nil
		}
		from, newer = end, newer[n:]
	}
}

// newerKeys lists the keys for which the state file does not have the last word, sorted.
func (b *base) newerKeys(table Table, from, to []byte) []string {
	keys := b.ov.keys(table, from, to)
	if b.moreKeys != nil {
		keys = append(keys, b.moreKeys(table, from, to)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// merge calls fn for stored entries and newer keys in order; a newer key's value is asked for when its turn comes.
func (b *base) merge(table Table, part []kv, newer []string, fn func(k, v []byte) error) error {
	for len(part) > 0 || len(newer) > 0 {
		if len(newer) == 0 || (len(part) > 0 && string(part[0].k) < newer[0]) {
			if err := fn(part[0].k, part[0].v); err != nil {
				return err
			}
			part = part[1:]
			continue
		}
		key := newer[0]
		newer = newer[1:]
		if len(part) > 0 && string(part[0].k) == key {
			part = part[1:]
		}
		v, err := b.get(table, []byte(key))
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err == nil {
			err = fn([]byte(key), v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Failed implements Store.
func (b *base) Failed() <-chan struct{} { return b.failed }

// boltStore is implementation A.
type boltStore struct{ *base }

// commitBatch makes a batch durable in one bbolt transaction. When there is no room for all of it, halves are tried,
// so that only the units that really do not fit are refused.
func (s *boltStore) commitBatch(batch []*unit) {
	if p := s.cause.Load(); p != nil {
		s.finishAll(batch, *p)
		return
	}
	size := 0
	err := s.roomFor(batch)
	if err == nil {
		err = s.write(batch, &size)
	}
	switch {
	case err == nil:
		s.syncs.Add(1)
		s.written.Add(uint64(size))
		for _, u := range batch {
			s.finish(u, nil)
		}
	case !isFull(err):
		s.finishAll(batch, s.fail(err))
	case len(batch) == 1:
		s.finish(batch[0], full(err))
	default:
		half := len(batch) / 2
		s.commitBatch(batch[:half])
		s.commitBatch(batch[half:])
	}
}

// write puts a batch in one bbolt transaction.
func (s *boltStore) write(batch []*unit, size *int) error {
	return s.state.update(func(tx *stateTx) error {
		for _, u := range batch {
			for i := range u.tx.ops {
				if err := tx.apply(s.state.path, &u.tx.ops[i]); err != nil {
					return err
				}
			}
			*size += u.tx.bytes
		}
		return nil
	})
}

// boltMargin is what must stay free for units that take messages away: bbolt writes new pages for that, too.
const boltMargin = 4 << 20

// roomFor refuses what would fill the disk up so far that nothing can be taken away any more.
func (s *boltStore) roomFor(batch []*unit) error {
	takes, size := false, uint64(0)
	for _, u := range batch {
		takes = takes || !removesOnly(u.tx)
		size += uint64(u.tx.bytes)
	}
	if !takes {
		return nil
	}
	return s.enough(0, 2*size+boltMargin)
}

// enough compares what is free with what is needed: on the disk for new files, and on the disk or inside the state
// file for records.
func (b *base) enough(disk, records uint64) error {
	free, err := b.opt.FS.Free(b.opt.Dir)
	if err != nil {
		return nil // the write itself will tell
	}
	if spare := b.state.spare(); free < disk || free+spare < records {
		return fmt.Errorf("%w: %s has %d bytes left and %d in its state file, %d are needed to go on", ErrFull, b.opt.Dir,
			free, spare, max(disk, records))
	}
	return nil
}

func (b *base) finishAll(batch []*unit, err error) {
	for _, u := range batch {
		b.finish(u, err)
	}
}

// InMemory implements Store.
func (s *boltStore) InMemory(QID, Seq) bool { return false }

// Read implements Store.
func (s *boltStore) Read(q QID, sq Seq, _ Loc) (Rec, error) {
	if err := s.refuse(); err != nil {
		return Rec{}, err
	}
	if rec, ok, err := s.vol.read(q, sq); ok {
		return rec, err
	}
	return s.state.read(q, sq)
}

// Live implements Store.
func (s *boltStore) Live(fn func(Live) error) error {
	if err := s.refuse(); err != nil {
		return err
	}
	return s.walkLive(nil, fn)
}

// Checkpoint implements Store: there is no log here.
func (s *boltStore) Checkpoint(context.Context) error { return s.refuse() }

// Close implements Store.
func (s *boltStore) Close(m StopMode, keep func(QID) bool) error {
	if s.closed.Swap(true) {
		return ErrClosed
	}
	var drop error
	if m == Preempt {
		drop = ErrClosed
	}
	s.com.stop(drop)
	var errs []error
	orderly := s.cause.Load() == nil && m != Preempt && !s.opt.ReadOnly
	if p := s.cause.Load(); p != nil {
		errs = append(errs, *p)
	} else if orderly {
		errs = append(errs, s.keepMessages(keep))
	}
	return errors.Join(append(errs, s.release(orderly))...)
}

// Stats implements Store.
func (s *boltStore) Stats() Stats {
	st := Stats{Syncs: s.syncs.Load(), Commits: s.commits.Load(), BytesWritten: s.written.Load()}
	st.MemoryMessages, st.MemoryBytes = s.vol.stats()
	return st
}
