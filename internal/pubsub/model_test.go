package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// A random history is played on the tree and on a model: a list of topics with what is on each, and the rules of the
// documentation word by word.

type modelTopic struct {
	object   string
	block    bool
	retained int // number, 0: none
	expires  time.Time
	pubs     []*PubHandle
	subs     []*Sub
	unused   time.Time // since when; zero: used
}

type model struct {
	topics map[string]*modelTopic // by levels joined with "\x00", so the root and one empty level differ
	life   time.Duration
	wild   []*Sub
}

func key(levels []string) string {
	if levels == nil {
		return "root"
	}
	return "t\x00" + strings.Join(levels, "\x00")
}

func (m *model) get(levels []string, now time.Time) *modelTopic {
	for i := 0; i <= len(levels); i++ {
		if i == 0 {
			continue
		}
		if k := key(levels[:i]); m.topics[k] == nil {
			m.topics[k] = &modelTopic{unused: now}
		}
	}
	if len(levels) == 0 {
		levels = nil
	}
	return m.topics[key(levels)]
}

func (m *model) hasChild(k string) bool {
	for o := range m.topics {
		if o == k || o == "root" {
			continue
		}
		if k == "root" {
			return true
		}
		if strings.HasPrefix(o, k+"\x00") {
			return true
		}
	}
	return false
}

func (m *model) used(k string) bool {
	x := m.topics[k]
	return k == "root" || x.object != "" || x.retained != 0 || len(x.pubs) > 0 || len(x.subs) > 0 || m.hasChild(k)
}

// settle notes who became used or unused. moved says that an operation used a topic for a moment.
func (m *model) settle(now time.Time) {
	for k, x := range m.topics {
		switch used := m.used(k); {
		case used:
			x.unused = time.Time{}
		case x.unused.IsZero():
			x.unused = now
		}
	}
}

func (m *model) reap(now time.Time) {
	for again := m.life > 0; again; {
		again = false
		for k, x := range m.topics {
			if !x.unused.IsZero() && !x.unused.Add(m.life).After(now) {
				delete(m.topics, k)
				again = true
			}
		}
		m.settle(now)
	}
}

func (m *model) expire(now time.Time) {
	for _, x := range m.topics {
		if x.retained != 0 && !x.expires.IsZero() && !x.expires.After(now) {
			x.retained, x.expires = 0, time.Time{}
		}
	}
	m.settle(now)
}

// match is who gets a publication.
func (m *model) match(topic string) []*Sub {
	lv := levelsOf(topic)
	block := 0
	for i := 1; i <= len(lv); i++ {
		if x := m.topics[key(lv[:i])]; x != nil && x.block {
			block = i
		}
	}
	var out []*Sub
	if x := m.topics[key(lv)]; x != nil {
		for _, s := range x.subs {
			if !s.Wild() {
				out = append(out, s)
			}
		}
	}
	for _, s := range m.wild {
		first := slices.IndexFunc(levelsOf(s.Topic), func(l string) bool { return l == "+" || l == "#" })
		fits := false
		if s.Scheme == SchemeTopic {
			fits = naiveMatch(levelsOf(s.Topic), lv)
		} else {
			fits = naiveGlob([]rune(s.Topic), []rune(topic))
			first = strings.Count(s.Topic[:strings.IndexAny(s.Topic, "*?")], "/")
		}
		if fits && first >= block {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *Sub) int { return int(b.Level) - int(a.Level) })
	return out
}

type play struct {
	*rapid.T
	tr   *Tree
	clk  *clock.Fake
	m    *model
	subs []*Sub
	pubs []*PubHandle
	nref int
}

var (
	genLevel = rapid.SampledFrom([]string{"a", "b", "c", "", "ü"})
	genTopic = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(genLevel, 0, 4).Draw(t, "levels"), "/")
	})
	genFilter = rapid.Custom(func(t *rapid.T) string {
		l := rapid.SliceOfN(rapid.OneOf(genLevel, rapid.SampledFrom([]string{"+", "#"})), 0, 5).Draw(t, "filter")
		return strings.Join(l, "/")
	})
	genChar = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "*", "?", "ü"}), 1, 6).Draw(t, "glob"), "")
	})
)

func (p *play) now() time.Time { return p.clk.Now() }

func (p *play) done(x *modelTopic) {
	x.unused = time.Time{}
	p.m.settle(p.now())
}

