package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/store"
)

// evRig is a whole queue manager with its SYSTEM objects, driven by commands and verbs.
type evRig struct {
	*objRig
	c *Conn
}

func newEvRig(t *testing.T, attrs string) *evRig {
	r := &evRig{objRig: newObjRig(t)}
	c, err := r.m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{ApplName: "prog", ApplType: mqi.MQAT_UNIX,
		Channel: "APP.SVRCONN", ConnName: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	r.c = c
	r.events(qmgrEventQueue)
	if attrs != "" {
		r.ok("ALTER QMGR " + attrs)
	}
	return r
}

func (r *evRig) open(name string, opts int32) Handle {
	r.t.Helper()
	h, err := r.tryOpen(name, "", opts)
	wantRC(r.t, err, 0)
	return h
}

func (r *evRig) tryOpen(name, qm string, opts int32) (Handle, error) {
	od := mqi.DefaultOD()
	od.ObjectName, od.ObjectQMgrName = name, qm
	return r.c.Open(bg, &od, opts)
}

// events takes the PCF messages off a queue.
func (r *evRig) events(queue string) []mqi.CFMsg {
	r.t.Helper()
	od := mqi.DefaultOD()
	od.ObjectName = queue
	h, err := r.c.Open(bg, &od, mqi.MQOO_INPUT_AS_Q_DEF)
	wantRC(r.t, err, 0)
	defer func() { wantRC(r.t, r.c.Close(bg, h, 0), 0) }()
	var out []mqi.CFMsg
	for {
		s, md, err := tryGet(r.c, h, 0)
		if err != nil {
			wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			return out
		}
		m, _, err := mqi.ParseCF([]byte(s), mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
		if err != nil {
			r.t.Fatal(err)
		}
		if md.PutApplType != mqi.MQAT_QMGR || md.MsgType != mqi.MQMT_DATAGRAM ||
			md.Format != mqi.MQFMT_EVENT && md.Format != mqi.MQFMT_ADMIN {
			r.t.Errorf("descriptor of an event %+v", md)
		}
		out = append(out, m)
	}
}

// wantEvents compares the reasons of events, with the parameters that were asked for.
func (r *evRig) wantEvents(queue string, want ...string) {
	r.t.Helper()
	var got []string
	for _, m := range r.events(queue) {
		got = append(got, eventText(&m))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("events on %s:\n%s\nwant\n%s", queue, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// eventText is a message's reason and parameters, "2224 2002=A 36=4".
func eventText(m *mqi.CFMsg) string {
	b := fmt.Sprint(int32(m.Reason))
	for i := range m.Params {
		p := &m.Params[i]
		switch p.Type {
		case mqi.MQCFT_STRING:
			b += fmt.Sprintf(" %d=%s", p.ID, strings.TrimRight(p.Text(), " "))
		case mqi.MQCFT_INTEGER:
			b += fmt.Sprintf(" %d=%d", p.ID, p.Int())
		}
	}
	return b
}

func (r *evRig) fill(h Handle, n int) {
	r.t.Helper()
	for range n {
		_, err := tryPut(r.c, h, "x", 0)
		wantRC(r.t, err, 0)
	}
}

// Depth events: high, full and low, each switching itself off and its opposites on.
func TestDepthEvents(t *testing.T) {
	r := newEvRig(t, "PERFMEV(ENABLED)")
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(10) QDEPTHHI(80) QDEPTHLO(20) QDPHIEV(ENABLED)")
	h := r.open("Q", inOut)
	r.fill(h, 7)
	r.wantEvents(perfmEventQueue)
	r.clk.Advance(90 * time.Second)
	r.fill(h, 1)
	r.wantEvents(perfmEventQueue, "2224 2015=QM1 2002=Q 35=90 36=8 37=8 38=0")
	r.wantAttrs("Q", "QDPHIEV(DISABLED) QDPLOEV(ENABLED) QDPMAXEV(ENABLED)")
	r.fill(h, 1)
	r.wantEvents(perfmEventQueue) // once
	r.fill(h, 1)
	_, err := tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.wantEvents(perfmEventQueue, "2053 2015=QM1 2002=Q 35=0 36=10 37=2 38=0")
	r.wantAttrs("Q", "QDPHIEV(DISABLED) QDPLOEV(ENABLED) QDPMAXEV(DISABLED)")
	for range 7 {
		_, _, err := tryGet(r.c, h, 0)
		wantRC(t, err, 0)
	}
	r.wantEvents(perfmEventQueue)
	_, _, err = tryGet(r.c, h, 0)
	wantRC(t, err, 0)
	r.wantEvents(perfmEventQueue, "2225 2015=QM1 2002=Q 35=0 36=10 37=0 38=8")
	r.wantAttrs("Q", "QDPHIEV(ENABLED) QDPLOEV(DISABLED) QDPMAXEV(ENABLED)")
}

func (r *evRig) wantAttrs(q, want string) {
	r.t.Helper()
	r.want("DISPLAY QLOCAL("+q+") QDPHIEV QDPLOEV QDPMAXEV", "QUEUE("+q+") TYPE(QLOCAL) "+want)
}

// PERFMEV and the queue's attribute are both needed, and obeyed at once. Expiry is no way to Queue Depth Low.
func TestDepthEventsSwitchedOff(t *testing.T) {
	r := newEvRig(t, "PERFMEV(DISABLED)")
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(2) QDPHIEV(ENABLED) QDPLOEV(ENABLED)")
	h := r.open("Q", inOut)
	r.fill(h, 2)
	_, err := tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.wantEvents(perfmEventQueue)
	r.wantAttrs("Q", "QDPHIEV(ENABLED) QDPLOEV(ENABLED) QDPMAXEV(ENABLED)")
	r.ok("ALTER QMGR PERFMEV(ENABLED)")
	r.ok("ALTER QLOCAL(Q) QDPMAXEV(DISABLED)")
	_, err = tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.wantEvents(perfmEventQueue)

	r.ok("DEFINE QLOCAL(X) MAXDEPTH(2) QDPLOEV(ENABLED)")
	x := r.open("X", inOut)
	_, err = tryPut(r.c, x, "x", 0, func(md *mqi.MD) { md.Expiry = 10 })
	wantRC(t, err, 0)
	r.clk.Advance(2 * time.Minute)
	if n := r.m.lookup(ClassQueue, "X").Queue.depth(); n != 0 {
		t.Fatalf("%d messages left", n)
	}
	r.wantEvents(perfmEventQueue)
}

// An event queue that is full takes no events, without any harm, and causes none.
func TestEventQueueFull(t *testing.T) {
	r := newEvRig(t, "PERFMEV(ENABLED)")
	r.ok("ALTER QLOCAL(" + perfmEventQueue + ") MAXDEPTH(1) QDPMAXEV(ENABLED) QDPHIEV(ENABLED) QDEPTHHI(50)")
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(1)")
	r.ok("DEFINE QLOCAL(Q2) MAXDEPTH(1)")
	for _, q := range []string{"Q", "Q2"} {
		h := r.open(q, inOut)
		r.fill(h, 1)
		_, err := tryPut(r.c, h, "x", 0)
		wantRC(t, err, mqi.MQRC_Q_FULL)
	}
	if n := len(r.events(perfmEventQueue)); n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestServiceIntervalEvents(t *testing.T) {
	r := newEvRig(t, "PERFMEV(ENABLED)")
	r.ok("DEFINE QLOCAL(Q) QSVCIEV(HIGH) QSVCINT(1000)")
	h := r.open("Q", inOut)
	r.fill(h, 1)
	r.clk.Advance(time.Second)
	r.fill(h, 1) // not longer than the interval
	r.wantEvents(perfmEventQueue)
	r.clk.Advance(time.Second)
	r.fill(h, 1) // a put finds out too
	r.wantEvents(perfmEventQueue, "2226 2015=QM1 2002=Q 35=2 36=3 37=3 38=0")
	r.want("DISPLAY QLOCAL(Q) QSVCIEV", "QUEUE(Q) TYPE(QLOCAL) QSVCIEV(OK)")
	_, _, err := tryGet(r.c, h, 0)
	wantRC(t, err, 0)
	r.wantEvents(perfmEventQueue) // late
	_, _, err = tryGet(r.c, h, 0)
	wantRC(t, err, 0)
	r.wantEvents(perfmEventQueue, "2227 2015=QM1 2002=Q 35=0 36=3 37=0 38=2")
	r.want("DISPLAY QLOCAL(Q) QSVCIEV", "QUEUE(Q) TYPE(QLOCAL) QSVCIEV(HIGH)")
	_, _, err = tryGet(r.c, h, 0) // the last one: the interval stops
	wantRC(t, err, 0)
	r.clk.Advance(time.Hour)
	r.fill(h, 1)
	r.wantEvents(perfmEventQueue)
	r.clk.Advance(2 * time.Second)
	_, _, err = tryGet(r.c, h, 0)
	wantRC(t, err, 0)
	r.wantEvents(perfmEventQueue, "2226 2015=QM1 2002=Q 35=3602 36=1 37=1 38=2")
}

const appl, chl = " 1=6 3024=prog", " 3501=APP.SVRCONN 3506=127.0.0.1"

func TestInhibitEvents(t *testing.T) {
	r := newEvRig(t, "")
	r.ok("DEFINE QLOCAL(Q) GET(DISABLED) PUT(DISABLED)")
	r.ok("DEFINE QALIAS(A) TARGET(Q)")
	h := r.open("A", mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)
	both := func() {
		_, err := tryPut(r.c, h, "x", 0)
		wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
		_, _, err = tryGet(r.c, h, 0)
		wantRC(t, err, mqi.MQRC_GET_INHIBITED)
		od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
		od.ObjectName = "Q"
		wantRC(t, r.c.Put1(bg, &od, &md, &pmo, nil), mqi.MQRC_PUT_INHIBITED)
	}
	both()
	r.wantEvents(qmgrEventQueue)
	r.ok("ALTER QMGR INHIBTEV(ENABLED)")
	both()
	r.wantEvents(qmgrEventQueue, "2051 2015=QM1 2016=A"+appl+chl, "2016 2015=QM1 2016=A"+appl+chl, "2051 2015=QM1 2016=Q"+appl+chl)
}

func TestLocalAndRemoteEvents(t *testing.T) {
	r := newEvRig(t, "")
	for _, s := range []string{
		"DEFINE QLOCAL(L)", "DEFINE QMODEL(M)", "DEFINE QALIAS(A) TARGET(NOWHERE)", "DEFINE QALIAS(AM) TARGET(M)",
		"DEFINE QREMOTE(R) RNAME(FAR) RQMNAME(QM9)", "DEFINE QREMOTE(RX) RNAME(FAR) RQMNAME(QM9) XMITQ(NOWHERE)",
		"DEFINE QREMOTE(RL) RNAME(FAR) RQMNAME(QM9) XMITQ(L)", "DEFINE QREMOTE(RM) RNAME(FAR) RQMNAME(QM9) XMITQ(M)",
		"DEFINE QREMOTE(QMA) RQMNAME(QM2)",
	} {
		r.ok(s)
	}
	for _, step := range []struct {
		alter, name, qm string
		rc              mqi.RC
		want            string
	}{
		{"", "NONE", "", 2085, ""},
		{"LOCALEV(ENABLED)", "NONE", "", 2085, "2085 2015=QM1" + appl + " 2016=NONE" + chl},
		{"", strings.Repeat("N", 50), "", 2085, "2085 2015=QM1" + appl + " 2016=" + strings.Repeat("N", 48) + chl},
		{"", "A", "", 2082, "2082 2015=QM1 2016=A 2002=NOWHERE" + appl + " 193=1" + chl},
		{"", "AM", "", 2001, "2001 2015=QM1 2016=AM 2002=M 20=2" + appl + chl},
		{"", "R", "", 2087, ""},
		{"LOCALEV(DISABLED) REMOTEEV(ENABLED)", "NONE", "", 2085, ""},
		{"", "R", "", 2087, "2087 2015=QM1 2016=R" + appl + chl},
		{"", "X", "QM7", 2087, "2087 2015=QM1 2016=X" + appl + " 3023=QM7" + chl},
		{"", "RX", "", 2196, "2196 2015=QM1 2016=RX 2024=NOWHERE" + appl + chl},
		{"", "RL", "", 2092, "2092 2015=QM1 2016=RL 2024=L" + appl + chl},
		{"", "RM", "", 2091, "2091 2015=QM1 2016=RM 2024=M 20=2" + appl + chl},
		{"", "X", "L", 2092, "2092 2015=QM1 2016=X 2024=L" + appl + " 3023=L" + chl},
		{"", "QMA", "", 2184, "2184 2015=QM1 2016=QMA" + appl + chl},
	} {
		if step.alter != "" {
			r.ok("ALTER QMGR " + step.alter)
		}
		_, err := r.tryOpen(step.name, step.qm, mqi.MQOO_OUTPUT)
		wantRC(t, err, step.rc)
		if step.want == "" {
			r.wantEvents(qmgrEventQueue)
		} else {
			r.wantEvents(qmgrEventQueue, step.want)
		}
	}
	// DEFXMITQ is checked by ALTER QMGR; what becomes of it later is not.
	r.ok("DEFINE QLOCAL(DX) USAGE(XMITQ)")
	r.ok("ALTER QMGR DEFXMITQ(DX)")
	r.ok("ALTER QLOCAL(DX) USAGE(NORMAL)")
	_, err := r.tryOpen("R", "", mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR)
	r.ok("DELETE QLOCAL(DX)")
	_, err = r.tryOpen("R", "", mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_UNKNOWN_DEF_XMIT_Q)
	r.ok("DEFINE QALIAS(DX) TARGET(L)")
	_, err = r.tryOpen("R", "", mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR)
	r.wantEvents(qmgrEventQueue, "2199 2015=QM1 2016=R 2024=DX"+appl+chl, "2197 2015=QM1 2016=R 2024=DX"+appl+chl,
		"2198 2015=QM1 2016=R 2024=DX 20=3"+appl+chl)
}

func TestStartStopEvents(t *testing.T) {
	for mode, want := range map[store.StopMode]string{
		store.Quiesce:   "2223 2015=QM1 1020=6",
		store.Immediate: "2223 2015=QM1 1020=5",
	} {
		r := &evRig{objRig: newObjRig(t)}
		m := r.m
		if d := m.lookup(ClassQueue, qmgrEventQueue).Queue.depth(); d != 1 {
			t.Errorf("%d events after the start", d)
		}
		c, err := m.Connect(bg, auth.Identity{Admin: true}, ConnectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r.c = c
		r.wantEvents(qmgrEventQueue, "2222 2015=QM1")
		wantRC(t, c.Disconnect(bg), 0)
		m.stopEvents(mode)
		c, err = m.Connect(bg, auth.Identity{Admin: true}, ConnectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r.c = c
		r.wantEvents(qmgrEventQueue, want)
		r.ok("ALTER QMGR STRSTPEV(DISABLED)")
		m.stopEvents(mode)
		r.wantEvents(qmgrEventQueue)
	}
}

func TestAuthorityEvents(t *testing.T) {
	r := newEvRig(t, "")
	c, serr := mqsc.ParseCommand("DEFINE QLOCAL(Q)")
	if serr != nil {
		t.Fatal(serr)
	}
	refuse := func() {
		if rep := r.m.Execute(bg, c, auth.Identity{User: "eve"}); !rep.Failed() {
			t.Fatal("eve may define queues")
		}
		r.m.RaiseEvent(mqi.Event{Reason: mqi.MQRC_NOT_AUTHORIZED, Qualifier: mqi.MQRQ_CONN_NOT_AUTHORIZED, User: "eve",
			ApplType: 6, ApplName: "x"})
	}
	refuse()
	r.wantEvents(qmgrEventQueue)
	r.ok("ALTER QMGR AUTHOREV(ENABLED)")
	refuse()
	r.wantEvents(qmgrEventQueue, fmt.Sprintf("2035 2015=QM1 1020=4 1021=%d 3025=eve", c.Spec.PCFNum),
		"2035 2015=QM1 1020=1 3025=eve 1=6 3024=x")
}

// Channel events are raised by others; CHLEV, SSLEV and CHADEV say which of them are wanted.
func TestChannelEventsWanted(t *testing.T) {
	r := newEvRig(t, "")
	all := []mqi.Event{
		{Reason: mqi.MQRC_CHANNEL_STARTED}, {Reason: mqi.MQRC_CHANNEL_STOPPED, Qualifier: mqi.MQRQ_CHANNEL_STOPPED_OK},
		{Reason: mqi.MQRC_CHANNEL_STOPPED, Qualifier: mqi.MQRQ_CHANNEL_STOPPED_ERROR},
		{Reason: mqi.MQRC_CHANNEL_NOT_ACTIVATED}, {Reason: mqi.MQRC_CHANNEL_SSL_ERROR},
		{Reason: mqi.MQRC_CHANNEL_AUTO_DEF_OK},
	}
	for attrs, want := range map[string]string{
		"CHLEV(DISABLED)":                 "",
		"CHLEV(ENABLED)":                  "2282 2283 2283 2296",
		"CHLEV(EXCEPTION)":                "2283 2296",
		"CHLEV(DISABLED) SSLEV(ENABLED)":  "2371",
		"CHLEV(DISABLED) CHADEV(ENABLED)": "2233",
	} {
		r.ok("ALTER QMGR SSLEV(DISABLED) CHADEV(DISABLED)")
		r.ok("ALTER QMGR " + attrs)
		for _, e := range all {
			r.m.RaiseEvent(e)
		}
		var got []string
		for _, m := range r.events(mqi.ChannelEventQueue) {
			got = append(got, fmt.Sprint(int32(m.Reason)))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", attrs, s, want)
		}
	}
}

func TestConfigurationEvents(t *testing.T) {
	r := newEvRig(t, "")
	r.ok("DEFINE QLOCAL(BEFORE)")
	r.wantEvents(configEventQueue)
	r.ok("ALTER QMGR CONFIGEV(ENABLED)")
	r.events(configEventQueue)
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(77) DESCR('first')")
	r.ok("ALTER QLOCAL(Q) MAXDEPTH(78)")
	h := r.open("Q", mqi.MQOO_SET)
	wantRC(t, r.c.Set(bg, h, []int32{mqi.MQIA_INHIBIT_GET}, []int32{1}, nil), 0)
	wantRC(t, r.c.Close(bg, h, 0), 0)
	r.ok("DELETE QLOCAL(Q)")
	r.refuse("AMQ8147E", "DELETE QLOCAL(Q)")
	var got []string
	for _, m := range r.events(configEventQueue) {
		line := fmt.Sprint(int32(m.Reason), " ", m.MsgSeqNumber, " ", m.Control, " ", m.Command)
		for _, id := range []int32{mqi.MQCACF_EVENT_USER_ID, mqi.MQIACF_EVENT_ORIGIN, mqi.MQIACF_OBJECT_TYPE, mqi.MQCA_Q_NAME,
			mqi.MQIA_MAX_Q_DEPTH, mqi.MQCA_Q_DESC, mqi.MQIA_INHIBIT_GET} {
			p := m.Find(id)
			switch {
			case p == nil:
				line += "|none"
			case p.Type == mqi.MQCFT_STRING:
				line += "|" + strings.TrimSpace(p.Text())
			default:
				line += fmt.Sprint("|", p.Int())
			}
		}
		got = append(got, line)
	}
	want := []string{ // reason, number, control, command, user, origin, type, name, MAXDEPTH, DESCR, GET
		"2367 1 1 43|root|1|1|Q|77|first|0",
		"2368 1 0 43|root|1|1|Q|77|first|0",
		"2368 2 1 43|root|1|1|Q|78|first|0",
		"2368 1 0 43|app|4|1|Q|78|first|0",
		"2368 2 1 43|app|4|1|Q|78|first|1",
		"2369 1 1 43|root|1|1|Q|78|first|1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// REFRESH QMGR TYPE(CONFIGEV) tells of what is there, as far as OBJECT, NAME and INCLINT choose.
func TestConfigurationRefresh(t *testing.T) {
	r := newEvRig(t, "")
	r.ok("DEFINE QLOCAL(OLD.Q)")
	r.clk.Advance(time.Hour)
	r.ok("DEFINE QLOCAL(NEW.Q) MAXDEPTH(77)")
	r.ok("DEFINE QALIAS(NEW.A) TARGQ(NEW.Q)")
	r.refuse("AMQ8203E", "REFRESH QMGR TYPE(CONFIGEV)")
	r.ok("ALTER QMGR CONFIGEV(ENABLED)")
	r.events(configEventQueue)
	for cmd, want := range map[string]string{
		"REFRESH QMGR TYPE(CONFIGEV) OBJECT(QLOCAL) NAME('NEW.*')": "2370 NEW.Q",
		"REFRESH QMGR TYPE(CONFIGEV) OBJECT(QUEUE) NAME('NEW.*')":  "2370 NEW.A, 2370 NEW.Q",
		"REFRESH QMGR TYPE(CONFIGEV) NAME('OLD.Q')":                "2370 OLD.Q",
		"REFRESH QMGR TYPE(CONFIGEV) NAME('*.Q') INCLINT(30)":      "",
		"REFRESH QMGR TYPE(CONFIGEV) OBJECT(QLOCAL) INCLINT(30)":   "2370 NEW.Q",
	} {
		c := r.cmd(cmd)
		if c.Failed() != (want == "") && !strings.Contains(cmd, "*.Q") {
			t.Errorf("%s: %s", cmd, replyText(c))
		}
		var got []string
		for _, m := range r.events(configEventQueue) {
			if p := m.Find(mqi.MQCA_Q_NAME); p != nil {
				got = append(got, fmt.Sprint(int32(m.Reason), " ", strings.TrimSpace(p.Text())))
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %q, want %q", cmd, s, want)
		}
	}
}

func TestCommandEvents(t *testing.T) {
	r := newEvRig(t, "")
	run := func() {
		r.ok("DEFINE QLOCAL(Q) REPLACE")
		r.ok("DISPLAY QLOCAL(Q)")
		r.cmd("DELETE QLOCAL(NONE)") // fails: no event
	}
	texts := func() (out []string) {
		for _, m := range r.events(commandEventQueue) {
			if len(m.Params) != 2 || m.Reason != mqi.MQRC_COMMAND_MQSC || m.Params[0].ID != mqi.MQGACF_COMMAND_CONTEXT {
				t.Fatalf("%+v", m)
			}
			out = append(out, m.Params[1].Params[0].Text())
		}
		return out
	}
	run()
	if got := texts(); len(got) != 0 {
		t.Errorf("CMDEV(DISABLED): %q", got)
	}
	r.ok("ALTER QMGR CMDEV(NODISPLAY)")
	run()
	r.ok("ALTER QMGR CMDEV(ENABLED)")
	run()
	r.ok("DEFINE CHANNEL(C) CHLTYPE(SVRCONN) SSLCAUTH(OPTIONAL)")
	r.ok("DEFINE AUTHINFO(X) AUTHTYPE(CRLLDAP) CONNAME(h) LDAPPWD(secret) DESCR('it''s')")
	r.ok("ALTER QMGR CMDEV(DISABLED)")
	got := strings.Join(texts(), "\n")
	want := "ALTER QMGR CMDEV(NODISPLAY)\nDEFINE QLOCAL(Q) REPLACE\nALTER QMGR CMDEV(ENABLED)\nDEFINE QLOCAL(Q) REPLACE\n" +
		"DISPLAY QLOCAL(Q)\nDEFINE CHANNEL(C) CHLTYPE(SVRCONN) SSLCAUTH(OPTIONAL)\n" +
		"DEFINE AUTHINFO(X) AUTHTYPE(CRLLDAP) CONNAME(h) LDAPPWD('********') DESCR('it''s')"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
