package qmgr

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

type gotMsg struct {
	text string
	err  error
}

// getWait gets with an unlimited wait in another goroutine and connection.
func (r *rig) getWait(name string, opts int32, change ...func(*mqi.MD, *mqi.GMO)) (*Conn, chan gotMsg) {
	r.t.Helper()
	c := r.connect()
	return c, r.waitOn(c, r.openQ(c, name, mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE), opts, change...)
}

// waitOn starts a get that waits for ever.
func (r *rig) waitOn(c *Conn, h Handle, opts int32, change ...func(*mqi.MD, *mqi.GMO)) chan gotMsg {
	ch := make(chan gotMsg, 1)
	change = append([]func(*mqi.MD, *mqi.GMO){func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = -1 }}, change...)
	go func() {
		s, _, err := tryGet(c, h, mqi.MQGMO_WAIT|opts, change...)
		ch <- gotMsg{s, err}
	}()
	return ch
}

func (r *rig) receive(ch chan gotMsg) gotMsg {
	r.t.Helper()
	select {
	case g := <-ch:
		return g
	case <-time.After(10 * time.Second):
		r.t.Fatal("a waiting get was not answered")
		return gotMsg{}
	}
}

func TestWaitIsAnswered(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	_, any := r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	_, cor := r.getWait("Q", 0, func(md *mqi.MD, _ *mqi.GMO) { md.CorrelID[0] = 7 })
	r.awaitWaiters("Q", 2)
	_, brw := r.getWait("Q", mqi.MQGMO_BROWSE_FIRST)
	r.awaitWaiters("Q", 3)
	r.put(r.c, h, "for 7", mqi.MQPMO_SYNCPOINT, func(md *mqi.MD) { md.CorrelID[0] = 7 })
	r.awaitWaiters("Q", 3) // not before the commit
	wantRC(t, r.c.Commit(bg), 0)
	// The one that asks for it comes first, browsers see it too (unless it has gone already).
	if g := r.receive(cor); g.text != "for 7" {
		t.Errorf("%v", g)
	}
	r.put(r.c, h, "for anybody", 0)
	if g := r.receive(any); g.text != "for anybody" {
		t.Errorf("%v", g)
	}
	r.put(r.c, h, "late", 0)
	if g := r.receive(brw); g.err != nil {
		t.Errorf("%v", g)
	}
}

func TestWaitEnds(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)

	c, ch := r.getWait("Q", 0, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = 1500 })
	r.awaitWaiters("Q", 1)
	r.clk.Advance(1499 * time.Millisecond)
	r.awaitWaiters("Q", 1)
	for r.lookWaiters("Q") == 1 { // the timer may be made after the waiter
		r.clk.Advance(time.Millisecond)
	}
	wantRC(t, r.receive(ch).err, mqi.MQRC_NO_MSG_AVAILABLE)
	c.Break()

	c, ch = r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	_, err := tryPut(c, 1, "x", 0)
	wantRC(t, err, mqi.MQRC_CALL_IN_PROGRESS)
	c.Break()
	wantRC(t, r.receive(ch).err, mqi.MQRC_CONNECTION_BROKEN)

	_, ch = r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	r.alter(ClassQueue, "Q", "GET", "DISABLED")
	wantRC(t, r.receive(ch).err, mqi.MQRC_GET_INHIBITED)
	r.alter(ClassQueue, "Q", "GET", "ENABLED")

	_, ch = r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	r.put(r.c, h, "short", 0)
	if g := r.receive(ch); g.text != "short" {
		t.Errorf("%v", g)
	}
	_, ch = r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	r.m.lookup(ClassQueue, "Q").Queue.deleted()
	wantRC(t, r.receive(ch).err, mqi.MQRC_Q_DELETED)
}

func (r *rig) lookWaiters(name string) int {
	q := r.m.lookup(ClassQueue, name).Queue
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.wait.n
}

// A backed-out get gives its message to a waiting one.
func TestWaitGetsBackedOut(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "x", 0)
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	_, ch := r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	wantRC(t, r.c.Backout(bg), 0)
	if g := r.receive(ch); g.text != "x" {
		t.Errorf("%v", g)
	}
}

