package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/qmgrd/qmgrd/mq"
)

// TestAsyncPutLost: the answer to MQCMIT tells a client of a persistent message that a put without answer did not put.
// Nonpersistent ones are MQSTAT's alone.
func TestAsyncPutLost(t *testing.T) {
	addr := serve(t, "DEFINE QLOCAL(Q) MAXDEPTH(2)", "DEFINE QLOCAL(LONG)")
	c, q := client(t, addr, "Q", mq.Output|mq.InputShared, nil)
	unit := mq.PutOptions{Async: true, Syncpoint: true}
	message := func(size int, p mq.Persistence) *mq.Message {
		m := mq.NewMessage(make([]byte, size))
		m.Persistence = p
		return m
	}
	for _, p := range []mq.Persistence{mq.Persistent, mq.NonPersistent} {
		for name, fail := range map[string]func() error{
			"MQPUT": func() error {
				return errors.Join(q.Put(ctx, message(1, p), unit), q.Put(ctx, message(1, p), unit), q.Put(ctx, message(1, p), unit))
			},
			"MQPUT1": func() error { return c.Put1(ctx, "NOWHERE", message(1, p), unit) },
		} {
			t.Run(fmt.Sprint(name, p), func(t *testing.T) {
				if err := fail(); err != nil {
					t.Fatal(err)
				}
				err := c.Commit(ctx)
				var e *mq.Error
				switch {
				case p == mq.NonPersistent:
					if err != nil {
						t.Fatal(err)
					}
				case !errors.As(err, &e) || e.Reason != mq.BackedOut || e.Code != mq.Warning:
					t.Fatalf("MQCMIT: %v", err)
				}
				if err := c.Flush(ctx); err == nil {
					t.Error("MQSTAT knows of no failure")
				}
				for {
					if _, err := q.Get(ctx, mq.GetOptions{}); errors.Is(err, mq.NoMsgAvailable) {
						break
					} else if err != nil || p == mq.Persistent {
						t.Fatalf("a message of the unit is there: %v", err)
					}
				}
			})
		}
	}
}
