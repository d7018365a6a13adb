package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// logStore is implementation C: a log in front of the state file. A unit is durable with one sync of the log; a
// checkpoint moves what is still alive to the state file and deletes the segments before it.
//
// Who does what: the committer's goroutine owns the writer. The background goroutine runs checkpoints, which read
// the frozen generation of the delta. Readers ask cache, delta and state file, in this order.
type logStore struct {
	*base
	files *files
	w     *logWriter
	delta *delta
	cache *cache
	clk   clock.Clock

	ck    checkpointer
	aside aside

	largest   atomic.Uint64 // bytes of the largest value in a file of its own, or found at start
	noReserve atomic.Bool   // the reserve is in use, or too short: what room there is, is for what gives room back
	noSpare   atomic.Bool   // the same of the free pages in the state file
	reserveMu invariants.Ranked[invariants.Store]
	tried     attemptAt // committer's goroutine only

	vouch voucher // committer's goroutine only
}

// OpenLog opens or creates implementation C.
func OpenLog(o Options) (_ Store, err error) {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	o.SegmentSize = max(align8(o.SegmentSize), minSegmentSize)
	if o.CheckpointBytes == 0 {
		o.CheckpointBytes = o.SegmentSize
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = 30 * time.Second
	}
	if o.LogSegments == 0 {
		o.LogSegments = 16
	}
	if o.JoinDelay == 0 && o.Clock == clock.Real() { // another one may stand still
		o.JoinDelay = 200 * time.Microsecond
	}
	b, err := openBase(o, formatLog)
	if err != nil {
		return nil, err
	}
	s := &logStore{base: b, files: newFiles(o.FS, o.Dir), delta: newDelta(), cache: newCache(o.CacheBytes),
		clk: o.Clock}
	s.get, s.moreKeys = s.Get, s.delta.keys
	s.aside = aside{clk: o.Clock, off: o.Clock != clock.Real()} // another one may stand still
	s.ck.init()
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, s.files.close(), b.release(false))
	}
	s.com = newCommitter(s.commitBatch, s.finish)
	if o.JoinDelay > 0 {
		s.com.company = newCompany(o.Clock, o.JoinDelay, s.com.alarm)
	}
	s.com.start()
	if o.ReadOnly {
		close(s.ck.ended)
	} else {
		go s.background()
	}
	return s, nil
}

const replayKey = "replay"

// replayFrom reads where the log begins that the state file does not hold.
func (s *state) replayFrom() (p position, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketLog))
		if b == nil {
			return nil
		}
		rec := b.Get([]byte(replayKey))
		if rec == nil {
			return corrupt(s.path, "bucket log", "the place in the log is missing")
		}
		v, err := openRecord(s.path, []byte(bucketLog), []byte(replayKey), rec)
		if err != nil {
			return err
		}
		if len(v) != 20 {
			return corrupt(s.path, "bucket log", "the place in the log has a wrong length")
		}
		p = position{lsn: le.Uint64(v), seg: le.Uint32(v[8:]), off: int64(le.Uint64(v[12:]))}
		return nil
	})
	return p, err
}

func (t *stateTx) setReplay(p position) error {
	t.last = true
	b, err := t.bucket([]byte(bucketLog), true)
	if err != nil {
		return err
	}
	v := le.AppendUint64(nil, p.lsn)
	v = le.AppendUint32(v, p.seg)
	v = le.AppendUint64(v, uint64(p.off))
	return b.Put([]byte(replayKey), sealRecord([]byte(bucketLog), []byte(replayKey), v))
}

