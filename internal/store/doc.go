// Package store owns every byte a queue manager keeps on disk.
//
// Invariants
//   - Wait returning nil means the unit of work survives power loss.
//   - A unit of work is atomic: all of its intents or none.
//   - Units become durable in the order of their Submit.
//
// What never happens here: MQSC, topics, reason codes, sockets, waiting for a getter.
// Start at Store (store.go).
package store
