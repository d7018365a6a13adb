package mq_test

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/mq"
)

func benchConns(b *testing.B, st store.Store, get mq.OpenMode) (in, out *mq.Queue, stop func()) {
	b.Helper()
	s, err := startOn(st, nil, nil, "DEFINE QLOCAL(Q) MAXDEPTH(999999999)")
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
	c2, out := dial(mq.InputShared | get)
	return in, out, func() { c1.Close(); c2.Close(); s.stop() }
}

func benchPutGet(b *testing.B, st store.Store, get mq.OpenMode, p mq.Persistence, o mq.PutOptions) {
	in, out, stop := benchConns(b, st, get)
	defer stop()
	body := make([]byte, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		m := mq.NewMessage(body)
		m.Persistence = p
		for range b.N {
			m.MsgID, m.CorrelID, m.GroupID = mq.ID{}, mq.ID{}, mq.ID{}
			if err := in.Put(ctx, m, o); err != nil {
				b.Error(err)
			}
		}
	}()
	var m mq.Message
	for range b.N {
		if err := out.GetInto(ctx, &m, mq.GetOptions{Wait: mq.Forever}); err != nil {
			b.Fatal(err)
		}
	}
	<-sent
}

// From one connection to another over the wire, server and clients in this process.

func BenchmarkStreamed(b *testing.B) {
	benchPutGet(b, store.OpenMem(), mq.ReadAhead, mq.NonPersistent, mq.PutOptions{Async: true})
}

func BenchmarkConfirmed(b *testing.B) {
	benchPutGet(b, store.OpenMem(), mq.ReadAhead, mq.NonPersistent, mq.PutOptions{})
}

// Each put and each get is answered after its sync.
func BenchmarkDurable(b *testing.B) {
	st, err := store.Open(store.Options{Dir: b.TempDir(), FS: vfs.OS()})
	if err != nil {
		b.Fatal(err)
	}
	benchPutGet(b, st, 0, mq.Persistent, mq.PutOptions{})
}
