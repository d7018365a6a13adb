package fap_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
)

// Serve of a listener that is closed returns when its own sockets have ended; those of other listeners go on.
func TestServeEndsAlone(t *testing.T) {
	s := startWith(t, memory.New("QM1", "Q1"), fap.Options{}, nil)
	first := s.dial(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), l) }()
	second, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for s.Sockets() != 2 {
		time.Sleep(time.Millisecond)
	}
	l.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Serve waits for the socket of another listener")
	}
	if n := s.Sockets(); n != 1 {
		t.Errorf("%d sockets are left, want 1", n)
	}
	first.nc.Close()
}
