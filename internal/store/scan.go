package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// Reading the log: from where the last checkpoint says, to its end, and the verdict on how it ends.

// position is a place between two frames.
type position struct {
	lsn uint64 // of the next frame
	seg uint32 // 0 = before the first segment
	off int64
}

// scanner reads frames in order.
type scanner struct {
	files *files
	flag  int // to open segments with
	// visit takes each good frame; base is the offset of its payload. payload is valid during the call.
	visit func(f frame, seg *segment, base uint64) error

	vouched uint64 // a log that ends before this LSN is not whole

	pos  position // behind the last good frame
	segs []*segment
	// torn describes what lies behind pos when it is not nothing; "" = a clean end.
	torn string
	// startLost: the place where the log begins is missing or damaged.
	startLost bool

	first uint32 // the segments before are not needed any more
}

// run reads on from start. It returns an ErrCorrupt when a frame that was durable is damaged, with pos before it.
func (sc *scanner) run(start position) error {
	sc.pos = start
	if start.lsn == 0 {
		sc.pos.lsn = 1
	}
	no := max(start.seg, 1)
	if sc.first = no; start.off == 0 {
		sc.pos.seg = no - 1 // the segment is the next one, and need not be there
		start.seg = 0
	}
	for ; ; no++ {
		s, err := sc.files.openSeg(no, sc.flag)
		if errors.Is(err, fs.ErrNotExist) {
			if no == start.seg {
				sc.startLost = true
				return corrupt(sc.files.segName(no), "file", "missing, the state file says that the log goes on here")
			}
			break
		}
		if err != nil {
			return fmt.Errorf("store: open log: %w", err)
		}
		sc.files.add(s)
		sc.segs = append(sc.segs, s)
		more, err := sc.segment(s, start)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return sc.judge()
}

// segment reads one segment. more is false when its header does not continue the log.
func (sc *scanner) segment(s *segment, start position) (more bool, err error) {
	w := &window{f: s.f, size: s.size}
	h, err := w.bytes(0, segHeaderLen)
	if err != nil {
		return false, readErr(s.name, err)
	}
	first, _, ok := parseSegHeader(h, s.no)
	off := int64(segHeaderLen)
	if s.no == start.seg {
		ok, off = ok && first <= start.lsn && start.off >= segHeaderLen, start.off
		if !ok {
			sc.pos.seg, sc.startLost = s.no, true
			return false, corrupt(s.name, "offset 0", "the segment header is damaged, and the state file says that "+
				"the log goes on in this segment")
		}
	} else if !ok || first != sc.pos.lsn {
		return false, nil
	}
	sc.pos.seg, sc.pos.off = s.no, off
	for {
		f, n, ok, err := readFrame(w, sc.pos.off)
		if err != nil {
			return false, readErr(s.name, err)
		}
		if !ok || f.lsn != sc.pos.lsn {
			return true, nil // the end of this segment; whether of the log, the next header and judge say
		}
		if err := sc.visit(f, s, uint64(sc.pos.off+frameHeaderLen)); err != nil {
			return false, corrupt(s.name, fmt.Sprintf("offset %d", sc.pos.off), err.Error())
		}
		sc.pos.off += n
		sc.pos.lsn++
	}
}

// readFrame returns the frame at off and its length in the file; ok is false when there is no good one.
func readFrame(w *window, off int64) (f frame, n int64, ok bool, err error) {
	h, err := w.bytes(off, frameHeaderLen)
	if err != nil || len(h) < frameHeaderLen {
		return frame{}, 0, false, err
	}
	f, size, crc, ok := parseHeader(h)
	if !ok {
		return frame{}, 0, false, nil
	}
	all, err := w.bytes(off, frameHeaderLen+int64(size))
	if err != nil || int64(len(all)) < frameHeaderLen+int64(size) {
		return frame{}, 0, false, err
	}
	f.payload = all[frameHeaderLen:]
	if frameCRC(all[:frameHeaderLen], f.payload) != crc {
		return frame{}, 0, false, nil
	}
	return f, frameSize(size), true, nil
}

// judge looks at what lies behind pos. Nothing, or what a power cut leaves of work that was never acknowledged, is the
// end of the log. A later frame that says "pos was durable" makes it corruption.
func (sc *scanner) judge() error {
	nos, err := sc.late()
	if err != nil {
		return err
	}
	for _, no := range nos {
		if err := sc.inLate(no, sc.judgeSegment); err != nil {
			return err
		}
	}
	if sc.vouched >= sc.pos.lsn {
		return corrupt(sc.files.segName(max(sc.pos.seg, 1)), fmt.Sprintf("offset %d", sc.pos.off), fmt.Sprintf("frame %d is damaged "+
			"or missing; %s says that all up to %d was on disk", sc.pos.lsn, sc.files.durableName(), sc.vouched))
	}
	return nil
}

// late are the numbers of the segment with pos and of those behind it.
func (sc *scanner) late() ([]uint32, error) {
	nos, err := sc.files.numbers(sc.files.dir, segSuffix)
	var out []uint32
	for _, n := range nos {
		if n <= 1<<32-2 && uint32(n) >= max(sc.pos.seg, sc.first) {
			out = append(out, uint32(n))
		}
	}
	return out, err
}

// inLate calls fn with one of them, open for the call.
func (sc *scanner) inLate(no uint32, fn func(*segment) error) error {
	s, opened, err := sc.openLate(no)
	if err != nil {
		return err
	}
	if opened {
		defer s.f.Close()
	}
	return fn(s)
}

// givenUp says how much lies behind pos, in words: what of it was on disk, as far as that is known, and the bytes of the files.
func (sc *scanner) givenUp() string {
	var bytes int64
	nos, _ := sc.late() // what cannot be read is not counted
	for _, no := range nos {
		_ = sc.inLate(no, func(s *segment) error {
			if bytes += s.size; no == sc.pos.seg {
				bytes -= min(sc.pos.off, s.size)
			}
			return nil
		})
	}
	text := fmt.Sprintf("up to %d bytes of the log", bytes)
	if sc.vouched >= sc.pos.lsn {
		text = fmt.Sprintf("%d frames or more, %s", sc.vouched-sc.pos.lsn+1, text)
	}
	return text
}

func (sc *scanner) openLate(no uint32) (s *segment, opened bool, err error) {
	for _, s := range sc.segs {
		if s.no == no {
			return s, false, nil
		}
	}
	if s, err = sc.files.openSeg(no, os.O_RDONLY); err != nil {
		return nil, false, fmt.Errorf("store: open log: %w", err)
	}
	return s, true, nil
}

func (sc *scanner) judgeSegment(s *segment) error {
	w := &window{f: s.f, size: s.size}
	off := int64(0)
	if s.no == sc.pos.seg {
		off = sc.pos.off
	} else {
		h, err := w.bytes(0, segHeaderLen)
		if err != nil {
			return readErr(s.name, err)
		}
		if _, synced, ok := parseSegHeader(h, s.no); ok && synced >= sc.pos.lsn {
			return sc.lost(s, 0, synced)
		}
		sc.torn = fmt.Sprintf("segment %s does not continue the log", s.name)
	}
	for ; off < s.size; off += 8 {
		if block, err := w.bytes(off, int64(len(zeros))); err != nil {
			return readErr(s.name, err)
		} else if len(block) == len(zeros) && bytes.Equal(block, zeros[:]) {
			off += int64(len(zeros)) - 8 // room that was reserved and never written
			continue
		}
		h, err := w.bytes(off, frameHeaderLen)
		if err != nil {
			return readErr(s.name, err)
		}
		if isZero(h) {
			continue
		}
		if sc.torn == "" {
			sc.torn = fmt.Sprintf("%s: offset %d: an unfinished write", s.name, off)
		}
		if len(h) < frameHeaderLen {
			return nil
		}
		if f, _, _, ok := parseHeader(h); !ok || f.synced < sc.pos.lsn {
			continue
		}
		f, n, ok, err := readFrame(w, off)
		if err != nil {
			return readErr(s.name, err)
		}
		if ok && n > 0 {
			return sc.lost(s, off, f.synced)
		}
	}
	return nil
}

// lost is the verdict of corruption, at pos.
func (sc *scanner) lost(s *segment, off int64, synced uint64) error {
	name, at := sc.files.segName(max(sc.pos.seg, 1)), sc.pos.off
	return corrupt(name, fmt.Sprintf("offset %d", at), fmt.Sprintf("frame %d is damaged or missing; %s at offset %d "+
		"shows that all up to %d was on disk", sc.pos.lsn, s.name, off, synced))
}

var zeros [4096]byte

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// window reads a file in large pieces.
type window struct {
	f    vfs.File
	size int64
	off  int64
	buf  []byte
}

const windowSize = 1 << 20

// bytes returns up to n bytes at off, fewer at the end of the file. They are valid until the next call.
func (w *window) bytes(off, n int64) ([]byte, error) {
	n = min(n, max(w.size-off, 0))
	if off < w.off || off+n > w.off+int64(len(w.buf)) {
		want := min(max(n, windowSize), max(w.size-off, 0))
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		w.buf, w.off = w.buf[:want], off
		if err := readFull(w.f, w.buf, off); err != nil {
			return nil, err
		}
	}
	at := off - w.off
	return w.buf[at : at+n : at+n], nil
}

// replayer collects units from frames.
type replayer struct {
	apply func([]logOp)

	// The parts of the unit that is being read. Units follow one another, so there is one at most.
	unit   uint64
	parts  uint32
	ops    []logOp
	bodies map[ref]bool
	open   bool

	scratch []logOp // used again for each frame
}

func (r *replayer) visit(f frame, s *segment, base uint64) error {
	switch f.kind {
	case kindMark, kindStop:
		return nil
	case kindBody:
		if len(f.payload) < 8 {
			return errors.New("body frame without a unit")
		}
		r.begin(le.Uint64(f.payload))
		r.bodies[ref{seg: s.no, off: base + 8, n: uint32(len(f.payload) - 8)}] = true
		r.parts++
		return nil
	}
	if len(f.payload) < txHeaderLen {
		return errors.New("unit frame without a header")
	}
	unit, parts, count := le.Uint64(f.payload), le.Uint32(f.payload[8:]), le.Uint32(f.payload[12:])
	ops, err := decodeOps(r.scratch[:0], f.payload, txHeaderLen, int(count), s.no, base)
	if err != nil {
		return err
	}
	r.scratch = ops
	if f.kind == kindOps {
		r.begin(unit)
		r.parts++
		for i := range ops { // the payload is gone when the unit is complete
			ops[i].key = append([]byte(nil), ops[i].key...)
		}
		r.ops = append(r.ops, ops...)
		return nil
	}
	if parts == 0 {
		r.clear()
	} else if !r.open || r.unit != unit || r.parts != parts {
		return fmt.Errorf("unit %d has %d parts, %d of them are there", unit, parts, r.parts)
	}
	if len(r.ops) > 0 {
		ops = append(r.ops, ops...)
	}
	for i := range ops {
		if err := r.known(&ops[i]); err != nil {
			return err
		}
	}
	r.apply(ops)
	r.clear()
	return nil
}

func (r *replayer) begin(unit uint64) {
	if !r.open || r.unit != unit {
		r.clear()
		r.unit, r.open, r.bodies = unit, true, map[ref]bool{}
	}
}

func (r *replayer) clear() { *r = replayer{apply: r.apply, scratch: r.scratch} }

// known checks that a value outside the frame is one of the unit's body frames.
func (r *replayer) known(o *logOp) error {
	for _, v := range []*ref{&o.a, &o.b} {
		if v.n == 0 || v.seg == segBig || !v.outside {
			continue
		}
		if !r.bodies[ref{seg: v.seg, off: v.off, n: v.n}] {
			return fmt.Errorf("a value of queue %d message %d lies at offset %d of segment %d, where no part of the "+
				"unit is", o.q, o.s, v.off, v.seg)
		}
	}
	return nil
}
