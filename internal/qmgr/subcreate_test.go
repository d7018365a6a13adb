package qmgr

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// newPSFaultRig has a store that refuses on demand and is still there after its end.
func newPSFaultRig(t *testing.T) (*psRig, *faultStore) {
	t.Helper()
	r := &psRig{dir: filepath.Join(t.TempDir(), "QM1")}
	t.Cleanup(func() { _ = r.st.Close(store.Preempt, nil) }) // after the manager's end
	f := &faultStore{}
	r.objRig = newObjRig(t, func(o *Options) {
		f.Store = openTestStore(t, r.dir)
		o.Store = strictStore{f}
	})
	r.c = r.connect("app")
	return r, f
}

// strictStore refuses a Commit like a Submit.
type strictStore struct{ *faultStore }

func (s strictStore) Commit(ctx context.Context, t *store.Tx) ([]store.Loc, error) {
	ticket := s.Submit(t)
	if err := ticket.Wait(ctx); err != nil {
		return nil, err
	}
	return ticket.Locs(), nil
}

// once refuses the next unit with err, after calling f. Those that f submits pass.
func (f *faultStore) once(err error, do func()) {
	f.fail = func(*store.Tx) error {
		f.fail = nil
		do()
		return err
	}
}

// Retained publications that cannot be sent: DEFINE SUB makes no subscription, with MQSUB's reasons, and leaves nothing behind.
func TestDefineSubNeedsItsRetained(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR DEADQ(' ')")
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(1)")
	r.ok("DEFINE QMODEL(SMALL) DEFTYPE(PERMDYN) MAXDEPTH(1)")
	r.ok("DEFINE TOPIC(A) TOPICSTR('a') MDURMDL(SMALL)")
	r.pub("a/1", "one", mqi.MQPMO_RETAIN)
	r.pub("a/2", "two", mqi.MQPMO_RETAIN)
	for _, c := range []struct {
		off, on string
		rc      mqi.RC
		names   string
	}{
		{"ALTER QLOCAL(SYSTEM.RETAINED.PUB.QUEUE) GET(DISABLED)", "ALTER QLOCAL(SYSTEM.RETAINED.PUB.QUEUE) GET(ENABLED)",
			mqi.MQRC_RETAINED_MSG_Q_ERROR, "SYSTEM.RETAINED.PUB.QUEUE"},
		{"ALTER QLOCAL(Q) MAXDEPTH(1)", "ALTER QLOCAL(Q) MAXDEPTH(2)", mqi.MQRC_RETAINED_NOT_DELIVERED, "queue Q"},
	} {
		r.ok(c.off)
		for _, dest := range []string{"DEST(Q)", "DESTCLAS(MANAGED)"} {
			reply := r.cmd("DEFINE SUB(S) TOPICSTR('a/+') " + dest)
			if !reply.Failed() || reply.RC != int32(c.rc) {
				t.Fatalf("%s: DEFINE SUB %s ended with %d, want %d: %s", c.off, dest, reply.RC, c.rc, replyText(reply))
			}
			if text := strings.Join(reply.Msgs[0].Inserts, " "); dest == "DEST(Q)" && !strings.Contains(text, c.names) {
				t.Errorf("%q does not name %s", text, c.names)
			}
			subs, queues := r.m.topics.tree.SubCount(), len(r.m.list(managedDurable+"*", ClassQueue))
			if !r.cmd("DISPLAY SUB(S)").Failed() || r.curDepth("Q") != 0 || subs != 0 || queues != 0 {
				t.Errorf("%s: left behind: %d messages, %d subscriptions in the tree, %d managed queues", c.off, r.curDepth("Q"), subs, queues)
			}
		}
		r.ok("DEFINE SUB(R) TOPICSTR('a/+') DEST(Q) REQONLY(YES)")
		r.ok("DELETE SUB(R)")
		r.ok(c.on)
	}
	r.ok("DEFINE SUB(S) TOPICSTR('a/+') DEST(Q)")
	if got := sorted(r.all(r.c, openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED))); got != "one two" {
		t.Errorf("then it gets %q", got)
	}
}

