package daemon

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

func limitedClients() *clients {
	return &clients{inst: map[string]map[string]int{}, who: map[*fap.Instance]*client{}}
}

// MAXINST bounds all instances of a channel, MAXINSTC those of one address; an ended one makes room. A refusal is logged
// with the identifier of its limit.
func TestInstanceLimits(t *testing.T) {
	c := limitedClients()
	app := &fap.Instance{Channel: "APP"}
	sc := &qmgr.ServerConn{Name: "APP", MaxInst: 3, MaxInstC: 2}
	for _, s := range []struct{ host, refused, id string }{{"a", "", ""}, {"a", "", ""}, {"a", "MAXINSTC", "AMQ9490E"}, {"b", "", ""},
		{"c", "MAXINST", "AMQ9489E"}} {
		err := c.count(sc, s.host)
		var r *fap.Refusal
		if (err == nil) != (s.refused == "") || err != nil && (!strings.HasSuffix(err.Error(), s.refused) || !errors.As(err, &r) || r.ID != s.id) {
			t.Fatalf("host %s: %v, want %q", s.host, err, s.refused)
		}
	}
	c.uncount(app, "b")
	if err := c.count(sc, "c"); err != nil {
		t.Fatal(err)
	}
	c.maxActive = 3
	if err := c.count(&qmgr.ServerConn{Name: "OTHER", MaxInst: 9, MaxInstC: 9}, "z"); err == nil || !strings.Contains(err.Error(), "MaxActiveChannels") {
		t.Errorf("a fourth instance: %v", err)
	}
	c.maxActive, c.maxChannels = 0, 3
	if err := c.count(&qmgr.ServerConn{Name: "OTHER", MaxInst: 9, MaxInstC: 9}, "z"); err == nil || !strings.Contains(err.Error(), "MaxChannels") {
		t.Errorf("a fourth instance: %v", err)
	}
	sc.Stopped = true
	if err := c.count(sc, "z"); err == nil || !strings.Contains(err.Error(), "START CHANNEL(APP)") {
		t.Errorf("an instance of a stopped channel: %v", err)
	}
	for _, h := range []string{"a", "a", "c"} {
		c.uncount(app, h)
	}
	if len(c.inst) != 0 || c.active != 0 {
		t.Errorf("left: %v, %d", c.inst, c.active)
	}
}

// Peers that have not connected are bounded, all of them and those of one address; who has connected or gone makes room.
func TestEarly(t *testing.T) {
	var e early
	addr := func(host byte, port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, host), Port: port} }
	for i := range maxEarlyAddr {
		if err := e.enter(addr(1, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.enter(addr(1, 60000)); err == nil || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("one more of an address: %v", err)
	}
	e.leave(addr(1, 7))
	e.leave(addr(1, 7)) // again
	if err := e.enter(addr(1, 60000)); err != nil {
		t.Error(err)
	}
	n := maxEarlyAddr
	for h := byte(2); n < maxEarly; n++ {
		if e.by["10.0.0."+string('0'+rune(h))] == maxEarlyAddr {
			h++
		}
		if err := e.enter(addr(h, n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.enter(addr(9, 1)); err == nil {
		t.Error("no bound for all")
	}
}
