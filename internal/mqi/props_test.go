package mqi

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func prop(name string, v PropValue) Property { return Property{Name: name, Value: v, PD: DefaultPD()} }

func sampleProps() []Property {
	user := prop("who", PropString("a <b> & 'c'"))
	user.PD.Context = MQPD_USER_CONTEXT
	user.PD.CopyOptions = MQCOPY_REPLY | MQCOPY_PUBLISH
	none := prop("none", PropString(""))
	none.PD.CopyOptions = MQCOPY_NONE
	all := prop("all", PropString("x"))
	all.PD.CopyOptions = MQCOPY_ALL
	must := prop("mq.Must", PropInt(MQTYPE_INT32, 1))
	must.PD.Support = MQPD_SUPPORT_REQUIRED
	return []Property{
		prop("mcd.Msd", PropString("jms_text")), prop("jms.Dlv", PropInt(MQTYPE_INT32, 2)),
		prop("jms.Tms", PropInt(MQTYPE_INT64, 1795986857573)),
		prop("colour", PropString("réd ")), user, none, all,
		prop("b", PropBool(true)), prop("i1", PropInt(MQTYPE_INT8, -128)), prop("i2", PropInt(MQTYPE_INT16, 32767)),
		prop("i4", PropInt(MQTYPE_INT32, -5)), prop("i8", PropInt(MQTYPE_INT64, math.MinInt64)),
		prop("r4", PropFloat(MQTYPE_FLOAT32, 1.5)), prop("r8", PropFloat(MQTYPE_FLOAT64, -1e300)),
		prop("inf", PropFloat(MQTYPE_FLOAT64, math.Inf(-1))), prop("bytes", PropBytes([]byte{0, 255})), prop("nil_", PropNull()),
		prop("mqps.Top", PropString("a/b")), prop("mqps.Ret", PropBool(true)),
		prop("mq_usr.group.deep.x", PropString("y")), prop("mine.g.x", PropInt(MQTYPE_INT32, 1)), prop("mine.y", PropString("z")),
		must,
	}
}

func TestPropFolders(t *testing.T) {
	props := sampleProps()
	folders := PropFolders(props)
	if folders[0] != "<mcd><Msd>jms_text</Msd></mcd>" || folders[1] != "<jms><Dlv>2</Dlv><Tms>1795986857573</Tms></jms>" {
		t.Errorf("%q", folders[:2])
	}
	joined := strings.Join(folders, "\n")
	for _, want := range []string{
		"<who context='user' copy='publish,reply'>a &lt;b&gt; &amp; 'c'</who>", "<none copy='none'></none>",
		"<all copy='all'>x</all>", "<b dt='boolean'>1</b>", "<i1 dt='i1'>-128</i1>", "<r4 dt='r4'>1.5</r4>",
		"<bytes dt='bin.hex'>00FF</bytes>", "<nil_ xsi:nil='true'></nil_>", "<mqps><Top>a/b</Top><Ret>1</Ret></mqps>",
		"<mq_usr><group><deep><x>y</x></deep></group></mq_usr>",
		"<mine content='properties'><g><x dt='i4'>1</x></g><y>z</y></mine>", "<mq><Must dt='i4' sr='required'>1</Must></mq>",
	} {
		if !strings.Contains(joined, want) {
			t.Errorf("%s is missing in\n%s", want, joined)
		}
	}
	back, err := DecodeProps(EncodeProps(props))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(props, back); d != "" {
		t.Error(d)
	}
	if PropsLength(props) == 0 || PropsLength(nil) != 0 {
		t.Error("PropsLength")
	}
}

