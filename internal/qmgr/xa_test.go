package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

func xid(n string) XID { return XID{Format: 0x4d51, Global: "gtrid" + n, Branch: "b\x00" + n} }

func wantXA(t testing.TB, got, want XARet) {
	t.Helper()
	if got != want {
		t.Fatalf("XA return value %d, want %d", got, want)
	}
}

// xaConnect connects and opens the resource manager.
func (r *rig) xaConnect() *Conn {
	r.t.Helper()
	c := r.connect()
	wantXA(r.t, c.XAOpen(bg, r.m.Name()), XAOK)
	return c
}

const syncPut, syncGet = mqi.MQPMO_SYNCPOINT, mqi.MQGMO_SYNCPOINT

// branchWork gets a message of A and puts one on B in a branch, and ends it.
func (r *rig) branchWork(c *Conn, x XID) {
	r.t.Helper()
	a, b := r.openQ(c, "A", inOut), r.openQ(c, "B", inOut)
	wantXA(r.t, c.XAStart(bg, x, TMNoFlags), XAOK)
	r.get(c, a, syncGet)
	r.put(c, b, "out", syncPut, persistent)
	r.put(c, b, "light", syncPut)
	wantXA(r.t, c.XAEnd(bg, x, TMSuccess), XAOK)
}

// newXARig has two queues, and a persistent message on the first.
func newXARig(t testing.TB) *rig {
	r := newBoltRig(t)
	r.define("QLOCAL", "A")
	r.define("QLOCAL", "B")
	r.put(r.c, r.openQ(r.c, "A", inOut), "in", 0, persistent)
	return r
}

// texts gets all messages of a queue.
func (r *rig) texts(name string) string {
	r.t.Helper()
	c := r.connect()
	defer c.Break()
	h := r.openQ(c, name, inOut)
	var out []string
	for {
		s, _, err := tryGet(c, h, 0)
		if err != nil {
			wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			return strings.Join(out, " ")
		}
		out = append(out, s)
	}
}

func (r *rig) wantQueues(a, b string) {
	r.t.Helper()
	if ga, gb := r.texts("A"), r.texts("B"); ga != a || gb != b {
		r.t.Fatalf("queues %q and %q, want %q and %q", ga, gb, a, b)
	}
}

// A prepared unit survives its connection and the queue manager, hidden and locked, and is settled by another connection.
func TestXAPrepared(t *testing.T) {
	for name, c := range map[string]struct {
		mode    store.StopMode
		again   bool // two restarts
		commit  bool
		a, b    string
		backout int32
	}{
		"commit":                 {mode: store.Preempt, commit: true, b: "out"},
		"rollback":               {mode: store.Preempt, a: "in", backout: 1},
		"commit, orderly end":    {mode: store.Immediate, commit: true, b: "out"},
		"rollback, two restarts": {mode: store.Preempt, again: true, a: "in", backout: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newXARig(t)
			w := r.xaConnect()
			r.branchWork(w, xid("1"))
			wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
			wantXA(t, w.XAPrepare(bg, xid("1")), XAProto)
			w.Break()
			r.wantQueues("", "")
			r.restart(c.mode)
			if c.again {
				// The light message is lost; its number must not be given to this one, or the next start hides it.
				h := r.openQ(r.c, "B", inOut)
				r.put(r.c, h, "other", 0, persistent)
				r.restart(c.mode)
				if s := r.texts("B"); s != "other" {
					t.Fatalf("after the second restart %q", s)
				}
			}
			r.wantQueues("", "")
			for _, n := range [...]string{"A", "B"} {
				if q := r.m.lookup(ClassQueue, n).Queue; q.statusItems()["UNCOM"] != "YES" {
					t.Errorf("%s: UNCOM(NO) with a prepared unit", n)
				}
			}
			o := r.xaConnect()
			list, rc := o.XARecover(bg, 15, TMStartRScan)
			if rc != XAOK || len(list) != 1 || list[0] != xid("1") {
				t.Fatalf("recover: %v, %d", list, rc)
			}
			if c.commit {
				wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), XAOK)
			} else {
				wantXA(t, o.XARollback(bg, xid("1")), XAOK)
				ah := r.openQ(o, "A", inOut)
				if _, md := r.get(o, ah, mqi.MQGMO_BROWSE_FIRST); md.BackoutCount != c.backout {
					t.Errorf("backout count %d, want %d", md.BackoutCount, c.backout)
				}
			}
			wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), XANotA)
			r.restart(store.Preempt)
			r.wantQueues(c.a, c.b)
			if q := r.m.lookup(ClassQueue, "A").Queue; q.uncommitted() {
				t.Error("work is left uncommitted")
			}
		})
	}
}

