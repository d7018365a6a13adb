package store

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Units that are waited for at once, units that nobody waits for until much later, and work between batches: all come to their
// end, in the order of their Submit, and never two batches at a time.
func TestWhoWaitsCommits(t *testing.T) {
	var mu sync.Mutex
	var last uint64
	busy := false

	c := newCommitter(func(batch []*unit) {
		mu.Lock()
		if busy {
			t.Error("two batches at a time")
		}
		busy = true
		mu.Unlock()
		for _, u := range batch {
			if u.num <= last {
				t.Errorf("unit %d after %d", u.num, last)
			}
			last = u.num
		}
		mu.Lock()
		busy = false
		mu.Unlock()
		for _, u := range batch {
			u.complete(nil)
		}
	}, func(u *unit, err error) { u.complete(err) })
	c.start()

	submit := func(await bool) *unit {
		tx := &Tx{}
		tx.Set(TableMeta, []byte("k"), []byte("v"))
		if await {
			tx.Await(nil)
		}
		u := &unit{tx: tx, done: make(chan struct{})}
		if err := c.submit(u, func() {}); err != nil {
			t.Error(err)
		}
		return u
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var late []*unit
			for i := range 500 {
				switch (g + i) % 4 {
				case 0:
					late = append(late, submit(false))
				case 1:
					if err := c.between(func() {}).Wait(context.Background()); err != nil {
						t.Error(err)
					}
				default:
					if err := submit(true).Wait(context.Background()); err != nil {
						t.Error(err)
					}
				}
			}
			for _, u := range late {
				if err := u.Wait(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("a unit was never committed")
	}
	c.stop(nil)
}

// A unit that waits while the committer is told to stop is answered as the stop says.
func TestStopAnswersWhoWaits(t *testing.T) {
	in, out := make(chan struct{}), make(chan struct{})
	c := newCommitter(func(batch []*unit) {
		in <- struct{}{}
		<-out
		for _, u := range batch {
			u.complete(nil)
		}
	}, func(u *unit, err error) { u.complete(err) })
	c.start()
	wait := func() chan error {
		tx := &Tx{}
		tx.Await(nil)
		u, res := &unit{tx: tx, done: make(chan struct{})}, make(chan error, 1)
		if err := c.submit(u, func() {}); err != nil {
			res <- err
			return res
		}
		go func() { res <- u.Wait(context.Background()) }()
		return res
	}
	first := wait()
	<-in
	second := wait()
	why := fmt.Errorf("the end")
	stopped := make(chan struct{})
	go func() { c.stop(why); close(stopped) }()
	for stop := false; !stop; {
		c.mu.Lock()
		stop = c.stopped
		c.mu.Unlock()
	}
	close(out)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := <-second; err != why {
		t.Errorf("the unit that waited: %v", err)
	}
	<-stopped
	if err := <-wait(); err != ErrClosed {
		t.Errorf("after the end: %v", err)
	}
}

// Where several work at a time, whoever commits first lets those submit who can at once; where one works, nobody is waited for.
func TestGather(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // who is ready has run when Gosched comes back
	batch := func(lately int) int {
		c := newCommitter(func(batch []*unit) {}, nil)
		c.lately = lately
		submit := func() {
			u := &unit{tx: &Tx{}, done: make(chan struct{})}
			u.tx.Await(nil)
			if err := c.submit(u, func() {}); err != nil {
				t.Error(err)
			}
		}
		submit()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(submit)
		}
		n, _ := c.step()
		wg.Wait()
		return n
	}
	for lately, want := range map[int]int{0: 1, 4: 1, 4 * gatherFrom: 6} {
		n := 0
		for range 100 { // the scheduler may also do something else in between
			if n = batch(lately); n == want {
				break
			}
		}
		if n != want {
			t.Errorf("%d units in the batch when lately there were %d, want %d", n, lately/4, want)
		}
	}
}
