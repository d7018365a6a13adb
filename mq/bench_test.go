package mq_test

import (
	"testing"

	"github.com/qmgrd/qmgrd/mq"
)

func benchConns(b *testing.B) (in, out *mq.Queue, stop func()) {
	b.Helper()
	s, err := startServer(nil, nil, "DEFINE QLOCAL(Q) MAXDEPTH(999999999)")
	if err != nil {
		b.Fatal(err)
	}
	dial := func(mode mq.OpenMode) (*mq.Conn, *mq.Queue) {
		c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN"})
		if err != nil {
			b.Fatal(err)
		}
		q, err := c.Open(ctx, "Q", mode)
		if err != nil {
			b.Fatal(err)
		}
		return c, q
	}
	c1, in := dial(mq.Output)
	c2, out := dial(mq.InputShared | mq.ReadAhead)
	return in, out, func() { c1.Close(); c2.Close(); s.stop() }
}

func benchPutGet(b *testing.B, async bool) {
	in, out, stop := benchConns(b)
	defer stop()
	body := make([]byte, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for range b.N {
			if err := in.Put(ctx, mq.NewMessage(body), mq.PutOptions{Async: async}); err != nil {
				b.Error(err)
			}
		}
	}()
	for range b.N {
		if _, err := out.Get(ctx, mq.GetOptions{Wait: mq.Forever}); err != nil {
			b.Fatal(err)
		}
	}
}

// Nonpersistent messages from one connection to another over the wire, server and clients in this process.
func BenchmarkStreamed(b *testing.B)  { benchPutGet(b, true) }
func BenchmarkConfirmed(b *testing.B) { benchPutGet(b, false) }
