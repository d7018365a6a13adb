package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestFrames decodes every recorded segment, writes it again and compares: the same type, the same values, and the same bytes
// where no field may be written in two ways.
func TestFrames(t *testing.T) {
	for _, f := range loadFrames(t) {
		name := f.file + " " + f.dir + " " + f.typ
		if f.header.Type.String() != f.typ {
			t.Errorf("%s: type is %v", name, f.header.Type)
		}
		c, ok := f.header.Codec()
		if !ok {
			t.Errorf("%s: CCSID %d", name, f.header.CCSID)
			continue
		}
		api, body, err := Decode(f.header.Type, f.body, c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again := Encode(nil, f.header.Type, api, body, c, 0)
		api2, body2, err := Decode(f.header.Type, again, c)
		if err != nil {
			t.Errorf("%s: written again: %v", name, err)
			continue
		}
		if d := cmp.Diff(body, body2, unexported) + cmp.Diff(api, api2); d != "" {
			t.Errorf("%s: written again it differs:\n%s", name, d)
		}
		if head := f.header.Append(nil, len(f.body)); !bytes.Equal(head, f.bytes[:len(head)]) {
			t.Errorf("%s: header %x, recorded %x", name, head, f.bytes[:len(head)])
		}
		if !sameBytes(again, f.body) && !twoWays[f.file+" "+f.dir+" "+f.typ] {
			t.Errorf("%s: written\n%x\nrecorded\n%x", name, again, f.body)
		}
	}
}

// twoWays are the messages whose bytes may differ: the peer's MQCHARV named room for replies, or its padding held old data.
var twoWays = map[string]bool{
	"05-spi-query-open C->S SPI": true, "16-mqsub C->S MQSUB": true, "16b-topic-open-publish C->S SPI": true,
	"16b-topic-open-publish S->C SPI_REPLY": true, "16c-durable-subrq C->S MQSUB": true,
	"17-jms-durable-subscribe C->S SPI": true, "17c-jms-unsubscribe C->S SPI": true,
	"24-shared-subscription C->S SPI": true, "21-xa C->S XA_START": true, "21-xa C->S XA_END": true,
	"21-xa C->S XA_PREPARE": true, "21-xa C->S XA_COMMIT": true,
}

// sameBytes compares but for NUL and blank, which both pad fields, and for bytes behind the end.
func sameBytes(a, b []byte) bool {
	n := min(len(a), len(b))
	blank := func(p []byte) []byte { return bytes.ReplaceAll(p, []byte{0}, []byte{' '}) }
	return n >= len(b)-3 && bytes.Equal(blank(a[:n]), blank(b[:n]))
}

var unexported = cmpopts.IgnoreUnexported(noInOut{}, SPIQueryIn{}, SPIOpenPart{}, SPIReserveIn{}, SPIReserveOut{},
	SPINotifyIn{}, SPINotifyOut{}, SPIQueryOut{}, SPISub{})

// TestMeaning compares recorded segments with what the facts say that they mean.
func TestMeaning(t *testing.T) {
	all := loadFrames(t)
	id := func(s string) (id mqi.ID) { copy(id[:], s); return }
	for _, tc := range []struct {
		file string
		typ  Type
		n    int
		api  API
		want Body
	}{
		{"19-refuse-channel", StatusData, 0, API{}, &Status{Code: CodeNoChannel}},
		{"28-quiesce", SocketAction, 0, API{}, &Socket{Action: QMQuiesce}},
		{"08-syncpoint", SocketAction, 0, API{}, &Socket{Conv: 1, Action: EndConv}},
		{"08-syncpoint", MQCMIT.Reply(), 0, API{Length: 52, Hobj: -1}, &Empty{}},
		{"13-jms-listener", Notification, 0, API{}, &Notify{Hobj: 102, Code: NoteQState, Value: 16}},
		{"04-qmgr-inquire", MQCLOSE, 0, API{Length: 56, Hobj: 101}, &Close{}},
		{"04-qmgr-inquire", MQINQ, 0, API{Length: 205, Hobj: 101},
			&Attrs{Selectors: []int32{31, 32, 2, 2015, 2032, 273}, IntCount: 4, CharLength: 100}},
		{"10-queue-inq-set", MQSET, 0, API{Length: 72, Hobj: 105},
			&Attrs{Selectors: []int32{9}, IntCount: 1, Values: true, Ints: []int32{1}, Chars: []byte{}}},
		{"26-little-endian", MQINQ.Reply(), 0, API{Length: 200, Hobj: 101},
			&Attrs{Selectors: []int32{31, 32, 2, 2015, 2032, 273}, IntCount: 4, CharLength: 96, Values: true, Reply: true,
				Ints: []int32{941, 3, 819, 0}, Chars: pad("QM1", 48, "QM1_2026-01-01_00.00.00", 48)}},
		{"14-fap12-sync-get", RequestMsgs, 0, API{}, &Request{Hobj: 105, Requested: 1, MaxMsg: 4096, Options: 0x2000034,
			Flags: ReqSelection | ReqSync | ReqCheck | ReqNoWait,
			Sel:   &Selection{Index: 1, MDVersion: 2, CCSID: 819, Encoding: 273, Match: 3}}},
		{"11-async-put", SPI, 0, API{Length: 120}, &SPIBody{Verb: SPIReserve, OutVersion: 1, OutLength: 44,
			Part: &SPIReserveIn{TagSize: 24, Reservation: 0xFFFFFF}}},
		{"22-spi-notify", SPI, 0, API{Length: 120}, &SPIBody{Verb: SPINotify, OutVersion: 1, OutLength: 12,
			Part: &SPINotifyIn{Options: 1, Reason: 2107,
				Connection: id("AMQCQM1         \x6b\x0c\x95\xc9\x00\x00\x00\x02")}}},
		{"21-xa", XAStart, 0, API{Length: 68}, &XABranch{XID: XID{Format: 1234, Global: []byte("gtrid"), Branch: []byte("bq")}}},
		{"02-auth-csp", ConAuthInfo, 0, API{}, &ConAuth{AuthType: 1, User: "app", Password: "passw0rd", Long: true}},
	} {
		f := find(t, all, tc.file, tc.typ, tc.n)
		c, _ := f.header.Codec()
		api, body, err := Decode(tc.typ, f.body, c)
		if err != nil {
			t.Errorf("%s %v: %v", tc.file, tc.typ, err)
		}
		if d := cmp.Diff(tc.want, body, unexported) + cmp.Diff(tc.api, api); d != "" {
			t.Errorf("%s %v: (-want +got)\n%s", tc.file, tc.typ, d)
		}
	}
}

// pad makes blank padded fields of text and length pairs.
func pad(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		b = Text{}.AppendField(b, fields[i].(string), fields[i+1].(int))
	}
	return b
}

