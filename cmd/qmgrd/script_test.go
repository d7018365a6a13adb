package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// binDir holds both binaries as they are shipped: what these tests run are real processes.
var binDir string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "qmgrd-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator), "../qmgrd", "../runmqsc")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the binaries: %v\n%s", err, out)
		return 1
	}
	binDir = dir
	for _, v := range []string{"QMGRD_DATA", "QMGRD_QM", "MQ_QMGR_NAME", "STATE_DIRECTORY", "NOTIFY_SOCKET"} {
		os.Unsetenv(v)
	}
	return m.Run()
}

// TestScripts runs what an operator would type: testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		Deadline:            time.Now().Add(10 * time.Minute), // they take a quarter of a minute on two processors
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", binDir+string(os.PathListSeparator)+e.Getenv("PATH"))
			data := filepath.Join(e.WorkDir, "d")
			e.Setenv("QMGRD_DATA", data)
			e.Defer(func() { killAll(data) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     cmdCode,
			"curlunix": cmdCurl,
			"killqm":   cmdKill,
			"signalqm": cmdSignal,
			"waitfor":  cmdWaitFor,
			"waitconn": cmdWaitConn,
			"waitfile": cmdWaitFile,
			"waitgrep": cmdWaitGrep,
			"freeport": cmdFreePort,
			"subst":    cmdSubst,

			"mqclient":  cmdMQClient,
			"mqhold":    cmdMQHold,
			"mqend":     cmdMQEnd,
			"flood":     cmdFlood,
			"waitchs":   cmdWaitChs,
			"stopconn":  cmdStopConn,
			"makecerts": cmdMakeCerts,
			"notintree": cmdNotInTree,
		},
	})
}

// killAll ends what a script left running.
func killAll(data string) {
	list, err := daemon.Statuses(context.Background(), data)
	if err != nil {
		return
	}
	for _, st := range list {
		if st.PID > 0 && strings.HasPrefix(st.Socket, data) {
			_ = syscall.Kill(st.PID, syscall.SIGKILL) // gone already is fine
		}
	}
}

// cmdCode runs a program and wants its exit code: code 10 qmgrd get QM1 Q.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var x *exec.ExitError
	if errors.As(err, &x) {
		got, err = x.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", args[1], got, want)
	}
}

// cmdCurl sends a request over a manager's socket: curlunix QM METHOD PATH [-H 'name: value']... [@FILE|BODY]. It
// prints the status, the ibm-* headers and the body.
func cmdCurl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: curlunix QM METHOD PATH [-H header]... [@FILE|BODY]")
	}
	sock := paths.Socket(ts.Getenv("QMGRD_DATA"), args[0])
	var body []byte
	h := http.Header{}
	for i := 3; i < len(args); i++ {
		switch {
		case args[i] == "-H":
			i++
			k, v, _ := strings.Cut(args[i], ": ")
			h.Set(k, v)
		case strings.HasPrefix(args[i], "@"):
			body = []byte(ts.ReadFile(args[i][1:]))
		default:
			body = []byte(args[i])
		}
	}
	req, err := http.NewRequest(args[1], "http://qmgrd"+args[2], bytes.NewReader(body))
	ts.Check(err)
	req.Header = h
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return paths.DialUnix(ctx, sock)
	}}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "HTTP %d\n", resp.StatusCode)
	var keys []string
	for k := range resp.Header {
		if strings.HasPrefix(strings.ToLower(k), "ibm-") {
			keys = append(keys, k)
		}
	}
	for k := range resp.Trailer {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(ts.Stdout(), "%s: %s\n", strings.ToLower(k), resp.Header.Get(k)+resp.Trailer.Get(k))
	}
	fmt.Fprintf(ts.Stdout(), "%s", b)
}

// cmdKill ends a manager as a crash does, and returns when it is gone.
func cmdKill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: killqm QM")
	}
	data := ts.Getenv("QMGRD_DATA")
	st, err := daemon.StatusOf(context.Background(), data, args[0])
	ts.Check(err)
	if st.PID == 0 {
		ts.Fatalf("%s is not running: %s", args[0], st.Status)
	}
	ts.Check(syscall.Kill(st.PID, syscall.SIGKILL))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ts.Check(daemon.WaitEnded(ctx, data, args[0]))
}

