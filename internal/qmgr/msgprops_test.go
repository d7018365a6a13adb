package qmgr

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func rfh2Message(t testing.TB, text string, folders ...string) (func(*mqi.MD), string) {
	t.Helper()
	h := mqi.RFH2{Encoding: mqi.MQENC_NATIVE, CodedCharSetID: 1208, Format: mqi.MQFMT_STRING, NameValueCCSID: 1208, Folders: folders}
	b, err := h.Append(nil, mqi.NativeCoding(1208))
	if err != nil {
		t.Fatal(err)
	}
	return func(md *mqi.MD) {
			md.Format, md.Encoding, md.CodedCharSetID = mqi.MQFMT_RF_HEADER_2, mqi.MQENC_NATIVE, 1208
		},
		string(b) + text
}

func propNames(props []mqi.Property) string {
	var out []string
	for _, p := range props {
		out = append(out, p.Name+"="+p.Value.Text)
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

// shown describes what a getter got.
func shown(text string, md mqi.MD) string {
	m := md
	props, bare, err := mqi.SplitProps(&m, []byte(text), false)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s [%s]", strings.TrimSpace(md.Format), bare, propNames(props)))
}

// PROPCTL and the options of MQGET, row by row (facts/mqi.md §13), for properties in the data and from a message handle.
func TestPropertyControl(t *testing.T) {
	inRFH2 := "MQHRF2 text [colour=red]"
	none := "MQSTR text []"
	for _, c := range []struct {
		propctl string
		opts    int32
		usr     string // folder usr in the data
		handle  string // a property beside it, app.size
		beside  string // a property beside it with another name
	}{
		{"COMPAT", 0, inRFH2, none, "MQHRF2 text [colour=red]"},
		{"NONE", 0, none, none, none},
		{"ALL", 0, inRFH2, "MQHRF2 text [app.size=big]", inRFH2},
		{"FORCE", 0, inRFH2, "MQHRF2 text [app.size=big]", inRFH2},
		{"V6COMPAT", 0, inRFH2, "MQHRF2 text [app.size=big]", inRFH2},
		{"ALL", mqi.MQGMO_NO_PROPERTIES, none, none, none},
		{"NONE", mqi.MQGMO_PROPERTIES_FORCE_MQRFH2, inRFH2, "MQHRF2 text [app.size=big]", inRFH2},
		{"NONE", mqi.MQGMO_PROPERTIES_COMPATIBILITY, inRFH2, none, inRFH2},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q", "PROPCTL", c.propctl)
		h := r.openQ(r.c, "Q", inOut)
		as, text := rfh2Message(t, "text", "<usr><colour>red</colour></usr>")
		r.put(r.c, h, text, 0, as)
		r.putWithProp(h, "app.size", "big")
		r.putWithProp(h, "colour", "red")
		for _, want := range []string{c.usr, c.handle, c.beside} {
			text, md := r.get(r.c, h, c.opts)
			if got := shown(text, md); got != want {
				t.Errorf("PROPCTL(%s) options %x: %s, want %s", c.propctl, c.opts, got, want)
			}
		}
	}
}

// An alias has a PROPCTL of its own, which also changes under an open handle.
func TestPropertyControlOfAlias(t *testing.T) {
	const inRFH2, none = "MQHRF2 text [colour=red]", "MQSTR text []"
	r := newRig(t)
	r.define("QLOCAL", "Q", "PROPCTL", "ALL")
	r.define("QALIAS", "A", "TARGET", "Q", "PROPCTL", "NONE")
	q, a := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "A", mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE)
	as, data := rfh2Message(t, "text", "<usr><colour>red</colour></usr>")
	r.put(r.c, q, data, 0, as)
	for _, c := range []struct {
		queue, alias     string
		byQueue, byAlias string
	}{
		{"ALL", "NONE", inRFH2, none},
		{"NONE", "FORCE", none, inRFH2},
		{"NONE", "COMPAT", none, inRFH2},
	} {
		r.alter(ClassQueue, "Q", "PROPCTL", c.queue)
		r.alter(ClassQueue, "A", "PROPCTL", c.alias)
		for h, want := range map[Handle]string{q: c.byQueue, a: c.byAlias} {
			text, md := r.get(r.c, h, mqi.MQGMO_BROWSE_FIRST)
			if got := shown(text, md); got != want {
				t.Errorf("%+v: %s, want %s", c, got, want)
			}
		}
	}
}

// putWithProp puts "text" with a property of a message handle.
func (r *rig) putWithProp(h Handle, name, value string) {
	r.t.Helper()
	n := r.msgHandle(name, value)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.Format = mqi.MQFMT_STRING
	pmo.Version, pmo.OriginalMsgHandle = 3, int64(n)
	if err := r.c.Put(bg, h, &md, &pmo, []byte("text")); err != nil {
		r.t.Fatal(err)
	}
	if err := r.c.DeleteMsgHandle(n); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) msgHandle(kv ...string) MsgHandle {
	r.t.Helper()
	n, err := r.c.CreateMsgHandle(0)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(kv); i += 2 {
		if err := r.c.SetProperty(n, mqi.MQSMPO_APPEND_PROPERTY, kv[i], mqi.DefaultPD(), mqi.PropString(kv[i+1])); err != nil {
			r.t.Fatal(err)
		}
	}
	return n
}

func TestPropertiesIntoHandle(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	as, text := rfh2Message(t, "text", "<usr><colour>red</colour></usr>", "<other>stays</other>")
	r.put(r.c, h, text, 0, as)
	n := r.msgHandle("old", "gone")
	in := func(opts int32) func(*mqi.MD, *mqi.GMO) {
		return func(_ *mqi.MD, g *mqi.GMO) { g.Version, g.MsgHandle, g.Options = 4, int64(n), opts }
	}
	got, md := r.get(r.c, h, 0, in(mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_PROPERTIES_IN_HANDLE))
	p, err := r.c.InquireProperty(n, mqi.MQIMPO_INQ_FIRST, "colour", mqi.MQTYPE_STRING)
	if err != nil || p.Value.Text != "red" || !strings.Contains(got, "<other>stays</other>") || strings.Contains(got, "colour") {
		t.Errorf("%v %v %q %q", err, p, got, md.Format)
	}
	_, err = r.c.InquireProperty(n, mqi.MQIMPO_INQ_FIRST, "old", mqi.MQTYPE_STRING)
	wantRC(t, err, mqi.MQRC_PROPERTY_NOT_AVAILABLE)
	// A message that does not fit fills no handle.
	n = r.msgHandle("old", "stays")
	md2, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	in(mqi.MQGMO_PROPERTIES_IN_HANDLE)(&md2, &gmo)
	_, _, err = r.c.Get(bg, h, &md2, &gmo, 3)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
	if _, err = r.c.InquireProperty(n, mqi.MQIMPO_INQ_FIRST, "old", mqi.MQTYPE_STRING); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		handle int64
		opts   int32
		rc     mqi.RC
	}{{0, mqi.MQGMO_PROPERTIES_IN_HANDLE, mqi.MQRC_HMSG_ERROR}, {99, 0, mqi.MQRC_HMSG_ERROR}} {
		_, _, err := tryGet(r.c, h, c.opts, func(_ *mqi.MD, g *mqi.GMO) { g.Version, g.MsgHandle = 4, c.handle })
		wantRC(t, err, c.rc)
	}
}

