package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Every report option with every amount of data, and who causes it.
func TestReportData(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	for _, tc := range []struct {
		name     string
		option   int32
		data     int // bytes in the report
		feedback int32
	}{
		{"COA", mqi.MQRO_COA, 0, mqi.MQFB_COA},
		{"COA with data", mqi.MQRO_COA_WITH_DATA, 100, mqi.MQFB_COA},
		{"COA with full data", mqi.MQRO_COA_WITH_FULL_DATA, 300, mqi.MQFB_COA},
		{"COD", mqi.MQRO_COD, 0, mqi.MQFB_COD},
		{"COD with data", mqi.MQRO_COD_WITH_DATA, 100, mqi.MQFB_COD},
		{"COD with full data", mqi.MQRO_COD_WITH_FULL_DATA, 300, mqi.MQFB_COD},
		{"expiration", mqi.MQRO_EXPIRATION, 0, mqi.MQFB_EXPIRATION},
		{"expiration with data", mqi.MQRO_EXPIRATION_WITH_DATA, 100, mqi.MQFB_EXPIRATION},
		{"expiration with full data", mqi.MQRO_EXPIRATION_WITH_FULL_DATA, 300, mqi.MQFB_EXPIRATION},
		{"exception", mqi.MQRO_EXCEPTION, 0, 2053},
		{"exception with data", mqi.MQRO_EXCEPTION_WITH_DATA, 100, 2053},
		{"exception with full data", mqi.MQRO_EXCEPTION_WITH_FULL_DATA, 300, 2053},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		r.define("QLOCAL", "REPLY")
		r.define("QLOCAL", "DLQ")
		r.alter(ClassQmgr, qmgrName, "DEADQ", "DLQ")
		q, reply := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "REPLY", inOut)
		sent := r.put(r.c, q, long, 0, func(md *mqi.MD) {
			md.Report, md.ReplyToQ, md.Format, md.Priority = tc.option, "REPLY", mqi.MQFMT_STRING, 6
			md.CorrelID = mqi.ID{3}
			if tc.feedback == mqi.MQFB_EXPIRATION {
				md.Expiry = 50
			}
		})
		switch tc.feedback {
		case mqi.MQFB_COD:
			r.get(r.c, q, mqi.MQGMO_BROWSE_FIRST) // makes none
			r.get(r.c, q, mqi.MQGMO_SYNCPOINT)
			wantRC(t, r.c.Backout(bg), 0) // nor this
			if r.depth("REPLY") != 0 {
				t.Errorf("%s: a report before the message was got", tc.name)
			}
			r.get(r.c, q, 0)
		case mqi.MQFB_EXPIRATION:
			r.clk.Advance(2 * time.Minute) // the scanner's work
		case 2053:
			md := sent
			md.Report, md.ReplyToQ, md.ReplyToQMgr, md.Format = tc.option, "REPLY", "QM1", mqi.MQFMT_STRING
			wantRC(t, r.c.Undeliverable(bg, &md, []byte(long), "Q", "", 2053, false), 0)
		}
		s, md := r.get(r.c, reply, 0)
		if len(s) != tc.data || s != long[:len(s)] || md.Feedback != tc.feedback || md.MsgType != mqi.MQMT_REPORT ||
			md.CorrelID != sent.MsgID || md.MsgID == sent.MsgID || md.Priority != 6 || md.Expiry != -1 || md.ReplyToQ != "" ||
			md.Report != 0 || md.PutApplType != mqi.MQAT_QMGR {
			t.Errorf("%s: %d bytes, %+v", tc.name, len(s), md)
		}
		if (md.Format == mqi.MQFMT_STRING) != (tc.data > 0) {
			t.Errorf("%s: format %q with %d bytes", tc.name, md.Format, len(s))
		}
		if r.depth("REPLY") != 0 {
			t.Errorf("%s: more than one report", tc.name)
		}
	}
}

