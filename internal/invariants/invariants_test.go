package invariants

import "testing"

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
