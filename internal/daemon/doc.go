// Package daemon builds a running queue manager from its options: data directory, lock, store, manager, listeners,
// the HTTP door on the local socket, systemd, signals, stop modes.
//
// Invariants
//   - One process holds DIR/<QM>/lock for as long as it may touch the manager's data.
//   - A manager that could not be created leaves nothing behind.
//   - "ready" is said only when every door is open and every start-up script has run.
//
// What never happens here: MQ semantics (qmgr), bytes on disk (store), HTTP paths (web).
// Start at Run (run.go); the files on disk are in layout.go and ini.go.
package daemon
