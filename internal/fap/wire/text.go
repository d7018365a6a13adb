package wire

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Text converts the character fields of a segment. Names and identifiers are UTF-8 inside the queue manager.
type Text struct {
	CCSID uint16
	cm    *charmap.Charmap // nil: bytes are UTF-8
	wide  binary.ByteOrder // not nil: UTF-16
	swap  map[byte]byte    // where the code page differs from cm (500 from 37)
}

// ibm500 is where code page 500 differs from 37: its code point, and 37's of the same character.
var ibm500 = map[byte]byte{0x4A: 0xBA, 0xBA: 0x5F, 0x5F: 0xB0, 0xB0: 0x4A, 0x4F: 0x5A, 0x5A: 0xBB, 0xBB: 0x4F}

var pages = map[uint16]*charmap.Charmap{
	37: charmap.CodePage037, 437: charmap.CodePage437, 500: charmap.CodePage037, 819: charmap.ISO8859_1,
	850: charmap.CodePage850, 858: charmap.CodePage858, 912: charmap.ISO8859_2, 923: charmap.ISO8859_15,
	1047: charmap.CodePage1047, 1140: charmap.CodePage1140, 1250: charmap.Windows1250, 1252: charmap.Windows1252,
	5348: charmap.Windows1252,
}

// NewText returns the converter of a CCSID and whether it is known. wide is the byte order of the segment, which UTF-16
// follows.
func NewText(ccsid uint16, wide binary.ByteOrder) (Text, bool) {
	switch ccsid {
	case 1208, 367:
		return Text{CCSID: ccsid}, true
	case 1200, 13488, 17584:
		return Text{CCSID: ccsid, wide: wide}, true
	}
	cm, ok := pages[ccsid]
	t := Text{CCSID: ccsid, cm: cm}
	if ccsid == 500 {
		t.swap = ibm500
	}
	return t, ok
}

// EBCDIC reports whether letters have EBCDIC code points.
func (t Text) EBCDIC() bool {
	switch t.CCSID {
	case 37, 500, 1047, 1140:
		return true
	}
	return false
}

// single reports whether a blank is a byte, and that of ASCII.
func (t Text) single() bool { return t.wide == nil && !t.EBCDIC() }

// Blank is the code point of a blank.
func (t Text) Blank() byte {
	if t.EBCDIC() {
		return 0x40
	}
	return ' '
}

// Decode converts all of b.
func (t Text) Decode(b []byte) string {
	switch {
	case t.wide != nil:
		u := make([]uint16, len(b)/2)
		for i := range u {
			u[i] = t.wide.Uint16(b[2*i:])
		}
		return string(utf16.Decode(u))
	case t.cm == nil:
		return string(b)
	case ascii(b) && !t.EBCDIC():
		return string(b)
	}
	var s strings.Builder
	for _, c := range b {
		if to, ok := t.swap[c]; ok {
			c = to
		}
		s.WriteRune(t.cm.DecodeByte(c))
	}
	return s.String()
}

// Append converts s; a character that the code page lacks becomes a question mark.
func (t Text) Append(dst []byte, s string) []byte {
	if t.wide != nil {
		for _, u := range utf16.Encode([]rune(s)) {
			var two [2]byte
			t.wide.PutUint16(two[:], u)
			dst = append(dst, two[:]...)
		}
		return dst
	}
	if t.cm == nil || ascii(s) && !t.EBCDIC() {
		return append(dst, s...)
	}
	for _, r := range s {
		c, ok := t.cm.EncodeRune(r)
		if !ok {
			c, _ = t.cm.EncodeRune('?')
		}
		dst = append(dst, t.unswap(c))
	}
	return dst
}

func (t Text) unswap(c byte) byte {
	for from, to := range t.swap {
		if to == c {
			return from
		}
	}
	return c
}

// field reads a fixed field: a NUL ends it, as in the C structures, and trailing blanks are padding.
func (t Text) field(b []byte) string {
	for i, c := range b {
		if c == 0 {
			b = b[:i]
			break
		}
	}
	blank := t.Blank()
	for len(b) > 0 && b[len(b)-1] == blank {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return ""
	}
	return t.Decode(b)
}

// AppendField writes s blank padded in n bytes, cut between characters when it is too long.
func (t Text) AppendField(dst []byte, s string, n int) []byte {
	at := len(dst)
	dst = t.Append(dst, s)
	if len(dst)-at > n {
		cut := at + n
		if t.cm == nil && t.wide == nil {
			for cut > at && !utf8.RuneStart(dst[cut]) {
				cut--
			}
		}
		dst = dst[:cut]
	}
	if t.EBCDIC() {
		for len(dst)-at < n {
			dst = append(dst, t.Blank())
		}
		return dst
	}
	for len(dst)-at < n {
		dst = append(dst, blanks[:min(n-(len(dst)-at), len(blanks))]...)
	}
	return dst
}

// blanks are the padding of a field.
const blanks = "                                                                "

func ascii[T string | []byte](b T) bool {
	for i := range len(b) {
		if b[i] >= 0x80 {
			return false
		}
	}
	return true
}
