package qmgr

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

func (r *objRig) connect() *Conn {
	r.t.Helper()
	c, err := r.m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{ApplName: "amqsput"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Break() })
	return c
}

func (r *objRig) openQ(c *Conn, name string, opts int32) Handle {
	r.t.Helper()
	od := mqi.DefaultOD()
	od.ObjectName = name
	h, err := c.Open(bg, &od, opts)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

func (r *objRig) put(c *Conn, h Handle, opts int32) {
	r.t.Helper()
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	pmo.Options = opts
	if err := c.Put(bg, h, &md, &pmo, []byte("hello")); err != nil {
		r.t.Fatal(err)
	}
}

// DISPLAY QSTATUS(*) TYPE(HANDLE) walks over the connections once, however many queues there are; the rows are in the order of the
// queues. With 50,000 queues and twenty clients at work it took more than a minute in a build that watches its locks.
func TestHandlesOfManyQueues(t *testing.T) {
	const queues, conns = 300, 20
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(OTHER)")
	for i := range queues {
		r.ok(fmt.Sprintf("DEFINE QLOCAL(A%03d)", i))
	}
	for i := range conns {
		c := r.connect()
		r.openQ(c, "OTHER", mqi.MQOO_OUTPUT)
		if i < 2 {
			r.openQ(c, "A002", mqi.MQOO_OUTPUT)
			r.openQ(c, "A001", mqi.MQOO_INPUT_SHARED)
		}
	}
	r.want("DISPLAY QSTATUS(A*) TYPE(HANDLE) INPUT", "QUEUE(A001) TYPE(HANDLE) INPUT(SHARED)", "QUEUE(A001) TYPE(HANDLE) INPUT(SHARED)",
		"QUEUE(A002) TYPE(HANDLE) INPUT(NO)", "QUEUE(A002) TYPE(HANDLE) INPUT(NO)")
	if n := testing.AllocsPerRun(5, func() { r.show("DISPLAY QSTATUS(A*) TYPE(HANDLE)") }); n > queues*conns {
		t.Errorf("%.0f allocations for %d queues and %d connections", n, queues, conns)
	}
}

// What is open, or holds messages, is changed and deleted only where the rules let it.
func TestCommandsOnQueuesInUse(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QALIAS(AL) TARGET(Q)")
	c := r.connect()
	h := r.openQ(c, "Q", mqi.MQOO_OUTPUT)
	r.refuse("AMQ8148E", "DELETE QLOCAL(Q)")
	r.refuse("AMQ8148E", "ALTER QLOCAL(Q) USAGE(XMITQ)")
	r.refuse("AMQ8148E", "CLEAR QLOCAL(Q)")
	r.want("DISPLAY QLOCAL(Q) OPPROCS IPPROCS", "QUEUE(Q) TYPE(QLOCAL) IPPROCS(0) OPPROCS(1)")
	r.want("DISPLAY QSTATUS(Q) TYPE(HANDLE) APPLTAG OUTPUT INPUT", "QUEUE(Q) TYPE(HANDLE) APPLTAG(amqsput) INPUT(NO) OUTPUT(YES)")
	r.refuse("AMQ8565I", "DISPLAY QSTATUS(Q) TYPE(HANDLE) OPENTYPE(INPUT)")
	if rows := r.show("DISPLAY CONN(*) APPLTAG WHERE(APPLTAG EQ 'amqsput')"); len(rows) != 1 {
		t.Errorf("connections: %v", rows)
	}
	// A filter by what only handles have looks at handles.
	if rows := r.show("DISPLAY CONN(*) WHERE(OBJNAME EQ Q)"); len(rows) != 1 || !strings.Contains(rows[0], "TYPE(HANDLE) OBJNAME(Q) OBJTYPE(QUEUE)") {
		t.Errorf("connections with the queue open: %v", rows)
	}
	r.refuse("AMQ8277E", "DISPLAY CONN(*) TYPE(CONN) WHERE(OBJNAME EQ Q)")
	r.put(c, h, 0)
	if err := c.Close(bg, h, 0); err != nil {
		t.Fatal(err)
	}
	r.want("DISPLAY QSTATUS(Q) CURDEPTH", "QUEUE(Q) TYPE(QUEUE) CURDEPTH(1)")
	r.refuse("AMQ8143E", "DELETE QLOCAL(Q)")
	r.refuse("AMQ8148E", "ALTER QLOCAL(Q) USAGE(XMITQ)")
	r.ok("ALTER QLOCAL(Q) USAGE(XMITQ) FORCE")
	r.ok("ALTER QLOCAL(Q) USAGE(NORMAL) FORCE")
	r.ok("DEFINE QLOCAL(Q) REPLACE MAXDEPTH(3)")
	r.want("DISPLAY QLOCAL(Q) CURDEPTH MAXDEPTH", "QUEUE(Q) TYPE(QLOCAL) CURDEPTH(1) MAXDEPTH(3)")
	r.ok("CLEAR QLOCAL(Q)")
	r.want("DISPLAY QLOCAL(Q) CURDEPTH", "QUEUE(Q) TYPE(QLOCAL) CURDEPTH(0)")

	// Opened through an alias: the alias is in use, and FORCE marks its handles.
	h = r.openQ(c, "AL", mqi.MQOO_OUTPUT)
	r.refuse("AMQ8148E", "DELETE QALIAS(AL)")
	r.ok("DEFINE QLOCAL(OTHER)")
	r.refuse("AMQ8148E", "ALTER QALIAS(AL) TARGET(OTHER)")
	r.ok("ALTER QALIAS(AL) DESCR('no matter')")
	r.ok("ALTER QALIAS(AL) TARGET(OTHER) FORCE")
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	if _, rc := reasonOf(c.Put(bg, h, &md, &pmo, nil)); rc != mqi.MQRC_OBJECT_CHANGED {
		t.Errorf("put through a changed alias: %d", rc)
	}
	if err := c.Close(bg, h, 0); err != nil {
		t.Fatal(err)
	}
	// An uncommitted message keeps a queue even from PURGE.
	h = r.openQ(c, "Q", mqi.MQOO_OUTPUT)
	r.put(c, h, mqi.MQPMO_SYNCPOINT)
	if err := c.Close(bg, h, 0); err != nil {
		t.Fatal(err)
	}
	r.refuse("AMQ8148E", "DELETE QLOCAL(Q) PURGE")
	if err := c.Commit(bg); err != nil {
		t.Fatal(err)
	}
	r.ok("DELETE QLOCAL(Q) PURGE")
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	if _, err := c.Open(bg, &od, mqi.MQOO_OUTPUT); err == nil {
		t.Error("a deleted queue can be opened")
	}
}

// NOSHARE while two have the queue open for input needs FORCE.
func TestNoShareInUse(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	c := r.connect()
	r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED)
	r.ok("ALTER QLOCAL(Q) NOSHARE")
	r.ok("ALTER QLOCAL(Q) SHARE")
	r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED)
	r.refuse("AMQ8148E", "ALTER QLOCAL(Q) NOSHARE")
	r.want("DISPLAY QLOCAL(Q) SHARE", "QUEUE(Q) TYPE(QLOCAL) SHARE")
	r.ok("ALTER QLOCAL(Q) NOSHARE FORCE")
}

