package fap_test

import (
	"net"
	"runtime"
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// TestIdleMemory: what a connected client that does nothing costs. 10,000 of them must fit into 300 MiB.
func TestIdleMemory(t *testing.T) {
	const clients, most = 400, 30 << 10
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := used()
	keep := make([]net.Conn, 0, clients)
	for i := 0; i < clients; i++ {
		keep = append(keep, s.client(t).nc)
	}
	if each := (used() - before) / clients; each > most {
		t.Errorf("%d bytes for each of %d clients, at most %d are wanted", each, len(keep), most)
	} else {
		t.Logf("%d bytes for each client", each)
	}
}

// BenchmarkPutGet is one client that puts 1 KiB and gets it, with queues in memory: the price of the protocol.
func BenchmarkPutGet(b *testing.B) {
	s := start(b, memory.New("QM1", "Q1"), nil, nil)
	put, get := newPut(string(make([]byte, 1024)), 0), newGet(0, 0)
	p := s.client(b)
	q := p.open(1, "Q1")
	b.ReportAllocs()
	for b.Loop() {
		p.call(wire.MQPUT, 1, q, put)
		p.call(wire.MQGET, 1, q, get)
	}
}
