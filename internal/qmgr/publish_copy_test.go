package qmgr

import (
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// "copied into the message received by a subscriber when a message is being published": MQCOPY_PUBLISH, which is part of the default,
// decides for the properties of a message handle and for those in an MQRFH2, live and retained.
func TestCopyOptionsOfPublications(t *testing.T) {
	r := newPSRig(t)
	live, _ := r.managed(r.c, "T", 0)
	chosen, _ := r.managed(r.c, "T", 0, func(sd *mqi.SD) { sd.SelectionString = "pub = 'x' AND forward IS NULL" })
	hm, err := r.c.CreateMsgHandle(0)
	wantRC(t, err, 0)
	pd := mqi.DefaultPD()
	for name, to := range map[string]int32{"forward": mqi.MQCOPY_FORWARD, "none": mqi.MQCOPY_NONE, "pub": mqi.MQCOPY_PUBLISH,
		"both": mqi.MQCOPY_PUBLISH | mqi.MQCOPY_REPLY, "all": mqi.MQCOPY_ALL, "usual": mqi.MQCOPY_DEFAULT} {
		pd.CopyOptions = to
		wantRC(t, r.c.SetProperty(hm, 0, name, pd, mqi.PropString("x")), 0)
	}
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	pmo.Version, pmo.OriginalMsgHandle, pmo.Options = 3, int64(hm), mqi.MQPMO_RETAIN
	wantRC(t, r.c.Put1(bg, topicOD("T"), &md, &pmo, []byte("body")), 0)
	later, _ := r.managed(r.c, "T", 0)
	for name, q := range map[string]Handle{"live": live, "selected": chosen, "retained": later} {
		if got := r.propNames(q); got != "all both mqps.Top pub usual" && got != "all both mqps.Ret mqps.Top pub usual" {
			t.Errorf("%s: properties %s", name, got)
		}
	}

	// As clients send them.
	for text, want := range map[string]string{
		"<usr><a>1</a><b copy='forward'>2</b><c copy='publish,reply'>3</c></usr>": "a c mqps.Top",
		"<usr><b copy='none'>2</b></usr>":                                         "mqps.Top",
		"<usr><a>copy=1</a></usr>":                                                "a mqps.Top",
	} {
		h := mqi.RFH2{Encoding: mqi.MQENC_NATIVE, CodedCharSetID: 1208, Format: mqi.MQFMT_STRING, NameValueCCSID: 1208, Folders: []string{text}}
		b, err := h.Append(nil, mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: 1208})
		wantRC(t, err, 0)
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Format, md.CodedCharSetID = mqi.MQFMT_RF_HEADER_2, 1208
		wantRC(t, r.c.Put1(bg, topicOD("T"), &md, &pmo, append(b, "body"...)), 0)
		if got := r.propNames(live); got != want {
			t.Errorf("%s: properties %s, want %s", text, got, want)
		}
		if md.Format != mqi.MQFMT_RF_HEADER_2 {
			t.Errorf("%s: the publisher's descriptor says %q", text, md.Format)
		}
	}
}

// propNames gets a message "body" and gives the names of its properties, sorted.
func (r *psRig) propNames(q Handle) string {
	r.t.Helper()
	hm, err := r.c.CreateMsgHandle(0)
	wantRC(r.t, err, 0)
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Version, gmo.MsgHandle, gmo.Options = 4, int64(hm), mqi.MQGMO_PROPERTIES_IN_HANDLE
	body, _, err := r.c.Get(bg, q, &md, &gmo, 4096)
	wantRC(r.t, err, 0)
	if string(body) != "body" {
		r.t.Errorf("body %q", body)
	}
	h, rc := r.c.msgHandle(int64(hm))
	if rc != 0 {
		r.t.Fatal(rc)
	}
	var names []string
	for _, p := range h.props.All() {
		names = append(names, p.Name)
	}
	return sorted(strings.Join(names, " "))
}

// Topic strings and user data may hold any character: a copy's properties have it as it is.
func TestPropertiesOfAnyCharacters(t *testing.T) {
	r := newPSRig(t)
	for _, s := range []string{"a<\x01>&\"'", "a\t\r\n ", " \xff<", "]]>"} {
		topic := "t" + s
		q, _ := r.managed(r.c, topic, 0, func(sd *mqi.SD) { sd.SubUserData = s })
		r.pub(topic, "body", 0)
		hm, err := r.c.CreateMsgHandle(0)
		wantRC(t, err, 0)
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		gmo.Version, gmo.MsgHandle, gmo.Options = 4, int64(hm), mqi.MQGMO_PROPERTIES_IN_HANDLE
		_, _, err = r.c.Get(bg, q, &md, &gmo, 100)
		wantRC(t, err, 0)
		h, _ := r.c.msgHandle(int64(hm))
		got := map[string]string{}
		for _, p := range h.props.All() {
			got[p.Name] = p.Value.Text
		}
		if got["mqps.Top"] != topic || got["mqps.Sud"] != s {
			t.Errorf("%q: %q", topic, got)
		}
	}
}