func (p *play) object(t *rapid.T) {
	s := genTopic.Draw(t, "topic")
	name := rapid.SampledFrom([]string{"O1", "O2", "O3"}).Draw(t, "object")
	var a Attrs
	if rapid.Bool().Draw(t, "block") {
		a[WILDCARD] = "BLOCK"
	}
	taken := ""
	for k, x := range p.m.topics {
		if x.object == name && k != key(levelsOf(s)) {
			taken = k
		}
	}
	if x := p.m.topics[key(levelsOf(s))]; x != nil && x.object != "" && x.object != name {
		taken = s
	}
	if s == "" {
		return
	}
	err := p.tr.SetTopic(name, s, &a)
	if (err != nil) != (taken != "") {
		t.Fatalf("object %s on %q: %v, in use by %q", name, s, err, taken)
	}
	if err == nil {
		x := p.m.get(levelsOf(s), p.now())
		x.object, x.block = name, a[WILDCARD] == "BLOCK"
		p.done(x)
	}
}

func (p *play) unobject(t *rapid.T) {
	name := rapid.SampledFrom([]string{"O1", "O2", "O3"}).Draw(t, "object")
	p.tr.DeleteTopic(name)
	for _, x := range p.m.topics {
		if x.object == name {
			x.object, x.block = "", false
		}
	}
	p.m.settle(p.now())
}

func (p *play) touch(t *rapid.T) {
	s := genTopic.Draw(t, "topic")
	must2(t, use(p.tr, s))
	x := p.m.get(levelsOf(s), p.now())
	p.done(x)
}

func (p *play) retain(t *rapid.T) {
	s := genTopic.Draw(t, "topic")
	p.nref++
	var exp time.Time
	if rapid.Bool().Draw(t, "expires") {
		exp = p.now().Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "tenths")) * time.Second / 10)
	}
	old, had, err := p.tr.SetRetained(s, RetainedRef(p.nref), exp)
	must2(t, err)
	x := p.m.get(levelsOf(s), p.now())
	if had != (x.retained != 0) || int(old) != x.retained {
		t.Fatalf("retained on %q was %d %t, want %d", s, old, had, x.retained)
	}
	x.retained, x.expires = p.nref, exp
	p.done(x)
}

func (p *play) clear(t *rapid.T) {
	f, err := ParseFilter(genFilter.Draw(t, "filter"), SchemeTopic)
	must2(t, err)
	for pg := (Page{Limit: 2}); !pg.Done(); {
		var got []RetainedAt
		got, pg = p.tr.RetainedMatching(f, pg)
		for _, r := range got {
			p.tr.ClearRetained(r.Topic)
		}
	}
	for k, x := range p.m.topics {
		if naiveMatch(levelsOf(f.text), unkey(k)) && !x.gone(p.now()) {
			x.retained, x.expires = 0, time.Time{}
		}
	}
	p.m.settle(p.now())
}

func (x *modelTopic) gone(now time.Time) bool { return !x.expires.IsZero() && !x.expires.After(now) }

func unkey(k string) []string {
	if k == "root" {
		return nil
	}
	return strings.Split(k, "\x00")[1:]
}

func (p *play) open(t *rapid.T) {
	s := genTopic.Draw(t, "topic")
	h, err := p.tr.OpenPublisher(s, "c")
	must2(t, err)
	p.pubs = append(p.pubs, h)
	x := p.m.get(levelsOf(s), p.now())
	x.pubs = append(x.pubs, h)
	p.done(x)
}

func (p *play) close(t *rapid.T) {
	if len(p.pubs) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.pubs)-1).Draw(t, "handle")
	h := p.pubs[i]
	p.pubs = slices.Delete(p.pubs, i, i+1)
	p.tr.ClosePublisher(h)
	for _, x := range p.m.topics {
		x.pubs = slices.DeleteFunc(x.pubs, func(o *PubHandle) bool { return o == h })
	}
	p.m.settle(p.now())
}

func (p *play) subscribe(t *rapid.T) {
	s := &Sub{Topic: genFilter.Draw(t, "filter"), Level: uint8(rapid.IntRange(0, 2).Draw(t, "level"))}
	if rapid.IntRange(0, 3).Draw(t, "scheme") == 0 {
		s.Topic, s.Scheme = genChar.Draw(t, "glob"), SchemeChar
	}
	must2(t, p.tr.Subscribe(s))
	p.subs = append(p.subs, s)
	lead := levelsOf(s.Topic)
	if s.Wild() {
		p.m.wild = append(p.m.wild, s)
		if s.Scheme == SchemeTopic {
			lead = lead[:slices.IndexFunc(lead, func(l string) bool { return l == "+" || l == "#" })]
		} else {
			lead = strings.Split(s.Topic[:strings.IndexAny(s.Topic, "*?")], "/")
			lead = lead[:len(lead)-1]
		}
	}
	x := p.m.get(lead, p.now())
	x.subs = append(x.subs, s)
	p.done(x)
}

