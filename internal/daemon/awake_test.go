package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// holds counts who keeps the processors awake.
type holds struct {
	now, all atomic.Int32
	err      error
}

func (h *holds) hold() (io.Closer, error) {
	if h.err != nil {
		return nil, h.err
	}
	h.now.Add(1)
	h.all.Add(1)
	return h, nil
}

func (h *holds) Close() error { h.now.Add(-1); return nil }

// awakeRig is a watcher on a clock that stands still.
type awakeRig struct {
	t   *testing.T
	clk *clock.Fake
	a   *awake
	h   *holds
	log bytes.Buffer
	end func()
}

func newAwakeRig(t *testing.T) *awakeRig {
	r := &awakeRig{t: t, clk: clock.NewFake(time.Unix(1e9, 0)), h: &holds{}}
	log := zerolog.New(&r.log)
	r.a = newAwake(r.clk, &log, r.h.hold)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.a.watch(ctx) }()
	r.end = func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the watcher does not end")
		}
	}
	r.until(r.a.resting.Load)
	return r
}

func (r *awakeRig) until(what func() bool) {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("in vain")
		}
	}
}

// step lets n messages come, and the watcher look once.
func (r *awakeRig) step(n int) {
	r.t.Helper()
	for range n {
		r.a.note()
	}
	r.until(func() bool { return r.clk.Timers() > 0 })
	r.clk.Advance(awakeStep)
	r.until(func() bool { return r.clk.Timers() > 0 || r.a.resting.Load() })
}

// While clients send much the processors are kept awake, and no longer; without traffic nothing looks for it.
func TestAwake(t *testing.T) {
	r := newAwakeRig(t)
	defer r.end()
	for i, s := range []struct {
		n    int
		want int32
	}{{1, 0}, {awakeFrom - 1, 0}, {awakeFrom, 1}, {1000, 1}, {awakeUntil, 1}, {awakeUntil - 1, 0}, {awakeUntil, 0}, {awakeFrom, 1}, {0, 0}} {
		if r.step(s.n); r.h.now.Load() != s.want {
			t.Fatalf("step %d, %d messages: held %d times", i, s.n, r.h.now.Load())
		}
	}
	for range awakeQuiet - 1 {
		r.step(0)
	}
	if !r.a.resting.Load() || r.clk.Timers() != 0 {
		t.Errorf("resting %v, %d timers", r.a.resting.Load(), r.clk.Timers())
	}
	if r.step(awakeFrom); r.h.now.Load() != 1 || r.h.all.Load() != 3 {
		t.Errorf("held %d times, %d in all", r.h.now.Load(), r.h.all.Load())
	}
}

// At its end the watcher lets go.
func TestAwakeEnds(t *testing.T) {
	r := newAwakeRig(t)
	r.step(awakeFrom)
	if r.end(); r.h.now.Load() != 0 || r.h.all.Load() != 1 {
		t.Errorf("held %d times, %d in all", r.h.now.Load(), r.h.all.Load())
	}
}

// A system that does not let us is named in the log.
func TestAwakeRefused(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(&out)
	a := newAwake(clock.Real(), &log, (&holds{err: errors.New("open /dev/x: permission denied")}).hold)
	if a.possible() || !strings.Contains(out.String(), "/dev/x") {
		t.Errorf("log: %s", out.String())
	}
	h := &holds{}
	if a = newAwake(clock.Real(), &log, h.hold); !a.possible() || h.now.Load() != 0 || h.all.Load() != 1 {
		t.Errorf("held %d times, %d in all", h.now.Load(), h.all.Load())
	}
}
