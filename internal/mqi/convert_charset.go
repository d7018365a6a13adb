package mqi

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// DefaultCCSID is the queue manager's coded character set where a message says MQCCSI_Q_MGR.
const DefaultCCSID = 1208

// Charset converts the characters of one coded character set to and from UTF-8. The zero value is none.
type Charset struct {
	ccsid  int32
	cm     bytePage          // one byte a character
	swap   map[byte]byte     // where the set differs from cm: its code point, and cm's of the same character
	wide   binary.ByteOrder  // UTF-16
	multi  encoding.Encoding // one or two bytes a character
	utf8   bool
	ebcdic bool
	iso    bool // 80 to 9F are the control characters of that number, which cm leaves out
}

// ibm500 is where code page 500 (and 1148, which is 500 with the euro sign) differs from 37 (and 1140).
var ibm500 = map[byte]byte{0x4A: 0xBA, 0xBA: 0x5F, 0x5F: 0xB0, 0xB0: 0x4A, 0x4F: 0x5A, 0x5A: 0xBB, 0xBB: 0x4F}

var singleByte = map[int32]*charmap.Charmap{
	37: charmap.CodePage037, 500: charmap.CodePage037, 1047: charmap.CodePage1047, 1140: charmap.CodePage1140,
	1148: charmap.CodePage1140, 437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852,
	855: charmap.CodePage855, 858: charmap.CodePage858, 860: charmap.CodePage860, 862: charmap.CodePage862,
	863: charmap.CodePage863, 865: charmap.CodePage865, 866: charmap.CodePage866,
	878: charmap.KOI8R, 1162: charmap.Windows874, 1168: charmap.KOI8U, 813: charmap.ISO8859_7, 819: charmap.ISO8859_1, 912: charmap.ISO8859_2,
	913: charmap.ISO8859_3, 914: charmap.ISO8859_4, 915: charmap.ISO8859_5, 916: charmap.ISO8859_8, 920: charmap.ISO8859_9,
	921: charmap.ISO8859_13, 923: charmap.ISO8859_15, 1089: charmap.ISO8859_6, 1250: charmap.Windows1250,
	1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253, 1254: charmap.Windows1254,
	1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257, 1258: charmap.Windows1258,
	5346: charmap.Windows1250, 5347: charmap.Windows1251, 5348: charmap.Windows1252, 5349: charmap.Windows1253,
	5350: charmap.Windows1254,
}

// multiByte are the nearest sets that x/text has. The vendor's tables have user-defined characters and a few symbols more
// (wave dash, minus sign); a message with such a character is not converted (2119).
var multiByte = map[int32]encoding.Encoding{
	932: japanese.ShiftJIS, 943: japanese.ShiftJIS, 954: japanese.EUCJP, 5050: japanese.EUCJP, 33722: japanese.EUCJP,
	936: simplifiedchinese.GBK, 1386: simplifiedchinese.GBK, 1392: simplifiedchinese.GB18030,
	5488: simplifiedchinese.GB18030, 949: korean.EUCKR, 970: korean.EUCKR, 1363: korean.EUCKR,
	950: traditionalchinese.Big5, 1370: traditionalchinese.Big5,
}

// LookupCharset finds a coded character set. enc is the encoding of the data beside it, which gives the byte order of
// UTF-16. MQCCSI_Q_MGR (0) is DefaultCCSID here: whoever knows the queue manager's CCSID puts it in place before.
func LookupCharset(ccsid, enc int32) (Charset, bool) {
	if ccsid == MQCCSI_Q_MGR {
		ccsid = DefaultCCSID
	}
	c := Charset{ccsid: ccsid}
	switch ccsid {
	case 1208, 1209:
		c.utf8 = true
		return c, true
	case 367: // seven bits
		c.cm = charmap.ISO8859_1
		return c, true
	case 1200, 13488, 17584:
		c.wide = binary.BigEndian
		if enc&MQENC_INTEGER_MASK == MQENC_INTEGER_REVERSED {
			c.wide = binary.LittleEndian
		}
		return c, true
	case 1201:
		c.wide = binary.BigEndian
		return c, true
	case 1202:
		c.wide = binary.LittleEndian
		return c, true
	}
	if cm := singleByte[ccsid]; cm != nil {
		c.cm = cm
		switch ccsid {
		case 500, 1148:
			c.swap, c.ebcdic = ibm500, true
		case 37, 1047, 1140:
			c.ebcdic = true
		case 813, 912, 913, 914, 915, 916, 920, 921, 923, 1089:
			c.iso = true
		}
		return c, true
	}
	if p := ebcdicPages[ccsid]; p != nil {
		c.cm, c.ebcdic = p, true
		return c, true
	}
	if p := asciiPages[ccsid]; p != nil {
		c.cm = p
		return c, true
	}
	c.multi = multiByte[ccsid]
	return c, c.multi != nil
}

// FitsQueueManager reports whether a queue manager can have the coded character set: one that is known, and in which the ASCII
// characters are what they are in ASCII, as those of names in its structures have to be.
func FitsQueueManager(ccsid int32) bool {
	c, ok := LookupCharset(ccsid, MQENC_NORMAL)
	return ok && ccsid != MQCCSI_Q_MGR && !c.ebcdic && !c.Wide()
}

// Wide reports UTF-16, which the fixed character fields of structures cannot be in.
func (c Charset) Wide() bool { return c.wide != nil }

// Blank is the code point that pads character fields.
func (c Charset) Blank() byte {
	if c.ebcdic {
		return 0x40
	}
	return ' '
}

// sub stands for a character that the set lacks.
func (c Charset) sub() byte {
	if c.ebcdic {
		return 0x3F
	}
	return 0x1A
}

