package crashtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// verb is one step of a history.
type verb struct {
	name string
	// do runs the verb and, when the queue manager answers that it is done, changes the model.
	do func(w *world, m *model, n int) error
	// may are the states that the verb may leave when it is cut short, beside the one before it. n numbers the step.
	may func(m *model, n int) []*model
}

// with gives a changed copy of a model.
func with(m *model, change func(*model)) []*model {
	c := m.clone()
	change(c)
	return []*model{c}
}

// simple is a verb that does one thing, or nothing.
func simple(name string, run func(w *world, m *model, n int) error, change func(m *model, n int)) verb {
	return verb{name: name,
		do: func(w *world, m *model, n int) error {
			if err := run(w, m, n); err != nil {
				return err
			}
			change(m, n)
			return nil
		},
		may: func(m *model, n int) []*model { return with(m, func(c *model) { change(c, n) }) }}
}

func putVerb(name string, options int32, inUnit, persistent bool, size int) verb {
	text := func(n int) string {
		s := fmt.Sprint(name, n)
		if size > 0 {
			s += "|" + filler(s, size)
		}
		return s
	}
	return simple(name, func(w *world, _ *model, n int) error { return w.put("Q1", text(n), options, persistent) },
		func(m *model, n int) {
			m.queues["Q1"] = append(m.queues["Q1"], msg{text: text(n), put: inUnit, volatile: !persistent})
		})
}

func getVerb(name string, options int32, inUnit bool) verb {
	take := func(m *model, _ int) {
		i := m.next("Q1")
		switch {
		case i < 0:
		case inUnit:
			m.queues["Q1"][i].taken = true
		default:
			m.queues["Q1"] = append(m.queues["Q1"][:i:i], m.queues["Q1"][i+1:]...)
		}
	}
	return simple(name, func(w *world, m *model, _ int) error {
		h, err := w.handle("Q1")
		if err != nil {
			return err
		}
		s, err := w.get(h, options)
		if err != nil {
			return err
		}
		want := ""
		if i := m.next("Q1"); i >= 0 {
			want = m.queues["Q1"][i].text
		}
		if s != want {
			return fmt.Errorf("%w: got %q, want %q", errWrong, short(s), short(want))
		}
		return nil
	}, take)
}

// errWrong is an answer that no failure of a disk explains.
var errWrong = fmt.Errorf("a wrong answer")

func topicOf(n int) string { return fmt.Sprint("p/", 1+n%2) }

// subscribeVerb: the subscription and the retained publications that it is given need not arrive together.
func subscribeVerb() verb {
	done := func(m *model, _ int) {
		if m.subs["S1"] {
			return
		}
		m.subs["S1"] = true
		for _, t := range []string{"p/1", "p/2"} {
			if s, ok := m.retained[t]; ok {
				m.queues["Q2"] = append(m.queues["Q2"], msg{text: s})
			}
		}
	}
	v := simple("subscribe", func(w *world, _ *model, _ int) error { return w.subscribe("S1") }, done)
	v.may = func(m *model, n int) []*model {
		if m.subs["S1"] {
			return []*model{m.clone()}
		}
		var out []*model
		for set := range 4 {
			c := m.clone()
			c.subs["S1"] = true
			for i, t := range []string{"p/1", "p/2"} {
				if s, ok := m.retained[t]; ok && set>>i&1 == 1 {
					c.queues["Q2"] = append(c.queues["Q2"], msg{text: s})
				}
			}
			out = append(out, c)
		}
		return out
	}
	return v
}

func commandVerb(name string, text func(n int) string, change func(m *model, n int)) verb {
	return simple(name, func(w *world, _ *model, n int) error { _, err := w.command(text(n)); return err }, change)
}

// theVerbs are the twelve of reliability.md §3.2.
var theVerbs = []verb{
	putVerb("put", mqi.MQPMO_NO_SYNCPOINT, false, true, 0),
	putVerb("uput", mqi.MQPMO_SYNCPOINT, true, true, 0),
	getVerb("get", mqi.MQGMO_NO_SYNCPOINT, false),
	getVerb("uget", mqi.MQGMO_SYNCPOINT, true),
	simple("commit", func(w *world, _ *model, _ int) error { return w.c.Commit(bg) }, func(m *model, _ int) { m.end(true) }),
	simple("backout", func(w *world, _ *model, _ int) error { return w.c.Backout(bg) }, func(m *model, _ int) { m.end(false) }),
	simple("publish", func(w *world, _ *model, n int) error { return w.publish(topicOf(n), fmt.Sprint(topicOf(n), ":", n)) },
		func(m *model, n int) {
			text := fmt.Sprint(topicOf(n), ":", n)
			m.retained[topicOf(n)] = text
			if m.subs["S1"] {
				m.queues["Q2"] = append(m.queues["Q2"], msg{text: text})
			}
		}),
	commandVerb("clear", func(int) string { return "CLEAR TOPICSTR('p/1') CLRTYPE(RETAINED)" },
		func(m *model, _ int) { delete(m.retained, "p/1") }),
	subscribeVerb(),
	commandVerb("define", func(n int) string { return fmt.Sprintf("DEFINE QLOCAL(D%d) DESCR('%d')", n+1, n) },
		func(m *model, n int) { m.objs[fmt.Sprint("D", n+1)] = fmt.Sprint(n) }),
	commandVerb("alter", func(n int) string { return fmt.Sprintf("ALTER QLOCAL(D0) DESCR('a%d')", n) },
		func(m *model, n int) { m.objs["D0"] = fmt.Sprint("a", n) }),
	simple("checkpoint", func(w *world, _ *model, _ int) error { return w.st.Checkpoint(bg) }, func(*model, int) {}),
}

// moreVerbs are those that random histories have beside them: messages too large for a segment or a frame, ones that
// are not persistent, and the ends of what the others make.
var moreVerbs = append([]verb{
	putVerb("large", mqi.MQPMO_NO_SYNCPOINT, false, true, 20<<10),
	putVerb("ularge", mqi.MQPMO_SYNCPOINT, true, true, 9<<10),
	putVerb("npm", mqi.MQPMO_NO_SYNCPOINT, false, false, 0),
	commandVerb("unsubscribe", func(int) string { return "DELETE SUB(S1)" }, func(m *model, _ int) { delete(m.subs, "S1") }),
	simple("empty", func(w *world, _ *model, _ int) error {
		if err := w.release("Q2"); err != nil {
			return err
		}
		_, err := w.command("CLEAR QLOCAL(Q2)")
		return err
	}, func(m *model, _ int) { m.queues["Q2"] = nil }),
}, theVerbs...)

// possible leaves out what would only be refused.
func possible(v *verb, m *model) bool {
	switch v.name {
	case "unsubscribe":
		return m.subs["S1"]
	}
	return true
}

// sequence is the i-th of all sequences of one to three of the twelve verbs.
func sequence(i int) []verb {
	n := len(theVerbs)
	for length, count := 1, n; ; length, count = length+1, count*n {
		if i < count {
			var out []verb
			for range length {
				out = append(out, theVerbs[i%n])
				i /= n
			}
			return out
		}
		i -= count
	}
}

// sequences is how many there are: 12 + 144 + 1,728.
const sequences = 12 + 12*12 + 12*12*12

// history draws a longer one.
func history(rnd *rand.Rand) []verb {
	var out []verb
	for range 4 + rnd.IntN(16) {
		out = append(out, moreVerbs[rnd.IntN(len(moreVerbs))])
	}
	return out
}

func names(vs []verb) (out []string) {
	for i := range vs {
		out = append(out, vs[i].name)
	}
	return out
}
