package fap_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// What peers do that no client does.

// asked is a backend that notes the users of the MQCONNs.
type asked struct {
	*memory.Manager
	mu   sync.Mutex
	user []string
}

func (a *asked) Connect(ctx context.Context, r fap.ConnectRequest) (fap.Conn, error) {
	a.mu.Lock()
	a.user = append(a.user, r.User)
	a.mu.Unlock()
	return a.Manager.Connect(ctx, r)
}

// pack returns the segments of a message.
func (p *peer) pack(ty wire.Type, conv uint32, a wire.API, body wire.Body) []byte {
	return p.packAll(p.header(ty, conv, 0, 0), a, body)
}

func (p *peer) packH(h wire.Header, body wire.Body) []byte { return p.packAll(h, wire.API{}, body) }

func (p *peer) packAll(h wire.Header, a wire.API, body wire.Body) []byte {
	p.t.Helper()
	c, _ := h.Codec()
	var b bytes.Buffer
	if err := wire.WriteMessage(&b, h, wire.Encode(nil, h.Type, a, body, c, h.Size()), wire.DefaultTransmission); err != nil {
		p.t.Fatal(err)
	}
	return b.Bytes()
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	if _, err := p.nc.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// TestOneUser: the user id that a client tells first is that of its socket, whatever comes while it connects.
func TestOneUser(t *testing.T) {
	b := &asked{Manager: memory.New("QM1", "Q1")}
	s := start(t, nil, b, nil)
	for range 20 {
		p := s.dial(t)
		p.negotiate(firstID())
		other := p.pack(wire.UserIDData, 1, wire.API{}, &wire.UserID{User: "ROOT", LongUser: "root"})
		all := append([]byte(nil), other...)
		all = append(all, p.pack(wire.MQCONN, 1, wire.API{}, &wire.Conn{QMgr: "QM1", ApplName: "test", ApplType: 28, Version: 4})...)
		p.write(append(all, bytes.Repeat(other, 100)...))
		p.want(wire.MQCONN.Reply())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.user {
		if u != "app" {
			t.Fatalf("connected as %q", u)
		}
	}
}

// TestUnreadAnswers: who asks, and does not read the answers, is not read any more when many wait.
func TestUnreadAnswers(t *testing.T) {
	for name, f := range map[string]struct {
		connected bool
		ask       func(p *peer) []byte
	}{
		"heartbeats, not connected": {false, func(p *peer) []byte { return p.packH(p.header(wire.Heartbeat, 0, 0, wire.FlagConfirm), &wire.Empty{}) }},
		"heartbeats":                {true, func(p *peer) []byte { return p.packH(p.header(wire.Heartbeat, 0, 0, wire.FlagConfirm), &wire.Empty{}) }},
		"NOTIFY, not connected":     {false, notifyNobody},
		"NOTIFY":                    {true, notifyNobody},
		"CONAUTH, not connected": {false, func(p *peer) []byte {
			return p.pack(wire.ConAuthInfo, 1, wire.API{}, &wire.ConAuth{User: "app", Password: "p"})
		}},
		"MQSTAT": {true, func(p *peer) []byte { // served by the reader
			return p.pack(wire.MQSTAT, 1, wire.API{}, &wire.Stat{STS: mqi.STS{Version: 1}})
		}},
		"conversations": {true, func(p *peer) []byte {
			return append(p.pack(wire.SocketAction, 0, wire.API{}, &wire.Socket{Conv: 3, Action: wire.StartConv, Parm1: 1, Parm2: 2}),
				p.pack(wire.SocketAction, 0, wire.API{}, &wire.Socket{Conv: 3, Action: wire.EndConv})...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, memory.New("QM1", "Q1"), nil, nil)
			p := s.dial(t)
			p.negotiate(firstID())
			limit := 16 << 10
			if f.connected {
				p.connect(1)
				limit = fap.MaxOut
			}
			b := bytes.Repeat(f.ask(p), 200)
			for sent := 0; sent < 48<<20 && s.Unsent() <= 2*limit; sent += len(b) {
				p.nc.SetWriteDeadline(time.Now().Add(400 * time.Millisecond))
				if _, err := p.nc.Write(b); err != nil {
					break // as it should be
				}
			}
			if n := s.Unsent(); n > limit+4096 {
				t.Errorf("%d bytes wait to be read\n%s", n, s.log)
			}
		})
	}
}

func notifyNobody(p *peer) []byte {
	return p.packH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1, OutLength: 12,
		Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED}})
}

