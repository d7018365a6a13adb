package mq_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/engine"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/leaks"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/mq"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

var ctx = context.Background()

// server is an in-process queue manager with its client port. Users other than "app" are not let in when they give a
// password, and app's is "secret".
type server struct {
	addr string
	srv  *fap.Server
	qm   *qmgr.Manager
	stop func()
}

// startServer serves QM1 with the definitions given. Instances of its channels have what set makes of them.
func startServer(set func(*fap.Instance), wrap func(net.Listener) net.Listener, commands ...string) (*server, error) {
	return startOn(store.OpenMem(), set, wrap, commands...)
}

func startOn(st store.Store, set func(*fap.Instance), wrap func(net.Listener) net.Listener, commands ...string) (*server, error) {
	log := zerolog.Nop()
	o := qmgr.Options{Name: "QM1", Dir: "memory", Store: st, Clock: clock.Real(), Log: &log, User: "root"}
	if err := qmgr.Create(o); err != nil {
		return nil, err
	}
	m, err := qmgr.Open(o)
	if err != nil {
		return nil, err
	}
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	for _, text := range commands {
		if err := run(m, text); err != nil {
			return nil, err
		}
	}
	b := &engine.Backend{Manager: m,
		Start: func(_ context.Context, p fap.Peer) (*fap.Instance, error) {
			if p.Channel == "NONE" {
				return nil, &fap.Refusal{Code: wire.CodeNoChannel, Err: errors.New("no such channel")}
			}
			i := &fap.Instance{Channel: p.Channel, QMgr: "QM1", Heartbeat: 300, ShareCnv: 10, PlainPasswords: true}
			if set != nil {
				set(i)
			}
			return i, nil
		},
		Identify: func(_ context.Context, r fap.ConnectRequest) (auth.Identity, error) {
			if r.Auth != nil && (r.Auth.User != "app" || r.Auth.Password != "secret") {
				return auth.Identity{}, mqi.E("MQCONN", "QM1", mqi.MQRC_NOT_AUTHORIZED)
			}
			return auth.Identity{User: r.User, Admin: true}, nil
		}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{addr: l.Addr().String(), srv: fap.New(b, fap.Options{Log: &log}), qm: m}
	if wrap != nil {
		l = wrap(l)
	}
	sctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.srv.Serve(sctx, l) }()
	s.stop = func() { cancel(); <-done; m.Stop(ctx, store.Immediate) }
	return s, nil
}

// run runs an MQSC command.
func run(m *qmgr.Manager, text string) error {
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		return serr
	}
	if r := m.Execute(ctx, c, auth.System("root")); r.Failed() {
		return errors.New(r.Msgs[0].Text())
	}
	return nil
}

func serve(t *testing.T, set func(*fap.Instance), commands ...string) *server {
	t.Helper()
	s, err := startServer(set, nil, commands...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// cut drops all connections.
func (s *server) cut() { s.srv.Stop(func(*fap.Instance) bool { return true }, true) }

func (s *server) connect(t testing.TB) *mq.Conn {
	t.Helper()
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "APP.SVRCONN"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func open(t *testing.T, c *mq.Conn, name string, mode mq.OpenMode) *mq.Queue {
	t.Helper()
	q, err := c.Open(ctx, name, mode)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func put(t *testing.T, q *mq.Queue, o mq.PutOptions, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if err := q.Put(ctx, mq.NewText(s), o); err != nil {
			t.Fatal(err)
		}
	}
}

// take gets a message's text; "" and no failure when there is none.
func take(t *testing.T, q *mq.Queue, o mq.GetOptions) string {
	t.Helper()
	m, err := q.Get(ctx, o)
	if errors.Is(err, mq.NoMsgAvailable) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(m.Body)
}
