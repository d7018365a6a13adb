package mqi

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var codings = []Coding{{MQENC_NORMAL, 819}, {MQENC_REVERSED, 819}, {MQENC_S390, 37}, {MQENC_NORMAL, 500},
	{MQENC_NATIVE, 1208}, {MQENC_NATIVE, 1252}, {MQENC_NORMAL, 1140}, {MQENC_NATIVE, 943}}

func filledMD(version int32) MD {
	m := DefaultMD()
	m.Version, m.Report, m.MsgType, m.Expiry, m.Feedback = version, 7, MQMT_REQUEST, 300, 259
	m.Encoding, m.CodedCharSetID, m.Format, m.Priority, m.Persistence = MQENC_NORMAL, 850, MQFMT_STRING, 4, 1
	m.ReplyToQ, m.ReplyToQMgr, m.UserIdentifier, m.ApplIdentityData = "REPLY.Q", "QM2", "app", "identity"
	m.PutApplType, m.PutApplName, m.PutDate, m.PutTime, m.ApplOriginData = 28, "prog", "20260101", "12345678", "orig"
	copy(m.MsgID[:], "message id of 24 bytes..")
	copy(m.CorrelID[:], "\x00\xffcorrel")
	copy(m.AccountingToken[:], "account")
	if version == 2 {
		copy(m.GroupID[:], "group")
		m.MsgSeqNumber, m.Offset, m.MsgFlags, m.OriginalLength = 3, 100, MQMF_MSG_IN_GROUP, 5000
	}
	return m
}

// TestHeaderRoundTrips builds each structure in each coding, and reads the same from it, with what follows.
func TestHeaderRoundTrips(t *testing.T) {
	tail := []byte("behind")
	for _, c := range codings {
		check := func(name string, size int, b []byte, err error, want any, parse func([]byte) (any, []byte, error)) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s %v: %v", name, c, err)
			}
			if size > 0 && len(b) != size {
				t.Errorf("%s %v: %d bytes, want %d", name, c, len(b), size)
			}
			got, rest, err := parse(append(b, tail...))
			if err != nil || !bytes.Equal(rest, tail) {
				t.Fatalf("%s %v: rest %q, %v", name, c, rest, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %v:\n%s", name, c, d)
			}
			for n := 0; n < len(b); n++ { // a structure that was cut is an error, never a panic
				if _, _, err := parse(b[:n]); err == nil && size > 0 {
					t.Fatalf("%s %v: %d of %d bytes are taken", name, c, n, len(b))
				}
			}
		}
		for v := int32(1); v <= 2; v++ {
			m := filledMD(v)
			b, err := AppendMD(nil, &m, c)
			check("MD", 324+40*int(v-1), b, err, m, func(b []byte) (any, []byte, error) { return wrap3(ParseMD(b, c)) })
		}
		dlh := DLH{2053, "A.Q", "QM9", MQENC_NORMAL, 819, MQFMT_STRING, 6, "appl", "20260102", "01020304"}
		b, err := dlh.Append(nil, c)
		check("DLH", MQDLH_CURRENT_LENGTH, b, err, dlh, func(b []byte) (any, []byte, error) { return wrap3(ParseDLH(b, c)) })
		dh := DH{MQENC_NORMAL, 819, MQFMT_STRING, MQDHF_NEW_MSG_IDS, MQPMRF_MSG_ID | MQPMRF_FEEDBACK | MQPMRF_ACCOUNTING_TOKEN,
			[]OR{{"A.Q", "QM9"}, {"B.Q", ""}}, []PMR{{MsgID: ID{1}, Feedback: 7}, {MsgID: ID{2}, AccountingToken: Account{3}}}}
		b, err = dh.Append(nil, c)
		check("DH", MQDH_CURRENT_LENGTH+2*(48+48+24+4+32), b, err, dh, func(b []byte) (any, []byte, error) { return wrap3(ParseDH(b, c)) })
		dh.PutMsgRecFields, dh.Records = 0, nil
		b, err = dh.Append(nil, c)
		check("DH without records", MQDH_CURRENT_LENGTH+2*96, b, err, dh, func(b []byte) (any, []byte, error) { return wrap3(ParseDH(b, c)) })
		xqh := XQH{"FAR.Q", "FAR", filledMD(1)}
		b, err = xqh.Append(nil, c)
		check("XQH", MQXQH_CURRENT_LENGTH, b, err, xqh, func(b []byte) (any, []byte, error) { return wrap3(ParseXQH(b, c)) })
		xqh.MD = filledMD(2)
		b, err = xqh.Append(nil, c)
		check("XQH+MDE", MQXQH_CURRENT_LENGTH+MQMDE_CURRENT_LENGTH, b, err, xqh,
			func(b []byte) (any, []byte, error) { return wrap3(ParseXQH(b, c)) })
		tm := TM{"A.Q", "PROC", "trigger data", 6, "/usr/bin/app", "env", strings.Repeat("u", 128)}
		b, err = tm.Append(nil, c)
		check("TM", MQTM_CURRENT_LENGTH, b, err, tm, func(b []byte) (any, []byte, error) { return wrap3(ParseTM(b, c)) })
		tmc := tm.TMC2("QM1")
		b, err = tmc.Append(nil, c.CCSID)
		check("TMC2", MQTMC2_CURRENT_LENGTH, b, err, tmc, func(b []byte) (any, []byte, error) { return wrap3(ParseTMC2(b, c)) })
		wih := WIH{MQENC_NORMAL, 819, MQFMT_STRING, 0, "SERVICE", "STEP", Token{1, 2}}
		b, err = wih.Append(nil, c)
		check("WIH", MQWIH_CURRENT_LENGTH, b, err, wih, func(b []byte) (any, []byte, error) { return wrap3(ParseWIH(b, c)) })
		eph := EPH{MQENC_NORMAL, 819, MQFMT_STRING, 0, CFMsg{Type: MQCFT_USER, Version: 1, MsgSeqNumber: 1, Control: 1,
			Params: []CFParam{CFString(MQCA_Q_NAME, "A.Q"), CFInt(1, 2)}}}
		b, err = eph.Append(nil, c)
		check("EPH", MQEPH_STRUC_LENGTH_FIXED+40, b, err, eph, func(b []byte) (any, []byte, error) { return wrap3(ParseEPH(b, c)) })
		rfh := RFH{MQENC_NORMAL, -2, MQFMT_STRING, 0, "MQPSCommand Publish MQPSTopic a/b"}
		b, err = rfh.Append(nil, c)
		check("RFH", 0, b, err, rfh, func(b []byte) (any, []byte, error) { return wrap3(ParseRFH(b, c)) })
		for _, nv := range []int32{1208, 1200, 13488} {
			rfh2 := RFH2{MQENC_NORMAL, 1208, MQFMT_STRING, 0, nv, []string{"<mcd><Msd>jms_text</Msd></mcd>", "<usr><a>ä€</a></usr>"}}
			b, err = rfh2.Append(nil, c)
			if len(b)%4 != 0 {
				t.Errorf("MQRFH2 of %d bytes", len(b))
			}
			check("RFH2", 0, b, err, rfh2, func(b []byte) (any, []byte, error) { return wrap3(ParseRFH2(b, c)) })
		}
	}
}

