package store

import (
	"cmp"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// logWriter turns units into frames and puts them behind each other. Only the committer's goroutine uses it.
// Nothing it wrote counts before sync.
type logWriter struct {
	files   *files
	segSize int64
	cur     *segment // nil or ended: the next frame opens a segment
	ended   bool
	off     int64  // of the next frame in cur
	lsn     uint64 // of the next frame
	synced  uint64 // the highest durable one
	last    uint32 // highest segment number ever used
	buf     []byte // not yet written; ends at off
	encoder unitEncoder
	torn    bool // a write failed: of buf anything may be in the file
	created []*segment
	dirty   []*segment
	nextBig uint64
	written uint64
	bigs    uint64 // of written, in big files
	// reserve is asked for a segment when there is no room for a new one; nil: not for this unit.
	reserve func(no uint32, least int64, first, synced uint64) (*segment, error)
	spare   func(*segment) error // takes a segment that is not needed
	// room is asked before a segment is made: it may allow less than size, at least least. Its refusal does not count
	// while reserve is set.
	room    func(size, least int64) (int64, error)
	roomBig func(size int64) error // asked before a big file is made
}

const flushAt = 4 << 20

// limits by segment size, so that small disks and tests work the same way.
func (w *logWriter) inlineMax() int { return int(min(64<<10, w.segSize/16)) }
func (w *logWriter) opsMax() int    { return int(min(4<<20, w.segSize/4)) }
func (w *logWriter) bigMin() int    { return int(min(1<<20, w.segSize/4)) }

// mark is a state to roll back to.
type mark struct {
	cur     *segment
	ended   bool
	off     int64
	lsn     uint64
	created int
	big     uint64
}

func (w *logWriter) mark() mark {
	return mark{w.cur, w.ended, w.off, w.lsn, len(w.created), w.nextBig}
}

// secure writes what a failed write may have lost of the frames before m: units of the same batch that are to stay.
// rollback cuts off the rest. Its error leaves everything as it was.
func (w *logWriter) secure(m mark) error {
	written := w.off - int64(len(w.buf))
	if !w.torn || w.cur != m.cur || written >= m.off {
		return nil
	}
	before := w.buf[:m.off-written]
	if _, err := w.cur.f.WriteAt(before, written); err != nil {
		return err
	}
	w.written += uint64(len(before))
	w.buf = w.buf[:copy(w.buf, w.buf[len(before):])]
	return nil
}

// rollback takes back every frame since m, as if they had never been. When a write has failed, secure comes first.
func (w *logWriter) rollback(m mark) error {
	var errs []error
	invariants.True(!w.torn || w.cur != m.cur || w.off-int64(len(w.buf)) >= m.off, "a rollback would lose units before it")
	if len(w.created) > m.created {
		w.last = w.created[m.created].no - 1
	}
	for _, s := range w.created[m.created:] {
		w.dirty = slices.DeleteFunc(w.dirty, func(d *segment) bool { return d == s })
		errs = append(errs, w.spare(s))
	}
	if len(w.created) > m.created {
		// A crash must not bring the segments back with what was refused in them.
		errs = append(errs, w.files.fs.SyncDir(w.files.dir))
	}
	written := w.off - int64(len(w.buf)) // up to here cur is in the file
	switch {
	case w.cur == m.cur && written <= m.off && !w.torn:
		w.buf = w.buf[:m.off-written]
		w.ended = m.ended
	case m.cur != nil && !m.ended:
		// A part of it is in the file. It is gone from the disk before anything is written there again.
		w.buf, w.ended = w.buf[:0], false
		errs = append(errs, m.cur.blankFrom(m.off), m.cur.f.Sync())
	default:
		w.buf, w.ended = w.buf[:0], m.ended
	}
	w.torn = false
	w.created = w.created[:m.created]
	w.cur, w.off, w.lsn = m.cur, m.off, m.lsn
	for id := m.big; id < w.nextBig; id++ {
		_ = w.files.removeBig(id) // what is left nobody names; the next start sweeps it
	}
	return errors.Join(errs...)
}

func (w *logWriter) soil(s *segment) {
	if !slices.Contains(w.dirty, s) {
		w.dirty = append(w.dirty, s)
	}
}

// place makes sure that a frame with n bytes of payload fits at cur/off.
func (w *logWriter) place(n int) error {
	size := frameSize(n)
	if w.cur != nil && !w.ended {
		if w.off+size <= w.cur.size {
			return nil
		}
		if ok, err := w.extend(size); ok || err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	full := max(w.segSize, size+segHeaderLen)
	if w.room != nil {
		var err error
		if full, err = w.room(full, size+segHeaderLen); err != nil {
			if w.reserve == nil {
				return err
			}
			full = max(size+segHeaderLen, min(w.segSize, minSegmentSize)) // what is left is for the checkpoint
		}
	}
	s, err := w.files.create(w.last+1, full, w.lsn, w.synced)
	if err != nil && isFull(err) && w.reserve != nil {
		var kept *segment
		if kept, err = w.fromReserve(size+segHeaderLen, err); err == nil {
			s = kept
		}
	}
	if err != nil {
		return err
	}
	w.last = s.no
	w.created = append(w.created, s)
	w.cur, w.off, w.ended = s, segHeaderLen, false
	w.soil(s)
	return nil
}

// fromReserve makes the next segment from the reserve; without one the error is the one that there was.
func (w *logWriter) fromReserve(least int64, was error) (*segment, error) {
	s, err := w.reserve(w.last+1, least, w.lsn, w.synced)
	if err != nil || s == nil {
		return nil, cmp.Or(err, was)
	}
	return s, w.files.fs.SyncDir(w.files.dir)
}

// extend gives a segment back the room that a clean end or a recovery took from it. ok is false when it has its full
// size, or when there is no room on the disk.
func (w *logWriter) extend(size int64) (ok bool, err error) {
	s := w.cur
	if s.size >= w.segSize || w.off+size > w.segSize {
		return false, nil
	}
	if w.room != nil {
		if n, err := w.room(w.segSize, w.segSize); err != nil || n < w.segSize {
			return false, nil // place opens a segment as small as the disk allows, or says why not
		}
	}
	if err := s.f.Allocate(s.size, w.segSize-s.size); err != nil {
		if !isFull(err) {
			return false, err
		}
		w.ended = true
		return false, s.f.Truncate(s.size)
	}
	s.size = w.segSize
	w.soil(s)
	return true, nil
}

// frame appends a frame and returns where its payload lies.
func (w *logWriter) frame(kind frameKind, payload []byte) (seg uint32, base uint64, err error) {
	if err := w.place(len(payload)); err != nil {
		return 0, 0, err
	}
	w.buf = appendFrame(w.buf, frame{lsn: w.lsn, synced: w.synced, kind: kind, payload: payload})
	base = uint64(w.off + frameHeaderLen)
	w.off += frameSize(len(payload))
	w.lsn++
	w.soil(w.cur)
	if len(w.buf) >= flushAt {
		err = w.flush()
	}
	return w.cur.no, base, err
}

func (w *logWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if _, err := w.cur.f.WriteAt(w.buf, w.off-int64(len(w.buf))); err != nil {
		w.torn = true
		return err
	}
	w.written += uint64(len(w.buf))
	w.buf = w.buf[:0]
	if cap(w.buf) > 2*flushAt {
		w.buf = nil
	}
	return nil
}

// sync makes every frame durable.
func (w *logWriter) sync() error {
	n := len(w.buf)
	if err := w.flush(); err != nil {
		return err
	}
	w.fillAhead(n)
	for _, s := range w.dirty {
		if err := s.f.Sync(); err != nil {
			return err
		}
	}
	clear(w.dirty)
	clear(w.created)
	w.dirty, w.created = w.dirty[:0], w.created[:0]
	invariants.True(w.synced < w.lsn, "synced LSN %d, next LSN %d", w.synced, w.lsn)
	w.synced = w.lsn - 1
	return nil
}

// unitEncoder writes one unit.
type unitEncoder struct {
	w       *logWriter
	unit    uint64 // LSN of the first part, 0 = no parts
	parts   uint32
	out     []logOp
	payload []byte
	count   uint32
	firstOp int          // in out, of the payload
	large   map[span]ref // values in parts and big files, once for each slice
	same    map[span]uint32
	bigs    bool
}

// span is the identity of a slice: the same body put on several queues is stored once.
type span struct {
	first *byte
	n     int
}

func spanOf(b []byte) span { return span{&b[0], len(b)} }

// unit writes the persistent intents of t. The refs of the result are valid once sync returned nil.
func (w *logWriter) unit(t *Tx) ([]logOp, error) {
	e := &w.encoder
	*e = unitEncoder{w: w, out: make([]logOp, 0, len(t.ops)), payload: e.payload, same: e.same}
	e.reset()
	defer e.release()
	for i := range t.ops {
		o := &t.ops[i]
		if !o.persistent {
			continue
		}
		for _, b := range o.values() {
			if err := e.storeLarge(b); err != nil {
				return nil, err
			}
		}
	}
	for i := range t.ops {
		if o := &t.ops[i]; o.persistent {
			if err := e.op(o); err != nil {
				return nil, err
			}
		}
	}
	if e.bigs {
		if err := w.files.fs.SyncDir(w.files.big); err != nil {
			return nil, err
		}
	}
	return e.out, e.emit(kindTx)
}

func (e *unitEncoder) reset() {
	var head [txHeaderLen]byte
	e.payload = append(e.payload[:0], head[:]...)
	clear(e.same)
	e.count, e.firstOp = 0, len(e.out)
}

// payloadKept is the largest payload whose memory is used again.
const payloadKept = 64 << 10

// release lets go of what the unit does not need any more; small memory is kept for the next.
func (e *unitEncoder) release() {
	clear(e.same)
	e.out, e.large = nil, nil
	if cap(e.payload) > payloadKept {
		e.payload, e.same = nil, nil
	}
}

func (e *unitEncoder) isLarge(b []byte) bool { return len(b) > e.w.inlineMax() }

// values are the parts of an intent that may lie outside its frame; a table's key may not.
func (o *op) values() [][]byte {
	if o.kind == opSet || o.kind == opUnset {
		return [][]byte{o.b}
	}
	return [][]byte{o.a, o.b}
}

// storeLarge writes a value that does not go inline.
func (e *unitEncoder) storeLarge(b []byte) error {
	if !e.isLarge(b) {
		return nil
	}
	if e.large == nil {
		e.large = map[span]ref{}
	}
	if _, ok := e.large[spanOf(b)]; ok {
		return nil
	}
	r := ref{n: uint32(len(b)), crc: crc32.Checksum(b, castagnoli)}
	if len(b) > e.w.bigMin() {
		if e.w.roomBig != nil && e.w.reserve == nil {
			if err := e.w.roomBig(int64(len(b))); err != nil {
				return err
			}
		}
		r.seg, r.off = segBig, e.w.nextBig
		e.w.nextBig++
		if err := e.w.files.writeBig(r.off, b); err != nil {
			return err
		}
		e.w.written += uint64(len(b))
		e.w.bigs += uint64(len(b))
		e.bigs = true
	} else {
		lsn := e.partLSN()
		p := append(le.AppendUint64(make([]byte, 0, 8+len(b)), lsn), b...)
		seg, base, err := e.w.frame(kindBody, p)
		if err != nil {
			return err
		}
		r.seg, r.off = seg, base+8
	}
	e.large[spanOf(b)] = r
	return nil
}

// partLSN counts a part and returns the unit's number.
func (e *unitEncoder) partLSN() uint64 {
	if e.unit == 0 {
		e.unit = e.w.lsn
	}
	e.parts++
	return e.unit
}

func (e *unitEncoder) op(o *op) error {
	need := opHeaderLen + 2*valueMaxHead + min(len(o.a), maxKey) + min(len(o.b), e.w.inlineMax())
	if len(e.payload)+need > e.w.opsMax() && e.count > 0 {
		if err := e.emit(kindOps); err != nil {
			return err
		}
	}
	e.payload = append(e.payload, byte(o.kind), byte(o.table), 0, 0)
	e.payload = le.AppendUint32(e.payload, uint32(o.q))
	e.payload = le.AppendUint64(e.payload, uint64(o.s))
	l := logOp{kind: o.kind, table: o.table, q: o.q, s: o.s}
	if o.kind == opSet || o.kind == opUnset {
		l.key = o.a
		l.a = e.value(o.a, false)
	} else {
		l.a = e.value(o.a, e.isLarge(o.a))
	}
	l.b = e.value(o.b, e.isLarge(o.b))
	e.out = append(e.out, l)
	e.count++
	return nil
}

// value appends b. The ref of an inline value is relative to the payload until emit.
func (e *unitEncoder) value(b []byte, large bool) ref {
	r := ref{n: uint32(len(b)), crc: crc32.Checksum(b, castagnoli)}
	head := func(tag byte) {
		e.payload = append(e.payload, tag)
		e.payload = le.AppendUint32(e.payload, r.n)
		e.payload = le.AppendUint32(e.payload, r.crc)
	}
	if large {
		r = e.large[spanOf(b)]
		if r.seg == segBig {
			head(tagBig)
		} else {
			head(tagPart)
			e.payload = le.AppendUint32(e.payload, r.seg)
		}
		e.payload = le.AppendUint64(e.payload, r.off)
		return r
	}
	if len(b) >= 64 {
		if off, ok := e.same[spanOf(b)]; ok {
			head(tagSame)
			e.payload = le.AppendUint32(e.payload, off)
			r.off = uint64(off)
			return r
		}
	}
	head(tagInline)
	r.off = uint64(len(e.payload))
	if len(b) >= 64 {
		if e.same == nil {
			e.same = map[span]uint32{}
		}
		e.same[spanOf(b)] = uint32(len(e.payload))
	}
	e.payload = append(e.payload, b...)
	return r
}

// emit writes the payload as a frame and makes its refs absolute.
func (e *unitEncoder) emit(kind frameKind) error {
	if kind == kindOps {
		e.partLSN()
	}
	le.PutUint64(e.payload, e.unit)
	le.PutUint32(e.payload[8:], e.parts)
	le.PutUint32(e.payload[12:], e.count)
	seg, base, err := e.w.frame(kind, e.payload)
	if err != nil {
		return err
	}
	for i := e.firstOp; i < len(e.out); i++ {
		for _, r := range []*ref{&e.out[i].a, &e.out[i].b} {
			if r.seg == 0 {
				r.seg, r.off = seg, base+r.off
			}
		}
	}
	e.reset()
	return nil
}
