//go:build invariants

package qmgr

import (
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// faultVerbs are what a client does in one go, by name. Their objects are shared by all clients.
var faultVerbs = map[string]func(r *psRig, c *Conn){
	"put and get": func(r *psRig, c *Conn) {
		h, err := c.Open(bg, queueOD("Q"), inOut)
		wantRC(r.t, err, 0)
		for _, persistence := range []int32{mqi.MQPER_NOT_PERSISTENT, mqi.MQPER_PERSISTENT} {
			for _, opts := range []int32{mqi.MQPMO_NO_SYNCPOINT, mqi.MQPMO_SYNCPOINT} {
				md, err := tryPut(c, h, "text", opts, func(md *mqi.MD) { md.Persistence = persistence })
				wantRC(r.t, err, 0)
				wantRC(r.t, c.Commit(bg), 0)
				_, _, err = tryGet(c, h, mqi.MQGMO_BROWSE_FIRST)
				wantRC(r.t, err, 0)
				get := []int32{mqi.MQGMO_NO_SYNCPOINT, mqi.MQGMO_SYNCPOINT}[min(opts&mqi.MQPMO_SYNCPOINT, 1)]
				_, _, err = tryGet(c, h, get, func(m *mqi.MD, g *mqi.GMO) { m.MsgID, g.MatchOptions = md.MsgID, mqi.MQMO_MATCH_MSG_ID })
				wantRC(r.t, err, 0)
				wantRC(r.t, c.Backout(bg), 0)
			}
		}
		wantRC(r.t, c.Close(bg, h, 0), 0)
	},
	"triggers, reports and events": func(r *psRig, c *Conn) {
		for _, q := range []string{"FIRST", "EVERY"} {
			h, err := c.Open(bg, queueOD(q), inOut)
			wantRC(r.t, err, 0)
			for range 2 {
				_, err = tryPut(c, h, "text", mqi.MQPMO_SYNCPOINT, func(md *mqi.MD) {
					md.Report, md.ReplyToQ = mqi.MQRO_COA|mqi.MQRO_COD, "REPLY"
				})
				wantRC(r.t, err, 0)
			}
			wantRC(r.t, c.Commit(bg), 0)
			for range 2 {
				_, _, err = tryGet(c, h, mqi.MQGMO_SYNCPOINT)
				wantRC(r.t, err, 0)
			}
			wantRC(r.t, c.Commit(bg), 0)
			wantRC(r.t, c.Close(bg, h, 0), 0)
		}
	},
	"publish and subscribe": func(r *psRig, c *Conn) {
		for _, durable := range []int32{0, mqi.MQSO_DURABLE} {
			sd := subSD("news/#", mqi.MQSO_CREATE|mqi.MQSO_MANAGED|durable)
			if durable != 0 {
				sd = subSD("news/#", mqi.MQSO_CREATE|mqi.MQSO_RESUME|mqi.MQSO_MANAGED|mqi.MQSO_ANY_USERID|durable, named("SUB"))
			}
			q, sub, err := c.Subscribe(bg, sd, 0)
			wantRC(r.t, err, 0)
			for _, persistence := range []int32{mqi.MQPER_NOT_PERSISTENT, mqi.MQPER_PERSISTENT} {
				for _, opts := range []int32{mqi.MQPMO_NO_SYNCPOINT, mqi.MQPMO_SYNCPOINT} {
					wantRC(r.t, tryPub(c, "news/today", "text", opts|mqi.MQPMO_RETAIN, func(md *mqi.MD) { md.Persistence = persistence }), 0)
					wantRC(r.t, c.Commit(bg), 0)
				}
			}
			_, _, err = tryGet(c, q, 0)
			wantRC(r.t, err, 0)
			wantRC(r.t, c.Close(bg, q, 0), 0)
			wantRC(r.t, c.Close(bg, sub, []int32{0, mqi.MQCO_REMOVE_SUB}[durable/mqi.MQSO_DURABLE]), 0)
		}
		r.ok("CLEAR TOPICSTR('news/today') CLRTYPE(RETAINED)")
	},
	"dynamic queues": func(r *psRig, c *Conn) {
		for _, model := range []string{"TEMP", "PERM"} {
			od := queueOD(model)
			od.DynamicQName = "DYN.*"
			h, err := c.Open(bg, od, inOut)
			wantRC(r.t, err, 0)
			_, err = tryPut(c, h, "text", 0)
			wantRC(r.t, err, 0)
			wantRC(r.t, c.Close(bg, h, mqi.MQCO_DELETE_PURGE), 0)
		}
	},
	"commands": func(r *psRig, c *Conn) {
		for _, text := range []string{
			"DEFINE QLOCAL(NEW) REPLACE", "ALTER QLOCAL(NEW) DESCR('changed')", "DISPLAY QLOCAL(NEW) ALL", "DISPLAY QSTATUS(NEW) ALL",
			"CLEAR QLOCAL(NEW)", "DEFINE TOPIC(NEW) TOPICSTR('new/topic') REPLACE", "DEFINE SUB(NEW) TOPICSTR('new/topic') DEST(Q) REPLACE",
			"DISPLAY SUB(NEW) ALL", "DISPLAY TPSTATUS('new/#')", "DISPLAY CONN(*) ALL", "DELETE SUB(NEW)", "DELETE TOPIC(NEW)", "DELETE QLOCAL(NEW)",
			"DEFINE CHANNEL(NEW) CHLTYPE(SVRCONN) REPLACE", "DELETE CHANNEL(NEW)",
			"SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(GET)", "SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHRMV(ALL)",
			"SET CHLAUTH('NEW.*') TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(NOACCESS) ACTION(REPLACE)",
			"SET CHLAUTH('NEW.*') TYPE(ADDRESSMAP) ACTION(REMOVEALL)", "ALTER QMGR DESCR('changed')"} {
			r.ok(text)
		}
		_ = r.cmd("STOP CHANNEL(DEV)") // it may be so already
		_ = r.cmd("START CHANNEL(DEV)")
	},
	"two phases": func(r *psRig, c *Conn) {
		wantXA(r.t, c.XAOpen(bg, ""), XAOK)
		h, err := c.Open(bg, queueOD("Q"), inOut)
		wantRC(r.t, err, 0)
		for i := range 3 {
			faultXIDs++
			x := xid(fmt.Sprint(faultXIDs))
			wantXA(r.t, c.XAStart(bg, x, TMNoFlags), XAOK)
			_, err = tryPut(c, h, "text", mqi.MQPMO_SYNCPOINT)
			wantRC(r.t, err, 0)
			wantRC(r.t, tryPub(c, "xa/today", "text", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN), 0)
			wantXA(r.t, c.XAEnd(bg, x, TMSuccess), XAOK)
			if i < 2 {
				wantXA(r.t, c.XAPrepare(bg, x), XAOK)
			}
			_, rc := c.XARecover(bg, 100, TMStartRScan|TMEndRScan)
			wantXA(r.t, rc, XAOK)
			switch i {
			case 0:
				wantXA(r.t, c.XACommit(bg, x, TMNoFlags), XAOK)
			case 1:
				wantXA(r.t, c.XARollback(bg, x), XAOK)
			case 2:
				wantXA(r.t, c.XACommit(bg, x, TMOnePhase), XAOK)
			}
		}
		wantRC(r.t, c.Close(bg, h, 0), 0)
		wantXA(r.t, c.XAClose(bg), XAOK)
	},
	"disconnect": func(r *psRig, c *Conn) {
		h, err := c.Open(bg, queueOD("Q"), inOut)
		wantRC(r.t, err, 0)
		_, err = tryPut(c, h, "text", mqi.MQPMO_SYNCPOINT)
		wantRC(r.t, err, 0)
		wantRC(r.t, c.Disconnect(bg), 0)
	},
}

var faultXIDs int

func self() string {
	var buf [64]byte
	return strings.Fields(string(buf[:goruntime.Stack(buf[:], false)]))[1]
}

// struck runs fn and panics where it is about to take its nth lock. It reports whether that came, and where.
func struck(n int, fn func()) (hit bool, at string) {
	me := self()
	restore := invariants.Faults(func() {
		if self() != me || hit {
			return
		}
		if n--; n < 0 {
			hit = true
			panic("a fault")
		}
	})
	defer restore()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p != "a fault" {
			panic(p)
		}
		var pcs [40]uintptr
		frames := goruntime.CallersFrames(pcs[:goruntime.Callers(3, pcs[:])])
		for more := true; more; {
			var f goruntime.Frame
			f, more = frames.Next()
			if i := strings.LastIndex(f.Function, "internal/"); i >= 0 && len(at) < 400 {
				at += fmt.Sprintf(" %s:%d", f.Function[i+len("internal/"):], f.Line)
			}
		}
	}()
	fn()
	return false, ""
}

