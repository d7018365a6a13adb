package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// A command of a table: what must come of it. id "" means success; show is checked after it when not empty.
type step struct {
	cmd, id, show, want string
}

func (r *objRig) steps(list []step) {
	r.t.Helper()
	for _, s := range list {
		if s.id == "" {
			r.ok(s.cmd)
		} else {
			r.refuse(s.id, s.cmd)
		}
		if s.show != "" {
			r.want(s.show, s.want)
		}
	}
}

func TestQueueCommands(t *testing.T) {
	newObjRig(t).steps([]step{
		{cmd: "DEFINE QLOCAL(A) MAXDEPTH(42) DESCR('x')", show: "DISPLAY QLOCAL(A) MAXDEPTH DESCR", want: "QUEUE(A) TYPE(QLOCAL) DESCR(x) MAXDEPTH(42)"},
		{cmd: "DEFINE QLOCAL(A)", id: "AMQ8150E", show: "DISPLAY QLOCAL(A) MAXDEPTH", want: "QUEUE(A) TYPE(QLOCAL) MAXDEPTH(42)"},
		{cmd: "DEFINE QLOCAL(B) LIKE(A)", show: "DISPLAY QLOCAL(B) MAXDEPTH DESCR", want: "QUEUE(B) TYPE(QLOCAL) DESCR(x) MAXDEPTH(42)"},
		{cmd: "DEFINE QLOCAL(C) LIKE(NONE)", id: "AMQ8147E"},
		{cmd: "DEFINE QLOCAL(C) LIKE(SYSTEM.DEFAULT.ALIAS.QUEUE)", id: "AMQ8207E"},
		// REPLACE resets what is not named.
		{cmd: "DEFINE QLOCAL(A) REPLACE MAXMSGL(1000)", show: "DISPLAY QLOCAL(A) MAXDEPTH MAXMSGL DESCR", want: "QUEUE(A) TYPE(QLOCAL) DESCR( ) MAXDEPTH(5000) MAXMSGL(1000)"},
		// Defaults are those of the SYSTEM.DEFAULT object as it is now.
		{cmd: "ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(7)"},
		{cmd: "DEFINE QLOCAL(D)", show: "DISPLAY QLOCAL(D) MAXDEPTH", want: "QUEUE(D) TYPE(QLOCAL) MAXDEPTH(7)"},
		{cmd: "DELETE QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE)"},
		{cmd: "DEFINE QLOCAL(E)", show: "DISPLAY QLOCAL(E) MAXDEPTH", want: "QUEUE(E) TYPE(QLOCAL) MAXDEPTH(5000)"},
		// All queue kinds are one name space.
		{cmd: "DEFINE QALIAS(A) TARGET(B) REPLACE", id: "AMQ8207E"},
		{cmd: "DEFINE QMODEL(A)", id: "AMQ8150E"},
		{cmd: "ALTER QREMOTE(A) RNAME(X)", id: "AMQ8207E"},
		{cmd: "DELETE QALIAS(A)", id: "AMQ8207E", show: "DISPLAY QLOCAL(A) MAXMSGL", want: "QUEUE(A) TYPE(QLOCAL) MAXMSGL(1000)"},
		{cmd: "ALTER QLOCAL(A) NOSHARE TRIGGER GET(DISABLED)", show: "DISPLAY QLOCAL(A) SHARE TRIGGER GET", want: "QUEUE(A) TYPE(QLOCAL) GET(DISABLED) TRIGGER NOSHARE"},
		{cmd: "ALTER QLOCAL(NONE) MAXDEPTH(1)", id: "AMQ8147E"},
		{cmd: "DELETE QLOCAL(NONE)", id: "AMQ8147E"},
		{cmd: "DELETE QLOCAL(NONE) IGNSTATE(YES)"},
		{cmd: "CLEAR QLOCAL(A)"},
		{cmd: "CLEAR QLOCAL(NONE)", id: "AMQ8147E"},
		{cmd: "DEFINE QALIAS(AL) TARGQ(A)", show: "DISPLAY QUEUE(AL) TARGET", want: "QUEUE(AL) TYPE(QALIAS) TARGET(A)"},
		{cmd: "CLEAR QLOCAL(AL)", id: "AMQ8207E"},
		{cmd: "DEFINE QLOCAL(CL) CLUSTER(X) CLUSNL(Y)", id: "AMQ8203E"},
		{cmd: "DEFINE QLOCAL(CL) CLUSTER(X) USAGE(XMITQ)", id: "AMQ8203E"},
		{cmd: "DEFINE QLOCAL(CL) QDEPTHHI(10) QDEPTHLO(20)", id: "AMQ8203E"},
		{cmd: "DEFINE QLOCAL(CL) STREAMQ(CL)", id: "AMQ8203E"},
		{cmd: "DEFINE QLOCAL(SH) QSGDISP(SHARED) CFSTRUCT(APP1)", id: "AMQ8202E"},
		{cmd: "DEFINE QLOCAL(SH) CFSTRUCT(APP1)", show: "DISPLAY QLOCAL(SH) CFSTRUCT", want: "QUEUE(SH) TYPE(QLOCAL) CFSTRUCT(APP1)"},
		{cmd: "DELETE QLOCAL(A)"},
		{cmd: "DISPLAY QLOCAL(A)", id: "AMQ8147E"},
		{cmd: "DISPLAY QLOCAL(CL)", id: "AMQ8147E"},
	})
}

