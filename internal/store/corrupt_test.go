package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/store/storetest"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// fillStore makes a store with some of everything and returns its model. With the log store, a part is in the
// state file and a part in the log.
func fillStore(t testing.TB, k kind, dir string) *storetest.History {
	t.Helper()
	s, err := k.open(vfs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	h := storetest.NewHistory(11)
	for i := range 60 {
		u := h.Next()
		if _, err := s.Commit(context.Background(), u.Tx()); err != nil {
			t.Fatal(err)
		}
		h.Apply(u)
		if i == 30 {
			if err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What follows a frame vouches for it; the last one has only this.
	tx := &store.Tx{}
	tx.Set(store.TableFlows, []byte("last"), nil)
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	h.Restart(store.Preempt)
	return h
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// A changed byte is reported, or it lay where nothing is stored. It is never served, and nothing panics.
func TestChangedByteIsReported(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			base := filepath.Join(scratch(t), "base")
			h := fillStore(t, k, base)
			var files []string
			err := filepath.Walk(base, func(p string, st os.FileInfo, err error) error {
				if err == nil && !st.IsDir() && st.Size() > 0 && !strings.HasSuffix(p, "reserve") {
					files = append(files, strings.TrimPrefix(p, base))
				}
				return err
			})
			if err != nil || len(files) < 2 {
				t.Fatalf("%v, %v", files, err)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			reported := 0
			const tries = 400
			for i := range tries {
				if changeAndLook(t, k, h, base, files[i%len(files)], rnd) {
					reported++
				}
			}
			t.Logf("%d of %d changes were reported, the others did not matter; files %v", reported, tries, files)
			if reported < tries/10 {
				t.Errorf("only %d of %d changes were reported", reported, tries)
			}
		})
	}
}

// changeAndLook changes one byte of a copy and reports whether the store or the checker noticed.
func changeAndLook(t *testing.T, k kind, h *storetest.History, base, file string, rnd *rand.Rand) bool {
	t.Helper()
	dir := base + "-copy"
	copyDir(t, base, dir)
	defer os.RemoveAll(dir)
	name := dir + file
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := rnd.IntN(len(b))
	if n := bytes.LastIndexFunc(b, func(r rune) bool { return r != 0 }) + 1; rnd.IntN(4) > 0 && n > 0 {
		at = rnd.IntN(n) // not in the reserved room, mostly
	}
	b[at] ^= byte(1 + rnd.IntN(255))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	what := fmt.Sprintf("%s, offset %d", file, at)
	ps, err := store.Check(dir, nil)
	if err != nil && !strings.Contains(err.Error(), "format") {
		t.Fatalf("%s: check: %v", what, err)
	}
	checked := len(ps) > 0 || err != nil
	s, err := k.open(vfs.OS(), dir)
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) && !strings.Contains(err.Error(), "format") {
			t.Fatalf("%s: open: %v", what, err)
		}
		if !checked {
			t.Fatalf("%s: open says %v, check finds nothing", what, err)
		}
		return true
	}
	defer s.Close(store.Preempt, nil)
	if err := h.Compare(s); err != nil {
		if !errors.Is(err, store.ErrCorrupt) {
			t.Fatalf("%s (check: %v): a wrong answer: %v", what, ps, err)
		}
		if !checked {
			t.Fatalf("%s: a read says %v, check finds nothing", what, err)
		}
		return true
	}
	return checked
}

// Corruption in the middle of the log names segment and offset; AcceptLoss goes on without what follows.
func TestCorruptLog(t *testing.T) {
	dir := t.TempDir()
	s := openLog(t, dir)
	for i := range 5 {
		commit(t, s, fmt.Sprintf("key %d", i))
	}
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "log", "0000000000000001.seg")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("key 2"))
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(store.Options{Dir: dir})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "offset") {
		t.Fatalf("open: %v", err)
	}
	ps, err := store.Check(dir, nil)
	if err != nil || len(ps) != 1 || ps[0].File != name {
		t.Fatalf("check: %v, %v", ps, err)
	}
	said := ""
	s, err = store.Open(store.Options{Dir: dir, AcceptLoss: true, Notice: func(text string) { said += text }})
	if err != nil {
		t.Fatalf("accept loss: %v", err)
	}
	if !regexp.MustCompile(`everything that was written after it: ([1-9][0-9]* frames or more, )?up to [1-9][0-9]* bytes of the log`).MatchString(said) {
		t.Errorf("accepting the loss says %q", said)
	}
	for i, want := range []error{nil, nil, store.ErrNotFound, store.ErrNotFound} {
		if _, err := s.Get(store.TableMeta, []byte(fmt.Sprintf("key %d", i))); !errors.Is(err, want) {
			t.Errorf("key %d: %v, want %v", i, err, want)
		}
	}
	commit(t, s, "key 9")
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	s = openLog(t, dir)
	defer s.Close(store.Preempt, nil)
	if _, err := s.Get(store.TableMeta, []byte("key 9")); err != nil {
		t.Fatal(err)
	}
}

