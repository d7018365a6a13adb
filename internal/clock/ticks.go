package clock

import "time"

// origin lies before every instant that a clock shows, so that no tick is 0 or less.
var origin = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Ticks is t, which a Clock has just shown, as a number of nanoseconds. The difference of two is how much time went by, whoever
// has set the machine's clock meanwhile: that of two UnixNano is not.
func Ticks(t time.Time) int64 { return int64(t.Sub(origin)) }

// FromTicks is the time of day of at, by the clock that shows now.
func FromTicks(at int64, now time.Time) time.Time { return now.Add(time.Duration(at - Ticks(now))) }
