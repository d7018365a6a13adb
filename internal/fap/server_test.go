package fap_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestLevels: what is agreed for clients and channels of several levels (facts/fap.md 2.3, 2.4).
func TestLevels(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fap   byte
		plain bool
		level byte
		share int32
		want  byte
		convs int32
		pal   uint16
	}{
		{"readable passwords", 17, true, 0, 10, 12, 10, 1},
		{"protected passwords", 17, false, 0, 10, 17, 10, 1},
		{"client of level 13", 13, true, 0, 10, 12, 10, 1},
		{"client of level 10", 10, true, 0, 10, 10, 10, 0},
		{"client of level 9", 9, false, 0, 3, 9, 3, 0},
		{"client of level 8 cannot share", 8, true, 0, 10, 8, 0, 0},
		{"channel lowered to 12", 17, true, 12, 10, 12, 10, 0},
		{"not shared", 17, true, 0, 0, 12, 0, 1},
	} {
		m := memory.New("QM1", "Q1")
		m.Instance.PlainPasswords, m.Instance.Level, m.Instance.ShareCnv = tc.plain, tc.level, tc.share
		p := start(t, m, nil, nil).dial(t)
		id := firstID()
		id.FAP, id.Size = tc.fap, wire.IDSize(tc.fap)
		got := p.negotiate(id)
		if got.FAP != tc.want || got.Convs != tc.convs || got.PAL[0] != tc.pal || got.HeartbeatIv != 300 ||
			got.MaxMsgLength != 4<<20 || got.QMgr != "QM1" || got.Channel != "DEV.APP.SVRCONN" {
			t.Errorf("%s: %+v", tc.name, got)
		}
		p.connect(p.first())
		p.open(p.first(), "Q1")
	}
}

// TestVerbs goes through the life of a client, in either byte order and in EBCDIC.
func TestVerbs(t *testing.T) {
	for _, kind := range []struct {
		order wire.Order
		ccsid uint16
	}{{wire.Big, 819}, {wire.Little, 1208}, {wire.Big, 500}} {
		m := memory.New("QM1", "Q1")
		s := start(t, m, nil, nil)
		p := s.dial(t)
		p.order, p.ccsid, p.zos = kind.order, kind.ccsid, kind.ccsid == 500
		p.negotiate(firstID())
		p.connect(1)
		q := p.open(1, "Q1")
		p.put(1, q, "one", mqi.MQPMO_NO_SYNCPOINT)
		p.put(1, q, "two", mqi.MQPMO_SYNCPOINT)
		if text, rc := p.get(1, q, mqi.MQGMO_BROWSE_FIRST, 0); text != "one" || rc != 0 {
			t.Errorf("browse: %q, %d", text, rc)
		}
		if _, rc := p.get(1, q, mqi.MQGMO_BROWSE_NEXT, 0); rc != mqi.MQRC_NO_MSG_AVAILABLE {
			t.Errorf("uncommitted message browsed, %d", rc)
		}
		if a, _ := p.call(wire.MQBACK, 1, 0, &wire.Empty{}); a.CompCode != 0 || a.Hobj != -1 {
			t.Errorf("MQBACK: %+v", a)
		}
		if text, rc := p.get(1, q, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_WAIT, 100); text != "one" || rc != 0 {
			t.Errorf("get: %q, %d", text, rc)
		}
		p.call(wire.MQCMIT, 1, 0, &wire.Empty{})
		if _, rc := p.get(1, q, mqi.MQGMO_WAIT, 50); rc != mqi.MQRC_NO_MSG_AVAILABLE {
			t.Errorf("get of nothing: %d", rc)
		}
		a, b := p.call(wire.MQINQ, 1, q, &wire.Attrs{Selectors: []int32{mqi.MQIA_CURRENT_Q_DEPTH, mqi.MQCA_Q_DESC, mqi.MQIA_Q_TYPE},
			IntCount: 2, CharLength: 100})
		r := b.(*wire.Attrs)
		h := p.header(wire.MQINQ, 1, 0, 0)
		c, _ := h.Codec()
		if a.CompCode != 0 || len(r.Ints) != 2 || r.Ints[1] != 1 || !strings.HasPrefix(c.Text.Decode(r.Chars), "a test queue ") ||
			len(r.Chars) != 64 {
			t.Errorf("MQINQ: %+v, %+v", a, r)
		}
		for _, typ := range []wire.Type{wire.MQINQ, wire.MQSET} {
			for _, bad := range []struct {
				attrs wire.Attrs
				rc    mqi.RC
			}{{wire.Attrs{Selectors: make([]int32, 257)}, mqi.MQRC_SELECTOR_LIMIT_EXCEEDED}, {wire.Attrs{IntCount: -1}, mqi.MQRC_INT_ATTR_COUNT_ERROR},
				{wire.Attrs{CharLength: -1}, mqi.MQRC_CHAR_ATTR_LENGTH_ERROR}} {
				p.send(typ, 1, q, &bad.attrs)
				if a := p.refusal(typ.Reply()); a.CompCode != int32(mqi.CCFailed) || a.Reason != int32(bad.rc) {
					t.Errorf("%v: %+v, want %d", typ, a, bad.rc)
				}
			}
		}
		p.call(wire.MQCLOSE, 1, q, &wire.Close{})
		if a, _ := p.call(wire.MQCLOSE, 1, q, &wire.Close{}); a.Reason != mqi.MQRC_HOBJ_ERROR {
			t.Errorf("second MQCLOSE: %+v", a)
		}
		p.call(wire.MQDISC, 1, 0, &wire.Empty{})
		if a, _ := p.call(wire.MQCMIT, 1, 0, &wire.Empty{}); a.Reason != mqi.MQRC_HCONN_ERROR {
			t.Errorf("MQCMIT after MQDISC: %+v", a)
		}
		p.endConv(1, wire.FlagClose)
		p.closed()
		if m.Ended() != 0 {
			t.Error("an orderly end broke the connection")
		}
	}
}

