package qmgr

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

func flagged(f int32) func(*mqi.MD) { return func(md *mqi.MD) { md.Version, md.MsgFlags = 2, f } }

const (
	logicalPut  = mqi.MQPMO_LOGICAL_ORDER
	logicalGet  = mqi.MQGMO_LOGICAL_ORDER
	completeGet = mqi.MQGMO_COMPLETE_MSG
	segmentMsg  = mqi.MQMF_SEGMENT
	lastSegment = mqi.MQMF_LAST_SEGMENT
	groupMsg    = mqi.MQMF_MSG_IN_GROUP
	lastGroup   = mqi.MQMF_LAST_MSG_IN_GROUP
)

func TestSegmentsInLogicalOrder(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	a := r.put(r.c, h, "abc", logicalPut, flagged(segmentMsg))
	_, err := tryPut(r.c, h, "x", logicalPut, flagged(0))
	wantRC(t, err, mqi.MQRC_INCOMPLETE_MSG)
	_, err = tryPut(r.c, h, "x", logicalPut, flagged(segmentMsg), persistent)
	wantRC(t, err, mqi.MQRC_INCONSISTENT_PERSISTENCE)
	_, err = tryPut(r.c, h, "x", logicalPut|mqi.MQPMO_SYNCPOINT, flagged(segmentMsg))
	wantRC(t, err, mqi.MQRC_INCONSISTENT_UOW)
	_, err = tryPut(r.c, h, "", logicalPut, flagged(segmentMsg))
	wantRC(t, err, mqi.MQRC_SEGMENT_LENGTH_ZERO)
	_, err = tryPut(r.c, h, "aside", 0)
	if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != mqi.MQRC_INCOMPLETE_MSG {
		t.Errorf("not in logical order: %v", err)
	}
	r.wantNext(h, completeGet|logicalGet, "aside") // the other is not complete
	b := r.put(r.c, h, "de", logicalPut, flagged(segmentMsg))
	z := r.put(r.c, h, "", logicalPut, flagged(lastSegment)) // the last one may be empty
	if b.Offset != 3 || z.Offset != 5 || a.GroupID.IsZero() || b.GroupID != a.GroupID || z.MsgSeqNumber != 1 {
		t.Errorf("%v %v %v", a, b, z)
	}
	text, md := r.get(r.c, h, completeGet|mqi.MQGMO_BROWSE_FIRST)
	if text != "abcde" || md.MsgFlags != mqi.MQMF_SEGMENT|mqi.MQMF_LAST_SEGMENT || md.Offset != 0 || md.GroupID != a.GroupID {
		t.Errorf("%q %+v", text, md)
	}
	r.wantNext(h, logicalGet, "abc")
	_, _, err = tryGet(r.c, h, logicalGet|mqi.MQGMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_INCONSISTENT_UOW)
	_, _, err = tryGet(r.c, h, logicalGet, func(md *mqi.MD, g *mqi.GMO) {
		md.Offset, g.MatchOptions = 0, mqi.MQMO_MATCH_OFFSET
	})
	wantRC(t, err, mqi.MQRC_MATCH_OPTIONS_ERROR)
	r.wantNext(h, completeGet, "") // what is left is not complete
	r.wantNext(h, logicalGet, "de")
	r.put(r.c, h, "after", 0)
	_, _, err = tryGet(r.c, h, 0, func(md *mqi.MD, g *mqi.GMO) { md.Offset, g.MatchOptions = 0, mqi.MQMO_MATCH_OFFSET })
	if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != mqi.MQRC_INCOMPLETE_MSG {
		t.Errorf("get aside of a logical message: %v", err)
	}
	text, md = r.get(r.c, h, logicalGet)
	if text != "" || md.MsgFlags&lastSegment == 0 {
		t.Errorf("%q %v", text, md)
	}
	wantRC(t, r.c.Close(bg, h, 0), 0)
}

func TestCloseInSegments(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "a", logicalPut, flagged(segmentMsg))
	err := r.c.Close(bg, h, 0)
	if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != mqi.MQRC_INCOMPLETE_MSG {
		t.Error(err)
	}
	wantRC(t, r.c.Close(bg, h, 0), mqi.MQRC_HOBJ_ERROR)
}