// TestStructures looks into the larger structures of recorded calls.
func TestStructures(t *testing.T) {
	all := loadFrames(t)
	body := func(file string, typ Type, n int) Body {
		f := find(t, all, file, typ, n)
		c, _ := f.header.Codec()
		_, b, err := Decode(typ, f.body, c)
		if err != nil {
			t.Fatalf("%s %v: %v", file, typ, err)
		}
		return b
	}
	put := body("06-put", MQPUT, 0).(*Put)
	if string(put.Data) != "hello world" || put.MD.Format != "MQSTR" || put.PMO.Options != 0x20004 ||
		put.MD.CorrelID != (mqi.ID{'C', 'O', 'R'}) || put.MD.Persistence != 2 {
		t.Errorf("MQPUT: %+v", put)
	}
	got := body("06b-get", MQGET.Reply(), 0).(*GetReply)
	if string(got.Data) != "hello world" || got.DataLength != 11 || got.GMO.ResolvedQName != "Q1" ||
		got.MD.PutDate != "20261129" || got.MD.UserIdentifier != "root" || got.GMO.MsgToken[7] != 1 {
		t.Errorf("MQGET reply: %+v", got)
	}
	topic := body("16b-topic-open-publish", SPI, 0).(*SPIBody).Part.(*SPIOpenPart)
	if topic.OD.ObjectType != 8 || topic.OD.ObjectString != "Sport/Foot" || topic.Options != 16 {
		t.Errorf("SPI OPEN of a topic: %+v", topic)
	}
	sub := body("16c-durable-subrq", MQSUB, 0).(*Sub)
	if sub.SD.ObjectString != "Sport/Tennis" || sub.SD.SubName != "MYSUB" || sub.Hsub != -1 {
		t.Errorf("MQSUB: %+v", sub)
	}
	jms := body("24-shared-subscription", SPI, 0).(*SPIBody).Part.(*SPISub)
	if jms.LSD.Options != 0x40000050 || jms.LSD.DestOpenOptions != 0x2029 || jms.LSD.SubType != 1 ||
		jms.SD.SubName != "JMS:QM1:CIDX:SH1" || jms.SD.SubUserData != "Shared Subscription" {
		t.Errorf("SPI SUBSCRIBE: %+v", jms)
	}
	msg := body("13-jms-listener", AsyncMsg, 0).(*Async)
	if msg.Resolved != "Q1" || msg.Total != 154 || len(msg.Data) != 154 || msg.MD.Format != "MQHRF2" {
		t.Errorf("ASYNC_MESSAGE: %+v", msg)
	}
	first := body("01-negotiation", InitialData, 0).(*ID)
	if first.FAP != 17 || first.Size != 240 || first.Channel != "DEV.APP.SVRCONN" || first.Convs != 10 ||
		first.PAL[0] != 1 || first.QMgrID != "CANNED_DATA" {
		t.Errorf("INITIAL_DATA: %+v", first)
	}
	user := body("02b-auth-compat", UserIDData, 0).(*UserID)
	if user.User != "APP" || user.Password != "passw0rd" || user.LongUser != "app" {
		t.Errorf("USERID: %+v", user)
	}
}