// Without a restart nothing is lost, the nonpersistent message neither.
func TestXACommitHere(t *testing.T) {
	r := newXARig(t)
	w := r.xaConnect()
	r.branchWork(w, xid("1"))
	wantXA(t, w.XACommit(bg, xid("1"), TMNoFlags), XAProto) // not prepared
	wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
	wantXA(t, w.XACommit(bg, xid("1"), TMOnePhase), XAProto)
	wantXA(t, w.XACommit(bg, xid("1"), TMNoFlags), XAOK)
	r.wantQueues("", "out light")

	r.put(r.c, r.openQ(r.c, "A", inOut), "in", 0, persistent)
	r.branchWork(w, xid("2"))
	wantXA(t, w.XACommit(bg, xid("2"), TMOnePhase), XAOK)
	r.restart(store.Preempt)
	r.wantQueues("", "out")
}

// An orderly end keeps the nonpersistent message of a prepared unit on a queue with NPMCLASS(HIGH).
func TestXAKeepsHighClass(t *testing.T) {
	r := newXARig(t)
	r.alter(ClassQueue, "B", "NPMCLASS", "HIGH")
	w := r.xaConnect()
	r.branchWork(w, xid("1"))
	wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
	r.restart(store.Immediate)
	r.wantQueues("", "")
	o := r.xaConnect()
	wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), XAOK)
	r.wantQueues("", "out light")
}

// A connection that is lost takes with it what it has not prepared.
func TestXAConnectionLost(t *testing.T) {
	for name, end := range map[string]func(c *Conn){
		"active": func(*Conn) {},
		"ended":  func(c *Conn) { c.XAEnd(bg, xid("1"), TMSuccess) },
		"suspended": func(c *Conn) {
			c.XAEnd(bg, xid("1"), TMSuspend)
		},
		"closed": func(c *Conn) {
			c.XAEnd(bg, xid("1"), TMSuccess)
			c.XAClose(bg)
		},
	} {
		for _, leave := range [...]func(c *Conn){(*Conn).Break, func(c *Conn) { c.Disconnect(bg) }} {
			r := newXARig(t)
			w := r.xaConnect()
			a, b := r.openQ(w, "A", inOut), r.openQ(w, "B", inOut)
			wantXA(t, w.XAStart(bg, xid("1"), TMNoFlags), XAOK)
			r.get(w, a, syncGet)
			r.put(w, b, "out", syncPut, persistent)
			end(w)
			leave(w)
			o := r.xaConnect()
			if rc := o.XARollback(bg, xid("1")); rc != XANotA {
				t.Errorf("%s: rollback of what is gone: %d", name, rc)
			}
			r.wantQueues("in", "")
		}
	}
}

