package qmgr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/store"
)

// The record of a prepared branch in store.TableIndoubt (docs/format/state.md). The key is the XID: format (big-endian),
// length of the global part, global part, branch part. The value is version, state, transaction number, when it was begun
// and prepared, who worked on it, and what: puts, gets, retained publications.

const xaRecordVersion = 1

var errXARecord = errors.New("record of a prepared unit of work is not readable")

func (x XID) key() []byte {
	k := binary.BigEndian.AppendUint32(nil, uint32(x.Format))
	k = append(k, byte(len(x.Global)))
	k = append(k, x.Global...)
	return append(k, x.Branch...)
}

func xidOf(k []byte) (x XID, err error) {
	if len(k) < 5 || len(k)-5 < int(k[4]) {
		return x, errXARecord
	}
	n := 5 + int(k[4])
	x = XID{Format: int32(binary.BigEndian.Uint32(k)), Global: string(k[5:n]), Branch: string(k[n:])}
	if !x.valid() {
		return x, errXARecord
	}
	return x, nil
}

func (b *branch) encode(state branchState) []byte {
	v := []byte{xaRecordVersion, byte(state)}
	v = binary.AppendUvarint(v, b.num)
	v = binary.AppendVarint(v, b.born.UnixNano())
	v = binary.AppendVarint(v, b.since.UnixNano())
	v = append(v, b.connID[:]...)
	v = appendBytes(appendBytes(v, b.user), b.appl)
	w := b.prepared
	if state != branchPrepared || w == nil {
		return append(v, 0, 0, 0)
	}
	v = binary.AppendUvarint(v, uint64(len(w.puts)))
	for _, p := range w.puts {
		v = appendRef(v, p.q.qid, p.q.seqAt(p.slot))
	}
	v = binary.AppendUvarint(v, uint64(len(w.gets)))
	for i := range w.gets {
		v = appendRef(v, w.gets[i].q.qid, w.gets[i].seq)
	}
	v = binary.AppendUvarint(v, uint64(len(w.retained)))
	for i := range w.retained {
		op := &w.retained[i]
		kind := byte(0)
		if op.head != nil {
			kind |= 1
		}
		if op.pers {
			kind |= 2
		}
		p := op.pub
		if p != nil {
			kind |= 4
			if p.useDLQ {
				kind |= 8
			}
		}
		v = appendBytes(append(v, kind), op.topic)
		if p != nil { // for subscriptions that are made before it is committed
			v = binary.AppendUvarint(v, op.serial)
			v = binary.AppendUvarint(append(v, p.level), uint64(uint32(p.opts)))
		}
		v = binary.AppendVarint(v, op.expires)
		v = appendBytes(appendBytes(v, string(op.head)), string(op.body))
	}
	return v
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendRef(b []byte, q store.QID, s store.Seq) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(q)), uint64(s))
}

// msgRef names a message in the store.
type msgRef struct {
	q store.QID
	s store.Seq
}

// xaReader reads a record; after the first fault everything is zero.
type xaReader struct {
	b   []byte
	bad bool
}

func (r *xaReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	return v * r.skip(n)
}

func (r *xaReader) varint() int64 {
	v, n := binary.Varint(r.b)
	return v * int64(r.skip(n))
}

// skip goes n bytes on and is 1, or 0 when there was no number.
func (r *xaReader) skip(n int) uint64 {
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return 1
}

func (r *xaReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *xaReader) text() string { return string(r.take(r.uvarint())) }

func (r *xaReader) refs() (out []msgRef) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		out = append(out, msgRef{store.QID(r.uvarint()), store.Seq(r.uvarint())})
	}
	return out
}

func (r *xaReader) retained() (out []retainedOp) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		var kind byte
		if k := r.take(1); len(k) == 1 {
			kind = k[0]
		}
		op := retainedOp{pers: kind&2 != 0, topic: r.text()}
		if kind&4 != 0 {
			p := &publication{topic: op.topic, useDLQ: kind&8 != 0}
			op.serial, op.again, op.pub = r.uvarint(), true, p
			if level := r.take(1); len(level) == 1 {
				p.level = level[0]
			}
			p.opts = int32(uint32(r.uvarint()))
		}
		op.expires = r.varint()
		head, body := r.text(), r.text()
		if kind&1 != 0 {
			op.head, op.body = []byte(head), []byte(body)
		}
		out = append(out, op)
	}
	return out
}

