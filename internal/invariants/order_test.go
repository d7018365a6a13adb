//go:build invariants

package invariants

import (
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	var registry RankedRW[Registry]
	var queue, queue2 Ranked[Queue]
	var leafy, leafy2 Ranked[Leaf]
	var topics RankedRW[Topics]
	var plain Mutex
	tests := []struct {
		name string
		fn   func()
		want string // in the offence; none: in order
	}{
		{"down", func() { registry.RLock(); queue.Lock(); topics.Lock(); leafy.Lock() }, ""},
		{"up", func() { queue.Lock(); registry.RLock() }, "of Registry is taken at"},
		{"up for writing", func() { topics.RLock(); registry.Lock() }, "one of Topics is held"},
		{"up after a release", func() { queue.Lock(); queue.Unlock(); registry.Lock() }, ""},
		{"up, with one released", func() { queue.Lock(); topics.Lock(); topics.Unlock(); registry.Lock() }, "one of Queue is held"},
		{"two of a rank", func() { queue.Lock(); queue2.Lock() }, "of Queue is taken at"},
		{"two leaves", func() { leafy.Lock(); leafy2.Lock() }, "one of Leaf is held"},
		{"read twice", func() { topics.RLock(); topics.RLock() }, "one of Topics is held"},
		{"without rank", func() { queue.Lock(); plain.Lock(); topics.Lock() }, ""},
		{"without rank under a leaf", func() { leafy.Lock(); plain.Lock() }, "of no rank is taken at"},
		{"tried", func() { queue.Lock(); _ = leafy.TryLock(); _ = queue2.TryLock() }, ""},
		{"behind one that was tried", func() { _ = queue.TryLock(); registry.RLock() }, "one of Queue is held"},
		{"another goroutine's", func() {
			queue.Lock()
			done := make(chan struct{})
			go func() { defer close(done); registry.Lock(); registry.Unlock() }()
			<-done
		}, ""},
		{"a sync", func() { queue.Lock(); Blocking("a sync") }, "a sync at"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			registry, queue, queue2, leafy, leafy2, topics, plain = RankedRW[Registry]{}, Ranked[Queue]{}, Ranked[Queue]{}, Ranked[Leaf]{},
				Ranked[Leaf]{}, RankedRW[Topics]{}, Mutex{}
			got := offences(t, func() {
				done := make(chan struct{})
				go func() { defer close(done); tc.fn() }() // what is left held ends with its goroutine's number
				<-done
			})
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want) ||
				strings.Count(got[0], "order_test.go") != 2 && tc.name != "a sync") {
				t.Errorf("offences %q, want %q", got, tc.want)
			}
		})
	}
}
