package mqi

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	big819    = Coding{MQENC_NORMAL, 819}
	little37  = Coding{MQENC_REVERSED, 37}
	native    = Coding{MQENC_NATIVE, 1208}
	bigUTF16  = Coding{MQENC_NORMAL, 1200}
	littleU16 = Coding{MQENC_REVERSED, 1200}
)

func mdOf(format string, c Coding) MD {
	m := DefaultMD()
	m.Format, m.Encoding, m.CodedCharSetID = format, c.Encoding, c.CCSID
	return m
}

func TestConvertStrings(t *testing.T) {
	for _, x := range []struct {
		name     string
		from, to Coding
		format   string
		in, want string
		room     int
		rc       RC
	}{
		{"to UTF-8", big819, native, MQFMT_STRING, "\xe4b", "äb", -1, 0},
		{"to EBCDIC", native, little37, MQFMT_STRING, "A1", "\xc1\xf1", -1, 0},
		{"EBCDIC line end", little37, native, MQFMT_STRING, "\xc1\x15", "A\n", -1, 0},
		{"to UTF-16 big", native, bigUTF16, MQFMT_STRING, "ä", "\x00\xe4", -1, 0},
		{"to UTF-16 little", native, littleU16, MQFMT_STRING, "ä", "\xe4\x00", -1, 0},
		{"UTF-16 swaps", bigUTF16, littleU16, MQFMT_STRING, "\x00a", "a\x00", -1, 0},
		{"a byte order mark goes", bigUTF16, native, MQFMT_STRING, "\xfe\xff\x00a", "a", -1, 0},
		{"and is stronger than the encoding", bigUTF16, native, MQFMT_STRING, "\xff\xfea\x00", "a", -1, 0},
		{"it stays in UTF-16", bigUTF16, littleU16, MQFMT_STRING, "\xfe\xff\x00a", "\xff\xfea\x00", -1, 0},
		{"nothing but a mark", littleU16, native, MQFMT_STRING, "\xff\xfe", "", -1, 0},
		{"CCSID 0 is the queue manager's", big819, Coding{MQENC_NATIVE, 0}, MQFMT_STRING, "\xe4", "ä", -1, 0},
		{"same", big819, big819, MQFMT_STRING, "\xe4", "\xe4", -1, 0},
		{"bytes stay, the encoding changes", big819, Coding{MQENC_NATIVE, 819}, MQFMT_STRING, "\xe4", "\xe4", -1, 0},
		{"no format, same", big819, big819, MQFMT_NONE, "\xe4", "\xe4", -1, 0},
		{"2110 no format", big819, native, MQFMT_NONE, "a", "a", -1, MQRC_FORMAT_ERROR},
		{"2110 own format", big819, native, "MYFMT", "a", "a", -1, MQRC_FORMAT_ERROR},
		{"2111", Coding{MQENC_NORMAL, 99}, native, MQFMT_STRING, "a", "a", -1, MQRC_SOURCE_CCSID_ERROR},
		{"2115", big819, Coding{MQENC_NORMAL, 99}, MQFMT_STRING, "a", "a", -1, MQRC_TARGET_CCSID_ERROR},
		{"2112", Coding{0, 1200}, native, MQFMT_STRING, "\x00a", "\x00a", -1, MQRC_SOURCE_INTEGER_ENC_ERROR},
		{"2116", native, Coding{0, 1200}, MQFMT_STRING, "a", "a", -1, MQRC_TARGET_INTEGER_ENC_ERROR},
		{"2119", native, big819, MQFMT_STRING, "\xff", "\xff", -1, MQRC_NOT_CONVERTED},
		{"2120", big819, native, MQFMT_STRING, "\xe4\xe4", "\xe4\xe4", 3, MQRC_CONVERTED_MSG_TOO_BIG},
		{"fits exactly", big819, native, MQFMT_STRING, "\xe4\xe4", "ää", 4, 0},
	} {
		m := mdOf(x.format, x.from)
		got, rc := Convert(&m, []byte(x.in), x.to, x.room)
		if string(got) != x.want || rc != x.rc {
			t.Errorf("%s: %q %d, want %q %d", x.name, got, rc, x.want, x.rc)
		}
		want := x.to
		if want.CCSID == 0 {
			want.CCSID = DefaultCCSID
		}
		if x.rc != 0 {
			want = x.from
		}
		if is := (Coding{m.Encoding, m.CodedCharSetID}); is != want {
			t.Errorf("%s: the descriptor says %v, want %v", x.name, is, want)
		}
	}
}

