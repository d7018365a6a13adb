package qmgr

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestChlauth(t *testing.T) {
	r := newObjRig(t)
	r.steps([]step{
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(CHANNEL) CHCKCLNT(REQUIRED)", show: "DISPLAY CHLAUTH(C) CHCKCLNT", want: "CHLAUTH(C) TYPE(ADDRESSMAP) CHCKCLNT(REQUIRED)"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(NOACCESS)", id: "AMQ8879E"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(NOACCESS) WARN(YES) ACTION(REPLACE)", show: "DISPLAY CHLAUTH(C) WARN USERSRC", want: "CHLAUTH(C) TYPE(ADDRESSMAP) USERSRC(NOACCESS) WARN(YES)"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('11.*') USERSRC(MAP)", id: "AMQ8203E"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('11.*') USERSRC(CHANNEL) MCAUSER('x')", id: "AMQ8203E"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('11.*') USERSRC(CHANNEL) WARN(YES)", id: "AMQ8203E"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('11.*') CLNTUSER('x') USERSRC(CHANNEL)", id: "AMQ8203E"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('10.*') ACTION(REMOVE)"},
		{cmd: "SET CHLAUTH(C) TYPE(ADDRESSMAP) ADDRESS('10.*') ACTION(REMOVE)", id: "AMQ8884E"},
		{cmd: "DISPLAY CHLAUTH(C)", id: "AMQ8884E"},
		{cmd: "SET CHLAUTH(C) TYPE(USERMAP) CLNTUSER('u') USERSRC(MAP) MCAUSER('app')", show: "DISPLAY CHLAUTH(C) CLNTUSER MCAUSER", want: "CHLAUTH(C) TYPE(USERMAP) CLNTUSER(u) MCAUSER(app)"},
		{cmd: "SET CHLAUTH(C) TYPE(USERMAP) CLNTUSER('v') USERSRC(NOACCESS)"},
		{cmd: "SET CHLAUTH(C) TYPE(USERMAP) CLNTUSER('v\x1f') USERSRC(NOACCESS)", id: "AMQ8203E"},
		{cmd: "SET CHLAUTH(C) TYPE(USERMAP) ACTION(REMOVEALL)"},
		{cmd: "SET CHLAUTH(C) TYPE(USERMAP) ACTION(REMOVEALL)", id: "AMQ8884E"},
		{cmd: "SET CHLAUTH(C) TYPE(BLOCKUSER) USERLIST('a','b')", show: "DISPLAY CHLAUTH(C)", want: "CHLAUTH(C) TYPE(BLOCKUSER) USERLIST(a,b)"},
		{cmd: "SET CHLAUTH(C) TYPE(BLOCKUSER) USERLIST('b','c')", show: "DISPLAY CHLAUTH(C)", want: "CHLAUTH(C) TYPE(BLOCKUSER) USERLIST(a,b,c)"},
		{cmd: "SET CHLAUTH(C) TYPE(BLOCKUSER) USERLIST('a') ACTION(REMOVE)", show: "DISPLAY CHLAUTH(C)", want: "CHLAUTH(C) TYPE(BLOCKUSER) USERLIST(b,c)"},
		{cmd: "SET CHLAUTH(C) TYPE(BLOCKUSER) USERLIST('z') ACTION(REPLACE)", show: "DISPLAY CHLAUTH(C)", want: "CHLAUTH(C) TYPE(BLOCKUSER) USERLIST(z)"},
		{cmd: "SET CHLAUTH(C) TYPE(BLOCKUSER) USERLIST('z') ACTION(REMOVE)"},
		{cmd: "DISPLAY CHLAUTH(C)", id: "AMQ8884E"},
		{cmd: "SET CHLAUTH(C) TYPE(BLOCKADDR) ADDRLIST('1.2.3.4')", id: "AMQ8203E"},
		{cmd: "SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('1.2.3.4')", show: "DISPLAY CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST", want: "CHLAUTH(*) TYPE(BLOCKADDR) ADDRLIST(1.2.3.4)"},
		{cmd: "SET CHLAUTH(C) TYPE(QMGRMAP) QMNAME('Q*') USERSRC(CHANNEL)"},
		{cmd: "SET CHLAUTH(C) TYPE(SSLPEERMAP) SSLPEER('CN=x') USERSRC(CHANNEL)", show: "DISPLAY CHLAUTH(C) TYPE(SSLPEERMAP) SSLPEER", want: "CHLAUTH(C) TYPE(SSLPEERMAP) SSLPEER(CN=x)"},
	})
}