// recover plays the log on the delta, cuts off what a crash left behind its end, and readies the writer.
func (s *logStore) recover() error {
	start, err := s.state.replayFrom()
	if err != nil {
		return err
	}
	flag := os.O_RDWR
	if s.opt.ReadOnly {
		flag = os.O_RDONLY
	}
	s.delta.cur.recovered = true
	rep := &replayer{apply: func(ops []logOp) {
		for i := range ops {
			s.delta.cur.apply(&ops[i])
		}
	}}
	sc := &scanner{files: s.files, flag: flag, visit: rep.visit, vouched: s.files.durable()}
	if err := sc.run(start); err != nil {
		if !errors.Is(err, ErrCorrupt) || !s.opt.AcceptLoss {
			return err
		}
		s.notice(fmt.Sprintf("%v: it is given up, with everything that was written after it: %s", err, sc.givenUp()))
		sc.torn = err.Error()
	} else if sc.torn != "" {
		s.notice(sc.torn + ": no unit was acknowledged behind it, it is cut off")
	}
	if err := s.checkBig(); err != nil {
		if !errors.Is(err, ErrCorrupt) || !s.opt.AcceptLoss {
			return err
		}
		s.notice(fmt.Sprintf("%v: what is in it is given up", err))
		s.dropBigs()
	}
	_ = s.delta.cur.refs(func(r ref) error {
		s.ck.oldLog += uint64(r.n)
		if r.seg == segBig {
			s.ck.oldBigs += uint64(r.n)
		}
		return nil
	})
	s.ck.last = start
	s.w = &logWriter{files: s.files, segSize: s.opt.SegmentSize, lsn: sc.pos.lsn, synced: sc.pos.lsn - 1,
		last: sc.pos.seg, room: s.roomFor, roomBig: s.roomForBig, spare: s.spareSegment}
	if s.opt.ReadOnly {
		return nil
	}
	return s.tidy(sc, start)
}

// checkBig makes sure that every big file a live record names is there.
func (s *logStore) checkBig() error {
	check := func(r ref) error {
		if r.n == 0 || r.seg != segBig {
			return nil
		}
		name := s.files.bigName(r.off)
		st, err := s.opt.FS.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return corrupt(name, "file", "missing, though the log names it")
		case err != nil:
			return fmt.Errorf("store: %w", err)
		case st.Size() != int64(r.n):
			return corrupt(name, "size", fmt.Sprintf("%d bytes, the log says %d", st.Size(), r.n))
		}
		return nil
	}
	return s.delta.cur.refs(check)
}

// dropBigs takes out what names a big file that is not there, or not whole.
func (s *logStore) dropBigs() {
	g := s.delta.cur
	bad := func(rs ...ref) bool {
		for _, r := range rs {
			if r.n == 0 || r.seg != segBig {
				continue
			}
			if st, err := s.opt.FS.Stat(s.files.bigName(r.off)); err != nil || st.Size() != int64(r.n) {
				return true
			}
		}
		return false
	}
	for q, gq := range g.queues {
		for sq, e := range gq.msgs {
			if bad(e.head, e.body) {
				g.apply(&logOp{kind: opRemove, q: q, s: sq})
			}
		}
		for sq, h := range gq.heads {
			if bad(h) {
				delete(gq.heads, sq)
			}
		}
	}
	for t, tab := range g.tables {
		tab.each(func(r *entryRow) {
			if bad(r.val) {
				g.apply(&logOp{kind: opUnset, table: t, key: tab.key(r)})
			}
		})
	}
}

