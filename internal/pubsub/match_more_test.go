package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A stream of topics that are new each time leaves nothing to the collector: the matches of a topic are kept only when it comes again.
func TestNewTopicsLeaveNoGarbage(t *testing.T) {
	tr, _ := newTree(t, time.Hour)
	for i := range 3 {
		if err := tr.Subscribe(&Sub{Topic: "a/#", Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (n int) {
		for i := range tr.cache {
			if tr.cache[i].entry.Load() != nil {
				n++
			}
		}
		return n
	}
	var dst []*Sub
	for i := range 20_000 {
		if dst = tr.Match(dst[:0], fmt.Sprintf("a/%d", i)); len(dst) != 3 {
			t.Fatalf("%d matches", len(dst))
		}
	}
	if n := kept(); n > 0 {
		t.Errorf("the matches of %d topics are kept, each of which came once", n)
	}
	for range 3 {
		dst = tr.Match(dst[:0], "a/0")
	}
	if n := kept(); n != 1 || len(dst) != 3 {
		t.Errorf("of a topic that comes again %d are kept", n)
	}
}

// A topic that had many subscribers does not keep the memory of all when few are left.
func TestFewSubscribersLeft(t *testing.T) {
	const many = 1000
	for _, topic := range []string{"a/b", "a/b/#"} {
		tr, _ := newTree(t, time.Hour)
		var subs []*Sub
		for i := range many {
			s := &Sub{Topic: topic, Name: fmt.Sprint(i)}
			if err := tr.Subscribe(s); err != nil {
				t.Fatal(err)
			}
			subs = append(subs, s)
		}
		for _, s := range subs[:many-5] {
			tr.Unsubscribe(s)
		}
		e := tr.mem.extOf(subs[many-1].node)
		if list := append(e.subs[:len(e.subs):cap(e.subs)], e.wild...); len(list) != 5 || max(cap(e.subs), cap(e.wild)) > 64 {
			t.Errorf("%s: %d are left, in room for %d", topic, len(list), max(cap(e.subs), cap(e.wild)))
		}
	}
}

// Of two objects with WILDCARD(BLOCK) on the way to a topic the lower one counts: subscriptions made between them do not reach below it.
func TestLowerBlockCounts(t *testing.T) {
	tr, _ := newTree(t, time.Hour)
	var block Attrs
	block[WILDCARD] = "BLOCK"
	for name, topic := range map[string]string{"UPPER": "a/b", "LOWER": "a/b/c"} {
		if err := tr.SetTopic(name, topic, &block); err != nil {
			t.Fatal(err)
		}
	}
	for _, topic := range []string{"#", "a/#", "a/b/#", "a/b/+/+", "a/b/c/#", "a/b/c/+", "a/b/c/d"} {
		if err := tr.Subscribe(&Sub{Topic: topic, Name: topic}); err != nil {
			t.Fatal(err)
		}
	}
	for topic, want := range map[string]string{"a/b/c/d": "a/b/c/# a/b/c/+ a/b/c/d", "a/b/x/y": "a/b/# a/b/+/+", "a/x": "# a/#"} {
		var got []string
		for _, s := range tr.Match(nil, topic) {
			got = append(got, s.Name)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s goes to %q, want %s", topic, got, want)
		}
	}
}