// decodeBranch reads a record; the messages that it names have to be found yet.
func decodeBranch(k, v []byte) (b *branch, puts, gets []msgRef, err error) {
	b = &branch{}
	if b.xid, err = xidOf(k); err != nil {
		return nil, nil, nil, err
	}
	r := &xaReader{b: v}
	h := r.take(2)
	if len(h) < 2 || h[0] != xaRecordVersion || branchState(h[1]) < branchPrepared || branchState(h[1]) > branchRolledBack {
		return nil, nil, nil, errXARecord
	}
	b.state, b.num = branchState(h[1]), r.uvarint()
	b.born, b.since = time.Unix(0, r.varint()), time.Unix(0, r.varint())
	copy(b.connID[:], r.take(uint64(len(b.connID))))
	b.user, b.appl = r.text(), r.text()
	puts, gets = r.refs(), r.refs()
	retained := r.retained()
	if b.state == branchPrepared {
		b.prepared = &preparedWork{retained: retained, recovered: true}
	} else if len(puts)+len(gets) > 0 {
		return nil, nil, nil, errXARecord
	}
	if r.bad || len(r.b) > 0 {
		return nil, nil, nil, errXARecord
	}
	return b, puts, gets, nil
}

// revive completes the retained publications of a branch that was prepared when the queue manager ended: subscriptions
// that are made before they are committed get copies of them.
func (m *Manager) revive(b *branch) error {
	if b.prepared == nil {
		return nil
	}
	for i := range b.prepared.retained {
		op := &b.prepared.retained[i]
		p := op.pub
		if p == nil {
			continue
		}
		head, err := decodeHead(op.head)
		if err != nil {
			return fmt.Errorf("%w: retained publication on %q: %w", errXARecord, cut(op.topic, 100), err)
		}
		p.m, p.head, p.body = m, head, op.body
		op.seen = m.retain.born.Load()
		if m.topics.serial.Load() < op.serial { // the newest ones may have gone
			m.topics.serial.Store(op.serial)
		}
	}
	return nil
}

// awaited is a message that a prepared branch has put or got, and that loading the queues will find.
type awaited struct {
	b   *branch
	got bool
}

// loadIndoubt reads the branches that were prepared when the queue manager ended.
func (m *Manager) loadIndoubt() (map[msgRef]awaited, error) {
	m.xa.branches, m.xa.byUser = map[XID]*branch{}, map[string]int{}
	var wanted map[msgRef]awaited
	err := m.opt.Store.Range(store.TableIndoubt, nil, nil, func(k, v []byte) error {
		b, puts, gets, err := decodeBranch(k, v)
		if err != nil {
			return fmt.Errorf("%w: %x", err, k)
		}
		if err := m.revive(b); err != nil {
			return fmt.Errorf("%w: %x", err, k)
		}
		m.xa.keep(b)
		m.xa.last = max(m.xa.last, b.num)
		if wanted == nil {
			wanted = map[msgRef]awaited{}
		}
		for _, list := range [...]struct {
			refs []msgRef
			got  bool
		}{{puts, false}, {gets, true}} {
			for _, r := range list.refs {
				wanted[r] = awaited{b, list.got}
				// A message that was not persistent may be gone. Its number must not be given to another one while the
				// record names it.
				if o := m.objectByQID(r.q); o != nil && o.Queue != nil {
					o.Queue.nextSeq = max(o.Queue.nextSeq, r.s+1)
				}
			}
		}
		return nil
	})
	return wanted, err
}

// hide gives a message that was loaded back to the prepared branch that has put or got it.
func (a awaited) hide(q *Queue, slot uint32, l *store.Live, backout int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, w := q.slab.at(slot), a.b.prepared
	q.uncom++
	if !a.got {
		e.flags |= fUncommitted
		w.puts = append(w.puts, putRef{q, slot})
		return
	}
	e.flags |= fGot
	q.lists[e.prio].n--
	q.got++
	w.gets = append(w.gets, getRef{q: q, slot: slot, seq: l.S, pers: l.Persistent, head: append([]byte(nil), l.Head...),
		back: backout})
}

// tellIndoubt writes to the log what waits for its coordinator.
func (m *Manager) tellIndoubt() {
	n := 0
	for _, b := range m.xa.waiting() {
		if b.state == branchPrepared {
			n++
		}
	}
	if n > 0 {
		m.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ7487W").Str("qmgr", m.opt.Name).Int("units", n).
			Msgf("%d units of work are prepared and wait for their transaction manager, which commits or rolls them back when it "+
				"connects. 'qmgrd trn list %s' shows them, 'qmgrd trn resolve' settles one without it", n, m.opt.Name)
	}
}
