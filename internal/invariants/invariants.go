// Package invariants checks what must hold always.
//
// The checks are on in builds with the tag "invariants" or with the race detector, and cost nothing otherwise: put what
// is dear to compute behind Enabled.
package invariants

import "fmt"

// True panics when cond is false and the checks are on. The text says what is wrong, in the owner's words.
func True(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
