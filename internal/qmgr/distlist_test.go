package qmgr

import (
	"reflect"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// listOf is a descriptor that opens a distribution list.
func listOf(names ...string) mqi.OD {
	od := mqi.DefaultOD()
	od.Version, od.RecsPresent = 2, int32(len(names))
	for _, n := range names {
		od.ObjectRecords = append(od.ObjectRecords, mqi.OR{ObjectName: n})
	}
	return od
}

func putOptions(opts int32) mqi.PMO {
	pmo := mqi.DefaultPMO()
	pmo.Version, pmo.Options = 2, opts
	return pmo
}

func wantCC(t *testing.T, err error, cc mqi.CC, rc mqi.RC) {
	t.Helper()
	if c, r := reasonOf(err); c != cc || r != rc {
		t.Fatalf("%v: completion %d reason %d, want %d and %d", err, c, r, cc, rc)
	}
}

// wantResponses compares response records.
func wantResponses(t *testing.T, got []mqi.RR, want ...mqi.RC) {
	t.Helper()
	var rcs []mqi.RC
	for _, r := range got {
		rcs = append(rcs, r.RC)
		if (r.CC == mqi.CCOK) != (r.RC == 0) {
			t.Errorf("completion %d with reason %d", r.CC, r.RC)
		}
	}
	if !reflect.DeepEqual(rcs, want) {
		t.Errorf("responses %v, want %v", rcs, want)
	}
}

func counts3(known, unknown, invalid int32) [3]int32 { return [3]int32{known, unknown, invalid} }

// newListRig has queues A (priority 7 by default), B (persistent by default), FULL and a remote queue R.
func newListRig(t *testing.T) *rig {
	r := newRig(t)
	r.define("QLOCAL", "A", "DEFPRTY", "7")
	r.define("QLOCAL", "B", "DEFPSIST", "YES")
	r.define("QLOCAL", "FULL", "MAXDEPTH", "0")
	r.define("QLOCAL", "QM2", "USAGE", "XMITQ")
	r.define("QREMOTE", "R", "RNAME", "THERE", "RQMNAME", "QM2")
	r.define("QMODEL", "MODEL")
	return r
}

func TestDistributionList(t *testing.T) {
	r := newListRig(t)
	od := listOf("A", "B", "R")
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantCC(t, err, mqi.CCOK, 0)
	if got := counts3(od.KnownDestCount, od.UnknownDestCount, od.InvalidDestCount); got != counts3(2, 1, 0) {
		t.Errorf("destinations %v", got)
	}
	units := 0
	r.fault.fail = func(*store.Tx) error { units++; return nil }
	md, pmo := mqi.DefaultMD(), putOptions(0)
	wantCC(t, r.c.Put(bg, h, &md, &pmo, []byte("all")), mqi.CCOK, 0)
	if got := counts3(pmo.KnownDestCount, pmo.UnknownDestCount, pmo.InvalidDestCount); got != counts3(2, 1, 0) {
		t.Errorf("destinations %v", got)
	}
	if units != 1 {
		t.Errorf("%d units of work outside syncpoint", units)
	}
	r.fault.fail = nil
	a, amd := r.get(r.c, r.openQ(r.c, "A", inOut), 0)
	b, bmd := r.get(r.c, r.openQ(r.c, "B", inOut), 0)
	if a != "all" || b != "all" || amd.Priority != 7 || bmd.Persistence != mqi.MQPER_PERSISTENT || amd.Persistence != 0 {
		t.Errorf("%q %+v, %q %+v", a, amd, b, bmd)
	}
	if amd.MsgID == bmd.MsgID || amd.MsgID.IsZero() {
		t.Errorf("message identifiers %x and %x", amd.MsgID, bmd.MsgID)
	}
	if n := r.depth("QM2"); n != 1 {
		t.Errorf("%d on the transmission queue", n)
	}
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_DELETE), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	wantRC(t, r.c.Close(bg, h, 0), 0)
	if _, out := r.m.lookup(ClassQueue, "A").Queue.opens(); out != 1 { // the handle of the get above
		t.Errorf("%d handles for output are left", out)
	}
}

