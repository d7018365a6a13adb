package qmgr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A topic is opened at this queue manager, by its name or none; another one's topics are not known here.
func TestTopicOfThisQueueManager(t *testing.T) {
	r := newPSRig(t)
	for qm, want := range map[string]mqi.RC{"": 0, "QM1": 0, "QM2": mqi.MQRC_UNKNOWN_OBJECT_Q_MGR} {
		od := topicOD("T")
		od.ObjectQMgrName = qm
		_, err := r.c.Open(bg, od, mqi.MQOO_OUTPUT)
		wantRC(t, err, want)
		od = topicOD("T")
		od.ObjectQMgrName = qm
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		wantRC(t, r.c.Put1(bg, od, &md, &pmo, []byte("x")), want)
	}
}

// Of a descriptor's flags a publication keeps that it may be segmented; those of groups are refused, and a descriptor of version 1
// has none.
func TestPublicationFlags(t *testing.T) {
	r := newPSRig(t)
	q, _ := r.managed(r.c, "T", 0)
	for _, c := range []struct {
		version, flags int32
		rc             mqi.RC
		want           int32
	}{
		{2, mqi.MQMF_SEGMENTATION_ALLOWED, 0, mqi.MQMF_SEGMENTATION_ALLOWED},
		{2, 0, 0, 0},
		{2, mqi.MQMF_MSG_IN_GROUP, mqi.MQRC_MSG_NOT_ALLOWED_IN_GROUP, 0},
		{2, mqi.MQMF_SEGMENT, mqi.MQRC_MSG_NOT_ALLOWED_IN_GROUP, 0},
		{1, mqi.MQMF_MSG_IN_GROUP, 0, 0},
		{1, mqi.MQMF_SEGMENTATION_ALLOWED, 0, 0},
	} {
		err := tryPub(r.c, "T", "x", 0, func(md *mqi.MD) { md.Version, md.MsgFlags = c.version, c.flags })
		wantRC(t, err, c.rc)
		if c.rc != 0 {
			continue
		}
		if _, md, err := tryGet(r.c, q, 0); err != nil || md.MsgFlags != c.want {
			t.Errorf("version %d, flags %#x: a copy has %#x, %v", c.version, c.flags, md.MsgFlags, err)
		}
	}
}

// A subscription gets nothing from the very millisecond on at which it ends, also before it is removed.
func TestEndedSubscriptionGetsNothing(t *testing.T) {
	r := newPSRig(t)
	_, hs := r.managed(r.c, "T", 0)
	h, err := r.c.handle("test", hs)
	wantRC(t, err, 0)
	s := h.sub.obj.sub.Load()
	now := r.clk.Now().UnixMilli()
	for _, c := range []struct {
		expires int64
		want    int
	}{{0, 1}, {now + 1, 1}, {now, 0}, {now - 1, 0}} {
		cfg := *cfgOf(s)
		cfg.expires = c.expires
		s.Owner.(*subState).cfg.Store(&cfg)
		head := &msgHead{md: mqi.DefaultMD()}
		if got := newPublication(r.m, "T", head, nil).recipients(r.m.topics.tree.Match(nil, "T")); len(got) != c.want {
			t.Errorf("it ends in %d ms: %d get a publication, want %d", c.expires-now, len(got), c.want)
		}
	}
}

// A copy may be as long as MAXMSGL of the subscription's queue says, and no longer; on its way to another queue manager its header
// counts.
func TestLongestCopy(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR DEADQ(' ')")
	r.ok("DEFINE QLOCAL(Q) MAXMSGL(3)")
	r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q)")
	r.ok(fmt.Sprintf("DEFINE QLOCAL(X) USAGE(XMITQ) MAXMSGL(%d)", 3+mqi.MQ_MSG_HEADER_LENGTH))
	r.ok("DEFINE SUB(FAR) TOPICSTR('T') DEST(Q) DESTQMGR(X)")
	for text, want := range map[string]int{"123": 1, "1234": 0} {
		r.pub("T", text, 0)
		for _, q := range []string{"Q", "X"} {
			if got := r.curDepth(q); got != want {
				t.Errorf("%d bytes: %d copies on %s, want %d", len(text), got, q, want)
			}
			r.ok("CLEAR QLOCAL(" + q + ")")
		}
	}
}

