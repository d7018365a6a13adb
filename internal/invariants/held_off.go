//go:build !invariants

package invariants

import "sync"

// Tracked reports whether locks are tracked.
const Tracked = false

// Mutex is a sync.Mutex whose holders the instrument knows.
type Mutex struct{ sync.Mutex }

// RWMutex is a sync.RWMutex whose holders the instrument knows.
type RWMutex struct{ sync.RWMutex }

// Ranked is a Mutex with a place in the order of locks.
type Ranked[R Rank] struct{ sync.Mutex }

// RankedRW is a RWMutex with a place in the order of locks.
type RankedRW[R Rank] struct{ sync.RWMutex }

// Turn lets the users of one thing follow each other, and may be held over a wait; see the package comment.
type Turn struct{ sync.Mutex }

// Blocking is called where a goroutine is about to wait for a disk, a peer, or somebody who does.
func Blocking(string) {}

// BlockingBut is Blocking where one lock is given up during the wait.
func BlockingBut(sync.Locker, string) {}

// Work is called by who does n steps of work while others may wait for a lock that he holds.
func Work(int) {}
