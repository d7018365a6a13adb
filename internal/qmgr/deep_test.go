package qmgr

import (
	goruntime "runtime"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// heapInUse is what is in use after a collection.
func heapInUse() int64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkDeepNonpersistent lays a million nonpersistent messages on one queue and takes them off again.
func BenchmarkDeepNonpersistent(b *testing.B) {
	const n = 1_000_000
	for range b.N {
		r := newBoltRig(b)
		r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
		h := r.openQ(r.c, "Q", inOut)
		before, t0 := heapInUse(), time.Now()
		for range n {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			if err := r.c.Put(bg, h, &md, &pmo, make([]byte, 1024)); err != nil {
				b.Fatal(err)
			}
		}
		put := time.Since(t0)
		b.ReportMetric(float64(heapInUse()-before)/(1<<20), "MiB")
		t0 = time.Now()
		for range n {
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			if _, _, err := r.c.Get(bg, h, &md, &gmo, 1024); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(put.Nanoseconds())/n, "ns/put")
		b.ReportMetric(float64(time.Since(t0).Nanoseconds())/n, "ns/get")
		b.ReportMetric(float64(heapInUse()-before)/(1<<20), "MiB-after")
		r.stop()
	}
}
