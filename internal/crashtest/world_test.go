package crashtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

var bg = context.Background()

// worldDir is where the queue manager's files are on a disk of crashfs.
const worldDir = "/d/QM"

// world is a queue manager in this process, on whatever disk, with one application's connection. Its clock stands
// still, so that it does nothing on its own account.
type world struct {
	st   store.Store
	m    *qmgr.Manager
	c    *qmgr.Conn
	h    map[string]qmgr.Handle // queues that are open
	told []string               // what the store told the operator at its start
}

func openWorld(fsys vfs.FS, dir string) (*world, error) { return openWorldWith(fsys, dir, 64<<10) }

func openWorldWith(fsys vfs.FS, dir string, segment int64) (*world, error) {
	clk := clock.NewFake(time.Date(2026, 5, 14, 14, 38, 28, 0, time.UTC))
	var mu sync.Mutex
	var told []string
	st, err := store.Open(store.Options{Dir: dir, FS: fsys, SegmentSize: segment, JoinDelay: -1, LogSegments: 8, Clock: clk,
		Notice: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, text)
		}})
	if err != nil {
		return nil, err
	}
	log := zerolog.Nop()
	o := qmgr.Options{Name: "QM1", Store: st, Clock: clk, Log: &log, User: "root", Version: "test"}
	m, err := qmgr.Open(o)
	if err != nil && strings.Contains(err.Error(), "create it first") {
		if err = qmgr.Create(o); err == nil {
			m, err = qmgr.Open(o)
		}
	}
	if err != nil {
		return nil, errors.Join(err, ignoreFailed(st.Close(store.Preempt, nil)))
	}
	mu.Lock()
	w := &world{st: st, m: m, h: map[string]qmgr.Handle{}, told: told}
	mu.Unlock()
	if err := w.connect(); err != nil {
		w.end(store.Preempt)
		return nil, err
	}
	return w, nil
}

// ignoreFailed drops what a store says that has failed already.
func ignoreFailed(err error) error {
	if errors.Is(err, store.ErrFailed) {
		return nil
	}
	return err
}

func (w *world) connect() (err error) {
	w.c, err = w.m.Connect(bg, auth.Identity{User: "root", Admin: true}, qmgr.ConnectOptions{ApplName: "crashtest"})
	return err
}

// end ends the manager without asking anybody.
func (w *world) end(mode store.StopMode) {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_ = w.m.Stop(ctx, mode)
}

func (w *world) failed() bool {
	select {
	case <-w.st.Failed():
		return true
	default:
		return false
	}
}

// handle opens a queue once.
func (w *world) handle(q string) (qmgr.Handle, error) {
	if h, ok := w.h[q]; ok {
		return h, nil
	}
	od := mqi.DefaultOD()
	od.ObjectName = q
	h, err := w.c.Open(bg, &od, mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT|mqi.MQOO_BROWSE)
	if err == nil {
		w.h[q] = h
	}
	return h, err
}

// release closes a queue that was opened.
func (w *world) release(q string) error {
	h, ok := w.h[q]
	if !ok {
		return nil
	}
	delete(w.h, q)
	return w.c.Close(bg, h, mqi.MQCO_NONE)
}

func (w *world) put(q, text string, options int32, persistent bool) error {
	h, err := w.handle(q)
	if err != nil {
		return err
	}
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Persistence = mqi.MQPER_NOT_PERSISTENT
	if persistent {
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	pmo.Options = options
	return w.c.Put(bg, h, &md, &pmo, []byte(text))
}

// get gets or browses; "" is no message.
func (w *world) get(h qmgr.Handle, options int32) (string, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version, gmo.Version = 2, 2
	gmo.Options, gmo.WaitInterval = options, 0
	data, _, err := w.c.Get(bg, h, &md, &gmo, 4<<20)
	if _, rc := mqi.Reason(err); rc == mqi.MQRC_NO_MSG_AVAILABLE {
		return "", nil
	}
	return string(data), err
}

func (w *world) publish(topic, text string) error {
	md, pmo, od := mqi.DefaultMD(), mqi.DefaultPMO(), mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, topic
	md.Persistence, pmo.Options = mqi.MQPER_PERSISTENT, mqi.MQPMO_RETAIN|mqi.MQPMO_NO_SYNCPOINT
	err := w.c.Put1(bg, &od, &md, &pmo, []byte(text))
	if _, rc := mqi.Reason(err); rc == mqi.MQRC_NO_SUBS_MATCHED {
		return nil
	}
	return err
}

// subscribe makes a durable subscription of everything below p to Q2.
func (w *world) subscribe(name string) error {
	h, err := w.handle("Q2")
	if err != nil {
		return err
	}
	sd := mqi.DefaultSD()
	sd.Options = mqi.MQSO_CREATE | mqi.MQSO_RESUME | mqi.MQSO_DURABLE | mqi.MQSO_WILDCARD_TOPIC
	sd.ObjectString, sd.SubName = "p/#", name
	_, hsub, err := w.c.Subscribe(bg, &sd, h)
	if err == nil {
		err = w.c.Close(bg, hsub, mqi.MQCO_KEEP_SUB)
	}
	return err
}

var errRefused = errors.New("the command was refused")

func (w *world) command(text string) ([]map[string]string, error) {
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		return nil, serr
	}
	rep := w.m.Execute(bg, c, auth.Identity{User: "root", Admin: true})
	if rep.Failed() {
		id := "no message"
		if len(rep.Msgs) > 0 {
			id = rep.Msgs[0].ID + " " + rep.Msgs[0].Text()
			if rep.Msgs[0].ID == "AMQ8147E" {
				return nil, nil // a DISPLAY that finds nothing
			}
		}
		return nil, fmt.Errorf("%s: %w: reason %d, %s", text, errRefused, rep.RC, id)
	}
	return rowsOf(rep), nil
}

