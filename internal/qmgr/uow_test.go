package qmgr

import (
	"fmt"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

func TestUnitOfWork(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "A")
	r.define("QLOCAL", "B")
	a, b := r.openQ(r.c, "A", inOut), r.openQ(r.c, "B", inOut)
	c2 := r.connect()
	b2 := r.openQ(c2, "B", inOut)
	wantRC(t, r.c.Commit(bg), 0) // nothing to commit
	r.put(r.c, a, "in", 0)
	r.get(r.c, a, mqi.MQGMO_SYNCPOINT)
	r.put(r.c, b, "out", mqi.MQPMO_SYNCPOINT)
	if r.depth("A") != 0 || r.depth("B") != 1 {
		t.Errorf("depths %d %d", r.depth("A"), r.depth("B"))
	}
	for _, c := range []struct {
		c *Conn
		h Handle
	}{{c2, b2}, {r.c, b}} { // invisible to all, the putter too
		_, _, err := tryGet(c.c, c.h, 0)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	}
	wantRC(t, r.c.Backout(bg), 0)
	if r.depth("A") != 1 || r.depth("B") != 0 {
		t.Errorf("depths after backout %d %d", r.depth("A"), r.depth("B"))
	}
	for i := int32(1); i <= 3; i++ {
		if _, md := r.get(r.c, a, mqi.MQGMO_SYNCPOINT); md.BackoutCount != i {
			t.Errorf("backout count %d, want %d", md.BackoutCount, i)
		}
		r.put(r.c, b, "out", mqi.MQPMO_SYNCPOINT)
		if i < 3 {
			wantRC(t, r.c.Backout(bg), 0)
		}
	}
	wantRC(t, r.c.Commit(bg), 0)
	if s, _ := r.get(c2, b2, 0); s != "out" {
		t.Errorf("got %q", s)
	}
}

func TestSyncpointLimit(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.alter(ClassQmgr, qmgrName, "MAXUMSGS", "3")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "0", 0)
	r.put(r.c, h, "1", mqi.MQPMO_SYNCPOINT)
	r.put(r.c, h, "2", mqi.MQPMO_SYNCPOINT)
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	_, err := tryPut(r.c, h, "3", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
	_, _, err = tryGet(r.c, h, mqi.MQGMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
	r.put(r.c, h, "3", mqi.MQPMO_NO_SYNCPOINT)
	wantRC(t, r.c.Commit(bg), 0)
	r.put(r.c, h, "4", mqi.MQPMO_SYNCPOINT)
	wantRC(t, r.c.Commit(bg), 0)
	// What one verb puts counts all, also when it begins the unit.
	r.alter(ClassQueue, "Q", "MAXMSGL", "16")
	four := "................................................................"
	_, err = tryPut(r.c, h, four, mqi.MQPMO_SYNCPOINT, flagged(mqi.MQMF_SEGMENTATION_ALLOWED))
	wantRC(t, err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
	r.put(r.c, h, four[:48], mqi.MQPMO_SYNCPOINT, flagged(mqi.MQMF_SEGMENTATION_ALLOWED))
	wantRC(t, r.c.Backout(bg), 0)
}

func TestSyncpointIfPersistent(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "volatile", 0)
	r.put(r.c, h, "kept", 0, func(md *mqi.MD) { md.Persistence = 1 })
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT)
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT)
	wantRC(t, r.c.Backout(bg), 0)
	if s, _ := r.get(r.c, h, 0); s != "kept" || r.depth("Q") != 0 {
		t.Errorf("%q came back, depth %d", s, r.depth("Q"))
	}
}

func TestMarkSkipBackout(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "bad", 0)
	r.put(r.c, h, "other", 0)
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_MARK_SKIP_BACKOUT)
	_, _, err := tryGet(r.c, h, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_MARK_SKIP_BACKOUT)
	wantRC(t, err, mqi.MQRC_SECOND_MARK_NOT_ALLOWED)
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	wantRC(t, r.c.Backout(bg), 0)
	if s, _ := r.get(r.c, h, mqi.MQGMO_BROWSE_FIRST); s != "other" {
		t.Errorf("visible: %q", s)
	}
	wantRC(t, r.c.Backout(bg), 0) // the marked one is in a unit of work of its own now
	if s, _ := r.get(r.c, h, 0); s != "bad" {
		t.Errorf("got %q", s)
	}
}