func TestChannelCommands(t *testing.T) {
	newObjRig(t).steps([]step{
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(5)", show: "DISPLAY CHANNEL(C) MAXINST", want: "CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(5)"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(SVRCONN)", id: "AMQ8226E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(RCVR) REPLACE", id: "AMQ8207E"},
		// A client connection channel may have the name of its server connection channel.
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(CLNTCONN) CONNAME('h(1)')"},
		{cmd: "ALTER CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(6)", show: "DISPLAY CHANNEL(C) CHLTYPE(SVRCONN) MAXINST", want: "CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(6)"},
		{cmd: "ALTER CHANNEL(C) CHLTYPE(SDR) CONNAME(X)", id: "AMQ8207E"},
		{cmd: "ALTER CHANNEL(NONE) CHLTYPE(SDR) CONNAME(X)", id: "AMQ8227E"},
		{cmd: "DELETE CHANNEL(C) CHLTABLE(CLNTTBL)", show: "DISPLAY CHANNEL(C) MAXINST", want: "CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(6)"},
		{cmd: "DELETE CHANNEL(C)"},
		{cmd: "DELETE CHANNEL(C)", id: "AMQ8227E"},
		{cmd: "DEFINE CHANNEL(S) CHLTYPE(SDR) CONNAME('h') XMITQ(X)"},
		{cmd: "ALTER CHANNEL(S) CHLTYPE(SDR) CONNAME(' ')", id: "AMQ8214E"},
		{cmd: "ALTER CHANNEL(S) CHLTYPE(SDR) XMITQ(' ')", id: "AMQ8215E"},
		{cmd: "DEFINE CHANNEL(L) CHLTYPE(SDR) LIKE(S)", show: "DISPLAY CHANNEL(L) CONNAME XMITQ", want: "CHANNEL(L) CHLTYPE(SDR) CONNAME(h) XMITQ(X)"},
		{cmd: "DEFINE CHANNEL(L2) CHLTYPE(SDR) LIKE(NONE)", id: "AMQ8227E"},
		{cmd: "START CHANNEL(NONE)", id: "AMQ8227E"},
		{cmd: "START CHANNEL(S)", id: "AMQ8199E"},
		{cmd: "PING CHANNEL(S)", id: "AMQ8199E"},
		{cmd: "DEFINE CHANNEL(SV) CHLTYPE(SVRCONN)"},
		{cmd: "PING CHANNEL(SV)", id: "AMQ9502E"},
		{cmd: "RESET CHANNEL(SV)", id: "AMQ9502E"},
		{cmd: "RESOLVE CHANNEL(SV) ACTION(COMMIT)", id: "AMQ9502E"},
		{cmd: "RESOLVE CHANNEL(S) ACTION(COMMIT)", id: "AMQ8199E"},
		{cmd: "STOP CHANNEL(S)", id: "AMQ8199E"},
		{cmd: "DISPLAY CHSTATUS(S)", id: "AMQ8420I"},
	})
}

