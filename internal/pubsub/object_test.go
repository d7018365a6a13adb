package pubsub

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// What a new queue manager has.
func supplied(t *testing.T, tr *Tree) {
	t.Helper()
	must(t, tr.SetTopic(BaseTopic, "", &Attrs{
		DURSUB: "YES", PUB: "ENABLED", SUB: "ENABLED", DEFPSIST: "NO", DEFPRTY: "0", DEFPRESP: "SYNC", PMSGDLV: "ALLDUR",
		NPMSGDLV: "ALLAVAIL", PUBSCOPE: "ALL", SUBSCOPE: "ALL", WILDCARD: "PASSTHRU", MCAST: "DISABLED", USEDLQ: "YES",
		MDURMDL: "SYSTEM.DURABLE.MODEL.QUEUE", MNDURMDL: "SYSTEM.NDURABLE.MODEL.QUEUE", CLROUTE: "DIRECT", PROXYSUB: "FIRSTUSE",
	}))
	must(t, tr.SetTopic("SYSTEM.DEFAULT.TOPIC", "", &Attrs{}))
	must(t, tr.SetTopic("SYSTEM.BROKER.DEFAULT.STREAM", "", &Attrs{WILDCARD: "BLOCK", PUB: "DISABLED"}))
	must(t, tr.SetTopic("SYSTEM.ADMIN.TOPIC", "$SYS/MQ", &Attrs{WILDCARD: "BLOCK", PUBSCOPE: "QMGR", SUBSCOPE: "QMGR"}))
}

func TestAttributesAreInherited(t *testing.T) {
	tr, _ := newTree(t, 0)
	for a := Attr(0); a < NumAttrs; a++ { // built-in values, with no object at all
		if v := tr.Resolve("x", a); v != builtin[a] || v == asParent {
			t.Errorf("%s(%s)", a, v)
		}
	}
	supplied(t, tr)
	if r := one(t, tr, ""); r.Admin != BaseTopic || r.Attrs[PUB] != "ENABLED" || r.Attrs[WILDCARD] != "PASSTHRU" {
		t.Fatalf("the root shows %+v", r)
	}
	must(t, tr.SetTopic("A", "a", &Attrs{PUB: "DISABLED", DEFPRTY: "3", PMSGDLV: "ALL", CLUSTER: "C1", CLROUTE: "TOPICHOST", WILDCARD: "BLOCK", PROXYSUB: "FORCE", MDURMDL: "MY.MODEL"}))
	must(t, tr.SetTopic("AB", "a/b", &Attrs{PUB: asParent, DEFPRTY: asParent, PMSGDLV: "ALLAVAIL", CLROUTE: "DIRECT", MDURMDL: ""}))
	must(t, tr.SetTopic("ABC", "a/b/c", &Attrs{PUB: "ENABLED", CLUSTER: "C2", CAPEXPRY: "50"}))
	for _, c := range []struct {
		topic string
		a     Attr
		want  string
	}{
		{"a", PUB, "DISABLED"}, {"a/b", PUB, "DISABLED"}, {"a/b/c", PUB, "ENABLED"}, {"a/b/c/d", PUB, "ENABLED"},
		{"a/x/y", PUB, "DISABLED"}, {"b", PUB, "ENABLED"}, {"a/b", DEFPRTY, "3"}, {"", DEFPRTY, "0"},
		{"a/b/x", PMSGDLV, "ALLAVAIL"}, {"a/x", PMSGDLV, "ALL"}, {"a/b/c/d", MDURMDL, "MY.MODEL"},
		{"x", MDURMDL, "SYSTEM.DURABLE.MODEL.QUEUE"}, {"a", WILDCARD, "BLOCK"}, {"a/b", WILDCARD, "PASSTHRU"},
		{"a/x", WILDCARD, "PASSTHRU"}, {"a", PROXYSUB, "FORCE"}, {"a/x", PROXYSUB, "FIRSTUSE"},
		{"a/b", CLUSTER, "C1"}, {"a/b", CLROUTE, "TOPICHOST"}, {"a/b/c", CLUSTER, "C2"}, {"a/b/c", CLROUTE, "DIRECT"},
		{"x", CLUSTER, ""}, {"x", CLROUTE, "NONE"}, {"a/b/c/d", CAPEXPRY, "50"}, {"a", CAPEXPRY, "NOLIMIT"},
		{"$SYS/MQ/INFO", PUBSCOPE, "QMGR"},
	} {
		if got := tr.Resolve(c.topic, c.a); got != c.want {
			t.Errorf("%q %s(%s), want %s", c.topic, c.a, got, c.want)
		}
		if got := tr.ResolveAll(c.topic)[c.a]; got != c.want {
			t.Errorf("%q %s(%s) in all, want %s", c.topic, c.a, got, c.want)
		}
	}
	must(t, tr.SetTopic("A", "a", &Attrs{PUB: "ENABLED"})) // ALTER
	if tr.Resolve("a/b", PUB) != "ENABLED" {
		t.Error("ALTER TOPIC is not seen below")
	}
	tr.DeleteTopic("A")
	tr.DeleteTopic("A")
	if tr.Resolve("a/b", DEFPRTY) != "0" {
		t.Error("DELETE TOPIC is not seen below")
	}
	must(t, tr.Check())
}

