package qmgr

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

func TestDeadLetterTable(t *testing.T) {
	table, err := ParseDeadLetterTable(strings.NewReader(`* a comment

 INPUTQ('MY.DLQ') inputqm(' ') RETRYINT(30) WAIT(NO)
REASON(MQRC_Q_FULL) , ACTION(RETRY) RETRY(5)
DESTQ(AB*) +
   DESTQM('it''s') -
 ACTION(FWD) FWDQ(&DESTQ) FWDQM(' ') HEADER(NO) PUTAUT(CTX)
REASON(MQFB_EXPIRATION) ACTION(discard)
PERSIST(MQPER_NOT_PERSISTENT) MSGTYPE(8) APPLTYPE(*) ACTION(IGNORE)
`))
	if err != nil {
		t.Fatal(err)
	}
	if table.InputQ != "MY.DLQ" || table.InputQM != "" || table.RetryInt != 30*time.Second || table.Wait != 0 {
		t.Errorf("control data %+v", table)
	}
	want := []string{
		"4 map[REASON:2053] 1   false 5",
		"5 map[DESTQ:AB* DESTQM:it's] 2 &DESTQ  true 1",
		"8 map[REASON:258] 3   false 1",
		"9 map[APPLTYPE:* MSGTYPE:8 PERSIST:0] 4   false 1",
	}
	for i, r := range table.rules {
		if s := fmt.Sprint(r.line, " ", r.patterns, " ", r.action, " ", r.fwdQ, " ", r.fwdQM, " ", r.noHeader, " ", r.retry); s != want[i] {
			t.Errorf("rule %d: %s, want %s", i, s, want[i])
		}
	}
	if table, err = ParseDeadLetterTable(strings.NewReader("ACTION(DISCARD)")); err != nil || table.Wait >= 0 ||
		table.RetryInt != time.Minute || table.InputQ != "" {
		t.Errorf("defaults %+v %v", table, err)
	}
	if table, err = ParseDeadLetterTable(strings.NewReader("WAIT(7)\nACTION(DISCARD)")); err != nil || table.Wait != 7*time.Second {
		t.Errorf("WAIT(7): %+v %v", table, err)
	}
}

func TestDeadLetterTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                              "no rule",
		"WAIT(NO)":                                      "no rule",
		"DESTQ(A)":                                      "line 1: ACTION is missing",
		"\n\nDESTQ(A) ACTION(JUMP)":                     "line 3: ACTION(JUMP)",
		"ACTION(FWD)":                                   "needs FWDQ",
		"ACTION(RETRY) FWDQ(Q)":                         "go with ACTION(FWD) only",
		"ACTION(DISCARD)\nWAIT(NO)":                     "must stand before the rules",
		"WAIT(SOON)\nACTION(DISCARD)":                   "use YES, NO or a number",
		"RETRYINT(0)\nACTION(DISCARD)":                  "RETRYINT(0): use a number from 1",
		"WAIT(NO) ACTION(DISCARD)":                      "cannot stand in control data",
		"REASON(MQRC_NONSENSE) ACTION(DISCARD)":         "MQRC_NONSENSE",
		"PERSIST(MQRC_Q_FULL) ACTION(DISCARD)":          "PERSIST(MQRC_Q_FULL)",
		"COLOUR(RED) ACTION(DISCARD)":                   "unknown keyword COLOUR",
		"ACTION(DISCARD) ACTION(RETRY)":                 "given twice",
		"ACTION":                                        "takes a value",
		"ACTION(DISCARD":                                "closing bracket",
		"DESTQ('A) ACTION(DISCARD)":                     "quote is not closed",
		"DESTQ('A' ACTION(DISCARD)":                     "closing bracket",
		"ACTION(DISCARD) HEADER(MAYBE)":                 "use YES or NO",
		"ACTION(DISCARD) PUTAUT(ME)":                    "use DEF or CTX",
		"ACTION(RETRY) RETRY(-1)":                       "RETRY(-1)",
		"ACTION(RETRY) +":                               "nothing follows",
		"ACTION(DISCARD)\n" + strings.Repeat("x", 9000): "token too long",
	} {
		if _, err := ParseDeadLetterTable(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func FuzzDeadLetterTable(f *testing.F) {
	f.Add("INPUTQ(A) WAIT(NO)\nDESTQ('a''b') ACTION(FWD) FWDQ(X)\n")
	f.Fuzz(func(t *testing.T, s string) {
		table, err := ParseDeadLetterTable(strings.NewReader(s))
		if (table == nil) == (err == nil) {
			t.Fatal(table, err)
		}
		for i := range 3 {
			if wild(s, strings.Repeat("b", i)) && !strings.ContainsAny(s, "*?b") && i > 0 {
				t.Fatalf("%q fits", s)
			}
		}
	})
}

func TestWild(t *testing.T) {
	for _, tc := range []struct {
		p, s string
		ok   bool
	}{{"*", "", true}, {"", "", true}, {"", "A", false}, {"A*", "ABC", true}, {"A?C", "ABC", true}, {"A?C", "AC", false},
		{"*C", "ABC", true}, {"*B*", "ABC", true}, {"*A", "ABC", false}, {"A*B*C", "AXXBYYC", true}, {"A*B*C", "AXXBYY", false},
		{"a", "A", false}} {
		if wild(tc.p, tc.s) != tc.ok {
			t.Errorf("%q on %q", tc.p, tc.s)
		}
	}
}

// deadRig has a dead-letter queue with messages of several kinds on it.
type deadRig struct {
	*rig
	said []string // of the handler, until it has ended
	n    byte
}

func newDeadRig(t testing.TB) *deadRig {
	r := &deadRig{rig: newRig(t)}
	for _, q := range []string{"DLQ", "A", "B", "REPLY", "KEPT"} {
		r.define("QLOCAL", q)
	}
	r.define("QLOCAL", "FULL", "MAXDEPTH", "0")
	r.alter(ClassQmgr, qmgrName, "DEADQ", "DLQ")
	return r
}

// bury puts a message on the dead-letter queue.
func (r *deadRig) bury(text, queue string, why mqi.RC, change ...func(*mqi.MD)) mqi.MD {
	r.t.Helper()
	md := mqi.DefaultMD()
	md.Format, md.Priority, md.Persistence = mqi.MQFMT_STRING, 0, 0
	r.n++
	md.MsgID, md.CorrelID = mqi.ID{1, r.n, 7}, mqi.ID{9}
	md.UserIdentifier, md.PutApplName, md.PutDate, md.PutTime = "sender", "prog", "20260101", "12000000"
	for _, f := range change {
		f(&md)
	}
	wantRC(r.t, r.c.Undeliverable(bg, &md, []byte(text), queue, "", why, false), 0)
	return md
}

// handle runs the handler with a rule table that ends by itself.
func (r *deadRig) handle(rules string) {
	r.t.Helper()
	wantRC(r.t, r.run(bg, "WAIT(NO)\n"+rules), 0)
}

func (r *deadRig) run(ctx context.Context, rules string) error {
	table, err := ParseDeadLetterTable(strings.NewReader(rules))
	if err != nil {
		r.t.Fatal(err)
	}
	return r.m.HandleDeadLetters(ctx, auth.Identity{User: "op", Admin: true}, "", table, func(f string, a ...any) {
		r.said = append(r.said, fmt.Sprintf(f, a...))
	})
}

func (r *deadRig) wantDepths(want map[string]int) {
	r.t.Helper()
	for q, n := range want {
		if d := r.depth(q); d != n {
			r.t.Errorf("%s holds %d messages, want %d (%s)", q, d, n, strings.Join(r.said, "; "))
		}
	}
}

func TestDeadLetterActions(t *testing.T) {
	for _, tc := range []struct {
		rules string
		want  map[string]int
	}{
		{"REASON(2053) ACTION(DISCARD)", map[string]int{"DLQ": 0}},
		{"REASON(MQRC_PUT_INHIBITED) ACTION(DISCARD)", map[string]int{"DLQ": 1}},
		{"ACTION(IGNORE)\nACTION(DISCARD)", map[string]int{"DLQ": 1}},
		{"DESTQ(A) ACTION(RETRY)", map[string]int{"DLQ": 0, "A": 1}},
		{"DESTQ(?) DESTQM(QM1) FORMAT(MQSTR) USERID(sen*) APPLNAME(*) APPLTYPE(7) MSGTYPE(MQMT_DATAGRAM) ACTION(RETRY)",
			map[string]int{"A": 1}},
		{"USERID(other) ACTION(RETRY)", map[string]int{"DLQ": 1}},
		{"ACTION(FWD) FWDQ(B)", map[string]int{"DLQ": 0, "B": 1}},
		{"ACTION(FWD) FWDQ(&REPLYQ) FWDQM(&REPLYQM) HEADER(NO)", map[string]int{"DLQ": 0, "REPLY": 1}},
		{"ACTION(FWD) FWDQ(&DESTQ) FWDQM(&DESTQM)", map[string]int{"DLQ": 0, "A": 1}},
		// An action that fails leaves the message to the next rule that fits.
		{"ACTION(FWD) FWDQ(FULL)\nACTION(FWD) FWDQ(NONE)\nDESTQ(Z) ACTION(DISCARD)\nACTION(FWD) FWDQ(KEPT)",
			map[string]int{"DLQ": 0, "KEPT": 1}},
		{"ACTION(FWD) FWDQ(FULL)", map[string]int{"DLQ": 1, "FULL": 0}},
	} {
		r := newDeadRig(t)
		r.bury("x", "A", mqi.MQRC_Q_FULL, func(md *mqi.MD) { md.ReplyToQ, md.ReplyToQMgr = "REPLY", "QM1" })
		r.handle(tc.rules)
		for q := range tc.want {
			if r.depth(q) != tc.want[q] {
				t.Errorf("%s: %s holds %d, want %d", tc.rules, q, r.depth(q), tc.want[q])
			}
		}
		if len(r.said) == 0 && !strings.Contains(tc.rules, "PUT_INHIBITED") {
			t.Errorf("%s: nothing was said", tc.rules)
		}
	}
}

// What RETRY and HEADER(NO) put is the message as it was, context and all; FWD keeps the header.
func TestDeadLetterMessage(t *testing.T) {
	r := newDeadRig(t)
	sent := r.bury("the text", "A", mqi.MQRC_Q_FULL)
	r.handle("ACTION(RETRY)")
	s, md := r.get(r.c, r.openQ(r.c, "A", inOut), 0)
	if s != "the text" || md.Format != mqi.MQFMT_STRING || md.MsgID != sent.MsgID || md.CorrelID != sent.CorrelID ||
		md.UserIdentifier != "sender" || md.PutApplName != "prog" || md.PutDate != "20260101" || md.Encoding != sent.Encoding {
		t.Errorf("%q %+v", s, md)
	}
	r.bury("the text", "A", mqi.MQRC_Q_FULL)
	r.handle("ACTION(FWD) FWDQ(B)")
	s, md = r.get(r.c, r.openQ(r.c, "B", inOut), 0)
	inner, d, body, err := xmitq.Exhume(&md, []byte(s))
	if err != nil || string(body) != "the text" || d.DestQName != "A" || d.Reason != 2053 || inner.Format != mqi.MQFMT_STRING ||
		md.UserIdentifier != "sender" {
		t.Errorf("%+v %+v %v", d, md, err)
	}
}

// A message without MQDLH stays, and so does one in use.
func TestDeadLetterForeign(t *testing.T) {
	r := newDeadRig(t)
	r.put(r.c, r.openQ(r.c, "DLQ", inOut), "no header", 0)
	r.handle("ACTION(DISCARD)")
	r.wantDepths(map[string]int{"DLQ": 1})
}

// RETRY tries again after RETRYINT, RETRY times; the handler goes on meanwhile and ends with WAIT(NO) when nothing is left.
func TestDeadLetterRetries(t *testing.T) {
	r := newDeadRig(t)
	r.bury("x", "FULL", mqi.MQRC_Q_FULL)
	r.bury("y", "A", mqi.MQRC_Q_FULL)
	ended := make(chan error, 1)
	go func() {
		ended <- r.run(bg, "WAIT(NO) RETRYINT(10)\nACTION(RETRY) RETRY(3)\nACTION(FWD) FWDQ(KEPT) HEADER(NO)")
	}()
	tries := 0
	for {
		select {
		case err := <-ended:
			wantRC(t, err, 0)
			r.wantDepths(map[string]int{"DLQ": 0, "A": 1, "KEPT": 1, "FULL": 0})
			for _, s := range r.said {
				if strings.Contains(s, "failed with reason 2053 (MQRC_Q_FULL)") {
					tries++
				}
			}
			if tries != 3 {
				t.Errorf("%d tries: %q", tries, r.said)
			}
			return
		case <-time.After(time.Millisecond):
			r.clk.Advance(time.Second)
		}
	}
}

// WAIT(YES) waits for more until the context ends; WAIT(n) for n seconds.
func TestDeadLetterWait(t *testing.T) {
	r := newDeadRig(t)
	ctx, cancel := context.WithCancel(bg)
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx, "ACTION(RETRY)") }()
	r.bury("x", "A", mqi.MQRC_Q_FULL)
	for r.depth("A") == 0 {
		time.Sleep(time.Millisecond)
	}
	r.bury("x", "B", mqi.MQRC_Q_FULL)
	for r.depth("B") == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	wantRC(t, <-ended, 0)

	go func() { ended <- r.run(bg, "WAIT(5)\nACTION(RETRY)") }()
	for {
		select {
		case err := <-ended:
			wantRC(t, err, 0)
			return
		case <-time.After(time.Millisecond):
			r.clk.Advance(time.Second)
		}
	}
}

