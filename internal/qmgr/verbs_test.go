package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// verbsOf are calls of every verb on a connection with an open queue. Those that need no handle come first.
func verbsOf(c *Conn, h Handle) []func() error {
	md, pmo, gmo := mqi.DefaultMD(), mqi.DefaultPMO(), mqi.DefaultGMO()
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	return []func() error{
		func() error { return c.Begin(bg, &mqi.BO{Version: 1}) },
		func() error { return c.Commit(bg) },
		func() error { return c.Backout(bg) },
		func() error { _, err := c.Open(bg, &od, mqi.MQOO_OUTPUT); return err },
		func() error { return c.Put1(bg, &od, &md, &pmo, nil) },
		func() error { _, err := c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR); return err },
		func() error { return c.Put(bg, h, &md, &pmo, nil) },
		func() error { _, _, err := c.Get(bg, h, &md, &gmo, 10); return err },
		func() error { _, _, err := c.Inq(bg, h, []int32{mqi.MQIA_Q_TYPE}, 1, 0); return err },
		func() error { return c.Set(bg, h, []int32{mqi.MQIA_INHIBIT_PUT}, []int32{0}, nil) },
		func() error { return c.Close(bg, h, 0) },
	}
}

const noHandle = 6 // of verbsOf

// Every verb of a connection that is gone, broken, ended by the queue manager, or in use says so.
func TestVerbsOfNoConnection(t *testing.T) {
	for _, tc := range []struct {
		rc mqi.RC
		do func(r *rig, c *Conn)
	}{
		{mqi.MQRC_HCONN_ERROR, func(r *rig, c *Conn) { wantRC(r.t, c.Disconnect(bg), 0) }},
		{mqi.MQRC_CONNECTION_BROKEN, func(_ *rig, c *Conn) { c.Break() }},
		{mqi.MQRC_Q_MGR_STOPPING, func(r *rig, _ *Conn) { r.end(store.Immediate) }},
		{mqi.MQRC_CALL_IN_PROGRESS, func(r *rig, c *Conn) {
			if err := c.begin("MQGET", ""); err != nil {
				r.t.Fatal(err)
			}
		}},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		c := r.connect()
		h := r.openQ(c, "Q", inOut)
		tc.do(r, c)
		for i, verb := range verbsOf(c, h) {
			err := verb()
			if cc, rc := reasonOf(err); cc != mqi.CCFailed || rc != tc.rc {
				t.Errorf("verb %d: %v, want %d", i, err, tc.rc)
			}
		}
		if tc.rc == mqi.MQRC_CALL_IN_PROGRESS {
			c.verb.Unlock()
		}
	}
}

// Every verb with a handle says what became of its queue.
func TestVerbsOfNoHandle(t *testing.T) {
	for _, tc := range []struct {
		rc mqi.RC
		do func(r *rig, h Handle) Handle
	}{
		{mqi.MQRC_HOBJ_ERROR, func(_ *rig, h Handle) Handle { return h + 100 }},
		{mqi.MQRC_OBJECT_CHANGED, func(r *rig, h Handle) Handle { r.m.forceChanged(r.m.lookup(ClassQueue, "Q")); return h }},
		{mqi.MQRC_OBJECT_DAMAGED, func(r *rig, h Handle) Handle { r.m.lookup(ClassQueue, "Q").Queue.damaged = true; return h }},
		{mqi.MQRC_Q_DELETED, func(r *rig, h Handle) Handle { r.m.lookup(ClassQueue, "Q").Queue.setDead(true); return h }},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := tc.do(r, r.openQ(r.c, "Q", inOut))
		all := verbsOf(r.c, h)
		for i, verb := range all[noHandle:] {
			want := tc.rc
			if i == len(all)-noHandle-1 && tc.rc != mqi.MQRC_HOBJ_ERROR {
				want = 0 // MQCLOSE always can
			}
			if _, rc := reasonOf(verb()); rc != want {
				t.Errorf("verb %d: %d, want %d", noHandle+i, rc, want)
			}
		}
		if tc.rc == mqi.MQRC_Q_DELETED {
			r.m.lookup(ClassQueue, "Q").Queue.setDead(false)
		}
	}
}

// DynamicQName: what stands for the name, and what does not.
func TestDynamicNames(t *testing.T) {
	r := newRig(t)
	r.define("QMODEL", "MODEL")
	for _, tc := range []struct {
		name string
		rc   mqi.RC
		like string
	}{
		{"", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"  ", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"A-B", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"A.*B", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"A.**", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"A2345678901234567890123456789012*", 0, "A2345678901234567890123456789012???????????????"},
		{"A23456789012345678901234567890123*", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"A23456789012345678901234567890123456789012345678", 0, "A23456789012345678901234567890123456789012345678"},
		{"A234567890123456789012345678901234567890123456789", mqi.MQRC_DYNAMIC_Q_NAME_ERROR, ""},
		{"ONE.NAME", 0, "ONE.NAME"},
		{"ONE.NAME", mqi.MQRC_OBJECT_ALREADY_EXISTS, ""},
		{"AMQ.*  ", 0, "AMQ.???????????????"},
		{"*", 0, "???????????????"},
	} {
		od := mqi.DefaultOD()
		od.ObjectName, od.DynamicQName = "MODEL", tc.name
		_, err := r.c.Open(bg, &od, inOut)
		if _, rc := reasonOf(err); rc != tc.rc || rc == 0 && !wild(tc.like, od.ObjectName) {
			t.Errorf("%q: %v, name %q", tc.name, err, od.ObjectName)
		}
	}
}

// Who looks at the handles (DISPLAY QSTATUS TYPE(HANDLE), DISPLAY CONN) is not in the way of their verbs: none is refused with 2219.
func TestLookingOnRefusesNoVerb(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				r.m.handleRows("Q")
				r.m.connHandleRows()
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for range 20_000 {
		_, _, err := tryGet(r.c, h, 0)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	}
}
