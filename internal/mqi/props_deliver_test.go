package mqi

import (
	"strings"
	"testing"
)

// rfhMessage is a message as a JMS client puts it.
func rfhMessage(folders ...string) (MD, []byte) {
	h := RFH2{Encoding: MQENC_NORMAL, CodedCharSetID: 1208, Format: MQFMT_STRING, NameValueCCSID: 1208, Folders: folders}
	return mdOf(MQFMT_RF_HEADER_2, Coding{MQENC_NORMAL, 1208}), append(must(h.Append(nil, Coding{MQENC_NORMAL, 1208})), "body"...)
}

// show tells what a getter sees: folders|data, then the handle's properties.
func show(t *testing.T, md MD, body []byte, handle []Property) string {
	t.Helper()
	s := ""
	c := Coding{md.Encoding, md.CodedCharSetID}
	if md.Format == MQFMT_RF_HEADER_2 {
		h, rest, err := ParseRFH2(body, c)
		if err != nil {
			t.Fatal(err)
		}
		s, body = strings.Join(h.Folders, "")+"|", rest
		md.Format = h.Format
	}
	if md.Format != MQFMT_STRING {
		t.Errorf("the data's format is %q", md.Format)
	}
	s += string(body)
	for _, p := range handle {
		s += " " + p.Name
	}
	return s
}

// TestDeliver is the PROPCTL table of facts/mqi.md §13, with the options of MQGMO.
func TestDeliver(t *testing.T) {
	const jms, top, other = "<jms><Dlv>2</Dlv></jms>", "<mqps><Top>a</Top></mqps>", "<psc>x</psc>"
	const usr = "<usr><h>1</h></usr>"
	fromHandle := []Property{prop("h", PropString("1"))}
	mqOnly := []Property{prop("mqps.Sud", PropString("u"))}
	type c = PropControl
	for i, x := range []struct {
		folders []string
		props   []Property
		ctl     PropControl
		want    string
	}{
		{[]string{jms}, nil, c{Queue: MQPROP_COMPATIBILITY}, jms + "|body"},
		{[]string{top}, nil, c{Queue: MQPROP_COMPATIBILITY}, "body"},
		{[]string{top, other}, nil, c{Queue: MQPROP_COMPATIBILITY}, other + "|body"},
		{[]string{top, jms}, nil, c{Queue: MQPROP_COMPATIBILITY}, top + jms + "|body"},
		{nil, fromHandle, c{Queue: MQPROP_COMPATIBILITY}, usr + "|body"},
		{nil, mqOnly, c{Queue: MQPROP_COMPATIBILITY}, "body"},
		{[]string{jms}, nil, c{Queue: MQPROP_COMPATIBILITY, Handle: true}, "body jms.Dlv"},

		{[]string{jms, other}, nil, c{Queue: MQPROP_NONE}, other + "|body"},
		{[]string{jms}, fromHandle, c{Queue: MQPROP_NONE}, "body"},
		{[]string{jms}, fromHandle, c{Queue: MQPROP_NONE, Handle: true}, "body h jms.Dlv"},

		{[]string{jms}, fromHandle, c{Queue: MQPROP_ALL}, jms + usr + "|body"},
		{nil, mqOnly, c{Queue: MQPROP_ALL}, "<mqps><Sud>u</Sud></mqps>|body"},
		{[]string{jms}, nil, c{Queue: MQPROP_ALL, Handle: true}, "body jms.Dlv"},

		{[]string{top}, nil, c{Queue: MQPROP_FORCE_MQRFH2, Handle: true}, top + "|body"},
		{nil, fromHandle, c{Queue: MQPROP_FORCE_MQRFH2, Handle: true}, usr + "|body"},

		{[]string{top, other}, nil, c{Queue: MQPROP_V6COMPAT}, top + other + "|body"},
		{[]string{top}, fromHandle, c{Queue: MQPROP_V6COMPAT}, top + "|body"},
		{nil, fromHandle, c{Queue: MQPROP_V6COMPAT}, usr + "|body"},

		{[]string{jms}, nil, c{Queue: MQPROP_ALL, Options: MQGMO_NO_PROPERTIES}, "body"},
		{[]string{top}, nil, c{Queue: MQPROP_NONE, Options: MQGMO_PROPERTIES_FORCE_MQRFH2}, top + "|body"},
		{[]string{top}, nil, c{Queue: MQPROP_ALL, Options: MQGMO_PROPERTIES_COMPATIBILITY}, "body"},
		{[]string{top}, nil, c{Queue: MQPROP_FORCE_MQRFH2, Options: MQGMO_PROPERTIES_IN_HANDLE, Handle: true}, "body mqps.Top"},
		{[]string{"<usr><h>old</h><k>2</k></usr>"}, fromHandle, c{Queue: MQPROP_ALL}, "<usr><h>1</h><k>2</k></usr>|body"},
		{[]string{"<<jms>"}, nil, c{Queue: MQPROP_NONE}, "<<jms>|body"}, // not well formed: no properties in it
	} {
		md, body := mdOf(MQFMT_STRING, Coding{MQENC_NORMAL, 1208}), []byte("body")
		if x.folders != nil {
			md, body = rfhMessage(x.folders...)
		}
		out, handle := DeliverProps(&md, body, x.props, x.ctl)
		if got := show(t, md, out, handle); got != x.want {
			t.Errorf("%d %+v: %s, want %s", i, x.ctl, got, x.want)
		}
	}
}