// Properties make a message longer or shorter than it is stored: the length that counts is the one that is delivered.
func TestPropertiesAndBufferLength(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "PROPCTL", "ALL")
	h := r.openQ(r.c, "Q", inOut)
	r.putWithProp(h, "colour", strings.Repeat("r", 100))
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	data, n, err := r.c.Get(bg, h, &md, &gmo, 50)
	wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
	if n < 140 || len(data) != 50 || r.depth("Q") != 1 {
		t.Errorf("%d %d", n, len(data))
	}
	md, gmo.Options = mqi.DefaultMD(), mqi.MQGMO_NO_PROPERTIES
	if data, _, err = r.c.Get(bg, h, &md, &gmo, 4); err != nil || string(data) != "text" {
		t.Errorf("%q %v", data, err)
	}
	as, text := rfh2Message(t, "text", "<usr><colour>red</colour></usr>")
	r.put(r.c, h, text, 0, as)
	md = mqi.DefaultMD()
	if data, _, err = r.c.Get(bg, h, &md, &gmo, 4); err != nil || string(data) != "text" { // shorter than stored
		t.Errorf("%q %v", data, err)
	}
}

func TestPropertyReasons(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXMSGL", "400")
	h := r.openQ(r.c, "Q", inOut)
	put := func(change func(*mqi.MD), text string, edit func(*mqi.PMO)) error {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		pmo.Version = 3
		change(&md)
		edit(&pmo)
		return r.c.Put(bg, h, &md, &pmo, []byte(text))
	}
	plain, noPMO := func(*mqi.MD) {}, func(*mqi.PMO) {}
	with := func(n MsgHandle) func(*mqi.PMO) { return func(p *mqi.PMO) { p.OriginalMsgHandle = int64(n) } }
	wantRC(t, put(plain, "x", with(77)), mqi.MQRC_HMSG_ERROR)
	wantRC(t, put(plain, "x", func(p *mqi.PMO) { p.NewMsgHandle = 77 }), mqi.MQRC_HMSG_ERROR)
	wantRC(t, put(plain, "x", func(p *mqi.PMO) { p.Action = mqi.MQACTP_REPLY; p.NewMsgHandle = int64(r.msgHandle()) }),
		mqi.MQRC_HMSG_ERROR)
	wantRC(t, put(plain, "x", func(p *mqi.PMO) { p.Action = 9 }), mqi.MQRC_ACTION_ERROR)
	n := r.msgHandle("colour", "red")
	wantRC(t, put(flagged(segmentMsg), "x", with(n)), mqi.MQRC_SEGMENTATION_NOT_ALLOWED)
	wantRC(t, put(flagged(mqi.MQMF_SEGMENTATION_ALLOWED), strings.Repeat("x", 500), with(n)), mqi.MQRC_SEGMENTATION_NOT_ALLOWED)
	as, text := rfh2Message(t, "text", "<usr><colour>red</colour></usr>")
	wantRC(t, put(as, text, noPMO), 0)
	wantRC(t, put(func(md *mqi.MD) { as(md); flagged(mqi.MQMF_SEGMENTATION_ALLOWED)(md) }, text+strings.Repeat("x", 500), noPMO),
		mqi.MQRC_SEGMENTATION_NOT_ALLOWED)
	_, odd := rfh2Message(t, "text", `<mq><need sr="required">1</need></mq>`)
	wantRC(t, put(as, odd, noPMO), mqi.MQRC_UNSUPPORTED_PROPERTY)
	pd := mqi.DefaultPD()
	pd.Support = mqi.MQPD_SUPPORT_REQUIRED
	if err := r.c.SetProperty(n, 0, "need", pd, mqi.PropString("x")); err != nil {
		t.Fatal(err)
	}
	wantRC(t, put(plain, "x", with(n)), mqi.MQRC_UNSUPPORTED_PROPERTY)
	wantRC(t, put(as, "RFH that ends too soon", with(r.msgHandle("a", "b"))), mqi.MQRC_RFH_ERROR)
	wantRC(t, put(as, "RFH that ends too soon", noPMO), 0) // who uses no properties may put what he likes

	r.alter(ClassQmgr, qmgrName, "MAXPROPL", "20")
	wantRC(t, put(plain, "x", with(r.msgHandle("a", "b"))), mqi.MQRC_PROPERTIES_TOO_BIG)
	wantRC(t, put(as, text, noPMO), mqi.MQRC_PROPERTIES_TOO_BIG)
	wantRC(t, put(plain, "x", noPMO), 0)
}

