package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

func TestGetReasons(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "QM2", "USAGE", "XMITQ")
	both := r.openQ(r.c, "Q", inOut)
	out := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
	brw := r.openQ(r.c, "Q", mqi.MQOO_BROWSE)
	in := r.openQ(r.c, "Q", mqi.MQOO_INPUT_SHARED)
	for _, tc := range []struct {
		h    Handle
		opts int32
		rc   mqi.RC
	}{
		{both, 0, mqi.MQRC_NO_MSG_AVAILABLE},
		{77, 0, mqi.MQRC_HOBJ_ERROR},
		{out, 0, mqi.MQRC_NOT_OPEN_FOR_INPUT},
		{brw, 0, mqi.MQRC_NOT_OPEN_FOR_INPUT},
		{in, mqi.MQGMO_BROWSE_FIRST, mqi.MQRC_NOT_OPEN_FOR_BROWSE},
		{brw, mqi.MQGMO_BROWSE_FIRST, mqi.MQRC_NO_MSG_AVAILABLE},
		{both, mqi.MQGMO_MSG_UNDER_CURSOR, mqi.MQRC_NO_MSG_UNDER_CURSOR},
		{both, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR, mqi.MQRC_NO_MSG_UNDER_CURSOR},
		{both, mqi.MQGMO_SYNCPOINT | mqi.MQGMO_NO_SYNCPOINT, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_BROWSE_NEXT, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_MSG_UNDER_CURSOR, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_LOCK, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_UNLOCK | mqi.MQGMO_WAIT, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_UNLOCK, mqi.MQRC_NO_MSG_LOCKED},
		{both, mqi.MQGMO_MARK_SKIP_BACKOUT, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_SYNCPOINT | mqi.MQGMO_BROWSE_FIRST, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_SYNCPOINT | mqi.MQGMO_BROWSE_NEXT | mqi.MQGMO_LOCK, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT | mqi.MQGMO_COMPLETE_MSG, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_BROWSE_FIRST, mqi.MQRC_NO_MSG_AVAILABLE},
		{both, 1 << 30, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_NO_PROPERTIES | mqi.MQGMO_PROPERTIES_FORCE_MQRFH2, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_SET_SIGNAL, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_UNMARKED_BROWSE_MSG, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_UNMARKED_BROWSE_MSG | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_MARK_BROWSE_CO_OP | mqi.MQGMO_BROWSE_FIRST, mqi.MQRC_OPTIONS_ERROR},
		{both, mqi.MQGMO_UNMARK_BROWSE_CO_OP, mqi.MQRC_OPTIONS_ERROR},
	} {
		_, _, err := tryGet(r.c, tc.h, tc.opts)
		if _, rc := reasonOf(err); rc != tc.rc {
			t.Errorf("handle %d options %d: reason %d, want %d", tc.h, tc.opts, rc, tc.rc)
		}
	}
	_, _, err := tryGet(r.c, both, mqi.MQGMO_WAIT, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = -2 })
	wantRC(t, err, mqi.MQRC_WAIT_INTERVAL_ERROR)
	_, _, err = tryGet(r.c, both, 0, func(_ *mqi.MD, g *mqi.GMO) { g.MatchOptions = 64 })
	wantRC(t, err, mqi.MQRC_MATCH_OPTIONS_ERROR)
	_, _, err = tryGet(r.c, both, 0, func(_ *mqi.MD, g *mqi.GMO) { g.Version = 9 })
	wantRC(t, err, mqi.MQRC_GMO_ERROR)
	r.alter(ClassQueue, "Q", "GET", "DISABLED")
	r.put(r.c, both, "x", 0)
	_, _, err = tryGet(r.c, both, 0)
	wantRC(t, err, mqi.MQRC_GET_INHIBITED)
	_, _, err = tryGet(r.c, both, mqi.MQGMO_BROWSE_FIRST)
	wantRC(t, err, mqi.MQRC_GET_INHIBITED)
}

func TestGetOrder(t *testing.T) {
	for _, tc := range []struct{ seq, want string }{{"PRIORITY", "c a d b"}, {"FIFO", "a b c d"}} {
		r := newRig(t)
		r.define("QLOCAL", "Q", "MSGDLVSQ", tc.seq)
		h := r.openQ(r.c, "Q", inOut)
		for i, p := range []int32{4, 0, 9, 4} {
			r.put(r.c, h, string(rune('a'+i)), 0, func(md *mqi.MD) { md.Priority = p })
		}
		var got []string
		for i := 0; i < 4; i++ {
			s, md := r.get(r.c, h, 0)
			got = append(got, s)
			if want := []int32{4, 0, 9, 4}[s[0]-'a']; md.Priority != want {
				t.Errorf("%s: priority of %s is %d", tc.seq, s, md.Priority)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.seq, got, tc.want)
		}
	}
}