// An empty message stays as it is described.
func TestConvertNothing(t *testing.T) {
	for _, format := range []string{MQFMT_NONE, MQFMT_STRING, MQFMT_RF_HEADER_2} {
		m := mdOf(format, big819)
		if got, rc := Convert(&m, nil, native, -1); len(got) != 0 || rc != 0 || m.CodedCharSetID != 819 || m.Encoding != MQENC_NORMAL {
			t.Errorf("%q: %q %d %+v", format, got, rc, m)
		}
	}
}

// What is left of a message that was cut is converted to its last whole character; a header that has been cut stays.
func TestConvertTruncatedChain(t *testing.T) {
	body := must((&DLH{DestQName: "A.Q", Encoding: littleU16.Encoding, CodedCharSetID: littleU16.CCSID, Format: MQFMT_STRING}).Append(nil, big819))
	head := len(body)
	body = append(body, "a\x00\xe9\x00\xac\x20"...) // aé€
	md := mdOf(MQFMT_DEAD_LETTER_HEADER, big819)
	for _, x := range []struct {
		n, room int
		cut     bool
		text    string
		length  int
		rc      RC
	}{
		{6, head + 6, false, "aé€", 6, 0},
		{6, head + 5, false, "aé", 6, MQRC_TRUNCATED_MSG_ACCEPTED},
		{6, head + 2, false, "a", 6, MQRC_TRUNCATED_MSG_ACCEPTED},
		{6, head, false, "", 6, MQRC_TRUNCATED_MSG_ACCEPTED},
		{5, head + 5, true, "aé", 3, MQRC_TRUNCATED_MSG_ACCEPTED},
		{1, head + 1, true, "", 0, MQRC_TRUNCATED_MSG_ACCEPTED},
		{0, head, true, "", 0, MQRC_TRUNCATED_MSG_ACCEPTED},
	} {
		m := md
		got, n, rc := ConvertTruncated(&m, body[:head+x.n], native, x.room, x.cut)
		if rc != x.rc || n != head+x.length || m.CodedCharSetID != native.CCSID {
			t.Fatalf("%+v: %d bytes, %d, %+v", x, n-head, rc, m)
		}
		if _, rest, err := ParseDLH(got, native); err != nil || string(rest) != x.text {
			t.Errorf("%+v: %q %v", x, rest, err)
		}
	}
	m := md
	got, n, rc := ConvertTruncated(&m, body[:head-1], little37, head-1, true)
	if rc != MQRC_TRUNCATED_MSG_ACCEPTED || n != head-1 || !bytes.Equal(got, body[:head-1]) || m.CodedCharSetID != 819 {
		t.Errorf("% x %d %d %+v", got, n, rc, m)
	}
}

