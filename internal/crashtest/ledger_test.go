package crashtest

import (
	"fmt"
	"strings"
	"sync"
)

// ledger is the oracle of T-KILL: what every client asked for and what it was answered.
type ledger struct {
	mu      sync.Mutex
	msgs    map[string]*entry
	anon    map[string]int // by queue: gets outside syncpoint without an answer; each may have taken a message
	errs    []string
	things  map[string]thing  // objects and subscriptions
	retains map[string]string // topic → acknowledged
	tries   map[string]string // topic → in flight

	puts, gets, commits, backouts, pubs, defs int // acknowledged
}

type entry struct {
	id, queue string
	put, got  *lunit
	seen      bool // somebody was given it
}

// lunit is a unit of work, or a put outside of one.
type lunit struct {
	state      lstate
	puts, gets []*entry
}

type lstate int

const (
	unitOpen       lstate = iota // commit was not asked for: a kill undoes it
	unitCommitting               // asked for, not answered: either way, but whole
	unitDone
	unitUndone // backout was asked for
)

// thing is whether a named thing is there.
type thing struct {
	there, either bool
	value         string // DESCR; of one that may be changed, the acknowledged one
	try           string // in flight
}

func newLedger() *ledger {
	return &ledger{msgs: map[string]*entry{}, anon: map[string]int{}, things: map[string]thing{}, retains: map[string]string{},
		tries: map[string]string{}}
}

func (l *ledger) wrong(format string, args ...any) {
	if len(l.errs) < 20 {
		l.errs = append(l.errs, fmt.Sprintf(format, args...))
	}
}

// sending notes a put before it is sent.
func (l *ledger) sending(queue, id string, u *lunit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &entry{id: id, queue: queue, put: u}
	l.msgs[id] = e
	u.puts = append(u.puts, e)
}

func (l *ledger) to(u *lunit, s lstate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u.state = s
	if s != unitDone {
		return
	}
	l.puts += len(u.puts)
	l.gets += len(u.gets)
}

func (l *ledger) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

func (l *ledger) asking(queue string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anon[queue] += n
}

// received notes what a get was given.
func (l *ledger) received(queue string, body []byte, u *lunit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(queue, body)
	if e == nil {
		return
	}
	switch {
	case e.put.state == unitOpen || e.put.state == unitUndone:
		l.wrong("%s was got, but its put was never committed", e.id)
	case e.got != nil && e.got.state != unitUndone:
		l.wrong("%s was got twice", e.id)
	}
	e.got, e.seen = u, true
	u.gets = append(u.gets, e)
}

// entry finds whose a body is, and checks that it is whole. l.mu is held.
func (l *ledger) entry(queue string, body []byte) *entry {
	id, rest, _ := strings.Cut(string(body), "|")
	e := l.msgs[id]
	switch {
	case e == nil:
		l.wrong("%s: a message nobody put: %.60q", queue, body)
		return nil
	case e.queue != queue:
		l.wrong("%s: %s was put to %s", queue, id, e.queue)
	case rest != filler(id, len(rest)) || len(rest) != bodySize(id):
		l.wrong("%s: %s is torn: %d bytes of %d", queue, id, len(rest), bodySize(id))
	}
	return e
}

// bodySize belongs to an id: most are small, some span several log frames or need a file of their own.
func bodySize(id string) int {
	h := 0
	for _, c := range id {
		h = h*131 + int(c)
	}
	h &= 1<<30 - 1
	switch {
	case h%97 == 0:
		return 300 << 10
	case h%23 == 0:
		return 70 << 10
	}
	return h % 4000
}

