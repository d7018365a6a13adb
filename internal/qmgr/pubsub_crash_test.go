package qmgr

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

// crashRun is one queue manager whose power fails.
type crashRun struct {
	t   *testing.T
	dir string
}

func (r *crashRun) open(fs vfs.FS) (*Manager, error) {
	st, err := store.Open(store.Options{Dir: "/d/QM", FS: fs, SegmentSize: 256 << 10, JoinDelay: -1, Clock: clock.NewFake(testTime)})
	if err != nil {
		return nil, err
	}
	log := zerolog.Nop()
	o := Options{Name: "QM1", Store: st, Clock: clock.NewFake(testTime), Log: &log, User: "root", Version: "test"}
	m, err := Open(o)
	if err != nil && strings.Contains(err.Error(), "create it first") {
		if err = Create(o); err == nil {
			m, err = Open(o)
		}
	}
	if err != nil {
		_ = st.Close(store.Preempt, nil)
		return nil, err
	}
	return m, nil
}

// end stops what runs, whatever the store says.
func (r *crashRun) end(m *Manager) {
	ctx, cancel := contextDone()
	defer cancel()
	_ = m.Stop(ctx, store.Preempt)
}

func (r *crashRun) command(m *Manager, text string) {
	r.t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		r.t.Fatal(serr)
	}
	if rep := m.Execute(bg, c, admin); rep.Failed() {
		r.t.Fatalf("%s: %s", text, replyText(rep))
	}
}

// publishUnits makes units of work, each with a retained publication on two topics, until the power fails. It returns
// how many were acknowledged.
func (r *crashRun) publishUnits(m *Manager, disk *crashfs.FS) int {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for n := 1; ; n++ {
		for _, topic := range [...]string{"t/a", "t/b"} {
			err := tryPub(c, topic, fmt.Sprint(n), mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN, persistent)
			if err != nil && !disk.Dead() {
				r.t.Fatal(err)
			}
		}
		if err := c.Commit(bg); err != nil {
			if !disk.Dead() {
				r.t.Fatal(err)
			}
			return n - 1
		}
		if n == 40 {
			return n
		}
	}
}

// state reads what is there after a crash: the numbers on both queues, and the retained publications.
func (r *crashRun) state(m *Manager) (queues [2]string, retained [2]string) {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for i, q := range [...]string{"Q1", "Q2"} {
		h := openFor(r.t, c, q, mqi.MQOO_INPUT_SHARED)
		var out []string
		for {
			s, _, err := tryGet(c, h, 0)
			if err != nil {
				wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
				break
			}
			out = append(out, s)
		}
		queues[i] = strings.Join(out, " ")
	}
	for i, topic := range [...]string{"t/a", "t/b"} {
		q, _, err := c.Subscribe(bg, subSD(topic, create|managed), 0)
		wantRC(r.t, err, 0)
		s, _, err := tryGet(c, q, 0)
		if err == nil {
			retained[i] = s
		}
	}
	return queues, retained
}

// shm is a directory in memory where there is one: the tests of a failing power write much.
func shm(t *testing.T) string {
	t.Helper()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		if d, err := os.MkdirTemp("/dev/shm", "qmgrd-qmgr-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(d) })
			return d
		}
	}
	return t.TempDir()
}

// crashPoint makes a queue manager on a disk of its own, whose power is to fail.
func crashPoint(t *testing.T, dir string, i int) (*crashRun, *crashfs.FS, *Manager) {
	t.Helper()
	r := &crashRun{t: t, dir: fmt.Sprintf("%s/%d", dir, i)}
	for _, d := range [...]string{r.dir, r.dir + "x"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	disk := crashfs.New(r.dir)
	m, err := r.open(disk)
	if err != nil {
		t.Fatal(err)
	}
	return r, disk, m
}

// crash is what the disk holds after the power failed; i decides what of the writes without a sync it kept.
func (r *crashRun) crash(disk *crashfs.FS, i int) *crashfs.FS {
	r.t.Helper()
	after, err := disk.Crash(crashfs.Keep(i%3), uint64(i), r.dir+"x")
	if err != nil {
		r.t.Fatal(err)
	}
	return after
}

// A unit's copies on every subscriber's queue and its retained publications are there together or not at all, whenever
// the power fails and whatever the disk kept.
func TestCrashPublications(t *testing.T) {
	dir := shm(t)
	points, step := 60, 3
	if testing.Short() {
		points, step = 20, 9
	}
	for i := range points {
		r, disk, m := crashPoint(t, dir, i)
		for _, q := range [...]string{"1", "2"} {
			r.command(m, "DEFINE QLOCAL(Q"+q+")")
			r.command(m, "DEFINE SUB(S"+q+") TOPICSTR('t/#') DEST(Q"+q+")")
		}
		disk.CrashAt(disk.Ops() + 1 + i*step)
		acked := r.publishUnits(m, disk)
		r.end(m)
		after := r.crash(disk, i)
		m, err := r.open(after)
		if err != nil {
			t.Fatalf("point %d: %v", i, err)
		}
		queues, retained := r.state(m)
		r.end(m)
		want := func(n int) bool {
			var list []string
			for k := 1; k <= n; k++ {
				list = append(list, fmt.Sprint(k), fmt.Sprint(k))
			}
			all, last := strings.Join(list, " "), ""
			if n > 0 {
				last = fmt.Sprint(n)
			}
			return queues == [2]string{all, all} && retained == [2]string{last, last}
		}
		if !want(acked) && !want(acked+1) {
			t.Fatalf("point %d: %d units acknowledged; queues %q, retained %q", i, acked, queues, retained)
		}
	}
}

// reply runs a command that may fail.
func (r *crashRun) reply(m *Manager, text string) *attr.Reply {
	r.t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		r.t.Fatal(serr)
	}
	return m.Execute(bg, c, admin)
}
