package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// MQOPEN and MQPUT of topics: what is refused.
func TestPublishRefusals(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE TOPIC(OFF) TOPICSTR('off') PUB(DISABLED)")
	r.ok("DEFINE TOPIC(MC) TOPICSTR('mc') MCAST(ONLY)")
	r.ok("DEFINE QALIAS(TO.TOPIC) TARGET(OFF) TARGTYPE(TOPIC)")
	r.ok("DEFINE QALIAS(TO.NOTHING) TARGET(NO.SUCH) TARGTYPE(TOPIC)")
	open := func(od *mqi.OD, opts int32, want mqi.RC) {
		t.Helper()
		_, err := r.c.Open(bg, od, opts)
		if _, rc := reasonOf(err); rc != want {
			t.Errorf("MQOPEN(%q, %q, %d): %d, want %d", od.ObjectName, od.ObjectString, opts, rc, want)
		}
	}
	obj := func(name, text string) *mqi.OD {
		od := topicOD(text)
		od.ObjectName = name
		return od
	}
	open(topicOD("a"), mqi.MQOO_INPUT_SHARED, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	open(topicOD("a"), mqi.MQOO_OUTPUT|mqi.MQOO_BROWSE, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	open(topicOD(""), mqi.MQOO_OUTPUT, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	open(obj("NO.SUCH", "a"), mqi.MQOO_OUTPUT, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	open(obj("SYSTEM.BASE.TOPIC", ""), mqi.MQOO_OUTPUT, mqi.MQRC_TOPIC_STRING_ERROR)
	open(topicOD(strings.Repeat("é", 10241)), mqi.MQOO_OUTPUT, mqi.MQRC_OBJECT_STRING_ERROR)
	open(topicOD("$SYS/MQ/x"), mqi.MQOO_OUTPUT, mqi.MQRC_ADMIN_TOPIC_STRING_ERROR)
	open(topicOD("mc/x"), mqi.MQOO_OUTPUT, mqi.MQRC_MULTICAST_ONLY)
	far := topicOD("a")
	far.ObjectQMgrName = "ELSEWHERE"
	open(far, mqi.MQOO_OUTPUT, mqi.MQRC_UNKNOWN_OBJECT_Q_MGR)
	alias := mqi.DefaultOD()
	alias.ObjectName = "TO.NOTHING"
	open(&alias, mqi.MQOO_OUTPUT, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q)

	wantRC(t, tryPub(r.c, "off/x", "x", 0), mqi.MQRC_PUT_INHIBITED)
	grouped := func(md *mqi.MD) { md.Version, md.MsgFlags = 2, mqi.MQMF_MSG_IN_GROUP }
	wantRC(t, tryPub(r.c, "a", "x", 0, grouped), mqi.MQRC_MSG_NOT_ALLOWED_IN_GROUP)
	coa := func(md *mqi.MD) { md.Report, md.ReplyToQ = mqi.MQRO_COA, "R" }
	wantRC(t, tryPub(r.c, "a", "x", mqi.MQPMO_SUPPRESS_REPLYTO, coa), mqi.MQRC_MISSING_REPLY_TO_Q)
	wantRC(t, tryPub(r.c, "a", "x", mqi.MQPMO_WARN_IF_NO_SUBS_MATCHED), mqi.MQRC_NO_SUBS_MATCHED)
	h := r.openTopic(r.c, "a")
	_, _, err := tryGet(r.c, h, 0)
	if cc, _ := reasonOf(err); cc != mqi.CCFailed {
		t.Errorf("MQGET of a topic handle: %v", err)
	}
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_DELETE), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	r.ok("DEFINE QLOCAL(Q)")
	_, err = tryPut(r.c, openFor(t, r.c, "Q", mqi.MQOO_OUTPUT), "x", mqi.MQPMO_RETAIN)
	wantRC(t, err, mqi.MQRC_OPTIONS_ERROR)

	// Through an alias, and a topic object with a string below it.
	q, _ := r.managed(r.c, "off/#", 0)
	r.ok("ALTER TOPIC(OFF) PUB(ENABLED) DEFPRTY(6)")
	alias.ObjectName, alias.ObjectType = "TO.TOPIC", mqi.MQOT_Q
	h, err = r.c.Open(bg, &alias, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	r.put2(h, "by alias")
	od := obj("OFF", "x/y")
	h, err = r.c.Open(bg, od, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	r.put2(h, "combined")
	if od.ResObjectString != "off/x/y" || od.ResolvedType != mqi.MQOT_TOPIC {
		t.Errorf("%+v", od)
	}
	if got := r.all(r.c, q); got != "by alias combined" {
		t.Errorf("got %q", got)
	}
	r.ok("ALTER QALIAS(TO.TOPIC) PUT(DISABLED)")
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	wantRC(t, r.c.Put1(bg, &alias, &md, &pmo, nil), mqi.MQRC_PUT_INHIBITED)
}

func (r *psRig) put2(h Handle, text string) {
	r.t.Helper()
	_, err := tryPut(r.c, h, text, 0)
	wantRC(r.t, err, 0)
}

// PMSGDLV, NPMSGDLV and USEDLQ: who gets a publication when some queue cannot take it.
func TestDeliveryRules(t *testing.T) {
	for _, tc := range []struct {
		rule        string
		badDurable  bool
		dlq, useDLQ bool
		ok          bool
	}{
		{"ALL", false, false, false, false}, {"ALL", true, false, false, false},
		{"ALLDUR", false, false, false, true}, {"ALLDUR", true, false, false, false},
		{"ALLAVAIL", false, false, false, true}, {"ALLAVAIL", true, false, false, true},
		{"ALL", true, true, true, true}, {"ALL", true, true, false, false}, {"ALL", true, false, true, false},
	} {
		for _, pers := range []bool{false, true} {
			name := fmt.Sprintf("%s durable=%t dlq=%t use=%t persistent=%t", tc.rule, tc.badDurable, tc.dlq, tc.useDLQ, pers)
			t.Run(name, func(t *testing.T) {
				r := newPSRig(t)
				key := map[bool]string{false: "NPMSGDLV", true: "PMSGDLV"}[pers]
				r.ok(fmt.Sprintf("DEFINE TOPIC(T) TOPICSTR('t') %s(%s) USEDLQ(%s)", key, tc.rule, yesNo(tc.useDLQ)))
				r.ok("DEFINE QLOCAL(GOOD)")
				r.ok("DEFINE QLOCAL(BAD) PUT(DISABLED)")
				r.ok("DEFINE QLOCAL(DEAD)")
				if tc.dlq {
					r.ok("ALTER QMGR DEADQ(DEAD)")
				}
				r.ok("DEFINE SUB(G) TOPICSTR('t') DEST(GOOD)")
				if tc.badDurable {
					r.ok("DEFINE SUB(B) TOPICSTR('t') DEST(BAD)")
				} else {
					_, _, err := r.c.Subscribe(bg, subSD("t", create), openFor(t, r.c, "BAD", mqi.MQOO_BROWSE))
					wantRC(t, err, 0)
				}
				var change []func(*mqi.MD)
				if pers {
					change = append(change, persistent)
				}
				err := tryPub(r.c, "t", "x", mqi.MQPMO_RETAIN, change...)
				depth := func(q string) string { return r.field("DISPLAY QLOCAL("+q+") CURDEPTH", "CURDEPTH") }
				want, rc := "1", mqi.RC(0)
				if !tc.ok {
					want, rc = "0", mqi.MQRC_PUBLICATION_FAILURE
				}
				wantRC(t, err, rc)
				if got := depth("GOOD"); got != want {
					t.Errorf("GOOD has %s messages", got)
				}
				r.wantRetained("t", yesNo(tc.ok))
				dead := "0"
				if tc.dlq && tc.useDLQ {
					dead = "1"
				}
				if got := depth("DEAD"); got != dead {
					t.Errorf("dead-letter queue has %s messages, want %s", got, dead)
				}
			})
		}
	}
}

// A publication in a unit of work is there with its commit: copies and retained publication together.
func TestPublishInUnitOfWork(t *testing.T) {
	r := newPSRig(t)
	q1, _ := r.managed(r.c, "u", 0)
	q2, _ := r.managed(r.c, "u", 0)
	look := r.connect("other")
	state := func() string {
		s, hsub := r.managed(look, "u", 0)
		defer r.close(look, hsub, 0)
		return r.all(r.c, q1) + "|" + r.all(r.c, q2) + "|" + r.all(look, s)
	}
	r.pub("u", "one", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN)
	if got := state(); got != "||" {
		t.Errorf("before MQCMIT: %q", got)
	}
	wantRC(t, r.c.Backout(bg), 0)
	if got := state(); got != "||" {
		t.Errorf("after MQBACK: %q", got)
	}
	r.pub("u", "two", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN)
	r.pub("u", "three", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN)
	wantRC(t, r.c.Commit(bg), 0)
	if got := state(); got != "two three|two three|three" {
		t.Errorf("after MQCMIT: %q", got)
	}
	if rows := r.show("DISPLAY TPSTATUS('u') TYPE(SUB) NUMMSGS"); strings.Count(strings.Join(rows, " "), "NUMMSGS(2)") != 2 {
		t.Errorf("NUMMSGS counts what was backed out: %s", rows)
	}
}

// Publish options that choose subscribers or change copies.
func TestPublishOptions(t *testing.T) {
	r := newPSRig(t)
	own, _ := r.managed(r.c, "o", 0)
	other := r.connect("other")
	theirs, _ := r.managed(other, "o", 0, func(sd *mqi.SD) { sd.SubUserData = "<ud>" })
	r.pub("o", "mine", mqi.MQPMO_NOT_OWN_SUBS, func(md *mqi.MD) { md.ReplyToQ = "REPLY" })
	if got := r.all(r.c, own); got != "" {
		t.Errorf("own subscription got %q", got)
	}
	got, md, err := tryGet(other, theirs, 0)
	if err != nil || got != "mine" || md.ReplyToQ != "REPLY" || md.ReplyToQMgr != "QM1" {
		t.Errorf("%q %+v %v", got, md, err)
	}
	r.pub("o", "x", mqi.MQPMO_SUPPRESS_REPLYTO|mqi.MQPMO_SCOPE_QMGR, func(md *mqi.MD) { md.ReplyToQ = "REPLY" })
	r.all(r.c, own)
	if _, md, err = tryGet(other, theirs, 0); err != nil || md.ReplyToQ != "" || md.ReplyToQMgr != "" {
		t.Errorf("%+v %v", md, err)
	}
	// Properties appear on demand only.
	r.pub("o", "body", 0)
	if got := r.all(r.c, own); got != "body" {
		t.Errorf("without properties: %q", got)
	}
	got, md, err = tryGet(other, theirs, mqi.MQGMO_PROPERTIES_FORCE_MQRFH2)
	if err != nil || md.Format != mqi.MQFMT_RF_HEADER_2 || !strings.Contains(got, "<Top>o</Top>") ||
		!strings.Contains(got, "<Sud>&lt;ud&gt;</Sud>") || !strings.HasSuffix(got, "body") {
		t.Errorf("%q %+v %v", got, md, err)
	}
	r.pub("o", "kept", mqi.MQPMO_RETAIN)
	again, _ := r.managed(r.c, "o", 0)
	if got, _, _ = tryGet(r.c, again, mqi.MQGMO_PROPERTIES_FORCE_MQRFH2); !strings.Contains(got, "<Ret") {
		t.Errorf("MQIsRetained missing: %q", got)
	}
}

// SubCorrelId, identity, priority of copies; SUBLEVEL; groups; wildcards of both schemes; BLOCK.
func TestCopies(t *testing.T) {
	r := newPSRig(t)
	keep, _ := r.managed(r.c, "c/1", mqi.MQSO_SET_CORREL_ID|mqi.MQSO_SET_IDENTITY_CONTEXT, func(sd *mqi.SD) {
		sd.PubAccountingToken[3], sd.PubApplIdentityData = 7, "ident"
	})
	corID := func(sd *mqi.SD) { sd.SubCorrelID[0] = 42 }
	set, _ := r.managed(r.c, "c/1", mqi.MQSO_SET_CORREL_ID, corID)
	r.pub("c/1", "x", 0, func(md *mqi.MD) { md.CorrelID[0] = 9 })
	if _, md, err := tryGet(r.c, keep, 0); err != nil || md.CorrelID[0] != 9 || md.AccountingToken[3] != 7 || md.ApplIdentityData != "ident" {
		t.Errorf("%+v %v", md, err)
	}
	if _, md, err := tryGet(r.c, set, 0); err != nil || md.CorrelID[0] != 42 {
		t.Errorf("%+v %v", md, err)
	}
	// SUBLEVEL: the highest not above PubLevel, 0 only when nobody else.
	var level [3]Handle
	for i, l := range []int32{0, 2, 5} {
		level[i], _ = r.managed(r.c, "lv", 0, func(sd *mqi.SD) { sd.SubLevel = l })
	}
	for pubLevel, want := range map[int32]int{9: 2, 5: 2, 4: 1, 1: 0} {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		pmo.Version, pmo.PubLevel = 3, pubLevel
		wantRC(t, r.c.Put1(bg, topicOD("lv"), &md, &pmo, []byte("x")), 0)
		for i := range level {
			if got := r.all(r.c, level[i]); (got != "") != (i == want) {
				t.Errorf("PubLevel %d, subscription %d: %q", pubLevel, i, got)
			}
		}
	}
	// A group gets one copy.
	r.ok("DEFINE QLOCAL(G)")
	g := openFor(t, r.c, "G", mqi.MQOO_INPUT_SHARED)
	for _, s := range []string{"g/#", "g/1"} {
		_, _, err := r.c.Subscribe(bg, subSD(s, create|mqi.MQSO_GROUP_SUB|mqi.MQSO_SET_CORREL_ID, corID), g)
		wantRC(t, err, 0)
	}
	r.pub("g/1", "once", 0)
	if got := r.all(r.c, g); got != "once" {
		t.Errorf("group got %q", got)
	}
	// Wildcards, and an object that blocks them.
	r.ok("DEFINE TOPIC(BLOCK) TOPICSTR('w/blocked') WILDCARD(BLOCK)")
	top, _ := r.managed(r.c, "w/#", 0)
	char, _ := r.managed(r.c, "w/?/*d", mqi.MQSO_WILDCARD_CHAR)
	in, _ := r.managed(r.c, "w/blocked/+", 0)
	for _, s := range []string{"w", "w/1/end", "w/22/end", "w/blocked/x"} {
		r.pub(s, s, 0)
	}
	for h, want := range map[Handle]string{top: "w w/1/end w/22/end", char: "w/1/end", in: "w/blocked/x"} {
		if got := r.all(r.c, h); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Destinations of DEFINE SUB: remote queues, aliases, and an alias that has become one of a topic.
func TestDestinations(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(QM2) USAGE(XMITQ)")
	r.ok("DEFINE QLOCAL(BASE)")
	r.ok("DEFINE QLOCAL(DEAD)")
	r.ok("ALTER QMGR DEADQ(DEAD)")
	r.ok("DEFINE QALIAS(AL) TARGET(BASE)")
	r.ok("DEFINE SUB(REMOTE) TOPICSTR('d') DEST(Q.THERE) DESTQMGR(QM2)")
	r.ok("DEFINE SUB(ALIAS) TOPICSTR('d') DEST(AL)")
	r.pub("d", "x", 0)
	depth := func(q string) string { return r.field("DISPLAY QLOCAL("+q+") CURDEPTH", "CURDEPTH") }
	if depth("QM2") != "1" || depth("BASE") != "1" {
		t.Errorf("QM2 %s, BASE %s", depth("QM2"), depth("BASE"))
	}
	_, md, err := tryGet(r.c, openFor(t, r.c, "QM2", mqi.MQOO_INPUT_SHARED), 0)
	if err != nil || md.Format != mqi.MQFMT_XMIT_Q_HEADER {
		t.Errorf("%+v %v", md, err)
	}
	r.ok("DEFINE TOPIC(OTHER) TOPICSTR('other')")
	r.ok("ALTER QALIAS(AL) TARGET(OTHER) TARGTYPE(TOPIC)")
	r.pub("d", "y", 0)
	got, _, err := tryGet(r.c, openFor(t, r.c, "DEAD", mqi.MQOO_INPUT_SHARED), 0)
	if err != nil || len(got) < 12 || int(got[8])|int(got[9])<<8 != mqi.MQRC_ALIAS_TARGTYPE_CHANGED {
		t.Errorf("dead letter %q %v", got, err)
	}
}

// ALTER SUB comes into force for the next publication; the counters go on. DELETE SUB takes the managed queue along.
func TestAdminSubs(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("DEFINE SUB(S) TOPICSTR('s') DESTCLAS(MANAGED) USERDATA('one') PUBPRTY(3)")
	q := r.field("DISPLAY SUB(S) DEST", "DEST")
	r.pub("s", "1", 0, persistent)
	r.ok("ALTER SUB(S) PUBPRTY(8) USERDATA('two')")
	r.pub("s", "2", 0, persistent)
	if got := r.field("DISPLAY SBSTATUS(S) ALL", "NUMMSGS"); got != "2" {
		t.Errorf("NUMMSGS(%s)", got)
	}
	if got := r.field("DISPLAY PUBSUB ALL", "SUBCOUNT"); got != "1" {
		t.Errorf("SUBCOUNT(%s)", got)
	}
	r.restart(store.Immediate)
	h := openFor(t, r.c, q, mqi.MQOO_INPUT_SHARED)
	got, md, err := tryGet(r.c, h, mqi.MQGMO_PROPERTIES_FORCE_MQRFH2)
	if err != nil || !strings.HasSuffix(got, "2") || md.Priority != 8 || !strings.Contains(got, "two") {
		t.Errorf("%q %d %v", got, md.Priority, err)
	}
	r.close(r.c, h, 0)
	r.ok("DELETE SUB(S)")
	if r.m.lookup(ClassQueue, q) != nil {
		t.Error("the managed queue is left")
	}
	// Its topic object may go; the subscription keeps its topic, also over a restart.
	r.ok("DEFINE TOPIC(T) TOPICSTR('by/object')")
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(O) TOPICOBJ(T) TOPICSTR('x') DEST(Q)")
	r.ok("DELETE TOPIC(T)")
	r.restart(store.Immediate)
	r.pub("by/object/x", "there", 0)
	if got := r.all(r.c, openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED)); got != "there" {
		t.Errorf("got %q", got)
	}
	if got := r.field("DISPLAY SUB(O) TOPICSTR", "TOPICSTR"); got != "by/object/x" {
		t.Errorf("TOPICSTR(%s)", got)
	}
}

// A retained publication that expires does not take a newer one of its topic with it, in the tree or in the store.
func TestExpiryLeavesNewerRetained(t *testing.T) {
	r := newPSBoltRig(t)
	for i := range 50 {
		topic := fmt.Sprint("x/", i)
		r.pub(topic, "old", mqi.MQPMO_RETAIN, persistent, func(md *mqi.MD) { md.Expiry = 10 })
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.clk.Advance(time.Second) // all of them expire, while
	}()
	for i := range 50 {
		r.pub(fmt.Sprint("x/", i), "new", mqi.MQPMO_RETAIN, persistent)
	}
	<-done
	r.settle()
	r.restart(store.Immediate)
	for i := range 50 {
		r.wantRetained(fmt.Sprint("x/", i), "YES")
	}
}

// A retained publication reaches a subscription that is made between its put and its commit: neither the put nor the
// store of retained publications could give it.
func TestSubscribeBeforeCommit(t *testing.T) {
	r := newPSRig(t)
	early, _ := r.managed(r.c, "b", 0)
	pub := r.connect("pub")
	wantRC(t, tryPub(pub, "b", "new value", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN), 0)
	wantRC(t, tryPub(pub, "b", "not retained", mqi.MQPMO_SYNCPOINT), 0)
	late, _ := r.managed(r.c, "b", 0)
	lower, _ := r.managed(r.c, "b", 0, func(sd *mqi.SD) { sd.SubLevel = 0 })
	wantRC(t, pub.Commit(bg), 0)
	for h, want := range map[Handle]string{early: "new value not retained", late: "new value", lower: ""} {
		if got := r.all(r.c, h); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// DEFINE SUB is sent what is retained, unless it says REQONLY(YES).
func TestDefineSubGetsRetained(t *testing.T) {
	r := newPSRig(t)
	r.pub("k/1", "a", mqi.MQPMO_RETAIN)
	r.pub("k/2", "b", mqi.MQPMO_RETAIN, persistent)
	r.ok("DEFINE QLOCAL(Q1)")
	r.ok("DEFINE QLOCAL(Q2)")
	r.ok("DEFINE SUB(ALL) TOPICSTR('k/#') DEST(Q1)")
	r.ok("DEFINE SUB(REQ) TOPICSTR('k/#') DEST(Q2) REQONLY(YES)")
	r.ok("DEFINE SUB(MAN) TOPICSTR('k/1') DESTCLAS(MANAGED)")
	for q, want := range map[string]string{"Q1": "a b", "Q2": "", r.field("DISPLAY SUB(MAN) DEST", "DEST"): "a"} {
		if got := sorted(r.all(r.c, openFor(t, r.c, q, mqi.MQOO_INPUT_SHARED))); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
}

// PSPROP of DEFINE SUB: where topic and user data of a copy are.
func TestPSProp(t *testing.T) {
	r := newPSRig(t)
	cases := []struct{ prop, format, has, not string }{
		{"NONE", "MQSTR", "", "topic/x"},
		{"MSGPROP", "MQSTR", "", "topic/x"},
		{"COMPAT", mqi.MQFMT_RF_HEADER_1, "MQPSTopic topic/x MQPSSubUserData \"u d\"", ""},
		{"RFH2", mqi.MQFMT_RF_HEADER_2, "<psc><Command>Publish</Command><Topic>topic/x</Topic><SubUserData>u d</SubUserData></psc>", ""},
	}
	for _, tc := range cases {
		r.ok("DEFINE QLOCAL(Q." + tc.prop + ")")
		r.ok("DEFINE SUB(" + tc.prop + ") TOPICSTR('topic/x') DEST(Q." + tc.prop + ") USERDATA('u d') PSPROP(" + tc.prop + ")")
	}
	r.pub("topic/x", "body", 0, func(md *mqi.MD) { md.Format = "MQSTR" })
	for _, tc := range cases {
		got, md, err := tryGet(r.c, openFor(t, r.c, "Q."+tc.prop, mqi.MQOO_INPUT_SHARED), 0)
		if err != nil || md.Format != tc.format || !strings.Contains(got, tc.has) || !strings.HasSuffix(got, "body") ||
			tc.not != "" && strings.Contains(got, tc.not) {
			t.Errorf("PSPROP(%s): %q, format %q, %v", tc.prop, got, md.Format, err)
		}
	}
}

// Expiry of a copy: as published, at most CAPEXPRY of the topic.
func TestPublicationExpiry(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE TOPIC(CAP) TOPICSTR('cap') CAPEXPRY(50)")
	r.ok("DEFINE TOPIC(OLD) TOPICSTR('old') CUSTOM('CAPEXPRY(70)')")
	q, _ := r.managed(r.c, "#", 0)
	for _, tc := range []struct {
		topic     string
		put, want int32
	}{{"old/x", -1, 70}, {"cap/x", -1, 50}, {"cap/x", 30, 30}, {"cap", 100, 50}, {"free", 100, 100}, {"free", -1, -1}} {
		r.pub(tc.topic, "x", 0, func(md *mqi.MD) { md.Expiry = tc.put })
		if _, md, err := tryGet(r.c, q, 0); err != nil || md.Expiry != tc.want {
			t.Errorf("%s, Expiry %d: %d, want %d (%v)", tc.topic, tc.put, md.Expiry, tc.want, err)
		}
	}
}
