package qmgr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

func TestPutDescriptorReasons(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	for _, tc := range []struct {
		name   string
		change func(*mqi.MD)
		rc     mqi.RC
	}{
		{"plain", func(md *mqi.MD) {}, 0},
		{"version", func(md *mqi.MD) { md.Version = 3 }, mqi.MQRC_MD_ERROR},
		{"message type", func(md *mqi.MD) { md.MsgType = 7 }, mqi.MQRC_MSG_TYPE_ERROR},
		{"application's message type", func(md *mqi.MD) { md.MsgType = 70000 }, 0},
		{"expiry 0", func(md *mqi.MD) { md.Expiry = 0 }, mqi.MQRC_EXPIRY_ERROR},
		{"expiry -2", func(md *mqi.MD) { md.Expiry = -2 }, mqi.MQRC_EXPIRY_ERROR},
		{"the longest expiry", func(md *mqi.MD) { md.Expiry = 1<<31 - 1 }, 0},
		{"feedback", func(md *mqi.MD) { md.Feedback = -1 }, mqi.MQRC_FEEDBACK_ERROR},
		{"report bit that must be refused", func(md *mqi.MD) { md.Report = 1 << 28 }, mqi.MQRC_REPORT_OPTIONS_ERROR},
		{"report bit that may be ignored", func(md *mqi.MD) { md.Report = 8 }, mqi.MQRC_UNKNOWN_REPORT_OPTION},
		{"report data without report", func(md *mqi.MD) { md.Report = 512; md.ReplyToQ = "Q" }, mqi.MQRC_REPORT_OPTIONS_ERROR},
		{"priority too high", func(md *mqi.MD) { md.Priority = 12 }, mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM},
		{"priority negative", func(md *mqi.MD) { md.Priority = -5 }, mqi.MQRC_PRIORITY_ERROR},
		{"persistence", func(md *mqi.MD) { md.Persistence = 9 }, mqi.MQRC_PERSISTENCE_ERROR},
		{"request without reply-to", func(md *mqi.MD) { md.MsgType = mqi.MQMT_REQUEST }, mqi.MQRC_MISSING_REPLY_TO_Q},
		{"COA without reply-to", func(md *mqi.MD) { md.Report = mqi.MQRO_COA }, mqi.MQRC_MISSING_REPLY_TO_Q},
		{"flags", func(md *mqi.MD) { md.Version = 2; md.MsgFlags = 1 << 10 }, mqi.MQRC_MSG_FLAGS_ERROR},
		{"sequence", func(md *mqi.MD) { md.Version = 2; md.MsgSeqNumber = 0 }, mqi.MQRC_MSG_SEQ_NUMBER_ERROR},
		{"offset", func(md *mqi.MD) { md.Version = 2; md.Offset = -1 }, mqi.MQRC_OFFSET_ERROR},
		{"version 2 fields ignored in version 1", func(md *mqi.MD) { md.MsgSeqNumber = 0 }, 0},
	} {
		before := r.depth("Q")
		md, err := tryPut(r.c, h, "x", 0, tc.change)
		cc, rc := reasonOf(err)
		if rc != tc.rc {
			t.Errorf("%s: reason %d, want %d", tc.name, rc, tc.rc)
		}
		if put := r.depth("Q") > before; put != (cc != mqi.CCFailed) {
			t.Errorf("%s: completion %d, message there: %v", tc.name, cc, put)
		}
		if tc.rc == mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM && md.Priority != 12 {
			t.Errorf("%s: priority %d", tc.name, md.Priority)
		}
	}
}

// A message in no group has no group id and number 1, one that is no segment offset 0, whatever the application left in the fields.
func TestPutPlace(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	id := mqi.ID{7}
	for _, x := range []struct {
		flags       int32
		group       mqi.ID
		seq, offset int32
	}{
		{0, mqi.ID{}, 1, 0},
		{mqi.MQMF_SEGMENTATION_ALLOWED, id, 1, 0},
		{mqi.MQMF_SEGMENT, id, 1, 5},
		{mqi.MQMF_MSG_IN_GROUP, id, 3, 0},
		{mqi.MQMF_LAST_MSG_IN_GROUP | mqi.MQMF_LAST_SEGMENT, id, 3, 5},
	} {
		put, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) {
			md.Version, md.MsgFlags, md.GroupID, md.MsgSeqNumber, md.Offset = 2, x.flags, id, 3, 5
		})
		wantRC(t, err, 0)
		_, got := r.get(r.c, h, 0, func(md *mqi.MD, _ *mqi.GMO) { md.Version = 2 })
		for _, md := range []mqi.MD{put, got} {
			if md.GroupID != x.group || md.MsgSeqNumber != x.seq || md.Offset != x.offset {
				t.Errorf("flags %d: group %v, number %d, offset %d", x.flags, md.GroupID, md.MsgSeqNumber, md.Offset)
			}
		}
	}
}

