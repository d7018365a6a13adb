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