// settle compares what a start found with the ledger, and makes that the ledger of the next round. found has the bodies
// by queue, in order.
func (l *ledger) settle(found map[string][][]byte) {
	there := map[*entry]bool{}
	for q, bodies := range found {
		last := map[string]int{}
		for _, b := range bodies {
			e := l.entry(q, b)
			if e == nil {
				continue
			}
			if there[e] {
				l.wrong("%s is there twice", e.id)
			}
			there[e] = true
			var n int
			at := strings.LastIndexByte(e.id, '.')
			_, _ = fmt.Sscan(e.id[at+1:], &n)
			if before, ok := last[e.id[:at]]; ok && n < before {
				l.wrong("%s: %s comes behind number %d", q, e.id, before)
			}
			last[e.id[:at]] = n
		}
	}
	missing := map[string][]string{}
	units := map[*lunit]bool{}
	for _, e := range l.msgs {
		l.settleMessage(e, there[e], missing)
		units[e.put] = true
		if e.got != nil {
			units[e.got] = true
		}
	}
	for u := range units {
		if u.state == unitCommitting {
			l.settleUnit(u, there, missing)
		}
	}
	for q, ids := range missing {
		if len(ids) > l.anon[q] {
			l.wrong("%s: acknowledged and lost: %q; only %d gets are without an answer", q, ids[:min(len(ids), 9)], l.anon[q])
		}
	}
	l.msgs = map[string]*entry{}
	for e := range there {
		e.put, e.got, e.seen = &lunit{state: unitDone}, nil, false
		l.msgs[e.id] = e
	}
	clear(l.anon)
}

func (l *ledger) settleMessage(e *entry, there bool, missing map[string][]string) {
	taken := e.got != nil && (e.got.state == unitDone || e.got.state == unitCommitting)
	switch {
	case there && (e.put.state == unitOpen || e.put.state == unitUndone):
		l.wrong("%s is there, but its put was never committed", e.id)
	case there && e.got != nil && e.got.state == unitDone:
		l.wrong("%s is there, but its get was acknowledged", e.id)
	case !there && e.put.state == unitDone && !taken:
		missing[e.queue] = append(missing[e.queue], e.id)
	}
}

// settleUnit: a unit whose commit was not answered is there as a whole, or not at all.
func (l *ledger) settleUnit(u *lunit, there map[*entry]bool, missing map[string][]string) {
	var yes, no, soft []*entry
	for _, e := range u.puts {
		taken := e.got != nil && (e.got.state == unitDone || e.got.state == unitCommitting)
		switch {
		case there[e] || e.seen:
			yes = append(yes, e)
			if !there[e] && !taken {
				missing[e.queue] = append(missing[e.queue], e.id)
			}
		default:
			soft = append(soft, e) // or a get without an answer has taken it
		}
	}
	for _, e := range u.gets {
		if there[e] {
			no = append(no, e)
		} else {
			yes = append(yes, e)
		}
	}
	if len(yes) == 0 {
		return
	}
	if len(no) > 0 {
		l.wrong("half a unit of work: %s is done, %s is not", yes[0].id, no[0].id)
	}
	for _, e := range soft {
		missing[e.queue] = append(missing[e.queue], e.id)
	}
}

// settleThings compares names and values that were found.
func (l *ledger) settleThings(kind string, found map[string]string) {
	for name, v := range found {
		x, ok := l.things[kind+name]
		switch {
		case !ok:
			l.wrong("%s%s: nobody made it", kind, name)
		case !x.there && !x.either:
			l.wrong("%s%s: deleted, and there again", kind, name)
		case v != x.value && (x.try == "" || v != x.try):
			l.wrong("%s%s: it has %q, acknowledged was %q and in flight %q", kind, name, v, x.value, x.try)
		}
		l.things[kind+name] = thing{there: true, value: v}
	}
	for name, x := range l.things {
		short, ok := strings.CutPrefix(name, kind)
		if _, is := found[short]; !ok || is {
			continue
		}
		if x.there && !x.either {
			l.wrong("%s: acknowledged and lost", name)
		}
		delete(l.things, name)
	}
}

// settleRetained compares what is retained; a publication in flight is retained if, and only if, the subscription to
// everything has it.
func (l *ledger) settleRetained(found map[string]string) {
	for topic, id := range l.tries {
		_, sent := l.msgs[id]
		switch got := found[topic]; {
		case got == id && !sent:
			l.wrong("%s: %s is retained, but was not sent to the subscription", topic, id)
		case got != id && sent:
			l.wrong("%s: %s was sent to the subscription, but %q is retained", topic, id, got)
		case got == id:
			l.retains[topic] = id
		}
	}
	clear(l.tries)
	for topic, id := range found {
		if l.retains[topic] != id {
			l.wrong("%s: %s is retained, acknowledged was %q", topic, id, l.retains[topic])
		}
	}
	for topic, id := range l.retains {
		if found[topic] == "" {
			l.wrong("%s: %s was retained and is lost", topic, id)
		}
	}
}