// A script sees the queues that it has made itself, also those that others stand for.
func TestDefineSubRetainedThroughItsScript(t *testing.T) {
	r := newPSBoltRig(t)
	r.pub("a", "kept", mqi.MQPMO_RETAIN, persistent)
	out, res := r.script("DEFINE QLOCAL(Q)\nDEFINE QALIAS(A) TARGET(Q)\nDEFINE SUB(S) TOPICSTR('a') DEST(A)\n")
	if res.Failed != 0 || r.curDepth("Q") != 1 {
		t.Errorf("%d messages\n%s", r.curDepth("Q"), out)
	}
}

// The power fails while DEFINE SUB works: the subscription is there with its retained publications, or neither is.
func TestCrashDefineSub(t *testing.T) {
	dir := shm(t)
	with, without := 0, 0
	for i := range 24 {
		r, disk, m := crashPoint(t, dir, i)
		r.command(m, "DEFINE QLOCAL(Q)")
		c, err := m.Connect(bg, admin, ConnectOptions{})
		wantRC(t, err, 0)
		for _, topic := range []string{"t/a", "t/b"} {
			wantRC(t, tryPub(c, topic, "x", mqi.MQPMO_RETAIN, persistent), 0)
		}
		disk.CrashAt(1 + i/3)
		rep := r.reply(m, "DEFINE SUB(S) TOPICSTR('t/+') DEST(Q)")
		r.end(m)
		after := r.crash(disk, i)
		if m, err = r.open(after); err != nil {
			t.Fatalf("point %d: %v", i, err)
		}
		there, n := m.lookup(ClassSub, "S") != nil, m.lookup(ClassQueue, "Q").Queue.depth()
		r.end(m)
		switch {
		case there && n == 2:
			with++
		case !there && n == 0 && rep.Failed():
			without++
		default:
			t.Errorf("point %d: acknowledged %t, subscription %t, %d retained publications", i, !rep.Failed(), there, n)
		}
	}
	if with == 0 || without == 0 {
		t.Errorf("%d points with the subscription, %d without: the points lie wrong", with, without)
	}
}