func TestDynamicQueueRecords(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QMODEL(M) MAXDEPTH(17) DEFTYPE(PERMDYN) SHARE")
	model := r.m.lookup(ClassQueue, "M").Def()
	for _, typ := range []string{"TEMPDYN", "PERMDYN"} {
		o, err := r.m.createDynamic(context.Background(), model, "D."+typ, typ, admin)
		if err != nil {
			t.Fatal(err)
		}
		r.want("DISPLAY QLOCAL(D."+typ+") DEFTYPE MAXDEPTH SHARE", "QUEUE(D."+typ+") TYPE(QLOCAL) DEFTYPE("+typ+") MAXDEPTH(17) SHARE")
		if _, err := r.m.createDynamic(context.Background(), model, "D."+typ, typ, admin); !reasonIs(err, mqi.MQRC_OBJECT_ALREADY_EXISTS) {
			t.Errorf("second %s: %v", o.Name, err)
		}
		r.ok("DEFINE QLOCAL(D." + typ + ") REPLACE")
		r.ok("ALTER QLOCAL(D." + typ + ") MAXDEPTH(18)")
	}
	r.open()
	r.want("DISPLAY QLOCAL(D.*) MAXDEPTH", "QUEUE(D.PERMDYN) TYPE(QLOCAL) MAXDEPTH(18)")
	o := r.m.lookup(ClassQueue, "D.PERMDYN")
	if err := r.m.deleteQueueObject(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if err := r.m.deleteQueueObject(context.Background(), o); !reasonIs(err, mqi.MQRC_UNKNOWN_OBJECT_NAME) {
		t.Errorf("second delete: %v", err)
	}
	r.open()
	r.refuse("AMQ8147E", "DISPLAY QLOCAL(D.*)")
}

func reasonIs(err error, want mqi.RC) bool {
	_, rc := reasonOf(err)
	return rc == want
}

// On a real store: create, stop, start; Stop ends listeners and refuses commands.
func TestLifeOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "QM1")
	openStore := func() store.Store {
		st, err := store.Open(store.Options{Dir: dir, FS: vfs.OS()})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	r := newObjRig(t, func(o *Options) { o.Store = openStore() })
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(3)")
	r.ok("DEFINE LISTENER(L) TRPTYPE(TCP) PORT(0) CONTROL(QMGR)")
	r.ok("START LISTENER(L)")
	if err := r.m.Stop(context.Background(), store.Immediate); err != nil {
		t.Fatal(err)
	}
	if len(r.ports.started) != 0 {
		t.Error("a listener outlives the queue manager")
	}
	r.refuse("AMQ8156E", "DEFINE QLOCAL(LATE)")
	if err := r.m.Stop(context.Background(), store.Immediate); err == nil {
		t.Error("a stopped queue manager stops again")
	}
	r.opt.Store = openStore()
	r.open()
	r.want("DISPLAY QLOCAL(Q) MAXDEPTH", "QUEUE(Q) TYPE(QLOCAL) MAXDEPTH(3)")
	r.want("DISPLAY LSSTATUS(L)", r.show("DISPLAY LSSTATUS(*) ALL")[0])
	if err := r.m.Stop(context.Background(), store.Quiesce); err != nil {
		t.Fatal(err)
	}
}

