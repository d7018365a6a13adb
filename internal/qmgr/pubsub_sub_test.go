package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

const (
	create  = mqi.MQSO_CREATE
	managed = mqi.MQSO_MANAGED
	durable = mqi.MQSO_DURABLE
	resume  = mqi.MQSO_RESUME
	alter   = mqi.MQSO_ALTER
)

// Options of MQSUB that exclude or need each other, and fields out of range.
func TestSubscribeRefusals(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE TOPIC(OFF) TOPICSTR('off') SUB(DISABLED)")
	r.ok("DEFINE TOPIC(NODUR) TOPICSTR('nodur') DURSUB(NO)")
	r.ok("DEFINE TOPIC(MC) TOPICSTR('mc') MCAST(ONLY)")
	r.ok("DEFINE TOPIC(NOMODEL) TOPICSTR('nomodel') MNDURMDL(NO.SUCH) MDURMDL(SYSTEM.NDURABLE.MODEL.QUEUE)")
	for _, tc := range []struct {
		topic string
		opts  int32
		rc    mqi.RC
		f     func(*mqi.SD)
	}{
		{"a", managed, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", create | managed | 1<<30, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", resume | alter | managed, mqi.MQRC_NO_SUBSCRIPTION, named("nobody")},
		{"a", create | managed | mqi.MQSO_PUBLICATIONS_ON_REQUEST, mqi.MQRC_OPTIONS_ERROR, func(sd *mqi.SD) { sd.SubLevel = 2 }},
		{"a", create | managed | mqi.MQSO_WILDCARD_CHAR | mqi.MQSO_WILDCARD_TOPIC, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", create | managed | mqi.MQSO_ANY_USERID | mqi.MQSO_FIXED_USERID, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", create | managed | mqi.MQSO_GROUP_SUB | mqi.MQSO_SET_CORREL_ID, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", create | mqi.MQSO_GROUP_SUB, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", create | mqi.MQSO_GROUP_SUB | mqi.MQSO_SET_CORREL_ID, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", create | managed | mqi.MQSO_NEW_PUBLICATIONS_ONLY | mqi.MQSO_PUBLICATIONS_ON_REQUEST, mqi.MQRC_OPTIONS_ERROR, nil},
		{"a", resume | managed | mqi.MQSO_NEW_PUBLICATIONS_ONLY, mqi.MQRC_OPTIONS_ERROR, named("n")},
		{"a", create | managed, mqi.MQRC_SD_ERROR, func(sd *mqi.SD) { sd.Version = 2 }},
		{"a", create | managed, mqi.MQRC_SD_ERROR, func(sd *mqi.SD) { sd.SubLevel = 10 }},
		{"a", create | managed, mqi.MQRC_EXPIRY_ERROR, func(sd *mqi.SD) { sd.SubExpiry = 0 }},
		{"a", create | managed, mqi.MQRC_PRIORITY_ERROR, func(sd *mqi.SD) { sd.PubPriority = 10 }},
		{"a", create | managed, mqi.MQRC_SUB_USER_DATA_ERROR, func(sd *mqi.SD) { sd.SubUserData = strings.Repeat("x", 10241) }},
		{"a", create | managed, mqi.MQRC_SUB_NAME_ERROR, named(strings.Repeat("x", 10241))},
		{"a", create | managed | durable, mqi.MQRC_SUB_NAME_ERROR, nil},
		{"a", create | managed, mqi.MQRC_INVALID_SUBSCRIPTION, named("SYSTEM.DEFAULT.SUB")},
		{"a", resume | managed, mqi.MQRC_NO_SUBSCRIPTION, named("nobody")},
		{"a", alter | managed, mqi.MQRC_NO_SUBSCRIPTION, named("nobody")},
		{"a", create, mqi.MQRC_HOBJ_ERROR, nil},
		{"", create | managed, mqi.MQRC_UNKNOWN_OBJECT_NAME, nil},
		{"a", create | managed, mqi.MQRC_UNKNOWN_OBJECT_NAME, func(sd *mqi.SD) { sd.ObjectName = "NO.SUCH" }},
		{"", create | managed, mqi.MQRC_TOPIC_STRING_ERROR, func(sd *mqi.SD) { sd.ObjectName = "SYSTEM.BASE.TOPIC" }},
		{strings.Repeat("x", 10241), create | managed, mqi.MQRC_OBJECT_STRING_ERROR, nil},
		{"a%b", create | managed | mqi.MQSO_WILDCARD_CHAR, mqi.MQRC_TOPIC_STRING_ERROR, nil},
		{"off/x", create | managed, mqi.MQRC_SUB_INHIBITED, nil},
		{"nodur/x", create | managed | durable, mqi.MQRC_DURABILITY_NOT_ALLOWED, named("n")},
		{"mc/x", create | managed, mqi.MQRC_MULTICAST_ONLY, nil},
		{"nomodel", create | managed, mqi.MQRC_INVALID_DESTINATION, nil},
		{"nomodel", create | managed | durable, mqi.MQRC_INVALID_DESTINATION, named("n")},
		{"a", create | managed, mqi.MQRC_SELECTOR_SYNTAX_ERROR, func(sd *mqi.SD) { sd.SelectionString = "a =" }},
		{"a", create | managed, mqi.MQRC_SELECTOR_ALWAYS_FALSE, func(sd *mqi.SD) { sd.SelectionString = "1 = 2" }},
		{"a", create | managed, mqi.MQRC_SELECTION_STRING_ERROR, func(sd *mqi.SD) { sd.SelectionString = "a = '" + strings.Repeat("x", 10240) + "'" }},
		{"a", create | managed, mqi.MQRC_SELECTION_NOT_AVAILABLE, func(sd *mqi.SD) { sd.SelectionString = "Root.XMLNSC.a = 1" }},
	} {
		f := tc.f
		if f == nil {
			f = func(*mqi.SD) {}
		}
		_, _, err := r.c.Subscribe(bg, subSD(tc.topic, tc.opts, f), 0)
		if _, rc := reasonOf(err); rc != tc.rc {
			t.Errorf("MQSUB(%.20q, %x): %d, want %d (%v)", tc.topic, tc.opts, rc, tc.rc, err)
		}
	}
	if n := r.m.topics.tree.SubCount(); n != 0 {
		t.Errorf("%d subscriptions after refusals", n)
	}
	if got := r.show("DISPLAY QLOCAL(SYSTEM.*)"); strings.Contains(strings.Join(got, " "), "MANAGED.ND") {
		t.Error("a managed queue was left behind")
	}
}

// The objects by which an operator stops subscribing: SYSTEM queues, PSMODE.
func TestSubscribeStoresUnusable(t *testing.T) {
	r := newPSRig(t)
	try := func(opts int32) mqi.RC {
		q, s, err := r.c.Subscribe(bg, subSD("a", create|managed|opts, named("n")), 0)
		if err == nil {
			r.close(r.c, s, mqi.MQCO_REMOVE_SUB)
			r.close(r.c, q, 0)
		}
		_, rc := reasonOf(err)
		return rc
	}
	want := func(got, rc mqi.RC) {
		t.Helper()
		if got != rc {
			t.Errorf("reason %d, want %d", got, rc)
		}
	}
	r.ok("ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) PUT(DISABLED)")
	want(try(durable), mqi.MQRC_DURABILITY_NOT_ALLOWED)
	want(try(0), 0)
	r.ok("ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) PUT(ENABLED)")
	want(try(durable), 0)
	r.ok("ALTER QLOCAL(SYSTEM.RETAINED.PUB.QUEUE) GET(DISABLED)")
	want(try(0), mqi.MQRC_RETAINED_MSG_Q_ERROR)
	want(try(mqi.MQSO_NEW_PUBLICATIONS_ONLY), 0)
	r.ok("ALTER QLOCAL(SYSTEM.RETAINED.PUB.QUEUE) GET(ENABLED) PUT(DISABLED)")
	q, _ := r.managed(r.c, "x", 0)
	wantRC(t, tryPub(r.c, "x", "no", mqi.MQPMO_RETAIN), mqi.MQRC_PUT_NOT_RETAINED)
	if got := r.all(r.c, q); got != "" {
		t.Errorf("published all the same: %q", got)
	}
	r.ok("ALTER QMGR PSMODE(DISABLED)")
	want(try(0), mqi.MQRC_PUBSUB_INHIBITED)
	wantRC(t, tryPub(r.c, "x", "no", 0), mqi.MQRC_PUBSUB_INHIBITED)
}

// A managed nondurable subscription and its queue end together, whichever handle is closed first, or with the
// connection.
func TestManagedNondurable(t *testing.T) {
	r := newPSRig(t)
	queues := func() int { return len(r.m.list(managedNondurable+"*", ClassQueue)) }
	sd := subSD("a/b", create|managed, func(sd *mqi.SD) { sd.SubUserData = "hello" })
	q, s, err := r.c.Subscribe(bg, sd, 0)
	wantRC(t, err, 0)
	if sd.ResObjectString != "a/b" || sd.SubCorrelID.IsZero() || queues() != 1 {
		t.Errorf("SD %+v, %d queues", sd, queues())
	}
	r.pub("a/b", "one", 0, persistent, func(md *mqi.MD) { md.Priority, md.CorrelID[0] = 7, 9 })
	got, md, err := tryGet(r.c, q, 0)
	wantRC(t, err, 0)
	if got != "one" || md.CorrelID != sd.SubCorrelID || md.Priority != 7 || md.PutApplType != mqi.MQAT_QMGR_PUBLISH ||
		md.PutApplName != "QM1" || md.UserIdentifier != "app" || md.Persistence != mqi.MQPER_NOT_PERSISTENT {
		t.Errorf("%q %+v", got, md)
	}
	r.pub("a/b", "two", 0)
	r.close(r.c, s, 0)
	r.pub("a/b", "three", 0)
	if got := r.all(r.c, q); got != "two" { // what has come can still be got
		t.Errorf("after MQCLOSE of Hsub: %q", got)
	}
	r.close(r.c, q, 0)
	if queues() != 0 {
		t.Error("the managed queue is left")
	}
	q, s = r.managed(r.c, "a/b", 0)
	r.close(r.c, q, 0)
	r.pub("a/b", "four", 0)
	if queues() != 1 {
		t.Error("the managed queue went before its subscription")
	}
	wantRC(t, r.c.Close(bg, s, mqi.MQCO_KEEP_SUB), mqi.MQRC_OPTIONS_ERROR)
	wantRC(t, r.c.Close(bg, s, mqi.MQCO_DELETE), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	r.close(r.c, s, 0)
	for range 2 {
		c := r.connect("other")
		r.managed(c, "a/b", 0)
		r.managed(c, "a/+", 0, named("with a name"))
		wantRC(t, c.Disconnect(bg), 0)
	}
	if queues() != 0 || r.m.topics.tree.SubCount() != 0 || len(r.m.list("*", ClassSub)) != 1 {
		t.Errorf("left: %d queues, %d subscriptions", queues(), r.m.topics.tree.SubCount())
	}
}

// A durable subscription lives without its application and over restarts; its publications wait.
func TestManagedDurable(t *testing.T) {
	r := newPSBoltRig(t)
	sd := subSD("d/#", create|managed|durable, named("D"), func(sd *mqi.SD) {
		sd.SubUserData, sd.SubLevel, sd.PubPriority, sd.SelectionString = "ud", 3, 4, "JMSPriority > 0"
	})
	_, s, err := r.c.Subscribe(bg, sd, 0)
	wantRC(t, err, 0)
	want := r.show("DISPLAY SUB(D) ALL")
	r.pub("d/1", "p1", 0, persistent, func(md *mqi.MD) { md.Priority = 1 })
	r.pub("d/1", "not selected", 0, persistent)
	r.close(r.c, s, 0)
	r.restart(store.Immediate)
	if got := r.show("DISPLAY SUB(D) ALL"); strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("after restart\n%s\nwant\n%s", got, want)
	}
	r.pub("d/2", "p2", 0, persistent, func(md *mqi.MD) { md.Priority = 1 })
	back := mqi.DefaultSD()
	back.Options, back.SubName = resume|managed|durable, "D"
	q, s, err := r.c.Subscribe(bg, &back, 0)
	wantRC(t, err, 0)
	if back.ResObjectString != "d/#" || back.SubUserData != "ud" || back.SubLevel != 3 || back.PubPriority != 4 ||
		back.SubCorrelID != sd.SubCorrelID || back.SelectionString != sd.SelectionString {
		t.Errorf("resumed: %+v", back)
	}
	if got := r.all(r.c, q); got != "p1 p2" {
		t.Errorf("got %q", got)
	}
	if got := r.field("DISPLAY SBSTATUS(D) ALL", "ACTCONN"); got != connOf(r.c) {
		t.Errorf("ACTCONN(%s)", got)
	}
	other := r.connect("app")
	_, _, err = other.Subscribe(bg, &back, 0)
	wantRC(t, err, mqi.MQRC_SUBSCRIPTION_IN_USE)
	r.refuse("AMQ8148E", "DELETE SUB(D)")
	r.close(r.c, s, mqi.MQCO_REMOVE_SUB)
	r.close(r.c, q, 0)
	if n := len(r.m.list(managedDurable+"*", ClassQueue)); n != 0 || r.m.topics.tree.SubCount() != 0 {
		t.Errorf("left: %d queues", n)
	}
	r.restart(store.Immediate)
	if r.m.lookup(ClassSub, "D") != nil || len(r.m.list(managedDurable+"*", ClassQueue)) != 0 {
		t.Error("the removed subscription is back")
	}
}

// What MQSO_ALTER and MQSO_RESUME may not change.
func TestAlterRefusals(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QLOCAL(Q2)")
	h := openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED)
	h2 := openFor(t, r.c, "Q2", mqi.MQOO_INPUT_SHARED)
	_, s, err := r.c.Subscribe(bg, subSD("t", create|durable|mqi.MQSO_FIXED_USERID, named("U")), h)
	wantRC(t, err, 0)
	r.close(r.c, s, 0)
	_, s = r.managed(r.c, "t", durable, named("M"))
	r.close(r.c, s, 0)
	corr := func(sd *mqi.SD) { sd.SubCorrelID[0] = 5 }
	_, s, err = r.c.Subscribe(bg, subSD("t", create|durable|mqi.MQSO_GROUP_SUB|mqi.MQSO_SET_CORREL_ID, named("G"), corr), h)
	wantRC(t, err, 0)
	_, _, err = r.c.Subscribe(bg, subSD("t", create|durable|mqi.MQSO_GROUP_SUB|mqi.MQSO_SET_CORREL_ID, named("G2"), corr), h)
	wantRC(t, err, mqi.MQRC_DUPLICATE_GROUP_SUB)
	r.close(r.c, s, 0)
	for _, tc := range []struct {
		name string
		opts int32
		h    Handle
		rc   mqi.RC
		f    func(*mqi.SD)
	}{
		{"U", create | durable, h, mqi.MQRC_SUB_ALREADY_EXISTS, nil},
		{"U", alter, h, mqi.MQRC_DURABILITY_NOT_ALTERABLE, nil},
		{"U", alter | durable, h, mqi.MQRC_TOPIC_NOT_ALTERABLE, func(sd *mqi.SD) { sd.ObjectString = "other" }},
		{"U", alter | durable, h, mqi.MQRC_SUBLEVEL_NOT_ALTERABLE, func(sd *mqi.SD) { sd.SubLevel = 2 }},
		{"U", alter | durable | mqi.MQSO_GROUP_SUB | mqi.MQSO_SET_CORREL_ID, h, mqi.MQRC_GROUPING_NOT_ALTERABLE, nil},
		{"G", alter | durable | mqi.MQSO_GROUP_SUB | mqi.MQSO_SET_CORREL_ID, h, mqi.MQRC_GROUPING_NOT_ALTERABLE, nil},
		{"G", alter | durable | mqi.MQSO_GROUP_SUB | mqi.MQSO_SET_CORREL_ID, h2, mqi.MQRC_GROUPING_NOT_ALTERABLE, corr},
		{"U", alter | durable, h, mqi.MQRC_SELECTOR_NOT_ALTERABLE, func(sd *mqi.SD) { sd.SelectionString = "a = 1" }},
		{"U", alter | durable | managed, 0, mqi.MQRC_DEST_CLASS_NOT_ALTERABLE, nil},
		{"M", alter | durable, h, mqi.MQRC_DEST_CLASS_NOT_ALTERABLE, nil},
		{"U", alter | durable, 99, mqi.MQRC_HOBJ_ERROR, nil},
	} {
		f := tc.f
		if f == nil {
			f = func(*mqi.SD) {}
		}
		_, _, err := r.c.Subscribe(bg, subSD("t", tc.opts, named(tc.name), f), tc.h)
		if _, rc := reasonOf(err); rc != tc.rc {
			t.Errorf("%s %x: %d, want %d", tc.name, tc.opts, rc, tc.rc)
		}
	}
	_, _, err = r.connect("stranger").Subscribe(bg, subSD("t", resume|durable, named("U")), 0)
	wantRC(t, err, mqi.MQRC_IDENTITY_MISMATCH)

	// Another user may resume what says MQSO_ANY_USERID, and is its user from then on.
	_, s, err = r.c.Subscribe(bg, subSD("t", alter|durable|mqi.MQSO_ANY_USERID, named("U")), h)
	wantRC(t, err, 0)
	r.close(r.c, s, 0)
	stranger := r.connect("stranger")
	_, s, err = stranger.Subscribe(bg, subSD("t", resume|durable, named("U")), 0)
	wantRC(t, err, 0)
	r.close(stranger, s, 0)
	if got := r.field("DISPLAY SUB(U) SUBUSER", "SUBUSER"); got != "stranger" {
		t.Errorf("SUBUSER(%s)", got)
	}

	// What may be changed is changed.
	q, s, err := r.c.Subscribe(bg, subSD("t", alter|durable, named("U"), func(sd *mqi.SD) { sd.SubUserData, sd.PubPriority = "new", 5 }), h2)
	wantRC(t, err, 0)
	if q != h2 {
		t.Errorf("Hobj %d, want %d", q, h2)
	}
	r.pub("t", "x", 0)
	r.close(r.c, s, 0)
	if got, md, err := tryGet(r.c, h2, 0); err != nil || got != "x" || md.Priority != 5 {
		t.Errorf("%q %d %v", got, md.Priority, err)
	}
	for key, want := range map[string]string{"USERDATA": "new", "PUBPRTY": "5", "DEST": "Q2", "VARUSER": "FIXED", "SUBTYPE": "API"} {
		if got := r.field("DISPLAY SUB(U) ALL", key); got != want {
			t.Errorf("%s(%s), want %s", key, got, want)
		}
	}
	// CREATE with RESUME makes what is not there and resumes what is.
	for range 2 {
		_, s, err = r.c.Subscribe(bg, subSD("t", create|resume|durable|managed, named("CR")), 0)
		wantRC(t, err, 0)
		r.close(r.c, s, 0)
	}
	if n := len(r.m.list("CR", ClassSub)); n != 1 {
		t.Errorf("%d subscriptions CR", n)
	}
}