// TestOpenReplies: the descriptor that comes back has the version that was asked with, and names no string: the Java client ends with an
// internal error where one is named that it does not keep. A failed open gives no handle, and the defaults of no object.
func TestOpenReplies(t *testing.T) {
	p := start(t, memory.New("QM1", "Q1"), nil, nil).client(t)
	for _, queue := range []string{"Q1", "NONE"} {
		for _, version := range []int32{1, 4} {
			od := mqi.DefaultOD()
			od.Version, od.ObjectName = version, queue
			if version == 4 {
				od.ObjectString, od.SelectionString = "a/b", "x = 1"
			}
			_, b := p.call(wire.MQOPEN, 1, -1, &wire.Open{OD: od, Options: mqi.MQOO_INPUT_SHARED, HasFOPA: true})
			a, s := p.call(wire.SPI, 1, -1, &wire.SPIBody{Verb: wire.SPIOpen, OutVersion: 1,
				Part: &wire.SPIOpenPart{Options: mqi.MQOO_INPUT_SHARED, OD: od}})
			r, o := s.(*wire.SPIBody).Part.(*wire.SPIOpenPart), b.(*wire.Open)
			if (a.Hobj > 0) != (queue == "Q1") || a.Hobj < 0 || r.Defaults != o.Defaults || r.Defaults.PutResponse != mqi.MQPRT_SYNC_RESPONSE {
				t.Errorf("%s: handle %d, %+v and %+v", queue, a.Hobj, r.Defaults, o.Defaults)
			}
			for _, got := range []mqi.OD{r.OD, o.OD} {
				if got.Version != version || got.ObjectString != "" || got.SelectionString != "" {
					t.Errorf("%s, version %d: %+v", queue, version, got)
				}
			}
		}
	}
}

// warnedConn answers MQINQ with a warning beside the values.
type warnedConn struct{ fap.Conn }

func (warnedConn) Inq(context.Context, int32, []int32, int, int) ([]int32, []byte, error) {
	return []int32{7}, nil, mqi.Warn("MQINQ", "Q1", mqi.MQRC_SELECTOR_NOT_FOR_TYPE)
}

// optionsConn notes the options of opens.
type optionsConn struct {
	fap.Conn
	options *int32
}

func (c optionsConn) Open(ctx context.Context, od *mqi.OD, options int32) (int32, wire.Defaults, error) {
	*c.options = options
	return c.Conn.Open(ctx, od, options)
}

