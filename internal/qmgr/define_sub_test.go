package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// What stops MQSUB from making a durable subscription stops DEFINE SUB; the message names the switch. What is there already
// may be altered, replaced, and is there after a restart.
func TestDefineSubObeysTheSwitches(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("DEFINE TOPIC(STOP) TOPICSTR('stop')")
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE SUB(THERE) TOPICSTR('stop/there') DEST(Q)")
	full := r.field("DISPLAY QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) CURDEPTH", "CURDEPTH")
	for _, c := range []struct {
		off, on string
		rc      mqi.RC
		names   []string
	}{
		{"ALTER TOPIC(STOP) SUB(DISABLED)", "ALTER TOPIC(STOP) SUB(ENABLED)", mqi.MQRC_SUB_INHIBITED, []string{"STOP", "SUB(DISABLED)", "2503"}},
		{"ALTER TOPIC(SYSTEM.BASE.TOPIC) DURSUB(NO)", "ALTER TOPIC(SYSTEM.BASE.TOPIC) DURSUB(YES)", mqi.MQRCCF_DURABILITY_NOT_ALLOWED,
			[]string{"SYSTEM.BASE.TOPIC", "DURSUB(NO)", "2436"}},
		{"ALTER TOPIC(STOP) MCAST(ONLY)", "ALTER TOPIC(STOP) MCAST(ASPARENT)", mqi.MQRC_MULTICAST_ONLY, []string{"STOP", "MCAST(ONLY)"}},
		{"ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) PUT(DISABLED)", "ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) PUT(ENABLED)",
			mqi.MQRCCF_DURABILITY_NOT_ALLOWED, []string{"SYSTEM.DURABLE.SUBSCRIBER.QUEUE", "PUT(DISABLED)"}},
		{"ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) MAXDEPTH(" + full + ")", "ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) MAXDEPTH(999)",
			mqi.MQRCCF_DURABILITY_NOT_ALLOWED, []string{"SYSTEM.DURABLE.SUBSCRIBER.QUEUE", "MAXDEPTH(" + full + ")"}},
		{"ALTER QMGR PSMODE(DISABLED)", "ALTER QMGR PSMODE(ENABLED)", mqi.MQRCCF_PUBSUB_INHIBITED, []string{"QM1", "PSMODE(DISABLED)", "2531"}},
	} {
		r.ok(c.off)
		reply := r.cmd("DEFINE SUB(NEW) TOPICSTR('stop/new') DEST(Q)")
		if !reply.Failed() || reply.RC != int32(c.rc) {
			t.Errorf("%s: DEFINE SUB ended with %d, want %d", c.off, reply.RC, c.rc)
		} else {
			text := strings.Join(reply.Msgs[0].Inserts, " ")
			for _, w := range c.names {
				if !strings.Contains(text, w) {
					t.Errorf("%s: %q does not name %s", c.off, text, w)
				}
			}
		}
		r.ok("ALTER SUB(THERE) USERDATA('x')")
		r.ok("DEFINE SUB(THERE) TOPICSTR('stop/there') DEST(Q) REPLACE")
		r.restart(store.Quiesce)
		if n := len(r.show("DISPLAY TPSTATUS('stop/there') TYPE(SUB)")); n != 1 {
			t.Errorf("%s: %d subscribers after a restart", c.off, n)
		}
		r.ok(c.on)
		r.ok("DEFINE SUB(NEW) TOPICSTR('stop/new') DEST(Q)")
		r.ok("DELETE SUB(NEW)")
	}
}

// A script sees the switches that it turned itself, though its commands are under way together.
func TestDefineSubSeesSwitchesOfItsScript(t *testing.T) {
	r := newPSBoltRig(t)
	out, _ := r.script("DEFINE QLOCAL(Q)\nDEFINE TOPIC(T) TOPICSTR('a/b') DURSUB(NO)\nDEFINE SUB(S) TOPICSTR('a/b/c') DEST(Q)\n" +
		"ALTER TOPIC(T) DURSUB(YES)\nDEFINE SUB(S2) TOPICSTR('a/b/c') DEST(Q)\n")
	if n := strings.Count(out, "DURSUB(NO) (reason 2436"); n != 1 {
		t.Errorf("%d refusals:\n%s", n, out)
	}
	r.want("DISPLAY SUB(S2*) SUBTYPE", r.show("DISPLAY SUB(S2) SUBTYPE")...)
}