// cmdSignal sends a running manager INT or TERM.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	sig, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[len(args)-1]]
	if neg || len(args) != 2 || !ok {
		ts.Fatalf("usage: signalqm QM INT|TERM")
	}
	st, err := daemon.StatusOf(context.Background(), ts.Getenv("QMGRD_DATA"), args[0])
	ts.Check(err)
	if st.PID == 0 {
		ts.Fatalf("%s is not running: %s", args[0], st.Status)
	}
	ts.Check(syscall.Kill(st.PID, sig))
}

// cmdWaitFor returns when a manager has a status: waitfor QM 'Ended normally'.
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor QM STATUS")
	}
	last := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		st, err := daemon.StatusOf(context.Background(), ts.Getenv("QMGRD_DATA"), args[0])
		if err == nil && st.Status == args[1] {
			return
		}
		last = fmt.Sprint(st.Status, err)
	}
	ts.Fatalf("%s has not become %s: %s", args[0], args[1], last)
}

// cmdWaitFile returns when a file is there and not empty.
func cmdWaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfile FILE")
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if st, err := os.Stat(ts.MkAbs(args[0])); err == nil && st.Size() > 0 {
			return
		}
	}
	ts.Fatalf("%s has not come to be", args[0])
}

// cmdWaitGrep waits until a file holds a match: a log is written after its cause was answered.
func cmdWaitGrep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitgrep PATTERN FILE")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var b []byte
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b, err = os.ReadFile(ts.MkAbs(args[1])); err == nil && re.Match(b) {
			return
		}
	}
	ts.Fatalf("no match for %q in %s:\n%s", args[0], args[1], b)
}

// cmdFreePort sets each variable to a port that nobody has.
func cmdFreePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: freeport VAR...")
	}
	for _, v := range args {
		ts.Setenv(v, freePort(func(a ...any) { ts.Fatalf("%s", fmt.Sprint(a...)) }))
	}
}

// lastPort is the port that freePort has chosen last.
var lastPort atomic.Int32

func init() { lastPort.Store(20_000 + rand.Int32N(10_000)) }

// freePort is a port that nobody has, is given to nobody else of this process, and lies below those that systems give away by
// themselves: the tests that run beside take many of those before it is listened on.
func freePort(fatal func(...any)) string {
	for range 1000 {
		port := strconv.Itoa(20_000 + int(lastPort.Add(1))%12_000)
		l, err := net.Listen("tcp", ":"+port)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			fatal(err)
		}
		return port
	}
	fatal("no port is free")
	return ""
}

// cmdSubst replaces $VAR and ${VAR} in files.
func cmdSubst(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: subst FILE...")
	}
	for _, f := range args {
		ts.Check(os.WriteFile(ts.MkAbs(f), []byte(os.Expand(ts.ReadFile(f), ts.Getenv)), 0o600))
	}
}

// statusJSON is what qmgrd status --json prints.
func statusJSON(t *testing.T, data, qm string) daemonStatus {
	t.Helper()
	out, err := qmgrd(data, nil, "status", qm, "--json")
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	var list []daemonStatus
	if err := json.Unmarshal(out, &list); err != nil || len(list) != 1 {
		t.Fatalf("status --json: %v: %s", err, out)
	}
	return list[0]
}

type daemonStatus struct {
	Name, Status, Socket, HTTP string
	PID                        int
	Listeners                  []struct{ Name, Address string }
}

// qmgrd runs the binary with a data directory.
func qmgrd(data string, stdin io.Reader, args ...string) ([]byte, error) {
	return tool("qmgrd", data, stdin, args...)
}

func tool(name, data string, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(binDir, name), args...)
	cmd.Env = append(os.Environ(), "QMGRD_DATA="+data)
	cmd.Stdin = stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out, err
}

// cmdWaitConn waits until a queue manager has an open handle of an object: waitconn QM OBJECT.
func cmdWaitConn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitconn QM OBJECT")
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		out, err := tool("runmqsc", ts.Getenv("QMGRD_DATA"),
			strings.NewReader("DISPLAY CONN(*) TYPE(HANDLE) WHERE(OBJNAME EQ '"+args[1]+"')\n"), args[0])
		if err == nil && bytes.Contains(out, []byte("OBJNAME("+args[1]+")")) {
			return
		}
	}
	ts.Fatalf("nobody has %s open", args[1])
}
