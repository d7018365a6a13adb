package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestInquire(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "NPMCLASS", "HIGH", "MAXDEPTH", "77", "DESCR", "a queue", "TRIGGER", "YES")
	r.define("QALIAS", "A", "TARGET", "Q", "PUT", "DISABLED")
	q, a := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "A", mqi.MQOO_INQUIRE)
	r.put(r.c, q, "x", 0)
	for _, tc := range []struct {
		name        string
		h           Handle
		sel         []int32
		nInt, nChar int
		ints        []int32
		chars       string
		rc          mqi.RC
	}{
		{"the JMS classes' question", q, []int32{mqi.MQIA_NPM_CLASS}, 1, 0, []int32{10}, "", 0},
		{"mixed", q, []int32{mqi.MQIA_MAX_Q_DEPTH, mqi.MQCA_Q_DESC, mqi.MQIA_INHIBIT_PUT, mqi.MQCA_Q_NAME}, 2, 112,
			[]int32{77, 0}, "a queue" + strings.Repeat(" ", 57) + "Q" + strings.Repeat(" ", 47), 0},
		{"live", q, []int32{mqi.MQIA_CURRENT_Q_DEPTH, mqi.MQIA_OPEN_INPUT_COUNT, mqi.MQIA_OPEN_OUTPUT_COUNT}, 3, 0,
			[]int32{1, 1, 1}, "", 0},
		{"type and flags", q, []int32{mqi.MQIA_Q_TYPE, mqi.MQIA_TRIGGER_CONTROL, mqi.MQIA_SHAREABILITY}, 3, 0,
			[]int32{mqi.MQQT_LOCAL, 1, 1}, "", 0},
		{"not for an alias", a, []int32{mqi.MQIA_NPM_CLASS, mqi.MQIA_INHIBIT_PUT}, 2, 0, []int32{-1, 1}, "",
			mqi.MQRC_SELECTOR_NOT_FOR_TYPE},
		{"alias' target", a, []int32{mqi.MQCA_BASE_Q_NAME}, 0, 48, nil, "Q" + strings.Repeat(" ", 47), 0},
		{"unknown", q, []int32{1999}, 1, 0, nil, "", mqi.MQRC_SELECTOR_ERROR},
		{"outside", q, []int32{999999}, 1, 0, nil, "", mqi.MQRC_SELECTOR_ERROR},
		{"few integers", q, []int32{mqi.MQIA_MAX_Q_DEPTH, mqi.MQIA_NPM_CLASS}, 1, 0, []int32{77}, "",
			mqi.MQRC_INT_ATTR_COUNT_TOO_SMALL},
		{"few characters", q, []int32{mqi.MQCA_Q_DESC}, 0, 3, nil, "a q", mqi.MQRC_CHAR_ATTRS_TOO_SHORT},
		{"too many", q, make([]int32, 257), 0, 3, nil, "", mqi.MQRC_SELECTOR_LIMIT_EXCEEDED},
	} {
		ints, chars, err := r.c.Inq(bg, tc.h, tc.sel, tc.nInt, tc.nChar)
		if _, rc := reasonOf(err); rc != tc.rc {
			t.Errorf("%s: %v, want %d", tc.name, err, tc.rc)
		}
		if d := cmp.Diff(tc.ints, ints); d != "" || string(chars) != tc.chars {
			t.Errorf("%s: %s %q", tc.name, d, chars)
		}
	}
	r.define("NAMELIST", "NONE")
	od := mqi.DefaultOD()
	od.ObjectType, od.ObjectName = mqi.MQOT_NAMELIST, "NONE"
	none, err := r.c.Open(bg, &od, mqi.MQOO_INQUIRE)
	wantRC(t, err, 0)
	ints, chars, err := r.c.Inq(bg, none, []int32{mqi.MQIA_NAME_COUNT, mqi.MQCA_NAMES, mqi.MQCA_NAMELIST_NAME}, 1, 48)
	wantRC(t, err, 0) // no names take no room
	if len(ints) != 1 || ints[0] != 0 || strings.TrimRight(string(chars), " ") != "NONE" {
		t.Errorf("%v %q", ints, chars)
	}
	out := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
	_, _, err = r.c.Inq(bg, out, nil, 0, 0)
	wantRC(t, err, mqi.MQRC_NOT_OPEN_FOR_INQUIRE)

	od = mqi.DefaultOD()
	od.ObjectType = mqi.MQOT_Q_MGR
	qm, err := r.c.Open(bg, &od, mqi.MQOO_INQUIRE)
	wantRC(t, err, 0)
	ints, _, err = r.c.Inq(bg, qm, []int32{mqi.MQIA_CODED_CHAR_SET_ID, mqi.MQIA_MAX_UNCOMMITTED_MSGS}, 2, 0)
	wantRC(t, err, 0)
	if d := cmp.Diff([]int32{1208, 10000}, ints); d != "" {
		t.Error(d)
	}
}

