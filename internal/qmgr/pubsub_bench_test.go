package qmgr

import (
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// benchManager is a created queue manager with the machine's clock on a store.
func benchManager(b *testing.B, st store.Store) *Manager {
	b.Helper()
	log := zerolog.Nop()
	o := Options{Name: "QM1", Store: st, Clock: clock.Real(), Log: &log, User: "root", Version: "test"}
	if err := Create(o); err != nil {
		b.Fatal(err)
	}
	return benchOpen(b, o)
}

func benchOpen(b *testing.B, o Options) *Manager {
	b.Helper()
	m, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	if err := m.Start(bg); err != nil {
		b.Fatal(err)
	}
	return m
}

func benchStop(b *testing.B, m *Manager, mode store.StopMode) {
	b.Helper()
	ctx, cancel := contextDone()
	defer cancel()
	if err := m.Stop(ctx, mode); err != nil {
		b.Fatal(err)
	}
}

func benchConn(b *testing.B, m *Manager) *Conn {
	b.Helper()
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// One publisher, 1,000 subscribers on managed queues, 100 bytes nonpersistent; an operation is one publication.
func BenchmarkPublishTo1000(b *testing.B) {
	m := benchManager(b, store.OpenMem())
	defer benchStop(b, m, store.Preempt)
	var queues []Handle
	var conns []*Conn
	for range 1000 {
		c := benchConn(b, m)
		q, _, err := c.Subscribe(bg, subSD("bench/topic", create|managed), 0)
		if err != nil {
			b.Fatal(err)
		}
		queues, conns = append(queues, q), append(conns, c)
	}
	pub := benchConn(b, m)
	h, err := pub.Open(bg, topicOD("bench/topic"), mqi.MQOO_OUTPUT)
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 100)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		if err := pub.Put(bg, h, &md, &pmo, body); err != nil {
			b.Fatal(err)
		}
		if i%100 == 99 {
			b.StopTimer()
			for k, c := range conns {
				for {
					if _, _, err := tryGet(c, queues[k], 0); err != nil {
						break
					}
				}
			}
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "deliveries/s")
}

// Topics with a retained publication each, three levels; an operation is one of them. Durable ones are put in units of 1,000.
func benchRetained(b *testing.B, durable bool) {
	dir := b.TempDir()
	open := func() store.Store {
		st, err := store.Open(store.Options{Dir: dir, FS: vfs.OS()})
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	m := benchManager(b, open())
	c := benchConn(b, m)
	body := make([]byte, 20)
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		pmo.Options = mqi.MQPMO_RETAIN
		if durable {
			md.Persistence = mqi.MQPER_PERSISTENT
			pmo.Options |= mqi.MQPMO_SYNCPOINT
		}
		od := topicOD(fmt.Sprintf("load/%d/%d", i%1000, i/1000))
		if err := c.Put1(bg, od, &md, &pmo, body); err != nil {
			b.Fatal(err)
		}
		if durable && i%1000 == 999 {
			if err := c.Commit(bg); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := c.Commit(bg); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "topics/s")
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "B/topic")
	benchStop(b, m, store.Immediate)
	if !durable {
		return
	}
	log := zerolog.Nop()
	start := time.Now()
	m = benchOpen(b, Options{Name: "QM1", Store: open(), Clock: clock.Real(), Log: &log, User: "root"})
	b.ReportMetric(time.Since(start).Seconds(), "s/restart")
	if n := m.topics.tree.RetainedCount(); n != b.N {
		b.Fatalf("%d retained publications after restart, want %d", n, b.N)
	}
	benchStop(b, m, store.Immediate)
}

func BenchmarkRetainedNonpersistent(b *testing.B) { benchRetained(b, false) }
func BenchmarkRetainedDurable(b *testing.B)       { benchRetained(b, true) }

// Acceptance 000/41, 42: publishing to one topic alone, beside 100,000 unused ones, and after these have gone. The metrics
// are nanoseconds a publication; the first two should not differ by more than a fifth, the last returns to the first.
func BenchmarkPublishBesideUnused(b *testing.B) {
	log := zerolog.Nop()
	clk := clock.NewFake(testTime)
	o := Options{Name: "QM1", Store: store.OpenMem(), Clock: clk, Log: &log, User: "root", Version: "test"}
	if err := Create(o); err != nil {
		b.Fatal(err)
	}
	m := benchOpen(b, o)
	defer benchStop(b, m, store.Preempt)
	c := benchConn(b, m)
	q, _, err := c.Subscribe(bg, subSD("one/topic", create|managed), 0)
	if err != nil {
		b.Fatal(err)
	}
	h, err := c.Open(bg, topicOD("one/topic"), mqi.MQOO_OUTPUT)
	if err != nil {
		b.Fatal(err)
	}
	rate := func(name string) {
		start := time.Now()
		for range b.N {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			if err := c.Put(bg, h, &md, &pmo, []byte("x")); err != nil {
				b.Fatal(err)
			}
			if _, _, err := tryGet(c, q, 0); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(b.N), name)
	}
	rate("ns/alone")
	base := m.topics.tree.Count()
	for i := range 100_000 {
		if err := tryPub(c, fmt.Sprintf("unused/%d", i), "x", 0); err != nil {
			b.Fatal(err)
		}
	}
	rate("ns/beside")
	for m.topics.tree.Count() != base {
		clk.Advance(time.Hour)
		m.setTreeLife(m.qmgrDef())
		time.Sleep(time.Millisecond)
	}
	rate("ns/after")
}

// A new subscription that 10,000 of 1,000,000 (with -short 100,000) retained publications fit, persistent ones; an operation
// is the MQSUB, with the end of the subscription.
func BenchmarkSubscribeRetained(b *testing.B) {
	st, err := store.Open(store.Options{Dir: b.TempDir(), FS: vfs.OS()})
	if err != nil {
		b.Fatal(err)
	}
	m := benchManager(b, st)
	defer benchStop(b, m, store.Immediate)
	c := benchConn(b, m)
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	for i := range n {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Persistence = mqi.MQPER_PERSISTENT
		pmo.Options = mqi.MQPMO_RETAIN | mqi.MQPMO_SYNCPOINT
		if err := c.Put1(bg, topicOD(fmt.Sprintf("a/%d/%d", i/(n/10_000), i%(n/10_000))), &md, &pmo, make([]byte, 16)); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 999 {
			if err := c.Commit(bg); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ResetTimer()
	for range b.N {
		q, s, err := c.Subscribe(bg, subSD("a/+/3", create|managed), 0)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if got := c.handles[q].queue.depth(); got != 10_000 {
			b.Fatalf("%d came", got)
		}
		if err := c.Close(bg, s, 0); err != nil {
			b.Fatal(err)
		}
		if err := c.Close(bg, q, 0); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