func TestPropertiesOfForwardedMessages(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "PROPCTL", "ALL")
	h := r.openQ(r.c, "Q", inOut)
	from := r.msgHandle("both", "old")
	pd := mqi.DefaultPD()
	for name, to := range map[string]int32{"forward": mqi.MQCOPY_FORWARD, "reply": mqi.MQCOPY_REPLY, "report": mqi.MQCOPY_REPORT} {
		pd.CopyOptions = to
		if err := r.c.SetProperty(from, 0, name, pd, mqi.PropString("x")); err != nil {
			t.Fatal(err)
		}
	}
	fresh := r.msgHandle("both", "new")
	for _, c := range []struct {
		action int32
		want   string
	}{{mqi.MQACTP_NEW, "both=old forward=x reply=x report=x"}, {mqi.MQACTP_FORWARD, "both=new forward=x"},
		{mqi.MQACTP_REPLY, "both=new reply=x"}, {mqi.MQACTP_REPORT, "both=new report=x"}} {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		pmo.Version, pmo.Action, pmo.OriginalMsgHandle, pmo.NewMsgHandle = 3, c.action, int64(from), int64(fresh)
		if err := r.c.Put(bg, h, &md, &pmo, nil); err != nil {
			t.Fatal(err)
		}
		text, got := r.get(r.c, h, 0)
		props, _, err := mqi.SplitProps(&got, []byte(text), true)
		if err != nil || propNames(props) != c.want {
			t.Errorf("action %d: %s (%v), want %s", c.action, propNames(props), err, c.want)
		}
	}
}

