package xmitq

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The set-up of the acceptance examples of seed 004: QMG1 and QMG2 in a group, seen from QMG1.
func base() (Target, Group) {
	q := &SharedQueue{Version: 1, Shared: true, XmitUsage: true, MaxMsgL: 64512, MaxDepth: 100, Put: true, Structure: Structure{Level: 3, Recover: true}}
	return Target{QName: "LQ1", QMgr: "QMG2", XmitQ: "XQ1"},
		Group{Member: func(n string) bool { return n == "QMG1" || n == "QMG2" }, IGQ: true, Queue: q}
}

var v1 = mqi.DefaultMD()

const small, large = 1000, 100_000

// want is "IGQ", "XQ1" or a reason code.
func put(t *testing.T, c Candidates, g Group, m Shape, kind string, rc mqi.RC) {
	t.Helper()
	if m.MD == nil {
		m.MD = &v1
	}
	r, err := c.Choose(m, g)
	_, got := mqi.Reason(err)
	switch {
	case got != rc:
		t.Errorf("put of %d: %v, want reason %d", m.Len, err, rc)
	case rc == 0 && (r.Kind == IGQ) != (kind == "IGQ"), rc == 0 && r.Kind == IGQ && r.XmitQ != IGQQueue, rc == 0 && r.Kind == Xmit && r.XmitQ != kind:
		t.Errorf("put of %d goes to %s, want %s", m.Len, r.XmitQ, kind)
	case rc != 0 && !strings.Contains(err.Error(), "LQ1"):
		t.Errorf("%v does not name the queue", err)
	}
}

func open(t *testing.T, tg Target, g Group) Candidates {
	t.Helper()
	c, err := Resolve(tg, g)
	if err != nil {
		t.Fatal(err)
	}
	if q, m := c.Resolved(); q != "LQ1" || m != tg.QMgr { // acceptance 004/8
		t.Fatalf("resolved to %s at %s", q, m)
	}
	return c
}

// Acceptance 004/1, 2: IGQ alone is enough for short messages.
func TestIGQAlone(t *testing.T) {
	for _, rc := range []mqi.RC{mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, mqi.MQRC_UNKNOWN_XMIT_Q, mqi.MQRC_UNKNOWN_DEF_XMIT_Q} {
		tg, g := base()
		tg.XmitQ, tg.RC = "", rc
		c := open(t, tg, g)
		put(t, c, g, Shape{Len: small}, "IGQ", 0)
		put(t, c, g, Shape{Len: large}, "", mqi.MQRC_MSG_TOO_BIG_FOR_Q)

		// Without IGQ, or with a shared queue that is not right, nothing is left to open.
		for want, change := range map[mqi.RC]func(*Group){
			rc:                                func(g *Group) { g.IGQ = false },
			mqi.MQRC_UNKNOWN_XMIT_Q:           func(g *Group) { g.Queue = nil },
			mqi.MQRC_XMIT_Q_TYPE_ERROR:        func(g *Group) { g.Queue.Shared = false },
			mqi.MQRC_XMIT_Q_USAGE_ERROR:       func(g *Group) { g.Queue.XmitUsage = false },
			mqi.MQRC_CF_NOT_AVAILABLE:         func(g *Group) { g.Queue.Structure.RC = mqi.MQRC_CF_NOT_AVAILABLE },
			mqi.MQRC_CF_STRUC_AUTH_FAILED:     func(g *Group) { g.Queue.Structure.RC = mqi.MQRC_CF_STRUC_AUTH_FAILED },
			mqi.MQRC_CF_STRUC_LIST_HDR_IN_USE: func(g *Group) { g.Queue.Structure.RC = mqi.MQRC_CF_STRUC_LIST_HDR_IN_USE },
		} {
			_, g := base()
			change(&g)
			_, err := Resolve(tg, g)
			if _, got := mqi.Reason(err); got != want {
				t.Errorf("open: %v, want reason %d", err, want)
			}
		}
	}
	tg, g := base() // a wrong definition is not a missing one
	tg.XmitQ, tg.RC = "", mqi.MQRC_XMIT_Q_USAGE_ERROR
	if _, err := Resolve(tg, g); err == nil {
		t.Error("a wrong transmission queue is opened")
	}
}

// Acceptance 004/3–6, 10: what counts as short.
func TestLimit(t *testing.T) {
	v2 := v1
	v2.Version, v2.GroupID = 2, mqi.ID{1}
	for _, c := range []struct {
		level, maxMsgL, len int
		md                  *mqi.MD
		kind                string
	}{
		{3, 64512, 64084, nil, "IGQ"}, {3, 64512, 64085, nil, "XQ1"}, // 3
		{3, 104857600, 64084, nil, "IGQ"}, {3, 104857600, 64085, nil, "XQ1"},
		{1, 104857600, 64085, nil, "XQ1"},
		{4, 104857600, large, nil, "IGQ"}, {5, 104857600, large, nil, "IGQ"}, // 4, 5
		{4, 104857600, 104857600 - 428, nil, "IGQ"}, {4, 104857600, 104857600 - 427, nil, "XQ1"},
		{4, 64512, large, nil, "XQ1"},
		{3, 4096, 3000, nil, "IGQ"}, {3, 4096, 5000, nil, "XQ1"}, {3, 4096, 4096 - 428, nil, "IGQ"}, {3, 4096, 4096 - 427, nil, "XQ1"}, // 6
		{3, 64512, 64084, &v2, "XQ1"}, {3, 64512, 64084 - 72, &v2, "IGQ"}, {3, 64512, 64084 - 71, &v2, "XQ1"},
		{3, 64512, 0, nil, "IGQ"},
	} {
		tg, g := base()
		g.Queue.Structure.Level, g.Queue.MaxMsgL = c.level, c.maxMsgL
		put(t, open(t, tg, g), g, Shape{Len: c.len, MD: c.md}, c.kind, 0)
	}
}

