package daemon

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
)

// One processor less while syncs are shared and what is left suffices; all of them otherwise.
func TestProcs(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	var u usage
	var fewer []bool
	p := &procs{clk: clk, usual: 2, look: func() usage { return u }, set: func(f bool) { fewer = append(fewer, f) }, at: clk.Now()}
	for _, s := range []struct {
		why            string
		after          time.Duration
		cpu            float64 // processors
		commits, syncs float64 // a second
		want           bool
		calls          int // of set until then
	}{
		{"nothing goes on", time.Second, 0.01, 0, 0, false, 0},
		{"one unit to a sync", time.Second, 0.7, 6000, 6000, false, 0},
		{"seldom syncs", time.Second, 0.7, 1000, 100, false, 0},
		{"syncs shared by many", time.Second, 0.9, 20000, 2500, true, 1},
		{"too early to say", procsEvery / 2, 0.7, 0, 0, true, 1},
		{"still", time.Second, 0.7, 22000, 2500, true, 1},
		{"one unit again", time.Second, 0.7, 6000, 6000, false, 2},
		{"shared again", time.Second, 1.05, 20000, 2500, true, 3},
		{"one does not suffice", time.Second, 1.2, 20000, 2500, false, 4},
		{"not tried at once", time.Second, 0.9, 20000, 2500, false, 4},
		{"later it is", procsAgain - time.Second - procsRest, 0.9, 20000, 2500, false, 4},
		{"later it is", procsRest, 0.9, 20000, 2500, true, 5},
		{"rest", 2 * time.Minute, 0.9, 20000, 2500, false, 6},
		{"more than one is needed", time.Second, 1.3, 40000, 2500, false, 6},
	} {
		clk.Advance(s.after)
		sec := s.after.Seconds()
		u.cpu += time.Duration(s.cpu * sec * 1e9)
		u.commits += uint64(s.commits * sec)
		u.syncs += uint64(s.syncs * sec)
		p.tick()
		if p.fewer != s.want || len(fewer) != s.calls || s.calls > 0 && fewer[s.calls-1] != s.want {
			t.Fatalf("%s: fewer %t, set %v; want %t after %d calls", s.why, p.fewer, fewer, s.want, s.calls)
		}
	}
	p.end()
	p.end()
	if n := len(fewer); n != 7 || fewer[6] {
		t.Errorf("at the end: %v", fewer)
	}
}

// An operator's GOMAXPROCS is left alone.
func TestProcsOfTheOperator(t *testing.T) {
	env := func(name string) string { return map[string]string{"GOMAXPROCS": "2"}[name] }
	p := startProcs(clock.Real(), env, store.OpenMem())
	if p != nil {
		t.Error("decides though GOMAXPROCS is set")
	}
	p.end() // of none
}

func TestProcessorTime(t *testing.T) {
	if before := processorTime(); before <= 0 {
		t.Error(before)
	}
}
