package qmgr

import (
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// bell is the waker of a get whose owner waits for it in a goroutine.
type bell chan struct{}

func (b bell) Wake(any) {
	select {
	case b <- struct{}{}:
	default:
	}
}
func (b bell) Own() bool                    { return false }
func (b bell) Disown()                      {}
func (b bell) Settled(by any)               { b.Wake(by) }
func (b bell) Take(any, []byte, int, error) {}

// waitGet gets without a goroutine, with an interval in milliseconds.
func waitGet(w *Waiting, h Handle, interval int32) (GetState, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Options, gmo.WaitInterval = mqi.MQGMO_WAIT, interval
	_, _, s, err := w.Get(h, &md, &gmo, 100)
	return s, err
}

// An interval runs out while the wait ends for another reason, and its place goes on to another queue meanwhile.
func TestLateIntervalLeavesTheNextWaitAlone(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "R")
	q := r.m.lookup(ClassQueue, "Q").Queue
	g := r.connect()
	a, b := r.openQ(g, "Q", mqi.MQOO_INPUT_SHARED), r.openQ(g, "R", mqi.MQOO_INPUT_SHARED)
	w := g.NewWaiting(make(bell, 1))
	if s, err := waitGet(w, a, 5); s != GetWaits {
		t.Fatal(s, err)
	}
	start := r.clk.Now()
	q.mu.Lock()
	over := make(chan struct{})
	go func() { r.clk.Advance(10 * time.Millisecond); close(over) }() // the timer has come, and waits for the queue
	for r.clk.Now().Equal(start) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(5 * time.Millisecond)
	q.wait.endAll(waitResult{rc: mqi.MQRC_GET_INHIBITED})
	var s, s2 GetState
	var err, err2 error
	apart := make(chan struct{})
	go func() { // as any getter: it does not hold the queue
		defer close(apart)
		_, _, s, err = w.Resume()
		s2, err2 = waitGet(w, b, 1000)
	}()
	<-apart
	q.mu.Unlock()
	if s != GetOver || s2 != GetWaits {
		t.Fatal(s, err, s2, err2)
	}
	wantRC(t, err, mqi.MQRC_GET_INHIBITED)
	<-over
	if _, _, s, err := w.Resume(); s != GetWaits {
		t.Fatalf("the wait on the other queue has ended: %v, %v", s, err)
	}
	r.clk.Advance(time.Second)
	_, _, s, err = w.Resume()
	if s != GetOver {
		t.Fatal(s, err)
	}
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
}

// One place waits at two queues in turn, for intervals that run out, while messages come and gets are inhibited and allowed.
func TestOnePlaceManyEnds(t *testing.T) {
	r := newRig(t)
	r.m.opt.Clock = clock.Real()
	names := []string{"Q", "R"}
	g := r.connect()
	var hs, puts []Handle
	for _, n := range names {
		r.define("QLOCAL", n)
		hs = append(hs, r.openQ(g, n, mqi.MQOO_INPUT_SHARED))
		puts = append(puts, r.openQ(r.c, n, mqi.MQOO_OUTPUT))
	}
	stop := make(chan struct{})
	var beside sync.WaitGroup
	go2 := func(fn func(i int)) {
		beside.Add(1)
		go func() {
			defer beside.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(i%7) * 200 * time.Microsecond):
					fn(i)
				}
			}
		}()
	}
	go2(func(i int) {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		if err := r.c.PutBy(bg, 1, puts[i%2], &md, &pmo, []byte("m"), true); err != nil {
			t.Error(err)
		}
	})
	go2(func(i int) {
		r.alter(ClassQueue, names[i/2%2], "GET", []string{"DISABLED", "ENABLED"}[i%2])
	})
	ring := make(bell, 1)
	w := g.NewWaiting(ring)
	ended := map[mqi.RC]int{}
	for i, end := 0, time.Now().Add(400*time.Millisecond); time.Now().Before(end); i++ {
		s, err := waitGet(w, hs[i%2], int32(1+i%3))
		for s == GetWaits {
			if i%11 == 10 {
				w.Cancel()
				err = nil
				break
			}
			select {
			case <-ring:
			case <-time.After(10 * time.Second):
				t.Fatal("nobody ended the wait")
			}
			_, _, s, err = w.Resume()
		}
		_, rc := reasonOf(err)
		ended[rc]++
	}
	close(stop)
	beside.Wait()
	for rc, n := range ended {
		switch rc {
		case 0, mqi.MQRC_NO_MSG_AVAILABLE, mqi.MQRC_GET_INHIBITED:
		default:
			t.Errorf("%d gets ended with %d", n, rc)
		}
	}
	if len(ended) != 3 {
		t.Errorf("gets ended with %v: want some with messages, without, and inhibited", ended)
	}
	for _, n := range names {
		if q := r.m.lookup(ClassQueue, n).Queue; q.wait.n != 0 {
			t.Errorf("%s has %d waiters left", n, q.wait.n)
		}
	}
}

// A persistent message that lies in memory and is got in a unit of work need not wait for the disk: whoever has woken the get may
// take it as far as its answer. The sync is the commit's.
func TestWhatWaitsForTheDisk(t *testing.T) {
	for name, c := range map[string]struct {
		rig  func(testing.TB) *rig
		opts int32
		want GetState
	}{
		"in a unit of work, in memory":      {newRig, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT, GetOver},
		"in a unit of work, just put":       {newBoltRig, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT, GetOver},
		"outside a unit of work, in memory": {newRig, mqi.MQGMO_NO_SYNCPOINT, GetBlocks},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.rig(t)
			r.define("QLOCAL", "Q")
			x := r.takes("Q", 100, c.opts)
			r.put(r.c, r.openQ(r.c, "Q", inOut), "m", 0, persistent)
			units := r.submits(nil)
			data, _, s, err := x.w.Resume()
			if s != c.want || err != nil {
				t.Fatalf("state %d, %v, want %d", s, err, c.want)
			}
			if s == GetBlocks {
				data, _, s, err = x.w.Finish(false)
			}
			if s != GetOver || err != nil || string(data) != "m" {
				t.Fatalf("%q, %v, %v", data, s, err)
			}
			if inWork := c.opts != mqi.MQGMO_NO_SYNCPOINT; inWork != (*units == 0) {
				t.Errorf("%d units have come to the store before a commit", *units)
			}
			if c.opts == mqi.MQGMO_NO_SYNCPOINT {
				return
			}
			wantRC(t, x.w.c.Backout(bg), 0)
			if got := r.texts("Q"); got != "m" {
				t.Errorf("after a backout: %q", got)
			}
		})
	}
}

func TestWhatLiesInAFileWaitsForTheDisk(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q")
	r.put(r.c, r.openQ(r.c, "Q", inOut), "m", 0, persistent)
	r.restart(store.Immediate)
	c := r.connect()
	w := c.NewWaiting(make(bell, 1))
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Options = mqi.MQGMO_SYNCPOINT
	if _, _, s, err := w.Get(r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED), &md, &gmo, 100); s != GetBlocks {
		t.Fatal(s, err)
	}
	if data, _, s, err := w.Finish(false); s != GetOver || err != nil || string(data) != "m" {
		t.Errorf("%q, %v, %v", data, s, err)
	}
}