// Which identifiers a report has, and what it takes over of the message's options.
func TestReportIdentifiers(t *testing.T) {
	for _, tc := range []struct {
		option         int32
		msgID, corrID  string // "new", "msg" or "cor": of the message
		report, expiry int32
	}{
		{mqi.MQRO_COA, "new", "msg", 0, -1},
		{mqi.MQRO_COA | mqi.MQRO_PASS_MSG_ID, "msg", "msg", 0, -1},
		{mqi.MQRO_COA | mqi.MQRO_PASS_CORREL_ID, "new", "cor", 0, -1},
		{mqi.MQRO_COA | mqi.MQRO_PASS_MSG_ID | mqi.MQRO_PASS_CORREL_ID, "msg", "cor", 0, -1},
		{mqi.MQRO_COA | mqi.MQRO_DISCARD_MSG, "new", "msg", 0, -1},
		{mqi.MQRO_COA | mqi.MQRO_DISCARD_MSG | mqi.MQRO_PASS_DISCARD_AND_EXPIRY, "new", "msg", mqi.MQRO_DISCARD_MSG, 600},
		{mqi.MQRO_COA | mqi.MQRO_PASS_DISCARD_AND_EXPIRY, "new", "msg", 0, 600},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		r.define("QLOCAL", "REPLY")
		sent := r.put(r.c, r.openQ(r.c, "Q", inOut), "x", 0, func(md *mqi.MD) {
			md.Report, md.ReplyToQ, md.CorrelID, md.Expiry = tc.option, "REPLY", mqi.ID{3}, 600
		})
		_, md := r.get(r.c, r.openQ(r.c, "REPLY", inOut), 0)
		which := func(id mqi.ID) string {
			switch id {
			case sent.MsgID:
				return "msg"
			case sent.CorrelID:
				return "cor"
			}
			return "new"
		}
		if which(md.MsgID) != tc.msgID || which(md.CorrelID) != tc.corrID || md.Report != tc.report || md.Expiry != tc.expiry {
			t.Errorf("options %d: MsgId %s, CorrelId %s, Report %d, Expiry %d", tc.option, which(md.MsgID), which(md.CorrelID),
				md.Report, md.Expiry)
		}
	}
}

// A report of expiry that is to expire as its message did has a minute.
func TestExpirationReportExpires(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY")
	q, reply := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "REPLY", inOut)
	for _, c := range []struct{ option, report, expiry int32 }{
		{0, 0, mqi.MQEI_UNLIMITED},
		{mqi.MQRO_PASS_DISCARD_AND_EXPIRY | mqi.MQRO_DISCARD_MSG, mqi.MQRO_DISCARD_MSG, 600},
	} {
		r.put(r.c, q, "x", 0, func(md *mqi.MD) {
			md.Report, md.ReplyToQ, md.Expiry = mqi.MQRO_EXPIRATION|c.option, "REPLY", 10
		})
		r.clk.Advance(2 * time.Second)
		_, _, err := tryGet(r.c, q, 0)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		if _, md := r.get(r.c, reply, 0); md.Feedback != mqi.MQFB_EXPIRATION || md.Report != c.report || md.Expiry != c.expiry {
			t.Errorf("option %d: %+v", c.option, md)
		}
	}
}

