package qmgr

import (
	"fmt"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// As the clients of JMS 2 ask: create or alter, managed, any user.
const jmsShared = mqi.MQSO_CREATE | mqi.MQSO_ALTER | mqi.MQSO_MANAGED | mqi.MQSO_ANY_USERID

func shared(sd *mqi.SD) { sd.Shared = true }

// sharer is one application's part in a shared subscription.
type sharer struct {
	c           *Conn
	queue, hsub Handle
}

func (r *psRig) member(user, topic, name string, opts int32, change ...func(*mqi.SD)) sharer {
	r.t.Helper()
	m := sharer{c: r.connect(user)}
	var err error
	sd := subSD(topic, jmsShared|opts, append([]func(*mqi.SD){named(name), shared}, change...)...)
	m.queue, m.hsub, err = m.c.Subscribe(bg, sd, 0)
	wantRC(r.t, err, 0)
	return m
}

func (m sharer) leave(t *testing.T) {
	t.Helper()
	wantRC(t, m.c.Close(bg, m.hsub, 0), 0)
	wantRC(t, m.c.Close(bg, m.queue, 0), 0)
}

// Each publication reaches one member, whichever gets it; the subscription goes on until the last has left.
func TestSharedNondurable(t *testing.T) {
	r := newPSRig(t)
	a := r.member("a", "news/#", "JMS:ND:QM1:C:S", 0)
	b := r.member("b", "news/#", "JMS:ND:QM1:C:S", 0)
	if n := r.m.topics.tree.SubCount(); n != 1 {
		t.Fatalf("%d subscriptions", n)
	}
	seen := map[string]int{}
	for i := range 20 {
		r.pub(fmt.Sprint("news/", i), fmt.Sprint(i), 0)
	}
	for i := range 20 {
		m := []sharer{a, b}[i%2]
		text, _, err := tryGet(m.c, m.queue, mqi.MQGMO_NO_SYNCPOINT)
		wantRC(t, err, 0)
		seen[text]++
	}
	if len(seen) != 20 {
		t.Errorf("20 gets took %d of 20 publications", len(seen))
	}
	for _, m := range []sharer{a, b} {
		_, _, err := tryGet(m.c, m.queue, mqi.MQGMO_NO_SYNCPOINT)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	}

	_, _, err := r.connect("c").Subscribe(bg, subSD("news/#", jmsShared, named("JMS:ND:QM1:C:S")), 0)
	wantRC(t, err, mqi.MQRC_SUBSCRIPTION_IN_USE)

	actconn := func() string { return r.field("DISPLAY TPSTATUS('news') TYPE(SUB) ACTCONN", "ACTCONN") }
	if actconn() != b.c.connHex() {
		t.Errorf("ACTCONN(%s), the latest is %s", actconn(), b.c.connHex())
	}
	b.leave(t)
	if actconn() != a.c.connHex() {
		t.Errorf("ACTCONN(%s), left is %s", actconn(), a.c.connHex())
	}
	c := r.member("c", "news/#", "JMS:ND:QM1:C:S", 0)
	a.leave(t) // who made it
	r.pub("news/late", "late", 0)
	if got := r.all(c.c, c.queue); got != "late" {
		t.Errorf("the last member got %q", got)
	}
	c.c.Break()
	r.eventually("the end with the last member", func() bool {
		return r.m.topics.tree.SubCount() == 0 && len(r.m.list(managedNondurable+"*", ClassQueue)) == 0
	})
}

// A durable one stays when all have left, is the same after a restart, and is removed by one who resumes it alone.
func TestSharedDurable(t *testing.T) {
	r := newPSBoltRig(t)
	const name = "JMS:QM1:C:S"
	a := r.member("a", "d", name, mqi.MQSO_DURABLE)
	b := r.member("b", "d", name, mqi.MQSO_DURABLE)
	wantRC(t, a.c.Close(bg, a.hsub, mqi.MQCO_REMOVE_SUB), mqi.MQRC_SUBSCRIPTION_IN_USE)
	a.leave(t)
	b.leave(t)
	r.pub("d", "kept", 0, func(md *mqi.MD) { md.Persistence = mqi.MQPER_PERSISTENT })
	r.restart(store.Immediate)

	a = r.member("a", "d", name, mqi.MQSO_DURABLE)
	b = r.member("b", "d", name, mqi.MQSO_DURABLE)
	if got := r.all(b.c, b.queue) + r.all(a.c, a.queue); got != "kept" {
		t.Errorf("after the restart: %q", got)
	}
	resume := func(opts int32) (sharer, error) {
		m := sharer{c: r.connect("u")}
		var err error
		m.queue, m.hsub, err = m.c.Subscribe(bg, subSD("", mqi.MQSO_RESUME|mqi.MQSO_DURABLE|mqi.MQSO_MANAGED|opts, named(name)), 0)
		return m, err
	}
	_, err := resume(0)
	wantRC(t, err, mqi.MQRC_SUBSCRIPTION_IN_USE)
	a.leave(t)
	b.leave(t)
	u, err := resume(0)
	wantRC(t, err, 0)
	wantRC(t, u.c.Close(bg, u.hsub, mqi.MQCO_REMOVE_SUB), 0)
	wantRC(t, u.c.Close(bg, u.queue, 0), 0)
	if n := r.m.topics.tree.SubCount(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}

// Who joins must ask for what the subscription is.
func TestSharedMismatch(t *testing.T) {
	r := newPSRig(t)
	r.member("a", "x", "S", 0, func(sd *mqi.SD) { sd.SelectionString = "colour = 'red'" })
	alone := r.connect("a")
	_, _, err := alone.Subscribe(bg, subSD("y", jmsShared|mqi.MQSO_DURABLE, named("ALONE")), 0)
	wantRC(t, err, 0)
	tests := []struct {
		what string
		sd   *mqi.SD
		rc   mqi.RC
	}{
		{"another topic", subSD("z", jmsShared, named("S"), shared), mqi.MQRC_TOPIC_NOT_ALTERABLE},
		{"another selector", subSD("x", jmsShared, named("S"), shared), mqi.MQRC_SELECTOR_NOT_ALTERABLE},
		{"durable", subSD("x", jmsShared|mqi.MQSO_DURABLE, named("S"), shared), mqi.MQRC_DURABILITY_NOT_ALTERABLE},
		{"not shared", subSD("x", jmsShared, named("S"), func(sd *mqi.SD) { sd.SelectionString = "colour = 'red'" }),
			mqi.MQRC_SUBSCRIPTION_IN_USE},
		{"one that is not shared, in use", subSD("y", jmsShared|mqi.MQSO_DURABLE, named("ALONE"), shared),
			mqi.MQRC_SUBSCRIPTION_IN_USE},
	}
	for _, tc := range tests {
		t.Run(tc.what, func(t *testing.T) {
			_, _, err := r.connect("b").Subscribe(bg, tc.sd, 0)
			wantRC(t, err, tc.rc)
		})
	}
	alone.Break()
	r.eventually("nobody has ALONE", func() bool {
		_, _, err := r.connect("b").Subscribe(bg, subSD("y", jmsShared|mqi.MQSO_DURABLE, named("ALONE"), shared), 0)
		_, rc := mqi.Reason(err)
		return rc == mqi.MQRC_SUB_JOIN_NOT_ALTERABLE
	})
}

// CURDEPTH of the queues that stand for the stores counts what is in them, wherever it is asked for.
func TestDepthOfTheStores(t *testing.T) {
	r := newPSBoltRig(t)
	want := func(queue, n string) {
		t.Helper()
		for _, cmd := range []string{"DISPLAY QLOCAL(%s) CURDEPTH", "DISPLAY QSTATUS(%s) CURDEPTH"} {
			if got := r.field(fmt.Sprintf(cmd, queue), "CURDEPTH"); got != n {
				t.Errorf("%s: CURDEPTH(%s), want %s", fmt.Sprintf(cmd, queue), got, n)
			}
		}
		h := openFor(t, r.c, queue, mqi.MQOO_INQUIRE)
		ints, _, err := r.c.Inq(bg, h, []int32{mqi.MQIA_CURRENT_Q_DEPTH}, 1, 0)
		wantRC(t, err, 0)
		if got := fmt.Sprint(ints[0]); got != n {
			t.Errorf("MQINQ of %s: %s, want %s", queue, got, n)
		}
		r.close(r.c, h, 0)
	}
	want(retainedQueue, "0")
	want(durableStore, "1") // SYSTEM.DEFAULT.SUB
	persistent := func(md *mqi.MD) { md.Persistence = mqi.MQPER_PERSISTENT }
	r.pub("a", "1", mqi.MQPMO_RETAIN, persistent)
	r.pub("a", "2", mqi.MQPMO_RETAIN, persistent)
	r.pub("b", "3", mqi.MQPMO_RETAIN)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(S1) TOPICSTR('a') DEST(Q)")
	r.ok("DEFINE SUB(S2) TOPICSTR('#') DEST(Q)")
	r.managed(r.c, "a", 0)
	want(retainedQueue, "2")
	want(durableStore, "3")
	r.restart(store.Immediate)
	want(retainedQueue, "1")
	want(durableStore, "3")
	r.ok("DELETE SUB(S1)")
	r.ok("CLEAR TOPICSTR('#') CLRTYPE(RETAINED)")
	want(retainedQueue, "0")
	want(durableStore, "2")

	r.ok("ALTER QLOCAL(" + durableStore + ") MAXDEPTH(3)")
	sub := func(n string) error {
		_, _, err := r.c.Subscribe(bg, subSD("x", create|managed|durable, named(n)), 0)
		return err
	}
	wantRC(t, sub("ONE"), 0)
	wantRC(t, sub("TWO"), mqi.MQRC_DURABILITY_NOT_ALLOWED)
}

// Who joins while the last member leaves keeps the subscription: the last one's end is decided when nobody can join any more.
func TestJoinWhileTheLastLeaves(t *testing.T) {
	r := newPSRig(t)
	a := r.member("a", "T", "S", 0)
	o := r.m.lookup(ClassSub, "S")
	p := newPending(r.m)
	if _, err := r.m.latch(bg, p, key{ClassSub, "S"}); err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() { left <- a.c.Close(bg, a.hsub, 0) }()
	ps := o.sub.Load()
	r.eventually("the last one has let go", func() bool { return ps.Conn() == "" })
	ps.Owner.(*subState).held.add(ps, "joined", r.clk.Now()) // as MQSUB does under the latch
	p.finish(nil)
	inTime(t, "MQCLOSE", func() { wantRC(t, <-left, 0) })
	if r.m.lookup(ClassSub, "S") != o || o.sub.Load() != ps {
		t.Error("the subscription has ended under the one who joined")
	}
}