// TestConvertChain: transmission queue header, dead-letter header, MQRFH2, text: each part from its own coding.
func TestConvertChain(t *testing.T) {
	text := Coding{MQENC_NORMAL, 850}
	rfh := RFH2{Encoding: text.Encoding, CodedCharSetID: text.CCSID, Format: MQFMT_STRING, NameValueCCSID: 1200,
		Folders: []string{"<usr><a>ä</a></usr>"}}
	body := []byte("\x84rger")
	body = append(must(rfh.Append(nil, native)), body...)
	dlh := DLH{Reason: 2053, DestQName: "A.Q", Encoding: native.Encoding, CodedCharSetID: native.CCSID, Format: MQFMT_RF_HEADER_2}
	body = append(must(dlh.Append(nil, little37)), body...)
	inner := filledMD(1)
	inner.Format, inner.Encoding, inner.CodedCharSetID = MQFMT_DEAD_LETTER_HEADER, little37.Encoding, little37.CCSID
	xqh := XQH{"FAR.Q", "FAR", inner}
	body = append(must(xqh.Append(nil, big819)), body...)

	md := mdOf(MQFMT_XMIT_Q_HEADER, big819)
	got, rc := Convert(&md, body, native, -1)
	if rc != 0 || md.Encoding != native.Encoding || md.CodedCharSetID != native.CCSID {
		t.Fatalf("%d %+v", rc, md)
	}
	x, rest, err := ParseXQH(got, native)
	if err != nil || x.RemoteQName != "FAR.Q" || x.MD.CodedCharSetID != 1208 || x.MD.MsgID != inner.MsgID {
		t.Fatalf("%+v %v", x, err)
	}
	d, rest, err := ParseDLH(rest, native)
	if err != nil || d.DestQName != "A.Q" || d.CodedCharSetID != 1208 || d.Encoding != MQENC_NATIVE {
		t.Fatalf("%+v %v", d, err)
	}
	r, rest, err := ParseRFH2(rest, native)
	if err != nil || r.NameValueCCSID != 1200 || r.Folders[0] != "<usr><a>ä</a></usr>" || r.CodedCharSetID != 1208 {
		t.Fatalf("%+v %v", r, err)
	}
	if string(rest) != "ärger" {
		t.Errorf("%q", rest)
	}
}

// A message to a distribution list on its way: the names in its MQDH are converted, identifiers are not.
func TestConvertDistribution(t *testing.T) {
	dh := DH{Encoding: big819.Encoding, CodedCharSetID: big819.CCSID, Format: MQFMT_STRING, PutMsgRecFields: MQPMRF_CORREL_ID | MQPMRF_FEEDBACK,
		Objects: []OR{{"A.Q", "QM9"}, {"B.Q", ""}}, Records: []PMR{{CorrelID: ID{0x41, 0xE4}, Feedback: 1}, {Feedback: 258}}}
	body := append(must(dh.Append(nil, little37)), "\xe4rger"...)
	md := mdOf(MQFMT_DIST_HEADER, little37)
	got, rc := Convert(&md, body, native, -1)
	h, rest, err := ParseDH(got, native)
	if rc != 0 || err != nil || string(rest) != "ärger" || h.CodedCharSetID != native.CCSID {
		t.Fatalf("%d %v: %+v, %q", rc, err, h, rest)
	}
	dh.Encoding, dh.CodedCharSetID = h.Encoding, h.CodedCharSetID
	if d := cmp.Diff(dh, h); d != "" {
		t.Error(d)
	}
}