func TestBegin(t *testing.T) {
	r := newRig(t)
	bo := mqi.DefaultBO()
	wantRC(t, r.c.Begin(bg, &bo), mqi.MQRC_NO_EXTERNAL_PARTICIPANTS)
	wantRC(t, r.c.Begin(bg, &bo), mqi.MQRC_UOW_IN_PROGRESS)
	wantRC(t, r.c.Commit(bg), 0)
}

func TestDisconnectAndBreak(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	c2 := r.connect()
	h2 := r.openQ(c2, "Q", inOut)
	r.put(r.c, h, "one", 0)
	r.get(c2, h2, mqi.MQGMO_SYNCPOINT)
	r.put(c2, h2, "two", mqi.MQPMO_SYNCPOINT)
	c2.Break()
	c2.Break()
	_, err := tryPut(c2, h2, "x", 0)
	wantRC(t, err, mqi.MQRC_CONNECTION_BROKEN)
	if r.depth("Q") != 1 {
		t.Errorf("depth %d", r.depth("Q"))
	}
	if in, _ := r.m.lookup(ClassQueue, "Q").Queue.opens(); in != 1 {
		t.Errorf("IPPROCS %d", in)
	}
	c3 := r.connect()
	h3 := r.openQ(c3, "Q", inOut)
	if _, md := r.get(c3, h3, mqi.MQGMO_SYNCPOINT); md.BackoutCount != 1 {
		t.Errorf("backout count %d", md.BackoutCount)
	}
	r.put(c3, h3, "three", mqi.MQPMO_SYNCPOINT)
	wantRC(t, c3.Disconnect(bg), 0)
	wantRC(t, c3.Disconnect(bg), mqi.MQRC_HCONN_ERROR)
	if s, _ := r.get(r.c, h, 0); s != "three" {
		t.Errorf("got %q", s)
	}
	// A commit that fails at the end of a connection.
	c4 := r.connect()
	r.put(c4, r.openQ(c4, "Q", inOut), "x", mqi.MQPMO_SYNCPOINT)
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	err = c4.Disconnect(bg)
	r.fault.fail = nil
	if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != mqi.MQRC_BACKED_OUT || r.depth("Q") != 0 {
		t.Errorf("%v, depth %d", err, r.depth("Q"))
	}
	if n := len(r.m.connections()); n != 1 {
		t.Errorf("%d connections left", n)
	}
}

func TestConnectionRows(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	c, err := r.m.Connect(bg, auth.Identity{User: "alice", Admin: true}, ConnectOptions{ApplName: "prog", Channel: "DEV.CHL",
		ConnName: "127.0.0.1", Options: 32})
	if err != nil {
		t.Fatal(err)
	}
	id := c.ID()
	if string(id[:16]) != "AMQCQM1         " {
		t.Errorf("connection id %q", id)
	}
	h := r.openQ(c, "Q", mqi.MQOO_INPUT_EXCLUSIVE|mqi.MQOO_OUTPUT)
	r.put(c, h, "x", mqi.MQPMO_SYNCPOINT)
	rows := r.m.connRows()
	row := rows[1]
	if len(rows) != 2 || row["CONN"] != fmt.Sprintf("%X", id[16:]) || row["EXTCONN"] != fmt.Sprintf("%X", id[:16]) ||
		row["UOWSTATE"] != "ACTIVE" || row["QMURID"] == rows[0]["QMURID"] || row["CHANNEL"] != "DEV.CHL" || row["USERID"] != "alice" ||
		row["CONNOPTS"] != "MQCNO_HANDLE_SHARE_NONE" || row["APPLTYPE"] != "USER" {
		t.Errorf("rows %v", rows)
	}
	hs := r.m.handleRows("Q")
	if len(hs) != 1 || hs[0]["INPUT"] != "EXCL" || hs[0]["OUTPUT"] != "YES" || hs[0]["BROWSE"] != "NO" ||
		hs[0]["APPLTAG"] != "prog" || hs[0]["HSTATE"] != "INACTIVE" {
		t.Errorf("handles %v", hs)
	}
	if ch := r.m.connHandleRows(); len(ch) != 1 || ch[0]["OBJNAME"] != "Q" || ch[0]["OBJTYPE"] != "QUEUE" {
		t.Errorf("connection's handles %v", ch)
	}
	wantRC(t, r.m.stopConn("0123456789ABCDEF"), mqi.MQRC_HCONN_ERROR)
	wantRC(t, r.m.stopConn(row["CONN"]), 0)
	if len(r.m.handleRows("")) != 0 || r.depth("Q") != 0 {
		t.Errorf("handles and unit of work of a stopped connection are still there")
	}
}