func rowsOf(rep *attr.Reply) (out []map[string]string) {
	if rep.Rows == nil {
		return nil
	}
	for row := range rep.Rows {
		m := map[string]string{}
		for _, it := range row.Items {
			m[it.Key] = strings.TrimSpace(it.Val)
		}
		out = append(out, m)
	}
	return out
}

// state reads everything that is committed, in the words of model.String.
func (w *world) state() (string, error) {
	m := newModel()
	for q := range m.queues {
		h, err := w.handle(q)
		if err != nil {
			return "", err
		}
		for opt := int32(mqi.MQGMO_BROWSE_FIRST); ; opt = mqi.MQGMO_BROWSE_NEXT {
			s, err := w.get(h, opt)
			if err != nil {
				return "", fmt.Errorf("browse %s: %w", q, err)
			}
			if s == "" {
				break
			}
			m.queues[q] = append(m.queues[q], msg{text: s})
		}
	}
	if err := w.readRetained(m); err != nil {
		return "", err
	}
	rows, err := w.command("DISPLAY SUB(S1*)")
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		m.subs[strings.Trim(r["SUB"], "'")] = true
	}
	if rows, err = w.command("DISPLAY QLOCAL(D*) DESCR"); err != nil {
		return "", err
	}
	for _, r := range rows {
		m.objs[r["QUEUE"]] = strings.Trim(r["DESCR"], "'")
	}
	return m.String(), nil
}

func (w *world) readRetained(m *model) error {
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString = mqi.MQSO_CREATE|mqi.MQSO_MANAGED|mqi.MQSO_NON_DURABLE|mqi.MQSO_WILDCARD_TOPIC, "p/#"
	q, hsub, err := w.c.Subscribe(bg, &sd, 0)
	if err != nil {
		return fmt.Errorf("read what is retained: %w", err)
	}
	for {
		s, err := w.get(q, mqi.MQGMO_NO_SYNCPOINT)
		if err != nil {
			return fmt.Errorf("read what is retained: %w", err)
		}
		if s == "" {
			break
		}
		topic, _, _ := strings.Cut(s, ":")
		if _, twice := m.retained[topic]; twice {
			return fmt.Errorf("topic %s has two retained publications", topic)
		}
		m.retained[topic] = s
	}
	return errors.Join(w.c.Close(bg, hsub, mqi.MQCO_NONE), w.c.Close(bg, q, mqi.MQCO_NONE))
}

// base is a disk with a queue manager that has some of everything, made once, and its model. Take clones of it.
var base = sync.OnceValues(func() (*crashfs.FS, error) {
	disk := crashfs.New(baseDir)
	w, err := openWorld(disk, worldDir)
	if err != nil {
		return nil, err
	}
	for _, text := range [...]string{"DEFINE QLOCAL(Q1) MAXDEPTH(999999)", "DEFINE QLOCAL(Q2) MAXDEPTH(999999)",
		"DEFINE QLOCAL(D0) DESCR('0')"} {
		if _, err := w.command(text); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.put("Q1", "b1", mqi.MQPMO_NO_SYNCPOINT, true), w.put("Q1", "b2", mqi.MQPMO_NO_SYNCPOINT, true),
		w.publish("p/1", "p/1:b"))
	w.end(store.Immediate)
	return disk, err
})

// baseDir holds base's real file; TestMain makes and removes it.
var baseDir string

func baseModel() *model {
	m := newModel()
	m.queues["Q1"] = []msg{{text: "b1"}, {text: "b2"}}
	m.retained["p/1"] = "p/1:b"
	m.objs["D0"] = "0"
	return m
}

// cloneBase is a fresh copy of base, with its real files below dir.
func cloneBase(dir string) (*crashfs.FS, error) {
	disk, err := base()
	if err != nil {
		return nil, err
	}
	return disk.Crash(crashfs.All, 0, dir)
}

// checkClean runs the product's checker.
func checkClean(fsys vfs.FS, dir string) error {
	ps, err := store.Check(dir, fsys)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, p := range ps {
		// After power failed in a commit of the state file, the other meta page is in force.
		if !strings.Contains(p.What, "one of the two meta pages is damaged") {
			return fmt.Errorf("check: %v", p)
		}
	}
	return nil
}

// verifyImage starts a queue manager on a disk, as often as told, and compares what is there with what may be.
func verifyImage(fsys vfs.FS, dir string, may []*model, starts int) error {
	for range starts {
		w, err := openWorld(fsys, dir)
		if err != nil {
			return fmt.Errorf("start: %w", err)
		}
		got, err := w.state()
		w.end(store.Preempt)
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if err := oneOf(got, may); err != nil {
			return err
		}
	}
	return checkClean(fsys, dir)
}

func TestBase(t *testing.T) {
	disk, err := cloneBase(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyImage(disk, worldDir, []*model{baseModel()}, 2); err != nil {
		t.Fatal(err)
	}
	if s := baseModel().restarted().String(); s == newModel().String() || !slices.IsSorted(sort.StringSlice(strings.Split(s, "; "))) {
		t.Fatalf("a state reads %s", s)
	}
}
