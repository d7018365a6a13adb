package mqi

import "testing"

func TestNumber(t *testing.T) {
	for name, want := range map[string]int32{"MQRC_Q_FULL": 2053, "MQMT_REPORT": 4, "MQPER_PERSISTENT": 1, "MQFB_COA": 259} {
		if n, ok := Number(name); !ok || n != want {
			t.Errorf("%s: %d %v, want %d", name, n, ok, want)
		}
	}
	for _, name := range []string{"MQRC_NO_SUCH", "NONSENSE", "", "MQRC"} {
		if n, ok := Number(name); ok {
			t.Errorf("%q is %d", name, n)
		}
	}
}
