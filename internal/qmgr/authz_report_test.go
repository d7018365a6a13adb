package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// reporting is an authRig where joe has A.Q, and SECRET.Q is not his.
func reporting(t *testing.T) (*authRig, Handle) {
	r := newAuthRig(t)
	for _, q := range []string{"A.Q", "SECRET.Q", "DLQ"} {
		r.ok("DEFINE QLOCAL(" + q + ")")
	}
	r.ok("ALTER QMGR DEADQ(DLQ)")
	r.grant("QUEUE", "A.Q", "PUT,GET")
	h, err := r.c.Open(bg, openType(mqi.MQOT_Q, "A.Q"), mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	r.log.take()
	return r, h
}

func (r *authRig) depth(q string) int { return r.m.lookup(ClassQueue, q).Queue.depth() }

func (r *authRig) ask(h Handle, report, expiry int32) {
	r.t.Helper()
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Report, md.ReplyToQ, md.Expiry = report, "SECRET.Q", expiry
	wantRC(r.t, r.c.Put(bg, h, &md, &pmo, []byte("by joe")), 0)
}

func (r *authRig) take(h Handle) mqi.RC {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	_, _, err := r.c.Get(bg, h, &md, &gmo, 1000)
	_, rc := mqi.Reason(err)
	return rc
}

// A report reaches a queue only if its user may put there. Else it is a dead letter with reason 2035, or goes as it says.
func TestReportAuthority(t *testing.T) {
	for name, c := range map[string]struct {
		report, expiry int32
	}{
		"arrival":    {mqi.MQRO_COA_WITH_FULL_DATA, -1},
		"delivery":   {mqi.MQRO_COD_WITH_FULL_DATA, -1},
		"expiration": {mqi.MQRO_EXPIRATION_WITH_FULL_DATA, 1},
	} {
		r, h := reporting(t)
		send := func() {
			r.ask(h, c.report, c.expiry)
			if c.expiry > 0 {
				r.clk.Advance(time.Second)
			}
			r.take(h)
		}
		send()
		if r.depth("SECRET.Q") != 0 || r.depth("DLQ") != 1 {
			t.Fatalf("%s: %d reports where joe may not put, %d dead letters", name, r.depth("SECRET.Q"), r.depth("DLQ"))
		}
		if s := r.log.take(); !strings.Contains(s, `"user":"joe"`) || !strings.Contains(s, `"object":"SECRET.Q"`) {
			t.Errorf("%s: log %s", name, s)
		}
		admin, err := r.m.Connect(bg, auth.System("root"), ConnectOptions{})
		wantRC(t, err, 0)
		dlq, err := admin.Open(bg, openType(mqi.MQOT_Q, "DLQ"), mqi.MQOO_INPUT_SHARED)
		wantRC(t, err, 0)
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		body, _, err := admin.Get(bg, dlq, &md, &gmo, 10000)
		wantRC(t, err, 0)
		d, _, err := mqi.ParseDLH(body, mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
		if err != nil || d.Reason != mqi.MQRC_NOT_AUTHORIZED || d.DestQName != "SECRET.Q" {
			t.Errorf("%s: %+v %v", name, d, err)
		}
		// As who asked wants it discarded.
		r.ask(h, c.report|mqi.MQRO_DISCARD_MSG|mqi.MQRO_PASS_DISCARD_AND_EXPIRY, max(c.expiry, 1000*c.expiry))
		if c.expiry > 0 {
			r.clk.Advance(time.Hour)
		}
		r.take(h)
		if c.expiry < 0 && r.depth("DLQ") != 0 {
			t.Errorf("%s: not discarded", name)
		}
		r.grant("QUEUE", "SECRET.Q", "PUT")
		send()
		if n := r.depth("SECRET.Q"); n != 1 {
			t.Errorf("%s: %d reports with authority", name, n)
		}
	}
}

// A report of arrival carries the identity of its message on: another's needs PASSID where the report goes.
func TestReportPassedIdentity(t *testing.T) {
	r, _ := reporting(t)
	r.grant("QUEUE", "SECRET.Q", "PUT")
	r.grant("QUEUE", "A.Q", "SETID")
	r.grant("QMGR", "self", "SETID")
	h, err := r.c.Open(bg, openType(mqi.MQOT_Q, "A.Q"), mqi.MQOO_OUTPUT|mqi.MQOO_SET_IDENTITY_CONTEXT)
	wantRC(t, err, 0)
	send := func() {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Report, md.ReplyToQ, md.UserIdentifier = mqi.MQRO_COA_WITH_FULL_DATA, "SECRET.Q", "root"
		pmo.Options = mqi.MQPMO_SET_IDENTITY_CONTEXT
		wantRC(t, r.c.Put(bg, h, &md, &pmo, []byte("x")), 0)
	}
	send()
	if n := r.depth("SECRET.Q"); n != 0 {
		t.Errorf("%d reports in root's name", n)
	}
	r.grant("QUEUE", "SECRET.Q", "PASSID")
	send()
	if n := r.depth("SECRET.Q"); n != 1 {
		t.Errorf("%d reports with PASSID", n)
	}
}

// Reports to a queue that one made oneself need no record.
func TestReportToOwnQueue(t *testing.T) {
	r, h := reporting(t)
	r.grant("QUEUE", "SYSTEM.DEFAULT.MODEL.QUEUE", "GET,DSP")
	od := openType(mqi.MQOT_Q, "SYSTEM.DEFAULT.MODEL.QUEUE")
	own, err := r.c.Open(bg, od, mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Report, md.ReplyToQ = mqi.MQRO_COA|mqi.MQRO_COD, od.ObjectName
	wantRC(t, r.c.Put(bg, h, &md, &pmo, []byte("x")), 0)
	if rc := r.take(h); rc != 0 {
		t.Fatal(rc)
	}
	for range 2 {
		if rc := r.take(own); rc != 0 {
			t.Error(rc)
		}
	}
}

// What a publication asks for is its publisher's to ask: the copies are in the names of the subscribers.
func TestPublishedReportAuthority(t *testing.T) {
	r, _ := reporting(t)
	r.grant("TOPIC", "SYSTEM.BASE.TOPIC", "PUB")
	admin, err := r.m.Connect(bg, auth.System("root"), ConnectOptions{})
	wantRC(t, err, 0)
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString = mqi.MQSO_CREATE|mqi.MQSO_MANAGED, "t"
	q, _, err := admin.Subscribe(bg, &sd, 0)
	wantRC(t, err, 0)
	send := func() {
		od := openType(mqi.MQOT_TOPIC, "")
		od.Version, od.ObjectString = 4, "t"
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Report, md.ReplyToQ = mqi.MQRO_COA_WITH_FULL_DATA|mqi.MQRO_COD_WITH_FULL_DATA, "SECRET.Q"
		wantRC(t, r.c.Put1(bg, od, &md, &pmo, []byte("x")), 0)
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		_, _, err = admin.Get(bg, q, &md, &gmo, 100)
		wantRC(t, err, 0)
	}
	send()
	if n := r.depth("SECRET.Q"); n != 0 {
		t.Errorf("%d reports in the subscriber's name", n)
	}
	r.grant("QUEUE", "SECRET.Q", "PUT")
	send()
	if n := r.depth("SECRET.Q"); n != 2 {
		t.Errorf("%d reports", n)
	}
}

// What is on the staging queue of delayed messages is believed, so nobody puts there: not by name, alias, report or stream.
func TestDelayQueueIsNobodys(t *testing.T) {
	r, h := reporting(t)
	r.ok("DEFINE QALIAS(A.ALIAS) TARGET(" + delayQueue + ")")
	r.ok("DEFINE QLOCAL(A.STREAM) STREAMQ(" + delayQueue + ") STRMQOS(MUSTDUP)")
	r.grant("QUEUE", "**", "PUT")
	forged := (&delayHeader{due: 1, queue: "SECRET.Q", format: mqi.MQFMT_STRING}).append(nil)
	for _, q := range []string{delayQueue, "A.ALIAS", "A.STREAM"} {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Format = delayFormat
		if err := r.c.Put1(bg, openType(mqi.MQOT_Q, q), &md, &pmo, forged); err == nil {
			t.Errorf("put to %s", q)
		}
	}
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Format, md.Report, md.ReplyToQ = delayFormat, mqi.MQRO_COA_WITH_FULL_DATA, delayQueue
	wantRC(t, r.c.Put(bg, h, &md, &pmo, forged), 0)
	if n := r.depth(delayQueue); n != 0 {
		t.Errorf("%d messages on %s", n, delayQueue)
	}
}

// A user name too long for a message is not cut to somebody else's.
func TestLongUserName(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	long := auth.Identity{User: "adminadmin12x", UID: -1}
	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('adminadmin12x') AUTHADD(CONNECT)")
	r.ok("SET AUTHREC OBJTYPE(QUEUE) PROFILE(A.Q) PRINCIPAL('adminadmin12x') AUTHADD(PUT,GET)")
	c, err := r.m.Connect(bg, long, ConnectOptions{})
	wantRC(t, err, 0)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	wantRC(t, c.Put1(bg, openType(mqi.MQOT_Q, "A.Q"), &md, &pmo, []byte("x")), 0)
	if md.UserIdentifier != "UNKNOWN" {
		t.Errorf("user %q", md.UserIdentifier)
	}
}

// DEFINE SUB and ALTER SUB need CTRL over the topic the subscription really has, PUT over its queue, and ALTUSR for another
// user's name.
func TestSubCommandAuthorities(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.ok("DEFINE QLOCAL(B.Q)")
	r.ok("DEFINE TOPIC(T.OPEN) TOPICSTR('open')")
	r.ok("DEFINE TOPIC(T.OPE) TOPICSTR('ope')")
	r.ok("DEFINE SUB(ROOTS) TOPICSTR('secret') DEST(A.Q)")
	r.ok("DEFINE SUB(ROOTO) TOPICSTR('open') DEST(A.Q)")
	r.grant("TOPIC", "T.OPEN", "CTRL,DSP")
	denied := func(cmd, lacking string) {
		t.Helper()
		r.log.take()
		rep := r.asJoe(cmd)
		if s := r.log.take(); !rep.Failed() || rep.RC != mqi.MQRC_NOT_AUTHORIZED || !strings.Contains(s, lacking) {
			t.Errorf("%s: %d %s", cmd, rep.RC, s)
		}
	}
	fine := func(cmd string) {
		t.Helper()
		if rep := r.asJoe(cmd); rep.Failed() {
			t.Errorf("%s: %+v", cmd, rep)
		}
	}
	denied("DEFINE SUB(S) TOPICSTR('open') DEST(A.Q)", `"missing":"PUT"`)
	denied("DEFINE SUB(S) TOPICSTR('open') DEST(A.Q) DESTQMGR(OTHER)", `"missing":"PUT"`)
	denied("DEFINE SUB(S) TOPICSTR('open*') WSCHEMA(CHAR) DEST(A.Q)", "CTRL")
	denied("DEFINE SUB(S) TOPICOBJ(T.OPE) TOPICSTR('n') DEST(A.Q)", "CTRL")
	denied("DEFINE SUB(S) LIKE(ROOTS) DEST(A.Q)", "CTRL")
	r.grant("QUEUE", "A.Q", "PUT")
	denied("DEFINE SUB(S) TOPICSTR('open') DEST(A.Q) SUBUSER('root')", "ALTUSR")
	denied("ALTER SUB(ROOTO) DEST(B.Q)", "ALTUSR")
	fine("DEFINE SUB(S) TOPICSTR('open') DEST(A.Q)")
	denied("ALTER SUB(S) DEST(B.Q)", `"missing":"PUT"`)
	denied("ALTER SUB(S) SUBUSER('root')", "ALTUSR")
	fine("ALTER SUB(S) USERDATA('x')")
	r.grant("QMGR", "self", "ALTUSR")
	denied("ALTER SUB(S) SUBUSER('root')", `"user":"root"`) // root's name without root's rights
	if got := r.m.lookup(ClassSub, "S").Def().Get("SUBUSER"); got != "joe" {
		t.Errorf("SUBUSER %q", got)
	}
}

// A filter is asked about from the level in front of its first wildcard.
func TestWildcardAuthority(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE TOPIC(T.OPEN) TOPICSTR('open')")
	r.grant("TOPIC", "T.OPEN", "SUB,PUB")
	for _, c := range []struct {
		filter string
		option int32
		rc     mqi.RC
	}{
		{"open*", mqi.MQSO_WILDCARD_CHAR, mqi.MQRC_NOT_AUTHORIZED},
		{"open?ecret", mqi.MQSO_WILDCARD_CHAR, mqi.MQRC_NOT_AUTHORIZED},
		{"open/*", mqi.MQSO_WILDCARD_CHAR, 0},
		{"open/a*/b", mqi.MQSO_WILDCARD_CHAR, 0},
		{"*", mqi.MQSO_WILDCARD_CHAR, mqi.MQRC_NOT_AUTHORIZED},
		{"open/#", mqi.MQSO_WILDCARD_TOPIC, 0},
		{"open/+/b", mqi.MQSO_WILDCARD_TOPIC, 0},
		{"open#", mqi.MQSO_WILDCARD_TOPIC, mqi.MQRC_NOT_AUTHORIZED}, // topics of their own
		{"open+x", mqi.MQSO_WILDCARD_TOPIC, mqi.MQRC_NOT_AUTHORIZED},
		{"open/x#", mqi.MQSO_WILDCARD_TOPIC, 0},
		{"#", mqi.MQSO_WILDCARD_TOPIC, mqi.MQRC_NOT_AUTHORIZED},
		{"/#", mqi.MQSO_WILDCARD_TOPIC, mqi.MQRC_NOT_AUTHORIZED},
		{"+/open", mqi.MQSO_WILDCARD_TOPIC, mqi.MQRC_NOT_AUTHORIZED},
	} {
		sd := mqi.DefaultSD()
		sd.Options, sd.ObjectString = mqi.MQSO_CREATE|mqi.MQSO_MANAGED|c.option, c.filter
		_, _, err := r.c.Subscribe(bg, &sd, 0)
		if _, rc := mqi.Reason(err); rc != c.rc {
			t.Errorf("%s: %d", c.filter, rc)
		}
	}
	for topic, rc := range map[string]mqi.RC{"open": 0, "open/x": 0, "open#": mqi.MQRC_NOT_AUTHORIZED, "open*x": mqi.MQRC_NOT_AUTHORIZED} {
		od := openType(mqi.MQOT_TOPIC, "")
		od.Version, od.ObjectString = 4, topic
		_, err := r.c.Open(bg, od, mqi.MQOO_OUTPUT)
		if _, got := mqi.Reason(err); got != rc {
			t.Errorf("publish on %s: %d", topic, got)
		}
	}
}

// A retained publication's report of arrival at a subscription that is made later is in that subscriber's name, who may have no right to
// put where it goes, though the publisher had.
func TestRetainedReportAuthority(t *testing.T) {
	r, _ := reporting(t)
	r.grant("TOPIC", "SYSTEM.BASE.TOPIC", "PUB")
	r.grant("QUEUE", "SECRET.Q", "PUT")
	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('ann') AUTHADD(CONNECT)")
	r.ok("SET AUTHREC OBJTYPE(TOPIC) PROFILE(SYSTEM.BASE.TOPIC) PRINCIPAL('ann') AUTHADD(SUB)")
	od := openType(mqi.MQOT_TOPIC, "")
	od.Version, od.ObjectString = 4, "t"
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Report, md.ReplyToQ, pmo.Options = mqi.MQRO_COA, "SECRET.Q", mqi.MQPMO_RETAIN
	wantRC(t, r.c.Put1(bg, od, &md, &pmo, []byte("x")), 0)
	subscribes := func(c *Conn) {
		sd := mqi.DefaultSD()
		sd.Options, sd.ObjectString = mqi.MQSO_CREATE|mqi.MQSO_MANAGED, "t"
		_, _, err := c.Subscribe(bg, &sd, 0)
		wantRC(t, err, 0)
	}
	ann, err := r.m.Connect(bg, auth.Identity{User: "ann", UID: -1}, ConnectOptions{})
	wantRC(t, err, 0)
	subscribes(ann)
	if s, d := r.depth("SECRET.Q"), r.depth("DLQ"); s != 0 || d != 1 {
		t.Errorf("ann's: %d reports, %d dead letters", s, d)
	}
	admin, err := r.m.Connect(bg, auth.System("root"), ConnectOptions{})
	wantRC(t, err, 0)
	subscribes(admin)
	if s, d := r.depth("SECRET.Q"), r.depth("DLQ"); s != 1 || d != 1 {
		t.Errorf("root's: %d reports, %d dead letters", s, d)
	}
}