// A group of three messages, the second in segments.
func TestSegmentsInGroup(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q", "NPMCLASS", "HIGH")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "1", logicalPut, flagged(groupMsg))
	r.put(r.c, h, "2a", logicalPut, flagged(groupMsg|segmentMsg))
	const whole = logicalGet | completeGet | mqi.MQGMO_ALL_MSGS_AVAILABLE
	r.wantNext(h, whole, "")
	r.put(r.c, h, "2b", logicalPut, flagged(groupMsg|lastSegment))
	_, err := tryPut(r.c, h, "3", logicalPut, flagged(0))
	wantRC(t, err, mqi.MQRC_INCOMPLETE_GROUP)
	r.put(r.c, h, "3a", logicalPut, flagged(lastGroup|segmentMsg))
	r.wantNext(h, whole, "")
	r.put(r.c, h, "3b", logicalPut, flagged(lastGroup|lastSegment))
	r.restart(store.Immediate) // groups are known again after a restart
	h = r.openQ(r.c, "Q", inOut)
	for _, want := range []string{"1", "2a2b", "3a3b"} {
		r.wantNext(h, whole|mqi.MQGMO_SYNCPOINT, want)
	}
	r.wantNext(h, whole|mqi.MQGMO_SYNCPOINT, "")
	if err := r.c.Backout(bg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1", "2a2b", "3a3b"} {
		r.wantNext(h, whole|mqi.MQGMO_SYNCPOINT, want)
	}
	if err := r.c.Commit(bg); err != nil {
		t.Fatal(err)
	}
	if n := r.depth("Q"); n != 0 {
		t.Errorf("%d messages left", n)
	}
}

func TestSegmentationByQueueManager(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXMSGL", "100")
	h := r.openQ(r.c, "Q", inOut)
	text := strings.Repeat("0123456789", 25)
	_, err := tryPut(r.c, h, text, 0)
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	_, err = tryPut(r.c, h, text, 0, func(md *mqi.MD) { md.MsgFlags = mqi.MQMF_SEGMENTATION_ALLOWED }) // version 1: no flags
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	put := r.put(r.c, h, text, 0, flagged(mqi.MQMF_SEGMENTATION_ALLOWED), persistent)
	if n := r.depth("Q"); n != 3 {
		t.Fatalf("%d segments", n)
	}
	var lens []string
	opt := int32(mqi.MQGMO_BROWSE_FIRST)
	for range 3 {
		s, md := r.get(r.c, h, opt)
		lens = append(lens, fmt.Sprint(md.Offset, len(s), md.MsgFlags, md.MsgID == put.MsgID))
		opt = mqi.MQGMO_BROWSE_NEXT
	}
	if got := strings.Join(lens, ","); got != "0 96 3 true,96 96 3 true,192 58 7 true" {
		t.Error(got)
	}
	// Persistent segments need a unit of work of their own.
	r.put(r.c, h, "other", mqi.MQPMO_SYNCPOINT)
	_, _, err = tryGet(r.c, h, completeGet)
	wantRC(t, err, mqi.MQRC_UOW_NOT_AVAILABLE)
	_, err = tryPut(r.c, h, text, 0, flagged(mqi.MQMF_SEGMENTATION_ALLOWED), persistent)
	wantRC(t, err, mqi.MQRC_UOW_NOT_AVAILABLE)
	if err := r.c.Backout(bg); err != nil {
		t.Fatal(err)
	}
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version, gmo.Version, gmo.Options = 2, 2, completeGet
	data, n, err := r.c.Get(bg, h, &md, &gmo, 120)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
	if n != 250 || len(data) != 120 || r.depth("Q") != 3 {
		t.Errorf("%d of %d, depth %d", len(data), n, r.depth("Q"))
	}
	r.wantNext(h, completeGet, text)
	if n := r.depth("Q"); n != 0 {
		t.Errorf("%d left", n)
	}
	// A segment of an application's that is too long is cut too.
	r.put(r.c, h, text, logicalPut, flagged(segmentMsg|mqi.MQMF_SEGMENTATION_ALLOWED))
	r.put(r.c, h, text, logicalPut, flagged(lastSegment|mqi.MQMF_SEGMENTATION_ALLOWED))
	r.wantNext(h, completeGet|mqi.MQGMO_SYNCPOINT|mqi.MQGMO_MARK_SKIP_BACKOUT, text+text)
	if err := r.c.Backout(bg); err != nil {
		t.Fatal(err)
	}
	if n := r.depth("Q"); n != 0 { // all six segments were skipped
		t.Errorf("%d came back", n)
	}
	if err := r.c.Backout(bg); err != nil {
		t.Fatal(err)
	}
	r.wantNext(h, completeGet, text+text)
}

