// Package leaks is for tests: it looks for goroutines that they have left behind.
package leaks

import "go.uber.org/goleak"

// rounds is how often goleak looks, which it does for half a second each time. On a busy machine that is too short for goroutines
// that are about to end.
const rounds = 40

// VerifyTestMain runs the tests of a package, and fails when goroutines of theirs do not end.
func VerifyTestMain(m goleak.TestingM) { goleak.VerifyTestMain(patient{m}) }

type patient struct{ m goleak.TestingM }

func (p patient) Run() int {
	code := p.m.Run()
	for n := 0; code == 0 && n < rounds && goleak.Find() != nil; n++ {
	}
	return code
}
