package pubsub

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// Small rules, each of which could be turned round without any other test noticing.

// The order of the idle list is that of time, also when the machine's clock goes back: who comes later never goes earlier.
func TestIdleTimesNeverGoBack(t *testing.T) {
	var l idleList
	l.init()
	a, b := &Node{self: 1}, &Node{self: 2}
	l.push(a, 100)
	l.push(b, 50)
	if first := l.first(); first.node != a.self || first.at != 100 {
		t.Fatalf("first is %+v", first)
	}
	l.remove(a)
	if second := l.first(); second.node != b.self || second.at != 100 {
		t.Fatalf("second is %+v", second)
	}
}

// sleeping runs a tree's own goroutine until it waits for the clock or for a change.
func sleeping(t *testing.T, tr *Tree) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { tr.Run(ctx, nil) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	for len(tr.wake) > 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // it has taken what there was, and sleeps
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// The first topic that becomes unused wakes a loop that had nothing to wait for.
func TestFirstUnusedWakes(t *testing.T) {
	tr, clk := newTree(t, time.Minute)
	sleeping(t, tr)
	touch(t, tr, "a")
	soon(t, "the topic stays", func() bool {
		clk.Advance(time.Minute)
		return !tr.Has("a")
	})
}

// A shorter life holds at once for topics that are unused already: the loop that waits for the longer one wakes. (000/45)
func TestShorterLifeWakes(t *testing.T) {
	tr, clk := newTree(t, time.Hour)
	touch(t, tr, "a")
	sleeping(t, tr)
	clk.Advance(3 * time.Second) // of an hour: it sleeps on
	tr.SetLife(2 * time.Second)
	soon(t, "the topic stays", func() bool { return !tr.Has("a") })
}

// WILDCARD(BLOCK) keeps retained publications from wildcards that are made above the object, and only from those.
func TestBlockedRetained(t *testing.T) {
	tr, _ := newTree(t, 0)
	var a Attrs
	a[WILDCARD] = "BLOCK"
	must(t, tr.SetTopic("OBJ", "a/b", &a))
	for _, s := range []string{"a", "a/b", "a/b/c"} {
		_, _, err := tr.SetRetained(s, 2, clockZero)
		must(t, err)
	}
	for text, want := range map[string]string{"#": "a", "a/#": "a", "a/+": "", "a/b/#": "a/b a/b/c", "a/b/+": "a/b/c", "a/b": "a/b",
		"a/b/c": "a/b/c"} {
		var got []string
		for p := (Page{}); !p.Done(); {
			var rows []RetainedAt
			rows, p = tr.RetainedForSub(filter(t, text, SchemeTopic), p)
			for _, r := range rows {
				got = append(got, r.Topic)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is sent %q, want %q", text, got, want)
		}
	}
}

// A handle that is open within a call is closed once, however often it is closed.
func TestBriefHandleClosesOnce(t *testing.T) {
	tr, _ := newTree(t, time.Minute)
	other, err := tr.OpenPublisher("a", "c")
	must(t, err)
	p, err := tr.OpenBriefly("a")
	must(t, err)
	tr.ClosePublisher(p)
	tr.ClosePublisher(p)
	if err := tr.Check(); err != nil {
		t.Error(err)
	}
	tr.ClosePublisher(other)
	if err := tr.Check(); err != nil {
		t.Error(err)
	}
}

// A long name that nobody has any more is forgotten where equal ones are shared.
func TestLongNameComesAgain(t *testing.T) {
	tr, clk := newTree(t, time.Second)
	long := strings.Repeat("n", shortName+10)
	for range 3 {
		touch(t, tr, long)
		clk.Advance(time.Minute)
		reapAll(tr, clk)
		if tr.Has(long) {
			t.Fatal("it stays")
		}
	}
	if n := len(tr.mem.long.list); n != 0 {
		t.Errorf("%d long names are left", n)
	}
}

// A group may have one subscription to a topic string in each scheme: they mean different topics.
func TestGroupInBothSchemes(t *testing.T) {
	tr, _ := newTree(t, 0)
	for _, text := range []string{"a/b", "a/#/*"} {
		for _, scheme := range []Scheme{SchemeTopic, SchemeChar} {
			must(t, tr.Subscribe(&Sub{Topic: text, Scheme: scheme, Group: "G", Level: 1}))
			if err := tr.Subscribe(&Sub{Topic: text, Scheme: scheme, Group: "G", Level: 1}); err == nil {
				t.Errorf("%s %s twice in a group", text, scheme)
			}
			must(t, tr.Subscribe(&Sub{Topic: text, Scheme: scheme, Group: "H", Level: 1}))
		}
	}
}

// SUBCOUNT of a topic counts the wildcards that hang at it and fit it: a/# fits a, a/#/b and a/+ do not.
func TestSubCountOfWildcards(t *testing.T) {
	for text, want := range map[string]int{"a/#": 1, "a/#/b": 0, "a/+": 0, "a/+/#": 0, "a": 1} {
		tr, _ := newTree(t, 0)
		touch(t, tr, "a")
		subscribe(t, tr, text)
		if got := one(t, tr, "a").SubCount; got != want {
			t.Errorf("%s: SUBCOUNT(%d) of a, want %d", text, got, want)
		}
	}
}

// Of equally significant subscriptions of a group the first one gets a publication.
func TestFirstOfAGroup(t *testing.T) {
	subs := make([]*Sub, 3)
	for i := range subs {
		subs[i] = &Sub{Group: "G", Name: string(rune('a' + i)), filter: filter(t, "a/+/"+string(rune('a'+i)), SchemeTopic)}
	}
	if got := OncePerGroup(subs); len(got) != 1 || got[0].Name != "a" {
		t.Errorf("%q get it", names(got))
	}
}

// What is at the root is not inherited below $SYS/MQ.
func TestAdminTopicInheritsNothing(t *testing.T) {
	tr, _ := newTree(t, 0)
	var root, admin Attrs
	root[DEFPRTY], root[PUB] = "7", "DISABLED"
	must(t, tr.SetTopic(BaseTopic, "", &root))
	must(t, tr.SetTopic("SYSTEM.ADMIN.TOPIC", AdminTopic, &admin))
	for topic, want := range map[string]string{"a": "7", "$SYS": "7", AdminTopic: "0", AdminTopic + "/INFO": "0"} {
		if got := tr.Resolve(topic, DEFPRTY); got != want {
			t.Errorf("DEFPRTY(%s) of %s, want %s", got, topic, want)
		}
	}
	if got := tr.Origin(AdminTopic+"/INFO", PUB); got != "" {
		t.Errorf("PUB of it comes from %s", got)
	}
}

// When there is no room for another retained publication, those that there are may still be replaced.
func TestReplacedRetainedNeedsNoRoom(t *testing.T) {
	tr, _ := newTree(t, 0)
	_, _, err := tr.SetRetained("has", 2, clockZero)
	must(t, err)
	for topic, want := range map[string]bool{"has": true, "has not": false} {
		p, err := tr.OpenBriefly(topic)
		must(t, err)
		if got := p.MayRetain(tr, 1); got != want {
			t.Errorf("%s: %v", topic, got)
		}
		if !p.MayRetain(tr, 2) {
			t.Errorf("%s: no, with room", topic)
		}
	}
}

// Matches of very long topics are not kept.
func TestLongTopicsAreNotCached(t *testing.T) {
	tr := New(Options{Clock: clock.Real()})
	subscribe(t, tr, "#")
	kept := func(topic string) bool {
		for range 3 {
			if n := len(tr.Match(nil, topic)); n != 1 {
				t.Fatalf("%d matches", n)
			}
		}
		for i := range tr.cache {
			if e := tr.cache[i].entry.Load(); e != nil && e.topic == topic {
				return true
			}
		}
		return false
	}
	if short, long := kept(strings.Repeat("s", maxCachedTopic)), kept(strings.Repeat("l", maxCachedTopic+1)); !short || long {
		t.Errorf("kept: short %v, long %v", short, long)
	}
}

// A filter that goes on for long behind its '#' is run on its own; WILDCARD(BLOCK) holds for it too.
func TestBlockedLongFilter(t *testing.T) {
	tr, _ := newTree(t, 0)
	tail := strings.Repeat("/l", maxTail+2)
	subscribe(t, tr, "a/#"+tail)
	subscribe(t, tr, "a/b/#"+tail)
	if got := names(tr.Match(nil, "a/b"+tail)); len(got) != 2 {
		t.Fatalf("without an object %q get it", got)
	}
	must(t, tr.SetTopic("OBJ", "a/b", &Attrs{WILDCARD: "BLOCK"}))
	if got := names(tr.Match(nil, "a/b"+tail)); len(got) != 1 || got[0] != "a/b/#"+tail {
		t.Errorf("below the object %q get it", got)
	}
	if got := names(tr.Match(nil, "a/c"+tail)); len(got) != 1 || got[0] != "a/#"+tail {
		t.Errorf("beside the object %q get it", got)
	}
}

// The same of character patterns, which are many here, so that they are looked for by their pieces.
func TestBlockedPatterns(t *testing.T) {
	tr, _ := newTree(t, 0)
	for _, text := range []string{"a/*ord*", "a/b/*ord*", "*ord*", "*"} {
		must(t, tr.Subscribe(&Sub{Topic: text, Name: text, Scheme: SchemeChar, Level: 1}))
	}
	for i := range 2 * plainTry {
		must(t, tr.Subscribe(&Sub{Topic: "a/*none" + strings.Repeat("x", i), Name: "other", Scheme: SchemeChar, Level: 1}))
	}
	must(t, tr.SetTopic("OBJ", "a/b", &Attrs{WILDCARD: "BLOCK"}))
	for topic, want := range map[string]string{"a/b/word": "a/b/*ord*", "a/c/word": "* *ord* a/*ord*", "word": "* *ord*"} {
		if got := strings.Join(names(tr.Match(nil, topic)), " "); got != want {
			t.Errorf("%s: %q get it, want %q", topic, got, want)
		}
	}
}

// The character U+FFFD in a pattern fits bytes that are no character, also when there are so many patterns that they are looked for
// by their pieces.
func TestPatternsAndBrokenCharacters(t *testing.T) {
	tr, _ := newTree(t, 0)
	for i := range 2 * plainTry {
		must(t, tr.Subscribe(&Sub{Topic: "*none" + strings.Repeat("x", i), Name: "other", Scheme: SchemeChar, Level: 1}))
	}
	must(t, tr.Subscribe(&Sub{Topic: "*a\ufffdb*", Name: "broken", Scheme: SchemeChar, Level: 1}))
	for topic, want := range map[string]int{"za\xffbz": 1, "za\ufffdbz": 1, "zab": 0, "za\xffc": 0} {
		if got := tr.Match(nil, topic); len(got) != want {
			t.Errorf("%q: %q get it", topic, names(got))
		}
	}
}
