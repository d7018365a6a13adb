package pubsub

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// The life of unused topics (TREELIFE). Unused nodes stand in a list in the order in which they became unused, so the
// head is always the next to go and nothing is scanned.

// idleEntry is a node's place in the list.
type idleEntry struct {
	at         int64 // unused since, unix nanoseconds
	node       uint32
	prev, next uint32
}

// idleList is a ring around entry 0.
type idleList struct {
	slab[idleEntry]
	n int
}

func (l *idleList) init() { l.add() }

// push appends a node. Times never go back within the list, whatever the machine's clock does.
func (l *idleList) push(n *Node, at int64) {
	i, e := l.add()
	last := l.at(0).prev
	if last != 0 {
		at = max(at, l.at(last).at)
	}
	*e = idleEntry{at: at, node: n.self, prev: last}
	l.at(last).next, l.at(0).prev = i, i
	n.idle = i
	l.n++
}

func (l *idleList) remove(n *Node) {
	e := l.at(n.idle)
	l.at(e.prev).next, l.at(e.next).prev = e.next, e.prev
	l.slab.remove(n.idle)
	n.idle = 0
	l.n--
}

// first is nil when the list is empty.
func (l *idleList) first() *idleEntry {
	if l.n == 0 {
		return nil
	}
	return l.at(l.at(0).next)
}

// goIdle starts a node's idle clock. Called with mu held for writing.
func (t *Tree) goIdle(n *Node, now int64) {
	t.idle.push(n, now)
	if t.idle.n == 1 {
		t.signal()
	}
}

// signal wakes whoever waits in Run.
func (t *Tree) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// SetLife changes TREELIFE. It holds for topics that are already unused. 0 keeps unused topics for ever.
func (t *Tree) SetLife(d time.Duration) {
	t.life.Store(int64(d))
	t.signal()
}

// reapChunk bounds one lock hold of Reap and ExpireRetained. The removal of one node moves at most maxFlat entries of its
// parent's table and joins at most minSplit, so a hold lasts some ten microseconds.
const reapChunk = 100

// Reap removes at most max topics that have been unused for TREELIFE, and says how many it removed. A parent that
// lost its last child begins its own life then, at now. The lock is given up after every reapChunk topics.
func (t *Tree) Reap(now time.Time, max int) int {
	done := 0
	for done < max {
		n := t.reapSome(now.UnixNano(), min(max-done, reapChunk))
		done += n
		if n < reapChunk {
			break
		}
	}
	return done
}

func (t *Tree) reapSome(now int64, max int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	life := t.life.Load()
	if life <= 0 {
		return 0
	}
	done := 0
	defer func() { invariants.Work(done) }() // under the lock
	for ; done < max; done++ {
		e := t.idle.first()
		if e == nil || e.at+life > now {
			break
		}
		n := t.mem.at(e.node)
		t.idle.remove(n)
		p := t.mem.up(n)
		k := t.mem.kidsOf(p)
		if k.remove(&t.mem, n); k.n == 0 {
			t.mem.kids.remove(p.kids)
			p.kids = 0
		}
		t.mem.drop(n)
		t.nodes--
		if p.uses--; p.uses&usesMask == 0 {
			t.goIdle(p, now)
		}
	}
	return done
}

// NextDue says when the next unused topic goes, or the next retained publication ends, if nothing changes.
func (t *Tree) NextDue() (time.Time, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, due := int64(0), false
	if e, life := t.idle.first(), t.life.Load(); e != nil && life > 0 {
		at, due = e.at+life, true
	}
	if len(t.expiry) > 0 && (!due || t.expiry[0].at < at) {
		at, due = t.expiry[0].at, true
	}
	if !due {
		return time.Time{}, false
	}
	return time.Unix(0, at), true
}

// Run removes unused topics and expired retained publications as they fall due, until ctx ends. It sleeps until
// something is due. expired, if not nil, gets the retained publications that ended; it is called without a lock.
func (t *Tree) Run(ctx context.Context, expired func([]RetainedAt)) {
	for ctx.Err() == nil {
		now := t.clk.Now()
		for t.Reap(now, reapChunk) == reapChunk && ctx.Err() == nil {
		}
		for {
			gone := t.ExpireRetained(now, reapChunk)
			if len(gone) > 0 && expired != nil {
				expired(gone)
			}
			if len(gone) < reapChunk {
				break
			}
		}
		var due <-chan time.Time
		if at, ok := t.NextDue(); ok {
			due = t.clk.After(max(at.Sub(t.clk.Now()), time.Millisecond))
		}
		select {
		case <-ctx.Done():
		case <-t.wake:
		case <-due:
		}
	}
}
