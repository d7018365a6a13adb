package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestLogicalOrder(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h, other := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "Q", inOut)
	const logical = mqi.MQPMO_LOGICAL_ORDER
	flags := func(f int32) func(*mqi.MD) { return func(md *mqi.MD) { md.Version, md.MsgFlags = 2, f } }
	_, err := tryPut(r.c, h, "x", logical)
	wantRC(t, err, mqi.MQRC_WRONG_MD_VERSION)
	a1 := r.put(r.c, h, "a1", logical, flags(mqi.MQMF_MSG_IN_GROUP))
	b1 := r.put(r.c, other, "b1", logical, flags(mqi.MQMF_MSG_IN_GROUP))
	_, err = tryPut(r.c, h, "x", logical, flags(0))
	wantRC(t, err, mqi.MQRC_INCOMPLETE_GROUP)
	_, err = tryPut(r.c, h, "x", logical, flags(mqi.MQMF_MSG_IN_GROUP), persistent)
	wantRC(t, err, mqi.MQRC_INCONSISTENT_PERSISTENCE)
	_, err = tryPut(r.c, h, "x", logical|mqi.MQPMO_SYNCPOINT, flags(mqi.MQMF_MSG_IN_GROUP))
	wantRC(t, err, mqi.MQRC_INCONSISTENT_UOW)
	b2 := r.put(r.c, other, "b2", logical, flags(mqi.MQMF_LAST_MSG_IN_GROUP))
	a2 := r.put(r.c, h, "a2", logical, flags(mqi.MQMF_MSG_IN_GROUP))
	_, err = tryPut(r.c, h, "single", 0, flags(0))
	wantRC(t, err, mqi.MQRC_INCOMPLETE_GROUP) // a warning: it is there
	a3 := r.put(r.c, h, "a3", logical, flags(mqi.MQMF_LAST_MSG_IN_GROUP))
	if a1.GroupID.IsZero() || a1.GroupID != a2.GroupID || a1.GroupID != a3.GroupID || a1.GroupID == b1.GroupID ||
		a1.MsgSeqNumber != 1 || a2.MsgSeqNumber != 2 || a3.MsgSeqNumber != 3 || b2.MsgSeqNumber != 2 {
		t.Errorf("groups %v %v %v %v %v", a1, a2, a3, b1, b2)
	}
	get := int32(mqi.MQGMO_LOGICAL_ORDER)
	first, next := get|mqi.MQGMO_BROWSE_FIRST, get|mqi.MQGMO_BROWSE_NEXT
	r.wantNext(h, first, "a1")
	r.wantNext(h, next, "a2")
	r.wantNext(h, next, "a3")
	r.wantNext(h, next, "") // b1 and b2 lie before the cursor
	r.wantNext(h, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR, "a3")
	for _, want := range []string{"a1", "a2", "a3", "b1", "b2", "single", ""} {
		r.wantNext(h, get, want)
	}
	r.put(r.c, h, "c1", logical, flags(mqi.MQMF_MSG_IN_GROUP))
	err = r.c.Close(bg, h, 0)
	if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != mqi.MQRC_INCOMPLETE_GROUP {
		t.Errorf("close: %v", err)
	}
}

// Out of the order that was begun, a message of a group is told apart by what it has in common with that: all of these are warnings.
func TestLogicalOrderLeft(t *testing.T) {
	member, alone := flagged(mqi.MQMF_MSG_IN_GROUP), flagged(0)
	for name, c := range map[string]struct {
		opts   int32
		change []func(*mqi.MD)
		rc     mqi.RC
	}{
		"alike":                    {0, []func(*mqi.MD){member}, mqi.MQRC_INCOMPLETE_GROUP},
		"persistent":               {0, []func(*mqi.MD){member, persistent}, mqi.MQRC_INCONSISTENT_PERSISTENCE},
		"in a unit of work":        {mqi.MQPMO_SYNCPOINT, []func(*mqi.MD){member}, mqi.MQRC_INCONSISTENT_UOW},
		"in no group":              {mqi.MQPMO_SYNCPOINT, []func(*mqi.MD){alone, persistent}, mqi.MQRC_INCOMPLETE_GROUP},
		"a segment, in no message": {mqi.MQPMO_SYNCPOINT, []func(*mqi.MD){flagged(segmentMsg)}, mqi.MQRC_INCONSISTENT_UOW},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := r.openQ(r.c, "Q", inOut)
		r.put(r.c, h, "a", logicalPut, member)
		_, err := tryPut(r.c, h, "b", c.opts, c.change...)
		if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != c.rc {
			t.Errorf("put %s: %v", name, err)
		}
	}
	for opts, want := range map[int32]mqi.RC{0: mqi.MQRC_INCOMPLETE_GROUP, mqi.MQGMO_SYNCPOINT: mqi.MQRC_INCONSISTENT_UOW} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := r.openQ(r.c, "Q", inOut)
		for _, text := range []string{"a", "b"} {
			r.put(r.c, h, text, logicalPut, member)
		}
		r.wantNext(h, logicalGet, "a")
		text, _, err := tryGet(r.c, h, opts)
		if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != want || text != "b" {
			t.Errorf("get with %#x: %q %v", opts, text, err)
		}
	}
}

