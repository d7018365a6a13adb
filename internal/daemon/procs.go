package daemon

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
)

// How many processors the runtime uses at once. Where many wait for the disk together, most goroutines become ready at the end of a sync,
// and go to sleep again at the next: with one processor less fewer threads wake up, take work from each other and find none, and those
// who share the machine with the server have what that took. So it is one less while syncs are shared by several units and what
// is left suffices (docs/adr/0006-one-processor-less.md); where a sync carries one unit, one processor would stand still with it.
const (
	procsEvery  = 500 * time.Millisecond // between two decisions, at least
	procsRest   = 10 * time.Second       // after which nothing is known of the load
	sharedSyncs = 200                    // a second
	sharedUnits = 4                      // to a sync, on average
	procsAgain  = 30 * time.Second       // after one less did not suffice
)

// usage is what has been used and done since the process began.
type usage struct {
	cpu            time.Duration
	commits, syncs uint64
}

// procs decides how many processors are used. It looks after each collection, which costs nothing at rest.
type procs struct {
	clk   clock.Clock
	usual int // processors
	look  func() usage
	set   func(fewer bool)
	ended atomic.Bool

	// What follows is the finalizers' goroutine's.
	at     time.Time // of last
	last   usage
	fewer  bool
	paused time.Time // until then it is not tried again
}

// startProcs begins, unless an operator has decided, or there is but one processor.
func startProcs(clk clock.Clock, env func(string) string, st store.Store) *procs {
	n := runtime.GOMAXPROCS(0)
	if env("GOMAXPROCS") != "" || n < 2 {
		return nil
	}
	p := &procs{clk: clk, usual: n, look: func() usage {
		s := st.Stats()
		return usage{processorTime(), s.Commits, s.Syncs}
	}, set: func(fewer bool) {
		if fewer {
			runtime.GOMAXPROCS(n - 1)
		} else {
			runtime.SetDefaultGOMAXPROCS() // follows the limits of the process again
		}
	}}
	p.at, p.last = clk.Now(), p.look()
	p.arm()
	return p
}

// end gives all processors back.
func (p *procs) end() {
	if p != nil && !p.ended.Swap(true) {
		p.set(false)
	}
}

// procsTick is garbage from the start: its finalizer runs after each collection.
type procsTick struct{ p *procs }

func (p *procs) arm() {
	runtime.SetFinalizer(&procsTick{p}, func(t *procsTick) {
		if !t.p.ended.Load() {
			t.p.tick()
			t.p.arm()
		}
	})
}

// tick decides anew when the last decision is old enough.
func (p *procs) tick() {
	now := p.clk.Now()
	passed := now.Sub(p.at)
	if passed < procsEvery {
		return
	}
	u := p.look()
	was := p.last
	p.at, p.last = now, u
	if fewer := p.suffices(passed, usage{u.cpu - was.cpu, u.commits - was.commits, u.syncs - was.syncs}); fewer != p.fewer {
		p.fewer = fewer
		p.set(fewer)
	}
}

// suffices reports whether one processor less is better, by what was used and done in some time.
func (p *procs) suffices(passed time.Duration, u usage) bool {
	s := passed.Seconds()
	if passed > procsRest || float64(u.syncs) < sharedSyncs*s || u.commits < sharedUnits*u.syncs {
		return false
	}
	busy, most := u.cpu.Seconds()/s, float64(p.usual-1)
	if p.fewer {
		if busy <= most {
			return true
		}
		p.paused = p.at.Add(procsAgain)
		return false
	}
	return busy <= 1.1*most && !p.at.Before(p.paused) // with fewer the same work takes less
}

// processorTime is what the process has used of the processors.
func processorTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