// A panic anywhere in a verb ends the client that it befalls, and nobody else: whatever is shared goes on, and no message stays
// out of reach.
func TestPanicAnywhere(t *testing.T) {
	only, err := strconv.Atoi(os.Getenv("FAULT_AT"))
	for name, verb := range faultVerbs {
		t.Run(name, func(t *testing.T) {
			r, n := newFaultRig(t), only
			for more := true; more; n++ {
				var half bool
				if more, half = r.strike(n, verb); half || n%40 == 39 {
					r = newFaultRig(t) // the change is durable and not quite in force: only a restart mends that
				}
				if t.Failed() || err == nil {
					return
				}
			}
			t.Logf("%d places", n-1)
		})
	}
}

type faultRig struct {
	*psRig
	init Handle
}

func newFaultRig(t *testing.T) *faultRig {
	r := &faultRig{psRig: newPSRig(t)}
	for _, text := range []string{"DEFINE QLOCAL(Q)", "DEFINE QLOCAL(INIT)", "DEFINE QLOCAL(REPLY)", "DEFINE CHANNEL(DEV) CHLTYPE(SVRCONN)",
		"DEFINE PROCESS(P)", "DEFINE QLOCAL(FIRST) TRIGGER TRIGTYPE(FIRST) INITQ(INIT) PROCESS(P)",
		"DEFINE QLOCAL(EVERY) TRIGGER TRIGTYPE(EVERY) INITQ(INIT) PROCESS(P) QDEPTHLO(0) QDEPTHHI(1) QDPHIEV(ENABLED) MAXDEPTH(1000)",
		"DEFINE QMODEL(TEMP) DEFTYPE(TEMPDYN)", "DEFINE QMODEL(PERM) DEFTYPE(PERMDYN)",
		"ALTER QMGR PERFMEV(ENABLED) CONFIGEV(ENABLED) CMDEV(ENABLED) STATMQI(ON) ACCTMQI(ON) ACCTCONO(ENABLED)"} {
		r.ok(text)
	}
	r.init = r.openQ(r.c, "INIT", mqi.MQOO_INPUT_SHARED)
	return r
}

