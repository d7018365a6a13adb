package mqsc

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/leaks"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// recorder is an executor that says yes; names with FAIL in them fail.
type recorder struct {
	got      []string
	held     int // replies not fetched
	maxHeld  int
	rowsFor  func(*attr.Command) []attr.Row
	violated string
}

type recorded struct {
	r *recorder
	c *attr.Command
}

func (r *recorder) Submit(_ context.Context, c *attr.Command) Pending {
	r.got = append(r.got, c.Text)
	if !pipelined(c) && r.held > 0 {
		r.violated = c.Text
	}
	r.held++
	r.maxHeld = max(r.maxHeld, r.held)
	return recorded{r, c}
}

func (p recorded) Wait(context.Context) *attr.Reply {
	p.r.held--
	if strings.Contains(p.c.Name, "FAIL") {
		return &attr.Reply{CC: 2, RC: 2085, Msgs: []attr.Message{{ID: "AMQ8147E", Inserts: []string{p.c.Name}}}}
	}
	if p.c.Verb == "DISPLAY" && p.r.rowsFor != nil {
		return &attr.Reply{Rows: func(yield func(attr.Row) bool) {
			for _, row := range p.r.rowsFor(p.c) {
				if !yield(row) {
					return
				}
			}
		}}
	}
	return &attr.Reply{Msgs: []attr.Message{{ID: p.c.Spec.Success}}}
}

