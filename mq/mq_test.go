package mq_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/mq"
)

// A message comes out as it went in, with what the queue manager adds; on a shared socket, an unshared one, and with
// segments that split it.
func TestPutGet(t *testing.T) {
	for name, set := range map[string]func(*fap.Instance){
		"shared":   nil,
		"unshared": func(i *fap.Instance) { i.ShareCnv = 0 },
		"large":    func(i *fap.Instance) { i.MaxMsg = 100 << 20 },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, set, "DEFINE QLOCAL(Q) MAXMSGL(104857600)")
			c := s.connect(t)
			if c.QueueManager() != "QM1" || c.ID() == (mq.ID{}) {
				t.Errorf("reached %q, id %x", c.QueueManager(), c.ID())
			}
			q := open(t, c, "Q", mq.Output|mq.InputShared)
			in := mq.NewMessage(bytes.Repeat([]byte("0123456789"), 20_000))
			in.Type, in.Priority, in.Persistence, in.Expiry = mq.Request, 7, mq.Persistent, time.Hour
			in.Format, in.CCSID, in.ReplyTo, in.CorrelID = mq.FormatString, 1208, "ANSWERS", mq.ID{1, 2, 3}
			if err := q.Put(ctx, in, mq.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			if in.MsgID == (mq.ID{}) || time.Since(in.PutTime).Abs() > time.Minute {
				t.Errorf("put filled in id %x, time %v", in.MsgID, in.PutTime)
			}
			out, err := q.Get(ctx, mq.GetOptions{MsgID: in.MsgID})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Body, in.Body) || out.Priority != 7 || out.Persistence != mq.Persistent || out.Type != mq.Request ||
				out.ReplyTo != "ANSWERS" || out.CorrelID != in.CorrelID || out.Queue != "Q" || out.PutTime != in.PutTime {
				out.Body = nil
				t.Errorf("got %+v", out)
			}
			if out.Expiry <= 0 || out.Expiry > time.Hour || out.Appl == "" {
				t.Errorf("expiry %v appl %q", out.Expiry, out.Appl)
			}
			if err := c.Disconnect(ctx); err != nil {
				t.Fatal(err)
			}
			if err := q.Put(ctx, in, mq.PutOptions{}); !errors.Is(err, mq.ConnectionBroken) {
				t.Errorf("after disconnecting: %v", err)
			}
		})
	}
}