// Reports are part of the unit of work that causes them.
func TestReportUnitOfWork(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY")
	q, reply := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "REPLY", inOut)
	ask := func(md *mqi.MD) { md.Report, md.ReplyToQ = mqi.MQRO_COA|mqi.MQRO_COD, "REPLY" }
	r.put(r.c, q, "x", mqi.MQPMO_SYNCPOINT, ask)
	_, _, err := tryGet(r.c, reply, 0)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	wantRC(t, r.c.Backout(bg), 0)
	if r.depth("REPLY") != 0 {
		t.Error("the COA of a put that was backed out")
	}
	r.put(r.c, q, "x", mqi.MQPMO_SYNCPOINT, ask)
	wantRC(t, r.c.Commit(bg), 0)
	r.get(r.c, reply, 0)
	r.get(r.c, q, mqi.MQGMO_SYNCPOINT)
	_, _, err = tryGet(r.c, reply, 0)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	wantRC(t, r.c.Commit(bg), 0)
	r.get(r.c, reply, 0)
	// They count against MAXUMSGS.
	r.alter(ClassQmgr, qmgrName, "MAXUMSGS", "3")
	r.put(r.c, q, "x", mqi.MQPMO_SYNCPOINT, ask)
	_, err = tryPut(r.c, q, "x", mqi.MQPMO_SYNCPOINT, ask)
	wantRC(t, err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
}

// What stands in front of the data as a header of MQ's is there in full before the 100 bytes of a report with data.
func TestReportDataBehindHeaders(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY")
	dlh := mqi.DLH{Reason: 1, Format: mqi.MQFMT_STRING, Encoding: mqi.MQENC_NATIVE, CodedCharSetID: 1208}
	b, err := dlh.Append(nil, mqi.NativeCoding(1208))
	if err != nil {
		t.Fatal(err)
	}
	body := string(b) + strings.Repeat("d", 150)
	r.put(r.c, r.openQ(r.c, "Q", inOut), body, 0, func(md *mqi.MD) {
		md.Report, md.ReplyToQ, md.Format = mqi.MQRO_COA_WITH_DATA, "REPLY", mqi.MQFMT_DEAD_LETTER_HEADER
	})
	if s, md := r.get(r.c, r.openQ(r.c, "REPLY", inOut), 0); s != body[:len(b)+100] || md.Format != mqi.MQFMT_DEAD_LETTER_HEADER {
		t.Errorf("%d bytes, format %q", len(s), md.Format)
	}
}

// A message whose time is over on a transmission queue is reported by its own identifiers and data; arrival and delivery are the
// destination's to tell.
func TestReportsOfTransmissionQueues(t *testing.T) {
	r := remoteRig(t)
	r.define("QLOCAL", "REPLY")
	long := strings.Repeat("0123456789", 30)
	h := r.openAt("RQ1", "")
	ask := func(report int32) mqi.MD {
		return r.put(r.c, h, long, 0, func(md *mqi.MD) {
			md.Report, md.ReplyToQ, md.Format, md.Expiry, md.CorrelID = report, "REPLY", mqi.MQFMT_STRING, 50, mqi.ID{3}
		})
	}
	sent := ask(mqi.MQRO_EXPIRATION_WITH_DATA | mqi.MQRO_COA | mqi.MQRO_COD)
	r.clk.Advance(2 * time.Minute)
	s, md := r.get(r.c, r.openQ(r.c, "REPLY", inOut), 0)
	if s != long[:100] || md.Format != mqi.MQFMT_STRING || md.CorrelID != sent.MsgID || md.Feedback != mqi.MQFB_EXPIRATION ||
		md.MsgType != mqi.MQMT_REPORT {
		t.Errorf("%d bytes, %+v", len(s), md)
	}
	sent = ask(mqi.MQRO_EXPIRATION | mqi.MQRO_PASS_MSG_ID | mqi.MQRO_PASS_CORREL_ID)
	r.clk.Advance(10 * time.Second)
	_, _, err := tryGet(r.c, r.openQ(r.c, "XQ1", inOut), 0) // meets it
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	if s, md = r.get(r.c, r.openQ(r.c, "REPLY", inOut), 0); s != "" || md.MsgID != sent.MsgID || md.CorrelID != (mqi.ID{3}) {
		t.Errorf("%q, %+v", s, md)
	}
	ask(mqi.MQRO_COD)
	r.get(r.c, r.openQ(r.c, "XQ1", inOut), 0)
	if n := r.depth("REPLY"); n != 0 {
		t.Errorf("%d reports of a get from a transmission queue", n)
	}
}
