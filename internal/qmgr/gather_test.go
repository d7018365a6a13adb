package qmgr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// reader is a subscriber whose get waits for room messages without a goroutine.
type reader struct {
	taker
	room int
	seen *[]string // by all readers, in order
}

func (x *reader) Take(by any, body []byte, total int, err error) {
	x.got = append(x.got, string(body))
	*x.seen = append(*x.seen, string(body))
	if x.room--; x.room == 0 {
		x.w.Cancel()
	}
}

// reads subscribes, and waits for room messages.
func (r *psRig) reads(topic string, room int, seen *[]string) (*reader, *Conn) {
	r.t.Helper()
	c := r.connect("reader")
	q, _ := r.managed(c, topic, 0)
	x := &reader{taker: taker{h: q}, room: room, seen: seen}
	x.w = c.NewWaiting(x)
	x.md, x.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
	x.gmo.Options, x.gmo.WaitInterval = mqi.MQGMO_WAIT, -1
	if _, _, s, err := x.w.Get(x.h, &x.md, &x.gmo, 100); s != GetWaits {
		r.t.Fatal(s, err)
	}
	return x, c
}

// gathers publishes as a door does that has more to come. The body is the door's, which uses it again afterwards.
func (r *psRig) gathers(h Handle, change func(*mqi.PMO), texts ...string) [][]byte {
	r.t.Helper()
	var lent [][]byte
	for _, s := range texts {
		md, pmo, body := mqi.DefaultMD(), mqi.DefaultPMO(), []byte(s)
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		pmo.Options = mqi.MQPMO_ASYNC_RESPONSE
		if change != nil {
			change(&pmo)
		}
		r.c.Gather()
		wantRC(r.t, r.c.PutBy(bg, r, h, &md, &pmo, body, true), 0)
		lent = append(lent, body)
	}
	return lent
}

// Nothing of what is gathered is lost or overtaken: not for who reads all at once, nor for who does so at first only, nor for who never
// waits.
func TestGather(t *testing.T) {
	r := newPSRig(t)
	var seen []string
	all, _ := r.reads("t", 100, &seen)
	some, c2 := r.reads("t", 2, &seen)
	c3 := r.connect("late")
	q3, _ := r.managed(c3, "t", 0)
	h := r.openTopic(r.c, "t")
	lent := r.gathers(h, nil, "a", "b", "c", "d")
	if r.c.Gathered() != 4 || len(seen) > 0 {
		t.Fatalf("%d are gathered, %q were sent", r.c.Gathered(), seen)
	}
	wantRC(t, r.c.Deliver(r), 0)
	for _, b := range lent {
		b[0] = '!'
	}
	if got := strings.Join(seen, " "); got != "a b c d a b" {
		t.Errorf("%s were handed over", got)
	}
	if got := strings.Join(some.got, " ") + " " + r.all(c2, some.h); got != "a b c d" {
		t.Errorf("one who read two at first has %s", got)
	}
	if got := r.all(c3, q3); got != "a b c d" {
		t.Errorf("one who did not wait has %s", got)
	}
	if len(all.got) != 4 || r.c.Gathered() != 0 {
		t.Errorf("the one who waits has %q, %d are left", all.got, r.c.Gathered())
	}
	sts, err := r.c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR)
	if wantRC(t, err, 0); sts.PutSuccessCount != 4 || sts.PutFailureCount != 0 {
		t.Errorf("MQSTAT says %d and %d", sts.PutSuccessCount, sts.PutFailureCount)
	}
}

