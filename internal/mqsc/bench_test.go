package mqsc

import (
	"context"
	"io"
	"strings"
	"testing"
)

func BenchmarkVerify(b *testing.B) {
	for name, cmd := range map[string]string{
		"good": "DEFINE QLOCAL('APP.QUEUE.1') MAXDEPTH(5000) DEFPSIST(YES) SHARE DESCR('a queue') REPLACE\n",
		"bad":  "DEFINE QLOCAL('APP.QUEUE.1') MAXDEPHT(5000)\n",
		"end":  "DEFINE CHANNEL(A) CHLTYPE(SDR)\n",
	} {
		b.Run(name, func(b *testing.B) {
			script := strings.Repeat(cmd, 1000)
			b.SetBytes(int64(len(script)))
			for b.Loop() {
				if _, err := Run(context.Background(), strings.NewReader(script), io.Discard, nil, RunOptions{Echo: true, Verify: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
