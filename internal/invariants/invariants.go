// Package invariants checks what must hold always.
//
// The checks are on in builds with the tag "invariants" or with the race detector, and cost nothing otherwise: put what
// is dear to compute behind Enabled.
//
// The tag "invariants" also tracks locks: Mutex and RWMutex note which goroutine holds them, and Blocking, which stands
// where somebody waits for a disk, a peer on the network, or for one who does, ends the program when the goroutine holds
// any. Ranked and RankedRW are the same with a place in the program's order of locks (order.go); taking one out of order ends the
// program too. Without the tag they are sync.Mutex, sync.RWMutex and nothing. A Turn gives the order of those who use one thing
// that itself waits (a socket's writers, the checkpoints, the verbs of one connection); it may be held over a wait, so
// waiting for it counts as one. Work counts what is done under the locks that a goroutine holds, and ends the program when it is more
// under one hold than others may wait for.
package invariants

import "fmt"

// True panics when cond is false and the checks are on. The text says what is wrong, in the owner's words.
func True(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
