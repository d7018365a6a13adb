package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/leaks"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, iniName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ufeffLog:\r\n   SegmentSize = 4M\r\n   LogPrimaryFiles=3\n# note\nadminsocket:\n  GROUP=mqm\n")
	c, err := ReadConfig(dir)
	if err != nil || c.SegmentSize != 4<<20 || c.AdminGroup != "mqm" {
		t.Fatalf("%+v %v", c, err)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], ":3: key LogPrimaryFiles of stanza Log") {
		t.Errorf("warnings %q", c.Warnings)
	}
	for text, want := range map[string]string{"Log:\nSegmentSize=1K": ":2: SegmentSize: 1024 is out of range",
		"Log:\nSegmentSize=lots": "not a size", "Log:\nnonsense": ":2:", "Store:\nMemoryLimit=99999999999G": "not a size",
		"Process:\nLowLatency=1": "use YES or NO"} {
		write(text)
		if _, err := ReadConfig(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	write("Variables:\n  Conname=host.example(1414)\nAutoCluster:\n  Type=Uniform\n  ClusterName=UC\n")
	if c, err := ReadConfig(dir); err != nil || c.Inserts["CONNAME"] != "host.example(1414)" || c.Inserts["AUTOCL"] != "UC" ||
		len(c.Warnings) != 1 {
		t.Errorf("inserts: %+v %v", c, err)
	}
	for text, want := range map[string]bool{"Process:\nLowLatency=YES": true, "Process:\nLowLatency=no": false} {
		write(text)
		if c, err := ReadConfig(dir); err != nil || c.LowLatency != want || len(c.Warnings) != 0 {
			t.Errorf("%q: %+v %v", text, c, err)
		}
	}
	write(initialIni)
	if c, err := ReadConfig(dir); err != nil || len(c.Warnings) != 0 {
		t.Errorf("what create writes: %v %q", err, c.Warnings)
	}
	if _, err := ReadConfig(t.TempDir()); err != nil {
		t.Errorf("no file: %v", err)
	}
}

// A creation that fails leaves nothing behind (issue 3: refuses existing, no half manager).
func TestCreateLeavesNothingBehind(t *testing.T) {
	data := filepath.Join(t.TempDir(), "deep", "data")
	_, err := Create(context.Background(), CreateOptions{DataDir: data, Name: "QM1", Descr: strings.Repeat("X", 65)})
	if !errors.Is(err, ErrBadOption) {
		t.Fatalf("a DESCR of 65 characters: %v", err)
	}
	left, err := os.ReadDir(data)
	if err != nil || len(left) != 0 {
		t.Fatalf("left behind: %v %v", left, err)
	}
	n, err := Create(context.Background(), CreateOptions{DataDir: data, Name: "QM1", DeadQ: "DEAD", Port: 21499})
	if err != nil || n < 60 {
		t.Fatalf("%d objects, %v", n, err)
	}
	if _, err := Create(context.Background(), CreateOptions{DataDir: data, Name: "QM1"}); !errors.Is(err, ErrExists) {
		t.Errorf("again: %v", err)
	}
	if _, err := Create(context.Background(), CreateOptions{DataDir: data, Name: "A B"}); !errors.Is(err, ErrBadName) {
		t.Errorf("bad name: %v", err)
	}
	st, err := os.Stat(paths.Dir(data, "QM1"))
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v %v", st.Mode(), err)
	}
}

// runHere runs a manager in this process until the test's stop request.
func runHere(t *testing.T, o Options) (stop func(store.StopMode) error) {
	t.Helper()
	ready := make(chan struct{})
	stops := make(chan StopRequest)
	done := make(chan error, 1)
	o.Ready = func() { close(ready) }
	o.Stops = stops
	if o.Log == nil {
		o.Log = &bytes.Buffer{}
	}
	o.Exit = func(code int) { t.Errorf("Exit(%d)", code) }
	go func() { done <- Run(context.Background(), o) }()
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("ended before it was ready: %v", err)
	}
	return func(m store.StopMode) error {
		stops <- StopRequest{Mode: m, Why: "test"}
		return <-done
	}
}

// systemd is told READY and STOPPING, and the watchdog is answered.
func TestNotify(t *testing.T) {
	l := notifySocket(t)
	said := make(chan string, 10_000)
	go func() {
		defer close(said)
		for b := make([]byte, 1024); ; {
			n, err := l.Read(b)
			if err != nil {
				return
			}
			said <- string(b[:n])
		}
	}()
	stop := runHere(t, Options{Name: "QM1", DataDir: t.TempDir(), Create: true})
	if got := <-said; !strings.Contains(got, "READY=1") {
		t.Errorf("first %q", got)
	}
	if got := <-said; got != "WATCHDOG=1" {
		t.Errorf("second %q", got)
	}
	if os.Getenv("NOTIFY_SOCKET") != "" {
		t.Error("NOTIFY_SOCKET would be inherited by services")
	}
	if err := stop(store.Quiesce); err != nil {
		t.Fatal(err)
	}
	limit := time.After(20 * time.Second)
	for stopping := false; !stopping; { // what the socket still holds would be gone with it
		select {
		case got, open := <-said:
			if stopping = strings.Contains(got, "STOPPING=1"); !open {
				t.Fatal("the socket has ended")
			}
		case <-limit:
			t.Fatal("the end was not told")
		}
	}
}