func TestWaitUnlocked(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "x", 0)
	r.get(r.c, h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK)
	_, ch := r.getWait("Q", 0)
	r.awaitWaiters("Q", 1)
	_, _, err := tryGet(r.c, h, mqi.MQGMO_UNLOCK)
	wantRC(t, err, 0)
	if g := r.receive(ch); g.text != "x" {
		t.Errorf("%v", g)
	}
}

// One message wakes one get, however many wait: requesters on one reply queue, each for its own CorrelId.
func TestManyWaiters(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	const n = 2000
	chans := make([]chan gotMsg, n)
	for i := range chans {
		_, chans[i] = r.getWait("Q", 0, func(md *mqi.MD, _ *mqi.GMO) {
			md.CorrelID = mqi.ID{byte(i), byte(i >> 8), 1}
		})
	}
	r.awaitWaiters("Q", n)
	for i := n - 1; i >= 0; i-- {
		r.put(r.c, h, fmt.Sprint(i), 0, func(md *mqi.MD) { md.CorrelID = mqi.ID{byte(i), byte(i >> 8), 1} })
	}
	for i, ch := range chans {
		if g := r.receive(ch); g.text != fmt.Sprint(i) {
			t.Fatalf("requester %d got %v", i, g)
		}
	}
	q := r.m.lookup(ClassQueue, "Q").Queue
	if len(q.wait.cor) != 0 || q.wait.n != 0 {
		t.Errorf("waiters left: %d lists", len(q.wait.cor))
	}
}

func TestQuiesce(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	polite, pch := r.getWait("Q", mqi.MQGMO_FAIL_IF_QUIESCING)
	stubborn, sch := r.getWait("Q", 0)
	r.awaitWaiters("Q", 2)
	r.put(r.c, h, "uncommitted", mqi.MQPMO_SYNCPOINT)
	ctx, cancel := context.WithCancel(bg)
	ended := make(chan struct{})
	go func() { r.m.quiesceConns(ctx, store.Quiesce); close(ended) }()
	wantRC(t, r.receive(pch).err, mqi.MQRC_Q_MGR_QUIESCING)
	_, err := r.m.Connect(bg, r.c.who, ConnectOptions{})
	wantRC(t, err, mqi.MQRC_Q_MGR_QUIESCING)
	_, err = tryPut(r.c, h, "x", mqi.MQPMO_FAIL_IF_QUIESCING)
	wantRC(t, err, mqi.MQRC_Q_MGR_QUIESCING)
	_, _, err = tryGet(r.c, h, mqi.MQGMO_FAIL_IF_QUIESCING)
	wantRC(t, err, mqi.MQRC_Q_MGR_QUIESCING)
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	_, err = r.c.Open(bg, &od, mqi.MQOO_OUTPUT|mqi.MQOO_FAIL_IF_QUIESCING)
	wantRC(t, err, mqi.MQRC_Q_MGR_QUIESCING)
	wantRC(t, r.c.Commit(bg), 0) // work in progress can be finished
	if g := r.receive(sch); g.text != "uncommitted" {
		t.Errorf("%v", g)
	}
	wantRC(t, polite.Disconnect(bg), 0)
	wantRC(t, r.c.Disconnect(bg), 0)
	select {
	case <-ended:
		t.Fatal("quiesce did not wait for the last connection")
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	<-ended
	<-stubborn.Done()
	_, err = r.m.Connect(bg, r.c.who, ConnectOptions{Internal: true})
	wantRC(t, err, mqi.MQRC_Q_MGR_STOPPING)
}

// Fifty connections at once, over every verb: nothing is lost, nothing is doubled.
func TestConcurrent(t *testing.T) {
	r := newRig(t)
	for i := 0; i < 3; i++ {
		r.define("QLOCAL", fmt.Sprint("Q", i), "MAXDEPTH", "1000000")
	}
	r.define("QMODEL", "M", "DEFTYPE", "TEMPDYN")
	const workers, rounds = 50, 200
	var mu sync.Mutex
	sent, got := map[string]int{}, map[string]int{}
	note := func(m map[string]int, texts ...string) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range texts {
			m[s]++
		}
	}
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		c := r.connect()
		hs := []Handle{r.openQ(c, "Q0", inOut), r.openQ(c, "Q1", inOut), r.openQ(c, "Q2", inOut)}
		go func() {
			defer wg.Done()
			var puts, gets []string
			for i := 0; i < rounds; i++ {
				text := fmt.Sprintf("%d.%d", w, i)
				h := hs[(w+i)%3]
				switch i % 5 {
				case 0, 1:
					if _, err := tryPut(c, h, text, 0, func(md *mqi.MD) { md.Priority = int32(i % 10) }); err == nil {
						note(sent, text)
					}
				case 2:
					if _, err := tryPut(c, h, text, mqi.MQPMO_SYNCPOINT); err == nil {
						puts = append(puts, text)
					}
				case 3:
					if s, _, err := tryGet(c, h, mqi.MQGMO_SYNCPOINT); err == nil {
						gets = append(gets, s)
					}
					_, _, _ = tryGet(c, h, mqi.MQGMO_BROWSE_NEXT)
				case 4:
					if i%3 == 0 {
						_ = c.Backout(bg)
					} else if c.Commit(bg) == nil {
						note(sent, puts...)
						note(got, gets...)
					}
					puts, gets = nil, nil
					od := mqi.DefaultOD()
					od.ObjectName = "M"
					if d, err := c.Open(bg, &od, inOut); err == nil {
						_, _ = tryPut(c, d, "tmp", 0)
						_ = c.Close(bg, d, 0)
					}
				}
			}
			if w%2 == 0 {
				c.Break()
			} else if c.Disconnect(bg) == nil {
				note(sent, puts...)
				note(got, gets...)
			}
		}()
	}
	wg.Wait()
	for i := 0; i < 3; i++ {
		h := r.openQ(r.c, fmt.Sprint("Q", i), inOut)
		for {
			s, _, err := tryGet(r.c, h, 0)
			if err != nil {
				wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
				break
			}
			note(got, s)
		}
		q := r.m.lookup(ClassQueue, fmt.Sprint("Q", i)).Queue
		checkQueue(t, q)
		if q.depth() != 0 || q.uncommitted() || q.got != 0 {
			t.Errorf("Q%d: depth %d, uncommitted %d, got %d", i, q.depth(), q.uncom, q.got)
		}
	}
	for s, n := range sent {
		if got[s] != n {
			t.Errorf("%s put %d times, got %d times", s, n, got[s])
		}
	}
	if len(sent) != len(got) {
		t.Errorf("%d put, %d got", len(sent), len(got))
	}
	if n := r.st.Stats().MemoryMessages; n != 0 {
		t.Errorf("%d messages left in the store", n)
	}
}

