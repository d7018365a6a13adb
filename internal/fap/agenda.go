package fap

import (
	"container/heap"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
)

// agenda wakes the sockets of a server when they asked to be: for heartbeats and DISCINT. One timer serves all of them, and
// it runs only when the next is due, so that idle sockets cost no time.
type agenda struct {
	clk clock.Clock

	mu    invariants.Ranked[invariants.Leaf]
	dues  dues
	timer clock.Timer
	at    int64 // when the timer runs, clock.Ticks; 0: it does not
	off   bool
}

// due is a socket's entry.
type due struct {
	k     *socket
	at    int64
	index int // in the heap, from 1; 0: not there
}

// set asks for tick of a socket, d from now.
func (a *agenda) set(k *socket, d time.Duration) {
	at := clock.Ticks(a.clk.Now()) + int64(max(d, time.Millisecond))
	a.mu.Lock()
	defer a.mu.Unlock()
	e := &k.due
	e.k, e.at = k, at
	if e.index == 0 {
		heap.Push(&a.dues, e)
	} else {
		heap.Fix(&a.dues, e.index-1)
	}
	a.arm()
}

// drop forgets a socket.
func (a *agenda) drop(k *socket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.due.index != 0 {
		heap.Remove(&a.dues, k.due.index-1)
	}
}

// arm sets the timer for the first entry, unless it runs early enough. An entry that was dropped may let it run in vain.
func (a *agenda) arm() {
	if len(a.dues) == 0 || a.at != 0 && a.at <= a.dues[0].at || a.off {
		return
	}
	a.at = a.dues[0].at
	wait := max(time.Duration(a.at-clock.Ticks(a.clk.Now())), 0)
	if a.timer == nil {
		a.timer = a.clk.AfterFunc(wait, a.run)
	} else {
		a.timer.Reset(wait)
	}
}

// run calls tick of those whose time has come.
func (a *agenda) run() {
	for _, k := range a.take(clock.Ticks(a.clk.Now())) {
		k.tick()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arm()
}

// take returns those whose time has come.
func (a *agenda) take(now int64) (all []*socket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = 0
	for len(a.dues) > 0 && a.dues[0].at <= now {
		all = append(all, heap.Pop(&a.dues).(*due).k)
	}
	return all
}

// dues is a heap by time.
type dues []*due

func (d dues) Len() int           { return len(d) }
func (d dues) Less(i, j int) bool { return d[i].at < d[j].at }
func (d dues) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i+1, j+1
}

func (d *dues) Push(x any) {
	e := x.(*due)
	*d = append(*d, e)
	e.index = len(*d)
}

func (d *dues) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last], *d = nil, (*d)[:last]
	e.index = 0
	return e
}
