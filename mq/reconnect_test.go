package mq_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/mq"
)

// again connects with a connection that is made again when it is lost; tries counts the times.
func (s *server) again(t *testing.T, tries *atomic.Int32) *mq.Conn {
	t.Helper()
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN", Reconnect: &mq.Reconnect{Timeout: 20 * time.Second,
		Notify: func(err error) {
			if err == nil {
				tries.Add(1)
			}
		}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Handles of all kinds work on after the connection was lost, also while a get waits.
func TestReconnect(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)", "DEFINE QLOCAL(AHEAD)")
	var n atomic.Int32
	c, ahead := s.again(t, &n), s.again(t, &n)
	q := open(t, c, "Q", mq.Input|mq.Output)
	a := open(t, ahead, "AHEAD", mq.Input|mq.ReadAhead)
	dyn, err := c.OpenWith(ctx, "SYSTEM.DEFAULT.MODEL.QUEUE", mq.Input|mq.Output, mq.OpenOptions{DynamicName: "TMP.*"})
	if err != nil {
		t.Fatal(err)
	}
	name := dyn.Name()
	topic, err := c.OpenTopic(ctx, "sport/golf")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := c.Subscribe(ctx, mq.SubOptions{Topic: "sport/#", Name: "fan", Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		m   *mq.Message
		err error
	}
	waits := make(chan result, 2)
	for _, in := range []*mq.Queue{q, a} {
		go func() {
			m, err := in.Get(ctx, mq.GetOptions{Wait: mq.Forever})
			waits <- result{m, err}
		}()
	}
	time.Sleep(50 * time.Millisecond)
	s.cut()
	for _, name := range []string{"Q", "AHEAD"} {
		put(t, open(t, s.connect(t), name, mq.Output), mq.PutOptions{}, "after")
		if r := <-waits; r.err != nil || string(r.m.Body) != "after" {
			t.Fatalf("waiting get: %+v", r)
		}
	}
	if n.Load() != 2 {
		t.Errorf("connected again %d times", n.Load())
	}
	if sent := s.srv.Reconnect(); sent != 2 {
		t.Errorf("the queue manager sent %d clients away", sent)
	}
	if got := take(t, dyn, mq.GetOptions{}); got != "" {
		t.Errorf("a new temporary queue gave %q", got)
	}
	put(t, dyn, mq.PutOptions{}, "temporary")
	if got := take(t, dyn, mq.GetOptions{}); got != "temporary" || dyn.Name() != name {
		t.Errorf("temporary queue %s, was %s, gave %q", dyn.Name(), name, got)
	}
	if err := topic.Publish(ctx, mq.NewText("news"), mq.PubOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := take(t, &sub.Queue, mq.GetOptions{Wait: 20 * time.Second}); got != "news" {
		t.Errorf("subscription gave %q", got)
	}
	if err := sub.Remove(ctx); err != nil {
		t.Error(err)
	}
	s.cut()
	if err := q.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Disconnect(ctx); err != nil {
		t.Error(err)
	}
}

// What was done of a unit of work is gone with the connection, and is said to be until the unit is ended.
func TestReconnectInUnitOfWork(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	var n atomic.Int32
	c := s.again(t, &n)
	q := open(t, c, "Q", mq.Input|mq.Output)
	unit := mq.PutOptions{Syncpoint: true}
	for _, end := range []func(context.Context) error{c.Commit, c.Backout} {
		put(t, q, unit, "lost")
		s.cut()
		for range 2 {
			if err := q.Put(ctx, mq.NewText("lost too"), unit); !errors.Is(err, mq.BackedOut) {
				t.Fatalf("put: %v", err)
			}
		}
		if _, err := q.Get(ctx, mq.GetOptions{Syncpoint: true}); !errors.Is(err, mq.BackedOut) {
			t.Fatalf("get: %v", err)
		}
		if err := end(ctx); (n.Load() == 1) != errors.Is(err, mq.BackedOut) {
			t.Fatalf("end of unit %d: %v", n.Load(), err)
		}
	}
	put(t, q, unit, "kept")
	if err := c.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kept", ""} {
		if got := take(t, q, mq.GetOptions{}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// breaking loses its connection instead of the next answer, once armed.
type breaking struct {
	net.Conn
	armed *atomic.Bool
}

func (b breaking) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if n > 0 && b.armed.CompareAndSwap(true, false) {
		b.Conn.Close()
		return 0, errors.New("cable cut")
	}
	return n, err
}

// A put or a commit whose answer was lost may have been done: it is not done again.
func TestReconnectInterrupted(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	var armed atomic.Bool
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN", Reconnect: &mq.Reconnect{},
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, addr)
			return breaking{nc, &armed}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := open(t, c, "Q", mq.Input|mq.Output)
	armed.Store(true)
	if err := q.Put(ctx, mq.NewText("one"), mq.PutOptions{}); !errors.Is(err, mq.CallInterrupted) {
		t.Errorf("put: %v", err)
	}
	put(t, q, mq.PutOptions{Syncpoint: true}, "two")
	armed.Store(true)
	if err := c.Commit(ctx); !errors.Is(err, mq.CallInterrupted) {
		t.Errorf("commit: %v", err)
	}
	put(t, q, mq.PutOptions{Async: true}, "three")
	time.Sleep(20 * time.Millisecond)
	armed.Store(true)
	if err := c.Flush(ctx); !errors.Is(err, mq.CallInterrupted) {
		t.Errorf("flush: %v", err)
	}
	if err := c.Flush(ctx); err != nil {
		t.Errorf("second flush: %v", err)
	}
	for _, want := range []string{"one", "two", "three", ""} {
		if got := take(t, q, mq.GetOptions{}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A queue manager that is ending is left for the next address; a unit of work is ended first.
func TestReconnectElsewhere(t *testing.T) {
	first, second := serve(t, nil, "DEFINE QLOCAL(Q)"), serve(t, nil, "DEFINE QLOCAL(Q)")
	c, err := mq.Connect(ctx, mq.Options{Addr: first.addr + ", " + second.addr, Channel: "APP.SVRCONN", Reconnect: &mq.Reconnect{}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := open(t, c, "Q", mq.Input|mq.Output)
	put(t, q, mq.PutOptions{Syncpoint: true}, "here")
	go first.qm.Stop(ctx, store.Quiesce)
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		err := q.Put(ctx, mq.NewText("here"), mq.PutOptions{Syncpoint: true})
		if errors.Is(err, mq.QMgrQuiescing) {
			break
		}
		if err != nil || time.Now().After(until) {
			t.Fatalf("the queue manager does not end: %v", err)
		}
	}
	if err := c.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	put(t, q, mq.PutOptions{}, "there")
	if got := take(t, open(t, second.connect(t), "Q", mq.Input), mq.GetOptions{}); got != "there" {
		t.Errorf("the other queue manager has %q", got)
	}
}

// Without a queue manager the attempts end after their time, or at once when nothing will change.
func TestReconnectFails(t *testing.T) {
	s, err := startServer(nil, nil, "DEFINE QLOCAL(Q)", "DEFINE QLOCAL(GONE)")
	if err != nil {
		t.Fatal(err)
	}
	connect := func() (*mq.Conn, *mq.Queue) {
		c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN", Reconnect: &mq.Reconnect{Timeout: 300 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		return c, open(t, c, "Q", mq.Input)
	}
	c, q := connect()
	open(t, c, "GONE", mq.Input)
	idle, _ := connect()
	defer idle.Close()
	s.cut()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) { // it is open for a moment
		if err := run(s.qm, "DELETE QLOCAL(GONE)"); err == nil {
			break
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	var e *mq.Error
	if _, err := q.Get(ctx, mq.GetOptions{}); !errors.Is(err, mq.ReconnectFailed) || !errors.As(errors.Unwrap(err), &e) || e.Reason != mq.UnknownObject {
		t.Errorf("a queue that is gone: %v", err)
	}
	<-c.Done()
	if _, err := q.Get(ctx, mq.GetOptions{}); !errors.Is(err, mq.ConnectionBroken) {
		t.Errorf("afterwards: %v", err)
	}
	c, q = connect()
	s.stop()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := q.Get(short, mq.GetOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a short verb: %v", err)
	}
	if _, err := q.Get(ctx, mq.GetOptions{}); !errors.Is(err, mq.ReconnectFailed) {
		t.Errorf("no server: %v", err)
	}
	<-c.Done()
}
