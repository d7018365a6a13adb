package mq_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/mq"
)

// GetInto uses the message and its buffer again; nothing of the message before is left.
func TestGetInto(t *testing.T) {
	for name, set := range map[string]func(*fap.Instance){"shared": nil, "unshared": func(i *fap.Instance) { i.ShareCnv = 0 }} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, set, "DEFINE QLOCAL(Q)")
			c := s.connect(t)
			mode := mq.Input
			if set == nil {
				mode |= mq.ReadAhead
			}
			in, q := open(t, c, "Q", mq.Output), open(t, s.connect(t), "Q", mode)
			long := mq.NewText(strings.Repeat("long", 100))
			long.ReplyTo, long.Priority, long.Expiry = "BACK", 5, time.Hour
			m := mq.Message{Body: make([]byte, 0, 1000)}
			room := &m.Body[:1][0]
			for _, x := range []*mq.Message{long, mq.NewMessage([]byte("short"))} {
				if err := in.Put(ctx, x, mq.PutOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := q.GetInto(ctx, &m, mq.GetOptions{Wait: 20 * time.Second}); err != nil {
					t.Fatal(err)
				}
				if string(m.Body) != string(x.Body) || m.ReplyTo != x.ReplyTo || m.Format != x.Format || m.MsgID != x.MsgID ||
					(m.Expiry > 0) != (x.Expiry > 0) || !m.PutTime.Equal(x.PutTime) || m.Queue != "Q" {
					t.Errorf("got %+v", m)
				}
				if &m.Body[0] != room {
					t.Error("the buffer was not used")
				}
			}
		})
	}
}

// Puts that are not answered reach the queue without a further verb, each of them, whatever the pauses between them.
func TestGatheredPuts(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	in, q := open(t, s.connect(t), "Q", mq.Output), open(t, s.connect(t), "Q", mq.Input)
	sizes := []int{0, 3, 1000, 40_000, 1, 200_000}
	for round := range 60 {
		n := 1 + round%7
		for i := range n {
			m := mq.NewText(fmt.Sprintf("%d.%d.%s", round, i, strings.Repeat("x", sizes[(round+i)%len(sizes)])))
			m.CorrelID = mq.ID{byte(round)}
			if err := in.Put(ctx, m, mq.PutOptions{Async: true}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			m, err := q.Get(ctx, mq.GetOptions{Wait: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d.%d.", round, i); !strings.HasPrefix(string(m.Body), want) || m.CorrelID[0] != byte(round) ||
				len(m.Body) != len(want)+sizes[(round+i)%len(sizes)] {
				t.Fatalf("%s is %.20q with %d bytes", want, m.Body, len(m.Body))
			}
		}
	}
}

// counted counts what is written.
type counted struct {
	net.Conn
	writes atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) { c.writes.Add(1); return c.Conn.Write(b) }

// A stream of puts leaves in few writes, and a lone one in its own, before Put returns.
func TestGatherRule(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q) MAXDEPTH(999999999)")
	var line *counted
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "C", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		line = &counted{Conn: nc}
		return line, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := open(t, c, "Q", mq.Output)
	for range 5 {
		time.Sleep(5 * time.Millisecond)
		before := line.writes.Load()
		put(t, q, mq.PutOptions{Async: true}, "lone")
		if n := line.writes.Load() - before; n != 1 {
			t.Errorf("a lone put made %d writes", n)
		}
	}
	before := line.writes.Load()
	const n = 5000
	for range n {
		put(t, q, mq.PutOptions{Async: true}, "one of many")
	}
	if err := c.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if w := line.writes.Load() - before; w > n/5 {
		t.Errorf("%d puts made %d writes", n, w)
	}
}

// A connection that nobody uses notices its end; one whose verb waits gives the reason.
func TestIdleConnectionEnds(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	idle, busy := s.connect(t), s.connect(t)
	q := open(t, busy, "Q", mq.Input)
	waits := make(chan error, 1)
	go func() {
		_, err := q.Get(ctx, mq.GetOptions{Wait: mq.Forever})
		waits <- err
	}()
	time.Sleep(50 * time.Millisecond)
	s.cut()
	for _, c := range []*mq.Conn{idle, busy} {
		select {
		case <-c.Done():
		case <-time.After(20 * time.Second):
			t.Fatal("the end was not noticed")
		}
	}
	if err := <-waits; !errors.Is(err, mq.ConnectionBroken) {
		t.Errorf("waiting get: %v", err)
	}
}

// Verbs after pauses of any length get their answers: whoever reads hands over.
func TestPauses(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Output|mq.Input)
	for i := range 40 {
		time.Sleep(time.Duration(i%8) * 7 * time.Millisecond)
		put(t, q, mq.PutOptions{}, fmt.Sprint(i))
		get, cancel := context.WithTimeout(ctx, 10*time.Second)
		m, err := q.Get(get, mq.GetOptions{Wait: mq.Forever})
		cancel()
		if err != nil || string(m.Body) != fmt.Sprint(i) {
			t.Fatalf("%d: %v %v", i, m, err)
		}
		short, cancel := context.WithTimeout(ctx, time.Duration(i%5)*12*time.Millisecond)
		if _, err := q.Get(short, mq.GetOptions{Wait: mq.Forever}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d: %v", i, err)
		}
		cancel()
	}
}
