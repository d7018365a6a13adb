package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// cfText is a parameter's value: numbers of a list separated by commas.
func cfText(p *mqi.CFParam) string {
	switch {
	case p == nil:
		return "none"
	case len(p.Strings) > 0:
		return strings.TrimSpace(p.Strings[0])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Ints), " ", ","), "[]")
}

// find is a parameter among those of a message or group.
func find(params []mqi.CFParam, id int32) *mqi.CFParam {
	for i := range params {
		if params[i].ID == id {
			return &params[i]
		}
	}
	return nil
}

// wantParams checks parameters given as identifier and text.
func wantParams(t *testing.T, params []mqi.CFParam, want map[int32]string) {
	t.Helper()
	for id, v := range want {
		if got := cfText(find(params, id)); got != v {
			t.Errorf("parameter %d: %s, want %s", id, got, v)
		}
	}
}

// work is what the tests below count: two opens, puts of both kinds, a failed one, gets, a browse, a unit of work.
func (r *evRig) work() {
	t := r.t
	r.ok("CLEAR QLOCAL(Q)")
	c, err := r.m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{ApplName: "worker", PID: 42, TID: 7})
	if err != nil {
		t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	h, err := c.Open(bg, &od, inOut)
	wantRC(t, err, 0)
	od.ObjectName = "NONE"
	_, err = c.Open(bg, &od, inOut)
	wantRC(t, err, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	persistent := func(md *mqi.MD) { md.Persistence = 1 }
	for _, s := range []string{"1", "22", "333"} {
		_, err = tryPut(c, h, s, 0)
		wantRC(t, err, 0)
	}
	_, err = tryPut(c, h, "persistent", mqi.MQPMO_SYNCPOINT, persistent)
	wantRC(t, err, 0)
	wantRC(t, c.Commit(bg), 0)
	_, err = tryPut(c, h, strings.Repeat("x", 101), 0)
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	od.ObjectName = "Q"
	wantRC(t, c.Put1(bg, &od, &md, &pmo, []byte("put1")), 0)
	r.clk.Advance(2 * time.Second)
	for _, o := range []int32{mqi.MQGMO_BROWSE_FIRST, 0, mqi.MQGMO_SYNCPOINT} {
		_, _, err = tryGet(c, h, o)
		wantRC(t, err, 0)
	}
	wantRC(t, c.Backout(bg), 0)
	_, _, err = c.Inq(bg, h, []int32{mqi.MQIA_CURRENT_Q_DEPTH}, 1, 0)
	wantRC(t, err, 0)
	wantRC(t, c.Set(bg, h, []int32{mqi.MQIA_INHIBIT_PUT}, []int32{0}, nil), 0)
	wantRC(t, c.Close(bg, h, 0), 0)
	wantRC(t, c.Disconnect(bg), 0)
}

const zeros10 = ",0,0,0,0,0,0,0,0,0,0,0"

// moved are the messages work moved, as every kind of message shows them.
var workMoved = map[int32]string{
	mqi.MQIAMO_PUTS: "3,1", mqi.MQIAMO_PUTS_FAILED: "1", mqi.MQIAMO_PUT1S: "1,0", mqi.MQIAMO_PUT1S_FAILED: "0",
	mqi.MQIAMO64_PUT_BYTES: "10,10", mqi.MQIAMO_GETS: "2,0", mqi.MQIAMO64_GET_BYTES: "3,0", mqi.MQIAMO_GETS_FAILED: "0",
	mqi.MQIAMO_BROWSES: "1,0", mqi.MQIAMO64_BROWSE_BYTES: "1,0", mqi.MQIAMO_BROWSES_FAILED: "0",
}

func TestStatistics(t *testing.T) {
	r := newEvRig(t, "STATINT(60)")
	r.ok("DEFINE QLOCAL(Q) MAXMSGL(100)")
	r.ok("DEFINE QLOCAL(OFF) STATQ(OFF)")
	r.work()
	r.clk.Advance(time.Minute)
	if n := len(r.events(statisticsQueue)); n != 0 {
		t.Fatalf("%d messages, though nothing is switched on", n)
	}
	r.ok("ALTER QMGR STATMQI(ON) STATQ(ON)")
	r.clk.Advance(time.Minute)
	r.events(statisticsQueue)
	r.work()
	h := r.open("OFF", mqi.MQOO_OUTPUT)
	r.fill(h, 1)
	wantRC(t, r.c.Close(bg, h, 0), 0)
	r.clk.Advance(time.Minute)
	var mq, queues *mqi.CFMsg
	for _, m := range r.events(statisticsQueue) {
		if m.Type != mqi.MQCFT_STATISTICS {
			t.Errorf("type %d", m.Type)
		}
		if m.Command == mqi.MQCMD_STATISTICS_MQI {
			mq = &m
		} else if m.Command == mqi.MQCMD_STATISTICS_Q {
			queues = &m
		}
	}
	if mq == nil || queues == nil {
		t.Fatal("a message is missing")
	}
	wantParams(t, mq.Params, map[int32]string{
		mqi.MQCA_Q_MGR_NAME: "QM1", mqi.MQCAMO_START_DATE: "2026-05-14", mqi.MQIA_COMMAND_LEVEL: "941",
		mqi.MQIAMO_CONNS: "1", mqi.MQIAMO_DISCS: "1,0,0", mqi.MQIAMO_CONNS_MAX: "1",
		mqi.MQIAMO_COMMITS: "1", mqi.MQIAMO_BACKOUTS: "1",
		mqi.MQIAMO_OPENS_FAILED: "0,1" + zeros10, mqi.MQIAMO_INQS: "0,1" + zeros10, mqi.MQIAMO_SETS: "0,1" + zeros10,
	})
	var named []string
	for i := range queues.Params {
		g := &queues.Params[i]
		if g.ID != mqi.MQGACF_Q_STATISTICS_DATA {
			continue
		}
		name := cfText(find(g.Params, mqi.MQCA_Q_NAME))
		named = append(named, name)
		if name != "Q" {
			continue
		}
		wantParams(t, g.Params, workMoved)
		wantParams(t, g.Params, map[int32]string{mqi.MQIA_Q_TYPE: "1", mqi.MQIA_DEFINITION_TYPE: "1",
			mqi.MQIAMO_Q_MAX_DEPTH: "5", mqi.MQIAMO64_AVG_Q_TIME: "2000000,0"})
	}
	if s := strings.Join(named, " "); s != "Q" { // the event queues themselves say STATQ(OFF)
		t.Errorf("queues %q", s)
	}
	// The next interval begins at nothing, and queues that did nothing are left out.
	r.clk.Advance(time.Minute)
	for _, m := range r.events(statisticsQueue) {
		if m.Command == mqi.MQCMD_STATISTICS_Q {
			t.Errorf("queues without work: %s", eventText(&m))
		}
		wantParams(t, m.Params, map[int32]string{mqi.MQIAMO_PUTS: "0,0", mqi.MQIAMO_CONNS: "0"})
	}
	// NONE is off for all.
	r.ok("ALTER QMGR STATMQI(OFF) STATQ(NONE)")
	r.ok("ALTER QLOCAL(Q) STATQ(ON)")
	r.work()
	r.clk.Advance(time.Minute)
	if n := len(r.events(statisticsQueue)); n != 0 {
		t.Errorf("%d messages after NONE", n)
	}
	r.ok("ALTER QMGR STATQ(OFF)") // the queue's own ON counts
	r.work()
	r.m.stopStats() // the end of the queue manager writes what was counted
	if n := len(r.events(statisticsQueue)); n != 1 {
		t.Errorf("%d messages at the end", n)
	}
}

func TestStatisticsExpired(t *testing.T) {
	r := newEvRig(t, "STATINT(100) STATQ(ON)")
	r.ok("DEFINE QLOCAL(Q)")
	h := r.open("Q", inOut)
	_, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) { md.Expiry = 10 })
	wantRC(t, err, 0)
	r.clk.Advance(100 * time.Second)
	for _, m := range r.events(statisticsQueue) {
		g := find(m.Params, mqi.MQGACF_Q_STATISTICS_DATA)
		wantParams(t, g.Params, map[int32]string{mqi.MQCA_Q_NAME: "Q", mqi.MQIAMO_MSGS_EXPIRED: "1", mqi.MQIAMO_GETS: "0,0"})
		return
	}
	t.Error("no message")
}