// The order of the verbs, by the specification's state tables.
func TestXAProtocol(t *testing.T) {
	r := newXARig(t)
	c := r.connect()
	x := xid("1")
	wantXA(t, c.XAStart(bg, x, TMNoFlags), XAProto) // not open
	wantXA(t, c.XAOpen(bg, "OTHER"), XAInval)
	wantXA(t, c.XAOpen(bg, ""), XAOK)
	for _, bad := range [...]XID{{Format: -1, Global: "g"}, {Format: 1}, {Format: 1, Global: strings.Repeat("g", 65)}} {
		wantXA(t, c.XAStart(bg, bad, TMNoFlags), XAInval)
	}
	wantXA(t, c.XAStart(bg, x, TMJoin), XANotA)
	wantXA(t, c.XAEnd(bg, x, TMSuccess), XANotA)
	wantXA(t, c.XAPrepare(bg, x), XANotA)
	wantXA(t, c.XARollback(bg, x), XANotA)
	wantXA(t, c.XAForget(bg, x), XANotA)

	a, b := r.openQ(c, "A", inOut), r.openQ(c, "B", inOut)
	r.put(c, b, "own", syncPut)
	wantXA(t, c.XAStart(bg, x, TMNoFlags), XAOutside)
	wantRC(t, c.Backout(bg), 0)

	wantXA(t, c.XAStart(bg, x, TMNoFlags), XAOK)
	wantXA(t, c.XAStart(bg, xid("2"), TMNoFlags), XAProto)
	wantXA(t, c.XAClose(bg), XAProto)
	wantXA(t, c.XAPrepare(bg, x), XAProto) // active
	wantXA(t, c.XARollback(bg, x), XAProto)
	wantRC(t, c.Commit(bg), mqi.MQRC_ENVIRONMENT_ERROR)
	wantRC(t, c.Backout(bg), mqi.MQRC_ENVIRONMENT_ERROR)
	bo := mqi.BO{Version: 1}
	wantRC(t, c.Begin(bg, &bo), mqi.MQRC_UOW_IN_PROGRESS)
	r.put(c, b, "one", syncPut)
	wantXA(t, c.XAEnd(bg, x, 7), XAInval)
	wantXA(t, c.XAEnd(bg, x, TMSuspend), XAOK)

	// Work of its own between, and of another branch.
	r.put(c, b, "own", syncPut)
	wantRC(t, c.Commit(bg), 0)
	wantXA(t, c.XAStart(bg, x, TMJoin), XAProto) // suspended
	wantXA(t, c.XAStart(bg, x, TMNoFlags), XADupID)
	wantXA(t, c.XAStart(bg, x, TMResume), XAOK)
	r.put(c, b, "two", syncPut)
	wantXA(t, c.XAEnd(bg, x, TMSuccess), XAOK)
	wantXA(t, c.XAStart(bg, x, TMResume), XAProto)

	// Another connection joins.
	o := r.xaConnect()
	wantXA(t, o.XAStart(bg, x, TMJoin), XAOK)
	r.get(o, r.openQ(o, "A", inOut), syncGet)
	wantXA(t, o.XAEnd(bg, x, TMSuccess), XAOK)
	wantXA(t, o.XAPrepare(bg, x), XAOK)
	wantXA(t, o.XAStart(bg, x, TMJoin), XAProto) // prepared
	if n, _ := c.XARecover(bg, 0, TMStartRScan); len(n) != 0 {
		t.Errorf("recover of at most 0 gave %d", len(n))
	}
	wantXA(t, c.XACommit(bg, x, TMNoFlags), XAOK)
	r.wantQueues("", "one own two") // in the order in which they were put

	// Nothing done: read-only, and over. Failed: only to be rolled back.
	wantXA(t, c.XAStart(bg, x, TMNoFlags), XAOK)
	_, _, err := tryGet(c, a, syncGet)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	wantXA(t, c.XAEnd(bg, x, TMSuccess), XAOK)
	wantXA(t, c.XAPrepare(bg, x), XAReadOnly)
	wantXA(t, c.XACommit(bg, x, TMNoFlags), XANotA)
	wantXA(t, c.XAStart(bg, x, TMNoFlags), XAOK)
	r.put(c, b, "failed", syncPut)
	wantXA(t, c.XAEnd(bg, x, TMFail), XAOK)
	wantXA(t, c.XAStart(bg, x, TMJoin), XARBRollback)
	wantXA(t, c.XAPrepare(bg, x), XARBRollback)
	r.wantQueues("", "")
	wantXA(t, c.XAClose(bg), XAOK)
	c.Break()
	wantXA(t, c.XAStart(bg, x, TMNoFlags), XARMFail)
}

// A prepare that the disk refuses rolls back; a commit that it refuses stays prepared.
func TestXARefusedByStore(t *testing.T) {
	r := newXARig(t)
	w := r.xaConnect()
	r.branchWork(w, xid("1"))
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	wantXA(t, w.XAPrepare(bg, xid("1")), XARBRollback)
	r.fault.fail = nil
	wantXA(t, w.XAPrepare(bg, xid("1")), XANotA)
	if a, b := r.depth("A"), r.depth("B"); a != 1 || b != 0 {
		t.Fatalf("depths %d %d", a, b)
	}
	r.branchWork(w, xid("2"))
	wantXA(t, w.XAPrepare(bg, xid("2")), XAOK)
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	wantXA(t, w.XACommit(bg, xid("2"), TMNoFlags), XARMErr)
	wantXA(t, w.XARollback(bg, xid("2")), XARMErr)
	r.fault.fail = nil
	wantXA(t, w.XACommit(bg, xid("2"), TMNoFlags), XAOK)
	r.wantQueues("", "out light")
}