// TestPartsOfNothing: parts are taken of conversations that there are.
func TestPartsOfNothing(t *testing.T) {
	s := start(t, memory.New("QM1", "Q1"), nil, nil)
	part := func(p *peer, ty wire.Type, conv uint32) []byte {
		h := p.header(ty, conv, 0, wire.FlagFirst)
		h.Magic = wire.TSHM
		return h.Append(nil, 0)
	}
	p := s.dial(t) // nothing agreed yet
	p.write(append(part(p, wire.InitialData, 1), part(p, wire.InitialData, 2)...))
	p.status(wire.CodeLengthError)
	p.closed()
	p = s.dial(t)
	p.write(part(p, wire.MQPUT, 1))
	p.status(wire.CodeProtocolID)
	p.closed()

	p = s.dial(t) // agreed, not connected
	p.negotiate(firstID())
	p.write(part(p, wire.InitialData, 77))
	p.status(wire.CodeConvID)
	p.closed()
	p = s.dial(t)
	p.negotiate(firstID())
	for ty := range 256 { // 16 KiB is what it may use
		if wire.Type(ty) != wire.AsyncMsg {
			_, _ = p.nc.Write(part(p, wire.Type(ty), 1))
		}
	}
	p.status(wire.CodeLengthError)
	p.closed()

	p = s.client(t)
	p.write(part(p, wire.MQPUT, 3))
	p.status(wire.CodeConvID)
	p.closed()
	eventually(t, "all are forgotten", func() bool { return s.Sockets() == 0 })
}

// segments are those of a long put.
func (p *peer) segments(conv uint32, hobj int32, n int) [][]byte {
	p.t.Helper()
	var out [][]byte
	for all := p.pack(wire.MQPUT, conv, wire.API{Hobj: hobj}, newPut(strings.Repeat("x", n), mqi.MQPMO_NO_SYNCPOINT)); len(all) > 0; {
		_, _, size, whole, err := wire.CutSegment(all, wire.DefaultTransmission)
		if err != nil || !whole {
			p.t.Fatal(err)
		}
		out, all = append(out, all[:size]), all[size:]
	}
	return out
}

// TestLargeAtOnce: each conversation has its own room for a large message, and what one has left unfinished does not count when
// it has ended.
func TestLargeAtOnce(t *testing.T) {
	m := memory.New("QM1", "Q1")
	s := start(t, m, nil, nil)
	p := s.client(t)
	p.startConv(3)
	p.connect(3)
	q1, q3 := p.open(1, "Q1"), p.open(3, "Q1")
	a, b := p.segments(1, q1, 3<<20), p.segments(3, q3, 3<<20)
	for i := range a {
		p.write(a[i])
		p.write(b[i])
	}
	for range 2 {
		if h, api, _ := p.want(wire.MQPUT.Reply()); api.CompCode != 0 {
			t.Fatalf("conversation %d: %+v", h.Conv, api)
		}
	}
	for range 3 { // the client gives up a message and its conversation; its id comes again
		for _, x := range b[:len(b)-1] {
			p.write(x)
		}
		p.endConv(3, 0)
		p.startConv(3)
		p.connect(3)
		p.open(3, "Q1")
	}
	for _, x := range b {
		p.write(x)
	}
	if h, api, _ := p.want(wire.MQPUT.Reply()); api.CompCode != 0 || h.Conv != 3 {
		t.Fatalf("conversation %d: %+v", h.Conv, api)
	}
	if n := m.Depth("Q1"); n != 3 {
		t.Errorf("%d messages", n)
	}
	// One conversation has no more than its room, whatever the kinds of messages that it begins.
	for _, x := range a[:len(a)-1] {
		p.write(x)
	}
	h := p.header(wire.MQPUT1, 1, 0, wire.FlagFirst)
	big := h.Append(nil, 32000)
	big = append(big, make([]byte, 32000)...)
	_, _ = p.nc.Write(big)
	h.Flags = 0
	more := append(h.Append(nil, 32000), make([]byte, 32000)...)
	for range 40 {
		_, _ = p.nc.Write(more)
	}
	p.status(wire.CodeLengthError)
}

// TestRefusals: no socket is for trying passwords.
func TestRefusals(t *testing.T) {
	m := memory.New("QM1", "Q1")
	m.Users = map[string]string{"app": "right"}
	s := start(t, m, nil, nil)
	p := s.dial(t)
	p.negotiate(firstID())
	for i := range 5 {
		p.send(wire.ConAuthInfo, 1, 0, &wire.ConAuth{User: "app", Password: fmt.Sprint("guess ", i)})
		p.want(wire.StatusData)
		if a, _ := p.call(wire.MQCONN, 1, 0, &wire.Conn{QMgr: "QM1", ApplName: "test", ApplType: 28, Version: 4}); a.Reason != mqi.MQRC_NOT_AUTHORIZED {
			t.Fatalf("%+v", a)
		}
	}
	p.closed()
	eventually(t, "the log says why", func() bool { return strings.Contains(s.log.String(), "5 refused attempts") })
}