func TestAccounting(t *testing.T) {
	r := newEvRig(t, "")
	r.ok("DEFINE QLOCAL(Q) MAXMSGL(100)")
	r.work()
	if n := len(r.events(accountingQueue)); n != 0 {
		t.Fatalf("%d messages, though nothing is switched on", n)
	}
	r.ok("ALTER QMGR ACCTMQI(ON) ACCTQ(ON)")
	r.work()
	got := r.events(accountingQueue)
	if len(got) != 2 || got[0].Command != mqi.MQCMD_ACCOUNTING_MQI || got[1].Command != mqi.MQCMD_ACCOUNTING_Q {
		t.Fatalf("%d messages", len(got))
	}
	for _, m := range got {
		if m.Type != mqi.MQCFT_ACCOUNTING {
			t.Errorf("type %d", m.Type)
		}
		wantParams(t, m.Params, map[int32]string{mqi.MQCA_Q_MGR_NAME: "QM1", mqi.MQCACF_APPL_NAME: "worker",
			mqi.MQIACF_PROCESS_ID: "42", mqi.MQIACF_THREAD_ID: "7", mqi.MQCACF_USER_IDENTIFIER: "app",
			mqi.MQIAMO_DISC_TYPE: "0", mqi.MQIACF_SEQUENCE_NUMBER: "0"})
	}
	wantParams(t, got[0].Params, workMoved)
	wantParams(t, got[0].Params, map[int32]string{mqi.MQIAMO_COMMITS: "1", mqi.MQIAMO_BACKOUTS: "1"})
	g := find(got[1].Params, mqi.MQGACF_Q_ACCOUNTING_DATA)
	wantParams(t, g.Params, workMoved)
	wantParams(t, g.Params, map[int32]string{mqi.MQCA_Q_NAME: "Q", mqi.MQIAMO_OPENS: "1", mqi.MQIAMO_CLOSES: "1",
		mqi.MQIAMO_PUT_MIN_BYTES: "1,10", mqi.MQIAMO_PUT_MAX_BYTES: "4,10", mqi.MQIAMO_GET_MAX_BYTES: "2,0",
		mqi.MQIAMO64_Q_TIME_MIN: "2000000,0"})
}

