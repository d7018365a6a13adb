package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// putTexts puts n numbered messages on A.
func putTexts(t *testing.T, s *Server, n int) {
	t.Helper()
	x := appConn(t, s, mqi.MQOO_OUTPUT)
	defer x.close()
	for i := range n {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		md.Format = formatString
		if err := x.c.Put(context.Background(), x.h, &md, &pmo, fmt.Appendf(nil, "m%d", i)); err != nil {
			t.Fatal(err)
		}
	}
}

func appConn(t *testing.T, s *Server, options int32) *session {
	t.Helper()
	c, err := s.opt.Manager.Connect(context.Background(), auth.Identity{User: "app", Admin: true}, qmgr.ConnectOptions{ApplName: "t"})
	if err != nil {
		t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "A"
	h, err := c.Open(context.Background(), &od, options)
	if err != nil {
		t.Fatal(err)
	}
	return &session{c: c, h: h}
}

// leftOn gets what is on A, once the streams have given back what they held: it waits until want are there.
func leftOn(t *testing.T, s *Server, want int) (texts []string) {
	t.Helper()
	x := appConn(t, s, mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE|mqi.MQOO_INQUIRE)
	defer x.close()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		ints, _, err := x.c.Inq(context.Background(), x.h, []int32{mqi.MQIA_CURRENT_Q_DEPTH, mqi.MQIA_OPEN_INPUT_COUNT}, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		if ints[0] == int32(want) && ints[1] == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		body, err := x.get(context.Background(), &md, &gmo)
		if isReason(err, mqi.MQRC_NO_MSG_AVAILABLE) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(body))
	}
}

const getAcked = "POST /qmgrd/get?queue=A&ack=yes HTTP/1.1\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n"

func ackChunk(n int) string {
	line := fmt.Sprintf("%d\n", n)
	return fmt.Sprintf("%x\r\n%s\r\n", len(line), line)
}

// serveUnix opens s on a local socket, as qmgrd get finds it. (Over TCP the system may throw away what a reader sent last,
// when it goes with something unread; its messages come back then.)
func serveUnix(t *testing.T, s *Server) (dial func(request string) (net.Conn, *bufio.Reader)) {
	t.Helper()
	s.opt.Admins.UID = os.Getuid()
	dir, err := os.MkdirTemp("/tmp", "qmgrd-test-") // t.TempDir() may be longer than an address of a socket can be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(nil)
	ts.Listener.Close()
	ts.Listener, ts.Config = l, s.http
	ts.Start()
	t.Cleanup(ts.Close)
	return func(request string) (net.Conn, *bufio.Reader) { return dialOn(t, "unix", l.Addr().String(), request) }
}

// defineA makes the queue.
func defineA(t *testing.T, s *Server) {
	t.Helper()
	if w := request(s, true, "POST", mqscPath, "application/json",
		`{"type":"runCommand","parameters":{"command":"DEFINE QLOCAL(A)"}}`); !strings.Contains(w.Body.String(), "AMQ8006I") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

// A reader that goes takes with it what it acknowledged, and nothing else, however much was on its way to it.
func TestGetKeepsWhatIsNotAcknowledged(t *testing.T) {
	for _, taken := range []int{0, 1, 3, 60, 250} {
		t.Run(fmt.Sprint(taken), func(t *testing.T) {
			s := newServer(t)
			open := serveUnix(t, s)
			defineA(t, s)
			putTexts(t, s, 300)
			c, r := open(getAcked)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(resp.Body)
			for n := 1; n <= taken; n++ {
				if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, fmt.Sprintf(`"m%d"`, n-1)) {
					t.Fatalf("message %d: %q %v", n, line, err)
				}
				if n%7 == 0 || n == taken {
					if _, err := io.WriteString(c, ackChunk(n)); err != nil {
						t.Fatal(err)
					}
				}
			}
			// In order: what was acknowledged is taken exactly.
			if _, err := io.WriteString(c, "0\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, c)
			left := leftOn(t, s, 300-taken)
			if len(left) != 300-taken || left[0] != fmt.Sprintf("m%d", taken) || left[len(left)-1] != "m299" {
				t.Fatalf("%d messages are left of 300 after %d were acknowledged, from %s", len(left), taken, left[0])
			}
		})
	}
}

// A reader that breaks off may lose its last acknowledgement on the way: messages come back then, and none is lost.
func TestGetByAReaderThatBreaksOff(t *testing.T) {
	s := newServer(t)
	open := serveUnix(t, s)
	defineA(t, s)
	putTexts(t, s, 300)
	for range 5 {
		c, r := open(getAcked)
		if _, err := http.ReadResponse(r, nil); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if left := leftOn(t, s, 300); len(left) != 300 {
		t.Fatalf("%d messages are left of 300", len(left))
	}
}

// A reader that acknowledges everything gets everything, once, and the last line.
func TestGetWithAcks(t *testing.T) {
	s := newServer(t)
	addr := serveTCP(t, s, time.Minute)
	define(t, addr, "DEFINE QLOCAL(A)")
	putTexts(t, s, 333)
	c, r := dial(t, addr, getAcked)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(resp.Body)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, `{"end"`) {
			if n != 334 || line != "{\"end\":333}\n" {
				t.Fatalf("the stream ends with %q after %d messages", line, n-1)
			}
			break
		}
		if _, err := io.WriteString(c, ackChunk(n)); err != nil {
			t.Fatal(err)
		}
	}
	if left := leftOn(t, s, 0); len(left) != 0 {
		t.Fatalf("left: %v", left)
	}
}

// How messages are taken is said, not guessed.
func TestGetAsksForAcks(t *testing.T) {
	s := newServer(t)
	addr := serveTCP(t, s, time.Minute)
	define(t, addr, "DEFINE QLOCAL(A)")
	putTexts(t, s, 1)
	_, r := dial(t, addr, "POST /qmgrd/get?queue=A HTTP/1.1\r\n"+headers+"Content-Length: 0\r\n\r\n")
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Fatalf("%v %v", resp, err)
	}
	if left := leftOn(t, s, 1); len(left) != 1 {
		t.Fatalf("left: %v", left)
	}
}

// A stream is refused at once though its sender has not ended its body.
func TestRefusedStreamDoesNotWait(t *testing.T) {
	s := newServer(t)
	addr := serveTCP(t, s, time.Minute)
	for _, path := range []string{"/qmgrd/get?queue=NONE&ack=yes", "/qmgrd/put?queue=NONE", "/qmgrd/subscribe?topic=&ack=yes&count=x"} {
		_, r := dial(t, addr, "POST "+path+" HTTP/1.1\r\n"+headers+"Transfer-Encoding: chunked\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode/100 != 4 {
			t.Errorf("%s: %v %v", path, resp, err)
		}
	}
}