// slow is a backend whose connections end, commit and wait as the test wants.
type slow struct {
	*memory.Manager
	breaks, commits chan struct{} // not nil: hold up Break and Commit until closed
	waits           *fakeWait     // not nil: of gets
}

type slowConn struct {
	fap.Conn
	s *slow
}

func (s *slow) Connect(ctx context.Context, r fap.ConnectRequest) (fap.Conn, error) {
	c, err := s.Manager.Connect(ctx, r)
	if err == nil && s.waits != nil {
		return &waitingConn{slowConn{c, s}}, nil
	}
	return &slowConn{c, s}, err
}

func (c *slowConn) Break() {
	if c.s.breaks != nil {
		<-c.s.breaks
	}
	c.Conn.Break()
}

func (c *slowConn) Commit(ctx context.Context) error {
	if c.s.commits != nil {
		<-c.s.commits
	}
	return c.Conn.Commit(ctx)
}

type waitingConn struct{ slowConn }

func (c *waitingConn) NewWait(fap.Waker) fap.Wait { return c.s.waits }
func (c *waitingConn) RunWoken(any)               {}

// fakeWait is a get for which no message comes.
type fakeWait struct {
	cancelled atomic.Int32
	held      bool // the next message is for who asks for it
}

func (*fakeWait) Get(int32, *mqi.MD, *mqi.GMO, int) ([]byte, int, fap.WaitState, error) {
	return nil, 0, fap.Waits, nil
}
func (w *fakeWait) GetAhead(int32, *mqi.MD, *mqi.GMO, int, bool) ([]byte, int, fap.WaitState, error) {
	if w.held {
		return nil, 0, fap.Over, fap.ErrHeld
	}
	return nil, 0, fap.Waits, nil
}
func (*fakeWait) Resume() ([]byte, int, fap.WaitState, error)     { return nil, 0, fap.Waits, nil }
func (*fakeWait) Finish(bool) ([]byte, int, fap.WaitState, error) { return nil, 0, fap.Waits, nil }
func (w *fakeWait) Cancel()                                       { w.cancelled.Add(1) }

// TestConversationsThatEnd: who starts and ends conversations faster than they clean up is held up.
func TestConversationsThatEnd(t *testing.T) {
	b := &slow{Manager: memory.New("QM1", "Q1"), breaks: make(chan struct{})}
	b.Instance.ShareCnv = 2
	p := start(t, nil, b, nil).client(t)
	for range 2 {
		p.startConv(3)
		p.connect(3)
		p.endConv(3, 0)
	}
	p.send(wire.SocketAction, 0, 0, &wire.Socket{Conv: 3, Action: wire.StartConv, Parm1: 1, Parm2: 2})
	p.quiet()
	close(b.breaks)
	p.want(wire.StatusData)
	p.connect(3)
}

// TestEarlyWake: NOTIFY for a get that has arrived and not begun ends it when it begins.
func TestEarlyWake(t *testing.T) {
	b := &slow{Manager: memory.New("QM1", "Q1"), commits: make(chan struct{}), waits: &fakeWait{}}
	p := start(t, nil, b, nil).client(t)
	p.startConv(3)
	conn := p.connect(3)
	q := p.open(3, "Q1")
	p.send(wire.MQCMIT, 3, 0, &wire.Empty{})
	p.send(wire.MQGET, 3, q, newGet(mqi.MQGMO_WAIT, mqi.MQWI_UNLIMITED))
	p.write(p.packH(p.header(wire.SPI, 1, 3, wire.FlagConfirm), &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1, OutLength: 12,
		Part: &wire.SPINotifyIn{Options: 1, Reason: mqi.MQRC_XWAIT_CANCELED, Connection: conn}}))
	p.want(wire.SPI.Reply())
	close(b.commits)
	p.want(wire.MQCMIT.Reply())
	if _, a, _ := p.want(wire.MQGET.Reply()); a.Reason != mqi.MQRC_XWAIT_CANCELED || b.waits.cancelled.Load() == 0 {
		t.Errorf("%+v, cancelled %d times", a, b.waits.cancelled.Load())
	}
}
