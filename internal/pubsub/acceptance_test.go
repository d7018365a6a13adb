package pubsub

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Each test names its number in the acceptance examples of seed 000. The examples that need MQSC, restart or
// connections are shown again in the queue manager's tests.

// Acceptance 000/1, 2: every missing ancestor of a topic is made, none twice.
func TestAncestorsAreMade(t *testing.T) {
	tr, _ := newTree(t, 0)
	touch(t, tr, "USA/Alabama/Auburn")
	wantTopics(t, tr, "#", "USA", "USA/Alabama", "USA/Alabama/Auburn")
	touch(t, tr, "USA/Alaska/Juneau")
	wantTopics(t, tr, "#", "USA", "USA/Alabama", "USA/Alabama/Auburn", "USA/Alaska", "USA/Alaska/Juneau")
	// 000/3 and 44: '#' shows the root too, and TPCOUNT is the number of blocks.
	if rows, n := status(t, tr, "#", StatusTopic, 0), tr.Count(); len(rows) != n || n != 6 || rows[0].Topic != "" {
		t.Fatalf("%d rows, TPCOUNT %d", len(rows), n)
	}
}

// Acceptance 000/5: empty levels are levels.
func TestEmptyLevels(t *testing.T) {
	tr, _ := newTree(t, 0)
	for _, s := range []string{"A//B", "/A"} {
		_, err := tr.OpenPublisher(s, "c")
		must(t, err)
	}
	wantTopics(t, tr, "A/#", "A", "A/", "A//B")
	for s, want := range map[string]bool{"A/B": false, "A/": true, "/A": true, "A": true, "/": false, "B": false} {
		if tr.Has(s) != want {
			t.Errorf("%q is there: %t", s, !want)
		}
	}
	// Root, A, A/, A//B, the empty first level, /A.
	if tr.Count() != 6 || len(status(t, tr, "/#", StatusTopic, 0)) != 2 {
		t.Fatalf("TPCOUNT %d", tr.Count())
	}
	must(t, tr.Check())
}

// Acceptance 000/6–9, 52: a topic object ties a node, and keeps it.
func TestTopicObjectKeepsTopic(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	must(t, tr.SetTopic("ALABAMA", "USA/Alabama", &Attrs{}))
	if r := one(t, tr, "USA/Alabama"); r.Admin != "ALABAMA" {
		t.Fatalf("ADMIN(%s)", r.Admin)
	}
	if r := one(t, tr, "USA"); r.Admin != "" {
		t.Fatalf("ADMIN(%s)", r.Admin)
	}
	pass(tr, clk, 20*time.Second)
	wantTopics(t, tr, "#", "USA", "USA/Alabama")
	tr.DeleteTopic("ALABAMA")
	pass(tr, clk, 1900*time.Millisecond)
	wantTopics(t, tr, "#", "USA", "USA/Alabama")
	pass(tr, clk, 200*time.Millisecond)
	wantTopics(t, tr, "#", "USA")
	pass(tr, clk, 2*time.Second)
	wantTopics(t, tr, "#")

	// 000/7: a node that is there gets the object; the count stays.
	touch(t, tr, "USA/Alabama/Auburn")
	before := tr.Count()
	must(t, tr.SetTopic("ALABAMA", "USA/Alabama", &Attrs{}))
	if r := one(t, tr, "USA/Alabama"); r.Admin != "ALABAMA" || tr.Count() != before {
		t.Fatalf("ADMIN(%s), TPCOUNT %d → %d", r.Admin, before, tr.Count())
	}
	// 000/52: the object goes, a durable subscription keeps the node.
	s := subscribe(t, tr, "USA/Alabama")
	tr.DeleteTopic("ALABAMA")
	pass(tr, clk, 20*time.Second)
	wantTopics(t, tr, "#", "USA", "USA/Alabama")
	if r := one(t, tr, "USA/Alabama"); r.Admin != "" || r.SubCount != 1 {
		t.Fatalf("ADMIN(%s) SUBCOUNT(%d)", r.Admin, r.SubCount)
	}
	tr.Unsubscribe(s)
}

