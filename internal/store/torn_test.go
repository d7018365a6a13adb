package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

func tornTx(s Seq, fill byte) *Tx {
	t := &Tx{}
	t.Put(1, s, Rec{Head: []byte("head"), Body: bytes.Repeat([]byte{fill}, 500), Persistent: true})
	return t
}

// Three units of one batch reach the disk without their sync; the second is torn. What follows it must be gone for
// good: new units of the same length come to lie before it, and it must not be taken for their successor.
func TestTornTailIsCutOff(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: dir, FS: vfs.OS(), SegmentSize: minSegmentSize}
	st, err := OpenLog(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Commit(t.Context(), tornTx(1, 'a')); err != nil {
		t.Fatal(err)
	}
	ls := st.(*logStore)
	var at []int64
	u := ls.com.between(func() {
		for i := range 3 {
			at = append(at, ls.w.off)
			if _, err := ls.w.unit(tornTx(Seq(2+i), byte('b'+i))); err != nil {
				t.Error(err)
			}
		}
		if err := ls.w.flush(); err != nil {
			t.Error(err)
		}
	})
	if err := u.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "log", "0000000000000001.seg")
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 100), at[1]+40); err != nil {
		t.Fatal(err)
	}
	f.Close()

	notices := 0
	o.Notice = func(string) { notices++ }
	if st, err = OpenLog(o); err != nil {
		t.Fatal(err)
	}
	if notices != 1 {
		t.Errorf("%d notices of the torn tail, want 1", notices)
	}
	if _, err := st.Commit(t.Context(), tornTx(7, 'n')); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if st, err = OpenLog(o); err != nil {
		t.Fatal(err)
	}
	defer st.Close(Preempt, nil)
	var got []Seq
	if err := st.Live(func(l Live) error { got = append(got, l.S); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 7 {
		t.Fatalf("messages %v, want [1 2 7]", got)
	}
}