// TestConvertPartly: what cannot be converted stays, and the header before it says what it is in.
func TestConvertPartly(t *testing.T) {
	dlh := DLH{DestQName: "A.Q", Encoding: MQENC_NORMAL, CodedCharSetID: MQCCSI_INHERIT, Format: MQFMT_NONE}
	body := append(must(dlh.Append(nil, little37)), 1, 2, 3)
	md := mdOf(MQFMT_DEAD_LETTER_HEADER, little37)
	got, rc := Convert(&md, body, native, -1)
	if rc != MQRC_FORMAT_ERROR || md.CodedCharSetID != 1208 {
		t.Fatalf("%d %+v", rc, md)
	}
	d, rest, err := ParseDLH(got, native)
	if err != nil || !bytes.Equal(rest, []byte{1, 2, 3}) || d.CodedCharSetID != 37 || d.Encoding != MQENC_NORMAL {
		t.Errorf("%+v % x %v", d, rest, err)
	}

	for _, x := range []struct {
		name string
		body []byte
		to   Coding
		rc   RC
	}{
		{"2110 broken header", []byte("DLH nothing"), native, MQRC_FORMAT_ERROR},
		{"2190 name grows", must((&DLH{DestQName: string(bytes.Repeat([]byte("é"), 48))}).Append(nil, big819)), native,
			MQRC_CONVERTED_STRING_TOO_BIG},
		{"2115", must((&DLH{}).Append(nil, big819)), Coding{MQENC_NORMAL, 99}, MQRC_TARGET_CCSID_ERROR},
		{"2116", must((&DLH{}).Append(nil, big819)), Coding{0, 819}, MQRC_TARGET_INTEGER_ENC_ERROR},
	} {
		md := mdOf(MQFMT_DEAD_LETTER_HEADER, big819)
		got, rc := Convert(&md, x.body, x.to, -1)
		if rc != x.rc || !bytes.Equal(got, x.body) || md.CodedCharSetID != 819 {
			t.Errorf("%s: %d %v", x.name, rc, md.CodedCharSetID)
		}
	}
}

// A header cannot be in UTF-16: it is converted to the queue manager's code page, and what it stands in front of to UTF-16 (2272).
func TestConvertPartlyToUTF16(t *testing.T) {
	rfh := RFH2{Encoding: MQENC_NORMAL, CodedCharSetID: 819, Format: MQFMT_STRING, NameValueCCSID: 1208, Folders: []string{"<usr><a>1</a></usr>"}}
	body := append(must(rfh.Append(nil, big819)), "\xe4"...)
	md := mdOf(MQFMT_RF_HEADER_2, big819)
	got, rc := Convert(&md, body, bigUTF16, -1)
	h, rest, err := ParseRFH2(got, native)
	if rc != MQRC_PARTIALLY_CONVERTED || err != nil || md.Encoding != MQENC_NATIVE || md.CodedCharSetID != DefaultCCSID ||
		h.Encoding != bigUTF16.Encoding || h.CodedCharSetID != bigUTF16.CCSID || string(rest) != "\x00\xe4" {
		t.Errorf("%d %v %+v %+v %q", rc, err, md, h, rest)
	}
	body = append(must((&DLH{Encoding: MQENC_NORMAL, CodedCharSetID: 819, Format: MQFMT_NONE}).Append(nil, big819)), 1)
	md = mdOf(MQFMT_DEAD_LETTER_HEADER, big819)
	if _, rc := Convert(&md, body, bigUTF16, -1); rc != MQRC_FORMAT_ERROR || md.CodedCharSetID != DefaultCCSID {
		t.Errorf("data that cannot be converted: %d %+v", rc, md)
	}
}

// TestConvertKeepsBytes: data that is in the coding asked for comes byte for byte, NULs as padding too.
func TestConvertKeepsBytes(t *testing.T) {
	dlh := DLH{DestQName: "A.Q", Encoding: MQENC_NORMAL, CodedCharSetID: 819, Format: MQFMT_STRING}
	body := append(must(dlh.Append(nil, big819)), "text"...)
	copy(body[15:], "\x00\x00\x00")
	md := mdOf(MQFMT_DEAD_LETTER_HEADER, big819)
	got, rc := Convert(&md, body, big819, len(body))
	if rc != 0 || !same(got, body) {
		t.Errorf("%d %q", rc, got)
	}
}