// Acceptance 000/11, 12, 14, 45, 51.
func TestTreeLife(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	touch(t, tr, "X/Y")
	pass(tr, clk, 1900*time.Millisecond)
	wantTopics(t, tr, "#", "X", "X/Y")
	pass(tr, clk, 100*time.Millisecond)
	wantTopics(t, tr, "#", "X")
	pass(tr, clk, 2*time.Second)
	wantTopics(t, tr, "#")

	tr.SetLife(0) // 14: never
	touch(t, tr, "Z")
	pass(tr, clk, 100*time.Hour)
	wantTopics(t, tr, "#", "Z")
	if _, ok := tr.NextDue(); ok {
		t.Fatal("something is due under TREELIFE(0)")
	}

	tr.SetLife(DefaultTreeLife) // 45: a shorter life holds for what is idle already
	touch(t, tr, "Z")
	pass(tr, clk, 3*time.Second)
	wantTopics(t, tr, "#", "Z")
	tr.SetLife(2 * time.Second)
	reapAll(tr, clk)
	wantTopics(t, tr, "#")

	for range 20 { // 51: each MQPUT1 starts the clock anew
		touch(t, tr, "K")
		pass(tr, clk, time.Second)
		wantTopics(t, tr, "#", "K")
	}
}

// Acceptance 000/15–20, 22: a retained publication keeps its topic until it is cleared or expires.
func TestRetainedKeepsTopic(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	_, _, err := tr.SetRetained("USA/Alabama", 7, time.Time{})
	must(t, err)
	pass(tr, clk, 20*time.Second)
	if !one(t, tr, "USA/Alabama").Retained || one(t, tr, "USA").Retained {
		t.Fatal("RETAINED is wrong")
	}
	if ref, ok := tr.ClearRetained("USA/Alabama"); !ok || ref != 7 {
		t.Fatalf("cleared %d %t", ref, ok)
	}
	if _, ok := tr.ClearRetained("USA/Alabama"); ok { // 19
		t.Fatal("cleared twice")
	}
	if one(t, tr, "USA/Alabama").Retained {
		t.Fatal("RETAINED(YES) after CLEAR")
	}
	pass(tr, clk, 4*time.Second)
	wantTopics(t, tr, "#")

	_, _, err = tr.SetRetained("E", 9, clk.Now().Add(2*time.Second)) // 22
	must(t, err)
	clk.Advance(2 * time.Second)
	if one(t, tr, "E").Retained || hasRetained(tr, "E") {
		t.Fatal("expired publication is shown")
	}
	if gone := tr.ExpireRetained(clk.Now(), 10); len(gone) != 1 || gone[0].Topic != "E" || gone[0].Ref != 9 {
		t.Fatalf("expired %v", gone)
	}
	pass(tr, clk, 1900*time.Millisecond)
	wantTopics(t, tr, "#", "E")
	pass(tr, clk, 200*time.Millisecond)
	wantTopics(t, tr, "#")
}

// Acceptance 000/21: CLEAR TOPICSTR with a '#' in the middle.
func TestClearWithWildcard(t *testing.T) {
	tr, _ := newTree(t, 0)
	all := []string{"/a/b/z", "/a/b/c/z", "/a/b/c/y/z", "/a/b/q"}
	for i, s := range all {
		_, _, err := tr.SetRetained(s, RetainedRef(i), time.Time{})
		must(t, err)
	}
	f := filter(t, "/a/b/#/z", SchemeTopic)
	for p := (Page{Limit: 1}); !p.Done(); {
		_, p = tr.ClearMatching(f, 2, p)
	}
	if hasRetained(tr, all[0]) || hasRetained(tr, all[1]) || !hasRetained(tr, all[2]) {
		t.Fatal("the numbers decide what is cleared")
	}
	for p := (Page{Limit: 1}); !p.Done(); {
		_, p = tr.ClearMatching(f, RetainedRef(len(all)), p)
	}
	for _, s := range all {
		if hasRetained(tr, s) != (s == "/a/b/q") {
			t.Errorf("%q retained: %t", s, hasRetained(tr, s))
		}
	}
	must(t, tr.Check())
}

