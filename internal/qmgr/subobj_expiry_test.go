package qmgr

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// 100,000 subscriptions with an end: each ends once, at its time, however often it was changed. A change that looked at all of them
// would not be through in minutes.
func TestSubEndsMany(t *testing.T) {
	const n = 100_000
	var e subEnds
	e.init()
	rnd := rand.New(rand.NewPCG(5, 5))
	subs := make([]Object, n)
	at := func() time.Time { return testTime.Add(time.Duration(1+rnd.IntN(1_000_000)) * time.Millisecond) }
	for i := range subs {
		e.set(&subs[i], at())
	}
	ends := map[*Object]time.Time{}
	for range n {
		o := &subs[rnd.IntN(n)]
		ends[o] = at()
		e.set(o, ends[o]) // ALTER SUB EXPIRY
	}
	if over, next := e.due(testTime); len(over) != 0 || next.IsZero() {
		t.Errorf("nothing is due: %d ended, next at %v", len(over), next)
	}
	gone := map[*Object]bool{}
	now := testTime
	for len(gone) < n {
		over, next := e.due(now)
		if len(over) > maxSubEnds {
			t.Fatalf("%d at once", len(over))
		}
		for _, o := range over {
			if gone[o] {
				t.Fatal("one ends twice")
			}
			if ends[o].After(now) {
				t.Fatal("one ends before its time")
			}
			gone[o] = true
			e.set(o, time.Time{})
		}
		if len(over) == 0 {
			if !next.After(now) {
				t.Fatalf("at %v nothing has ended and the next look is at %v", now, next)
			}
			now = next.Add(time.Second)
		}
	}
	if len(e.heap) != 0 || len(e.of) != 0 {
		t.Errorf("%d and %d are left", len(e.heap), len(e.of))
	}
}

// More subscriptions than one round takes end at the same moment, durable ones and others, with their queues.
func TestManySubsExpire(t *testing.T) {
	r := newPSRig(t)
	for i := range maxSubEnds + 50 {
		r.ok(fmt.Sprintf("DEFINE SUB(D%d) TOPICSTR('many/%d') DESTCLAS(MANAGED) EXPIRY(100)", i, i))
	}
	r.ok("DEFINE SUB(STAYS) TOPICSTR('many/stays') DESTCLAS(MANAGED)")
	r.pass(9 * time.Second)
	if n := len(r.m.list("D*", ClassSub)); n != maxSubEnds+50 {
		t.Fatalf("%d are left before their time", n)
	}
	r.pass(2 * time.Second)
	r.eventually("all have ended", func() bool {
		return len(r.m.list("D*", ClassSub)) == 0 && len(r.m.list(managedDurable+"*", ClassQueue)) == 1
	})
	if n := r.m.topics.tree.SubCount(); n != 1 {
		t.Errorf("%d subscriptions in the topic tree", n)
	}
}

// The loop has found a subscription whose time is over; before it has its latch, the subscription is given another end. That
// end counts, by whatever way it was given.
func TestNewEndBeforeLatch(t *testing.T) {
	alter := func(sd *mqi.SD) { sd.SubName, sd.SubExpiry = "S", 600 }
	for how, change := range map[string]func(r *psRig){
		"ALTER":   func(r *psRig) { r.ok("ALTER SUB(S) EXPIRY(600)") },
		"REPLACE": func(r *psRig) { r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) EXPIRY(600) REPLACE") },
		"MQSUB": func(r *psRig) {
			_, _, err := r.c.Subscribe(bg, subSD("", mqi.MQSO_ALTER|mqi.MQSO_DURABLE, alter), 0)
			wantRC(r.t, err, 0)
		},
		"another of that name": func(r *psRig) {
			r.ok("DELETE SUB(S)")
			r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) EXPIRY(600)")
		},
	} {
		r := newPSRig(t)
		r.ok("DEFINE QLOCAL(Q)")
		r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) EXPIRY(50)")
		found, _ := r.m.topics.ends.due(r.clk.Now().Add(5 * time.Second))
		if len(found) != 1 {
			t.Fatalf("%d found", len(found))
		}
		change(r)
		r.m.endSub(bg, found[0])
		if r.cmd("DISPLAY SUB(S)").Failed() {
			t.Errorf("%s: the subscription was ended by the end it had before", how)
			continue
		}
		r.pass(59 * time.Second)
		r.ok("DISPLAY SUB(S)")
		r.pass(2 * time.Second)
		r.eventually("ended at its new end", func() bool { return r.cmd("DISPLAY SUB(S)").Failed() })
	}
}

// EXPIRY(UNLIMITED) at the last moment: it stays, and the loop has nothing left to do.
func TestNoEndBeforeLatch(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) EXPIRY(50)")
	found, _ := r.m.topics.ends.due(r.clk.Now().Add(5 * time.Second))
	r.ok("ALTER SUB(S) EXPIRY(UNLIMITED)")
	r.m.endSub(bg, found[0])
	r.pass(time.Hour)
	if got := r.field("DISPLAY SUB(S) EXPIRY", "EXPIRY"); got != "UNLIMITED" {
		t.Errorf("EXPIRY(%s)", got)
	}
	if _, next := r.m.topics.ends.due(r.clk.Now()); !next.IsZero() {
		t.Errorf("it stands in the heap with %v", next)
	}
}

// The store refuses the removal of a subscription that has ended: it is tried again until it goes.
func TestSubEndIsTriedAgain(t *testing.T) {
	var refuse atomic.Bool
	fault := &faultStore{Store: store.OpenMem(), fail: func(*store.Tx) error {
		if refuse.Load() {
			return store.ErrFull
		}
		return nil
	}}
	r := &psRig{objRig: newObjRig(t, func(o *Options) { o.Store = fault })}
	r.ok("DEFINE SUB(S) TOPICSTR('T') DESTCLAS(MANAGED) EXPIRY(50)")
	refuse.Store(true)
	r.pass(6 * time.Second)
	r.ok("DISPLAY SUB(S)")
	refuse.Store(false)
	r.pass(retrySubEnd / 2)
	r.ok("DISPLAY SUB(S)") // not at every look
	r.pass(retrySubEnd)
	r.eventually("it has ended", func() bool {
		return r.cmd("DISPLAY SUB(S)").Failed() && len(r.m.list(managedDurable+"*", ClassQueue)) == 0
	})
}

// Of more subscriptions than are ended at once the rest is due at the same time, and comes next.
func TestEndsAreBounded(t *testing.T) {
	var e subEnds
	e.init()
	at := time.Unix(100, 0)
	for range maxSubEnds + 10 {
		e.set(&Object{}, at)
	}
	e.set(&Object{}, at.Add(time.Hour))
	over, next := e.due(at)
	if len(over) != maxSubEnds || !next.Equal(at) {
		t.Fatalf("%d are due, the next at %v", len(over), next)
	}
	for _, o := range over {
		e.set(o, time.Time{})
	}
	if over, next = e.due(at); len(over) != 10 || !next.Equal(at.Add(time.Hour)) {
		t.Errorf("then %d, the next at %v", len(over), next)
	}
}