func TestChlauthMatch(t *testing.T) {
	r := newObjRig(t)
	r.ok("SET CHLAUTH(APP.ONE) TYPE(ADDRESSMAP) ADDRESS('10.0.0.*') USERSRC(CHANNEL)")
	r.ok("SET CHLAUTH('APP.*') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)")
	r.ok("SET CHLAUTH('APP.*') TYPE(USERMAP) CLNTUSER('joe') USERSRC(MAP) MCAUSER('app')")
	for _, c := range []struct{ cmd, want string }{
		{"DISPLAY CHLAUTH('APP.*')", "APP.* APP.* APP.ONE"},
		{"DISPLAY CHLAUTH('APP.*') MATCH(EXACT)", "APP.* APP.*"},
		{"DISPLAY CHLAUTH(APP.ONE)", "APP.ONE"},
		{"DISPLAY CHLAUTH(APP.ONE) MATCH(ALL)", "* APP.* APP.* APP.ONE"},
		{"DISPLAY CHLAUTH(APP.ONE) MATCH(RUNCHECK) ADDRESS('10.0.0.9') CLNTUSER('x')", "APP.ONE"},
		{"DISPLAY CHLAUTH(APP.TWO) MATCH(RUNCHECK) ADDRESS('10.0.0.9') CLNTUSER('joe')", "APP.*"},
	} {
		if got := namesIn(r.show(c.cmd), "CHLAUTH"); got != c.want {
			t.Errorf("%s shows %s, want %s", c.cmd, got, c.want)
		}
	}
	r.want("DISPLAY CHLAUTH(APP.TWO) MATCH(RUNCHECK) ADDRESS('10.0.0.9') CLNTUSER('joe')",
		"CHLAUTH(APP.*) TYPE(USERMAP) ADDRESS( ) CLNTUSER(joe) MCAUSER(app) USERSRC(MAP)")
	// The user is MCAUSER of the channel where no record gives one, and is blocked whoever asks.
	r.ok("DEFINE CHANNEL(APP.ONE) CHLTYPE(SVRCONN) MCAUSER('root')")
	r.ok("DEFINE CHANNEL(APP.TWO) CHLTYPE(SVRCONN) MCAUSER('root')")
	r.ok("DEFINE CHANNEL(FREE) CHLTYPE(SVRCONN)")
	r.ok("SET CHLAUTH('WARNS') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS) WARN(YES)")
	r.ok("SET CHLAUTH('WARNS') TYPE(BLOCKUSER) USERLIST('eve')")
	r.ok("SET CHLAUTH('TRIAL') TYPE(USERMAP) CLNTUSER('joe') USERSRC(NOACCESS) WARN(YES)")
	r.ok("SET CHLAUTH('TRIAL') TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(MAP) MCAUSER('root')")
	run := " MATCH(RUNCHECK) ADDRESS('10.0.0.9') CLNTUSER"
	for cmd, want := range map[string]string{
		"(APP.ONE)" + run + "('x')":   "BLOCKUSER",
		"(APP.TWO)" + run + "('joe')": "USERMAP",
		"(FREE)" + run + "('root')":   "BLOCKUSER",
		"(WARNS)" + run + "('eve')":   "ADDRESSMAP BLOCKUSER",
		"(WARNS)" + run + "('joe')":   "ADDRESSMAP",
		"(TRIAL)" + run + "('joe')":   "USERMAP BLOCKUSER", // root, by the record that is not on trial
		"(TRIAL)" + run + "('eve')":   "BLOCKUSER",
	} {
		if got := namesIn(r.show("DISPLAY CHLAUTH"+cmd), " TYPE"); got != want {
			t.Errorf("%s shows %s, want %s", cmd, got, want)
		}
	}
	r.refuse("AMQ8884E", "DISPLAY CHLAUTH(FREE)"+run+"('joe')")
	r.refuse("AMQ8203E", "DISPLAY CHLAUTH('APP.*') MATCH(RUNCHECK) ADDRESS('1.1.1.1') CLNTUSER('x')")
}

// MATCH(RUNCHECK) of an address knows the names of its host, as a client from there would be judged.
func TestRuncheckHost(t *testing.T) {
	asked := ""
	r := newObjRig(t, func(o *Options) {
		o.HostNames = func(_ context.Context, ip string) []string { asked += ip + " "; return []string{"app.example.com"} }
	})
	run := "DISPLAY CHLAUTH(APP.ONE) MATCH(RUNCHECK) ADDRESS('10.0.0.9') CLNTUSER('x')"
	none := "CHLAUTH(APP.ONE) TYPE(ADDRESSMAP) ADDRESS(*) USERSRC(NOACCESS)"
	r.ok("SET CHLAUTH(APP.ONE) TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)")
	if r.want(run, none); asked != "" {
		t.Errorf("%s looked up, no record asks for it", asked)
	}
	r.ok("SET CHLAUTH(APP.ONE) TYPE(ADDRESSMAP) ADDRESS('*.example.com') USERSRC(MAP) MCAUSER('app')")
	if r.want(run, "CHLAUTH(APP.ONE) TYPE(ADDRESSMAP) ADDRESS(*.example.com) MCAUSER(app) USERSRC(MAP)"); asked != "10.0.0.9 " {
		t.Errorf("looked up: %q", asked)
	}
	r.ok("ALTER QMGR REVDNS(DISABLED)")
	r.want(run, none)
}