func TestDynamicQueues(t *testing.T) {
	r := newRig(t)
	r.define("QMODEL", "TEMP", "DEFTYPE", "TEMPDYN", "SHARE", "YES")
	r.define("QMODEL", "PERM", "DEFTYPE", "PERMDYN", "SHARE", "YES")
	r.define("QLOCAL", "PRE")
	make := func(c *Conn, model, pattern string) (Handle, string) {
		t.Helper()
		od := mqi.DefaultOD()
		od.ObjectName, od.DynamicQName = model, pattern
		h, err := c.Open(bg, &od, inOut)
		if err != nil {
			t.Fatal(err)
		}
		return h, od.ObjectName
	}
	exists := func(name string) bool { return r.m.lookup(ClassQueue, name) != nil }

	h, name := make(r.c, "TEMP", "REPLY.*")
	if len(name) != 21 || name[:6] != "REPLY." {
		t.Errorf("generated name %q", name)
	}
	_, err := tryPut(r.c, h, "x", 0, func(md *mqi.MD) { md.Persistence = 1 })
	wantRC(t, err, mqi.MQRC_PERSISTENT_NOT_ALLOWED)
	r.put(r.c, h, "x", 0)
	c2 := r.connect()
	h2 := r.openQ(c2, name, inOut)
	wantRC(t, c2.Close(bg, h2, mqi.MQCO_DELETE), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	r.put(c2, h2, "pending", mqi.MQPMO_SYNCPOINT)
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_NONE), 0) // the creator's close deletes it
	if exists(name) {
		t.Errorf("temporary queue is still there")
	}
	_, err = tryPut(c2, h2, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_DELETED)
	_, _, err = tryGet(c2, h2, 0)
	wantRC(t, err, mqi.MQRC_Q_DELETED)
	wantRC(t, c2.Commit(bg), 0)
	wantRC(t, c2.Close(bg, h2, 0), 0)
	if n := r.st.Stats().MemoryMessages; n != 0 {
		t.Errorf("%d messages of the deleted queue are still in the store", n)
	}

	h, name = make(r.c, "PERM", "FIXED")
	od := mqi.DefaultOD()
	od.ObjectName, od.DynamicQName = "PERM", "FIXED"
	_, err = c2.Open(bg, &od, inOut)
	wantRC(t, err, mqi.MQRC_OBJECT_ALREADY_EXISTS)
	r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.Persistence = 1 })
	wantRC(t, r.c.Close(bg, h, 0), 0)
	if !exists(name) {
		t.Fatal("permanent dynamic queue is gone")
	}
	h = r.openQ(r.c, name, inOut)
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_DELETE), mqi.MQRC_Q_NOT_EMPTY)
	r.put(r.c, h, "y", 0) // the handle is good still
	r.get(r.c, h, 0)
	wantRC(t, r.c.Close(bg, h, 0), 0)
	h = r.openQ(c2, name, inOut) // any handle may delete it
	r.get(c2, h, mqi.MQGMO_SYNCPOINT)
	h3 := r.openQ(r.c, name, inOut)
	wantRC(t, r.c.Close(bg, h3, mqi.MQCO_DELETE_PURGE), mqi.MQRC_Q_NOT_EMPTY)
	wantRC(t, c2.Backout(bg), 0)
	wantRC(t, r.c.Close(bg, h3, mqi.MQCO_DELETE_PURGE), 0) // once more, as the reason code advises
	wantRC(t, c2.Close(bg, h, 0), 0)
	if exists(name) {
		t.Error("permanent dynamic queue was not deleted")
	}
	p := r.openQ(r.c, "PRE", inOut)
	wantRC(t, r.c.Close(bg, p, mqi.MQCO_DELETE), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	wantRC(t, r.c.Close(bg, p, mqi.MQCO_DELETE|mqi.MQCO_DELETE_PURGE), mqi.MQRC_OPTIONS_ERROR)
	wantRC(t, r.c.Close(bg, p, 0), 0)
	wantRC(t, r.c.Close(bg, p, 0), mqi.MQRC_HOBJ_ERROR)
	// The end of the connection deletes temporary queues too.
	_, name = make(c2, "TEMP", "AMQ.*")
	c2.Break()
	if exists(name) {
		t.Error("temporary queue outlives its creator's connection")
	}
}