func TestPutReasons(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXDEPTH", "2", "MAXMSGL", "10")
	r.define("QLOCAL", "BIG", "MAXMSGL", "4194304")
	r.define("QALIAS", "A", "TARGET", "Q")
	r.alter(ClassQmgr, qmgrName, "MAXMSGL", "100")
	q, big := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "BIG", inOut)
	a := r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	in := r.openQ(r.c, "Q", mqi.MQOO_INPUT_SHARED)
	step := func(h Handle, text string, opts int32, rc mqi.RC) {
		t.Helper()
		_, err := tryPut(r.c, h, text, opts)
		wantRC(t, err, rc)
	}
	step(99, "x", 0, mqi.MQRC_HOBJ_ERROR)
	step(in, "x", 0, mqi.MQRC_NOT_OPEN_FOR_OUTPUT)
	step(q, "x", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_NO_SYNCPOINT, mqi.MQRC_OPTIONS_ERROR)
	step(q, "x", mqi.MQPMO_ALTERNATE_USER_AUTHORITY, mqi.MQRC_OPTIONS_ERROR)
	step(q, "x", mqi.MQPMO_ASYNC_RESPONSE|mqi.MQPMO_SYNC_RESPONSE, mqi.MQRC_OPTIONS_ERROR)
	one, md, pmo := mqi.OD{Version: 1, ObjectType: mqi.MQOT_Q, ObjectName: "Q"}, mqi.DefaultMD(), mqi.DefaultPMO()
	pmo.Options = mqi.MQPMO_LOGICAL_ORDER
	wantRC(t, r.c.Put1(bg, &one, &md, &pmo, []byte("x")), mqi.MQRC_OPTIONS_ERROR)
	step(q, "x", mqi.MQPMO_SET_ALL_CONTEXT, mqi.MQRC_NOT_OPEN_FOR_SET_ALL)
	step(q, "x", mqi.MQPMO_SET_IDENTITY_CONTEXT, mqi.MQRC_NOT_OPEN_FOR_SET_IDENT)
	step(q, "x", mqi.MQPMO_PASS_ALL_CONTEXT, mqi.MQRC_NOT_OPEN_FOR_PASS_ALL)
	step(q, "x", mqi.MQPMO_PASS_IDENTITY_CONTEXT, mqi.MQRC_NOT_OPEN_FOR_PASS_IDENT)
	step(q, "12345678901", 0, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	step(big, strings.Repeat("x", 101), 0, mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR)
	r.alter(ClassQueue, "A", "PUT", "DISABLED")
	step(a, "x", 0, mqi.MQRC_PUT_INHIBITED)
	step(q, "x", 0, 0)
	r.alter(ClassQueue, "Q", "PUT", "DISABLED")
	step(q, "x", 0, mqi.MQRC_PUT_INHIBITED)
	r.alter(ClassQueue, "Q", "PUT", "ENABLED")
	step(q, "x", mqi.MQPMO_SYNCPOINT, 0)
	step(q, "x", 0, mqi.MQRC_Q_FULL) // uncommitted messages count
	wantRC(t, r.c.Backout(bg), 0)
	step(q, "x", 0, 0)
}