// A record that nothing can fit looks like a rule and is none: it is refused, with the vendor's reason.
func TestChlauthValues(t *testing.T) {
	r := newObjRig(t)
	mapped := "SET CHLAUTH('C') TYPE(ADDRESSMAP) MCAUSER('u') ADDRESS('%s')"
	blocked := "SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('%s')"
	for _, x := range []struct {
		rc   mqi.RC
		text string
		vals string
	}{
		{0, mapped, "* 10.1.2.3 10.* 10.1-9.*.3 1.2.3.* fe80::* 1:2:3:4:5:6:7:8 ::1 host.example *.example 10-0-0-1.example my_host 2001:db8::1-ff"},
		{0, blocked, "10.1.2.3 10.* * ::1 fe80::*"},
		{mqi.MQRCCF_IPADDR_ERROR, mapped, "10.0.0.0/8 10.0.0 10.0.0.256 10.0.0.1.2 10 1*.2.3.4 1..2.3 fe80::x 1:2:3 1:2:3:4:5:6:7:8:9 a,b"},
		{mqi.MQRCCF_IPADDR_RANGE_ERROR, mapped, "10.0.0.9-3 2001:db8::ff-1"},
		{mqi.MQRCCF_IPADDR_ERROR, blocked, "10.0.0.0/8 host.example 1.2.3"},
		{mqi.MQRCCF_IPADDR_RANGE_ERROR, blocked, "1.2.3.9-1"},
		{mqi.MQRCCF_CHLAUTH_CLNTUSER_ERROR, "SET CHLAUTH('C') TYPE(USERMAP) MCAUSER('u') CLNTUSER('%s')", "* jo*"},
		{mqi.MQRCCF_SSL_PEER_NAME_ERROR, "SET CHLAUTH('C') TYPE(SSLPEERMAP) MCAUSER('u') SSLPEER('%s')", "rubbish XX=y"},
		{mqi.MQRCCF_SSL_PEER_NAME_ERROR, "SET CHLAUTH('C') TYPE(SSLPEERMAP) MCAUSER('u') SSLPEER('CN=a') SSLCERTI('%s')", "rubbish"},
		{mqi.MQRCCF_SSL_PEER_NAME_ERROR, "DEFINE CHANNEL(C) CHLTYPE(SVRCONN) SSLPEER('%s')", "rubbish"},
		{mqi.MQRCCF_WRONG_CHLAUTH_TYPE, "SET CHLAUTH('C') TYPE(BLOCKUSER) USERLIST('u') MCAUSER('%s')", "u"},
		{mqi.MQRCCF_WRONG_CHLAUTH_ACTION, "SET CHLAUTH('C') TYPE(ADDRESSMAP) ADDRESS('1.2.3.4') ACTION(REMOVE) MCAUSER('%s')", "u"},
		{mqi.MQRCCF_WRONG_CHLAUTH_USERSRC, "SET CHLAUTH('C') TYPE(ADDRESSMAP) ADDRESS('1.1.1.1') USERSRC(CHANNEL) MCAUSER('%s')", "u"},
		{mqi.MQRCCF_CHLAUTH_RUNCHECK_ERROR, "DISPLAY CHLAUTH(C) MATCH(RUNCHECK) ADDRESS('%s')", "10.*"},
	} {
		for _, v := range strings.Fields(x.vals) {
			text := fmt.Sprintf(x.text, v)
			if rep := r.cmd(text); mqi.RC(rep.RC) != x.rc {
				t.Errorf("%s: %d %v, want %d", text, rep.RC, rep.Msgs, x.rc)
			}
		}
	}
	// What an earlier build let in can be taken away.
	r.ok("SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('10.*','10.0.0.0/8') ACTION(REMOVE)")
}

