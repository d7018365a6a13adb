package mq_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/mq"
)

// One publisher without answers, 1,000 subscribers with a connection each, 1 KiB; an operation is 20 publications, and ends when all
// have been read.
func BenchmarkFanOut1000(b *testing.B) {
	s, err := startOn(store.OpenMem(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.stop()
	const subs, burst = 1000, 20
	var got atomic.Int64
	for range subs {
		c := s.connect(b)
		defer c.Close()
		sub, err := c.Subscribe(ctx, mq.SubOptions{Topic: "fan/out", ReadAhead: true})
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			var m mq.Message
			for sub.GetInto(ctx, &m, mq.GetOptions{Wait: mq.Forever}) == nil {
				got.Add(1)
			}
		}()
	}
	pub := s.connect(b)
	defer pub.Close()
	topic, err := pub.OpenTopic(ctx, "fan/out")
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		for range burst {
			m := mq.NewMessage(body)
			m.Persistence = mq.NonPersistent
			if err := topic.Publish(ctx, m, mq.PubOptions{PutOptions: mq.PutOptions{Async: true}}); err != nil {
				b.Fatal(err)
			}
		}
		if err := pub.Flush(ctx); err != nil {
			b.Fatal(err)
		}
		for want := int64(i+1) * burst * subs; got.Load() < want; {
			time.Sleep(100 * time.Microsecond)
		}
	}
	b.ReportMetric(float64(b.N)*burst*subs/b.Elapsed().Seconds(), "deliveries/s")
}
