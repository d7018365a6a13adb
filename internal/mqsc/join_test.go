package mqsc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read gives the commands of a script.
func read(t *testing.T, script string) []string {
	t.Helper()
	r := NewReader(strings.NewReader(script), nil)
	out := []string{}
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Commands {
			out = append(out, s.Text)
		}
	}
}

// facts/mqsc.md §1, continuation, comments, terminator.
func TestJoin(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"a line is a command", "A\nB\n", []string{"A", "B"}},
		{"no final newline", "A\nB", []string{"A", "B"}},
		{"CRLF", "A\r\nB +\r\n  C\r\n", []string{"A", "B C"}},
		{"byte-order mark", "\xef\xbb\xbfA", []string{"A"}},
		{"+ goes on at the first nonblank", "A +\n   B", []string{"A B"}},
		{"+ glued: no blank", "A+\n   B", []string{"AB"}},
		{"- goes on at the first column", "A -\n B", []string{"A  B"}},
		{"blanks after the sign", "A +  \t\n B", []string{"A B"}},
		{"+ in a string", "D('Fr+\n   ed')", []string{"D('Fred')"}},
		{"- in a string", "D('one-\n   two')", []string{"D('one   two')"}},
		{"comment in a command", "A +\n* x\n  B", []string{"A B"}},
		{"comment that ends in +", "* x +\nA", []string{"A"}},
		{"blank line in a command", "A +\n\n \t\n  B", []string{"A B"}},
		{"blank line after -", "A -\n\nB", []string{"A B"}},
		{"semicolon", "A;", []string{"A"}},
		{"two on a line", "A ; B;C", []string{"A", "B", "C"}},
		{"semicolon after +", "A +\n B ;\nC", []string{"A B", "C"}},
		{"remark after a semicolon", "A; * x +\nB", []string{"A", "B"}},
		{"+ after a semicolon", "A; +\nB", []string{"A", "B"}},
		{"semicolon in a string", "D('a;b')", []string{"D('a;b')"}},
		{"doubled quote", "D('it''s; x') ; B", []string{"D('it''s; x')", "B"}},
		{"open quote ends with the line", "D('a;b\nC;D", []string{"D('a;b", "C", "D"}},
		{"only semicolons", ";;\n ; \nA", []string{"A"}},
		{"-- swallows the next line", "--\nA", []string{"-A"}},
		{"tabs", "\tA\t\n", []string{"A"}},
		{"input ends behind +", "A +\n", []string{"A"}},
		{"form feed and lone CR are blanks", "A\fB\r C", []string{"A\fB\r C"}},
		{"nothing", "\n\n* x\n", []string{}},
	} {
		if d := cmp.Diff(tc.want, read(t, tc.in)); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

func TestPlaceCountsCharacters(t *testing.T) {
	_, err := parseAll(t, "* é\nDEFINE QLOCAL(A) +\n* c\n   DESCR('é') BAD(1)\n")
	if err == nil || err.Line != 4 || err.Col != 15 || err.Segment != "DEFINE QLOCAL(A) DESCR('é') BAD(1)" {
		t.Fatalf("%+v", err)
	}
}

// parseAll parses the first command of a script.
func parseAll(t *testing.T, script string) (any, *SyntaxError) {
	t.Helper()
	r := NewReader(strings.NewReader(script), nil)
	for {
		l, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Commands {
			return ParseSource(s)
		}
	}
}

// endless gives the same bytes n times over.
type endless struct {
	head, body, tail string
	left             int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.head != "" {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.left <= 0 {
		if e.tail == "" {
			return 0, io.EOF
		}
		n := copy(p, e.tail)
		e.tail = e.tail[n:]
		return n, nil
	}
	n := 0
	for n < len(p) && e.left > 0 {
		c := copy(p[n:], e.body)
		n += c
		e.left -= int64(c)
	}
	return n, nil
}

// However long a line, a command or a comment is, memory stays bounded and what follows runs.
func TestLongInput(t *testing.T) {
	var size int64 = 64 << 20
	if testing.Short() {
		size = 8 << 20
	}
	for name, in := range map[string]*endless{
		"line":           {head: "DEFINE QLOCAL(A) DESCR('", body: "xxxxxxxx", tail: "')\nPING QMGR\n", left: size},
		"blank line":     {head: " ", body: "    \t   ", tail: "\nDEF QL(\nPING QMGR\n", left: size},
		"comment":        {head: "*", body: "abcdefg;", tail: "\nDEF QL(\nPING QMGR\n", left: size},
		"NUL bytes":      {head: "", body: "\x00\x00\x00\x00", tail: "\nPING QMGR\n", left: size},
		"continued":      {head: "DEFINE QLOCAL(A) +\n", body: "MAXDEPTH(5) +\n", tail: "x\nPING QMGR\n", left: size / 64},
		"open brackets":  {head: "DEFINE QLOCAL(A", body: "((((((((", tail: "\nPING QMGR\n", left: 30000},
		"quotes":         {head: "DEFINE QLOCAL(A) DESCR(", body: "''''''''", tail: "\nPING QMGR\n", left: 30000},
		"comments in it": {head: "DEF QL(A +\n", body: "* x\n\n", tail: "\nx\nPING QMGR\n", left: size / 64},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			counter := &countWriter{}
			res, err := Run(context.Background(), in, counter, nil, RunOptions{Echo: true, Verify: true})
			if err != nil || res.SyntaxErrors != 1 || res.Commands != 2 {
				t.Errorf("%+v %v", res, err)
			}
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 24<<20 {
				t.Errorf("heap grew by %d MiB", grown>>20)
			}
		})
	}
}

