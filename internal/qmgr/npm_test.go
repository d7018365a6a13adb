package qmgr

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// drainAll gets everything from a queue.
func (r *rig) drainAll(name string) string {
	r.t.Helper()
	h := r.openQ(r.c, name, mqi.MQOO_INPUT_SHARED)
	var out []string
	for {
		s, _, err := tryGet(r.c, h, 0)
		if err != nil {
			wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			return strings.Join(out, " ")
		}
		out = append(out, s)
	}
}

func persistent(md *mqi.MD) { md.Persistence = mqi.MQPER_PERSISTENT }

// Seed 003 and facts/npmclass-jms.md §2: what survives, by the way the queue manager ended. A row for HIGH with
// preemptive end says "may be lost"; this queue manager always loses it.
func TestNPMClass(t *testing.T) {
	for _, tc := range []struct {
		mode         store.StopMode
		normal, high string
	}{
		{store.Quiesce, "p", "n p"},
		{store.Immediate, "p", "n p"},
		{store.Preempt, "p", "p"},
	} {
		t.Run(fmt.Sprint(tc.mode), func(t *testing.T) {
			r := newBoltRig(t)
			r.define("QLOCAL", "NORMAL")
			r.define("QLOCAL", "HIGH", "NPMCLASS", "HIGH")
			for _, q := range []string{"NORMAL", "HIGH"} {
				h := r.openQ(r.c, q, inOut)
				r.put(r.c, h, "n", 0)
				r.put(r.c, h, "p", 0, persistent)
			}
			r.restart(tc.mode)
			if got := r.drainAll("NORMAL"); got != tc.normal {
				t.Errorf("NORMAL: %q, want %q", got, tc.normal)
			}
			if got := r.drainAll("HIGH"); got != tc.high {
				t.Errorf("HIGH: %q, want %q", got, tc.high)
			}
			r.restart(store.Quiesce) // nothing comes back from the dead
			if got := r.drainAll("HIGH") + r.drainAll("NORMAL"); got != "" {
				t.Errorf("resurrected: %q", got)
			}
		})
	}
}

// The attribute in force at the end decides, not that at the time of the put.
func TestNPMClassAtTheEnd(t *testing.T) {
	for _, tc := range []struct{ before, after, want string }{{"NORMAL", "HIGH", "n"}, {"HIGH", "NORMAL", ""}} {
		r := newBoltRig(t)
		r.define("QLOCAL", "Q", "NPMCLASS", tc.before)
		r.put(r.c, r.openQ(r.c, "Q", inOut), "n", 0)
		r.alter(ClassQueue, "Q", "NPMCLASS", tc.after)
		r.restart(store.Quiesce)
		if got := r.drainAll("Q"); got != tc.want {
			t.Errorf("%s then %s: %q, want %q", tc.before, tc.after, got, tc.want)
		}
	}
}

// Uncommitted nonpersistent puts are rolled back, uncommitted gets restored; order, identifiers, backout count and
// expiry are as before.
func TestNPMClassDetails(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q", "NPMCLASS", "HIGH")
	h := r.openQ(r.c, "Q", inOut)
	first := r.put(r.c, h, "first", 0)
	r.put(r.c, h, "second", 0, func(md *mqi.MD) { md.Expiry = 1000 })
	r.put(r.c, h, "high", 0, func(md *mqi.MD) { md.Priority = 8 })
	r.put(r.c, h, "short", 0, func(md *mqi.MD) { md.Expiry = 100 })
	r.get(r.c, h, 0) // high
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	r.put(r.c, h, "uncommitted", mqi.MQPMO_SYNCPOINT)
	r.put(r.c, h, "urgent", 0, func(md *mqi.MD) { md.Priority = 9 })
	r.end(store.Immediate)
	r.clk.Advance(50 * time.Second) // goes on counting while it is down
	r.st = r.openBolt()
	r.open()
	h = r.openQ(r.c, "Q", inOut)
	if s, _ := r.get(r.c, h, 0); s != "urgent" {
		t.Errorf("first is %q", s)
	}
	if s, md := r.get(r.c, h, 0); s != "first" || md.BackoutCount != 1 || md.MsgID != first.MsgID || md.PutTime != first.PutTime {
		t.Errorf("%q %+v", s, md)
	}
	if s, md := r.get(r.c, h, 0); s != "second" || md.Expiry != 500 {
		t.Errorf("%q with %d tenths left", s, md.Expiry)
	}
	if got := r.drainAll("Q"); got != "" {
		t.Errorf("left: %q", got)
	}
}

func TestTemporaryDynamicNeverSurvives(t *testing.T) {
	r := newBoltRig(t)
	r.define("QMODEL", "TEMP", "DEFTYPE", "TEMPDYN", "NPMCLASS", "HIGH")
	r.define("QMODEL", "PERM", "DEFTYPE", "PERMDYN", "NPMCLASS", "HIGH")
	for _, model := range []string{"TEMP", "PERM"} {
		od := mqi.DefaultOD()
		od.ObjectName, od.DynamicQName = model, model+".Q"
		h, err := r.c.Open(bg, &od, inOut)
		wantRC(t, err, 0)
		r.put(r.c, h, "n", 0)
	}
	r.restart(store.Quiesce)
	if r.m.lookup(ClassQueue, "TEMP.Q") != nil {
		t.Error("temporary dynamic queue is there after a restart")
	}
	if got := r.drainAll("PERM.Q"); got != "n" {
		t.Errorf("permanent dynamic queue: %q", got)
	}
}