func TestSegmentsOfTwoKinds(t *testing.T) {
	for _, c := range []struct {
		change func(*mqi.MD)
		rc     mqi.RC
	}{
		{func(md *mqi.MD) { md.CodedCharSetID = 819 }, mqi.MQRC_INCONSISTENT_CCSIDS},
		{func(md *mqi.MD) { md.Encoding = mqi.MQENC_NORMAL }, mqi.MQRC_INCONSISTENT_ENCODINGS},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		h := r.openQ(r.c, "Q", inOut)
		r.put(r.c, h, "a", logicalPut, flagged(segmentMsg))
		r.put(r.c, h, "b", logicalPut, flagged(segmentMsg))
		r.put(r.c, h, "c", logicalPut, flagged(lastSegment), c.change)
		text, md, err := tryGet(r.c, h, completeGet)
		if cc, rc := reasonOf(err); cc != mqi.CCWarning || rc != c.rc || text != "ab" || md.MsgFlags != segmentMsg {
			t.Errorf("%q %v %v", text, md.MsgFlags, err)
		}
		r.wantNext(h, 0, "c")
	}
}

func TestSegmentReasons(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	seg := func(flags, offset int32) func(*mqi.MD) {
		return func(md *mqi.MD) { md.Version, md.MsgFlags, md.Offset, md.GroupID[0] = 2, flags, offset, 7 }
	}
	_, err := tryPut(r.c, h, "too far", 0, seg(segmentMsg, 999999999))
	wantRC(t, err, mqi.MQRC_OFFSET_ERROR)
	// Put by the application in any order, with a gap at first.
	r.put(r.c, h, "ef", 0, seg(lastSegment, 4))
	r.put(r.c, h, "ab", 0, seg(segmentMsg, 0))
	r.wantNext(h, completeGet, "")
	r.wantNext(h, mqi.MQGMO_ALL_SEGMENTS_AVAILABLE, "")
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST, "ef")
	_, _, err = tryGet(r.c, h, mqi.MQGMO_MSG_UNDER_CURSOR|completeGet)
	wantRC(t, err, mqi.MQRC_INVALID_MSG_UNDER_CURSOR)
	r.wantNext(h, mqi.MQGMO_BROWSE_NEXT, "ab")
	_, _, err = tryGet(r.c, h, mqi.MQGMO_MSG_UNDER_CURSOR|completeGet)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	_, ch := r.getWait("Q", completeGet)
	r.awaitWaiters("Q", 1)
	r.put(r.c, h, "cd", 0, seg(segmentMsg, 2))
	if g := r.receive(ch); g.text != "abcdef" {
		t.Errorf("%v", g)
	}
	// Browsing in logical order must go on in logical order.
	r.put(r.c, h, "1", 0)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST|logicalGet, "1")
	_, _, err = tryGet(r.c, h, mqi.MQGMO_BROWSE_NEXT)
	wantRC(t, err, mqi.MQRC_INCONSISTENT_BROWSE)
}