// A connection that lasts longer than ACCTINT is accounted for meanwhile; one that breaks says so.
func TestAccountingInterval(t *testing.T) {
	r := newEvRig(t, "ACCTMQI(ON) ACCTINT(60)")
	r.ok("DEFINE QLOCAL(Q)")
	h := r.open("Q", mqi.MQOO_OUTPUT)
	r.fill(h, 2)
	r.clk.Advance(time.Minute)
	r.fill(h, 1)
	c := r.c
	r.c, _ = r.m.Connect(bg, auth.Identity{Admin: true}, ConnectOptions{Internal: true})
	got := r.events(accountingQueue)
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	wantParams(t, got[0].Params, map[int32]string{mqi.MQIAMO_PUTS: "3,0", mqi.MQIAMO_DISC_TYPE: "none",
		mqi.MQIACF_SEQUENCE_NUMBER: "0", mqi.MQCACH_CHANNEL_NAME: "APP.SVRCONN"})
	_, err := tryPut(c, h, "x", 0)
	wantRC(t, err, 0)
	c.Break()
	got = r.events(accountingQueue)
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	wantParams(t, got[0].Params, map[int32]string{mqi.MQIAMO_PUTS: "1,0", mqi.MQIAMO_DISC_TYPE: "1",
		mqi.MQIACF_SEQUENCE_NUMBER: "1"})
}

// ACCTCONO lets an application decide, by the options it connects with.
func TestAccountingOverride(t *testing.T) {
	for _, tc := range []struct {
		attrs   string
		options int32
		want    int // messages: of verbs 1, of queues 2
	}{
		{"ACCTMQI(OFF) ACCTQ(OFF) ACCTCONO(DISABLED)", mqi.MQCNO_ACCOUNTING_MQI_ENABLED | mqi.MQCNO_ACCOUNTING_Q_ENABLED, 0},
		{"ACCTMQI(OFF) ACCTQ(OFF) ACCTCONO(ENABLED)", mqi.MQCNO_ACCOUNTING_MQI_ENABLED, 1},
		{"ACCTMQI(OFF) ACCTQ(OFF) ACCTCONO(ENABLED)", mqi.MQCNO_ACCOUNTING_Q_ENABLED, 2},
		{"ACCTMQI(OFF) ACCTQ(NONE) ACCTCONO(ENABLED)", mqi.MQCNO_ACCOUNTING_Q_ENABLED, 0},
		{"ACCTMQI(ON) ACCTQ(ON) ACCTCONO(ENABLED)", mqi.MQCNO_ACCOUNTING_MQI_DISABLED, 2},
		{"ACCTMQI(ON) ACCTQ(ON) ACCTCONO(ENABLED)", mqi.MQCNO_ACCOUNTING_Q_DISABLED, 1},
		{"ACCTMQI(ON) ACCTQ(ON) ACCTCONO(ENABLED)", 0, 3},
	} {
		r := newEvRig(t, "")
		r.ok("ALTER QMGR " + tc.attrs)
		r.ok("DEFINE QLOCAL(Q)")
		r.c, _ = r.m.Connect(bg, auth.Identity{Admin: true}, ConnectOptions{Internal: true})
		c, err := r.m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{Options: tc.options})
		wantRC(t, err, 0)
		od := mqi.DefaultOD()
		od.ObjectName = "Q"
		_, err = c.Open(bg, &od, mqi.MQOO_OUTPUT)
		wantRC(t, err, 0)
		wantRC(t, c.Disconnect(bg), 0)
		got := 0
		for _, m := range r.events(accountingQueue) {
			if m.Command == mqi.MQCMD_ACCOUNTING_MQI {
				got |= 1
			} else {
				got |= 2
			}
		}
		if got != tc.want {
			t.Errorf("%s options %d: messages %d, want %d", tc.attrs, tc.options, got, tc.want)
		}
	}
}

// RESET QMGR TYPE(STATISTICS) ends the interval, and the next one begins.
func TestResetStatistics(t *testing.T) {
	r := newEvRig(t, "STATINT(60) STATMQI(ON)")
	r.clk.Advance(40 * time.Second)
	r.ok("RESET QMGR TYPE(STATISTICS)")
	if n := len(r.events(statisticsQueue)); n != 1 {
		t.Errorf("%d messages", n)
	}
	r.clk.Advance(40 * time.Second)
	if n := len(r.events(statisticsQueue)); n != 0 {
		t.Errorf("%d messages before the interval is over", n)
	}
	r.clk.Advance(20 * time.Second)
	if n := len(r.events(statisticsQueue)); n != 1 {
		t.Errorf("%d messages after the interval", n)
	}
	r.refuse("AMQ8199E", "RESET QMGR TYPE(ADVANCELOG)")
}
