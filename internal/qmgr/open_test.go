package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// openWorld has one object of each kind that name resolution meets.
func openWorld(t testing.TB) *rig {
	r := newRig(t)
	r.define("QLOCAL", "L")
	r.define("QLOCAL", "EXCL", "DEFSOPT", "EXCL")
	r.define("QLOCAL", "NOSHARE", "SHARE", "NO")
	r.define("QLOCAL", "QM2", "USAGE", "XMITQ")
	r.define("QLOCAL", "XQ", "USAGE", "XMITQ")
	r.define("QALIAS", "A", "TARGET", "L")
	r.define("QALIAS", "AA", "TARGET", "A")
	r.define("QALIAS", "ADANGLING", "TARGET", "NOWHERE")
	r.define("QALIAS", "AREMOTE", "TARGET", "R")
	r.define("QMODEL", "M", "DEFTYPE", "TEMPDYN")
	r.define("QREMOTE", "R", "RNAME", "FAR", "RQMNAME", "QM2")
	r.define("QREMOTE", "RX", "RNAME", "FAR", "RQMNAME", "QM3", "XMITQ", "XQ")
	r.define("QREMOTE", "RNOX", "RNAME", "FAR", "RQMNAME", "QM3", "XMITQ", "NOWHERE")
	r.define("QREMOTE", "RXALIAS", "RNAME", "FAR", "RQMNAME", "QM3", "XMITQ", "A")
	r.define("QREMOTE", "RXNORMAL", "RNAME", "FAR", "RQMNAME", "QM3", "XMITQ", "L")
	r.define("QREMOTE", "RNOPATH", "RNAME", "FAR", "RQMNAME", "QM9")
	r.define("QREMOTE", "RLOCAL", "RNAME", "FAR", "RQMNAME", "QM1")
	r.define("QREMOTE", "QMALIAS", "RQMNAME", "QM2")
	r.define("QREMOTE", "SELF", "RQMNAME", "QM1")
	r.define("PROCESS", "P")
	return r
}

