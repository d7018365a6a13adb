package mqi

import (
	"testing"
	"unicode/utf8"
)

// Every byte of a page that is a character comes back as that byte; letters and digits of EBCDIC are where code page 37 has them.
func TestPages(t *testing.T) {
	for _, pages := range []map[int32]*page{ebcdicPages, asciiPages} {
		for ccsid, p := range pages {
			want := 0xFF - 0x40
			if p.ascii {
				want = 0x80
			}
			if n := utf8.RuneCountInString(p.text); n != want {
				t.Errorf("%d has %d characters, want %d", ccsid, n, want)
			}
			for i := range 256 {
				r := p.DecodeByte(byte(i))
				if b, ok := p.EncodeRune(r); r != utf8.RuneError && (!ok || int(b) != i) {
					t.Errorf("%d: %X is %q, which is %X", ccsid, i, r, b)
				}
			}
			c, ok := LookupCharset(ccsid, MQENC_INTEGER_NORMAL)
			if !ok || c.ebcdic == p.ascii {
				t.Errorf("%d: found %v, EBCDIC %v", ccsid, ok, c.ebcdic)
			}
			if p.ascii {
				continue
			}
			latin, _ := LookupCharset(37, MQENC_INTEGER_NORMAL)
			const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 abcdefghijklmnopqrstuvwxyz %&'()*+,-./:;<=>?_\n"
			if a, b := c.Append(nil, plain), latin.Append(nil, plain); string(a) != string(b) {
				t.Errorf("%d: % X\nwant % X", ccsid, a, b)
			}
		}
	}
}

func TestNationalPages(t *testing.T) {
	for _, x := range []struct {
		ccsid int32
		text  string
		bytes string
	}{
		{273, "Äß@~é", "\x4A\xA1\xB5\x59\x51"},
		{1141, "Ä€", "\x4A\x9F"},
		{277, "ÆØÅæøå", "\x7B\x7C\x5B\xC0\x6A\xD0"},
		{278, "ÄÖÅ", "\x7B\x7C\x5B"},
		{284, "Ññ", "\x7B\x6A"},
		{1146, "£€", "\x5B\x9F"},
		{297, "éà§", "\xC0\x7C\x5A"},
		{870, "łŁ", "\x9A\xBA"},
		{1025, "Привет", "\xDC\xAA\x8F\xAF\x8B\xAC"},
		{1026, "Ğİğ", "\x5A\x5B\xD0"},
		{857, "ğİ", "\xA7\x98"},
		{737, "Αα", "\x80\x98"},
	} {
		c, ok := LookupCharset(x.ccsid, MQENC_INTEGER_NORMAL)
		if !ok {
			t.Errorf("%d is not there", x.ccsid)
			continue
		}
		if got := c.Append(nil, x.text); string(got) != x.bytes {
			t.Errorf("%d: %s is % X, want % X", x.ccsid, x.text, got, x.bytes)
		}
		if got, ok := c.Decode([]byte(x.bytes)); !ok || got != x.text {
			t.Errorf("%d: % X is %q, %v", x.ccsid, x.bytes, got, ok)
		}
	}
}
