//go:build invariants

package qmgr

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// No lock is held over a sync, nor over a wait for one. The instrument ends the test's process at the first one that is:
// what there is to see is how many waits it has looked at.
func TestNoLockOverSync(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("ALTER QMGR TREELIFE(1) MAXUMSGS(50)")
	for i := range 4 {
		r.ok(fmt.Sprintf("DEFINE QLOCAL(Q%d) BOTHRESH(2) BOQNAME(Q3) QDEPTHLO(1) QDEPTHHI(2) MAXDEPTH(1000) QDPHIEV(ENABLED)", i))
		r.ok(fmt.Sprintf("DEFINE SUB(S%d) TOPICSTR('load/%d/#') DEST(Q%d)", i, i, i))
	}
	r.ok("DEFINE QLOCAL(DLQ)")
	r.ok("ALTER QMGR DEADQ(DLQ) PERFMEV(ENABLED) CONFIGEV(ENABLED) CMDEV(ENABLED)")
	before := invariants.Waits()
	var wg sync.WaitGroup
	for i := range 8 {
		c := r.connect(fmt.Sprint("app", i))
		rnd := rand.New(rand.NewPCG(7, uint64(i)))
		wg.Go(func() {
			for n := range 150 {
				mixedStep(r, c, rnd, i, n)
			}
			_ = c.Commit(bg)
		})
	}
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() { // time passes: topics, subscriptions and publications end
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				r.clk.Advance(300 * time.Millisecond)
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-ended
	r.restart(store.Immediate)
	if n := invariants.Waits() - before; n < 3000 {
		t.Errorf("%d waits were looked at", n)
	}
}

func queueOD(name string) *mqi.OD {
	od := mqi.DefaultOD()
	od.ObjectName = name
	return &od
}

// mixedStep is one random verb or command. Most may fail: what is looked for is not in their answers.
func mixedStep(r *psRig, c *Conn, rnd *rand.Rand, i, n int) {
	q := fmt.Sprintf("Q%d", rnd.IntN(4))
	opts := int32(mqi.MQPMO_NO_SYNCPOINT)
	if rnd.IntN(2) == 0 {
		opts = mqi.MQPMO_SYNCPOINT
	}
	persistent := func(md *mqi.MD) { md.Persistence = int32(rnd.IntN(2)); md.Expiry = int32(1 + rnd.IntN(40)) }
	switch rnd.IntN(12) {
	case 0, 1:
		if h, err := c.Open(bg, queueOD(q), mqi.MQOO_OUTPUT); err == nil {
			_, _ = tryPut(c, h, strings.Repeat("x", rnd.IntN(2000)), opts, persistent)
			_ = c.Close(bg, h, 0)
		}
	case 2, 3:
		if h, err := c.Open(bg, queueOD(q), mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE); err == nil {
			get := int32(mqi.MQGMO_NO_SYNCPOINT)
			if opts == mqi.MQPMO_SYNCPOINT {
				get = mqi.MQGMO_SYNCPOINT
			}
			if rnd.IntN(3) == 0 {
				get |= mqi.MQGMO_WAIT
			}
			_, _, _ = tryGet(c, h, get, func(_ *mqi.MD, gmo *mqi.GMO) { gmo.WaitInterval = 200 })
			_ = c.Close(bg, h, 0)
		}
	case 4, 5, 6:
		topic := fmt.Sprintf("load/%d/%d", rnd.IntN(4), rnd.IntN(20))
		_ = tryPub(c, topic, "body", opts|[]int32{0, mqi.MQPMO_RETAIN}[rnd.IntN(2)], persistent)
	case 7:
		_, _, _ = c.Subscribe(bg, subSD("load/+/"+fmt.Sprint(rnd.IntN(20)), mqi.MQSO_CREATE|mqi.MQSO_RESUME|mqi.MQSO_MANAGED|
			[]int32{0, mqi.MQSO_DURABLE}[rnd.IntN(2)], named(fmt.Sprint("N", i, n)), func(sd *mqi.SD) { sd.SubExpiry = 20 }), 0)
	case 8:
		_ = r.cmd(fmt.Sprintf("DEFINE QLOCAL(D%d.%d) REPLACE", i, n%5))
		_ = r.cmd(fmt.Sprintf("DELETE QLOCAL(D%d.%d) PURGE", i, (n+2)%5))
	case 9:
		_ = r.cmd(fmt.Sprintf("DEFINE SUB(M%d) TOPICSTR('load/#') DESTCLAS(MANAGED) REPLACE", i))
		_ = r.cmd(fmt.Sprintf("DELETE SUB(M%d)", i))
	case 10:
		_ = r.cmd(fmt.Sprintf("CLEAR TOPICSTR('load/%d/#') CLRTYPE(RETAINED)", rnd.IntN(4)))
		_ = r.cmd("CLEAR QLOCAL(Q3)")
	case 11:
		if rnd.IntN(2) == 0 {
			_ = c.Commit(bg)
		} else {
			_ = c.Backout(bg)
		}
	}
}

// The test of the instrument: each lock of LOCKS.md is held over a wait, and it says so and where.
func TestInstrumentSeesPlantedLocks(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	q := r.m.lookup(ClassQueue, "Q").Queue
	other := r.m.lookup(ClassQueue, "SYSTEM.DEFAULT.LOCAL.QUEUE")
	commit := func() {
		var tx store.Tx
		tx.Set(store.TableMeta, []byte("planted"), []byte("x"))
		if _, err := r.m.opt.Store.Commit(bg, &tx); err != nil {
			t.Error(err)
		}
	}
	file, err := vfs.OS().OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plants := []struct {
		name string
		lock sync.Locker
		wait func()
	}{
		{"registry", &r.m.mu, commit},
		{"object", &other.mu, commit},
		{"queue", &q.mu, commit},
		{"retained", &r.m.retain.mu, commit},
		{"connection", &r.c.mu, commit},
		{"list of connections", &r.m.rt.mu, commit},
		{"statistics", &r.m.ev.stats.mu, commit},
		{"room", &q.mu, func() { var tx store.Tx; r.m.opt.Store.Submit(&tx) }},
		{"sync", &q.mu, func() { _ = file.Sync() }},
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			var mu sync.Mutex
			var found []string
			restore := invariants.Offences(func(s string) { mu.Lock(); defer mu.Unlock(); found = append(found, s) })
			p.lock.Lock()
			p.wait()
			p.lock.Unlock()
			restore()
			if !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, "locks_invariants_test.go") }) {
				t.Errorf("found: %q", found)
			}
		})
	}
}