// An operator settles a unit; its coordinator hears of it and forgets it.
func TestXAResolve(t *testing.T) {
	for _, c := range []struct {
		action string
		state  string
		rc     XARet
		a, b   string
	}{{ResolveCommit, "COMMITTED", XAHeurCom, "", "out"}, {ResolveBack, "BACKEDOUT", XAHeurRB, "in", ""}} {
		r := newXARig(t)
		w := r.xaConnect()
		r.branchWork(w, xid("1"))
		wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
		r.restart(store.Preempt)
		list := r.m.Transactions()
		if len(list) != 1 || list[0].State != "PREPARED" || list[0].Puts != 1 || list[0].Gets != 1 || list[0].Global != "677472696431" ||
			strings.Join(list[0].Queues, " ") != "A B" || list[0].Appl != "amqsput" {
			t.Fatalf("%+v", list)
		}
		n := list[0].Number
		wantRC(t, r.m.ResolveTransaction(n+1, c.action, "op"), mqi.MQRC_UOW_NOT_AVAILABLE)
		wantRC(t, r.m.ResolveTransaction(n, ResolveForget, "op"), mqi.MQRC_UOW_NOT_AVAILABLE)
		wantRC(t, r.m.ResolveTransaction(n, "guess", "op"), mqi.MQRC_OPTIONS_ERROR)
		wantRC(t, r.m.ResolveTransaction(n, c.action, "op"), 0)
		r.restart(store.Preempt)
		if list := r.m.Transactions(); len(list) != 1 || list[0].State != c.state {
			t.Fatalf("after the restart %+v", list)
		}
		r.wantQueues(c.a, c.b)
		o := r.xaConnect()
		if list, _ := o.XARecover(bg, 9, TMStartRScan); len(list) != 1 {
			t.Errorf("recover gave %d", len(list))
		}
		wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), c.rc)
		wantXA(t, o.XARollback(bg, xid("1")), c.rc)
		wantXA(t, o.XAForget(bg, xid("1")), XAOK)
		wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), XANotA)
		r.restart(store.Preempt)
		if n := len(r.m.Transactions()); n != 0 {
			t.Errorf("%d transactions after they were forgotten", n)
		}
	}
}

// DISPLAY CONN shows a branch at its connection, and alone when that is gone.
func TestXADisplay(t *testing.T) {
	r := newXARig(t)
	w := r.xaConnect()
	x := xid("1")
	row := func() map[string]string {
		t.Helper()
		for _, row := range r.m.connRows() {
			if row["URTYPE"] == "XA" {
				return row
			}
		}
		t.Fatal("no row with URTYPE(XA)")
		return nil
	}
	wantXA(t, w.XAStart(bg, x, TMNoFlags), XAOK)
	r.put(w, r.openQ(w, "B", inOut), "out", syncPut, persistent)
	own := row()
	if own["UOWSTATE"] != "ACTIVE" || own["EXTURID"] != "XA_FORMATID[00004D51] XA_GTRID[677472696431] XA_BQUAL[620031]" ||
		own["QMURID"] != "0.1" || own["APPLTAG"] != "amqsput" {
		t.Errorf("active: %v", own)
	}
	wantXA(t, w.XAEnd(bg, x, TMSuccess), XAOK)
	wantXA(t, w.XAPrepare(bg, x), XAOK)
	if got := row(); got["UOWSTATE"] != "PREPARED" || got["CONN"] != own["CONN"] {
		t.Errorf("prepared: %v", got)
	}
	w.Break()
	if got := row(); got["UOWSTATE"] != "PREPARED" || got["CONN"] != own["CONN"] || got["PID"] != "0" {
		t.Errorf("connection gone: %v", got)
	}
	r.restart(store.Preempt)
	if got := row(); got["UOWSTATE"] != "PREPARED" || got["EXTURID"] != own["EXTURID"] {
		t.Errorf("restarted: %v", got)
	}
}

// Retained publications change when the unit is committed, also after a restart; so do copies for subscribers.
func TestXARetained(t *testing.T) {
	for _, commit := range [...]bool{true, false} {
		r := newPSBoltRig(t)
		open := func() *Conn {
			c := r.connect("app")
			wantXA(t, c.XAOpen(bg, ""), XAOK)
			return c
		}
		r.ok("DEFINE QLOCAL(COPIES)")
		r.ok("DEFINE SUB(S) TOPICSTR('t/a') DEST(COPIES)")
		w := open()
		wantRC(t, tryPub(w, "t/a", "old", mqi.MQPMO_RETAIN, persistent), 0)
		wantXA(t, w.XAStart(bg, xid("1"), TMNoFlags), XAOK)
		wantRC(t, tryPub(w, "t/a", "new", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN, persistent), 0)
		wantXA(t, w.XAEnd(bg, xid("1"), TMSuccess), XAOK)
		wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
		r.restart(store.Preempt)
		o, want, copies := open(), "old", "old"
		if commit {
			want, copies = "new", "old new"
			wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), XAOK)
		} else {
			wantXA(t, o.XARollback(bg, xid("1")), XAOK)
		}
		r.restart(store.Preempt)
		q, _ := r.managed(r.c, "t/a", 0)
		if s := r.all(r.c, q); s != want {
			t.Errorf("commit %v: retained %q", commit, s)
		}
		if s := r.all(r.c, openFor(t, r.c, "COPIES", mqi.MQOO_INPUT_SHARED)); s != copies {
			t.Errorf("commit %v: copies %q", commit, s)
		}
	}
}