// TestSavedContext: JMS asks for all its opens to keep the context of what they get; of those for output alone the engine would refuse that.
func TestSavedContext(t *testing.T) {
	m := memory.New("QM1", "Q1")
	var got int32
	p := start(t, m, wrapped{m, func(c fap.Conn) fap.Conn { return optionsConn{c, &got} }}, nil).client(t)
	for options, want := range map[int32]int32{mqi.MQOO_OUTPUT: mqi.MQOO_OUTPUT, mqi.MQOO_INPUT_SHARED: mqi.MQOO_INPUT_SHARED | mqi.MQOO_SAVE_ALL_CONTEXT} {
		od := mqi.DefaultOD()
		od.Version, od.ObjectName = 4, "Q1"
		p.call(wire.SPI, 1, -1, &wire.SPIBody{Verb: wire.SPIOpen, OutVersion: 1,
			Part: &wire.SPIOpenPart{Options: options, LpiOptions: wire.LpiSaveContext, OD: od}})
		if got != want {
			t.Errorf("opened with %#x, want %#x", got, want)
		}
	}
}

// TestWarnedInquiry: a warning (2068: an attribute that the queue does not have) leaves the values of the others in the reply.
func TestWarnedInquiry(t *testing.T) {
	m := memory.New("QM1", "Q1")
	p := start(t, m, wrapped{m, func(c fap.Conn) fap.Conn { return warnedConn{c} }}, nil).client(t)
	a, b := p.call(wire.MQINQ, 1, p.open(1, "Q1"), &wire.Attrs{Selectors: []int32{mqi.MQIA_Q_TYPE}, IntCount: 1})
	if r := b.(*wire.Attrs); a.CompCode != int32(mqi.CCWarning) || a.Reason != int32(mqi.MQRC_SELECTOR_NOT_FOR_TYPE) || len(r.Ints) != 1 || r.Ints[0] != 7 {
		t.Errorf("%+v, %+v", a, r)
	}
}

// TestInquiryRoom: the answer has as many numbers as were asked for, since clients look for the characters behind those.
func TestInquiryRoom(t *testing.T) {
	m := memory.New("QM1", "Q1")
	p := start(t, m, nil, nil).client(t)
	h := p.open(1, "Q1")
	ask := func(ints int32) (wire.API, *wire.Attrs) {
		a, b := p.call(wire.MQINQ, 1, h, &wire.Attrs{Selectors: []int32{mqi.MQIA_Q_TYPE, mqi.MQCA_Q_NAME}, IntCount: ints, CharLength: 60})
		r, _ := b.(*wire.Attrs)
		return a, r
	}
	a, r := ask(1)
	if a.Reason != 0 {
		t.Fatalf("%+v", a)
	}
	first, chars := r.Ints[0], string(r.Chars)
	if a, r = ask(0); a.Reason != mqi.MQRC_INT_ATTR_COUNT_TOO_SMALL || r.IntCount != 0 {
		t.Errorf("no room: %+v, %+v", a, r)
	}
	if a, r = ask(5); a.Reason != 0 || r.IntCount != 5 || len(r.Ints) != 5 || r.Ints[0] != first || string(r.Chars) != chars {
		t.Errorf("%+v, %+v", a, r)
	}
}

// TestRefused: peers that are not let in, with the status that tells them why (facts/fap.md 2.5).
func TestRefused(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Refuse = map[string]error{
		"NO.SUCH": &fap.Refusal{Code: wire.CodeNoChannel, Err: errors.New("not defined")},
		"STOPPED": errors.New("stopped"),
	}
	for _, tc := range []struct {
		name   string
		change func(*wire.ID)
		want   wire.Code
	}{
		{"unknown channel", func(i *wire.ID) { i.Channel = "NO.SUCH" }, wire.CodeNoChannel},
		{"stopped channel", func(i *wire.ID) { i.Channel = "STOPPED" }, wire.CodeChannelUnavailable},
		{"message channel", func(i *wire.ID) { i.Cap1 = 0x01 }, wire.CodeWrongType},
		{"old level", func(i *wire.ID) { i.FAP, i.Size = 3, 44 }, wire.CodeFAPLevel},
		{"no room for messages", func(i *wire.ID) { i.MaxMsgLength = -1 }, wire.CodeNegotiation},
		{"tiny segments", func(i *wire.ID) { i.MaxTransmission = 100 }, wire.CodeNegotiation},
	} {
		s := start(t, m, nil, nil)
		p := s.dial(t)
		id := firstID()
		tc.change(id)
		p.sendH(p.header(wire.InitialData, 0, 0, wire.FlagConfirm), wire.API{}, id)
		p.status(tc.want)
		p.closed()
		s.stop()
		if !strings.Contains(s.log.String(), "channel") {
			t.Errorf("%s: nothing in the log", tc.name)
		}
	}
}