// TestRefused is the error side of the table: a recorded body with one thing wrong.
func TestRefused(t *testing.T) {
	all := loadFrames(t)
	be := func(at int, v ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[at:], v); return b }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
	for _, tc := range []struct {
		name   string
		file   string
		typ    Type
		change func([]byte) []byte
		want   Error
	}{
		{"cut in the API header", "06-put", MQPUT, cut(10), Error{"API", 8, Short}},
		{"cut in MQMD", "06-put", MQPUT, cut(100), Error{"MD", 24, Short}},
		{"MQMD id", "06-put", MQPUT, be(16, 'X'), Error{"MD", 16, BadStrucID}},
		{"MQMD version 3", "06-put", MQPUT, be(20, 0, 0, 0, 3), Error{"MD", 20, BadVersion}},
		{"MQPMO version 0", "06-put", MQPUT, be(16+364+4, 0, 0, 0, 0), Error{"PMO", 384, BadVersion}},
		{"data length beyond the message", "06-put", MQPUT, be(16+364+152, 0x7f, 0xff, 0xff, 0xff), Error{"MQPUT", 532, BadLength}},
		{"negative data length", "06-put", MQPUT, be(16+364+152, 0xff), Error{"MQPUT", 532, BadLength}},
		{"negative buffer", "06b-get", MQGET, be(16+364+112, 0xff), Error{"MQGET", 496, BadLength}},
		{"MQGMO version 9", "06b-get", MQGET, be(16+364+7, 9), Error{"GMO", 384, BadVersion}},
		{"more selectors than there are", "04-qmgr-inquire", MQINQ, be(16, 0, 0, 1, 0), Error{"MQINQ", 28, BadLength}},
		{"topic string outside", "16b-topic-open-publish", SPI, be(40+44+336+4, 0x7f), Error{"OD", 484, BadLength}},
		{"SPI structure too long", "11-async-put", SPI, be(36, 0, 1, 0, 0), Error{"SPRU", 40, BadLength}},
		{"credentials too long", "02-auth-csp", ConAuthInfo, be(16, 0x7f), Error{"CAUT", 24, BadLength}},
		{"notification version", "13-jms-listener", Notification, be(0, 1), Error{"NOTIFICATION", 0, BadVersion}},
		{"status length", "19-refuse-channel", StatusData, be(3, 9), Error{"STATUS", 4, BadLength}},
		{"initial data", "01-negotiation", InitialData, cut(30), Error{"ID", 24, Short}},
		{"XID part of 65 bytes", "21-xa", XAStart, be(20, 65), Error{"XA", 22, BadLength}},
		{"async message longer than its segment", "13-jms-listener", AsyncMsg, be(16, 1), Error{"ASYNC_MESSAGE", 424, BadLength}},
	} {
		f := find(t, all, tc.file, tc.typ, 0)
		c, _ := f.header.Codec()
		_, _, err := Decode(tc.typ, tc.change(bytes.Clone(f.body)), c)
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%s: error %v", tc.name, err)
		} else if *got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, *got, tc.want)
		}
	}
}