func TestOpenReasons(t *testing.T) {
	r := openWorld(t)
	const out, in, inq = mqi.MQOO_OUTPUT, mqi.MQOO_INPUT_SHARED, mqi.MQOO_INQUIRE
	for _, tc := range []struct {
		name, qmgr string
		opts       int32
		rc         mqi.RC
		resolved   string // queue/queue manager
	}{
		{"L", "", in, 0, "L/QM1"},
		{"L", "QM1", in | out, 0, "L/QM1"},
		{"NOSUCH", "", in, mqi.MQRC_UNKNOWN_OBJECT_NAME, ""},
		{"L", "bad name!", out, mqi.MQRC_UNKNOWN_OBJECT_Q_MGR, ""},
		{"L", "", 0, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", mqi.MQOO_INPUT_SHARED | mqi.MQOO_INPUT_EXCLUSIVE, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", out | mqi.MQOO_SAVE_ALL_CONTEXT, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", mqi.MQOO_INPUT_SHARED | mqi.MQOO_NO_MULTICAST, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", out | mqi.MQOO_BIND_ON_OPEN | mqi.MQOO_BIND_NOT_FIXED, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", mqi.MQOO_INPUT_SHARED | mqi.MQOO_READ_AHEAD | mqi.MQOO_NO_READ_AHEAD, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", out | mqi.MQOO_CO_OP, mqi.MQRC_OPTIONS_ERROR, ""},
		{"L", "", out | -1<<31, mqi.MQRC_OPTIONS_ERROR, ""},
		{"A", "", in, 0, "L/QM1"},
		{"A", "", inq, 0, "/"},
		{"AA", "", in, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR, ""},
		{"ADANGLING", "", out, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q, ""},
		{"AREMOTE", "", out, 0, "FAR/QM2"},
		{"AREMOTE", "", in, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"R", "", out, 0, "FAR/QM2"},
		{"R", "", in, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"R", "", inq, 0, "/"},
		{"RX", "", out, 0, "FAR/QM3"},
		{"RNOX", "", out, mqi.MQRC_UNKNOWN_XMIT_Q, ""},
		{"RXALIAS", "", out, mqi.MQRC_XMIT_Q_TYPE_ERROR, ""},
		{"RXNORMAL", "", out, mqi.MQRC_XMIT_Q_USAGE_ERROR, ""},
		{"RNOPATH", "", out, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, ""},
		{"RLOCAL", "", out, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, ""},
		{"QMALIAS", "", out, mqi.MQRC_REMOTE_Q_NAME_ERROR, ""},
		{"ANY", "QM2", out, 0, "ANY/QM2"},
		{"ANY", "QM2", in, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"ANY", "L", out, mqi.MQRC_XMIT_Q_USAGE_ERROR, ""},
		{"ANY", "QM9", out, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, ""},
		{"ANY", "R", out, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, ""},
		{"ANY", "QMALIAS", out, 0, "ANY/QM2"},
		{"L", "SELF", out, 0, "L/QM1"},
		{"L", "SELF", in, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"M", "SELF", out, mqi.MQRC_Q_TYPE_ERROR, ""},
		{"L", "SELF", inq, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"L", "SELF", out | mqi.MQOO_SET, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		// Only a definition that was named can be inquired and set.
		{"ANY", "QM2", out | inq, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"ANY", "QMALIAS", inq, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"ANY", "QMALIAS", out | inq, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, ""},
		{"QMALIAS", "", inq, 0, "/"},
		{"R", "", out | inq | mqi.MQOO_SET, 0, "FAR/QM2"},
		{"AREMOTE", "", out | inq | mqi.MQOO_SET, 0, "FAR/QM2"},
	} {
		od := mqi.DefaultOD()
		od.Version = 4
		od.ObjectName, od.ObjectQMgrName = tc.name, tc.qmgr
		h, err := r.c.Open(bg, &od, tc.opts)
		if _, got := reasonOf(err); got != tc.rc {
			t.Errorf("open %q at %q with %d: reason %d, want %d", tc.name, tc.qmgr, tc.opts, got, tc.rc)
			continue
		}
		if err != nil {
			continue
		}
		if got := od.ResolvedQName + "/" + od.ResolvedQMgrName; got != tc.resolved {
			t.Errorf("open %q at %q: resolved %s, want %s", tc.name, tc.qmgr, got, tc.resolved)
		}
		if err := r.c.Close(bg, h, 0); err != nil {
			t.Errorf("close %q: %v", tc.name, err)
		}
	}
}

func TestOpenDefaultTransmissionQueue(t *testing.T) {
	r := openWorld(t)
	for _, tc := range []struct {
		defx string
		rc   mqi.RC
	}{
		{"", mqi.MQRC_UNKNOWN_REMOTE_Q_MGR}, {"NOWHERE", mqi.MQRC_UNKNOWN_DEF_XMIT_Q},
		{"A", mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR}, {"L", mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR}, {"XQ", 0},
	} {
		r.alter(ClassQmgr, qmgrName, "DEFXMITQ", tc.defx)
		od := mqi.DefaultOD()
		od.ObjectName, od.ObjectQMgrName = "ANY", "QM9"
		_, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
		wantRC(t, err, tc.rc)
	}
}

func TestOpenOtherObjects(t *testing.T) {
	r := openWorld(t)
	for _, tc := range []struct {
		typ        int32
		name, qmgr string
		opts       int32
		rc         mqi.RC
	}{
		{mqi.MQOT_Q_MGR, "", "", mqi.MQOO_INQUIRE, 0},
		{mqi.MQOT_Q_MGR, "QM1", "", mqi.MQOO_INQUIRE, mqi.MQRC_NAME_NOT_VALID_FOR_TYPE},
		{mqi.MQOT_Q_MGR, "", "QM2", mqi.MQOO_INQUIRE, mqi.MQRC_UNKNOWN_OBJECT_Q_MGR},
		{mqi.MQOT_PROCESS, "P", "", mqi.MQOO_INQUIRE, 0},
		{mqi.MQOT_PROCESS, "P", "", mqi.MQOO_OUTPUT, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE},
		{mqi.MQOT_PROCESS, "X", "", mqi.MQOO_INQUIRE, mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{999, "X", "", mqi.MQOO_INQUIRE, mqi.MQRC_OBJECT_TYPE_ERROR},
	} {
		od := mqi.DefaultOD()
		od.ObjectType, od.ObjectName, od.ObjectQMgrName = tc.typ, tc.name, tc.qmgr
		_, err := r.c.Open(bg, &od, tc.opts)
		wantRC(t, err, tc.rc)
	}
}

func TestOpenSharing(t *testing.T) {
	r := openWorld(t)
	c2 := r.connect()
	for _, tc := range []struct {
		q             string
		first, second int32
		rc            mqi.RC
	}{
		{"L", mqi.MQOO_INPUT_SHARED, mqi.MQOO_INPUT_SHARED, 0},
		{"L", mqi.MQOO_INPUT_SHARED, mqi.MQOO_INPUT_EXCLUSIVE, mqi.MQRC_OBJECT_IN_USE},
		{"L", mqi.MQOO_INPUT_EXCLUSIVE, mqi.MQOO_INPUT_SHARED, mqi.MQRC_OBJECT_IN_USE},
		{"L", mqi.MQOO_INPUT_EXCLUSIVE, mqi.MQOO_BROWSE, 0},
		{"EXCL", mqi.MQOO_INPUT_AS_Q_DEF, mqi.MQOO_INPUT_AS_Q_DEF, mqi.MQRC_OBJECT_IN_USE},
		{"L", mqi.MQOO_INPUT_AS_Q_DEF, mqi.MQOO_INPUT_AS_Q_DEF, 0},
		{"NOSHARE", mqi.MQOO_INPUT_SHARED, mqi.MQOO_INPUT_SHARED, mqi.MQRC_OBJECT_IN_USE},
		{"NOSHARE", mqi.MQOO_OUTPUT, mqi.MQOO_INPUT_SHARED, 0},
	} {
		h := r.openQ(r.c, tc.q, tc.first)
		od := mqi.DefaultOD()
		od.ObjectName = tc.q
		h2, err := c2.Open(bg, &od, tc.second)
		wantRC(t, err, tc.rc)
		if err == nil {
			wantRC(t, c2.Close(bg, h2, 0), 0)
		}
		wantRC(t, r.c.Close(bg, h, 0), 0)
		if in, out := r.m.lookup(ClassQueue, tc.q).Queue.opens(); in != 0 || out != 0 {
			t.Fatalf("%s: counts %d %d after closing all", tc.q, in, out)
		}
	}
}

func TestMaxHands(t *testing.T) {
	r := openWorld(t)
	r.alter(ClassQmgr, qmgrName, "MAXHANDS", "3")
	for i := 0; i < 3; i++ {
		r.openQ(r.c, "L", mqi.MQOO_OUTPUT)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "L"
	_, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_HANDLE_NOT_AVAILABLE)
}

func TestDynamicName(t *testing.T) {
	for _, tc := range []struct {
		pattern, want string
		rc            mqi.RC
	}{
		{"AMQ.*", "AMQ.00000000000ABCD", 0},
		{"FIXED.NAME", "FIXED.NAME", 0},
		{"*", "00000000000ABCD", 0},
		{"", "", mqi.MQRC_DYNAMIC_Q_NAME_ERROR},
		{"BAD NAME*", "", mqi.MQRC_DYNAMIC_Q_NAME_ERROR},
		{"A*B", "", mqi.MQRC_DYNAMIC_Q_NAME_ERROR},
		{"A*  \x00", "A00000000000ABCD", 0},
		{strings.Repeat("A", 32) + "*", strings.Repeat("A", 32) + "00000000000ABCD", 0},
		{strings.Repeat("A", 33) + "*", "", mqi.MQRC_DYNAMIC_Q_NAME_ERROR},
	} {
		got, rc := dynamicName(tc.pattern, 0xABCD)
		if got != tc.want || rc != tc.rc {
			t.Errorf("%q: %q %d, want %q %d", tc.pattern, got, rc, tc.want, tc.rc)
		}
	}
}
