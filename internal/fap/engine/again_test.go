package engine_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

// TestRunsOfPuts: programs put many messages that differ in their data only, which are served in one go, and others between them.
// Whatever follows what, each arrives once, in order, as it was put.
func TestRunsOfPuts(t *testing.T) {
	addr := serve(t, "DEFINE QLOCAL(Q) MAXDEPTH(100000) DEFPRTY(4)", "DEFINE QLOCAL(Q2) MAXDEPTH(100000)")
	conn, in := client(t, addr, "Q", mq.Output, nil)
	beside, err := conn.Open(ctx, "Q2", mq.Output)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	const all = 4000
	type sent struct {
		cor  mq.ID
		id   mq.ID
		prio int
		form string
		size int
	}
	said, beyond := make(chan sent, all), 0
	_, out := client(t, addr, "Q", mq.InputShared|mq.ReadAhead, nil)
	done := make(chan error, 1)
	go func() {
		for i := range all {
			m, err := out.Get(ctx, mq.GetOptions{Wait: 20 * time.Second})
			if err != nil {
				done <- err
				return
			}
			w := <-said
			switch n := int(binary.BigEndian.Uint32(m.Body)); {
			case n != i, m.CorrelID != w.cor, m.Priority != w.prio, m.Format != w.form, len(m.Body) != w.size:
				t.Errorf("message %d is number %d: %+v", i, n, m)
				done <- nil
				return
			case w.id != (mq.ID{}) && m.MsgID != w.id, m.MsgID == mq.ID{}:
				t.Errorf("message %d has identifier %x, want %x", i, m.MsgID, w.id)
			}
		}
		done <- nil
	}()
	var now sent
	now.prio = 4
	for i := range all {
		if rnd.IntN(8) == 0 { // the next ones are of another kind
			now = sent{prio: 4, form: []string{"", "MQSTR"}[rnd.IntN(2)]}
			if rnd.IntN(2) == 0 {
				now.cor[0] = byte(rnd.IntN(256))
			}
			if rnd.IntN(4) == 0 {
				now.id[0] = byte(1 + rnd.IntN(255))
			}
		}
		now.size = 4 + rnd.IntN(1500)
		said <- now
		m := numbered(i, now.size)
		m.CorrelID, m.MsgID, m.Format = now.cor, now.id, now.form
		if err := in.Put(ctx, m, mq.PutOptions{Async: rnd.IntN(100) > 0}); err != nil {
			t.Fatal(err)
		}
		if rnd.IntN(50) == 0 {
			beyond++
			if err := beside.Put(ctx, m, mq.PutOptions{Async: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := conn.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	_, rest := client(t, addr, "Q2", mq.InputShared, nil)
	for range beyond {
		if _, err := rest.Get(ctx, mq.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rest.Get(ctx, mq.GetOptions{}); err == nil {
		t.Error("there is one more on the other queue")
	}
}