func TestHandleInvalid(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QALIAS", "A", "TARGET", "Q")
	q, a := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "A", inOut&^mqi.MQOO_SET)
	if n := r.m.openedVia("A"); n != 1 {
		t.Errorf("opened via A: %d", n)
	}
	r.m.forceChanged(r.m.lookup(ClassQueue, "A"))
	_, err := tryPut(r.c, a, "x", 0)
	wantRC(t, err, mqi.MQRC_OBJECT_CHANGED)
	_, _, err = tryGet(r.c, a, 0)
	wantRC(t, err, mqi.MQRC_OBJECT_CHANGED)
	r.put(r.c, q, "x", 0)
	obj := r.m.lookup(ClassQueue, "Q")
	wantRC(t, obj.Queue.clear(bg), mqi.MQRC_OBJECT_IN_USE)
	obj.Queue.deleted()
	_, err = tryPut(r.c, q, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_DELETED)
}

func TestClear(t *testing.T) {
	r := newRig(t)
	o := r.define("QLOCAL", "Q", "MAXDEPTH", "100000")
	h := r.openQ(r.c, "Q", inOut)
	for i := 0; i < clearBatch+5; i++ {
		r.put(r.c, h, "x", 0)
	}
	r.put(r.c, h, "x", mqi.MQPMO_SYNCPOINT)
	wantRC(t, r.c.Close(bg, h, 0), 0)
	wantRC(t, o.Queue.clear(bg), mqi.MQRC_Q_NOT_EMPTY)
	wantRC(t, r.c.Commit(bg), 0)
	wantRC(t, o.Queue.clear(bg), 0)
	if o.Queue.depth() != 0 || r.st.Stats().MemoryMessages != 0 {
		t.Errorf("depth %d", o.Queue.depth())
	}
}

// A permanent dynamic queue whose deletion the store refuses is as it was: other handles go on, and it can be deleted
// later.
func TestCloseDeleteRefused(t *testing.T) {
	r := newRig(t)
	r.define("QMODEL", "PERM", "DEFTYPE", "PERMDYN", "SHARE", "YES")
	od := mqi.DefaultOD()
	od.ObjectName, od.DynamicQName = "PERM", "D"
	h, err := r.c.Open(bg, &od, inOut)
	wantRC(t, err, 0)
	other := r.openQ(r.c, "D", inOut)
	r.put(r.c, other, "x", 0)
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	err = r.c.Close(bg, h, mqi.MQCO_DELETE_PURGE)
	wantRC(t, err, mqi.MQRC_STORAGE_MEDIUM_FULL)
	r.fault.fail = nil
	if text, _ := r.get(r.c, other, 0); text != "x" {
		t.Fatalf("the queue has %q", text)
	}
	wantRC(t, r.c.Close(bg, r.openQ(r.c, "D", inOut), mqi.MQCO_DELETE_PURGE), 0)
	if r.m.lookup(ClassQueue, "D") != nil {
		t.Fatal("it is still there")
	}
}

// A message that was claimed for a waiting get when its queue went is in the store no more.
func TestClaimedOnADeletedQueue(t *testing.T) {
	r := newRig(t)
	h := r.temporary("D")
	r.put(r.c, h, "x", 0)
	q := r.m.lookup(ClassQueue, "D").Queue
	q.mu.Lock()
	var slot uint32
	q.each(func(s uint32, _ *entry) bool { slot = s; return false })
	q.claim(slot)
	q.mu.Unlock()
	wantRC(t, r.c.Close(bg, h, mqi.MQCO_NONE), 0)
	if n := r.st.Stats().MemoryMessages; n != 1 {
		t.Fatalf("%d messages: the claimed one is still somebody's", n)
	}
	g := &getting{q: q, h: &handle{}, gmo: &mqi.GMO{}, max: 100}
	if f := g.claimed(waitResult{slot: slot}); f != nil {
		t.Fatal("a message of a deleted queue is handed out")
	}
	if n := r.st.Stats().MemoryMessages; n != 0 {
		t.Fatalf("%d messages are left in the store", n)
	}
}

