package fap_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/leaks"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// server is a running server with its backend and log.
type server struct {
	*fap.Server
	addr string
	tls  *tls.Config // of clients; nil without TLS
	log  *syncBuffer
	stop func()
}

// syncBuffer lets the log be read while it is written.
type syncBuffer struct {
	mu chan struct{}
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu <- struct{}{}
	defer func() { <-s.mu }()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu <- struct{}{}
	defer func() { <-s.mu }()
	return s.b.String()
}

// wrapped is a backend whose connections are those of a manager, wrapped.
type wrapped struct {
	*memory.Manager
	wrap func(fap.Conn) fap.Conn
}

func (b wrapped) Connect(ctx context.Context, r fap.ConnectRequest) (fap.Conn, error) {
	c, err := b.Manager.Connect(ctx, r)
	return b.wrap(c), err
}

// start serves m, or b if that is not nil, until the test ends.
func start(t testing.TB, m *memory.Manager, b fap.Backend, clk clock.Clock) *server {
	t.Helper()
	if b == nil {
		b = m
	}
	return startWith(t, b, fap.Options{Clock: clk}, nil)
}

func startWith(t testing.TB, b fap.Backend, o fap.Options, cert *tls.Certificate) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), log: &syncBuffer{mu: make(chan struct{}, 1)}}
	log := zerolog.New(s.log)
	o.Log = &log
	s.Server = fap.New(b, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	if cert != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*cert}})
		s.tls = &tls.Config{InsecureSkipVerify: true} // the certificate is the test's own
	}
	go func() { done <- s.Serve(ctx, l) }()
	stopped := false
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Serve does not end")
		}
	}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.log)
		}
	})
	return s
}

// peer is a client that speaks the protocol segment by segment.
type peer struct {
	t     testing.TB
	nc    net.Conn
	order wire.Order
	ccsid uint16
	magic wire.Magic
	zos   bool // eye-catchers in EBCDIC
	asm   wire.Assembler
	user  string // "": app
	last  int32  // number of the last ASYNC_MESSAGE
}

