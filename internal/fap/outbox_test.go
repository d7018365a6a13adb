package fap

import (
	"context"
	"errors"
	"net"
	"runtime"
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
	if err := o.add(func(b []byte) []byte { return append(b, "lost"...) }); err != nil {
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

// pieces is a connection that notes what is written at a time.
type pieces struct {
	net.Conn
	list chan string
}

func (p pieces) Write(b []byte) (int, error) {
	p.list <- string(b)
	return len(b), nil
}

// Conversations of one socket whose verbs end together answer in one write.
func TestAnswersShareAWrite(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // who is ready has run when Gosched comes back
	first := func(working int32) string {
		k, p := &socket{}, pieces{list: make(chan string, 2)}
		k.out.init(p, &k.wg, func(error) {}, func() {})
		k.working.Store(working)
		answer := func(text string) {
			if err := k.out.add(func(b []byte) []byte { return append(b, text...) }); err != nil {
				t.Error(err)
			}
			k.letOthersReply()
			k.out.flush()
		}
		k.wg.Go(func() { answer("b") })
		answer("a")
		defer k.wg.Wait()
		return <-p.list
	}
	for working, want := range map[int32]string{1: "a", 2: "ab"} {
		// The scheduler may also do something else in between: each 61st time it takes who has just yielded.
		seen := map[string]int{}
		for range 100 {
			seen[first(working)]++
		}
		if seen[want] < 80 {
			t.Errorf("%v are the first writes with %d at work, want %q", seen, working, want)
		}
	}
}

// What panics while it writes an answer leaves no lock behind: others send to the same socket.
func TestOutboxSurvivesAPanic(t *testing.T) {
	var o outbox
	func() {
		defer func() { _ = recover() }()
		_ = o.add(func(b []byte) []byte { panic("an answer that cannot be written") })
	}()
	done := make(chan error, 1)
	go func() { done <- o.add(func(b []byte) []byte { return append(b, "good"...) }) }()
	select {
	case err := <-done:
		if err != nil || string(o.buf) != "good" {
			t.Errorf("%v, %q", err, o.buf)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the outbox is locked for ever")
	}
}

// A getter is not handed a message past those of its client that came before: they may end the get.
func TestOwnAfterTheClient(t *testing.T) {
	c := &conv{in: make(chan call, 1), ctx: context.Background()}
	w := &waker{c: c}
	c.in <- call{}
	if w.Own() {
		t.Fatal("handed past a message of the client")
	}
	c.held = true // they wait for its answer
	if !w.Own() {
		t.Fatal("an MQGET that waits is handed nothing")
	}
	if w.Own() {
		t.Fatal("two owners")
	}
}
