package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// runMQSC runs one command.
func runMQSC(t *testing.T, s *Server, command string) {
	t.Helper()
	in, _ := json.Marshal(map[string]any{"type": "runCommand", "parameters": map[string]string{"command": command}})
	if w := request(s, true, "POST", mqscPath, "application/json", string(in)); !strings.Contains(w.Body.String(), `"completionCode": 0`) &&
		!strings.Contains(w.Body.String(), `"completionCode":0`) {
		t.Fatalf("%s: %d %s", command, w.Code, w.Body)
	}
}

// drain reads a get stream to its last line, calls at before line number n, and returns the texts it got and the last line.
func drain(t *testing.T, c io.Writer, r *bufio.Reader, acked bool, n int, at func()) (texts []string, last string) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(resp.Body)
	for {
		if len(texts) == n {
			at()
		}
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, `{"e`) {
			return texts, line
		}
		var m Message
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Body == nil {
			t.Fatalf("%q: %v", line, err)
		}
		texts = append(texts, *m.Body)
		if acked {
			if _, err := io.WriteString(c, ackChunk(len(texts))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What a stream has written before a call was refused is the reader's: none of it is on the queue as well, and none is lost.
func TestGetRefusedOnTheWay(t *testing.T) {
	const all = 5000
	for _, ack := range []string{"yes", "no"} {
		t.Run(ack, func(t *testing.T) {
			s := newServer(t)
			open := serveUnix(t, s)
			defineA(t, s)
			putTexts(t, s, all)
			got := map[string]int{}
			for range 4 {
				c, r := open(strings.Replace(getAcked, "ack=yes", "ack="+ack, 1))
				texts, last := drain(t, c, r, ack == "yes", 101, func() { runMQSC(t, s, "ALTER QLOCAL(A) GET(DISABLED)") })
				if !strings.Contains(last, "2016") {
					t.Fatalf("the stream ends with %s", last)
				}
				for _, text := range texts {
					got[text]++
				}
				runMQSC(t, s, "ALTER QLOCAL(A) GET(ENABLED)")
			}
			for _, text := range leftOn(t, s, all-len(got)) {
				got[text]++
			}
			for text, n := range got {
				if n != 1 {
					t.Errorf("%s came %d times", text, n)
				}
			}
			if len(got) != all {
				t.Errorf("%d messages of %d", len(got), all)
			}
		})
	}
}

// A unit of work is as long as MAXUMSGS lets it be.
func TestStreamsKeepToMAXUMSGS(t *testing.T) {
	for _, most := range []int{1, 7} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			s := newServer(t)
			open := serveUnix(t, s)
			defineA(t, s)
			runMQSC(t, s, fmt.Sprintf("ALTER QMGR MAXUMSGS(%d)", most))
			var frames strings.Builder
			for i := range 130 {
				text := fmt.Sprintf("m%d", i)
				fmt.Fprintf(&frames, "\x00\x00\x00%c%s", len(text), text)
			}
			_, r := open(fmt.Sprintf("POST /qmgrd/put?queue=A HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", headers, frames.Len(), frames.String()))
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(resp.Body); !strings.HasSuffix(string(b), "{\"end\":130}\n") {
				t.Fatalf("put: %s", b)
			}
			c, r := open(strings.Replace(getAcked, "ack=yes", "count=60&ack=yes", 1))
			texts, last := drain(t, c, r, true, -1, nil)
			if len(texts) != 60 || last != "{\"end\":60}\n" {
				t.Fatalf("%d messages, then %s", len(texts), last)
			}
			c, r = open(strings.Replace(getAcked, "ack=yes", "ack=no", 1))
			texts, last = drain(t, c, r, false, -1, nil)
			if len(texts) != 70 || last != "{\"end\":70}\n" || texts[0] != "m60" || texts[69] != "m129" {
				t.Fatalf("%d messages, then %s", len(texts), last)
			}
			if left := leftOn(t, s, 0); len(left) != 0 {
				t.Fatalf("left: %v", left)
			}
		})
	}
}

// A stream or request that came to its end has disconnected; one that was refused, or whose reader went, has not.
func TestOrderlyEndInAccounting(t *testing.T) {
	s := newServer(t)
	open := serveUnix(t, s)
	defineA(t, s)
	runMQSC(t, s, "ALTER QMGR ACCTMQI(ON)")
	_, r := open("POST /qmgrd/put?queue=A HTTP/1.1\r\n" + headers + "Content-Length: 5\r\n\r\n\x00\x00\x00\x01x")
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(resp.Body); !strings.HasSuffix(string(b), "{\"end\":1}\n") {
		t.Fatalf("put: %s", b)
	}
	c, err := s.opt.Manager.Connect(context.Background(), auth.Identity{User: "app", Admin: true}, qmgr.ConnectOptions{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "SYSTEM.ADMIN.ACCOUNTING.QUEUE"
	h, err := c.Open(context.Background(), &od, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	x := &session{c: c, h: h}
	defer x.close()
	for {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		gmo.Options, gmo.WaitInterval = mqi.MQGMO_WAIT, 10_000
		body, err := x.get(context.Background(), &md, &gmo)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := mqi.ParseCF(body, mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
		if err != nil {
			t.Fatal(err)
		}
		appl := m.Find(mqi.MQCACF_APPL_NAME)
		if p := m.Find(mqi.MQIAMO_DISC_TYPE); p != nil && appl != nil && strings.TrimSpace(appl.Strings[0]) == "qmgrd" {
			if p.Ints[0] != mqi.MQDISCONNECT_NORMAL {
				t.Errorf("DISC_TYPE %d", p.Ints[0])
			}
			return
		}
	}
}