// Two identifiers with the same hash: each requester is woken with the other's message first, and both must still get
// their own. The last get may be told of its message only by looking again from the start of the queue.
func TestWaitersWithEqualHash(t *testing.T) {
	a, b := collidingIDs(t)
	for i := 0; i < 200; i++ {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := r.openQ(r.c, "Q", inOut)
		_, forB := r.getWait("Q", 0, func(md *mqi.MD, _ *mqi.GMO) { md.CorrelID = b })
		r.awaitWaiters("Q", 1)
		_, forA := r.getWait("Q", 0, func(md *mqi.MD, _ *mqi.GMO) { md.CorrelID = a })
		r.awaitWaiters("Q", 2)
		r.put(r.c, h, "a", 0, func(md *mqi.MD) { md.CorrelID = a })
		r.put(r.c, h, "b", 0, func(md *mqi.MD) { md.CorrelID = b })
		if g := r.receive(forA); g.text != "a" {
			t.Fatalf("%v", g)
		}
		if g := r.receive(forB); g.text != "b" {
			t.Fatalf("%v", g)
		}
		r.stop()
	}
}

// collidingIDs finds two identifiers that hashID does not tell apart.
func collidingIDs(t *testing.T) (a, b mqi.ID) {
	seen := map[uint32]uint32{}
	make := func(n uint32) mqi.ID { return mqi.ID{byte(n), byte(n >> 8), byte(n >> 16)} }
	for n := uint32(1); n < 1<<22; n++ {
		id := make(n)
		k := hashID(&id)
		if m, ok := seen[k]; ok {
			return make(m), id
		}
		seen[k] = n
	}
	t.Fatal("no collision found")
	return
}