func TestGetMatch(t *testing.T) {
	for _, depth := range []int{3, 500} { // without and with index
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := r.openQ(r.c, "Q", inOut)
		var mds []mqi.MD
		for i := 0; i < depth; i++ {
			mds = append(mds, r.put(r.c, h, fmt.Sprint(i), 0, func(md *mqi.MD) {
				md.Version = 2
				md.CorrelID[0] = byte(i%2) + 1
				md.GroupID[0], md.MsgFlags, md.MsgSeqNumber = 1, mqi.MQMF_MSG_IN_GROUP, int32(i+1)
			}))
		}
		want := func(text string, f func(*mqi.MD, *mqi.GMO)) {
			t.Helper()
			s, _, err := tryGet(r.c, h, 0, f)
			if err != nil || s != text {
				t.Fatalf("depth %d: got %q, %v, want %q", depth, s, err, text)
			}
		}
		want(fmt.Sprint(depth-1), func(md *mqi.MD, g *mqi.GMO) { md.MsgID = mds[depth-1].MsgID })
		want("1", func(md *mqi.MD, g *mqi.GMO) { md.CorrelID[0] = 2 })
		_, _, err := tryGet(r.c, h, 0, func(md *mqi.MD, g *mqi.GMO) { md.MsgID, md.CorrelID[0] = mds[0].MsgID, 9 })
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		if depth > 3 {
			want("7", func(md *mqi.MD, g *mqi.GMO) { md.MsgSeqNumber = 8; g.MatchOptions = mqi.MQMO_MATCH_MSG_SEQ_NUMBER })
			want("8", func(md *mqi.MD, g *mqi.GMO) {
				md.GroupID[0], md.MsgSeqNumber = 1, 9
				g.MatchOptions = mqi.MQMO_MATCH_GROUP_ID | mqi.MQMO_MATCH_MSG_SEQ_NUMBER
			})
			_, _, err = tryGet(r.c, h, 0, func(md *mqi.MD, g *mqi.GMO) {
				md.GroupID[0] = 2
				g.MatchOptions = mqi.MQMO_MATCH_GROUP_ID
			})
			wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			want("9", func(md *mqi.MD, g *mqi.GMO) { md.MsgID = mds[9].MsgID; g.Version = 1; g.MatchOptions = 0 })
		}
		want("0", func(md *mqi.MD, g *mqi.GMO) { md.CorrelID[0] = 99; g.MatchOptions = mqi.MQMO_NONE })
	}
}

func TestGetByToken(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "a", 0)
	r.put(r.c, h, "b", 0)
	gmo, md := mqi.DefaultGMO(), mqi.DefaultMD()
	gmo.Version, gmo.Options = 3, mqi.MQGMO_BROWSE_FIRST
	if _, _, err := r.c.Get(bg, h, &md, &gmo, 10); err != nil {
		t.Fatal(err)
	}
	_, _, err := tryGet(r.c, h, mqi.MQGMO_BROWSE_NEXT)
	wantRC(t, err, 0)
	again := mqi.DefaultGMO()
	again.Version, again.MatchOptions, again.MsgToken = 3, mqi.MQMO_MATCH_MSG_TOKEN, gmo.MsgToken
	md = mqi.DefaultMD()
	data, _, err := r.c.Get(bg, h, &md, &again, 10)
	if err != nil || string(data) != "a" {
		t.Fatalf("%q %v", data, err)
	}
	_, _, err = r.c.Get(bg, h, &md, &again, 10)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
}

func TestGetTruncated(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	sent := r.put(r.c, h, "0123456789", 0)
	get := func(opts int32, size int) (string, int, mqi.MD, error) {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		gmo.Options = opts
		d, n, err := r.c.Get(bg, h, &md, &gmo, size)
		return string(d), n, md, err
	}
	data, n, md, err := get(0, 4)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
	if data != "0123" || n != 10 || md.MsgID != sent.MsgID || r.depth("Q") != 1 {
		t.Errorf("failed truncation: %q %d", data, n)
	}
	_, _, _, err = get(mqi.MQGMO_BROWSE_NEXT, 4)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
	data, _, _, err = get(mqi.MQGMO_BROWSE_NEXT, 10) // the cursor stayed before it
	wantRC(t, err, 0)
	if data != "0123456789" {
		t.Errorf("browse %q", data)
	}
	data, n, _, err = get(mqi.MQGMO_ACCEPT_TRUNCATED_MSG, 4)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_ACCEPTED)
	if data != "0123" || n != 10 || r.depth("Q") != 0 {
		t.Errorf("accepted truncation: %q %d", data, n)
	}
}

