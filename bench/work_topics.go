package main

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"
)

// The workloads of publications: W6 and W7.

// fanOut is W6: one publisher, many subscribers, each with its connection.
func (b *bench) fanOut() error {
	for _, subs := range []int{100, 1000} {
		if err := b.fan(subs); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) fan(subs int) error {
	var cs closer
	defer cs.close()
	var got atomic.Int64
	for range subs {
		c, err := cs.dial(b.p)
		if err != nil {
			return err
		}
		if err := c.Subscribe("fan/out", func(string, []byte) { got.Add(1) }); err != nil {
			return err
		}
	}
	pub, err := cs.dial(b.p)
	if err != nil {
		return err
	}
	c0 := cpu(b.p.Pid())
	var sent int64
	start := time.Now()
	for time.Since(start) < b.d {
		for range 20 {
			if err := pub.Publish("fan/out", b.body, false); err != nil {
				return err
			}
			sent += int64(subs)
		}
		if err := pub.Flush(); err != nil {
			return err
		}
		if err := waitFor(&got, sent-10*int64(subs)); err != nil {
			return err
		}
	}
	if err := waitFor(&got, sent); err != nil {
		return err
	}
	took := time.Since(start)
	b.put(fmt.Sprintf("fan-out to %d", subs), "deliveries/s", perSec(int(sent), took))
	b.put(fmt.Sprintf("server CPU a delivery, %d subscribers", subs), "µs", float64((cpu(b.p.Pid())-c0).Microseconds())/float64(sent))
	return nil
}

// topic i of the tree: ten thousand second levels, a hundred third ones,
// of which one is c. So a/+/c is true of one topic in a hundred.
func topic(i int) string {
	third := "c"
	if k := i % 100; k > 0 {
		third = fmt.Sprintf("x%02d", k)
	}
	return fmt.Sprintf("a/%d/%s", i/100, third)
}

// topicTree is W7.
func (b *bench) topicTree() error {
	dir := filepath.Join(b.dir, "w7")
	if err := b.p.Start(dir); err != nil {
		return err
	}
	var cs closer
	defer func() { cs.close() }()
	c, err := cs.dial(b.p)
	if err != nil {
		return err
	}
	n := b.big
	base := rss(b.p.Pid())
	start := time.Now()
	for i := range n {
		if err := c.Publish(topic(i), b.body[:16], true); err != nil {
			return err
		}
	}
	if err := c.Flush(); err != nil {
		return err
	}
	b.put(fmt.Sprintf("%d retained: load", n), "topics/s", perSec(n, time.Since(start)))
	r := rss(b.p.Pid())
	b.put("retained: RSS", "MiB", r)
	b.put("retained: RSS a topic", "B", (r-base)*(1<<20)/float64(n))
	query := func(metric string) error {
		want := int64(n / 100)
		for range 3 {
			q, err := cs.dial(b.p)
			if err != nil {
				return err
			}
			var got atomic.Int64
			start := time.Now()
			if err := q.Subscribe("a/+/c", func(string, []byte) { got.Add(1) }); err != nil {
				return err
			}
			if err := waitFor(&got, want); err != nil {
				return err
			}
			b.put(metric, "ms", time.Since(start).Seconds()*1e3)
			q.Close()
			cs = cs[:len(cs)-1]
		}
		return nil
	}
	if err := query(fmt.Sprintf("query a/+/c, %d answers", n/100)); err != nil {
		return err
	}
	cs.close()
	cs = nil
	start = time.Now()
	if err := b.p.Stop(false); err != nil {
		return err
	}
	b.put("retained: orderly stop", "ms", time.Since(start).Seconds()*1e3)
	start = time.Now()
	if err := b.p.Start(dir); err != nil {
		return err
	}
	if c, err = cs.dial(b.p); err != nil {
		return err
	}
	b.put("retained: restart to accept", "ms", time.Since(start).Seconds()*1e3)
	if err := query("query a/+/c after restart"); err != nil {
		b.put("retained: lost at restart", "", 1)
	}
	start = time.Now()
	if e, ok := c.(interface{ Clear() error }); ok {
		if err := e.Clear(); err != nil {
			return err
		}
	} else {
		for i := range n {
			if err := c.Publish(topic(i), nil, true); err != nil {
				return err
			}
		}
		if err := c.Flush(); err != nil {
			return err
		}
	}
	b.put("retained: clear all", "ms", time.Since(start).Seconds()*1e3)
	return nil
}
