package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/qmgrd/qmgrd/mq"
)

// held are the clients that a script keeps connected, by script and name.
var held sync.Map

type heldKey struct {
	dir, name string
}

type heldClient struct {
	conn *mq.Conn
	got  chan error // the end of the get that waits
}

// cmdMQHold connects a client that stays: mqhold NAME ADDR CHANNEL [wait=QUEUE]. With wait it gets from a queue, for ever.
func cmdMQHold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: mqhold NAME ADDR CHANNEL [wait=QUEUE]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := mq.Connect(ctx, mq.Options{Addr: args[1], Channel: args[2], ApplName: args[0]})
	ts.Check(err)
	h := &heldClient{conn: c, got: make(chan error, 1)}
	held.Store(heldKey{ts.Getenv("WORK"), args[0]}, h)
	ts.Defer(func() { c.Close() })
	if len(args) > 3 {
		q, err := c.Open(ctx, args[3][len("wait="):], mq.Input)
		ts.Check(err)
		go func() {
			_, err := q.Get(context.Background(), mq.GetOptions{Wait: mq.Forever})
			h.got <- err
		}()
	}
}

func heldOf(ts *testscript.TestScript, name string) *heldClient {
	v, ok := held.Load(heldKey{ts.Getenv("WORK"), name})
	if !ok {
		ts.Fatalf("no client %s", name)
	}
	return v.(*heldClient)
}

// cmdMQEnd waits for something of a held client and prints the reason: mqend NAME get (the end of its get), gone (of its
// connection), told (it is asked to end), put=QUEUE (a put), or close (it disconnects).
func cmdMQEnd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mqend NAME get|gone|told|put=QUEUE|close")
	}
	h := heldOf(ts, args[0])
	limit := time.After(20 * time.Second)
	var err error
	switch what := args[1]; what {
	case "get":
		select {
		case err = <-h.got:
		case <-limit:
			ts.Fatalf("the get of %s has not ended", args[0])
		}
	case "gone":
		select {
		case <-h.conn.Done():
		case <-limit:
			ts.Fatalf("the connection of %s has not ended", args[0])
		}
		err = h.conn.Commit(context.Background())
	case "told":
		select {
		case <-h.conn.Quiescing():
		case <-limit:
			ts.Fatalf("%s was not told", args[0])
		}
	case "close":
		err = h.conn.Close()
	default:
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err = h.conn.Put1(ctx, what[len("put="):], mq.NewMessage([]byte("held")), mq.PutOptions{})
	}
	var e *mq.Error
	switch {
	case err == nil:
		fmt.Fprintln(ts.Stdout(), "reason 0")
	case errors.As(err, &e):
		fmt.Fprintf(ts.Stdout(), "reason %d %s\n", e.Reason, e.Reason)
	default:
		ts.Fatalf("%s: %v", args[0], err)
	}
}

// cmdFlood connects many times and sends nothing: flood ADDR N.
func cmdFlood(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flood ADDR N")
	}
	var n int
	if _, err := fmt.Sscan(args[1], &n); err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	for range n {
		c, err := net.DialTimeout("tcp", args[0], 10*time.Second)
		ts.Check(err)
		ts.Defer(func() { c.Close() })
	}
}

// cmdWaitChs waits until a channel has a status, or NONE, or shows an attribute: waitchs QM CHANNEL STATUS|NONE|ATTR(VALUE).
func cmdWaitChs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: waitchs QM CHANNEL STATUS")
	}
	var out []byte
	want := "  STATUS(" + args[2] + ")"
	if strings.Contains(args[2], "(") {
		want = args[2]
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		out, _ = tool("runmqsc", ts.Getenv("QMGRD_DATA"), strings.NewReader("DISPLAY CHSTATUS("+args[1]+") ALL\n"), args[0])
		if args[2] == "NONE" && bytes.Contains(out, []byte("AMQ8420I")) || bytes.Contains(out, []byte(want)) {
			return
		}
	}
	ts.Fatalf("channel %s is not %s: %s", args[1], args[2], out)
}

var connID = regexp.MustCompile(`CONN\(([0-9A-F]{16})\)`)

// cmdStopConn ends the connection of an application: stopconn QM APPLTAG.
func cmdStopConn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: stopconn QM APPLTAG")
	}
	out, err := tool("runmqsc", ts.Getenv("QMGRD_DATA"), strings.NewReader("DISPLAY CONN(*) WHERE(APPLTAG EQ '"+args[1]+"')\n"), args[0])
	ts.Check(err)
	m := connID.FindSubmatch(out)
	if m == nil {
		ts.Fatalf("no connection of %s: %s", args[1], out)
	}
	_, err = tool("runmqsc", ts.Getenv("QMGRD_DATA"), strings.NewReader("STOP CONN("+string(m[1])+")\n"), args[0])
	ts.Check(err)
}
