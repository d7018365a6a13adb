package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/leaks"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/paths"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// fakeExec answers every command: names with FAIL in them fail, DISPLAY QLOCAL shows two queues.
type fakeExec struct {
	mu  sync.Mutex
	got []string
}

type done struct{ r *attr.Reply }

func (d done) Wait(context.Context) *attr.Reply { return d.r }

func (f *fakeExec) Submit(_ context.Context, c *attr.Command) mqsc.Pending {
	f.mu.Lock()
	f.got = append(f.got, c.Text)
	f.mu.Unlock()
	switch {
	case strings.Contains(c.Name, "FAIL"):
		return done{&attr.Reply{CC: 2, RC: 2085, Msgs: []attr.Message{{ID: "AMQ8147E", Inserts: []string{c.Name}}}}}
	case c.Verb == "DISPLAY":
		return done{&attr.Reply{Rows: func(yield func(attr.Row) bool) {
			for _, n := range []string{"APP.A", "APP.B"} {
				if !yield(attr.Row{ID: "AMQ8409I", Items: []attr.Item{{Key: "QUEUE", Val: n}, {Key: "TYPE", Val: "QLOCAL"}}}) {
					return
				}
			}
		}}}
	}
	return done{&attr.Reply{Msgs: []attr.Message{{ID: c.Spec.Success}}}}
}

// serve runs the HTTP door of a manager in a directory.
func serve(t *testing.T, dir, qm string, ex mqsc.Executor, check func(*http.Request) int) {
	t.Helper()
	if err := os.MkdirAll(paths.Dir(dir, qm), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(paths.Dir(dir, qm), "qm.ini"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := paths.ListenUnix(paths.Socket(dir, qm))
	if err != nil {
		t.Fatal(err)
	}
	h := func(w http.ResponseWriter, r *http.Request) {
		if check != nil {
			if code := check(r); code != 0 {
				http.Error(w, `{"error":[{"message":"no"}]}`, code)
				return
			}
		}
		o, err := mqsc.OptionsOf(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Trailer", mqsc.TrailerNames)
		res, err := mqsc.Run(r.Context(), r.Body, w, ex, o)
		if err == nil {
			res.SetTrailers(w.Header().Set)
		}
	}
	srv := &http.Server{Handler: http.HandlerFunc(h), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Close() })
}

func call(in string, args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

func TestPiped(t *testing.T) {
	dir := t.TempDir()
	var path, query string
	serve(t, dir, "A.B/C", &fakeExec{}, func(r *http.Request) int {
		path, query = r.URL.EscapedPath(), r.URL.RawQuery
		return 0
	})
	code, out, errOut := call("define qlocal(app.a)\n* note\nDIS QL(*)\nDEF QL(FAIL.Q)\nDEF QL(X) MAXDEPHT(1)\nEND\nDEF QL(NEVER)\n", "--data", dir, "A.B/C")
	want := banner + `
Starting MQSC for queue manager A.B/C.


     1 : define qlocal(app.a)
AMQ8006I: ` + attr.MessageText("AMQ8006I") + `
       : * note
     2 : DIS QL(*)
AMQ8409I: ` + attr.MessageText("AMQ8409I") + `
   QUEUE(APP.A)                            TYPE(QLOCAL)
AMQ8409I: ` + attr.MessageText("AMQ8409I") + `
   QUEUE(APP.B)                            TYPE(QLOCAL)
     3 : DEF QL(FAIL.Q)
AMQ8147E: ` + attr.MessageText("AMQ8147E", "FAIL.Q") + `
     4 : DEF QL(X) MAXDEPHT(1)
AMQ8405I: ` + attr.MessageText("AMQ8405I") + `
DEF QL(X) MAXDEPHT(1)

line 5, column 11: MAXDEPHT is not a keyword of DEFINE QLOCAL; did you mean MAXDEPTH?
AMQ8427I: ` + attr.MessageText("AMQ8427I") + `

  DEFINE QLOCAL( name )
  ( ? DEFINE QLOCAL lists all keywords )
     5 : END
4 MQSC commands read.
One command has a syntax error.
One valid MQSC command could not be processed.
`
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	if code != 10 || errOut != "" {
		t.Errorf("exit %d, standard error %q", code, errOut)
	}
	if path != "/ibmmq/rest/v3/admin/action/qmgr/"+url.PathEscape("A.B/C")+"/mqsc" || query != "" {
		t.Errorf("request %s?%s", path, query)
	}
}

func TestQueueManagerByDefault(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("QMGRD_DATA", dir)
	if code, _, e := call(""); code != 20 || !strings.Contains(e, "qmgrd create") {
		t.Errorf("no manager: %d %s", code, e)
	}
	serve(t, dir, "ONE", &fakeExec{}, nil)
	if code, out, _ := call("PING QMGR", "-e"); code != 0 || !strings.Contains(out, "manager ONE.") || strings.Contains(out, " : ") {
		t.Errorf("one manager: %d\n%s", code, out)
	}
	serve(t, dir, "TWO", &fakeExec{}, nil)
	if code, _, e := call(""); code != 20 || !strings.Contains(e, "ONE, TWO") {
		t.Errorf("two managers: %d %s", code, e)
	}
	t.Setenv("QMGRD_QM", "TWO")
	if code, out, _ := call("PING QMGR", "-w", "30"); code != 0 || !strings.Contains(out, "manager TWO.") {
		t.Errorf("QMGRD_QM: %d\n%s", code, out)
	}
}

// facts/mqsc.md §5: the form that monitors parse.
func TestNotAvailable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "QM1"), 0o700); err != nil {
		t.Fatal(err)
	}
	const zero = "\nNo MQSC commands read.\nNo commands have a syntax error.\nAll valid MQSC commands were processed.\n"
	for qm, id := range map[string]string{"QM1": "AMQ8146E", "QM2": "AMQ8118E"} {
		code, out, _ := call("DIS QMGR", "--data", dir, qm)
		want := banner + "\nStarting MQSC for queue manager " + qm + ".\n\n\n" + id + ": " + attr.MessageText(id, qm) + "\n" + zero
		if code != 20 || out != want {
			t.Errorf("exit %d\n%s", code, cmp.Diff(want, out))
		}
	}
}

