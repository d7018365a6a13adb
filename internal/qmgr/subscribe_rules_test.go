package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// A subscription takes one handle of MAXHANDS, a managed one two: the last that fits is made, the next is refused and takes none.
func TestSubscriptionsTakeHandles(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("ALTER QMGR MAXHANDS(4)")
	for _, c := range []struct {
		open    int // handles before, with that of Q
		managed bool
		want    mqi.RC
	}{{2, true, 0}, {3, true, mqi.MQRC_HANDLE_NOT_AVAILABLE}, {3, false, 0}, {4, false, mqi.MQRC_HANDLE_NOT_AVAILABLE}} {
		conn := r.connect("app")
		q := openFor(t, conn, "Q", mqi.MQOO_INPUT_SHARED)
		for range c.open - 1 {
			r.openTopic(conn, "T")
		}
		options, h := int32(create), q
		if c.managed {
			options, h = create|managed, 0
		}
		_, _, err := conn.Subscribe(bg, subSD("T", options), h)
		if _, rc := reasonOf(err); rc != c.want {
			t.Errorf("managed %v beside %d handles: reason %d, want %d", c.managed, c.open, rc, c.want)
		}
		if want := c.open; c.want != 0 && conn.openCount() != want {
			t.Errorf("a refused subscription leaves %d handles, want %d", conn.openCount(), want)
		}
	}
}

// The loop that ends subscriptions may come with what it saw before an ALTER SUB: the definition decides, and one that is to live longer
// stays.
func TestEndIsTheDefinitions(t *testing.T) {
	r := newPSRig(t)
	_, hs := r.managed(r.c, "T", 0, named("S"), func(sd *mqi.SD) { sd.SubExpiry = 100 })
	h, err := r.c.handle("test", hs)
	wantRC(t, err, 0)
	o := h.sub.obj
	r.m.endSub(bg, o)
	if r.m.lookup(ClassSub, "S") != o || o.sub.Load() == nil {
		t.Fatal("a subscription with ten seconds to live was ended")
	}
	r.pass(10 * time.Second)
	r.eventually("it ends at its time", func() bool { return r.m.lookup(ClassSub, "S") == nil && o.sub.Load() == nil })
}

// ALTER SUB of something else leaves the end where it was; with EXPIRY it begins anew.
func TestAlterKeepsTheEnd(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	for what, lives := range map[string]bool{"USERDATA('x')": false, "EXPIRY(100)": true, "EXPIRY(200)": true} {
		r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) EXPIRY(100)")
		r.pass(5 * time.Second)
		r.ok("ALTER SUB(S) " + what)
		r.pass(5 * time.Second)
		if !lives {
			r.eventually("it ends ten seconds after its definition", func() bool { return r.m.lookup(ClassSub, "S") == nil })
			continue
		}
		if r.m.lookup(ClassSub, "S") == nil {
			t.Fatalf("ALTER SUB %s: it ended all the same", what)
		}
		r.ok("DELETE SUB(S)")
	}
}

// DESTCORL of DEFINE SUB is that of the copies; 48 zeros keep the publisher's, and without it they have the SUBID.
func TestDestCorrelationOfDefineSub(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	own := strings.Repeat("0", 46) + "2A"
	for given, want := range map[string]string{" DESTCORL('" + own + "')": own, " DESTCORL('" + strings.Repeat("0", 48) + "')": strings.Repeat("0", 46) + "09", "": "SUBID"} {
		r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q)" + given)
		if want == "SUBID" {
			want = r.field("DISPLAY SUB(S) SUBID", "SUBID")
		}
		r.pub("T", "x", 0, func(md *mqi.MD) { md.CorrelID[23] = 9 })
		_, md, err := tryGet(r.c, openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED), 0)
		if got := hexID(md.CorrelID); err != nil || got != want {
			t.Errorf("DEFINE SUB%s: CorrelId %s, %v, want %s", given, got, err, want)
		}
		r.ok("DELETE SUB(S)")
	}
}

