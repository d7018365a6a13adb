package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The reply-to queue manager is this one wherever it was left blank, with a reply-to queue or without; a report's is its maker.
func TestReplyToQMgrIsFilled(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY")
	h, reply := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "REPLY", inOut)
	r.put(r.c, h, "a", 0)
	r.put(r.c, h, "b", mqi.MQPMO_NO_CONTEXT, func(md *mqi.MD) { md.ReplyToQMgr = "OTHER" })
	od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
	od.ObjectName = "Q"
	wantRC(t, r.c.Put1(bg, &od, &md, &pmo, []byte("c")), 0)
	for _, want := range []string{"QM1", "OTHER", "QM1"} {
		if text, md := r.get(r.c, h, 0); md.ReplyToQMgr != want || md.ReplyToQ != "" {
			t.Errorf("%s: reply to %q at %q, want %q", text, md.ReplyToQ, md.ReplyToQMgr, want)
		}
	}
	r.put(r.c, h, "d", 0, func(md *mqi.MD) { md.Report, md.ReplyToQ = mqi.MQRO_COA, "REPLY" })
	if _, md := r.get(r.c, reply, 0); md.ReplyToQ != "" || md.ReplyToQMgr != "QM1" {
		t.Errorf("the report says %q at %q", md.ReplyToQ, md.ReplyToQMgr)
	}
}

// A priority above the highest stays in the descriptor, and the message stands with those of the highest.
func TestPriorityAboveTheHighest(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MSGDLVSQ", "PRIORITY")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "eight", 0, func(md *mqi.MD) { md.Priority = 8 })
	r.put(r.c, h, "nine", 0, func(md *mqi.MD) { md.Priority = 9 })
	_, err := tryPut(r.c, h, "more", 0, func(md *mqi.MD) { md.Priority = 1 << 8; md.Persistence = mqi.MQPER_PERSISTENT })
	wantRC(t, err, mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM)
	check := func() {
		h := r.openQ(r.c, "Q", mqi.MQOO_BROWSE)
		for i, want := range []struct {
			text string
			prio int32
		}{{"nine", 9}, {"more", 256}, {"eight", 8}} {
			if text, md := r.get(r.c, h, mqi.MQGMO_BROWSE_NEXT); text != want.text || md.Priority != want.prio {
				t.Errorf("message %d is %q, priority %d", i, text, md.Priority)
			}
		}
	}
	check()
}

// The last of a group, or of the segments of a message, is a member too: the message says both, the caller's descriptor what it
// said.
func TestLastImpliesMember(t *testing.T) {
	for _, tc := range []struct{ put, got, options int32 }{
		{mqi.MQMF_LAST_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP | mqi.MQMF_MSG_IN_GROUP, 0},
		{mqi.MQMF_LAST_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP | mqi.MQMF_MSG_IN_GROUP, mqi.MQPMO_LOGICAL_ORDER},
		{mqi.MQMF_LAST_SEGMENT, mqi.MQMF_LAST_SEGMENT | mqi.MQMF_SEGMENT, 0},
		{mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_MSG_IN_GROUP, 0},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := r.openQ(r.c, "Q", inOut)
		sent := r.put(r.c, h, "x", tc.options, func(md *mqi.MD) { md.Version, md.MsgFlags = 2, tc.put })
		if _, md := r.get(r.c, h, 0); md.MsgFlags != tc.got || sent.MsgFlags != tc.put {
			t.Errorf("put with %d: %d came, %d returned", tc.put, md.MsgFlags, sent.MsgFlags)
		}
	}
}