// Acceptance 004/7, 9, 14, 30, 39, 44.
func TestBothWaysFromOneOpen(t *testing.T) {
	tg, g := base()
	c := open(t, tg, g)
	for range 2 {
		put(t, c, g, Shape{Len: small}, "IGQ", 0)
		put(t, c, g, Shape{Len: large}, "XQ1", 0)
	}
	off := g // 9
	off.IGQ = false
	c = open(t, tg, off)
	put(t, c, off, Shape{Len: small}, "XQ1", 0)
	put(t, c, off, Shape{Len: large}, "XQ1", 0)
	put(t, open(t, tg, Group{}), Group{}, Shape{Len: small}, "XQ1", 0)
	tg.QMgr = "OUTSIDE" // 44
	c = open(t, tg, g)
	put(t, c, g, Shape{Len: small}, "XQ1", 0)
	put(t, c, g, Shape{Len: large}, "XQ1", 0)
	g.Queue.Version++ // which is not its business
	put(t, c, g, Shape{Len: small}, "XQ1", 0)
}

// Acceptance 004/11–13: a change behind an open handle.
func TestObjectChanged(t *testing.T) {
	changes := map[string]func(*Group){
		"IGQ":            func(g *Group) { g.IGQ = !g.IGQ },
		"definition":     func(g *Group) { q := *g.Queue; q.Version++; g.Queue = &q },
		"deleted":        func(g *Group) { g.Queue = nil },
		"left the group": func(g *Group) { g.Member = func(string) bool { return false } },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			tg, before := base()
			after := before
			change(&after)
			c := open(t, tg, before)
			put(t, c, after, Shape{Len: small}, "", mqi.MQRC_OBJECT_CHANGED)
			put(t, c, after, Shape{Len: large}, "", mqi.MQRC_OBJECT_CHANGED)
			c = open(t, tg, after)
			put(t, c, before, Shape{Len: small}, "", mqi.MQRC_OBJECT_CHANGED)
			if _, err := c.Choose(Shape{Len: large, MD: &v1}, after); err != nil { // opened again
				t.Error(err)
			}
		})
	}
}

// Acceptance 004/20–28: a short message fails by the shared queue alone, a long one never does.
func TestNoOtherWayIsTried(t *testing.T) {
	for want, change := range map[mqi.RC]func(*SharedQueue){
		mqi.MQRC_Q_FULL:              func(q *SharedQueue) { q.MaxDepth, q.Depth = 2, 2 },
		mqi.MQRC_PUT_INHIBITED:       func(q *SharedQueue) { q.Put = false },
		mqi.MQRC_STORAGE_MEDIUM_FULL: func(q *SharedQueue) { q.Structure.RC = mqi.MQRC_STORAGE_MEDIUM_FULL },
		mqi.MQRC_CF_NOT_AVAILABLE:    func(q *SharedQueue) { q.Structure.RC = mqi.MQRC_CF_NOT_AVAILABLE },
		mqi.MQRC_CF_STRUC_IN_USE:     func(q *SharedQueue) { q.Structure.RC = mqi.MQRC_CF_STRUC_IN_USE },
		mqi.MQRC_CF_STRUC_FAILED:     func(q *SharedQueue) { q.Structure.RC = mqi.MQRC_CF_STRUC_FAILED },
		mqi.MQRC_XMIT_Q_TYPE_ERROR:   func(q *SharedQueue) { q.Shared = false },
		mqi.MQRC_XMIT_Q_USAGE_ERROR:  func(q *SharedQueue) { q.XmitUsage = false },
	} {
		tg, g := base()
		c := open(t, tg, g)
		change(g.Queue)
		put(t, c, g, Shape{Len: small}, "", want)
		put(t, c, g, Shape{Len: large}, "XQ1", 0)
		put(t, open(t, tg, g), g, Shape{Len: large}, "XQ1", 0) // the open succeeds: there is another way
		_, g = base()
		put(t, c, g, Shape{Len: small}, "IGQ", 0) // once it is over
	}
	tg, g := base()
	g.Queue = nil
	c := open(t, tg, g)
	put(t, c, g, Shape{Len: small}, "", mqi.MQRC_UNKNOWN_XMIT_Q)
	put(t, c, g, Shape{Len: large}, "XQ1", 0)
}

// Persistence does not change the way, even where it cannot be kept.
func TestPersistent(t *testing.T) {
	for _, c := range []struct {
		level   int
		recover bool
		rc      mqi.RC
	}{{3, true, 0}, {3, false, mqi.MQRC_PERSISTENT_NOT_ALLOWED}, {2, true, mqi.MQRC_PERSISTENT_NOT_ALLOWED}, {5, true, 0}} {
		tg, g := base()
		g.Queue.Structure.Level, g.Queue.Structure.Recover = c.level, c.recover
		o := open(t, tg, g)
		put(t, o, g, Shape{Len: small, Persistent: true}, "IGQ", c.rc)
		put(t, o, g, Shape{Len: small}, "IGQ", 0)
		g.Queue.MaxMsgL = 64512
		put(t, o, g, Shape{Len: large, Persistent: true}, "XQ1", 0)
	}
}

func TestAgentKey(t *testing.T) {
	if k := AgentKey("QMG2"); string(k[:]) != "QMG2                    " {
		t.Errorf("%q", k)
	}
	a, b := AgentKey(strings.Repeat("A", 30)), AgentKey(strings.Repeat("A", 31))
	if a == b || a == AgentKey(strings.Repeat("A", 24)) {
		t.Error("long names share a key")
	}
}
