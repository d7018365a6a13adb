package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestCustomValue(t *testing.T) {
	for _, tc := range []struct{ custom, want string }{
		{"", ""}, {"CAPEXPRY(10)", "10"}, {" capexpry ( 10 ) ", "10"}, {"OTHER(x) CAPEXPRY(5)", "5"}, {"CAPEXPRY", ""}, {"CAPEXPRY(7", ""},
		{"XCAPEXPRY(1)", ""}, {"A(CAPEXPRY) B()", ""},
	} {
		if got := customValue(tc.custom, "CAPEXPRY"); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.custom, got, tc.want)
		}
	}
}

// CUSTOM('CAPEXPRY(n)') caps expiry when the attribute of its own says nothing, on the queue and on the way to it.
func TestCustomExpiry(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "OLD", "CUSTOM", "CAPEXPRY(60)")
	r.define("QLOCAL", "BOTH", "CUSTOM", "CAPEXPRY(60)", "CAPEXPRY", "90")
	r.define("QLOCAL", "NONE", "CUSTOM", "CAPEXPRY(x)")
	r.define("QALIAS", "VIA", "TARGET", "NONE", "CUSTOM", "CAPEXPRY(30)")
	for _, tc := range []struct {
		open, queue string
		put, want   int32
	}{{"OLD", "OLD", -1, 60}, {"OLD", "OLD", 40, 40}, {"BOTH", "BOTH", -1, 90}, {"NONE", "NONE", -1, -1}, {"VIA", "NONE", -1, 30}} {
		r.put(r.c, r.openQ(r.c, tc.open, mqi.MQOO_OUTPUT), "x", 0, func(md *mqi.MD) { md.Expiry = tc.put })
		if _, md := r.get(r.c, r.openQ(r.c, tc.queue, inOut), 0); md.Expiry != tc.want {
			t.Errorf("%s, put with %d: %d, want %d", tc.open, tc.put, md.Expiry, tc.want)
		}
	}
}
