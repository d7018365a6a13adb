package qmgr

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Random histories of publish, retain, subscribe, close, clear, time and restart, against a model of the rules.

var (
	psTopics  = []string{"a", "a/b", "a/b/c", "x", "x//y"}
	psFilters = []string{"a", "a/b", "a/+", "a/#", "#", "x//y", "+/b/c"}
)

const psLife = 100 // TREELIFE, seconds

type psMsg struct {
	text      string
	pers      bool
	committed bool
	expires   time.Time
}

type psRetained struct {
	text    string
	pers    bool
	expires time.Time
}

// psLate is a retained publication of the open unit of work, with the subscriptions that it was put for.
type psLate struct {
	topic string
	msg   psMsg
	had   map[*psSub]bool
}

// psSub is a subscription of the model with the handles that the application has.
type psSub struct {
	filter      string
	durable     bool
	name        string
	open        bool
	newOnly     bool
	queue, hsub Handle
	msgs        []*psMsg
}

// psPub is an open handle for output.
type psPub struct {
	topic string
	h     Handle
}

type psModel struct {
	*psRig
	rt       *rapid.T
	subs     []*psSub
	retained map[string]psRetained
	pending  map[string]psRetained // retained publications of the open unit of work
	unit     []psLate              // the same, in order, for subscriptions that are made before the commit
	used     map[string]time.Time  // topic → when it was last used by a publication
	pubs     []psPub               // open handles for output
	n        int
}

func (m *psModel) matches(filter, topic string) bool {
	f, err := pubsub.ParseFilter(filter, pubsub.SchemeTopic)
	if err != nil {
		m.rt.Fatalf("%s: %v", filter, err)
	}
	return f.Match(topic)
}

func (m *psModel) forget() {
	for t, r := range m.retained {
		if !r.expires.IsZero() && !r.expires.After(m.clk.Now()) {
			delete(m.retained, t)
		}
	}
}

func (m *psModel) step() {
	rt := m.rt
	switch op := rapid.IntRange(0, 26).Draw(rt, "op"); {
	case op > 23:
		m.publisher()
	case op < 10:
		m.publish()
	case op < 13:
		m.subscribe()
	case op < 15:
		m.closeOne()
	case op == 15:
		f := rapid.SampledFrom(psFilters).Draw(rt, "clear")
		clearOneByOne = rapid.SampledFrom([]int{0, 5000}).Draw(rt, "one by one")
		m.ok("CLEAR TOPICSTR('" + f + "') CLRTYPE(RETAINED)")
		for t := range m.retained {
			if m.matches(f, t) {
				delete(m.retained, t)
			}
		}
	case op < 18:
		commit := rapid.Bool().Draw(rt, "commit")
		m.endUnit(commit)
	case op < 21:
		m.pass(time.Duration(rapid.IntRange(1, 60).Draw(rt, "seconds")) * time.Second)
	case op == 21:
		m.drain()
	default:
		if rapid.IntRange(0, 2).Draw(rt, "restart") == 0 {
			m.again(store.StopMode(rapid.IntRange(0, 2).Draw(rt, "mode")))
		}
	}
	m.forget()
	m.compare()
}

func (m *psModel) publish() {
	rt := m.rt
	topic := rapid.SampledFrom(psTopics).Draw(rt, "topic")
	m.n++
	msg := psMsg{text: fmt.Sprint("m", m.n), pers: rapid.Bool().Draw(rt, "pers"), committed: true}
	retain, sync := rapid.IntRange(0, 2).Draw(rt, "retain") == 0, rapid.IntRange(0, 3).Draw(rt, "sync") == 0
	expiry := rapid.IntRange(0, 3).Draw(rt, "expiry") == 0 && retain
	opts := int32(0)
	if retain {
		opts |= mqi.MQPMO_RETAIN
	}
	if sync {
		opts |= mqi.MQPMO_SYNCPOINT
		msg.committed = false
	}
	kept := psRetained{text: msg.text, pers: msg.pers}
	err := tryPub(m.c, topic, msg.text, opts, func(md *mqi.MD) {
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		if msg.pers {
			md.Persistence = mqi.MQPER_PERSISTENT
		}
		if expiry {
			md.Expiry = 300
			kept.expires = m.clk.Now().Add(30 * time.Second)
		}
	})
	wantRC(rt, err, 0)
	m.used[topic] = m.clk.Now()
	msg.expires = kept.expires
	had := map[*psSub]bool{}
	for _, s := range m.subs {
		if m.matches(s.filter, topic) {
			c := msg
			s.msgs = append(s.msgs, &c)
			had[s] = true
		}
	}
	switch {
	case retain && sync:
		m.pending[topic] = kept
		m.unit = append(m.unit, psLate{topic, msg, had})
	case retain:
		m.retained[topic] = kept
	}
}

