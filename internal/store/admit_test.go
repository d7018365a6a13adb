package store

import (
	"testing"
	"time"
)

// A unit that was admitted is submitted without a wait, however full the queue is; one that was not waits for room.
func TestAdmit(t *testing.T) {
	c := newCommitter(nil, nil)
	unitOf := func(n int) *unit { return &unit{tx: &Tx{bytes: n, persistent: true}} }
	begun := func(fn func()) <-chan struct{} {
		ch := make(chan struct{})
		go func() { defer close(ch); fn() }()
		return ch
	}
	waits := func(what string, ch <-chan struct{}, want bool) {
		t.Helper()
		select {
		case <-ch:
			if want {
				t.Errorf("%s does not wait", what)
			}
		case <-time.After(map[bool]time.Duration{true: 20 * time.Millisecond, false: 10 * time.Second}[want]):
			if !want {
				t.Fatalf("%s waits", what)
			}
		}
	}
	submit := func(u *unit) func() { return func() { _ = c.submit(u, func() {}) } }

	early := unitOf(10)
	c.admit(early.tx, 90)
	if c.bytes != 100 || c.coming != 1 {
		t.Fatalf("%d bytes and %d units are kept", c.bytes, c.coming)
	}
	waits("the first unit", begun(submit(unitOf(maxWaitingBytes-100))), false)
	late := unitOf(1)
	admitted := begun(func() { c.admit(late.tx, 0) })
	waits("a unit for which there is no room", admitted, true)
	other := begun(submit(unitOf(1)))
	waits("a submit that was not admitted", other, true)
	waits("an admitted unit", begun(submit(early)), false)

	if batch, _, _ := c.take(); len(batch) == 0 {
		t.Fatal("nothing to take")
	}
	waits("a unit after there is room", admitted, false)
	waits("a submit after there is room", other, false)
	c.dismiss(late.tx)
	for c.bytes > 0 {
		c.take()
	}
	if c.bytes != 0 || c.coming != 0 {
		t.Errorf("%d bytes and %d units are left over", c.bytes, c.coming)
	}
}