// refs calls fn for every place the generation names.
func (g *generation) refs(fn func(ref) error) error {
	for _, gq := range g.queues {
		for _, e := range gq.msgs {
			if err := errors.Join(fn(e.head), fn(e.body)); err != nil {
				return err
			}
		}
		for _, h := range gq.heads {
			if err := fn(h); err != nil {
				return err
			}
		}
	}
	for _, tab := range g.tables {
		var err error
		tab.each(func(r *entryRow) {
			if err == nil {
				err = fn(r.val)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tidy makes the directory what the replay took it for. Every step may be cut short and is done again next time.
func (s *logStore) tidy(sc *scanner, start position) error {
	fsys := s.opt.FS
	nos, err := s.files.numbers(s.files.dir, segSuffix)
	if err != nil {
		return err
	}
	kept := map[uint32]*segment{}
	for _, seg := range sc.segs {
		kept[seg.no] = seg
	}
	removed := false
	for _, n := range nos {
		no := uint32(n)
		if uint64(no) == n && no >= max(start.seg, 1) && no <= sc.pos.seg {
			continue
		}
		if seg := kept[no]; seg != nil {
			delete(kept, no)
			err = s.spareSegment(seg)
		} else if uint64(no) != n {
			err = fsys.Remove(filepath.Join(s.files.dir, fmt.Sprintf("%016x%s", n, segSuffix)))
		} else if seg, err = s.files.openSeg(no, os.O_RDWR); err == nil {
			err = s.spareSegment(seg)
		}
		if err != nil {
			return fmt.Errorf("store: remove a segment that is not needed: %w", err)
		}
		removed = true
	}
	if removed {
		if err := fsys.SyncDir(s.files.dir); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if sc.startLost {
		if err := s.remakeStart(kept, start); err != nil {
			return fmt.Errorf("store: open log: %w", err)
		}
	}
	if err := s.resume(sc, kept); err != nil {
		return fmt.Errorf("store: open log: %w", err)
	}
	if err := s.sweepBig(); err != nil {
		return err
	}
	s.makeReserve(0)
	if err := s.keepSpare(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return s.vouch.open(s.files, s.w.synced)
}

// remakeStart puts a good header where the log begins, when that was lost and the loss is accepted.
func (s *logStore) remakeStart(kept map[uint32]*segment, start position) error {
	seg := kept[start.seg]
	if seg == nil {
		var err error
		if seg, err = s.files.create(start.seg, start.off, start.lsn, start.lsn-1); err != nil {
			return err
		}
		kept[seg.no] = seg
		return nil
	}
	_, err := seg.f.WriteAt(segHeader(seg.no, start.lsn, start.lsn-1), 0)
	return err
}

// resume lets the writer go on at the end. What was replayed may only have been in the system's cache: it is synced
// before anybody relies on it.
func (s *logStore) resume(sc *scanner, kept map[uint32]*segment) error {
	cur := kept[sc.pos.seg]
	if cur != nil && sc.torn != "" {
		if err := cur.blankFrom(sc.pos.off); err != nil {
			return err
		}
	}
	for no, seg := range kept {
		if no <= sc.pos.seg {
			if err := seg.f.Sync(); err != nil {
				return err
			}
		}
	}
	if cur != nil {
		s.w.cur, s.w.off = cur, sc.pos.off
	}
	return nil
}

// sweepBig removes the big files that nothing names.
func (s *logStore) sweepBig() error {
	ids, err := s.files.numbers(s.files.big, "")
	if err != nil {
		return err
	}
	used := map[uint64]bool{}
	_ = s.delta.cur.refs(func(r ref) error {
		if r.seg == segBig {
			used[r.off] = true
		}
		return nil
	})
	for _, id := range ids {
		s.w.nextBig = max(s.w.nextBig, id+1)
		if !used[id] {
			if err := s.files.removeBig(id); err != nil {
				return fmt.Errorf("store: %w", err)
			}
		}
	}
	return nil
}

// Get implements Store.
func (s *logStore) Get(table Table, key []byte) ([]byte, error) {
	for range 3 {
		if err := s.refuse(); err != nil {
			return nil, err
		}
		if v, ok := s.ov.get(table, key); ok {
			if v.unset {
				return nil, ErrNotFound
			}
			return append([]byte{}, v.val...), nil
		}
		e, ok := s.delta.table(table, key)
		if !ok {
			return s.state.get(table, key)
		}
		if e.unset {
			return nil, ErrNotFound
		}
		v, err := s.files.read(e.val)
		if !errors.Is(err, errMoved) {
			return append([]byte{}, v...), err
		}
	}
	return nil, errMoved
}

// Read implements Store.
func (s *logStore) Read(q QID, sq Seq, _ Loc) (Rec, error) {
	if err := s.refuse(); err != nil {
		return Rec{}, err
	}
	if rec, ok, err := s.vol.read(q, sq); ok {
		return rec, err
	}
	if rec, ok := s.cache.get(q, sq); ok {
		return rec, nil
	}
	// A checkpoint may move the record between the question and the read; it does not move twice.
	for range 3 {
		rec, err := s.readOnce(q, sq)
		if !errors.Is(err, errMoved) {
			return rec, err
		}
		if err := s.refuse(); err != nil {
			return Rec{}, err
		}
	}
	return Rec{}, errMoved
}

// InMemory implements Store.
func (s *logStore) InMemory(q QID, sq Seq) bool { return s.cache.has(q, sq) }

func (s *logStore) readOnce(q QID, sq Seq) (Rec, error) {
	where, e, newHead := s.delta.find(q, sq)
	switch where {
	case gone:
		return Rec{}, ErrNotFound
	case inLog:
		return s.readEntry(e)
	}
	rec, err := s.state.read(q, sq)
	if err == nil && newHead != nil {
		rec.Head, err = s.files.read(*newHead)
	}
	return rec, err
}

func (s *logStore) readEntry(e entry) (Rec, error) {
	head, body, err := s.files.readPair(e.head, e.body)
	return Rec{Head: head, Body: body, Persistent: true}, err
}

// Live implements Store.
func (s *logStore) Live(fn func(Live) error) error {
	if err := s.refuse(); err != nil {
		return err
	}
	s.ck.run.Lock() // no checkpoint moves what is being listed
	defer s.ck.run.Unlock()
	return s.walkLive(&liveView{s: s}, func(l Live) error {
		s.noteSize(uint64(l.BodyLen))
		return fn(l)
	})
}

// Close implements Store.
func (s *logStore) Close(m StopMode, keep func(QID) bool) error {
	if s.closed.Swap(true) {
		return ErrClosed
	}
	s.ck.stop()
	var drop error
	if m == Preempt {
		drop = ErrClosed
	}
	s.com.stop(drop)
	s.ck.run.Lock() // a Checkpoint that somebody asked for may still run
	defer s.ck.run.Unlock()
	var errs []error
	orderly := s.cause.Load() == nil && m != Preempt && !s.opt.ReadOnly
	if p := s.cause.Load(); p != nil {
		errs = append(errs, *p)
	} else if orderly {
		errs = append(errs, s.cleanEnd(keep))
	}
	s.vouch.close()
	return errors.Join(append(errs, s.files.close(), s.release(orderly))...)
}

// cleanEnd leaves a short log and the nonpersistent messages that are to be kept.
func (s *logStore) cleanEnd(keep func(QID) bool) error {
	s.freezeNow()
	if err := s.writeFrozen(); err != nil && !isFull(err) {
		return err // when there is no room, the log still has everything
	}
	if w := s.w; w.cur != nil && !w.ended {
		if _, _, err := w.frame(kindStop, nil); err == nil {
			if err := w.sync(); err != nil {
				return fmt.Errorf("store: %w", err)
			}
		}
		// Give back the room that was reserved: the next start need not look at it. On a full disk others would take it.
		if !s.noReserve.Load() {
			if err := errors.Join(w.cur.f.Truncate(w.off), w.cur.f.Sync()); err != nil {
				return fmt.Errorf("store: %w", err)
			}
		}
	}
	err := s.keepMessages(keep)
	if isFull(err) { // what the reserve holds is for this too: the next start makes another
		_ = s.opt.FS.Remove(s.reserveName())
		err = s.keepMessages(keep)
	}
	return err
}

// Stats implements Store.
func (s *logStore) Stats() Stats {
	st := Stats{Syncs: s.syncs.Load(), Commits: s.commits.Load(), BytesWritten: s.written.Load(),
		Checkpoints: s.ck.count.Load()}
	n, bytes := s.files.count()
	st.LogSegments, st.LogBytes = uint64(n), uint64(bytes)
	// base first: it never runs ahead of written.
	base := s.ck.base.Load()
	st.LogNeeded, st.LogLimit = max(s.written.Load(), base)-base, uint64(s.opt.LogSegments)*uint64(s.opt.SegmentSize)
	st.MemoryMessages, st.MemoryBytes = s.vol.stats()
	return st
}

// Checkpoint implements Store.
func (s *logStore) Checkpoint(ctx context.Context) error {
	if err := errors.Join(s.refuse(), ctx.Err()); err != nil {
		return err
	}
	if s.opt.ReadOnly {
		return errReadOnly
	}
	leftover, err := s.checkpoint()
	if leftover && err == nil {
		_, err = s.checkpoint()
	}
	return err
}