// The store refuses a new subscription, while a publication has reached its managed queue already: of neither anything is left, in
// the registry, in the topic tree and on disk.
func TestRefusedSubLeavesNothing(t *testing.T) {
	for how, try := range map[string]func(r *psRig) int32{
		"DEFINE SUB": func(r *psRig) int32 { return r.cmd("DEFINE SUB(S) TOPICSTR('a') DESTCLAS(MANAGED)").RC },
		"MQSUB": func(r *psRig) int32 {
			_, _, err := r.c.Subscribe(bg, subSD("a", create|durable|managed, named("S")), 0)
			_, rc := mqi.Reason(err)
			return int32(rc)
		},
	} {
		r, f := newPSFaultRig(t)
		pub := r.connect("pub")
		r.pub("a", "kept", mqi.MQPMO_RETAIN, persistent)
		var qid store.QID
		f.once(store.ErrFull, func() {
			queues := r.m.list(managedDurable+"*", ClassQueue)
			if len(queues) != 1 {
				t.Fatalf("%s: %d managed queues", how, len(queues))
			}
			qid = queues[0].qid()
			before := queues[0].Queue.depth()
			if err := tryPub(pub, "a", "live", 0, persistent); err != nil || queues[0].Queue.depth() != before+1 {
				t.Errorf("%s: %v, %d messages", how, err, queues[0].Queue.depth())
			}
		})
		if rc := try(r); rc == 0 {
			t.Fatalf("%s is not refused", how)
		}
		if n, l := r.m.topics.tree.SubCount(), r.m.list(managedDurable+"*", ClassQueue); n != 0 || len(l) != 0 || !r.cmd("DISPLAY SUB(S)").Failed() {
			t.Errorf("%s: %d subscriptions in the tree, %d queues", how, n, len(l))
		}
		ctx, cancel := contextDone()
		defer cancel()
		if err := r.m.Stop(ctx, store.Quiesce); err != nil {
			t.Fatal(err)
		}
		st := openTestStore(t, r.dir)
		r.st = st
		if err := st.Live(func(l store.Live) error {
			if l.Q == qid {
				t.Errorf("%s: a message of its queue is still in the store", how)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Nobody opens the managed queue of a new subscription before MQSUB has: the call cannot fail for that, and leave the subscription.
func TestManagedQueueIsItsMakers(t *testing.T) {
	r, f := newPSFaultRig(t)
	other := r.connect("other")
	open := func(rc mqi.RC) {
		od := mqi.DefaultOD()
		od.ObjectName = r.m.list(managedDurable+"*", ClassQueue)[0].Name
		_, err := other.Open(bg, &od, mqi.MQOO_INPUT_EXCLUSIVE)
		wantRC(t, err, rc)
	}
	f.once(nil, func() { open(mqi.MQRC_UNKNOWN_OBJECT_NAME) })
	q, _, err := r.c.Subscribe(bg, subSD("a", create|durable|managed, named("S")), 0)
	wantRC(t, err, 0)
	open(mqi.MQRC_OBJECT_IN_USE)
	r.close(r.c, q, 0)
	open(0)
}

// An MQSUB that cannot give the application its queue has altered nothing.
func TestFailedResumeAltersNothing(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("DEFINE QLOCAL(Q) DEFSOPT(EXCL)")
	r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) VARUSER(ANY) USERDATA('before')")
	shown := "DISPLAY SUB(S) SUBUSER USERDATA ALTDATE ALTTIME EXPIRY"
	before := strings.Join(r.show(shown), "")
	change := func(sd *mqi.SD) { sd.SubName, sd.SubUserData, sd.SubExpiry = "S", "after", 600 }
	try := func(why string, rc mqi.RC) {
		t.Helper()
		c := r.connect("another")
		for _, o := range []int32{alter, mqi.MQSO_RESUME} {
			_, _, err := c.Subscribe(bg, subSD("", o|durable|mqi.MQSO_ANY_USERID, change), 0)
			wantRC(t, err, rc)
			if got := strings.Join(r.show(shown), ""); got != before {
				t.Errorf("%s: now it is %s, before %s", why, got, before)
			}
		}
	}
	holder := r.connect("holder")
	h := openFor(t, holder, "Q", mqi.MQOO_INPUT_EXCLUSIVE)
	try("its queue is in use", mqi.MQRC_OBJECT_IN_USE)
	r.close(holder, h, 0)
	r.ok("DELETE QLOCAL(Q)")
	try("its queue is gone", mqi.MQRC_INVALID_DESTINATION)
	r.restart(store.Immediate)
	if got := strings.Join(r.show(shown), ""); got != before {
		t.Errorf("after a restart it is %s, before %s", got, before)
	}
	// A change that the store refuses closes the queue again.
	rf, f := newPSFaultRig(t)
	rf.ok("DEFINE QLOCAL(Q) DEFSOPT(EXCL)")
	rf.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) VARUSER(ANY)")
	f.once(store.ErrFull, func() {})
	_, _, err := rf.c.Subscribe(bg, subSD("", alter|durable|mqi.MQSO_ANY_USERID, change), 0)
	if err == nil {
		t.Fatal("it is not refused")
	}
	_, _, err = rf.c.Subscribe(bg, subSD("", alter|durable|mqi.MQSO_ANY_USERID, change), 0)
	wantRC(t, err, 0)
}

// What may not be altered of a subscription is refused with the reason that MQSUB gives.
func TestSubFixedReasons(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q)")
	for what, rc := range map[string]mqi.RC{"TOPICSTR('U') DEST(Q)": mqi.MQRC_TOPIC_NOT_ALTERABLE,
		"TOPICSTR('T') DEST(Q) SELECTOR('a=1')": mqi.MQRC_SELECTOR_NOT_ALTERABLE,
		"TOPICSTR('T') DEST(Q) SUBLEVEL(2)":     mqi.MQRC_SUBLEVEL_NOT_ALTERABLE,
		"TOPICSTR('T') DESTCLAS(MANAGED)":       mqi.MQRC_DEST_CLASS_NOT_ALTERABLE} {
		if rep := r.cmd("DEFINE SUB(S) REPLACE " + what); rep.RC != int32(rc) {
			t.Errorf("%s: %d, want %d", what, rep.RC, rc)
		}
	}
}

// brokenReads is a store whose table of retained publications cannot be read.
type brokenReads struct {
	store.Store
	broken bool
}

func (b *brokenReads) Get(table store.Table, key []byte) ([]byte, error) {
	if b.broken && table == retainedTable {
		return nil, errTest
	}
	return b.Store.Get(table, key)
}

func (b *brokenReads) GetMany(table store.Table, keys [][]byte, fn func(i int, v []byte) error) error {
	if b.broken && table == retainedTable {
		return errTest
	}
	return b.Store.GetMany(table, keys, fn)
}

// A retained publication that cannot be read is none that is not there: 2525, and no subscription.
func TestRetainedNotReadable(t *testing.T) {
	st := &brokenReads{Store: store.OpenMem()}
	r := &psRig{objRig: newObjRig(t, func(o *Options) { o.Store = st })}
	r.c = r.connect("app")
	r.pub("a", "kept", mqi.MQPMO_RETAIN, persistent)
	_, onRequest := r.managed(r.c, "a", mqi.MQSO_PUBLICATIONS_ON_REQUEST)
	st.broken = true
	_, _, err := r.c.Subscribe(bg, subSD("a", create|managed|durable, named("S")), 0)
	wantRC(t, err, mqi.MQRC_RETAINED_MSG_Q_ERROR)
	if rep := r.cmd("DEFINE SUB(S) TOPICSTR('a') DESTCLAS(MANAGED)"); rep.RC != int32(mqi.MQRC_RETAINED_MSG_Q_ERROR) {
		t.Errorf("DEFINE SUB: %d", rep.RC)
	}
	sro := mqi.DefaultSRO()
	wantRC(t, r.c.SubRequest(bg, onRequest, mqi.MQSR_ACTION_PUBLICATION, &sro), mqi.MQRC_RETAINED_MSG_Q_ERROR)
	if n := r.m.topics.tree.SubCount(); n != 1 {
		t.Errorf("%d subscriptions", n)
	}
	st.broken = false
	r.ok("DEFINE SUB(S) TOPICSTR('a') DESTCLAS(MANAGED)")
}

// What is published after a subscription has entered the tree reaches it by itself, and is not sent once more as retained.
func TestNewerRetainedComesOnce(t *testing.T) {
	for _, pers := range []int32{0, 1} {
		r := newPSBoltRig(t)
		set := func(md *mqi.MD) { md.Persistence = pers }
		r.pub("a", "old", mqi.MQPMO_RETAIN, set)
		q, hs := r.managed(r.c, "a", mqi.MQSO_NEW_PUBLICATIONS_ONLY)
		h, err := r.c.handle("test", hs)
		wantRC(t, err, 0)
		upTo := r.m.retain.last // as addSub gave it
		r.pub("a", "new", mqi.MQPMO_RETAIN, set)
		u := &uow{}
		n, rc := r.m.sendRetained(u, h.sub.obj.sub.Load(), upTo)
		if err := r.m.commit(u); err != nil || rc != 0 || n != 0 {
			t.Errorf("%d sent, %d, %v", n, rc, err)
		}
		if got := r.all(r.c, q); got != "new" {
			t.Errorf("got %q", got)
		}
	}
}

// An old publication has expired and the tree has dropped it; before that reaches the store the topic has a new one, which is there
// after a restart too.
func TestExpiredBesideNewer(t *testing.T) {
	r := newPSBoltRig(t)
	r.pub("a", "old", mqi.MQPMO_RETAIN, persistent)
	old, _ := r.m.topics.tree.RetainedRefOf("a")
	r.pub("a", "new", mqi.MQPMO_RETAIN, persistent)
	if err := r.m.retain.expired(r.opt.Store, []pubsub.RetainedAt{{Topic: "a", Ref: old}}); err != nil {
		t.Fatal(err)
	}
	r.restart(store.Immediate)
	q, _ := r.managed(r.c, "a", 0)
	if got := r.all(r.c, q); got != "new" {
		t.Errorf("after a restart %q is retained", got)
	}
}