// Records that are not readable keep the queue manager from starting: to lose one would break a promise.
func TestXARecord(t *testing.T) {
	b := &branch{xid: xid("1"), num: 3, born: testTime, since: testTime, user: "u", appl: "a",
		prepared: &preparedWork{retained: []retainedOp{{topic: "t", head: []byte("h"), body: []byte("b"), pers: true, expires: 5}, {topic: "gone"}}}}
	v := b.encode(branchPrepared)
	back, puts, gets, err := decodeBranch(b.xid.key(), v)
	if err != nil || len(puts)+len(gets) != 0 || back.xid != b.xid || back.num != 3 || back.user != "u" || back.appl != "a" ||
		!back.born.Equal(testTime) || len(back.prepared.retained) != 2 || string(back.prepared.retained[0].body) != "b" ||
		back.prepared.retained[1].head != nil {
		t.Fatalf("%+v, %v", back, err)
	}
	for n := range v {
		if _, _, _, err := decodeBranch(b.xid.key(), v[:n]); err == nil {
			t.Errorf("a record of %d of %d bytes was read", n, len(v))
		}
	}
	for _, k := range [][]byte{nil, {0, 0, 0, 1, 9, 1}, append(b.xid.key(), make([]byte, 65)...)} {
		if _, err := xidOf(k); err == nil {
			t.Errorf("key %x was read", k)
		}
	}
}

// FuzzXARecord: whatever is in a record, reading it ends without harm.
func FuzzXARecord(f *testing.F) {
	b := &branch{xid: xid("1"), num: 3, born: testTime, since: testTime, prepared: &preparedWork{retained: []retainedOp{{topic: "t"}}}}
	f.Add(b.xid.key(), b.encode(branchPrepared))
	f.Add(b.xid.key(), b.encode(branchCommitted))
	f.Fuzz(func(_ *testing.T, k, v []byte) { _, _, _, _ = decodeBranch(k, v) })
}

// Two connections that settle, join and lose the same branches at the same time leave nothing uncommitted.
func TestXARace(t *testing.T) {
	r := newXARig(t)
	done := make(chan struct{})
	for i := range 3 {
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range 60 {
				c, err := r.m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				c.XAOpen(bg, "")
				x := xid(string(rune('a' + n%5)))
				od := mqi.DefaultOD()
				od.ObjectName = "B"
				h, _ := c.Open(bg, &od, inOut)
				if c.XAStart(bg, x, TMNoFlags) == XAOK || c.XAStart(bg, x, TMJoin) == XAOK {
					tryPut(c, h, "x", syncPut, persistent)
					c.XAEnd(bg, x, TMSuccess)
				}
				switch (n + i) % 4 {
				case 0:
					c.XAPrepare(bg, x)
					c.XACommit(bg, x, TMNoFlags)
				case 1:
					c.XACommit(bg, x, TMOnePhase)
				case 2:
					c.XARollback(bg, x)
				}
				r.m.connRows()
				c.Break()
			}
		}()
	}
	for range 3 {
		<-done
	}
	o := r.xaConnect()
	list, _ := o.XARecover(bg, 100, TMStartRScan|TMEndRScan)
	for _, x := range list {
		wantXA(t, o.XACommit(bg, x, TMNoFlags), XAOK)
	}
	if q := r.m.lookup(ClassQueue, "B").Queue; q.uncommitted() {
		t.Error("work is left uncommitted")
	}
}

