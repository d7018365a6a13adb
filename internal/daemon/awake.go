package daemon

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// A processor that has nothing to do for a few microseconds goes to sleep, and a virtual one takes tens of microseconds to wake up:
// of a request and its reply that is most of the time. Who wants that time more than the power it saves says so (--low-latency,
// Process: LowLatency in qm.ini). Then the system is asked to let no processor sleep, but only while clients send much: a queue
// manager at rest costs nothing.
const (
	// awakeStep is how often the watcher looks while there is traffic.
	awakeStep = 10 * time.Millisecond
	// awakeFrom is how many times in a step the clients must have sent something for the processors to be kept awake, awakeUntil
	// how many for them to stay so.
	awakeFrom  = 20
	awakeUntil = 5
	// awakeQuiet is after how many steps without any the watcher waits for the next one.
	awakeQuiet = 3
)

// awake keeps processors awake while clients send much.
type awake struct {
	clk  clock.Clock
	log  *zerolog.Logger
	hold func() (io.Closer, error) // asks the system, until closed

	sent    atomic.Int64 // how often something has arrived
	resting atomic.Bool  // the watcher waits for wake
	wake    chan struct{}
	seen    int64 // of sent; the watcher's
}

func newAwake(clk clock.Clock, log *zerolog.Logger, hold func() (io.Closer, error)) *awake {
	return &awake{clk: clk, log: log, hold: hold, wake: make(chan struct{}, 1)}
}

// possible asks the system once, so that the operator learns at the start what will not be.
func (a *awake) possible() bool {
	h, err := a.hold()
	if err != nil {
		a.log.Warn().Err(err).Msg("low latency: the processors may sleep, as the system does not let this user keep them awake; run as root, " +
			"or give the user the right to write to the device named here")
		return false
	}
	h.Close()
	return true
}

// note is called when something has arrived, by many at a time.
func (a *awake) note() {
	a.sent.Add(1)
	if a.resting.Load() && a.resting.CompareAndSwap(true, false) {
		a.wake <- struct{}{}
	}
}

// watch goes on until ctx ends.
func (a *awake) watch(ctx context.Context) error {
	for {
		a.resting.Store(true)
		select {
		case <-a.wake:
		case <-ctx.Done():
			return nil
		}
		if !a.traffic(ctx) {
			return nil
		}
	}
}

// traffic watches until there is none. It reports whether to go on.
func (a *awake) traffic(ctx context.Context) bool {
	var held io.Closer
	defer func() {
		if held != nil {
			held.Close()
		}
	}()
	for quiet := 0; quiet < awakeQuiet; {
		select {
		case <-a.clk.After(awakeStep):
		case <-ctx.Done():
			return false
		}
		now := a.sent.Load()
		n := now - a.seen
		a.seen = now
		if quiet++; n > 0 {
			quiet = 0
		}
		switch {
		case held == nil && n >= awakeFrom:
			h, err := a.hold()
			if err != nil {
				a.log.Warn().Err(err).Msg("low latency: the processors may sleep from now on")
				return false
			}
			held = h
		case held != nil && n < awakeUntil:
			held.Close()
			held = nil
		}
	}
	return true
}
