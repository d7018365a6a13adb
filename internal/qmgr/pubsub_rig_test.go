package qmgr

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// psRig is a created queue manager with connections: what publishes and subscribes.
type psRig struct {
	*objRig
	dir string
	c   *Conn
}

func newPSRig(t *testing.T) *psRig {
	t.Helper()
	r := &psRig{objRig: newObjRig(t)}
	r.c = r.connect("app")
	return r
}

// newPSBoltRig has a store that is still there after restart.
func newPSBoltRig(t *testing.T) *psRig {
	t.Helper()
	r := &psRig{dir: filepath.Join(t.TempDir(), "QM1")}
	t.Cleanup(func() { _ = r.st.Close(store.Preempt, nil) }) // after the manager's end
	r.objRig = newObjRig(t, func(o *Options) { o.Store = openTestStore(t, r.dir) })
	r.c = r.connect("app")
	return r
}

func openTestStore(t *testing.T, dir string) store.Store {
	t.Helper()
	st, err := store.Open(store.Options{Dir: dir, FS: vfs.OS()})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// restart ends the queue manager and starts it again on the same files.
func (r *psRig) restart(mode store.StopMode) {
	r.t.Helper()
	ctx, cancel := contextDone()
	defer cancel()
	if err := r.m.Stop(ctx, mode); err != nil {
		r.t.Fatal(err)
	}
	r.opt.Store = openTestStore(r.t, r.dir)
	r.st = r.opt.Store
	r.objRig.open()
	r.c = r.connect("app")
}

func (r *psRig) connect(user string) *Conn {
	r.t.Helper()
	c, err := r.m.Connect(bg, auth.Identity{User: user, UID: 1001, Admin: true}, ConnectOptions{ApplName: "amqspub"})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func topicOD(s string) *mqi.OD {
	od := mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, s
	return &od
}

// pub is MQPUT1 to a topic string.
func (r *psRig) pub(topic, text string, opts int32, change ...func(*mqi.MD)) {
	r.t.Helper()
	wantRC(r.t, tryPub(r.c, topic, text, opts, change...), 0)
}

func tryPub(c *Conn, topic, text string, opts int32, change ...func(*mqi.MD)) error {
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	pmo.Options = opts
	for _, f := range change {
		f(&md)
	}
	return c.Put1(bg, topicOD(topic), &md, &pmo, []byte(text))
}

// openTopic is MQOPEN of a topic string for output.
func (r *psRig) openTopic(c *Conn, topic string) Handle {
	r.t.Helper()
	h, err := c.Open(bg, topicOD(topic), mqi.MQOO_OUTPUT)
	wantRC(r.t, err, 0)
	return h
}

func (r *psRig) close(c *Conn, h Handle, opts int32) {
	r.t.Helper()
	wantRC(r.t, c.Close(bg, h, opts), 0)
}

func subSD(topic string, opts int32, change ...func(*mqi.SD)) *mqi.SD {
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString = opts, topic
	for _, f := range change {
		f(&sd)
	}
	return &sd
}

// managed makes a managed nondurable subscription.
func (r *psRig) managed(c *Conn, topic string, opts int32, change ...func(*mqi.SD)) (queue, hsub Handle) {
	r.t.Helper()
	q, s, err := c.Subscribe(bg, subSD(topic, mqi.MQSO_CREATE|mqi.MQSO_MANAGED|opts, change...), 0)
	wantRC(r.t, err, 0)
	return q, s
}

func named(n string) func(*mqi.SD) { return func(sd *mqi.SD) { sd.SubName = n } }

// all gets everything from a handle.
func (r *psRig) all(c *Conn, h Handle) string {
	r.t.Helper()
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

// node reports whether a topic is in the tree, as DISPLAY TPSTATUS says.
func (r *psRig) node(topic string) bool {
	r.t.Helper()
	rep := r.cmd("DISPLAY TPSTATUS('" + topic + "') TYPE(TOPIC)")
	if rep.Failed() {
		if rep.RC != mqi.MQRCCF_TOPIC_STRING_NOT_FOUND {
			r.t.Fatalf("TPSTATUS(%s): %s", topic, replyText(rep))
		}
		return false
	}
	n := 0
	for row := range rep.Rows {
		for _, it := range row.Items {
			if it.Key == "TOPICSTR" && it.Val == topic {
				n++
			}
		}
	}
	if n != 1 {
		r.t.Fatalf("TPSTATUS(%s): %d blocks", topic, n)
	}
	return true
}

func (r *psRig) wantNodes(there string, not string) {
	r.t.Helper()
	for _, s := range strings.Fields(there) {
		if !r.node(s) {
			r.t.Errorf("topic %q is not there", s)
		}
	}
	for _, s := range strings.Fields(not) {
		if r.node(s) {
			r.t.Errorf("topic %q is there", s)
		}
	}
}

// topics are the topic strings of a DISPLAY TPSTATUS, sorted.
func (r *psRig) topics(text string) string {
	r.t.Helper()
	var out []string
	if rep := r.cmd(text); !rep.Failed() {
		for row := range rep.Rows {
			for _, it := range row.Items {
				if it.Key == "TOPICSTR" {
					out = append(out, it.Val)
				}
			}
		}
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

// field is one attribute of a DISPLAY that gives one row.
func (r *psRig) field(text, key string) string {
	r.t.Helper()
	rows := r.show(text)
	if len(rows) != 1 {
		r.t.Fatalf("%s: %d rows: %s", text, len(rows), rows)
	}
	_, after, ok := strings.Cut(" "+rows[0], " "+key+"(")
	if !ok {
		r.t.Fatalf("%s: no %s in %s", text, key, rows[0])
	}
	v, _, _ := strings.Cut(after, ")")
	return strings.Trim(strings.TrimSpace(v), "'")
}

// pass moves the clock and waits until the loops have done what is due.
func (r *psRig) pass(d time.Duration) {
	r.t.Helper()
	r.clk.Advance(d)
	r.settle()
}

// settle waits, in real time, until nothing is due in the topic tree.
func (r *psRig) settle() {
	r.t.Helper()
	tree := r.m.topics.tree
	for end := time.Now().Add(20 * time.Second); ; {
		now := r.clk.Now()
		at, idle := tree.NextDue()
		due, _ := r.m.topics.ends.due(now)
		if (!idle || at.After(now)) && len(due) == 0 {
			return
		}
		if time.Now().After(end) {
			r.t.Fatal("the topic loops do not do what is due")
		}
		// A loop that set its timer while the clock jumped would sleep past it: real clocks do not jump.
		r.m.setTreeLife(r.m.qmgrDef())
		r.m.topics.ends.kick()
		time.Sleep(100 * time.Microsecond)
	}
}

// eventually waits in real time for what another goroutine does.
func (r *psRig) eventually(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			r.t.Fatal("not so in time: " + what)
		}
	}
}

func (r *psRig) count() int { return r.m.topics.tree.Count() }

func (r *psRig) life(seconds int) {
	r.t.Helper()
	r.ok(fmt.Sprintf("ALTER QMGR TREELIFE(%d)", seconds))
}

// contextDone is a context that is over.
func contextDone() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	return ctx, cancel
}