// Each file of testdata/mqsc/report is a script, a line ----, and its report; -update writes the reports.
func TestReports(t *testing.T) {
	files, err := filepath.Glob("../../testdata/mqsc/report/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no report files", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(text), "----\n")
			ex := &recorder{rowsFor: exampleRows}
			var out bytes.Buffer
			if _, err := Run(context.Background(), strings.NewReader(script), &out, ex, RunOptions{Echo: true, Summary: true}); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(f, []byte(script+"----\n"+out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, out.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

// Definitions are pipelined up to the limit, in order; everything else waits for them.
func TestPipelining(t *testing.T) {
	var script strings.Builder
	const n = 1000
	for i := range n {
		fmt.Fprintf(&script, "DEFINE QLOCAL(Q%d)\n", i)
	}
	script.WriteString("DISPLAY QLOCAL(*)\nDELETE QLOCAL(FAIL)\nbad\nALTER QMGR DEADQ(A)\nPING QMGR\n")
	ex := &recorder{}
	var out bytes.Buffer
	res, err := Run(context.Background(), strings.NewReader(script.String()), &out, ex, RunOptions{Echo: true, Summary: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Result{Commands: n + 5, SyntaxErrors: 1, Failed: 1}); res != want || res.ExitCode() != 10 {
		t.Errorf("%+v", res)
	}
	if ex.violated != "" || ex.maxHeld != MaxOutstanding || ex.held != 0 {
		t.Errorf("submitted too early: %q; at most %d outstanding; %d left", ex.violated, ex.maxHeld, ex.held)
	}
	for i, c := range ex.got[:n] {
		if c != fmt.Sprintf("DEFINE QLOCAL(Q%d)", i) {
			t.Fatalf("command %d is %s", i, c)
		}
	}
	// the report is in the order of the script
	lines := strings.Split(out.String(), "\n")
	for i := range n {
		if lines[2*i] != fmt.Sprintf("%6d : DEFINE QLOCAL(Q%d)", i+1, i) || !strings.HasPrefix(lines[2*i+1], "AMQ8006I: ") {
			t.Fatalf("line %d: %s / %s", i, lines[2*i], lines[2*i+1])
		}
	}
	for _, s := range []string{"  1002 : DELETE QLOCAL(FAIL)\nAMQ8147E", "  1003 : bad\nAMQ8405I", "  1004 : ALTER QMGR DEADQ(A)\nAMQ8005I"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("%q is missing", s)
		}
	}
}

// flushes notes what was written before each flush, as an HTTP response would send it.
type flushes struct {
	bytes.Buffer
	at []int
}

func (f *flushes) Flush() { f.at = append(f.at, f.Len()) }

// steps gives one piece of the script at a time.
type steps struct {
	parts []string
	seen  []int
	out   *flushes
}

func (s *steps) Read(p []byte) (int, error) {
	last := 0
	if n := len(s.out.at); n > 0 {
		last = s.out.at[n-1]
	}
	s.seen = append(s.seen, last)
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

func TestFlushedBeforeInputIsAwaited(t *testing.T) {
	out := &flushes{}
	in := &steps{parts: []string{"DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)\n", "* c\n", "PING QMGR\nDEF"}, out: out}
	ex := &recorder{}
	if _, err := Run(context.Background(), in, out, ex, RunOptions{Echo: true}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for i, mark := range []string{"", "2 : DEFINE QLOCAL(B)\nAMQ8006I", "* c", "AMQ8415I"} {
		if !strings.Contains(text[:in.seen[i]], mark) {
			t.Errorf("before read %d only this was sent:\n%s", i, text[:in.seen[i]])
		}
	}
	if out.at[len(out.at)-1] != len(text) {
		t.Error("the end of the report was not flushed")
	}
}

func TestCancelledRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, strings.NewReader("PING QMGR\n"), io.Discard, &recorder{}, RunOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrorEndsTheRun(t *testing.T) {
	_, err := Run(context.Background(), strings.NewReader("PING QMGR\n"), badWriter{}, &recorder{}, RunOptions{Echo: true, Summary: true})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
}

func TestSummaryForms(t *testing.T) {
	for _, tc := range []struct {
		r    Result
		want string
	}{
		{Result{}, "No MQSC commands read.\nNo commands have a syntax error.\nAll valid MQSC commands were processed.\n"},
		{Result{1, 1, 1, false}, "One MQSC command read.\nOne command has a syntax error.\nOne valid MQSC command could not be processed.\n"},
		{Result{10, 2, 3, true}, "10 MQSC commands read.\n2 commands have a syntax error.\n3 valid MQSC commands could not be processed.\n"},
	} {
		var b bytes.Buffer
		WriteSummary(&b, tc.r)
		if b.String() != tc.want {
			t.Errorf("%+v: %s", tc.r, b.String())
		}
	}
}

func TestQueryRoundTrip(t *testing.T) {
	for _, o := range []RunOptions{{Echo: true, Summary: true, FirstNumber: 1, PlainIDs: true}, {Echo: true, Summary: true, FirstNumber: 1}, {FirstNumber: 7, JSON: true, Verify: true}} {
		got, err := OptionsOf(o.Query())
		if err != nil || got != o {
			t.Errorf("%+v became %+v, %v", o, got, err)
		}
	}
	for _, bad := range []map[string][]string{{"echo": {"maybe"}}, {"first": {"0"}}, {"first": {"x"}}} {
		if _, err := OptionsOf(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	var mu sync.Mutex
	h := map[string]string{}
	want := Result{Commands: 12, SyntaxErrors: 1, Failed: 2, Ended: true}
	want.SetTrailers(func(k, v string) { mu.Lock(); h[k] = v; mu.Unlock() })
	got, ok := ResultOf(func(k string) string { return h[k] })
	if !ok || got != want {
		t.Errorf("%+v", got)
	}
	if _, ok := ResultOf(func(string) string { return "" }); ok {
		t.Error("no trailers gave a result")
	}
}

// Scripts of before 9.1 know message ids without severity letters.
func TestPlainIDs(t *testing.T) {
	const script = "PING QMGR\nDISPLAY QLOCAL(*)\nDELETE QLOCAL(FAIL)\nbad\nDISPLAY\n? DEFINE QLOCAL\nDEFINE LISTENER(X)\n* AMQ8006I: remark\n"
	run := func(plain bool) string {
		var out bytes.Buffer
		o := RunOptions{Echo: true, PlainIDs: plain}
		if _, err := Run(context.Background(), strings.NewReader(script), &out, &recorder{rowsFor: exampleRows}, o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	with, without := run(false), run(true)
	var want []string
	for l := range strings.Lines(with) {
		if id, rest, ok := strings.Cut(l, ": "); ok && strings.HasPrefix(id, "AMQ") {
			l = id[:len("AMQ8006")] + ": " + rest
		}
		want = append(want, l)
	}
	if d := cmp.Diff(strings.Join(want, ""), without); d != "" || with == without {
		t.Error(d)
	}
}

type watcher func(*Source, *attr.Reply, *SyntaxError) error

func (w watcher) Command(s *Source, r *attr.Reply, e *SyntaxError) error { return w(s, r, e) }

// Each is told of every command in the script's order, and its error ends the run.
func TestEach(t *testing.T) {
	var got []string
	stop := errors.New("enough")
	each := func(src *Source, r *attr.Reply, serr *SyntaxError) error {
		line, _ := src.Place(0)
		got = append(got, fmt.Sprint(line, " ", serr != nil, " ", r != nil && r.Failed()))
		if strings.Contains(src.Text, "LAST") {
			return stop
		}
		return nil
	}
	script := "DEFINE QLOCAL(A)\nDEFINE QLOCAL(FAIL)\nDEFNE\nDISPLAY QLOCAL(A)\nDEFINE QLOCAL(LAST)\nDISPLAY QLOCAL(A)\nDISPLAY QLOCAL(B)\n"
	_, err := Run(context.Background(), strings.NewReader(script), io.Discard, &recorder{}, RunOptions{Each: watcher(each)})
	want := []string{"1 false false", "2 false true", "3 true false", "4 false false", "5 false false"}
	if !errors.Is(err, stop) || !cmp.Equal(got, want) {
		t.Fatalf("%v %v", got, err)
	}
}

// A JSON command may not hold what no script can.
func TestJSONControlCharacters(t *testing.T) {
	for _, v := range []string{"a\nb", "a\x00", "\x7f", "tab\t"} {
		_, serr := FromJSON(JSONCommand{Command: "define", Qualifier: "qlocal", Name: "Q", Parameters: map[string]any{"descr": v}})
		if serr == nil || !strings.Contains(serr.Error(), "control character") {
			t.Errorf("%q: %v", v, serr)
		}
	}
	if _, serr := FromJSON(JSONCommand{Command: "define", Qualifier: "qlocal", Name: "Q",
		Parameters: map[string]any{"descr": "gut, größer"}}); serr != nil {
		t.Errorf("a text: %v", serr)
	}
}
