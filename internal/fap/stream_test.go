package fap_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// request sends REQUEST_MSGS.
func (p *peer) request(conv uint32, hobj, flags, options, requested, received int32, confirm bool) {
	p.t.Helper()
	r := &wire.Request{Hobj: hobj, Requested: requested, Received: received, MaxMsg: -1, Options: options, Flags: flags,
		GlobalIndex: p.last}
	if flags&wire.ReqSelection != 0 {
		r.Sel = &wire.Selection{Index: 1, MDVersion: 2, CCSID: 819, Encoding: 273}
	}
	h := p.header(wire.RequestMsgs, conv, 1, 0)
	if confirm {
		h.Req, h.Flags = 3, wire.FlagConfirm
	}
	p.sendH(h, wire.API{}, r)
}

func (p *peer) note(conv uint32, hobj int32, code wire.Note, value int32, confirm bool) {
	p.t.Helper()
	h := p.header(wire.Notification, conv, 1, 0)
	if confirm {
		h.Req, h.Flags = 3, wire.FlagConfirm
	}
	p.sendH(h, wire.API{}, &wire.Notify{Hobj: hobj, Code: code, Value: value})
}

// message receives an ASYNC_MESSAGE and checks its text and numbers.
func (p *peer) message(text string, index, global int32) *wire.Async {
	p.t.Helper()
	h, _, b := p.want(wire.AsyncMsg)
	a := b.(*wire.Async)
	if string(a.Data) != text || a.Index != index || a.GlobalIndex != global || h.Req != 1 || a.MD.Version != 2 ||
		a.Resolved != "Q1" || int(a.Total) != len(text) {
		p.t.Fatalf("message %q (%+v), want %q", a.Data, a, text)
	}
	return a
}

// quiet checks that nothing arrives.
func (p *peer) quiet() {
	p.t.Helper()
	p.nc.SetReadDeadline(time.Now().Add(150 * time.Millisecond))
	b := make([]byte, 64)
	if n, _ := p.nc.Read(b); n > 0 {
		p.t.Fatalf("something was sent: %x", b[:n])
	}
	p.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
}

// stopped is CONN_STATE with an answer: what a client sends to stop its listeners.
func (p *peer) stopped(conv uint32, value int32) {
	p.t.Helper()
	p.note(conv, -1, wire.NoteConnState, value, true)
	h, _, b := p.want(wire.Notification)
	if n := b.(*wire.Notify); n.Code != wire.NoteConnStateReply || n.Value != value || n.Hobj != -1 || h.Req != 3 || h.Flags != wire.FlagWhole {
		p.t.Fatalf("CONN_STATE answered by %+v", n)
	}
}

// TestListener is the flow of facts/fap.md 6.4, MessageListener.
func TestListener(t *testing.T) {
	const options = mqi.MQGMO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING
	m := memory.New("QM1", "Q1")
	p := start(t, m, nil, nil).client(t)
	p.startConv(3)
	p.connect(3)
	q, other := p.open(1, "Q1"), p.open(3, "Q1")
	p.put(3, other, "first", 0)
	p.note(1, q, wire.NoteQState, 16, false)
	p.request(1, q, wire.ReqSelection|wire.ReqCallback, options, 1, 0, false)
	p.quiet() // not started
	p.note(1, -1, wire.NoteConnState, 2, false)
	p.message("first", 1, 1)
	if m.Depth("Q1") != 0 {
		t.Error("not locked")
	}
	p.put(3, other, "second", 0)
	p.quiet() // one request, one message
	p.call(wire.MQBACK, 1, 0, &wire.Empty{})
	p.request(1, q, wire.ReqCallback, options, 1, 364+5, false)
	if a := p.message("first", 2, 2); a.MD.BackoutCount != 1 {
		t.Errorf("backout count %d", a.MD.BackoutCount)
	}
	p.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	p.request(1, q, wire.ReqCallback, options, 1, 364+5, false)
	p.message("second", 3, 3)
	p.call(wire.MQCMIT, 1, 0, &wire.Empty{})
	p.request(1, q, wire.ReqCallback, options, 1, 364+6, false)
	p.stopped(1, 0)
	p.put(3, other, "third", 0)
	p.quiet() // stopped
	p.note(1, -1, wire.NoteConnState, 2, false)
	p.message("third", 4, 4)
	p.request(1, q, wire.ReqCallback, options, 1, 364+5, false)
	p.call(wire.MQCLOSE, 1, q, &wire.Close{})
	p.put(3, other, "fourth", 0)
	p.quiet() // closed
}

