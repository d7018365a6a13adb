package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

func testServices(t *testing.T) (*services, *bytes.Buffer) {
	var buf bytes.Buffer
	log := zerolog.New(zerolog.SyncWriter(&buf))
	return newServices(&log, t.TempDir(), clock.Real()), &buf
}

// A pipe that nobody reads refuses the start at once, and holds nobody up.
func TestServiceOutputIsAPipe(t *testing.T) {
	h, _ := testServices(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := h.Start(qmgr.ServiceSpec{Name: "S", StartCmd: "/bin/true", Stdout: fifo, Server: true})
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "pipe that nobody reads") {
			t.Fatalf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("START SERVICE waits for a reader of its pipe")
	}
	h.stopAll()
}

// A file that was opened without waiting is an ordinary one for the program, and its output is there.
func TestServiceOutput(t *testing.T) {
	h, _ := testServices(t)
	out := filepath.Join(t.TempDir(), "out")
	ended := make(chan int, 1)
	if _, err := h.Start(qmgr.ServiceSpec{Name: "S", StartCmd: "/bin/sh", StartArg: `-c "echo told; echo bad >&2"`, Stdout: out,
		Stderr: out, Server: true, Ended: func(exit int) { ended <- exit }}); err != nil {
		t.Fatal(err)
	}
	if exit := <-ended; exit != 0 {
		t.Fatalf("exit code %d", exit)
	}
	h.stopAll()
	if b, err := os.ReadFile(out); err != nil || string(b) != "told\nbad\n" {
		t.Fatalf("%q %v", b, err)
	}
}

// A server that ignores SIGTERM is killed, and its goroutine has ended when stopAll returns; nothing starts afterwards.
func TestServicesEndAtStop(t *testing.T) {
	h, log := testServices(t)
	fake := clock.NewFake(time.Unix(0, 0))
	h.clk = fake
	ended := make(chan int, 1)
	mark := filepath.Join(t.TempDir(), "up")
	if _, err := h.Start(qmgr.ServiceSpec{Name: "DEAF", StartCmd: "/bin/sh",
		StartArg: `-c "trap '' TERM; : > ` + mark + `; while :; do sleep 1; done"`, Server: true,
		Ended: func(exit int) { ended <- exit }}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	stopped := make(chan struct{})
	go func() { h.stopAll(); close(stopped) }()
	for done := false; !done; {
		select {
		case <-stopped:
			done = true
		case <-time.After(5 * time.Millisecond):
			fake.Advance(serviceGrace)
		}
	}
	if len(ended) != 1 || !strings.Contains(log.String(), "is killed") {
		t.Fatalf("ended %d, log %s", len(ended), log.String())
	}
	if _, err := h.Start(qmgr.ServiceSpec{Name: "LATE", StartCmd: "/bin/true"}); !errors.Is(err, errEnding) {
		t.Fatalf("a start after the end: %v", err)
	}
}

// A fault keeps its exit code and its word though the tidy end takes too long.
func TestFaultEndsWithItsCode(t *testing.T) {
	for _, fault := range []error{nil, ErrStore} {
		dir := t.TempDir()
		h, _ := testServices(t)
		code := -1
		d := &daemon{dir: dir, services: h, opt: Options{Exit: func(c int) { code = c }}}
		d.exit(store.Preempt, fault)
		b, err := os.ReadFile(filepath.Join(dir, stateName))
		if err != nil {
			t.Fatal(err)
		}
		var st state
		if err := json.Unmarshal(b, &st); err != nil {
			t.Fatal(err)
		}
		if fault == nil && (code != 0 || st.Status != StatusEndedHard) || fault != nil && (code == 0 || st.Status != StatusEndedCrashed) {
			t.Errorf("fault %v: code %d, %s", fault, code, st.Status)
		}
	}
}

// What a creation or removal left that was cut short goes with the next one; a creation under way stays.
func TestLeftoversAreSwept(t *testing.T) {
	data := t.TempDir()
	for name, age := range map[string]time.Duration{".create-1": 2 * time.Hour, ".create-2": 0, ".delete-QM-9": 0, "QM9": 0} {
		dir := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Join(dir, "log"), 0o700); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Create(context.Background(), CreateOptions{DataDir: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(data)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != ".create-2 QM1 QM9" {
		t.Fatalf("%s, %v", got, err)
	}
}

// A damaged store says what to do; --accept-loss goes on without what is damaged.
func TestDamagedStore(t *testing.T) {
	data := t.TempDir()
	stop := runHere(t, Options{Name: "QM1", DataDir: data, Create: true})
	if err := stop(store.Immediate); err != nil {
		t.Fatal(err)
	}
	segs, err := filepath.Glob(filepath.Join(paths.Dir(data, "QM1"), "log", "*.seg"))
	if err != nil || len(segs) == 0 {
		t.Fatal("no segments", err)
	}
	for _, s := range segs {
		if err := os.WriteFile(s, []byte("nothing of a log"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for left, want := range map[string]string{StatusRunning: StatusEndedCrashed, StatusEndedCrashed: StatusEndedCrashed,
		StatusEndedNormal: StatusEndedNormal} {
		if err := writeState(paths.Dir(data, "QM1"), state{left, 0}); err != nil {
			t.Fatal(err)
		}
		err = Run(context.Background(), Options{Name: "QM1", DataDir: data, Log: &bytes.Buffer{}})
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "--accept-loss") ||
			!strings.Contains(err.Error(), "written after it") {
			t.Fatalf("%v", err)
		}
		// A start that fails does not change how the queue manager ended.
		if st, err := StatusOf(context.Background(), data, "QM1"); err != nil || st.Status != want {
			t.Errorf("it had left %q: %+v %v", left, st, err)
		}
	}
	var log bytes.Buffer
	stop = runHere(t, Options{Name: "QM1", DataDir: data, AcceptLoss: true, Log: zerolog.SyncWriter(&log)})
	if err := stop(store.Immediate); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "AMQ7048W") {
		t.Errorf("the log does not name the loss: %s", log.String())
	}
}

// A detached start's failure keeps its kind by its code, not by its words.
func TestDetachErrorKind(t *testing.T) {
	e := newDetachError(5, "running: the queue manager is running: QM1")
	if !errors.Is(e, ErrRunning) || errors.Is(e, ErrNoSuch) || e.Error() != "the queue manager is running: QM1" {
		t.Errorf("%+v", e)
	}
	e = newDetachError(20, "other: there is no such queue manager in this text")
	if errors.Is(e, ErrNoSuch) {
		t.Errorf("%+v is told by its words", e)
	}
	if e = newDetachError(20, "a plain: text"); e.Error() != "a plain: text" || errors.Is(e, ErrRunning) {
		t.Errorf("%+v", e)
	}
}

// A manager whose door is open and does not answer is busy, not starting.
func TestBusyIsNotStarting(t *testing.T) {
	data := t.TempDir()
	if _, err := Create(context.Background(), CreateOptions{DataDir: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	dir := paths.Dir(data, "QM1")
	l, err := lock(dir, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := writeState(dir, state{StatusRunning, 4711}); err != nil {
		t.Fatal(err)
	}
	if st, err := StatusOf(context.Background(), data, "QM1"); err != nil || st.Status != StatusStarting {
		t.Errorf("no door: %+v %v", st, err)
	}
	door, err := paths.ListenUnix(paths.Socket(data, "QM1"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })}
	go func() { _ = srv.Serve(door) }()
	defer srv.Close()
	if st, err := StatusOf(context.Background(), data, "QM1"); err != nil || st.Status != StatusRunning || st.PID != 4711 {
		t.Errorf("busy: %+v %v", st, err)
	}
}