func TestFolderProps(t *testing.T) {
	for _, x := range []struct {
		folder string
		want   []Property
	}{
		{`<usr><a dt="i4">5</a><b/></usr>  `, []Property{prop("a", PropInt(MQTYPE_INT32, 5)), prop("b", PropString(""))}},
		{"<usr><n dt='int'> 7 </n></usr>", []Property{prop("n", PropInt(MQTYPE_INT64, 7))}},
		{"<usr><x dt='odd.type.x'>v</x></usr>", []Property{{Name: "x", Value: PropString("v"), PD: DefaultPD(), TypeString: "odd.type"}}},
		{"<usr><t dt='boolean'>true</t><f dt='boolean'>0</f></usr>", []Property{prop("t", PropBool(true)), prop("f", PropBool(false))}},
		{"<usr><a>&#65;&#x42;&lt;&apos;</a></usr>", []Property{prop("a", PropString("AB<'"))}},
		{"<usr><g><a>1</a></g><JMSFoo>1</JMSFoo><NOT>1</NOT><ok>1</ok></usr>", []Property{prop("ok", PropString("1"))}},
		{"<usr><a.b>1</a.b><ok>1</ok></usr>", []Property{prop("ok", PropString("1"))}},
		{"<jms><Pri>high</Pri><Dst>queue:///Q</Dst></jms>", []Property{prop("jms.Pri", PropString("high")), prop("jms.Dst", PropString("queue:///Q"))}},
		{"<mqext><Dly>10</Dly></mqext>", []Property{prop("mqext.Dly", PropInt(MQTYPE_INT64, 10))}},
		{"<psc></psc>", nil},
	} {
		got, err := FolderProps(x.folder)
		if d := cmp.Diff(x.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", x.folder, err, d)
		}
	}
	deep := strings.Repeat("<g>", 70) + strings.Repeat("</g>", 70)
	for _, bad := range []string{"", "usr", "<usr>", "<<jms></jms>", "<usr></jms>", "<usr><a></usr></a>", "<usr></usr>x",
		"<usr>text<a>1</a></usr>", "<usr><a>&x;</a></usr>", "<usr><a>&lt</a></usr>", "<usr a></usr>", "<usr a=b></usr>",
		"<usr a='b></usr>", "<usr><a dt='i4'>x</a></usr>", "<usr><a dt='i1'>128</a></usr>", "<usr><a dt='bin.hex'>0</a></usr>",
		"<usr><a dt='boolean'>2</a></usr>", "<usr><a dt='r4'>1e99</a></usr>", deep} {
		if _, err := FolderProps(bad); err == nil {
			t.Errorf("%q is taken", bad)
		} else if _, rc := Reason(err); rc != MQRC_RFH_FORMAT_ERROR {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestPropNames(t *testing.T) {
	for name, rc := range map[string]RC{
		"colour": 0, "usr.colour": 0, "_a$1": 0, "größe": 0, "mq_usr.a.b.c": 0, "MQ_USR.a.b": 0, "my.a.b.c": 0, "mqps.Top": 0,
		"JMSType": 0, "JMSXGroupID": 0, "sib_usr.a": 0,
		"": MQRC_PROPERTY_NAME_ERROR, "a b": MQRC_PROPERTY_NAME_ERROR, "1a": MQRC_PROPERTY_NAME_ERROR, "a..b": MQRC_PROPERTY_NAME_ERROR,
		"a.": MQRC_PROPERTY_NAME_ERROR, ".a": MQRC_PROPERTY_NAME_ERROR, "a-b": MQRC_PROPERTY_NAME_ERROR, "JMSFoo": MQRC_PROPERTY_NAME_ERROR,
		"usr.JMSFoo": MQRC_PROPERTY_NAME_ERROR, "mq.a.b": MQRC_PROPERTY_NAME_ERROR, "MQx.a.b": MQRC_PROPERTY_NAME_ERROR,
		"jms.a.b": MQRC_PROPERTY_NAME_ERROR, "mcd.a.b": MQRC_PROPERTY_NAME_ERROR, "usr.a.b": MQRC_PROPERTY_NAME_ERROR,
		"sib.a.b": MQRC_PROPERTY_NAME_ERROR, "Null": MQRC_PROPERTY_NAME_ERROR, "usr.between": MQRC_PROPERTY_NAME_ERROR,
		"a%": MQRC_PROPERTY_NAME_ERROR, strings.Repeat("a", 4095): 0, strings.Repeat("a", 4096): MQRC_PROPERTY_NAME_LENGTH_ERR,
	} {
		if got := CheckPropName(name); got != rc {
			t.Errorf("%.40q: %d, want %d", name, got, rc)
		}
	}
	for name, want := range map[string]string{"JMSCorrelationID": "jms.Cid", "JMSType": "mcd.Type", "MQTopicString": "mqps.Top",
		"usr.a": "a", "a": "a", "mq_usr.a": "mq_usr.a"} {
		if got := CanonicalPropName(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPropConvert(t *testing.T) {
	i8, i4 := PropInt(MQTYPE_INT64, 300), PropInt(MQTYPE_INT32, 7)
	for _, x := range []struct {
		in   PropValue
		typ  int32
		want PropValue
		rc   RC
	}{
		{i4, MQTYPE_AS_SET, i4, 0}, {i4, MQTYPE_INT64, PropInt(MQTYPE_INT64, 7), 0}, {i4, MQTYPE_STRING, PropString("7"), 0},
		{i8, MQTYPE_INT16, PropValue{}, MQRC_PROP_CONV_NOT_SUPPORTED},
		{PropBool(true), MQTYPE_STRING, PropString("TRUE"), 0}, {PropBool(true), MQTYPE_INT8, PropInt(MQTYPE_INT8, 1), 0},
		{PropString("false"), MQTYPE_BOOLEAN, PropBool(false), 0}, {PropString(" 12 "), MQTYPE_INT16, PropInt(MQTYPE_INT16, 12), 0},
		{PropString("300"), MQTYPE_INT8, PropValue{}, MQRC_PROP_NUMBER_FORMAT_ERROR},
		{PropString("x"), MQTYPE_FLOAT64, PropValue{}, MQRC_PROP_NUMBER_FORMAT_ERROR},
		{PropString("1.5e3"), MQTYPE_FLOAT64, PropFloat(MQTYPE_FLOAT64, 1500), 0},
		{PropFloat(MQTYPE_FLOAT32, 1.5), MQTYPE_FLOAT64, PropFloat(MQTYPE_FLOAT64, 1.5), 0},
		{PropFloat(MQTYPE_FLOAT64, 1.5), MQTYPE_FLOAT32, PropValue{}, MQRC_PROP_CONV_NOT_SUPPORTED},
		{PropBytes([]byte{0xAB}), MQTYPE_STRING, PropString("AB"), 0},
		{PropString("AB"), MQTYPE_BYTE_STRING, PropValue{}, MQRC_PROP_CONV_NOT_SUPPORTED},
		{PropNull(), MQTYPE_STRING, PropValue{}, MQRC_PROP_CONV_NOT_SUPPORTED},
		{i4, 3, PropValue{}, MQRC_PROPERTY_TYPE_ERROR},
	} {
		got, rc := x.in.Convert(x.typ)
		if d := cmp.Diff(x.want, got, cmpopts.EquateEmpty()); rc != x.rc || d != "" {
			t.Errorf("%+v to %d: %d\n%s", x.in, x.typ, rc, d)
		}
	}
}

func TestHandleInquire(t *testing.T) {
	p := NewProps([]Property{prop("a", PropInt(MQTYPE_INT32, 1)), prop("jms.Cid", PropString("c")), prop("ab", PropString("2")),
		{Name: "odd", Value: PropString("v"), PD: DefaultPD(), TypeString: "zz"}})
	ask := func(options int32, name string) string {
		t.Helper()
		got, err := p.Inquire(options, name, MQTYPE_STRING)
		if _, rc := Reason(err); rc != 0 {
			return "rc " + RC(rc).Name()
		}
		return got.Name
	}
	const none = "rc MQRC_PROPERTY_NOT_AVAILABLE"
	const bad = "rc MQRC_PROPERTY_NAME_ERROR"
	for i, x := range []struct {
		options int32
		name    string
		want    string
	}{
		{MQIMPO_INQ_PROP_UNDER_CURSOR, "", none},
		{MQIMPO_INQ_NEXT, "%", "a"}, {MQIMPO_INQ_NEXT, "%", "jms.Cid"}, {MQIMPO_INQ_NEXT, "%", "ab"},
		{MQIMPO_INQ_PROP_UNDER_CURSOR, "", "ab"},
		{MQIMPO_INQ_NEXT, "%", "rc MQRC_PROP_TYPE_NOT_SUPPORTED"}, {MQIMPO_INQ_NEXT, "%", none},
		{MQIMPO_INQ_FIRST, "a%", "a"}, {MQIMPO_INQ_NEXT, "a%", "ab"}, {MQIMPO_INQ_NEXT, "a%", none},
		{MQIMPO_INQ_FIRST, "JMSCorrelationID", "jms.Cid"}, {MQIMPO_INQ_FIRST, "jms.%", "jms.Cid"},
		{MQIMPO_INQ_FIRST, "usr.%", "a"}, {MQIMPO_INQ_FIRST, "usr.ab", "ab"}, {MQIMPO_INQ_FIRST, "nothing", none},
		{MQIMPO_INQ_FIRST, "a b", bad}, {MQIMPO_INQ_FIRST, "a%b%", bad}, {MQIMPO_INQ_FIRST, "", bad},
		{MQIMPO_INQ_NEXT | MQIMPO_INQ_PROP_UNDER_CURSOR, "%", "rc MQRC_OPTIONS_ERROR"}, {1 << 20, "%", "rc MQRC_OPTIONS_ERROR"},
		{MQIMPO_INQ_FIRST | MQIMPO_QUERY_LENGTH, "ab", "ab"},
	} {
		if got := ask(x.options, x.name); got != x.want {
			t.Errorf("%d: %d %q: %s, want %s", i, x.options, x.name, got, x.want)
		}
	}
	if v, err := p.Inquire(MQIMPO_CONVERT_TYPE, "a", MQTYPE_STRING); err != nil || v.Value.Text != "1" {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := p.Inquire(MQIMPO_CONVERT_TYPE, "a", MQTYPE_INT8); rcOf(err) != MQRC_PROP_CONV_NOT_SUPPORTED {
		t.Errorf("%v", err)
	}
}

func rcOf(err error) RC { _, rc := Reason(err); return rc }

func TestHandleSetAndDelete(t *testing.T) {
	var p Props
	set := func(options int32, name string, v PropValue) RC {
		return rcOf(p.Set(options, name, DefaultPD(), v, true))
	}
	names := func() string {
		var n []string
		for _, x := range p.All() {
			n = append(n, x.Name+"="+x.Value.element())
		}
		return strings.Join(n, " ")
	}
	one := PropInt(MQTYPE_INT32, 1)
	for i, x := range []struct {
		options int32
		name    string
		v       PropValue
		rc      RC
		want    string
	}{
		{MQSMPO_SET_PROP_UNDER_CURSOR, "a", one, MQRC_PROPERTY_NOT_AVAILABLE, ""},
		{MQSMPO_SET_PROP_AFTER_CURSOR, "a", one, MQRC_PROPERTY_NOT_AVAILABLE, ""},
		{MQSMPO_SET_FIRST, "a", one, 0, "a=1"},
		{MQSMPO_SET_FIRST, "usr.a", PropString("x"), 0, "a=x"},
		{MQSMPO_APPEND_PROPERTY, "a", one, 0, "a=x a=1"},
		{MQSMPO_SET_PROP_BEFORE_CURSOR, "b", one, 0, "a=x b=1 a=1"},
		{MQSMPO_SET_PROP_AFTER_CURSOR, "c", one, 0, "a=x b=1 c=1 a=1"},
		{MQSMPO_SET_PROP_UNDER_CURSOR, "d", one, 0, "a=x b=1 d=1 a=1"},
		{MQSMPO_SET_FIRST, "JMSType", PropString("t"), 0, "a=x b=1 d=1 a=1 mcd.Type=t"},
		{MQSMPO_SET_FIRST, "JMSType", one, MQRC_PROPERTY_TYPE_ERROR, ""},
		{MQSMPO_SET_FIRST, "JMSPriority", one, MQRC_PROPERTY_NAME_ERROR, ""},
		{MQSMPO_SET_FIRST, "JMSFoo", one, MQRC_PROPERTY_NAME_ERROR, ""},
		{MQSMPO_SET_FIRST, "x", PropValue{Type: 3}, MQRC_PROPERTY_TYPE_ERROR, ""},
		{MQSMPO_SET_FIRST, "x", PropInt(MQTYPE_INT8, 128), MQRC_PROP_NUMBER_FORMAT_ERROR, ""},
		{MQSMPO_SET_FIRST, "g.a", one, 0, "a=x b=1 d=1 a=1 mcd.Type=t g.a=1"},
		{MQSMPO_SET_FIRST, "g.a.b", one, MQRC_MIXED_CONTENT_NOT_ALLOWED, ""},
		{MQSMPO_SET_FIRST, "h.a.b", one, 0, "a=x b=1 d=1 a=1 mcd.Type=t g.a=1 h.a.b=1"},
		{MQSMPO_SET_FIRST, "h.a", one, MQRC_MIXED_CONTENT_NOT_ALLOWED, ""},
		{MQSMPO_APPEND_PROPERTY | MQSMPO_SET_PROP_AFTER_CURSOR, "a", one, MQRC_OPTIONS_ERROR, ""},
	} {
		before := names()
		rc := set(x.options, x.name, x.v)
		if x.rc != 0 {
			x.want = before
		}
		if got := names(); rc != x.rc || got != x.want {
			t.Errorf("%d: %d %s\nwant %d %s", i, rc, got, x.rc, x.want)
		}
	}
	for _, pd := range []PD{{Support: 2}, {Support: 1, Context: 2}, {Support: 1, CopyOptions: 32}, {Support: 1, CopyOptions: MQCOPY_ALL | MQCOPY_REPLY}} {
		if rc := rcOf(p.Set(0, "x", pd, one, true)); rc != MQRC_PD_ERROR {
			t.Errorf("%+v: %d", pd, rc)
		}
	}
	if rc := rcOf(p.Delete(MQDMPO_DEL_FIRST, "b")); rc != 0 {
		t.Error(rc)
	}
	if _, err := p.Inquire(MQIMPO_INQ_FIRST, "d", 0); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		options int32
		name    string
		rc      RC
	}{{MQDMPO_DEL_FIRST, "a", 0}, {MQDMPO_DEL_PROP_UNDER_CURSOR, "", 0}, {MQDMPO_DEL_PROP_UNDER_CURSOR, "", MQRC_PROPERTY_NOT_AVAILABLE},
		{MQDMPO_DEL_FIRST, "zz", MQRC_PROPERTY_NOT_AVAILABLE}, {MQDMPO_DEL_FIRST, "a%", MQRC_PROPERTY_NAME_ERROR}, {2, "a", MQRC_OPTIONS_ERROR}} {
		if rc := rcOf(p.Delete(x.options, x.name)); rc != x.rc {
			t.Errorf("delete %d %q: %d, want %d", x.options, x.name, rc, x.rc)
		}
	}
	if got := names(); got != "a=1 mcd.Type=t g.a=1 h.a.b=1" {
		t.Error(got)
	}
}

func FuzzFolder(f *testing.F) {
	for _, s := range PropFolders(sampleProps()) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		props, err := FolderProps(s)
		if err != nil {
			return
		}
		back, err := DecodeProps(EncodeProps(props))
		if err != nil || len(back) != len(props) {
			t.Fatalf("%v: %d properties, then %d", err, len(props), len(back))
		}
	})
}