// TestListenerTold: a listener is told, once, that its queue is GET(DISABLED), and that it is not any more. The client repeats its
// request then, before or after the message that answers the first one: it is sent one message all the same.
func TestListenerTold(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, nil)
	p, putter := s.client(t), s.client(t)
	q, other := p.open(1, "Q1"), putter.open(1, "Q1")
	p.note(1, -1, wire.NoteConnState, 2, false)
	p.request(1, q, wire.ReqSelection|wire.ReqCallback, 0, 1, 0, false)
	p.quiet()
	told := func(code wire.Note, rc mqi.RC) {
		t.Helper()
		h, _, b := p.want(wire.Notification)
		if n := b.(*wire.Notify); n.Hobj != q || n.Code != code || n.Value != int32(rc) || h.Req != 1 || h.Flags != wire.FlagWhole {
			t.Fatalf("told %+v", n)
		}
	}
	set := func(inhibit int32, code wire.Note, rc mqi.RC) {
		t.Helper()
		putter.call(wire.MQSET, 1, other, &wire.Attrs{Selectors: []int32{mqi.MQIA_INHIBIT_GET}, IntCount: 1, Ints: []int32{inhibit}, Values: true})
		told(code, rc)
	}
	set(mqi.MQQA_GET_INHIBITED, wire.NoteGetInhibited, mqi.MQRC_GET_INHIBITED)
	time.Sleep(1200 * time.Millisecond) // it has been tried again
	p.quiet()
	set(mqi.MQQA_GET_ALLOWED, wire.NoteGetAllowed, mqi.MQRC_GET_ENABLED)
	p.request(1, q, wire.ReqCallback, 0, 1, 0, false) // again
	putter.put(1, other, "late", 0)
	putter.put(1, other, "later", 0)
	p.message("late", 1, 1)
	p.quiet()
	p.request(1, q, wire.ReqCallback, 0, 1, 364+4, false)
	p.message("later", 2, 2)
	p.request(1, q, wire.ReqCallback, 0, 1, 364+5, false)

	for i, first := range []bool{true, false} {
		n := int32(3 + 2*i)
		set(mqi.MQQA_GET_INHIBITED, wire.NoteGetInhibited, mqi.MQRC_GET_INHIBITED)
		putter.put(1, other, "waits", 0)
		putter.put(1, other, "as well", 0)
		set(mqi.MQQA_GET_ALLOWED, wire.NoteGetAllowed, mqi.MQRC_GET_ENABLED)
		p.message("waits", n, n)
		if first {
			p.request(1, q, wire.ReqCallback, 0, 1, 0, false) // again, on its way when the message was
			p.quiet()
		}
		p.request(1, q, 0, 0, 1, 364+5, false) // clients leave the flag out here
		p.message("as well", n+1, n+1)
		if !first {
			p.request(1, q, wire.ReqCallback, 0, 1, 0, false)
			p.quiet()
		}
		p.request(1, q, 0, 0, 1, 364+7, false)
	}
	p.stopped(1, 0)
	putter.put(1, other, "stopped", 0)
	p.quiet()
}

