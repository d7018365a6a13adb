//go:build invariants

package fap

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/invariants"
)

// The test of the instrument: a write to a peer under a lock of the socket is seen, one without is not.
func TestInstrumentSeesWriteUnderLock(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	go func() { _, _ = io.Copy(io.Discard, there) }()
	s := &Server{opt: Options{Clock: clock.Real(), Handshake: time.Minute}}
	k := newSocket(context.Background(), s, here)
	defer k.deadline.Stop()
	var mu sync.Mutex
	var found []string
	defer invariants.Offences(func(s string) { mu.Lock(); defer mu.Unlock(); found = append(found, s) })()
	send := func() {
		if err := k.write(k.plain(wire.Heartbeat), wire.API{}, &wire.Empty{}); err != nil {
			t.Fatal(err)
		}
	}
	send()
	if len(found) != 0 {
		t.Fatalf("without a lock: %q", found)
	}
	k.mu.Lock()
	send()
	k.mu.Unlock()
	if len(found) == 0 || !strings.Contains(found[0], "locks_invariants_test.go") {
		t.Errorf("with a lock: %q", found)
	}
}

// So are the calls below it, whatever lock is held: those that write, those that wait for the peer to write, and the end.
func TestInstrumentSeesPeersUnderLock(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{opt: Options{Clock: clock.Real(), Handshake: time.Minute}}
	k := newSocket(context.Background(), s, dialled)
	defer k.deadline.Stop()
	if k.out.direct == nil {
		t.Fatal("a TCP connection that cannot be written to at once")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range []struct {
		name string
		call func()
	}{
		{"a write at once", func() { _, _ = k.out.direct.TryWrite([]byte("x")) }},
		{"a write that waits", func() { _ = k.out.send([]byte("x")) }},
		{"a read", func() { _, _ = there.Write([]byte("x")); _ = k.in.fill(k.nc, 0) }},
		{"a handshake", func() {
			hs := newSocket(ended, s, dialled)
			defer hs.deadline.Stop()
			_ = hs.shakeHands(tls.Server(dialled, &tls.Config{}))
		}},
		{"the end", k.hangUp},
	} {
		var found []string
		restore := invariants.Offences(func(s string) { found = append(found, s) })
		k.out.mu.Lock()
		p.call()
		k.out.mu.Unlock()
		restore()
		if len(found) != 1 || !strings.Contains(found[0], "locks_invariants_test.go") {
			t.Errorf("%s under a lock: %q", p.name, found)
		}
	}
}