func TestRefusedByDoor(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, "QM1", &fakeExec{}, func(*http.Request) int { return http.StatusForbidden })
	code, out, errOut := call("DIS QMGR", "--data", dir, "QM1")
	if code != 20 || !strings.Contains(out, "AMQ8135E") || !strings.Contains(errOut, "no") {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
}

func TestUserAndPassword(t *testing.T) {
	dir := t.TempDir()
	var user, pw string
	serve(t, dir, "QM1", &fakeExec{}, func(r *http.Request) int {
		user, pw, _ = r.BasicAuth()
		return 0
	})
	file := filepath.Join(dir, "s.mqsc")
	if err := os.WriteFile(file, []byte("PING QMGR\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   string
		args []string
	}{{"secret\nPING QMGR\n", nil}, {"secret\n", []string{"-f", file}}} {
		user, pw = "", ""
		code, out, e := call(c.in, append([]string{"-u", "admin", "--data", dir, "QM1"}, c.args...)...)
		if code != 0 || user != "admin" || pw != "secret" || !strings.Contains(out, "One MQSC command read.") || strings.Contains(out, "secret") {
			t.Errorf("exit %d user %s password %s\n%s%s", code, user, pw, out, e)
		}
	}
}

// A script that waits for each reply before it writes on (expect, coprocesses) gets it.
func TestRepliesWhileInputIsOpen(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, "QM1", &fakeExec{}, nil)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(context.Background(), []string{"--data", dir, "-e", "QM1"}, inR, outW, io.Discard)
		outW.Close()
	}()
	buf := make([]byte, 4096)
	await := func(what string) {
		var got string
		for !strings.Contains(got, what) {
			n, err := outR.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got += string(buf[:n])
		}
	}
	await("\n\n\n")
	for i := range 3 {
		fmt.Fprintf(inW, "DEFINE QLOCAL(Q%d)\n", i)
		await("AMQ8006I")
	}
	fmt.Fprintln(inW, "END") // the input stays open
	rest, err := io.ReadAll(outR)
	if err != nil || !strings.HasPrefix(string(rest), "3 MQSC commands read.\n") {
		t.Errorf("%v\n%s", err, rest)
	}
	inR.Close()
	if c := <-code; c != 0 {
		t.Errorf("exit %d", c)
	}
}

// slowExec never answers.
type slowExec struct{}

func (slowExec) Submit(context.Context, *attr.Command) mqsc.Pending { return slowExec{} }
func (slowExec) Wait(ctx context.Context) *attr.Reply               { <-ctx.Done(); return nil }