func TestConvert(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	for _, tc := range []struct {
		format   string
		from, to int32
		in, out  string
		rc       mqi.RC
	}{
		{mqi.MQFMT_STRING, 1208, 819, "Käse", "K\xe4se", 0},
		{mqi.MQFMT_STRING, 819, 1208, "K\xe4se", "Käse", 0},
		{mqi.MQFMT_STRING, 1208, 1208, "Käse", "Käse", 0},
		{mqi.MQFMT_STRING, 1208, 4243, "x", "x", mqi.MQRC_TARGET_CCSID_ERROR},
		{mqi.MQFMT_STRING, 1208, 500, "A", "\xc1", 0},
		{mqi.MQFMT_STRING, 4242, 1208, "x", "x", mqi.MQRC_SOURCE_CCSID_ERROR},
		{mqi.MQFMT_NONE, 1208, 819, "ä", "ä", mqi.MQRC_FORMAT_ERROR},
		{mqi.MQFMT_STRING, 1208, 1200, "A", "\x00A", 0},
	} {
		r.put(r.c, h, tc.in, 0, func(md *mqi.MD) { md.Format, md.CodedCharSetID, md.Encoding = tc.format, tc.from, 273 })
		s, md, err := tryGet(r.c, h, mqi.MQGMO_CONVERT, func(md *mqi.MD, _ *mqi.GMO) { md.CodedCharSetID, md.Encoding = tc.to, 273 })
		wantRC(t, err, tc.rc)
		ccsid := tc.to
		if tc.rc != 0 {
			ccsid = tc.from
		}
		if s != tc.out || md.CodedCharSetID != ccsid {
			t.Errorf("%d to %d: %q in %d", tc.from, tc.to, s, md.CodedCharSetID)
		}
	}
}

// What is longer than the buffer, before it is converted or after it, is converted as far as it is given, to whole characters.
func TestConvertTruncated(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	const convert, accept = mqi.MQGMO_CONVERT, mqi.MQGMO_CONVERT | mqi.MQGMO_ACCEPT_TRUNCATED_MSG
	for _, c := range []struct {
		to, opts int32
		room     int
		text     string
		n        int
		rc       mqi.RC
		ccsid    int32
	}{
		{819, convert, 5, "h\xe4llo", 5, mqi.MQRC_TRUNCATED_MSG_FAILED, 1208},
		{819, accept, 0, "", 6, mqi.MQRC_TRUNCATED_MSG_ACCEPTED, 1208},
		{819, accept, 2, "h", 6, mqi.MQRC_TRUNCATED_MSG_ACCEPTED, 819},
		{819, accept, 3, "h\xe4", 6, mqi.MQRC_TRUNCATED_MSG_ACCEPTED, 819},
		{819, accept, 6, "h\xe4llo", 5, 0, 819},
		{1200, convert, 6, "hällo", 6, mqi.MQRC_CONVERTED_MSG_TOO_BIG, 1208},
		{1200, accept, 6, "h\x00\xe4\x00l\x00", 10, mqi.MQRC_TRUNCATED_MSG_ACCEPTED, 1200},
		{1200, accept, 7, "h\x00\xe4\x00l\x00", 10, mqi.MQRC_TRUNCATED_MSG_ACCEPTED, 1200},
		{1200, accept, 3, "h\x00", 6, mqi.MQRC_TRUNCATED_MSG_ACCEPTED, 1200},
		{1200, convert, 100, "h\x00\xe4\x00l\x00l\x00o\x00", 10, 0, 1200},
	} {
		r.put(r.c, h, "hällo", 0, func(md *mqi.MD) { md.Format, md.CodedCharSetID = mqi.MQFMT_STRING, 1208 })
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		gmo.Version, gmo.Options, md.CodedCharSetID = 3, c.opts, c.to
		data, n, err := r.c.Get(bg, h, &md, &gmo, c.room)
		_, rc := reasonOf(err)
		if rc == mqi.MQRC_TRUNCATED_MSG_FAILED {
			r.get(r.c, h, 0)
			continue
		}
		if string(data) != c.text || n != c.n || rc != c.rc || md.CodedCharSetID != c.ccsid || int(gmo.ReturnedLength) != len(c.text) {
			t.Errorf("to %d in %d bytes: %q of %d, returned length %d, in %d: %v", c.to, c.room, data, n, gmo.ReturnedLength,
				md.CodedCharSetID, err)
		}
	}
}

