package qmgr

import (
	"container/heap"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Subscriptions with EXPIRY end that many tenths of a second after their creation. They stand in a heap with the next to
// end on top, so that a change costs its logarithm and the loop looks at those alone that end; it sleeps until the next.

type subEnds struct {
	mu   invariants.Ranked[invariants.Leaf]
	heap []*subEnding
	of   map[*Object]*subEnding
	wake chan struct{}
}

// subEnding is a place in the heap.
type subEnding struct {
	o  *Object
	at int64 // Unix nanoseconds
	i  int
}

func (e *subEnds) init() {
	e.of = map[*Object]*subEnding{}
	e.wake = make(chan struct{}, 1)
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (e *subEnds) Len() int { return len(e.heap) }

func (e *subEnds) Less(i, j int) bool { return e.heap[i].at < e.heap[j].at }

func (e *subEnds) Swap(i, j int) {
	h := e.heap
	h[i], h[j] = h[j], h[i]
	h[i].i, h[j].i = i, j
}

func (e *subEnds) Push(x any) {
	s := x.(*subEnding)
	s.i = len(e.heap)
	e.heap = append(e.heap, s)
}

func (e *subEnds) Pop() any {
	last := len(e.heap) - 1
	s := e.heap[last]
	e.heap[last] = nil
	e.heap = e.heap[:last]
	return s
}

// set notes when a subscription ends; the zero time: never.
func (e *subEnds) set(o *Object, at time.Time) {
	if e.note(o, at) {
		e.kick()
	}
}

// note reports whether the loop has to wake earlier. When an end is taken back it may wake for nothing.
func (e *subEnds) note(o *Object, at time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.of[o]
	switch {
	case at.IsZero() && s == nil:
		return false
	case at.IsZero():
		heap.Remove(e, s.i)
		delete(e.of, o)
		return false
	case s == nil:
		s = &subEnding{o: o, at: at.UnixNano()}
		e.of[o] = s
		heap.Push(e, s)
	default:
		s.at = at.UnixNano()
		heap.Fix(e, s.i)
	}
	return s.i == 0
}

// kick lets the loop look again.
func (e *subEnds) kick() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// maxEnding is how many subscriptions are ended at the same time.
const maxEnding = 64

// maxSubEnds bounds what due returns at once.
const maxSubEnds = 256

// due returns subscriptions that have ended, at most maxSubEnds, and when to look again (zero: when something changes).
func (e *subEnds) due(now time.Time) (over []*Object, next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	todo := []int{0} // places whose parents have ended
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i >= len(e.heap) {
			continue
		}
		s := e.heap[i]
		at := time.Unix(0, s.at)
		switch {
		case !at.After(now) && len(over) < maxSubEnds:
			over = append(over, s.o)
			todo = append(todo, 2*i+1, 2*i+2)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	return over, next
}

// subEnd is when a subscription ends by its definition; zero for never.
func subEnd(d *Def) time.Time {
	if at := d.subExtra().expires; at != 0 {
		return time.UnixMilli(at)
	}
	return time.Time{}
}

// runSubEnds deletes subscriptions whose time is over, until the manager ends.
func (m *Manager) runSubEnds() {
	for m.ctx.Err() == nil {
		now := m.opt.Clock.Now()
		over, next := m.topics.ends.due(now)
		var g errgroup.Group
		g.SetLimit(maxEnding) // they share syncs
		for _, o := range over {
			g.Go(func() error { m.endSub(m.ctx, o); return nil })
		}
		_ = g.Wait() // endSub logs
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = m.opt.Clock.After(max(next.Sub(now), 0))
		}
		select {
		case <-m.ctx.Done():
		case <-m.topics.ends.wake:
		case <-timer:
		}
	}
}

// endSub ends one subscription whose time seemed to be over, also one that an application holds: its handle then gets nothing more.
// Its definition decides, under the latch: ALTER SUB or MQSO_ALTER may have given it another end since the loop looked. One
// that the store cannot remove now is tried again later.
func (m *Manager) endSub(ctx context.Context, o *Object) {
	ended := false
	err := m.removeSub(ctx, o, func(there bool) (bool, error) {
		var at time.Time // of one that is no more: never
		if there {
			at = subEnd(o.Def())
			ended = !at.IsZero() && !at.After(m.opt.Clock.Now())
		}
		if !ended {
			m.topics.ends.set(o, at)
		}
		return ended, nil
	})
	switch {
	case err != nil:
		m.opt.Log.Error().Err(err).Str("sub", o.Name).Msg("subscription not ended by its EXPIRY")
		m.topics.ends.set(o, m.opt.Clock.Now().Add(retrySubEnd))
	case ended:
		m.opt.Log.Info().Str("sub", o.Name).Msg("subscription ended by its EXPIRY")
	}
}

// retrySubEnd is the pause before a subscription that could not be ended is tried again.
const retrySubEnd = 10 * time.Second