// TestStreamedGet is a synchronous get at level 12: the client keeps the time, and asks once more at its end.
func TestStreamedGet(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Instance.Level = 12
	p := start(t, m, nil, nil).client(t)
	p.startConv(3)
	p.connect(3)
	q, other := p.open(1, "Q1"), p.open(3, "Q1")
	const first = wire.ReqSelection | wire.ReqSync | wire.ReqNoWait | wire.ReqCheck
	answer := func(value int32) {
		t.Helper()
		h, _, b := p.want(wire.Notification)
		if n := b.(*wire.Notify); n.Code != wire.NoteQStateReply || n.Value != value || n.Hobj != q || h.Req != 3 {
			t.Errorf("answer %+v, want %d", n, value)
		}
	}
	p.request(1, q, first, 0, 1, 0, true)
	answer(mqi.MQRC_NO_MSG_AVAILABLE)
	p.put(3, other, "a", 0)
	p.put(3, other, "b", 0)
	p.request(1, q, first, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_BROWSE_NEXT, 1, 0, true)
	p.message("a", 1, 1)
	answer(0)
	p.request(1, q, wire.ReqSync, mqi.MQGMO_WAIT, 1, 364+1, false)
	p.message("a", 2, 2)
	p.request(1, q, wire.ReqSync, mqi.MQGMO_WAIT, 1, 364+1, false)
	p.message("b", 3, 3)
	p.request(1, q, wire.ReqSync, mqi.MQGMO_WAIT, 1, 364+1, false)
	p.quiet()
	p.request(1, q, wire.ReqSync|wire.ReqNoWait|wire.ReqCheck, mqi.MQGMO_WAIT, 1, 0, true)
	answer(mqi.MQRC_NO_MSG_AVAILABLE)
	p.put(3, other, "late", 0)
	p.quiet() // given up: the message stays
	if m.Depth("Q1") != 1 {
		t.Error("the message went to a client that had given up")
	}
}

// TestStreamedReasons: how a streamed get learns of anything but a message.
func TestStreamedReasons(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, nil)
	p := s.client(t)
	p.startConv(3)
	conn := p.connect(3)
	q := p.open(3, "Q1")
	reason := func(want int32) *wire.Async {
		t.Helper()
		_, _, b := p.want(wire.AsyncMsg)
		a := b.(*wire.Async)
		if a.Reason != want {
			t.Errorf("reason %d, want %d", a.Reason, want)
		}
		return a
	}
	const check = wire.ReqSync | wire.ReqNoWait | wire.ReqCheck
	// SPI NOTIFY ends the wait, and only the one that waits.
	notify := func() {
		t.Helper()
		p.sendH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1,
			OutLength: 12, Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED, Connection: conn}})
		p.want(wire.SPI.Reply())
	}
	notify()
	p.request(3, q, wire.ReqSelection|wire.ReqSync, mqi.MQGMO_WAIT, 1, 0, false)
	p.quiet()
	p.sendH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1,
		OutLength: 12, Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED, Connection: conn}})
	for seen := 0; seen < 2; seen++ {
		if h, _, b := p.recv(); h.Type == wire.AsyncMsg && b.(*wire.Async).Reason != mqi.MQRC_XWAIT_CANCELED {
			t.Errorf("woken with %+v", b)
		}
	}
	// One that ends a get for want of a message is for an MQGET, which has had its answer: the stream goes on.
	p.request(3, q, wire.ReqSync, mqi.MQGMO_WAIT, 1, 0, false)
	p.sendH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1,
		OutLength: 12, Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_NO_MSG_AVAILABLE, Connection: conn}})
	p.want(wire.SPI.Reply())
	p.quiet()
	putter := s.client(t)
	putter.put(1, putter.open(1, "Q1"), "streamed", 0)
	if a := reason(0); string(a.Data) != "streamed" {
		t.Errorf("%+v", a)
	}
	// A message longer than the buffer comes whole, and stays until it is asked for by its token.
	p.put(3, q, "0123456789", 0)
	h := p.header(wire.RequestMsgs, 3, 3, wire.FlagConfirm)
	r := &wire.Request{Hobj: q, Requested: 1, MaxMsg: 4, Flags: check | wire.ReqSelection, GlobalIndex: p.last,
		Sel: &wire.Selection{Index: 1, MDVersion: 2, CCSID: 819, Encoding: 273}}
	p.sendH(h, wire.API{}, r)
	a := reason(mqi.MQRC_TRUNCATED_MSG_FAILED)
	if string(a.Data) != "0123456789" || a.Total != 10 || m.Depth("Q1") != 1 {
		t.Errorf("truncated: %+v, depth %d", a, m.Depth("Q1"))
	}
	p.want(wire.Notification)
	r.MaxMsg, r.GlobalIndex, r.Sel.Match, r.Sel.MsgToken = 20, p.last, mqi.MQMO_MATCH_MSG_TOKEN, a.Token
	p.sendH(h, wire.API{}, r)
	if a := reason(0); string(a.Data) != "0123456789" || m.Depth("Q1") != 0 {
		t.Errorf("by token: %+v, depth %d", a, m.Depth("Q1"))
	}
	p.want(wire.Notification)
	// GET(DISABLED).
	p.call(wire.MQSET, 3, q, &wire.Attrs{Selectors: []int32{mqi.MQIA_INHIBIT_GET}, IntCount: 1, Ints: []int32{1}, Values: true})
	p.request(3, q, check, 0, 1, 0, true)
	reason(mqi.MQRC_GET_INHIBITED)
	p.want(wire.Notification)
}

