package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

// trigRig has an application queue A that triggers, and a trigger monitor on INIT.
type trigRig struct {
	*rig
	mon  *Conn
	init Handle
	app  *Conn
	a    Handle // A open for output
}

func newTrigRig(t testing.TB, kv ...string) *trigRig {
	r := &trigRig{rig: newRig(t)}
	r.define("QLOCAL", "INIT")
	r.define("QLOCAL", "DLQ")
	r.define("PROCESS", "P", "APPLICID", "runit", "ENVRDATA", "&", "USERDATA", "user data", "APPLTYPE", "UNIX")
	r.define("QLOCAL", "A", append([]string{"TRIGGER", "YES", "TRIGTYPE", "FIRST", "INITQ", "INIT", "PROCESS", "P",
		"TRIGDATA", "the data"}, kv...)...)
	r.mon, r.app = r.connect(), r.connect()
	r.init = r.openQ(r.mon, "INIT", mqi.MQOO_INPUT_SHARED)
	r.a = r.openQ(r.app, "A", mqi.MQOO_OUTPUT)
	return r
}

// triggers takes what is on the initiation queue and says how many there were.
func (r *trigRig) triggers() int {
	r.t.Helper()
	n := 0
	for {
		s, md, err := tryGet(r.mon, r.init, 0)
		if err != nil {
			wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			return n
		}
		tm, _, err := mqi.ParseTM([]byte(s), mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
		if err != nil || tm.QName != "A" {
			r.t.Fatalf("trigger message %+v %v", tm, err)
		}
		n++
	}
}

func (r *trigRig) want(n int, why string) {
	r.t.Helper()
	if got := r.triggers(); got != n {
		r.t.Errorf("%s: %d trigger messages, want %d", why, got, n)
	}
}

// drain empties A as a triggered program does.
func (r *trigRig) drain() {
	r.t.Helper()
	h := r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED)
	for {
		if _, _, err := tryGet(r.app, h, 0); err != nil {
			break
		}
	}
	wantRC(r.t, r.app.Close(bg, h, 0), 0)
}

func TestTriggerMessage(t *testing.T) {
	r := newTrigRig(t)
	r.put(r.app, r.a, "x", 0)
	s, md, err := tryGet(r.mon, r.init, 0)
	wantRC(t, err, 0)
	tm, rest, err := mqi.ParseTM([]byte(s), mqi.NativeCoding(1208))
	if err != nil || len(rest) != 0 || len(s) != mqi.MQTM_CURRENT_LENGTH {
		t.Fatal(err, len(s))
	}
	want := mqi.TM{QName: "A", ProcessName: "P", TriggerData: "the data", ApplType: mqi.MQAT_UNIX, ApplID: "runit",
		EnvData: "&", UserData: "user data"}
	if tm != want {
		t.Errorf("%+v, want %+v", tm, want)
	}
	if md.Format != mqi.MQFMT_TRIGGER || md.Persistence != 0 || md.Expiry != -1 || md.MsgType != mqi.MQMT_DATAGRAM ||
		md.PutApplType != mqi.MQAT_QMGR || md.PutApplName != "QM1" || md.UserIdentifier != "" || md.ReplyToQ != "" ||
		!md.CorrelID.IsZero() || md.MsgID.IsZero() {
		t.Errorf("descriptor %+v", md)
	}
	// Priority and persistence are the initiation queue's defaults.
	r.alter(ClassQueue, "INIT", "DEFPSIST", "YES", "DEFPRTY", "4")
	r.drain()
	r.put(r.app, r.a, "x", 0)
	if _, md, _ := tryGet(r.mon, r.init, 0); md.Persistence != 1 || md.Priority != 4 {
		t.Errorf("priority %d persistence %d", md.Priority, md.Persistence)
	}
}

func TestTriggerTypes(t *testing.T) {
	for _, tc := range []struct {
		typ  string
		puts int
		want int
	}{{"FIRST", 3, 1}, {"EVERY", 3, 3}, {"DEPTH", 2, 0}, {"DEPTH", 3, 1}, {"DEPTH", 5, 1}, {"NONE", 3, 0}} {
		r := newTrigRig(t, "TRIGTYPE", tc.typ, "TRIGDPTH", "3")
		for range tc.puts {
			r.put(r.app, r.a, "x", 0)
		}
		r.want(tc.want, tc.typ)
		if on := r.m.lookup(ClassQueue, "A").Def().Yes("TRIGGER"); on == (tc.typ == "DEPTH" && tc.want == 1) {
			t.Errorf("%s %d puts: TRIGGER %v", tc.typ, tc.puts, on)
		}
	}
}