// An MQRFH2 of which everything passes to subscribers reaches them byte by byte as it was published, however it is written.
func TestHeaderPassesAsItIs(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q) PROPCTL(FORCE)")
	r.ok("DEFINE SUB(S) TOPICSTR('T') DEST(Q) PSPROP(NONE)")
	h := mqi.RFH2{Encoding: mqi.MQENC_NATIVE, CodedCharSetID: 1208, Format: mqi.MQFMT_STRING, NameValueCCSID: 1208,
		Folders: []string{"<usr><a  copy = 'publish' >1</a ><c copy='publish,reply' dt='i4'>3</c></usr>", "<own>text</own>", "<usr><b copy='publish'>2</b></usr>"}}
	b, err := h.Append(nil, mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: 1208})
	wantRC(t, err, 0)
	want := string(b) + "body"
	err = tryPub(r.c, "T", want, 0, func(md *mqi.MD) { md.Format, md.CodedCharSetID = mqi.MQFMT_RF_HEADER_2, 1208 })
	wantRC(t, err, 0)
	got, md, err := tryGet(r.c, openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED), mqi.MQGMO_PROPERTIES_AS_Q_DEF)
	if err != nil || got != want || md.Format != mqi.MQFMT_RF_HEADER_2 {
		t.Errorf("got %q of format %q, %v, want %q", got, md.Format, err, want)
	}
}

// Where a copy that cannot be made takes the others back, a get that waits is given nothing before all of them are made.
func TestNothingAtOnceUnderAll(t *testing.T) {
	for _, rule := range []string{"ALL", "ALLDUR"} {
		r := newPSRig(t)
		r.ok("ALTER QMGR DEADQ(' ')")
		r.ok("DEFINE TOPIC(T) TOPICSTR('t') NPMSGDLV(" + rule + ")")
		r.ok("DEFINE QLOCAL(FULL) MAXDEPTH(0)")
		var seen []string
		r.reads("t", 10, &seen)
		r.ok("DEFINE SUB(S) TOPICSTR('t') DEST(FULL)") // durable, and after the one whose get waits
		h := r.openTopic(r.c, "t")
		send := func() error {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			md.Persistence = mqi.MQPER_NOT_PERSISTENT
			return r.c.PutBy(bg, r, h, &md, &pmo, []byte("x"), true)
		}
		wantRC(t, send(), mqi.MQRC_PUBLICATION_FAILURE)
		if len(seen) > 0 {
			t.Errorf("%s: the get that waited has %q of a publication that was refused", rule, seen)
		}
		r.ok("ALTER TOPIC(T) NPMSGDLV(ALLAVAIL)")
		wantRC(t, send(), 0)
		if len(seen) != 1 {
			t.Errorf("ALLAVAIL: the get that waited has %q", seen)
		}
	}
}

// The priority of a queue that is known by an alias is the alias's.
func TestPriorityOfTheAlias(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q) DEFPRTY(3)")
	r.ok("DEFINE QALIAS(AL) TARGET(Q) DEFPRTY(7)")
	for dest, want := range map[string]int32{"Q": 3, "AL": 7} {
		r.ok("DEFINE SUB(S) TOPICSTR('T') PUBPRTY(ASQDEF) DEST(" + dest + ")")
		r.pub("T", "x", 0, func(md *mqi.MD) { md.Priority = 1 })
		if _, md, err := tryGet(r.c, openFor(t, r.c, "Q", mqi.MQOO_INPUT_SHARED), 0); err != nil || md.Priority != want {
			t.Errorf("DEST(%s): priority %d, %v, want %d", dest, md.Priority, err, want)
		}
		r.ok("DELETE SUB(S)")
	}
}

// What a publisher says of groups, of backing out and of its application's origin is not its subscribers'.
func TestFieldsThatAreNotPassedOn(t *testing.T) {
	r := newPSRig(t)
	q, _ := r.managed(r.c, "T", 0)
	h, err := r.c.Open(bg, topicOD("T"), mqi.MQOO_OUTPUT|mqi.MQOO_SET_ALL_CONTEXT)
	wantRC(t, err, 0)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Version, md.MsgSeqNumber, md.Offset, md.OriginalLength, md.BackoutCount, md.ApplOriginData = 2, 5, 6, 7, 8, "orig"
	md.GroupID[0] = 9
	pmo.Options = mqi.MQPMO_SET_ALL_CONTEXT
	wantRC(t, r.c.Put(bg, h, &md, &pmo, []byte("x")), 0)
	_, got, err := tryGet(r.c, q, 0, func(md *mqi.MD, _ *mqi.GMO) { md.Version = 2 })
	wantRC(t, err, 0)
	if got.MsgSeqNumber != 1 || got.Offset != 0 || got.OriginalLength != -1 || !got.GroupID.IsZero() || got.BackoutCount != 0 || got.ApplOriginData != "" {
		t.Errorf("a copy has %+v", got)
	}
}

// A publication is no longer than MAXMSGL of the queue manager, whether anybody subscribes or not.
func TestLongestPublication(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER QMGR MAXMSGL(32768)")
	wantRC(t, tryPub(r.c, "T", strings.Repeat("x", 32768), 0), 0)
	wantRC(t, tryPub(r.c, "T", strings.Repeat("x", 32769), 0), mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR)
	wantRC(t, tryPub(r.c, "T", strings.Repeat("x", 32769), mqi.MQPMO_RETAIN), mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR)
}
