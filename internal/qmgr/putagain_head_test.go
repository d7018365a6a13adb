package qmgr

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// What stands in front of the data decides about a message as its descriptor does: each brings its own.
func TestPutAgainExtension(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	x, h := r.keeps("Q"), r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
	x.md.Version = 2
	body := func(seq int, text string) []byte {
		e := mqi.MDE{Format: mqi.MQFMT_STRING, MsgSeqNumber: 1, CodedCharSetID: int32(seq)}
		b, err := e.Append(nil, mqi.NativeCoding(mqi.DefaultCCSID))
		if err != nil {
			t.Fatal(err)
		}
		return append(b, text...)
	}
	old := func(md *mqi.MD, _ *mqi.PMO) { md.Version, md.Format = 1, mqi.MQFMT_MD_EXTENSION }
	for i, text := range []string{"first", "second", "third"} {
		b := body(i+1, text)
		if !r.c.PutAgain(r, b) {
			wantRC(t, r.lends(h, string(b), old), 0)
		}
	}
	want := []string{"first", "second", "third"}
	if d := cmp.Diff(want, x.got); d != "" {
		t.Error(d)
	}
	for i, md := range x.mds {
		if md.Format != mqi.MQFMT_STRING || md.CodedCharSetID != int32(i+1) {
			t.Errorf("message %d has format %q and CCSID %d", i, md.Format, md.CodedCharSetID)
		}
	}
}

// changing alters what decides about a put while its message is being given.
type changing struct {
	*keeper
	change func()
}

func (x *changing) Take(by any, body []byte, total int, err error) {
	if x.keeper.Take(by, body, total, err); x.change != nil {
		x.change()
		x.change = nil
	}
}

// What is changed while a message is being put rules the next one.
func TestPutAgainChangedMeanwhile(t *testing.T) {
	for name, alter := range map[string]func(*rig){
		"priority":    func(r *rig) { r.alter(ClassQueue, "Q", "DEFPRTY", "3") },
		"expiry":      func(r *rig) { r.alter(ClassQueue, "Q", "CUSTOM", "CAPEXPRY(10)") },
		"persistence": func(r *rig) { r.alter(ClassQueue, "Q", "DEFPSIST", "YES") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.define("QLOCAL", "Q")
			x := r.keeps("Q")
			y := &changing{x, func() { alter(r) }}
			x.w.waker = y
			h := r.openQ(r.c, "Q", mqi.MQOO_OUTPUT)
			wantRC(t, r.lends(h, "first", func(md *mqi.MD, _ *mqi.PMO) { md.Persistence = mqi.MQPER_PERSISTENCE_AS_Q_DEF }), 0)
			if y.change != nil || len(x.got) != 1 {
				t.Fatalf("taken %q", x.got)
			}
			if r.c.PutAgain(r, []byte("second")) {
				t.Errorf("put again as what it is no longer: %+v", x.mds[len(x.mds)-1])
			}
		})
	}
}
