package qmgr

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/store"
)

// errSettles is no failure: the get goes on when its unit has been committed, which somebody else does.
var errSettles = errors.New("the get settles")

// settling is a get outside syncpoint that has taken a persistent message and waits, without a goroutine, until that is durable:
// most often until somebody puts, who commits both with one sync.
type settling struct {
	allowed bool   // by the caller of Finish
	f       *found // not nil: it settles
	t       store.Ticket
	over    atomic.Bool
	err     error // of the store, when over
	wg      sync.WaitGroup
}

// settle commits the unit of a get, or leaves that to whoever commits next, if the store agrees: errSettles.
func (w *Waiting) settle(f *found, u *uow) error {
	s, m := &w.late, w.c.m
	t := m.submit(u)
	s.f, s.t = f, t
	w.c.settles = make(chan struct{})
	s.over.Store(false)
	s.wg.Add(1)
	if t.Leave(func(by any, err error) {
		defer w.waker.Settled(by)
		defer s.wg.Done()
		defer s.over.Store(true)
		s.err = store.ErrFailed // should what follows not come to its end
		s.err = m.settle(u, err)
	}) {
		return errSettles
	}
	s.wg.Done()
	s.f, s.t = nil, nil
	w.c.settles = nil // nobody has seen it: the verb goes on
	return storeReason("MQGET", w.g.h.name, m.settle(u, t.Wait(context.Background())))
}

// settled goes on with a get that settles.
func (w *Waiting) settled() ([]byte, int, GetState, error) {
	s := &w.late
	if !s.over.Load() {
		return nil, 0, GetSettles, nil
	}
	f := s.f
	s.f, s.t = nil, nil
	w.c.verb.Lock() // whatever becomes of the connection: Break waits until the message has been given
	defer w.c.verb.Unlock()
	defer w.c.settledOne()
	if s.err != nil {
		return w.done(nil, 0, storeReason("MQGET", w.g.h.name, s.err))
	}
	return w.done(w.g.give(f, true))
}

// await returns when nothing settles any more.
func (s *settling) await(c *Conn) {
	if s.f == nil {
		return
	}
	_ = s.t.Wait(context.Background()) // who has left it hears of it
	invariants.Blocking("waiting for a get that settles")
	s.wg.Wait()
	s.f, s.t = nil, nil
	c.verb.Lock()
	defer c.verb.Unlock()
	c.settledOne()
}

// settledOne ends what settle began. In a verb.
func (c *Conn) settledOne() {
	close(c.settles)
	c.settles = nil
}