// Each condition of facts/mqi.md §10 that is not met means no trigger message, and nothing else happens.
func TestTriggerConditions(t *testing.T) {
	for name, spoil := range map[string]func(r *trigRig){
		"NOTRIGGER":            func(r *trigRig) { r.alter(ClassQueue, "A", "TRIGGER", "NO") },
		"no INITQ":             func(r *trigRig) { r.alter(ClassQueue, "A", "INITQ", "") },
		"INITQ not there":      func(r *trigRig) { r.alter(ClassQueue, "A", "INITQ", "NOWHERE") },
		"INITQ is itself":      func(r *trigRig) { r.alter(ClassQueue, "A", "INITQ", "A") },
		"no PROCESS":           func(r *trigRig) { r.alter(ClassQueue, "A", "PROCESS", "") },
		"PROCESS not there":    func(r *trigRig) { r.alter(ClassQueue, "A", "PROCESS", "NOWHERE") },
		"GET(DISABLED)":        func(r *trigRig) { r.alter(ClassQueue, "A", "GET", "DISABLED") },
		"priority":             func(r *trigRig) { r.alter(ClassQueue, "A", "TRIGMPRI", "5") },
		"INITQ GET(DISABLED)":  func(r *trigRig) { r.alter(ClassQueue, "INIT", "GET", "DISABLED") },
		"INITQ PUT(DISABLED)":  func(r *trigRig) { r.alter(ClassQueue, "INIT", "PUT", "DISABLED") },
		"INITQ USAGE(XMITQ)":   func(r *trigRig) { r.alter(ClassQueue, "INIT", "USAGE", "XMITQ") },
		"INITQ not open":       func(r *trigRig) { _ = r.mon.Close(bg, r.init, 0); r.init = 0 },
		"INITQ full":           func(r *trigRig) { r.alter(ClassQueue, "INIT", "MAXDEPTH", "0") },
		"queue open for input": func(r *trigRig) { r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED) },
	} {
		r := newTrigRig(t)
		spoil(r)
		r.put(r.app, r.a, "x", 0, func(md *mqi.MD) { md.Priority = 3 })
		if n := r.depth("INIT") + r.depth("DLQ"); n != 0 {
			t.Errorf("%s: %d trigger messages", name, n)
		}
	}
	// EVERY does not mind a reader.
	r := newTrigRig(t, "TRIGTYPE", "EVERY")
	r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED)
	r.put(r.app, r.a, "x", 0)
	r.want(1, "EVERY with a reader")
}

// What hinders the trigger message at TRIGDPTH puts it off: the next put finds the queue deeper than that.
func TestTriggerDepthPassed(t *testing.T) {
	r := newTrigRig(t, "TRIGTYPE", "DEPTH", "TRIGDPTH", "2")
	r.alter(ClassQueue, "INIT", "MAXDEPTH", "0")
	r.put(r.app, r.a, "x", 0)
	r.put(r.app, r.a, "x", 0)
	r.want(0, "the initiation queue is full")
	r.alter(ClassQueue, "INIT", "MAXDEPTH", "10")
	r.put(r.app, r.a, "x", 0)
	r.put(r.app, r.a, "x", 0)
	r.want(1, "there is room")
}

// Only messages of TRIGMPRI and above count.
func TestTriggerPriority(t *testing.T) {
	r := newTrigRig(t, "TRIGTYPE", "DEPTH", "TRIGDPTH", "2", "TRIGMPRI", "5")
	for i, p := range []int32{1, 5, 4, 9} {
		r.put(r.app, r.a, "x", 0, func(md *mqi.MD) { md.Priority = p })
		if n := r.depth("INIT"); n != i/3 {
			t.Errorf("after %d puts: %d trigger messages", i+1, n)
		}
	}
}