// Acceptance 000/23, 24: a child keeps its parents; then they go from the leaf up, one life each.
func TestChildKeepsParents(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	p, err := tr.OpenPublisher("USA/Alabama/Auburn", "c1")
	must(t, err)
	pass(tr, clk, time.Minute)
	wantTopics(t, tr, "#", "USA", "USA/Alabama", "USA/Alabama/Auburn")
	tr.ClosePublisher(p)
	tr.ClosePublisher(p)
	for _, left := range [][]string{{"USA", "USA/Alabama"}, {"USA"}, {}} {
		pass(tr, clk, 2*time.Second)
		wantTopics(t, tr, "#", left...)
	}
}

// Acceptance 000/25–27.
func TestDisplayChildren(t *testing.T) {
	tr, _ := newTree(t, 0)
	touch(t, tr, "USA/Alabama/Auburn", "USA/Alaska/Juneau")
	wantTopics(t, tr, "USA/Alabama/+", "USA/Alabama/Auburn")
	wantTopics(t, tr, "USA/+", "USA/Alabama", "USA/Alaska")
	wantTopics(t, tr, "USA/Alabama/Auburn/+")
	wantTopics(t, tr, "Nowhere/#")
	wantTopics(t, tr, "Nowhere")
}

// Acceptance 000/28–30: PUBCOUNT, and TYPE(PUB) for each handle.
func TestPublishers(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	must(t, tr.SetTopic("ALABAMA", "USA/Alabama", &Attrs{}))
	p1, err := tr.OpenPublisher("USA/Alabama", "AA")
	must(t, err)
	p2, err := tr.OpenPublisher("USA/Alabama", "BB")
	must(t, err)
	if n := one(t, tr, "USA/Alabama").PubCount; n != 2 {
		t.Fatalf("PUBCOUNT(%d)", n)
	}
	tr.ClosePublisher(p1)
	if n := one(t, tr, "USA/Alabama").PubCount; n != 1 {
		t.Fatalf("PUBCOUNT(%d)", n)
	}
	_, err = tr.OpenPublisher("USA/Alabama/Auburn", "CC")
	must(t, err)
	p2.Published(clk.Now())
	rows := status(t, tr, "USA/Alabama/#", StatusPub, 1)
	if len(rows) != 2 || rows[0].Topic != "USA/Alabama" || rows[0].Conn != "BB" || rows[0].NumPubs != 1 || !rows[0].LastPub.Equal(clk.Now()) ||
		rows[1].Topic != "USA/Alabama/Auburn" || rows[1].Conn != "CC" || rows[1].NumPubs != 0 || !rows[1].LastPub.IsZero() {
		t.Fatalf("TYPE(PUB) gives %+v", rows)
	}
}

// Acceptance 000/32–37.
func TestSubscribersKeepTopic(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	d := &Sub{Topic: "S/1", Durable: true, Type: SubAdmin, Level: 1}
	must(t, tr.Subscribe(d))
	n := subscribe(t, tr, "USA/Alabama")
	n.Attach("C0FFEE", clk.Now())
	subscribe(t, tr, "USA/Alabama/Auburn")
	pass(tr, clk, 20*time.Second)
	if one(t, tr, "S/1").SubCount != 1 || tr.SubCount() != 3 {
		t.Fatal("SUBCOUNT is wrong")
	}
	if rows := status(t, tr, "S/1", StatusSub, 0); len(rows) != 1 || rows[0].Conn != "" || rows[0].Sub != d {
		t.Fatalf("TYPE(SUB) gives %+v", rows)
	}
	n.Delivered(1, clk.Now())
	if rows := status(t, tr, "USA/Alabama", StatusSub, 0); len(rows) != 1 || rows[0].Conn != "C0FFEE" || rows[0].NumMsgs != 1 || rows[0].Resumed.IsZero() {
		t.Fatalf("TYPE(SUB) gives %+v", rows)
	}
	if rows := status(t, tr, "USA/Alabama/#", StatusSub, 1); len(rows) != 2 {
		t.Fatalf("TYPE(SUB) gives %d rows", len(rows))
	}
	tr.Unsubscribe(d)
	tr.Unsubscribe(d)
	pass(tr, clk, 4*time.Second)
	wantTopics(t, tr, "S/#")
}

