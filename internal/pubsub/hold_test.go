package pubsub

import (
	"fmt"
	"testing"
	"time"
)

// A walk gives the lock up after pageVisits topics that it has looked at, also when none of them fits: of a character wildcard it is
// known only then.
func TestWalkHoldsAreBounded(t *testing.T) {
	tr, _ := newTree(t, 0)
	const n = 20_000
	for i := range n {
		if err := use(tr, fmt.Sprintf("flat%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(tr, "flax"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := tr.SetRetained("flax", 2, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"fla?": 1, "?lax": 1, "g*": 0, "*t19?99": 0} {
		f, err := ParseFilter(text, SchemeChar)
		if err != nil {
			t.Fatal(err)
		}
		pages, found := 0, 0
		for p := (Page{}); !p.Done(); pages++ {
			var got []RetainedAt
			got, p = tr.RetainedMatching(f, p)
			found += len(got)
		}
		if found != want || pages < n/pageVisits || pages > 2*n/pageVisits+2 {
			t.Errorf("%s: %d found in %d pages of %d topics", text, found, pages, n)
		}
	}
}
