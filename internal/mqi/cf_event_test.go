package mqi

import (
	"fmt"
	"strings"
	"testing"
)

func TestEventMessages(t *testing.T) {
	for _, x := range []struct {
		e     Event
		cmd   int32
		queue string
		want  string
	}{
		{Event{Reason: MQRC_Q_DEPTH_HIGH, QMgr: "QM1", QName: "A.Q", SinceReset: 10, HighDepth: 80, Enqueued: 81, Dequeued: 1},
			MQCMD_PERFM_EVENT, PerfmEventQueue, "2015=QM1 2002=A.Q 35=10 36=80 37=81 38=1"},
		{Event{Reason: MQRC_Q_MGR_ACTIVE, QMgr: "QM1"}, MQCMD_Q_MGR_EVENT, QMgrEventQueue, "2015=QM1"},
		{Event{Reason: MQRC_Q_MGR_NOT_ACTIVE, QMgr: "QM1", Qualifier: MQRQ_Q_MGR_QUIESCING}, MQCMD_Q_MGR_EVENT, QMgrEventQueue,
			"2015=QM1 1020=6"},
		{Event{Reason: MQRC_PUT_INHIBITED, QMgr: "QM1", QName: "A.Q", ApplType: 6, ApplName: "app"}, MQCMD_Q_MGR_EVENT, QMgrEventQueue,
			"2015=QM1 2016=A.Q 1=6 3024=app"},
		{Event{Reason: MQRC_NOT_AUTHORIZED, Qualifier: MQRQ_OPEN_NOT_AUTHORIZED, QMgr: "QM1", QName: "A.Q", User: "u", Options: 16,
			ApplType: 28, ApplName: "app"}, MQCMD_Q_MGR_EVENT, QMgrEventQueue, "2015=QM1 1020=2 1022=16 3025=u 1=28 3024=app 2016=A.Q"},
		{Event{Reason: MQRC_NOT_AUTHORIZED, Qualifier: MQRQ_CMD_NOT_AUTHORIZED, QMgr: "QM1", User: "u", Command: MQCMD_CHANGE_Q},
			MQCMD_Q_MGR_EVENT, QMgrEventQueue, "2015=QM1 1020=4 1021=8 3025=u"},
		{Event{Reason: MQRC_CHANNEL_STOPPED, Qualifier: MQRQ_CHANNEL_STOPPED_OK, QMgr: "QM1", Channel: "TO.QM2", XmitQ: "QM2",
			ConnName: "127.0.0.1", AuxStrings: [3]string{"a", "b", "c"}}, MQCMD_CHANNEL_EVENT, ChannelEventQueue,
			"2015=QM1 1020=7 3501=TO.QM2 1013=0 1070=0 1071=0 3026=a 3027=b 3028=c 3505=QM2 3506=127.0.0.1"},
	} {
		m, queue, ok := x.e.Message()
		if !ok || queue != x.queue || m.Command != x.cmd || m.Type != MQCFT_EVENT || m.CompCode != CCWarning || m.Reason != x.e.Reason {
			t.Errorf("%d: %+v %s", x.e.Reason, m, queue)
		}
		b, err := m.Append(nil, big819)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := ParseCF(b, big819)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range back.Params {
			if p.Type == MQCFT_STRING {
				got = append(got, fmt.Sprintf("%d=%s", p.ID, strings.TrimRight(p.Text(), " ")))
				continue
			}
			got = append(got, fmt.Sprintf("%d=%d", p.ID, p.Int()))
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%d: %s, want %s", x.e.Reason, s, x.want)
		}
	}
	if m, _, _ := (&Event{Reason: MQRC_Q_FULL, QName: "A.Q"}).Message(); len(m.Params[1].Text()) != MQ_Q_NAME_LENGTH {
		t.Errorf("%q is not padded", m.Params[1].Text())
	}
	if _, _, ok := (&Event{Reason: MQRC_NO_MSG_AVAILABLE}).Message(); ok {
		t.Error("2033 is an event")
	}
	if _, _, ok := (&Event{Reason: MQRC_NOT_AUTHORIZED}).Message(); ok {
		t.Error("2035 without a qualifier is an event")
	}
	for i := range eventRows {
		e := Event{Reason: eventRows[i].reason, Qualifier: eventRows[i].qualifier, QMgr: "QM1"}
		m, _, ok := e.Message()
		if !ok || m.Params[0].ID != MQCA_Q_MGR_NAME {
			t.Errorf("row %d", i)
		}
		seen := map[int32]bool{}
		for _, f := range eventRows[i].fields {
			if seen[f.id] {
				t.Errorf("%d has parameter %d twice", e.Reason, f.id)
			}
			seen[f.id] = true
		}
	}
}
