package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log that ends before what was acknowledged is reported, though nothing behind its end says so. When the loss is accepted
// the next start finds nothing wrong any more.
func TestLogCutBelowWhatWasSynced(t *testing.T) {
	for _, whole := range []bool{true, false} {
		dir := t.TempDir()
		o := Options{Dir: dir, SegmentSize: minSegmentSize, JoinDelay: -1}
		st, err := OpenLog(o)
		if err != nil {
			t.Fatal(err)
		}
		ls := st.(*logStore)
		var at []int64
		for i := range 3 {
			at = append(at, ls.w.off)
			if _, err := st.Commit(t.Context(), tornTx(Seq(1+i), 'a')); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Close(Preempt, nil); err != nil {
			t.Fatal(err)
		}
		cut := at[2]
		if !whole {
			cut += 100
		}
		name := filepath.Join(dir, "log", "0000000000000001.seg")
		if err := os.Truncate(name, cut); err != nil {
			t.Fatal(err)
		}
		if ps, err := Check(dir, nil); err != nil || len(ps) != 1 || ps[0].File != name {
			t.Errorf("check: %v, %v", ps, err)
		}
		if _, err = OpenLog(o); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "durable") {
			t.Fatalf("open: %v", err)
		}
		o.AcceptLoss = true
		for range 2 {
			if st, err = OpenLog(o); err != nil {
				t.Fatal(err)
			}
			o.AcceptLoss = false
			n := 0
			if err := st.Live(func(Live) error { n++; return nil }); err != nil || n != 2 {
				t.Fatalf("%d messages, %v", n, err)
			}
			if err := st.Close(Preempt, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}
