package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// keeper is a get that goes on after each message, as that of a client who reads ahead.
type keeper struct {
	taker
	mds []mqi.MD
}

func (x *keeper) Take(_ any, body []byte, total int, err error) {
	x.got, x.total, x.err = append(x.got, string(body)), total, err
	x.mds = append(x.mds, x.md)
}

// keeps starts such a get.
func (r *rig) keeps(queue string) *keeper {
	r.t.Helper()
	x := &keeper{}
	x.ahead(r, r.connect(), queue, x, 1000)
	return x
}

// repeated are the arguments of a put that can be repeated.
func repeated() (mqi.MD, mqi.PMO) {
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Persistence, md.Format = mqi.MQPER_NOT_PERSISTENT, mqi.MQFMT_STRING
	pmo.Options = mqi.MQPMO_ASYNC_RESPONSE | mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_FAIL_IF_QUIESCING
	return md, pmo
}

func (r *rig) lends(h Handle, text string, change ...func(*mqi.MD, *mqi.PMO)) error {
	md, pmo := repeated()
	for _, f := range change {
		f(&md, &pmo)
	}
	return r.c.PutBy(bg, r, h, &md, &pmo, []byte(text), true)
}

// A message that is put again is the one that PutBy would have put: the getter, the counts of the queue and of MQSTAT see no
// difference.
func TestPutAgain(t *testing.T) {
	for name, change := range map[string]func(*mqi.MD, *mqi.PMO){
		"plain":        func(*mqi.MD, *mqi.PMO) {},
		"own ids":      func(md *mqi.MD, _ *mqi.PMO) { md.MsgID, md.CorrelID = mqi.ID{1}, mqi.ID{2} },
		"new ids":      func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options |= mqi.MQPMO_NEW_MSG_ID | mqi.MQPMO_NEW_CORREL_ID },
		"old version":  func(md *mqi.MD, _ *mqi.PMO) { md.Version = 1 },
		"all its own":  func(md *mqi.MD, _ *mqi.PMO) { md.Priority, md.CodedCharSetID, md.ApplIdentityData = 7, 37, "x" },
		"the default":  func(md *mqi.MD, _ *mqi.PMO) { md.Persistence = mqi.MQPER_PERSISTENCE_AS_Q_DEF },
		"new group id": func(md *mqi.MD, _ *mqi.PMO) { md.GroupID = mqi.ID{3} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			o := r.define("QLOCAL", "Q")
			x, h := r.keeps("Q"), r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
			for i, text := range []string{"first", "second", "", "fourth"} {
				if i%2 == 0 { // the longer way
					wantRC(t, r.lends(h, text, change), 0)
				} else if !r.c.Repeats() || !r.c.PutAgain(r, []byte(text)) {
					t.Fatal("it was not put again")
				}
			}
			if got := strings.Join(x.got, " "); got != "first second  fourth" || x.err != nil || r.depth("Q") != 0 {
				t.Errorf("taken %q, %v, depth %d", got, x.err, r.depth("Q"))
			}
			ids, cors := map[mqi.ID]bool{}, map[mqi.ID]bool{}
			for i := range x.mds {
				ids[x.mds[i].MsgID], cors[x.mds[i].CorrelID] = true, true
				if d := cmp.Diff(x.mds[0], x.mds[i], cmpopts.IgnoreFields(mqi.MD{}, "MsgID", "CorrelID", "PutTime")); d != "" {
					t.Errorf("message %d: %s", i, d)
				}
			}
			md, pmo := repeated()
			change(&md, &pmo)
			want := [2]int{4, 1}
			if !md.MsgID.IsZero() {
				want[0] = 1
			}
			if pmo.Options&mqi.MQPMO_NEW_CORREL_ID != 0 {
				want[1] = 4
			}
			if got := [2]int{len(ids), len(cors)}; got != want {
				t.Errorf("%v identifiers, want %v", got, want)
			}
			if w := &o.Queue.watch; w.puts != 4 || w.gets != 4 || w.enq != 4 || w.deq != 4 || w.highest != 1 {
				t.Errorf("counted %+v", *w)
			}
			if sts, err := r.c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR); err != nil || sts.PutSuccessCount != 4 || sts.PutFailureCount != 0 {
				t.Errorf("MQSTAT: %+v, %v", sts, err)
			}
		})
	}
}

// The times of a message are its own.
func TestPutAgainLater(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	x, h := r.keeps("Q"), r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
	wantRC(t, r.lends(h, "now"), 0)
	r.clk.Advance(72 * time.Hour)
	if !r.c.PutAgain(r, []byte("later")) {
		t.Fatal("it was not put again")
	}
	now, _ := putDateTime(r.clk.Now())
	if x.mds[0].PutDate == now || x.mds[1].PutDate != now {
		t.Errorf("put on %s and %s, it is %s", x.mds[0].PutDate, x.mds[1].PutDate, now)
	}
}

