package qmgr

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/store"
)

var errTest = errors.New("made to fail")

func pidText() string { return strconv.Itoa(os.Getpid()) }

// slowStore holds every unit until it is let go, or refuses it.
type slowStore struct {
	store.Store
	mu   sync.Mutex
	hold chan struct{} // nil: nothing is held
	fail error
}

type slowTicket struct {
	store.Ticket
	hold chan struct{}
	err  error
}

func (s *slowStore) Submit(t *store.Tx) store.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return &slowTicket{hold: s.hold, err: s.fail}
	}
	return &slowTicket{Ticket: s.Store.Submit(t), hold: s.hold}
}

func (t *slowTicket) Wait(ctx context.Context) error {
	if t.hold != nil {
		select {
		case <-t.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if t.err != nil {
		return t.err
	}
	return t.Ticket.Wait(ctx)
}

func (s *slowStore) set(hold chan struct{}, fail error) {
	s.mu.Lock()
	s.hold, s.fail = hold, fail
	s.mu.Unlock()
}

func slowRig(t *testing.T) (*objRig, *slowStore) {
	s := &slowStore{Store: store.OpenMem()}
	return newObjRig(t, func(o *Options) { o.Store = s }), s
}

func (r *objRig) submit(text string) *Pending {
	r.t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		r.t.Fatalf("%s: %v", text, serr)
	}
	return r.m.Submit(context.Background(), c, admin)
}

// Nothing is in force, and no reply is given, before the store says that it is durable.
func TestReplyFollowsSync(t *testing.T) {
	r, s := slowRig(t)
	hold := make(chan struct{})
	s.set(hold, nil)
	p := r.submit("DEFINE QLOCAL(A) MAXDEPTH(9)")
	got := make(chan *attr.Reply, 1)
	go func() { got <- p.Wait(context.Background()) }()
	select {
	case rep := <-got:
		t.Fatalf("reply %s before the sync", replyText(rep))
	case <-time.After(20 * time.Millisecond):
	}
	r.refuse("AMQ8147E", "DISPLAY QLOCAL(A)")
	close(hold)
	if rep := <-got; rep.Failed() {
		t.Fatal(replyText(rep))
	}
	r.want("DISPLAY QLOCAL(A) MAXDEPTH", "QUEUE(A) TYPE(QLOCAL) MAXDEPTH(9)")
	if a, b := p.Wait(context.Background()), p.Wait(context.Background()); a != b {
		t.Fatal("Wait gives two replies")
	}
}

// A unit that the store refuses changes nothing, and the reply says why.
func TestStoreRefuses(t *testing.T) {
	r, s := slowRig(t)
	r.ok("DEFINE QLOCAL(A) MAXDEPTH(9)")
	r.ok("DEFINE TOPIC(T) TOPICSTR('t')")
	s.set(nil, store.ErrFull)
	for _, cmd := range []string{"DEFINE QLOCAL(B)", "ALTER QLOCAL(A) MAXDEPTH(1)", "DELETE QLOCAL(A)", "DEFINE TOPIC(U) TOPICSTR('u')",
		"DELETE TOPIC(T)", "ALTER QMGR DESCR('x')", "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('g') AUTHADD(GET)",
		"DEFINE SUB(S) TOPICSTR('x') DESTCLAS(MANAGED)"} {
		rep := r.refuse("AMQ7463E", cmd)
		if rep.RC != 2192 {
			t.Errorf("%s: %s reason %d", cmd, replyText(rep), rep.RC)
		}
	}
	s.set(nil, nil)
	r.want("DISPLAY QLOCAL(A) MAXDEPTH", "QUEUE(A) TYPE(QLOCAL) MAXDEPTH(9)")
	r.want("DISPLAY QMGR DESCR", "QMNAME(QM1) DESCR( )")
	r.refuse("AMQ8147E", "DISPLAY QLOCAL(B)")
	r.refuse("AMQ8147E", "DISPLAY QLOCAL(SYSTEM.MANAGED*)")
	// What was reserved is free: names, topic strings, the queue that was to be deleted.
	r.ok("DEFINE QLOCAL(B)")
	r.ok("DEFINE TOPIC(V) TOPICSTR('u')")
	if o := r.m.lookup(ClassQueue, "A"); o == nil || o.deleting.Load() {
		t.Fatal("the queue whose deletion failed is not whole")
	}
}

// What was submitted takes effect though nobody waits for it: a script's reader may have gone.
func TestNobodyWaits(t *testing.T) {
	r, s := slowRig(t)
	r.ok("DEFINE QLOCAL(OLD)")
	r.ok("DEFINE QLOCAL(STAYS)")
	hold := make(chan struct{})
	s.set(hold, nil)
	for i := range 100 {
		r.submit(fmt.Sprintf("DEFINE QLOCAL(Q%03d)", i))
	}
	r.submit("DELETE QLOCAL(OLD)")
	s.set(hold, store.ErrFull)
	r.submit("DELETE QLOCAL(STAYS)")
	s.set(nil, nil)
	close(hold)
	waitUntil(t, func() bool {
		stays := r.m.lookup(ClassQueue, "STAYS")
		return len(r.m.list("Q*", ClassQueue)) == 100 && r.m.lookup(ClassQueue, "OLD") == nil && !stays.deleting.Load() &&
			stays.latched() == nil
	})
}

// waitUntil waits for what another goroutine is about to do.
func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it does not come")
}

// A store that has failed may hold the unit or not: the reply must not say that nothing was changed.
func TestOutcomeOfACommandUnknown(t *testing.T) {
	r, s := slowRig(t)
	s.set(nil, store.ErrFailed)
	if rep := r.refuse("AMQ8101S", "DEFINE QLOCAL(B)"); rep.RC != 2009 || !strings.Contains(replyText(rep), "next start") {
		t.Errorf("%s reason %d", replyText(rep), rep.RC)
	}
}

