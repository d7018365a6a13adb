package store

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// listPage is a page of a free list, number 5 of a file.
func listPage(count uint16, words ...uint64) []byte {
	b := make([]byte, 6*4096)
	p := b[5*4096:]
	le.PutUint64(p, 5)
	le.PutUint16(p[8:], flagFreelist)
	le.PutUint16(p[10:], count)
	for i, w := range words {
		le.PutUint64(p[pageHeaderLen+8*i:], w)
	}
	return b
}

// A free list is read as bbolt writes it, also the long form, whose count is the first word; what does not fit is none.
func TestFreeIDs(t *testing.T) {
	longer := listPage(1, 7)
	le.PutUint32(longer[5*4096+12:], maxFreelist/4096) // pages that follow
	for _, tt := range []struct {
		what string
		b    []byte
		want []uint64
		bad  bool
	}{
		{what: "none", b: listPage(0)},
		{what: "two", b: listPage(2, 7, 9), want: []uint64{7, 9}},
		{what: "the long form", b: listPage(0xFFFF, 3, 7, 9, 11), want: []uint64{7, 9, 11}},
		{what: "as many as fit", b: listPage((4096 - pageHeaderLen) / 8), want: make([]uint64, (4096-pageHeaderLen)/8)},
		{what: "one more", b: listPage((4096-pageHeaderLen)/8 + 1), bad: true},
		{what: "far more", b: listPage(0xFFFF, 1<<62), bad: true},
		{what: "a list longer than any", b: longer, bad: true},
	} {
		got, err := freeIDs(bytes.NewReader(tt.b), 5*4096, 4096)
		if (err != nil) != tt.bad || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %d pages, %v", tt.what, len(got), err)
		}
	}
	if _, err := freelistPage(bytes.NewReader(longer), 5*4096, 4096); err == nil || !strings.Contains(err.Error(), "not one") {
		t.Errorf("a list longer than any: %v", err) // before memory for it is asked for
	}
}

// A free list names pages that are there and free, rising, and not its own.
func TestFreeListOfAWalk(t *testing.T) {
	for _, tt := range []struct {
		what, says string
		ids        []uint64
	}{
		{"right", "", []uint64{3, 4, 6, 7}},
		{"a page in use", "page 2 is in use", []uint64{2, 3, 4, 6, 7}},
		{"out of order", "page 3 is out of order", []uint64{4, 3, 6, 7}},
		{"twice", "page 3 is out of order", []uint64{3, 3, 4, 6, 7}},
		{"behind the end", "page 8 is out of order or does not exist", []uint64{3, 4, 6, 7, 8}},
		{"one is missing", "page 6 is neither in use nor free", []uint64{3, 4, 7}},
	} {
		name := t.TempDir() + "/f"
		if err := os.WriteFile(name, append(listPage(uint16(len(tt.ids)), tt.ids...), make([]byte, 2*4096)...), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		w := &pageWalk{f: f, path: name, size: 8 * 4096, page: 4096, high: 8, free: 5, seen: make([]uint64, 1),
			report: func(p Problem) bool { said = append(said, p.What); return true }}
		w.use(0, 3)
		w.freelist()
		f.Close()
		if tt.says == "" && len(said) > 0 || tt.says != "" && (len(said) == 0 || !strings.Contains(said[0], tt.says)) {
			t.Errorf("%s: %q, want %q", tt.what, said, tt.says)
		}
		w = &pageWalk{f: f, path: name, page: 4096, high: 8, free: 8, seen: make([]uint64, 1), report: w.report}
		if said = nil; tt.says == "" {
			if w.freelist(); len(said) != 1 {
				t.Errorf("a free list behind the end: %q", said)
			}
		}
	}
}

// Short lists are written down with every commit, longer ones with the last of a checkpoint, the longest at the end alone.
func TestListFree(t *testing.T) {
	for _, tt := range []struct {
		list  uint8
		last  bool
		pages int
		want  bool
	}{
		{listNever, true, 0, false}, {listAlways, false, 1 << 40 >> 10, true},
		{listSmall, false, smallList, true}, {listSmall, false, smallList + 1, false},
		{listSmall, true, smallList + 1, true}, {listSmall, true, largeList, true}, {listSmall, true, largeList + 1, false},
	} {
		if got := listFree(tt.list, tt.last, tt.pages); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// A state file of which more than a quarter is in use is not copied at a start.
func TestStateFileOfWhichHalfIsFree(t *testing.T) {
	defer func(n int64) { compactMin = n }(compactMin)
	compactMin = 64 << 10
	dir := t.TempDir()
	filled(t, dir, 400, Immediate)
	emptied(t, dir, 200, Immediate)
	before := stateSize(t, dir)
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	if after := stateSize(t, dir); after != before {
		t.Errorf("%d bytes, %d before", after, before)
	}
	if err := s.Close(Immediate, nil); err != nil {
		t.Fatal(err)
	}
	// Without the format file a check says so, and nothing else.
	if err := os.Remove(formatPath(dir)); err != nil {
		t.Fatal(err)
	}
	ps, err := Check(dir, vfs.OS())
	if err != nil || len(ps) != 1 || ps[0].File != formatPath(dir) || ps[0].What != "missing" {
		t.Errorf("check without the format file: %v, %v", ps, err)
	}
}
