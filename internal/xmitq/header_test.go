package xmitq

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func sample(version int32) mqi.MD {
	md := mqi.DefaultMD()
	md.Version, md.Report, md.MsgType, md.Expiry, md.Feedback = version, 1, 2, 300, 4
	md.Encoding, md.CodedCharSetID, md.Format = 273, 500, "MQSTR"
	md.Priority, md.Persistence, md.BackoutCount = 5, 1, 6
	md.MsgID, md.CorrelID = mqi.ID{1, 2, 3}, mqi.ID{4, 5}
	md.ReplyToQ, md.ReplyToQMgr, md.UserIdentifier = "REPLY", "QM1", "alice"
	md.AccountingToken, md.ApplIdentityData = mqi.Account{7}, "identity"
	md.PutApplType, md.PutApplName, md.PutDate, md.PutTime, md.ApplOriginData = 6, "orders", "20261129", "12345678", "orig"
	if version == 2 {
		md.GroupID, md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength = mqi.ID{8}, 3, 10, 24, 99
	}
	return md
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, version := range []int32{1, 2} {
		in := Header{RemoteQName: "LQ1", RemoteQMgrName: "QMG2", MD: sample(version)}
		b := AppendHeader([]byte("before"), &in, 1208)
		b = append(b, "the data"...)
		if len(b) != len("before")+HeaderLen(&in.MD)+len("the data") {
			t.Fatalf("%d bytes", len(b))
		}
		if want := map[int32]int{1: 428, 2: 500}[version]; HeaderLen(&in.MD) != want {
			t.Fatalf("header of %d bytes, want %d", HeaderLen(&in.MD), want)
		}
		out, rest, err := ParseHeader(b[len("before"):], mqi.MQENC_NATIVE)
		if err != nil || string(rest) != "the data" {
			t.Fatalf("%q %v", rest, err)
		}
		if d := cmp.Diff(in, out); d != "" {
			t.Error(d)
		}
	}
}

// The places of the fields, as the structure is documented; not taken from our own writer.
func TestHeaderLayout(t *testing.T) {
	md := sample(1)
	b := AppendHeader(nil, &Header{RemoteQName: "LQ1", RemoteQMgrName: "QMG2", MD: md}, 1208)
	text := func(at, n int) string { return strings.TrimRight(string(b[at:at+n]), " ") }
	num := func(at int) int32 { return int32(binary.LittleEndian.Uint32(b[at:])) }
	const d = 104 // embedded MQMD
	if text(0, 4) != "XQH" || num(4) != 1 || text(8, 48) != "LQ1" || text(56, 48) != "QMG2" || text(d, 4) != "MD" || num(d+4) != 1 ||
		num(d+24) != 273 || num(d+28) != 500 || text(d+32, 8) != "MQSTR" || num(d+40) != 5 || num(d+44) != 1 || b[d+48] != 1 || b[d+72] != 4 ||
		num(d+96) != 6 || text(d+100, 48) != "REPLY" || text(d+148, 48) != "QM1" || text(d+196, 12) != "alice" || b[d+208] != 7 ||
		text(d+240, 32) != "identity" || num(d+272) != 6 || text(d+276, 28) != "orders" || text(d+304, 8) != "20261129" ||
		text(d+312, 8) != "12345678" || text(d+320, 4) != "orig" || d+324 != len(b) {
		t.Errorf("%q", b)
	}
	dl := AppendDeadLetter(nil, &DeadLetter{Reason: 2085, DestQName: "Q", DestQMgrName: "M", Encoding: 273, CodedCharSetID: 500, Format: "MQSTR", PutApplType: 7, PutApplName: "QMG2", PutDate: "20261129", PutTime: "12345678"})
	b = dl
	if text(0, 4) != "DLH" || num(4) != 1 || num(8) != 2085 || text(12, 48) != "Q" || text(60, 48) != "M" || num(108) != 273 || num(112) != 500 ||
		text(116, 8) != "MQSTR" || num(124) != 7 || text(128, 28) != "QMG2" || text(156, 8) != "20261129" || text(164, 8) != "12345678" || len(b) != 172 {
		t.Errorf("%q", b)
	}
}

// A channel from a big-endian machine leaves its own encoding in what it did not convert.
func TestBigEndianHeader(t *testing.T) {
	in := Header{RemoteQName: "LQ1", RemoteQMgrName: "QMG2", MD: sample(1)}
	c := writer(nil, 273)
	md := in.MD
	c.header(&in, &md)
	out, _, err := ParseHeader(c.buf, 273)
	if d := cmp.Diff(in, out); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, _, err := ParseHeader(c.buf, mqi.MQENC_NATIVE); err == nil {
		t.Error("the wrong byte order is not noticed")
	}
}