func TestMsgHandles(t *testing.T) {
	r := newRig(t)
	c := r.c
	_, err := c.CreateMsgHandle(mqi.MQCMHO_VALIDATE | mqi.MQCMHO_NO_VALIDATION)
	wantRC(t, err, mqi.MQRC_OPTIONS_ERROR)
	n := r.msgHandle("colour", "red")
	wantRC(t, c.SetProperty(n, 0, "jms.unknown.deep", mqi.DefaultPD(), mqi.PropString("x")), mqi.MQRC_PROPERTY_NAME_ERROR)
	wantRC(t, c.DeleteProperty(n, 0, "size"), mqi.MQRC_PROPERTY_NOT_AVAILABLE)
	wantRC(t, c.SetProperty(0, 0, "x", mqi.DefaultPD(), mqi.PropString("x")), mqi.MQRC_HMSG_ERROR)
	md := mqi.DefaultMD()
	md.Format = mqi.MQFMT_STRING
	_, err = c.MsgHandleToBuffer(n, 0, &md)
	wantRC(t, err, mqi.MQRC_OPTIONS_ERROR)
	buf, err := c.MsgHandleToBuffer(n, mqi.MQMHBO_PROPERTIES_IN_MQRFH2|mqi.MQMHBO_DELETE_PROPERTIES, &md)
	if err != nil || md.Format != mqi.MQFMT_RF_HEADER_2 {
		t.Fatalf("%v %q", err, md.Format)
	}
	wantRC(t, c.DeleteProperty(n, 0, "colour"), mqi.MQRC_PROPERTY_NOT_AVAILABLE)
	_, err = c.BufferToMsgHandle(n, 64, &md, buf)
	wantRC(t, err, mqi.MQRC_OPTIONS_ERROR)
	data, err := c.BufferToMsgHandle(n, mqi.MQBMHO_DELETE_PROPERTIES, &md, append(buf, "text"...))
	if err != nil || string(data) != "text" || md.Format != mqi.MQFMT_STRING {
		t.Errorf("%q %q %v", data, md.Format, err)
	}
	wantRC(t, c.DeleteProperty(n, 0, "colour"), 0)
	wantRC(t, c.DeleteMsgHandle(n), 0)
	wantRC(t, c.DeleteMsgHandle(n), mqi.MQRC_HMSG_ERROR)
	r.alter(ClassQmgr, qmgrName, "MAXHANDS", "1")
	if _, err = c.CreateMsgHandle(0); err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateMsgHandle(0)
	wantRC(t, err, mqi.MQRC_HANDLE_NOT_AVAILABLE)
}