// A getter with a version 1 descriptor gets MQMDE, and a put of one is what the fields say.
func TestMDE(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	r.put(r.c, h, "in a group", 0, flagged(lastGroup), func(md *mqi.MD) { md.MsgSeqNumber, md.Format = 4, mqi.MQFMT_STRING })
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	data, _, err := r.c.Get(bg, h, &md, &gmo, 1000)
	if err != nil || md.Format != mqi.MQFMT_MD_EXTENSION || len(data) != mqi.MQMDE_CURRENT_LENGTH+10 {
		t.Fatalf("%v %q %v", err, md.Format, data)
	}
	md.Persistence, md.Expiry = 0, -1
	pmo := mqi.DefaultPMO()
	sent := append([]byte(nil), data...)
	if err := r.c.Put(bg, h, &md, &pmo, data); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sent, data) || md.Format != mqi.MQFMT_MD_EXTENSION {
		t.Error("the application's data or descriptor changed")
	}
	text, got := r.get(r.c, h, 0)
	if text != "in a group" || got.MsgFlags != lastGroup|mqi.MQMF_MSG_IN_GROUP || got.MsgSeqNumber != 4 || got.Format != mqi.MQFMT_STRING {
		t.Errorf("%q %+v", text, got)
	}
	for _, ccsid := range []int32{mqi.MQCCSI_UNDEFINED, mqi.MQCCSI_EMBEDDED, mqi.MQCCSI_DEFAULT, mqi.MQCCSI_INHERIT} {
		e := mqi.MDE{Format: mqi.MQFMT_STRING, MsgSeqNumber: 1, OriginalLength: -1, CodedCharSetID: ccsid}
		b, err := e.Append(nil, mqi.NativeCoding(37))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tryPut(r.c, h, string(b)+"x", 0, func(md *mqi.MD) { md.Format, md.CodedCharSetID = mqi.MQFMT_MD_EXTENSION, 37 })
		if ccsid != mqi.MQCCSI_INHERIT {
			wantRC(t, err, mqi.MQRC_MDE_ERROR)
		} else if text, md := r.get(r.c, h, 0); err != nil || text != "x" || md.CodedCharSetID != 37 {
			t.Errorf("as the extension: %q %+v %v", text, md, err)
		}
	}
	_, err = tryPut(r.c, h, "MDE is not there", 0, func(md *mqi.MD) { md.Format = mqi.MQFMT_MD_EXTENSION })
	wantRC(t, err, mqi.MQRC_MDE_ERROR)
}

// MQBACK takes the handle's place in a group back, for puts and gets.
func TestPlaceInGroupFollowsBackout(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	const sync = logicalPut | mqi.MQPMO_SYNCPOINT
	first := r.put(r.c, h, "1", sync, flagged(groupMsg))
	if err := r.c.Commit(bg); err != nil {
		t.Fatal(err)
	}
	r.put(r.c, h, "wrong", sync, flagged(groupMsg))
	r.put(r.c, h, "wrong", sync, flagged(lastGroup))
	if err := r.c.Backout(bg); err != nil {
		t.Fatal(err)
	}
	second := r.put(r.c, h, "2", sync, flagged(lastGroup))
	if second.MsgSeqNumber != 2 || second.GroupID != first.GroupID {
		t.Errorf("%v after %v", second, first)
	}
	if err := r.c.Commit(bg); err != nil {
		t.Fatal(err)
	}
	const get = logicalGet | mqi.MQGMO_SYNCPOINT
	r.wantNext(h, get, "1")
	if err := r.c.Commit(bg); err != nil {
		t.Fatal(err)
	}
	r.wantNext(h, get, "2")
	r.fault.fail = func(*store.Tx) error { return store.ErrFull }
	wantRC(t, r.c.Commit(bg), mqi.MQRC_BACKED_OUT)
	r.fault.fail = nil
	r.wantNext(h, get, "2")
}

// A report about a segment says how long that was.
func TestReportOfSegment(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QLOCAL", "R")
	h, rep := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "R", inOut)
	r.put(r.c, h, "abc", logicalPut, flagged(segmentMsg), func(md *mqi.MD) { md.Report, md.ReplyToQ = mqi.MQRO_COA, "R" })
	text, md := r.get(r.c, rep, 0)
	if text != "" || md.OriginalLength != 3 || md.MsgFlags != segmentMsg || md.Feedback != mqi.MQFB_COA {
		t.Errorf("%q %+v", text, md)
	}
}