// PUT(DISABLED) holds for handles that are open, of every definition on the way; ALTER and MQSET say so.
func TestPutDisabled(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QALIAS", "A", "TARGET", "Q")
	q, a := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT|mqi.MQOO_SET), r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	try := func(what string, toQueue, toAlias mqi.RC) {
		t.Helper()
		for h, want := range map[Handle]mqi.RC{q: toQueue, a: toAlias} {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			if _, rc := mqi.Reason(r.c.Put(bg, h, &md, &pmo, []byte("x"))); rc != want {
				t.Errorf("%s: %v, want %v", what, rc, want)
			}
		}
	}
	const no = mqi.MQRC_PUT_INHIBITED
	try("enabled", 0, 0)
	r.alter(ClassQueue, "Q", "PUT", "DISABLED")
	try("the queue disabled", no, no)
	wantRC(t, r.c.Set(bg, q, []int32{mqi.MQIA_INHIBIT_PUT}, []int32{mqi.MQQA_PUT_ALLOWED}, nil), 0)
	try("enabled by MQSET", 0, 0)
	r.alter(ClassQueue, "A", "PUT", "DISABLED")
	try("the alias disabled", 0, no)
	wantRC(t, r.c.Set(bg, q, []int32{mqi.MQIA_INHIBIT_PUT}, []int32{mqi.MQQA_PUT_INHIBITED}, nil), 0)
	try("both disabled", no, no)
}

func TestPutDefaults(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "DEFPRTY", "3", "DEFPSIST", "NO")
	r.define("QALIAS", "A", "TARGET", "Q", "DEFPRTY", "7", "DEFPSIST", "YES")
	q, a := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	if md := r.put(r.c, q, "x", 0); md.Priority != 3 || md.Persistence != 0 {
		t.Errorf("queue's defaults: %d %d", md.Priority, md.Persistence)
	}
	// The first definition in the path decides.
	md := r.put(r.c, a, "x", mqi.MQPMO_NEW_CORREL_ID)
	if md.Priority != 7 || md.Persistence != 1 {
		t.Errorf("alias' defaults: %d %d", md.Priority, md.Persistence)
	}
	if string(md.MsgID[:16]) != "AMQ QM1         " || md.CorrelID.IsZero() || md.CorrelID == md.MsgID {
		t.Errorf("identifiers %q %q", md.MsgID, md.CorrelID)
	}
	if md.CodedCharSetID != 0 || md.UserIdentifier != "app" || md.PutApplName != "amqsput" || md.PutDate != "20260304" ||
		md.PutTime != "05060708" || md.AccountingToken[0] != 4 || string(md.AccountingToken[1:5]) != "1001" {
		t.Errorf("filled fields %+v", md)
	}
	if md := r.put(r.c, q, "x", mqi.MQPMO_NO_CONTEXT); md.UserIdentifier != "" || md.PutDate != "" || md.PutApplType != 0 {
		t.Errorf("no context: %+v", md)
	}
	// Remote reply-to alias.
	r.define("QREMOTE", "REPLY", "RNAME", "FAR.REPLY", "RQMNAME", "QM7")
	for _, tc := range [][3]string{{"REPLY", "FAR.REPLY", "QM7"}, {"Q", "Q", "QM1"}} {
		r.put(r.c, q, "rq", 0, func(md *mqi.MD) { md.ReplyToQ = tc[0]; md.Priority = 9 })
		_, md := r.get(r.c, q, 0)
		if md.ReplyToQ != tc[1] || md.ReplyToQMgr != tc[2] {
			t.Errorf("reply to %s: %s at %s", tc[0], md.ReplyToQ, md.ReplyToQMgr)
		}
	}
}

