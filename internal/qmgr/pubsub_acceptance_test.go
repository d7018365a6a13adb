package qmgr

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Each test names its numbers in the acceptance examples of seed 000 (unwanted topics in the topic tree). 41 and 42 speak of
// rates: what they rest on is counted in TestAcceptance000ManyTopics, and BenchmarkPublishBesideUnused takes the time. 50 is
// TestAcceptance000Guide.

// 000/1 to 4, 25 to 27, 43, 44: what a publication makes, and DISPLAY TPSTATUS of it.
func TestAcceptance000Tree(t *testing.T) {
	r := newPSRig(t)
	base := r.count()
	r.pub("USA/Alabama/Auburn", "x", 0)
	r.wantNodes("USA USA/Alabama USA/Alabama/Auburn", "")
	r.wantTPCount(base + 3)
	r.pub("USA/Alaska/Juneau", "x", 0)
	r.wantNodes("USA USA/Alaska USA/Alaska/Juneau", "")
	r.wantTPCount(base + 5)
	all := r.topics("DISPLAY TPSTATUS('#') TYPE(TOPIC)")
	if strings.Count(all, "USA/Alabama/Auburn") != 1 || all != r.topics("dis tps('#') type(topic)") {
		t.Errorf("topics: %s", all)
	}
	if n := len(r.show("DISPLAY TPSTATUS('#') TYPE(TOPIC)")); n != r.count() {
		t.Errorf("%d blocks, TPCOUNT %d", n, r.count())
	}
	for text, want := range map[string]string{
		"DISPLAY TPSTATUS('USA/Alabama/+')":        "USA/Alabama/Auburn",
		"DISPLAY TPSTATUS('USA/+')":                "USA/Alabama USA/Alaska",
		"DISPLAY TPSTATUS('USA/Alabama/Auburn/+')": "",
	} {
		if got := r.topics(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	row := r.show("DISPLAY PUBSUB ALL")
	if len(row) != 1 || !strings.Contains(row[0], "TYPE(LOCAL)") || !strings.Contains(row[0], "QMNAME(QM1)") ||
		!strings.Contains(row[0], "STATUS(ACTIVE)") || !strings.Contains(row[0], "SUBCOUNT(0)") {
		t.Errorf("DISPLAY PUBSUB: %s", row)
	}
}

func (r *psRig) wantTPCount(n int) {
	r.t.Helper()
	if got := r.field("DISPLAY PUBSUB ALL", "TPCOUNT"); got != strconv.Itoa(n) {
		r.t.Errorf("TPCOUNT(%s), want %d", got, n)
	}
}

// 000/5: empty levels.
func TestAcceptance000EmptyLevels(t *testing.T) {
	r := newPSRig(t)
	base := r.count()
	r.openTopic(r.c, "A//B")
	r.wantNodes("A A/ A//B", "/A A/B")
	r.wantTPCount(base + 3)
	r.openTopic(r.c, "/A")
	r.wantNodes("A A/ A//B /A", "A/B")
	r.wantTPCount(base + 5) // with the empty first level
	// The empty first level has the empty topic string, which "/#" fits with no level behind it.
	for text, want := range map[string]string{"/#": " /A", "/+": "/A", "A/#": "A A/ A//B", "/A": "/A", "A": "A"} {
		if got := r.topics("DISPLAY TPSTATUS('" + text + "')"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	// They are different topics: one has a publisher of its own, the other none.
	r.wantPubCount("/A", 1)
	r.wantPubCount("A", 0)
}

// 000/6 to 9, 52: a topic object ties a node and keeps it.
func TestAcceptance000TopicObject(t *testing.T) {
	r := newPSRig(t)
	r.life(2)
	r.pub("USA/Alabama/Auburn", "x", 0)
	before := r.count()
	r.ok("DEFINE TOPIC(ALABAMA) TOPICSTR('USA/Alabama')")
	if got := r.field("DISPLAY TPSTATUS('USA/Alabama') ADMIN", "ADMIN"); got != "ALABAMA" || r.count() != before {
		t.Errorf("ADMIN(%s), TPCOUNT %d", got, r.count())
	}
	if got := r.field("DISPLAY TPSTATUS('USA') ADMIN", "ADMIN"); got != "" {
		t.Errorf("ADMIN(%s)", got)
	}
	r.pass(20 * time.Second)
	r.wantNodes("USA USA/Alabama", "USA/Alabama/Auburn")
	r.ok("DELETE TOPIC(ALABAMA)")
	r.pass(1900 * time.Millisecond)
	r.wantNodes("USA USA/Alabama", "")
	r.pass(200 * time.Millisecond)
	r.wantNodes("USA", "USA/Alabama")
	r.pass(2 * time.Second)
	r.wantNodes("", "USA")

	r.ok("DEFINE TOPIC(ALABAMA) TOPICSTR('USA/Alabama')")
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(D1) TOPICSTR('USA/Alabama') DEST(Q)")
	r.ok("DELETE TOPIC(ALABAMA)")
	r.pass(20 * time.Second)
	r.wantNodes("USA USA/Alabama", "") // 52
	if got := r.field("DISPLAY TPSTATUS('USA/Alabama') ADMIN", "ADMIN"); got != "" {
		t.Errorf("ADMIN(%s)", got)
	}
}

// 000/10 to 14, 45: TREELIFE.
func TestAcceptance000TreeLife(t *testing.T) {
	r := newPSRig(t)
	if got := r.field("DISPLAY QMGR TREELIFE", "TREELIFE"); got != "1800" {
		t.Errorf("TREELIFE(%s)", got)
	}
	r.ok("ALTER QMGR TREELIFE(900)")
	for _, bad := range []string{"-1", "604001"} {
		if rep := r.tryCmd("ALTER QMGR TREELIFE(" + bad + ")"); rep == "" {
			t.Errorf("TREELIFE(%s) was taken", bad)
		}
	}
	if got := r.field("DISPLAY QMGR TREELIFE", "TREELIFE"); got != "900" {
		t.Errorf("TREELIFE(%s)", got)
	}
	r.life(1800)
	r.pub("OLD", "x", 0)
	r.pass(3 * time.Second)
	r.wantNodes("OLD", "")
	r.life(2) // 45: holds for topics that are idle already
	r.eventually("OLD goes", func() bool { return !r.node("OLD") })
	r.pub("X/Y", "x", 0)
	r.pass(1900 * time.Millisecond)
	r.wantNodes("X/Y", "")
	r.pass(200 * time.Millisecond)
	r.wantNodes("X", "X/Y")
	r.life(0)
	r.pub("Z", "x", 0)
	r.pass(10 * time.Hour)
	r.wantNodes("X Z", "")
}

// tryCmd is the refusal of a command that may not even parse, "" when it was done.
func (r *psRig) tryCmd(text string) string {
	out, res := r.script(text + "\n")
	if res.Failed == 0 && res.SyntaxErrors == 0 {
		return ""
	}
	return out
}

// 000/15 to 22: retained publications.
func TestAcceptance000Retained(t *testing.T) {
	r := newPSRig(t)
	r.life(2)
	for _, keyword := range []string{"CLTRTYPE", "CLRTYPE"} {
		r.pub("USA/Alabama", "kept", mqi.MQPMO_RETAIN)
		r.pass(20 * time.Second)
		r.wantRetained("USA/Alabama", "YES")
		r.wantRetained("USA", "NO")
		for range 2 { // 19: the second clear succeeds too
			r.ok("CLEAR TOPICSTR('USA/Alabama') " + keyword + "(RETAINED)")
		}
		r.wantRetained("USA/Alabama", "NO")
		q, s := r.managed(r.c, "USA/Alabama", 0)
		if got := r.all(r.c, q); got != "" {
			t.Errorf("a new subscriber got %q", got)
		}
		r.close(r.c, s, 0)
		r.pass(2 * time.Second)
		r.wantNodes("USA", "USA/Alabama")
	}
	for _, s := range strings.Fields("/a/b/z /a/b/c/z /a/b/c/y/z /a/b/q") {
		r.pub(s, "x", mqi.MQPMO_RETAIN)
	}
	r.ok("CLEAR TOPICSTR('/a/b/#/z') CLRTYPE(RETAINED)")
	for s, want := range map[string]string{"/a/b/z": "NO", "/a/b/c/z": "NO", "/a/b/c/y/z": "NO", "/a/b/q": "YES"} {
		r.wantRetained(s, want)
	}
	r.pub("E", "x", mqi.MQPMO_RETAIN, func(md *mqi.MD) { md.Expiry = 20 })
	r.wantRetained("E", "YES")
	r.pass(2 * time.Second)
	r.wantRetained("E", "NO")
	r.pass(2 * time.Second)
	r.wantNodes("", "E")
}

func (r *psRig) wantRetained(topic, want string) {
	r.t.Helper()
	if got := r.field("DISPLAY TPSTATUS('"+topic+"') RETAINED", "RETAINED"); got != want {
		r.t.Errorf("%s: RETAINED(%s), want %s", topic, got, want)
	}
}

// 000/23, 24, 28 to 31, 51: publishers.
func TestAcceptance000Publishers(t *testing.T) {
	r := newPSRig(t)
	r.life(2)
	h := r.openTopic(r.c, "USA/Alabama/Auburn")
	r.pass(20 * time.Second)
	r.wantNodes("USA USA/Alabama USA/Alabama/Auburn", "")
	r.close(r.c, h, 0)
	// 24: leaf first, one life each; no child is ever without its parents.
	for _, c := range [][2]string{{"USA USA/Alabama", "USA/Alabama/Auburn"}, {"USA", "USA/Alabama"}, {"", "USA"}} {
		r.pass(1900 * time.Millisecond)
		r.wantNodes(c[0]+" "+c[1], "")
		r.pass(100 * time.Millisecond)
		r.wantNodes(c[0], c[1])
	}

	r.ok("DEFINE TOPIC(ALABAMA) TOPICSTR('USA/Alabama')")
	byName := mqi.DefaultOD()
	byName.Version, byName.ObjectType, byName.ObjectName = 4, mqi.MQOT_TOPIC, "ALABAMA"
	h1, err := r.c.Open(bg, &byName, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	h2, err := r.c.Open(bg, &byName, mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	if byName.ResObjectString != "USA/Alabama" {
		t.Errorf("ResObjectString %q", byName.ResObjectString)
	}
	r.wantPubCount("USA/Alabama", 2)
	r.close(r.c, h2, 0)
	r.wantPubCount("USA/Alabama", 1)
	other := r.connect("other")
	r.openTopic(other, "USA/Alabama/Auburn")
	got := r.show("DISPLAY TPSTATUS('USA/Alabama/#') TYPE(PUB) ACTCONN")
	if len(got) != 2 {
		t.Fatalf("29: publishers: %s", got)
	}
	for i, want := range []struct{ topic, conn string }{{"USA/Alabama", connOf(r.c)}, {"USA/Alabama/Auburn", connOf(other)}} {
		if !strings.Contains(got[i], "TOPICSTR("+want.topic+")") || !strings.Contains(got[i], "ACTCONN("+want.conn+")") {
			t.Errorf("29: publisher %s, want %s on %s", got[i], want.conn, want.topic)
		}
	}
	if rep := r.show("DISPLAY CONN(" + connOf(other)[32:] + ")"); len(rep) != 1 {
		t.Errorf("DISPLAY CONN: %s", rep)
	}
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	wantRC(t, r.c.Put(bg, h1, &md, &pmo, []byte("x")), 0)
	if got := r.field("DISPLAY TPSTATUS('USA/Alabama') TYPE(PUB) NUMPUBS LPUBDATE", "NUMPUBS"); got != "1" {
		t.Errorf("NUMPUBS(%s)", got)
	}
	if got := r.field("DISPLAY TPSTATUS('USA/Alabama') TYPE(PUB) NUMPUBS LPUBDATE", "LPUBDATE"); got != "2026-05-14" {
		t.Errorf("LPUBDATE(%s)", got)
	}
	r.wantPubCount("USA/Alabama/Auburn", 1)
	other.Break() // 31: as when its process is killed
	r.wantPubCount("USA/Alabama/Auburn", 0)
	r.pass(2 * time.Second)
	r.wantNodes("USA/Alabama", "USA/Alabama/Auburn")

	for range 20 { // 51
		r.pub("K", "x", 0)
		r.pass(time.Second)
		r.wantNodes("K", "")
	}
}

func connOf(c *Conn) string { return strings.ToUpper(hex.EncodeToString(c.id[:])) }

func (r *psRig) wantPubCount(topic string, n int) {
	r.t.Helper()
	if got := r.field("DISPLAY TPSTATUS('"+topic+"')", "PUBCOUNT"); got != strconv.Itoa(n) {
		r.t.Errorf("%s: PUBCOUNT(%s), want %d", topic, got, n)
	}
}

// 000/32 to 37: subscribers.
func TestAcceptance000Subscribers(t *testing.T) {
	r := newPSRig(t)
	r.life(2)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(D1) TOPICSTR('S/1') DEST(Q)")
	_, s2 := r.managed(r.c, "S/2", 0)
	_, s3 := r.managed(r.c, "S/3", mqi.MQSO_DURABLE, named("D3"))
	r.close(r.c, s3, mqi.MQCO_KEEP_SUB)
	r.pass(20 * time.Second)
	r.wantNodes("S/1 S/2 S/3", "")
	if got := r.field("DISPLAY TPSTATUS('S/1')", "SUBCOUNT"); got != "1" {
		t.Errorf("SUBCOUNT(%s)", got)
	}
	r.close(r.c, s2, 0)
	r.pass(2 * time.Second)
	r.wantNodes("S/1 S/3", "S/2")
	if got := r.field("DISPLAY TPSTATUS('S/1') TYPE(SUB) ACTCONN", "ACTCONN"); strings.Trim(got, "0") != "" {
		t.Errorf("ACTCONN(%s)", got)
	}
	r.ok("DELETE SUB(D1)")
	_, s3, err := r.c.Subscribe(bg, subSD("S/3", mqi.MQSO_RESUME|mqi.MQSO_MANAGED|mqi.MQSO_DURABLE, named("D3")), 0)
	wantRC(t, err, 0)
	r.close(r.c, s3, mqi.MQCO_REMOVE_SUB)
	r.pass(2 * time.Second)
	r.wantNodes("S", "S/1 S/3")

	r.managed(r.c, "USA/Alabama", 0)
	if got := r.field("DISPLAY TPSTATUS('USA/Alabama') TYPE(SUB) ACTCONN", "ACTCONN"); got != connOf(r.c) {
		t.Errorf("ACTCONN(%s)", got)
	}
	r.managed(r.c, "USA/Alabama/Auburn", 0)
	if got := r.topics("DISPLAY TPSTATUS('USA/Alabama/#') TYPE(SUB) ACTCONN"); got != "USA/Alabama USA/Alabama/Auburn" {
		t.Errorf("subscribers on %s", got)
	}
}

// 000/38: each of the five reasons alone keeps a topic, and its end ends it.
func TestAcceptance000FiveReasons(t *testing.T) {
	r := newPSRig(t)
	r.life(2)
	r.ok("DEFINE TOPIC(T1) TOPICSTR('R1')")
	r.pub("R2", "x", mqi.MQPMO_RETAIN)
	child := r.openTopic(r.c, "R3/child")
	pub := r.openTopic(r.c, "R4")
	_, sub := r.managed(r.c, "R5", 0)
	r.pass(time.Minute)
	r.wantNodes("R1 R2 R3 R4 R5", "")
	r.ok("DELETE TOPIC(T1)")
	r.ok("CLEAR TOPICSTR('R2') CLRTYPE(RETAINED)")
	r.close(r.c, child, 0)
	r.close(r.c, pub, 0)
	r.close(r.c, sub, 0)
	r.pass(1900 * time.Millisecond)
	r.wantNodes("R1 R2 R3 R4 R5", "")
	r.pass(100 * time.Millisecond)
	r.wantNodes("R3", "R1 R2 R3/child R4 R5")
	r.pass(2 * time.Second)
	r.wantNodes("", "R3")
}

// 000/39, 40: topics that nobody needs any more do not pile up.
func TestAcceptance000Shrinks(t *testing.T) {
	r := newPSRig(t)
	r.life(2)
	base := r.count()
	for i := range 1000 {
		r.pub(fmt.Sprintf("T%d/x", i), "x", 0)
	}
	if r.count() != base+2000 {
		t.Errorf("TPCOUNT %d", r.count())
	}
	r.pass(2 * time.Second)
	r.pass(2 * time.Second)
	r.wantTPCount(base)
	most := 0
	for i := range 6000 { // a minute, one every 10 ms
		r.pub(fmt.Sprintf("T/%d", i), "x", 0)
		r.clk.Advance(10 * time.Millisecond)
		if i%100 == 0 {
			r.settle()
		}
		most = max(most, r.count())
	}
	if limit := base + 1 + 100*4 + 100; most > limit {
		t.Errorf("TPCOUNT rose to %d, want at most %d", most, limit)
	}
}

// 000/46 to 49: what a restart brings back.
func TestAcceptance000Restart(t *testing.T) {
	r := newPSBoltRig(t)
	base := r.count()
	r.ok("DEFINE TOPIC(TO) TOPICSTR('R/obj')")
	r.pub("R/ret", "kept", mqi.MQPMO_RETAIN, persistent)
	r.pub("R/np", "lost", mqi.MQPMO_RETAIN)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QLOCAL(W)")
	r.ok("DEFINE SUB(DUR) TOPICSTR('R/dur') DEST(Q)")
	r.ok("DEFINE SUB(WILD) TOPICSTR('W/#') DEST(W)")
	for i := range 100 {
		r.pub(fmt.Sprint("R/tmp", i), "x", 0)
	}
	r.openTopic(r.c, "R/live")
	r.managed(r.c, "R/live", 0)
	r.restart(store.Immediate)
	r.wantNodes("R R/obj R/ret R/dur W", "R/tmp0 R/live R/np")
	r.wantTPCount(base + 5)
	r.wantRetained("R/ret", "YES")
	r.pub("W/1", "wild", 0)
	h := openFor(t, r.c, "W", mqi.MQOO_INPUT_SHARED)
	if got := r.all(r.c, h); got != "wild" {
		t.Errorf("W has %q", got)
	}
	q, _ := r.managed(r.c, "R/+", 0)
	if got := r.all(r.c, q); got != "kept" {
		t.Errorf("retained: %q", got)
	}
}

func openFor(t *testing.T, c *Conn, queue string, opts int32) Handle {
	t.Helper()
	od := mqi.DefaultOD()
	od.ObjectName = queue
	h, err := c.Open(bg, &od, opts)
	wantRC(t, err, 0)
	return h
}