// TestRefusedInTheSecondProposal: a client whose first proposal was answered by other values does not get smaller ones past the checks
// with its second.
func TestRefusedInTheSecondProposal(t *testing.T) {
	for name, change := range map[string]func(*wire.ID){
		"negative segments": func(i *wire.ID) { i.MaxTransmission = -926365560 },
		"tiny segments":     func(i *wire.ID) { i.MaxTransmission = wire.MinTransmission - 1 },
		"no message":        func(i *wire.ID) { i.MaxMsgLength = 0 },
		"negative messages": func(i *wire.ID) { i.MaxMsgLength = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, memory.New("QM1", "Q1"), nil, nil)
			p := s.dial(t)
			id := firstID()
			id.MaxTransmission = 1 << 20 // too much: it is asked again
			p.sendH(p.header(wire.InitialData, 0, 0, wire.FlagConfirm), wire.API{}, id)
			h, _, b := p.want(wire.InitialData)
			if h.Flags&wire.FlagError == 0 {
				t.Fatal("agreed at once")
			}
			p.magic = wire.TSHM
			again := *b.(*wire.ID)
			again.Cap1, again.Err1 = id.Cap1, 0
			change(&again)
			p.sendH(p.header(wire.InitialData, 1, 0, wire.FlagConfirm), wire.API{}, &again)
			p.status(wire.CodeNegotiation)
			p.closed()
			s.stop()
			if log := s.log.String(); !strings.Contains(log, "too small") || strings.Contains(log, "panic") {
				t.Error(log)
			}
		})
	}
}

// TestLevelOfTheSecondProposal: nor a level that is too low, at which STOP CHANNEL and DISPLAY CHSTATUS took it for one that has not come
// through the negotiation.
func TestLevelOfTheSecondProposal(t *testing.T) {
	for _, second := range []struct{ fap, size byte }{{0, 240}, {7, 240}, {12, 102}} {
		s := start(t, memory.New("QM1", "Q1"), nil, nil)
		p := s.dial(t)
		id := firstID()
		id.Convs, id.MaxTransmission = 0, 1<<20
		p.sendH(p.header(wire.InitialData, 0, 0, wire.FlagConfirm), wire.API{}, id)
		_, _, b := p.want(wire.InitialData)
		again := *b.(*wire.ID)
		again.Cap1, again.Err1, again.FAP, again.Size = id.Cap1, 0, second.fap, int(second.size)
		p.sendH(p.header(wire.InitialData, 0, 0, wire.FlagConfirm), wire.API{}, &again)
		p.status(wire.CodeFAPLevel)
		p.closed()
	}
}

// TestMQCONNRefused: what a client hears that has come as far as MQCONN.
func TestMQCONNRefused(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Users = map[string]string{"app": "passw0rd"}
	s := start(t, m, nil, nil)
	p := s.dial(t)
	p.negotiate(firstID())
	conn := func(qmgr string) int32 {
		a, _ := p.call(wire.MQCONN, 1, 0, &wire.Conn{QMgr: qmgr, Version: 4})
		return a.Reason
	}
	auth := func(password string) {
		p.send(wire.ConAuthInfo, 1, 0, &wire.ConAuth{AuthType: 1, User: "app", Password: password, Long: true})
		h, _, b := p.want(wire.StatusData)
		if b.(*wire.Status).Code != 0 || h.Flags&wire.FlagError != 0 { // the client looks at the reason of MQCONN only
			t.Errorf("CONAUTH_INFO: %+v", b)
		}
	}
	if rc := conn("QM1"); rc != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("no password: %d", rc)
	}
	auth("wrong")
	if rc := conn("QM1"); rc != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("wrong password: %d", rc)
	}
	auth("passw0rd")
	if rc := conn("QM2"); rc != mqi.MQRC_Q_MGR_NAME_ERROR {
		t.Errorf("other queue manager: %d", rc)
	}
	if rc := conn("*ANY"); rc != 0 {
		t.Errorf("any queue manager: %d", rc)
	}
	if rc := conn("QM1"); rc != mqi.MQRC_ALREADY_CONNECTED {
		t.Errorf("second MQCONN: %d", rc)
	}
	guess := s.dial(t)
	guess.negotiate(firstID())
	for i := 0; i < 5; i++ {
		guess.call(wire.MQCONN, 1, 0, &wire.Conn{QMgr: "QM1", Version: 4})
	}
	guess.closed()
	if log := s.log.String(); !strings.Contains(log, `"user":"app"`) || strings.Contains(log, "passw0rd") {
		t.Errorf("log: %s", log)
	}
}

