package qmgr

import (
	"fmt"
	"testing"
)

// TestAlterAgain: an attribute that goes to the table's default and away from it again has each value, for the channel's clients
// too, whatever the definition keeps.
func TestAlterAgain(t *testing.T) {
	r := newObjRig(t, func(*Options) {})
	r.ok("DEFINE CHANNEL(X) CHLTYPE(SVRCONN)")
	r.ok("DEFINE CHANNEL(OTHER) CHLTYPE(SVRCONN)") // with the same attributes
	for _, n := range []int32{104857600, 50000, 4194304, 104857600, 4194304, 1000, 104857600} {
		r.ok(fmt.Sprintf("ALTER CHANNEL(X) CHLTYPE(SVRCONN) MAXMSGL(%d)", n))
		if sc, _ := r.m.ServerConn("X"); sc.MaxMsg != n {
			t.Errorf("MAXMSGL %d after ALTER to %d", sc.MaxMsg, n)
		}
		if sc, _ := r.m.ServerConn("OTHER"); sc.MaxMsg != 4194304 {
			t.Errorf("MAXMSGL of the other channel is %d", sc.MaxMsg)
		}
	}
}