func TestExpiry(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY")
	h := r.openQ(r.c, "Q", inOut)
	short := func(md *mqi.MD) { md.Expiry = 50 }
	r.put(r.c, h, "short", 0, short)
	r.put(r.c, h, "long", 0, func(md *mqi.MD) { md.Expiry = 10000 })
	r.put(r.c, h, "reported", 0, short, func(md *mqi.MD) {
		md.Report, md.ReplyToQ = mqi.MQRO_EXPIRATION_WITH_FULL_DATA, "REPLY"
	})
	r.clk.Advance(2 * time.Second)
	if s, md := r.get(r.c, h, mqi.MQGMO_BROWSE_FIRST); s != "short" || md.Expiry != 30 {
		t.Errorf("%q with %d left", s, md.Expiry)
	}
	r.clk.Advance(4 * time.Second)
	if s, md := r.get(r.c, h, mqi.MQGMO_BROWSE_FIRST); s != "long" || md.Expiry != 9940 {
		t.Errorf("%q with %d left", s, md.Expiry)
	}
	if r.depth("Q") != 2 { // lazily: only what was met
		t.Errorf("depth %d", r.depth("Q"))
	}
	r.clk.Advance(time.Minute)
	if r.depth("Q") != 1 {
		t.Errorf("depth %d after the scan", r.depth("Q"))
	}
	rep := r.openQ(r.c, "REPLY", mqi.MQOO_INPUT_SHARED)
	if s, md := r.get(r.c, rep, 0); s != "reported" || md.Feedback != mqi.MQFB_EXPIRATION || md.MsgType != mqi.MQMT_REPORT {
		t.Errorf("report %q %+v", s, md)
	}
	// Under a browse cursor that expires.
	r.clk.Advance(2000 * time.Second)
	_, _, err := tryGet(r.c, h, mqi.MQGMO_MSG_UNDER_CURSOR)
	wantRC(t, err, mqi.MQRC_NO_MSG_UNDER_CURSOR)
}

// The scanner must get through more than one batch, and leave what has not expired.
func TestExpiryScanDeep(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXDEPTH", "100000")
	h := r.openQ(r.c, "Q", inOut)
	for i := 0; i < 20000; i++ {
		r.put(r.c, h, "x", 0, func(md *mqi.MD) {
			md.Priority = int32(i % 3)
			if i%5 != 0 {
				md.Expiry = 10
			} else if i%2 == 0 {
				md.Expiry = 1000000
			}
		})
	}
	r.clk.Advance(expiryScan)
	if d := r.depth("Q"); d != 4000 {
		t.Errorf("depth %d, want 4000", d)
	}
	r.clk.Advance(100000*time.Second + 2*expiryScan)
	if d := r.depth("Q"); d != 2000 {
		t.Errorf("depth %d, want 2000", d)
	}
}

func TestReports(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY", "MAXDEPTH", "2")
	r.define("QLOCAL", "DLQ")
	h := r.openQ(r.c, "Q", inOut)
	rep := r.openQ(r.c, "REPLY", inOut)
	sent := r.put(r.c, h, strings.Repeat("d", 150), mqi.MQPMO_SYNCPOINT, func(md *mqi.MD) {
		md.ReplyToQ, md.Format = "REPLY", mqi.MQFMT_STRING
		md.Report = mqi.MQRO_COA_WITH_DATA | mqi.MQRO_COD
	})
	_, _, err := tryGet(r.c, rep, 0)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE) // in the unit of work of the put
	wantRC(t, r.c.Commit(bg), 0)
	if s, md := r.get(r.c, rep, 0); len(s) != 100 || md.Feedback != mqi.MQFB_COA || md.CorrelID != sent.MsgID ||
		md.Format != mqi.MQFMT_STRING || md.PutApplType != mqi.MQAT_QMGR || md.PutApplName != "QM1" {
		t.Errorf("COA %q %+v", s, md)
	}
	_, _ = r.get(r.c, h, mqi.MQGMO_BROWSE_FIRST)
	_, _ = r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	wantRC(t, r.c.Backout(bg), 0)
	if r.depth("REPLY") != 0 {
		t.Errorf("COD of a get that was backed out")
	}
	_, _ = r.get(r.c, h, 0)
	if s, md := r.get(r.c, rep, 0); s != "" || md.Feedback != mqi.MQFB_COD {
		t.Errorf("COD %q %+v", s, md)
	}
	// A full reply queue sends the report to the dead-letter queue.
	r.alter(ClassQmgr, qmgrName, "DEADQ", "DLQ")
	r.put(r.c, rep, "1", 0)
	r.put(r.c, rep, "2", 0)
	r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.ReplyToQ, md.Report = "REPLY", mqi.MQRO_COA })
	d := r.openQ(r.c, "DLQ", inOut)
	if s, md := r.get(r.c, d, 0); md.Format != mqi.MQFMT_DEAD_LETTER_HEADER || len(s) != 172 || s[:4] != "DLH " ||
		s[8:12] != "\x05\x08\x00\x00" || strings.TrimSpace(s[12:60]) != "REPLY" {
		t.Errorf("dead letter %q %+v", s, md)
	}
}

