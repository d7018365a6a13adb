package pubsub

import (
	"fmt"
	"math/bits"
	"testing"
	"time"
)

// What an operation costs in a large tree, counted in steps that do not depend on the machine.

// steps is what finding a topic costs: tables gone through, and entries looked at in them.
func (t *Tree) steps(topic string) (n int) {
	at := t.root
	for more := topic != ""; more; {
		var level string
		level, topic, more = nextLevel(topic)
		h := t.hash(level)
		k := t.mem.kidsOf(at)
		for ; k != nil && k.sub != nil; k = k.sub[k.slot(h)] {
			n++
		}
		if k == nil {
			return n
		}
		guess := int(uint64(h<<k.bits) * uint64(len(k.hashes)) >> 32)
		i := k.lower(h)
		n += max(i-guess, guess-i) + 1
		for ; i < len(k.hashes) && k.hashes[i] == h && string(t.mem.name(t.mem.at(k.nodes[i]))) != level; i++ {
			n++
		}
		if at = k.find(&t.mem, h, level); at == nil {
			return n
		}
	}
	return n
}

// Acceptance 000/41, 42: 100,000 other topics do not make a publication to one topic cost more, and when they have gone the
// cost is what it was.
func TestManyTopicsCostNothing(t *testing.T) {
	tr, clk := newTree(t, 1800*time.Second)
	if _, err := tr.OpenPublisher("one/topic", "c"); err != nil {
		t.Fatal(err)
	}
	alone, base := tr.steps("one/topic"), tr.Count()
	for i := range 100_000 {
		name := fmt.Sprintf("many/%d", i) // all below one node
		if i%2 == 1 {
			name = fmt.Sprintf("many%d", i) // beside the one that is measured
		}
		if err := use(tr, name); err != nil {
			t.Fatal(err)
		}
	}
	// 000/41: at most one table for each factor of sixteen, and a few entries beside the first guess.
	if n, most := tr.steps("one/topic"), alone+bits.Len(50_000/maxFlat)/splitBits+1+40; n > most {
		t.Errorf("000/41: beside 100,000 topics one is found in %d steps, alone in %d", n, alone)
	}
	clk.Advance(2 * 1800 * time.Second)
	for tr.Reap(clk.Now(), 1<<30) > 0 {
		clk.Advance(1800 * time.Second)
	}
	// 000/42
	if n := tr.Count(); n != base {
		t.Fatalf("000/42: %d topics, %d at first", n, base)
	}
	if n := tr.steps("one/topic"); n > alone+1 {
		t.Errorf("000/42: one is found in %d steps afterwards, %d at first", n, alone)
	}
	if err := tr.Check(); err != nil {
		t.Error(err)
	}
}

// The removal of unused topics gives the lock up after reapChunk of them, and none moves more than a table's entries.
func TestReapHoldsAreBounded(t *testing.T) {
	tr, clk := newTree(t, time.Second)
	const n = 50_000
	for i := range n {
		if err := use(tr, fmt.Sprintf("flat/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Check(); err != nil { // also that no table is larger than maxFlat
		t.Fatal(err)
	}
	clk.Advance(time.Minute)
	for left := n; left > 0; {
		got := tr.reapSome(clk.Now().UnixNano(), reapChunk)
		if got == 0 || got > reapChunk {
			t.Fatalf("one hold of the lock removes %d", got)
		}
		if left -= got; left < 0 {
			t.Fatalf("%d more were removed than were due", -left)
		}
	}
	if reapChunk*(maxFlat+minSplit) > 50_000 {
		t.Errorf("one hold may move %d entries", reapChunk*(maxFlat+minSplit))
	}
}

// DISPLAY TPSTATUS('a/+/c') visits the topics below a, and of those below them only c.
func TestStatusVisitsWhatItReturns(t *testing.T) {
	tr, _ := newTree(t, 0)
	for i := range 100 {
		for j := range 200 {
			if err := use(tr, fmt.Sprintf("a/%d/%d", i, j)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 50_000 {
		if err := use(tr, fmt.Sprintf("b/%d/7", i)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ParseFilter("a/+/7", SchemeTopic)
	if err != nil {
		t.Fatal(err)
	}
	visits, rows := 0, 0
	for p := (Page{}); !p.Done(); {
		w := &walker{t: tr, f: f, rows: PageRows, visits: pageVisits, off: -2, emit: func(*Node, int, int) (int, bool) {
			rows++
			return 1, false
		}}
		if p.started {
			w.resume, w.off = p.path, p.off
		}
		done := w.run()
		visits += pageVisits - w.visits
		if p = w.out; done {
			break
		}
	}
	if rows != 100 || visits > 2*100+2 {
		t.Errorf("%d rows with %d topics visited", rows, visits)
	}
}
