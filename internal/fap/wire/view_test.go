package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

var plainHeader = Header{Magic: TSHM, Conv: 1, Order: Little, Encoding: EncodingLittle, CCSID: 1208, Flags: FlagWhole}

func plainCodec() Codec {
	c, _ := plainHeader.Codec()
	return c
}

func anyMD(t *rapid.T) mqi.MD {
	md := mqi.DefaultMD()
	n := rapid.Int32()
	name := rapid.StringMatching(`[A-Z.]{0,8}`)
	md.Version = int32(rapid.IntRange(1, 2).Draw(t, "version"))
	md.Report, md.MsgType, md.Expiry, md.Feedback = n.Draw(t, "report"), n.Draw(t, "type"), n.Draw(t, "expiry"), n.Draw(t, "feedback")
	md.Encoding, md.CodedCharSetID, md.Priority, md.Persistence = n.Draw(t, "enc"), n.Draw(t, "ccsid"), n.Draw(t, "prio"), n.Draw(t, "pers")
	md.Format, md.ReplyToQ, md.ReplyToQMgr, md.UserIdentifier = name.Draw(t, "format"), name.Draw(t, "q"), name.Draw(t, "qm"), name.Draw(t, "user")
	md.PutApplName, md.PutDate, md.PutTime = name.Draw(t, "appl"), "20261130", "01020304"
	md.BackoutCount, md.PutApplType = n.Draw(t, "backouts"), n.Draw(t, "appltype")
	for i := range md.MsgID {
		md.MsgID[i], md.CorrelID[i], md.GroupID[i] = byte(i+1), byte(2*i+1), byte(3*i+1)
	}
	md.MsgSeqNumber, md.Offset, md.MsgFlags = n.Draw(t, "seq"), n.Draw(t, "offset"), n.Draw(t, "flags")
	if md.Version == 1 {
		md.GroupID, md.MsgSeqNumber, md.Offset, md.MsgFlags = mqi.ID{}, 1, 0, 0
	}
	return md
}

// fields are what a view shows of a descriptor, as Decode would.
func fieldsOf(v MDView) mqi.MD {
	s := func(b []byte) string { return plainCodec().Text.field(b) }
	return mqi.MD{Version: v.i32(4), Report: v.Report(), MsgType: v.MsgType(), Expiry: v.Expiry(), Feedback: v.Feedback(),
		Encoding: v.Encoding(), CodedCharSetID: v.CCSID(), Format: s(v.Format()), Priority: v.Priority(),
		Persistence: v.Persistence(), MsgID: v.MsgID(), CorrelID: v.CorrelID(), BackoutCount: v.Backouts(),
		ReplyToQ: s(v.ReplyToQ()), ReplyToQMgr: s(v.ReplyQMgr()), UserIdentifier: s(v.User()), PutApplType: v.ApplType(),
		PutApplName: s(v.Appl()), PutDate: string(v.PutStamp()[:8]), PutTime: string(v.PutStamp()[8:]), GroupID: v.GroupID(),
		MsgSeqNumber: v.Seq(), Offset: v.Offset(), MsgFlags: v.Flags()}
}

// same compares what the view shows with what Decode gave.
func same(t *rapid.T, v MDView, md mqi.MD) {
	t.Helper()
	md.AccountingToken, md.ApplIdentityData, md.ApplOriginData, md.OriginalLength = mqi.MD{}.AccountingToken, "", "", 0
	if d := cmp.Diff(md, fieldsOf(v)); d != "" {
		t.Fatal(d)
	}
}

