package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// TestStoppedRemembered: a stopped channel is stopped after a restart, one that was started, set inactive or defined anew is not.
func TestStoppedRemembered(t *testing.T) {
	r := newObjRig(t)
	for _, s := range []string{"A", "B", "C", "D", "E"} {
		r.ok("DEFINE CHANNEL(" + s + ") CHLTYPE(SVRCONN)")
		r.ok("STOP CHANNEL(" + s + ")")
	}
	r.ok("START CHANNEL(B)")
	r.ok("STOP CHANNEL(C) STATUS(INACTIVE)")
	r.ok("DELETE CHANNEL(D)")
	r.ok("DEFINE CHANNEL(D) CHLTYPE(SVRCONN)")
	r.ok("DEFINE CHANNEL(E) CHLTYPE(SVRCONN) DESCR('other') REPLACE")
	r.refuse("AMQ9533W", "STOP CHANNEL(A)")
	check := func(when string) {
		t.Helper()
		for name, want := range map[string]bool{"A": true, "B": false, "C": false, "D": false, "E": true, "NONE": false} {
			if got := r.m.ChannelStopped(name); got != want {
				t.Errorf("%s: %s stopped %v", when, name, got)
			}
		}
	}
	check("before")
	r.open()
	check("after a restart")
	r.ok("DELETE CHANNEL(A)")
	r.ok("START CHANNEL(E)")
	r.open()
	n := 0
	r.st.Range(store.TableChannels, nil, nil, func([]byte, []byte) error { n++; return nil })
	if n != 0 || r.m.ChannelStopped("E") {
		t.Errorf("%d records are left", n)
	}
}

// TestStopRefused: what the store does not take is not in force.
func TestStopRefused(t *testing.T) {
	r, s := slowRig(t)
	r.ok("DEFINE CHANNEL(A) CHLTYPE(SVRCONN)")
	s.set(nil, store.ErrFull)
	if got := r.cmd("STOP CHANNEL(A)"); got.RC != mqi.MQRC_STORAGE_MEDIUM_FULL || r.m.ChannelStopped("A") {
		t.Errorf("STOP: %+v, stopped %v", got, r.m.ChannelStopped("A"))
	}
	s.set(nil, nil)
	r.ok("STOP CHANNEL(A)")
	s.set(nil, store.ErrFull)
	if got := r.cmd("START CHANNEL(A)"); got.RC != mqi.MQRC_STORAGE_MEDIUM_FULL || !r.m.ChannelStopped("A") {
		t.Errorf("START: %+v, stopped %v", got, r.m.ChannelStopped("A"))
	}
}
