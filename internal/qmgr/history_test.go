package qmgr

import (
	"fmt"
	"path/filepath"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// A random history of put, get, browse, commit, backout and restart on three queues, against queues made of slices.

type modelMsg struct {
	text    string
	cor     byte
	prio    int
	seq     int
	back    int32
	pers    bool
	putter  int // connection with the uncommitted put, -1: committed
	getter  int // connection with the uncommitted get, -1: there
	removed bool
}

type modelQueue struct {
	fifo, high bool
	msgs       []*modelMsg // in the order of delivery
}

const noConn = -1

func (q *modelQueue) add(m *modelMsg) {
	if q.fifo {
		m.prio = 0
	}
	q.msgs = append(q.msgs, m)
	sort.SliceStable(q.msgs, func(i, j int) bool { return q.msgs[i].prio > q.msgs[j].prio })
}

func (m *modelMsg) visible() bool { return !m.removed && m.putter == noConn && m.getter == noConn }

// next is the first visible message behind after (nil: the first) with that CorrelId (0: any).
func (q *modelQueue) next(after *modelMsg, cor byte) *modelMsg {
	for _, m := range q.msgs {
		behind := after == nil || m.prio < after.prio || m.prio == after.prio && m.seq > after.seq
		if m.visible() && behind && (cor == 0 || m.cor == cor) {
			return m
		}
	}
	return nil
}

func (q *modelQueue) depth() (n int) {
	for _, m := range q.msgs {
		if !m.removed && m.getter == noConn {
			n++
		}
	}
	return n
}

func (q *modelQueue) end(conn int, commit bool) {
	for _, m := range q.msgs {
		switch {
		case m.putter == conn && commit:
			m.putter = noConn
		case m.putter == conn:
			m.removed = true
		}
		switch {
		case m.getter == conn && commit:
			m.removed = true
		case m.getter == conn:
			m.getter = noConn
			m.back++
		}
	}
}

func (q *modelQueue) restart(mode store.StopMode) {
	for c := 0; c < 2; c++ {
		q.end(c, false)
	}
	for _, m := range q.msgs {
		if !m.pers && (!q.high || mode == store.Preempt) {
			m.removed = true
		}
	}
}

// history is the real thing beside the model.
type history struct {
	*rig
	rt      *rapid.T
	queues  []*modelQueue
	conns   []*Conn
	handles [][]Handle
	cursors [][]*modelMsg
	n       int
}

func (h *history) reopen() {
	h.conns, h.handles, h.cursors = []*Conn{h.c, h.connect()}, nil, nil
	for _, c := range h.conns {
		var hs []Handle
		for i := range h.queues {
			hs = append(hs, h.openQ(c, fmt.Sprint("Q", i), inOut))
		}
		h.handles = append(h.handles, hs)
		h.cursors = append(h.cursors, make([]*modelMsg, len(h.queues)))
	}
}

func (h *history) step() {
	rt := h.rt
	ci, qi := rapid.IntRange(0, 1).Draw(rt, "conn"), rapid.IntRange(0, len(h.queues)-1).Draw(rt, "queue")
	c, hd, q := h.conns[ci], h.handles[ci][qi], h.queues[qi]
	sync := rapid.Bool().Draw(rt, "sync")
	switch op := rapid.IntRange(0, 19).Draw(rt, "op"); {
	case op < 8:
		h.n++
		m := &modelMsg{text: fmt.Sprint(h.n), seq: h.n, cor: byte(rapid.IntRange(1, 3).Draw(rt, "cor")),
			prio: rapid.IntRange(0, 9).Draw(rt, "prio"), pers: rapid.Bool().Draw(rt, "pers"), putter: noConn, getter: noConn}
		opts := int32(0)
		if sync {
			opts, m.putter = mqi.MQPMO_SYNCPOINT, ci
		}
		h.put(c, hd, m.text, opts, func(md *mqi.MD) {
			md.Priority, md.CorrelID[0] = int32(m.prio), m.cor
			if m.pers {
				md.Persistence = mqi.MQPER_PERSISTENT
			}
		})
		q.add(m)
	case op < 13:
		cor := byte(rapid.IntRange(0, 3).Draw(rt, "cor"))
		want := q.next(nil, cor)
		opts := int32(0)
		if sync {
			opts = mqi.MQGMO_SYNCPOINT
		}
		h.expect(c, hd, opts, cor, want)
		if want != nil && sync {
			want.getter = ci
		} else if want != nil {
			want.removed = true
		}
	case op < 16:
		opts, after := int32(mqi.MQGMO_BROWSE_NEXT), h.cursors[ci][qi]
		if sync {
			opts, after = mqi.MQGMO_BROWSE_FIRST, nil
		}
		want := q.next(after, 0)
		h.expect(c, hd, opts, 0, want)
		if want != nil {
			h.cursors[ci][qi] = want
		}
	case op == 16:
		cur := h.cursors[ci][qi]
		s, _, err := tryGet(c, hd, mqi.MQGMO_MSG_UNDER_CURSOR)
		switch {
		case cur != nil && cur.visible():
			if err != nil || s != cur.text {
				rt.Fatalf("under cursor: %q, %v, want %s", s, err, cur.text)
			}
			cur.removed = true
		default:
			wantRC(rt, err, mqi.MQRC_NO_MSG_UNDER_CURSOR)
		}
	case op == 17:
		wantRC(rt, c.Commit(bg), 0)
		h.end(ci, true)
	case op == 18:
		wantRC(rt, c.Backout(bg), 0)
		h.end(ci, false)
	case h.dir != "" && rapid.IntRange(0, 1).Draw(rt, "restart") == 0:
		mode := store.StopMode(rapid.IntRange(0, 2).Draw(rt, "mode"))
		h.rig.restart(mode)
		for _, q := range h.queues {
			q.restart(mode)
		}
		h.reopen()
	}
	for i, q := range h.queues {
		if got := h.depth(fmt.Sprint("Q", i)); got != q.depth() {
			rt.Fatalf("depth of Q%d is %d, want %d", i, got, q.depth())
		}
		checkQueue(rt, h.m.lookup(ClassQueue, fmt.Sprint("Q", i)).Queue)
	}
}

func (h *history) end(conn int, commit bool) {
	for _, q := range h.queues {
		q.end(conn, commit)
	}
}

func (h *history) expect(c *Conn, hd Handle, opts int32, cor byte, want *modelMsg) {
	s, md, err := tryGet(c, hd, opts, func(md *mqi.MD, _ *mqi.GMO) { md.CorrelID[0] = cor })
	if want == nil {
		wantRC(h.rt, err, mqi.MQRC_NO_MSG_AVAILABLE)
		return
	}
	if err != nil || s != want.text || md.BackoutCount != want.back {
		h.rt.Fatalf("options %d: got %q (backout %d), %v, want %s (%d)", opts, s, md.BackoutCount, err, want.text, want.back)
	}
}

func runHistory(t *testing.T, rt *rapid.T, dir string, steps int) {
	r := startRig(t, dir)
	h := &history{rig: r, rt: rt, queues: []*modelQueue{{}, {fifo: true}, {high: true}}}
	r.define("QLOCAL", "Q0")
	r.define("QLOCAL", "Q1", "MSGDLVSQ", "FIFO")
	r.define("QLOCAL", "Q2", "NPMCLASS", "HIGH")
	h.reopen()
	if dir == "" && rapid.Bool().Draw(rt, "deep") { // deep enough for the indexes
		for i := 0; i < indexFrom+10; i++ {
			h.n++
			m := &modelMsg{text: fmt.Sprint(h.n), seq: h.n, cor: byte(i%3 + 1), prio: i % 10, putter: noConn, getter: noConn}
			for qi, q := range h.queues {
				h.put(h.c, h.handles[0][qi], m.text, 0, func(md *mqi.MD) { md.Priority, md.CorrelID[0] = int32(m.prio), m.cor })
				c := *m
				q.add(&c)
			}
		}
	}
	for i := 0; i < steps; i++ {
		h.step()
	}
	for qi, q := range h.queues { // what is left comes out in order
		for want := q.next(nil, 0); want != nil; want = q.next(nil, 0) {
			h.expect(h.conns[0], h.handles[0][qi], 0, 0, want)
			want.removed = true
		}
	}
	r.stop()
}

func TestHistoryMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { runHistory(t, rt, "", 300) })
}

func TestHistoryBolt(t *testing.T) {
	n := 0
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		if n++; n > 30 {
			return // each run syncs a few hundred times
		}
		runHistory(t, rt, filepath.Join(dir, fmt.Sprint(n)), 120)
	})
}
