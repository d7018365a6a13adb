package clock

import (
	"testing"
	"time"
)

// Ticks go on while the time of day is set, of a fake clock as of the machine's.
func TestTicks(t *testing.T) {
	var c Settable
	for _, by := range []time.Duration{5 * time.Hour, -11 * time.Hour} {
		before := c.Now()
		c.Set(by)
		after := c.Now()
		if d := after.Round(0).Sub(before.Round(0)); d < by || d > by+time.Minute {
			t.Fatalf("the time of day moved by %v, want %v", d, by)
		}
		if d := Ticks(after) - Ticks(before); d < 0 || d > int64(time.Minute) {
			t.Errorf("set by %v: %d ticks", by, d)
		}
		if at := FromTicks(Ticks(before), after); at.Round(0).Sub(before.Round(0)) < by-time.Minute {
			t.Errorf("set by %v: %v", by, at)
		}
	}
	f := NewFake(time.Unix(0, 0))
	was := Ticks(f.Now())
	f.Advance(time.Hour)
	if d := Ticks(f.Now()) - was; was <= 0 || d != int64(time.Hour) {
		t.Errorf("from %d, %d", was, d)
	}
}
