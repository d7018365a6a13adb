package obs

import (
	"fmt"
	"testing"
	"time"
)

// TestRepeats: of a flood ten entries of each kind a minute are written, and then how many were not.
func TestRepeats(t *testing.T) {
	var fire []func()
	r := NewRepeats(func(d time.Duration, f func()) func() bool {
		if d != repeatEvery {
			t.Errorf("after %v", d)
		}
		i := len(fire)
		fire = append(fire, f)
		return func() bool { fire[i] = func() {}; return true }
	})
	advance := func() {
		due := fire
		fire = nil
		for _, f := range due {
			f()
		}
	}
	sums := make(chan int, 8)
	flood := func(kind string, n int) (written int) {
		for range n {
			if r.Allow(kind, func(left int) { sums <- left }) {
				written++
			}
		}
		return written
	}
	if n := flood("a", 1000); n != repeatBurst {
		t.Errorf("%d of 1000 written", n)
	}
	if n := flood("b", 3); n != 3 {
		t.Errorf("another kind: %d of 3 written", n)
	}
	advance()
	if left := <-sums; left != 1000-repeatBurst {
		t.Errorf("%d said to be left out", left)
	}
	if n := flood("a", 11); n != repeatBurst {
		t.Errorf("after a minute %d of 11 written", n)
	}
	r.Close()
	advance()
	select {
	case left := <-sums:
		t.Errorf("after Close %d summed up", left)
	default:
	}
	for i := range 3 * repeatKinds {
		r.Allow(fmt.Sprint(i), func(int) {})
	}
	if len(r.kinds) > repeatKinds+1 {
		t.Errorf("%d kinds kept", len(r.kinds))
	}
}