func TestDeadLetterHandlerRefusals(t *testing.T) {
	r := newDeadRig(t)
	wantRC(t, r.run(bg, "INPUTQM(OTHER)\nACTION(DISCARD)"), mqi.MQRC_Q_MGR_NAME_ERROR)
	wantRC(t, r.run(bg, "INPUTQ(NONE)\nACTION(DISCARD)"), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	r.alter(ClassQmgr, qmgrName, "DEADQ", "")
	wantRC(t, r.run(bg, "ACTION(DISCARD)"), mqi.MQRC_UNKNOWN_OBJECT_NAME)
}

// Undeliverable: exception report, DISCARD_MSG, unit of work, nowhere to put it.
func TestUndeliverable(t *testing.T) {
	r := newDeadRig(t)
	reply := r.openQ(r.c, "REPLY", inOut)
	ask := func(report int32) func(*mqi.MD) {
		return func(md *mqi.MD) {
			md.Report, md.ReplyToQ, md.ReplyToQMgr, md.UserIdentifier = report, "REPLY", "QM1", "app"
		}
	}
	sent := r.bury("text", "A", mqi.MQRC_Q_FULL, ask(mqi.MQRO_EXCEPTION_WITH_DATA))
	s, md := r.get(r.c, reply, 0)
	if s != "text" || md.Feedback != int32(mqi.MQRC_Q_FULL) || md.MsgType != mqi.MQMT_REPORT || md.CorrelID != sent.MsgID {
		t.Errorf("%q %+v", s, md)
	}
	r.wantDepths(map[string]int{"DLQ": 1})
	r.bury("text", "A", mqi.MQRC_Q_FULL, ask(mqi.MQRO_EXCEPTION|mqi.MQRO_DISCARD_MSG))
	if s, md = r.get(r.c, reply, 0); s != "" || md.Feedback != int32(mqi.MQRC_Q_FULL) {
		t.Errorf("%q %+v", s, md)
	}
	r.bury("text", "A", mqi.MQRC_Q_FULL, ask(mqi.MQRO_DISCARD_MSG))
	r.wantDepths(map[string]int{"DLQ": 1, "REPLY": 0})

	m := mqi.DefaultMD()
	m.Priority, m.Persistence = 0, 0
	wantRC(t, r.c.Undeliverable(bg, &m, nil, "A", "", mqi.MQRC_Q_FULL, true), 0)
	r.wantDepths(map[string]int{"DLQ": 2})
	wantRC(t, r.c.Backout(bg), 0)
	r.wantDepths(map[string]int{"DLQ": 1})
	r.alter(ClassQueue, "DLQ", "PUT", "DISABLED")
	wantRC(t, r.c.Undeliverable(bg, &m, nil, "A", "", mqi.MQRC_Q_FULL, false), mqi.MQRC_PUT_INHIBITED)
	r.alter(ClassQmgr, qmgrName, "DEADQ", "")
	wantRC(t, r.c.Undeliverable(bg, &m, nil, "A", "", mqi.MQRC_Q_FULL, false), mqi.MQRC_UNKNOWN_OBJECT_NAME)
}

// PUTAUT(CTX): what the message's user may not put stays, or goes by the next rule. The handler must itself have the right to act
// for others.
func TestDeadLetterPutAuthority(t *testing.T) {
	r := newAuthRig(t)
	for _, q := range []string{"DLQ", "OPEN", "CLOSED"} {
		r.ok("DEFINE QLOCAL(" + q + ")")
	}
	r.ok("ALTER QMGR DEADQ(DLQ)")
	r.ok("SET AUTHREC PROFILE(OPEN) OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(PUT,PASSALL)")
	admin, err := r.m.Connect(bg, auth.Identity{User: "op", Admin: true}, ConnectOptions{})
	wantRC(t, err, 0)
	defer admin.Break()
	bury := func() {
		t.Helper()
		md := mqi.DefaultMD()
		md.Priority, md.Persistence, md.UserIdentifier, md.PutDate = 0, 0, "joe", "20260101"
		wantRC(t, admin.Undeliverable(bg, &md, nil, "X", "", mqi.MQRC_Q_FULL, false), 0)
	}
	handle := func(rules string) {
		t.Helper()
		table, err := ParseDeadLetterTable(strings.NewReader("WAIT(NO)\n" + rules))
		wantRC(t, err, 0)
		wantRC(t, r.m.HandleDeadLetters(bg, admin.who, "", table, func(string, ...any) {}), 0)
	}
	depth := func(q string) int { return r.m.lookup(ClassQueue, q).Queue.depth() }
	bury()
	handle("ACTION(FWD) FWDQ(CLOSED) PUTAUT(CTX)")
	if depth("DLQ") != 1 || depth("CLOSED") != 0 {
		t.Error("put with the authority of the handler")
	}
	handle("ACTION(FWD) FWDQ(CLOSED) PUTAUT(CTX)\nACTION(FWD) FWDQ(OPEN) PUTAUT(CTX)")
	if depth("DLQ") != 0 || depth("OPEN") != 1 {
		t.Errorf("DLQ %d, OPEN %d", depth("DLQ"), depth("OPEN"))
	}
	bury()
	handle("ACTION(FWD) FWDQ(CLOSED) PUTAUT(DEF)")
	if depth("CLOSED") != 1 {
		t.Error("PUTAUT(DEF) does not put with the authority of the handler")
	}
}

// The dead-letter queue is opened as it says itself: DEFSOPT(EXCL) or NOSHARE keep a second handler, and applications, away.
func TestDeadLetterOpen(t *testing.T) {
	r := newDeadRig(t)
	in := r.openQ(r.c, "DLQ", mqi.MQOO_INPUT_SHARED)
	r.handle("ACTION(DISCARD)")
	r.alter(ClassQueue, "DLQ", "DEFSOPT", "EXCL")
	wantRC(t, r.run(bg, "WAIT(NO)\nACTION(DISCARD)"), mqi.MQRC_OBJECT_IN_USE)
	wantRC(t, r.c.Close(bg, in, 0), 0)
	r.handle("ACTION(DISCARD)")
}
