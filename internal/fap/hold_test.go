package fap

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestHold: messages that come seldom are never held, a hold that is not filled makes it leave out more and more, and one that is
// filled quickly grows.
func TestHold(t *testing.T) {
	now := time.Unix(1000, 0)
	var h hold
	come := func(n int, every time.Duration) (held int) {
		for range n {
			now = now.Add(every)
			if h.keep(now) {
				held++
			} else {
				h.n = 0 // flushed
			}
		}
		return held
	}
	if n := come(1000, holdRecent); n != 0 {
		t.Errorf("%d of messages that come seldom", n)
	}
	if n := come(1, time.Microsecond); n != 1 {
		t.Error("not held")
	}
	come(holdLeast-1, time.Microsecond)
	if h.full != 2*holdLeast {
		t.Errorf("%d after a hold that was filled quickly", h.full)
	}
	come(1000*holdMost, time.Microsecond)
	if h.n = 0; h.full != holdMost {
		t.Errorf("%d are enough", h.full)
	}
	// Each message comes when the getter has seen the one before, which was held for the whole time.
	late := 0
	for range 100_000 {
		if now = now.Add(100 * time.Microsecond); h.keep(now) {
			late++
			now = now.Add(holdFor)
			h.late()
			h.n = 0
			h.last = now
		}
	}
	if late < 12 || late > 12+100_000/skipMost {
		t.Errorf("%d of 100000 messages were late", late)
	}
	if h.full != holdLeast {
		t.Errorf("%d after a hold that was not filled", h.full)
	}
}

// TestTurnHolds: one message after another for a getter that reads ahead leaves in company or when the time is up; whatever somebody
// waits for takes it along.
func TestTurnHolds(t *testing.T) {
	clk := clock.NewFake(time.Unix(1000, 0))
	s := &Server{opt: Options{Clock: clk}}
	home, other, third := &socket{s: s}, &socket{s: s}, &socket{s: s}
	wrote := map[*socket]chan string{}
	for _, k := range []*socket{home, other, third} {
		p := pieces{list: make(chan string, 10)}
		wrote[k] = p.list
		k.out.init(p, &k.wg, func(error) {}, func() {})
	}
	home.turn.home = home
	turn, n := &home.turn, 0
	send := func(k *socket) {
		n++
		if err := k.out.add(func(b []byte) []byte { return append(b, strconv.Itoa(n)...) }); err != nil {
			t.Fatal(err)
		}
		turn.push(k, 1)
	}
	put := func(k *socket) { send(k); turn.put = true; turn.flush() }
	want := func(k *socket, text string) {
		t.Helper()
		k.wg.Wait() // writes of what is no TCP socket have goroutines
		got := ""
		select {
		case got = <-wrote[k]:
		default:
		}
		if got != text {
			t.Fatalf("%q, want %q", got, text)
		}
	}
	put(other)
	want(other, "1") // nothing came shortly before
	for range holdLeast - 1 {
		put(other)
		want(other, "")
	}
	put(other)
	want(other, "2345")
	put(other)
	clk.Advance(holdFor - 1)
	want(other, "")
	clk.Advance(1)
	want(other, "6")
	put(other)
	want(other, "7")
	put(other)
	want(other, "8") // what was learned: it leaves one out, and tries again
	put(other)
	want(other, "")
	turn.touch(other, 0)
	turn.flush()
	want(other, "9") // somebody waits for what comes behind it
	put(other)
	want(other, "")
	send(third)
	put(other)
	want(other, "1012")
	want(third, "11") // of several getters none is kept waiting
	send(other)
	turn.flush()
	want(other, "13") // from a put that nobody waits for: more of them are on their way
	put(other)
	want(other, "")
	other.out.flush() // by somebody else, between the push and the flush of this turn
	want(other, "14")
	send(other)
	other.out.flush()
	want(other, "15")
	turn.put = true
	turn.flush()
	clk.Advance(time.Hour)
	put(other)
	want(other, "16") // nothing came shortly before
	for other.out.hold.skip > 0 {
		put(other)
		want(other, strconv.Itoa(n))
	}
	put(other)
	want(other, "")
	other.out.close(errMoved)
	clk.Advance(time.Hour)
	want(other, "")
}

// TestAskedIsNotHeld: a message that somebody asked for goes at once, however closely it follows another.
func TestAskedIsNotHeld(t *testing.T) {
	s := &Server{opt: Options{Clock: clock.NewFake(time.Unix(1000, 0))}}
	home, other := &socket{s: s}, &socket{s: s}
	for _, k := range []*socket{home, other} {
		k.out.init(pieces{list: make(chan string, 10)}, &k.wg, func(error) {}, func() {})
		k.link.Store(&link{transmission: wire.DefaultTransmission, maxMsg: 1000})
	}
	home.turn.home = home
	c := &conv{k: other, turn: &home.turn}
	st := &stream{req: wire.Request{Hobj: 1, Requested: 100_000, MaxMsg: -1}, h: wire.Header{Order: wire.Big, CCSID: 819}}
	for i, asked := range []bool{false, false, true, false} {
		st.asked = asked
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		md.Version, md.Persistence = 2, mqi.MQPER_NOT_PERSISTENT
		if rc, err := c.send(st, &md, &gmo, []byte("m"), 1, nil); rc != 0 || err != nil {
			t.Fatal(rc, err)
		}
		home.turn.put = true
		home.turn.flush()
		other.wg.Wait()
		if held, want := other.out.hold.n > 0, i == 1 || i == 3; held != want {
			t.Errorf("message %d is held: %v", i, held)
		}
	}
}

// ending notes what is written until it is closed.
type ending struct {
	net.Conn
	mu     sync.Mutex
	text   string
	closed bool
}

func (e *ending) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, net.ErrClosed
	}
	e.text += string(b)
	return len(b), nil
}

func (e *ending) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return nil
}

// TestHeldGoBeforeTheEnd: when we end a channel, a message that was got for its client and is held back is sent first; then comes why,
// if the client is told.
func TestHeldGoBeforeTheEnd(t *testing.T) {
	for _, cause := range []error{context.Canceled, errStopped, errIdle, errReconnect} {
		clk := clock.NewFake(time.Unix(1000, 0))
		nc := &ending{}
		k := &socket{s: &Server{opt: Options{Clock: clk}}, nc: nc}
		k.ctx, k.cancel = context.WithCancelCause(context.Background())
		k.link.Store(&link{fap: 17, transmission: wire.DefaultTransmission, style: style{order: wire.Big, ccsid: 819}})
		k.out.init(nc, &k.wg, func(error) {}, func() {})
		for _, text := range []string{"first", "held"} {
			if err := k.out.add(func(b []byte) []byte { return append(b, text...) }); err != nil {
				t.Fatal(err)
			}
			k.out.flushSoon(clk)
			k.wg.Wait()
		}
		if nc.text != "first" || k.out.hold.n != 1 {
			t.Fatalf("%q, %d messages are held", nc.text, k.out.hold.n)
		}
		k.cancel(cause)
		k.hardEnd()
		k.wg.Wait()
		rest, ok := strings.CutPrefix(nc.text, "firstheld")
		if _, told := lastCode(cause); !ok || !nc.closed || told != strings.HasPrefix(rest, "TSH ") || !told && rest != "" {
			t.Errorf("%v: wrote %q, closed %v", cause, nc.text, nc.closed)
		}
	}
}
