package store_test

import (
	"bytes"
	"context"
	"errors"
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
			if err := os.WriteFile(name, bytes.ReplaceAll(b, []byte(c.is), []byte(c.becomes)), 0o600); err != nil {
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
