package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
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

// logCutToNothing makes a store whose log has lost its three messages.
func logCutToNothing(t *testing.T, o Options) {
	t.Helper()
	st, err := OpenLog(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := st.Commit(t.Context(), tornTx(Seq(1+i), 'a')); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(o.Dir, "log", "0000000000000001.seg"), segHeaderLen); err != nil {
		t.Fatal(err)
	}
}

// The same when the log has lost all it had: the word that nothing was durable has to be written too.
func TestLogCutToNothing(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, JoinDelay: -1}
	logCutToNothing(t, o)
	if _, err := OpenLog(o); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("open: %v", err)
	}
	o.AcceptLoss = true
	for range 2 {
		st, err := OpenLog(o)
		if err != nil {
			t.Fatalf("accepting the loss %v: %v", o.AcceptLoss, err)
		}
		o.AcceptLoss = false
		if err := st.Close(Preempt, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A store whose word cannot be taken back does not open: the loss would be reported again by the next start.
func TestAcceptedLossIsWritten(t *testing.T) {
	efs := errfs.New(vfs.OS())
	o := Options{Dir: t.TempDir(), FS: efs, SegmentSize: minSegmentSize, JoinDelay: -1}
	logCutToNothing(t, o)
	broken := errors.New("nothing is written")
	efs.Set(&errfs.Rule{Kind: errfs.Write, N: 1, Err: broken, Match: func(n string) bool { return filepath.Base(n) == "durable" }})
	o.AcceptLoss = true
	if _, err := OpenLog(o); !errors.Is(err, broken) {
		t.Fatalf("open: %v", err)
	}
	st, err := OpenLog(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
}
