package mq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

// What ends a get that waits names a connection only. When the get that it was for is over already, what another queue sends ahead
// goes on: no message stays away, and no get that waits ends before its time.
func TestLateEndOfAnotherGet(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(A)")
	c, p := s.connect(t), s.connect(t)
	a, pa := open(t, c, "A", mq.Input|mq.ReadAhead), open(t, p, "A", mq.Output)
	put(t, pa, mq.PutOptions{}, "first")
	if take(t, a, mq.GetOptions{Wait: 5 * time.Second}) != "first" {
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
