package wire

import (
	"encoding/binary"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// What stands here reads segments where they lie, for a client whose messages come by the thousand. It serves one form: little
// endian, code page 1208, which is what such a client proposes and servers then write. Others go through Decode.

// Plain reports whether the views can read what h rules.
func (h *Header) Plain() bool { return h.Order == Little && h.CCSID == ccsidUTF && !h.EBCDIC }

// CutSegment finds the first segment of b, of at most max bytes. size is its length with the header once that is known, else
// 0; body is a part of b, and whole is false as long as not all of it is there.
func CutSegment(b []byte, max int) (h Header, body []byte, size int, whole bool, err error) {
	if len(b) < 8 {
		return h, nil, 0, false, nil
	}
	switch string(b[:4]) { // the usual ones, without the table
	case magics[TSHM]:
		h.Magic = TSHM
	case magics[TSH]:
		h.Magic = TSH
	default:
		if err := h.magic(b[:4]); err != nil {
			return h, nil, 0, false, err
		}
	}
	n := binary.BigEndian.Uint32(b[4:])
	if n < uint32(h.Size()) || n > uint32(max) {
		return h, nil, 0, false, &Error{Struct: "TSH", Off: 4, Why: BadLength}
	}
	size = int(n)
	if len(b) < size {
		return h, nil, size, false, nil
	}
	if err := h.fields(b[8:h.Size()]); err != nil {
		return h, nil, size, false, err
	}
	return h, b[h.Size():size:size], size, true, nil
}

// MDView is a message descriptor in a segment. It is at least as long as its version says.
type MDView []byte

func (m MDView) i32(at int) int32 { return int32(binary.LittleEndian.Uint32(m[at:])) }

func (m MDView) id(at int) (id mqi.ID) { copy(id[:], m[at:]); return id }

// Report and the others are the fields of their names; the character fields are as they stand, padded with blanks.
func (m MDView) Report() int32      { return m.i32(8) }
func (m MDView) MsgType() int32     { return m.i32(12) }
func (m MDView) Expiry() int32      { return m.i32(16) }
func (m MDView) Feedback() int32    { return m.i32(20) }
func (m MDView) Encoding() int32    { return m.i32(24) }
func (m MDView) CCSID() int32       { return m.i32(28) }
func (m MDView) Format() []byte     { return m[32:40] }
func (m MDView) Priority() int32    { return m.i32(40) }
func (m MDView) Persistence() int32 { return m.i32(44) }
func (m MDView) MsgID() mqi.ID      { return m.id(48) }
func (m MDView) CorrelID() mqi.ID   { return m.id(72) }
func (m MDView) Backouts() int32    { return m.i32(96) }
func (m MDView) ReplyToQ() []byte   { return m[100:148] }
func (m MDView) ReplyQMgr() []byte  { return m[148:196] }
func (m MDView) User() []byte       { return m[196:208] }
func (m MDView) ApplType() int32    { return m.i32(272) }
func (m MDView) Appl() []byte       { return m[276:304] }
func (m MDView) PutStamp() []byte   { return m[304:320] } // date and time, eight digits each

// Accounting, ApplIdentity and ApplOrigin are the rest of the context.
func (m MDView) Accounting() (a mqi.Account) { copy(a[:], m[208:240]); return a }
func (m MDView) ApplIdentity() []byte        { return m[240:272] }
func (m MDView) ApplOrigin() []byte          { return m[320:324] }

// OriginalLength is -1 in a version 1 descriptor, as Default has it.
func (m MDView) OriginalLength() int32 {
	if !m.second() {
		return -1
	}
	return m.i32(360)
}

func (m MDView) second() bool { return m.i32(4) >= 2 }

// GroupID and the others of version 2 have their defaults in version 1.
func (m MDView) GroupID() (id mqi.ID) {
	if m.second() {
		id = m.id(324)
	}
	return id
}

func (m MDView) Seq() int32 {
	if m.second() {
		return m.i32(348)
	}
	return 1
}

func (m MDView) Offset() int32 {
	if m.second() {
		return m.i32(352)
	}
	return 0
}

func (m MDView) Flags() int32 {
	if m.second() {
		return m.i32(356)
	}
	return 0
}

// view takes a structure of a known version whole.
func (d *Decoder) view(name, id string, sizes []int) []byte {
	at := d.off
	v := d.begin(name, id, sizes)
	if d.err != nil {
		return nil
	}
	d.off = at
	return d.take(sizes[v-1])
}

func viewer(b []byte) Decoder {
	return Decoder{b: b, o: binary.LittleEndian, tx: Text{CCSID: ccsidUTF}}
}

// AsyncView is an ASYNC_MESSAGE, of which a later part has no MD.
type AsyncView struct {
	Hobj, GlobalIndex, Reason int32
	Segment, Status           uint16
	Token                     mqi.Token
	Resolved                  []byte
	MD                        MDView
	Data                      []byte
}

// ViewAsync reads the body of an ASYNC_MESSAGE.
func ViewAsync(b []byte) (a AsyncView, err error) {
	d := viewer(b)
	d.in = "ASYNC_MESSAGE"
	d.version([]int{sizeAsyncFixed})
	a.Hobj = d.i32()
	d.skip(4)
	a.GlobalIndex = d.i32()
	n := int(d.i32())
	a.Segment = d.u16()
	d.skip(2)
	if a.Segment == 0 {
		a.Reason = d.i32()
		d.skip(8)
		copy(a.Token[:], d.take(16))
		a.Status = d.u16()
		name := int(d.u8())
		a.Resolved = d.take(name)
		d.skip(pad4(3+name) - (3 + name))
		a.MD = d.view("MD", "MD  ", sizesMD)
		d.in = "ASYNC_MESSAGE"
	}
	a.Data = d.take(n)
	return a, d.err
}

// ViewPutReply reads the descriptor of the answer to an MQPUT.
func ViewPutReply(b []byte) (API, MDView, error) {
	d := viewer(b)
	a := d.api()
	md := MDView(d.view("MD", "MD  ", sizesMD))
	return a, md, d.err
}

// GetView is the answer to an MQGET.
type GetView struct {
	MD       MDView
	Token    mqi.Token
	Resolved []byte // name of the queue, padded
	Returned int32  // ReturnedLength, -1 when it is not told
	Data     []byte
}

// ViewGetReply reads the answer to an MQGET. One that failed may have no more than the header.
func ViewGetReply(b []byte) (a API, g GetView, err error) {
	d := viewer(b)
	a = d.api()
	if d.rest() == 0 {
		return a, g, d.err
	}
	g.MD = d.view("MD", "MD  ", sizesMD)
	gmo := d.view("GMO", "GMO ", sizesGMO)
	d.in = "MQGET"
	n := int(d.i32())
	if d.err == nil && n < 0 {
		d.fail(BadLength)
	}
	g.Data = d.take(min(d.rest(), n))
	if d.err != nil {
		return a, GetView{}, d.err
	}
	g.Resolved = gmo[24:72]
	g.Returned = mqi.MQRL_UNDEFINED
	if len(gmo) >= sizesGMO[2] {
		copy(g.Token[:], gmo[80:96])
		g.Returned = int32(binary.LittleEndian.Uint32(gmo[96:]))
	}
	return a, g, nil
}

// AppendPut writes an MQPUT with its segment header, when it fits into one segment of max bytes. It does what Append and
// Encode do, without a Body that is made for it.
func AppendPut(dst []byte, h Header, hobj int32, p *Put, c Codec, max int) ([]byte, bool) {
	const fixed = sizeTSHM + 16 + 364 + 176 + 4
	if fixed+len(p.Data) > max {
		return dst, false
	}
	at := len(dst)
	h.Type, h.Flags = MQPUT, FlagWhole
	dst = h.Append(dst, 0)
	e := Encoder{b: dst, o: c.Order.order(), tx: c.Text}
	api := len(e.b)
	e.zero(12)
	e.i32(hobj)
	p.encode(&e)
	n := uint32(len(e.b) - at)
	binary.BigEndian.PutUint32(e.b[at+4:], n)
	binary.BigEndian.PutUint32(e.b[api:], n)
	return e.b, true
}
