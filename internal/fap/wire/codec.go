package wire

import "encoding/binary"

// Order is the byte order field of a segment.
type Order byte

const (
	Big    Order = 1
	Little Order = 2
)

// Encoding values that go with the two orders.
const (
	EncodingBig    = 273
	EncodingLittle = 546
)

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (o Order) order() byteOrder {
	if o == Little {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// Codec is what rules the fields of one segment: byte order and code page.
type Codec struct {
	Order Order
	Text  Text
}

// Decoder reads one body. Its first error stays, later reads give zero values, so that a structure is read without a
// check per field.
type Decoder struct {
	b   []byte
	off int
	o   byteOrder
	tx  Text
	in  string // the structure being read, for errors
	err error

	kept *kept // of a PutDecoder
	nth  int   // character fields read
}

// NewDecoder reads b by the codec. Byte slices that it returns are parts of b.
func NewDecoder(b []byte, c Codec) *Decoder {
	return &Decoder{b: b, o: c.Order.order(), tx: c.Text}
}

// Err is the first error.
func (d *Decoder) Err() error { return d.err }

func (d *Decoder) fail(w Why) {
	if d.err == nil {
		d.err = &Error{Struct: d.in, Off: d.off, Why: w}
	}
}

func (d *Decoder) rest() int { return len(d.b) - d.off }

func (d *Decoder) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > d.rest() {
		d.fail(Short)
		return nil
	}
	p := d.b[d.off : d.off+n : d.off+n]
	d.off += n
	return p
}

func (d *Decoder) skip(n int) { d.take(n) }

func (d *Decoder) u8() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *Decoder) u16() uint16 {
	if p := d.take(2); p != nil {
		return d.o.Uint16(p)
	}
	return 0
}

func (d *Decoder) i32() int32 {
	if p := d.take(4); p != nil {
		return int32(d.o.Uint32(p))
	}
	return 0
}

func (d *Decoder) i64() int64 {
	if p := d.take(8); p != nil {
		return int64(d.o.Uint64(p))
	}
	return 0
}

func (d *Decoder) str(n int) string {
	p := d.take(n)
	if d.kept == nil || d.nth == len(d.kept) {
		return d.tx.field(p)
	}
	f := &d.kept[d.nth]
	d.nth++
	if string(f.raw) != string(p) || f.raw == nil {
		f.raw = append(f.raw[:0], p...)
		f.text = d.tx.field(p)
	}
	return f.text
}

// id reads an eye-catcher in ASCII or EBCDIC.
func (d *Decoder) id(want string) {
	p := d.take(4)
	if p != nil && string(p) != want && string(toEBCDIC(want)) != string(p) {
		d.off -= 4
		d.fail(BadStrucID)
	}
}

// peek reports whether the next bytes are an eye-catcher.
func (d *Decoder) peek(want string) bool {
	if d.err != nil || d.rest() < 4 {
		return false
	}
	p := string(d.b[d.off : d.off+4])
	return p == want || p == string(toEBCDIC(want))
}

// version reads a version and the size that goes with it; sizes[0] belongs to version 1. A version past the table is taken
// as an error, since its size is unknown.
func (d *Decoder) version(sizes []int) (int32, int) {
	v := d.i32()
	if d.err != nil {
		return 0, 0
	}
	if v < 1 || int(v) > len(sizes) {
		d.off -= 4
		d.fail(BadVersion)
		return 0, 0
	}
	return v, sizes[v-1]
}

// count reads a number of elements of at least size bytes each, and refuses one that the body can't hold.
func (d *Decoder) count(size int) int {
	n := d.i32()
	if d.err == nil && (n < 0 || int(n) > d.rest()/size) {
		d.off -= 4
		d.fail(BadLength)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func toEBCDIC(s string) []byte { return ebcdicText.Append(make([]byte, 0, 4), s) }

var ebcdicText, _ = NewText(37, nil)

// Encoder builds one body.
type Encoder struct {
	b  []byte
	o  byteOrder
	tx Text
}

// NewEncoder appends to dst by the codec.
func NewEncoder(dst []byte, c Codec) *Encoder {
	return &Encoder{b: dst, o: c.Order.order(), tx: c.Text}
}

// Bytes is what was built.
func (e *Encoder) Bytes() []byte { return e.b }

func (e *Encoder) u8(v byte)              { e.b = append(e.b, v) }
func (e *Encoder) u16(v uint16)           { e.b = e.o.AppendUint16(e.b, v) }
func (e *Encoder) i32(v int32)            { e.b = e.o.AppendUint32(e.b, uint32(v)) }
func (e *Encoder) i64(v int64)            { e.b = e.o.AppendUint64(e.b, uint64(v)) }
func (e *Encoder) raw(p []byte)           { e.b = append(e.b, p...) }
func (e *Encoder) str(s string, n int)    { e.b = e.tx.AppendField(e.b, s, n) }
func (e *Encoder) setI32(at int, v int32) { e.o.PutUint32(e.b[at:], uint32(v)) }

func (e *Encoder) zero(n int) {
	for ; n > 0; n-- {
		e.b = append(e.b, 0)
	}
}

func (e *Encoder) id(s string) {
	if e.tx.EBCDIC() {
		e.b = e.tx.Append(e.b, s)
		return
	}
	e.b = append(e.b, s...)
}

// pad fills up to a multiple of 4 counted from base.
func (e *Encoder) pad(base int) {
	for (len(e.b)-base)%4 != 0 {
		e.b = append(e.b, 0)
	}
}

func pad4(n int) int { return (n + 3) &^ 3 }