func TestUnitOfWork(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c, other := s.connect(t), s.connect(t)
	q, look := open(t, c, "Q", mq.Output|mq.InputShared), open(t, other, "Q", mq.InputShared)
	put(t, q, mq.PutOptions{Syncpoint: true}, "a")
	if got := take(t, look, mq.GetOptions{}); got != "" {
		t.Errorf("seen before the commit: %q", got)
	}
	if err := c.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		m, err := q.Get(ctx, mq.GetOptions{Syncpoint: true})
		if err != nil || m.BackoutCount != int32(n) {
			t.Fatalf("get %d: %+v %v", n, m, err)
		}
		if err := c.Backout(ctx); err != nil {
			t.Fatal(err)
		}
	}
	// A connection that is dropped backs out; one that disconnects commits.
	put(t, q, mq.PutOptions{Syncpoint: true}, "lost")
	c.Close()
	c = s.connect(t)
	put(t, open(t, c, "Q", mq.Output), mq.PutOptions{Syncpoint: true}, "kept")
	if err := c.Disconnect(ctx); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a", "kept", ""} {
		if got := take(t, look, mq.GetOptions{}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Errors name verb, object and reason; warnings come with their result.
func TestErrors(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)", "DEFINE QLOCAL(SHUT) PUT(DISABLED)")
	c := s.connect(t)
	_, err := c.Open(ctx, "NOWHERE", mq.Output)
	var e *mq.Error
	if !errors.As(err, &e) || e.Reason != mq.UnknownObject || e.Op != "MQOPEN" || e.Object != "NOWHERE" || e.Code != mq.Failed {
		t.Errorf("open: %+v", err)
	}
	if want := "MQOPEN NOWHERE: reason 2085 (MQRC_UNKNOWN_OBJECT_NAME)"; err.Error() != want {
		t.Errorf("text %q, want %q", err, want)
	}
	if err := c.Put1(ctx, "SHUT", mq.NewText("x"), mq.PutOptions{}); !errors.Is(err, mq.PutInhibited) {
		t.Errorf("put1: %v", err)
	}
	q := open(t, c, "Q", mq.Output|mq.Input)
	put(t, q, mq.PutOptions{}, "0123456789")
	if m, err := q.Get(ctx, mq.GetOptions{MaxLength: 4}); m != nil || !errors.Is(err, mq.TruncatedFailed) {
		t.Errorf("too short a buffer: %+v %v", m, err)
	}
	m, err := q.Get(ctx, mq.GetOptions{MaxLength: 3, Truncate: true})
	if m == nil || string(m.Body) != "012" || !errors.As(err, &e) || e.Code != mq.Warning || e.Reason != mq.TruncatedAccepted {
		t.Errorf("truncated: %+v %v", m, err)
	}
	put(t, q, mq.PutOptions{}, "aéé")
	if m, err := q.Get(ctx, mq.GetOptions{MaxLength: 4, Truncate: true, Convert: true}); m == nil || string(m.Body) != "aéé"[:4] {
		t.Errorf("truncated, in the program's code page: %+v %v", m, err)
	}
	wide := mq.NewText("")
	wide.CCSID, wide.Encoding, wide.Body = 819, 273, []byte("a\xe9\xe9")
	if err := q.Put(ctx, wide, mq.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	// The second letter has no room in the buffer any more.
	m, err = q.Get(ctx, mq.GetOptions{MaxLength: 4, Truncate: true, Convert: true})
	if m == nil || string(m.Body) != "aé" || !errors.Is(err, mq.TruncatedAccepted) {
		t.Errorf("truncated when converted: %+v %v", m, err)
	}
	if err := q.Put(ctx, mq.NewMessage(make([]byte, 5<<20)), mq.PutOptions{}); !errors.Is(err, mq.MsgTooBigForChannel) {
		t.Errorf("too long: %v", err)
	}
	// Puts that are not answered tell at Flush, once.
	if err := c.Put1(ctx, "SHUT", mq.NewText("x"), mq.PutOptions{Async: true}); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(ctx); !errors.Is(err, mq.PutInhibited) {
		t.Errorf("flush: %v", err)
	}
	if err := c.Flush(ctx); err != nil {
		t.Errorf("second flush: %v", err)
	}
	if err := q.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Get(ctx, mq.GetOptions{}); !errors.Is(err, mq.HandleClosed) {
		t.Errorf("closed queue: %v", err)
	}
}

func TestConnectRefused(t *testing.T) {
	s := serve(t, nil)
	for _, x := range []struct {
		o    mq.Options
		want mq.Reason
	}{
		{mq.Options{Addr: s.addr, Channel: "NONE"}, mq.UnknownChannel},
		{mq.Options{Addr: s.addr, Channel: "C", QueueManager: "OTHER"}, mq.QMgrNameError},
		{mq.Options{Addr: s.addr, Channel: "C", User: "app", Password: "wrong"}, mq.NotAuthorized},
		{mq.Options{Addr: "127.0.0.1:1", Channel: "C"}, mq.HostNotAvailable},
		{mq.Options{Addr: s.addr, Channel: "C", TLS: &tls.Config{InsecureSkipVerify: true}}, mq.SSLInitialization},
	} {
		c, err := mq.Connect(ctx, x.o)
		if c != nil || !errors.Is(err, x.want) {
			t.Errorf("%+v: %v, want %v", x.o, err, x.want)
		}
	}
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "C", QueueManager: "QM1", User: "app", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// A peer that accepts and says nothing, or something else, does not hold Connect longer than its context.
func TestConnectToNoQueueManager(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	say := make(chan string, 2)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			defer nc.Close()
			nc.Write([]byte(<-say))
		}
	}()
	say <- ""
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := mq.Connect(short, mq.Options{Addr: l.Addr().String(), Channel: "C"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent peer: %v", err)
	}
	say <- "HTTP/1.1 400 Bad Request\r\n\r\n"
	if _, err := mq.Connect(ctx, mq.Options{Addr: l.Addr().String(), Channel: "C"}); !errors.Is(err, mq.ConnectionBroken) ||
		!strings.Contains(err.Error(), "no client protocol") {
		t.Errorf("web server: %v", err)
	}
}

// A get that waits ends with its context; the connection stays good, and no message is lost to it.
func TestCancelGet(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c, other := s.connect(t), s.connect(t)
	q, in := open(t, c, "Q", mq.Input), open(t, other, "Q", mq.Output)
	for _, wait := range []time.Duration{mq.Forever, time.Hour} {
		short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		m, err := q.Get(short, mq.GetOptions{Wait: wait})
		cancel()
		if m != nil || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, mq.NoMsgAvailable) {
			t.Fatalf("wait %v: %v %v", wait, m, err)
		}
	}
	put(t, in, mq.PutOptions{}, "after")
	if got := take(t, q, mq.GetOptions{}); got != "after" {
		t.Errorf("got %q", got)
	}
	if got := take(t, q, mq.GetOptions{Wait: 10 * time.Millisecond}); got != "" {
		t.Errorf("got %q", got)
	}
	// Cancel and put race: each message is got, or still there.
	const rounds = 50
	seen := 0
	for range rounds {
		get, cancel := context.WithCancel(ctx)
		go cancel()
		put(t, in, mq.PutOptions{}, "m")
		if m, err := q.Get(get, mq.GetOptions{Wait: mq.Forever}); err == nil && m != nil {
			seen++
		}
	}
	for take(t, q, mq.GetOptions{}) != "" {
		seen++
	}
	if seen != rounds {
		t.Errorf("%d of %d messages", seen, rounds)
	}
}