type countWriter struct{ n int64 }

func (c *countWriter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

func TestLimitIsNamed(t *testing.T) {
	long := "DEFINE QLOCAL(A) DESCR('" + strings.Repeat("x", MaxCommand) + "')"
	_, err := ParseCommand(long)
	if err == nil || !strings.Contains(err.Text, fmt.Sprint(MaxCommand)) {
		t.Fatalf("%v", err)
	}
	fits := "DEFINE TOPIC(A) TOPICSTR('" + strings.Repeat("x", 10240) + "') DESCR(' ')" + strings.Repeat(" ", 21000) + " REPLACE"
	if _, err := ParseCommand(fits); err != nil {
		t.Fatalf("%d bytes: %v", len(fits), err)
	}
}

type failingReader struct{ text string }

func (f *failingReader) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// An upload that breaks off must not run half a command.
func TestCutOffCommandDoesNotRun(t *testing.T) {
	for _, script := range []string{"DELETE QLOCAL(A) +\n", "DELETE QLOCAL(APP.DATA"} {
		ex := &recorder{}
		var out bytes.Buffer
		_, err := Run(context.Background(), &failingReader{"PING QMGR\n" + script}, &out, ex, RunOptions{Echo: true})
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(ex.got) != 1 {
			t.Errorf("%q: %v, ran %q", script, err, ex.got)
		}
		if !strings.Contains(out.String(), "AMQ8415I") {
			t.Errorf("the reply of what ran is missing: %s", out.String())
		}
	}
}

func TestUntilEnd(t *testing.T) {
	for in, want := range map[string]string{
		"A\nend\nB\n":      "A\nend\n",
		"A +\nEND\nB\n":    "A +\nEND\nB\n", // the END belongs to the command
		"* x\nquit;\nB":    "* x\nquit;\n",
		"A\nB":             "A\nB",
		"D('x;end')\nEXIT": "D('x;end')\nEXIT",
		"A; END\nB":        "A; END\n",
	} {
		got, err := io.ReadAll(UntilEnd(strings.NewReader(in)))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	got, err := io.ReadAll(UntilEnd(&endless{head: "A ", body: "xxxxxxxx", tail: "\nEND\nB", left: 1 << 20}))
	if err != nil || !strings.HasSuffix(string(got), "x\nEND\n") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
