package fap

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestFlow: a reader waits for a getter that it has handed something, and hardly ever for one that does not catch up.
func TestFlow(t *testing.T) {
	getter, other := &conv{}, &conv{}
	var f flow
	for range 1000 {
		if f.put(1, nil) {
			t.Fatal("waits for nobody")
		}
	}
	f.put(1, getter)
	waits := func(n int) (got int) {
		for range n {
			if f.put(1, nil) {
				got++
				f.waited(false)
			}
		}
		return got
	}
	if n := waits(100_000); n < 5 || n > 12 {
		t.Errorf("%d waits in vain during 100000 puts", n)
	}
	f.waited(true)
	if n := waits(flowEvery); n != 1 {
		t.Errorf("%d waits, of which the last was of use", n)
	}
	if f.put(2, nil) {
		t.Error("waits for the getter of another queue")
	}
	f.put(2, other)
	if f.taker != other || f.n != 1 || f.every != flowEvery {
		t.Errorf("%+v", f)
	}
}

// passes is a queue of which the test says what passes it.
type passes struct {
	put, got uint64
	depth    int
}

func (p *passes) Passed(int32) (put, got uint64, depth int) { return p.put, p.got, p.depth }

// TestFlowIsEmptied: while getters nearly keep up a reader waits with each message until the queue is empty; not when they take less
// than half of what is put, nor when much lies there.
func TestFlowIsEmptied(t *testing.T) {
	var q passes
	f := flow{of: &q}
	f.put(1, &conv{})
	for i, x := range []struct {
		put, got uint64
		depth    int
		again    bool
	}{{100, 50, 100, true}, {100, 49, 100, false}, {0, 0, 100, true}, {100, 100, flowDepth + 1, false}, {100, 100, flowDepth, true}} {
		q = passes{q.put + x.put, q.got + x.got, x.depth}
		f.every = flowEvery
		f.waited(false)
		if again := f.put(1, nil); again != x.again {
			t.Errorf("%d: waits again %v", i, again)
		}
	}
	f.waited(true)
	if f.put(1, nil) {
		t.Error("a wait of use, and the next one waits at once")
	}
	f.put(2, &conv{})
	if f.put0 != 0 || f.got0 != 0 {
		t.Error("what has passed one queue counts for the other")
	}
}

// A connection may end while the reader waits for a getter, without being the conversation's owner: what it then looks at is the
// reader's own. The race detector tells.
func TestConnectionEndsWhileReaderWaits(t *testing.T) {
	clk := clock.NewFake(time.Unix(1000, 0))
	s := &Server{opt: Options{Clock: clk}}
	k := &socket{s: s, ctx: t.Context()}
	k.out.init(pieces{list: make(chan string, 10)}, &k.wg, func(error) {}, func() {})
	k.turn.home = k
	c, getter := &conv{k: k, turn: &k.turn}, &conv{k: k, ctx: t.Context(), owned: true}
	c.setConn(struct {
		Conn
		*passes
	}{passes: &passes{}})
	for c.taker = getter; k.turn.ahead == nil; c.taker = nil {
		c.overtaken(1)
	}
	over := make(chan struct{}, 2)
	go func() { k.catchUp(); over <- struct{}{} }()
	for clk.Timers() == 0 {
		time.Sleep(time.Millisecond)
	}
	go func() { c.setConn(nil); over <- struct{}{} }()
	time.Sleep(20 * time.Millisecond)
	clk.Advance(flowWait)
	<-over
	<-over
	if c.flow.n != flowEvery {
		t.Error("it did not look at what had passed the queue")
	}
}

// What a turn gathers for others counts with its data: it is bounded by what it takes in memory.
func TestTurnCountsData(t *testing.T) {
	s := &Server{opt: Options{Clock: clock.NewFake(time.Unix(1000, 0))}}
	home, other := &socket{s: s}, &socket{s: s}
	other.out.init(pieces{list: make(chan string, 10)}, &other.wg, func(error) {}, func() {})
	other.link.Store(&link{transmission: wire.DefaultTransmission, maxMsg: 1 << 20})
	home.turn.home = home
	c := &conv{k: other, turn: &home.turn}
	st := &stream{req: wire.Request{Hobj: 1, Requested: 100_000, MaxMsg: -1}, h: wire.Header{Order: wire.Big, CCSID: 819}}
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version, md.Persistence = 2, mqi.MQPER_NOT_PERSISTENT
	body := make([]byte, 20_000)
	if rc, err := c.send(st, &md, &gmo, body, len(body), nil); rc != 0 || err != nil {
		t.Fatal(rc, err)
	}
	if n := home.turn.bytes; n != sizeMD2+len(body) {
		t.Errorf("%d bytes", n)
	}
}
