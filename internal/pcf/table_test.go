package pcf

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// samples are what stands behind a verb and object in a command that can be carried out, or is refused for what it asks. Every row of
// attr's table is here, in an order in which they make, change and remove the same objects.
var samples = []string{
	"DEFINE QLOCAL(L) MAXDEPTH(7)", "DEFINE QALIAS(A) TARGET(L)", "DEFINE QREMOTE(R) RNAME(X) RQMNAME(Y)", "DEFINE QMODEL(M) DEFTYPE(PERMDYN)",
	"DEFINE CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(3)", "DEFINE AUTHINFO(AI) AUTHTYPE(IDPWOS) FAILDLAY(2)", "DEFINE CFSTRUCT(CF)",
	"DEFINE COMMINFO(CI)", "DEFINE LISTENER(LI) TRPTYPE(TCP) PORT(4711)", "DEFINE NAMELIST(N) NAMES(A,B)", "DEFINE PROCESS(P) APPLICID('x')",
	"DEFINE SERVICE(SV) STARTCMD('/bin/true')", "DEFINE TOPIC(T) TOPICSTR('t/o')", "DEFINE SUB(S) TOPICSTR('t/o') DEST(L) DESTCORL('0102030405060708090A0B0C0D0E0F101112131415161718')",
	"ALTER QLOCAL(L) MAXDEPTH(8)", "ALTER QALIAS(A) TARGET(L)", "ALTER QREMOTE(R) RNAME(Z)", "ALTER QMODEL(M) MAXDEPTH(9)",
	"ALTER CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(4)", "ALTER AUTHINFO(AI) AUTHTYPE(IDPWOS) FAILDLAY(3)", "ALTER CFSTRUCT(CF)",
	"ALTER COMMINFO(CI) DESCR('x')", "ALTER LISTENER(LI) TRPTYPE(TCP) PORT(4712)", "ALTER NAMELIST(N) NAMES(C)", "ALTER PROCESS(P) APPLICID('y')",
	"ALTER SERVICE(SV) STARTCMD('/bin/false')", "ALTER TOPIC(T) DEFPRTY(3)", "ALTER SUB(S) USERDATA('u')", "ALTER QMGR DESCR('x')",
	"SET AUTHREC PROFILE('L') OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(GET)", "SET CHLAUTH('C') TYPE(USERMAP) CLNTUSER('joe') MCAUSER('ann')",
	"SET POLICY(L) SIGNALG(SHA256)",
	"DISPLAY QLOCAL(L)", "DISPLAY QALIAS(A)", "DISPLAY QREMOTE(R)", "DISPLAY QMODEL(M)", "DISPLAY QCLUSTER(*)", "DISPLAY QUEUE(L)",
	"DISPLAY CHANNEL(C)", "DISPLAY AUTHINFO(AI)", "DISPLAY CFSTRUCT(CF)", "DISPLAY CFSTATUS(CF)", "DISPLAY COMMINFO(CI)",
	"DISPLAY LISTENER(LI)", "DISPLAY LSSTATUS(LI)", "DISPLAY NAMELIST(N)", "DISPLAY PROCESS(P)", "DISPLAY SERVICE(SV)", "DISPLAY SVSTATUS(SV)",
	"DISPLAY TOPIC(T)", "DISPLAY TPSTATUS('t/o')", "DISPLAY SUB(S)", "DISPLAY SBSTATUS(S)", "DISPLAY QMGR", "DISPLAY QMSTATUS", "DISPLAY QSTATUS(L)",
	"DISPLAY AUTHREC PROFILE('L') OBJTYPE(QUEUE)", "DISPLAY AUTHSERV", "DISPLAY ENTAUTH PRINCIPAL('joe') OBJTYPE(QMGR)", "DISPLAY CHLAUTH('C')",
	"DISPLAY CHSTATUS(C)", "DISPLAY CLUSQMGR(*)", "DISPLAY CONN(0123456789ABCDEF)", "DISPLAY APSTATUS('none')", "DISPLAY GROUP", "DISPLAY POLICY(L)",
	"DISPLAY PUBSUB", "DISPLAY TCLUSTER('t/o')",
	"PING CHANNEL(C)", "PING QMGR", "PURGE CHANNEL(C) CHLTYPE(MQTT)", "REFRESH CLUSTER(X)", "REFRESH QMGR TYPE(CONFIGEV)", "REFRESH SECURITY TYPE(AUTHSERV)",
	"RESET CHANNEL(C) SEQNUM(1)", "RESET CLUSTER(X) ACTION(FORCEREMOVE) QMNAME(Y)", "RESET QMGR TYPE(STATISTICS)", "RESOLVE CHANNEL(C) ACTION(COMMIT)",
	"RESUME QMGR CLUSTER(X)", "SUSPEND QMGR CLUSTER(X)", "START CHANNEL(C)", "START CHINIT", "START LISTENER(LI)", "START SERVICE(SV)",
	"STOP CHANNEL(C)", "STOP CONN(0123456789ABCDEF)", "STOP LISTENER(LI)", "STOP SERVICE(SV)",
	"CLEAR QLOCAL(L)", "CLEAR TOPICSTR('t/o') CLRTYPE(RETAINED)",
	"DELETE SUB(S)", "DELETE TOPIC(T)", "DELETE SERVICE(SV)", "DELETE PROCESS(P)", "DELETE NAMELIST(N)", "DELETE LISTENER(LI)", "DELETE COMMINFO(CI)",
	"DELETE CFSTRUCT(CF)", "DELETE AUTHINFO(AI)", "DELETE CHANNEL(C)", "DELETE POLICY(L)", "DELETE AUTHREC PROFILE('L') OBJTYPE(QUEUE) PRINCIPAL('joe')",
	"DELETE QMODEL(M)", "DELETE QREMOTE(R)", "DELETE QALIAS(A)", "DELETE QLOCAL(L)",
}