// Each of many getters that wait for groups of their own gets the message meant for it, and no other wakes.
func TestWaitersByGroup(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	const n = 20
	var chans []chan gotMsg
	for i := range n {
		c := r.connect()
		q := r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED)
		ch := make(chan gotMsg, 1)
		chans = append(chans, ch)
		go func() {
			text, _, err := tryGet(c, q, mqi.MQGMO_WAIT, func(md *mqi.MD, g *mqi.GMO) {
				g.WaitInterval, g.MatchOptions, md.GroupID[0] = -1, mqi.MQMO_MATCH_GROUP_ID, byte(i+1)
			})
			ch <- gotMsg{text, err}
		}()
	}
	r.awaitWaiters("Q", n)
	q := r.m.lookup(ClassQueue, "Q").Queue
	for i := n - 1; i >= 0; i-- {
		r.put(r.c, h, fmt.Sprint(i), 0, flagged(lastGroup), func(md *mqi.MD) { md.GroupID[0] = byte(i + 1) })
		q.mu.Lock()
		left := q.wait.n
		q.mu.Unlock()
		if left != i {
			t.Fatalf("%d wait after %d messages", left, n-i)
		}
		if g := r.receive(chans[i]); g.text != fmt.Sprint(i) || g.err != nil {
			t.Errorf("%d: %v", i, g)
		}
	}
}

// OriginalLength says something of segments only: how long they are, or in reports the segments that these tell about.
func TestOriginalLength(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	for _, c := range []struct {
		typ, flags, given int32
		text              string
		want              int32
		rc                mqi.RC
	}{
		{mqi.MQMT_DATAGRAM, 0, 5, "abc", -1, 0},
		{mqi.MQMT_DATAGRAM, 0, -7, "abc", -1, 0},
		{mqi.MQMT_REPORT, 0, 5, "abc", -1, 0},
		{mqi.MQMT_DATAGRAM, segmentMsg, -1, "abc", 3, 0},
		{mqi.MQMT_DATAGRAM, segmentMsg, -2, "abc", 3, 0},
		{mqi.MQMT_DATAGRAM, lastSegment, 9, "", 0, 0},
		{mqi.MQMT_REPORT, segmentMsg, 9, "abc", 9, 0},
		{mqi.MQMT_REPORT, segmentMsg, 2, "abc", 0, mqi.MQRC_ORIGINAL_LENGTH_ERROR},
		{mqi.MQMT_REPORT, segmentMsg, 0, "", 0, mqi.MQRC_ORIGINAL_LENGTH_ERROR},
		{mqi.MQMT_REPORT, lastSegment, 0, "", 0, 0},
		{mqi.MQMT_REPORT, lastSegment, -1, "", 0, mqi.MQRC_ORIGINAL_LENGTH_ERROR},
	} {
		_, err := tryPut(r.c, h, c.text, 0, func(md *mqi.MD) {
			md.Version, md.MsgType, md.MsgFlags, md.OriginalLength = 2, c.typ, c.flags, c.given
		})
		wantRC(t, err, c.rc)
		if err != nil {
			continue
		}
		if _, md := r.get(r.c, h, 0); md.OriginalLength != c.want {
			t.Errorf("%+v: %d", c, md.OriginalLength)
		}
	}
	r.alter(ClassQueue, "Q", "MAXMSGL", "16")
	r.put(r.c, h, "0123456789abcdefgh", 0, flagged(mqi.MQMF_SEGMENTATION_ALLOWED))
	for _, want := range []int32{16, 2} {
		if _, md := r.get(r.c, h, 0); md.OriginalLength != want {
			t.Errorf("cut into one of %d", md.OriginalLength)
		}
	}
	r.put(r.c, h, "0123456789abcdefgh", 0, flagged(mqi.MQMF_SEGMENTATION_ALLOWED))
	if _, md := r.get(r.c, h, completeGet); md.OriginalLength != 16 { // the descriptor is the first segment's but for MsgFlags
		t.Errorf("joined: %d", md.OriginalLength)
	}
}
