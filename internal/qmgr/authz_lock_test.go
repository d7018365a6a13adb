package qmgr

import (
	"testing"
	"time"
	"unsafe"
)

// A panic of one connection that looks up an account leaves no lock behind: the others find theirs.
func TestAccountsSurviveAPanic(t *testing.T) {
	r := newAuthRig(t)
	var torn string // as a data race would leave it: a length without the bytes
	*(*[2]uintptr)(unsafe.Pointer(&torn)) = [2]uintptr{0, 5}
	panicked := false
	func() {
		defer func() { panicked = recover() != nil }()
		r.m.Account(torn)
	}()
	if !panicked {
		t.Fatal("no panic: the test tests nothing")
	}
	done := make(chan bool, 1)
	go func() { done <- r.m.Account("joe").Admin }()
	select {
	case admin := <-done:
		if admin {
			t.Error("joe is an administrator")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the accounts are locked for ever")
	}
}
