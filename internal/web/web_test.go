package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/leaks"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// newServer makes a door to a manager in memory.
func newServer(t *testing.T) *Server {
	t.Helper()
	log := zerolog.Nop()
	st := store.OpenMem()
	o := qmgr.Options{Name: "QM1", Store: st, Clock: clock.Real(), Log: &log, User: "mqm"}
	if err := qmgr.Create(o); err != nil {
		t.Fatal(err)
	}
	m, err := qmgr.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Manager: m, Store: st, Name: "QM1", Clock: clock.Real(), Log: &log, Admins: Admins{UID: os.Getuid()},
		Status: func() Status { return Status{Name: "QM1", Status: "Running"} }, Stop: func(store.StopMode) {}})
	t.Cleanup(func() {
		if err := m.Stop(context.Background(), store.Immediate); err != nil {
			t.Error(err)
		}
	})
	return s
}

// request runs one request as somebody.
func request(s *Server, admin bool, method, path, ctype, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("ibm-mq-rest-csrf-token", "")
	r.Header.Set("Content-Type", ctype)
	id := auth.Identity{User: "someone", UID: 4711, Admin: admin, Origin: "local"}
	r.Host = "localhost"
	r = r.WithContext(context.WithValue(r.Context(), identityKey{}, id))
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, r)
	return w
}

const mqscPath = "/ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc"

// Who is no administrator is refused with the user named, and nothing is done (interface.md §2).
func TestOthersAreRefused(t *testing.T) {
	s := newServer(t)
	command := `{"type":"runCommand","parameters":{"command":"DEFINE QLOCAL(EVIL)"}}`
	for _, c := range [][3]string{{"POST", mqscPath, command}, {"GET", "/metrics", ""}, {"GET", "/qmgrd/export", ""},
		{"POST", "/qmgrd/stop", ""}, {"GET", "/qmgrd/status", ""}} {
		w := request(s, false, c[0], c[1], "application/json", c[2])
		var e struct{ Error []Problem }
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || len(e.Error) != 1 {
			t.Fatalf("%s: %v %s", c[1], err, w.Body)
		}
		if w.Code != http.StatusForbidden || !strings.Contains(e.Error[0].Message, "user someone") ||
			e.Error[0].Explanation == "" || e.Error[0].Action == "" {
			t.Errorf("%s: %d %+v", c[1], w.Code, e.Error[0])
		}
	}
	for _, path := range []string{"/ibmmq/rest/v2/messaging/qmgr/QM1/queue/SYSTEM.DEFAULT.LOCAL.QUEUE/message",
		"/qmgrd/put?queue=SYSTEM.DEFAULT.LOCAL.QUEUE"} {
		w := request(s, false, "POST", path, "text/plain", "x")
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "2035") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	w := request(s, true, "POST", mqscPath, "application/json",
		`{"type":"runCommand","parameters":{"command":"DISPLAY QLOCAL(EVIL)"}}`)
	if !strings.Contains(w.Body.String(), "AMQ8147E") {
		t.Errorf("the refused command was run: %s", w.Body)
	}
}

// Administrators are root, the manager's own user, and the members of the group.
func TestIdentify(t *testing.T) {
	if id := (Admins{UID: 4711}).Identify(Peer{UID: 0}); !id.Admin || id.User != "root" {
		t.Errorf("root: %+v", id)
	}
	if id := (Admins{UID: 4711}).Identify(Peer{UID: 4711}); !id.Admin || id.User != "4711" {
		t.Errorf("own user: %+v", id)
	}
	if id := (Admins{UID: 1}).Identify(Peer{UID: 4711}); id.Admin {
		t.Errorf("a stranger: %+v", id)
	}
	self := (Admins{UID: -1}).Identify(Peer{UID: os.Getuid()})
	for _, g := range self.Groups {
		if id := (Admins{UID: -1, Group: g}).Identify(Peer{UID: os.Getuid()}); !id.Admin {
			t.Errorf("member of %s: %+v", g, id)
		}
	}
	if len(self.Groups) == 0 {
		t.Error("the user running this test has no groups")
	}
}

// A panic ends its request: 500 while nothing was sent, a cut connection after that.
func TestPanicStaysInItsRequest(t *testing.T) {
	s := newServer(t)
	quiet := s.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") }))
	w := httptest.NewRecorder()
	quiet.ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	begun := s.guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("half")); panic("boom") }))
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v", p)
		}
	}()
	begun.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil))
}