// A scan gives every branch once, however small its pieces are.
func TestXARecoverScan(t *testing.T) {
	r := newXARig(t)
	w := r.xaConnect()
	b := r.openQ(w, "B", inOut)
	for _, n := range [...]string{"1", "2", "3", "4", "5"} {
		wantXA(t, w.XAStart(bg, xid(n), TMNoFlags), XAOK)
		r.put(w, b, n, syncPut, persistent)
		wantXA(t, w.XAEnd(bg, xid(n), TMSuccess), XAOK)
		wantXA(t, w.XAPrepare(bg, xid(n)), XAOK)
	}
	if _, rc := w.XARecover(bg, 2, TMNoFlags); rc != XAInval {
		t.Errorf("going on with no scan: %d", rc)
	}
	var all []string
	for flags := TMStartRScan; ; flags = TMNoFlags {
		list, rc := w.XARecover(bg, 2, flags)
		wantXA(t, rc, XAOK)
		if len(list) == 0 {
			break
		}
		for _, x := range list {
			all = append(all, x.Global)
			wantXA(t, w.XACommit(bg, x, TMNoFlags), XAOK) // what is settled meanwhile shifts nothing
		}
	}
	if strings.Join(all, " ") != "gtrid1 gtrid2 gtrid3 gtrid4 gtrid5" {
		t.Errorf("scan gave %v", all)
	}
	r.wantQueues("in", "1 2 3 4 5")
}

// What a prepared unit puts triggers when it is committed, whether the queue manager was restarted meanwhile or not; and its
// queues cannot go.
func TestXATrigger(t *testing.T) {
	for _, again := range [...]bool{false, true} {
		r := newPSBoltRig(t)
		for _, text := range [...]string{"DEFINE QLOCAL(INITQ)", "DEFINE PROCESS(P) APPLICID('run')",
			"DEFINE QLOCAL(EVERY) TRIGGER TRIGTYPE(EVERY) INITQ(INITQ) PROCESS(P)",
			"DEFINE QLOCAL(FIRST) TRIGGER TRIGTYPE(FIRST) INITQ(INITQ) PROCESS(P)"} {
			r.ok(text)
		}
		initq := openFor(t, r.c, "INITQ", mqi.MQOO_INPUT_SHARED)
		w := r.connect("app")
		wantXA(t, w.XAOpen(bg, ""), XAOK)
		e, f := openFor(t, w, "EVERY", mqi.MQOO_OUTPUT), openFor(t, w, "FIRST", mqi.MQOO_OUTPUT)
		wantXA(t, w.XAStart(bg, xid("1"), TMNoFlags), XAOK)
		for _, h := range [...]Handle{e, e, f, f} {
			_, err := tryPut(w, h, "x", syncPut, persistent)
			wantRC(t, err, 0)
		}
		wantXA(t, w.XAEnd(bg, xid("1"), TMSuccess), XAOK)
		wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
		w.Break()
		if s := r.all(r.c, initq); s != "" {
			t.Errorf("triggered before the commit: %q", s)
		}
		for _, text := range [...]string{"DELETE QLOCAL(EVERY)", "DELETE QLOCAL(EVERY) PURGE", "CLEAR QLOCAL(EVERY)"} {
			if rep := r.cmd(text); !rep.Failed() {
				t.Errorf("%s works on a queue with prepared messages", text)
			}
		}
		if again {
			r.restart(store.Preempt)
			initq = openFor(t, r.c, "INITQ", mqi.MQOO_INPUT_SHARED)
		}
		o := r.connect("app")
		wantXA(t, o.XAOpen(bg, ""), XAOK)
		wantXA(t, o.XACommit(bg, xid("1"), TMNoFlags), XAOK)
		n := 0
		for {
			if _, _, err := tryGet(r.c, initq, 0); err != nil {
				break
			}
			n++
		}
		if n != 3 {
			t.Errorf("restart %v: %d trigger messages, want 3", again, n)
		}
	}
}

// An operator settles the unit that he has seen, not one that has come under its identifier meanwhile.
func TestResolveOfOneThatWas(t *testing.T) {
	r := newXARig(t)
	c, x := r.xaConnect(), xid("1")
	r.branchWork(c, x)
	wantXA(t, c.XAPrepare(bg, x), XAOK)
	was := r.m.xa.byNumber(r.m.Transactions()[0].Number)
	wantXA(t, c.XARollback(bg, x), XAOK)
	r.branchWork(c, x)
	wantXA(t, c.XAPrepare(bg, x), XAOK)
	for _, action := range []string{ResolveCommit, ResolveBack, ResolveForget} {
		wantRC(t, r.m.resolve(was, action, "op"), mqi.MQRC_UOW_NOT_AVAILABLE)
	}
	wantXA(t, c.XACommit(bg, x, TMNoFlags), XAOK)
	c.Break()
	r.wantQueues("", "out light")
}
