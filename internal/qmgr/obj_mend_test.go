package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// START and STOP LISTENER without a name mean the default listener, as the MQSC reference says.
func TestDefaultListener(t *testing.T) {
	r := newObjRig(t)
	r.ok("START LISTENER")
	r.refuse("AMQ8730W", "START LISTENER")
	rows := strings.Join(r.show("DISPLAY LSSTATUS(*) ALL"), "\n")
	if !strings.Contains(rows, "SYSTEM.DEFAULT.LISTENER.TCP") || !strings.Contains(rows, "CONTROL(MANUAL)") || r.ports.started["SYSTEM.DEFAULT.LISTENER.TCP"] != ":1414" {
		t.Errorf("status: %s", rows)
	}
	r.ok("STOP LISTENER")
	r.refuse("AMQ8731W", "STOP LISTENER")
}

// Words of the language in PROFILE name the same record with and without quotes.
func TestAuthrecProfileWords(t *testing.T) {
	r := newObjRig(t)
	r.ok("SET AUTHREC PROFILE(SELF) OBJTYPE(QMGR) GROUP('g') AUTHADD(CONNECT)")
	r.ok("SET AUTHREC PROFILE('self') OBJTYPE(QMGR) GROUP('g') AUTHADD(INQ)")
	r.want("DISPLAY AUTHREC PROFILE(SELF) OBJTYPE(QMGR) GROUP('g') AUTHLIST",
		"PROFILE(self) ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QMGR) AUTHLIST(CONNECT,INQ)")
	r.ok("SET AUTHREC PROFILE(@CLASS) OBJTYPE(QUEUE) GROUP('g') AUTHADD(CRT)")
	r.ok("SET AUTHREC PROFILE('@class') OBJTYPE(QUEUE) GROUP('g') AUTHRMV(CRT)")
	r.want("DISPLAY AUTHREC PROFILE('@class') OBJTYPE(QUEUE) GROUP('g')",
		"PROFILE(@class) ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QUEUE) AUTHLIST(NONE)")
	r.ok("DELETE AUTHREC PROFILE(@CLASS) OBJTYPE(QUEUE) GROUP('g')")
	r.ok("DELETE AUTHREC PROFILE(SELF) OBJTYPE(QMGR) GROUP('g')")
	r.refuse("AMQ8867E", "DELETE AUTHREC PROFILE('self') OBJTYPE(QMGR) GROUP('g')")
}

