package qmgr

import (
	"context"
	"slices"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/store"
)

// The entries of publications that a CLEAR TOPICSTR of many has cleared are removed while the queue manager runs. A kill in between
// does no harm: the record of the clear is still there, and the next start goes on.

// sweepUnit is how many entries are removed in one unit of work.
const sweepUnit = 2000

func (r *retainStore) sweepSoon() {
	select {
	case r.sweep <- struct{}{}:
	default:
	}
}

// runSweeps removes entries whenever there are clears, until the manager ends.
func (m *Manager) runSweeps() {
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.retain.sweep:
		}
		over := false
		for !over && m.ctx.Err() == nil {
			var err error
			if over, err = m.retain.sweepOnce(m.ctx, m.opt.Store); err != nil && m.ctx.Err() == nil {
				m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).
					Msg("retained publications that were cleared are still in the store; the next clear or start removes them")
				break
			}
		}
	}
}

// sweepOnce goes through the table once. over says that no clear has entries left.
func (r *retainStore) sweepOnce(ctx context.Context, st store.Store) (over bool, err error) {
	r.mu.Lock()
	clears, failures := slices.Clone(r.swept), r.failures
	r.mu.Unlock()
	if len(clears) == 0 {
		return true, nil
	}
	s := &sweeping{r: r, st: st, clears: clears}
	err = st.Range(retainedTable, []byte{clearedPrefix + 1}, nil, func(k, v []byte) error {
		op, err := decodeRetained(k, v)
		if err != nil || !gone(clears, op.topic, op.ref) {
			return err
		}
		s.topics = append(s.topics, op.topic)
		if len(s.topics) < sweepUnit {
			return ctx.Err()
		}
		return s.flush(ctx)
	})
	if err == nil {
		err = s.flush(ctx)
	}
	if err != nil || s.left {
		return false, err
	}
	// An entry that was cleared may be hidden behind a change that is not durable, and may yet fail.
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	r.settled(last)
	var tx store.Tx
	st.Admit(&tx, 16*len(clears))
	var t store.Ticket
	r.under(func() {
		if r.failures != failures {
			return
		}
		for _, c := range clears {
			tx.Unset(retainedTable, c.key())
		}
		r.swept = slices.DeleteFunc(r.swept, func(c *cleared) bool { return slices.Contains(clears, c) })
		over = len(r.swept) == 0
		t = st.Submit(&tx)
	})
	if t == nil {
		return false, nil
	}
	return over, t.Wait(context.Background())
}

// sweeping is one pass.
type sweeping struct {
	r      *retainStore
	st     store.Store
	clears []*cleared
	topics []string
	left   bool // some could not be removed
}

// flush removes the entries that were found.
func (s *sweeping) flush(ctx context.Context) error {
	if len(s.topics) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	r := s.r
	var tx store.Tx
	room := 0
	for _, topic := range s.topics {
		room += maxKeyRoom(topic)
	}
	s.st.Admit(&tx, room)
	var t store.Ticket
	r.under(func() {
		invariants.Work(len(s.topics))
		for _, topic := range s.topics {
			if cur, ok := r.tree.RetainedRefOf(topic); ok && inStore(cur) || len(r.flight[topic]) > 0 {
				s.left = true // published again since it was read; the next pass sees what has come of that
				continue
			}
			tx.Unset(retainedTable, retainedKey(topic))
		}
		t = s.st.Submit(&tx) // before anybody else submits for these topics
	})
	s.topics = s.topics[:0]
	return t.Wait(context.Background())
}
