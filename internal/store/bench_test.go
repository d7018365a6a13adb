package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// BenchmarkAppendSync is the probe: what the disk gives one writer that appends 1 KiB and syncs.
// BenchmarkCommit is compared with it: one producer of 1 KiB persistent messages must reach 0.8 of the probe.
func BenchmarkAppendSync(b *testing.B) {
	f, err := vfs.OS().OpenFile(filepath.Join(b.TempDir(), "probe"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	body := make([]byte, 1024)
	for i := range b.N {
		if _, err := f.WriteAt(body, int64(i)*1024); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, k := range []struct {
		name string
		open func(testing.TB, string) store.Store
	}{{"log", openLog}, {"bolt", openBolt}} {
		for _, writers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", k.name, writers), func(b *testing.B) { benchCommit(b, k.open, writers, false) })
		}
	}
	// A producer and a consumer, each waiting for its own commits: the figure is the producer's.
	b.Run("log/withConsumer", benchWithConsumer)
	b.Run("log/putget/1", func(b *testing.B) { benchCommit(b, openLog, 1, true) })
}

func benchWithConsumer(b *testing.B) {
	s := openLog(b, b.TempDir())
	defer s.Close(store.Preempt, nil)
	todo, done := make(chan store.Seq, 1<<20), make(chan struct{})
	go func() {
		defer close(done)
		for n := range todo {
			tx := &store.Tx{}
			tx.Remove(1, n, true)
			if _, err := s.Commit(context.Background(), tx); err != nil {
				b.Error(err)
			}
		}
	}()
	body, head := make([]byte, 1024), make([]byte, 200)
	b.ResetTimer()
	for i := range b.N {
		tx := &store.Tx{}
		tx.Put(1, store.Seq(i+1), store.Rec{Head: head, Body: body, Persistent: true})
		if _, err := s.Commit(context.Background(), tx); err != nil {
			b.Fatal(err)
		}
		todo <- store.Seq(i + 1)
	}
	b.StopTimer()
	close(todo)
	<-done
}

func benchCommit(b *testing.B, open func(testing.TB, string) store.Store, writers int, get bool) {
	s := open(b, b.TempDir())
	defer s.Close(store.Preempt, nil)
	var seq atomic.Uint64
	b.SetParallelism((writers + 1) / 2) // of two processors
	b.ResetTimer()
	work := func() {
		body, head := make([]byte, 1024), make([]byte, 200)
		n := store.Seq(seq.Add(1))
		tx := &store.Tx{}
		tx.Put(1, n, store.Rec{Head: head, Body: body, Persistent: true})
		if _, err := s.Commit(context.Background(), tx); err != nil {
			b.Error(err)
		}
		if !get {
			return
		}
		tx = &store.Tx{}
		tx.Remove(1, n, true)
		if _, err := s.Commit(context.Background(), tx); err != nil {
			b.Error(err)
		}
	}
	if writers == 1 {
		for range b.N {
			work()
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			work()
		}
	})
}

// BenchmarkOpen is the start of a small store.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := openLog(b, dir)
	for i := range 200 {
		commit(b, s, fmt.Sprint(i))
	}
	if err := s.Close(store.Immediate, nil); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		s := openLog(b, dir)
		if err := s.Close(store.Preempt, nil); err != nil {
			b.Fatal(err)
		}
	}
}
