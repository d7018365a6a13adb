package pubsub

import (
	"errors"
	"strings"
	"testing"
)

func TestTopicScheme(t *testing.T) {
	for _, c := range []struct {
		filter    string
		yes, no   string // topics separated by blanks; "." is the root
		lead      string
		lits      int
		literalOK bool // the filter has no wildcard at all
	}{
		{filter: "#", yes: ". USA USA/Alabama /A A//B"},
		{filter: "+", yes: "USA A", no: ". USA/Alabama /A"},
		{filter: "USA/#", yes: "USA USA/Alabama USA/Alabama/Auburn USA/", no: ". US USAX /USA", lead: "USA", lits: 1},
		{filter: "USA/+", yes: "USA/Alabama USA/", no: "USA USA/Alabama/Auburn", lead: "USA", lits: 1},
		{filter: "+/Results", yes: "a/Results /Results", no: "Results a/b/Results"},
		{filter: "#/Results", yes: "Results a/Results a/b/Results", no: "a/Results/b"},
		{filter: "a/#/z", yes: "a/z a/b/z a/b/c/z", no: "a a/b z a/z/y", lead: "a", lits: 1},
		{filter: "a/#/#/z", yes: "a/z a/b/z", no: "a", lead: "a", lits: 1},
		{filter: "#/a/#", yes: "a b/a a/b b/a/c a/a", no: "b ."},
		{filter: "a/#/b/#/c", yes: "a/b/c a/x/b/c a/b/x/c a/b/b/c/c", no: "a/c a/b", lead: "a", lits: 1},
		{filter: "#/+", yes: "a a/b /", no: "."},
		{filter: "+/#", yes: "a a/b", no: "."},
		{filter: "+/A", yes: "/A x/A", no: "A"},
		{filter: "/#", yes: "/A / //", no: ". A A/", lead: "", lits: 1},
		{filter: "/+", yes: "/A /", no: "A /A/B", lead: "", lits: 1},
		{filter: "//+", yes: "//A //", no: "/A", lead: "/", lits: 2},
		{filter: "A/+/B", yes: "A//B A/x/B", no: "A/B", lead: "A", lits: 1},
		{filter: "USA#", yes: "USA#", no: "USA USA1", literalOK: true},
		{filter: "#+", yes: "#+", no: "a", literalOK: true},
		{filter: "a/level#/b", yes: "a/level#/b", no: "a/level/b", literalOK: true},
		{filter: "a/b+/#", yes: "a/b+ a/b+/c", no: "a/b", lead: "a/b+", lits: 2},
		{filter: "", yes: ".", no: "a /", literalOK: true},
		{filter: "Grüße/+/日本", yes: "Grüße/x/日本", no: "Grüße/日本", lead: "Grüße", lits: 1},
		{filter: "a/*", yes: "a/*", no: "a/b", literalOK: true},
	} {
		f := filter(t, c.filter, SchemeTopic)
		if f.Wild() == c.literalOK || (f.Wild() && (f.lead != c.lead || f.lits != c.lits)) {
			t.Errorf("%q: wild %t, lead %q, %d literal levels", c.filter, f.Wild(), f.lead, f.lits)
		}
		checkFilter(t, f, c.yes, true)
		checkFilter(t, f, c.no, false)
	}
}

func checkFilter(t *testing.T, f *Filter, topics string, want bool) {
	t.Helper()
	for _, s := range strings.Fields(topics) {
		if s == "." {
			s = ""
		}
		if f.Match(s) != want {
			t.Errorf("%q fits %q: %t", f, s, !want)
		}
		// The trie must say the same.
		tr, _ := newTree(t, 0)
		must(t, tr.Subscribe(&Sub{Topic: f.text, Scheme: f.scheme}))
		if got := len(tr.Match(nil, s)) == 1; got != want {
			t.Errorf("%q gets %q: %t", f, s, got)
		}
	}
}