func TestAuthrec(t *testing.T) {
	r := newObjRig(t)
	q := "DISPLAY AUTHREC PROFILE(A) OBJTYPE(QUEUE)"
	row := "PROFILE(A) ENTITY(u) ENTTYPE(PRINCIPAL) OBJTYPE(QUEUE) AUTHLIST("
	r.steps([]step{
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u') AUTHADD(PUT,BROWSE,GET)", show: q, want: row + "BROWSE,GET,PUT)"},
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u') AUTHADD(INQ) AUTHRMV(GET)", show: q, want: row + "BROWSE,INQ,PUT)"},
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u') AUTHRMV(ALL)", show: q, want: row + "NONE)"},
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u') AUTHADD(ALLADM)", show: q, want: row + "CHG,CLR,DLT,DSP)"},
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u') AUTHADD(ALLMQI)", show: q, want: row + "BROWSE,CHG,CLR,DLT,DSP,GET,INQ,PUT,PASSALL,PASSID,SET,SETALL,SETID)"},
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u') AUTHADD(CONNECT)", id: "AMQ8203E"},
		{cmd: "SET AUTHREC PROFILE('A\x1fPRINCIPAL\x1fv') OBJTYPE(QUEUE) GROUP('g') AUTHADD(PUT)", id: "AMQ8203E"}, // v's record, it was
		{cmd: "SET AUTHREC PROFILE(A) OBJTYPE(PROCESS) PRINCIPAL('u') AUTHADD(CRT)", show: "DISPLAY AUTHREC OBJTYPE(PROCESS) PRINCIPAL('u') PROFILE('@class') MATCH(EXACT)", want: "PROFILE(@class) ENTITY(u) ENTTYPE(PRINCIPAL) OBJTYPE(PROCESS) AUTHLIST(CRT)"},
		{cmd: "DELETE AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u')"},
		{cmd: "DELETE AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('u')", id: "AMQ8867E"},
		{cmd: q, id: "AMQ8867E"},
		{cmd: "SET AUTHREC OBJTYPE(QMGR) GROUP('g') AUTHADD(CONNECT,INQ)", show: "DISPLAY AUTHREC OBJTYPE(QMGR) GROUP('g')", want: "PROFILE(self) ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QMGR) AUTHLIST(CONNECT,INQ)"},
		// Deleting the object deletes the records of its name, unless AUTHREC(NO).
		{cmd: "DEFINE QLOCAL(B)"},
		{cmd: "SET AUTHREC PROFILE(B) OBJTYPE(QUEUE) GROUP('g') AUTHADD(GET)"},
		{cmd: "DELETE QLOCAL(B) AUTHREC(NO)", show: "DISPLAY AUTHREC PROFILE(B) OBJTYPE(QUEUE)", want: "PROFILE(B) ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QUEUE) AUTHLIST(GET)"},
		{cmd: "DEFINE QLOCAL(B)"},
		{cmd: "DELETE QLOCAL(B)"},
		{cmd: "DISPLAY AUTHREC PROFILE(B) OBJTYPE(QUEUE)", id: "AMQ8867E"},
	})
	r.ok("SET AUTHREC PROFILE('SAFE.**') OBJTYPE(QUEUE) GROUP('g') AUTHADD(DSP)")
	r.want("DISPLAY AUTHREC PROFILE(SAFE.X.Y) OBJTYPE(QUEUE)", "PROFILE(SAFE.**) ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QUEUE) AUTHLIST(DSP)")
	r.refuse("AMQ8867E", "DISPLAY AUTHREC PROFILE(SAFE.X.Y) OBJTYPE(QUEUE) MATCH(EXACT)")
	r.want("DISPLAY ENTAUTH GROUP('g') OBJTYPE(QUEUE) OBJNAME(SAFE.Q)", "ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QUEUE) AUTHLIST(DSP)")
	r.refuse("AMQ8871E", "DISPLAY ENTAUTH GROUP('none') OBJTYPE(QUEUE) OBJNAME(SAFE.Q)")
	r.want("DISPLAY AUTHREC PROFILE(SYSTEM.DEAD.LETTER.QUEUE) OBJTYPE(QUEUE) GROUP('mqm')",
		"PROFILE(SYSTEM.DEAD.LETTER.QUEUE) ENTITY(mqm) ENTTYPE(GROUP) OBJTYPE(QUEUE) AUTHLIST(BROWSE,CHG,CLR,DLT,DSP,GET,INQ,PUT,PASSALL,PASSID,SET,SETALL,SETID)")
}

func TestProfileMatches(t *testing.T) {
	for _, c := range []struct {
		profile, name string
		want          bool
	}{
		{"A.B", "A.B", true}, {"A.B", "A.C", false}, {"A.*", "A.B", true}, {"A.*", "A.B.C", false}, {"A.**", "A.B.C", true},
		{"A.**", "A", true}, {"**", "X.Y", true}, {"*", "X.Y", false}, {"A.*.C", "A.B.C", true}, {"A.**.C", "A.B.D.C", true},
		{"A?C", "ABC", true}, {"A?C", "A.C", false}, {"AB*", "ABCD", true}, {"AB*", "AB", true}, {"", "", true}, {"A", "", false},
	} {
		if got := auth.MatchProfile(c.profile, c.name); got != c.want {
			t.Errorf("profile %q on %q: %v", c.profile, c.name, got)
		}
	}
}
