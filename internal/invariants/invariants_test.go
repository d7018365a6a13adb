package invariants

import (
	"sync"
	"testing"
)

func broken(fn func()) (text any) {
	defer func() { text = recover() }()
	fn()
	return nil
}

func TestTrue(t *testing.T) {
	if got := broken(func() { True(true, "fine") }); got != nil {
		t.Fatalf("a true condition: %v", got)
	}
	got := broken(func() { True(false, "depth %d", -1) })
	if Enabled != (got == "invariant broken: depth -1") {
		t.Fatalf("checks on: %v, panic: %v", Enabled, got)
	}
}

func TestOrder(t *testing.T) {
	var a, b sync.Mutex
	var o Order
	o.Lock(&a, 1)
	o.Lock(&b, 2)
	o.Unlock(&b, 2)
	o.Unlock(&a, 1)
	o.Lock(&b, 2)
	got := broken(func() { o.Lock(&a, 1) })
	if Enabled != (got != nil) {
		t.Fatalf("checks on: %v, wrong order: %v", Enabled, got)
	}
}