// notifySocket is where a supervisor reads, for the queue manager that starts next, which answers its watchdog each 10 ms.
func notifySocket(t *testing.T) *net.UnixConn {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "qmgrd-test-") // t.TempDir() may be longer than an address of a socket can be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sock := filepath.Join(dir, "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: sock, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv("NOTIFY_SOCKET", sock)
	t.Setenv("WATCHDOG_USEC", "20000")
	return l
}

// A supervisor that does not read holds up no end.
func TestNotifyUnread(t *testing.T) {
	l := notifySocket(t)
	c, err := net.DialUnix("unixgram", nil, l.LocalAddr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for err == nil { // until it takes no more
		if err = c.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err == nil {
			_, err = c.Write([]byte("x"))
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	stop := runHere(t, Options{Name: "QM1", DataDir: t.TempDir(), Create: true})
	ended := make(chan error)
	go func() { ended <- stop(store.Quiesce) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the queue manager does not end")
	}
}

// One process may hold a manager; status and the refusal name it.
func TestSecondStartIsRefused(t *testing.T) {
	data := t.TempDir()
	stop := runHere(t, Options{Name: "QM1", DataDir: data, Create: true})
	err := Run(context.Background(), Options{Name: "QM1", DataDir: data, Log: &bytes.Buffer{}})
	if !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("second start: %v", err)
	}
	st, err := StatusOf(context.Background(), data, "QM1")
	if err != nil || st.Status != StatusRunning || st.PID != os.Getpid() {
		t.Errorf("status %+v %v", st, err)
	}
	if err := stop(store.Immediate); err != nil {
		t.Fatal(err)
	}
	if st, err := StatusOf(context.Background(), data, "QM1"); err != nil || st.Status != StatusEndedNow {
		t.Errorf("status %+v %v", st, err)
	}
	if err := Delete(data, "QM1"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 0 {
		t.Errorf("left %v %v", left, err)
	}
}

// A start that fails at its last step gives back lock, socket and ports.
func TestFailedStartGivesEverythingBack(t *testing.T) {
	data := t.TempDir()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	var log bytes.Buffer
	err = Run(context.Background(), Options{Name: "QM1", DataDir: data, Create: true, Listen: busy.Addr().String(), Log: &log})
	if err == nil || !strings.Contains(err.Error(), "--listen") || !strings.Contains(log.String(), "AMQ9218E") {
		t.Fatalf("%v; log %s", err, log.String())
	}
	stop := runHere(t, Options{Name: "QM1", DataDir: data, Listen: "127.0.0.1:0"})
	st, err := StatusOf(context.Background(), data, "QM1")
	if err != nil || len(st.Listeners) != 1 {
		t.Fatalf("%+v %v", st, err)
	}
	// What does not speak the client protocol is told so and closed, not left hanging.
	c, err := net.Dial("tcp", st.Listeners[0].Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || !bytes.HasPrefix(b, []byte("TSH ")) {
		t.Errorf("read %q %v", b, err)
	}
	if err := stop(store.Preempt); err != nil {
		t.Fatal(err)
	}
}

func TestActivationTakesThePortAsked(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &activation{tcp: []net.Listener{l}}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, other := range []string{"127.0.0.1:1", "10.1.1.1:" + port, ":0", "nonsense"} {
		if a.take(other) != nil {
			t.Errorf("%s was given the socket", other)
		}
	}
	if a.take(":"+port) != l || a.take(":"+port) != nil {
		t.Error("the socket is given once, for its port")
	}
	a.closeRest()
	l.Close()
}

func TestServices(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	log := zerolog.Nop()
	h := newServices(&log, dir, clock.Real())
	ended := make(chan int, 1)
	spec := qmgr.ServiceSpec{Name: "S", StartCmd: "/bin/sh", StartArg: `-c "echo QM1 'a b'; exit 3"`, Stdout: out,
		Stderr: out, Server: true, Ended: func(code int) { ended <- code }}
	if pid, err := h.Start(spec); err != nil || pid <= 0 {
		t.Fatalf("%d %v", pid, err)
	}
	if code := <-ended; code != 3 {
		t.Errorf("exit code %d", code)
	}
	h.children.Wait()
	if b, err := os.ReadFile(out); err != nil || string(b) != "QM1 a b\n" {
		t.Errorf("%q %v", b, err)
	}
	spec.StartArg = `-c "sleep 60"`
	if _, err := h.Start(spec); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start(spec); err == nil {
		t.Error("a server was started twice")
	}
	if err := h.Stop(spec); err != nil {
		t.Fatal(err)
	}
	<-ended
	h.children.Wait()
	if err := h.Stop(spec); err == nil {
		t.Error("a server that has ended was stopped again")
	}
	spec.StartCmd = "/no/such/program"
	if _, err := h.Start(spec); err == nil {
		t.Error("a missing program was started")
	}
	if _, err := splitArgs(`a "b c`); err == nil {
		t.Error("an open quote was taken")
	}
}

func TestHTTPIsForLoopback(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "::1": true, "localhost": true, "": false, "0.0.0.0": false,
		"10.0.0.1": false, "localhost.example": false} {
		if isLoopback(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}

// syncBuffer is a log that a test reads while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A listener whose gate is shut binds its port and answers nobody.
func TestListenersWaitForTheGate(t *testing.T) {
	var out syncBuffer
	log := obs.NewLogger(&out, zerolog.InfoLevel, "QM1", nil)
	g := obs.NewGroup(context.Background(), log)
	h := newListeners(g, log, &activation{})
	addr, err := h.Start("L", "127.0.0.1:0", 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start("L", "127.0.0.1:0", 0); err == nil {
		t.Error("one name was bound twice")
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before the gate opened: %v", err)
	}
	h.open(func(_ context.Context, name string, l net.Listener) error {
		in, err := l.Accept()
		if err != nil {
			return err
		}
		log.Info().Msgf("served by %s", name)
		return in.Close()
	})
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection was left open")
	}
	if err := h.Stop("L"); err != nil {
		t.Fatal(err)
	}
	if err := h.Stop("L"); err == nil {
		t.Error("a listener was stopped twice")
	}
	if len(h.bound()) != 0 {
		t.Errorf("still bound: %v", h.bound())
	}
	g.Stop()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "served by L") {
		t.Errorf("the connection was not served: %s", out.String())
	}
}

// A sync that fails ends the manager with ErrStore and AMQ6119: nothing is acknowledged after it (T-FSYNCERR).
func TestFailedSyncEndsTheManager(t *testing.T) {
	data := t.TempDir()
	disk := errfs.New(vfs.OS())
	var log syncBuffer
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- Run(context.Background(), Options{Name: "QM1", DataDir: data, Create: true, FS: disk, Log: &log,
			Ready: func() { close(ready) }, Exit: func(int) {}})
	}()
	<-ready
	disk.Set(&errfs.Rule{Kind: errfs.Sync, N: 1, Sticky: true, Err: syscall.EIO})
	sock := paths.Socket(data, "QM1")
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return paths.DialUnix(ctx, sock)
	}}
	req, err := http.NewRequest("POST", "http://q/ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc",
		strings.NewReader(`{"type":"runCommand","parameters":{"command":"DEFINE QLOCAL(A)"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("ibm-mq-rest-csrf-token", "")
	if resp, err := tr.RoundTrip(req); err == nil {
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if strings.Contains(string(b), `"overallCompletionCode":0`) {
			t.Errorf("acknowledged although the sync failed: %s", b)
		}
	}
	if err := <-done; !errors.Is(err, ErrStore) {
		t.Errorf("Run: %v", err)
	}
	if !strings.Contains(log.String(), "AMQ6119S") {
		t.Errorf("log: %s", log.String())
	}
	if st, err := StatusOf(context.Background(), data, "QM1"); err != nil || st.Status != StatusEndedCrashed {
		t.Errorf("status %+v %v", st, err)
	}
	stop := runHere(t, Options{Name: "QM1", DataDir: data})
	if err := stop(store.Immediate); err != nil {
		t.Errorf("the next start: %v", err)
	}
}

// SIGTERM ends immediately, SIGINT quiesces, a second signal of any kind preempts (architecture §9).
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		sig  os.Signal
		n    int
		want store.StopMode
	}{{syscall.SIGTERM, 1, store.Immediate}, {os.Interrupt, 1, store.Quiesce}, {os.Interrupt, 2, store.Preempt},
		{syscall.SIGTERM, 2, store.Preempt}} {
		if got := signalMode(c.sig, c.n); got != c.want {
			t.Errorf("%v number %d: %v, want %v", c.sig, c.n, got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	sigs := make(chan os.Signal, 2)
	out := ForwardSignals(ctx, sigs)
	sigs <- os.Interrupt
	sigs <- syscall.SIGTERM
	if a, b := <-out, <-out; a.Mode != store.Quiesce || b.Mode != store.Preempt {
		t.Errorf("%+v %+v", a, b)
	}
	cancel()
}