// Records say what differs from queue to queue, and take what the put made.
func TestDistributionListRecords(t *testing.T) {
	r := newListRig(t)
	od := listOf("A", "B")
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT|mqi.MQOO_SET_IDENTITY_CONTEXT)
	wantRC(t, err, 0)
	md, pmo := mqi.DefaultMD(), putOptions(mqi.MQPMO_SET_IDENTITY_CONTEXT)
	md.CorrelID, md.AccountingToken = mqi.ID{9}, mqi.Account{9}
	pmo.RecsPresent, pmo.PutMsgRecFields = 1, mqi.MQPMRF_MSG_ID|mqi.MQPMRF_CORREL_ID|mqi.MQPMRF_FEEDBACK|mqi.MQPMRF_ACCOUNTING_TOKEN
	pmo.PutMsgRecords = []mqi.PMR{{CorrelID: mqi.ID{1}, Feedback: mqi.MQFB_APPL_FIRST, AccountingToken: mqi.Account{1}}}
	wantRC(t, r.c.Put(bg, h, &md, &pmo, []byte("x")), 0)
	_, amd := r.get(r.c, r.openQ(r.c, "A", inOut), 0)
	_, bmd := r.get(r.c, r.openQ(r.c, "B", inOut), 0)
	if amd.CorrelID != (mqi.ID{1}) || amd.Feedback != mqi.MQFB_APPL_FIRST || amd.AccountingToken != (mqi.Account{1}) ||
		amd.MsgID != pmo.PutMsgRecords[0].MsgID || amd.MsgID.IsZero() {
		t.Errorf("first %+v, record %+v", amd, pmo.PutMsgRecords[0])
	}
	if bmd.CorrelID != (mqi.ID{9}) || bmd.Feedback != 0 || bmd.AccountingToken != (mqi.Account{9}) {
		t.Errorf("without record %+v", bmd)
	}
	for _, c := range []struct {
		edit func(*mqi.PMO)
		rc   mqi.RC
	}{
		{func(p *mqi.PMO) { p.RecsPresent = -1 }, mqi.MQRC_RECS_PRESENT_ERROR},
		{func(p *mqi.PMO) { p.PutMsgRecFields = 32 }, mqi.MQRC_PMO_RECORD_FLAGS_ERROR},
		{func(p *mqi.PMO) { p.PutMsgRecFields = 0 }, mqi.MQRC_PMO_RECORD_FLAGS_ERROR},
		{func(p *mqi.PMO) { p.Options = 0 }, mqi.MQRC_PMO_RECORD_FLAGS_ERROR},
		{func(p *mqi.PMO) { p.RecsPresent = 2 }, mqi.MQRC_PUT_MSG_RECORDS_ERROR},
	} {
		p := pmo
		c.edit(&p)
		wantCC(t, r.c.Put(bg, h, &md, &p, nil), mqi.CCFailed, c.rc)
	}
	pmo.Options = 0
	one := r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	wantRC(t, r.c.Put(bg, one, &md, &pmo, nil), mqi.MQRC_RECS_PRESENT_ERROR)
}