// More requests than there are slots are told so at once; an administrator can still see how it is, and end it.
func TestRequestsAreBounded(t *testing.T) {
	s := newServer(t)
	for range maxRequests {
		s.slots <- struct{}{}
	}
	if w := request(s, true, "GET", "/ibmmq/rest/v2/admin/qmgr", "", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for path := range urgent {
		if w := request(s, true, "GET", path, "", ""); w.Code == http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	<-s.slots
	if w := request(s, true, "GET", "/ibmmq/rest/v2/admin/qmgr", "", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for range maxUrgent {
		s.urgent <- struct{}{}
	}
	if w := request(s, true, "GET", "/healthz", "", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("urgent ones have no bound: %d %s", w.Code, w.Body)
	}
}

// --http-insecure is for programs of this machine: no page of a browser gets in, not by a name that resolves to loopback
// and not from another origin.
func TestInsecureIsForThisMachine(t *testing.T) {
	s := newServer(t)
	s.opt.LoopbackAdmin = true
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"localhost:9443", "", 200}, {"127.0.0.1", "", 200}, {"[::1]:9443", "", 200}, {"LOCALHOST", "", 200}, {"[::1]", "", 200},
		{"localhost:9443", "http://localhost:9443", 200}, {"localhost:9443", "http://localhost:80", 403},
		{"localhost:9443", "http://evil.example", 403}, {"localhost:9443", "null", 403},
		{"evil.example:9443", "", 403}, {"localhost.evil.example", "", 403}, {"127.0.0.1.evil.example", "", 403},
		{"10.0.0.1:9443", "", 403}, {"", "", 403},
	} {
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("Host %q Origin %q: %d, want %d", c.host, c.origin, w.Code, c.want)
		}
	}
}

func TestForms(t *testing.T) {
	s := newServer(t)
	form := func(name, body string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + body + "\r\n--B--\r\n"
	}
	s.opt.LoopbackAdmin = true
	srv := httptest.NewUnstartedServer(s.http.Handler)
	srv.Config.ConnContext = s.connContext
	srv.Start()
	defer srv.Close()
	post := func(body string) (int, string) {
		r, err := http.NewRequest("POST", srv.URL+mqscPath, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("ibm-mq-rest-csrf-token", "")
		r.Header.Set("Content-Type", "multipart/form-data; boundary=B")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if code, b := post(form("script", "PING QMGR")); code != 200 || !strings.Contains(b, "AMQ8415I") {
		t.Errorf("%d %s", code, b)
	}
	if code, b := post(form("flow.esql", "x")); code != 501 || !strings.Contains(b, "SRCFILE") {
		t.Errorf("%d %s", code, b)
	}
	if code, b := post("--B--\r\n"); code != 400 {
		t.Errorf("%d %s", code, b)
	}
}

func TestFrames(t *testing.T) {
	in := func(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), 16) }
	r := in("\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x14" + strings.Repeat("c", 20))
	for _, want := range []string{"ab", "", strings.Repeat("c", 20)} {
		if b, err := readFrame(r); err != nil || string(b) != want {
			t.Fatalf("%q %v, want %q", b, err, want)
		}
	}
	if _, err := readFrame(r); !errors.Is(err, io.EOF) {
		t.Errorf("end: %v", err)
	}
	for _, bad := range []string{"\x00\x00", "\x00\x00\x00\x05abc", "\xff\xff\xff\xff", "\x00\x10\x00\x00short"} {
		var p *Problem
		if _, err := readFrame(in(bad)); !errors.As(err, &p) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzFrames: no input panics, and none makes more memory than it has bytes.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02ab"))
	f.Add([]byte("\x06\x40\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(b), 16)
		for n := 0; ; {
			body, err := readFrame(r)
			if err != nil {
				return
			}
			if n += 4 + len(body); n > len(b) {
				t.Fatalf("%d bytes out of %d", n, len(b))
			}
		}
	})
}

// What the door says of an error never holds its cause: that is for the log.
func TestErrorsHideCauses(t *testing.T) {
	p := ofError(mqi.Wrap("MQPUT", "Q", mqi.MQRC_RESOURCE_PROBLEM, errors.New("/secret/path: no space")))
	if strings.Contains(p.Message, "secret") || p.RC != mqi.MQRC_RESOURCE_PROBLEM || p.status != http.StatusInsufficientStorage {
		t.Errorf("%+v %d", p, p.status)
	}
	for object, want := range map[string]string{"Q": "MQPUT of Q ended", "": "MQPUT ended"} { // of a broken connection none is known
		if p := ofError(mqi.E("MQPUT", object, mqi.MQRC_CONNECTION_BROKEN)); !strings.Contains(p.Message, want) {
			t.Errorf("%q: %s", object, p.Message)
		}
	}
	if p := ofError(errors.New("/secret/path")); strings.Contains(p.Message, "secret") || p.status != 500 {
		t.Errorf("%+v", p)
	}
	for id, row := range problems {
		if row.status == 0 || row.explanation == "" || row.action == "" {
			t.Errorf("%s has an empty cell", id)
		}
	}
}