// A checkpoint says where the log begins. Without that segment the store does not start, unless loss is accepted.
func TestLostSegment(t *testing.T) {
	dir := t.TempDir()
	s := openLog(t, dir)
	commit(t, s, "old")
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	commit(t, s, "new")
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "log", "0000000000000001.seg")); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(store.Options{Dir: dir}); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("open: %v", err)
	}
	for range 2 {
		var err error
		if s, err = store.Open(store.Options{Dir: dir, AcceptLoss: true}); err != nil {
			t.Fatalf("accept loss: %v", err)
		}
		if _, err := s.Get(store.TableMeta, []byte("old")); err != nil {
			t.Fatal(err)
		}
		commit(t, s, "newer")
		if err := s.Close(store.Preempt, nil); err != nil {
			t.Fatal(err)
		}
	}
	s = openLog(t, dir)
	defer s.Close(store.Preempt, nil)
	if _, err := s.Get(store.TableMeta, []byte("newer")); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, s store.Store, key string) {
	t.Helper()
	tx := &store.Tx{}
	tx.Set(store.TableMeta, []byte(key), []byte("value"))
	if _, err := s.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
}

func TestFormat(t *testing.T) {
	dir := t.TempDir()
	s := openBolt(t, dir)
	commit(t, s, "k")
	if _, err := store.Open(store.Options{Dir: dir}); !errors.Is(err, vfs.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("second opener: %v", err)
	}
	if _, err := store.Check(dir, nil); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("check of a running store: %v", err)
	}
	if err := s.Close(store.Immediate, nil); err != nil {
		t.Fatal(err)
	}
	s = openLog(t, dir) // takes the older layout over
	if _, err := s.Get(store.TableMeta, []byte("k")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(store.Immediate, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenBolt(store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Fatalf("the older program on the newer layout: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "meta", "format"), []byte("qmgrd-store 99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Fatalf("a newer format: %v", err)
	}
	if _, err := store.Check(filepath.Join(dir, "nowhere"), nil); err == nil {
		t.Fatal("check of nothing")
	}
}

// A damaged file of kept messages is said, and what is whole in it comes back; a missing one is said, too.
func TestCorruptKeptFile(t *testing.T) {
	for what, spoil := range map[string]func(t *testing.T, name string){
		"checksum": func(t *testing.T, name string) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b[bytes.Index(b, []byte("body 2"))] ^= 4
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"missing": func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		s := openLog(t, dir)
		tx := &store.Tx{}
		for n := store.Seq(1); n <= 3; n++ {
			tx.Put(1, n, store.Rec{Head: []byte("h"), Body: fmt.Appendf(nil, "body %d", n)})
		}
		if _, err := s.Commit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(store.Quiesce, func(store.QID) bool { return true }); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "kept")
		spoil(t, name)
		if ps, err := store.Check(dir, nil); err != nil || len(ps) != 1 || ps[0].File != name {
			t.Fatalf("%s: check: %v, %v", what, ps, err)
		}
		for start := range 2 {
			var said []string
			s, err := store.Open(store.Options{Dir: dir, Notice: func(text string) { said = append(said, text) }})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for n := store.Seq(1); n <= 3; n++ {
				_, err := s.Read(1, n, store.Loc{})
				lost := what == "missing" || n == 2 || start > 0
				if lost != errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s, start %d: message %d: %v", what, start, n, err)
				}
			}
			if len(said) != 1-start || start == 0 && !strings.Contains(said[0], name) {
				t.Errorf("%s, start %d: said %q", what, start, said)
			}
			if err := s.Close(store.Preempt, nil); err != nil {
				t.Fatal(err)
			}
			if ps, err := store.Check(dir, nil); err != nil || len(ps) != 0 {
				t.Errorf("%s, after start %d: check: %v, %v", what, start, ps, err)
			}
		}
	}
}

// What a start refuses a check reports: a big file that is longer than the log says, and a file in place of a directory.
func TestCheckSaysWhatStartRefuses(t *testing.T) {
	for what, spoil := range map[string]func(dir string) error{
		"longer": func(dir string) error {
			names, err := filepath.Glob(filepath.Join(dir, "big", "*"))
			if err != nil || len(names) != 1 {
				return fmt.Errorf("%v, %w", names, err)
			}
			return os.Truncate(names[0], 1<<20)
		},
		"no directory": func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "big")), os.WriteFile(filepath.Join(dir, "big"), nil, 0o600))
		},
	} {
		dir := t.TempDir()
		s, err := store.Open(store.Options{Dir: dir, SegmentSize: 64 << 10, CheckpointBytes: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		if err := putOne(s, 1, 100<<10); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(store.Preempt, nil); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if ps, err := store.Check(dir, nil); err != nil || len(ps) != 1 || !strings.Contains(ps[0].File, "big") {
			t.Errorf("%s: check: %v, %v", what, ps, err)
		}
		if s, err := store.Open(store.Options{Dir: dir, SegmentSize: 64 << 10, CheckpointBytes: 1 << 40}); err == nil {
			s.Close(store.Preempt, nil)
			t.Errorf("%s: the start took it", what)
		}
	}
}

// A damaged header of a meta page is a fault in plain words; a start gets over it, and says so.
func TestCorruptMetaHeader(t *testing.T) {
	dir := t.TempDir()
	s := openLog(t, dir)
	commit(t, s, "key")
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "state.db")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[8] ^= 0x30
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ps, err := store.Check(dir, nil)
	if err != nil || len(ps) != 1 || ps[0].File != name || !strings.Contains(ps[0].What, "header of meta page 0") {
		t.Fatalf("check: %v, %v", ps, err)
	}
	said := ""
	s, err = store.Open(store.Options{Dir: dir, Notice: func(text string) { said += text }})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "header of meta page 0") {
		t.Errorf("the start says %q", said)
	}
	if err := s.Close(store.Preempt, nil); err != nil {
		t.Fatal(err)
	}
}
