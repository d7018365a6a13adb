package fap

import "testing"

// TestFlow: a reader waits for a getter that it has handed something, and hardly ever for one that does not catch up.
func TestFlow(t *testing.T) {
	getter, other := &conv{}, &conv{}
	var f flow
	for range 1000 {
		if f.put(1, nil) {
			t.Fatal("waits for nobody")
		}
	}
	f.put(1, getter)
	waits := func(n int) (got int) {
		for range n {
			if f.put(1, nil) {
				got++
				f.waited(false)
			}
		}
		return got
	}
	if n := waits(100_000); n < 5 || n > 12 {
		t.Errorf("%d waits in vain during 100000 puts", n)
	}
	f.waited(true)
	if n := waits(flowEvery); n != 1 {
		t.Errorf("%d waits, of which the last was of use", n)
	}
	if f.put(2, nil) {
		t.Error("waits for the getter of another queue")
	}
	f.put(2, other)
	if f.taker != other || f.n != 1 || f.every != flowEvery {
		t.Errorf("%+v", f)
	}
}
