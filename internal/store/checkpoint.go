package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Checkpoints: the delta is frozen between two batches; the frozen generation is written to the state file in
// transactions of at most ckptBytes, the place in the log with the last one; then the segments before that place are
// deleted. Applying a part twice is harmless, so a crash at any moment leaves a state that the log completes.

const markEvery = time.Second // at most so long an acknowledged frame has no later one that vouches for it

type checkpointer struct {
	run   invariants.Turn // one at a time; held over the whole checkpoint
	kick  chan struct{}
	quit  chan struct{}
	ended chan struct{}
	once  sync.Once
	count atomic.Uint64

	frozen chan struct{} // signalled when the committer froze on its own account

	// Written by freezeNow on the committer's goroutine, read by the checkpoint after it.
	mu       invariants.Ranked[invariants.Store]
	last     position // of the last checkpoint
	pos      position // of the frozen generation
	bigLimit uint64   // big files below belong to the frozen generation or to nobody
	pending  bool     // a frozen generation waits to be written
	bytes    uint64   // of log that it stands for
	bigs     uint64   // of them in big files
	bigsAt   uint64   // writer.bigs at the last freeze
	oldLog   uint64   // what the start found in the log, until the first checkpoint
	oldBigs  uint64   // of it in big files

	attempt chan struct{} // closed when the running attempt ends; guarded by mu
	err     error         // of the last attempt

	writtenAt uint64        // writer.written at the last freeze; set by the committer's goroutine, under mu
	base      atomic.Uint64 // writtenAt of the last checkpoint that is complete
	marked    uint64        // LSN of the last mark; committer's goroutine only
}

func (c *checkpointer) init() {
	c.kick, c.quit, c.ended = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	c.frozen, c.attempt = make(chan struct{}, 1), make(chan struct{})
}

func (c *checkpointer) ask() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// stop ends the background goroutine and waits for it.
func (c *checkpointer) stop() {
	c.once.Do(func() { close(c.quit) })
	<-c.ended
}

func (s *logStore) background() {
	defer close(s.ck.ended)
	due := s.clk.Now().Add(s.opt.CheckpointEvery)
	for {
		select {
		case <-s.ck.quit:
			return
		case <-s.ck.kick:
		case <-s.clk.After(markEvery):
			s.com.between(s.writeMark)
			if s.clk.Now().Before(due) {
				continue
			}
		}
		due = s.clk.Now().Add(s.opt.CheckpointEvery)
		// A lack of room is tried again; any other error has ended the store already.
		_, _ = s.checkpoint()
	}
}

// writeMark vouches for the last acknowledged frame, without a sync of its own.
func (s *logStore) writeMark() {
	w := s.w
	if s.refuse() != nil || w.cur == nil || w.ended || w.lsn <= s.ck.marked+1 || w.off+frameSize(0) > w.cur.size {
		return
	}
	if _, _, err := w.frame(kindMark, nil); err == nil {
		s.ck.marked = w.lsn - 1
		if err := w.flush(); err != nil {
			s.fail(fmt.Errorf("write log: %w", err))
		}
	}
}

// freezeNow runs on the committer's goroutine, or when that has ended.
func (s *logStore) freezeNow() { s.freeze(false) }

// freeze with leave set ends the segment that is being written, so that the checkpoint frees it too. The next one may not be there
// yet when the state file says that the log goes on in it: its offset is 0.
func (s *logStore) freeze(leave bool) {
	c := &s.ck
	c.mu.Lock()
	defer c.mu.Unlock()
	w := s.w
	if s.cause.Load() != nil || c.pending || w.cur == nil || w.lsn == c.last.lsn && !leave {
		return
	}
	invariants.True(w.lsn == w.synced+1 || w.lsn == c.marked+1, "a checkpoint at LSN %d, synced is %d", w.lsn, w.synced)
	invariants.True(w.lsn >= c.last.lsn, "a checkpoint at LSN %d behind one at %d", w.lsn, c.last.lsn)
	s.delta.freeze()
	c.pos = position{lsn: w.lsn, seg: w.cur.no, off: w.off}
	if leave {
		w.ended = true
		c.pos = position{lsn: w.lsn, seg: w.cur.no + 1}
	}
	c.bigLimit, c.pending = w.nextBig, true
	c.bytes, c.writtenAt = w.written-c.writtenAt, w.written
	c.bigs, c.bigsAt = w.bigs-c.bigsAt, w.bigs
}

// freezeOrJoin gets a generation frozen. It must not wait for the committer when that waits for this checkpoint.
func (s *logStore) freezeOrJoin() (leftover bool, err error) {
	select {
	case <-s.ck.frozen:
	default:
	}
	s.ck.mu.Lock()
	leftover = s.ck.pending
	s.ck.mu.Unlock()
	if leftover {
		return true, nil
	}
	u := s.com.between(s.freezeNow)
	select {
	case <-u.done:
		return false, u.err
	case <-s.ck.frozen: // the committer has frozen on its own account
		return false, nil
	}
}

