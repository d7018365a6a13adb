package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/mq"
)

// T-KILL (reliability.md §3.1): a daemon is killed with signal 9 while eight clients put, get, commit and back out over
// the wire, a ninth publishes and subscribes, and commands define, alter and delete; the same files go through all
// loops. A third of the kills comes at a random moment, two thirds at a named place (killfs_test.go); in three of ten
// loops the start behind it is killed as well. The ledger is the oracle.

const killWorkers = 8

// namedLimit is how long a daemon may take to come to the place where it kills itself, before it is killed all the same.
const namedLimit = 2 * time.Second

type killRun struct {
	t     *testing.T
	seed  uint64
	loop  int
	rnd   *rand.Rand
	data  string
	k     *child
	l     *ledger
	where map[string]int
	last  string        // where the daemon was killed last
	took  time.Duration // by the last start, until ready
	cut   func()        // what the disk loses by a kill; nil: nothing
}

func TestKill(t *testing.T) {
	loops := budget{test: 40, crash: 200, release: 10_000}.of(t)
	for _, seed := range seeds(t, "kill") {
		r := &killRun{t: t, seed: seed, rnd: random(seed, 0), data: t.TempDir(), l: newLedger(), where: map[string]int{}}
		r.run(loops)
	}
}

func (r *killRun) run(loops int) {
	defer keepArtefacts(r.t, r.data)
	r.create()
	for r.loop = 1; r.loop <= loops && !r.t.Failed(); r.loop++ {
		r.once()
	}
	r.k.kill()
	var places []string
	for p, n := range r.where {
		places = append(places, fmt.Sprintf("%s %d", p, n))
	}
	sort.Strings(places)
	r.t.Logf("seed %d, %d loops; acknowledged: %d puts, %d gets, %d commits, %d backouts, %d publications, %d definitions; killed: %s",
		r.seed, r.loop-1, r.l.puts, r.l.gets, r.l.commits, r.l.backouts, r.l.pubs, r.l.defs, strings.Join(places, ", "))
	if r.l.puts == 0 || r.l.gets == 0 || r.l.pubs == 0 || r.l.defs == 0 {
		r.t.Error("nothing was acknowledged: the loops proved nothing")
	}
}

// gone is what becomes of the disk when its daemon was killed.
func (r *killRun) gone() {
	if r.cut != nil {
		r.cut()
	}
}

// create makes the queue manager, with small log segments so that checkpoints and changes of segment are many.
func (r *killRun) create() {
	r.t.Helper()
	var err error
	r.k, err = startChild(order{Data: r.data})
	must(r.t, err)
	r.k.kill()
	must(r.t, writeSynced(filepath.Join(paths.Dir(r.data, "QM1"), "qm.ini"), "Log:\n   SegmentSize=1M\n"))
	r.k, err = startChild(order{Data: r.data})
	must(r.t, err)
	var b strings.Builder
	for i := range killQueues {
		fmt.Fprintf(&b, "DEFINE QLOCAL(%s) MAXDEPTH(999999)\n", killQueue(i))
	}
	for i, q := range []string{subQueue, subQueue2} {
		fmt.Fprintf(&b, "DEFINE QLOCAL(%s) MAXDEPTH(999999)\nDEFINE SUB(ALL%d) TOPICSTR('k/#') DEST(%s)\n", q, i, q)
	}
	fmt.Fprintf(&b, "DEFINE CHANNEL(%s) CHLTYPE(SVRCONN) MCAUSER('%s')\nALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ')\n", killChannel, me())
	b.WriteString("REFRESH SECURITY TYPE(CONNAUTH)\n")
	out, err := r.k.script(bg, b.String())
	must(r.t, err)
	if strings.Contains(out, "E:") {
		r.t.Fatal(out)
	}
	r.k.kill()
	r.next()
}

