package obs

import (
	"sync"
	"time"
)

const (
	// repeatBurst entries of one kind are written in each repeatEvery; what comes beyond is counted.
	repeatBurst = 10
	repeatEvery = time.Minute
	// repeatKinds bounds the kinds that are told apart; the others count as one.
	repeatKinds = 1024
)

// Repeats keeps a flood of entries of one kind, such as refused connections, from filling the log: of each kind some are
// written, and then in one entry how many were left out.
type Repeats struct {
	after func(d time.Duration, f func()) (stop func() bool)

	mu    sync.Mutex
	kinds map[string]*repeat
}

type repeat struct {
	written, left int
	stop          func() bool
}

// NewRepeats makes one; the zero value is not usable. after is a clock's AfterFunc.
func NewRepeats(after func(d time.Duration, f func()) (stop func() bool)) *Repeats {
	return &Repeats{after: after, kinds: map[string]*repeat{}}
}

// Allow reports whether an entry of a kind is to be written. When some were left out, sum is called with their number at the
// end of the minute, from another goroutine.
func (r *Repeats) Allow(kind string, sum func(left int)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[kind]
	if k == nil && len(r.kinds) >= repeatKinds {
		kind = ""
		k = r.kinds[kind]
	}
	if k == nil {
		k = &repeat{}
		k.stop = r.after(repeatEvery, func() { r.end(kind, sum) })
		r.kinds[kind] = k
	}
	if k.written < repeatBurst {
		k.written++
		return true
	}
	k.left++
	return false
}

// end closes the minute of a kind.
func (r *Repeats) end(kind string, sum func(left int)) {
	r.mu.Lock()
	k := r.kinds[kind]
	delete(r.kinds, kind)
	r.mu.Unlock()
	if k != nil && k.left > 0 {
		sum(k.left)
	}
}

// Close forgets what was counted; nothing is written any more.
func (r *Repeats) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, k := range r.kinds {
		k.stop()
		delete(r.kinds, kind)
	}
}