// Selectors see the properties in the data and those beside it, under the names that JMS gives them.
func TestSelectorsSeeProperties(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "PROPCTL", "NONE")
	h := r.openQ(r.c, "Q", inOut)
	as, text := rfh2Message(t, "in data", "<mcd><Msd>jms_text</Msd><Type>order</Type></mcd>",
		`<usr><n dt="i4">7</n></usr>`, "<jms><Cid>corr</Cid></jms>")
	r.put(r.c, h, "neither", 0)
	r.put(r.c, h, text, 0, as)
	r.putWithProp(h, "app.deep.size", "big")
	for sel, want := range map[string]string{
		"n = 7": "in data", "n BETWEEN 8 AND 9": "", "JMSType = 'order'": "in data", "JMSCorrelationID = 'corr'": "in data",
		"app.deep.size = 'big'": "text", "n IS NULL AND JMSType IS NULL AND Root.MQMD.Format = '        '": "neither",
	} {
		od := mqi.DefaultOD()
		od.ObjectName, od.Version, od.SelectionString = "Q", 4, sel
		c := r.connect()
		b, err := c.Open(bg, &od, mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE)
		if err != nil {
			t.Fatalf("%s: %v", sel, err)
		}
		if got, _, _ := tryGet(c, b, mqi.MQGMO_BROWSE_FIRST); got != want {
			t.Errorf("%s: %q, want %q", sel, got, want)
		}
	}
}

// What leaves the queue manager carries its properties in an MQRFH2 behind the transmission queue header.
func TestPropertiesOnTransmissionQueue(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "XQ", "USAGE", "XMITQ")
	r.define("QREMOTE", "FAR", "RNAME", "Q", "RQMNAME", "QM2", "XMITQ", "XQ")
	r.putWithProp(r.openQ(r.c, "FAR", mqi.MQOO_OUTPUT), "colour", "red")
	text, md := r.get(r.c, r.openQ(r.c, "XQ", mqi.MQOO_INPUT_SHARED), mqi.MQGMO_PROPERTIES_FORCE_MQRFH2)
	if md.Format != mqi.MQFMT_XMIT_Q_HEADER {
		t.Fatalf("format %q", md.Format)
	}
	x, rest, err := mqi.ParseXQH([]byte(text), mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
	if err != nil || x.RemoteQName != "Q" || x.MD.Format != mqi.MQFMT_RF_HEADER_2 {
		t.Fatalf("%+v %v", x, err)
	}
	if got := shown(string(rest), x.MD); got != "MQHRF2 text [colour=red]" {
		t.Error(got)
	}
}

// A message handle's properties reach subscribers, beside those that publish/subscribe adds.
func TestPropertiesOfPublication(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "PROPCTL", "ALL")
	in := r.openQ(r.c, "Q", inOut)
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString = mqi.MQSO_CREATE|mqi.MQSO_NON_DURABLE|mqi.MQSO_NEW_PUBLICATIONS_ONLY, "prices"
	sd.SelectionString = "colour = 'red'"
	if _, _, err := r.c.Subscribe(bg, &sd, in); err != nil {
		t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, "prices"
	pub, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	if err != nil {
		t.Fatal(err)
	}
	r.putWithProp(pub, "colour", "blue")
	r.putWithProp(pub, "colour", "red")
	text, md := r.get(r.c, in, 0)
	if got := shown(text, md); got != "MQHRF2 text [colour=red mqps.Top=prices]" {
		t.Error(got)
	}
	r.wantNext(in, 0, "")
}