// SELF is a name of any queue; an entity's name may hold a quote.
func TestAuthrecOfOddNames(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(SELF)")
	r.ok("SET AUTHREC PROFILE(SELF) OBJTYPE(QUEUE) PRINCIPAL('o''brien') AUTHADD(GET)")
	r.ok("SET AUTHREC PROFILE('self') OBJTYPE(QUEUE) PRINCIPAL('u') AUTHADD(PUT)")
	r.want("DISPLAY ENTAUTH OBJNAME(SELF) OBJTYPE(QUEUE) PRINCIPAL('o''brien') AUTHLIST", "ENTITY(o'brien) ENTTYPE(PRINCIPAL) OBJTYPE(QUEUE) AUTHLIST(GET)")
	want := "setmqaut -m 'QM1' -n 'SELF' -t queue -p 'o'\\''brien' +get\nsetmqaut -m 'QM1' -n 'self' -t queue -p 'u' +put\n"
	if got := r.export(ExportOptions{Format: "setmqaut"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	first := r.export(ExportOptions{Export: "authrec"})
	fresh := newObjRig(t)
	if out, res := fresh.script(first); res.Failed+res.SyntaxErrors > 0 || res.Commands != 2 {
		t.Fatalf("%+v\n%s", res, out)
	}
	if again := fresh.export(ExportOptions{Export: "authrec"}); again != first {
		t.Error(firstDifference(first, again))
	}
}

// An administrator may do everything, records or not; DISPLAY ENTAUTH says so.
func TestEntauthOfAdministrator(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	for _, who := range []string{"PRINCIPAL('root')", "GROUP('mqm')"} {
		got := strings.Join(r.show("DISPLAY ENTAUTH "+who+" OBJTYPE(QUEUE) OBJNAME(Q)"), "")
		for _, a := range []string{"BROWSE", "GET", "PUT", "DLT", "SETALL"} {
			if !strings.Contains(got, a) {
				t.Errorf("%s: %s lacks %s", who, got, a)
			}
		}
	}
}

// What export writes with every attribute is what DISPLAY ALL shows, for each kind of object.
func TestExportAllIsShown(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE TOPIC(T) TOPICSTR('t')")
	var out strings.Builder
	if err := r.m.Export(&out, ExportOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ define, display string }{
		{"DEFINE QLOCAL('Q')", "DISPLAY QLOCAL(Q) ALL"}, {"ALTER QMGR", "DISPLAY QMGR ALL"},
		{"DEFINE TOPIC('T')", "DISPLAY TOPIC(T) ALL"}, {"DEFINE QALIAS('SYSTEM.DEFAULT.ALIAS.QUEUE')", "DISPLAY QALIAS(SYSTEM.DEFAULT.ALIAS.QUEUE) ALL"},
		{"DEFINE QMODEL('SYSTEM.DEFAULT.MODEL.QUEUE')", "DISPLAY QUEUE(SYSTEM.DEFAULT.MODEL.QUEUE) ALL"},
		{"DEFINE CHANNEL('SYSTEM.DEF.SVRCONN')", "DISPLAY CHANNEL(SYSTEM.DEF.SVRCONN) ALL"},
	} {
		_, rest, ok := strings.Cut(out.String(), c.define)
		if !ok {
			t.Errorf("export lacks %s", c.define)
			continue
		}
		shown := " " + strings.Join(r.show(c.display), " ") + " "
		n := 0
		for i, l := range strings.Split(rest, "\n") {
			l = strings.TrimSuffix(strings.TrimSpace(l), " +")
			if i > 0 && (l == "" || strings.HasPrefix(l, "DEFINE") || strings.HasPrefix(l, "*")) {
				break
			}
			for _, w := range strings.Fields(l) {
				key, _, ok := strings.Cut(w, "(")
				if !ok || strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
					continue
				}
				n++
				if !strings.Contains(shown, " "+key+"(") {
					t.Errorf("%s writes %s, %s does not show it", c.define, key, c.display)
				}
			}
		}
		if n < 10 {
			t.Errorf("%s: %d attributes looked at", c.define, n)
		}
	}
}

// A password that is set is a comment of the export, with the command that sets it again, and no attribute.
func TestExportNamesSecrets(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE AUTHINFO(A) AUTHTYPE(IDPWLDAP) CONNAME('h(389)') SHORTUSR('uid') LDAPUSER('u') LDAPPWD('geheim')")
	r.ok("DEFINE CHANNEL(C) CHLTYPE(SDR) CONNAME(h) XMITQ(X) USERID('u') PASSWORD('geheim')")
	r.ok("ALTER QMGR KEYRPWD('geheim')")
	var out strings.Builder
	if err := r.m.Export(&out, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"* LDAPPWD of AUTHINFO(A) is set", "ALTER AUTHINFO(A) AUTHTYPE(IDPWLDAP) LDAPPWD('...')",
		"* PASSWORD of CHANNEL(C) is set", "ALTER CHANNEL(C) CHLTYPE(SDR) PASSWORD('...')", "* KEYRPWD of QMGR is set"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("export lacks %q", want)
		}
	}
	for _, no := range []string{"geheim", "********", "sha256:"} {
		if strings.Contains(out.String(), no) {
			t.Errorf("export holds %q", no)
		}
	}
}

// slowPrograms take their time to end.
type slowPrograms struct{ fakePrograms }

func (*slowPrograms) Stop(ServiceSpec) error { return nil }

// A service that was told to stop is not told twice.
func TestStopServiceTwice(t *testing.T) {
	r := newObjRig(t, func(o *Options) { o.Services = &slowPrograms{} })
	r.ok("DEFINE SERVICE(S) SERVTYPE(SERVER) STARTCMD('/bin/prog') STOPCMD('/bin/stop')")
	r.ok("START SERVICE(S)")
	r.ok("STOP SERVICE(S)")
	r.refuse("AMQ8736E", "STOP SERVICE(S)")
	r.ok("STOP SERVICE(S) IGNSTATE(YES)")
}

// The open objects of connections are named without being asked for.
func TestConnHandlesAreNamed(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.openQ(r.c, "Q", inOut)
	rows := r.m.Execute(bg, parseOK(t, "DISPLAY CONN(*) TYPE(HANDLE)"), admin)
	text := ""
	for row := range rows.Rows {
		for i := range row.Items {
			text += row.Items[i].Key + "(" + row.Items[i].Val + ") "
		}
	}
	if !strings.Contains(text, "OBJNAME(Q) OBJTYPE(QUEUE)") {
		t.Errorf("handles: %s", text)
	}
}

func parseOK(t *testing.T, text string) *attr.Command {
	t.Helper()
	c, err := mqsc.ParseCommand(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
