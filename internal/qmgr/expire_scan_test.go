package qmgr

import (
	"context"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The scan for expired messages goes on where it was, however many stay before that place, holds the lock for a bounded
// number of entries, and remembers the next time of expiry, that of messages put meanwhile too.
func TestExpiryScan(t *testing.T) {
	const live, over = 3 * scanBatch, 10 * expireBatch
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(999999)")
	h := openFor(t, r.c, "Q", inOut)
	put := func(prio, expiry int32) {
		_, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) { md.Priority, md.Expiry = prio, expiry })
		wantRC(t, err, 0)
	}
	for range live {
		put(4, -1)
	}
	for range over {
		put(4, 10)
	}
	q := r.m.lookup(ClassQueue, "Q").Queue
	start := r.clk.Now()
	now := start.Add(5 * time.Second).UnixMilli()
	holds, fresh := 0, true
	for more := true; more; holds++ {
		var dead []deadMsg
		dead, more = q.expired(now, fresh)
		if fresh = false; len(dead) > expireBatch {
			t.Fatalf("%d condemned at once", len(dead))
		}
		wantRC(t, r.m.discard(q, dead), 0)
		if holds == 0 {
			put(9, 20) // before the place of the scan
		}
		if holds > live/scanBatch+over/expireBatch+2 {
			t.Fatal("the scan does not go on where it was")
		}
	}
	if d := q.depth(); d != live+1 {
		t.Errorf("%d messages are left, not %d", d, live+1)
	}
	if want := start.Add(2 * time.Second).UnixMilli(); q.soonest != want {
		t.Errorf("next expiry %d, not %d", q.soonest, want)
	}
}

// endConn is the beginning of Break, which waits for the verb in progress.
func endConn(c *Conn) {
	c.once.Do(func() {
		c.end = mqi.MQRC_CONNECTION_BROKEN
		close(c.broken)
	})
}

// A get that meets many expired messages discards them in parts, and ends between two when its connection does, or its caller goes:
// STOP CONN and an immediate end waited for seconds. One that waits without a goroutine is the same.
func TestDiscardingEnds(t *testing.T) {
	for name, get := range map[string]func(c *Conn, h Handle) error{
		"caller gone": func(c *Conn, h Handle) error {
			ctx, cancel := context.WithCancel(bg)
			cancel()
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			_, _, err := c.Get(ctx, h, &md, &gmo, 100)
			return err
		},
		"connection ended": func(c *Conn, h Handle) error {
			endConn(c)
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			g := getting{}
			if over, err := g.start(c, c.handles[h], &md, &gmo, 100); over || err != nil {
				return err
			}
			_, _, err := g.run(bg)
			return err
		},
		"connection ended, no goroutine": func(c *Conn, h Handle) error {
			w := c.NewWaiting(bell(nil))
			endConn(c)
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			if over, err := w.g.start(c, c.handles[h], &md, &gmo, 100); over || err != nil {
				return err
			}
			_, _, _, err := w.run()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPSRig(t)
			r.ok("DEFINE QLOCAL(Q) MAXDEPTH(999999)")
			h := openFor(t, r.c, "Q", inOut)
			for range 3 * expireBatch {
				_, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) { md.Expiry = 10 })
				wantRC(t, err, 0)
			}
			r.clk.Advance(5 * time.Second)
			wantRC(t, get(r.c, h), mqi.MQRC_CONNECTION_BROKEN)
			if d := r.m.lookup(ClassQueue, "Q").Queue.depth(); d != 2*expireBatch {
				t.Errorf("%d messages are left, want %d", d, 2*expireBatch)
			}
		})
	}
}
