package mq_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

// ofLinks lists the goroutines that work for connections, as they are right now.
func ofLinks() (out []string) {
	buf := make([]byte, 1<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "mq.(*link).watch") || strings.Contains(g, "mq.(*link).flushLater") {
			out = append(out, g)
		}
	}
	return out
}

// When Close, Disconnect, a Connect that fails, and a verb that gives up its link come back, the goroutines have ended.
func TestCloseWaits(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	ended := func(what string) {
		t.Helper()
		if left := ofLinks(); len(left) > 0 {
			t.Fatalf("after %s:\n%s", what, strings.Join(left, "\n\n"))
		}
	}
	busy := func(o mq.Options) *mq.Conn {
		t.Helper()
		o.Addr, o.Channel = s.addr, "APP.SVRCONN"
		c, err := mq.Connect(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		q := open(t, c, "Q", mq.Output)
		for range 20 { // gathered, so that a goroutine flushes them
			put(t, q, mq.PutOptions{Async: true}, "x")
		}
		return c
	}
	for range 20 {
		c := busy(mq.Options{})
		if len(ofLinks()) == 0 {
			t.Fatal("a connection without goroutines: the test does not see them")
		}
		c.Close()
		ended("Close")
		if err := busy(mq.Options{}).Disconnect(ctx); err != nil {
			t.Fatal(err)
		}
		ended("Disconnect")
	}
	if _, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN", User: "app", Password: "wrong"}); err == nil {
		t.Fatal("a wrong password connects")
	}
	ended("a Connect that failed")

	c := busy(mq.Options{Reconnect: &mq.Reconnect{}})
	s.cut()
	if err := c.Flush(ctx); err == nil {
		t.Error("puts without an answer survive a lost connection unnoticed")
	}
	if n := len(ofLinks()); n > 2 {
		t.Errorf("%d goroutines of one connection after it was made again", n)
	}
	c.Close()
	ended("Close of a connection that was made again")
}

// Close ends a verb that waits in another goroutine, and does not wait for it.
func TestCloseDuringGet(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Input)
	got := make(chan error, 1)
	go func() {
		_, err := q.Get(context.Background(), mq.GetOptions{Wait: time.Minute})
		got <- err
	}()
	time.Sleep(50 * time.Millisecond)
	c.Close()
	if left := ofLinks(); len(left) > 0 {
		t.Errorf("after Close:\n%s", strings.Join(left, "\n\n"))
	}
	if err := <-got; err == nil {
		t.Error("a get on a closed connection got something")
	}
}
