package wire

import (
	"strings"
	"testing"
)

// A string of variable length lies behind its structure and within its message, and is no longer than any; it is in the code page that
// it names, or in that of the segment.
func TestStringAreas(t *testing.T) {
	const base, size = 8, 20
	body := append(make([]byte, base+size), strings.Repeat("s", maxCharV+8)...)
	tail := len(body) - base
	for _, tt := range []struct {
		what string
		v    charv
		want int // bytes; -1: refused
	}{
		{"none", charv{0, 0, 0}, 0}, {"none, wherever", charv{-5, 0, 0}, 0},
		{"the first byte", charv{size, 1, 0}, 1}, {"inside the structure", charv{size - 1, 1, 0}, -1}, {"before it", charv{-1, 1, 0}, -1},
		{"the last byte", charv{int32(tail) - 1, 1, 0}, 1}, {"behind it", charv{int32(tail), 1, 0}, -1},
		{"beyond the message", charv{int32(tail) - 1, 2, 0}, -1}, {"far beyond", charv{1<<31 - 1, 1, 0}, -1},
		{"the longest", charv{size, maxCharV, 0}, maxCharV}, {"longer than any", charv{size, maxCharV + 1, 0}, -1},
		{"negative", charv{size, -1, 0}, -1}, {"the most negative", charv{size, -1 << 31, 0}, -1},
	} {
		d := NewDecoder(body, Codec{Order: Big, Text: Text{CCSID: ccsidUTF}})
		a := stringArea{d: d, base: base, size: size}
		if got := a.read(tt.v); (d.err != nil) != (tt.want < 0) || len(got) != max(tt.want, 0) {
			t.Errorf("%s: %d bytes, %v", tt.what, len(got), d.err)
		}
	}
	for _, tt := range []struct {
		what, bytes string
		ccsid       int32
		want        string
	}{
		{"the segment's", "\xe9", 0, "é"}, {"the segment's by default", "\xe9", -3, "é"}, {"of its own", "é", 1208, "é"},
		{"an unknown one", "\xe9", 7777, "é"}, {"one beyond all", "\xe9a", 1<<16 + 1200, "éa"}, {"the highest", "\xe9", 1<<16 - 1, "é"},
		{"UTF-16", "\x00a\x01\x00", 1200, "aĀ"}, {"a C string", "ab\x00\x00", 1208, "ab"}, {"only its end", "\x00", 1208, ""},
		{"a NUL inside", "a\x00b", 1208, "a\x00b"},
	} {
		latin, _ := NewText(819, Big.order())
		d := NewDecoder([]byte("....head"+tt.bytes), Codec{Order: Big, Text: latin})
		a := stringArea{d: d, base: 4, size: 4}
		if got := a.read(charv{4, int32(len(tt.bytes)), tt.ccsid}); got != tt.want || d.err != nil {
			t.Errorf("%s: %q, %v", tt.what, got, d.err)
		}
	}
}

// What follows a structure's strings begins at the word behind the farthest; without strings, or with one that is refused, where the
// structure ends.
func TestBehindStrings(t *testing.T) {
	for _, tt := range []struct {
		what string
		vs   []charv
		want int
	}{
		{"none", nil, 12}, {"one", []charv{{8, 1, 0}}, 4 + 12}, {"a whole word", []charv{{8, 4, 0}}, 4 + 12},
		{"the farther first", []charv{{16, 2, 0}, {8, 3, 0}}, 4 + 20}, {"up to the end of the message", []charv{{28, 3, 0}}, 4 + 31},
		{"refused", []charv{{8, 3, 0}, {80, 3, 0}}, 12},
	} {
		d := NewDecoder(make([]byte, 4+31), Codec{Order: Big, Text: Text{CCSID: ccsidUTF}})
		d.off = 12
		a := stringArea{d: d, base: 4, size: 8}
		for _, v := range tt.vs {
			a.read(v)
		}
		if a.close(); d.off != tt.want {
			t.Errorf("%s: at %d, want %d", tt.what, d.off, tt.want)
		}
	}
}