func TestOneObjectPerTopic(t *testing.T) {
	tr, _ := newTree(t, 0)
	supplied(t, tr)
	must(t, tr.SetTopic("A", "a", &Attrs{}))
	for _, err := range []error{tr.SetTopic("B", "a", &Attrs{}), tr.SetTopic("A", "b", &Attrs{})} {
		var e *Error
		if !errors.As(err, &e) || e.RC != RCObjectExists {
			t.Errorf("%v", err)
		}
	}
	if got := one(t, tr, "a").Admin; got != "A" {
		t.Errorf("the topic is %q's", got)
	}
	if tr.Has("b") {
		t.Error("a refused object left a topic")
	}
	must(t, tr.Check())
}

func TestWildcardBlock(t *testing.T) {
	tr, _ := newTree(t, 0)
	supplied(t, tr)
	must(t, tr.SetTopic("FB", "sport/football", &Attrs{WILDCARD: "BLOCK"}))
	for _, s := range []string{"#", "sport/#", "sport/+/goal", "+/football/#", "sport/football/#", "sport/football/+", "sport/football/goal", "sport/football"} {
		subscribe(t, tr, s)
	}
	for _, s := range []string{"sport/foot*", "sport/football/*", "*"} {
		must(t, tr.Subscribe(&Sub{Topic: s, Name: s, Scheme: SchemeChar}))
	}
	for topic, want := range map[string][]string{
		"sport/football/goal": {"sport/football/#", "sport/football/+", "sport/football/goal", "sport/football/*"},
		"sport/football":      {"sport/football", "sport/football/#"},
		"sport/footballs":     {"#", "sport/#", "sport/foot*", "*"},
		"sport/tennis/goal":   {"#", "sport/#", "sport/+/goal", "*"},
		"$SYS/MQ/INFO/x":      nil,
		"":                    {"#", "*"},
	} {
		slices.Sort(want)
		if got := names(tr.Match(nil, topic)); !slices.Equal(got, want) {
			t.Errorf("%q goes to %q, want %q", topic, got, want)
		}
	}
	// The same for what is retained; CLEAR is not held up.
	for _, s := range []string{"sport/football/goal", "sport/tennis"} {
		_, _, err := tr.SetRetained(s, 1, clockZero)
		must(t, err)
	}
	f := filter(t, "sport/#", SchemeTopic)
	if got, p := tr.RetainedForSub(f, Page{}); len(got) != 1 || got[0].Topic != "sport/tennis" || !p.Done() {
		t.Errorf("a new subscription gets %v", got)
	}
	if got, _ := tr.RetainedMatching(f, Page{}); len(got) != 2 || tr.RetainedCount() != 2 {
		t.Errorf("CLEAR sees %v", got)
	}
	if got, _ := tr.RetainedMatching(filter(t, "sport/foot*l", SchemeChar), Page{}); len(got) != 1 {
		t.Errorf("a filter of characters sees %v", got)
	}
	// PASSTHRU again.
	must(t, tr.SetTopic("FB", "sport/football", &Attrs{WILDCARD: "PASSTHRU"}))
	if got := names(tr.Match(nil, "sport/football")); !slices.Contains(got, "#") || len(got) != 7 {
		t.Errorf("after ALTER it goes to %q", got)
	}
}

// The object that an attribute comes from is looked for where the attribute is: not across the border of $SYS/MQ.
func TestOriginStopsAtAdminTopics(t *testing.T) {
	tr, _ := newTree(t, 0)
	must(t, tr.SetTopic(BaseTopic, "", &Attrs{SUB: "DISABLED"}))
	must(t, tr.SetTopic("ADMIN", AdminTopic, &Attrs{PUB: "DISABLED"}))
	for _, c := range []struct {
		topic string
		a     Attr
		want  string
	}{{"x/y", SUB, BaseTopic}, {"x/y", PUB, ""}, {"$SYS/MQ/INFO", SUB, ""}, {"$SYS/MQ/INFO", PUB, "ADMIN"}, {"$SYS/x", SUB, BaseTopic}} {
		if got := tr.Origin(c.topic, c.a); got != c.want {
			t.Errorf("%s of %q comes from %q, want %q", c.a, c.topic, got, c.want)
		}
	}
}