// A subscription with SubExpiry ends by itself, also while it is held.
func TestSubscriptionExpiry(t *testing.T) {
	r := newPSRig(t)
	expiry := func(sd *mqi.SD) { sd.SubExpiry = 25 }
	q, s := r.managed(r.c, "e", durable, named("E"), expiry)
	r.managed(r.c, "e", 0, expiry)
	r.pub("e", "in time", 0)
	r.pass(2400 * time.Millisecond)
	if n := r.m.topics.tree.SubCount(); n != 2 {
		t.Fatalf("%d subscriptions", n)
	}
	r.pass(100 * time.Millisecond)
	r.eventually("both end", func() bool { return r.m.topics.tree.SubCount() == 0 })
	r.pub("e", "late", 0)
	if got := r.all(r.c, q); got != "in time" {
		t.Errorf("got %q", got)
	}
	wantRC(t, r.c.SubRequest(bg, s, mqi.MQSR_ACTION_PUBLICATION, &mqi.SRO{Version: 1}), mqi.MQRC_INVALID_SUBSCRIPTION)
	r.close(r.c, s, 0)
	r.close(r.c, q, 0)
	r.eventually("nothing is left of the subscription", func() bool { // what the loop that ended it has still to do
		return r.m.lookup(ClassSub, "E") == nil && len(r.m.list(managedDurable+"*", ClassQueue)) == 0
	})
}

