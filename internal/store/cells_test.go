package store

import (
	"strings"
	"testing"
)

type testCell struct {
	flag uint32
	key  string
	val  string
}

// leafPage has its cells one behind the other.
func leafPage(flags uint16, cells ...testCell) []byte {
	b := make([]byte, 512)
	le.PutUint16(b[8:], flags)
	le.PutUint16(b[10:], uint16(len(cells)))
	at := pageHeaderLen + len(cells)*cellLen
	for i, c := range cells {
		e := b[pageHeaderLen+i*cellLen:]
		le.PutUint32(e, c.flag)
		le.PutUint32(e[4:], uint32(at-pageHeaderLen-i*cellLen))
		le.PutUint32(e[8:], uint32(len(c.key)))
		le.PutUint32(e[12:], uint32(len(c.val)))
		at += copy(b[at:], c.key)
		at += copy(b[at:], c.val)
	}
	return b
}

// What each rule of a page's cells says, on a page that breaks it alone.
func TestCellsOfAPage(t *testing.T) {
	shifted := leafPage(flagLeaf, testCell{0, "b", "v"}, testCell{0, "c", "v"})
	shifted[pageHeaderLen+cellLen+4]++
	longer := leafPage(flagLeaf, testCell{0, "b", "v"})
	le.PutUint32(longer[pageHeaderLen+12:], 600)
	many := leafPage(flagLeaf)
	le.PutUint16(many[10:], 40)
	for _, tt := range []struct {
		what, says string
		b          []byte
	}{
		{"right", "", leafPage(flagLeaf, testCell{0, "b", "v"}, testCell{0, "c", "w"})},
		{"another kind", "page kind", leafPage(3, testCell{0, "b", "v"})},
		{"no cells", "leaf page without cells", leafPage(flagLeaf)},
		{"no children", "branch page without children", leafPage(flagBranch)},
		{"more cells than fit", "40 cells do not fit", many},
		{"a gap", "cell 1 lies at", shifted},
		{"beyond the page", "cell 0 runs out of the page", longer},
		{"before the first key", "cell 0: key 61 is out of order", leafPage(flagLeaf, testCell{0, "a", "v"})},
		{"behind the last key", "cell 1: key 64 is out of order", leafPage(flagLeaf, testCell{0, "b", "v"}, testCell{0, "d", "v"})},
		{"falling", "cell 1: key 62 is out of order", leafPage(flagLeaf, testCell{0, "c", "v"}, testCell{0, "b", "v"})},
		{"twice", "cell 1: key 62 is out of order", leafPage(flagLeaf, testCell{0, "b", "v"}, testCell{0, "b", "v"})},
		{"a bucket in a bucket", "is of the wrong kind", leafPage(flagLeaf, testCell{1, "b", "v"})},
		{"an unknown flag", "is of the wrong kind", leafPage(flagLeaf, testCell{2, "b", "v"})},
	} {
		var said []string
		w := &pageWalk{report: func(p Problem) bool { said = append(said, p.What); return true }}
		w.cells(&pageData{w: w, size: int64(len(tt.b)), buf: tt.b}, false, []byte("b"), []byte("d"), 0)
		if tt.says == "" && len(said) > 0 || tt.says != "" && (len(said) != 1 || !strings.Contains(said[0], tt.says)) {
			t.Errorf("%s: %q, want %q", tt.what, said, tt.says)
		}
	}
}
