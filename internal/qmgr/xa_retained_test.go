package qmgr

import (
	"fmt"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// A retained publication of a prepared branch reaches, once, every subscription that is made between its put and its
// commit, across restarts too, and none that had its copy already.
func TestXARetainedBetween(t *testing.T) {
	for restarts := range 3 {
		r := newPSBoltRig(t)
		open := func() *Conn {
			c := r.connect("app")
			wantXA(t, c.XAOpen(bg, ""), XAOK)
			return c
		}
		queues := map[string]string{}
		define := func(name, topic string) {
			r.ok("DEFINE SUB(" + name + ") TOPICSTR('" + topic + "') DESTCLAS(MANAGED)")
			queues[name] = r.field("DISPLAY SUB("+name+") DEST", "DEST")
		}
		define("EARLY", "t/a")
		w := open()
		wantXA(t, w.XAStart(bg, xid("1"), TMNoFlags), XAOK)
		wantRC(t, tryPub(w, "t/a", "new", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN, persistent), 0)
		wantRC(t, tryPub(w, "t/b", "other", mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN|mqi.MQPMO_SCOPE_QMGR), 0)
		define("PUT", "t/a")
		wantXA(t, w.XAEnd(bg, xid("1"), TMSuccess), XAOK)
		wantXA(t, w.XAPrepare(bg, xid("1")), XAOK)
		define("PREPARED", "t/a")
		define("GONE", "t/a") // its number must not be given again
		r.ok("DELETE SUB(GONE)")
		delete(queues, "GONE")
		for i := range restarts {
			r.restart(store.Preempt)
			define(fmt.Sprint("RESTART", i), "t/a")
		}
		late, _ := r.managed(r.c, "t/+", 0)
		wantXA(t, open().XACommit(bg, xid("1"), TMNoFlags), XAOK)
		for name, q := range queues {
			if got := r.all(r.c, openFor(t, r.c, q, mqi.MQOO_INPUT_SHARED)); got != "new" {
				t.Errorf("%d restarts, subscription %s: %q", restarts, name, got)
			}
		}
		if got := sorted(r.all(r.c, late)); got != "new other" {
			t.Errorf("%d restarts, nondurable subscription: %q", restarts, got)
		}
	}
}