func (p *play) unsubscribe(t *rapid.T) {
	if len(p.subs) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.subs)-1).Draw(t, "sub")
	s := p.subs[i]
	p.subs = slices.Delete(p.subs, i, i+1)
	p.tr.Unsubscribe(s)
	is := func(o *Sub) bool { return o == s }
	p.m.wild = slices.DeleteFunc(p.m.wild, is)
	for _, x := range p.m.topics {
		x.subs = slices.DeleteFunc(x.subs, is)
	}
	p.m.settle(p.now())
}

func (p *play) pass(t *rapid.T) {
	p.clk.Advance(time.Duration(rapid.IntRange(1, 25).Draw(t, "tenths")) * time.Second / 10)
	for len(p.tr.ExpireRetained(p.now(), 1)) > 0 {
	}
	p.m.expire(p.now())
	for p.tr.Reap(p.now(), 1) > 0 {
	}
	p.m.reap(p.now())
}

func (p *play) life(t *rapid.T) {
	p.m.life = time.Duration(rapid.IntRange(0, 3).Draw(t, "life")) * time.Second
	p.tr.SetLife(p.m.life)
}

// check compares everything that can be seen.
func (p *play) check(t *rapid.T) {
	must2(t, p.tr.Check())
	if p.tr.Count() != len(p.m.topics) {
		t.Fatalf("TPCOUNT %d, model %d", p.tr.Count(), len(p.m.topics))
	}
	if p.tr.SubCount() != len(p.subs) {
		t.Fatalf("SUBCOUNT %d, model %d", p.tr.SubCount(), len(p.subs))
	}
	topic := genTopic.Draw(t, "published")
	for range 2 { // the second time from the cache
		got, want := p.tr.Match(nil, topic), p.m.match(topic)
		for i := range got {
			if i > 0 && got[i].Level > got[i-1].Level {
				t.Fatalf("levels of matches of %q rise", topic)
			}
		}
		same := func(a, b *Sub) int { return strings.Compare(fmt.Sprintf("%p", a), fmt.Sprintf("%p", b)) }
		slices.SortFunc(got, same)
		slices.SortFunc(want, same)
		if !slices.Equal(got, want) {
			t.Fatalf("%q goes to %d subscriptions, model %d", topic, len(got), len(want))
		}
	}
	p.checkStatus(t)
}

func (p *play) checkStatus(t *rapid.T) {
	f, err := ParseFilter(genFilter.Draw(t, "shown"), SchemeTopic)
	must2(t, err)
	var got, want []string
	for pg := (Page{Limit: rapid.IntRange(1, 4).Draw(t, "page")}); !pg.Done(); {
		var rows []Row
		rows, pg = p.tr.Status(f, StatusTopic, pg)
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%q %q %d %t", r.Topic, r.Admin, r.PubCount, r.Retained))
		}
	}
	for k, x := range p.m.topics {
		if lv := unkey(k); naiveMatch(levelsOf(f.text), lv) {
			want = append(want, fmt.Sprintf("%q %q %d %t", strings.Join(lv, "/"), x.object, len(x.pubs), x.retained != 0 && !x.gone(p.now())))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("TPSTATUS(%s):\n got %s\nwant %s", f, got, want)
	}
}

func must2(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func TestHistoriesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clk := clock.NewFake(time.Unix(1_700_000_000, 0))
		life := 2 * time.Second
		p := &play{T: t, clk: clk, tr: New(Options{Clock: clk, Life: life})}
		p.m = &model{topics: map[string]*modelTopic{"root": {}}, life: life}
		t.Repeat(map[string]func(*rapid.T){
			"object": p.object, "unobject": p.unobject, "touch": p.touch, "retain": p.retain, "clear": p.clear,
			"open": p.open, "close": p.close, "subscribe": p.subscribe, "unsubscribe": p.unsubscribe, "pass": p.pass,
			"life": p.life, "": p.check,
		})
	})
}
