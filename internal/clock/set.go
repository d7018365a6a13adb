package clock

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Settable is for tests: the machine's clock of which somebody sets the time of day. Intervals between its times, and its timers, are
// not touched by that, as those of Real are not.
type Settable struct {
	realClock
	ahead atomic.Int64 // seconds
}

// Set moves the time of day by whole seconds, forwards or backwards.
func (c *Settable) Set(by time.Duration) { c.ahead.Add(int64(by / time.Second)) }

// Now is the machine's time with another time of day. A time.Time that has both cannot be made otherwise: the first word of one that
// comes from time.Now has a 1, the seconds since 1885 in 33 bits, and the nanoseconds in 30.
func (c *Settable) Now() time.Time {
	t := time.Now()
	*(*uint64)(unsafe.Pointer(&t)) += uint64(c.ahead.Load()) << 30
	return t
}
