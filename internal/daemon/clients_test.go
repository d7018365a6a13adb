package daemon

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// MAXINST bounds all instances of a channel, MAXINSTC those of one address; an ended one makes room.
func TestInstanceLimits(t *testing.T) {
	c := &clients{inst: map[string]map[string]int{}}
	sc := &qmgr.ServerConn{Name: "APP", MaxInst: 3, MaxInstC: 2}
	for _, s := range []struct{ host, refused string }{{"a", ""}, {"a", ""}, {"a", "MAXINSTC"}, {"b", ""}, {"c", "MAXINST"}} {
		err := c.count(sc, s.host)
		if (err == nil) != (s.refused == "") || err != nil && !strings.HasSuffix(err.Error(), s.refused) {
			t.Fatalf("host %s: %v, want %q", s.host, err, s.refused)
		}
	}
	c.uncount("APP", "b")
	if err := c.count(sc, "c"); err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"a", "a", "c"} {
		c.uncount("APP", h)
	}
	if len(c.inst) != 0 {
		t.Errorf("left: %v", c.inst)
	}
}