func TestTopicAndSubCommands(t *testing.T) {
	r := newObjRig(t)
	r.steps([]step{
		{cmd: "DEFINE TOPIC(T) TOPICSTR('a/b') DEFPSIST(YES)", show: "DISPLAY TPSTATUS('a/b') ADMIN DEFPSIST", want: "TOPICSTR(a/b) ADMIN(T) DEFPSIST(YES)"},
		{cmd: "DEFINE TOPIC(T2) TOPICSTR('a/b')", id: "AMQ8211E"},
		{cmd: "DEFINE TOPIC(T) TOPICSTR('a/c') REPLACE", id: "AMQ8208E"},
		{cmd: "DEFINE TOPIC(T) TOPICSTR('a/b') REPLACE", show: "DISPLAY TPSTATUS('a/b') DEFPSIST", want: "TOPICSTR(a/b) DEFPSIST(NO)"},
		{cmd: "DEFINE QLOCAL(Q)"},
		{cmd: "DEFINE SUB(S) TOPICOBJ(T) TOPICSTR('c/+') DEST(Q)", show: "DISPLAY SUB(S) TOPICSTR DEST", want: "SUBID(" + subIDOf(r, 2) + ") SUB(S) TOPICSTR(a/b/c/+) DEST(Q)"},
		{cmd: "DISPLAY SUB(S) TOPICSTR DISTYPE(DEFINED)", show: "DISPLAY SUB(S) TOPICSTR DISTYPE(DEFINED)", want: "SUBID(" + subIDOf(r, 2) + ") SUB(S) TOPICSTR(c/+)"},
		{cmd: "DEFINE SUB(S) TOPICSTR('x') DEST(Q)", id: "AMQ8150E"},
		{cmd: "DEFINE SUB(S) TOPICSTR('x') DEST(Q) REPLACE", id: "AMQ8208E"},
		{cmd: "DEFINE SUB(S2) TOPICSTR('x') DEST(NONE)", id: "AMQ8147E"},
		{cmd: "DEFINE SUB(S2) TOPICOBJ(NONE) DEST(Q)", id: "AMQ8147E"},
		{cmd: "DEFINE SUB(S2) TOPICSTR('x') DEST(Q) DESTCLAS(MANAGED)", id: "AMQ8203E"},
		{cmd: "DISPLAY SUB(S)", show: "DISPLAY SUB(*) SUB DURABLE WHERE(SUB EQ 'S')", want: "SUBID(" + subIDOf(r, 2) + ") SUB(S) DURABLE(YES)"},
		{cmd: "ALTER SUB(S) USERDATA('u')", show: "DISPLAY SUB(S) USERDATA", want: "SUBID(" + subIDOf(r, 2) + ") SUB(S) USERDATA(u)"},
		{cmd: "DEFINE SUB(S2) TOPICSTR('x') DEST(Q) SELECTOR('a = ')", id: "AMQ8213E"},
		{cmd: "DELETE SUB(NONE)", id: "AMQ8147E"},
		{cmd: "CLEAR TOPICSTR('a/#') CLRTYPE(RETAINED)"},
	})
	r.want("DISPLAY PUBSUB TYPE(LOCAL)", "QMNAME(QM1) TYPE(LOCAL) STATUS(ACTIVE) SUBCOUNT(1) TPCOUNT(7)")
	r.ok("DELETE SUB(S)")
	r.ok("DELETE TOPIC(T)")
	r.want("DISPLAY PUBSUB TYPE(LOCAL)", "QMNAME(QM1) TYPE(LOCAL) STATUS(ACTIVE) SUBCOUNT(0) TPCOUNT(7)")
	// The topic string is free again, and its unused nodes end with TREELIFE.
	r.ok("DEFINE TOPIC(T3) TOPICSTR('a/b')")
	r.clk.Advance(31 * time.Minute)
	eventually(t, "the unused nodes end", func() bool {
		r.clk.Advance(time.Minute) // the loop may have set its timer only now, from what the clock said before
		return r.m.topics.tree.Count() == 6
	})
	r.want("DISPLAY PUBSUB TYPE(LOCAL)", "QMNAME(QM1) TYPE(LOCAL) STATUS(ACTIVE) SUBCOUNT(0) TPCOUNT(6)")
}

// subIDOf is the SUBID that the n-th subscription of a rig gets.
func subIDOf(_ *objRig, n uint64) string {
	return strings.ToUpper(fmt.Sprintf("%x%016x", "AMQ QM1         ", uint64(testTime.UnixNano())+n))
}