// What cannot be repeated, or not any more: nothing has happened then.
func TestPutAgainRefused(t *testing.T) {
	always := func(*rig, Handle) {}
	as := func(f func(*mqi.MD, *mqi.PMO)) []func(*mqi.MD, *mqi.PMO) { return []func(*mqi.MD, *mqi.PMO){f} }
	opt := func(o int32) []func(*mqi.MD, *mqi.PMO) {
		return as(func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options |= o })
	}
	for name, tc := range map[string]struct {
		put  []func(*mqi.MD, *mqi.PMO)
		then func(*rig, Handle)
	}{
		"answered":   {put: as(func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options &^= mqi.MQPMO_ASYNC_RESPONSE }), then: always},
		"no context": {put: opt(mqi.MQPMO_NO_CONTEXT), then: always},
		"logical order": {put: as(func(md *mqi.MD, pmo *mqi.PMO) {
			md.Version, pmo.Options = 2, pmo.Options|mqi.MQPMO_LOGICAL_ORDER
		}), then: always},
		"descriptor out": {put: opt(mqi.MQPMO_MD_FOR_OUTPUT_ONLY), then: always},
		"a header":       {put: as(func(md *mqi.MD, _ *mqi.PMO) { md.Format = mqi.MQFMT_DEAD_LETTER_HEADER }), then: always},
		"expires":        {put: as(func(md *mqi.MD, _ *mqi.PMO) { md.Expiry = 100 }), then: always},
		"reply":          {put: as(func(md *mqi.MD, _ *mqi.PMO) { md.ReplyToQ = "Q" }), then: always},
		"report":         {put: as(func(md *mqi.MD, _ *mqi.PMO) { md.Report, md.ReplyToQ = mqi.MQRO_COA, "Q" }), then: always},
		"in a group": {put: as(func(md *mqi.MD, _ *mqi.PMO) {
			md.Version, md.MsgFlags, md.GroupID = 2, mqi.MQMF_MSG_IN_GROUP, mqi.ID{1}
		}), then: always},
		"warned":       {put: as(func(md *mqi.MD, _ *mqi.PMO) { md.Priority = 12 }), then: always},
		"another verb": {then: func(r *rig, h Handle) { _, _, _ = r.c.Inq(bg, h, []int32{mqi.MQIA_DEF_PRIORITY}, 1, 0) }},
		"closed":       {then: func(r *rig, h Handle) { _ = r.c.Close(bg, h, 0) }},
		"a put that fails": {then: func(r *rig, h Handle) {
			_ = r.lends(h, "x", func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options |= mqi.MQPMO_SYNCPOINT })
		}},
		"inhibited":   {then: func(r *rig, _ Handle) { r.alter(ClassQueue, "Q", "PUT", "DISABLED") }},
		"priority":    {then: func(r *rig, _ Handle) { r.alter(ClassQueue, "Q", "DEFPRTY", "3") }},
		"too long":    {then: func(r *rig, _ Handle) { r.alter(ClassQueue, "Q", "MAXMSGL", "3") }},
		"expiry":      {then: func(r *rig, _ Handle) { r.alter(ClassQueue, "Q", "CUSTOM", "CAPEXPRY(10)") }},
		"manager":     {then: func(r *rig, _ Handle) { r.alter(ClassQmgr, qmgrName, "MAXMSGL", "40000") }},
		"nobody gets": {then: func(r *rig, _ Handle) { r.alter(ClassQueue, "Q", "GET", "DISABLED") }},
		"quiescing":   {then: func(r *rig, _ Handle) { r.c.QuiesceChannel() }},
		"broken":      {then: func(r *rig, _ Handle) { r.c.Break() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.define("QLOCAL", "Q")
			x, h := r.keeps("Q"), r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
			err := r.lends(h, "first", tc.put...)
			if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
				t.Fatal(err)
			}
			tc.then(r, h)
			n := len(x.got)
			if r.c.PutAgain(r, []byte("second")) {
				t.Error("it was put again")
			}
			if len(x.got) != n {
				t.Errorf("taken %q", x.got)
			}
		})
	}
}

// An alias has attributes of its own: it takes the longer way.
func TestPutAgainAlias(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	r.define("QALIAS", "A", "TARGET", "Q")
	x, h := r.keeps("Q"), r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	wantRC(t, r.lends(h, "first"), 0)
	if len(x.got) != 1 || r.c.Repeats() || r.c.PutAgain(r, nil) {
		t.Errorf("taken %q, repeats %v", x.got, r.c.Repeats())
	}
}

// Messages that are put again stay with a getter for a while, and then the next one has its turn.
func TestPutAgainShares(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	var all [3]*keeper
	for i := range all {
		all[i] = r.keeps("Q")
	}
	h := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
	wantRC(t, r.lends(h, "0"), 0)
	const n = 6 * stayMost
	for i := 1; i <= n; i++ {
		if !r.c.PutAgain(r, fmt.Append(nil, i)) {
			t.Fatal(i)
		}
	}
	for i, x := range all {
		if len(x.got) < stayMost || len(x.got) > 3*stayMost {
			t.Errorf("getter %d of %d messages has %d", i, n, len(x.got))
		}
	}
}

// What has passed a queue is counted by whomever it was put and got; a handle that is none of a queue has nothing.
func TestPassed(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h, other := r.openQ(r.c, "Q", inOut), r.connect()
	out := r.openQ(other, "Q", mqi.MQOO_OUTPUT)
	r.put(r.c, h, "one", 0)
	r.put(other, out, "two", 0)
	r.get(r.c, h, 0)
	if put, got, depth := r.c.Passed(h); put != 2 || got != 1 || depth != 1 {
		t.Errorf("%d put, %d got, %d there", put, got, depth)
	}
	if put, got, depth := r.c.Passed(h + 100); put+got != 0 || depth != 0 {
		t.Errorf("of no handle: %d put, %d got, %d there", put, got, depth)
	}
}
