package qmgr

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
)

// fullEvery is how often at most the error log is told that the disk is full, and that it is not: every put of every client meets it.
// After such a time without a refusal the disk counts as full no longer: whoever asks before sending work would never send any.
const fullEvery = time.Minute

// diskState remembers whether units of work find room.
type diskState struct {
	full    atomic.Bool  // one was refused, and none that takes room has been accepted since
	refused atomic.Int64 // clock.Ticks of the last one
	told    atomic.Int64 // clock.Ticks of the last entry in the log,
	tell    atomic.Bool  // which the one that there is room is to follow
}

// noteStore keeps account of how a unit of work fared in the store, and tells the operator when there is no room. tx is what was
// submitted, nil for one that takes no room: gets, and messages that stay in memory, go on when the disk is full, and say nothing
// of it.
func (m *Manager) noteStore(tx *store.Tx, err error) {
	d := &m.disk
	if !errors.Is(err, store.ErrFull) {
		if err == nil && d.full.Load() && tx != nil && tx.Adds() && d.full.Swap(false) && d.tell.Swap(false) {
			m.opt.Log.Info().Str("amq", "AMQ7474I").Msgf("queue manager %s finds room on its disk again", m.opt.Name)
		}
		return
	}
	now := clock.Ticks(m.opt.Clock.Now())
	d.refused.Store(now)
	d.full.Store(true)
	last := d.told.Load()
	if last != 0 && now-last < int64(fullEvery) || !d.told.CompareAndSwap(last, now) {
		return
	}
	d.tell.Store(true)
	m.opt.Log.Error().Str("amq", "AMQ7463E").Err(err).
		Msgf("the disk of queue manager %s is full: what needs room is refused until there is some", m.opt.Name)
}

// DiskFull reports whether a unit of work was refused lately because there is no room on disk, and none that takes room has been
// accepted since.
func (m *Manager) DiskFull() bool {
	return m.disk.full.Load() && clock.Ticks(m.opt.Clock.Now())-m.disk.refused.Load() < int64(fullEvery)
}