func TestManagedSubscription(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE SUB(M) TOPICSTR('a') DESTCLAS(MANAGED)")
	q := r.m.lookup(ClassSub, "M").Def().Get("DEST")
	if !strings.HasPrefix(q, "SYSTEM.MANAGED.DURABLE.") {
		t.Fatalf("managed queue %q", q)
	}
	r.want("DISPLAY QLOCAL('"+q+"') DEFTYPE MAXDEPTH", "QUEUE("+q+") TYPE(QLOCAL) DEFTYPE(PERMDYN) MAXDEPTH(999999999)")
	r.open() // both are durable
	if r.m.lookup(ClassQueue, q) == nil || r.m.lookup(ClassSub, "M") == nil || r.m.topics.tree.SubCount() != 1 {
		t.Fatal("managed subscription lost by a restart")
	}
	r.ok("DELETE SUB(M)")
	if r.m.lookup(ClassQueue, q) != nil {
		t.Fatal("managed queue stays behind its subscription")
	}
	r.ok("DEFINE TOPIC(NOMODEL) TOPICSTR('n') MDURMDL(SYSTEM.DEFAULT.MODEL.QUEUE)")
	r.refuse("AMQ8203E", "DEFINE SUB(N) TOPICSTR('n/x') DESTCLAS(MANAGED)")
	if r.m.lookup(ClassSub, "N") != nil {
		t.Fatal("a refused subscription is there")
	}
}

func TestOtherObjects(t *testing.T) {
	r := newObjRig(t)
	r.steps([]step{
		{cmd: "DEFINE NAMELIST(N) NAMES(A,B)", show: "DISPLAY NAMELIST(N) NAMES NAMCOUNT", want: "NAMELIST(N) NAMCOUNT(2) NAMES(A,B)"},
		{cmd: "ALTER NAMELIST(N) NAMES( )", show: "DISPLAY NAMELIST(N) NAMCOUNT", want: "NAMELIST(N) NAMCOUNT(0)"},
		{cmd: "DEFINE PROCESS(P) APPLTYPE(UNIX) APPLICID('/bin/true')", show: "DISPLAY PROCESS(P) APPLICID", want: "PROCESS(P) APPLICID(/bin/true)"},
		{cmd: "DELETE PROCESS(P)"},
		{cmd: "DELETE PROCESS(P)", id: "AMQ8147E"},
		{cmd: "DEFINE AUTHINFO(X) AUTHTYPE(IDPWOS) FAILDLAY(5)", show: "DISPLAY AUTHINFO(X) FAILDLAY", want: "AUTHINFO(X) AUTHTYPE(IDPWOS) FAILDLAY(5)"},
		{cmd: "ALTER AUTHINFO(X) AUTHTYPE(OCSP) DESCR('a')", id: "AMQ8207E"},
		{cmd: "DEFINE AUTHINFO(X) AUTHTYPE(OCSP) OCSPURL('http://h') REPLACE", id: "AMQ8207E"},
		{cmd: "DELETE AUTHINFO(NONE)", id: "AMQ8147E"},
		{cmd: "DEFINE AUTHINFO(L) AUTHTYPE(IDPWLDAP) CONNAME('h') LDAPPWD('secret')", show: "DISPLAY AUTHINFO(L) LDAPPWD", want: "AUTHINFO(L) AUTHTYPE(IDPWLDAP) LDAPPWD(********)"},
		{cmd: "DEFINE COMMINFO(CI) TYPE(MULTICAST) PORT(99)", show: "DISPLAY COMMINFO(CI) PORT", want: "COMMINFO(CI) TYPE(MULTICAST) PORT(99)"},
		{cmd: "DEFINE CFSTRUCT(APP1)", id: "AMQ8202E"},
		{cmd: "DISPLAY CFSTATUS(*)", id: "AMQ8202E"},
		{cmd: "MOVE QLOCAL(A)", id: "AMQ8200E"},
		{cmd: "ARCHIVE LOG", id: "AMQ8200E"},
		{cmd: "SET POLICY(A) SIGNALG(SHA256)", id: "AMQ8199E"},
		{cmd: "REFRESH CLUSTER(X)", id: "AMQ8199E"},
		{cmd: "PING QMGR"},
		{cmd: "ALTER QMGR CONNAUTH(NONE)"},
		{cmd: "REFRESH SECURITY TYPE(CONNAUTH)", id: "AMQ8147E"},
		{cmd: "ALTER QMGR CONNAUTH(X)"},
		{cmd: "REFRESH SECURITY TYPE(CONNAUTH)"},
		{cmd: "ALTER QMGR REPOS(A) REPOSNL(B)", id: "AMQ8203E"},
		{cmd: "ALTER QMGR LOGGEREV(ENABLED)", id: "AMQ8518E"},
		{cmd: "ALTER QMGR CCSID(1)", id: "AMQ8203E"},
		{cmd: "ALTER QMGR CCSID(500)", id: "AMQ8203E"},  // EBCDIC
		{cmd: "ALTER QMGR CCSID(1200)", id: "AMQ8203E"}, // UTF-16
		{cmd: "ALTER QMGR CCSID(819)", show: "DISPLAY QMGR CCSID", want: "QMNAME(QM1) CCSID(819)"},
		{cmd: "DEFINE LISTENER(LT) TRPTYPE(TCP)"},
		{cmd: "ALTER LISTENER(LT) TRPTYPE(LU62)", id: "AMQ8207E"},
		{cmd: "ALTER QMGR DEADQ(DLQ) IGQ(ENABLED)", show: "DISPLAY QMGR DEADQ IGQ", want: "QMNAME(QM1) DEADQ(DLQ) IGQ(ENABLED)"},
		{cmd: "ALTER QMGR PARENT(HQ)", show: "DISPLAY PUBSUB TYPE(PARENT)", want: "QMNAME(HQ) TYPE(PARENT) STATUS(ERROR)"},
		{cmd: "ALTER QMGR PARENT(QM1)", id: "AMQ8203E"},
		{cmd: "DEFINE QLOCAL(HQ) USAGE(XMITQ)", show: "DISPLAY PUBSUB TYPE(PARENT)", want: "QMNAME(HQ) TYPE(PARENT) STATUS(INACTIVE)"},
	})
	for _, o := range r.m.list("*", ClassAuthinfo) {
		if strings.Contains(strings.Join(o.Def().vals(), " "), "secret") {
			t.Fatal("a password is kept in clear")
		}
	}
}