func TestSet(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q")
	r.define("QALIAS", "A", "TARGET", "Q")
	q, a := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "A", mqi.MQOO_SET|mqi.MQOO_OUTPUT)
	data := []byte("trigger data" + strings.Repeat(" ", 52))
	wantRC(t, r.c.Set(bg, q, []int32{mqi.MQIA_INHIBIT_GET, mqi.MQIA_TRIGGER_CONTROL, mqi.MQCA_TRIGGER_DATA,
		mqi.MQIA_TRIGGER_TYPE}, []int32{1, 1, mqi.MQTT_DEPTH}, data), 0)
	d := r.m.lookup(ClassQueue, "Q").Def()
	if d.Get("GET") != "DISABLED" || !d.Yes("TRIGGER") || d.Get("TRIGDATA") != "trigger data" || d.Get("TRIGTYPE") != "DEPTH" {
		t.Errorf("%v", d.vals())
	}
	_, _, err := tryGet(r.c, q, 0)
	wantRC(t, err, mqi.MQRC_GET_INHIBITED)
	for _, tc := range []struct {
		h    Handle
		sel  int32
		v    int32
		want mqi.RC
	}{
		{q, mqi.MQIA_INHIBIT_PUT, 5, mqi.MQRC_INHIBIT_VALUE_ERROR},
		{q, mqi.MQIA_TRIGGER_CONTROL, 5, mqi.MQRC_TRIGGER_CONTROL_ERROR},
		{q, mqi.MQIA_TRIGGER_DEPTH, 0, mqi.MQRC_TRIGGER_DEPTH_ERROR},
		{q, mqi.MQIA_TRIGGER_MSG_PRIORITY, 10, mqi.MQRC_TRIGGER_MSG_PRIORITY_ERR},
		{q, mqi.MQIA_TRIGGER_TYPE, 17, mqi.MQRC_TRIGGER_TYPE_ERROR},
		{q, mqi.MQIA_MAX_Q_DEPTH, 5, mqi.MQRC_SELECTOR_ERROR},
		{a, mqi.MQIA_TRIGGER_DEPTH, 5, mqi.MQRC_SELECTOR_ERROR},
		{a, mqi.MQIA_INHIBIT_PUT, 1, 0},
	} {
		wantRC(t, r.c.Set(bg, tc.h, []int32{mqi.MQIA_INHIBIT_PUT, tc.sel}, []int32{0, tc.v}, nil), tc.want)
	}
	_, err = tryPut(r.c, a, "x", 0)
	wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
	r.put(r.c, q, "x", 0) // the alias' attribute isn't the queue's
	r.restart(0)
	if d := r.m.lookup(ClassQueue, "Q").Def(); d.Get("GET") != "DISABLED" {
		t.Error("not durable")
	}
}

func TestQueueStatus(t *testing.T) {
	r := newRig(t)
	q := r.define("QLOCAL", "Q", "MONQ", "QMGR").Queue
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	if s := q.statusItems(); s["MONQ"] != "OFF" || s["LPUTDATE"] != "" || s["QTIME"] != "" || s["UNCOM"] != "YES" ||
		s["CURDEPTH"] != "1" || s["IPPROCS"] != "1" || s["OPPROCS"] != "1" {
		t.Errorf("%v", s)
	}
	wantRC(t, r.c.Commit(bg), 0)
	r.alter(ClassQmgr, qmgrName, "MONQ", "HIGH")
	r.put(r.c, h, "y", 0)
	r.clk.Advance(3 * time.Second)
	r.get(r.c, h, 0)
	local := r.clk.Now().In(time.Local)
	if s := q.statusItems(); s["MONQ"] != "HIGH" || s["LGETDATE"] != mqDate(local) || s["LGETTIME"] != mqTime(local) ||
		!strings.HasPrefix(s["QTIME"], "3000000\x1f") || s["MSGAGE"] != "3" || s["UNCOM"] != "NO" {
		t.Errorf("%v", s)
	}
	r.alter(ClassQmgr, qmgrName, "MONQ", "NONE")
	r.alter(ClassQueue, "Q", "MONQ", "HIGH")
	if s := q.statusItems(); s["MONQ"] != "OFF" || s["MSGAGE"] != "" {
		t.Errorf("%v", s)
	}
}