func TestCharScheme(t *testing.T) {
	for _, c := range []struct {
		filter  string
		yes, no string
		lead    string
		lits    int
	}{
		{filter: "*", yes: ". a a/b /"},
		{filter: "IBM/*ware/Results", yes: "IBM/ware/Results IBM/Software/Results IBM/a/b/ware/Results", no: "IBM/Results IBM/Software/Res", lead: "IBM", lits: 1},
		{filter: "a?c", yes: "abc a/c aüc", no: "ac abbc"},
		{filter: "a/b?", yes: "a/bc", no: "a/b a/bcd", lead: "a", lits: 1},
		{filter: "x/*/y", yes: "x/a/y x/a/b/y x//y", no: "x/y", lead: "x", lits: 1},
		{filter: "USA/*", yes: "USA/ USA/a USA/a/b", no: "USA", lead: "USA", lits: 1},
		{filter: "a%*b*", yes: "a*b a*bc", no: "axb"},
		{filter: "a%%*", yes: "a% a%b", no: "ab"},
		{filter: "+/#*", yes: "+/# +/#x", no: "a/b", lead: "+", lits: 1},
		{filter: "/x*", yes: "/x /xy", no: "x", lead: "", lits: 1},
		{filter: "**b**", yes: "b ab abc", no: "a"},
	} {
		f := filter(t, c.filter, SchemeChar)
		if !f.Wild() || f.lead != c.lead || f.lits != c.lits {
			t.Errorf("%q: wild %t, lead %q, %d literal levels", c.filter, f.Wild(), f.lead, f.lits)
		}
		checkFilter(t, f, c.yes, true)
		checkFilter(t, f, c.no, false)
	}
	if f := filter(t, "a%?b", SchemeChar); f.Wild() || !f.Match("a?b") || f.Match("a%?b") {
		t.Error("an escaped wildcard is an ordinary character")
	}
	for _, bad := range []string{"a%b", "%", "a/%", "%+", "\xff*"} {
		var e *Error
		if _, err := ParseFilter(bad, SchemeChar); !errors.As(err, &e) || e.RC != RCTopicString {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTopicStrings(t *testing.T) {
	for _, c := range []struct {
		object    string
		hasObject bool
		app, want string
		rc        int32
	}{
		{"Football/Scores", true, "", "Football/Scores", 0},
		{"", false, "Football/Scores", "Football/Scores", 0},
		{"Football", true, "Scores", "Football/Scores", 0},
		{"Football", true, "/Scores", "Football//Scores", 0},
		{"/Football", true, "Scores", "/Football/Scores", 0},
		{"", true, "Scores", "Scores", 0},
		{"Football", true, " Scores", "Football", 0},
		{"Football", true, "\x00", "Football", 0},
		{"", true, "", "", RCTopicString},
		{"", false, "", "", RCUnknownObjectName},
		{"", false, "  ", "", RCUnknownObjectName},
		{strings.Repeat("x", MaxTopicLen), true, "y", "", RCObjectString},
		{"", false, strings.Repeat("ü", MaxTopicLen), strings.Repeat("ü", MaxTopicLen), 0},
	} {
		got, err := Combine(c.object, c.hasObject, c.app)
		var e *Error
		switch {
		case c.rc == 0 && (err != nil || got != c.want):
			t.Errorf("%q + %q = %q, %v", c.object, c.app, got, err)
		case c.rc != 0 && (!errors.As(err, &e) || e.RC != c.rc || e.Error() == ""):
			t.Errorf("%q + %q: %v, want reason %d", c.object, c.app, err, c.rc)
		}
	}
	tr, _ := newTree(t, 0)
	long := strings.Repeat("ü", MaxTopicLen)
	touch(t, tr, long)
	if one(t, tr, long).Topic != long {
		t.Error("the longest topic is not found")
	}
	deep := strings.Repeat("/", MaxTopicLen) // 10241 empty levels
	touch(t, tr, deep)
	if !tr.Has(deep) || tr.Count() != MaxTopicLen+3 {
		t.Errorf("TPCOUNT %d", tr.Count())
	}
	must(t, tr.Check())
	too := long + "x"
	_, _, err := tr.SetRetained(too, 1, clockZero)
	for _, err := range []error{err, use(tr, too), tr.SetTopic("O", too, &Attrs{}), tr.Subscribe(&Sub{Topic: too})} {
		var e *Error
		if !errors.As(err, &e) || e.RC != RCObjectString {
			t.Errorf("too long: %v", err)
		}
	}
	if _, err := tr.OpenPublisher(too, ""); err == nil {
		t.Error("too long a topic is opened")
	}
	for s, want := range map[string]bool{"$SYS/MQ": true, "$SYS/MQ/INFO": true, "$SYS/MQX": false, "a": false} {
		if IsAdminTopic(s) != want {
			t.Errorf("%q is an admin topic: %t", s, !want)
		}
	}
}

// The automaton and the trie against the definitions.
func FuzzFilter(f *testing.F) {
	f.Add("a/#/b/+/#", "a/b/c/b/x")
	f.Add("#/a/#/a/+", "a/a/a")
	f.Add("/#", "/")
	f.Add("*a?b*", "aabb")
	f.Fuzz(func(t *testing.T, text, topic string) {
		if len(text) > 40 || len(topic) > 40 {
			return
		}
		if fl, err := ParseFilter(text, SchemeTopic); err == nil {
			want := naiveMatch(levelsOf(text), levelsOf(topic))
			if fl.Match(topic) != want {
				t.Fatalf("%q fits %q: %t", text, topic, !want)
			}
			if tr, _ := newTree(t, 0); tr.Subscribe(&Sub{Topic: text}) != nil || (len(tr.Match(nil, topic)) == 1) != want {
				t.Fatalf("%q gets %q: %t", text, topic, !want)
			}
		}
		if fl, err := ParseFilter(text, SchemeChar); err == nil && !strings.Contains(text, "%") {
			if want := naiveGlob([]rune(text), []rune(topic)); fl.Match(topic) != want && strings.ToValidUTF8(topic, "") == topic {
				t.Fatalf("CHAR %q fits %q: %t", text, topic, !want)
			}
		}
	})
}
