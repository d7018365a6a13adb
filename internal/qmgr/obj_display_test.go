package qmgr

import (
	"slices"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestWhere(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(W.A) MAXDEPTH(100) DESCR('alpha') SHARE CAPEXPRY(10)")
	r.ok("DEFINE QLOCAL(W.B) MAXDEPTH(200) DESCR('beta') NOSHARE NPMCLASS(HIGH)")
	r.ok("DEFINE QALIAS(W.C) TARGET(W.A)")
	r.ok("DEFINE NAMELIST(W.N) NAMES(ONE,TWO)")
	r.ok("DEFINE NAMELIST(W.M) NAMES(THREE)")
	for _, c := range []struct{ where, names string }{
		{"MAXDEPTH GT 100", "W.B"}, {"MAXDEPTH GE 100", "W.A W.B"}, {"MAXDEPTH LT 200", "W.A"}, {"MAXDEPTH LE 200", "W.A W.B"},
		{"MAXDEPTH EQ 200", "W.B"}, {"MAXDEPTH NE 200", "W.A"}, {"DESCR LK 'al*'", "W.A"}, {"DESCR NL 'al*'", "W.B W.C"},
		{"NPMCLASS EQ HIGH", "W.B"}, {"NPMCLASS NE HIGH", "W.A"}, {"CAPEXPRY LT 20", "W.A"}, {"CAPEXPRY EQ NOLIMIT", "W.B W.C"},
		{"DESCR GT 'b'", "W.B"}, {"TARGET EQ W.A", "W.C"},
	} {
		got := r.show("DISPLAY QUEUE(W.*) WHERE(" + c.where + ")")
		if n := namesIn(got, "QUEUE"); n != c.names {
			t.Errorf("WHERE(%s) shows %s, want %s", c.where, n, c.names)
		}
		key, _, _ := strings.Cut(c.where, " ")
		if !strings.Contains(got[0], key+"(") {
			t.Errorf("WHERE(%s) does not show its attribute: %s", c.where, got[0])
		}
	}
	for _, c := range []struct{ where, names string }{
		{"NAMES CT TWO", "W.N"}, {"NAMES EX TWO", "W.M"}, {"NAMES CTG 'TH*'", "W.M"}, {"NAMES EXG 'T*'", ""}, {"NAMCOUNT EQ 2", "W.N"},
	} {
		rep := r.cmd("DISPLAY NAMELIST(W.*) WHERE(" + c.where + ")")
		if c.names == "" {
			if !rep.Failed() || rep.Msgs[0].ID != msgNotFound {
				t.Errorf("WHERE(%s): %s", c.where, replyText(rep))
			}
			continue
		}
		if n := namesIn(r.show("DISPLAY NAMELIST(W.*) WHERE("+c.where+")"), "NAMELIST"); n != c.names {
			t.Errorf("WHERE(%s) shows %s, want %s", c.where, n, c.names)
		}
	}
}

// namesIn collects the value of one key from rows.
func namesIn(rows []string, key string) string {
	var out []string
	for _, r := range rows {
		if _, rest, ok := strings.Cut(r, key+"("); ok {
			name, _, _ := strings.Cut(rest, ")")
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

func TestDisplaySelection(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(D.B)")
	r.ok("DEFINE QALIAS(D.A) TARGET(D.B)")
	r.ok("DEFINE QREMOTE(D.C) RNAME(X) RQMNAME(Y)")
	r.ok("DEFINE QLOCAL(D.D) CLUSTER(CL)")
	r.want("DISPLAY QUEUE(D.*)", "QUEUE(D.A) TYPE(QALIAS)", "QUEUE(D.B) TYPE(QLOCAL)", "QUEUE(D.C) TYPE(QREMOTE)", "QUEUE(D.D) TYPE(QLOCAL)")
	r.want("DISPLAY QUEUE(D.*) TYPE(QREMOTE) RNAME", "QUEUE(D.C) TYPE(QREMOTE) RNAME(X)")
	r.want("DISPLAY QALIAS(D.*) TARGET", "QUEUE(D.A) TYPE(QALIAS) TARGET(D.B)")
	r.want("DISPLAY QLOCAL(D.*) CLUSTER(CL)", "QUEUE(D.D) TYPE(QLOCAL) CLUSTER(CL)")
	r.want("DISPLAY QLOCAL(D.*) CLUSTER(C*)", "QUEUE(D.D) TYPE(QLOCAL) CLUSTER(CL)")
	r.refuse("AMQ8147E", "DISPLAY QLOCAL(D.*) CLUSTER(X*)")
	r.want("DISPLAY QLOCAL(D.B) CURDEPTH IPPROCS OPPROCS", "QUEUE(D.B) TYPE(QLOCAL) CURDEPTH(0) IPPROCS(0) OPPROCS(0)")
	r.want("DISPLAY QUEUE(D.*) MAXDEPTH TARGET", "QUEUE(D.A) TYPE(QALIAS) TARGET(D.B)", "QUEUE(D.B) TYPE(QLOCAL) MAXDEPTH(5000)",
		"QUEUE(D.C) TYPE(QREMOTE)", "QUEUE(D.D) TYPE(QLOCAL) MAXDEPTH(5000)")
	r.want("DISPLAY QMGR QMNAME CMDLEVEL PLATFORM VERSION", "QMNAME(QM1) CMDLEVEL(941) PLATFORM(UNIX) VERSION(09040100)")
	if all, one := r.show("DISPLAY QLOCAL(D.B)")[0], r.show("DISPLAY QLOCAL(D.B*) ALL")[0]; all != one || len(all) < 800 {
		t.Errorf("ALL and an exact name differ:\n%s\n%s", all, one)
	}
	for _, no := range []string{"CLUSDATE", "QMID", "CFSTRUCT", "QSGDISP", "OTELTRAC"} {
		if strings.Contains(r.show("DISPLAY QLOCAL(D.B)")[0], no) {
			t.Errorf("ALL shows %s", no)
		}
	}
	r.refuse("AMQ8147E", "DISPLAY QUEUE(D.X*)")
	r.refuse("AMQ8147E", "DISPLAY QCLUSTER(*)")
	r.want("DISPLAY QUEUE(D.*) TYPE(QLOCAL) WHERE(CLUSTER EQ ' ')", "QUEUE(D.B) TYPE(QLOCAL) CLUSTER( )")
}

// A reply may be walked only as far as the reader wants.
func TestRowsStop(t *testing.T) {
	r := newObjRig(t)
	n := 0
	for range r.ok("DISPLAY QUEUE(*)").Rows {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Fatalf("walked %d rows", n)
	}
}

// Where a selector of DISPLAY has a value ALL it is what holds without the selector.
func TestDisplayOfAllTypes(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(S) TOPICSTR('a/b') DEST(Q)")
	for _, c := range []struct{ cmd, all, rest string }{
		{"DISPLAY CHLAUTH(*)", "TYPE(ALL)", ""},
		{"DISPLAY CHLAUTH(SYSTEM.DEF.SVRCONN) MATCH(RUNCHECK)", "TYPE(ALL)", "ADDRESS('10.0.0.9') CLNTUSER('x')"},
		{"DISPLAY AUTHINFO(*)", "AUTHTYPE(ALL)", ""},
		{"DISPLAY LISTENER(*)", "TRPTYPE(ALL)", ""},
		{"DISPLAY CHANNEL(*)", "CHLTYPE(ALL)", ""},
		{"DISPLAY QUEUE(*)", "TYPE(ALL)", ""},
		{"DISPLAY TOPIC(*)", "TYPE(ALL)", ""},
		{"DISPLAY SUB(*)", "DURABLE(ALL) SUBTYPE(ALL)", ""},
		{"DISPLAY SBSTATUS(*)", "DURABLE(ALL) SUBTYPE(ALL)", ""},
		{"DISPLAY PUBSUB", "TYPE(ALL)", ""},
	} {
		with, without := r.show(c.cmd+" "+c.all+" "+c.rest), r.show(c.cmd+" "+c.rest)
		if len(without) == 0 || !slices.Equal(with, without) {
			t.Errorf("%s %s shows\n%s\nnot\n%s", c.cmd, c.all, strings.Join(with, "\n"), strings.Join(without, "\n"))
		}
	}
	for _, cmd := range []string{"SET CHLAUTH(A) TYPE(ALL) ADDRESS('*')", "DEFINE LISTENER(L) TRPTYPE(ALL)", "DEFINE AUTHINFO(A) AUTHTYPE(ALL)"} {
		if out, res := r.script(cmd); res.SyntaxErrors != 1 {
			t.Errorf("%s is taken:\n%s", cmd, out)
		}
	}
}

// What is not found has a reason code of its own for most kinds; programs that send PCF commands tell by it.
func TestReasonOfNoStatus(t *testing.T) {
	r := newObjRig(t)
	for cmd, want := range map[string]mqi.RC{
		"DISPLAY LSSTATUS(*)":  mqi.MQRCCF_LSTR_STATUS_NOT_FOUND,
		"DISPLAY SVSTATUS(*)":  mqi.MQRCCF_SERV_STATUS_NOT_FOUND,
		"DISPLAY CHSTATUS(*)":  mqi.MQRCCF_CHL_STATUS_NOT_FOUND,
		"DISPLAY APSTATUS(*)":  mqi.MQRCCF_APPL_STATUS_NOT_FOUND,
		"DISPLAY CHLAUTH(X)":   mqi.MQRCCF_CHLAUTH_NOT_FOUND,
		"DISPLAY POLICY(*)":    mqi.MQRCCF_POLICY_NOT_FOUND,
		"DISPLAY TPSTATUS(no)": mqi.MQRCCF_TOPIC_STRING_NOT_FOUND,
		"DISPLAY QSTATUS(SYSTEM.DEFAULT.LOCAL.QUEUE) TYPE(HANDLE)": mqi.MQRCCF_Q_STATUS_NOT_FOUND,
	} {
		if rep := r.cmd(cmd); !rep.Failed() || mqi.RC(rep.RC) != want {
			t.Errorf("%s: %s with reason %d, want %d", cmd, replyText(rep), rep.RC, want)
		}
	}
}

func TestStatusDisplays(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.want("DISPLAY QSTATUS(Q) CURDEPTH UNCOM", "QUEUE(Q) TYPE(QUEUE) CURDEPTH(0) UNCOM(NO)")
	r.refuse("AMQ8565I", "DISPLAY QSTATUS(NONE)")
	r.refuse("AMQ8565I", "DISPLAY QSTATUS(Q) TYPE(HANDLE)")
	r.want("DISPLAY QMSTATUS CHINIT CMDSERV CONNS", "QMNAME(QM1) TYPE(QMGR) STATUS(RUNNING) CHINIT(STOPPED) CMDSERV(STOPPED) CONNS(0)")
	r.m.SetRunning(PartCommandServer, true)
	r.want("DISPLAY QMSTATUS CMDSERV STARTDA", "QMNAME(QM1) TYPE(QMGR) STATUS(RUNNING) CMDSERV(RUNNING) STARTDA(2026-05-14)")
	r.refuse("AMQ8755I", "DISPLAY TPSTATUS('none')")
	r.refuse("AMQ8761I", "DISPLAY SBSTATUS(NONE)")
	r.refuse("AMQ8277E", "DISPLAY CONN(*)")
	r.refuse("AMQ8277E", "STOP CONN(0123456789ABCDEF)")
	r.refuse("AMQ8933I", "DISPLAY APSTATUS(*)")
	r.refuse("AMQ8934I", "DISPLAY CLUSQMGR(*)")
	r.ok("DEFINE SUB(S) TOPICSTR('a/b') DEST(Q)")
	r.want("DISPLAY TPSTATUS('a/#') SUBCOUNT RETAINED PUBCOUNT", "TOPICSTR(a) RETAINED(NO) PUBCOUNT(0) SUBCOUNT(0)",
		"TOPICSTR(a/b) RETAINED(NO) PUBCOUNT(0) SUBCOUNT(1)")
	r.want("DISPLAY TPSTATUS('a/b') TYPE(SUB) SUBUSER DURABLE", "TOPICSTR(a/b) SUBUSER(root) DURABLE(YES)")
	r.want("DISPLAY SBSTATUS(S) TOPICSTR NUMMSGS", "SUB(S) SUBID("+subIDOf(r, 2)+") NUMMSGS(0) TOPICSTR(a/b)")
}

func TestListeners(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE LISTENER(L) TRPTYPE(TCP) PORT(21414) IPADDR('127.0.0.1')")
	r.refuse("AMQ8147E", "START LISTENER(NONE)")
	r.refuse("AMQ8936I", "DISPLAY LSSTATUS(L)")
	r.refuse("AMQ8731W", "STOP LISTENER(L)")
	r.ok("STOP LISTENER(L) IGNSTATE(YES)")
	r.ok("START LISTENER(L)")
	if r.ports.started["L"] != "127.0.0.1:21414" {
		t.Fatalf("bound %v", r.ports.started)
	}
	r.want("DISPLAY LSSTATUS(*) PORT IPADDR STARTDA", "LISTENER(L) STATUS(RUNNING) PID("+pidText()+") STARTDA(2026-05-14) IPADDR(127.0.0.1) PORT(21414)")
	r.refuse("AMQ8730W", "START LISTENER(L)")
	r.ok("START LISTENER(L) IGNSTATE(YES)")
	r.refuse("AMQ8148E", "DELETE LISTENER(L)")
	r.ok("STOP LISTENER(L)")
	if len(r.ports.started) != 0 {
		t.Fatal("port still bound")
	}
	r.ports.fail = errTest
	rep := r.refuse("AMQ8203E", "START LISTENER(L)")
	if !strings.Contains(replyText(rep), errTest.Error()) || !strings.Contains(replyText(rep), "127.0.0.1:21414") {
		t.Errorf("reply does not say why: %s", replyText(rep))
	}
	r.ports.fail = nil
	r.ok("START LISTENER(L)")
	r.ok("STOP LISTENER(L)")
	r.ok("DELETE LISTENER(L)")

	// CONTROL(QMGR) starts with the queue manager.
	r.ok("DEFINE LISTENER(AUTO) TRPTYPE(TCP) PORT(0) CONTROL(QMGR)")
	r.open()
	if r.ports.started["AUTO"] != ":1414" {
		t.Fatalf("bound %v", r.ports.started)
	}
}

// fakePrograms stands in for the programs of services.
type fakePrograms struct{ last ServiceSpec }

func (p *fakePrograms) Start(s ServiceSpec) (int, error) { p.last = s; return 4711, nil }
func (p *fakePrograms) Stop(s ServiceSpec) error {
	ended := p.last.Ended
	p.last = s
	if ended != nil {
		ended(0)
	}
	return nil
}

func TestServices(t *testing.T) {
	progs := &fakePrograms{}
	r := newObjRig(t, func(o *Options) { o.Services = progs })
	r.ok("DEFINE SERVICE(S) SERVTYPE(SERVER) STARTCMD('/bin/x') STARTARG('-m +QMNAME+') STOPCMD('/bin/kill') STOPARG('+MQ_SERVER_PID+')")
	r.refuse("AMQ8736E", "STOP SERVICE(S)")
	r.ok("START SERVICE(S)")
	if progs.last.StartArg != "-m QM1" || !progs.last.Server {
		t.Fatalf("started with %+v", progs.last)
	}
	r.want("DISPLAY SVSTATUS(S) STARTDA", "SERVICE(S) STATUS(RUNNING) PID(4711) STARTDA(2026-05-14)")
	r.refuse("AMQ8737W", "START SERVICE(S)")
	r.refuse("AMQ8148E", "DELETE SERVICE(S)")
	r.ok("STOP SERVICE(S)")
	if progs.last.StopArg != "4711" {
		t.Fatalf("stopped with %+v", progs.last)
	}
	r.refuse("AMQ8935I", "DISPLAY SVSTATUS(S)")
	r.refuse("AMQ8147E", "START SERVICE(NONE)")
	r.ok("DELETE SERVICE(S)")
}
