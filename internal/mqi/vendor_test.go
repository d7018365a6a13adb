package mqi

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

// Structures as the vendor's Java classes write them (com.ibm.mq.allclient 9.4.4.0), made with their public setters.
const (
	vendorDLH = "c4d3c8400100000005080000c14bd8404040404040404040404040404040404040404040404040404040404040404040404040404040" +
		"404040404040d8d4f94040404040404040404040404040404040404040404040404040404040404040404040404040404040404040401101" +
		"000033030000d4d8e2e3d94040400600000081979793404040404040404040404040404040404040404040404040f2f0f2f6f0f1f0f2f0f1" +
		"f0f2f0f3f0f4"
	vendorMDE  = "4d444520020000004800000000000000000000004d5153545220202000000000000000000000000000000000000000000000000000000000030000000a0000000000000000000000"
	vendorRFH2 = "52464820000000020000008c00000111000004b84d5153545220202000000000000004b8000000403c7573723e3c636f6c6f75723e72c3a9" +
		"6420266c743b26616d703b2667743b3c2f636f6c6f75723e3c6e2064743d226934223e353c2f6e3e3c2f7573723e2020000000203c6d6364" +
		"3e3c4d73643e6a6d735f746578743c2f4d73643e3c2f6d63643e2020"
	vendorPCF = "0000000100000024000000030000000800000001000000010000000000000000000000090000000400000018000007e00000000000000002" +
		"d8f14040000000030000001000000014000000010000000500000018000003ea0000000200000003000000140000000600000024000007e4" +
		"000000000000000200000006c14040404040d3d6d5c7c5d9000000090000001400001b5e0000000301020300000000170000001800000003" +
		"0000000000000100000000000000000e0000001c000007dd0000001200000000000000049781a85c0000000d000000140000000300000004" +
		"00000005000000140000001000001f410000000100000003000000100000000100000002"
	// The MQRFH2 of a JMS text message (fap-captures/12b-jms-send).
	jmsRFH2 = "5246482000000002000000b800000111000004b84d5153545220202000000000000004b8000000203c6d63643e3c4d73643e6a6d73" +
		"5f746578743c2f4d73643e3c2f6d63643e2020000000483c6a6d733e3c4473743e71756575653a2f2f2f51313c2f4473743e3c546d733e31" +
		"3739353938363835373537333c2f546d733e3c446c763e323c2f446c763e3c2f6a6d733e202020000000203c7573723e3c636f6c6f75723e" +
		"7265643c2f636f6c6f75723e3c2f7573723e20"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestVendorBytes: what the vendor's classes write is read, and built again byte for byte.
func TestVendorBytes(t *testing.T) {
	for _, x := range []struct {
		format string
		c      Coding
		hex    string
	}{
		{MQFMT_DEAD_LETTER_HEADER, Coding{MQENC_REVERSED, 37}, vendorDLH},
		{MQFMT_MD_EXTENSION, Coding{MQENC_REVERSED, 819}, vendorMDE},
		{MQFMT_RF_HEADER_2, Coding{MQENC_NORMAL, 819}, vendorRFH2},
		{MQFMT_RF_HEADER_2, Coding{MQENC_NORMAL, 1208}, jmsRFH2},
	} {
		in := unhex(t, x.hex)
		h, rest, err := parseHeader(x.format, in, x.c)
		if err != nil || len(rest) > 0 {
			t.Errorf("%s: %v, %d bytes left", x.format, err, len(rest))
			continue
		}
		if out, err := h.Append(nil, x.c); err != nil || !bytes.Equal(out, in) {
			t.Errorf("%s: %v\n%x\n%x", x.format, err, in, out)
		}
	}
	c := Coding{MQENC_NORMAL, 37}
	in := unhex(t, vendorPCF)
	m, rest, err := ParseCF(in, c)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%v, %d bytes left", err, len(rest))
	}
	if out, err := m.Append(nil, c); err != nil || !bytes.Equal(out, in) {
		t.Errorf("%v\n%x\n%x", err, in, out)
	}
}

func TestJMSProperties(t *testing.T) {
	md := mdOf(MQFMT_RF_HEADER_2, Coding{MQENC_NORMAL, 1208})
	props, body, err := SplitProps(&md, append(unhex(t, jmsRFH2), "persistent hi"...), true)
	if err != nil || string(body) != "persistent hi" || md.Format != MQFMT_STRING {
		t.Fatalf("%v %q %+v", err, body, md)
	}
	var got []string
	for _, p := range props {
		got = append(got, p.Name+"="+Name("MQTYPE", p.Value.Type)+":"+p.Value.asString())
	}
	want := "mcd.Msd=MQTYPE_1024:jms_text jms.Dst=MQTYPE_1024:queue:///Q1 jms.Tms=MQTYPE_128:1795986857573 jms.Dlv=MQTYPE_64:2 colour=MQTYPE_1024:red"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}
