package qmgr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// 100,000 subscriptions with an end: a change looks at the logarithm of them, a question at none but those that end.
// The work is counted, not timed.
func TestSubEndsWork(t *testing.T) {
	const n = 100_000
	var e subEnds
	e.init()
	rnd := rand.New(rand.NewPCG(5, 5))
	subs := make([]Object, n)
	at := func() time.Time { return testTime.Add(time.Duration(1+rnd.IntN(1_000_000)) * time.Millisecond) }
	perChange := 3 * math.Log2(n)
	for i := range subs {
		e.set(&subs[i], at())
	}
	for range n {
		e.set(&subs[rnd.IntN(n)], at()) // ALTER SUB EXPIRY
	}
	if most := uint64(2 * n * perChange); e.looked > most {
		t.Errorf("%d changes looked %d times, more than %d", 2*n, e.looked, most)
	}
	e.looked = 0
	if over, next := e.due(testTime); len(over) != 0 || next.IsZero() || e.looked > 1 {
		t.Errorf("nothing is due: %d ended, next at %v, %d looked at", len(over), next, e.looked)
	}
	e.looked = 0
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
	if most := uint64(n * (perChange + 4)); e.looked > most {
		t.Errorf("%d ends looked %d times, more than %d", n, e.looked, most)
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
