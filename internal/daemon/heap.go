package daemon

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// Memory behaviour. At rest a small heap is collected at a growth of half, which keeps it small and costs nothing. Under load
// that would mean a collection every hundred messages, and a third of the processor: then the heap may grow by busyHeap
// between two collections. A large heap is that of deep queues: it grows by less, since there is much of it, and since the
// collector has nothing to look at in the index of a queue.
const (
	restingGC = 50
	deepGC    = 20
	busyHeap  = 32 << 20
	deepHeap  = 16 << 20 // growth of a heap of more than deepFrom
	deepFrom  = 48 << 20
	// leastHeap is what the runtime takes a smaller heap for: it lets none be collected below that times the growth.
	leastHeap = 4 << 20
	// busyInterval between two collections is one of a manager under load; the runtime's own are two minutes apart.
	busyInterval = time.Second
	// startUp is over before memory counts as that of load.
	startUp = 2 * time.Second
)

// pacer sets the collector's pace after each collection.
type pacer struct {
	clk     clock.Clock
	started time.Time
	last    time.Time
	percent int
}

// tick is garbage from the start: its finalizer runs after each collection.
type tick struct{ p *pacer }

// startPacer begins; it goes on until the process ends, since the collector is the process's.
func startPacer(clk clock.Clock) {
	p := &pacer{clk: clk, started: clk.Now(), percent: restingGC}
	debug.SetGCPercent(restingGC)
	p.arm()
}

func (p *pacer) arm() {
	runtime.SetFinalizer(&tick{p}, func(t *tick) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if want := t.p.next(int64(live[0].Value.Uint64())); want != t.p.percent {
			t.p.percent = want
			debug.SetGCPercent(want)
		}
		t.p.arm()
	})
}

// next is the growth in percent until the next collection, with live bytes left by this one.
func (p *pacer) next(live int64) int {
	now := p.clk.Now()
	busy := now.Sub(p.last) < busyInterval && now.Sub(p.started) > startUp
	p.last = now
	grow := int64(busyHeap)
	if live > deepFrom {
		grow = deepHeap
	}
	percent := max(deepGC, int(grow*100/max(live, leastHeap)))
	if !busy {
		return min(restingGC, percent)
	}
	return percent
}
