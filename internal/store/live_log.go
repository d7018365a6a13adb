package store

import (
	"fmt"
	"hash/crc32"
)

// liveView shows the delta to walkLive.
type liveView struct {
	s    *logStore
	q    QID
	seqs []Seq
	out  []Live

	// What the delta says of messages in the state file: nothing of those outside of these numbers.
	asked          bool
	lowest, beyond Seq // beyond 0: of none at all

	// A piece of a segment: heads lie close to each other.
	buf []byte
	seg uint32
	off uint64
}

const livePiece = 256 << 10

func (v *liveView) queues() []QID { return v.s.delta.qids() }

// ask turns to another queue.
func (v *liveView) ask(q QID) {
	if v.asked && v.q == q {
		return
	}
	v.asked, v.q, v.seqs = true, q, v.s.delta.seqs(q)
	v.lowest, v.beyond = v.s.delta.touched(q)
}

func (v *liveView) from(q QID, _ Seq) ([]Live, error) {
	v.ask(q)
	v.out = v.out[:0]
	for len(v.seqs) > 0 && len(v.out) < chunkKeys {
		sq := v.seqs[0]
		where, e, _ := v.s.delta.find(q, sq)
		if where == inLog && len(v.out) > 0 && !v.holds(e.head) {
			break // another piece takes the place of the one that out points into
		}
		v.seqs = v.seqs[1:]
		if where != inLog {
			continue
		}
		head, err := v.head(e.head)
		if err != nil {
			return nil, err
		}
		v.out = append(v.out, Live{Q: q, S: sq, L: e.body.loc(), Head: head, BodyLen: e.body.n, Persistent: true})
	}
	return v.out, nil
}

func (v *liveView) holds(r ref) bool {
	return r.seg == v.seg && r.off >= v.off && r.off+uint64(r.n) <= v.off+uint64(len(v.buf))
}

// head returns a head, which is valid until one is asked for that holds does not know.
func (v *liveView) head(r ref) ([]byte, error) {
	if r.n == 0 || r.seg == segBig || r.n > livePiece {
		return v.s.files.read(r)
	}
	if !v.holds(r) {
		var err error
		if v.buf, err = v.s.files.piece(v.buf, r, livePiece); err != nil {
			return nil, err
		}
		v.seg, v.off = r.seg, r.off
	}
	at := r.off - v.off
	b := v.buf[at : at+uint64(r.n) : at+uint64(r.n)]
	if crc32.Checksum(b, castagnoli) != r.crc {
		return nil, corrupt(v.s.files.segName(r.seg), fmt.Sprintf("offset %d", r.off), "checksum of a stored value does not match")
	}
	return b, nil
}

func (v *liveView) hidden(q QID, sq Seq) (bool, []byte, error) {
	if v.ask(q); sq < v.lowest || sq >= v.beyond {
		return false, nil, nil
	}
	where, _, head := v.s.delta.find(q, sq)
	if where != inState || head == nil {
		return where != inState, nil, nil
	}
	b, err := v.s.files.read(*head)
	if b == nil {
		b = []byte{}
	}
	return false, b, err
}

// touched bounds the numbers of the messages of which the delta knows something: lowest is the first of them, and beyond is
// more than the last.
func (d *delta) touched(q QID) (lowest, beyond Seq) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	lowest = ^Seq(0)
	note := func(s Seq) { lowest, beyond = min(lowest, s), max(beyond, s+1) }
	for _, g := range d.gens() {
		gq := g.queues[q]
		if gq == nil {
			continue
		}
		if gq.dropped {
			return 0, ^Seq(0)
		}
		for s := range gq.msgs {
			note(s)
		}
		for s := range gq.removed {
			note(s)
		}
		for s := range gq.heads {
			note(s)
		}
	}
	return lowest, beyond
}

// piece reads up to n bytes of r's segment from where r lies on, at least all of r. buf is used again.
func (l *files) piece(buf []byte, r ref, n int64) ([]byte, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.segs[r.seg]
	if s == nil {
		return nil, errMoved
	}
	n = max(min(n, s.size-int64(r.off)), int64(r.n))
	if int64(cap(buf)) < n {
		buf = make([]byte, max(n, livePiece))
	}
	buf = buf[:n]
	return buf, readErr(s.name, readFull(s.f, buf, int64(r.off)))
}