func TestWait(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, "QM1", slowExec{}, nil)
	code, out, _ := call("PING QMGR", "-w1", "--data", dir, "QM1")
	if code != 20 || !strings.Contains(out, "AMQ8416E") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// brokenExec makes the door drop the connection.
type brokenExec struct{}

func (brokenExec) Submit(context.Context, *attr.Command) mqsc.Pending { panic(http.ErrAbortHandler) }

func TestBrokenConnection(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, "QM1", brokenExec{}, nil)
	code, out, _ := call("PING QMGR", "--data", dir, "QM1")
	if code != 20 || !strings.Contains(out, "AMQ8145E") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestVerifyNeedsNoManager(t *testing.T) {
	code, out, _ := call("DEF QL(A)\nDEF QL(FAIL)\n", "-ve", "--data", t.TempDir())
	want := banner + "\nStarting MQSC verification.\n\n\n2 MQSC commands read.\nNo commands have a syntax error.\nAll valid MQSC commands were processed.\n"
	if code != 0 || out != want {
		t.Errorf("exit %d\n%s", code, cmp.Diff(want, out))
	}
	if code, _, _ := call("DEF QL(", "-v", "QM1"); code != 10 {
		t.Errorf("exit %d for a syntax error", code)
	}
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, "QM1", &fakeExec{}, nil)
	code, out, _ := call("DIS QL(*)\nDEF QL(FAIL.X)\nDEF\n", "--json", "--data", dir, "QM1")
	want := `{"line":1,"command":"DIS QL(*)","completionCode":0,"reasonCode":0,"text":[],"objects":[{"queue":"APP.A","type":"QLOCAL"},{"queue":"APP.B","type":"QLOCAL"}]}
{"line":2,"command":"DEF QL(FAIL.X)","completionCode":2,"reasonCode":2085,"text":["AMQ8147E: ` + attr.MessageText("AMQ8147E", "FAIL.X") + `"]}
`
	if code != 10 || !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 3 {
		t.Errorf("exit %d\n%s", code, cmp.Diff(want, out))
	}
}

func TestFlags(t *testing.T) {
	f, err := parseFlags([]string{"-e", "QM1", "-w", "30", "-m", "QM1", "-uadmin", "--data=/d", "-p", "x "})
	want := &flags{noEcho: true, qmgr: "QM1", wait: 30 * time.Second, gateway: "QM1", user: "admin", data: "/d", prompt: "x "}
	if err != nil || !cmp.Equal(f, want, cmp.AllowUnexported(flags{})) {
		t.Errorf("%v %+v", err, f)
	}
	for _, bad := range [][]string{{"-w"}, {"-w", "0"}, {"-w", "1000000"}, {"-q"}, {"--nope"}, {"A", "B"}, {"-m", "X"}, {"-c", "-w", "1"}, {"--json=1"}, {"--data"}} {
		if code, _, e := call("", bad...); code != 20 || !strings.Contains(e, "Usage") {
			t.Errorf("%v: exit %d %s", bad, code, e)
		}
	}
	for _, later := range [][]string{{"-n"}, {"-x", "QM1"}, {"-x", "-w", "5", "QM1"}, {"-w", "5", "-m", "QM1", "QM2"}} {
		if code, out, e := call("", later...); code != 20 || out != "" || !strings.Contains(e, "not built yet") {
			t.Errorf("%v: exit %d %s%s", later, code, out, e)
		}
	}
	if code, out, _ := call("", "--help"); code != 0 || out != usage {
		t.Errorf("help: %d", code)
	}
	if code, _, e := call("", "-f", "/no/such/file", "QM1"); code != 20 || !strings.Contains(e, "/no/such/file") {
		t.Errorf("-f: %d %s", code, e)
	}
	if code, _, e := call("", "bad name"); code != 20 || !strings.Contains(e, "bad name") {
		t.Errorf("bad name: %d %s", code, e)
	}
}

// fakeTerminal types lines.
type fakeTerminal struct {
	lines   []string
	prompts []string
	history []string
}

func (f *fakeTerminal) ReadLine(prompt string) (string, error) {
	f.prompts = append(f.prompts, prompt)
	if len(f.lines) == 0 {
		return "", io.EOF
	}
	l := f.lines[0]
	f.lines = f.lines[1:]
	if typed, ok := strings.CutSuffix(l, "^C"); ok {
		return typed, errInterrupt
	}
	return l, nil
}
func (f *fakeTerminal) ReadPassword(string) (string, error) { return "", errors.New("no") }
func (f *fakeTerminal) Remember(l string)                   { f.history = append(f.history, l) }
func (f *fakeTerminal) Plain() bool                         { return true }
func (f *fakeTerminal) Close() error                        { return nil }