// A message that cannot be decoded damages its queue, and no other.
func TestDamagedQueue(t *testing.T) {
	r := newBoltRig(t)
	bad := r.define("QLOCAL", "BAD").Queue
	r.define("QLOCAL", "GOOD")
	r.put(r.c, r.openQ(r.c, "GOOD", inOut), "p", 0, persistent)
	var tx store.Tx
	tx.Put(bad.qid, 1, store.Rec{Head: []byte("nonsense"), Persistent: true})
	if _, err := r.st.Commit(bg, &tx); err != nil {
		t.Fatal(err)
	}
	r.restart(store.Quiesce)
	od := mqi.DefaultOD()
	od.ObjectName = "BAD"
	_, err := r.c.Open(bg, &od, inOut)
	wantRC(t, err, mqi.MQRC_OBJECT_DAMAGED)
	if got := r.drainAll("GOOD"); got != "p" {
		t.Errorf("GOOD: %q", got)
	}
	if !strings.Contains(r.log.String(), "BAD") {
		t.Error("nothing in the log")
	}
}

// Gets in one long unit of work don't walk over each other: a million steps would take seconds, a walk over all that
// was taken before would be quadratic.
func TestLongUnitOfWork(t *testing.T) {
	r := newRig(t)
	q := r.define("QLOCAL", "Q", "MAXDEPTH", "100000").Queue
	r.alter(ClassQmgr, qmgrName, "MAXUMSGS", "100000")
	h := r.openQ(r.c, "Q", inOut)
	const n = 20000
	for i := 0; i < n; i++ {
		r.put(r.c, h, "x", 0)
	}
	for i := 0; i < n; i++ {
		r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
		if l := &q.lists[0]; !l.none && l.first != 0 && q.slab.at(l.first).flags&hidden != 0 && i > 0 &&
			q.slab.at(q.slab.at(l.first).prev).flags&hidden == 0 {
			t.Fatal("the hint stands behind a visible entry")
		}
	}
	_, _, err := tryGet(r.c, h, 0)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	if !q.lists[0].none {
		t.Error("the list does not know that nothing is visible")
	}
	wantRC(t, r.c.Backout(bg), 0)
	for i := 0; i < n; i++ {
		r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	}
	wantRC(t, r.c.Commit(bg), 0)
}

func TestGetThroughAlias(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QALIAS", "A", "TARGET", "Q")
	r.define("QLOCAL", "QM2", "USAGE", "XMITQ")
	r.define("QREMOTE", "R", "RNAME", "FAR", "RQMNAME", "QM2")
	a := r.openQ(r.c, "A", mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)
	r.put(r.c, a, "x", 0)
	r.alter(ClassQueue, "A", "GET", "DISABLED")
	_, _, err := tryGet(r.c, a, 0)
	wantRC(t, err, mqi.MQRC_GET_INHIBITED)
	r.alter(ClassQueue, "A", "GET", "ENABLED")
	gmo, md := mqi.DefaultGMO(), mqi.DefaultMD()
	if _, _, err = r.c.Get(bg, a, &md, &gmo, 10); err != nil || gmo.ResolvedQName != "Q" {
		t.Errorf("%v, resolved %q", err, gmo.ResolvedQName)
	}
	far := r.openQ(r.c, "R", mqi.MQOO_OUTPUT)
	_, _, err = tryGet(r.c, far, 0)
	wantRC(t, err, mqi.MQRC_HOBJ_ERROR)
	// A queue that is being deleted cannot be opened any more.
	r.m.lookup(ClassQueue, "Q").deleting.Store(true)
	od := mqi.DefaultOD()
	od.ObjectName = "A"
	_, err = r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_UNKNOWN_OBJECT_NAME)
}