func TestContextPassing(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "IN")
	r.define("QLOCAL", "OUT")
	src := r.openQ(r.c, "IN", mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE|mqi.MQOO_SAVE_ALL_CONTEXT)
	set := r.openQ(r.c, "IN", mqi.MQOO_OUTPUT|mqi.MQOO_SET_ALL_CONTEXT)
	dst := r.openQ(r.c, "OUT", mqi.MQOO_OUTPUT|mqi.MQOO_PASS_ALL_CONTEXT)
	plain := r.openQ(r.c, "OUT", inOut)
	pass := func(from Handle, opt int32) error {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		pmo.Options, pmo.Context = opt, int32(from)
		return r.c.Put(bg, dst, &md, &pmo, []byte("x"))
	}
	wantRC(t, pass(plain, mqi.MQPMO_PASS_ALL_CONTEXT), mqi.MQRC_CONTEXT_HANDLE_ERROR)
	wantRC(t, pass(src, mqi.MQPMO_PASS_ALL_CONTEXT), mqi.MQRC_CONTEXT_NOT_AVAILABLE)
	r.put(r.c, set, "x", mqi.MQPMO_SET_ALL_CONTEXT, func(md *mqi.MD) {
		md.UserIdentifier, md.PutApplName, md.PutDate = "somebody-else", "THEAPP", "19991231"
	})
	_, _ = r.get(r.c, src, mqi.MQGMO_BROWSE_FIRST)
	wantRC(t, pass(src, mqi.MQPMO_PASS_ALL_CONTEXT), mqi.MQRC_CONTEXT_NOT_AVAILABLE)
	short, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	_, _, err := r.c.Get(bg, src, &short, &gmo, 0)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
	wantRC(t, pass(src, mqi.MQPMO_PASS_ALL_CONTEXT), mqi.MQRC_CONTEXT_NOT_AVAILABLE) // it was not got
	_, _ = r.get(r.c, src, 0)
	wantRC(t, pass(src, mqi.MQPMO_PASS_ALL_CONTEXT), 0)
	wantRC(t, pass(src, mqi.MQPMO_PASS_IDENTITY_CONTEXT), 0)
	if _, md := r.get(r.c, plain, 0); md.UserIdentifier != "somebody-els" || md.PutApplName != "THEAPP" || md.PutDate != "19991231" {
		t.Errorf("passed all: %+v", md)
	}
	if _, md := r.get(r.c, plain, 0); md.UserIdentifier != "somebody-els" || md.PutApplName != "amqsput" {
		t.Errorf("passed identity: %+v", md)
	}
}

func TestPut1(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QMODEL", "M", "DEFTYPE", "TEMPDYN")
	put1 := func(name string) error {
		od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
		od.ObjectName = name
		return r.c.Put1(bg, &od, &md, &pmo, []byte("x"))
	}
	wantRC(t, put1("Q"), 0)
	wantRC(t, put1("M"), mqi.MQRC_Q_TYPE_ERROR)
	wantRC(t, put1("NOSUCH"), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	if n := len(r.c.openHandles()); n != 0 || r.depth("Q") != 1 {
		t.Errorf("%d handles open, depth %d", n, r.depth("Q"))
	}
}

// A put that the disk refuses leaves nothing behind and the queue manager goes on.
func TestPutNoSpace(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "first", 0)
	r.fault.fail = func(*store.Tx) error { return fmt.Errorf("log: %w", store.ErrFull) }
	_, err := tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	_, _, err = tryGet(r.c, h, 0)
	wantRC(t, err, mqi.MQRC_RESOURCE_PROBLEM)
	if r.depth("Q") != 1 {
		t.Fatalf("depth %d", r.depth("Q"))
	}
	_, err = tryPut(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, 0)
	_, _, err = tryGet(r.c, h, mqi.MQGMO_SYNCPOINT)
	wantRC(t, err, 0)
	err = r.c.Commit(bg)
	wantRC(t, err, mqi.MQRC_BACKED_OUT)
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("cause lost: %v", err)
	}
	r.fault.fail = nil
	if text, md := r.get(r.c, h, 0); text != "first" || md.BackoutCount != 0 {
		t.Errorf("got %q, backout count %d", text, md.BackoutCount)
	}
	r.fault.fail = func(*store.Tx) error { return store.ErrFailed }
	_, err = tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_CONNECTION_BROKEN) // it may be on disk: "backed out" would make the application put it again
	_, err = tryPut(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, 0)
	wantRC(t, r.c.Commit(bg), mqi.MQRC_CONNECTION_BROKEN)
	r.fault.fail = func(*store.Tx) error { return errors.New("a cause without a reason code") }
	_, err = tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_UNEXPECTED_ERROR)
	r.fault.fail = func(*store.Tx) error { return store.ErrClosed }
	_, err = tryPut(r.c, h, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_MGR_STOPPING)
	r.fault.fail = nil
}

func TestPutRemote(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "QM2", "USAGE", "XMITQ")
	r.define("QREMOTE", "R", "RNAME", "FAR", "RQMNAME", "QM2")
	h := r.openQ(r.c, "R", mqi.MQOO_OUTPUT)
	sent := r.put(r.c, h, "hello", 0, func(md *mqi.MD) { md.Format = mqi.MQFMT_STRING })
	x := r.openQ(r.c, "QM2", mqi.MQOO_INPUT_SHARED)
	body, md := r.get(r.c, x, 0)
	if md.Format != mqi.MQFMT_XMIT_Q_HEADER || md.CorrelID != sent.MsgID || md.MsgID == sent.MsgID {
		t.Errorf("envelope %+v", md)
	}
	if len(body) != 428+5 || body[:4] != "XQH " || strings.TrimSpace(body[8:56]) != "FAR" ||
		strings.TrimSpace(body[56:104]) != "QM2" || body[104:108] != "MD  " || body[428:] != "hello" ||
		!strings.HasPrefix(body[104+32:], "MQSTR   ") || body[104+48:104+72] != string(sent.MsgID[:]) {
		t.Errorf("body %q", body)
	}
}