// What is damaged in the store is named, not guessed at.
func TestDamagedDefinition(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q) DESCR('x')")
	k := storeKey(ClassQueue, "Q")
	v, err := r.st.Get(store.TableObjects, k)
	if err != nil {
		t.Fatal(err)
	}
	for n := range v {
		if _, _, err := decodeDef(v[:n]); err == nil && n < len(v)-1 {
			// A cut between two attributes reads as a shorter definition; everything else must be noticed.
			if d, _, _ := decodeDef(v[:n]); d.Name != "Q" {
				t.Errorf("cut at %d is taken for %q", n, d.Name)
			}
		}
	}
	var tx store.Tx
	tx.Set(store.TableObjects, k, v[:9])
	if _, err := r.st.Commit(context.Background(), &tx); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.opt); !errors.Is(err, errBadDef) {
		t.Errorf("open with a damaged definition: %v", err)
	}
}

func FuzzDecodeDef(f *testing.F) {
	d, err := newDef("QLOCAL", "Q")
	if err != nil {
		f.Fatal(err)
	}
	d.set("DESCR", "text")
	f.Add(d.encode(7))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, id, err := decodeDef(b)
		if err != nil {
			return
		}
		again, id2, err := decodeDef(d.encode(id))
		if err != nil || id2 != id || again.Name != d.Name || !sameDefinition(d, again) {
			t.Fatalf("%v %v", again, err)
		}
	})
}

// The data directory may be elsewhere at every start; what follows from it goes along.
func TestMovedDirectory(t *testing.T) {
	r := newObjRig(t)
	r.want("DISPLAY QMGR SSLKEYR", "QMNAME(QM1) SSLKEYR(/data/QM1/ssl/key)")
	r.ok("ALTER QMGR DESCR('x')")
	r.opt.Dir = "/moved"
	r.open()
	r.want("DISPLAY QMGR SSLKEYR", "QMNAME(QM1) SSLKEYR(/moved/ssl/key)")
	r.ok("ALTER QMGR SSLKEYR('/my/key')")
	r.opt.Dir = "/again"
	r.open()
	r.want("DISPLAY QMGR SSLKEYR", "QMNAME(QM1) SSLKEYR(/my/key)")
}