func TestInteractive(t *testing.T) {
	dir := t.TempDir()
	ex := &fakeExec{}
	serve(t, dir, "QM1", ex, nil)
	tt := &fakeTerminal{lines: []string{"* hello", "define qlocal(a) +", "  replace", "", "DEF QL(FAIL.1) -", "^C", "DELETE QL(A)^C",
		"ALTER AUTHINFO(X) AUTHTYPE(IDPWLDAP) LDAPPWD('s3cret')", "PING QMGR", "DEF QL(FAIL.2)", "end"}}
	var out bytes.Buffer
	s := &session{f: &flags{qmgr: "QM1", data: dir, prompt: "+QMNAME+> "}, in: strings.NewReader(""), out: &out, err: io.Discard,
		openTT: func(io.Reader, io.Writer, *session) (lineReader, bool) { return tt, true }}
	code := s.run(context.Background())
	want := banner + `
Starting MQSC for queue manager QM1.


AMQ8521I: ` + attr.MessageText("AMQ8521I") + `
       : * hello
     1 : define qlocal(a) +
       :   replace
AMQ8006I: ` + attr.MessageText("AMQ8006I") + `
       : ` + `
     2 : ALTER AUTHINFO(X) AUTHTYPE(IDPWLDAP) LDAPPWD('s3cret')
AMQ8567I: ` + attr.MessageText("AMQ8567I") + `
     3 : PING QMGR
AMQ8415I: ` + attr.MessageText("AMQ8415I") + `
     4 : DEF QL(FAIL.2)
AMQ8147E: ` + attr.MessageText("AMQ8147E", "FAIL.2") + `
     5 : end
4 MQSC commands read.
No commands have a syntax error.
One valid MQSC command could not be processed.
`
	if d := cmp.Diff(want, out.String()); code != 10 || d != "" {
		t.Errorf("exit %d\n%s", code, d)
	}
	// Ctrl-C on an empty line ends as Ctrl-D does
	out.Reset()
	tt.lines = []string{"PING QMGR", "^C", "PING QMGR"}
	if code := s.run(context.Background()); code != 0 || !strings.Contains(out.String(), "One MQSC command read.\n") {
		t.Errorf("exit %d\n%s", code, out.String())
	}
	if tt.prompts[0] != "QM1> " || tt.prompts[2] != continuation {
		t.Errorf("prompts %q", tt.prompts)
	}
	for _, h := range tt.history {
		if strings.Contains(h, "s3cret") {
			t.Error("a secret is in the history")
		}
	}
	// Ctrl-D: one more line with blanks for the number, before the summary
	out.Reset()
	tt.lines = []string{"PING QMGR"}
	if code := s.run(context.Background()); code != 0 || !strings.Contains(out.String(), "\n       : \nOne MQSC command read.\n") {
		t.Errorf("exit %d\n%s", code, out.String())
	}
}

func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, "QM1", &fakeExec{}, nil)
	s := &session{f: &flags{}, door: newDoor(paths.Socket(dir, "QM1"), "QM1")}
	defer s.door.close()
	c := &completer{s: s, pending: func() string { return "" }}
	for _, tc := range []struct{ typed, tail string }{
		{"disp", "lay "},
		{"Disp", "LAY "},
		{"define qlocal(x) maxd", "epth("},
		{"DEFINE QLO", "CAL("},
		{"DEFINE QLOCAL(X) MAXD", "EPTH("},
		{"DIS QL(", "APP.A"},
		{"DIS QL('APP", ".B"},
		{"DEF CHL(X) CHLTYPE(SVRC", "ONN) "},
	} {
		list, _ := c.Do([]rune(tc.typed), len([]rune(tc.typed)))
		found := false
		for _, r := range list {
			found = found || string(r) == tc.tail
		}
		if !found {
			t.Errorf("%q: %q is not in %q", tc.typed, tc.tail, list)
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Setenv("WHERE_AM_I", "here")
	for in, want := range map[string]string{"a+b": "a+b", "+QMNAME+ +WHERE_AM_I+:": "QM1 here:", "": ""} {
		s := &session{f: &flags{prompt: in}, qmgr: "QM1"}
		if got := s.prompt(); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
