package qmgr

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// MQSUBRQ, and new subscriptions, beside a publisher that replaces the retained publications of a few topics: every topic has one all the
// time, so every answer has one of each. In memory, in the store, and from each to the other.
func TestRetainedBeingReplaced(t *testing.T) {
	const topics = 8
	for name, pers := range map[string][]int32{"memory": {0}, "store": {1}, "in turn": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			r := newPSBoltRig(t)
			put := func(c *Conn, i int) error {
				return tryPub(c, fmt.Sprint("W/", i%topics), "x", mqi.MQPMO_RETAIN, func(md *mqi.MD) { md.Persistence = pers[i/topics%len(pers)] })
			}
			for i := range topics {
				wantRC(t, put(r.c, i), 0)
			}
			q, hs := r.managed(r.c, "W/+", mqi.MQSO_PUBLICATIONS_ON_REQUEST)
			var stop atomic.Bool
			var wg sync.WaitGroup
			defer wg.Wait()
			defer stop.Store(true)
			p := r.connect("pub")
			wg.Go(func() {
				for i := topics; !stop.Load(); i++ {
					if err := put(p, i); err != nil {
						t.Error(err)
						return
					}
				}
			})
			for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
				sro := mqi.DefaultSRO()
				wantRC(t, r.c.SubRequest(bg, hs, mqi.MQSR_ACTION_PUBLICATION, &sro), 0)
				if sro.NumPubs != topics {
					t.Fatalf("MQSUBRQ: %d of %d retained publications", sro.NumPubs, topics)
				}
				r.all(r.c, q)
				nq, ns := r.managed(r.c, "W/+", 0)
				dest := r.m.lookup(ClassQueue, queueOf(t, r.c, ns)).Queue
				r.eventually("a new subscription has one of each topic", func() bool { return dest.depth() >= topics })
				r.close(r.c, ns, 0)
				r.close(r.c, nq, mqi.MQCO_NONE)
			}
		})
	}
}

// queueOf is the name of a subscription's queue.
func queueOf(t *testing.T, c *Conn, hsub Handle) string {
	t.Helper()
	h, err := c.handle("test", hsub)
	if err != nil {
		t.Fatal(err)
	}
	return h.sub.obj.Def().Get("DEST")
}