// TestDeliverKeepsBytes: an MQRFH2 that is wanted as it was put comes byte for byte, whatever its padding.
func TestDeliverKeepsBytes(t *testing.T) {
	md, body := rfhMessage("<jms><Dlv>2</Dlv></jms>")
	for _, c := range []PropControl{{Queue: MQPROP_COMPATIBILITY}, {Queue: MQPROP_ALL}, {Queue: MQPROP_V6COMPAT},
		{Options: MQGMO_PROPERTIES_FORCE_MQRFH2}} {
		m := md
		if out, _ := DeliverProps(&m, body, nil, c); !same(out, body) || m != md {
			t.Errorf("%+v: %q", c, out)
		}
	}
	m := md
	broken := append([]byte(nil), body...)
	broken[11] = 4
	if out, _ := DeliverProps(&m, broken, nil, PropControl{Queue: MQPROP_NONE}); !same(out, broken) || m != md {
		t.Error("a broken header is not given as it is")
	}
	if _, _, err := SplitProps(&m, broken, true); rcOf(err) != MQRC_RFH_ERROR {
		t.Errorf("strict: %v", err)
	}
	m, bad := rfhMessage("<<jms>")
	if _, _, err := SplitProps(&m, bad, true); rcOf(err) != MQRC_RFH_FORMAT_ERROR {
		t.Errorf("strict: %v", err)
	}
}

func TestPropControlCheck(t *testing.T) {
	for _, x := range []struct {
		c  PropControl
		rc RC
	}{{PropControl{}, 0}, {PropControl{Options: MQGMO_PROPERTIES_IN_HANDLE}, MQRC_HMSG_ERROR},
		{PropControl{Options: MQGMO_PROPERTIES_IN_HANDLE, Handle: true}, 0},
		{PropControl{Options: MQGMO_NO_PROPERTIES | MQGMO_PROPERTIES_FORCE_MQRFH2}, MQRC_OPTIONS_ERROR}} {
		if rc := x.c.Check(); rc != x.rc {
			t.Errorf("%+v: %d", x.c, rc)
		}
	}
}