// TestHandshakeTime: a peer that does not connect in time is closed, wherever it stopped.
func TestHandshakeTime(t *testing.T) {
	for _, upTo := range []string{"nothing", "half a segment", "initial data"} {
		clk := clock.NewFake(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		s := start(t, memory.New("QM1"), nil, clk)
		ok := s.dial(t)
		ok.negotiate(firstID())
		ok.connect(1)
		p := s.dial(t)
		switch upTo {
		case "half a segment":
			p.nc.Write([]byte("TSH \x00\x00\x01\x0c\x01"))
		case "initial data":
			p.negotiate(firstID())
		}
		eventually(t, "two sockets", func() bool { return s.Sockets() == 2 })
		clk.Advance(29 * time.Second)
		if s.Sockets() != 2 {
			t.Errorf("%s: closed too early", upTo)
		}
		clk.Advance(2 * time.Second)
		p.closed()
		ok.call(wire.MQCMIT, 1, 0, &wire.Empty{}) // the one that connected stays
	}
}

// TestBadBytes: a peer that breaks the protocol is told and closed, others go on.
func TestBadBytes(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	other := s.client(t)
	for _, tc := range []struct {
		name  string
		after bool // the handshake
		bytes string
		want  wire.Code
	}{
		{"another protocol", false, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", wire.CodeProtocolID},
		{"a gigabyte announced", false, "TSH \x40\x00\x00\x00", wire.CodeLengthError},
		{"shorter than its header", false, "TSH \x00\x00\x00\x08", wire.CodeLengthError},
		{"byte order 7", false, "TSH \x00\x00\x00\x1c\x07\x01\x31" + strings.Repeat("\x00", 17), wire.CodeInvalidData},
		{"a heartbeat first", false, "TSH \x00\x00\x00\x1c\x01\x09\x31" + strings.Repeat("\x00", 17), wire.CodeInvalidData},
		{"middle without a first", true, "TSHM\x00\x00\x00\x24\x00\x00\x00\x01\x00\x00\x00\x00\x01\x86\x00" +
			strings.Repeat("\x00", 17), wire.CodeInvalidData},
		{"put cut short", true, "TSHM\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x00\x01\x86\x30\x00" +
			strings.Repeat("\x00", 8) + "\x00\x00\x01\x11\x03\x33\x00\x00" + "1234", wire.CodeLengthError},
		{"unknown code page", true, "TSHM\x00\x00\x00\x24\x00\x00\x00\x01\x00\x00\x00\x00\x01\x8a\x30\x00" +
			strings.Repeat("\x00", 8) + "\x00\x00\x01\x11\x13\x33\x00\x00", wire.CodeCCSID},
		{"UTF-16", true, "TSHM\x00\x00\x00\x24\x00\x00\x00\x01\x00\x00\x00\x00\x01\x8a\x30\x00" +
			strings.Repeat("\x00", 8) + "\x00\x00\x01\x11\x04\xb0\x00\x00", wire.CodeCCSID},
		{"unknown type", true, "TSHM\x00\x00\x00\x24\x00\x00\x00\x01\x00\x00\x00\x00\x01\x4d\x30\x00" +
			strings.Repeat("\x00", 8) + "\x00\x00\x01\x11\x03\x33\x00\x00", wire.CodeInvalidData},
		{"unknown conversation", true, "TSHM\x00\x00\x00\x24\x00\x00\x00\x09\x00\x00\x00\x00\x01\x8a\x30\x00" +
			strings.Repeat("\x00", 8) + "\x00\x00\x01\x11\x03\x33\x00\x00", wire.CodeConvID},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := s.dial(t)
			if tc.after {
				p.negotiate(firstID())
				p.connect(1)
			}
			p.nc.Write([]byte(tc.bytes))
			p.status(tc.want)
			p.closed()
		})
	}
	other.call(wire.MQCMIT, 1, 0, &wire.Empty{})
}