// publisher opens a topic for output, or closes one.
func (m *psModel) publisher() {
	if n := len(m.pubs); n > 0 && (n == 4 || rapid.Bool().Draw(m.rt, "close")) {
		i := rapid.IntRange(0, n-1).Draw(m.rt, "publisher")
		p := m.pubs[i]
		wantRC(m.rt, m.c.Close(bg, p.h, 0), 0)
		m.pubs = append(m.pubs[:i], m.pubs[i+1:]...)
		m.used[p.topic] = m.clk.Now()
		return
	}
	topic := rapid.SampledFrom(psTopics).Draw(m.rt, "topic")
	h, err := m.c.Open(bg, topicOD(topic), mqi.MQOO_OUTPUT)
	wantRC(m.rt, err, 0)
	m.pubs = append(m.pubs, psPub{topic, h})
}

func (m *psModel) endUnit(commit bool) {
	if commit {
		wantRC(m.rt, m.c.Commit(bg), 0)
	} else {
		wantRC(m.rt, m.c.Backout(bg), 0)
	}
	for t, r := range m.pending {
		if commit {
			m.retained[t] = r
		}
	}
	for _, l := range m.unit {
		for _, s := range m.subs {
			if commit && !l.had[s] && !s.newOnly && m.matches(s.filter, l.topic) {
				c := l.msg
				s.msgs = append(s.msgs, &c)
			}
		}
	}
	m.pending, m.unit = map[string]psRetained{}, nil
	for _, s := range m.subs {
		s.msgs = keepMsgs(s.msgs, func(x *psMsg) bool {
			was := x.committed
			x.committed = x.committed || commit
			return was || commit
		})
	}
}

func keepMsgs(in []*psMsg, keep func(*psMsg) bool) []*psMsg {
	out := in[:0]
	for _, x := range in {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func (m *psModel) subscribe() {
	rt := m.rt
	for _, s := range m.subs { // resume one that is closed
		if s.durable && !s.open && rapid.Bool().Draw(rt, "resume") {
			var err error
			s.queue, s.hsub, err = m.c.Subscribe(bg, subSD(s.filter, resume|managed|durable, named(s.name)), 0)
			wantRC(rt, err, 0)
			s.open = true
			return
		}
	}
	if len(m.subs) >= 6 {
		return
	}
	m.n++
	s := &psSub{filter: rapid.SampledFrom(psFilters).Draw(rt, "filter"), durable: rapid.Bool().Draw(rt, "durable"),
		name: fmt.Sprint("S", m.n), open: true}
	opts := int32(create | managed)
	if s.durable {
		opts |= durable
	}
	fresh := rapid.Bool().Draw(rt, "new only")
	if fresh {
		opts |= mqi.MQSO_NEW_PUBLICATIONS_ONLY
		s.newOnly = true
	}
	var err error
	s.queue, s.hsub, err = m.c.Subscribe(bg, subSD(s.filter, opts, named(s.name)), 0)
	wantRC(rt, err, 0)
	want := map[string]bool{}
	for t, r := range m.retained {
		if !fresh && m.matches(s.filter, t) {
			want[r.text] = true
		}
	}
	// They come in the order of the tree, which is not the model's business.
	for range len(want) {
		text, _, err := tryGet(m.c, s.queue, 0)
		if err != nil || !want[text] {
			rt.Fatalf("new subscription to %s got %q (%v), retained %v", s.filter, text, err, want)
		}
		delete(want, text)
	}
	m.subs = append(m.subs, s)
}

func (m *psModel) closeOne() {
	if len(m.subs) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.subs)-1).Draw(m.rt, "which")
	s := m.subs[i]
	if !s.open {
		return
	}
	remove := !s.durable || rapid.Bool().Draw(m.rt, "remove")
	opts := int32(mqi.MQCO_NONE)
	if remove {
		opts = mqi.MQCO_REMOVE_SUB
	}
	wantRC(m.rt, m.c.Close(bg, s.hsub, opts), 0)
	wantRC(m.rt, m.c.Close(bg, s.queue, 0), 0)
	s.open = false
	if remove {
		m.subs = append(m.subs[:i], m.subs[i+1:]...)
	}
}

