package qmgr

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
)

// fullEvery is how often at most the error log is told that the disk is full: every put of every client meets it.
const fullEvery = time.Minute

// diskState remembers whether the last unit of work found room.
type diskState struct {
	full atomic.Bool
	told atomic.Int64 // UnixNano of the last entry in the log
}

// noteStore keeps account of how a unit of work fared in the store, and tells the operator when there is no room.
func (m *Manager) noteStore(err error) {
	if !errors.Is(err, store.ErrFull) {
		if err == nil && m.disk.full.Load() && m.disk.full.Swap(false) {
			m.disk.told.Store(0)
			m.opt.Log.Info().Str("amq", "AMQ7474I").Msgf("queue manager %s finds room on its disk again", m.opt.Name)
		}
		return
	}
	m.disk.full.Store(true)
	now := m.opt.Clock.Now().UnixNano()
	last := m.disk.told.Load()
	if last != 0 && now-last < int64(fullEvery) || !m.disk.told.CompareAndSwap(last, now) {
		return
	}
	m.opt.Log.Error().Str("amq", "AMQ7463E").Err(err).
		Msgf("the disk of queue manager %s is full: what needs room is refused until there is some", m.opt.Name)
}

// DiskFull reports whether the last unit of work was refused because there is no room on disk.
func (m *Manager) DiskFull() bool { return m.disk.full.Load() }