// A script that defines a subscription with REPLACE does the same when it runs again, and an export keeps the 48 zeros.
func TestDestCorrelationComesAgain(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	zeros := strings.Repeat("0", 48)
	for range 2 {
		r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) REPLACE")
		r.ok("DEFINE SUB(ZEROS) TOPICSTR('T') DEST(Q) DESTCORL(" + zeros + ") REPLACE")
		id := strings.Fields(r.show("DISPLAY SUB(S) SUBID")[0])[0]
		r.want("DISPLAY SUB(S) DESTCORL", id+" SUB(S) "+strings.Replace(id, "SUBID", "DESTCORL", 1))
	}
	r.ok("ALTER SUB(S) DESTCORL(" + zeros + ")")
	fresh := newObjRig(t)
	if out, res := fresh.script(r.export(ExportOptions{})); res.Failed+res.SyntaxErrors > 0 {
		t.Fatal(failedOnly(out))
	}
	fresh.refuse("AMQ8147E", "DISPLAY SUB(*) DESTCORL WHERE(DESTCORL NE "+zeros+")")
}

// A subscription's name may hold any character; it is shown whole, before a restart and after it.
func TestSubNameOfAnyCharacters(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB('a\x1fb') TOPICSTR('T') DEST(Q)")
	for range 2 {
		rep := r.ok("DISPLAY SUB('a*') SUBUSER")
		for row := range rep.Rows {
			if got := row.Items[1].Val; got != "a\x1fb" {
				t.Errorf("shown as %q", got)
			}
		}
		r.open()
	}
}

// A subscription to a topic of SUBSCOPE(QMGR) is of that scope, as one that asks for it itself.
func TestScopeOfTheTopic(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE TOPIC(HERE) TOPICSTR('here') SUBSCOPE(QMGR)")
	for name, c := range map[string]struct {
		topic   string
		options int32
		want    string
	}{"A": {"here/x", 0, "QMGR"}, "B": {"there", 0, "ALL"}, "C": {"there", mqi.MQSO_SCOPE_QMGR, "QMGR"}} {
		r.managed(r.c, c.topic, c.options, named(name))
		if got := r.field("DISPLAY SUB("+name+") SUBSCOPE", "SUBSCOPE"); got != c.want {
			t.Errorf("%s: SUBSCOPE(%s), want %s", c.topic, got, c.want)
		}
	}
}

// The queue that is given for publications must be as it was when it was opened.
func TestGivenQueueHasChanged(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QLOCAL(Q2)")
	r.ok("DEFINE QALIAS(AL) TARGET(Q)")
	h := openFor(t, r.c, "AL", mqi.MQOO_INPUT_SHARED)
	r.ok("ALTER QALIAS(AL) TARGET(Q2) FORCE")
	_, _, err := r.c.Subscribe(bg, subSD("T", create), h)
	wantRC(t, err, mqi.MQRC_OBJECT_CHANGED)
}

// A string that has wildcards in both schemes is not the same topic in the other one.
func TestResumeInAnotherScheme(t *testing.T) {
	r := newPSRig(t)
	const durable = managed | mqi.MQSO_DURABLE
	_, s, err := r.c.Subscribe(bg, subSD("*/#", create|durable|mqi.MQSO_WILDCARD_CHAR, named("S")), 0)
	wantRC(t, err, 0)
	r.close(r.c, s, 0)
	for scheme, want := range map[int32]mqi.RC{mqi.MQSO_WILDCARD_CHAR: 0, mqi.MQSO_WILDCARD_TOPIC: mqi.MQRC_TOPIC_NOT_ALTERABLE, 0: mqi.MQRC_TOPIC_NOT_ALTERABLE} {
		_, s, err := r.c.Subscribe(bg, subSD("*/#", mqi.MQSO_ALTER|durable|scheme, named("S")), 0)
		wantRC(t, err, want)
		if err == nil {
			r.close(r.c, s, 0)
		}
	}
}

// To resume a subscription its name is enough: what else the descriptor says is not looked at, and comes back as it is.
func TestResumeByName(t *testing.T) {
	const durable = managed | mqi.MQSO_DURABLE
	for what, c := range map[string]struct {
		opts   int32
		change func(*mqi.SD)
	}{
		"durability":      {mqi.MQSO_RESUME | managed, nil},
		"destination":     {mqi.MQSO_RESUME | mqi.MQSO_DURABLE, nil},
		"topic":           {mqi.MQSO_RESUME | durable, func(sd *mqi.SD) { sd.ObjectString = "other" }},
		"topic object":    {mqi.MQSO_RESUME | durable, func(sd *mqi.SD) { sd.ObjectName = "NOWHERE" }},
		"no topic":        {mqi.MQSO_RESUME | durable, func(sd *mqi.SD) { sd.ObjectString = "" }},
		"or made, topic":  {create | mqi.MQSO_RESUME | durable, func(sd *mqi.SD) { sd.ObjectString = "other" }},
		"or made, scheme": {create | mqi.MQSO_RESUME | durable | mqi.MQSO_WILDCARD_CHAR, nil},
	} {
		r := newPSRig(t)
		_, s, err := r.c.Subscribe(bg, subSD("T/#", create|durable, named("S"), func(sd *mqi.SD) { sd.SubUserData = "mine" }), 0)
		wantRC(t, err, 0)
		r.close(r.c, s, 0)
		sd := subSD("T/#", c.opts, named("S"))
		if c.change != nil {
			c.change(sd)
		}
		q, _, err := r.c.Subscribe(bg, sd, 0)
		if err != nil || sd.ResObjectString != "T/#" || sd.ObjectString != "T/#" || sd.SubUserData != "mine" || q == 0 {
			t.Errorf("%s: %v %+v", what, err, sd)
		}
	}
}

