package pubsub

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

var clockZero time.Time

func newTree(t testing.TB, life time.Duration) (*Tree, *clock.Fake) {
	t.Helper()
	clk := clock.NewFake(time.Unix(1_700_000_000, 0))
	return New(Options{Clock: clk, Life: life}), clk
}

func filter(t testing.TB, text string, s Scheme) *Filter {
	t.Helper()
	f, err := ParseFilter(text, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// status collects all pages.
func status(t testing.TB, tr *Tree, text string, ty StatusType, limit int) []Row {
	t.Helper()
	f := filter(t, text, SchemeTopic)
	var all []Row
	for p := (Page{Limit: limit}); !p.Done(); {
		var rows []Row
		rows, p = tr.Status(f, ty, p)
		if limit > 0 && len(rows) > limit {
			t.Fatalf("page of %d rows, limit %d", len(rows), limit)
		}
		all = append(all, rows...)
	}
	return all
}

// topics lists the topic strings that DISPLAY TPSTATUS(text) shows, sorted, without the root.
func topics(t testing.TB, tr *Tree, text string) []string {
	t.Helper()
	var out []string
	for _, r := range status(t, tr, text, StatusTopic, 0) {
		if r.Topic != "" {
			out = append(out, r.Topic)
		}
	}
	slices.Sort(out)
	return out
}

func wantTopics(t testing.TB, tr *Tree, text string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := topics(t, tr, text); !slices.Equal(got, want) {
		t.Fatalf("TPSTATUS(%s) shows %q, want %q", text, got, want)
	}
	if err := tr.Check(); err != nil {
		t.Fatal(err)
	}
}

func one(t testing.TB, tr *Tree, topic string) Row {
	t.Helper()
	rows := status(t, tr, topic, StatusTopic, 0)
	if len(rows) != 1 || rows[0].Topic != topic {
		t.Fatalf("TPSTATUS(%s) gives %d rows", topic, len(rows))
	}
	return rows[0]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func touch(t testing.TB, tr *Tree, topics ...string) {
	t.Helper()
	for _, s := range topics {
		must(t, use(tr, s))
	}
}

// use makes a topic used for a moment, as MQPUT1 does.
func use(tr *Tree, topic string) error {
	p, err := tr.OpenBriefly(topic)
	if err == nil {
		tr.ClosePublisher(p)
	}
	return err
}

func hasRetained(tr *Tree, topic string) bool {
	_, ok := tr.Retained(topic)
	return ok
}

func subscribe(t testing.TB, tr *Tree, topic string) *Sub {
	t.Helper()
	s := &Sub{Topic: topic, Name: topic, Level: 1}
	must(t, tr.Subscribe(s))
	return s
}

// reapAll plays the reaper at the clock's time.
func reapAll(tr *Tree, clk *clock.Fake) {
	for tr.Reap(clk.Now(), 10) > 0 {
	}
}

// pass moves the clock in steps and reaps after each, as the loop does.
func pass(tr *Tree, clk *clock.Fake, d time.Duration) {
	for end := clk.Now().Add(d); clk.Now().Before(end); {
		clk.Advance(min(100*time.Millisecond, end.Sub(clk.Now())))
		reapAll(tr, clk)
		tr.ExpireRetained(clk.Now(), 1000)
	}
}

func names(subs []*Sub) []string {
	var out []string
	for _, s := range subs {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return out
}

// naiveMatch is the definition of the topic scheme, by recursion.
func naiveMatch(filter, topic []string) bool {
	if len(filter) == 0 {
		return len(topic) == 0
	}
	if filter[0] == "#" {
		for i := 0; i <= len(topic); i++ {
			if naiveMatch(filter[1:], topic[i:]) {
				return true
			}
		}
		return false
	}
	return len(topic) > 0 && (filter[0] == "+" || filter[0] == topic[0]) && naiveMatch(filter[1:], topic[1:])
}

func levelsOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "/")
}

// naiveGlob is the definition of the character scheme, on a pattern without escapes.
func naiveGlob(p, s []rune) bool {
	fits := make([]bool, len(s)+1) // whether what comes behind in p fits s[j:]
	fits[len(s)] = true
	for i := len(p) - 1; i >= 0; i-- {
		now := make([]bool, len(s)+1)
		for j := len(s); j >= 0; j-- {
			if p[i] == '*' {
				now[j] = fits[j] || j < len(s) && now[j+1]
			} else {
				now[j] = j < len(s) && (p[i] == '?' || p[i] == s[j]) && fits[j+1]
			}
		}
		fits = now
	}
	return fits[0]
}
