package fap

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// TestSlowDiskIsNoSilence: while its reader waits for the disk, and right after, a peer counts as neither silent nor idle,
// whatever it has sent meanwhile.
func TestSlowDiskIsNoSilence(t *testing.T) {
	clk := clock.NewFake(time.Unix(1000, 0))
	k := &socket{s: &Server{opt: Options{Clock: clk}}}
	k.link.Store(&link{shared: true, heartbeat: time.Second})
	k.turn.home = k
	k.lastRead.Store(clock.Ticks(clk.Now()))
	k.counts.lastCall.Store(clock.Ticks(clk.Now()))
	look := func() (silent bool, left time.Duration) {
		now := clock.Ticks(clk.Now())
		_, _, silent = k.beatDue(now, time.Second)
		return silent, k.idleDue(now, 20*time.Second)
	}
	reader, other := &conv{k: k, turn: &k.turn}, &conv{k: k}
	other.turn = &other.mine
	reader.waitDisk(func() {
		clk.Advance(time.Minute)
		if silent, left := look(); silent || left <= 0 {
			t.Errorf("meanwhile: silent %v, idle in %v", silent, left)
		}
	})
	if silent, left := look(); silent || left <= 0 {
		t.Errorf("right after: silent %v, idle in %v", silent, left)
	}
	other.waitDisk(func() { clk.Advance(time.Minute) }) // the reader has listened all the time
	if silent, left := look(); !silent || left > 0 {
		t.Errorf("a peer that said nothing: silent %v, idle in %v", silent, left)
	}
}

// TestClockIsSet: a peer is neither silent nor idle because somebody sets the machine's clock, and heartbeats and DISCINT go on when it
// is set back.
func TestClockIsSet(t *testing.T) {
	clk := &clock.Settable{}
	k := &socket{s: &Server{opt: Options{Clock: clk}}, inst: &Instance{Disconnect: time.Hour}}
	k.link.Store(&link{shared: true, heartbeat: 5 * time.Minute})
	k.s.agenda.clk = clk
	k.startHeartbeats()
	k.counts.lastCall.Store(k.lastRead.Load())
	defer k.s.agenda.timer.Stop()
	for _, by := range []time.Duration{3 * time.Hour, -7 * time.Hour} {
		clk.Set(by)
		now := clock.Ticks(clk.Now())
		next, ask, silent := k.beatDue(now, 5*time.Minute)
		if left := k.idleDue(now, time.Hour); silent || ask || next > 5*time.Minute || left <= 0 || left > time.Hour {
			t.Errorf("set by %v: silent %v, asks %v, looks in %v, idle in %v", by, silent, ask, next, left)
		}
		k.s.agenda.mu.Lock()
		if wait := time.Duration(k.s.agenda.at - clock.Ticks(clk.Now())); wait > 5*time.Minute {
			t.Errorf("set by %v: the next heartbeat is in %v", by, wait)
		}
		k.s.agenda.mu.Unlock()
	}
}
