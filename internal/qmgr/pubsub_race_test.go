package qmgr

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Everything at once: publishers with and without retain, subscriptions that come and go, commands, time. A subscription
// that was there before and stays gets every publication once; store and tree agree on what is retained.
func TestPubsubConcurrent(t *testing.T) { pubsubConcurrent(t) }

// The same with every clear as a record.
func TestPubsubConcurrentClears(t *testing.T) {
	setClearOneByOne(t, 0)
	pubsubConcurrent(t)
}

func pubsubConcurrent(t *testing.T) {
	r := newPSBoltRig(t)
	r.life(2)
	const publishers, each = 4, 60
	all := r.connect("watch")
	q, _ := r.managed(all, "#", mqi.MQSO_NEW_PUBLICATIONS_ONLY)
	var wg, background sync.WaitGroup
	var stop atomic.Bool
	bgRun := func(f func(i int)) {
		background.Go(func() {
			for i := 0; !stop.Load(); i++ {
				f(i)
			}
		})
	}
	for p := range publishers {
		c := r.connect(fmt.Sprint("p", p))
		wg.Go(func() {
			for i := range each {
				opts := int32(0)
				var change []func(*mqi.MD)
				if i%2 == 0 {
					opts |= mqi.MQPMO_RETAIN
				}
				if i%3 == 0 {
					change = append(change, persistent)
				}
				if i%5 == 0 {
					opts |= mqi.MQPMO_SYNCPOINT
				}
				if err := tryPub(c, fmt.Sprintf("t/%d", i%4), fmt.Sprintf("%d.%d", p, i), opts, change...); err != nil {
					t.Error(err)
				}
				if i%5 == 0 {
					if err := c.Commit(bg); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	come := r.connect("come")
	bgRun(func(i int) {
		opts := int32(create | managed)
		name := func(*mqi.SD) {}
		if i%2 == 0 {
			opts, name = opts|durable, named(fmt.Sprint("D", i))
		}
		h, s, err := come.Subscribe(bg, subSD([]string{"t/+", "t/1"}[i%2], opts, name), 0)
		if err != nil {
			t.Error(err)
			return
		}
		_, _, _ = tryGet(come, h, 0) // whatever is there
		if err := come.Close(bg, s, mqi.MQCO_REMOVE_SUB); err != nil {
			t.Error(err)
		}
		if err := come.Close(bg, h, 0); err != nil {
			t.Error(err)
		}
	})
	bgRun(func(i int) {
		r.cmd(fmt.Sprintf("CLEAR TOPICSTR('t/%d') CLRTYPE(RETAINED)", i%4))
		r.cmd("DISPLAY TPSTATUS('#') TYPE(SUB)")
		r.cmd("DISPLAY SUB(*)")
		r.clk.Advance(100 * time.Millisecond)
	})
	wg.Wait()
	stop.Store(true)
	background.Wait()
	seen := map[string]bool{}
	for {
		s, _, err := tryGet(all, q, 0)
		if err != nil {
			wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			break
		}
		if seen[s] {
			t.Errorf("%s came twice", s)
		}
		seen[s] = true
	}
	if len(seen) != publishers*each {
		t.Errorf("%d of %d publications came", len(seen), publishers*each)
	}
	if err := r.m.topics.tree.Check(); err != nil {
		t.Error(err)
	}
	if n := len(r.m.retain.flight); n != 0 {
		t.Errorf("%d topics with changes in flight", n)
	}
	inTree := map[string]bool{}
	for i := range 4 {
		topic := fmt.Sprint("t/", i)
		if ref, ok := r.m.topics.tree.RetainedRefOf(topic); ok && inStore(ref) {
			inTree[topic] = true
		}
	}
	r.restart(store.Immediate)
	for i := range 4 {
		topic := fmt.Sprint("t/", i)
		if _, is := r.m.topics.tree.Retained(topic); is != inTree[topic] {
			t.Errorf("%s: retained in the tree %t, in the store %t", topic, inTree[topic], !inTree[topic])
		}
	}
	if n := r.m.topics.tree.SubCount(); n != 0 {
		t.Errorf("%d subscriptions left", n)
	}
}