// The trigger message belongs to the putter's unit of work. FIRST and DEPTH come when it is backed out, too.
func TestTriggerUnitOfWork(t *testing.T) {
	for _, tc := range []struct {
		typ             string
		commit, backout int
	}{{"FIRST", 1, 1}, {"DEPTH", 1, 1}, {"EVERY", 2, 0}} {
		for _, back := range []bool{false, true} {
			r := newTrigRig(t, "TRIGTYPE", tc.typ, "TRIGDPTH", "2")
			r.put(r.app, r.a, "1", mqi.MQPMO_SYNCPOINT)
			r.put(r.app, r.a, "2", mqi.MQPMO_SYNCPOINT)
			r.want(0, tc.typ+" before the end")
			if back {
				wantRC(t, r.app.Backout(bg), 0)
				r.want(tc.backout, tc.typ+" backed out")
				continue
			}
			wantRC(t, r.app.Commit(bg), 0)
			r.want(tc.commit, tc.typ+" committed")
		}
	}
}

// MAXUMSGS counts trigger messages.
func TestTriggerCountsInUnit(t *testing.T) {
	r := newTrigRig(t, "TRIGTYPE", "EVERY")
	r.alter(ClassQmgr, qmgrName, "MAXUMSGS", "3")
	r.put(r.app, r.a, "1", mqi.MQPMO_SYNCPOINT)
	r.put(r.app, r.a, "2", mqi.MQPMO_SYNCPOINT)
	_, err := tryPut(r.app, r.a, "3", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
}

// A reader that leaves messages behind when it closes the queue is started again; one that emptied it is not.
func TestTriggerAtClose(t *testing.T) {
	r := newTrigRig(t)
	h := r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED)
	h2 := r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED)
	r.put(r.app, r.a, "x", 0)
	wantRC(t, r.app.Close(bg, h, 0), 0)
	r.want(0, "another reader is left")
	wantRC(t, r.app.Close(bg, h2, 0), 0)
	r.want(1, "last reader gone, a message left")
	r.drain()
	r.want(0, "emptied")

	// What is not committed when the reader leaves triggers when it is.
	h = r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED)
	c2 := r.connect()
	r.put(c2, r.openQ(c2, "A", mqi.MQOO_OUTPUT), "x", mqi.MQPMO_SYNCPOINT)
	wantRC(t, r.app.Close(bg, h, 0), 0)
	r.want(0, "not committed")
	wantRC(t, c2.Commit(bg), 0)
	r.want(1, "committed after the reader left")

	// A reader whose connection breaks gives back its message.
	c3 := r.connect()
	h = r.openQ(c3, "A", mqi.MQOO_INPUT_SHARED)
	r.get(c3, h, mqi.MQGMO_SYNCPOINT)
	c3.Break()
	r.want(1, "reader lost")
}

// A message that is got and given back when nobody has the queue open triggers.
func TestTriggerAtBackout(t *testing.T) {
	r := newTrigRig(t)
	r.put(r.app, r.a, "x", 0)
	r.want(1, "put")
	h := r.openQ(r.app, "A", mqi.MQOO_INPUT_SHARED)
	r.get(r.app, h, mqi.MQGMO_SYNCPOINT)
	wantRC(t, r.app.Close(bg, h, 0), 0)
	r.want(0, "taken")
	wantRC(t, r.app.Backout(bg), 0)
	r.want(1, "given back")
}

// A trigger monitor that opens the initiation queue gets what it missed.
func TestTriggerAtMonitorStart(t *testing.T) {
	for _, typ := range []string{"FIRST", "DEPTH", "EVERY"} {
		r := newTrigRig(t, "TRIGTYPE", typ, "TRIGDPTH", "2")
		wantRC(t, r.mon.Close(bg, r.init, 0), 0)
		for range 3 {
			r.put(r.app, r.a, "x", 0)
		}
		r.init = r.openQ(r.mon, "INIT", mqi.MQOO_INPUT_EXCLUSIVE)
		want := 1
		if typ == "EVERY" {
			want = 0
		}
		r.want(want, typ)
	}
}

