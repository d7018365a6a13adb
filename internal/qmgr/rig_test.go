package qmgr

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

var bg = context.Background()

// rig is a queue manager for tests: a clock that stands still, a store, and objects written straight into it.
type rig struct {
	t     testing.TB
	dir   string // "" : memory store
	st    store.Store
	clk   *clock.Fake
	log   bytes.Buffer
	m     *Manager
	c     *Conn
	fault *faultStore
}

func newRig(t testing.TB) *rig { return startRig(t, "") }

func newBoltRig(t testing.TB) *rig { return startRig(t, filepath.Join(t.TempDir(), "QM1")) }

func startRig(t testing.TB, dir string) *rig {
	r := &rig{t: t, dir: dir, clk: clock.NewFake(time.Date(2026, 3, 4, 5, 6, 7, 80e6, time.UTC))}
	r.st = store.OpenMem()
	if dir != "" {
		r.st = r.openBolt()
	}
	r.write("QMGR", qmgrName)
	r.open()
	t.Cleanup(r.stop)
	return r
}

func (r *rig) openBolt() store.Store {
	st, err := store.Open(store.Options{Dir: r.dir, FS: vfs.OS()})
	if err != nil {
		r.t.Fatal(err)
	}
	return st
}

func (r *rig) open() {
	r.t.Helper()
	log := zerolog.New(&r.log)
	r.fault = &faultStore{Store: r.st}
	m, err := Open(Options{Name: "QM1", Store: r.fault, Clock: r.clk, Log: &log, User: "app"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.m = m
	r.c = r.connect()
}

func (r *rig) connect() *Conn {
	r.t.Helper()
	c, err := r.m.Connect(bg, auth.Identity{User: "app", UID: 1001, Admin: true}, ConnectOptions{ApplName: "amqsput"})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) stop() {
	if r.m != nil {
		r.end(store.Immediate)
	}
}

// end stops the manager and closes its store.
func (r *rig) end(mode store.StopMode) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if err := r.m.Stop(ctx, mode); err != nil {
		r.t.Fatal(err)
	}
	r.m = nil
}

// restart ends the manager as told and opens it again on the same files.
func (r *rig) restart(mode store.StopMode) {
	r.t.Helper()
	r.end(mode)
	r.st = r.openBolt()
	r.open()
}

// write stores a definition; kv are keywords and values.
func (r *rig) write(kind attr.Kind, name string, kv ...string) (*Def, store.QID) {
	r.t.Helper()
	d, err := newDef(kind, name)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(kv); i += 2 {
		if _, ok := d.Schema.Index(kv[i]); !ok {
			r.t.Fatalf("%s has no %s", kind, kv[i])
		}
		d.set(kv[i], kv[i+1])
	}
	var id store.QID
	if kind == "QLOCAL" {
		id = r.m.newQID()
	}
	var tx store.Tx
	tx.Set(tableOf(classOf(kind)), storeKey(classOf(kind), name), d.encode(id))
	if _, err := r.st.Commit(bg, &tx); err != nil {
		r.t.Fatal(err)
	}
	return d, id
}

// define makes an object in the running manager and in the store.
func (r *rig) define(kind attr.Kind, name string, kv ...string) *Object {
	r.t.Helper()
	d, id := r.write(kind, name, kv...)
	o := &Object{Class: classOf(kind), Name: name}
	o.def.Store(d)
	if id != 0 {
		o.Queue = newQueue(r.m, o, id)
	}
	r.m.mu.Lock()
	r.m.insertLocked(o)
	if id != 0 {
		r.m.byQID[id] = o
	}
	r.m.mu.Unlock()
	return o
}

// alter changes attributes of a running object.
func (r *rig) alter(class Class, name string, kv ...string) {
	r.t.Helper()
	o := r.m.lookup(class, name)
	d := o.Def().clone()
	for i := 0; i < len(kv); i += 2 {
		d.set(kv[i], kv[i+1])
	}
	var id store.QID
	if o.Queue != nil {
		id = o.Queue.qid
	}
	var tx store.Tx
	tx.Set(tableOf(class), storeKey(class, name), d.encode(id))
	if _, err := r.st.Commit(bg, &tx); err != nil {
		r.t.Fatal(err)
	}
	o.def.Store(d)
	if o.Queue != nil {
		o.Queue.defChanged(d)
	}
}

const inOut = mqi.MQOO_INPUT_SHARED | mqi.MQOO_OUTPUT | mqi.MQOO_BROWSE | mqi.MQOO_INQUIRE | mqi.MQOO_SET

func (r *rig) openQ(c *Conn, name string, opts int32) Handle {
	r.t.Helper()
	od := mqi.DefaultOD()
	od.ObjectName = name
	h, err := c.Open(bg, &od, opts)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// temporary makes a temporary dynamic queue that others may open, and goes with the handle.
func (r *rig) temporary(name string) Handle {
	r.t.Helper()
	r.define("QMODEL", "TEMP", "DEFTYPE", "TEMPDYN", "SHARE", "YES")
	od := mqi.DefaultOD()
	od.ObjectName, od.DynamicQName = "TEMP", name
	h, err := r.c.Open(bg, &od, inOut)
	wantRC(r.t, err, 0)
	return h
}

// put puts a text with descriptor changes.
func (r *rig) put(c *Conn, h Handle, text string, opts int32, change ...func(*mqi.MD)) mqi.MD {
	r.t.Helper()
	md, err := tryPut(c, h, text, opts, change...)
	if err != nil {
		r.t.Fatal(err)
	}
	return md
}

func tryPut(c *Conn, h Handle, text string, opts int32, change ...func(*mqi.MD)) (mqi.MD, error) {
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	for _, f := range change {
		f(&md)
	}
	pmo.Options = opts
	err := c.Put(bg, h, &md, &pmo, []byte(text))
	return md, err
}

// get gets a message and returns its text and descriptor.
func tryGet(c *Conn, h Handle, opts int32, change ...func(*mqi.MD, *mqi.GMO)) (string, mqi.MD, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version, gmo.Version = 2, 2
	gmo.Options = opts
	gmo.WaitInterval = 0
	for _, f := range change {
		f(&md, &gmo)
	}
	data, _, err := c.Get(bg, h, &md, &gmo, 1<<20)
	return string(data), md, err
}

func (r *rig) get(c *Conn, h Handle, opts int32, change ...func(*mqi.MD, *mqi.GMO)) (string, mqi.MD) {
	r.t.Helper()
	s, md, err := tryGet(c, h, opts, change...)
	if err != nil {
		r.t.Fatal(err)
	}
	return s, md
}

// fataler is what testing.TB and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// provoked are the reason codes that tests have had from calls, by the verb that gave them.
var provoked struct {
	sync.Mutex
	by map[string]map[mqi.RC]bool
}

// reasonOf is mqi.Reason of what a call answered; it remembers it.
func reasonOf(err error) (mqi.CC, mqi.RC) {
	cc, rc := mqi.Reason(err)
	var e *mqi.Error
	if errors.As(err, &e) {
		provoked.Lock()
		defer provoked.Unlock()
		if provoked.by == nil {
			provoked.by = map[string]map[mqi.RC]bool{}
		}
		if provoked.by[e.Op] == nil {
			provoked.by[e.Op] = map[mqi.RC]bool{}
		}
		provoked.by[e.Op][rc] = true
	}
	return cc, rc
}

// wantRC fails unless err carries the reason code (0: no error).
func wantRC(t fataler, err error, rc mqi.RC) {
	t.Helper()
	if _, got := reasonOf(err); got != rc {
		t.Fatalf("reason %d, want %d (%v)", got, rc, err)
	}
}

func (r *rig) depth(name string) int { return r.m.lookup(ClassQueue, name).Queue.depth() }

// faultStore refuses units on demand.
type faultStore struct {
	store.Store
	fail func(*store.Tx) error

	leave bool // units are left to others
	left  []func(by any, err error)
}

type refusedTicket struct{ err error }

func (refusedTicket) Leave(func(any, error)) bool  { return false }
func (f refusedTicket) Wait(context.Context) error { return f.err }
func (f refusedTicket) Locs() []store.Loc          { return nil }

func (f *faultStore) Submit(t *store.Tx) store.Ticket {
	if f.fail != nil {
		if err := f.fail(t); err != nil {
			return f.leaves(refusedTicket{err})
		}
	}
	return f.leaves(f.Store.Submit(t))
}

func (f *faultStore) leaves(t store.Ticket) store.Ticket {
	if f.leave {
		return leftTicket{t, f}
	}
	return t
}

// handleRows are the handles of one queue, or of all when queue is blank.
func (m *Manager) handleRows(queue string) []map[string]string {
	return m.handleRowsOf(func(of string) bool { return queue == "" || of == queue })
}
