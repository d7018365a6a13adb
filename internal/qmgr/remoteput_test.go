package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

// remoteRig has the definitions of acceptance 004 without intra-group queuing.
func remoteRig(t testing.TB) *rig {
	r := newRig(t)
	r.define("QLOCAL", "XQ1", "USAGE", "XMITQ", "MAXDEPTH", "5")
	r.define("QLOCAL", "QMG2", "USAGE", "XMITQ")
	r.define("QREMOTE", "RQ1", "RNAME", "LQ1", "RQMNAME", "QMG2", "XMITQ", "XQ1")
	r.define("QREMOTE", "RQ2", "RNAME", "LQ1", "RQMNAME", "QMG2")
	r.define("QREMOTE", "QMA", "RQMNAME", "QMG2", "XMITQ", "XQ1")
	r.define("QREMOTE", "ANSWER", "RNAME", "ANSWER.FAR", "RQMNAME", "QM9", "XMITQ", "XQ1")
	return r
}

// wrapped takes a message off a transmission queue and its envelope.
func (r *rig) wrapped(queue string) (xmitq.Header, string, mqi.MD) {
	r.t.Helper()
	s, md := r.get(r.c, r.openQ(r.c, queue, inOut), 0)
	if md.Format != mqi.MQFMT_XMIT_Q_HEADER {
		r.t.Fatalf("format %q on %s", md.Format, queue)
	}
	h, rest, err := xmitq.ParseHeader([]byte(s), md.Encoding)
	if err != nil {
		r.t.Fatal(err)
	}
	return h, string(rest), md
}

func (r *rig) openAt(name, qm string) Handle {
	r.t.Helper()
	od := mqi.DefaultOD()
	od.ObjectName, od.ObjectQMgrName = name, qm
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantRC(r.t, err, 0)
	return h
}

// Acceptance 004, rows 8, 9, 14, 29 and 44 as far as they are ordinary resolution: which transmission queue, and what the
// header says.
func TestRemotePutWays(t *testing.T) {
	for _, tc := range []struct{ name, qm, xmitq, remoteQ, remoteQM string }{
		{"RQ1", "", "XQ1", "LQ1", "QMG2"},
		{"RQ2", "", "QMG2", "LQ1", "QMG2"},     // the queue named as the queue manager
		{"LQ1", "QMG2", "QMG2", "LQ1", "QMG2"}, // fully qualified
		{"LQ1", "QMA", "XQ1", "LQ1", "QMG2"},   // queue manager alias
		{"LQ1", "ELSEWHERE", "XQ1", "LQ1", "ELSEWHERE"},
	} {
		r := remoteRig(t)
		r.alter(ClassQmgr, qmgrName, "DEFXMITQ", "XQ1")
		for _, size := range []int{1000, 100000} {
			body := strings.Repeat("x", size)
			sent := r.put(r.c, r.openAt(tc.name, tc.qm), body, 0, func(md *mqi.MD) {
				md.Format, md.ReplyToQ, md.CorrelID, md.Report = mqi.MQFMT_STRING, "BACK", mqi.ID{5}, mqi.MQRO_COA
			})
			h, rest, md := r.wrapped(tc.xmitq)
			if h.RemoteQName != tc.remoteQ || h.RemoteQMgrName != tc.remoteQM || rest != body {
				t.Errorf("%s at %q: to %s at %s, %d bytes", tc.name, tc.qm, h.RemoteQName, h.RemoteQMgrName, len(rest))
			}
			in := h.MD
			if in.MsgID != sent.MsgID || in.CorrelID != (mqi.ID{5}) || in.Format != mqi.MQFMT_STRING || in.ReplyToQ != "BACK" ||
				in.ReplyToQMgr != "QM1" || in.Report != mqi.MQRO_COA || in.UserIdentifier != "app" {
				t.Errorf("%s at %q: inner descriptor %+v", tc.name, tc.qm, in)
			}
			if md.CorrelID != sent.MsgID || md.MsgID == sent.MsgID || md.Report != 0 || md.ReplyToQ != "BACK" || md.ReplyToQMgr != "QM1" ||
				md.MsgType != mqi.MQMT_DATAGRAM || md.UserIdentifier != "app" {
				t.Errorf("%s at %q: outer descriptor %+v", tc.name, tc.qm, md)
			}
		}
	}
}

// Acceptance 004, rows 15, 17, 18 and 43: a transmission queue that cannot take the message fails the put at once.
func TestRemotePutRefused(t *testing.T) {
	r := remoteRig(t)
	h := r.openAt("RQ1", "")
	large := strings.Repeat("x", 100000)
	for range 5 {
		r.put(r.c, h, large, 0)
	}
	_, err := tryPut(r.c, h, large, 0)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.alter(ClassQueue, "XQ1", "MAXDEPTH", "100", "PUT", "DISABLED")
	_, err = tryPut(r.c, h, large, 0)
	wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
	r.alter(ClassQueue, "XQ1", "PUT", "ENABLED", "MAXMSGL", "70000")
	_, err = tryPut(r.c, h, large[:80000], 0)
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	_, err = tryPut(r.c, h, large[:70000-428+1], 0) // the header counts
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	_, err = tryPut(r.c, h, large[:70000-428], 0)
	wantRC(t, err, 0)
	before := r.depth("XQ1")
	r.put(r.c, h, "x", mqi.MQPMO_SYNCPOINT, func(md *mqi.MD) { md.Persistence = 1 })
	wantRC(t, r.c.Backout(bg), 0)
	if n := r.depth("XQ1"); n != before {
		t.Errorf("%d messages after the backout, %d before the put", n, before)
	}
}

