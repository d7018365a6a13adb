package pubsub

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

func million(prefix string) []string {
	out := make([]string, 0, 1_000_000)
	for a := range 100 {
		for b := range 100 {
			for c := range 100 {
				out = append(out, fmt.Sprintf("%sregion%02d/site%02d/sensor%02d", prefix, a, b, c))
			}
		}
	}
	return out
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// One million topics, each with a retained publication: bytes a topic and topics a second.
func BenchmarkMillionRetained(b *testing.B) {
	names := million("")
	for b.Loop() {
		before := heapNow()
		tr := New(Options{Clock: clock.Real(), Life: DefaultTreeLife})
		start := time.Now()
		for i, s := range names {
			if _, _, err := tr.SetRetained(s, RetainedRef(i), time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(names))/time.Since(start).Seconds(), "topics/s")
		b.ReportMetric(float64(heapNow()-before)/float64(len(names)), "B/topic")
		runtime.KeepAlive(tr)
	}
}

func flat() []string {
	names := make([]string, 1_000_000)
	for i := range names {
		names[i] = fmt.Sprintf("T/%032x", uint64(i)*2654435761)
	}
	return names
}

// The worst case for shared names: every leaf is different and all are children of one topic.
func BenchmarkMillionFlat(b *testing.B) {
	names := flat()
	for b.Loop() {
		before := heapNow()
		tr := New(Options{Clock: clock.Real(), Life: DefaultTreeLife})
		start := time.Now()
		for _, s := range names {
			if err := use(tr, s); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(names))/time.Since(start).Seconds(), "topics/s")
		b.ReportMetric(float64(heapNow()-before)/float64(len(names)), "B/topic")
		runtime.KeepAlive(tr)
	}
}

// Handles for output of topics that are there, in order.
func BenchmarkOpen(b *testing.B) {
	names := million("")
	tr := New(Options{Clock: clock.Real(), Life: DefaultTreeLife})
	for _, s := range names {
		_ = use(tr, s)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := tr.OpenPublisher(names[i%len(names)], "c"); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkTouch(b *testing.B) {
	tr := New(Options{Clock: clock.Real(), Life: DefaultTreeLife})
	b.ReportAllocs()
	for b.Loop() {
		_ = use(tr, "region/site/sensor")
	}
}

// The longest lock hold while a million unused topics are removed.
func BenchmarkReapMillion(b *testing.B) {
	for _, c := range []struct {
		name  string
		names []string
	}{{"tree", million("")}, {"flat", flat()}} {
		b.Run(c.name, func(b *testing.B) {
			var worst time.Duration
			for b.Loop() {
				tr := New(Options{Clock: clock.Real(), Life: time.Nanosecond})
				for _, s := range c.names {
					_ = use(tr, s)
				}
				start, n := time.Now(), 0
				for {
					s := time.Now()
					k := tr.Reap(time.Now(), reapChunk)
					worst = max(worst, time.Since(s))
					if n += k; k == 0 {
						break
					}
				}
				b.ReportMetric(float64(n)/time.Since(start).Seconds(), "topics/s")
			}
			b.ReportMetric(float64(worst.Microseconds()), "worst-µs")
		})
	}
}

// 100,000 subscriptions, a tenth of them with wildcards; each publication fits four. The number of those that do not
// fit must not matter, so the same is measured with 1,000.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		tr := New(Options{Clock: clock.Real(), Life: DefaultTreeLife})
		for i := range n {
			s := &Sub{Level: 1}
			switch i % 10 {
			case 0:
				switch i / 10 % 3 {
				case 0:
					s.Topic = fmt.Sprintf("plant%d/+/temp", i)
				case 1:
					s.Topic = fmt.Sprintf("plant%d/#", i)
				default:
					s.Topic = fmt.Sprintf("+/line%d/#", i)
				}
			default:
				s.Topic = fmt.Sprintf("plant%d/line%d/temp", i%1000, i)
			}
			if err := tr.Subscribe(s); err != nil {
				b.Fatal(err)
			}
		}
		for _, s := range []string{"plant1/line1/+", "+/+/temp", "plant1/#"} {
			if err := tr.Subscribe(&Sub{Topic: s}); err != nil {
				b.Fatal(err)
			}
		}
		var dst []*Sub
		b.Run(fmt.Sprintf("%dsubs/cached", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = tr.Match(dst[:0], "plant1/line1/temp")
			}
			if len(dst) != 4 {
				b.Fatalf("%d matches", len(dst))
			}
		})
		b.Run(fmt.Sprintf("%dsubs/uncached", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tr.gen.Add(1)
				dst = tr.Match(dst[:0], "plant1/line1/temp")
			}
		})
		topics := make([]string, 50_000)
		for i := range topics {
			topics[i] = fmt.Sprintf("plant%d/line%d/temp", i*10%1000+1, i*10+1)
		}
		b.Run(fmt.Sprintf("%dsubs/manytopics", n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				dst = tr.Match(dst[:0], topics[i%len(topics)])
				i++
			}
		})
	}
}

// A page of DISPLAY TPSTATUS in a tree of a million.
func BenchmarkStatusPage(b *testing.B) {
	tr := New(Options{Clock: clock.Real(), Life: DefaultTreeLife})
	for _, s := range million("") {
		_ = use(tr, s)
	}
	for _, text := range []string{"#", "region50/site50/+", "+/site50/sensor50", "region01/site01/sensor01"} {
		f, _ := ParseFilter(text, SchemeTopic)
		b.Run(text, func(b *testing.B) {
			n := 0
			for b.Loop() {
				rows, _ := tr.Status(f, StatusTopic, Page{})
				n = len(rows)
			}
			b.ReportMetric(float64(n), "rows")
		})
	}
}
