package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// A retained publication in memory overtakes one that was submitted before it and waits for the disk with its unit: what came later
// stays, in the topic tree too, when the other one's unit is through.
func TestRetainedOvertakes(t *testing.T) {
	o, st := slowRig(t)
	r := &psRig{objRig: o}
	r.c = r.connect("app")
	r.ok("DEFINE QLOCAL(Q)")
	first, second := r.connect("first"), r.connect("second")
	wantRC(t, tryPub(first, "T", "earlier", mqi.MQPMO_RETAIN|mqi.MQPMO_SYNCPOINT), 0)
	h := openFor(t, first, "Q", mqi.MQOO_OUTPUT)
	_, err := tryPut(first, h, "beside", mqi.MQPMO_SYNCPOINT, persistent)
	wantRC(t, err, 0)
	hold := make(chan struct{})
	st.set(hold, nil)
	done := make(chan error, 1)
	go func() { done <- first.Commit(bg) }()
	r.eventually("the first unit is under way", func() bool {
		r.m.retain.mu.Lock()
		defer r.m.retain.mu.Unlock()
		return len(r.m.retain.flight) == 1
	})
	st.set(nil, nil)
	wantRC(t, tryPub(second, "T", "later", mqi.MQPMO_RETAIN), 0)
	close(hold)
	wantRC(t, <-done, 0)
	q, _ := r.managed(r.c, "T", 0)
	if got := r.all(r.c, q); got != "later" {
		t.Errorf("%q is retained", got)
	}
}

// A subscription that is made while a retained publication is on its way to the disk waits for it: it is too late for a copy of its
// own, and too early to be found.
func TestNewSubscriptionWaitsForRetained(t *testing.T) {
	o, st := slowRig(t)
	r := &psRig{objRig: o}
	r.c = r.connect("app")
	first := r.connect("first")
	hold := make(chan struct{})
	st.set(hold, nil)
	done := make(chan error, 1)
	go func() { done <- tryPub(first, "T", "news", mqi.MQPMO_RETAIN, persistent) }()
	r.eventually("the publication is under way", func() bool {
		r.m.retain.mu.Lock()
		defer r.m.retain.mu.Unlock()
		return len(r.m.retain.flight) == 1
	})
	st.set(nil, nil)
	got := make(chan string, 1)
	go func() {
		q, _, err := r.c.Subscribe(bg, subSD("T", create|managed), 0)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.all(r.c, q)
	}()
	r.eventually("the subscription is in the tree", func() bool { return r.m.topics.tree.SubCount() == 1 })
	select {
	case s := <-got:
		t.Fatalf("it has %q before the publication is durable", s)
	case <-time.After(20 * time.Millisecond):
	}
	close(hold)
	wantRC(t, <-done, 0)
	if s := <-got; s != "news" {
		t.Errorf("it has %q", s)
	}
}

// A retained publication that the store refuses was none: what was retained before is, new subscriptions do not wait for it, and it is
// not there after a restart.
func TestRefusedRetained(t *testing.T) {
	r, f := newPSFaultRig(t)
	r.pub("T", "before", mqi.MQPMO_RETAIN, persistent)
	f.once(store.ErrFull, func() {})
	if err := tryPub(r.c, "T", "refused", mqi.MQPMO_RETAIN, persistent); err == nil {
		t.Fatal("it is not refused")
	}
	inTime(t, "MQSUB", func() {
		q, _ := r.managed(r.c, "T", 0)
		if got := r.all(r.c, q); got != "before" {
			t.Errorf("%q is retained", got)
		}
	})
	r.restart(store.Immediate)
	q, _ := r.managed(r.c, "T", 0)
	if got := r.all(r.c, q); got != "before" {
		t.Errorf("%q is retained after a restart", got)
	}
}

// What is read is the publication that is retained now, with its number, though the tree named the one before: by the number a new
// subscription knows what reaches it by itself.
func TestReadKnowsNewerNumber(t *testing.T) {
	for _, pers := range [][2]int32{{0, 0}, {1, 1}, {0, 1}, {1, 0}} {
		r := newPSBoltRig(t)
		put := func(text string, pers int32) pubsub.RetainedAt {
			r.pub("T", text, mqi.MQPMO_RETAIN, func(md *mqi.MD) { md.Persistence = pers })
			at, _ := r.m.topics.tree.Retained("T")
			return at
		}
		old := put("old", pers[0])
		now := put("new", pers[1])
		read := &retainedRead{at: []pubsub.RetainedAt{old}}
		read.run(r.m)
		if got := read.got[0]; read.err != nil || !got.there || string(got.body) != "new" || read.at[0].Ref != now.Ref || old.Ref == now.Ref {
			t.Errorf("persistence %v: %v, %q of number %d, want %d", pers, read.err, got.body, read.at[0].Ref, now.Ref)
		}
		r.ok("CLEAR TOPICSTR('T') CLRTYPE(RETAINED)")
		read = &retainedRead{at: []pubsub.RetainedAt{now}}
		if read.run(r.m); read.err != nil || read.got[0].there {
			t.Errorf("persistence %v: after CLEAR: %v, %t", pers, read.err, read.got[0].there)
		}
	}
}