// Changes of the attributes are looked at at once.
func TestTriggerAtAlter(t *testing.T) {
	r := newTrigRig(t, "TRIGGER", "NO")
	r.put(r.app, r.a, "x", 0)
	r.want(0, "NOTRIGGER")
	h := r.openQ(r.app, "A", mqi.MQOO_SET)
	wantRC(t, r.app.Set(bg, h, []int32{mqi.MQIA_TRIGGER_CONTROL}, []int32{mqi.MQTC_ON}, nil), 0)
	r.want(1, "switched on with a message there")

	// DEPTH again after the program switched it on.
	r = newTrigRig(t, "TRIGTYPE", "DEPTH", "TRIGDPTH", "1")
	r.put(r.app, r.a, "x", 0)
	r.want(1, "DEPTH")
	r.put(r.app, r.a, "x", 0)
	r.want(0, "NOTRIGGER was set")
	r.drain()
	h = r.openQ(r.app, "A", mqi.MQOO_SET)
	wantRC(t, r.app.Set(bg, h, []int32{mqi.MQIA_TRIGGER_CONTROL}, []int32{mqi.MQTC_ON}, nil), 0)
	r.put(r.app, r.a, "x", 0)
	r.want(1, "DEPTH once more")
}

// TRIGINT: FIRST comes again when messages stay for long.
func TestTriggerInterval(t *testing.T) {
	r := newTrigRig(t)
	r.alter(ClassQmgr, qmgrName, "TRIGINT", "5000")
	r.put(r.app, r.a, "1", 0)
	r.clk.Advance(4 * time.Second)
	r.put(r.app, r.a, "2", 0)
	r.want(1, "within the interval")
	r.clk.Advance(time.Second)
	r.put(r.app, r.a, "3", 0)
	r.want(1, "interval over")
	r.put(r.app, r.a, "4", 0)
	r.want(0, "interval began again")
}

// A transmission queue needs no process: TRIGDATA names the channel.
func TestTriggerTransmissionQueue(t *testing.T) {
	r := newTrigRig(t, "PROCESS", "", "USAGE", "XMITQ", "TRIGDATA", "QM1.QM2")
	r.put(r.app, r.a, "x", 0)
	s, _, err := tryGet(r.mon, r.init, 0)
	wantRC(t, err, 0)
	if tm, _, err := mqi.ParseTM([]byte(s), mqi.NativeCoding(1208)); err != nil || tm.TriggerData != "QM1.QM2" ||
		tm.ProcessName != "" || tm.ApplID != "" {
		t.Errorf("%+v %v", tm, err)
	}
}

// A trigger message that cannot be put any more at the end of the unit of work goes to the dead-letter queue.
func TestTriggerDeadLetter(t *testing.T) {
	r := newTrigRig(t)
	r.alter(ClassQmgr, qmgrName, "DEADQ", "DLQ")
	r.put(r.app, r.a, "x", mqi.MQPMO_SYNCPOINT)
	r.alter(ClassQueue, "INIT", "PUT", "DISABLED")
	wantRC(t, r.app.Commit(bg), 0)
	s, md := r.get(r.app, r.openQ(r.app, "DLQ", inOut), 0)
	_, d, rest, err := xmitq.Exhume(&md, []byte(s))
	if err != nil || d.Reason != int32(mqi.MQRC_PUT_INHIBITED) || d.DestQName != "INIT" || d.DestQMgrName != "QM1" ||
		d.Format != mqi.MQFMT_TRIGGER || len(rest) != mqi.MQTM_CURRENT_LENGTH {
		t.Errorf("%+v %v", d, err)
	}
}

// A triggering initiation queue does not go round in circles.
func TestTriggerRing(t *testing.T) {
	r := newTrigRig(t, "TRIGTYPE", "EVERY")
	r.define("QLOCAL", "INIT2", "TRIGGER", "YES", "TRIGTYPE", "EVERY", "INITQ", "INIT", "PROCESS", "P")
	r.alter(ClassQueue, "INIT", "TRIGGER", "YES", "TRIGTYPE", "EVERY", "INITQ", "INIT2", "PROCESS", "P")
	r.openQ(r.mon, "INIT2", mqi.MQOO_INPUT_SHARED)
	r.put(r.app, r.a, "x", 0)
	if a, b := r.depth("INIT"), r.depth("INIT2"); a != 1 || b != 0 {
		t.Errorf("depths %d and %d", a, b)
	}
}
