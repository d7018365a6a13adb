package store

import (
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// A checkpoint works for a second or more, and nobody waits for it; who reads many entries of a table waits for each of them. So a
// checkpoint steps aside while somebody does that, and for a while after, in which what was read is on its way. It does so for a
// bounded part of its time only, and not at all when others wait for the room that it makes.

const (
	asideFor   = 40 * time.Millisecond // after such a read has begun
	asideMost  = time.Second           // for one transaction of the state file
	asideSteps = 64                    // of a transaction between two looks; they take some tenths of a millisecond
	asideKeys  = 32                    // a read of fewer entries is none of these
)

// aside says until when checkpoints are to step aside.
type aside struct {
	clk   clock.Clock
	until atomic.Int64 // Unix nanoseconds
	off   bool
}

// ask is called by who is about to read entries.
func (a *aside) ask(entries int) {
	if entries >= asideKeys && !a.off {
		a.until.Store(a.clk.Now().Add(asideFor).UnixNano())
	}
}

// left is how long to step aside from now on. The machine's clock may be set back: more than asideFor it never is.
func (a *aside) left(now time.Time) time.Duration {
	until := a.until.Load()
	if until == 0 {
		return 0
	}
	return min(time.Duration(until-now.UnixNano()), asideFor)
}

// lately reports whether somebody has read many entries within the last second.
func (a *aside) lately(now time.Time) bool {
	until := a.until.Load()
	since := now.UnixNano() - until
	return until != 0 && since < int64(time.Second) && since >= -int64(asideFor) // the clock may be set back
}

// stepAside lets readers go first.
func (f *freezer) stepAside() {
	s := f.s
	for now := s.clk.Now(); ; {
		left := min(s.aside.left(now), asideMost-f.waited)
		if left <= 0 || s.hurry() {
			return
		}
		select {
		case <-s.ck.quit:
			return
		case <-s.clk.After(left):
		}
		was := now
		now = s.clk.Now()
		f.waited += max(now.Sub(was), left)
	}
}

// hurry reports whether a checkpoint is waited for: the log fills up, or the disk, or the store is being closed.
func (s *logStore) hurry() bool {
	select {
	case <-s.ck.quit:
		return true
	default:
	}
	n, _ := s.files.count()
	return n > s.opt.LogSegments/2 || s.noReserve.Load()
}
