package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A header of each kind is read as it was written, in ASCII and EBCDIC, from a stream and where it lies.
func TestHeaders(t *testing.T) {
	for _, ebcdic := range []bool{false, true} {
		for _, o := range []Order{Big, Little} {
			for i, word := range []string{"TSH ", "TSHM", "TSHC"} {
				h := Header{Magic: Magic(i), EBCDIC: ebcdic, Order: o, Type: MQCMIT, Flags: FlagWhole, Flags2: 5,
					LUWID: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, Encoding: EncodingLittle, CCSID: 850}
				if h.Magic == TSHM {
					h.Conv, h.Req = 0x01020304, 0x05060708
				}
				b := append(h.Append(nil, 3), "abc"...)
				if ebcdic {
					word = string(toEBCDIC(word))
				}
				if string(b[:4]) != word || len(b) != h.Size()+3 || b[h.flagsAt()] != FlagWhole {
					t.Errorf("%+v is written %x", h, b)
				}
				got, body, err := ReadSegment(bytes.NewReader(b), len(b))
				if err != nil || got != h || string(body) != "abc" {
					t.Errorf("read %+v, %q, %v; want %+v", got, body, err, h)
				}
				got, body, size, whole, err := CutSegment(append(b, "next"...), len(b))
				if err != nil || got != h || string(body) != "abc" || size != len(b) || !whole {
					t.Errorf("cut %+v, %q, %d, %v, %v; want %+v", got, body, size, whole, err, h)
				}
				// An order that does not exist, and where that stands.
				b[h.flagsAt()-2] = 3
				var bad *Error
				if _, _, err := ReadSegment(bytes.NewReader(b), len(b)); !errors.As(err, &bad) || bad.Off != h.flagsAt()-2 || bad.Why != BadValue {
					t.Errorf("%s: a wrong order is %v", word, err)
				}
			}
		}
	}
}

// The length of a segment is that of its header at least, and what was agreed at most; so much is never asked for ahead. An end between
// two segments is io.EOF, one inside another error.
func TestSegmentLengths(t *testing.T) {
	h := Header{Magic: TSHM, Order: Big, Type: MQCMIT}
	whole := append(h.Append(nil, 20), make([]byte, 20)...)
	for _, tt := range []struct {
		length uint32
		max    int
		ok     bool
	}{{36, 56, true}, {35, 56, false}, {56, 56, true}, {57, 56, false}, {56, 55, false}, {28, 56, false}, {0, 56, false}, {1<<32 - 1, 56, false}} {
		b := bytes.Clone(whole)
		binary.BigEndian.PutUint32(b[4:], tt.length)
		_, body, err := ReadSegment(bytes.NewReader(b), tt.max)
		_, cut, size, there, cerr := CutSegment(b, tt.max)
		if tt.ok && (err != nil || len(body) != int(tt.length)-36 || cerr != nil || !there || len(cut) != len(body)) {
			t.Errorf("%d of at most %d bytes: %v, %v, %v", tt.length, tt.max, err, there, cerr)
		}
		if !tt.ok && (size != 0 || cut != nil) {
			t.Errorf("%d of at most %d bytes: length %d is said", tt.length, tt.max, size)
		}
		for _, err := range []error{err, cerr} {
			var bad *Error
			if !tt.ok && (!errors.As(err, &bad) || *bad != Error{Struct: "TSH", Off: 4, Why: BadLength}) {
				t.Errorf("%d of at most %d bytes: %v", tt.length, tt.max, err)
			}
		}
	}
	for n := range whole {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, _, err := ReadSegment(bytes.NewReader(whole[:n]), 56); err != want {
			t.Errorf("%d bytes of a segment: %v", n, err)
		}
		size := 0
		if n >= 8 { // its length has come
			size = 56
		}
		if _, _, got, there, err := CutSegment(whole[:n], 56); there || err != nil || got != size {
			t.Errorf("%d bytes of a segment are cut: length %d, %v, %v", n, got, there, err)
		}
	}
	long := bytes.Repeat([]byte("0123456789"), 3000)
	b := append(h.Append(nil, len(long)), long...)
	if _, body, err := ReadSegment(bytes.NewReader(b), len(b)); err != nil || !bytes.Equal(body, long) {
		t.Errorf("a long one: %d bytes, %v", len(body), err)
	}
}

// A message of a stream goes out in as many parts as it needs: the first has its descriptor, each says how much of the data is its, and
// together they are the data.
func TestAsyncParts(t *testing.T) {
	for _, m := range []Magic{TSH, TSHM} {
		for _, size := range []int{0, 1, 1000, 1500, 5000} {
			h := Header{Magic: m, Order: Little, Type: AsyncMsg, Encoding: EncodingLittle, CCSID: 1208}
			c, _ := h.Codec()
			a := Async{Hobj: 1, Index: 2, GlobalIndex: 3, Selection: 4, Reason: 5, Total: int32(size), Actual: int32(size), Status: 6,
				Token: mqi.Token{7}, Resolved: "Q1", MD: mqi.DefaultMD(), Data: bytes.Repeat([]byte("x"), size)}
			a.MD.Version = 2
			const max = 2048
			before := a
			b := AppendAsync([]byte("before"), h, &a, c, max)[6:]
			if len(a.Data) != size {
				t.Errorf("%d bytes: the message keeps %d", size, len(a.Data))
			}
			var data []byte
			for n := 0; len(b) > 0; n++ {
				got, body, cut, whole, err := CutSegment(b, max)
				if err != nil || !whole {
					t.Fatalf("%d bytes, part %d: %v", size, n, err)
				}
				b = b[cut:]
				if first, last := got.Flags&FlagFirst != 0, got.Flags&FlagLast != 0; first != (n == 0) || last != (len(b) == 0) || got.Type != AsyncMsg {
					t.Errorf("%d bytes, part %d: type %v, flags %#x", size, n, got.Type, got.Flags)
				}
				_, p, err := Decode(AsyncMsg, body, c)
				if err != nil {
					t.Fatalf("%d bytes, part %d: %v", size, n, err)
				}
				part := p.(*Async)
				v, err := ViewAsync(body)
				if err != nil || !bytes.Equal(v.Data, part.Data) || int(part.Segment) != n || v.Segment != part.Segment {
					t.Errorf("%d bytes, part %d: segment %d, view %+v, %v", size, n, part.Segment, v, err)
				}
				if n == 0 {
					want := before
					want.Data, want.Segment = part.Data, 0
					if d := cmp.Diff(want, *part); d != "" {
						t.Errorf("%d bytes: %s", size, d)
					}
				}
				data = append(data, part.Data...)
			}
			if !bytes.Equal(data, a.Data) {
				t.Errorf("%d bytes: %d in all parts", size, len(data))
			}
		}
	}
}
