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
	k.lastRead.Store(clk.Now().UnixNano())
	k.counts.lastCall.Store(clk.Now().UnixNano())
	look := func() (silent bool, left time.Duration) {
		now := clk.Now().UnixNano()
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