// Within a logical message what it is in its group does not change; an incomplete message counts before an incomplete group.
func TestLogicalMessageKeepsItsGroup(t *testing.T) {
	const group, lastOne, seg, lastSeg = mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP, mqi.MQMF_SEGMENT, mqi.MQMF_LAST_SEGMENT
	r := newRig(t)
	r.define("QLOCAL", "Q")
	for _, c := range []struct {
		first, second int32
		rc            mqi.RC
	}{
		{group | seg, group | lastSeg, 0},
		{lastOne | seg, lastOne | lastSeg, 0},
		{seg, lastSeg, 0},
		{group | seg, lastOne | seg, mqi.MQRC_INCOMPLETE_MSG},
		{lastOne | seg, group | lastSeg, mqi.MQRC_INCOMPLETE_MSG},
		{lastOne | seg, lastSeg, mqi.MQRC_INCOMPLETE_MSG},
		{group | seg, lastSeg, mqi.MQRC_INCOMPLETE_MSG},
		{seg, group | seg, mqi.MQRC_INCOMPLETE_MSG},
		{group | seg, group, mqi.MQRC_INCOMPLETE_MSG},
		{group, seg, mqi.MQRC_INCOMPLETE_GROUP},
	} {
		h := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
		r.put(r.c, h, "x", logicalPut, flagged(c.first))
		_, err := tryPut(r.c, h, "x", logicalPut, flagged(c.second))
		if cc, rc := reasonOf(err); rc != c.rc || rc != 0 && cc != mqi.CCFailed {
			t.Errorf("%d after %d: %v", c.second, c.first, err)
		}
	}
}

// A browse that finds nothing that fits leaves the cursor where it was.
func TestBrowseInVainKeepsCursor(t *testing.T) {
	r, h := browseRig(t, "a", "b", "c")
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST, "a")
	_, _, err := tryGet(r.c, h, mqi.MQGMO_BROWSE_NEXT|mqi.MQGMO_LOCK, func(md *mqi.MD, g *mqi.GMO) {
		md.GroupID[0], g.MatchOptions = 1, mqi.MQMO_MATCH_GROUP_ID
	})
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	r.wantNext(h, mqi.MQGMO_MSG_UNDER_CURSOR, "a")
	other := r.openQ(r.c, "Q", inOut)
	r.wantNext(other, 0, "b") // not locked in passing
}

func TestAllMsgsAvailable(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	flags := func(f int32) func(*mqi.MD) { return func(md *mqi.MD) { md.Version, md.MsgFlags = 2, f } }
	const logical = mqi.MQPMO_LOGICAL_ORDER
	const whole = mqi.MQGMO_LOGICAL_ORDER | mqi.MQGMO_ALL_MSGS_AVAILABLE
	r.put(r.c, h, "a1", logical, flags(mqi.MQMF_MSG_IN_GROUP))
	r.put(r.c, h, "a2", logical, flags(mqi.MQMF_MSG_IN_GROUP))
	r.wantNext(h, whole, "")
	_, ch := r.getWait("Q", whole)
	r.awaitWaiters("Q", 1)
	r.put(r.c, r.openQ(r.c, "Q", inOut), "single", 0)
	if g := r.receive(ch); g.text != "single" {
		t.Errorf("%v", g)
	}
	_, ch = r.getWait("Q", whole)
	r.awaitWaiters("Q", 1)
	r.put(r.c, h, "a3", logical, flags(mqi.MQMF_LAST_MSG_IN_GROUP))
	if g := r.receive(ch); g.text != "a1" {
		t.Errorf("%v", g)
	}
	r.wantNext(h, whole, "") // its first message is gone
	r.wantNext(h, 0, "a2")
}