// The views read what Decode reads.
func TestViewsAreDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := plainCodec()
		md := anyMD(t)
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data")
		name := rapid.StringMatching(`[A-Z]{0,48}`).Draw(t, "resolved")

		a := Async{Hobj: 3, Index: 1, GlobalIndex: 9, Reason: 2079, Resolved: name, MD: md, Data: data, Token: mqi.Token{7}}
		v, err := ViewAsync(Encode(nil, AsyncMsg, API{}, &a, c, 0))
		if err != nil || v.Hobj != 3 || v.GlobalIndex != 9 || v.Reason != 2079 || v.Token != a.Token || string(v.Resolved) != name ||
			!bytes.Equal(v.Data, data) {
			t.Fatalf("%+v %v", v, err)
		}
		md2 := md
		md2.Version = 2 // an ASYNC_MESSAGE has that always
		same(t, v.MD, md2)

		g := GetReply{MD: md, GMO: mqi.DefaultGMO(), DataLength: int32(len(data)), Data: data}
		g.GMO.Version, g.GMO.ResolvedQName, g.GMO.MsgToken = 4, name, mqi.Token{8}
		api, gv, err := ViewGetReply(Encode(nil, MQGET.Reply(), API{CompCode: 1, Reason: 5}, &g, c, 36))
		if err != nil || api.CompCode != 1 || api.Reason != 5 || gv.Token != g.GMO.MsgToken || !bytes.Equal(gv.Data, data) ||
			c.Text.field(gv.Resolved) != name {
			t.Fatalf("%+v %v", gv, err)
		}
		same(t, gv.MD, md)

		p := PutReply{MD: md, PMO: mqi.DefaultPMO()}
		_, pv, err := ViewPutReply(Encode(nil, MQPUT.Reply(), API{}, &p, c, 36))
		if err != nil {
			t.Fatal(err)
		}
		same(t, pv, md)
	})
}

// The views are for one form.
func TestPlain(t *testing.T) {
	h := plainHeader
	little, page, zos := h, h, h
	little.Order, page.CCSID, zos.EBCDIC = Big, 819, true
	if !h.Plain() || little.Plain() || page.Plain() || zos.Plain() {
		t.Error(h.Plain(), little.Plain(), page.Plain(), zos.Plain())
	}
}

// A view shows every field, also those that only some programs ask for, and the defaults of what version 1 lacks.
func TestViewOfEveryField(t *testing.T) {
	for v := int32(1); v <= 2; v++ {
		var md mqi.MD
		filled(&md)
		if md.Version = v; v == 1 {
			without(&md, "GroupID", mqi.MD{MsgSeqNumber: 1, OriginalLength: -1})
		}
		md.PutDate, md.PutTime = "20261130", "01020304"
		e := NewEncoder(nil, plainCodec())
		e.md(&md)
		got, view := fieldsOf(MDView(e.b)), MDView(e.b)
		got.AccountingToken, got.OriginalLength = view.Accounting(), view.OriginalLength()
		got.ApplIdentityData = plainCodec().Text.field(view.ApplIdentity())
		got.ApplOriginData = plainCodec().Text.field(view.ApplOrigin())
		if d := cmp.Diff(md, got); d != "" || len(view.ApplIdentity()) != 32 || len(view.ApplOrigin()) != 4 {
			t.Errorf("version %d: %s", v, d)
		}
	}
}

// An answer to MQGET is read whatever the version of its options, and however its length and its data differ.
func TestViewGetReply(t *testing.T) {
	md := mqi.DefaultMD()
	for v := int32(1); v <= 4; v++ {
		g := GetReply{MD: md, GMO: mqi.DefaultGMO(), DataLength: 2, Data: []byte("data")}
		g.GMO.Version, g.GMO.ResolvedQName, g.GMO.MsgToken = v, "Q1", mqi.Token{9, 8}
		want := mqi.Token{}
		if v >= 3 {
			want = g.GMO.MsgToken
		}
		for _, tt := range []struct {
			length int32
			data   string
		}{{0, ""}, {2, "da"}, {4, "data"}, {5, "data"}, {1<<31 - 1, "data"}, {-1, "refused"}} {
			g.DataLength = tt.length
			_, got, err := ViewGetReply(Encode(nil, MQGET.Reply(), API{}, &g, plainCodec(), 36))
			switch {
			case tt.length < 0:
				if err == nil || got.Data != nil || got.MD != nil {
					t.Errorf("version %d, length %d: %+v", v, tt.length, got)
				}
			case err != nil || string(got.Data) != tt.data || got.Token != want || plainCodec().Text.field(got.Resolved) != "Q1":
				t.Errorf("version %d, length %d: %+v, %v", v, tt.length, got, err)
			}
		}
	}
	if api, got, err := ViewGetReply(Encode(nil, MQGET.Reply(), API{CompCode: 2, Reason: 2033, Hobj: 7}, &Empty{}, plainCodec(), 36)); err != nil ||
		api.Reason != 2033 || api.Hobj != 7 || got.MD != nil {
		t.Errorf("one that failed: %+v, %+v, %v", api, got, err)
	}
	a := Async{MD: mqi.DefaultMD(), Status: WindowClosed, Data: []byte("data")}
	if v, err := ViewAsync(Encode(nil, AsyncMsg, API{}, &a, plainCodec(), 0)); err != nil || v.Status != 1 {
		t.Errorf("a closed window: %+v, %v", v, err)
	}
}

