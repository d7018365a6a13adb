package crashtest

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// model is what a queue manager must hold, kept beside it verb by verb. It has one connection: its unit of work is
// what is put and got but not committed.
type model struct {
	queues   map[string][]msg
	retained map[string]string // topic → text
	subs     map[string]bool   // durable, on p/#, to Q2
	objs     map[string]string // queues that were defined → DESCR
}

type msg struct {
	text       string
	put, taken bool // in the unit of work
	volatile   bool // not persistent
}

func newModel() *model {
	return &model{queues: map[string][]msg{"Q1": nil, "Q2": nil}, retained: map[string]string{}, subs: map[string]bool{},
		objs: map[string]string{}}
}

func (m *model) clone() *model {
	c := &model{map[string][]msg{}, maps.Clone(m.retained), maps.Clone(m.subs), maps.Clone(m.objs)}
	for q, l := range m.queues {
		c.queues[q] = slices.Clone(l)
	}
	return c
}

// next is the place of the message that a get takes, -1 when there is none.
func (m *model) next(q string) int {
	return slices.IndexFunc(m.queues[q], func(x msg) bool { return !x.put && !x.taken })
}

// end ends the unit of work.
func (m *model) end(commit bool) {
	for q, l := range m.queues {
		out := l[:0:0]
		for _, x := range l {
			if x.put && !commit || x.taken && commit {
				continue
			}
			x.put, x.taken = false, false
			out = append(out, x)
		}
		m.queues[q] = out
	}
}

// restarted is what a crash leaves: no unit of work, nothing that is not persistent.
func (m *model) restarted() *model {
	c := m.clone()
	c.end(false)
	for q, l := range c.queues {
		c.queues[q] = slices.DeleteFunc(l, func(x msg) bool { return x.volatile })
	}
	return c
}

// String is everything that is committed, in one order.
func (m *model) String() string {
	var out []string
	for q, l := range m.queues {
		var texts []string
		for _, x := range l {
			if !x.put && !x.taken {
				texts = append(texts, short(x.text))
			}
		}
		if q == "Q2" { // several retained publications come in any order
			sort.Strings(texts)
		}
		out = append(out, fmt.Sprintf("%s[%s]", q, strings.Join(texts, " ")))
	}
	for k, v := range m.retained {
		out = append(out, fmt.Sprintf("retained %s=%s", k, v))
	}
	for k := range m.subs {
		out = append(out, "sub "+k)
	}
	for k, v := range m.objs {
		out = append(out, fmt.Sprintf("queue %s(%s)", k, v))
	}
	sort.Strings(out)
	return strings.Join(out, "; ")
}

// short stands for a text; a large one is checked byte by byte and then named by its beginning.
func short(s string) string {
	name, rest, large := strings.Cut(s, "|")
	if !large {
		return s
	}
	if rest != filler(name, len(rest)) {
		return name + "|TORN"
	}
	return fmt.Sprintf("%s|%d", name, len(rest))
}

// filler is the body that belongs to a name: a byte that is lost or from elsewhere shows.
func filler(name string, n int) string {
	b := make([]byte, 0, n+len(name)+20)
	for i := int64(0); len(b) < n; i++ {
		b = append(append(strconv.AppendInt(append(b, name...), i, 10), '.'), ',')
	}
	return string(b[:n])
}

// oneOf says whether a state is one of those that may be.
func oneOf(got string, may []*model) error {
	for _, m := range may {
		if m.restarted().String() == got {
			return nil
		}
	}
	var want []string
	for _, m := range may {
		want = append(want, m.restarted().String())
	}
	return fmt.Errorf("there is\n  %s\nand it must be\n  %s", got, strings.Join(want, "\nor\n  "))
}
