package mqi

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleCF() CFMsg {
	desc := CFString(MQCA_Q_DESC, "text é")
	desc.CCSID = 819
	return CFMsg{Type: MQCFT_COMMAND, Version: 3, Command: MQCMD_CHANGE_Q, MsgSeqNumber: 1, Control: MQCFC_LAST,
		Params: []CFParam{
			CFString(MQCA_Q_NAME, "Q.é"),
			desc,
			CFInt(MQIA_Q_TYPE, MQQT_LOCAL),
			CFInt64(MQIA_CURRENT_Q_DEPTH, 1<<40),
			CFInts(MQIACF_Q_ATTRS, 1, 2, -3),
			{Type: MQCFT_INTEGER64_LIST, ID: 5, Ints: []int64{1 << 50, -1}},
			CFStrings(MQCA_NAMES, "A", "LONGER"),
			CFBytes(MQBACF_CONNECTION_ID, []byte{0, 1, 255}),
			{Type: MQCFT_INTEGER_FILTER, ID: MQIA_CURRENT_Q_DEPTH, Op: MQCFOP_GREATER, Ints: []int64{5}},
			{Type: MQCFT_STRING_FILTER, ID: MQCA_Q_DESC, Op: MQCFOP_LIKE, Strings: []string{"a*"}},
			{Type: MQCFT_BYTE_STRING_FILTER, ID: MQBACF_CONNECTION_ID, Op: MQCFOP_EQUAL, Bytes: []byte{9}},
			CFGroup(MQGACF_ACTIVITY, CFInt(1, 2), CFGroup(MQGACF_OPERATION, CFString(2, "in"), CFGroup(7))),
			CFInt(3, 4),
		}}
}

func TestCFRoundTrip(t *testing.T) {
	for _, c := range append(codings[:7:7], bigUTF16, littleU16) { // 943 lacks é
		m := sampleCF()
		b, err := m.Append(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		got, rest, err := ParseCF(append(b, "tail"...), c)
		if err != nil || string(rest) != "tail" {
			t.Fatalf("%v: %q %v", c, rest, err)
		}
		m.Params[6].Strings = []string{"A     ", "LONGER"} // the list's strings have one length
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%v:\n%s", c, d)
		}
		for n := range b {
			if _, _, err := ParseCF(b[:n], c); err == nil {
				t.Fatalf("%v: %d of %d bytes are taken", c, n, len(b))
			}
		}
	}
}

// TestCFObserved reads the command that the vendor's Java client sends for INQUIRE_Q (fap-captures/18-pcf).
func TestCFObserved(t *testing.T) {
	b := words(1, 0x24, 1, 0xd, 1, 1, 0, 0, 3, 4, 0x18, 0x7e0, 0, 2)
	b = append(b, "Q*  "...)
	b = append(b, words(3, 0x10, 0x14, 1, 5, 0x18, 0x3ea, 2, 0x7e0, 3)...)
	m, rest, err := ParseCF(b, Coding{MQENC_NORMAL, 1208})
	if err != nil || len(rest) != 0 {
		t.Fatal(err)
	}
	want := CFMsg{Type: 1, Version: 1, Command: MQCMD_INQUIRE_Q, MsgSeqNumber: 1, Control: 1, Params: []CFParam{
		CFString(MQCA_Q_NAME, "Q*"), CFInt(MQIA_Q_TYPE, MQQT_LOCAL), CFInts(MQIACF_Q_ATTRS, MQCA_Q_NAME, MQIA_CURRENT_Q_DEPTH)}}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
}

func words(v ...uint32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.BigEndian.AppendUint32(b, x)
	}
	return b
}