// TestReadAhead: messages are sent up to the size of the window, and go on when the client has read.
func TestReadAhead(t *testing.T) {
	m := memory.New("QM1", "Q1")
	p := start(t, m, nil, nil).client(t)
	q := p.open(1, "Q1")
	for i := 0; i < 6; i++ {
		p.put(1, q, fmt.Sprint("m", i), 0)
	}
	const window = 3*366 - 1 // the third message fills it
	p.request(1, q, wire.ReqSelection|wire.ReqSync, mqi.MQGMO_WAIT, window, 0, false)
	for i := int32(0); i < 3; i++ {
		p.message(fmt.Sprint("m", i), i+1, i+1)
	}
	p.quiet()
	p.request(1, q, wire.ReqSync, mqi.MQGMO_WAIT, window, 2*366, false)
	for i := int32(3); i < 5; i++ {
		p.message(fmt.Sprint("m", i), i+1, i+1)
	}
	p.quiet()
	if m.Depth("Q1") != 1 {
		t.Errorf("depth %d", m.Depth("Q1"))
	}
}

// TestReadAheadLarge: who reads ahead is sent all of a message that is longer than its buffer, once, and those behind it; in
// whatever way the client then asks for what it has, nothing comes twice and nothing is lost.
func TestReadAheadLarge(t *testing.T) {
	for name, options := range map[string]int32{"": 0, "accepting a cut": mqi.MQGMO_ACCEPT_TRUNCATED_MSG} {
		m := memory.New("QM1", "Q1")
		p := start(t, m, nil, nil).client(t)
		q := p.open(1, "Q1")
		for i := range 4 {
			p.put(1, q, fmt.Sprint("longer than four", i), 0)
		}
		r := &wire.Request{Hobj: q, Requested: 100_000, MaxMsg: 4, Options: mqi.MQGMO_WAIT | options, Flags: wire.ReqSelection | wire.ReqSync,
			Sel: &wire.Selection{Index: 1, MDVersion: 2, CCSID: 819, Encoding: 273}}
		p.sendH(p.header(wire.RequestMsgs, 1, 1, 0), wire.API{}, r)
		var token mqi.Token
		for i := range int32(4) {
			a := p.message(fmt.Sprint("longer than four", i), i+1, i+1)
			if a.Total != int32(len(a.Data)) || a.Reason != 0 {
				t.Errorf("%s: message %d: %d of %d bytes, reason %d", name, i, len(a.Data), a.Total, a.Reason)
			}
			token = a.Token
		}
		if m.Depth("Q1") != 0 {
			t.Errorf("%s: depth %d", name, m.Depth("Q1"))
		}
		r.Received, r.Sel.Index, r.Sel.Match, r.Sel.MsgToken = 1520, 2, mqi.MQMO_MATCH_MSG_TOKEN, token // of what it has
		p.sendH(p.header(wire.RequestMsgs, 1, 1, 0), wire.API{}, r)
		p.put(1, q, "next", 0)
		p.quiet()
		r.Received, r.Sel.Index, r.Sel.Match = 0, 3, 0
		p.sendH(p.header(wire.RequestMsgs, 1, 1, 0), wire.API{}, r)
		if a := p.message("next", 5, 5); a.Selection != 3 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestLargeStreamed: a message of a stream that is longer than a segment has a fixed part in each.
func TestLargeStreamed(t *testing.T) {
	p := start(t, memory.New("QM1", "Q1"), nil, nil).client(t)
	q := p.open(1, "Q1")
	data := make([]byte, 100_000)
	for i := range data {
		data[i] = byte(i * 7 / 3)
	}
	p.put(1, q, string(data), 0)
	p.request(1, q, wire.ReqSelection|wire.ReqSync, mqi.MQGMO_WAIT, 1, 0, false)
	var got []byte
	for i := uint16(0); len(got) < len(data); i++ {
		h, body, err := wire.ReadSegment(p.nc, wire.DefaultTransmission)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := h.Codec()
		_, b, err := wire.Decode(h.Type, body, c)
		if err != nil {
			t.Fatal(err)
		}
		a := b.(*wire.Async)
		got = append(got, a.Data...)
		last := len(got) == len(data)
		if a.Segment != i || h.Flags&wire.FlagFirst != 0 != (i == 0) || h.Flags&wire.FlagLast != 0 != last {
			t.Errorf("part %d: %+v flags %#x", i, a.Segment, h.Flags)
		}
	}
	if string(got) != string(data) {
		t.Error("the data differs")
	}
}

// TestAsyncPut: puts without an answer are counted, and MQSTAT tells the first that failed.
func TestAsyncPut(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Instance.MaxMsg = 4000
	p := start(t, m, nil, nil).client(t)
	q := p.open(1, "Q1")
	a, b := p.call(wire.SPI, 1, 0, &wire.SPIBody{Verb: wire.SPIReserve, OutVersion: 1, OutLength: 44,
		Part: &wire.SPIReserveIn{TagSize: 24, Reservation: 0xFFFFFF}})
	r := b.(*wire.SPIBody).Part.(*wire.SPIReserveOut)
	if a.CompCode != 0 || r.Offset != 22 || r.Actual != 0xFFFFFF || string(r.Base[:7]) != "AMQ QM1" ||
		[3]byte(r.Base[21:]) != [3]byte{} || [5]byte(r.Base[16:21]) == [5]byte{} {
		t.Errorf("RESERVE: %+v, %+v", a, r)
	}
	for i := 0; i < 40; i++ { // more than the inbox holds
		p.send(wire.MQPUT, 1, q, newPut("x", mqi.MQPMO_ASYNC_RESPONSE))
	}
	p.send(wire.MQPUT, 1, 999, newPut("x", mqi.MQPMO_ASYNC_RESPONSE))
	stat := func() mqi.STS {
		a, b := p.call(wire.MQSTAT, 1, 0, &wire.Stat{STS: mqi.DefaultSTS()})
		if a.CompCode != 0 {
			t.Errorf("MQSTAT: %+v", a)
		}
		return b.(*wire.Stat).STS
	}
	if s := stat(); s.PutSuccessCount != 40 || s.PutFailureCount != 1 || s.CompCode != 2 || s.Reason != mqi.MQRC_HOBJ_ERROR {
		t.Errorf("%+v", s)
	}
	if s := stat(); s.PutSuccessCount != 0 || s.PutFailureCount != 0 || s.Reason != 0 {
		t.Errorf("asked again: %+v", s)
	}
	p.send(wire.MQPUT, 1, q, newPut(strings.Repeat("x", 5000), mqi.MQPMO_ASYNC_RESPONSE)) // refused before it comes to the connection
	if s := stat(); s.PutFailureCount != 1 || s.Reason != mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL {
		t.Errorf("longer than the channel carries: %+v", s)
	}
	if a, _ := p.call(wire.MQSTAT, 1, 0, &wire.Stat{Type: 9, STS: mqi.DefaultSTS()}); a.Reason != mqi.MQRC_STAT_TYPE_ERROR {
		t.Errorf("MQSTAT of type 9: %+v", a)
	}
}

// TestWindowOutlivesNotify: the end of a get that waits ends no window: messages go on without being asked for.
func TestWindowOutlivesNotify(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1", "Q2"), nil, nil)
	p, putter := s.client(t), s.client(t)
	p.startConv(3)
	conn := p.connect(3)
	out := putter.open(1, "Q1")
	q, other := p.open(3, "Q1"), p.open(3, "Q2")
	p.request(3, q, wire.ReqSelection|wire.ReqSync, mqi.MQGMO_WAIT, 100_000, 0, false)
	putter.put(1, out, "first", 0)
	p.message("first", 1, 1)
	p.request(3, other, wire.ReqSelection|wire.ReqSync, mqi.MQGMO_WAIT, 1, 0, false) // it is this one that waits
	p.sendH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1,
		OutLength: 12, Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED, Connection: conn}})
	told := map[int32]bool{}
	for range 3 {
		if h, _, b := p.recv(); h.Type == wire.AsyncMsg {
			a := b.(*wire.Async)
			told[a.Hobj] = a.Reason == mqi.MQRC_XWAIT_CANCELED
		}
	}
	if !told[q] || !told[other] {
		t.Errorf("told: %v", told)
	}
	putter.put(1, out, "second", 0)
	if _, _, b := p.want(wire.AsyncMsg); string(b.(*wire.Async).Data) != "second" {
		t.Errorf("%+v", b)
	}
	putter.put(1, putter.open(1, "Q2"), "nobody asks", 0)
	p.quiet()
}