func TestConvertPCFAndTrigger(t *testing.T) {
	m := sampleCF()
	body := must(m.Append(nil, big819))
	for _, format := range []string{MQFMT_ADMIN, MQFMT_EVENT, MQFMT_PCF} {
		md := mdOf(format, big819)
		got, rc := Convert(&md, append(append([]byte(nil), body...), body...), little37, -1)
		if rc != 0 {
			t.Fatalf("%s: %d", format, rc)
		}
		one, rest, err := ParseCF(got, little37)
		if err != nil || len(rest)*2 != len(got) || one.Find(MQCA_Q_NAME).Text() != "Q.é" || one.Find(MQCA_Q_DESC).CCSID != 37 {
			t.Fatalf("%s: %+v %v", format, one, err)
		}
	}
	eph := EPH{Encoding: MQENC_NORMAL, CodedCharSetID: 819, Format: MQFMT_STRING, Msg: m}
	md := mdOf(MQFMT_EMBEDDED_PCF, big819)
	out, rc := Convert(&md, append(must(eph.Append(nil, big819)), 0xE4), native, -1)
	if e, rest, err := ParseEPH(out, native); rc != 0 || err != nil || string(rest) != "ä" || e.Msg.Find(MQCA_Q_DESC).CCSID != 1208 {
		t.Errorf("%d %+v %q %v", rc, e, rest, err)
	}
	md = mdOf(MQFMT_ADMIN, big819)
	if _, rc := Convert(&md, body[:40], native, -1); rc != MQRC_FORMAT_ERROR {
		t.Errorf("a cut command gives %d", rc)
	}
	tm := TM{QName: "A.Q", ApplType: 6}
	md = mdOf(MQFMT_TRIGGER, little37)
	got, rc := Convert(&md, must(tm.Append(nil, little37)), native, -1)
	if back, _, err := ParseTM(got, native); rc != 0 || err != nil || back != tm {
		t.Errorf("%d %+v %v", rc, back, err)
	}
}

// TestConvertBoundsChain: a chain of headers without end is not followed.
func TestConvertBoundsChain(t *testing.T) {
	h := DLH{Encoding: MQENC_NORMAL, CodedCharSetID: 819, Format: MQFMT_DEAD_LETTER_HEADER}
	var body []byte
	for i := 0; i < 100; i++ {
		body = must(h.Append(body, big819))
	}
	md := mdOf(MQFMT_DEAD_LETTER_HEADER, big819)
	if _, rc := Convert(&md, body, native, -1); rc != MQRC_FORMAT_ERROR {
		t.Errorf("%d", rc)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// FuzzConvert: no data makes it panic, and data that was converted can be converted back.
func FuzzConvert(f *testing.F) {
	f.Add([]byte("text"), uint8(0), uint8(1))
	dlh := DLH{Format: MQFMT_STRING, CodedCharSetID: 819, Encoding: MQENC_NORMAL}
	f.Add(append(must(dlh.Append(nil, big819)), "text"...), uint8(1), uint8(0))
	m := sampleCF()
	f.Add(must(m.Append(nil, big819)), uint8(2), uint8(0))
	formats := []string{MQFMT_STRING, MQFMT_DEAD_LETTER_HEADER, MQFMT_ADMIN, MQFMT_RF_HEADER_2, MQFMT_XMIT_Q_HEADER, MQFMT_TRIGGER}
	f.Fuzz(func(t *testing.T, b []byte, pick, to uint8) {
		md := mdOf(formats[int(pick)%len(formats)], big819)
		out, rc := Convert(&md, b, codings[int(to)%len(codings)], -1)
		if rc == 0 {
			_, rc := Convert(&md, out, big819, -1)
			if rc == MQRC_NOT_CONVERTED { // text that is not what its CCSID says, and went along as that was asked for too
				md := mdOf(formats[int(pick)%len(formats)], big819)
				_, rc = Convert(&md, b, Coding{MQENC_NORMAL, 37}, -1)
				if rc == MQRC_NOT_CONVERTED {
					return
				}
				rc = MQRC_NOT_CONVERTED
			}
			if rc != 0 && rc != MQRC_CONVERTED_STRING_TOO_BIG {
				t.Fatalf("back: %d", rc)
			}
		}
	})
}