// A get whose message was chosen when the queue was deleted says so.
func TestGetOnAQueueThatIsDeleted(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "x", 0)
	q := r.m.lookup(ClassQueue, "Q").Queue
	st := r.m.opt.Store
	r.m.opt.Store = &vanishing{st, func() {
		var tx store.Tx
		tx.DropQueue(q.qid)
		if _, err := st.Commit(bg, &tx); err != nil {
			t.Fatal(err)
		}
		q.deleted()
	}}
	_, _, err := tryGet(r.c, h, 0)
	wantRC(t, err, mqi.MQRC_Q_DELETED)
}

// vanishing is a store in which something happens before a message is read.
type vanishing struct {
	store.Store
	first func()
}

func (v *vanishing) Read(q store.QID, s store.Seq, at store.Loc) (store.Rec, error) {
	v.first()
	return v.Store.Read(q, s, at)
}

// A connection that is lost keeps nothing: a message that it got with MARK_SKIP_BACKOUT comes back like the others.
func TestMarkSkipBackoutConnectionLost(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "marked", 0)
	r.put(r.c, h, "other", 0)
	for _, again := range []bool{false, true} { // in its own unit of work
		c := r.connect()
		lost := r.openQ(c, "Q", inOut)
		r.get(c, lost, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_MARK_SKIP_BACKOUT)
		r.get(c, lost, mqi.MQGMO_SYNCPOINT)
		if again {
			wantRC(t, c.Backout(bg), 0)
		}
		c.Break()
		if q := r.m.lookup(ClassQueue, "Q").Queue; q.depth() != 2 || q.uncommitted() {
			t.Fatalf("depth %d, uncommitted %v", q.depth(), q.uncommitted())
		}
	}
	for _, want := range []struct {
		text  string
		times int32
	}{{"marked", 2}, {"other", 2}} {
		if s, md := r.get(r.c, h, 0); s != want.text || md.BackoutCount != want.times {
			t.Errorf("%s, backed out %d times; want %v", s, md.BackoutCount, want)
		}
	}
}

// The report of delivery of a message with MARK_SKIP_BACKOUT comes when the message's own unit of work is committed.
func TestMarkSkipBackoutConfirms(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "REPLY")
	h, rep := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "REPLY", inOut)
	for _, commit := range []bool{false, true} {
		sent := r.put(r.c, h, "text", 0, func(md *mqi.MD) { md.Report, md.ReplyToQ = mqi.MQRO_COD_WITH_DATA, "REPLY" })
		r.get(r.c, h, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_MARK_SKIP_BACKOUT)
		wantRC(t, r.c.Backout(bg), 0)
		_, _, err := tryGet(r.c, rep, 0)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		if !commit {
			wantRC(t, r.c.Backout(bg), 0)
			_, _, err := tryGet(r.c, rep, 0)
			wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			r.get(r.c, h, 0)
			r.get(r.c, rep, 0)
			continue
		}
		wantRC(t, r.c.Commit(bg), 0)
		if s, md := r.get(r.c, rep, 0); s != "text" || md.Feedback != mqi.MQFB_COD || md.CorrelID != sent.MsgID {
			t.Errorf("%q %+v", s, md)
		}
	}
}

// A message that would come back to a temporary queue that is deleted just now does not stay in the store.
func TestBackoutMeetsDeletion(t *testing.T) {
	r := newRig(t)
	h := r.temporary("D")
	r.put(r.c, h, "x", 0)
	c := r.connect()
	r.get(c, r.openQ(c, "D", inOut), mqi.MQGMO_SYNCPOINT)
	r.fault.fail = func(*store.Tx) error { // the backout count is on its way
		r.fault.fail = nil
		wantRC(t, r.c.Close(bg, h, 0), 0)
		return nil
	}
	wantRC(t, c.Backout(bg), 0)
	if n := r.st.Stats().MemoryMessages; n != 0 {
		t.Errorf("%d messages are left in the store", n)
	}
}