// checkpoint freezes and writes. leftover tells that it completed an earlier attempt, which holds nothing new.
func (s *logStore) checkpoint() (leftover bool, err error) {
	s.ck.run.Lock()
	defer s.ck.run.Unlock()
	leftover, err = s.freezeOrJoin()
	if p := s.cause.Load(); p != nil {
		return leftover, *p
	}
	if err == nil {
		err = s.writeFrozen()
	}
	if err == nil {
		err = s.keepSpare()
	}
	if err != nil && !isFull(err) && !errors.Is(err, ErrClosed) {
		err = s.fail(fmt.Errorf("checkpoint: %w", err))
	} else if err != nil && isFull(err) {
		err = full(fmt.Errorf("checkpoint: %w", err))
	}
	s.ck.mu.Lock()
	s.ck.err = err
	close(s.ck.attempt)
	s.ck.attempt = make(chan struct{})
	s.ck.mu.Unlock()
	return leftover, err
}

// writeFrozen writes the frozen generation, if there is one.
func (s *logStore) writeFrozen() error {
	c := &s.ck
	c.mu.Lock()
	pending, pos, bigLimit, at := c.pending, c.pos, c.bigLimit, c.writtenAt
	c.mu.Unlock()
	if !pending {
		return nil
	}
	s.delta.mu.RLock()
	old := s.delta.old
	s.delta.mu.RUnlock()
	f := &freezer{s: s, g: old}
	if err := f.write(pos); err != nil {
		return err
	}
	s.delta.thaw()
	c.mu.Lock()
	c.pending, c.last = false, pos
	c.oldLog, c.oldBigs = 0, 0
	c.mu.Unlock()
	c.count.Add(1)
	c.base.Store(at)
	// From here on nothing needs the old files. What cannot be deleted now is deleted at the next start.
	err := s.dropBelow(pos.seg)
	ids, lerr := s.files.numbers(s.files.big, "")
	err = errors.Join(err, lerr)
	for _, id := range ids {
		if id < bigLimit {
			err = errors.Join(err, s.files.removeBig(id))
		}
	}
	if err != nil {
		s.notice(fmt.Sprintf("a file that is not needed cannot be deleted: %v", err))
	}
	s.makeReserve(0)
	if st, err := s.opt.FS.Stat(s.state.path); err == nil && s.state.spare() >= uint64(st.Size())/4*3 {
		s.largest.Store(0) // nearly all is gone: what is free lies in long pieces
	}
	if !s.aside.lately(s.clk.Now()) { // else who reads would have to map it all again
		s.state.forget()
	}
	return nil
}

// roomFor refuses a new segment when a checkpoint of everything that is in the log, and of that segment, might then
// not fit on the disk any more: without a checkpoint no room would ever come back. Pages round up, hence twice. On a
// small disk segments are smaller than they should be.
func (s *logStore) roomFor(size, least int64) (int64, error) {
	if free, err := s.opt.FS.Free(s.opt.Dir); err == nil && free < 8*uint64(size) {
		size = max(least, min(size, max(align8(int64(free/8)), 64<<10)))
	}
	if err := s.needReserve(size); err != nil {
		return size, err
	}
	log, bigs := s.uncheckpointed()
	return size, s.enough(2*uint64(size)+bigs+s.floor(), 2*uint64(size)+2*log+s.floor())
}

// floor is what the disk must keep: a log while only the state file has room, and in that file a new piece for the leaf that
// a large message is taken from, which holds another as a rule.
func (s *logStore) floor() uint64 { return uint64(s.reserveSize()) + 4*s.largest.Load() }

// uncheckpointed is how many bytes of the log the state file does not have, and how many of them lie in big files: bbolt
// needs them in one piece, for which what is free inside its file is seldom good.
func (s *logStore) uncheckpointed() (log, bigs uint64) {
	s.ck.mu.Lock()
	defer s.ck.mu.Unlock()
	log, bigs = s.w.written-s.ck.writtenAt, s.w.bigs-s.ck.bigsAt
	log, bigs = log+s.ck.oldLog, bigs+s.ck.oldBigs
	if s.ck.pending {
		log, bigs = log+s.ck.bytes, bigs+s.ck.bigs
	}
	return log, bigs
}

// noteSize remembers the largest value that was seen.
func (s *logStore) noteSize(n uint64) {
	for old := s.largest.Load(); n > old && !s.largest.CompareAndSwap(old, n); old = s.largest.Load() {
	}
}

// roomForBig refuses a value in a file of its own when the next checkpoint could not copy it.
func (s *logStore) roomForBig(size int64) error {
	s.noteSize(uint64(size))
	if err := s.needReserve(0); err != nil {
		return err
	}
	log, bigs := s.uncheckpointed()
	need := 2 * (log + uint64(size))
	if w := s.w; w.cur != nil && !w.ended {
		need += 2 * uint64(max(w.cur.size-w.off, 0))
	}
	return s.enough(2*uint64(size)+bigs+s.floor(), uint64(size)+need+s.floor())
}