// What is not taken along comes behind what was gathered before.
func TestGatherKeepsOrder(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(S) TOPICSTR('#') DEST(Q)")
	c := r.connect("other")
	qc, err := c.Open(bg, &mqi.OD{Version: 1, ObjectType: mqi.MQOT_Q, ObjectName: "Q"}, mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	q, err := r.c.Open(bg, &mqi.OD{Version: 1, ObjectType: mqi.MQOT_Q, ObjectName: "Q"}, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	t1, t2 := r.openTopic(r.c, "one"), r.openTopic(r.c, "two")
	r.gathers(t1, nil, "1", "2")
	r.gathers(t2, nil, "3") // the same subscriptions
	r.gathers(q, nil, "4")  // a queue
	r.gathers(t1, nil, "5")
	r.gathers(t1, func(p *mqi.PMO) { p.Options = 0 }, "6") // with an answer
	r.gathers(t2, nil, "7")
	s, _ := r.managed(c, "two", 0) // other subscriptions from here on
	r.gathers(t2, nil, "8")
	r.gathers(t1, func(p *mqi.PMO) { p.Options |= mqi.MQPMO_SYNCPOINT }, "9")
	if r.c.Gathered() != 0 {
		t.Errorf("%d wait beside a unit of work", r.c.Gathered())
	}
	wantRC(t, r.c.Deliver(r), 0)
	wantRC(t, r.c.Commit(bg), 0)
	if got := r.all(c, qc); got != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("the queue has %s", got)
	}
	if got := r.all(c, s); got != "8" {
		t.Errorf("the later subscription has %s", got)
	}
}

// As many as are gathered at most go out by themselves.
func TestGatherIsBounded(t *testing.T) {
	r := newPSRig(t)
	c := r.connect("other")
	q, _ := r.managed(c, "t", 0)
	h := r.openTopic(r.c, "t")
	var want []string
	for i := range 3 * gatherMost {
		want = append(want, fmt.Sprint(i))
		r.gathers(h, nil, want[i])
		if n := r.c.Gathered(); n > gatherMost {
			t.Fatalf("%d are gathered", n)
		}
	}
	wantRC(t, r.c.Deliver(r), 0)
	if got := r.all(c, q); got != strings.Join(want, " ") {
		t.Errorf("the subscriber has %s", got)
	}
}

// With many subscribers the copies are what is bounded: twenty publications to a thousand go out together, a hundred do not.
func TestGatheredCopiesAreBounded(t *testing.T) {
	const subs = 1000
	r := newPSRig(t)
	var c *Conn
	var last Handle
	for i := range subs {
		if i%100 == 0 { // MAXHANDS
			c = r.connect("other")
		}
		last, _ = r.managed(c, "t", 0)
	}
	h := r.openTopic(r.c, "t")
	most := 0
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprint(i))
		r.gathers(h, nil, want[i])
		most = max(most, r.c.Gathered())
	}
	wantRC(t, r.c.Deliver(r), 0)
	if most < 20 || (most-1)*subs >= gatherCopies {
		t.Errorf("%d publications were gathered", most)
	}
	if got := r.all(c, last); got != strings.Join(want, " ") {
		t.Errorf("the last subscriber has %s", got)
	}
}

// shy is a reader whose owner is busy the first times that it is asked.
type shy struct {
	*reader
	busyFor int
}

func (x *shy) Own() bool {
	x.busyFor--
	return x.busyFor < 0 && x.reader.Own()
}

// Who could not be handed the first of several is handed none of those behind it: they would overtake it.
func TestGatheredDoNotOvertake(t *testing.T) {
	r := newPSRig(t)
	var seen []string
	c := r.connect("reader")
	q, _ := r.managed(c, "t", 0)
	x := &shy{&reader{taker: taker{h: q}, room: 10, seen: &seen}, 1}
	x.w = c.NewWaiting(x)
	x.md, x.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
	x.gmo.Options, x.gmo.WaitInterval = mqi.MQGMO_WAIT, -1
	if _, _, s, err := x.w.Get(x.h, &x.md, &x.gmo, 100); s != GetWaits {
		t.Fatal(s, err)
	}
	h := r.openTopic(r.c, "t")
	r.gathers(h, nil, "a", "b", "c")
	wantRC(t, r.c.Deliver(r), 0)
	if len(seen) > 0 {
		t.Errorf("%q overtook the first", seen)
	}
	x.w.Cancel()
	if got := r.all(c, q); got != "a b c" {
		t.Errorf("the queue has %q", got)
	}
}

// Copies that the store does not take are failures of their puts, as MQSTAT tells.
func TestGatherFails(t *testing.T) {
	r := newPSRig(t)
	c := r.connect("other")
	r.managed(c, "t", 0)
	h := r.openTopic(r.c, "t")
	r.gathers(h, nil, "a", "b")
	fault := &faultStore{Store: r.m.opt.Store, fail: func(*store.Tx) error { return store.ErrFull }}
	r.m.opt.Store = fault
	if err := r.c.Deliver(r); err == nil {
		t.Error("copies that were refused are said to have been put")
	}
	fault.fail = nil
	sts, err := r.c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR)
	if wantRC(t, err, 0); sts.PutSuccessCount != 0 || sts.PutFailureCount != 2 || sts.Reason == 0 || sts.ObjectName != "t" {
		t.Errorf("MQSTAT says %+v", sts)
	}
}

// A connection that ends leaves nothing of it behind.
func TestGatherOfBrokenConnection(t *testing.T) {
	r := newPSRig(t)
	c := r.connect("other")
	q, _ := r.managed(c, "t", 0)
	h := r.openTopic(r.c, "t")
	r.gathers(h, nil, "a")
	r.c.Break()
	if err := r.c.Deliver(r); err == nil || r.c.Gathered() != 0 {
		t.Errorf("%v, %d are left", err, r.c.Gathered())
	}
	if got := r.all(c, q); got != "" {
		t.Errorf("the subscriber has %s", got)
	}
}
