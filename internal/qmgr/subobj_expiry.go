package qmgr

import (
	"context"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
)

// Subscriptions with EXPIRY end that many tenths of a second after their creation. One loop sleeps until the next end.

type subEnds struct {
	mu   sync.Mutex
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
func subEnd(d *Def, loc *time.Location) time.Time {
	tenths := d.Int("EXPIRY")
	if tenths < 0 {
		return time.Time{}
	}
	made, err := time.ParseInLocation("2006-01-02 15:04:05", d.Get("CRDATE")+" "+d.Get("CRTIME"), loc)
	if err != nil {
		return time.Time{}
	}
	return made.Add(time.Duration(tenths) * 100 * time.Millisecond)
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

// endSub deletes one subscription as DELETE SUB would. One that an application holds, or that the store cannot delete
// now, is tried again with the next end.
func (m *Manager) endSub(ctx context.Context, o *Object) {
	c := &attr.Command{Verb: "DELETE", Object: "SUB", Kind: "SUB", Name: o.Name, HasName: true}
	m.topics.ends.set(o, time.Time{})
	r := m.Execute(ctx, c, auth.System(m.opt.User))
	if !r.Failed() {
		m.opt.Log.Info().Str("sub", o.Name).Msg("subscription ended by its EXPIRY")
		return
	}
	if m.lookup(ClassSub, o.Name) == o {
		m.topics.ends.set(o, m.opt.Clock.Now().Add(retrySubEnd))
	}
}

// retrySubEnd is the pause before a subscription that could not be ended is tried again.
const retrySubEnd = 10 * time.Second
