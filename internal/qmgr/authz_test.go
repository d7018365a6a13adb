package qmgr

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// authRig is a queue manager with the user joe, of group staff, who may connect and nothing else.
type authRig struct {
	*objRig
	log  *logBuffer
	host *fakeHost
	c    *Conn
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take returns what was logged since the last call.
func (l *logBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// fakeHost is the machine: joe's groups, and the password file.
type fakeHost struct {
	users   *auth.Users
	err     error
	reloads int

	asked func(user string) // by Account, when it knows its answer
	admin string            // an administrator
}

func (h *fakeHost) Users() (*auth.Users, error) { return h.users, h.err }
func (h *fakeHost) ReloadTLS() error            { h.reloads++; return h.err }
func (h *fakeHost) Account(user string) (a auth.Account) {
	if user == "joe" {
		a.Groups = []string{"staff"}
	}
	a.Admin = user == h.admin
	if h.asked != nil {
		h.asked(user)
	}
	return a
}

var joe = auth.Identity{User: "joe", UID: 1002, Groups: []string{"staff"}}

func newAuthRig(t *testing.T) *authRig {
	r := &authRig{log: &logBuffer{}, host: &fakeHost{users: auth.NewUsers()}}
	r.objRig = newObjRig(t, func(o *Options) {
		l := zerolog.New(r.log)
		o.Log, o.Security = &l, r.host
	})
	r.ok("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(CONNECT)")
	r.c = r.joes()
	return r
}

func (r *authRig) joes() *Conn {
	r.t.Helper()
	c, err := r.m.Connect(bg, joe, ConnectOptions{ApplName: "prog", Channel: "APP.CH", ConnName: "10.1.2.3:4000"})
	wantRC(r.t, err, 0)
	return c
}

func (r *authRig) grant(objType, profile, auths string) {
	r.t.Helper()
	r.ok(fmt.Sprintf("SET AUTHREC OBJTYPE(%s) PROFILE('%s') GROUP('staff') AUTHADD(%s)", objType, profile, auths))
}

func (r *authRig) revoke(objType, profile string) {
	r.t.Helper()
	r.ok(fmt.Sprintf("DELETE AUTHREC OBJTYPE(%s) PROFILE('%s') GROUP('staff')", objType, profile))
}

// refused checks that err is 2035 and that exactly one line says who lacks what.
func (r *authRig) refused(err error, want ...string) {
	r.t.Helper()
	wantRC(r.t, err, mqi.MQRC_NOT_AUTHORIZED)
	lines := strings.Count(r.log.take0(r.t, want), "AMQ8077W")
	if lines != 1 {
		r.t.Errorf("%d lines", lines)
	}
}

func (l *logBuffer) take0(t *testing.T, want []string) string {
	t.Helper()
	s := l.take()
	for _, w := range want {
		if !strings.Contains(s, w) {
			t.Errorf("log without %q: %s", w, s)
		}
	}
	return s
}

func openType(t int32, name string) *mqi.OD {
	od := mqi.DefaultOD()
	od.ObjectType, od.ObjectName = t, name
	return &od
}

func TestConnectAuthority(t *testing.T) {
	r := newAuthRig(t)
	r.ok("ALTER QMGR AUTHOREV(ENABLED)")
	r.log.take()
	_, err := r.m.Connect(bg, auth.Identity{User: "eve"}, ConnectOptions{ApplName: "prog", Channel: "APP.CH", ConnName: "10.9.9.9"})
	r.refused(err, `"user":"eve"`, `"missing":"CONNECT"`, `"channel":"APP.CH"`, `"address":"10.9.9.9"`, "no authority record fits")
	if o := r.m.lookup(ClassQueue, qmgrEventQueue); o.Queue.depth() == 0 {
		t.Error("no event")
	}
}

// Each open option needs its authority over the object, and says so when it is missing.
func TestOpenAuthorities(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.ok("DEFINE PROCESS(A.P)")
	r.ok("DEFINE NAMELIST(A.N)")
	for _, c := range []struct {
		typ     int32
		objType string
		name    string
		options int32
		auth    string
	}{
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_INPUT_AS_Q_DEF, "GET"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_INPUT_SHARED, "GET"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_INPUT_EXCLUSIVE, "GET"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_BROWSE, "BROWSE"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_OUTPUT, "PUT"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_INQUIRE, "INQ"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_SET, "SET"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_OUTPUT | mqi.MQOO_PASS_IDENTITY_CONTEXT, "PUT,PASSID"},
		{mqi.MQOT_Q, "QUEUE", "A.Q", mqi.MQOO_OUTPUT | mqi.MQOO_PASS_ALL_CONTEXT, "PUT,PASSALL"},
		{mqi.MQOT_PROCESS, "PROCESS", "A.P", mqi.MQOO_INQUIRE, "INQ"},
		{mqi.MQOT_NAMELIST, "NAMELIST", "A.N", mqi.MQOO_INQUIRE, "INQ"},
	} {
		for _, lacking := range strings.Split(c.auth, ",") {
			r.log.take()
			_, err := r.c.Open(bg, openType(c.typ, c.name), c.options)
			r.refused(err, "MQOPEN", lacking, `"object":"`+c.name+`"`, `"objtype":"`+c.objType+`"`)
			r.grant(c.objType, "A.**", lacking)
		}
		h, err := r.c.Open(bg, openType(c.typ, c.name), c.options)
		wantRC(t, err, 0)
		wantRC(t, r.c.Close(bg, h, 0), 0)
		r.revoke(c.objType, "A.**")
	}
	_, err := r.c.Open(bg, openType(mqi.MQOT_Q_MGR, ""), mqi.MQOO_INQUIRE)
	r.refused(err, "the queue manager", "INQ")
	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('joe') AUTHADD(INQ)")
	_, err = r.c.Open(bg, openType(mqi.MQOT_Q_MGR, ""), mqi.MQOO_INQUIRE)
	wantRC(t, err, 0)
	_, err = r.c.Open(bg, openType(mqi.MQOT_Q, "NOT.THERE"), mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_UNKNOWN_OBJECT_NAME)
}

// Setting context needs the right over the queue and over the queue manager.
func TestSetContextAuthority(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.grant("QUEUE", "A.Q", "PUT,SETALL,SETID")
	for opt, word := range map[int32]string{mqi.MQOO_SET_ALL_CONTEXT: "SETALL", mqi.MQOO_SET_IDENTITY_CONTEXT: "SETID"} {
		r.log.take()
		_, err := r.c.Open(bg, openType(mqi.MQOT_Q, "A.Q"), mqi.MQOO_OUTPUT|opt)
		r.refused(err, "the queue manager", word)
		r.ok("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(" + word + ")")
		_, err = r.c.Open(bg, openType(mqi.MQOT_Q, "A.Q"), mqi.MQOO_OUTPUT|opt)
		wantRC(t, err, 0)
	}
}

func TestPut1AliasRemoteAuthorities(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.ok("DEFINE QALIAS(B.ALIAS) TARGET(A.Q)")
	r.ok("DEFINE QLOCAL(XQ) USAGE(XMITQ)")
	r.ok("DEFINE QREMOTE(C.REM) RNAME(X) RQMNAME(QM2) XMITQ(XQ)")
	put1 := func(name, qm string) error {
		od := mqi.DefaultOD()
		od.ObjectName, od.ObjectQMgrName = name, qm
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		pmo.Options = mqi.MQPMO_NO_SYNCPOINT
		return r.c.Put1(bg, &od, &md, &pmo, []byte("x"))
	}
	r.log.take()
	r.refused(put1("A.Q", ""), "MQPUT1", "PUT")
	r.refused(put1("B.ALIAS", ""), `"object":"B.ALIAS"`)
	r.grant("QUEUE", "B.*", "PUT") // the alias is enough
	wantRC(t, put1("B.ALIAS", ""), 0)
	r.log.take()
	r.refused(put1("A.Q", ""))
	r.refused(put1("C.REM", ""), `"object":"C.REM"`)
	r.grant("QUEUE", "C.*", "PUT") // and the definition of a remote queue
	wantRC(t, put1("C.REM", ""), 0)
	r.ok("DEFINE QLOCAL(QM2) USAGE(XMITQ)")
	r.log.take()
	r.refused(put1("ANY", "QM2"), `"object":"QM2"`, `"objtype":"QUEUE"`)
	r.grant("RQMNAME", "QM2", "PUT")
	wantRC(t, put1("ANY", "QM2"), 0)
	r.revoke("RQMNAME", "QM2")
	r.grant("QUEUE", "QM2", "PUT")
	wantRC(t, put1("ANY", "QM2"), 0)
}

// Who may use a model makes dynamic queues that are his own; others need records.
func TestDynamicAuthorities(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QMODEL(A.MODEL) DEFTYPE(PERMDYN)")
	od := openType(mqi.MQOT_Q, "A.MODEL")
	od.DynamicQName = "DYN.*"
	r.log.take()
	_, err := r.c.Open(bg, od, mqi.MQOO_INPUT_SHARED)
	r.refused(err, "DSP", "GET", `"object":"A.MODEL"`)
	r.grant("QUEUE", "A.MODEL", "GET,DSP")
	h, err := r.c.Open(bg, od, mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	second, err := r.c.Open(bg, openType(mqi.MQOT_Q, od.ObjectName), mqi.MQOO_OUTPUT|mqi.MQOO_BROWSE)
	wantRC(t, err, 0)
	wantRC(t, r.c.Close(bg, second, 0), 0)

	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('al') AUTHADD(CONNECT)")
	r.ok("SET AUTHREC OBJTYPE(QUEUE) PROFILE('DYN.**') PRINCIPAL('al') AUTHADD(BROWSE)")
	al, err := r.m.Connect(bg, auth.Identity{User: "al"}, ConnectOptions{})
	wantRC(t, err, 0)
	r.log.take()
	_, err = al.Open(bg, openType(mqi.MQOT_Q, od.ObjectName), mqi.MQOO_OUTPUT)
	r.refused(err, "PUT")
	other, err := al.Open(bg, openType(mqi.MQOT_Q, od.ObjectName), mqi.MQOO_BROWSE)
	wantRC(t, err, 0)
	r.log.take()
	r.refused(al.Close(bg, other, mqi.MQCO_DELETE), "MQCLOSE", "DLT")
	r.ok("SET AUTHREC OBJTYPE(QUEUE) PROFILE('DYN.**') PRINCIPAL('al') AUTHADD(DLT)")
	wantRC(t, al.Close(bg, other, mqi.MQCO_DELETE), 0)
	wantRC(t, r.c.Close(bg, h, 0), 0)
}

// Who made a permanent dynamic queue owns it after a restart too: its authority record is stored with the queue, shown, and
// deleted with it.
func TestDynamicOwner(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QMODEL(A.MODEL) DEFTYPE(PERMDYN)")
	r.grant("QUEUE", "A.MODEL", "GET,DSP")
	od := openType(mqi.MQOT_Q, "A.MODEL")
	od.DynamicQName = "OWN.*"
	h, err := r.c.Open(bg, od, mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	wantRC(t, r.c.Close(bg, h, 0), 0)
	r.ok("DISPLAY AUTHREC PROFILE(" + od.ObjectName + ") OBJTYPE(QUEUE)")
	if r.m.lookup(ClassAuthrec, authrecKey("QUEUE", od.ObjectName, "PRINCIPAL", "joe")) == nil {
		t.Error("no record of the maker")
	}
	r.m.lookup(ClassQueue, od.ObjectName).made.Store(nil) // as a restart leaves it
	_, err = r.joes().Open(bg, openType(mqi.MQOT_Q, od.ObjectName), mqi.MQOO_OUTPUT|mqi.MQOO_BROWSE|mqi.MQOO_SET)
	wantRC(t, err, 0)
	h, err = r.c.Open(bg, openType(mqi.MQOT_Q, od.ObjectName), mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_DELETE_PURGE), 0)
	if keys := r.m.keysOf(ClassAuthrec, "QUEUE"+keySep+od.ObjectName); len(keys) != 0 {
		t.Errorf("%d authority records of a queue that is no more", len(keys))
	}
	od = openType(mqi.MQOT_Q, "SYSTEM.DEFAULT.MODEL.QUEUE") // a temporary one has none
	r.grant("QUEUE", od.ObjectName, "GET,DSP")
	_, err = r.c.Open(bg, od, mqi.MQOO_INPUT_EXCLUSIVE)
	wantRC(t, err, 0)
	if keys := r.m.keysOf(ClassAuthrec, "QUEUE"+keySep+od.ObjectName); len(keys) != 0 {
		t.Errorf("%d authority records of a temporary queue", len(keys))
	}
}

func TestAlternateUser(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.ok("SET AUTHREC OBJTYPE(QUEUE) PROFILE(A.Q) PRINCIPAL('al') AUTHADD(PUT)")
	od := openType(mqi.MQOT_Q, "A.Q")
	od.AlternateUserID = "al"
	r.log.take()
	_, err := r.c.Open(bg, od, mqi.MQOO_OUTPUT|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
	r.refused(err, "ALTUSR", `"user":"joe"`)
	r.ok("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(ALTUSR)")
	_, err = r.c.Open(bg, od, mqi.MQOO_OUTPUT|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
	wantRC(t, err, 0)
	_, err = r.c.Open(bg, od, mqi.MQOO_BROWSE|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
	r.log.take()
	wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
	// An administrator's name gives nobody his rights.
	od.AlternateUserID = "root"
	_, err = r.c.Open(bg, od, mqi.MQOO_BROWSE|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
	r.refused(err, `"user":"root"`)
}

// Topics: the nearest object that gives the right decides, a wildcard is asked about from where it begins.
func TestTopicAuthorities(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE TOPIC(T.SPORT) TOPICSTR('sport')")
	r.ok("DEFINE TOPIC(T.SECRET) TOPICSTR('sport/secret')")
	r.ok("DEFINE QLOCAL(A.Q)")
	publish := func(topic string) error {
		od := openType(mqi.MQOT_TOPIC, "")
		od.Version, od.ObjectString = 4, topic
		h, err := r.c.Open(bg, od, mqi.MQOO_OUTPUT)
		if err == nil {
			err = r.c.Close(bg, h, 0)
		}
		return err
	}
	subscribe := func(topic string, q Handle) error {
		sd := mqi.DefaultSD()
		sd.Options, sd.ObjectString = mqi.MQSO_CREATE, topic
		if q == 0 {
			sd.Options |= mqi.MQSO_MANAGED
		}
		_, h, err := r.c.Subscribe(bg, &sd, q)
		if err == nil {
			err = r.c.Close(bg, h, 0)
		}
		return err
	}
	r.log.take()
	r.refused(publish("sport/golf"), "PUB", "topic sport/golf", `"object":"T.SPORT"`)
	r.refused(publish("news"), "PUB", "SYSTEM.BASE.TOPIC")
	r.grant("TOPIC", "T.SECRET", "PUB,SUB")
	wantRC(t, publish("sport/secret/deep"), 0)
	r.log.take()
	r.refused(publish("sport/golf"))
	r.refused(subscribe("sport/#", 0), "MQSUB", "SUB") // the right over a part is none over the whole
	r.refused(subscribe("#", 0), "SYSTEM.BASE.TOPIC")
	wantRC(t, subscribe("sport/secret/+", 0), 0)
	r.grant("TOPIC", "T.SPORT", "PUB,SUB")
	wantRC(t, publish("sport/golf"), 0)
	wantRC(t, subscribe("sport/#", 0), 0)

	r.grant("QUEUE", "A.Q", "GET")
	q, err := r.c.Open(bg, openType(mqi.MQOT_Q, "A.Q"), mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	r.log.take()
	r.refused(subscribe("sport/golf", q), "PUT", `"object":"A.Q"`)
	r.grant("QUEUE", "A.Q", "PUT")
	wantRC(t, subscribe("sport/golf", q), 0)

	// Resuming needs a right of its own.
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString, sd.SubName = mqi.MQSO_CREATE|mqi.MQSO_MANAGED|mqi.MQSO_DURABLE, "sport/golf", "S1"
	_, h, err := r.c.Subscribe(bg, &sd, 0)
	wantRC(t, err, 0)
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_KEEP_SUB), 0)
	sd.Options = mqi.MQSO_RESUME | mqi.MQSO_MANAGED | mqi.MQSO_DURABLE
	r.log.take()
	_, _, err = r.c.Subscribe(bg, &sd, 0)
	r.refused(err, "RESUME")
	r.grant("TOPIC", "T.SPORT", "RESUME")
	_, _, err = r.c.Subscribe(bg, &sd, 0)
	wantRC(t, err, 0)
}

func (r *authRig) asJoe(text string) *attr.Reply {
	r.t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		r.t.Fatalf("%s: %v", text, serr)
	}
	return r.m.Execute(bg, c, joe)
}

// Each command is refused without its authority, and goes through with it.
func TestCommandAuthorities(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.ok("DEFINE QLOCAL(A.GONE)")
	r.ok("DEFINE TOPIC(T.ONE) TOPICSTR('one')")
	r.ok("DEFINE CHANNEL(A.CH) CHLTYPE(SVRCONN)")
	r.ok("DEFINE LISTENER(A.L) TRPTYPE(TCP) PORT(1999)")
	for _, c := range []struct{ cmd, objType, profile, auth string }{
		{"DEFINE QLOCAL(A.NEW)", "QUEUE", "X", "CRT"},
		{"DEFINE QLOCAL(A.LIKE) LIKE(A.Q)", "QUEUE", "A.Q", "CRT,DSP"},
		{"DEFINE QLOCAL(A.Q) REPLACE", "QUEUE", "A.Q", "CRT,CHG"},
		{"ALTER QLOCAL(A.Q) DESCR('x')", "QUEUE", "A.Q", "CHG"},
		{"CLEAR QLOCAL(A.Q)", "QUEUE", "A.Q", "CLR"},
		{"DELETE QLOCAL(A.GONE)", "QUEUE", "A.GONE", "DLT"},
		{"DISPLAY QLOCAL(A.Q)", "QUEUE", "A.Q", "DSP"},
		{"DISPLAY QSTATUS(A.Q)", "QUEUE", "A.Q", "DSP"},
		{"ALTER CHANNEL(A.CH) CHLTYPE(SVRCONN) DESCR('x')", "CHANNEL", "A.CH", "CHG"},
		{"DISPLAY CHANNEL(A.CH)", "CHANNEL", "A.CH", "DSP"},
		{"START LISTENER(A.L)", "LISTENER", "A.L", "CTRL"},
		{"CLEAR TOPICSTR('one/#') CLRTYPE(RETAINED)", "TOPIC", "T.ONE", "CLR"},
		{"DEFINE SUB(S1) TOPICSTR('one') DESTCLAS(MANAGED)", "TOPIC", "T.ONE", "CTRL"},
		{"DISPLAY SUB(S1)", "TOPIC", "T.ONE", "DSP"},
		{"ALTER QMGR DESCR('x')", "QMGR", "self", "CHG"},
		{"REFRESH SECURITY", "QMGR", "self", "CHG"},
		{"SET CHLAUTH(A.CH) TYPE(USERMAP) CLNTUSER('x') USERSRC(CHANNEL)", "QMGR", "self", "CHG"},
		{"DISPLAY CHLAUTH(A.CH)", "QMGR", "self", "DSP"},
		{"DISPLAY QMGR", "QMGR", "self", "DSP"},
		{"PING QMGR", "QMGR", "self", "DSP"},
		{"DISPLAY CONN(*)", "QMGR", "self", "DSP"},
	} {
		for i, lacking := range strings.Split(c.auth, ",") {
			r.log.take()
			rep := r.asJoe(c.cmd)
			if !rep.Failed() || rep.RC != mqi.MQRC_NOT_AUTHORIZED {
				t.Errorf("%s (%d): without %s: %+v", c.cmd, i, lacking, rep)
			}
			if s := r.log.take(); !strings.Contains(s, lacking) || !strings.Contains(s, `"user":"joe"`) {
				t.Errorf("%s: log %s", c.cmd, s)
			}
			r.grant(c.objType, c.profile, lacking)
		}
		if rep := r.asJoe(c.cmd); rep.Failed() {
			t.Errorf("%s: with %s: %+v", c.cmd, c.auth, rep.Msgs)
		}
		for _, a := range strings.Split(c.auth, ",") {
			r.ok(fmt.Sprintf("SET AUTHREC OBJTYPE(%s) PROFILE('%s') GROUP('staff') AUTHRMV(%s)", c.objType, c.profile, a))
		}
	}
	// A list leaves out what may not be seen, and says nothing of it.
	r.grant("QUEUE", "A.L*", "DSP")
	rows := 0
	for row := range r.asJoe("DISPLAY QLOCAL(*)").Rows {
		rows++
		if row.Items[0].Val != "A.LIKE" {
			t.Errorf("joe sees %s", row.Items[0].Val)
		}
	}
	if rows != 1 {
		t.Errorf("%d rows", rows)
	}
	if rep := r.asJoe("DISPLAY QLOCAL(SYSTEM.*)"); rep.RC != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("%+v", rep)
	}
}

// A record is in force with the command that made it; passwords, groups and CONNAUTH with REFRESH SECURITY.
func TestRefreshSecurity(t *testing.T) {
	r := newAuthRig(t)
	attempt := func(user, password string) error {
		_, err := r.m.AdmitClient(bg, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:4000", User: "os",
			Credentials: Credentials{Given: true, User: user, Password: password}})
		return err
	}
	r.ok("ALTER AUTHINFO(SYSTEM.DEFAULT.AUTHINFO.IDPWOS) AUTHTYPE(IDPWOS) FAILDLAY(0)")
	r.ok("REFRESH SECURITY TYPE(CONNAUTH)")
	wantRC(t, attempt("app", "the password"), mqi.MQRC_NOT_AUTHORIZED)
	next := auth.NewUsers()
	if err := next.Set("app", "the password", []string{"staff"}); err != nil {
		t.Fatal(err)
	}
	r.host.users = next
	wantRC(t, attempt("app", "the password"), mqi.MQRC_NOT_AUTHORIZED)
	r.ok("REFRESH SECURITY TYPE(CONNAUTH)")
	wantRC(t, attempt("app", "the password"), 0)
	if a := r.m.Account("app"); a.Admin || len(a.Groups) != 1 {
		t.Errorf("%+v", a)
	}
	r.ok("ALTER QMGR CONNAUTH(' ')")
	wantRC(t, attempt("app", "wrong"), mqi.MQRC_NOT_AUTHORIZED)
	r.ok("REFRESH SECURITY")
	wantRC(t, attempt("app", "wrong"), 0) // nobody looks at it
	r.ok("REFRESH SECURITY TYPE(SSL)")
	if r.host.reloads != 1 {
		t.Errorf("%d reloads", r.host.reloads)
	}
	r.host.err = fmt.Errorf("users can be read by others")
	for _, c := range []string{"REFRESH SECURITY", "REFRESH SECURITY TYPE(SSL)"} {
		if rep := r.cmd(c); !rep.Failed() || !strings.Contains(fmt.Sprint(rep.Msgs), "read by others") {
			t.Errorf("%s: %+v", c, rep)
		}
	}
	r.host.err = nil
}

// An administrator's name that a client merely says gives nothing, records of that very name neither: what such a client put would bear
// the name, and the command server and reports would act for it.
func TestNameOfAnAdministratorAlone(t *testing.T) {
	r := newAuthRig(t)
	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('root') AUTHADD(ALL)")
	r.ok("SET AUTHREC OBJTYPE(QUEUE) PROFILE('**') PRINCIPAL('root') AUTHADD(ALL)")
	r.log.take()
	_, err := r.m.Connect(bg, auth.Identity{User: "root", UID: -1, Unproven: true}, ConnectOptions{})
	r.refused(err, `"user":"root"`, "word alone", "CONNECT")
}

// What was asked before REFRESH SECURITY and is answered after it is not remembered: somebody who is no administrator any more would
// stay one until the next.
func TestRefreshWhileAsking(t *testing.T) {
	r := newAuthRig(t)
	r.host.admin = "al"
	r.host.asked = func(string) {
		r.host.asked, r.host.admin = nil, ""
		r.ok("REFRESH SECURITY TYPE(CONNAUTH)")
	}
	r.m.Account("al") // may be the one or the other
	if a := r.m.Account("al"); a.Admin {
		t.Error("al is an administrator as before REFRESH SECURITY")
	}
	r.host.admin = "al"
	if a := r.m.Account("al"); a.Admin {
		t.Error("the account is not remembered")
	}
}

// An object of a type that is not built is told with the command that names it, at REFRESH SECURITY, at the next start and to
// whoever looks why a client was refused; what was in force goes on until that start.
func TestConnAuthThatCannotBeUsed(t *testing.T) {
	r := newAuthRig(t)
	users := auth.NewUsers()
	if err := users.Set("app", "the password", []string{"staff"}); err != nil {
		t.Fatal(err)
	}
	r.host.users = users
	r.ok("REFRESH SECURITY TYPE(CONNAUTH)")
	attempt := func() error {
		_, err := r.m.AdmitClient(bg, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:4000", User: "os",
			Credentials: Credentials{Given: true, User: "app", Password: "the password"}})
		return err
	}
	for name, why := range map[string]string{
		"SYSTEM.DEFAULT.AUTHINFO.IDPWLDAP": "AUTHTYPE(IDPWLDAP)", "SYSTEM.DEFAULT.AUTHINFO.OCSP": "AUTHTYPE(OCSP), not IDPWOS",
		"NO.SUCH": "names no AUTHINFO object"} {
		r.ok("ALTER QMGR CONNAUTH(SYSTEM.DEFAULT.AUTHINFO.IDPWOS)")
		r.ok("REFRESH SECURITY")
		r.log.take()
		r.ok("ALTER QMGR CONNAUTH(" + name + ")")
		if log := r.log.take(); !strings.Contains(log, why) || !strings.Contains(log, "next start") {
			t.Errorf("%s: ALTER QMGR logs %s", name, log)
		}
		if rep := r.cmd("REFRESH SECURITY"); !rep.Failed() {
			t.Errorf("%s was taken", name)
		}
		wantRC(t, attempt(), 0)
		if err := r.m.loadSecurity(); err != nil { // as at a start
			t.Fatal(err)
		}
		if log := r.log.take(); !strings.Contains(log, why) || !strings.Contains(log, "AMQ5540E") {
			t.Errorf("%s: a start logs %s", name, log)
		}
		wantRC(t, attempt(), mqi.MQRC_NOT_AUTHORIZED)
		if log := r.log.take(); !strings.Contains(log, why) || !strings.Contains(log, "no password is taken") {
			t.Errorf("%s: a refusal logs %s", name, log)
		}
	}
}

// What CHLAUTH refuses is logged with its record and raises an event; WARN(YES) logs and lets through.
func TestChlauthRefusals(t *testing.T) {
	r := newAuthRig(t)
	r.ok("ALTER QMGR CHLEV(EXCEPTION)")
	depth := func() int { return r.m.lookup(ClassQueue, "SYSTEM.ADMIN.CHANNEL.EVENT").Queue.depth() }
	attempt := func(channel, addr, user string) error {
		_, err := r.m.AdmitClient(bg, &ClientAttempt{Channel: channel, Addr: addr, User: user})
		return err
	}
	r.log.take()
	wantRC(t, attempt("SYSTEM.DEF.SVRCONN", "10.1.2.3:1", "joe"), mqi.MQRC_NOT_AUTHORIZED)
	r.log.take0(t, []string{"AMQ9777E", "CHLAUTH(SYSTEM.*) TYPE(ADDRESSMAP) ADDRESS(*) USERSRC(NOACCESS)"})
	r.ok("ALTER AUTHINFO(SYSTEM.DEFAULT.AUTHINFO.IDPWOS) AUTHTYPE(IDPWOS) CHCKCLNT(OPTIONAL)")
	r.ok("REFRESH SECURITY")
	r.log.take()
	wantRC(t, attempt("APP.CH", "10.1.2.3:1", "mqm"), mqi.MQRC_NOT_AUTHORIZED)
	r.log.take0(t, []string{"AMQ9776E", "USERLIST(*MQADMIN)", `"user":"mqm"`})
	if n := depth(); n != 2 {
		t.Errorf("%d events", n)
	}
	r.ok("SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('10.66.*') WARN(YES)")
	if r.m.AddressBlocked("10.66.1.1:99") || depth() != 3 {
		t.Error("a warning blocks, or is no event")
	}
	r.log.take0(t, []string{"AMQ9786W", "ADDRLIST(10.66.*)"})
	r.ok("SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('10.66.*') WARN(NO) ACTION(REPLACE)")
	if !r.m.AddressBlocked("10.66.1.1:99") || r.m.AddressBlocked("10.67.1.1:99") {
		t.Error("BLOCKADDR")
	}
	r.ok("ALTER QMGR CHLAUTH(DISABLED)")
	if r.m.AddressBlocked("10.66.1.1:99") {
		t.Error("BLOCKADDR with CHLAUTH(DISABLED)")
	}
	id, err := r.m.AdmitClient(bg, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:1", User: "mqm"})
	if err != nil || id.Admin || len(id.Groups) != 0 {
		t.Errorf("%+v %v", id, err)
	}
	r.ok("DEFINE CHANNEL(APP.CH) CHLTYPE(SVRCONN) MCAUSER('mqm')")
	if id, err = r.m.AdmitClient(bg, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:1"}); err != nil || !id.Admin {
		t.Errorf("%+v %v", id, err) // the channel says so
	}
}

// The vendor's clients look for policies of message protection at each open; an application without rights over that queue
// must not fail for it.
func TestPolicyQueue(t *testing.T) {
	r := newAuthRig(t)
	r.log.take()
	_, err := r.c.Open(bg, openType(mqi.MQOT_Q, policyQueue), mqi.MQOO_BROWSE|mqi.MQOO_FAIL_IF_QUIESCING)
	wantRC(t, err, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	if s := r.log.take(); s != "" {
		t.Error(s)
	}
	_, err = r.c.Open(bg, openType(mqi.MQOT_Q, policyQueue), mqi.MQOO_BROWSE|mqi.MQOO_OUTPUT)
	r.refused(err, "PUT")
	r.grant("QUEUE", policyQueue, "BROWSE")
	_, err = r.c.Open(bg, openType(mqi.MQOT_Q, policyQueue), mqi.MQOO_BROWSE)
	wantRC(t, err, 0)
}
