package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The first error of a decoder stays; every later read gives nothing, and takes nothing.
func TestFirstErrorStays(t *testing.T) {
	d := NewDecoder([]byte{0, 0, 0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, plainCodec())
	d.in = "X"
	if v, size := d.version([]int{4, 8}); v != 0 || size != 0 {
		t.Errorf("version %d, %d", v, size)
	}
	d.in = "Y"
	v, size := d.version([]int{4, 8})
	if d.take(1) != nil || d.u8() != 0 || d.u16() != 0 || d.i32() != 0 || d.i64() != 0 || d.str(2) != "" || d.count(1) != 0 || v != 0 || size != 0 ||
		d.peek("\x00\x00\x00\x09") || d.off != 0 {
		t.Errorf("read on, to %d", d.off)
	}
	d.fail(Short)
	var e *Error
	if !errors.As(d.Err(), &e) || *e != (Error{Struct: "X", Off: 0, Why: BadVersion}) {
		t.Errorf("the error is %v", d.Err())
	}
	for n := range 8 { // too short for each in turn
		d := NewDecoder(make([]byte, n, 8), plainCodec())
		if d.i64() != 0 || d.Err() == nil {
			t.Errorf("a number of %d bytes: %v", n, d.Err())
		}
	}
	if NewDecoder([]byte("MD "), plainCodec()).peek("MD  ") || !NewDecoder([]byte("MD  "), plainCodec()).peek("MD  ") ||
		!NewDecoder(toEBCDIC("MD  "), plainCodec()).peek("MD  ") {
		t.Error("peek")
	}
}

// A request has just those identifiers that it matches.
func TestRequestSelections(t *testing.T) {
	all := Selection{Index: 1, MDVersion: 2, CCSID: 3, Encoding: 4, SeqNumber: 5, Offset: 6, MsgID: mqi.ID{7}, CorrelID: mqi.ID{8}, GroupID: mqi.ID{9},
		MsgToken: mqi.Token{10}}
	const bits = mqi.MQMO_MATCH_MSG_ID | mqi.MQMO_MATCH_CORREL_ID | mqi.MQMO_MATCH_GROUP_ID | mqi.MQMO_MATCH_MSG_TOKEN
	for match := range int32(bits + 1) {
		if match&^bits != 0 {
			continue
		}
		s, size := all, 44+20
		s.Match = match
		for bit, without := range map[int32]func(){mqi.MQMO_MATCH_MSG_ID: func() { s.MsgID = mqi.ID{} }, mqi.MQMO_MATCH_CORREL_ID: func() { s.CorrelID = mqi.ID{} },
			mqi.MQMO_MATCH_GROUP_ID: func() { s.GroupID = mqi.ID{} }, mqi.MQMO_MATCH_MSG_TOKEN: func() { s.MsgToken = mqi.Token{} }} {
			switch {
			case match&bit == 0:
				without()
			case bit == mqi.MQMO_MATCH_MSG_TOKEN:
				size += 16
			default:
				size += 24
			}
		}
		want := &Request{Hobj: 1, Received: 2, Requested: 3, MaxMsg: 4, Options: 5, Wait: 6, QueueStatus: 7, Flags: ReqSelection, GlobalIndex: 8, Sel: &s}
		b := Encode(nil, RequestMsgs, API{}, want, plainCodec(), 0)
		_, got, err := Decode(RequestMsgs, b, plainCodec())
		if d := cmp.Diff(Body(want), got); err != nil || d != "" || len(b) != size {
			t.Errorf("match %#x: %v, %d bytes, want %d: %s", match, err, len(b), size, d)
		}
	}
}
