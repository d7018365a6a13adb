package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// serveTCP opens s on a port, with its own user's rights for everybody.
func serveTCP(t *testing.T, s *Server, timeout time.Duration) string {
	t.Helper()
	s.opt.LoopbackAdmin, s.timeout = true, timeout
	ts := httptest.NewUnstartedServer(nil)
	ts.Config = s.http
	ts.Start()
	t.Cleanup(ts.Close)
	return ts.Listener.Addr().String()
}

// define runs a script.
func define(t *testing.T, addr, script string) {
	t.Helper()
	_, r := dial(t, addr, fmt.Sprintf("POST /ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc HTTP/1.1\r\n%sContent-Type: text/plain\r\n"+
		"Content-Length: %d\r\n\r\n%s", headers, len(script), script))
	if b, err := io.ReadAll(r); err != nil || !strings.Contains(string(b), "AMQ8006I") {
		t.Fatalf("%v: %s", err, b)
	}
}

func dial(t *testing.T, addr, request string) (net.Conn, *bufio.Reader) {
	t.Helper()
	return dialOn(t, "tcp", addr, request)
}

func dialOn(t *testing.T, network, addr, request string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

const headers = "Host: localhost\r\nibm-mq-rest-csrf-token: x\r\n"

// A body of which nothing more comes ends with its request; a stream between two messages, and one that somebody types,
// does not.
func TestHalfBodiesEnd(t *testing.T) {
	s := newServer(t)
	const timeout = 100 * time.Millisecond
	addr := serveTCP(t, s, timeout)
	define(t, addr, "DEFINE QLOCAL(A)")
	mqsc := "POST /ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc HTTP/1.1\r\n" + headers
	halves := map[string]string{
		"json":    mqsc + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"message": "POST /ibmmq/rest/v2/messaging/qmgr/QM1/queue/A/message HTTP/1.1\r\n" + headers + "Content-Length: 100\r\n\r\nx",
		"length":  "POST /qmgrd/put?queue=A HTTP/1.1\r\n" + headers + "Content-Length: 100\r\n\r\n\x00\x00",
		"frame":   "POST /qmgrd/put?queue=A HTTP/1.1\r\n" + headers + "Content-Length: 100\r\n\r\n\x00\x00\x00\x09abc",
	}
	for name, text := range halves {
		_, r := dial(t, addr, text)
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%s: a half body keeps its connection: %v", name, err)
		}
	}
	if n := len(s.slots); n != 0 {
		t.Errorf("%d slots are taken", n)
	}
	// What may be idle.
	c1, r1 := dial(t, addr, "POST /qmgrd/put?queue=A HTTP/1.1\r\n"+headers+"Transfer-Encoding: chunked\r\n\r\n5\r\n\x00\x00\x00\x01a\r\n")
	c2, r2 := dial(t, addr, mqsc+"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nDISPLAY \r\n")
	time.Sleep(5 * timeout)
	fmt.Fprint(c1, "5\r\n\x00\x00\x00\x01b\r\n0\r\n\r\n")
	fmt.Fprint(c2, "5\r\nQL(A)\r\n0\r\n\r\n")
	for r, want := range map[*bufio.Reader]string{r1: `"end":2`, r2: "QUEUE(A)"} {
		if b, err := io.ReadAll(r); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("an idle stream: %v, %q", err, b)
		}
	}
}

// Idle streams are bounded: one too many must go on within the time.
func TestIdleStreamsAreBounded(t *testing.T) {
	s := newServer(t)
	addr := serveTCP(t, s, 100*time.Millisecond)
	define(t, addr, "DEFINE QLOCAL(A)")
	s.idle.Store(maxIdle)
	_, r := dial(t, addr, "POST /qmgrd/put?queue=A HTTP/1.1\r\n"+headers+"Transfer-Encoding: chunked\r\n\r\n")
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if n := s.idle.Load(); n != maxIdle {
		t.Fatalf("%d idle streams are counted, want %d", n, maxIdle)
	}
}

// A reader that takes nothing is cut off.
func TestReaderThatTakesNothingIsCut(t *testing.T) {
	s := newServer(t)
	addr := serveTCP(t, s, 200*time.Millisecond)
	define(t, addr, "DEFINE QLOCAL(A)")
	for range 8 {
		w := request(s, true, "POST", "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/A/message", "text/plain", strings.Repeat("x", 3<<20))
		if w.Code != 201 {
			t.Fatal(w.Code, w.Body)
		}
	}
	c, r := dial(t, addr, "POST /qmgrd/get?browse=yes&queue=A HTTP/1.1\r\n"+headers+"Content-Length: 0\r\n\r\n")
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != http.StatusOK { // it has begun; its body is not read
		t.Fatal(resp, err)
	}
	for end := time.Now().Add(10 * time.Second); len(s.slots) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the browse still holds its slot")
		}
	}
}

// A put stream that is refused in its middle leaves the rest of its body unread: nothing of it, and no watcher of the
// connection, may meet the next request.
func TestRefusedStreamLeavesNoReader(t *testing.T) {
	s := newServer(t)
	addr := serveTCP(t, s, time.Second)
	define(t, addr, "DEFINE QLOCAL(A) MAXDEPTH(1)")
	for range 50 {
		body := strings.Repeat("\x00\x00\x00\x01a", 40)
		next := "POST /qmgrd/put?queue=A HTTP/1.1\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
		_, r := dial(t, addr, fmt.Sprintf("POST /qmgrd/put?queue=A HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n"+
			"%x\r\n%s\r\n4\r\n\x00\x00\x00\x00\r\n0\r\n\r\n%s", headers, len(body), body, next))
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(b); !strings.Contains(text, fmt.Sprint(mqi.MQRC_Q_FULL)) || strings.Contains(text, "MQWB0112E") ||
			strings.Count(text, "HTTP/1.1 ") != 1 || !strings.Contains(text, "Connection: close") {
			t.Fatalf("the reply of a refused stream: %q", text)
		}
	}
}