// TestJoinBehindHeaders: the MQRFH2 stands behind MQXQH and MQDLH, and comes out again.
func TestJoinBehindHeaders(t *testing.T) {
	dlh := DLH{DestQName: "A.Q", Encoding: MQENC_NORMAL, CodedCharSetID: 819, Format: MQFMT_STRING}
	body := append(must(dlh.Append(nil, little37)), "text"...)
	md := mdOf(MQFMT_DEAD_LETTER_HEADER, little37)
	was := md
	props := sampleProps()
	out, err := JoinProps(&md, body, props)
	if err != nil || md != was {
		t.Fatalf("%v %+v", err, md)
	}
	d, rest, err := ParseDLH(out, little37)
	if err != nil || d.Format != MQFMT_RF_HEADER_2 || d.CodedCharSetID != 819 {
		t.Fatalf("%+v %v", d, err)
	}
	if r, text, err := ParseRFH2(rest, big819); err != nil || r.Format != MQFMT_STRING || string(text) != "text" {
		t.Fatalf("%+v %q %v", r, text, err)
	}
	got, bare, err := SplitProps(&md, out, true)
	if err != nil || len(got) != len(props) || string(bare) != string(body) || md != was {
		t.Errorf("%d properties, %v, %+v", len(got), err, md)
	}
}

// TestJoinUTF16: an MQRFH2 in front of text in UTF-16 has its own fields in UTF-8.
func TestJoinUTF16(t *testing.T) {
	md := mdOf(MQFMT_STRING, bigUTF16)
	out, err := JoinProps(&md, []byte("\x00a"), sampleProps())
	if err != nil || md.CodedCharSetID != 1208 {
		t.Fatalf("%v %+v", err, md)
	}
	h, rest, err := ParseRFH2(out, Coding{md.Encoding, md.CodedCharSetID})
	if err != nil || h.CodedCharSetID != 1200 || string(rest) != "\x00a" {
		t.Errorf("%+v %v", h, err)
	}
}

// TestPublication: a copy for a JMS subscriber (facts/fap.md §5.6): the folder mqps behind those of the publisher.
func TestPublication(t *testing.T) {
	md, body := rfhMessage("<mcd><Msd>jms_text</Msd></mcd>")
	out, err := JoinProps(&md, body, PublicationProps("a/b", "", true))
	if got := show(t, md, out, nil); err != nil || got != "<mcd><Msd>jms_text</Msd></mcd><mqps><Top>a/b</Top><Ret>1</Ret></mqps>|body" {
		t.Errorf("%s %v", got, err)
	}
	md = mdOf(MQFMT_STRING, Coding{MQENC_NORMAL, 1208})
	out, err = JoinProps(&md, []byte("body"), PublicationProps("a<b", "mine", false))
	if got := show(t, md, out, nil); err != nil || got != "<mqps><Top>a&lt;b</Top><Sud>mine</Sud></mqps>|body" {
		t.Errorf("%s %v", got, err)
	}
}

func TestCopyAndRequired(t *testing.T) {
	var names []string
	for _, p := range CopyProps(sampleProps(), MQCOPY_REPLY) {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "who all" {
		t.Error(got)
	}
	if name, ok := RequiredProp(sampleProps(), false); !ok || name != "mq.Must" {
		t.Error(name)
	}
	p := prop("x", PropNull())
	p.PD.Support = MQPD_SUPPORT_REQUIRED_IF_LOCAL
	if _, ok := RequiredProp([]Property{p}, false); ok {
		t.Error("required for a remote queue")
	}
	if _, ok := RequiredProp([]Property{p}, true); !ok {
		t.Error("not required for a local queue")
	}
}

func FuzzSplitProps(f *testing.F) {
	_, b := rfhMessage("<jms><Dlv>2</Dlv></jms>", "<psc>x</psc>")
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		md := mdOf(MQFMT_RF_HEADER_2, Coding{MQENC_NORMAL, 1208})
		props, rest, err := SplitProps(&md, b, false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := JoinProps(&md, rest, props)
		if err != nil {
			return // a header that could be read but not extended
		}
		if back, _, err := SplitProps(&md, out, false); err != nil || len(back) != len(props) {
			t.Fatalf("%v: %d properties, then %d", err, len(props), len(back))
		}
	})
}