func TestWrap(t *testing.T) {
	md := sample(2)
	out, hdr := Wrap(&md, "LQ1", "QMG2", 1208)
	if out.Format != mqi.MQFMT_XMIT_Q_HEADER || out.Encoding != mqi.MQENC_NATIVE || out.CodedCharSetID != 1208 || out.CorrelID != md.MsgID || !out.MsgID.IsZero() ||
		out.Priority != 5 || out.Persistence != 1 || out.Expiry != 300 || out.UserIdentifier != "alice" || out.ReplyToQ != md.ReplyToQ ||
		out.ReplyToQMgr != md.ReplyToQMgr || out.MsgType != md.MsgType || out.Feedback != md.Feedback || out.Version != 1 {
		t.Errorf("%+v", out)
	}
	for report, want := range map[int32]int32{
		mqi.MQRO_COA_WITH_DATA | mqi.MQRO_COD_WITH_FULL_DATA: 0,
		mqi.MQRO_EXPIRATION | mqi.MQRO_COD | mqi.MQRO_PASS_MSG_ID | mqi.MQRO_DISCARD_MSG: mqi.MQRO_EXPIRATION |
			mqi.MQRO_PASS_MSG_ID | mqi.MQRO_DISCARD_MSG,
		mqi.MQRO_EXCEPTION_WITH_DATA | mqi.MQRO_PAN: mqi.MQRO_EXCEPTION_WITH_DATA | mqi.MQRO_PAN,
	} {
		md.Report = report
		if out, _ := Wrap(&md, "LQ1", "QMG2", 1208); out.Report != want {
			t.Errorf("report options %#x become %#x, want %#x", report, out.Report, want)
		}
	}
	md.Report = sample(2).Report
	h, rest, err := ParseHeader(hdr, out.Encoding)
	if err != nil || len(rest) != 0 || cmp.Diff(md, h.MD) != "" {
		t.Error(cmp.Diff(md, h.MD), err)
	}
}

// Acceptance 004/32: what the dead-letter queue gets, and how a handler takes it back.
func TestDeadLetter(t *testing.T) {
	md := sample(2)
	out, hdr := Bury(&md, DeadLetter{Reason: 2085, DestQName: "NOWHERE", DestQMgrName: "QMG2", PutApplType: 7, PutApplName: "QMG2", PutDate: "20261129", PutTime: "12345678"}, 1208)
	if out.Format != mqi.MQFMT_DEAD_LETTER_HEADER || out.Encoding != mqi.MQENC_NATIVE || out.CodedCharSetID != 1208 || out.MsgID != md.MsgID {
		t.Errorf("%+v", out)
	}
	back, d, rest, err := Exhume(&out, append(hdr, "data"...))
	if err != nil || string(rest) != "data" || cmp.Diff(md, back) != "" || d.Reason != 2085 || d.DestQName != "NOWHERE" || d.DestQMgrName != "QMG2" || d.Format != "MQSTR" {
		t.Errorf("%+v %v %s", d, err, cmp.Diff(md, back))
	}
	if _, _, _, err := Exhume(&out, hdr[:171]); err == nil {
		t.Error("half a header is taken")
	}
}

func TestMalformedHeaders(t *testing.T) {
	md := sample(2)
	good := AppendHeader(nil, &Header{"Q", "M", md}, 1208)
	for _, c := range []struct {
		name string
		msg  []byte
		rc   mqi.RC
	}{
		{"empty", nil, mqi.MQRC_XQH_ERROR},
		{"short", good[:427], mqi.MQRC_XQH_ERROR},
		{"no XQH", append([]byte("XXX "), good[4:]...), mqi.MQRC_XQH_ERROR},
		{"version", append(append([]byte("XQH "), 2, 0, 0, 0), good[8:]...), mqi.MQRC_XQH_ERROR},
		{"no MD", bytes.Replace(good, []byte("MD  "), []byte("md  "), 1), mqi.MQRC_XQH_ERROR},
		{"EBCDIC", append([]byte{0xe7, 0xd8, 0xc8, 0x40}, good[4:]...), mqi.MQRC_XQH_ERROR},
		{"short extension", good[:499], mqi.MQRC_MDE_ERROR},
		{"no extension", append(append(bytes.Clone(good[:428]), "mde "...), good[432:]...), mqi.MQRC_MDE_ERROR},
		{"length of extension", append(append(bytes.Clone(good[:436]), 71, 0, 0, 0), good[440:]...), mqi.MQRC_MDE_ERROR},
	} {
		_, _, err := ParseHeader(c.msg, mqi.MQENC_NATIVE)
		if _, rc := mqi.Reason(err); rc != c.rc {
			t.Errorf("%s: %v, want reason %d", c.name, err, c.rc)
		}
	}
	if _, _, err := ParseDeadLetter([]byte("DLH "), mqi.MQENC_NATIVE); err == nil {
		t.Error("four bytes are a dead-letter header")
	}
}

// Nothing breaks on any bytes, and what is read is written again as it was.
func FuzzHeaders(f *testing.F) {
	for _, v := range []int32{1, 2} {
		md := sample(v)
		f.Add(AppendHeader(nil, &Header{"Q", "M", md}, 1208), int32(mqi.MQENC_NATIVE))
	}
	f.Add(AppendDeadLetter(nil, &DeadLetter{Reason: 2053, DestQName: "Q"}), int32(mqi.MQENC_NATIVE))
	f.Fuzz(func(t *testing.T, b []byte, encoding int32) {
		if h, rest, err := ParseHeader(b, encoding); err == nil {
			again, rest2, err := ParseHeader(append(AppendHeader(nil, &h, 1208), rest...), mqi.MQENC_NATIVE)
			if needsMDE(&h.MD) == (h.MD.Version == 2) && (err != nil || cmp.Diff(h, again) != "" || !bytes.Equal(rest, rest2)) {
				t.Fatalf("%v\n%s", err, cmp.Diff(h, again))
			}
		}
		if d, rest, err := ParseDeadLetter(b, encoding); err == nil {
			again, rest2, err := ParseDeadLetter(append(AppendDeadLetter(nil, &d), rest...), mqi.MQENC_NATIVE)
			if err != nil || d != again || !bytes.Equal(rest, rest2) {
				t.Fatalf("%v %+v %+v", err, d, again)
			}
		}
	})
}