// TestBadStructures: a call with a structure of an unknown kind is answered with its reason code.
func TestBadStructures(t *testing.T) {
	p := start(t, memory.New("QM1", "Q1"), nil, nil).client(t)
	q := p.open(1, "Q1")
	h := p.header(wire.MQPUT, 1, 0, 0)
	c, _ := h.Codec()
	good := wire.Encode(nil, wire.MQPUT, wire.API{Hobj: q}, newPut("x", 0), c, h.Size())
	for at, want := range map[int]int32{16: mqi.MQRC_MD_ERROR, 23: mqi.MQRC_MD_ERROR, 16 + 364: mqi.MQRC_PMO_ERROR} {
		bad := append([]byte(nil), good...)
		bad[at] = 'x'
		if err := wire.WriteMessage(p.nc, h, bad, wire.DefaultTransmission); err != nil {
			t.Fatal(err)
		}
		if _, a, _ := p.recvRaw(); a.Reason != want {
			t.Errorf("byte %d: %d, want %d", at, a.Reason, want)
		}
	}
	p.put(1, q, "still here", 0)
	// One that ends in the middle is no matter of a reason code: what follows it cannot be told from data.
	if err := wire.WriteMessage(p.nc, h, good[:16+364+20], wire.DefaultTransmission); err != nil {
		t.Fatal(err)
	}
	h2, _, err := wire.ReadSegment(p.nc, 1<<20)
	if err != nil || h2.Type != wire.StatusData {
		t.Errorf("%v, %v", h2.Type, err)
	}
	p.closed()
}

// recvRaw reads a reply of which only the API header is sure.
func (p *peer) recvRaw() (wire.Header, wire.API, []byte) {
	p.t.Helper()
	h, body, err := wire.ReadSegment(p.nc, 1<<20)
	if err != nil {
		p.t.Fatal(err)
	}
	c, _ := h.Codec()
	a, err := wire.DecodeAPI(body, c)
	if err != nil {
		p.t.Fatal(err)
	}
	return h, a, body
}

// TestMaxSockets: one socket more than the bound is closed at once, and there is room again when one has ended.
func TestMaxSockets(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := startWith(t, m, fap.Options{MaxSockets: 2}, nil)
	a, _ := s.client(t), s.client(t)
	s.dial(t).closed()
	a.endConv(1, wire.FlagClose)
	a.closed()
	eventually(t, "one left", func() bool { return s.Sockets() == 1 })
	s.client(t)
	if !strings.Contains(s.log.String(), "AMQ9513E") {
		t.Errorf("log: %s", s.log)
	}
}

// TestLogged: each way to end a channel has its message.
func TestLogged(t *testing.T) {
	for want, end := range map[string]func(p *peer){
		"AMQ9504E": func(p *peer) { p.nc.Write([]byte("nonsense, nonsense")) },
		"AMQ9208E": func(p *peer) {},
	} {
		s := start(t, memory.New("QM1", "Q1"), nil, nil)
		p := s.client(t)
		end(p)
		p.nc.(*net.TCPConn).CloseWrite()
		eventually(t, want, func() bool { return strings.Contains(s.log.String(), want) })
	}
}

// TestTLS: inside TLS the level is the client's own and its password is readable.
func TestTLS(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Instance.PlainPasswords = false
	m.Users = map[string]string{"app": "passw0rd"}
	s := startWith(t, m, fap.Options{}, selfSigned(t))
	p := s.dial(t)
	if got := p.negotiate(firstID()); got.FAP != 17 || got.PAL[0] != 0 {
		t.Errorf("level %d, algorithm %d", got.FAP, got.PAL[0])
	}
	p.send(wire.ConAuthInfo, 1, 0, &wire.ConAuth{AuthType: 1, User: "app", Password: "passw0rd", Long: true})
	p.want(wire.StatusData)
	p.connect(1)
	plain, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	plain.Write([]byte("TSH \x00\x00\x01\x0c"))
	eventually(t, "the plain client is logged", func() bool { return strings.Contains(s.log.String(), "TLS") })
}

// selfSigned makes a certificate for the time of the test.
func selfSigned(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
