package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/mq"
)

// serve listens for clients until the test ends.
func serve(t *testing.T, commands ...string) (addr string) {
	t.Helper()
	b := backend(t, commands...)
	start := b.Start
	b.Start = func(ctx context.Context, p fap.Peer) (*fap.Instance, error) {
		i, err := start(ctx, p)
		i.QMgr, i.ShareCnv, i.MaxMsg, i.PlainPasswords = "QM1", 10, 4<<20, true
		i.Heartbeat = 300 // a busy machine may be silent for longer than the second that the client offers
		return i, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := zerolog.Nop()
	c, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- fap.New(b, fap.Options{Log: &log}).Serve(c, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Error("the server does not end")
		}
	})
	return l.Addr().String()
}

// client opens a queue on a connection of its own.
func client(t *testing.T, addr, queue string, mode mq.OpenMode, dial func(context.Context, string, string) (net.Conn, error)) (*mq.Conn, *mq.Queue) {
	t.Helper()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "APP.SVRCONN", Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	q, err := c.Open(ctx, queue, mode)
	if err != nil {
		t.Fatal(err)
	}
	return c, q
}

func numbered(i, size int) *mq.Message {
	body := make([]byte, size)
	binary.BigEndian.PutUint32(body, uint32(i))
	m := mq.NewMessage(body)
	m.Persistence = mq.NonPersistent
	return m
}

// TestOrder: whichever way messages take, past the queue or through it, a getter sees those of one putter in their order and
// each once, and the queue's counters know of all.
func TestOrder(t *testing.T) {
	for _, o := range []struct {
		mode   mq.OpenMode
		answer int // every so many puts
	}{{mq.InputShared | mq.ReadAhead, 100}, {mq.InputShared, 100}, {mq.InputShared | mq.ReadAhead, 1}} {
		addr := serve(t, "DEFINE QLOCAL(Q) MAXDEPTH(100000)")
		conn, in := client(t, addr, "Q", mq.Output, nil)
		_, out := client(t, addr, "Q", o.mode, nil)
		const n = 5000
		go func() {
			for i := range n {
				if err := in.Put(ctx, numbered(i, 1000), mq.PutOptions{Async: i%o.answer != 0}); err != nil {
					t.Error(err)
					return
				}
			}
			if err := conn.Flush(ctx); err != nil {
				t.Error(err)
			}
		}()
		for i := range n {
			m, err := out.Get(ctx, mq.GetOptions{Wait: 10 * time.Second})
			if err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
			if got := int(binary.BigEndian.Uint32(m.Body)); got != i || len(m.Body) != 1000 {
				t.Fatalf("message %d of %d bytes, want %d", got, len(m.Body), i)
			}
			if i%1000 == 999 {
				time.Sleep(5 * time.Millisecond) // the putter gets ahead
			}
		}
		if _, err := out.Get(ctx, mq.GetOptions{}); !errors.Is(err, mq.NoMsgAvailable) {
			t.Errorf("one more: %v", err)
		}
	}
}

// stuck is a connection that stops reading when told to.
type stuck struct {
	net.Conn
	stop *atomic.Bool
	end  chan struct{}
}

func (s *stuck) Read(b []byte) (int, error) {
	if s.stop.Load() {
		<-s.end
		return 0, net.ErrClosed
	}
	return s.Conn.Read(b)
}

// TestSlowGetter: a getter that reads nothing delays neither who puts for it nor another getter.
func TestSlowGetter(t *testing.T) {
	addr := serve(t, "DEFINE QLOCAL(SLOW) MAXDEPTH(100000)", "DEFINE QLOCAL(FAST) MAXDEPTH(100000)")
	var stop atomic.Bool
	end := make(chan struct{})
	defer close(end)
	_, slow := client(t, addr, "SLOW", mq.InputShared|mq.ReadAhead, func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return &stuck{nc, &stop, end}, err
	})
	conn, in := client(t, addr, "SLOW", mq.Output, nil)
	_, fast := client(t, addr, "FAST", mq.InputShared|mq.ReadAhead, nil)
	also, err := conn.Open(ctx, "FAST", mq.Output)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Put(ctx, numbered(0, 100), mq.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Get(ctx, mq.GetOptions{Wait: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	stop.Store(true)
	for i := range 200 { // 20 MB, more than any socket holds
		if err := in.Put(ctx, numbered(i, 100_000), mq.PutOptions{Async: true}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := also.Put(ctx, numbered(i, 100), mq.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		m, err := fast.Get(ctx, mq.GetOptions{Wait: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if got := int(binary.BigEndian.Uint32(m.Body)); got != i {
			t.Fatalf("message %d, want %d", got, i)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("message %d took %v", i, took)
		}
	}
}

// TestBreakWhileWaiting: a connection that is ended from elsewhere gives back what its gets had claimed, and the message goes
// to the next.
func TestBreakWhileWaiting(t *testing.T) {
	b := backend(t, "DEFINE QLOCAL(Q)")
	first, err := connect(t, b, "app")
	if err != nil {
		t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	h, _, err := first.Open(ctx, &od, mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)
	if err != nil {
		t.Fatal(err)
	}
	woken := make(chan any, 8)
	w := first.(fap.Waiter).NewWait(told{woken})
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Options, gmo.WaitInterval = mqi.MQGMO_WAIT|mqi.MQGMO_NO_SYNCPOINT, mqi.MQWI_UNLIMITED
	if _, _, s, err := w.Get(h, &md, &gmo, 100); s != fap.Waits || err != nil {
		t.Fatalf("state %d, %v", s, err)
	}
	put, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	put.Persistence = mqi.MQPER_NOT_PERSISTENT
	if err := first.Put(ctx, h, &put, &pmo, []byte("one")); err != nil { // its own get: claimed, and told by RunWoken
		t.Fatal(err)
	}
	first.(fap.Waiter).RunWoken("me")
	if by := <-woken; by != "me" {
		t.Fatalf("woken by %v", by)
	}
	first.Break()
	if _, _, s, err := w.Resume(); s != fap.Over || err == nil {
		t.Fatalf("state %d, %v, of a connection that is no more", s, err)
	}
	second, err := connect(t, b, "app")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Break()
	if h, _, err = second.Open(ctx, &od, mqi.MQOO_INPUT_SHARED); err != nil {
		t.Fatal(err)
	}
	gmo.Options = mqi.MQGMO_NO_SYNCPOINT
	if body, _, err := second.Get(ctx, h, &md, &gmo, 100); string(body) != "one" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}

// told takes no message, and says when it is woken.
type told struct{ woken chan any }

func (w told) Wake(by any)                  { w.woken <- by }
func (w told) Own() bool                    { return false }
func (w told) Disown()                      {}
func (w told) Settled(by any)               { w.woken <- by }
func (w told) Take(any, []byte, int, error) {}
