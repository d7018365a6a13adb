package fap

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"
)

// What a failed write sets off belongs to the socket, whose end waits for it.
func TestOutboxFailureHasAnOwner(t *testing.T) {
	nc, peer := net.Pipe()
	peer.Close()
	defer nc.Close()
	var wg sync.WaitGroup
	var o outbox
	told, goOn := make(chan error, 1), make(chan struct{})
	o.init(nc, &wg, func(err error) { told <- err; <-goOn }, func() {})
	if err := o.end(append(o.begin(), "lost"...)); err != nil {
		t.Fatal(err)
	}
	o.flush()
	if err := <-told; err == nil {
		t.Fatal("no reason")
	}
	o.close(errors.New("the end"))
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	select {
	case <-over:
		t.Error("the socket has ended before what its failure set off")
	case <-time.After(20 * time.Millisecond):
	}
	close(goOn)
	<-over
}