// What is asked for on handles that are not open is not kept: a client could have any number of them.
func TestRequestsOfNoHandle(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, wrapped{m, func(c fap.Conn) fap.Conn { return watched{c} }}, nil)
	p := s.client(t)
	q := p.open(1, "Q1")
	for i := int32(1); i <= 50; i++ {
		p.request(1, q+3000+i, wire.ReqSelection|wire.ReqCallback, 0, 1, 0, false)
		p.request(1, q+3000+i, wire.ReqSelection|wire.ReqCallback, 0, 1, 0, true)
		if _, _, b := p.want(wire.Notification); b.(*wire.Notify).Value != mqi.MQRC_HOBJ_ERROR {
			t.Fatalf("%+v", b)
		}
		p.request(1, q+i, wire.ReqSelection|wire.ReqSync|wire.ReqNoWait, 0, 1, 0, true)
		if _, _, b := p.want(wire.AsyncMsg); b.(*wire.Async).Reason != mqi.MQRC_HOBJ_ERROR {
			t.Fatalf("%+v", b)
		}
		p.want(wire.Notification)
		p.request(1, q+1000+i, wire.ReqSelection|wire.ReqSync, mqi.MQGMO_WAIT, 1+i%2*1000, 0, false)
		if _, _, b := p.want(wire.AsyncMsg); b.(*wire.Async).Reason != mqi.MQRC_HOBJ_ERROR {
			t.Fatalf("%+v", b)
		}
		if i%2 == 1 { // it reads ahead, and is told that its window is closed
			p.want(wire.Notification)
		}
		p.request(1, q+2000+i, wire.ReqSelection, 0, 1, 0, false)
	}
	p.request(1, q, wire.ReqSelection|wire.ReqCallback, 0, 1, 0, false)
	p.put(1, q, "m", 0)
	eventually(t, "what was asked for on the one handle that is open is all that is kept", func() bool { return s.Streams() == 1 })
}

// watched is a connection that knows which handles there are.
type watched struct{ fap.Conn }

func (watched) Consuming(int32) {}

func (w watched) Consumer(hobj int32, there bool) bool {
	_, _, err := w.Inq(context.Background(), hobj, nil, 0, 0)
	return err == nil
}
