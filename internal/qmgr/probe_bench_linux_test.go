package qmgr

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// BenchmarkPutAgainstProbe puts persistent messages of 1 KiB outside syncpoint, one producer without the wire, by turns with what
// the disk gives one writer that does nothing else: 1 KiB into a file that is there, and a sync. "of-probe" is the rate of
// the first divided by that of the second, both over the same seconds; the goal is 0.8.
func BenchmarkPutAgainstProbe(b *testing.B) {
	const turn, size = 64, 32 << 20
	r := newBoltRig(b)
	r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
	h := r.openQ(r.c, "Q", inOut)
	f, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 1024)
	var puts, probes time.Duration
	b.ResetTimer()
	for i := 0; i < b.N; i += turn {
		began := time.Now()
		for range turn {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			md.Persistence = mqi.MQPER_PERSISTENT
			if err := r.c.Put(bg, h, &md, &pmo, body); err != nil {
				b.Fatal(err)
			}
		}
		puts += time.Since(began)
		began = time.Now()
		for j := range turn {
			if _, err := f.WriteAt(body, int64((i+j)%(size/1024)*1024)); err != nil {
				b.Fatal(err)
			}
			if err := unix.Fdatasync(int(f.Fd())); err != nil {
				b.Fatal(err)
			}
		}
		probes += time.Since(began)
	}
	b.ReportMetric(probes.Seconds()/puts.Seconds(), "of-probe")
	b.ReportMetric(float64(puts.Microseconds())/float64((b.N+turn-1)/turn*turn), "µs/put")
}
