package mq_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/mq"
)

// 200,000 persistent retained publications over the wire in units of 500; an operation is a new subscription with its 10,000
// answers, read ahead. The other metrics are the load, and CLEAR TOPICSTR of all.
func BenchmarkRetained(b *testing.B) { benchRetained(b, mq.Persistent) }

// The same of nonpersistent ones.
func BenchmarkRetainedMemory(b *testing.B) { benchRetained(b, mq.NonPersistent) }

func benchRetained(b *testing.B, p mq.Persistence) {
	st, err := store.Open(store.Options{Dir: b.TempDir(), FS: vfs.OS()})
	if err != nil {
		b.Fatal(err)
	}
	s, err := startOn(st, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.stop()
	const second, third = 10_000, 20
	c := s.connect(b)
	start := time.Now()
	for i := range second * third {
		m := mq.NewMessage(make([]byte, 16))
		m.Persistence = p
		o := mq.PubOptions{Retain: true, PutOptions: mq.PutOptions{Async: true, Syncpoint: p == mq.Persistent}}
		if err := c.Publish(ctx, fmt.Sprintf("a/%d/x%d", i/third, i%third), m, o); err != nil {
			b.Fatal(err)
		}
		if i%500 == 499 {
			if err := c.Commit(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := c.Flush(ctx); err != nil {
		b.Fatal(err)
	}
	load := second * third / time.Since(start).Seconds()
	c.Close()
	b.ResetTimer()
	for range b.N {
		c := s.connect(b)
		sub, err := c.Subscribe(ctx, mq.SubOptions{Topic: "a/+/x3", ReadAhead: true})
		if err != nil {
			b.Fatal(err)
		}
		var m mq.Message
		for range second {
			if err := sub.GetInto(ctx, &m, mq.GetOptions{Wait: mq.Forever}); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		c.Close()
		b.StartTimer()
	}
	b.StopTimer()
	b.ReportMetric(load, "load/s")
	start = time.Now()
	if err := run(s.qm, "CLEAR TOPICSTR('a/#') CLRTYPE(RETAINED)"); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/clear")
}
