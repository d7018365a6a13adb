package qmgr

import (
	"strings"
	"testing"
)

// START and STOP LISTENER without a name mean the default listener, as the MQSC reference says.
func TestDefaultListener(t *testing.T) {
	r := newObjRig(t)
	r.ok("START LISTENER")
	r.refuse("AMQ8730W", "START LISTENER")
	rows := strings.Join(r.show("DISPLAY LSSTATUS(*) ALL"), "\n")
	if !strings.Contains(rows, "SYSTEM.DEFAULT.LISTENER.TCP") || !strings.Contains(rows, "CONTROL(MANUAL)") || r.ports.started["SYSTEM.DEFAULT.LISTENER.TCP"] != ":1414" {
		t.Errorf("status: %s", rows)
	}
	r.ok("STOP LISTENER")
	r.refuse("AMQ8731W", "STOP LISTENER")
}
