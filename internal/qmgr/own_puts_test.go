package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A message that was put in a unit of work is got and browsed by nobody before the commit, the same unit included, in a local one
// as in a branch; it counts in the depth meanwhile. A transacted session of JMS has to be so: what it sends is sent by its commit.
func TestOwnPutsAreNotSeen(t *testing.T) {
	ways := map[string]func(c *Conn, h Handle, md *mqi.MD) error{
		"any": func(c *Conn, h Handle, _ *mqi.MD) error { _, _, err := tryGet(c, h, mqi.MQGMO_SYNCPOINT); return err },
		"outside of the unit": func(c *Conn, h Handle, _ *mqi.MD) error {
			_, _, err := tryGet(c, h, mqi.MQGMO_NO_SYNCPOINT)
			return err
		},
		"waiting": func(c *Conn, h Handle, _ *mqi.MD) error {
			_, _, err := tryGet(c, h, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_WAIT)
			return err
		},
		"by MsgId": func(c *Conn, h Handle, put *mqi.MD) error {
			_, _, err := tryGet(c, h, mqi.MQGMO_SYNCPOINT, func(md *mqi.MD, _ *mqi.GMO) { md.MsgID = put.MsgID })
			return err
		},
		"logical order": func(c *Conn, h Handle, _ *mqi.MD) error {
			_, _, err := tryGet(c, h, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_LOGICAL_ORDER|mqi.MQGMO_COMPLETE_MSG)
			return err
		},
		"browse": func(c *Conn, h Handle, _ *mqi.MD) error {
			_, _, err := tryGet(c, h, mqi.MQGMO_BROWSE_FIRST)
			return err
		},
	}
	for _, p := range []func(*mqi.MD){func(*mqi.MD) {}, persistent} {
		for _, branch := range []bool{false, true} {
			r := newRig(t)
			r.define("QLOCAL", "Q")
			w, other := r.connect(), r.connect()
			if branch {
				wantXA(t, w.XAOpen(bg, r.m.Name()), XAOK)
				wantXA(t, w.XAStart(bg, xid("1"), TMNoFlags), XAOK)
			}
			h := r.openQ(w, "Q", inOut)
			oh := r.openQ(other, "Q", inOut)
			put := r.put(w, h, "own", mqi.MQPMO_SYNCPOINT, p)
			for name, get := range ways {
				if _, rc := reasonOf(get(w, h, &put)); rc != mqi.MQRC_NO_MSG_AVAILABLE {
					t.Errorf("branch %v: %s, the same connection: %d", branch, name, rc)
				}
				if _, rc := reasonOf(get(other, oh, &put)); rc != mqi.MQRC_NO_MSG_AVAILABLE {
					t.Errorf("branch %v: %s, another connection: %d", branch, name, rc)
				}
			}
			if n := r.depth("Q"); n != 1 {
				t.Errorf("branch %v: depth %d before the commit", branch, n)
			}
			if branch {
				wantXA(t, w.XAEnd(bg, xid("1"), TMSuccess), XAOK)
				wantXA(t, w.XACommit(bg, xid("1"), TMOnePhase), XAOK)
			} else {
				wantRC(t, w.Commit(bg), 0)
			}
			if s, _ := r.get(w, h, 0); s != "own" {
				t.Errorf("branch %v: %q after the commit", branch, s)
			}
		}
	}
}