// Defaults of priority and persistence come from the first definition in the path.
func TestRemotePutDefaults(t *testing.T) {
	r := remoteRig(t)
	r.alter(ClassQueue, "RQ1", "DEFPRTY", "7", "DEFPSIST", "YES")
	r.put(r.c, r.openAt("RQ1", ""), "x", 0)
	if h, _, md := r.wrapped("XQ1"); md.Priority != 7 || md.Persistence != 1 || h.MD.Priority != 7 || h.MD.Persistence != 1 {
		t.Errorf("outer %d/%d, inner %d/%d", md.Priority, md.Persistence, h.MD.Priority, h.MD.Persistence)
	}
}

// A reply-to queue that is a remote definition stands for what it names; its XMITQ does not matter.
func TestReplyToAlias(t *testing.T) {
	r := remoteRig(t)
	r.define("QLOCAL", "L")
	for reply, want := range map[[2]string][2]string{
		{"ANSWER", ""}:    {"ANSWER.FAR", "QM9"},
		{"ANSWER", "QMX"}: {"ANSWER", "QMX"},
		{"ANSWER", "QM1"}: {"ANSWER", "QM1"},
		{"L", ""}:         {"L", "QM1"},
		{"NOWHERE", ""}:   {"NOWHERE", "QM1"},
	} {
		r.put(r.c, r.openAt("RQ1", ""), "x", 0, func(md *mqi.MD) { md.ReplyToQ, md.ReplyToQMgr = reply[0], reply[1] })
		if h, _, _ := r.wrapped("XQ1"); h.MD.ReplyToQ != want[0] || h.MD.ReplyToQMgr != want[1] {
			t.Errorf("%v: %s at %s", reply, h.MD.ReplyToQ, h.MD.ReplyToQMgr)
		}
	}
}

// Version 2 fields travel in an MQMDE that is in the queue manager's encoding, whatever the sender's is.
func TestRemotePutExtension(t *testing.T) {
	r := remoteRig(t)
	r.put(r.c, r.openAt("RQ1", ""), "data", 0, func(md *mqi.MD) {
		md.Version, md.Encoding, md.CodedCharSetID, md.Format = 2, mqi.MQENC_NORMAL, 37, mqi.MQFMT_STRING
		md.GroupID, md.MsgSeqNumber, md.MsgFlags = mqi.ID{8}, 3, mqi.MQMF_MSG_IN_GROUP
	})
	h, rest, md := r.wrapped("XQ1")
	in := h.MD
	if rest != "data" || in.Version != 2 || in.GroupID != (mqi.ID{8}) || in.MsgSeqNumber != 3 ||
		in.MsgFlags != mqi.MQMF_MSG_IN_GROUP || in.Encoding != mqi.MQENC_NORMAL || in.CodedCharSetID != 37 ||
		in.Format != mqi.MQFMT_STRING || md.Version > 1 && !md.GroupID.IsZero() {
		t.Errorf("%q inner %+v outer %+v", rest, in, md)
	}
}

// Properties kept beside the data stand in front of it in an MQRFH2 when the message leaves.
func TestRemotePutProperties(t *testing.T) {
	r := remoteRig(t)
	head := &msgHead{md: mqi.DefaultMD(), props: mqi.EncodeProps([]mqi.Property{
		{Name: "colour", Value: mqi.PropString("red"), PD: mqi.DefaultPD()}})}
	head.md.Format, head.md.Priority, head.md.Persistence = mqi.MQFMT_STRING, 0, 0
	u := &uow{}
	if rc := r.m.putAs(u, "RQ1", "", head, []byte("data")); rc != 0 {
		t.Fatal(rc)
	}
	wantRC(t, r.m.commit(u), 0)
	h, rest, _ := r.wrapped("XQ1")
	if h.MD.Format != mqi.MQFMT_RF_HEADER_2 {
		t.Fatalf("format %q", h.MD.Format)
	}
	f, data, err := mqi.ParseRFH2([]byte(rest), mqi.Coding{Encoding: h.MD.Encoding, CCSID: h.MD.CodedCharSetID})
	if err != nil || f.Format != mqi.MQFMT_STRING || string(data) != "data" || len(f.Folders) != 1 ||
		f.Folders[0] != "<usr><colour>red</colour></usr>" {
		t.Errorf("%+v %q %v", f, data, err)
	}
}

// MAXMSGL of a transmission queue counts the envelope too: MQXQH, and MQMDE when the descriptor says more than version 1 can.
func TestRemotePutLength(t *testing.T) {
	r := remoteRig(t)
	r.alter(ClassQueue, "XQ1", "MAXMSGL", "1000")
	h := r.openAt("RQ1", "")
	for _, tc := range []struct {
		envelope int
		edit     func(*mqi.MD)
	}{
		{428, func(*mqi.MD) {}},
		{428, func(md *mqi.MD) { md.Version = 2 }},
		{500, func(md *mqi.MD) { md.Version, md.MsgFlags = 2, mqi.MQMF_MSG_IN_GROUP }},
	} {
		r.put(r.c, h, strings.Repeat("x", 1000-tc.envelope), 0, tc.edit)
		if s, _ := r.get(r.c, r.openQ(r.c, "XQ1", inOut), 0); len(s) != 1000 {
			t.Errorf("%d bytes on the transmission queue", len(s))
		}
		_, err := tryPut(r.c, h, strings.Repeat("x", 1001-tc.envelope), 0, tc.edit)
		wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	}
}
