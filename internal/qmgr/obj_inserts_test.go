package qmgr

import (
	"strings"
	"testing"
)

// A definition without what it must have is refused, and leaves nothing.
func TestIncompleteDefinitions(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.steps([]step{
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(SDR) XMITQ(Q)", id: "AMQ8214E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(RQSTR)", id: "AMQ8214E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(CLUSSDR) CLUSTER(CL)", id: "AMQ8214E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(CLNTCONN)", id: "AMQ8214E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(CLNTCONN) CONNAME(' ')", id: "AMQ8214E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(SDR) CONNAME('h(1414)')", id: "AMQ8215E"},
		{cmd: "DEFINE CHANNEL(C) CHLTYPE(SVR)", id: "AMQ8215E"},
		{cmd: "DISPLAY CHANNEL(C)", id: "AMQ8147E"},
		{cmd: "DEFINE AUTHINFO(A) AUTHTYPE(IDPWLDAP)", id: "AMQ8203E"},
		{cmd: "DEFINE AUTHINFO(A) AUTHTYPE(CRLLDAP)", id: "AMQ8203E"},
		{cmd: "DEFINE AUTHINFO(A) AUTHTYPE(OCSP)", id: "AMQ8203E"},
		{cmd: "DISPLAY AUTHINFO(A)", id: "AMQ8147E"},
		{cmd: "DEFINE TOPIC(T)", id: "AMQ8203E"},
		{cmd: "DEFINE TOPIC(T) REPLACE DEFPRTY(5)", id: "AMQ8203E"},
		{cmd: "DISPLAY TOPIC(T)", id: "AMQ8147E"},
		{cmd: "DEFINE SUB(S) TOPICSTR('a')", id: "AMQ8203E"},
		{cmd: "DEFINE SUB(S) DEST(Q)", id: "AMQ8203E"},
		{cmd: "DISPLAY SUB(S)", id: "AMQ8147E"},
	})
}

// DEFINE … REPLACE of a topic or subscription need not repeat what it may not change.
func TestReplaceKeepsTheTopicString(t *testing.T) {
	r := newObjRig(t)
	r.steps([]step{
		{cmd: "DEFINE QLOCAL(Q)"},
		{cmd: "DEFINE TOPIC(T) TOPICSTR('a/b') DEFPRTY(3) PUB(DISABLED)"},
		{cmd: "DEFINE TOPIC(T) DEFPRTY(5) REPLACE", show: "DISPLAY TOPIC(T) TOPICSTR DEFPRTY PUB", want: "TOPIC(T) TYPE(LOCAL) TOPICSTR(a/b) PUB(ASPARENT) DEFPRTY(5)"},
		{cmd: "DEFINE SUB(S) TOPICSTR('c') TOPICOBJ(T) DEST(Q) SELECTOR('x = 1') USERDATA('u')"},
		{cmd: "DEFINE SUB(S) DEST(NONE) REPLACE", id: "AMQ8147E"},
		{cmd: "DEFINE SUB(S) PUBPRTY(5) REPLACE"},
	})
	const want = "SUB(S) TOPICSTR(a/b/c) TOPICOBJ(T) DEST(Q) SELECTOR(x = 1) USERDATA( ) PUBPRTY(5)"
	if rows := r.show("DISPLAY SUB(S) TOPICSTR TOPICOBJ DEST SELECTOR PUBPRTY USERDATA"); len(rows) != 1 || !strings.HasSuffix(rows[0], want) {
		t.Errorf("the replaced subscription is %q, want %q", rows, want)
	}
}

func TestInserts(t *testing.T) {
	r := newObjRig(t, func(o *Options) {
		o.Inserts = map[string]string{"CONNAME": "host.example(1415)", "LONG": "A.NAME.OF.TWENTY.ONE."}
	})
	r.steps([]step{
		{cmd: "DEFINE CHANNEL(UC.+QMNAME+) CHLTYPE(CLUSRCVR) CONNAME(+CONNAME+) CLUSTER('UC') DESCR('+QMNAME+')",
			show: "DISPLAY CHANNEL(UC.+QMNAME+) CONNAME CLUSTER DESCR", want: "CHANNEL(UC.QM1) CHLTYPE(CLUSRCVR) CLUSTER(UC) CONNAME(host.example(1415)) DESCR(+QMNAME+)"},
		{cmd: "DEFINE QREMOTE(+QMNAME+.OUT) RNAME('x.+qmname+') RQMNAME(QM2)",
			show: "DISPLAY QREMOTE(QM1*) RNAME WHERE(RQMNAME EQ QM2)", want: "QUEUE(QM1.OUT) TYPE(QREMOTE) RQMNAME(QM2) RNAME(x.QM1)"},
		{cmd: "DEFINE CHANNEL('+AUTOCL+_+QMNAME+') CHLTYPE(CLUSRCVR) CLUSTER('+AUTOCL+')", id: "AMQ8218E"},
		{cmd: "ALTER CHANNEL(UC.QM1) CHLTYPE(CLUSRCVR) CLUSTER('+AUTOCL+')", id: "AMQ8218E", show: "DISPLAY CHANNEL(UC.QM1) CLUSTER", want: "CHANNEL(UC.QM1) CHLTYPE(CLUSRCVR) CLUSTER(UC)"},
		{cmd: "DEFINE CHANNEL(+LONG+) CHLTYPE(SVRCONN)", id: "AMQ8203E"},
		{cmd: "DEFINE QLOCAL(+CONNAME+)", id: "AMQ8203E"},
		{cmd: "DEFINE TOPIC(T) TOPICSTR('a/+QMNAME+')", show: "DISPLAY TOPIC(T) TOPICSTR", want: "TOPIC(T) TYPE(LOCAL) TOPICSTR(a/+QMNAME+)"},
	})
	rep := r.cmd("DEFINE CHANNEL('+AUTOCL+_+QMNAME+') CHLTYPE(CLUSRCVR)")
	const want = "Insert +AUTOCL+ in CHANNEL(+AUTOCL+_+QMNAME+) has no value here: write the cluster's name, or give it in qm.ini (AutoCluster: ClusterName)."
	if got := rep.Msgs[0].Text(); got != want {
		t.Errorf("the refusal says %q, want %q", got, want)
	}
}
