package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The workloads on deep queues: W8 and W9.

// A lazyLoader can be told to skip syncs from its next start on. It is used
// only to fill a queue in reasonable time; measurements run with syncs.
type lazyLoader interface{ Lazy(bool) }

// fill adds n persistent messages to q and returns the rate.
func (b *bench) fill(dir, q string, n int) (float64, error) {
	l, lazy := b.p.(lazyLoader)
	restart := func(to bool) error {
		if !lazy {
			return nil
		}
		l.Lazy(to)
		return errors.Join(b.p.Stop(false), b.p.Start(dir))
	}
	if n == 0 {
		return 0, nil
	}
	if err := restart(true); err != nil {
		return 0, err
	}
	var cs closer
	defer cs.close()
	c, err := cs.dial(b.p)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range n {
		binary.BigEndian.PutUint64(b.body, uint64(i))
		if err := c.PutAsync(q, b.body, true); err != nil {
			return 0, err
		}
	}
	if err := c.Flush(); err != nil {
		return 0, err
	}
	rate := perSec(n, time.Since(start))
	return rate, restart(false)
}

// A twin can run beside the server that is measured.
type twin interface{ Twin() Peer }

// deepTurns is how many samples there are at each depth. The machine's figures drift by a tenth within seconds, so with a twin the empty
// queue and the deep one take turns.
const deepTurns = 8

// deep is W8 and W9: W2 on top of growing backlogs, then kill -9 and the
// time to the first message.
func (b *bench) deep() error {
	dir := filepath.Join(b.dir, "deep")
	if err := b.begin(dir); err != nil {
		return err
	}
	var empty *bench
	if t, ok := b.p.(twin); ok {
		e := *b
		empty, e.p = &e, t.Twin()
		defer empty.p.Stop(true)
		if err := empty.begin(filepath.Join(b.dir, "empty")); err != nil {
			return err
		}
	}
	have := 0
	for _, n := range []int{0, b.big / 10, b.big} {
		rate, err := b.fill(dir, "deep", n-have)
		if err != nil {
			return err
		}
		have = n
		b.now = "W9"
		if n > 0 {
			b.put(fmt.Sprintf("pipelined load up to %d", n), "msg/s", rate)
		}
		if err := b.turns(n, empty); err != nil {
			return err
		}
	}
	b.now = "W8"
	b.put(fmt.Sprintf("%d messages: RSS", b.big), "MiB", rss(b.p.Pid()))
	b.put(fmt.Sprintf("%d messages: disk", b.big), "MiB", diskUse(dir))
	if empty != nil {
		if err := empty.p.Stop(true); err != nil {
			return err
		}
	}
	for range 3 {
		if err := b.p.Stop(true); err != nil {
			return err
		}
		if err := b.recover(dir); err != nil {
			return err
		}
	}
	b.put("RSS after recovery", "MiB", rss(b.p.Pid()))
	return nil
}

// begin starts the server on a directory of its own.
func (b *bench) begin(dir string) error {
	if p, ok := b.p.(preparer); ok {
		if err := p.Prepare(dir); err != nil {
			return err
		}
	}
	if err := b.p.Start(dir); err != nil {
		return err
	}
	return b.warmUp()
}

// atDepth and besideDepth name the ratios of W9.
func atDepth(n int) string { return fmt.Sprintf("ratio to probe at depth %d", n) }
func besideDepth(n int) string {
	return fmt.Sprintf("ratio to probe of an empty queue, in turn with depth %d", n)
}

// turns measures at depth n, where there is a twin in turn with its empty queue.
func (b *bench) turns(n int, empty *bench) error {
	type sample struct {
		on          *bench
		rate, ratio string
	}
	each := []sample{{b, fmt.Sprintf("durable put+get at depth %d", n), atDepth(n)}}
	if empty != nil && n > 0 {
		each = append(each, sample{empty, fmt.Sprintf("durable put+get of an empty queue, in turn with depth %d", n), besideDepth(n)})
	}
	for range deepTurns {
		for _, s := range each {
			v, limit, err := s.on.steady("deep")
			if err != nil {
				return err
			}
			b.put(s.rate, "msg/s", v)
			b.put(s.ratio, "", v/limit)
		}
		slices.Reverse(each) // each is the first as often
	}
	return nil
}

// recover starts on what a kill left and times the first message.
func (b *bench) recover(dir string) error {
	start := time.Now()
	if err := b.p.Start(dir); err != nil {
		return err
	}
	accept := time.Since(start)
	var cs closer
	defer cs.close()
	c, err := cs.dial(b.p)
	if err != nil {
		return err
	}
	var once sync.Once
	first := make(chan struct{})
	if err := c.Consume("deep", true, func([]byte) { once.Do(func() { close(first) }) }); err != nil {
		return err
	}
	select {
	case <-first:
	case <-time.After(3 * time.Minute):
		return errors.New("no message after restart")
	}
	b.put("kill -9 to accept", "ms", accept.Seconds()*1e3)
	b.put("kill -9 to first get", "ms", time.Since(start).Seconds()*1e3)
	return nil
}

// steady puts and gets one message in turn so that the depth stays.
func (b *bench) steady(q string) (rate, limit float64, err error) {
	before := b.probe(1)
	var cs closer
	defer cs.close()
	in, err := cs.dial(b.p)
	if err != nil {
		return 0, 0, err
	}
	out, err := cs.dial(b.p)
	if err != nil {
		return 0, 0, err
	}
	tokens := make(chan struct{}, 1<<20)
	var got atomic.Int64
	stop := make(chan struct{})
	if err := out.Consume(q, true, func([]byte) {
		select {
		case <-tokens:
			got.Add(1)
		case <-stop:
			runtime.Goexit()
		}
	}); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	n := 0
	for ; time.Since(start) < b.d; n++ {
		if err := in.Put(q, b.body, true); err != nil {
			return 0, 0, err
		}
		tokens <- struct{}{}
	}
	if err := waitFor(&got, int64(n)); err != nil {
		return 0, 0, err
	}
	rate = perSec(n, time.Since(start))
	close(stop)
	return rate, (before + b.probe(1)) / 2, nil
}

// diskUse is the space that the files below dir take, in MiB.
func diskUse(dir string) float64 {
	var n int64
	filepath.Walk(dir, func(_ string, fi os.FileInfo, err error) error {
		if err == nil && !fi.IsDir() {
			n += fi.Size()
		}
		return nil
	})
	return float64(n) / (1 << 20)
}