// HARDENBO: the backout count of a persistent message survives.
func TestBackoutCountSurvives(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "p", 0, persistent)
	for i := 0; i < 2; i++ {
		r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
		wantRC(t, r.c.Backout(bg), 0)
	}
	r.get(r.c, h, mqi.MQGMO_SYNCPOINT)
	r.restart(store.Preempt)
	h = r.openQ(r.c, "Q", inOut)
	if _, md := r.get(r.c, h, 0); md.BackoutCount != 3 {
		t.Errorf("backout count %d", md.BackoutCount)
	}
}

// Messages of a queue that has no definition any more go at start.
func TestOrphansDropped(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q")
	r.put(r.c, r.openQ(r.c, "Q", inOut), "p", 0, persistent)
	var tx store.Tx
	tx.Unset(store.TableObjects, storeKey(ClassQueue, "Q"))
	if _, err := r.st.Commit(bg, &tx); err != nil {
		t.Fatal(err)
	}
	r.restart(store.Quiesce)
	r.end(store.Quiesce)
	r.st = r.openBolt()
	var left []string
	if err := r.st.Live(func(l store.Live) error { left = append(left, fmt.Sprint(l.Q)); return nil }); err != nil {
		t.Fatal(err)
	}
	sort.Strings(left)
	if len(left) != 0 {
		t.Errorf("messages of queues %v left", left)
	}
	if err := r.st.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
}

// A queue of NPMCLASS(HIGH) that is full comes back full: every message, none over, in order, with its properties and its place in a
// group; and so after a second restart. What was got in between stays away.
func TestNPMClassFullQueue(t *testing.T) {
	for _, mode := range []store.StopMode{store.Quiesce, store.Immediate} {
		r := newBoltRig(t)
		r.define("QLOCAL", "Q", "NPMCLASS", "HIGH", "MAXDEPTH", "3", "PROPCTL", "ALL")
		h := r.openQ(r.c, "Q", inOut)
		as, text := rfh2Message(t, "one", `<usr><colour>red</colour></usr>`)
		r.put(r.c, h, text, 0, as)
		var group mqi.ID
		for i, flags := range []int32{mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP} {
			md := r.put(r.c, h, fmt.Sprint("part ", i), mqi.MQPMO_LOGICAL_ORDER, func(md *mqi.MD) { md.Version, md.MsgFlags = 2, flags })
			group = md.GroupID
		}
		_, err := tryPut(r.c, h, "four", 0)
		wantRC(t, err, mqi.MQRC_Q_FULL)
		for range 2 {
			r.restart(mode)
			h = r.openQ(r.c, "Q", inOut)
			_, err = tryPut(r.c, h, "four", 0)
			wantRC(t, err, mqi.MQRC_Q_FULL)
		}
		if s, md := r.get(r.c, h, 0); md.Format != mqi.MQFMT_RF_HEADER_2 || !strings.Contains(s, "<colour>red</colour>") ||
			!strings.HasSuffix(s, "one") {
			t.Errorf("%v: %q %+v", mode, s, md)
		}
		r.restart(mode)
		h = r.openQ(r.c, "Q", inOut)
		for i := range 2 {
			s, md := r.get(r.c, h, mqi.MQGMO_LOGICAL_ORDER|mqi.MQGMO_ALL_MSGS_AVAILABLE)
			if s != fmt.Sprint("part ", i) || md.GroupID != group || md.MsgSeqNumber != int32(i+1) {
				t.Errorf("%v: %q %+v", mode, s, md)
			}
		}
		r.restart(mode)
		if got := r.drainAll("Q"); got != "" {
			t.Errorf("%v: back from the dead: %q", mode, got)
		}
	}
}

// After a kill or a loss of power, seen in the files as they are while the queue manager runs: NORMAL is discarded; a message of
// HIGH is whole or absent, and once; persistent messages stay. Kept messages of the end before are no exception.
func TestNPMClassCrash(t *testing.T) {
	r := newBoltRig(t)
	for _, q := range [][2]string{{"NORMAL", "NORMAL"}, {"HIGH", "HIGH"}} {
		r.define("QLOCAL", q[0], "NPMCLASS", q[1])
		h := r.openQ(r.c, q[0], inOut)
		for i := range 5 {
			r.put(r.c, h, fmt.Sprint("kept", i), 0)
		}
	}
	r.restart(store.Quiesce)
	for _, q := range []string{"NORMAL", "HIGH"} {
		h := r.openQ(r.c, q, inOut)
		r.put(r.c, h, "p", 0, persistent)
		r.put(r.c, h, "n", 0)
		r.put(r.c, h, "u", mqi.MQPMO_SYNCPOINT, persistent)
	}
	r.get(r.c, r.openQ(r.c, "HIGH", inOut), 0) // kept0
	crashed := filepath.Join(t.TempDir(), "QM1")
	if err := os.CopyFS(crashed, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	r.end(store.Preempt)
	r.dir = crashed
	r.st = r.openBolt()
	r.open()
	if got := r.drainAll("NORMAL"); got != "p" {
		t.Errorf("NORMAL: %q", got)
	}
	seen := map[string]int{}
	for _, s := range strings.Fields(r.drainAll("HIGH")) {
		seen[s]++
	}
	if seen["p"] != 1 || seen["kept0"] != 0 || seen["u"] != 0 {
		t.Errorf("HIGH: %v", seen)
	}
	for s, n := range seen {
		if n > 1 || s != "p" && s != "n" && !strings.HasPrefix(s, "kept") {
			t.Errorf("%d times %q", n, s)
		}
	}
}