// MQSUBRQ and what a new subscription is sent.
func TestRetainedDelivery(t *testing.T) {
	r := newPSRig(t)
	q, s := r.managed(r.c, "r/#", mqi.MQSO_PUBLICATIONS_ON_REQUEST)
	sro := mqi.DefaultSRO()
	wantRC(t, r.c.SubRequest(bg, s, mqi.MQSR_ACTION_PUBLICATION, &sro), mqi.MQRC_NO_RETAINED_MSG)
	r.pub("r/1", "a", mqi.MQPMO_RETAIN)
	r.pub("r/2", "b", mqi.MQPMO_RETAIN, persistent)
	r.pub("r/1", "not retained", 0)
	if got := r.all(r.c, q); got != "" {
		t.Errorf("on request only, got %q", got)
	}
	for range 2 {
		wantRC(t, r.c.SubRequest(bg, s, mqi.MQSR_ACTION_PUBLICATION, &sro), 0)
		if got := r.all(r.c, q); sorted(got) != "a b" || sro.NumPubs != 2 {
			t.Errorf("got %q, NumPubs %d", got, sro.NumPubs)
		}
	}
	wantRC(t, r.c.SubRequest(bg, s, 2, &sro), mqi.MQRC_ACTION_ERROR)
	wantRC(t, r.c.SubRequest(bg, q, 1, &sro), mqi.MQRC_HOBJ_ERROR)
	wantRC(t, r.c.SubRequest(bg, s, 1, &mqi.SRO{Version: 2}), mqi.MQRC_SRO_ERROR)
	wantRC(t, r.c.SubRequest(bg, s, 1, &mqi.SRO{Version: 1, Options: 1}), mqi.MQRC_OPTIONS_ERROR)
	live, ls := r.managed(r.c, "r/#", 0)
	if got := r.all(r.c, live); sorted(got) != "a b" {
		t.Errorf("new subscriber: %q", got)
	}
	wantRC(t, r.c.SubRequest(bg, ls, 1, &sro), mqi.MQRC_ACTION_ERROR)
	fresh, _ := r.managed(r.c, "r/#", mqi.MQSO_NEW_PUBLICATIONS_ONLY)
	r.pub("r/1", "c", mqi.MQPMO_RETAIN)
	if got := r.all(r.c, fresh); got != "c" {
		t.Errorf("NEW_PUBLICATIONS_ONLY: %q", got)
	}
	sel, _ := r.managed(r.c, "r/#", 0, func(sd *mqi.SD) { sd.SelectionString = "JMSDeliveryMode = 'PERSISTENT'" })
	if got := r.all(r.c, sel); got != "b" {
		t.Errorf("selected: %q", got)
	}
	// One that cannot be delivered refuses the subscription.
	r.ok("DEFINE QLOCAL(FULL) MAXDEPTH(1)")
	h := openFor(t, r.c, "FULL", mqi.MQOO_INPUT_SHARED)
	_, _, err := r.c.Subscribe(bg, subSD("r/#", create), h)
	wantRC(t, err, mqi.MQRC_RETAINED_NOT_DELIVERED)
	if got := r.all(r.c, h); got != "" {
		t.Errorf("FULL has %q", got)
	}
}

