//go:build invariants || race

package invariants

// Enabled reports whether the checks are on.
const Enabled = true
