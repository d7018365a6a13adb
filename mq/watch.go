package mq

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// A verb that waits for its answer reads it itself: nothing has to be handed from one goroutine to another. While no verb waits,
// the link's watcher reads, so that heartbeats are answered and the end is seen. It steps in when no verb has read for a while,
// and steps back as soon as a verb that waits for something sees anything arrive.

// watchAfter is the pause of verbs after which the watcher reads. It doubles up to watchMost while there are verbs.
const (
	watchAfter = 20 * time.Millisecond
	watchMost  = 320 * time.Millisecond
)

// role says who reads: one verb, the watcher, or nobody.
type role struct {
	mu       sync.Mutex
	verb     bool          // a verb reads
	watcher  bool          // the watcher reads
	wanted   bool          // by a verb, from the watcher
	handed   chan struct{} // the watcher has stepped back
	turns    uint64        // how often verbs have read
	parked   bool          // the watcher waits for released
	released chan struct{}
}

func (r *role) init() { r.handed, r.released = make(chan struct{}, 1), make(chan struct{}, 1) }

// want is called before a verb sends anything that is answered. It makes the verb the reader, or has the watcher step back at
// what arrives next: await takes over then.
func (r *role) want() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watcher {
		r.wanted = true
		return
	}
	r.verb = true
}

// release is the end of the verb.
func (r *role) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted {
		r.wanted = false
		if r.watcher {
			return // it reads on
		}
		<-r.handed
	}
	r.verb = false
	r.turns++
	if r.parked {
		r.parked = false
		r.released <- struct{}{}
	}
}

// reads reports whether the verb is the reader.
func (r *role) reads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verb
}

// over takes the role that the watcher has handed.
func (r *role) over() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted, r.verb = false, true
}

// stepBack hands the role to the verb that wants it, if one does.
func (r *role) stepBack() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.wanted {
		return false
	}
	r.watcher = false
	r.handed <- struct{}{}
	return true
}

// await is next for a verb, which has called want. The errors that ended the link come as its cause.
func (l *link) await(ctx context.Context, until time.Time) (segment, error) {
	if !l.role.reads() {
		if err := l.takeOver(ctx, until); err != nil {
			return segment{}, err
		}
	}
	l.follow(ctx)
	s, err := l.next(ctx, until)
	if err != nil && err != errLate && ctx.Err() == nil {
		l.close(err)
		err = l.cause()
	}
	return s, err
}

// takeOver waits until the watcher steps back.
func (l *link) takeOver(ctx context.Context, until time.Time) error {
	var late <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		late = t.C
	}
	select {
	case <-l.role.handed:
		l.role.over()
		return nil
	case <-l.ended:
		return l.cause()
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return errLate
	}
}

// answer waits for the answer to a call, and serves what comes before it.
func (l *link) answer(ctx context.Context) (segment, error) {
	for {
		s, err := l.await(ctx, time.Time{})
		if err != nil || s.h.Type.IsCallReply() || s.h.Type == wire.StatusData && s.h.Flags&wire.FlagClose == 0 {
			return s, err
		}
		if err := l.dispatch(&s); err != nil {
			l.close(err)
			return s, l.cause()
		}
	}
}

// watch reads while no verb does, until the link ends.
func (l *link) watch() {
	pause, seen := watchAfter, uint64(0)
	t := time.NewTimer(pause)
	defer t.Stop()
	r := &l.role
	for {
		select {
		case <-t.C:
		case <-l.ended:
			return
		}
		r.mu.Lock()
		idle := !r.verb && r.turns == seen
		seen = r.turns
		r.watcher, r.parked = idle, r.verb
		parked := r.parked
		r.mu.Unlock()
		switch {
		case idle:
			if err := l.watchOver(); err != nil {
				l.close(err)
				return
			}
			pause = watchAfter
		case parked: // a verb waits, maybe for long
			select {
			case <-r.released:
			case <-l.ended:
				return
			}
		default:
			pause = min(2*pause, watchMost)
		}
		t.Reset(pause)
	}
}

// watchOver reads until a verb wants to.
func (l *link) watchOver() error {
	for {
		whole, need, err := l.ready()
		if err == nil && !whole {
			err = l.fill(context.Background(), time.Time{}, need)
		}
		if err != nil {
			return err
		}
		if l.role.stepBack() {
			return nil
		}
		if !whole {
			continue
		}
		s, err := l.next(context.Background(), time.Time{})
		if err != nil {
			return err
		}
		if err := l.dispatch(&s); err != nil {
			return err
		}
	}
}

// dispatch serves what no verb waits for.
func (l *link) dispatch(s *segment) error {
	switch {
	case s.h.Type == wire.AsyncMsg:
		return l.pushed.add(l, s)
	case s.h.Type == wire.Heartbeat:
		if s.h.Flags&wire.FlagConfirm == 0 {
			return nil
		}
		return l.sendH(l.header(wire.Heartbeat, s.h.Req), wire.API{}, &wire.Empty{})
	case s.h.Type.IsCallReply():
		return errors.New("the server answered what was not asked")
	}
	_, b, err := s.decode(l)
	if err != nil {
		return err
	}
	switch b := b.(type) {
	case *wire.Notify:
		l.pushed.note(b)
	case *wire.Socket:
		if b.Action == wire.QMQuiesce || b.Action == wire.StopQuiesce {
			l.quiesce.Do(func() { close(l.quiescing) })
		}
	case *wire.Status:
		if s.h.Flags&wire.FlagClose != 0 {
			return refusal(b.Code)
		}
		return errors.New("the server answered what was not asked")
	}
	return nil // what is new to us asks for nothing
}