func sorted(s string) string {
	f := strings.Fields(s)
	for i := range f {
		for j := i + 1; j < len(f); j++ {
			if f[j] < f[i] {
				f[i], f[j] = f[j], f[i]
			}
		}
	}
	return strings.Join(f, " ")
}

// Commands on subscriptions of applications: shown, altered, not deleted while they are held, never stored when they are
// nondurable.
func TestCommandsOnAPISubs(t *testing.T) {
	r := newPSBoltRig(t)
	_, s := r.managed(r.c, "api", 0)
	id := r.field("DISPLAY SUB(*) WHERE(SUBTYPE EQ API)", "SUBID")
	if got := r.show("DISPLAY SUB SUBID(" + id + ") TOPICSTR"); len(got) != 1 || !strings.Contains(got[0], id) {
		t.Errorf("by SUBID: %q", got)
	}
	if got := r.show("DISPLAY SUB SUBID(" + id + ")"); len(got) != 1 || !strings.Contains(got[0], "WSCHEMA(") {
		t.Errorf("all of one by SUBID: %q", got)
	}
	r.refuse("AMQ8147E", "DISPLAY SUB SUBID("+strings.Repeat("AB", 24)+")")
	if got := r.show("DISPLAY SUB(*) SUBID DURABLE WHERE(DURABLE EQ NO)"); len(got) != 1 || !strings.Contains(got[0], "SUB( )") {
		t.Errorf("DISPLAY SUB: %q", got)
	}
	rep := r.ok("ALTER SUB SUBID(" + id + ") USERDATA('by command')")
	if strings.Contains(replyText(rep), "\x00") {
		t.Errorf("%q", replyText(rep))
	}
	if rep = r.refuse("AMQ8148E", "DELETE SUB SUBID("+id+")"); strings.Contains(replyText(rep), "\x00") {
		t.Errorf("%q", replyText(rep))
	}
	if got := r.show("DISPLAY CONN(*) TYPE(HANDLE) TOPICSTR SUBID WHERE(TOPICSTR EQ 'api')"); len(got) != 1 || !strings.Contains(got[0], id) {
		t.Errorf("DISPLAY CONN: %q", got)
	}
	r.m.opt.Store.Range(store.TableSubs, nil, nil, func(k, _ []byte) error {
		if strings.Contains(string(k), id) {
			t.Errorf("the nondurable subscription is stored: %q", k)
		}
		return nil
	})
	r.close(r.c, s, 0)
	var out strings.Builder
	r.managed(r.c, "api", 0, named("EXPORTED?"))
	if err := r.m.Export(&out, ExportOptions{All: true}); err != nil || strings.Contains(out.String(), "EXPORTED?") {
		t.Errorf("export has a nondurable subscription (%v)", err)
	}
}
