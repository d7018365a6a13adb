package store

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

const testJoin = time.Millisecond

// companions is a store with one queue, and what was told of units that were left.
type companions struct {
	t   *testing.T
	s   *logStore
	clk *clock.Fake
	q   QID
	seq Seq
	got Seq
	was chan told
}

type told struct {
	by  any
	err error
}

func newCompanions(t *testing.T, fs vfs.FS) *companions {
	clk := clock.NewFake(time.Unix(1_000_000, 0))
	s, err := OpenLog(Options{Dir: t.TempDir(), FS: fs, Clock: clk, SegmentSize: 1 << 20, JoinDelay: testJoin})
	if err != nil {
		t.Fatal(err)
	}
	c := &companions{t: t, s: s.(*logStore), clk: clk, q: 7, was: make(chan told, 1)}
	t.Cleanup(func() { _ = c.s.Close(Immediate, nil) })
	return c
}

func (c *companions) put(by any) Ticket {
	c.seq++
	var tx Tx
	tx.Put(c.q, c.seq, Rec{Head: []byte("head"), Body: []byte("body"), Persistent: true})
	tx.Await(by)
	return c.s.Submit(&tx)
}

func (c *companions) get() Ticket {
	c.got++
	var tx Tx
	tx.Remove(c.q, c.got, true)
	tx.Await(nil)
	return c.s.Submit(&tx)
}

// leave lets the committer's goroutine come to rest first: while it works a unit may be left whatever has gone before.
func (c *companions) leave(submit func() Ticket) bool {
	for !c.s.com.idle.Load() || len(c.s.com.wake) > 0 {
		time.Sleep(time.Millisecond)
	}
	return c.leaveNow(submit())
}

func (c *companions) leaveNow(u Ticket) bool {
	return u.Leave(func(by any, err error) { c.was <- told{by, err} })
}

func (c *companions) wait(u Ticket) {
	c.t.Helper()
	if err := u.Wait(context.Background()); err != nil {
		c.t.Fatal(err)
	}
}

// left is what was told of the unit that was left.
func (c *companions) left() told {
	c.t.Helper()
	select {
	case x := <-c.was:
		return x
	case <-time.After(10 * time.Second):
		c.t.Fatal("the unit was forgotten")
		return told{}
	}
}

// A get alone after a put waits for the next put, and both share a sync.
func TestGetWaitsForPut(t *testing.T) {
	c := newCompanions(t, nil)
	c.wait(c.put("a"))
	if !c.leave(c.get) {
		t.Fatal("a get right after a put is not left")
	}
	before := c.s.syncs.Load()
	c.wait(c.put("b"))
	if x := c.left(); x.by != "b" || x.err != nil {
		t.Errorf("%v", x)
	}
	if n := c.s.syncs.Load() - before; n != 1 {
		t.Errorf("%d syncs for a put and a get", n)
	}
	if c.leave(func() Ticket { return c.put("c") }) != true {
		t.Error("a put after a batch of both is not left")
	}
	before = c.s.syncs.Load()
	c.wait(c.get())
	if x := c.left(); x.by != nil || x.err != nil {
		t.Errorf("%v", x)
	}
	if n := c.s.syncs.Load() - before; n != 1 {
		t.Errorf("%d syncs for a get and a put", n)
	}
}

// Nobody comes: the wait ends with its time, and the next one is not tried.
func TestWaitInVain(t *testing.T) {
	c := newCompanions(t, nil)
	c.wait(c.put("a"))
	if !c.leave(c.get) {
		t.Fatal("not left")
	}
	select {
	case x := <-c.was:
		t.Fatalf("committed at once: %v", x)
	case <-time.After(10 * time.Millisecond):
	}
	c.clk.Advance(testJoin)
	if x := c.left(); x.by != nil || x.err != nil {
		t.Errorf("%v", x)
	}
	c.wait(c.put("b"))
	var u Ticket
	if c.leave(func() Ticket { u = c.get(); return u }) {
		t.Error("left again right after a wait in vain")
	}
	c.wait(u)
	c.wait(c.put("c"))
	if !c.leave(c.get) {
		t.Error("not left although one was left out")
	}
	c.clk.Advance(testJoin)
	c.left()
}

// A timer that was set for an earlier wait does not cut a later one short.
func TestAlarmOfEarlierWait(t *testing.T) {
	c := newCompanions(t, nil)
	c.wait(c.put("a"))
	c.leave(c.get)
	c.wait(c.put("b"))
	c.left()
	c.clk.Advance(testJoin / 2)
	if !c.leave(c.get) {
		t.Fatal("not left")
	}
	c.clk.Advance(testJoin / 2) // the first one's
	select {
	case x := <-c.was:
		t.Fatalf("committed too early: %v", x)
	case <-time.After(10 * time.Millisecond):
	}
	c.clk.Advance(testJoin / 2)
	c.left()
}

// One who waits in his goroutine is joined by who comes next, or goes on when the time is over.
func TestPutWaitsForGet(t *testing.T) {
	c := newCompanions(t, nil)
	both := func() {
		c.wait(c.put("a"))
		c.leave(c.get)
		c.wait(c.put("b"))
		c.left()
	}
	both()
	waits := func(u Ticket) chan error {
		done := make(chan error, 1)
		go func() { done <- u.Wait(context.Background()) }()
		for { // until it waits for company
			c.s.com.mu.Lock()
			p := u.(*unit).waits
			c.s.com.mu.Unlock()
			if p != nil {
				return done
			}
			time.Sleep(time.Millisecond)
		}
	}
	done := waits(c.put("c"))
	before := c.s.syncs.Load()
	c.wait(c.get())
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := c.s.syncs.Load() - before; n != 1 {
		t.Errorf("%d syncs", n)
	}
	done = waits(c.put("d"))
	c.clk.Advance(testJoin)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A unit that was left is told of the end of the store: committed at an orderly one.
func TestCloseEndsWaits(t *testing.T) {
	c := newCompanions(t, nil)
	c.wait(c.put("a"))
	if !c.leave(c.get) {
		t.Fatal("not left")
	}
	if err := c.s.Close(Quiesce, func(QID) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if x := c.left(); x.err != nil {
		t.Errorf("%v", x)
	}
}

// A failed sync is told to the one who was left as to who waits.
func TestLeftUnitFails(t *testing.T) {
	fs := errfs.New(vfs.OS())
	c := newCompanions(t, fs)
	c.wait(c.put("a"))
	if !c.leave(c.get) {
		t.Fatal("not left")
	}
	fs.Set(&errfs.Rule{Kind: errfs.Sync, N: 1, Err: syscall.EIO})
	if err := c.put("b").Wait(context.Background()); !errors.Is(err, ErrFailed) {
		t.Errorf("the put: %v", err)
	}
	if x := c.left(); !errors.Is(x.err, ErrFailed) || x.by != "b" {
		t.Errorf("%v", x)
	}
}

// With a clock that may stand still nobody waits unless it is asked for.
func TestNoCompanyByOtherClock(t *testing.T) {
	s, err := OpenLog(Options{Dir: t.TempDir(), Clock: clock.NewFake(time.Unix(1, 0)), SegmentSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(Immediate, nil)
	if s.(*logStore).com.company != nil {
		t.Error("units wait")
	}
}
