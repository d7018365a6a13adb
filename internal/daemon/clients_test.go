package daemon

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

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

// silent is a peer that says nothing.
type silent struct {
	net.Conn
	addr, local net.Addr
}

func (s *silent) RemoteAddr() net.Addr { return s.addr }
func (s *silent) LocalAddr() net.Addr  { return s.local }
func (s *silent) at() pair             { return pairOf(s.local, s.addr) }

// Peers that have not connected are bounded, all of them and those of one address: the oldest makes room. Who has connected or
// gone makes room too.
func TestEarly(t *testing.T) {
	var e early
	peer := func(host byte, port int) *silent {
		return &silent{addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, host), Port: port}}
	}
	now := time.Unix(1e9, 0)
	enter := func(p, want *silent, of string) {
		t.Helper()
		drop, why := e.enter(p, now)
		if want == nil && drop != nil || want != nil && (drop != net.Conn(want) || !strings.Contains(why.Error(), of)) {
			t.Fatalf("%v: %v is closed (%v), want %v (%q)", p.addr, drop, why, want, of)
		}
	}
	var first []*silent
	for i := range maxEarlyAddr {
		p := peer(1, i)
		first = append(first, p)
		enter(p, nil, "")
	}
	late := peer(1, 59999)
	enter(late, late, "10.0.0.1") // nobody has had its time
	e.asks(first[0].at(), now.Add(time.Second))
	now = now.Add(earlyGrace)
	enter(peer(1, 60000), first[1], "10.0.0.1")
	enter(peer(1, 60001), first[2], "10.0.0.1")
	e.leave(first[7].at())
	e.leave(first[7].at()) // again
	e.leave(first[1].at()) // was closed
	enter(peer(1, 60002), nil, "")
	n := maxEarlyAddr
	for h := byte(2); n < maxEarly; n++ {
		if of := e.by["10.0.0."+string('0'+rune(h))]; of != nil && of.Len() == maxEarlyAddr {
			h++
		}
		enter(peer(h, n), nil, "")
	}
	enter(peer(9, 1), first[3], "peers have not")
	enter(peer(9, 1), nil, "") // the same address again
	elsewhere := peer(9, 1)
	elsewhere.local = &net.TCPAddr{IP: net.IPv4(10, 0, 1, 1), Port: 1414}
	enter(elsewhere, first[4], "peers have not") // at another of our addresses: a peer more
	if len(e.open) != maxEarly || e.all.Len() != maxEarly {
		t.Errorf("%d of %d", len(e.open), e.all.Len())
	}
	for at := range e.open {
		e.leave(at)
	}
	if e.all.Len() != 0 || len(e.by) != 0 {
		t.Errorf("left: %d, %d hosts", e.all.Len(), len(e.by))
	}
}

// TestEarlyCrowd: peers that come and go, always younger than their time, lock no client of their address out; a rush of clients
// makes nobody lose his place.
func TestEarlyCrowd(t *testing.T) {
	now := time.Unix(1e9, 0)
	port := 0
	come := func(e *early) (p *silent, drop net.Conn) {
		port++
		p = &silent{addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port}}
		drop, _ = e.enter(p, now)
		return p, drop
	}
	var crowd early
	var held []*silent
	for range maxEarlyAddr {
		p, _ := come(&crowd)
		held = append(held, p)
	}
	for i := range 500 { // renewed one by one, each well before its time is over
		now = now.Add(earlyGrace / maxEarlyAddr)
		crowd.leave(held[i].at())
		p, _ := come(&crowd)
		held = append(held, p)
	}
	client, drop := come(&crowd)
	if drop != net.Conn(held[500]) {
		t.Fatalf("for a client among a crowd %v makes room, want the oldest", drop)
	}
	for range 300 { // more of them come before it has connected
		if _, drop := come(&crowd); drop == nil || drop == net.Conn(client) {
			t.Fatalf("%v makes room", drop)
		}
	}
	crowd.connected(client.at())

	var rush early
	var way []*silent
	for range maxEarlyAddr {
		p, _ := come(&rush)
		way = append(way, p)
	}
	for i := range 900 {
		if p, drop := come(&rush); drop != net.Conn(p) {
			t.Fatalf("in a rush %v loses its place", drop)
		}
		rush.connected(way[i].at())
		p, drop := come(&rush)
		if drop != nil {
			t.Fatalf("%v has to go though there is room", drop)
		}
		way = append(way, p)
	}
}