// One goroutine with many commands in flight never waits for itself, and each command sees those before it.
func TestPipelineSeesItself(t *testing.T) {
	r := newObjRig(t)
	var ps []*Pending
	for _, c := range []string{
		"DEFINE QLOCAL(A) MAXDEPTH(1)", "ALTER QLOCAL(A) MAXDEPTH(2)", "DEFINE QLOCAL(B) LIKE(A)", "DEFINE QLOCAL(A) REPLACE MAXDEPTH(3)",
		"DELETE QLOCAL(B)", "DEFINE QALIAS(B) TARGET(A)", "DEFINE SUB(S) TOPICSTR('s') DEST(A)", "DELETE SUB(S)",
		"SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('g') AUTHADD(GET)", "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('g') AUTHADD(PUT)",
		"DEFINE TOPIC(T) TOPICSTR('t')", "DELETE TOPIC(T)", "DEFINE TOPIC(U) TOPICSTR('t')",
	} {
		ps = append(ps, r.submit(c))
	}
	for i, p := range ps {
		if rep := p.Wait(context.Background()); rep.Failed() {
			t.Errorf("command %d: %s", i, replyText(rep))
		}
	}
	r.want("DISPLAY QUEUE(*) TYPE(QALIAS) WHERE(TARGET EQ A)", "QUEUE(B) TYPE(QALIAS) TARGET(A)")
	r.want("DISPLAY QLOCAL(A) MAXDEPTH", "QUEUE(A) TYPE(QLOCAL) MAXDEPTH(3)")
	r.want("DISPLAY AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('g')", "PROFILE(A) ENTITY(g) ENTTYPE(GROUP) OBJTYPE(QUEUE) AUTHLIST(GET,PUT)")
}

// A caller that gives up waiting leaves the change to be completed; the next command finds it done.
func TestWaitCancelled(t *testing.T) {
	r, s := slowRig(t)
	hold := make(chan struct{})
	s.set(hold, nil)
	p := r.submit("DEFINE QLOCAL(A)")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rep := p.Wait(ctx); !rep.Failed() {
		t.Fatal("success without a sync")
	}
	s.set(nil, nil)
	close(hold)
	r.refuse("AMQ8150E", "DEFINE QLOCAL(A)")
}

// Many goroutines change the same objects; every reply is one that the rules allow, and nothing is left latched.
func TestConcurrentCommands(t *testing.T) {
	r := newObjRig(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				name := fmt.Sprintf("C%d", (g+i)%5)
				for _, c := range []string{"DEFINE QLOCAL(" + name + ") REPLACE", "ALTER QLOCAL(" + name + ") MAXDEPTH(5)",
					"SET AUTHREC PROFILE(" + name + ") OBJTYPE(QUEUE) GROUP('g','h') AUTHADD(GET)", "DISPLAY QLOCAL(C*) MAXDEPTH", "DELETE QLOCAL(" + name + ")"} {
					cmd, _ := mqsc.ParseCommand(c)
					rep := r.m.Execute(context.Background(), cmd, admin)
					if rep.Failed() && rep.RC != 2085 {
						t.Errorf("%s: %s", c, replyText(rep))
					}
				}
			}
		})
	}
	wg.Wait()
	for c, objs := range r.m.objects {
		for n, o := range objs {
			if o.latched() != nil || o.Def() == nil {
				t.Errorf("%s %s is left latched or empty", c, n)
			}
		}
	}
}

// Objects outlive the manager; queue ids are never given twice.
func TestReopen(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(A) MAXDEPTH(9) DESCR('it''s')")
	r.ok("DEFINE QLOCAL(B)")
	last := r.m.lookup(ClassQueue, "B").qid()
	r.ok("DELETE QLOCAL(B)")
	r.ok("SET CHLAUTH('X*') TYPE(BLOCKUSER) USERLIST('u')")
	before := r.show("DISPLAY QLOCAL(A)")
	r.open()
	if got := r.show("DISPLAY QLOCAL(A)"); got[0] != before[0] {
		t.Errorf("before\n%s\nafter\n%s", before, got)
	}
	r.want("DISPLAY CHLAUTH('X*')", "CHLAUTH(X*) TYPE(BLOCKUSER) USERLIST(u)")
	r.ok("DEFINE QLOCAL(C)")
	if id := r.m.lookup(ClassQueue, "C").qid(); id <= last {
		t.Errorf("queue id %d given again", id)
	}
	if err := Create(r.opt); !errors.Is(err, ErrExists) {
		t.Errorf("Create over a queue manager: %v", err)
	}
}

// 10,000 definitions in flight as a script has them, and their display.
func TestTenThousandQueues(t *testing.T) {
	r := newObjRig(t)
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, "DEFINE QLOCAL(LOAD.%05d) DESCR('queue number %d') MAXDEPTH(%d)\n", i, i, i)
	}
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	start := time.Now()
	if _, res := r.script(b.String()); res.Failed+res.SyntaxErrors > 0 {
		t.Fatalf("%+v", res)
	}
	took := time.Since(start)
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	heap := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	start = time.Now()
	if n := len(r.show("DISPLAY QLOCAL(LOAD.*) MAXDEPTH DESCR CURDEPTH")); n != 10000 {
		t.Fatalf("%d shown", n)
	}
	shown := time.Since(start)
	t.Logf("10,000 DEFINE in %v, %d MiB; DISPLAY in %v", took, heap>>20, shown)
	if took > 15*time.Second || shown > 5*time.Second || heap > 100<<20 { // generous: the machine is shared
		t.Errorf("too slow or too big: %v, %v, %d MiB", took, shown, heap>>20)
	}
}