// Of what is unknown of report options and flags some is accepted when another queue manager is to get the message.
func TestPutUnknownOptions(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "X", "USAGE", "XMITQ")
	r.define("QREMOTE", "R", "RNAME", "FAR", "RQMNAME", "QM2", "XMITQ", "X")
	for _, c := range []struct {
		report, flags int32
		local, remote mqi.RC
	}{
		{1 << 28, 0, mqi.MQRC_REPORT_OPTIONS_ERROR, mqi.MQRC_REPORT_OPTIONS_ERROR},
		{1 << 15, 0, mqi.MQRC_REPORT_OPTIONS_ERROR, mqi.MQRC_UNKNOWN_REPORT_OPTION},
		{1 << 17, 0, mqi.MQRC_REPORT_OPTIONS_ERROR, mqi.MQRC_UNKNOWN_REPORT_OPTION},
		{1 << 3, 0, mqi.MQRC_UNKNOWN_REPORT_OPTION, mqi.MQRC_UNKNOWN_REPORT_OPTION},
		{0, 1 << 5, mqi.MQRC_MSG_FLAGS_ERROR, mqi.MQRC_MSG_FLAGS_ERROR},
		{0, 1 << 12, mqi.MQRC_MSG_FLAGS_ERROR, 0},
		{0, 1 << 19, mqi.MQRC_MSG_FLAGS_ERROR, 0},
		{0, 1 << 20, 0, 0},
	} {
		for name, want := range map[string]mqi.RC{"Q": c.local, "X": c.local, "R": c.remote} {
			h := r.openQ(r.c, name, mqi.MQOO_OUTPUT)
			_, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) { md.Version, md.Report, md.MsgFlags = 2, c.report, c.flags })
			if _, rc := reasonOf(err); rc != want {
				t.Errorf("%s, report %#x, flags %#x: %v, want %d", name, c.report, c.flags, err, want)
			}
		}
	}
}

// A character set that is the queue manager's, or the descriptor's, is a number in the message; the caller's descriptor stays.
func TestPutCharacterSet(t *testing.T) {
	r := newRig(t)
	r.alter(ClassQmgr, qmgrName, "CCSID", "819")
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	for _, given := range []int32{mqi.MQCCSI_Q_MGR, mqi.MQCCSI_INHERIT} {
		sent := r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.CodedCharSetID = given })
		if _, md := r.get(r.c, h, 0); md.CodedCharSetID != 819 || sent.CodedCharSetID != given {
			t.Errorf("%d: got %d, the descriptor of the put says %d", given, md.CodedCharSetID, sent.CodedCharSetID)
		}
	}
}

// A text that is too long for its field is cut between characters.
func TestPutCutsCharacters(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut|mqi.MQOO_SET_ALL_CONTEXT)
	_, err := tryPut(r.c, h, "x", mqi.MQPMO_SET_ALL_CONTEXT, func(md *mqi.MD) {
		md.ApplIdentityData, md.PutApplName = "012345678901234567890123456789é€", "0123456789012345678901234567€"
	})
	wantRC(t, err, 0)
	if _, md := r.get(r.c, h, 0); md.ApplIdentityData != "012345678901234567890123456789é" || md.PutApplName != "0123456789012345678901234567" {
		t.Errorf("%q %q", md.ApplIdentityData, md.PutApplName)
	}
	_, err = tryPut(r.c, h, "x", mqi.MQPMO_SET_ALL_CONTEXT, func(md *mqi.MD) { md.ApplIdentityData = "0123456789012345678901234567890é" })
	wantRC(t, err, 0)
	if _, md := r.get(r.c, h, 0); md.ApplIdentityData != "0123456789012345678901234567890" {
		t.Errorf("%q", md.ApplIdentityData)
	}
}
