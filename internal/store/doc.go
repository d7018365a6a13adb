// Package store owns every byte a queue manager keeps on disk.
//
// Invariants
//   - Wait returning nil means the unit of work survives power loss.
//   - A unit of work is atomic: all of its intents or none.
//   - Units become durable in the order of their Submit.
//   - What is read is what was written, or an ErrCorrupt that names the place: everything carries a checksum.
//   - A segment is deleted only after a checkpoint beyond it is synced.
//   - A full disk refuses what takes room (ErrFull), never what gives room back; it does not end the store.
//
// What never happens here: MQSC, topics, reason codes, sockets, waiting for a getter.
//
// Three implementations pass the suite in storetest: OpenMem keeps nothing, OpenBolt is bbolt with group commit and the
// model, OpenLog (Open) puts a log in front of it. Start at Store (store.go), then bolt.go for what both have in common,
// log.go, commit.go, checkpoint.go and scan.go for the log; docs/format/log.md and state.md describe every byte.
package store
