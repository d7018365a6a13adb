package qmgr

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// nthRead panics in GetMany, or fails, when it is told to, at the nth call.
type nthRead struct {
	store.Store
	at     atomic.Int64 // 0: it works
	failed error        // instead of a panic
}

func (b *nthRead) GetMany(t store.Table, keys [][]byte, fn func(int, []byte) error) error {
	if b.at.Load() > 0 && b.at.Add(-1) == 0 {
		if b.failed != nil {
			return b.failed
		}
		panic("the store is broken")
	}
	return b.Store.GetMany(t, keys, fn)
}

// nthReadRig has n topics with a retained publication each.
func nthReadRig(t *testing.T, n int) (*psRig, *nthRead) {
	t.Helper()
	b := &nthRead{}
	r := &psRig{dir: filepath.Join(t.TempDir(), "QM1")}
	t.Cleanup(func() { _ = b.Close(store.Preempt, nil) })
	r.objRig = newObjRig(t, func(o *Options) {
		b.Store = openTestStore(t, r.dir)
		o.Store = b
	})
	r.c = r.connect("app")
	for i := range n {
		r.pub(fmt.Sprintf("many/%d", i), "x", mqi.MQPMO_RETAIN, persistent)
	}
	return r, b
}

// A search reads in goroutines of its own. What goes wrong there, in any part, goes wrong for who subscribes, whose connection alone
// is in danger; and nothing is left running or locked.
func TestRetainedReadPanics(t *testing.T) {
	const n = 2*pubsub.PageRows + 500
	r, b := nthReadRig(t, n)
	for _, at := range []int64{1, 3, 9} {
		b.at.Store(at)
		inTime(t, "MQSUB", func() {
			defer func() {
				if p := recover(); p != "the store is broken" {
					t.Errorf("part %d: panicked %v", at, p)
				}
			}()
			c := r.connect("other")
			_, _, err := c.Subscribe(bg, subSD("many/#", create|managed), 0)
			t.Errorf("part %d: no panic, %v", at, err)
		})
	}
	q, _ := r.managed(r.c, "many/#", 0)
	if got := r.c.handles[q].queue.depth(); got != n {
		t.Errorf("%d publications came after that, want %d", got, n)
	}
}

// A part that cannot be read ends the MQSUB with 2525, and what was put before is taken back.
func TestRetainedReadFails(t *testing.T) {
	r, b := nthReadRig(t, pubsub.PageRows+500)
	b.failed = errors.New("not readable")
	before := r.m.topics.tree.SubCount()
	for _, at := range []int64{1, 2, 5} {
		b.at.Store(at)
		_, _, err := r.c.Subscribe(bg, subSD("many/#", create|managed), 0)
		wantRC(t, err, mqi.MQRC_RETAINED_MSG_Q_ERROR)
	}
	if got := r.m.topics.tree.SubCount(); got != before {
		t.Errorf("%d subscriptions are left, were %d", got, before)
	}
}
