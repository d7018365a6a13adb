package qmgr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// fakeClients is a ClientHost: quiesced instances stay until they are dropped.
type fakeClients struct{ all []ChannelInstance }

func (f *fakeClients) Instances() []ChannelInstance { return slices.Clone(f.all) }

func (f *fakeClients) EndInstances(force bool, match func(*ChannelInstance) bool) int {
	n := 0
	var left []ChannelInstance
	for _, i := range f.all {
		if match(&i) {
			n++
			if force {
				continue
			}
			i.Stopping = true
		}
		left = append(left, i)
	}
	f.all = left
	return n
}

func (f *fakeClients) run(channel, addr string, n uint32) {
	f.all = append(f.all, ChannelInstance{Channel: channel, ConnName: addr, Number: n, User: "app", Appl: fmt.Sprint("appl", n),
		Product: "MQJB09040400", Local: "10.0.0.9(1414)", Heartbeat: 300 * time.Second, Started: time.Unix(int64(n), 0),
		Conversations: 2, MaxConversations: 10, Calls: int64(n)})
}

// lines is the report without its echo and closing lines.
func (r *objRig) lines(text string) string {
	out, _ := r.script(text + "\n")
	var keep []string
	for l := range strings.Lines(out) {
		if f := strings.Join(strings.Fields(l), " "); f != "" && !strings.Contains(l, " : ") && !strings.Contains(l, "MQSC command") && !strings.Contains(l, "syntax error") {
			keep = append(keep, f)
		}
	}
	return strings.Join(keep, " ")
}

// TestChannelStatus: what DISPLAY CHSTATUS shows and chooses, and what STOP and START CHANNEL do to it.
func TestChannelStatus(t *testing.T) {
	r := newObjRig(t)
	f := &fakeClients{}
	r.m.SetClientHost(f)
	r.ok("DEFINE CHANNEL(A.CH) CHLTYPE(SVRCONN)")
	r.ok("DEFINE CHANNEL(B.CH) CHLTYPE(SVRCONN) MONCHL(HIGH)")
	f.run("B.CH", "10.1.1.1", 3)
	f.run("A.CH", "10.1.1.2", 2)
	f.run("A.CH", "10.1.1.1", 1)
	for _, c := range []struct{ cmd, want string }{
		{"DISPLAY CHSTATUS(*) RAPPLTAG", "AMQ8417I: Channel status details. CHANNEL(A.CH) CHLTYPE(SVRCONN) CONNAME(10.1.1.1) CURRENT RAPPLTAG(appl1) STATUS(RUNNING) SUBSTATE(RECEIVE) " +
			"AMQ8417I: Channel status details. CHANNEL(A.CH) CHLTYPE(SVRCONN) CONNAME(10.1.1.2) CURRENT RAPPLTAG(appl2) STATUS(RUNNING) SUBSTATE(RECEIVE) " +
			"AMQ8417I: Channel status details. CHANNEL(B.CH) CHLTYPE(SVRCONN) CONNAME(10.1.1.1) CURRENT RAPPLTAG(appl3) STATUS(RUNNING) SUBSTATE(RECEIVE)"},
		{"DISPLAY CHSTATUS(*) WHERE(MSGS GT 2) CURRENT", "AMQ8417I: Channel status details. CHANNEL(B.CH) CHLTYPE(SVRCONN) CONNAME(10.1.1.1) CURRENT MSGS(3) STATUS(RUNNING) SUBSTATE(RECEIVE)"},
		{"DISPLAY CHSTATUS(A.CH) CONNAME('10.1.1.2(1414)')", "AMQ8417I: Channel status details. CHANNEL(A.CH) CHLTYPE(SVRCONN) CONNAME(10.1.1.2) CURRENT STATUS(RUNNING) SUBSTATE(RECEIVE)"},
		{"DISPLAY CHSTATUS(B.CH) MONITOR", "AMQ8417I: Channel status details. CHANNEL(B.CH) CHLTYPE(SVRCONN) COMPRATE(0,0) COMPTIME(0,0) CONNAME(10.1.1.1) CURRENT EXITTIME(0,0) MONCHL(HIGH) STATUS(RUNNING) SUBSTATE(RECEIVE)"},
		{"DISPLAY CHSTATUS(A.CH) XMITQ(X)", "AMQ8420I: Channel status not found."},
		{"DISPLAY CHSTATUS(*) SAVED", "AMQ8420I: Channel status not found."},
		{"DISPLAY CHSTATUS(C*)", "AMQ8420I: Channel status not found."},
		{"DELETE CHANNEL(A.CH)", "AMQ9514E: Channel A.CH is in use."},
		{"STOP CHANNEL(A.CH) QMNAME(QM2)", "AMQ9533W: Channel A.CH is not active."},
		{"STOP CHANNEL(A.CH) CHLTYPE(RCVR)", "AMQ8207E: Object A.CH is a CHANNEL(SVRCONN), not a CHANNEL(RCVR)."},
		{"STOP CHANNEL(A.CH) CONNAME('10.1.1.2') MODE(TERMINATE)", "AMQ8019I: Stop of channel accepted."},
		{"STOP CHANNEL(A.CH)", "AMQ8019I: Stop of channel accepted."},
		{"DISPLAY CHSTATUS(A.CH) STOPREQ", "AMQ8417I: Channel status details. CHANNEL(A.CH) CHLTYPE(SVRCONN) CONNAME(10.1.1.1) CURRENT STATUS(STOPPING) STOPREQ(YES) SUBSTATE(RECEIVE)"},
	} {
		if got := r.lines(c.cmd); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.cmd, got, c.want)
		}
	}
	if sc, _ := r.m.ServerConn("A.CH"); !sc.Stopped || !r.m.ChannelStopped("A.CH") {
		t.Error("the channel takes clients")
	}
	f.all = nil
	if got, want := r.lines("DISPLAY CHSTATUS(A.CH)"), "AMQ8417I: Channel status details. CHANNEL(A.CH) CHLTYPE(SVRCONN) CONNAME( ) CURRENT STATUS(STOPPED) SUBSTATE( )"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	r.refuse("AMQ9533W", "STOP CHANNEL(A.CH)")
	r.ok("STOP CHANNEL(A.CH) STATUS(INACTIVE)")
	r.refuse("AMQ8420I", "DISPLAY CHSTATUS(A.CH)")
	r.ok("STOP CHANNEL(A.CH) MODE(FORCE)")
	r.ok("START CHANNEL(A.CH)")
	if r.m.ChannelStopped("A.CH") {
		t.Error("the channel takes no clients")
	}
	r.ok("DELETE CHANNEL(A.CH)")
}

