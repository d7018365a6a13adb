package wire

import (
	"encoding/binary"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Flags of REQUEST_MSGS.
const (
	ReqCallback  = 0x01 // a message listener
	ReqNoWait    = 0x02 // with ReqCheck: look now and answer
	ReqCheck     = 0x04
	ReqSync      = 0x08 // a waiting call or read ahead
	ReqSelection = 0x10 // the selection block follows; later requests without it reuse the last one
)

// WindowClosed in the status of an ASYNC_MESSAGE: no more messages come without a request.
const WindowClosed = 1

// Request is the body of REQUEST_MSGS.
type Request struct {
	Hobj        int32
	Received    int32 // bytes since the last request
	Requested   int32 // bytes wanted; 1 is one message
	MaxMsg      int32 // -1 no limit
	Options     int32 // MQGMO
	Wait        int32
	QueueStatus int32
	Flags       int32
	GlobalIndex int32 // last message seen
	Sel         *Selection
}

// Selection says which messages are wanted.
type Selection struct {
	Index     uint16
	MDVersion uint16
	CCSID     int32
	Encoding  int32
	SeqNumber int32
	Offset    int32
	Match     int32 // MQMO
	MsgID     mqi.ID
	CorrelID  mqi.ID
	GroupID   mqi.ID
	MsgToken  mqi.Token
}

func (r *Request) decode(d *Decoder) {
	d.in = "REQUEST_MSGS"
	d.version([]int{40})
	r.Hobj, r.Received, r.Requested, r.MaxMsg = d.i32(), d.i32(), d.i32(), d.i32()
	r.Options, r.Wait, r.QueueStatus, r.Flags = d.i32(), d.i32(), d.i32(), d.i32()
	r.GlobalIndex = d.i32()
	if r.Flags&ReqSelection == 0 || d.err != nil {
		return
	}
	s := &Selection{Index: d.u16(), MDVersion: d.u16(), CCSID: d.i32(), Encoding: d.i32()}
	s.SeqNumber, s.Offset, s.Match = d.i32(), d.i32(), d.i32()
	if s.Match&mqi.MQMO_MATCH_MSG_ID != 0 {
		copy(s.MsgID[:], d.take(24))
	}
	if s.Match&mqi.MQMO_MATCH_CORREL_ID != 0 {
		copy(s.CorrelID[:], d.take(24))
	}
	if s.Match&mqi.MQMO_MATCH_GROUP_ID != 0 {
		copy(s.GroupID[:], d.take(24))
	}
	if s.Match&mqi.MQMO_MATCH_MSG_TOKEN != 0 {
		copy(s.MsgToken[:], d.take(16))
	}
	r.Sel = s
}

func (r *Request) encode(e *Encoder) {
	e.i32(1)
	for _, v := range [...]int32{r.Hobj, r.Received, r.Requested, r.MaxMsg, r.Options, r.Wait, r.QueueStatus, r.Flags,
		r.GlobalIndex} {
		e.i32(v)
	}
	s := r.Sel
	if s == nil {
		return
	}
	e.u16(s.Index)
	e.u16(s.MDVersion)
	for _, v := range [...]int32{s.CCSID, s.Encoding, s.SeqNumber, s.Offset, s.Match} {
		e.i32(v)
	}
	if s.Match&mqi.MQMO_MATCH_MSG_ID != 0 {
		e.raw(s.MsgID[:])
	}
	if s.Match&mqi.MQMO_MATCH_CORREL_ID != 0 {
		e.raw(s.CorrelID[:])
	}
	if s.Match&mqi.MQMO_MATCH_GROUP_ID != 0 {
		e.raw(s.GroupID[:])
	}
	if s.Match&mqi.MQMO_MATCH_MSG_TOKEN != 0 {
		e.raw(s.MsgToken[:])
	}
}

// Async is the body of ASYNC_MESSAGE. A later part (Segment above 0) has only the fields up to Selection, and Data.
type Async struct {
	Hobj        int32
	Index       int32 // counts per handle
	GlobalIndex int32 // counts per conversation
	Segment     uint16
	Selection   uint16

	Reason   int32
	Total    int32
	Actual   int32
	Token    mqi.Token
	Status   uint16
	Resolved string
	MD       mqi.MD // version 2 always

	Data []byte
}

const sizeAsyncFixed = 24

func (a *Async) decode(d *Decoder) {
	d.in = "ASYNC_MESSAGE"
	d.version([]int{sizeAsyncFixed})
	a.Hobj, a.Index, a.GlobalIndex = d.i32(), d.i32(), d.i32()
	n := d.i32()
	a.Segment, a.Selection = d.u16(), d.u16()
	if a.Segment == 0 {
		a.Reason, a.Total, a.Actual = d.i32(), d.i32(), d.i32()
		copy(a.Token[:], d.take(16))
		a.Status = d.u16()
		name := int(d.u8())
		a.Resolved = d.tx.Decode(d.take(name))
		d.skip(pad4(3+name) - (3 + name))
		a.MD = d.md()
		d.in = "ASYNC_MESSAGE"
	}
	if d.err == nil && (n < 0 || int(n) > d.rest()) {
		d.fail(BadLength)
	}
	a.Data = d.take(int(n))
}

func (a *Async) encode(e *Encoder) {
	e.i32(1)
	e.i32(a.Hobj)
	e.i32(a.Index)
	e.i32(a.GlobalIndex)
	e.i32(int32(len(a.Data)))
	e.u16(a.Segment)
	e.u16(a.Selection)
	if a.Segment == 0 {
		e.i32(a.Reason)
		e.i32(a.Total)
		e.i32(a.Actual)
		e.raw(a.Token[:])
		e.u16(a.Status)
		at := len(e.b) - 2 // status, length and name fill up to a multiple of 4 together
		e.u8(0)
		n := len(e.b)
		e.b = e.tx.Append(e.b, a.Resolved)
		e.b = e.b[:min(len(e.b), n+255)]
		e.b[n-1] = byte(len(e.b) - n)
		e.pad(at)
		e.mdAs(&a.MD, 2)
	}
	e.raw(a.Data)
}

// lengthAt is where the length of the data stands in an ASYNC_MESSAGE.
const lengthAt = 16

// AppendAsync appends a message in as many ASYNC_MESSAGE segments of at most max bytes as it needs: each has its own fixed part,
// which is unlike the split of any other message.
func AppendAsync(dst []byte, h Header, a *Async, c Codec, max int) []byte {
	whole := a.Data
	defer func() { a.Data, a.Segment = whole, 0 }()
	data := whole
	a.Data, a.Segment = nil, 0
	for first := true; first || len(data) > 0; first = false {
		at := len(dst)
		h.Flags = 0
		if first {
			h.Flags |= FlagFirst
		}
		dst = h.Append(dst, 0)
		head := len(dst)
		e := Encoder{b: dst, o: c.Order.order(), tx: c.Text}
		a.encode(&e)
		dst = e.b
		n := min(max-(len(dst)-at), len(data))
		c.Order.order().PutUint32(dst[head+lengthAt:], uint32(n))
		if n == len(data) {
			dst[at+h.flagsAt()] |= FlagLast
		}
		dst = h.fill(append(dst, data[:n]...), at, max)
		binary.BigEndian.PutUint32(dst[at+4:], uint32(len(dst)-at))
		data = data[n:]
		a.Segment++
	}
	return dst
}