// mqscOnly are the commands that MQ has no number for; they come in an Escape.
var mqscOnly = map[string]bool{"DISPLAY TCLUSTER": true}

// formOf is a command as PCF has it.
func formOf(t *testing.T, c *attr.Command) *mqi.CFMsg {
	t.Helper()
	m := command(c.Spec.PCFNum)
	if c.HasName {
		id := map[string]int32{"CLUSTER": mqi.MQCA_CLUSTER_NAME, "TOPICSTR": mqi.MQCA_TOPIC_STRING}[c.Object]
		if id == 0 {
			id = nameID(string(c.Kind))
		}
		switch {
		case id == mqi.MQBACF_CONNECTION_ID:
			b, err := hex.DecodeString(c.Name)
			if err != nil {
				t.Fatal(err)
			}
			m.Params = append(m.Params, mqi.CFBytes(id, append(make([]byte, 16), b...)))
		case id != 0:
			m.Params = append(m.Params, str(id, c.Name))
		default:
			t.Errorf("%s: its name has no parameter", c.Text)
		}
	}
	switch c.Kind {
	case "QLOCAL", "QALIAS", "QREMOTE", "QMODEL", "QCLUSTER":
		if c.Verb == "CLEAR" {
			break
		}
		m.Params = append(m.Params, typeParam(c.Kind, "Q")...)
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Attr == nil || p.Attr.ID == 0 {
			t.Errorf("%s: %s has no parameter", c.Text, p.Key)
			continue
		}
		if f, ok := itemParam(&attr.Item{Key: p.Key, Val: p.Val, Attr: p.Attr}); ok {
			m.Params = append(m.Params, f)
		} else {
			t.Errorf("%s: %s(%s) has no parameter", c.Text, p.Key, p.Val)
		}
	}
	return m
}

// TestEveryCommandByBothForms: each command of the table comes to the same by PCF, through the command queue, as by MQSC.
func TestEveryCommandByBothForms(t *testing.T) {
	r, other := newServerRig(t), newServerRig(t)
	seen, tried := map[string]bool{}, 0
	for _, text := range samples {
		c, serr := mqsc.ParseCommand(text)
		if serr != nil {
			t.Errorf("%s: %v", text, serr)
			continue
		}
		seen[c.Verb+" "+c.Object] = true
		var m *mqi.CFMsg
		if c.Spec.PCFNum == 0 {
			if !mqscOnly[c.Verb+" "+c.Object] {
				t.Errorf("%s: no form of PCF", text)
			}
			m = command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), str(mqi.MQCACF_ESCAPE_TEXT, text))
		} else {
			m = formOf(t, c)
			q, err := FromPCF(m, r.m.KindOf)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if c.Verb != "DISPLAY" && (q.Command.Verb != c.Verb || q.Command.Object != c.Object || q.Command.Name != c.Name) {
				t.Errorf("%s: %s comes of it", text, q.Command.Text)
			}
		}
		out, _ := r.ask(m)
		worst := out[0]
		for _, o := range out {
			if o.CompCode > worst.CompCode {
				worst = o
			}
		}
		rep := other.m.Execute(bg, c, auth.Identity{User: "root", Admin: true})
		if rep.Rows != nil {
			rep.Rows(func(attr.Row) bool { return true })
		}
		if int32(worst.CompCode) != rep.CC || int32(worst.Reason) != rep.RC && rep.RC != 0 {
			t.Errorf("%s: %d/%d by MQSC, %d/%d by PCF", text, rep.CC, rep.RC, worst.CompCode, worst.Reason)
		}
		if tried++; c.Verb == "SET" || c.Verb == "ALTER" || c.Verb == "DEFINE" {
			if got, want := exported(t, r.m), exported(t, other.m); got != want {
				t.Fatalf("%s: by PCF there is\n%s\nby MQSC\n%s", text, got, want)
			}
		}
	}
	for _, v := range attr.Verbs() {
		if v.Priority != 3 && v.Object != "" && !seen[v.Verb+" "+v.Object] {
			t.Errorf("%s %s is not tried", v.Verb, v.Object)
		}
	}
	if tried != len(samples) {
		t.Errorf("%d of %d were carried out", tried, len(samples))
	}
}

// exported is all objects as MQSC, without the line that says when.
func exported(t *testing.T, m *qmgr.Manager) string {
	t.Helper()
	var b strings.Builder
	if err := m.Export(&b, qmgr.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\n")
	return text
}
