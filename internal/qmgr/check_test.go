package qmgr

import "github.com/qmgrd/qmgrd/internal/store"

// checkQueue verifies what must hold of a queue's memory between any two operations.
func checkQueue(t fataler, q *Queue) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	used, got, uncom := 0, 0, 0
	for p := range q.lists {
		l := &q.lists[p]
		prev, hiddenSoFar := uint32(0), true
		for s := l.head; s != 0; s = q.slab.at(s).next {
			e := q.slab.at(s)
			if s == l.first && !hiddenSoFar {
				t.Fatalf("%s: a visible message lies before the hint of priority %d", q.obj.Name, p)
			}
			hiddenSoFar = hiddenSoFar && e.flags&hidden != 0
			if e.prev != prev || prev != 0 && q.slab.at(prev).seq >= e.seq || int(e.prio) != p {
				t.Fatalf("%s: list of priority %d is not in order at message %d", q.obj.Name, p, e.seq)
			}
			if e.flags&fCursor != 0 != (len(q.cursors[s]) > 0) {
				t.Fatalf("%s: cursor flag of message %d is wrong", q.obj.Name, e.seq)
			}
			used++
			if e.flags&fGot != 0 {
				got++
			}
			if e.flags&(fGot|fUncommitted) != 0 {
				uncom++
			}
			prev = s
		}
		if l.tail != prev || l.none && !hiddenSoFar {
			t.Fatalf("%s: priority %d: tail %d, last %d, none %v", q.obj.Name, p, l.tail, prev, l.none)
		}
	}
	if used != q.slab.used || got != q.got || uncom != q.uncom {
		t.Fatalf("%s: %d messages, %d got, %d uncommitted, counted %d %d %d", q.obj.Name, q.slab.used, q.got, q.uncom,
			used, got, uncom)
	}
	for _, x := range []*idIndex{q.byMsg, q.byCor} {
		if x != nil {
			x.check(t, used)
		}
	}
}

// check verifies that an index holds each message once, those of a priority in the order of their numbers within their chain.
func (x *idIndex) check(t fataler, want int) {
	n := 0
	for b := range x.head {
		prev := uint32(0)
		var last [10]store.Seq // by priority
		for s := x.head[b]; s != 0; s = x.next[s] {
			e := x.q.slab.at(s)
			if x.bucketOf(s) != uint32(b) || x.prev[s] != prev {
				t.Fatalf("index: message %d is in the wrong chain", e.seq)
			}
			if e.seq <= last[e.prio] {
				t.Fatalf("index: chain of message %d is not in order", e.seq)
			}
			prev, last[e.prio] = s, e.seq
			n++
		}
	}
	if n != want || x.n != want {
		t.Fatalf("index: %d messages, says %d, want %d", n, x.n, want)
	}
}