// Dates are those of the clock: CRDATE stays, ALTDATE moves.
func TestTimes(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(A)")
	r.clk.Advance(25 * time.Hour)
	r.ok("ALTER QLOCAL(A) MAXDEPTH(1)")
	r.want("DISPLAY QLOCAL(A) CRDATE CRTIME ALTDATE ALTTIME",
		"QUEUE(A) TYPE(QLOCAL) ALTDATE(2026-05-15) ALTTIME(15.38.28) CRDATE(2026-05-14) CRTIME(14.38.28)")
	r.clk.Advance(time.Hour)
	r.ok("DEFINE QLOCAL(A) REPLACE")
	r.want("DISPLAY QLOCAL(A) CRDATE ALTTIME", "QUEUE(A) TYPE(QLOCAL) ALTTIME(16.38.28) CRDATE(2026-05-14)")
}

// Only an administrator may give commands.
func TestNotAuthorized(t *testing.T) {
	r := newObjRig(t)
	c, _ := mqsc.ParseCommand("DEFINE QLOCAL(A)")
	id := admin
	id.Admin = false
	rep := r.m.Execute(t.Context(), c, id)
	if !rep.Failed() || rep.RC != 2035 || rep.Msgs[0].ID != "AMQ8135E" {
		t.Fatalf("reply %+v", rep)
	}
	if r.m.lookup(ClassQueue, "A") != nil {
		t.Fatal("a refused command left something behind")
	}
}