// One destination's trouble is not the others': 2136 with the reason of each, or the reason that all have.
func TestDistributionListReasons(t *testing.T) {
	r := newListRig(t)
	od := listOf("A", "NO.SUCH", "FULL", "MODEL")
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantCC(t, err, mqi.CCWarning, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, od.ResponseRecords, 0, mqi.MQRC_UNKNOWN_OBJECT_NAME, 0, mqi.MQRC_Q_TYPE_ERROR)
	md, pmo := mqi.DefaultMD(), putOptions(0)
	wantCC(t, r.c.Put(bg, h, &md, &pmo, nil), mqi.CCWarning, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, pmo.ResponseRecords, 0, mqi.MQRC_OPEN_FAILED, mqi.MQRC_Q_FULL, mqi.MQRC_OPEN_FAILED)
	if got := counts3(pmo.KnownDestCount, pmo.UnknownDestCount, pmo.InvalidDestCount); got != counts3(1, 0, 3) {
		t.Errorf("destinations %v", got)
	}
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	wantCC(t, r.c.Put(bg, h, &md, &pmo, nil), mqi.CCFailed, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, pmo.ResponseRecords, mqi.MQRC_Q_SPACE_NOT_AVAILABLE, mqi.MQRC_OPEN_FAILED, mqi.MQRC_Q_FULL,
		mqi.MQRC_OPEN_FAILED)
	r.fault.fail = nil
	if n := r.depth("A"); n != 1 {
		t.Errorf("%d messages on A", n)
	}
	od = listOf("A", "NO.SUCH", "FULL")
	wantCC(t, r.c.Put1(bg, &od, &md, &pmo, nil), mqi.CCWarning, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, od.ResponseRecords, 0, mqi.MQRC_UNKNOWN_OBJECT_NAME, mqi.MQRC_Q_FULL)
	od = listOf("NO.1", "NO.2")
	_, err = r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantCC(t, err, mqi.CCFailed, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	od = listOf("NO.1", "MODEL")
	_, err = r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantCC(t, err, mqi.CCFailed, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, od.ResponseRecords, mqi.MQRC_UNKNOWN_OBJECT_NAME, mqi.MQRC_Q_TYPE_ERROR)
	od = listOf("FULL")
	wantCC(t, r.c.Put1(bg, &od, &md, &pmo, nil), mqi.CCFailed, mqi.MQRC_Q_FULL)
}

func TestDistributionListDescriptor(t *testing.T) {
	r := newListRig(t)
	for _, c := range []struct {
		edit func(*mqi.OD)
		opts int32
		rc   mqi.RC
	}{
		{func(od *mqi.OD) { od.RecsPresent = -1 }, mqi.MQOO_OUTPUT, mqi.MQRC_RECS_PRESENT_ERROR},
		{func(od *mqi.OD) { od.ObjectType = mqi.MQOT_TOPIC }, mqi.MQOO_OUTPUT, mqi.MQRC_RECS_PRESENT_ERROR},
		{func(od *mqi.OD) { od.ObjectName = "A" }, mqi.MQOO_OUTPUT, mqi.MQRC_OBJECT_NAME_ERROR},
		{func(od *mqi.OD) { od.ObjectQMgrName = "QM1" }, mqi.MQOO_OUTPUT, mqi.MQRC_OBJECT_Q_MGR_NAME_ERROR},
		{func(od *mqi.OD) { od.RecsPresent = 2 }, mqi.MQOO_OUTPUT, mqi.MQRC_OBJECT_RECORDS_ERROR},
		{func(*mqi.OD) {}, mqi.MQOO_OUTPUT | mqi.MQOO_INQUIRE, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE},
		{func(*mqi.OD) {}, mqi.MQOO_INPUT_SHARED, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE},
		{func(od *mqi.OD) { od.Version = 1 }, mqi.MQOO_OUTPUT, mqi.MQRC_UNKNOWN_OBJECT_NAME}, // has no such field
	} {
		od := listOf("A")
		c.edit(&od)
		_, err := r.c.Open(bg, &od, c.opts)
		wantCC(t, err, mqi.CCFailed, c.rc)
	}
}

// Each queue of a list counts against MAXHANDS, is shown by DISPLAY QSTATUS, and is deleted under the handle (2052) or
// changed (2041) alone.
func TestDistributionListHandles(t *testing.T) {
	r := newListRig(t)
	r.alter(ClassQmgr, qmgrName, "MAXHANDS", "3")
	od := listOf("A", "B", "A", "B")
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantCC(t, err, mqi.CCWarning, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, od.ResponseRecords, 0, 0, 0, mqi.MQRC_HANDLE_NOT_AVAILABLE)
	one := mqi.DefaultOD()
	one.ObjectName = "A"
	_, err = r.c.Open(bg, &one, mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_HANDLE_NOT_AVAILABLE)
	if n := len(r.m.handleRows("A")); n != 2 {
		t.Errorf("%d handles of A shown", n)
	}
	r.m.forceChanged(r.m.lookup(ClassQueue, "B"))
	md, pmo := mqi.DefaultMD(), putOptions(0)
	wantCC(t, r.c.Put(bg, h, &md, &pmo, nil), mqi.CCWarning, mqi.MQRC_MULTIPLE_REASONS)
	wantResponses(t, pmo.ResponseRecords, 0, mqi.MQRC_OBJECT_CHANGED, 0, mqi.MQRC_OPEN_FAILED)
	_, _, err = r.c.Inq(bg, h, []int32{mqi.MQIA_Q_TYPE}, 1, 0)
	wantRC(t, err, mqi.MQRC_NOT_OPEN_FOR_INQUIRE)
	_, _, err = tryGet(r.c, h, 0)
	wantRC(t, err, mqi.MQRC_HOBJ_ERROR)
}

// Under syncpoint the messages are one unit with what the connection does beside; logical order is kept for each queue.
func TestDistributionListSyncpoint(t *testing.T) {
	r := newListRig(t)
	od := listOf("A", "B")
	h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	put := func(flags int32) {
		t.Helper()
		md, pmo := mqi.DefaultMD(), putOptions(mqi.MQPMO_SYNCPOINT|mqi.MQPMO_LOGICAL_ORDER)
		md.Version, md.MsgFlags = 2, flags
		wantRC(t, r.c.Put(bg, h, &md, &pmo, []byte("x")), 0)
	}
	put(mqi.MQMF_MSG_IN_GROUP)
	wantRC(t, r.c.Backout(bg), 0)
	put(mqi.MQMF_MSG_IN_GROUP)
	put(mqi.MQMF_LAST_MSG_IN_GROUP)
	if _, _, err := tryGet(r.c, r.openQ(r.c, "A", inOut), 0); err == nil {
		t.Error("uncommitted message was got")
	}
	wantRC(t, r.c.Commit(bg), 0)
	for _, q := range []string{"A", "B"} {
		in := r.openQ(r.c, q, inOut)
		_, first := r.get(r.c, in, 0)
		_, second := r.get(r.c, in, 0)
		if first.MsgSeqNumber != 1 || second.MsgSeqNumber != 2 || first.GroupID != second.GroupID || first.GroupID.IsZero() {
			t.Errorf("%s: %+v and %+v", q, first, second)
		}
	}
	put(mqi.MQMF_MSG_IN_GROUP)
	wantRC(t, r.c.Commit(bg), 0)
	wantCC(t, r.c.Close(bg, h, 0), mqi.CCWarning, mqi.MQRC_INCOMPLETE_GROUP)
}

// The queues of a list are closed with their connection, however it ends, and a list that is used while others look on is no race.
func TestDistributionListEnds(t *testing.T) {
	for _, end := range []func(*Conn){func(c *Conn) { wantRC(t, c.Disconnect(bg), 0) }, (*Conn).Break} {
		r := newListRig(t)
		c := r.connect()
		od := listOf("A", "B", "A")
		h, err := c.Open(bg, &od, mqi.MQOO_OUTPUT)
		wantRC(t, err, 0)
		looked := make(chan int)
		go func() {
			n := 0
			for range 50 {
				n += len(r.m.handleRows("A")) + len(r.m.connHandleRows())
			}
			looked <- n
		}()
		for range 50 {
			md, pmo := mqi.DefaultMD(), putOptions(0)
			wantRC(t, c.Put(bg, h, &md, &pmo, nil), 0)
		}
		if n := <-looked; n != 50*(2+3) {
			t.Errorf("%d rows were shown", n)
		}
		end(c)
		if _, out := r.m.lookup(ClassQueue, "A").Queue.opens(); out != 0 {
			t.Errorf("%d handles are left", out)
		}
		if n := r.depth("A"); n != 100 {
			t.Errorf("%d messages on A", n)
		}
	}
}

// Each destination counts in the statistics of its queue, triggers, and confirms arrival by itself.
func TestDistributionListCauses(t *testing.T) {
	r := newListRig(t)
	r.define("QLOCAL", "REPLY")
	od := listOf("A", "B", "R")
	md, pmo := mqi.DefaultMD(), putOptions(0)
	md.Report, md.ReplyToQ = mqi.MQRO_COA, "REPLY"
	wantRC(t, r.c.Put1(bg, &od, &md, &pmo, []byte("x")), 0)
	seen := map[mqi.ID]bool{}
	reply := r.openQ(r.c, "REPLY", inOut)
	for range 2 { // not for the remote one: that is for its own queue manager
		_, rep := r.get(r.c, reply, 0)
		seen[rep.CorrelID] = true
	}
	for _, q := range []string{"A", "B"} {
		_, got := r.get(r.c, r.openQ(r.c, q, inOut), 0)
		if !seen[got.MsgID] {
			t.Errorf("no report of arrival on %s", q)
		}
	}
	if n := r.depth("REPLY"); n != 0 {
		t.Errorf("%d reports too many", n)
	}
}
