package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// filled makes a store with n messages of 3 kB in its state file, ended as m says.
func filled(t *testing.T, dir string, n int, m StopMode) {
	t.Helper()
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize, LogSegments: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		tx := &Tx{}
		tx.Put(1, Seq(i+1), Rec{Head: []byte("head"), Body: bytes.Repeat([]byte{byte(i), 0xA7}, 1500), Persistent: true})
		s.Submit(tx)
	}
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(m, nil); err != nil {
		t.Fatal(err)
	}
}

// pagesRead counts the pages that a walk of the state file looks at.
func pagesRead(t *testing.T, dir string, depth pageDepth) (n int) {
	t.Helper()
	nat := vfs.OS().(vfs.Native)
	f, err := nat.OpenNative(statePath(dir), os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	w := &pageWalk{f: f, path: statePath(dir), size: st.Size(), depth: depth, report: func(p Problem) bool {
		t.Error(p)
		return true
	}}
	root, ok := w.metas()
	if !ok {
		t.Fatal("no meta page")
	}
	w.seen = make([]uint64, (w.high+63)/64)
	w.use(0, 2)
	w.tree(root, true, nil, nil, 0)
	for i, bits := range w.seen {
		if w.unread != nil {
			bits &^= w.unread[i]
		}
		for ; bits != 0; bits &= bits - 1 {
			n++
		}
	}
	return n
}

// After a clean end, or a kill behind a checkpoint, a start reads neither heads nor bodies, nor every page for the free list;
// when "clean" is of an older state it reads everything.
func TestStartAfterACleanEndReadsNoBodies(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir, 4000, Immediate)
	nat := vfs.OS().(vfs.Native)
	if !endedCleanly(vfs.OS(), nat, dir) {
		t.Fatal("a clean end is not known as one")
	}
	few, all := pagesRead(t, dir, noMessageLeaves), pagesRead(t, dir, everyPage)
	if all < 3000 || few > all/10 {
		t.Fatalf("%d of %d pages are read", few, all)
	}
	old, err := os.ReadFile(cleanPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	tx := &Tx{}
	tx.Remove(1, 1, true)
	if _, err := s.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if !endedCleanly(vfs.OS(), nat, dir) {
		t.Fatal("a kill behind a checkpoint is not known as one")
	}
	if ps, err := Check(dir, nil); err != nil || len(ps) > 0 {
		t.Fatalf("check: %v, %v", ps, err)
	}
	if err := os.WriteFile(cleanPath(dir), old, 0o600); err != nil {
		t.Fatal(err)
	}
	if endedCleanly(vfs.OS(), nat, dir) {
		t.Fatal("an old state is taken for this one")
	}
	if ps, err := Check(dir, nil); err != nil || len(ps) > 0 {
		t.Fatalf("check: %v, %v", ps, err)
	}
}

// A byte of a body page changed while the manager was down: a start after a clean end does not see it, but the message
// is never served, check reports it, and the others are served.
func TestDamagedBodyAfterACleanEnd(t *testing.T) {
	for _, what := range []string{"byte of the body", "number of cells", "kind of the page"} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			filled(t, dir, 200, Quiesce)
			b, err := os.ReadFile(statePath(dir))
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(b, bytes.Repeat([]byte{77, 0xA7}, 64))
			page := at / os.Getpagesize() * os.Getpagesize()
			switch what {
			case "byte of the body":
				b[at+10] ^= 1
			case "number of cells":
				b[page+10]--
			case "kind of the page":
				b[page+8] ^= 3
			}
			if err := os.WriteFile(statePath(dir), b, 0o600); err != nil {
				t.Fatal(err)
			}
			if ps, err := Check(dir, nil); err != nil || len(ps) == 0 {
				t.Fatalf("check finds %v, %v", ps, err)
			}
			s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(Preempt, nil)
			bad := 0
			for i := range 200 {
				r, err := s.Read(1, Seq(i+1), Loc{})
				switch {
				case errors.Is(err, ErrCorrupt):
					bad++
				case err != nil:
					t.Fatalf("message %d: %v", i+1, err)
				case len(r.Body) != 3000 || r.Body[0] != byte(i):
					t.Fatalf("message %d is served wrong", i+1)
				}
			}
			if bad == 0 || bad > 8 {
				t.Fatalf("%d messages are damaged", bad)
			}
		})
	}
}

// A free list that names a page in use would make bbolt write over it.
func TestDamagedFreeList(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir, 100, Immediate)
	b, err := os.ReadFile(statePath(dir))
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	used := bytes.Index(b, bytes.Repeat([]byte{77, 0xA7}, 64)) / page
	n := 0
	for at := 2 * page; at < len(b); at += page {
		if le.Uint16(b[at+8:]) == flagFreelist {
			n++
			le.PutUint16(b[at+10:], 1)
			le.PutUint64(b[at+16:], uint64(used))
		}
	}
	if n == 0 {
		t.Fatal("a clean end leaves no free list")
	}
	if err := os.WriteFile(statePath(dir), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if endedCleanly(vfs.OS(), vfs.OS().(vfs.Native), dir) {
		t.Fatal("the damage is not seen")
	}
	if ps, err := Check(dir, nil); err != nil || len(ps) == 0 {
		t.Fatalf("check finds %v, %v", ps, err)
	}
}

// emptied removes the first n messages of filled, has a checkpoint and ends.
func emptied(t *testing.T, dir string, n int, m StopMode) {
	t.Helper()
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		tx := &Tx{}
		tx.Remove(1, Seq(i+1), true)
		s.Submit(tx)
	}
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(m, nil); err != nil {
		t.Fatal(err)
	}
}

func stateSize(t *testing.T, dir string) int64 {
	t.Helper()
	st, err := os.Stat(statePath(dir))
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

// A state file that is mostly free gives its room back at the next start.
func TestStateFileShrinks(t *testing.T) {
	defer func(n int64) { compactMin = n }(compactMin)
	compactMin = 64 << 10
	dir := t.TempDir()
	filled(t, dir, 1000, Immediate)
	before := stateSize(t, dir)
	for _, m := range []StopMode{Preempt, Immediate} {
		emptied(t, dir, 990, m)
	}
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(Preempt, nil)
	if after := stateSize(t, dir); after > before/4 {
		t.Fatalf("the file has %d bytes, had %d", after, before)
	}
	for i := 990; i < 1000; i++ {
		if r, err := s.Read(1, Seq(i+1), Loc{}); err != nil || r.Body[0] != byte(i) {
			t.Fatalf("message %d: %v", i+1, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "state.db.new")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a copy is left: %v", err)
	}
}