func writeSynced(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// next starts the daemon of the next loop, with the place where it will be killed.
func (r *killRun) next() {
	r.t.Helper()
	o := order{Data: r.data}
	if r.rnd.IntN(3) > 0 {
		o.Point, o.N = killPoints[r.rnd.IntN(len(killPoints))], 1+r.rnd.IntN(2)
		if strings.Contains(o.Point, "write") || o.Point == "after sync" {
			o.N = 1 + r.rnd.IntN(60)
		}
	}
	var err error
	begun := time.Now()
	r.k, err = startChild(o)
	must(r.t, err)
	r.took = time.Since(begun)
	must(r.t, r.k.locate(bg))
}

func (r *killRun) once() {
	r.work()
	if out := r.k.stderr.String(); strings.Contains(out, "panic") {
		r.t.Errorf("loop %d: %s", r.loop, out)
	}
	r.gone()
	if r.rnd.IntN(10) < 3 {
		r.killStart()
		r.gone()
	}
	if err := checkClean(vfs.OS(), paths.Dir(r.data, "QM1")); err != nil {
		r.t.Errorf("loop %d: %v", r.loop, err)
	}
	r.next()
	r.verify()
	for _, e := range r.l.errs {
		r.t.Errorf("seed %d, loop %d, killed %s: %s", r.seed, r.loop, r.last, e)
	}
}

// work lets the clients work until the daemon is dead.
func (r *killRun) work() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(bg, 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	spawn := func(i int, f func(w *worker) error) {
		w := &worker{l: r.l, name: fmt.Sprintf("L%d.%d", r.loop, i), rnd: rand.New(rand.NewPCG(r.seed, uint64(r.loop*100+i)))}
		if err := w.open(ctx, r.k); err != nil {
			r.t.Fatalf("loop %d: connect: %v", r.loop, err)
		}
		wg.Go(func() { r.ended(f(w)) })
	}
	for i := range killWorkers {
		spawn(i, func(w *worker) error { return w.run(ctx) })
	}
	spawn(killWorkers, func(w *worker) error { return w.publisher(ctx) })
	d := &worker{l: r.l, name: fmt.Sprintf("L%d", r.loop), rnd: rand.New(rand.NewPCG(r.seed, uint64(r.loop*100+99)))}
	wg.Go(func() { r.ended(d.definer(ctx, r.k)) })
	r.k.arm()
	where, limit := r.k.order.Point, namedLimit
	if where == "" {
		limit = time.Duration(50+r.rnd.IntN(450)) * time.Millisecond
	}
	if !r.k.dead(limit) {
		where = "at random"
	}
	r.k.kill()
	r.last = where
	r.where[where]++
	wg.Wait()
}

// ended looks at why a client ended: only because its queue manager was gone.
func (r *killRun) ended(err error) {
	var e *mq.Error
	if errors.Is(err, errCommand) || errors.As(err, &e) && e.Reason != mq.ConnectionBroken && e.Reason != mq.HostNotAvailable {
		r.t.Errorf("loop %d: a client ended with %v", r.loop, err)
	}
}

// killStart kills the daemon while it recovers: at the n-th change it makes, or at a random moment.
func (r *killRun) killStart() {
	r.t.Helper()
	o := order{Data: r.data, AtStart: true, N: 1}
	var limit time.Duration
	switch r.rnd.IntN(3) {
	case 0:
		limit = time.Duration(1 + r.rnd.Int64N(int64(r.took)))
	case 1:
		o.Point, o.N = anyPoint, 1+r.rnd.IntN(4)
	default:
		points := append([]string{"before rename", "after rename"}, killPoints...)
		o.Point = points[r.rnd.IntN(len(points))]
	}
	k, err := startChildFor(o, limit)
	switch {
	case err == nil:
		k.kill()
		r.where["right after a start"]++
	case errors.Is(err, errNotReady) && strings.Contains(err.Error(), "EOF: {"):
		r.t.Errorf("loop %d: start: %v", r.loop, err) // it said why: that is no kill
	default:
		r.where["during a start"]++
	}
}

// verify reads everything back, and on every second loop takes it away.
func (r *killRun) verify() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(bg, 60*time.Second)
	defer cancel()
	c, err := r.k.connect(ctx)
	must(r.t, err)
	defer c.Close()
	drain := r.rnd.IntN(2) == 0
	found := map[string][][]byte{}
	for _, q := range append([]string{subQueue}, killQueue(0), killQueue(1), killQueue(2), killQueue(3)) {
		bodies, err := readQueue(ctx, c, q, drain)
		if err != nil {
			r.t.Fatalf("loop %d: %v", r.loop, err)
		}
		found[q] = bodies
	}
	twin, err := readQueue(ctx, c, subQueue2, drain)
	if err != nil {
		r.t.Fatalf("loop %d: %v", r.loop, err)
	}
	if !slices.EqualFunc(twin, found[subQueue], bytes.Equal) {
		r.l.wrong("%d publications are on %s, %d on %s, or in another order", len(twin), subQueue2, len(found[subQueue]), subQueue)
	}
	r.l.settle(found)
	r.l.settleRetained(r.retained(ctx, c))
	r.l.settleThings("queue ", r.shown(ctx, "DISPLAY QLOCAL(D.*) DESCR\n", "QUEUE"))
	r.l.settleThings("sub ", r.shown(ctx, "DISPLAY SUB(S.*) TOPICSTR\n", "SUB"))
	if drain {
		clear(r.l.msgs)
	}
}

// readQueue gets all messages in units of a hundred, or browses them.
func readQueue(ctx context.Context, c *mq.Conn, name string, drain bool) (out [][]byte, err error) {
	q, err := c.Open(ctx, name, mq.InputShared|mq.BrowseMode)
	if err != nil {
		return nil, err
	}
	messages := q.Browse(ctx, mq.GetOptions{})
	if drain {
		messages = q.Messages(ctx, mq.GetOptions{Syncpoint: true})
	}
	for m, err := range messages {
		if err != nil {
			return nil, err
		}
		out = append(out, m.Body)
		if drain && len(out)%100 == 0 {
			if err := c.Commit(ctx); err != nil {
				return nil, err
			}
		}
	}
	if drain {
		err = c.Commit(ctx)
	}
	return out, errors.Join(err, q.Close(ctx))
}

func (r *killRun) retained(ctx context.Context, c *mq.Conn) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for i := range subTopics {
		topic := fmt.Sprint("k/", i)
		s, err := c.Subscribe(ctx, mq.SubOptions{Topic: topic})
		must(r.t, err)
		m, err := s.Get(ctx, mq.GetOptions{})
		if err == nil {
			id, _, _ := bytes.Cut(m.Body, []byte("|"))
			out[topic] = string(id)
		} else if !errors.Is(err, mq.NoMsgAvailable) {
			r.t.Fatal(err)
		}
		must(r.t, s.Close(ctx))
	}
	return out
}

var shownItem = regexp.MustCompile(`(QUEUE|SUB|DESCR)\(([^)]*)\)`)

// shown reads a DISPLAY: name → DESCR.
func (r *killRun) shown(ctx context.Context, command, name string) map[string]string {
	r.t.Helper()
	text, err := r.k.script(ctx, command)
	must(r.t, err)
	out, last := map[string]string{}, ""
	for _, m := range shownItem.FindAllStringSubmatch(text, -1) {
		if m[1] == name {
			last = m[2]
			out[last] = ""
		} else if m[1] == "DESCR" {
			out[last] = m[2]
		}
	}
	return out
}
