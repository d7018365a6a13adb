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
