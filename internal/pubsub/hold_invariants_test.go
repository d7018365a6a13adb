//go:build invariants

package pubsub

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// longest is the most work that was done under one hold of the tree's lock during fn, in steps: topics looked at or removed, and
// entries of their parents' tables moved.
func longest(fn func()) int {
	invariants.LongestHold[invariants.Topics]()
	fn()
	return invariants.LongestHold[invariants.Topics]()
}

// The removal of very many unused topics on three levels, as the tree's own goroutine does it, does at most reapChunk topics' work
// under one hold of the lock, however many there are. What is done there takes well below a tenth of a microsecond a step.
func TestReapedInShortHolds(t *testing.T) {
	const first, second, third = 10, 150, 100 // BenchmarkReapMillion takes the time of a million
	tr, clk := newTree(t, time.Second)
	for i := range first {
		for j := range second {
			for k := range third {
				if _, _, err := tr.SetRetained(fmt.Sprintf("l%d/%d/%d", i, j, k), 2, clk.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if n := tr.Count(); n < first*second*third {
		t.Fatalf("%d topics", n)
	}
	most := longest(func() {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { tr.Run(ctx, nil) })
		for n := tr.Count(); n > 1; n = tr.Count() { // retained publications expire, then their topics go, then those above
			clk.Advance(time.Minute)
			time.Sleep(time.Millisecond)
		}
		cancel()
		wg.Wait()
	})
	// Of each topic at most its parent's table is moved, and joined when it has become small.
	if bound := reapChunk * (1 + maxFlat + minSplit); most > bound || bound > invariants.MostSteps || most < reapChunk {
		t.Errorf("one hold did %d steps, at most %d are allowed, and %d anywhere", most, bound, invariants.MostSteps)
	}
	if err := tr.Check(); err != nil {
		t.Error(err)
	}
}

// The instrument finds a hold that removes all at once, and a walk that looks at all at once.
func TestLongHoldIsFound(t *testing.T) {
	tr, clk := newTree(t, time.Second)
	for i := range invariants.MostSteps + 1000 {
		if err := use(tr, fmt.Sprintf("flat/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	clk.Advance(time.Minute)
	var found []string
	defer invariants.Offences(func(text string) { found = append(found, text) })()
	if n := tr.Reap(clk.Now(), 10_000); n != 10_000 || len(found) != 0 {
		t.Fatalf("%d removed in short holds, found %q", n, found)
	}
	tr.reapSome(clk.Now().UnixNano(), 1<<30)
	if len(found) != 1 {
		t.Errorf("of one hold that removes all the instrument says %q", found)
	}
}

// Walks of all kinds over many topics stay within pageVisits of them and one table of names to sort.
func TestWalksInShortHolds(t *testing.T) {
	tr, _ := newTree(t, 0)
	for i := range 30_000 {
		for _, form := range []string{"wide%d", "a/%d/c"} {
			if _, _, err := tr.SetRetained(fmt.Sprintf(form, i), 2, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for text, scheme := range map[string]Scheme{"#": SchemeTopic, "a/+/c": SchemeTopic, "+": SchemeTopic, "+/+/d": SchemeTopic,
		"w?de": SchemeChar, "*/c": SchemeChar, "zz*": SchemeChar} {
		f, err := ParseFilter(text, scheme)
		if err != nil {
			t.Fatal(err)
		}
		most := longest(func() {
			for p := (Page{}); !p.Done(); {
				_, p = tr.RetainedForSub(f, p)
			}
		})
		if most > 2*pageVisits+sortedKids || most < pageVisits/2 && text != "zz*" {
			t.Errorf("%s: one hold did %d steps", text, most)
		}
	}
	clear, err := ParseFilter("#", SchemeTopic)
	if err != nil {
		t.Fatal(err)
	}
	most := longest(func() {
		for p := (Page{}); !p.Done(); {
			_, p = tr.ClearMatching(clear, 1<<40, p)
		}
	})
	if most > 2*pageVisits+sortedKids {
		t.Errorf("CLEAR: one hold did %d steps", most)
	}
	if n := tr.RetainedCount(); n != 0 {
		t.Errorf("%d are left", n)
	}
}
