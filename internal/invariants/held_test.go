//go:build invariants

package invariants

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// offences runs fn and returns what the instrument found.
func offences(t *testing.T, fn func()) []string {
	t.Helper()
	var mu sync.Mutex
	var out []string
	restore := Offences(func(s string) {
		mu.Lock()
		defer mu.Unlock()
		out = append(out, s)
	})
	defer restore()
	fn()
	return out
}

func TestHeld(t *testing.T) {
	var a, b Mutex
	var rw RWMutex
	var turn Turn
	cond := sync.NewCond(&a)
	other := func(fn func()) {
		done := make(chan struct{})
		go func() { defer close(done); fn() }()
		<-done
	}
	tests := []struct {
		name string
		fn   func()
		want int
	}{
		{"nothing held", func() { Blocking("a sync") }, 0},
		{"held", func() { a.Lock(); Blocking("a sync"); a.Unlock() }, 1},
		{"held for reading", func() { rw.RLock(); Blocking("a sync"); rw.RUnlock() }, 1},
		{"held for writing", func() { rw.Lock(); Blocking("a sync"); rw.Unlock() }, 1},
		{"released", func() { a.Lock(); b.Lock(); a.Unlock(); b.Unlock(); Blocking("a sync") }, 0},
		{"one of two released", func() { a.Lock(); b.Lock(); a.Unlock(); Blocking("a sync"); b.Unlock() }, 1},
		{"tried", func() { _ = a.TryLock(); Blocking("a sync"); a.Unlock() }, 1},
		{"tried in vain", func() {
			a.Lock()
			other(func() { _ = a.TryLock(); Blocking("a sync") })
			a.Unlock()
		}, 0},
		{"held by another", func() { a.Lock(); other(func() { Blocking("a sync") }); a.Unlock() }, 0},
		{"given up", func() { a.Lock(); BlockingBut(&a, "a change"); a.Unlock() }, 0},
		{"another one given up", func() { b.Lock(); a.Lock(); BlockingBut(&a, "a change"); a.Unlock(); b.Unlock() }, 1},
		{"a turn", func() { turn.Lock(); Blocking("a sync"); a.Lock(); a.Unlock(); turn.Unlock() }, 0},
		{"a turn under a lock", func() { a.Lock(); turn.Lock(); turn.Unlock(); a.Unlock() }, 1},
		{"released by another", func() { a.Lock(); other(a.Unlock); b.Lock(); b.Unlock() }, 1},
		{"a condition", func() {
			a.Lock()
			done := make(chan struct{})
			go func() { defer close(done); a.Lock(); cond.Signal(); a.Unlock() }()
			cond.Wait()
			a.Unlock()
			<-done
			Blocking("a sync")
		}, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := offences(t, func() { other(tc.fn) }) // what is left held ends with its goroutine's number
			if len(got) != tc.want {
				t.Fatalf("%d offences, want %d: %q", len(got), tc.want, got)
			}
			if tc.want > 0 && tc.name != "released by another" &&
				!slices.ContainsFunc(got, func(s string) bool {
					return strings.Contains(s, "held_test.go") && strings.Contains(s, "while a lock is held")
				}) {
				t.Errorf("the offence does not say where: %q", got)
			}
		})
	}
}

func BenchmarkTrackedLock(b *testing.B) {
	var m Mutex
	for b.Loop() {
		m.Lock()
		m.Unlock()
	}
}
