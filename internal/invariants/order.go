package invariants

import "sync"

// Order checks that one holder takes its locks in rising rank. A holder is whatever owns a sequence of calls (a
// connection, a unit of work); it is not safe for concurrent use, as its owner is not.
type Order struct {
	held []int
}

// Lock takes l, after a check that no lock of the same or a higher rank is held.
func (o *Order) Lock(l sync.Locker, rank int) {
	if Enabled {
		for _, h := range o.held {
			True(h < rank, "a lock of rank %d is taken while one of rank %d is held", rank, h)
		}
		o.held = append(o.held, rank)
	}
	l.Lock()
}

// Unlock releases what Lock took with that rank.
func (o *Order) Unlock(l sync.Locker, rank int) {
	l.Unlock()
	if !Enabled {
		return
	}
	for i := len(o.held) - 1; i >= 0; i-- {
		if o.held[i] == rank {
			o.held = append(o.held[:i], o.held[i+1:]...)
			return
		}
	}
	True(false, "a lock of rank %d is released that is not held", rank)
}
