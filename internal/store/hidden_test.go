package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// A changed byte of the state file must not hide records: of a small bucket that lies inside another page, by a name of a bucket or a
// key that nobody asks for. The start refuses it, whether the state file is known to be as it was left or not.
func TestHiddenRecords(t *testing.T) {
	for _, mode := range []store.StopMode{store.Immediate, store.Preempt} {
		base := filepath.Join(scratch(t), "base")
		s := openLog(t, base)
		var tx store.Tx
		tx.Set(store.TableMeta, []byte("a-key"), []byte("v"))
		tx.Set(store.TableObjects, []byte("another"), []byte("v"))
		tx.Set(store.TableChannels, []byte("long-one"), make([]byte, 3000)) // its bucket has a page of its own
		for q := range 2 {
			for n := range 2 {
				tx.Put(store.QID(q+5), store.Seq(n+1), store.Rec{Head: []byte("head"), Body: []byte("body"), Persistent: true})
			}
		}
		if _, err := s.Commit(context.Background(), &tx); err != nil {
			t.Fatal(err)
		}
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(mode, func(store.QID) bool { return false }); err != nil {
			t.Fatal(err)
		}
		inline := strings.Repeat("\x00", 24) + "\x02\x00\x02\x00"
		for _, c := range []struct{ what, is, becomes string }{
			{"no cells in a page", "", ""},
			{"no cells in a bucket inside another page", inline, inline[:26] + "\x00\x00"},
			{"the name of a bucket of heads", "h\x00\x00\x00\x05", "j\x00\x00\x00\x05"},
			{"the queue of a bucket of heads", "h\x00\x00\x00\x06", "h\x00\x00\x00\x07"},
			{"the number of a table", "t\x02", "t\x00"},
			{"the name of the log's bucket", "log", "lof"},
			{"the name of where the log begins", "replay", "repla{"},
			{"the mark of a table key", "ka-key", "ia-key"},
			{"a table key", "ka-key", "ka-kez"},
		} {
			dir := base + "-copy"
			copyDir(t, base, dir)
			name := filepath.Join(dir, "state.db")
			b, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(b, []byte(c.is)) {
				t.Fatalf("%v: %s: %v, or it is not there", mode, c.what, err)
			}
			if c.is == "" {
				noCells(t, b, "klong-one")
			} else {
				b = bytes.ReplaceAll(b, []byte(c.is), []byte(c.becomes))
			}
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			ps, err := store.Check(dir, vfs.OS())
			if err != nil || len(ps) == 0 {
				t.Errorf("%v: %s: check finds %v, %v", mode, c.what, ps, err)
			}
			s, err := store.Open(store.Options{Dir: dir})
			if err == nil {
				err = s.Live(func(store.Live) error { return nil })
				_ = s.Close(store.Preempt, nil)
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%v: %s: the start says %v", mode, c.what, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// noCells sets the count of cells of the page with a key to 0.
func noCells(t *testing.T, b []byte, key string) {
	t.Helper()
	page := os.Getpagesize()
	for at := 2 * page; at < len(b); at += page {
		end := min(at+page, len(b))
		if b[at+8] == 2 && b[at+10] == 1 && bytes.Contains(b[at:end], []byte(key)) {
			b[at+10] = 0
			return
		}
	}
	t.Fatalf("no page with %s", key)
}

// A table's root that leads to one of its leaves instead leaves pages to which nothing leads. So a start finds it, though it has not
// looked at the leaves with bodies, some of which go on on pages behind them.
func TestHiddenSubtree(t *testing.T) {
	for _, mode := range []store.StopMode{store.Immediate, store.Preempt} {
		dir := filepath.Join(scratch(t), "x")
		s := openLog(t, dir)
		var tx store.Tx
		for i := range 400 {
			tx.Set(store.TableObjects, fmt.Appendf(nil, "object %d", i), make([]byte, 100))
			tx.Put(7, store.Seq(i+1), store.Rec{Head: []byte("head"), Body: make([]byte, 100+i%20*1000), Persistent: true})
		}
		if _, err := s.Commit(context.Background(), &tx); err != nil {
			t.Fatal(err)
		}
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(mode, func(store.QID) bool { return false }); err != nil {
			t.Fatal(err)
		}
		if s, err := store.Open(store.Options{Dir: dir}); err != nil {
			t.Fatalf("%v: %v", mode, err)
		} else if err := s.Close(mode, func(store.QID) bool { return false }); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "state.db")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for at := 0; ; {
			i := bytes.Index(b[at:], []byte("t\x02"))
			if i < 0 {
				break
			}
			at += i + 2
			root := b[at : at+8]
			page := int(binary.LittleEndian.Uint64(root)) * os.Getpagesize()
			if page <= 0 || page+64 > len(b) || b[page+8] != 1 { // not a branch
				continue
			}
			copy(root, b[page+16+16+8:page+16+16+16]) // its second child
			changed++
		}
		if changed == 0 {
			t.Fatalf("%v: no root of a table", mode)
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err = store.Open(store.Options{Dir: dir})
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%v: the start says %v", mode, err)
		}
		if err == nil {
			_ = s.Close(store.Preempt, nil)
		}
	}
}