func TestBrowse(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Output|mq.InputShared|mq.BrowseMode)
	put(t, q, mq.PutOptions{}, "a", "b", "c")
	for range 2 { // each loop starts at the first
		var got []string
		for m, err := range q.Browse(ctx, mq.GetOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(m.Body))
		}
		if !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("browsed %q", got)
		}
	}
	for m, err := range q.Browse(ctx, mq.GetOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Body) == "b" {
			if got := take(t, q, mq.GetOptions{UnderCursor: true}); got != "b" {
				t.Errorf("under the cursor: %q", got)
			}
			break
		}
	}
	var got []string
	for m, err := range q.Messages(ctx, mq.GetOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.Body))
	}
	if !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("left %q", got)
	}
}

// Read-ahead brings all messages in order, more than a window holds; waits end as those of other gets do.
func TestReadAhead(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c, other := s.connect(t), s.connect(t)
	q, in := open(t, c, "Q", mq.Input|mq.ReadAhead), open(t, other, "Q", mq.Output)
	if got := take(t, q, mq.GetOptions{}); got != "" {
		t.Fatalf("an empty queue gave %q", got)
	}
	const n = 2000
	go func() {
		for i := range n {
			if err := in.Put(ctx, mq.NewText(fmt.Sprintf("%d %s", i, strings.Repeat("x", i%900))), mq.PutOptions{Async: true}); err != nil {
				t.Error(err)
			}
		}
	}()
	for i := range n {
		got := take(t, q, mq.GetOptions{Wait: 20 * time.Second})
		if num, _, _ := strings.Cut(got, " "); num != fmt.Sprint(i) {
			t.Fatalf("message %d is %.20q", i, got)
		}
	}
	if got := take(t, q, mq.GetOptions{Wait: 20 * time.Millisecond}); got != "" {
		t.Errorf("one too many: %q", got)
	}
	put(t, in, mq.PutOptions{}, "big "+strings.Repeat("y", 100_000), "next")
	if got := take(t, q, mq.GetOptions{Wait: 20 * time.Second}); len(got) != 100_004 {
		t.Errorf("a message in parts came with %d bytes", len(got))
	}
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if got := take(t, q, mq.GetOptions{Wait: mq.Forever}); got != "next" {
		t.Errorf("got %q", got)
	}
	if _, err := q.Get(short, mq.GetOptions{Wait: mq.Forever}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	put(t, in, mq.PutOptions{}, "last")
	if got := take(t, q, mq.GetOptions{Wait: mq.Forever}); got != "last" {
		t.Errorf("got %q", got)
	}
}

func TestSubscribe(t *testing.T) {
	s := serve(t, nil)
	c, p := s.connect(t), s.connect(t)
	topic, err := p.OpenTopic(ctx, "sport/golf")
	if err != nil {
		t.Fatal(err)
	}
	if err := topic.Publish(ctx, mq.NewText("kept"), mq.PubOptions{Retain: true}); err != nil {
		t.Fatal(err)
	}
	sub, err := c.Subscribe(ctx, mq.SubOptions{Topic: "sport/+"})
	if err != nil {
		t.Fatal(err)
	}
	if err := topic.Publish(ctx, mq.NewText("now"), mq.PubOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kept", "now"} {
		if got := take(t, &sub.Queue, mq.GetOptions{Wait: 20 * time.Second}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := sub.Close(ctx); err != nil {
		t.Error(err)
	}
	ask, err := c.Subscribe(ctx, mq.SubOptions{Topic: "sport/golf", OnRequest: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := ask.Request(ctx); n != 1 || err != nil {
		t.Errorf("asked for retained: %d %v", n, err)
	}
	fast, err := c.Subscribe(ctx, mq.SubOptions{Topic: "sport/golf", ReadAhead: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := take(t, &fast.Queue, mq.GetOptions{Wait: 20 * time.Second}); got != "kept" {
		t.Errorf("read ahead: %q", got)
	}
	if err := fast.Close(ctx); err != nil {
		t.Error(err)
	}
	// A durable one gathers while nobody is there.
	d := mq.SubOptions{Topic: "sport/#", Name: "fan", Durable: true, NewOnly: true}
	if sub, err = c.Subscribe(ctx, d); err != nil {
		t.Fatal(err)
	}
	if err := sub.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := topic.Publish(ctx, mq.NewText("meanwhile"), mq.PubOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(ctx, mq.SubOptions{Topic: "other/#", Name: "fan", Durable: true}); !errors.Is(err, mq.Reason(2510)) {
		t.Errorf("another topic: %v", err)
	}
	if sub, err = c.Subscribe(ctx, d); err != nil {
		t.Fatal(err)
	}
	if got := take(t, &sub.Queue, mq.GetOptions{}); got != "meanwhile" {
		t.Errorf("got %q", got)
	}
	if err := sub.Remove(ctx); err != nil {
		t.Error(err)
	}
	if err := topic.Close(ctx); err != nil {
		t.Error(err)
	}
}

// One connection serves goroutines in turn.
func TestConcurrentVerbs(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Output|mq.Input)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := q.Put(ctx, mq.NewText("x"), mq.PutOptions{}); err != nil {
					t.Error(err)
				}
				if _, err := q.Get(ctx, mq.GetOptions{Wait: 20 * time.Second}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := take(t, q, mq.GetOptions{}); got != "" {
		t.Errorf("left over: %q", got)
	}
}

// The end of the queue manager is told: first that it quiesces, then that it has ended.
func TestQueueManagerEnds(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Input)
	s.srv.Quiesce(wire.QMQuiesce)
	select {
	case <-c.Quiescing():
	case <-time.After(20 * time.Second):
		t.Fatal("not told that the queue manager quiesces")
	}
	waits := make(chan error, 1)
	go func() {
		_, err := q.Get(ctx, mq.GetOptions{Wait: mq.Forever})
		waits <- err
	}()
	time.Sleep(20 * time.Millisecond)
	s.cut()
	if err := <-waits; !errors.Is(err, mq.ConnectionBroken) {
		t.Errorf("waiting get: %v", err)
	}
	<-c.Done()
}

// A server that is silent is asked, and given up when it does not answer.
func TestHeartbeat(t *testing.T) {
	s := serve(t, func(i *fap.Instance) { i.Heartbeat = 2 }, "DEFINE QLOCAL(Q)")
	var line *muted
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "C", Heartbeat: 2 * time.Second,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, addr)
			line = &muted{Conn: nc, silent: make(chan struct{})}
			return line, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	time.Sleep(2500 * time.Millisecond) // both ends have been asked
	q := open(t, c, "Q", mq.Input)
	close(line.silent)
	start := time.Now()
	if _, err := q.Get(ctx, mq.GetOptions{Wait: mq.Forever}); !errors.Is(err, mq.ConnectionBroken) {
		t.Errorf("silent server: %v", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("given up after %v", took)
	}
}

// muted loses what is written after silent is closed, as a cut cable does.
type muted struct {
	net.Conn
	silent chan struct{}
}

func (m *muted) Write(b []byte) (int, error) {
	select {
	case <-m.silent:
		return len(b), nil
	default:
		return m.Conn.Write(b)
	}
}
