package pubsub

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Long filters with many wildcards get what the definition says, by the tree and by themselves.
func TestLongFilters(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	pick := func(from []string, n int) string {
		lv := make([]string, n)
		for i := range lv {
			lv[i] = from[rnd.Intn(len(from))]
		}
		return strings.Join(lv, "/")
	}
	matched := 0
	for range 300 {
		tr, _ := newTree(t, time.Minute)
		texts := map[string]bool{}
		for range 20 {
			text := pick([]string{"a", "b", "", "+", "+", "#"}, 1+rnd.Intn(14))
			if rnd.Intn(3) == 0 { // more than a word of states between wildcards
				text = pick([]string{"a", "+"}, rnd.Intn(3)+1) + "/#/" + pick([]string{"a", "a", "a", "+"}, 60+rnd.Intn(10)) + "/#/" + pick([]string{"a", "+"}, 2)
			}
			texts[text] = true
		}
		var subs []*Sub
		for text := range texts {
			subs = append(subs, subscribe(t, tr, text))
		}
		for range 20 {
			topic := pick([]string{"a", "b", "", "c"}, 1+rnd.Intn(9))
			if rnd.Intn(3) == 0 {
				topic = pick([]string{"a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "b"}, 60+rnd.Intn(120))
			}
			var want []string
			for _, s := range subs {
				plain := quickMatch(levelsOf(s.Topic), levelsOf(topic))
				if plain != s.filter.Match(topic) {
					t.Fatalf("filter %q, topic %q: Match says %t", s.Topic, topic, !plain)
				}
				if plain {
					want = append(want, s.Name)
				}
			}
			slices.Sort(want)
			matched += len(want)
			if got := names(tr.Match(nil, topic)); !slices.Equal(got, want) {
				t.Fatalf("topic %q: got %q, want %q", topic, got, want)
			}
		}
		must(t, tr.Check())
		for _, s := range subs {
			tr.Unsubscribe(s)
		}
		must(t, tr.Check())
		if !tr.wild.root.empty() || len(tr.wild.free) != tr.wild.nums {
			t.Fatalf("trie is not empty: %d of %d numbers free", len(tr.wild.free), tr.wild.nums)
		}
	}
	if matched < 1000 {
		t.Fatalf("only %d matches", matched)
	}
}

// quickMatch is naiveMatch by a table.
func quickMatch(filter, topic []string) bool {
	row := make([]bool, len(topic)+1) // the filter so far fits topic[:j]
	row[0] = true
	for _, f := range filter {
		next := make([]bool, len(row))
		for j := range next {
			if f == "#" {
				next[j] = row[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && row[j-1] && (f == "+" || f == topic[j-1])
			}
		}
		row = next
	}
	return row[len(topic)]
}

// A few valid filters cannot make a match long.
func TestMatchIsBounded(t *testing.T) {
	as := strings.Repeat("/a", 5119)
	limit := 500 * time.Millisecond
	if invariants.Enabled { // the race detector comes with it
		limit *= 20
	}
	for name, c := range map[string]struct {
		topic  string
		filter func(i int) string
		scheme Scheme
	}{
		"many #": {strings.Repeat("/", 10239), func(i int) string { return strings.Repeat("+/", i) + strings.Repeat("/#/+", 2500)[1:] + "/z" }, SchemeTopic},
		"+ behind #": {strings.Repeat("/", 10239), func(i int) string {
			return strings.Repeat("+/", i) + "#" + strings.Repeat("/+", 5000) + "/z"
		}, SchemeTopic},
		"levels":  {as, func(i int) string { return "#" + strings.Repeat("/a", 2500+i) + "/b/#" }, SchemeTopic},
		"# and a": {as, func(i int) string { return "#" + strings.Repeat("/a/#", 2500+i) + "/z" }, SchemeTopic},
		"chars":   {strings.Repeat("a", 10240), func(i int) string { return "*" + strings.Repeat("a", 5000+i) + "b*" }, SchemeChar},
		"stars":   {as, func(i int) string { return strings.Repeat("*/a?", 2000+i) + "*z" }, SchemeChar},
		"one ?":   {strings.Repeat("a", 10240), func(i int) string { return "*?" + strings.Repeat("?a", 2500+i) + "b" }, SchemeChar},
	} {
		tr, _ := newTree(t, time.Minute)
		for i := range 8 {
			must(t, tr.Subscribe(&Sub{Topic: c.filter(i), Scheme: c.scheme, Level: 1}))
		}
		tr.Match(nil, c.topic) // automata are made when they are needed first
		best := time.Hour
		for range 3 {
			t0 := time.Now()
			if got := tr.Match(nil, c.topic+"x"); len(got) != 0 {
				t.Errorf("%s: %d match", name, len(got))
			}
			best = min(best, time.Since(t0))
		}
		if t.Logf("%s: %v", name, best); best > limit { // 4 to 60 s without the automaton
			t.Errorf("%s: a match takes %v", name, best)
		}
		for _, scan := range []string{c.filter(0)} {
			must(t, use(tr, c.topic))
			best := time.Hour
			for try := 0; try == 0 || try < 3 && best > 10*limit; try++ {
				t0 := time.Now()
				f := filter(t, scan, c.scheme)
				for p := (Page{}); !p.Done(); {
					_, p = tr.Status(f, StatusTopic, p)
				}
				best = min(best, time.Since(t0))
			}
			if t.Logf("%s: walk %v", name, best); best > 10*limit {
				t.Errorf("%s: a walk takes %v", name, best)
			}
		}
	}
}

// The index of character patterns finds what the plain reading finds, and does not try the others.
func TestCharIndex(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	word := func(set string, n int) string {
		var b strings.Builder
		for range n {
			r := []rune(set)
			b.WriteRune(r[rnd.Intn(len(r))])
		}
		return b.String()
	}
	for range 50 {
		tr, _ := newTree(t, time.Minute)
		texts := map[string]bool{}
		for range 100 {
			texts["p/"+word("ab/*?é", rnd.Intn(7))+"*"+word("ab/é*", rnd.Intn(14))] = true
		}
		var subs []*Sub
		for text := range texts {
			s := &Sub{Topic: text, Name: text, Scheme: SchemeChar, Level: 1}
			must(t, tr.Subscribe(s))
			subs = append(subs, s)
		}
		for len(subs) > 0 {
			for range 20 {
				topic := "p/" + word("ab/é", rnd.Intn(14))
				var want []string
				for _, s := range subs {
					if naiveGlob([]rune(s.Topic), []rune(topic)) {
						want = append(want, s.Name)
					}
				}
				slices.Sort(want)
				if got := names(tr.Match(nil, topic)); !slices.Equal(got, want) {
					t.Fatalf("topic %q: got %q, want %q", topic, got, want)
				}
			}
			must(t, tr.Check())
			for range min(len(subs), 30) {
				tr.Unsubscribe(subs[len(subs)-1])
				subs = subs[:len(subs)-1]
			}
		}
		if !tr.wild.root.empty() {
			t.Fatal("trie is not empty")
		}
	}
}

// Character patterns that do not match cost next to nothing, however many there are.
func TestCharIndexWork(t *testing.T) {
	tr, _ := newTree(t, time.Minute)
	for i := range 10000 {
		must(t, tr.Subscribe(&Sub{Topic: fmt.Sprintf("*/dev%d/*", i), Scheme: SchemeChar, Level: 1}))
	}
	x := &tr.wild.root.chars
	most := 0
	for _, list := range x.by {
		most = max(most, len(list))
	}
	if most > 20 || len(x.plain) > 0 {
		t.Errorf("%d filters under one piece, %d under none", most, len(x.plain))
	}
	if got := tr.Match(nil, "plant/dev77/temperature"); len(got) != 1 || got[0].Topic != "*/dev77/*" {
		t.Errorf("%d match", len(got))
	}
}

// A walk by a character pattern gives the topics that the pattern fits.
func TestCharWalk(t *testing.T) {
	topics := []string{"/", "//", "a", "a/", "a/b", "a/b/c", "/a", "/a/b", "é", "é/a", "a/é", "ab", "ab/c", "b/b/b"}
	for _, text := range []string{"*", "?", "a*", "*b", "a/*", "/*", "*/", "*/?", "?/?", "/a*", "é*", "*é", "a/?*", "**b/b", "a?*", "//*", "a/b/*c", "*/*/*"} {
		for _, limit := range []int{1, 100} {
			tr, _ := newTree(t, time.Minute)
			touch(t, tr, topics...)
			var want, got []string
			for _, r := range status(t, tr, "#", StatusTopic, 0) {
				if naiveGlob([]rune(text), []rune(r.Topic)) {
					want = append(want, r.Topic)
				}
			}
			f := filter(t, text, SchemeChar)
			for p := (Page{Limit: limit}); !p.Done(); {
				var rows []Row
				rows, p = tr.Status(f, StatusTopic, p)
				for _, r := range rows {
					got = append(got, r.Topic)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
}
