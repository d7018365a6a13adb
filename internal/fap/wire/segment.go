package wire

import (
	"encoding/binary"
	"io"
)

// Magic is the kind of a segment header.
type Magic byte

const (
	TSH  Magic = iota // before sharing is agreed, and always without sharing
	TSHM              // conversation traffic on a shared socket
	TSHC              // socket traffic on a shared socket
)

var magics = [...]string{"TSH ", "TSHM", "TSHC"}

// Header sizes.
const (
	sizeTSH  = 28
	sizeTSHM = 36
)

// DefaultTransmission is the usual maximum size of a segment with its header.
const DefaultTransmission = 32748

// MinTransmission is the smallest that we agree to: every fixed part of a call fits in its first segment.
const MinTransmission = 2048

// Header is the transmission segment header. The length, the conversation and the request are big-endian always.
type Header struct {
	Magic     Magic
	EBCDIC    bool // eye-catcher in EBCDIC: a z/OS peer
	Conv, Req uint32
	Order     Order
	Type      Type
	Flags     byte
	Flags2    byte
	LUWID     [8]byte
	Encoding  int32
	CCSID     uint16
}

// Size is the number of bytes of the header.
func (h *Header) Size() int {
	if h.Magic == TSHM {
		return sizeTSHM
	}
	return sizeTSH
}

// flagsAt is where the control flags stand.
func (h *Header) flagsAt() int { return h.Size() - 18 }

// Codec returns what rules the segment's body; ok is false for an unknown CCSID, and for UTF-16: structures have fields that are padded
// with single bytes.
func (h *Header) Codec() (Codec, bool) {
	t, ok := NewText(h.CCSID, h.Order.order())
	return Codec{Order: h.Order, Text: t}, ok && t.wide == nil
}

// Append writes the header of a segment whose body has n bytes.
func (h *Header) Append(dst []byte, n int) []byte {
	if h.EBCDIC {
		dst = append(dst, toEBCDIC(magics[h.Magic])...)
	} else {
		dst = append(dst, magics[h.Magic]...)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.Size()+n))
	if h.Magic == TSHM {
		dst = binary.BigEndian.AppendUint32(dst, h.Conv)
		dst = binary.BigEndian.AppendUint32(dst, h.Req)
	}
	o := h.Order.order()
	dst = append(dst, byte(h.Order), byte(h.Type), h.Flags, h.Flags2)
	dst = append(dst, h.LUWID[:]...)
	dst = o.AppendUint32(dst, uint32(h.Encoding))
	dst = o.AppendUint16(dst, h.CCSID)
	return append(dst, 0, 0)
}

// ReadSegment reads one segment of at most max bytes, for tests: the server and package mq read many into one buffer (CutSegment). The
// body is fresh memory. io.EOF means that the peer closed between two segments.
func ReadSegment(r io.Reader, max int) (Header, []byte, error) {
	b := make([]byte, 8) // as far as the length
	if _, err := io.ReadFull(r, b); err != nil {
		return Header{}, nil, err
	}
	h, _, size, _, err := CutSegment(b, max)
	if err != nil {
		return h, nil, err
	}
	b = append(b, make([]byte, size-len(b))...)
	if _, err := io.ReadFull(r, b[8:]); err == io.EOF {
		return h, nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return h, nil, err
	}
	h, body, _, _, err := CutSegment(b, max)
	return h, body, err
}

func (h *Header) magic(p []byte) error {
	for i, m := range magics {
		if string(p) == m {
			h.Magic = Magic(i)
			return nil
		}
		if string(p) == string(toEBCDIC(m)) {
			h.Magic, h.EBCDIC = Magic(i), true
			return nil
		}
	}
	return &Error{Struct: "TSH", Why: BadStrucID}
}

func (h *Header) fields(p []byte) error {
	if h.Magic == TSHM {
		h.Conv, h.Req = binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])
		p = p[8:]
	}
	h.Order = Order(p[0])
	if h.Order != Big && h.Order != Little {
		return &Error{Struct: "TSH", Off: h.Size() - len(p), Why: BadValue}
	}
	o := h.Order.order()
	h.Type, h.Flags, h.Flags2 = Type(p[1]), p[2], p[3]
	copy(h.LUWID[:], p[4:])
	h.Encoding = int32(o.Uint32(p[12:]))
	h.CCSID = o.Uint16(p[16:])
	return nil
}

// WriteMessage writes a body as one or more segments of at most max bytes, for tests.
func WriteMessage(w io.Writer, h Header, body []byte, max int) error {
	_, err := w.Write(appendParts(nil, h, body, max))
	return err
}

// AppendMessage encodes a message to dst, in as many segments of at most max bytes as it needs. The length in its API header is
// that of the message with one header, as replies have it.
func AppendMessage(dst []byte, h Header, a API, b Body, c Codec, max int) []byte {
	at, size := len(dst), h.Size()
	h.Flags |= FlagWhole
	dst = h.Append(dst, 0)
	dst = h.fill(Encode(dst, h.Type, a, b, c, size), at, max)
	n := len(dst) - at - size
	if size+n <= max {
		binary.BigEndian.PutUint32(dst[at+4:], uint32(size+n))
		return dst
	}
	body := append([]byte(nil), dst[at+size:]...)
	return appendParts(dst[:at], h, body, max)
}

// fill makes a segment of a shared socket, which begins at at, a whole number of words, where there is room: the Java client
// reads several segments into one buffer, and looks for the words of a structure where they would be if all of them began at
// a word. On a socket of its own each answer comes alone, and the client takes all of the last segment for data.
func (h *Header) fill(dst []byte, at, max int) []byte {
	if h.Magic != TSHM || pad4(len(dst)-at) > max {
		return dst
	}
	for (len(dst)-at)%4 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// appendParts splits a body.
func appendParts(dst []byte, h Header, body []byte, max int) []byte {
	room, flags := max-h.Size(), h.Flags&^FlagWhole
	for first := true; first || len(body) > 0; first = false {
		part := body[:min(room, len(body))]
		body = body[len(part):]
		h.Flags = flags
		if first {
			h.Flags |= FlagFirst
		}
		if len(body) == 0 {
			h.Flags |= FlagLast
		}
		at := len(dst)
		dst = h.fill(append(h.Append(dst, len(part)), part...), at, max)
		binary.BigEndian.PutUint32(dst[at+4:], uint32(len(dst)-at))
	}
	return dst
}