func (s *server) dial(t testing.TB) *peer {
	t.Helper()
	var nc net.Conn
	var err error
	if s.tls != nil {
		nc, err = tls.Dial("tcp", s.addr, s.tls)
	} else {
		nc, err = net.Dial("tcp", s.addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() { nc.Close() })
	return &peer{t: t, nc: nc, order: wire.Big, ccsid: 819, asm: wire.Assembler{Max: 1 << 24}}
}

func (p *peer) header(t wire.Type, conv, req uint32, flags byte) wire.Header {
	h := wire.Header{Magic: p.magic, Conv: conv, Req: req, Order: p.order, Type: t, Flags: flags, CCSID: p.ccsid,
		Encoding: wire.EncodingBig, EBCDIC: p.zos}
	if p.order == wire.Little {
		h.Encoding = wire.EncodingLittle
	}
	if p.magic == wire.TSHM && (t == wire.SocketAction || t == wire.Heartbeat) {
		h.Magic = wire.TSHC
	}
	return h
}

func (p *peer) sendH(h wire.Header, a wire.API, b wire.Body) {
	p.t.Helper()
	c, _ := h.Codec()
	if err := wire.WriteMessage(p.nc, h, wire.Encode(nil, h.Type, a, b, c, h.Size()), wire.DefaultTransmission); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) send(t wire.Type, conv uint32, hobj int32, b wire.Body) {
	p.t.Helper()
	p.sendH(p.header(t, conv, 0, 0), wire.API{Hobj: hobj}, b)
}

// recv returns the next whole message.
func (p *peer) recv() (wire.Header, wire.API, wire.Body) {
	p.t.Helper()
	for {
		h, body, err := wire.ReadSegment(p.nc, 1<<20)
		if err != nil {
			p.t.Fatalf("receiving: %v%s", err, stacksAt(err))
		}
		whole, done, err := p.asm.Add(h, body)
		if err != nil {
			p.t.Fatal(err)
		}
		if !done {
			continue
		}
		c, _ := h.Codec()
		a, b, err := wire.Decode(h.Type, whole, c)
		if err != nil {
			p.t.Fatalf("%v: %v", h.Type, err)
		}
		if m, ok := b.(*wire.Async); ok {
			p.last = m.GlobalIndex
		}
		return h, a, b
	}
}

// stacksAt says where every goroutine is when a peer has waited in vain: who should have written for it is one of them.
func stacksAt(err error) string {
	if ne, ok := err.(net.Error); !ok || !ne.Timeout() {
		return ""
	}
	b := make([]byte, 1<<20)
	return "\n" + string(b[:runtime.Stack(b, true)])
}

// want receives one message and checks its type.
func (p *peer) want(t wire.Type) (wire.Header, wire.API, wire.Body) {
	p.t.Helper()
	h, a, b := p.recv()
	if h.Type != t {
		p.t.Fatalf("received %v (%+v, %+v), want %v", h.Type, a, b, t)
	}
	return h, a, b
}

// refusal receives an answer that has no body.
func (p *peer) refusal(t wire.Type) wire.API {
	p.t.Helper()
	h, body, err := wire.ReadSegment(p.nc, 1<<20)
	if err != nil || h.Type != t {
		p.t.Fatalf("received %v, %v, want %v", h.Type, err, t)
	}
	c, _ := h.Codec()
	a, _, err := wire.Decode(wire.MQCMIT.Reply(), body, c)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// call sends an MQI call and returns the answer.
func (p *peer) call(t wire.Type, conv uint32, hobj int32, b wire.Body) (wire.API, wire.Body) {
	p.t.Helper()
	p.send(t, conv, hobj, b)
	h, a, r := p.want(t.Reply())
	if h.Conv != conv {
		p.t.Fatalf("%v: answered on conversation %d", t, h.Conv)
	}
	return a, r
}

// closed checks that the server closes the connection.
func (p *peer) closed() {
	p.t.Helper()
	if n, err := p.nc.Read(make([]byte, 1)); n > 0 || err == nil {
		p.t.Fatal("more data where the end was expected")
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		p.t.Fatal("the server did not close the connection")
	}
}

// status receives a STATUS and checks its code.
func (p *peer) status(code wire.Code) {
	p.t.Helper()
	h, _, b := p.want(wire.StatusData)
	if got := b.(*wire.Status).Code; got != code || h.Flags&wire.FlagClose == 0 {
		p.t.Fatalf("status %d flags %#x, want %d", got, h.Flags, code)
	}
}

// firstID is what the vendor's client proposes.
func firstID() *wire.ID {
	id := &wire.ID{Size: 240, FAP: 17, Cap1: 0x26, Cap2: 0x51, Cap3: 0x28, MaxTransmission: 32748, MaxMsgLength: 100 << 20,
		Channel: "DEV.APP.SVRCONN", CCSID: 819, QMgr: "QM1", HeartbeatIv: 1, EFLLength: 138, Convs: 10,
		Product: "MQJB09040400", QMgrID: "CANNED_DATA"}
	id.PAL[0] = 1
	return id
}

// negotiate does the exchange of INITIAL_DATA and sends the user id; it returns the server's last word.
func (p *peer) negotiate(id *wire.ID) *wire.ID {
	p.t.Helper()
	p.sendH(p.header(wire.InitialData, 0, 0, wire.FlagConfirm), wire.API{}, id)
	h, _, b := p.want(wire.InitialData)
	got := b.(*wire.ID)
	if got.Convs > 0 {
		p.magic = wire.TSHM
	}
	if h.Flags&wire.FlagError != 0 {
		again := *id
		if got.Err1&wire.ErrHeartbeat != 0 {
			again.HeartbeatIv = got.HeartbeatIv
		}
		if got.Err1&wire.ErrMsgLength != 0 {
			again.MaxMsgLength = got.MaxMsgLength
		}
		if got.Err1&wire.ErrTransmission != 0 {
			again.MaxTransmission = got.MaxTransmission
		}
		if got.Err1&wire.ErrFAP != 0 {
			again.FAP, again.Size = got.FAP, wire.IDSize(got.FAP)
		}
		p.sendH(p.header(wire.InitialData, p.first(), 0, wire.FlagConfirm), wire.API{}, &again)
		h, _, b = p.want(wire.InitialData)
		got = b.(*wire.ID)
	}
	if h.Flags&wire.FlagError != 0 || got.Err1 != 0 {
		p.t.Fatalf("not agreed: flags %#x, %#x", h.Flags, got.Err1)
	}
	user := cmp.Or(p.user, "app")
	p.send(wire.UserIDData, p.first(), 0, &wire.UserID{User: strings.ToUpper(user), LongUser: user})
	return got
}

func (p *peer) first() uint32 {
	if p.magic == wire.TSHM {
		return 1
	}
	return 0
}

// connect is MQCONN; it returns the connection id.
func (p *peer) connect(conv uint32) mqi.ID {
	p.t.Helper()
	a, b := p.call(wire.MQCONN, conv, 0, &wire.Conn{QMgr: "QM1", ApplName: "test", ApplType: 28, Version: 4})
	if a.CompCode != 0 {
		p.t.Fatalf("MQCONN: %d/%d", a.CompCode, a.Reason)
	}
	var id mqi.ID
	copy(id[:], b.(*wire.Conn).ConnTag[:])
	return id
}

// client is a peer that has connected on its first conversation.
func (s *server) client(t testing.TB) *peer {
	t.Helper()
	p := s.dial(t)
	p.negotiate(firstID())
	p.connect(p.first())
	return p
}

// open opens a queue for everything.
func (p *peer) open(conv uint32, queue string) int32 {
	p.t.Helper()
	od := mqi.DefaultOD()
	od.Version, od.ObjectName = 4, queue
	a, b := p.call(wire.SPI, conv, -1, &wire.SPIBody{Verb: wire.SPIOpen, OutVersion: 1,
		Part: &wire.SPIOpenPart{Options: mqi.MQOO_INPUT_SHARED | mqi.MQOO_OUTPUT | mqi.MQOO_BROWSE, OD: od}})
	if a.CompCode != 0 || a.Hobj <= 0 {
		p.t.Fatalf("open %s: %+v", queue, a)
	}
	if r := b.(*wire.SPIBody).Part.(*wire.SPIOpenPart); r.OD.ResolvedQName != queue || r.Defaults.PutResponse != 1 {
		p.t.Fatalf("open %s: %+v", queue, r)
	}
	return a.Hobj
}

func newPut(text string, options int32) *wire.Put {
	p := &wire.Put{MD: mqi.DefaultMD(), PMO: mqi.DefaultPMO(), Data: []byte(text)}
	p.MD.Version, p.PMO.Version, p.PMO.Options = 2, 2, options
	return p
}

func (p *peer) put(conv uint32, hobj int32, text string, options int32) {
	p.t.Helper()
	if a, _ := p.call(wire.MQPUT, conv, hobj, newPut(text, options)); a.CompCode != 0 {
		p.t.Fatalf("MQPUT: %+v", a)
	}
}

func newGet(options, wait int32) *wire.Get {
	g := &wire.Get{MD: mqi.DefaultMD(), GMO: mqi.DefaultGMO(), MaxLength: 4096}
	g.MD.Version, g.GMO.Version, g.GMO.Options, g.GMO.WaitInterval = 2, 4, options, wait
	return g
}

// get returns the body and reason of an MQGET.
func (p *peer) get(conv uint32, hobj, options, wait int32) (string, int32) {
	p.t.Helper()
	a, b := p.call(wire.MQGET, conv, hobj, newGet(options, wait))
	return string(b.(*wire.GetReply).Data), a.Reason
}

func (p *peer) startConv(conv uint32) {
	p.t.Helper()
	p.send(wire.SocketAction, 0, 0, &wire.Socket{Conv: conv, Action: wire.StartConv, Parm1: 1, Parm2: 2})
	h, _, b := p.want(wire.StatusData)
	if h.Magic != wire.TSHM || h.Conv != conv || b.(*wire.Status).Code != 0 {
		p.t.Fatalf("START_CONV answered by %+v %+v", h, b)
	}
}

func (p *peer) endConv(conv uint32, flags byte) {
	p.t.Helper()
	p.sendH(p.header(wire.SocketAction, 0, 0, flags), wire.API{}, &wire.Socket{Conv: conv, Action: wire.EndConv})
}

// eventually waits for what another goroutine does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for i := 0; i < 4000; i++ {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}