// Every message id used here has a text.
func TestMessageTexts(t *testing.T) {
	for _, id := range []string{msgUnexpected, msgNotAuthorized, msgInUse, msgNotEmpty, msgNotFound, msgExists, msgQuiescing,
		msgNotBuilt, msgOtherPlatform, msgNeedsGroup, msgConflict, msgWrongType, msgFixed, msgTopicStrTaken, msgBadSelector, msgConnameNeeded,
		msgXmitqNeeded, msgChannelExists, msgChannelNotFound, msgNoConnection, msgNoChannelStatus, msgLoggerEvents, msgNoQueueStatus,
		msgBadFilter, msgListenerActive, msgListenerIdle, msgServiceActive, msgServiceFailed, msgServiceIdle,
		msgNoTopicStatus, msgNoSubStatus, msgNoAuthrec, msgUnknownEntity, msgChlauthExists, msgNoChlauth, msgNoApplStatus,
		msgNoClusQmgr, msgNoServiceStatus, msgNoListenerStatus} {
		if attr.MessageText(id) == "" {
			t.Errorf("%s has no text", id)
		}
	}
}

// eventually waits for what a loop of the manager does after the clock moved.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatal("never: " + what)
}

// A subscription ends EXPIRY tenths of a second after its creation, with its managed queue, also after a restart.
func TestSubExpiry(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE SUB(SHORT) TOPICSTR('a') DESTCLAS(MANAGED) EXPIRY(100)")
	r.ok("DEFINE SUB(LONG) TOPICSTR('a') DESTCLAS(MANAGED) EXPIRY(600)")
	r.ok("DEFINE SUB(EVER) TOPICSTR('a') DESTCLAS(MANAGED)")
	r.clk.Advance(9 * time.Second)
	if r.m.lookup(ClassSub, "SHORT") == nil {
		t.Fatal("ended too early")
	}
	r.clk.Advance(time.Second)
	ends := func(name string) {
		eventually(t, name+" ends", func() bool {
			r.clk.Advance(50 * time.Millisecond) // the loop may have read the clock before, and set its timer after, the step above
			return r.m.lookup(ClassSub, name) == nil
		})
	}
	ends("SHORT")
	eventually(t, "its queue goes", func() bool { return len(r.show("DISPLAY QLOCAL(SYSTEM.MANAGED*)")) == 2 })
	if n := r.m.topics.tree.SubCount(); n != 2 {
		t.Errorf("%d subscriptions", n)
	}
	r.m.cancel() // the first manager's loops
	r.open()
	r.clk.Advance(50 * time.Second)
	ends("LONG")
	if r.m.lookup(ClassSub, "EVER") == nil {
		t.Error("EXPIRY(UNLIMITED) ended")
	}
}

// Seed 000, examples 6 to 12: a topic object pins its topic; TREELIFE decides when the rest goes.
func TestTreeLife(t *testing.T) {
	r := newObjRig(t)
	r.want("DISPLAY QMGR TREELIFE", "QMNAME(QM1) TREELIFE(1800)")
	start := r.m.topics.tree.Count()
	r.ok("DEFINE TOPIC(ALABAMA) TOPICSTR('USA/Alabama')")
	r.want("DISPLAY TPSTATUS('USA/Alabama') ADMIN", "TOPICSTR(USA/Alabama) ADMIN(ALABAMA)")
	r.want("DISPLAY TPSTATUS('USA') ADMIN", "TOPICSTR(USA) ADMIN( )")
	r.ok("ALTER QMGR TREELIFE(2)")
	r.clk.Advance(20 * time.Second)
	r.want("DISPLAY TPSTATUS('USA/+') ADMIN", "TOPICSTR(USA/Alabama) ADMIN(ALABAMA)")
	r.ok("DELETE TOPIC(ALABAMA)")
	for range 4 { // each level has its own life
		r.clk.Advance(3 * time.Second)
		time.Sleep(5 * time.Millisecond)
	}
	eventually(t, "the unused topics go", func() bool { r.clk.Advance(time.Second); return r.m.topics.tree.Count() == start })
	r.ok("ALTER QMGR TREELIFE(0)")
	r.ok("DEFINE TOPIC(Z) TOPICSTR('z')")
	r.ok("DELETE TOPIC(Z)")
	r.clk.Advance(time.Hour)
	time.Sleep(5 * time.Millisecond)
	r.want("DISPLAY TPSTATUS('z') ADMIN", "TOPICSTR(z) ADMIN( )")
	// Seed 000, example 43: TPCOUNT is the number of blocks of TPSTATUS('#').
	if n := len(r.show("DISPLAY TPSTATUS('#')")); n != r.m.topics.tree.Count() {
		t.Errorf("%d topics shown, TPCOUNT is %d", n, r.m.topics.tree.Count())
	}
}
