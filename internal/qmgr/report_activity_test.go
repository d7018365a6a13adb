package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// routeMessage is a trace-route message as tools make it: not to be delivered to its target queue.
func routeMessage(t *testing.T) string {
	t.Helper()
	m := mqi.CFMsg{Type: mqi.MQCFT_TRACE_ROUTE, Version: 3, Command: mqi.MQCMD_TRACE_ROUTE, MsgSeqNumber: 1, Control: mqi.MQCFC_LAST,
		Params: []mqi.CFParam{mqi.CFGroup(mqi.MQGACF_TRACE_ROUTE,
			mqi.CFInt(mqi.MQIACF_ROUTE_DETAIL, mqi.MQROUTE_DETAIL_MEDIUM), mqi.CFInt(mqi.MQIACF_RECORDED_ACTIVITIES, 0),
			mqi.CFInt(mqi.MQIACF_UNRECORDED_ACTIVITIES, 0), mqi.CFInt(mqi.MQIACF_DISCONTINUITY_COUNT, 0),
			mqi.CFInt(mqi.MQIACF_MAX_ACTIVITIES, 100), mqi.CFInt(mqi.MQIACF_ROUTE_ACCUMULATION, mqi.MQROUTE_ACCUMULATE_AND_REPLY),
			mqi.CFInt(mqi.MQIACF_ROUTE_FORWARDING, mqi.MQROUTE_FORWARD_ALL), mqi.CFInt(mqi.MQIACF_ROUTE_DELIVERY, mqi.MQROUTE_DELIVER_NO))}}
	b, err := m.Append(nil, mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: 1208})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Activities are recorded by channels and by programs that know how. The queue manager's own puts and gets record none, whatever
// ACTIVREC and ROUTEREC say: a message that asks for it, and one that traces its route, goes through as it is.
func TestNoActivityReports(t *testing.T) {
	for _, rec := range []string{"MSG", "QUEUE", "DISABLED"} {
		r := newRig(t)
		for _, q := range []string{"Q", "REPLY", "SYSTEM.ADMIN.ACTIVITY.QUEUE", "SYSTEM.ADMIN.TRACE.ROUTE.QUEUE"} {
			r.define("QLOCAL", q)
		}
		r.alter(ClassQmgr, qmgrName, "ACTIVREC", rec, "ROUTEREC", rec)
		q, body := r.openQ(r.c, "Q", inOut), routeMessage(t)
		ask := func(md *mqi.MD) {
			md.Report = mqi.MQRO_ACTIVITY | mqi.MQRO_PASS_DISCARD_AND_EXPIRY | mqi.MQRO_DISCARD_MSG
			md.Format, md.ReplyToQ = mqi.MQFMT_ADMIN, "REPLY"
		}
		r.put(r.c, q, body, 0, ask)
		got, md := r.get(r.c, q, 0)
		if got != body || md.Report != mqi.MQRO_ACTIVITY|mqi.MQRO_PASS_DISCARD_AND_EXPIRY|mqi.MQRO_DISCARD_MSG ||
			md.Format != mqi.MQFMT_ADMIN {
			t.Errorf("ACTIVREC(%s): got %d bytes, %+v", rec, len(got), md)
		}
		r.put(r.c, q, body, mqi.MQPMO_SYNCPOINT, ask)
		wantRC(t, r.c.Commit(bg), 0)
		r.get(r.c, q, mqi.MQGMO_SYNCPOINT)
		wantRC(t, r.c.Commit(bg), 0)
		r.put(r.c, q, body, 0, ask, func(md *mqi.MD) { md.Expiry = 10 })
		r.clk.Advance(2 * time.Minute)
		_, _, err := tryGet(r.c, q, 0)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		for _, name := range []string{"REPLY", "SYSTEM.ADMIN.ACTIVITY.QUEUE", "SYSTEM.ADMIN.TRACE.ROUTE.QUEUE"} {
			if n := r.depth(name); n != 0 {
				t.Errorf("ACTIVREC(%s): %d reports on %s", rec, n, name)
			}
		}
		_, err = tryPut(r.c, q, body, 0, ask, func(md *mqi.MD) { md.ReplyToQ = "" })
		wantRC(t, err, mqi.MQRC_MISSING_REPLY_TO_Q)
	}
}
