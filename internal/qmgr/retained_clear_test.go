package qmgr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

// setClearOneByOne makes CLEAR TOPICSTR of more than n publications one record, for the length of a test.
func setClearOneByOne(t *testing.T, n int) {
	t.Helper()
	was := clearOneByOne
	clearOneByOne = n
	t.Cleanup(func() { clearOneByOne = was })
}

// inTable are the keys of the store's table of retained publications.
func inTable(t *testing.T, m *Manager) []string {
	t.Helper()
	var keys []string
	if err := m.opt.Store.Range(retainedTable, nil, nil, func(k, _ []byte) error {
		keys = append(keys, string(k))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return keys
}

// sweepAll removes what clears have left.
func sweepAll(t *testing.T, m *Manager) {
	t.Helper()
	for range 100 {
		over, err := m.retain.sweepOnce(bg, m.opt.Store)
		if err != nil {
			t.Fatal(err)
		}
		if over {
			return
		}
	}
	t.Fatal("sweeps find no end")
}

// A clear of many takes what fits, persistent or not, and leaves what was published after it.
func TestClearManyRetained(t *testing.T) {
	setClearOneByOne(t, 3)
	r := newPSBoltRig(t)
	for i := range 10 {
		r.pub(fmt.Sprintf("a/%d", i), "p", mqi.MQPMO_RETAIN, persistent)
		r.pub(fmt.Sprintf("a/m%d", i), "m", mqi.MQPMO_RETAIN)
	}
	r.pub("b/1", "stays", mqi.MQPMO_RETAIN, persistent)
	r.ok("CLEAR TOPICSTR('a/#') CLRTYPE(RETAINED)")
	r.pub("a/3", "new", mqi.MQPMO_RETAIN, persistent)
	r.pub("a/4", "new, not persistent", mqi.MQPMO_RETAIN)
	check := func(when, want string) {
		t.Helper()
		q, s := r.managed(r.c, "#", 0)
		got := strings.Split(r.all(r.c, q), " ")
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: retained %q, want %q", when, got, want)
		}
		r.close(r.c, s, 0)
	}
	check("after the clear", "new new, not persistent stays")
	r.restart(store.Immediate)
	r.c = r.connect("app")
	check("after a restart", "new stays")
	sweepAll(t, r.m)
	if got := inTable(t, r.m); !slices.Equal(got, []string{"ta/3", "tb/1"}) {
		t.Errorf("the store holds %q", got)
	}
}

// clearUntilDead publishes and clears until the power fails. It returns what may be retained then.
func (r *crashRun) clearUntilDead(m *Manager, disk *crashfs.FS, topics int) (may []string) {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	clear, serr := mqsc.ParseCommand("CLEAR TOPICSTR('t/#') CLRTYPE(RETAINED)")
	if serr != nil {
		r.t.Fatal(serr)
	}
	is := ""
	step := func(next string, ok func() bool) bool {
		may = []string{is, next}
		if !ok() {
			return false
		}
		is, may = next, []string{next}
		return true
	}
	for n := range 5 {
		var all []string
		for i := range topics {
			text := fmt.Sprint("before ", n)
			if tryPub(c, fmt.Sprintf("t/%d", i), text, mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN, persistent) != nil {
				return []string{is}
			}
			all = append(all, fmt.Sprintf("t/%d=%s", i, text))
		}
		text := fmt.Sprint("after ", n)
		if !step(strings.Join(all, ", "), func() bool { return c.Commit(bg) == nil }) ||
			!step("", func() bool { return !m.Execute(bg, clear, admin).Failed() }) ||
			!step("t/3="+text, func() bool { return tryPub(c, "t/3", text, mqi.MQPMO_RETAIN, persistent) == nil }) {
			return may
		}
		if _, err := m.retain.sweepOnce(bg, m.opt.Store); err != nil || disk.Dead() {
			return may
		}
	}
	return may
}

// Whenever the power fails: what was reported as cleared does not come back, neither by the next start nor by the one after it, and
// what was published after the clear is there. What was not reported is cleared as a whole or not at all.
func TestCrashClearRetained(t *testing.T) {
	setClearOneByOne(t, 3)
	dir := shm(t)
	points, step, topics := 90, 1, 8
	if testing.Short() {
		points, step = 30, 3
	}
	for i := range points {
		r, disk, m := crashPoint(t, dir, i)
		disk.CrashAt(disk.Ops() + 1 + i*step)
		may := r.clearUntilDead(m, disk, topics)
		r.end(m)
		after := r.crash(disk, i)
		first := ""
		for again := range 3 {
			m, err := r.open(after)
			if err != nil {
				t.Fatalf("point %d: %v", i, err)
			}
			got := r.retained(m, topics)
			if again == 0 {
				if first = got; !slices.Contains(may, got) {
					t.Fatalf("point %d: retained %q, want one of %q", i, got, may)
				}
			} else if got != first {
				t.Fatalf("point %d, start %d: retained %s, before %s", i, again, got, first)
			}
			if again == 1 {
				sweepAll(t, m)
				for _, k := range inTable(t, m) {
					if topic := strings.TrimPrefix(k, "t"); !strings.Contains(got, topic+"=") {
						t.Fatalf("point %d: the store holds %q after the sweep, retained are %s", i, k, got)
					}
				}
			}
			r.end(m)
		}
	}
}

// retained are the publications that a new subscription gets, in order of topics.
func (r *crashRun) retained(m *Manager, topics int) string {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for i := range topics {
		topic := fmt.Sprintf("t/%d", i)
		q, _, err := c.Subscribe(bg, subSD(topic, create|managed), 0)
		wantRC(r.t, err, 0)
		if s, _, err := tryGet(c, q, 0); err == nil {
			out = append(out, topic+"="+s)
		}
	}
	return strings.Join(out, ", ")
}
