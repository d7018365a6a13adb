package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestPutDecoder: what was kept of the last message never shows in the next, in another code page neither.
func TestPutDecoder(t *testing.T) {
	var p PutDecoder
	latin, _ := NewText(819, nil)
	zos, _ := NewText(500, nil)
	for i, tc := range []struct {
		text   Text
		format string
		reply  string
	}{{latin, "MQSTR", "A.QUEUE"}, {latin, "MQSTR", ""}, {latin, "", "ANOTHER"}, {zos, "MQSTR", "A.QUEUE"}, {latin, "MQSTR", "A.QUEUE"}} {
		want := &Put{MD: mqi.DefaultMD(), PMO: mqi.DefaultPMO(), Data: []byte{byte(i)}}
		want.MD.Format, want.MD.ReplyToQ, want.PMO.ResolvedQName = tc.format, tc.reply, tc.reply
		c := Codec{Order: Little, Text: tc.text}
		a, got, err := p.Decode(Encode(nil, MQPUT, API{Hobj: int32(i)}, want, c, 0), c)
		if err != nil || a.Hobj != int32(i) {
			t.Fatalf("%d: %+v, %v", i, a, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
	if _, _, err := p.Decode([]byte{1, 2, 3}, Codec{Order: Big, Text: latin}); err == nil {
		t.Error("three bytes are no MQPUT")
	}
}

// TestPutAgain: what differs from the last message in nothing but its data is read as by a decoder that has read nothing before.
func TestPutAgain(t *testing.T) {
	latin, _ := NewText(819, nil)
	for _, order := range []Order{Big, Little} {
		c := Codec{Order: order, Text: latin}
		body := func(data string, change ...func(*API, *Put)) []byte {
			a, p := API{Hobj: 5}, &Put{MD: mqi.DefaultMD(), PMO: mqi.DefaultPMO(), Data: []byte(data)}
			for _, f := range change {
				f(&a, p)
			}
			return Encode(nil, MQPUT, a, p, c, 0)
		}
		var p PutDecoder
		if _, _, ok := p.Again(body("first")); ok {
			t.Error("there is none to repeat")
		}
		if _, _, err := p.Decode(body("first"), c); err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{"second", "", "a longer one than those before it"} {
			hobj, got, ok := p.Again(body(data))
			if !ok || hobj != 5 || string(got) != data {
				t.Errorf("%q: %q of handle %d, %v", data, got, hobj, ok)
			}
		}
		for name, f := range map[string]func(*API, *Put){
			"handle":     func(a *API, _ *Put) { a.Hobj = 6 },
			"descriptor": func(_ *API, p *Put) { p.MD.Priority++ },
			"identifier": func(_ *API, p *Put) { p.MD.MsgID = mqi.ID{23: 1} },
			"version":    func(_ *API, p *Put) { p.MD.Version = 2 },
			"options":    func(_ *API, p *Put) { p.PMO.Options |= mqi.MQPMO_SYNCPOINT },
			"name":       func(_ *API, p *Put) { p.PMO.ResolvedQName = "Q" },
		} {
			if _, _, ok := p.Again(body("second", f)); ok {
				t.Errorf("%s: taken for the same", name)
			}
		}
		whole := body("12345678")
		for n := range whole {
			if _, got, ok := p.Again(whole[:n]); ok {
				t.Errorf("%d of %d bytes: %q", n, len(whole), got)
			}
		}
		if _, _, err := p.Decode([]byte{1, 2, 3}, c); err == nil {
			t.Error("three bytes are no MQPUT")
		}
		if _, _, ok := p.Again(body("second")); ok {
			t.Error("the last message could not be read: there is none to repeat")
		}
	}
}