func wrap3[T any](v T, rest []byte, err error) (any, []byte, error) { return v, rest, err }

// TestHeaderRefusals: each structure has its own reason code.
func TestHeaderRefusals(t *testing.T) {
	c := Coding{MQENC_NORMAL, 819}
	rfh2 := func(change func([]byte)) []byte {
		h := RFH2{NameValueCCSID: 1208, Folders: []string{"<usr></usr>"}}
		b, err := h.Append(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		change(b)
		return b
	}
	dh := func(change func([]byte)) []byte {
		b, err := (&DH{Objects: []OR{{"A.Q", ""}}}).Append(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		change(b)
		return b
	}
	for _, x := range []struct {
		name string
		err  error
		rc   RC
	}{
		{"DLH id", err3(ParseDLH(make([]byte, 172), c)), MQRC_DLH_ERROR},
		{"DH id", err3(ParseDH(make([]byte, 48), c)), MQRC_DH_ERROR},
		{"DH short", err3(ParseDH(dh(func(b []byte) { b[11] = 47 }), c)), MQRC_DH_ERROR},
		{"DH records", err3(ParseDH(dh(func(b []byte) { b[39] = 2 }), c)), MQRC_DH_ERROR},
		{"DH many records", err3(ParseDH(dh(func(b []byte) { b[36] = 0x7F }), c)), MQRC_DH_ERROR},
		{"DH negative", err3(ParseDH(dh(func(b []byte) { b[36] = 0xFF }), c)), MQRC_DH_ERROR},
		{"DH offset in the head", err3(ParseDH(dh(func(b []byte) { b[43] = 40 }), c)), MQRC_DH_ERROR},
		{"DH offset behind", err3(ParseDH(dh(func(b []byte) { b[40] = 1 }), c)), MQRC_DH_ERROR},
		{"DH put records", err3(ParseDH(dh(func(b []byte) { b[35], b[47] = 1, 140 }), c)), MQRC_DH_ERROR},
		{"XQH id", err3(ParseXQH(make([]byte, 428), c)), MQRC_XQH_ERROR},
		{"MDE id", err3(ParseMDE(make([]byte, 72), c)), MQRC_MDE_ERROR},
		{"TM id", err3(ParseTM(make([]byte, 684), c)), MQRC_TM_ERROR},
		{"TMC id", err3(ParseTMC2(make([]byte, 732), c)), MQRC_TMC_ERROR},
		{"MD id", err3(ParseMD(make([]byte, 364), c)), MQRC_MD_ERROR},
		{"WIH id", err3(ParseWIH(make([]byte, 120), c)), MQRC_WIH_ERROR},
		{"EPH id", err3(ParseEPH(make([]byte, 120), c)), MQRC_EPH_ERROR},
		{"RFH id", err3(ParseRFH(make([]byte, 36), c)), MQRC_RFH_ERROR},
		{"RFH2 as RFH", err3(ParseRFH(rfh2(func([]byte) {}), c)), MQRC_RFH_ERROR},
		{"RFH2 long", err3(ParseRFH2(rfh2(func(b []byte) { b[9] = 1 }), c)), MQRC_RFH_ERROR},
		{"RFH2 short", err3(ParseRFH2(rfh2(func(b []byte) { b[11] = 8 }), c)), MQRC_RFH_ERROR},
		{"RFH2 folder length", err3(ParseRFH2(rfh2(func(b []byte) { b[39] = 200 }), c)), MQRC_RFH_ERROR},
		{"RFH2 folder odd", err3(ParseRFH2(rfh2(func(b []byte) { b[39] = 11 }), c)), MQRC_RFH_ERROR},
		{"RFH2 folder text", err3(ParseRFH2(rfh2(func(b []byte) { b[42] = 0xFF }), c)), MQRC_RFH_FORMAT_ERROR},
		{"RFH2 CCSID", err3(ParseRFH2(rfh2(func(b []byte) { b[35] = 9 }), c)), MQRC_SOURCE_CCSID_ERROR},
		{"CCSID", err3(ParseDLH(make([]byte, 172), Coding{MQENC_NORMAL, 99})), MQRC_SOURCE_CCSID_ERROR},
		{"UTF-16", err3(ParseDLH(make([]byte, 172), Coding{MQENC_NORMAL, 1200})), MQRC_SOURCE_CCSID_ERROR},
		{"encoding", err3(ParseDLH(make([]byte, 172), Coding{0, 819})), MQRC_SOURCE_INTEGER_ENC_ERROR},
	} {
		if _, rc := Reason(x.err); rc != x.rc {
			t.Errorf("%s: %v, want %d", x.name, x.err, x.rc)
		}
	}
	h := DLH{DestQName: strings.Repeat("Q", 49)}
	for _, x := range []struct {
		c  Coding
		rc RC
	}{{c, MQRC_CONVERTED_STRING_TOO_BIG}, {Coding{MQENC_NORMAL, 99}, MQRC_TARGET_CCSID_ERROR},
		{Coding{0, 819}, MQRC_TARGET_INTEGER_ENC_ERROR}, {Coding{MQENC_NORMAL, 1200}, MQRC_TARGET_CCSID_ERROR}} {
		dst, err := h.Append([]byte("x"), x.c)
		if _, rc := Reason(err); rc != x.rc || string(dst) != "x" {
			t.Errorf("%v: %v, %q", x.c, err, dst)
		}
	}
}

func err3[T any](_ T, _ []byte, err error) error { return err }

// TestParseEBCDICEyecatcher: a header's identifier may be in EBCDIC although the descriptor says otherwise.
func TestParseEBCDICEyecatcher(t *testing.T) {
	h := DLH{DestQName: "A.Q", Format: MQFMT_STRING}
	b, err := h.Append(nil, Coding{MQENC_S390, 37})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ParseDLH(b, Coding{MQENC_NORMAL, 819}); err != nil {
		t.Errorf("%v", err)
	}
}

func TestCharsets(t *testing.T) {
	for _, x := range []struct {
		ccsid int32
		text  string
		bytes string
	}{
		{1208, "ä€", "\xc3\xa4\xe2\x82\xac"}, {819, "ä", "\xe4"}, {850, "ä", "\x84"}, {437, "é", "\x82"},
		{858, "€", "\xd5"}, {923, "€", "\xa4"}, {1252, "€", "\x80"}, {5348, "€", "\x80"},
		{37, "A1 ", "\xc1\xf1\x40"}, {37, "[]", "\xba\xbb"}, {500, "[]!^|", "\x4a\x5a\x4f\x5f\xbb"}, {37, "!^|", "\x5a\xb0\x4f"},
		{500, "¢¬", "\xb0\xba"}, {1140, "€", "\x9f"}, {1148, "€[", "\x9f\x4a"}, {1047, "[]", "\xad\xbd"},
		{1200, "aä", "\x00a\x00\xe4"}, {1202, "a", "a\x00"}, {1200, "😀", "\xd8\x3d\xde\x00"}, {943, "日", "\x93\xfa"},
		{1386, "中", "\xd6\xd0"}, {950, "中", "\xa4\xa4"}, {949, "한", "\xc7\xd1"}, {954, "日", "\xc6\xfc"}, {367, "az", "az"},
	} {
		cs, ok := LookupCharset(x.ccsid, MQENC_NORMAL)
		if !ok {
			t.Errorf("no CCSID %d", x.ccsid)
			continue
		}
		if b := cs.Append(nil, x.text); string(b) != x.bytes {
			t.Errorf("%d %q: % x, want % x", x.ccsid, x.text, b, x.bytes)
		}
		if s, ok := cs.Decode([]byte(x.bytes)); s != x.text || !ok {
			t.Errorf("%d % x: %q, want %q", x.ccsid, x.bytes, s, x.text)
		}
	}
	for _, x := range []struct {
		ccsid int32
		bytes string
	}{{1208, "\xff"}, {1200, "a"}, {1200, "\xd8\x00\x00a"}, {367, "\xe4"}, {943, "\x93"}} {
		cs, _ := LookupCharset(x.ccsid, MQENC_NORMAL)
		if s, ok := cs.Decode([]byte(x.bytes)); ok {
			t.Errorf("%d % x is taken as %q", x.ccsid, x.bytes, s)
		}
	}
	for _, x := range []struct {
		ccsid int32
		sub   byte
	}{{819, 0x1A}, {37, 0x3F}, {367, 0x1A}} {
		cs, _ := LookupCharset(x.ccsid, MQENC_NORMAL)
		if b := cs.Append(nil, "€"); !bytes.Equal(b, []byte{x.sub}) {
			t.Errorf("%d: a character that is not in the set gives % x", x.ccsid, b)
		}
	}
	if cs, _ := LookupCharset(37, MQENC_NORMAL); true {
		if s, _ := cs.Decode([]byte{0xC1, 0x15}); s != "A\n" {
			t.Errorf("NL gives %q", s)
		}
	}
	if _, ok := LookupCharset(99, MQENC_NORMAL); ok {
		t.Error("CCSID 99 is known")
	}
}

func TestAppendFieldCutsBetweenCharacters(t *testing.T) {
	for _, x := range []struct {
		ccsid int32
		n     int
		s     string
		want  string
	}{{1208, 3, "ää", "ä "}, {819, 3, "äää", "\xe4\xe4\xe4"}, {943, 3, "日日", "\x93\xfa "}, {819, 2, "äää", "\xe4\xe4"},
		{1208, 1, "€", " "}, {37, 4, "AB", "\xc1\xc2\x40\x40"}} {
		cs, _ := LookupCharset(x.ccsid, MQENC_NORMAL)
		b, _ := cs.AppendField(nil, x.s, x.n)
		if string(b) != x.want {
			t.Errorf("%d %q in %d: %q, want %q", x.ccsid, x.s, x.n, b, x.want)
		}
	}
}

// FuzzHeaders: no bytes make a reader panic, and what it takes can be built and read again.
func FuzzHeaders(f *testing.F) {
	c := Coding{MQENC_NORMAL, 819}
	dlh, xqh := DLH{Format: MQFMT_STRING}, XQH{MD: filledMD(2)}
	rfh2 := RFH2{NameValueCCSID: 1208, Folders: []string{"<usr><a dt='i4'>1</a></usr>"}}
	dh := DH{PutMsgRecFields: MQPMRF_GROUP_ID | MQPMRF_FEEDBACK, Objects: []OR{{"A", "B"}, {"C", ""}}, Records: make([]PMR, 2)}
	for _, h := range []header{&dlh, &xqh, &rfh2, &dh, &RFH{}, &MDE{}, &WIH{}, &EPH{Msg: CFMsg{Version: 1}}} {
		b, err := h.Append(nil, c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint8(0))
	}
	formats := []string{MQFMT_DEAD_LETTER_HEADER, MQFMT_XMIT_Q_HEADER, MQFMT_RF_HEADER_1, MQFMT_RF_HEADER_2,
		MQFMT_MD_EXTENSION, MQFMT_WORK_INFO_HEADER, MQFMT_EMBEDDED_PCF, MQFMT_DIST_HEADER}
	f.Fuzz(func(t *testing.T, b []byte, pick uint8) {
		c := codings[int(pick)%len(codings)]
		for _, format := range formats {
			h, _, err := parseHeader(format, b, c)
			if err != nil {
				continue
			}
			one, err := h.Append(nil, Coding{MQENC_NATIVE, 1208})
			if err != nil {
				continue // a field got longer
			}
			again, _, err := parseHeader(format, one, Coding{MQENC_NATIVE, 1208})
			if err != nil || fmt.Sprint(again) != fmt.Sprint(h) {
				t.Fatalf("%s: %v\n%v\n%v", format, err, h, again)
			}
		}
	})
}