// TestQuiescedChannel: calls with FAIL_IF_QUIESCING of a connection whose channel is being stopped fail with 2202, others go on.
func TestQuiescedChannel(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	c, other := r.connect(), r.connect()
	const opts = mqi.MQOO_INPUT_SHARED
	h := r.openQ(c, "Q", opts)
	get := func(c *Conn, h Handle, o int32) error {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		gmo.Options, gmo.WaitInterval = o, mqi.MQWI_UNLIMITED
		_, _, err := c.Get(context.Background(), h, &md, &gmo, 100)
		return err
	}
	const waits = mqi.MQGMO_WAIT | mqi.MQGMO_FAIL_IF_QUIESCING
	done := make(chan error, 1)
	go func() { done <- get(c, h, waits) }()
	r.awaitWaiters("Q", 1)
	c.QuiesceChannel()
	wantRC(t, <-done, mqi.MQRC_CONNECTION_QUIESCING)
	wantRC(t, get(c, h, waits), mqi.MQRC_CONNECTION_QUIESCING)
	wantRC(t, get(c, h, mqi.MQGMO_NO_WAIT), mqi.MQRC_NO_MSG_AVAILABLE) // does not ask for it
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	_, err := c.Open(context.Background(), &od, opts|mqi.MQOO_FAIL_IF_QUIESCING)
	wantRC(t, err, mqi.MQRC_CONNECTION_QUIESCING)
	wantRC(t, get(other, r.openQ(other, "Q", opts), mqi.MQGMO_NO_WAIT|mqi.MQGMO_FAIL_IF_QUIESCING), mqi.MQRC_NO_MSG_AVAILABLE)
}