// A deleted WILDCARD(BLOCK) holds nothing up any more, also where it was met before.
func TestDeletedBlock(t *testing.T) {
	tr, _ := newTree(t, 0)
	supplied(t, tr)
	subscribe(t, tr, "sport/#")
	must(t, tr.SetTopic("FB", "sport/football", &Attrs{WILDCARD: "BLOCK"}))
	for range 2 {
		if got := tr.Match(nil, "sport/football/goal"); len(got) != 0 {
			t.Errorf("blocked, and it goes to %q", names(got))
		}
	}
	tr.DeleteTopic("FB")
	if got := tr.Match(nil, "sport/football/goal"); len(got) != 1 {
		t.Errorf("the object is gone, and it goes to %q", names(got))
	}
}

func TestSubLevels(t *testing.T) {
	tr, _ := newTree(t, 0)
	for name, level := range map[string]uint8{"last": 0, "plain": 1, "plain2": 1, "filter": 5} {
		must(t, tr.Subscribe(&Sub{Topic: "a", Name: name, Level: level}))
	}
	got := tr.Match(nil, "a")
	for level, want := range map[uint8]string{9: "filter", 5: "filter", 4: "plain plain2", 1: "plain plain2", 0: "last"} {
		if s := strings.Join(names(AtLevel(got, level)), " "); s != want {
			t.Errorf("level %d goes to %q, want %q", level, s, want)
		}
	}
	if n := AtLevel(nil, 9); len(n) != 0 {
		t.Error("nobody is somebody")
	}
	var e *Error
	if err := tr.Subscribe(&Sub{Topic: "a", Level: 10}); !errors.As(err, &e) || e.RC != RCOptions {
		t.Errorf("level 10: %v", err)
	}
}

func TestGroups(t *testing.T) {
	tr, _ := newTree(t, 0)
	for _, topic := range []string{"a", "+", "#", "a/#"} {
		must(t, tr.Subscribe(&Sub{Topic: topic, Name: topic, Group: "Q1 C1"}))
		var e *Error
		if err := tr.Subscribe(&Sub{Topic: topic, Group: "Q1 C1"}); !errors.As(err, &e) || e.RC != RCDuplicateGroupSub {
			t.Errorf("twice %q in a group: %v", topic, err)
		}
	}
	must(t, tr.Subscribe(&Sub{Topic: "a", Name: "other group", Group: "Q2 C1"}))
	for range 2 {
		must(t, tr.Subscribe(&Sub{Topic: "a", Name: "alone"}))
	}
	got := tr.Match(nil, "a")
	if len(got) != 7 {
		t.Fatalf("%d matches", len(got))
	}
	if one := names(OncePerGroup(got)); len(one) != 4 || !slices.Contains(one, "other group") {
		t.Errorf("once per group: %q", one)
	}
	if one := OncePerGroup(tr.Match(nil, "b")); len(one) != 1 {
		t.Errorf("b goes to %q", names(one))
	}
	// The most significant one of a group gets it.
	for _, c := range []struct{ group, want string }{
		{"# x/# x/+/# x/y/+ x/y/z", "x/y/z"}, {"# x/+/z x/y/# +/y/z", "x/y/#"}, {"x/# #", "x/#"}, {"+/y/z x/+/z", "x/+/z"},
	} {
		tr, _ := newTree(t, 0)
		for _, s := range strings.Fields(c.group) {
			must(t, tr.Subscribe(&Sub{Topic: s, Name: s, Group: "G"}))
		}
		must(t, tr.Subscribe(&Sub{Topic: "x/y/?", Name: "x/y/?", Scheme: SchemeChar, Group: "CHAR"}))
		must(t, tr.Subscribe(&Sub{Topic: "x/*", Name: "x/*", Scheme: SchemeChar, Group: "CHAR"}))
		got := names(OncePerGroup(tr.Match(nil, "x/y/z")))
		slices.Sort(got)
		want := []string{c.want, "x/y/?"}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("group %q: %q get it, not %q", c.group, got, want)
		}
	}
	if got := OncePerGroup(nil); len(got) != 0 {
		t.Error("nobody is somebody")
	}
	must(t, tr.Check())
}