// MQPMO_NOT_OWN_SUBS keeps a publication from a shared subscription that the publisher has open, whoever opened it last.
func TestNotOwnSharedSubscription(t *testing.T) {
	r := newPSRig(t)
	a := r.member("a", "T", "S", 0)
	dest := queueOf(t, a.c, a.hsub)
	depth := func() int { return r.m.lookup(ClassQueue, dest).Queue.depth() }
	own := func(c *Conn, want int) {
		t.Helper()
		before := depth()
		wantRC(t, tryPub(c, "T", "x", mqi.MQPMO_NOT_OWN_SUBS), 0)
		if got := depth() - before; got != want {
			t.Errorf("%d copies, want %d", got, want)
		}
	}
	own(a.c, 0)
	b := r.member("b", "T", "S", 0)
	own(a.c, 0)
	own(b.c, 0)
	own(r.c, 1)
	b.leave(t)
	own(b.c, 1)
	own(a.c, 0)
}

// A body that was lent is the caller's again after the put; what is retained is not changed by it.
func TestLentBodyIsRetained(t *testing.T) {
	for _, size := range []int{100, inlineBody + 1000} {
		for _, opts := range []int32{0, mqi.MQPMO_SYNCPOINT} {
			r := newPSRig(t)
			h := r.openTopic(r.c, "T")
			r.managed(r.connect("sub"), "T", 0)
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			pmo.Options = mqi.MQPMO_RETAIN | opts
			want := strings.Repeat("A", size)
			body := []byte(want)
			wantRC(t, r.c.PutBy(bg, nil, h, &md, &pmo, body, true), 0)
			copy(body, strings.Repeat("B", size))
			if opts != 0 {
				wantRC(t, r.c.Commit(bg), 0)
			}
			q, _ := r.managed(r.c, "T", 0)
			if got := r.all(r.c, q); got != want {
				t.Errorf("%d bytes, options %d: %d bytes retained, %.5s…", size, opts, len(got), got)
			}
		}
	}
}

// hookClock calls a function, once, when it is asked for the time within another.
type hookClock struct {
	clock.Clock
	within string
	hook   atomic.Pointer[func()]
}

func (c *hookClock) Now() time.Time {
	if do := c.hook.Load(); do != nil {
		buf := make([]byte, 8<<10)
		if strings.Contains(string(buf[:goruntime.Stack(buf, false)]), c.within) && c.hook.CompareAndSwap(do, nil) {
			(*do)()
		}
	}
	return c.Clock.Now()
}

// A subscription that is made while the late copies of a retained publication are being made gets it too: nobody else gives it to
// it.
func TestSubscribeBesideLateCopies(t *testing.T) {
	clk := &hookClock{within: "lateCopies"}
	r := &psRig{objRig: newObjRig(t, func(o *Options) {
		clk.Clock = o.Clock
		o.Clock = clk
	})}
	r.c = r.connect("app")
	pub, other := r.connect("pub"), r.connect("other")
	wantRC(t, tryPub(pub, "T", "x", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN), 0)
	between, _ := r.managed(r.c, "T", 0)
	var beside Handle
	hook := func() { beside, _ = r.managed(other, "T", 0) }
	clk.hook.Store(&hook)
	wantRC(t, pub.Commit(bg), 0)
	if beside == 0 {
		t.Fatal("no subscription was made meanwhile")
	}
	if got := r.all(r.c, between); got != "x" {
		t.Errorf("made before the commit: %q", got)
	}
	if got := r.all(other, beside); got != "x" {
		t.Errorf("made during the commit: %q", got)
	}
}

// Delivery rule ALL: a subscription that ends while the copies are made keeps the others from nothing; one that is there and cannot have
// its copy does.
func TestAllWithoutWhoHasGone(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR DEADQ(' ')")
	r.ok("DEFINE SUB(GOES) TOPICSTR('T') DESTCLAS(MANAGED)")
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(STAYS) TOPICSTR('T') DEST(Q)")
	send := func() mqi.RC {
		p := newPublication(r.m, "T", &msgHead{md: mqi.DefaultMD()}, []byte("x"))
		p.rule = "ALL"
		subs := r.m.topics.tree.Match(nil, "T")
		r.cmd("DELETE SUB(GOES)")
		u := &uow{}
		rc := r.m.fanOut(u, p, subs)
		if rc != 0 {
			r.m.withdraw(u)
			return rc
		}
		wantRC(t, r.m.commit(u), 0)
		return 0
	}
	if rc := send(); rc != 0 || r.curDepth("Q") != 1 {
		t.Errorf("one ends: %d, %d copies", rc, r.curDepth("Q"))
	}
	r.ok("ALTER QLOCAL(Q) PUT(DISABLED)")
	if rc := send(); rc != mqi.MQRC_PUBLICATION_FAILURE || r.curDepth("Q") != 1 {
		t.Errorf("one cannot: %d, %d copies", rc, r.curDepth("Q"))
	}
}

// A subscription's queue keeps its own rules: an alias with PUT(DISABLED) takes nothing, MSGDLVSQ(FIFO) knows no priorities.
func TestCopiesObeyTheirQueue(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR DEADQ(' ')")
	r.ok("DEFINE QLOCAL(Q) MSGDLVSQ(FIFO)")
	r.ok("DEFINE QALIAS(A) TARGET(Q) PUT(DISABLED)")
	r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(A)")
	prio := func(n int32) func(*mqi.MD) { return func(md *mqi.MD) { md.Priority = n } }
	r.pub("T", "none", 0, prio(5))
	r.ok("ALTER QALIAS(A) PUT(ENABLED)")
	r.pub("T", "low", 0, prio(1))
	r.pub("T", "high", 0, prio(9))
	if got := r.all(r.c, openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED)); got != "low high" {
		t.Errorf("got %q", got)
	}
	if got := quoteRFH(`say "x"`); got != `"say ""x"""` {
		t.Errorf("quoted: %s", got)
	}
}
