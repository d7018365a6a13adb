package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// ASTATE of connection and handle, as the consumers come, start, stop and go.
func TestConsumers(t *testing.T) {
	r := newObjRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QALIAS(A) TARGET(Q)")
	c := r.connect()
	h := r.openQ(c, "A", mqi.MQOO_INPUT_SHARED)
	other := r.openQ(c, "Q", mqi.MQOO_OUTPUT)
	step := func(what, conn, handle string) {
		t.Helper()
		if rows := r.m.connRows(); len(rows) != 1 || rows[0]["ASTATE"] != conn {
			t.Errorf("%s: %v, want ASTATE(%s)", what, rows, conn)
		}
		for _, rows := range [][]map[string]string{r.m.handleRows("Q"), r.m.connHandleRows()} {
			if len(rows) != 2 || rows[0]["ASTATE"] != handle || rows[1]["ASTATE"] != "NONE" {
				t.Errorf("%s: %v, want ASTATE(%s)", what, rows, handle)
			}
		}
	}
	step("at first", "NONE", "NONE")
	if !c.Consumer(h, true) {
		t.Error("the handle is not known")
	}
	step("MQCB", "NONE", "INACTIVE")
	c.Consuming(ConsumptionStarted)
	step("MQCTL", "STARTED", "ACTIVE")
	for _, def := range []string{"QLOCAL(Q)", "QALIAS(A)"} {
		r.ok("ALTER " + def + " GET(DISABLED)")
		step(def+" disabled", "STARTED", "SUSPTEMP")
		r.ok("ALTER " + def + " GET(ENABLED)")
		step(def+" enabled", "STARTED", "ACTIVE")
	}
	c.Consuming(ConsumptionSuspended)
	step("suspended", "SUSPENDED", "INACTIVE")
	c.Consuming(ConsumptionStopped)
	step("stopped", "STOPPED", "INACTIVE")
	c.Consumer(h, false)
	if c.Consumer(999, true) {
		t.Error("a handle that is not open has got a consumer")
	}
	step("deregistered", "STOPPED", "NONE")
	wantRC(t, c.Close(bg, other, 0), 0)
}