func TestCFRefusals(t *testing.T) {
	head := func(count uint32) []byte { return words(1, 36, 1, 8, 1, 1, 0, 0, count) }
	with := func(p ...uint32) []byte { return append(head(1), words(p...)...) }
	pad := uint32(0)
	for _, x := range []struct {
		name string
		b    []byte
		rc   RC
	}{
		{"header length", words(1, 40, 1, 8, 1, 1, 0, 0, 0), MQRCCF_CFH_LENGTH_ERROR},
		{"half a header", words(1, 36), MQRCCF_CFH_LENGTH_ERROR},
		{"version", words(1, 36, 4, 8, 1, 1, 0, 0, 0), MQRCCF_CFH_VERSION_ERROR},
		{"count below 0", head(1 << 31), MQRCCF_CFH_PARM_COUNT_ERROR},
		{"count", head(2), MQRCCF_PARM_COUNT_TOO_BIG},
		{"type", with(99, 16, 1, 1), MQRCCF_STRUCTURE_TYPE_ERROR},
		{"CFIN length", with(3, 20, 1, 1, pad), MQRCCF_CFIN_LENGTH_ERROR},
		{"CFIN beyond", with(3, 400, 1, 1), MQRCCF_CFIN_LENGTH_ERROR},
		{"CFIL count", with(5, 20, 1, 9, 1), MQRCCF_CFIL_COUNT_ERROR},
		{"CFIL length", with(5, 12, 1, 0), MQRCCF_CFIL_LENGTH_ERROR},
		{"CFST length", with(4, 16, 1, 0), MQRCCF_CFST_LENGTH_ERROR},
		{"CFST string", with(4, 24, 1, 0, 5, pad), MQRCCF_CFST_STRING_LENGTH_ERR},
		{"CFST CCSID", with(4, 24, 1, 99, 4, pad), MQRCCF_CCSID_ERROR},
		{"CFST characters", with(4, 24, 1, 1208, 4, 0xffffffff), MQRCCF_PARM_VALUE_ERROR},
		{"CFSL CCSID without strings", with(6, 24, 1, 99, 0, 0), MQRCCF_CCSID_ERROR},
		{"CFSL count", with(6, 24, 1, 0, 1<<31, 4), MQRCCF_CFSL_COUNT_ERROR},
		{"CFSL string", with(6, 24, 1, 0, 1, 1<<31), MQRCCF_CFSL_STRING_LENGTH_ERR},
		{"CFSL total", with(6, 28, 1, 0, 2, 4, pad), MQRCCF_CFSL_TOTAL_LENGTH_ERROR},
		{"CFSL endless blanks", with(6, 24, 1, 0, 1<<30, 0), MQRCCF_CFSL_TOTAL_LENGTH_ERROR},
		{"CFBS", with(9, 16, 1, 4), MQRCCF_CFBS_STRING_LENGTH_ERR},
		{"CFIF", with(13, 24, 1, 2, 3, pad), MQRCCF_CFIF_LENGTH_ERROR},
		{"CFSF", with(14, 24, 1, 2, 0, 4), MQRCCF_CFSF_FILTER_VAL_LEN_ERR},
		{"CFBF", with(15, 20, 1, 2, 4), MQRCCF_CFBF_FILTER_VAL_LEN_ERR},
		{"CFGR count", with(20, 16, 1, 1<<31), MQRCCF_CFGR_PARM_COUNT_ERROR},
		{"CFGR without its parameters", with(20, 16, 1, 1000), MQRCCF_PARM_COUNT_TOO_BIG},
		{"CFGR depth", with(20, 16, 1, 1, 20, 16, 1, 1, 20, 16, 1, 1, 20, 16, 1, 0), MQRCCF_CFGR_LENGTH_ERROR},
	} {
		m, _, err := ParseCF(x.b, big819)
		if _, rc := Reason(err); rc != x.rc {
			t.Errorf("%s: %v, want %d", x.name, err, x.rc)
		}
		if x.name != "half a header" && (m.Command != 8 || m.MsgSeqNumber != 1) {
			t.Errorf("%s: the header is lost: %+v", x.name, m)
		}
	}
}

func FuzzCF(f *testing.F) {
	m := sampleCF()
	f.Add(must(m.Append(nil, big819)))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, _, err := ParseCF(b, big819)
		if err != nil {
			return
		}
		out, err := m.Append(nil, native)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ParseCF(out, native); err != nil {
			t.Fatal(err)
		}
	})
}
