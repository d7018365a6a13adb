package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// settler puts submitted changes in force in the order of their submission, so that nothing depends on whoever
// submitted them: a door whose reader has gone may leave them behind. Those that wait need not wait for it.
type settler struct {
	mu    invariants.Ranked[invariants.Leaf]
	queue []*Pending // bounded by what the store lets wait
	busy  bool       // a goroutine of the manager works on queue
	ended bool       // no goroutine is started any more
}

// settleLater hands a submitted change over.
func (m *Manager) settleLater(p *Pending) {
	s := &m.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return // the store is closed and has refused it: nothing is left to put in force
	}
	s.queue = append(s.queue, p)
	if !s.busy {
		s.busy = true
		m.wg.Go(m.settleAll)
	}
}

// end lets no more goroutines begin.
func (s *settler) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}

// settleAll ends when nothing is left.
func (m *Manager) settleAll() {
	s := &m.settling
	for {
		s.mu.Lock()
		todo := s.queue
		s.queue = nil
		s.busy = len(todo) > 0
		s.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		for _, p := range todo {
			_ = p.settle(context.Background()) // a context that does not end: no error
		}
	}
}