// AppendPut takes a message that just fits, and no other.
func TestAppendPutThatJustFits(t *testing.T) {
	p := Put{MD: mqi.DefaultMD(), PMO: mqi.DefaultPMO(), Data: make([]byte, 100)}
	p.MD.Version, p.PMO.Version = 2, 3
	b, _ := AppendPut(nil, plainHeader, 1, &p, plainCodec(), DefaultTransmission)
	for less, want := range []bool{true, false} {
		got, fits := AppendPut([]byte("before"), plainHeader, 1, &p, plainCodec(), len(b)-less)
		if fits != want || string(got[:6]) != "before" || fits && !bytes.Equal(got[6:], b) || !fits && len(got) != 6 {
			t.Errorf("%d bytes in %d: %v", len(b), len(b)-less, fits)
		}
	}
}

// AppendPut writes what Append and Encode write.
func TestAppendPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := plainCodec()
		p := Put{MD: anyMD(t), PMO: mqi.DefaultPMO(), Data: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "data")}
		h := plainHeader
		h.Type, h.Req = MQPUT, 77
		got, whole := AppendPut([]byte("x"), h, 5, &p, c, DefaultTransmission)
		body := Encode(nil, MQPUT, API{Hobj: 5}, &p, c, h.Size())
		want := append(h.Append([]byte("x"), len(body)), body...)
		if !whole || !bytes.Equal(got, want) {
			t.Fatalf("%v\n%x\n%x", whole, got, want)
		}
		if _, whole := AppendPut(nil, h, 5, &p, c, 512); whole {
			t.Fatal("fits where it cannot")
		}
		cut, b, size, ok, err := CutSegment(append(got[1:], "rest"...), DefaultTransmission)
		if err != nil || !ok || size != len(want)-1 || !bytes.Equal(b, body) || cut != h {
			t.Fatalf("%+v %d %v %v", cut, size, ok, err)
		}
	})
}

// Whatever is cut off or wrong is an error, and never read.
func FuzzViews(f *testing.F) {
	c := plainCodec()
	a := Async{Resolved: "Q", MD: mqi.DefaultMD(), Data: []byte("data")}
	f.Add(Encode(nil, AsyncMsg, API{}, &a, c, 0))
	g := GetReply{MD: mqi.DefaultMD(), GMO: mqi.DefaultGMO(), DataLength: 1, Data: []byte("d")}
	f.Add(Encode(nil, MQGET.Reply(), API{}, &g, c, 36))
	for _, fr := range loadFrames(f) {
		f.Add(fr.body)
		f.Add(fr.bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := ViewAsync(b); err == nil && v.Segment == 0 {
			fieldsOf(v.MD)
		}
		if _, v, err := ViewGetReply(b); err == nil && v.MD != nil {
			fieldsOf(v.MD)
		}
		if _, v, err := ViewPutReply(b); err == nil {
			fieldsOf(v)
		}
		CutSegment(b, DefaultTransmission)
	})
}