// strike lets the nth lock of a verb be a panic, and looks whether others go on. more says that there was one. half says that it was
// in the middle of putting a change of objects in force.
func (r *faultRig) strike(n int, verb func(*psRig, *Conn)) (more, half bool) {
	c := r.connect("victim")
	hit, at := struck(n, func() { verb(r.psRig, c) })
	in := func(what string, fn func()) {
		done := make(chan struct{})
		go func() { defer close(done); fn() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			buf := make([]byte, 1<<16)
			r.t.Fatalf("%d, a fault at%s: %s hangs\n%s", n, at, what, buf[:goruntime.Stack(buf, true)])
		}
	}
	in("the end of the client", c.Break)
	if half = strings.Contains(at, "(*Pending).complete"); half {
		verb = faultVerbs["put and get"]
	}
	in("another client", func() {
		other := r.connect("other")
		verb(r.psRig, other)
		other.Break()
	})
	if half {
		in("a command", func() { _ = r.cmd("DEFINE QLOCAL(NEW) REPLACE") })
	}
	in("what is left", func() { r.drained(r.init) })
	if r.t.Failed() {
		r.t.Fatalf("%d, a fault at%s", n, at)
	}
	return hit, half
}

// drained gets everything, and looks that nothing is left.
func (r *psRig) drained(init Handle) {
	wantXA(r.t, r.c.XAOpen(bg, ""), XAOK)
	list, _ := r.c.XARecover(bg, 100, TMStartRScan|TMEndRScan)
	for _, x := range list {
		wantXA(r.t, r.c.XARollback(bg, x), XAOK)
	}
	r.all(r.c, init)
	for _, name := range []string{"Q", "FIRST", "EVERY", "REPLY"} {
		h := r.openQ(r.c, name, mqi.MQOO_INPUT_SHARED)
		r.all(r.c, h)
		r.close(r.c, h, 0)
		if n := r.curDepth(name); n != 0 {
			r.t.Errorf("%d messages of %s are out of reach", n, name)
		}
	}
}
