//go:build invariants

package fap

import (
	"context"
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
