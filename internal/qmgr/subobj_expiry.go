package qmgr

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Subscriptions with EXPIRY end that many tenths of a second after their creation. One loop sleeps until the next end.

type subEnds struct {
	mu   invariants.Mutex
	at   map[*Object]time.Time
	wake chan struct{}
}

func (e *subEnds) init() {
	e.at = map[*Object]time.Time{}
	e.wake = make(chan struct{}, 1)
}

// set notes when a subscription ends; the zero time: never.
func (e *subEnds) set(o *Object, at time.Time) {
	e.mu.Lock()
	if at.IsZero() {
		delete(e.at, o)
	} else {
		e.at[o] = at
	}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// due returns the subscriptions that have ended, and the next end after now (zero: none).
func (e *subEnds) due(now time.Time) (over []*Object, next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for o, at := range e.at {
		switch {
		case !at.After(now):
			over = append(over, o)
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
		for _, o := range over {
			m.endSub(m.ctx, o)
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = m.opt.Clock.After(next.Sub(now))
		}
		select {
		case <-m.ctx.Done():
		case <-m.topics.ends.wake:
		case <-timer:
		}
	}
}

// endSub ends one subscription, also one that an application holds: its handle then gets nothing more. One that the store
// cannot remove now is tried again later.
func (m *Manager) endSub(ctx context.Context, o *Object) {
	m.topics.ends.set(o, time.Time{})
	if err := m.removeSub(ctx, o); err != nil {
		m.opt.Log.Error().Err(err).Str("sub", o.Name).Msg("subscription not ended by its EXPIRY")
		m.topics.ends.set(o, m.opt.Clock.Now().Add(retrySubEnd))
		return
	}
	m.opt.Log.Info().Str("sub", o.Name).Msg("subscription ended by its EXPIRY")
}

// retrySubEnd is the pause before a subscription that could not be ended is tried again.
const retrySubEnd = 10 * time.Second
