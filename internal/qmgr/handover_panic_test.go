package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// obliging is the waker of a get that takes whatever it is handed.
type obliging struct{ owned, disowned, taken int }

func (*obliging) Wake(any)                       {}
func (o *obliging) Own() bool                    { o.owned++; return true }
func (o *obliging) Disown()                      { o.disowned++ }
func (*obliging) Settled(any)                    {}
func (o *obliging) Take(any, []byte, int, error) { o.taken++ }

// A panic of who puts, in the middle of handing a message to a get that waits, leaves the getter as it was: its connection is not
// locked, it owns itself, and the queue goes on.
func TestPanicLeavesTheGetter(t *testing.T) {
	for _, persistence := range []int32{mqi.MQPER_NOT_PERSISTENT, mqi.MQPER_PERSISTENT} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		g, o := r.connect(), &obliging{}
		in, out := r.openQ(g, "Q", mqi.MQOO_INPUT_SHARED), r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
		w := g.NewWaiting(o)
		if s, err := waitGet(w, in, 60_000); s != GetWaits {
			t.Fatal(s, err)
		}
		put := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			md.Persistence = persistence
			wantRC(t, r.c.PutBy(bg, "somebody", out, &md, &pmo, []byte("x"), false), 0)
			return false
		}
		for what, spoil := range map[string]func() (mend func()){
			"shape": func() func() { md := w.g.md; w.g.md = nil; return func() { w.g.md = md } },
			"give":  func() func() { h := w.g.h; w.g.h = nil; return func() { w.g.h = h } },
			"look":  func() func() { gmo := w.g.gmo; w.g.gmo = nil; return func() { w.g.gmo = gmo } },
		} {
			mend := spoil()
			panicked := put()
			mend()
			if !panicked {
				t.Fatalf("%s: no panic: the test tests nothing", what)
			}
			if o.owned != o.disowned || o.taken != 0 {
				t.Errorf("%s: owned %d times, disowned %d, taken %d", what, o.owned, o.disowned, o.taken)
			}
			if !g.verb.TryLock() {
				t.Fatalf("%s: the getter's connection is locked for ever", what)
			}
			g.verb.Unlock()
		}
		if put() || o.taken != 1 {
			t.Errorf("the next message: taken %d", o.taken)
		}
		w.Cancel()
	}
}