// newline is the EBCDIC code point NL. It becomes a line feed, as the product does unless it is told otherwise.
const newline = 0x15

// Decode gives the text of b. It fails for bytes that are no characters of the set.
func (c Charset) Decode(b []byte) (string, bool) {
	switch {
	case c.utf8:
		return string(b), utf8.Valid(b)
	case c.wide != nil:
		return c.decodeWide(b)
	case c.multi != nil:
		return c.decodeMulti(b)
	case !c.ebcdic && isASCII(b):
		return string(b), true
	case c.cm == nil:
		return "", false
	}
	var s strings.Builder
	s.Grow(len(b))
	ok := true
	for _, x := range b {
		if c.ebcdic && x == newline {
			s.WriteByte('\n')
			continue
		}
		if c.iso && x >= 0x80 && x < 0xA0 {
			s.WriteRune(rune(x))
			continue
		}
		if to, swapped := c.swap[x]; swapped {
			x = to
		}
		r := c.cm.DecodeByte(x)
		if r == utf8.RuneError || c.ccsid == 367 && x > 0x7F {
			ok = false
		}
		s.WriteRune(r)
	}
	return s.String(), ok
}

// byteOrder obeys a byte order mark at the beginning of UTF-16 text, which is stronger than the message's encoding. The mark
// is no character of the text: it goes, unless the text stays UTF-16 (keep).
func (c *Charset) byteOrder(b []byte, keep bool) []byte {
	if c.wide == nil || len(b) < 2 || c.ccsid == 1201 || c.ccsid == 1202 {
		return b
	}
	switch binary.BigEndian.Uint16(b) {
	case 0xFEFF:
		c.wide = binary.BigEndian
	case 0xFFFE:
		c.wide = binary.LittleEndian
	default:
		return b
	}
	if keep {
		return b
	}
	return b[2:]
}

func (c Charset) decodeWide(b []byte) (string, bool) {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = c.wide.Uint16(b[2*i:])
	}
	r := utf16.Decode(u)
	ok := len(b)%2 == 0
	for i, at := 0, 0; i < len(r); i++ {
		if r[i] == utf8.RuneError && u[at] != utf8.RuneError {
			ok = false // half of a pair
		}
		at += max(utf16.RuneLen(r[i]), 1)
	}
	return string(r), ok
}

// maxCharacter is how many bytes a character has at most.
const maxCharacter = 4

// whole leaves out what is there of a last character that has been cut. Text that has no characters of the set anyway stays.
func (c Charset) whole(b []byte) []byte {
	for n := len(b); n >= 0 && n > len(b)-maxCharacter; n-- {
		if _, ok := c.Decode(b[:n]); ok {
			return b[:n]
		}
	}
	return b
}

func (c Charset) decodeMulti(b []byte) (string, bool) {
	if isASCII(b) && strings.IndexByte(string(b), 0x5C) < 0 {
		return string(b), true
	}
	t, err := c.multi.NewDecoder().Bytes(b)
	return string(t), err == nil && !strings.ContainsRune(string(t), utf8.RuneError)
}

// Append converts s and appends it. Characters that the set lacks become its substitute character.
func (c Charset) Append(dst []byte, s string) []byte {
	switch {
	case c.utf8:
		return append(dst, s...)
	case c.wide != nil:
		for _, u := range utf16.Encode([]rune(s)) {
			var two [2]byte
			c.wide.PutUint16(two[:], u)
			dst = append(dst, two[:]...)
		}
		return dst
	case c.multi != nil:
		out, err := encoding.ReplaceUnsupported(c.multi.NewEncoder()).Bytes([]byte(s))
		if err != nil {
			return append(dst, c.sub())
		}
		return append(dst, out...)
	case c.cm == nil:
		return append(dst, s...)
	}
	for _, r := range s {
		if c.iso && r >= 0x80 && r < 0xA0 {
			dst = append(dst, byte(r))
			continue
		}
		x, ok := c.cm.EncodeRune(r)
		if !ok || c.ccsid == 367 && r > 0x7F {
			dst = append(dst, c.sub())
			continue
		}
		dst = append(dst, c.unswap(x))
	}
	return dst
}

func (c Charset) unswap(x byte) byte {
	for from, to := range c.swap {
		if to == x {
			return from
		}
	}
	return x
}

// Field gives the text of a character field: a NUL ends it, as in C, and trailing blanks are padding.
func (c Charset) Field(b []byte) (string, bool) {
	for i, x := range b {
		if x == 0 {
			b = b[:i]
			break
		}
	}
	for len(b) > 0 && b[len(b)-1] == c.Blank() {
		b = b[:len(b)-1]
	}
	return c.Decode(b)
}

// AppendField appends s in a field of n bytes, padded with blanks. It reports whether all of s went in; the end of what
// does not is cut off between two characters.
func (c Charset) AppendField(dst []byte, s string, n int) ([]byte, bool) {
	at := len(dst)
	dst = c.Append(dst, s)
	fits := len(dst)-at <= n
	switch {
	case fits:
	case c.multi != nil || c.wide != nil:
		for r := []rune(s[:min(len(s), n)]); ; r = r[:len(r)-1] { // a character has at least one byte
			if dst = c.Append(dst[:at], string(r)); len(dst)-at <= n {
				break
			}
		}
	default:
		cut := at + n
		for c.utf8 && cut > at && !utf8.RuneStart(dst[cut]) {
			cut--
		}
		dst = dst[:cut]
	}
	for len(dst)-at < n {
		dst = append(dst, c.Blank())
	}
	return dst, fits
}

func isASCII(b []byte) bool {
	for _, x := range b {
		if x >= 0x80 {
			return false
		}
	}
	return true
}