// Acceptance 000/38: each of the five reasons alone keeps a topic; without it, it goes.
func TestEachReasonAlone(t *testing.T) {
	reasons := map[string]func(*Tree) func(){
		"topic object": func(tr *Tree) func() {
			must(t, tr.SetTopic("O", "N", &Attrs{}))
			return func() { tr.DeleteTopic("O") }
		},
		"retained": func(tr *Tree) func() {
			_, _, err := tr.SetRetained("N", 1, time.Time{})
			must(t, err)
			return func() { tr.ClearRetained("N") }
		},
		"child": func(tr *Tree) func() {
			p, err := tr.OpenPublisher("N/C", "c")
			must(t, err)
			return func() { tr.ClosePublisher(p); tr.ClosePublisher(p) }
		},
		"publisher": func(tr *Tree) func() {
			p, err := tr.OpenPublisher("N", "c")
			must(t, err)
			return func() { tr.ClosePublisher(p) }
		},
		"subscriber": func(tr *Tree) func() {
			s := subscribe(t, tr, "N")
			return func() { tr.Unsubscribe(s) }
		},
		"wildcard subscriber": func(tr *Tree) func() {
			s := subscribe(t, tr, "N/+/x")
			return func() { tr.Unsubscribe(s) }
		},
	}
	for name, use := range reasons {
		t.Run(name, func(t *testing.T) {
			tr, clk := newTree(t, 2*time.Second)
			undo := use(tr)
			pass(tr, clk, 20*time.Second)
			if !tr.Has("N") {
				t.Fatal("the topic has gone")
			}
			must(t, tr.Check())
			undo()
			pass(tr, clk, 4*time.Second)
			wantTopics(t, tr, "#")
		})
	}
}

// Acceptance 000/39, 40: many topics shrink to nothing, and a stream of new ones stays bounded.
func TestTreeShrinks(t *testing.T) {
	tr, clk := newTree(t, 2*time.Second)
	for i := range 1000 {
		touch(t, tr, fmt.Sprintf("T/%d/%d", i%7, i))
	}
	pass(tr, clk, 6*time.Second)
	wantTopics(t, tr, "#")
	for i := range 6000 {
		touch(t, tr, fmt.Sprintf("T/%d", i))
		clk.Advance(10 * time.Millisecond)
		reapAll(tr, clk)
		if n := tr.Count(); n > 100*4+3 {
			t.Fatalf("TPCOUNT %d after %d topics", n, i)
		}
	}
	must(t, tr.Check())
}

// Acceptance 000/49: a wildcard subscription gets what comes into being later.
func TestWildcardGetsLaterTopics(t *testing.T) {
	tr, _ := newTree(t, 0)
	s := subscribe(t, tr, "W/#")
	if got := tr.Match(nil, "W/1"); !slices.Equal(got, []*Sub{s}) {
		t.Fatalf("%v", names(got))
	}
	if one(t, tr, "W").SubCount != 1 { // W/# fits W itself
		t.Fatal("SUBCOUNT of W")
	}
	subscribe(t, tr, "V/+")
	if r := one(t, tr, "V"); r.SubCount != 0 || len(status(t, tr, "V", StatusSub, 0)) != 0 {
		t.Fatal("V/+ does not fit V")
	}
}