// drain compares what is on the queues of open subscriptions.
func (m *psModel) drain() {
	for _, s := range m.subs {
		if !s.open {
			continue
		}
		var want []string
		s.msgs = keepMsgs(s.msgs, func(x *psMsg) bool {
			if x.committed && (x.expires.IsZero() || x.expires.After(m.clk.Now())) {
				want = append(want, x.text)
			}
			return !x.committed
		})
		if got := m.all(m.c, s.queue); got != strings.Join(want, " ") {
			m.rt.Fatalf("subscription %s to %s has %q, want %q", s.name, s.filter, got, want)
		}
	}
}

func (m *psModel) again(mode store.StopMode) {
	m.restart(mode)
	m.pending, m.unit = map[string]psRetained{}, nil
	m.used, m.pubs = map[string]time.Time{}, nil
	for t, r := range m.retained {
		if !r.pers {
			delete(m.retained, t)
		}
	}
	left := m.subs[:0]
	for _, s := range m.subs {
		if !s.durable {
			continue
		}
		s.open = false
		s.msgs = keepMsgs(s.msgs, func(x *psMsg) bool { return x.committed && x.pers })
		left = append(left, s)
	}
	m.subs = left
}

// compare looks at what an operator sees.
func (m *psModel) compare() {
	rt := m.rt
	tree := m.m.topics.tree
	if err := tree.Check(); err != nil {
		rt.Fatalf("topic tree: %v", err)
	}
	if n := tree.SubCount(); n != len(m.subs) {
		rt.Fatalf("SUBCOUNT %d, want %d", n, len(m.subs))
	}
	need := map[string]bool{}
	for t := range m.retained {
		need[t] = true
	}
	for _, s := range m.subs {
		if !strings.ContainsAny(s.filter, "#+") {
			need[s.filter] = true
		}
	}
	for _, p := range m.pubs {
		need[p.topic] = true
	}
	for _, t := range psTopics {
		_, has := m.retained[t]
		if _, is := tree.Retained(t); is != has {
			rt.Fatalf("%s retained: %t, want %t", t, !has, has)
		}
		at, was := m.used[t]
		there := tree.Has(t)
		switch {
		case need[t] && !there, was && m.clk.Now().Sub(at) < psLife*time.Second && !there:
			rt.Fatalf("%s is not there", t)
		}
	}
	var names []string
	for _, s := range m.subs {
		names = append(names, s.name)
	}
	sort.Strings(names)
	var got []string
	for _, o := range m.m.list("S*", ClassSub) {
		if o.Name != templateSub {
			got = append(got, o.Name)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		rt.Fatalf("subscriptions %v, want %v", got, names)
	}
}

func runPubsubHistory(t *testing.T, rt *rapid.T, dir string, steps int) {
	r := &psRig{dir: dir}
	r.objRig = newObjRig(t, func(o *Options) { o.Store = openTestStore(t, dir) })
	defer func() {
		ctx, cancel := contextDone()
		defer cancel()
		_ = r.m.Stop(ctx, store.Preempt)
	}()
	r.c = r.connect("app")
	r.life(psLife)
	m := &psModel{psRig: r, rt: rt, retained: map[string]psRetained{}, pending: map[string]psRetained{}, used: map[string]time.Time{}}
	for range steps {
		m.step()
	}
	m.endUnit(true)
	m.drain()
	// A topic that nothing needs goes.
	m.pass(psLife * 4 * time.Second)
	for range 4 {
		m.pass(psLife * time.Second)
	}
	m.forget()
	m.used = map[string]time.Time{}
	m.compare()
	for _, topic := range psTopics {
		if len(m.subs) == 0 && len(m.retained) == 0 && len(m.pubs) == 0 && r.m.topics.tree.Has(topic) {
			rt.Fatalf("%s is still there", topic)
		}
	}
}

func TestPubsubHistory(t *testing.T) {
	setClearOneByOne(t, clearOneByOne) // changes in between
	n := 0
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		if n++; n > 40 {
			return // each run syncs a few hundred times
		}
		runPubsubHistory(t, rt, filepath.Join(dir, fmt.Sprint(n)), 60)
	})
}