// qmgrd top counts what stands for messages on the two queues as DISPLAY does.
func TestActivityShowsWhatIsKept(t *testing.T) {
	r := newPSRig(t)
	r.pub("kept", "x", mqi.MQPMO_RETAIN)
	for _, q := range r.m.Activity().Queues {
		if q.Name == retainedQueue && q.Depth != 1 || q.Name == durableStore && q.Depth != 1 {
			t.Errorf("%s: depth %d, want 1", q.Name, q.Depth)
		}
	}
}

// An export makes its subscriptions before it turns the switches that would keep them from being made.
func TestExportTurnsSwitchesBehindSubs(t *testing.T) {
	r := newObjRig(t)
	for _, c := range []string{"DEFINE QLOCAL(Q)", "DEFINE TOPIC(STOP) TOPICSTR('stop')", "DEFINE TOPIC(ADMIN) TOPICSTR('admin') DESCR('d')",
		"DEFINE SUB(S) TOPICSTR('stop/x') DEST(Q)", "DEFINE SUB(M) TOPICSTR('#') DESTCLAS(MANAGED)",
		"ALTER TOPIC(STOP) SUB(DISABLED) MCAST(ONLY)", "ALTER TOPIC(SYSTEM.DEFAULT.TOPIC) SUB(DISABLED)", "DEFINE TOPIC(AS.TEMPLATE) TOPICSTR('stop/x')",
		"ALTER TOPIC(SYSTEM.BASE.TOPIC) DURSUB(NO)", "ALTER QMGR PSMODE(DISABLED) DESCR('d')",
		"ALTER QLOCAL(SYSTEM.DURABLE.SUBSCRIBER.QUEUE) PUT(DISABLED)", "ALTER QLOCAL(SYSTEM.RETAINED.PUB.QUEUE) GET(DISABLED)"} {
		r.ok(c)
	}
	for _, o := range []ExportOptions{{}, {All: true}, {Format: "1line"}} {
		first := r.export(o)
		fresh := newObjRig(t)
		if out, res := fresh.script(first); res.Failed+res.SyntaxErrors > 0 {
			t.Fatalf("%+v: %+v\n%s", o, res, failedOnly(out))
		}
		if second := fresh.export(o); second != first {
			t.Errorf("%+v: %s", o, firstDifference(first, second))
		}
	}
	if got := r.export(ExportOptions{Export: "object"}); strings.Contains(got, "ALTER TOPIC") {
		t.Errorf("nothing is held back without subscriptions:\n%s", got)
	}
}

// A subscription stays on its topic when its topic object goes or becomes another: it can be altered, and an export means the same topic.
func TestSubOutlivesItsTopicObject(t *testing.T) {
	r := newObjRig(t)
	for _, c := range []string{"DEFINE QLOCAL(Q)", "DEFINE TOPIC(T) TOPICSTR('a/b')", "DEFINE TOPIC(STAYS) TOPICSTR('s')",
		"DEFINE SUB(S) TOPICOBJ(T) TOPICSTR('#') DEST(Q)", "DEFINE SUB(KEPT) TOPICOBJ(STAYS) DEST(Q)", "DELETE TOPIC(T)"} {
		r.ok(c)
	}
	for _, c := range []string{"ALTER QLOCAL(Q) DESCR('x')", "DEFINE TOPIC(T) TOPICSTR('other')"} {
		r.ok("ALTER SUB(S) USERDATA('x')")
		r.ok("DEFINE SUB(S) TOPICOBJ(T) TOPICSTR('#') DEST(Q) REPLACE")
		r.refuse("AMQ8208E", "DEFINE SUB(S) TOPICOBJ(STAYS) TOPICSTR('#') DEST(Q) REPLACE")
		fresh := newObjRig(t)
		if out, res := fresh.script(r.export(ExportOptions{})); res.Failed+res.SyntaxErrors > 0 {
			t.Fatal(failedOnly(out))
		}
		for m, obj := range map[*objRig]string{r: "T", fresh: " "} {
			m.want("DISPLAY SUB(S) TOPICOBJ TOPICSTR WHERE(TOPICSTR EQ 'a/b/#')", idOfSub(m, "S")+" SUB(S) TOPICSTR(a/b/#) TOPICOBJ("+obj+")")
			m.want("DISPLAY SUB(KEPT) TOPICOBJ", idOfSub(m, "KEPT")+" SUB(KEPT) TOPICOBJ(STAYS)")
		}
		r.ok(c)
	}
}

func idOfSub(r *objRig, name string) string {
	return strings.Fields(r.show("DISPLAY SUB(" + name + ") SUBID")[0])[0]
}