// TestBadCounts: counts that the verb has reason codes for are no error of the protocol, and cost no memory.
func TestBadCounts(t *testing.T) {
	all := loadFrames(t)
	for _, tc := range []struct {
		name string
		typ  Type
		at   int
		with byte
		want mqi.RC
	}{
		{"04-qmgr-inquire", MQINQ, 16, 0xff, mqi.MQRC_SELECTOR_COUNT_ERROR},
		{"04-qmgr-inquire", MQINQ, 16, 0x3b, mqi.MQRC_SELECTOR_LIMIT_EXCEEDED},
		{"04-qmgr-inquire", MQINQ, 20, 0xff, mqi.MQRC_INT_ATTR_COUNT_ERROR},
		{"04-qmgr-inquire", MQINQ, 20, 0x3b, mqi.MQRC_INT_ATTR_COUNT_ERROR}, // no answer is that long
		{"04-qmgr-inquire", MQINQ, 24, 0xff, mqi.MQRC_CHAR_ATTR_LENGTH_ERROR},
		{"10-queue-inq-set", MQSET, 16, 0xff, mqi.MQRC_SELECTOR_COUNT_ERROR},
		{"10-queue-inq-set", MQSET, 20, 0xff, mqi.MQRC_INT_ATTR_COUNT_ERROR},
		{"10-queue-inq-set", MQSET, 24, 0xff, mqi.MQRC_CHAR_ATTR_LENGTH_ERROR},
	} {
		f := find(t, all, tc.name, tc.typ, 0)
		c, _ := f.header.Codec()
		b := bytes.Clone(f.body)
		b[tc.at] = tc.with
		_, got, err := Decode(tc.typ, b, c)
		if a, ok := got.(*Attrs); err != nil || !ok || a.Bad != tc.want || a.Selectors != nil {
			t.Errorf("%v, %d at %d: %+v, %v", tc.typ, tc.with, tc.at, got, err)
		}
	}
}

// TestOtherCodePages writes and reads structures by other byte orders and code pages.
func TestOtherCodePages(t *testing.T) {
	md := mqi.DefaultMD()
	md.Version, md.Format, md.ReplyToQ, md.UserIdentifier = 2, "MQSTR", "APP.REPLY/1_%", "app"
	put := &Put{MD: md, PMO: mqi.DefaultPMO(), Data: []byte("data")}
	put.MD.ApplIdentityData = "[!]^|"
	for _, ccsid := range []uint16{37, 437, 500, 819, 850, 1047, 1140, 1208, 1252} {
		for _, o := range []Order{Big, Little} {
			text, ok := NewText(ccsid, o.order())
			if !ok {
				t.Fatalf("CCSID %d unknown", ccsid)
			}
			c := Codec{Order: o, Text: text}
			_, got, err := Decode(MQPUT, Encode(nil, MQPUT, API{}, put, c, 0), c)
			if err != nil {
				t.Errorf("%d: %v", ccsid, err)
			} else if d := cmp.Diff(put, got); d != "" {
				t.Errorf("%d: %s", ccsid, d)
			}
		}
	}
	e, _ := NewText(500, nil)
	if got := e.Append(nil, "A1[!]"); !bytes.Equal(got, []byte{0xC1, 0xF1, 0x4A, 0x4F, 0x5A}) {
		t.Errorf("code page 500: %x", got)
	}
	if _, ok := NewText(4711, nil); ok {
		t.Error("CCSID 4711 taken as known")
	}
	// A name that is too long is cut between characters.
	if got := (Text{CCSID: 1208}).AppendField(nil, "aä", 2); string(got) != "a " {
		t.Errorf("cut to %q", got)
	}
}
