package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A subscription takes one handle of MAXHANDS, a managed one two: the last that fits is made, the next is refused and takes none.
func TestSubscriptionsTakeHandles(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("ALTER QMGR MAXHANDS(4)")
	for _, c := range []struct {
		open    int // handles before, with that of Q
		managed bool
		want    mqi.RC
	}{{2, true, 0}, {3, true, mqi.MQRC_HANDLE_NOT_AVAILABLE}, {3, false, 0}, {4, false, mqi.MQRC_HANDLE_NOT_AVAILABLE}} {
		conn := r.connect("app")
		q := openFor(t, conn, "Q", mqi.MQOO_INPUT_SHARED)
		for range c.open - 1 {
			r.openTopic(conn, "T")
		}
		options, h := int32(create), q
		if c.managed {
			options, h = create|managed, 0
		}
		_, _, err := conn.Subscribe(bg, subSD("T", options), h)
		if _, rc := reasonOf(err); rc != c.want {
			t.Errorf("managed %v beside %d handles: reason %d, want %d", c.managed, c.open, rc, c.want)
		}
		if want := c.open; c.want != 0 && conn.openCount() != want {
			t.Errorf("a refused subscription leaves %d handles, want %d", conn.openCount(), want)
		}
	}
}
