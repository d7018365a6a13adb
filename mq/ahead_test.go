package mq_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/mq"
)

// What ends a get that waits names a connection only. When the get that it was for is over already, what another queue sends ahead
// goes on: no message stays away, and no get that waits ends before its time.
func TestLateEndOfAnotherGet(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(A)")
	c, p := s.connect(t), s.connect(t)
	a, pa := open(t, c, "A", mq.Input|mq.ReadAhead), open(t, p, "A", mq.Output)
	put(t, pa, mq.PutOptions{}, "first")
	if take(t, a, mq.GetOptions{Wait: 20 * time.Second}) != "first" {
		t.Fatal("first")
	}
	for i, reason := range []mq.Reason{mq.NoMsgAvailable, 2107, 2107, mq.NoMsgAvailable} {
		text := fmt.Sprint("message ", i)
		if err := p.EndWait(ctx, c, reason); err != nil { // nothing waits
			t.Fatal(err)
		}
		if i == 2 { // it is asked for what is there, not for what comes
			put(t, pa, mq.PutOptions{}, text)
			if got := take(t, a, mq.GetOptions{}); got != text {
				t.Errorf("after %d: %q", reason, got)
			}
			continue
		}
		type result struct {
			m   *mq.Message
			err error
		}
		done := make(chan result, 1)
		go func() {
			m, err := a.Get(ctx, mq.GetOptions{Wait: mq.Forever})
			done <- result{m, err}
		}()
		for range 3 {
			if err := p.EndWait(ctx, c, reason); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case r := <-done:
			t.Fatalf("a get that waits for ever ended by %d: %v %v", reason, r.m, r.err)
		case <-time.After(20 * time.Millisecond):
		}
		put(t, pa, mq.PutOptions{}, text)
		if r := <-done; r.err != nil || string(r.m.Body) != text {
			t.Fatalf("after %d: %v", reason, r.err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := a.Get(short, mq.GetOptions{Wait: mq.Forever}); !errors.Is(err, mq.NoMsgAvailable) {
		t.Error(err)
	}
}

// The window is opened anew as its messages are taken, and not when nothing more comes.
func TestWindowGoesOn(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c, p := s.connect(t), s.connect(t)
	out, in := open(t, p, "Q", mq.Output), open(t, c, "Q", mq.Input|mq.ReadAhead)
	const n = 60
	for range n { // several windows
		put(t, out, mq.PutOptions{}, strings.Repeat("x", 50_000))
	}
	limit, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for i := range n {
		if _, err := in.Get(limit, mq.GetOptions{Wait: mq.Forever}); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
}

// puts puts messages of a persistence.
func puts(t *testing.T, q *mq.Queue, p mq.Persistence, texts ...string) {
	t.Helper()
	for _, s := range texts {
		m := mq.NewText(s)
		m.Persistence = p
		if err := q.Put(ctx, m, mq.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func depth(t *testing.T, q *mq.Queue) int {
	t.Helper()
	a, err := q.Inquire(ctx, mq.CurrentDepth)
	if err != nil {
		t.Fatal(err)
	}
	return int(a.Int(mq.CurrentDepth))
}

// Persistent messages are with the queue manager until somebody waits for them: what a client that ends has not got is still there.
func TestAheadKeepsPersistent(t *testing.T) {
	for name, set := range map[string]func(*fap.Instance){"17": nil, "12": func(i *fap.Instance) { i.Level = 12 }} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, set, "DEFINE QLOCAL(Q)")
			out := open(t, s.connect(t), "Q", mq.Output|mq.InquireMode)
			const want = "nPPPn"
			for round := range 4 {
				puts(t, out, mq.NonPersistent, "n")
				puts(t, out, mq.Persistent, "P", "P", "P")
				puts(t, out, mq.NonPersistent, "n")
				var nc net.Conn
				c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
					var d net.Dialer
					var err error
					nc, err = d.DialContext(ctx, network, addr)
					return nc, err
				}})
				if err != nil {
					t.Fatal(err)
				}
				in := open(t, c, "Q", mq.InputShared|mq.ReadAhead)
				got := ""
				for range round {
					got += take(t, in, mq.GetOptions{Wait: mq.Forever})
				}
				if got != want[:round] {
					t.Errorf("round %d: got %q", round, got)
				}
				if d := depth(t, out); d != 5-round {
					t.Errorf("round %d: depth %d", round, d)
				}
				nc.Close()
				rest := open(t, s.connect(t), "Q", mq.InputShared)
				for i := round; i < 5; i++ {
					if got := take(t, rest, mq.GetOptions{Wait: 20 * time.Second}); got != want[i:i+1] {
						t.Errorf("round %d: %q is left at place %d", round, got, i)
					}
				}
				if err := rest.Close(ctx); err != nil {
					t.Error(err)
				}
				c.Close()
			}
		})
	}
}

// Whoever waits, with and without an end, gets the next message at once, whatever it is and whatever came before.
func TestAheadMixture(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	out, in := open(t, s.connect(t), "Q", mq.Output|mq.InquireMode), open(t, s.connect(t), "Q", mq.InputShared|mq.ReadAhead)
	limit, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	for sent := 0; sent < 400; {
		late := r.IntN(3) == 0
		burst := 1 + r.IntN(12)
		send := func() {
			for i := range burst {
				puts(t, out, []mq.Persistence{mq.NonPersistent, mq.Persistent}[r.IntN(2)], fmt.Sprint(sent+i))
			}
		}
		done := make(chan struct{})
		if late {
			go func() { defer close(done); time.Sleep(3 * time.Millisecond); send() }()
		} else {
			send()
			close(done)
		}
		for range burst {
			o := mq.GetOptions{Wait: []time.Duration{mq.Forever, 20 * time.Second}[n%2]}
			if !late && n%3 == 0 {
				o.Wait = 0
			}
			m, err := in.Get(limit, o)
			if err != nil || string(m.Body) != fmt.Sprint(n) {
				t.Fatalf("message %d: %v, %v", n, m, err)
			}
			n++
		}
		<-done
		sent += burst
		if r.IntN(4) == 0 {
			if got := take(t, in, mq.GetOptions{Wait: time.Duration(r.IntN(2)) * time.Millisecond}); got != "" {
				t.Fatalf("%q from nowhere", got)
			}
		}
	}
	if d := depth(t, out); d != 0 {
		t.Errorf("depth %d", d)
	}
}

// A get that waits when the first persistent message comes is told to ask, and asks: at once.
func TestAheadWaitsForPersistent(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	out, in := open(t, s.connect(t), "Q", mq.Output), open(t, s.connect(t), "Q", mq.InputShared|mq.ReadAhead)
	for i := range 20 {
		puts(t, out, mq.NonPersistent, "n")
		if got := take(t, in, mq.GetOptions{Wait: mq.Forever}); got != "n" {
			t.Fatal(got)
		}
		put := make(chan struct{})
		time.AfterFunc(5*time.Millisecond, func() { // the window is open, and nobody has asked
			defer close(put)
			puts(t, out, mq.Persistent, fmt.Sprint(i))
		})
		limit, cancel := context.WithTimeout(ctx, 20*time.Second)
		m, err := in.Get(limit, mq.GetOptions{Wait: mq.Forever})
		cancel()
		if err != nil || string(m.Body) != fmt.Sprint(i) {
			t.Fatal(i, m, err)
		}
		<-put // its answer may come behind the message
	}
}
