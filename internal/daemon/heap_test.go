package daemon

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// A busy heap may grow by a fixed size between collections, a resting one and one that starts by half at most.
func TestPacer(t *testing.T) {
	clk := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	p := &pacer{clk: clk, started: clk.Now()}
	for _, s := range []struct {
		after time.Duration
		live  int64
		want  int
	}{
		{10 * time.Millisecond, 4 << 20, restingGC}, // starting
		{3 * time.Second, 4 << 20, restingGC},       // first after the start
		{10 * time.Millisecond, 4 << 20, 800},
		{300 * time.Millisecond, 16 << 20, 200},
		{300 * time.Millisecond, 64 << 20, 25}, // that of deep queues
		{300 * time.Millisecond, 1000 << 20, deepGC},
		{300 * time.Millisecond, 0, 800},
		{2 * time.Minute, 4 << 20, restingGC},
		{2 * time.Minute, 64 << 20, 25},
	} {
		clk.Advance(s.after)
		if got := p.next(s.live); got != s.want {
			t.Errorf("%v later with %d bytes: %d, want %d", s.after, s.live, got, s.want)
		}
	}
}