// A managed queue without its subscription, as a kill between the removal of the two leaves it, is removed by the next start, for
// good; those of subscriptions stay.
func TestManagedQueueOfNobody(t *testing.T) {
	r := newPSBoltRig(t)
	dest := map[string]string{}
	for _, name := range []string{"GONE", "STAYS"} {
		q, s, err := r.c.Subscribe(bg, subSD("T", create|managed|mqi.MQSO_DURABLE, named(name)), 0)
		wantRC(t, err, 0)
		dest[name] = r.field("DISPLAY SUB("+name+") DEST", "DEST")
		r.close(r.c, s, 0)
		r.close(r.c, q, 0)
	}
	var tx store.Tx
	tx.Unset(tableOf(ClassSub), storeKey(ClassSub, "GONE"))
	if _, err := r.st.Commit(bg, &tx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.restart(store.Immediate)
		for name, there := range map[string]bool{"GONE": false, "STAYS": true} {
			if (r.m.lookup(ClassQueue, dest[name]) != nil) != there {
				t.Errorf("%s: the queue is there: %t", name, !there)
			}
		}
	}
}

// A subscription whose stored selector cannot be read, which only damage does, gets nothing rather than everything.
func TestUnreadableSelectorSelectsNothing(t *testing.T) {
	r := newPSRig(t)
	d, err := newDef("SUB", "S")
	if err != nil {
		t.Fatal(err)
	}
	for text, nothing := range map[string]bool{"": false, "a = 1": false, "a = ": true} {
		d.set("SELECTOR", text)
		if c := r.m.parseSubCfg(d); c.reqOnly != nothing {
			t.Errorf("SELECTOR(%q): gets nothing: %t", text, c.reqOnly)
		}
	}
}

// A command that names a subscription and a SUBID means the one that has both.
func TestNameAndSubID(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(A) TOPICSTR('T') DEST(Q)")
	r.ok("DEFINE SUB(B) TOPICSTR('T') DEST(Q)")
	id := r.field("DISPLAY SUB(B) SUBID", "SUBID")
	r.refuse("AMQ8147E", "DELETE SUB(A) SUBID("+id+")")
	if r.m.lookup(ClassSub, "A") == nil || r.m.lookup(ClassSub, "B") == nil {
		t.Fatal("one of them was deleted")
	}
	r.ok("DELETE SUB(B) SUBID(" + id + ")")
	if r.m.lookup(ClassSub, "A") == nil || r.m.lookup(ClassSub, "B") != nil {
		t.Error("not the one that has both was deleted")
	}
}

// CLROUTE stays while the topic is in a cluster; it may change with the command that takes it out.
func TestRouteOfAClusteredTopic(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE TOPIC(C) TOPICSTR('c') CLUSTER(CL) CLROUTE(TOPICHOST)")
	r.refuse("AMQ8203E", "ALTER TOPIC(C) CLROUTE(DIRECT)")
	r.refuse("AMQ8203E", "ALTER TOPIC(C) CLROUTE(DIRECT) CLUSTER(OTHER)")
	r.ok("ALTER TOPIC(C) CLROUTE(DIRECT) CLUSTER(' ')")
	r.ok("ALTER TOPIC(C) CLROUTE(TOPICHOST)")
	r.ok("ALTER TOPIC(C) CLUSTER(CL)")
	if got := r.field("DISPLAY TPSTATUS('c') CLROUTE", "CLROUTE"); got != "TOPICHOST" {
		t.Errorf("CLROUTE(%s)", got)
	}
}
