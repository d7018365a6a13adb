// Package qmgr is the queue manager: object registry, local queues, handles, name resolution, put, get and browse,
// units of work, and the executor of every MQSC command.
//
// Invariants
//   - A reply that says "done" for persistent work follows its sync.
//   - An object's Def is immutable and swapped; readers take no lock.
//   - No lock is held during a disk sync or a call out of the package (LOCKS.md).
//
// What never happens here: bytes on disk (store), bytes on the wire, MQSC text.
// Start at Manager (manager.go); commands at Submit (execute.go); messages at Conn (conn.go).
package qmgr
