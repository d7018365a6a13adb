package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/engine"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// clients serves the client protocol on every port that is bound. Channel authentication records and CONNAUTH are not
// enforced yet; until they are, only peers on this machine are let in, as the users that they say they are.
type clients struct {
	qm  *qmgr.Manager
	log *zerolog.Logger
	srv *fap.Server

	mu   sync.Mutex
	inst map[string]map[string]int // running instances by channel and client address
}

func newClients(qm *qmgr.Manager, log *zerolog.Logger, clk clock.Clock) *clients {
	c := &clients{qm: qm, log: log, inst: map[string]map[string]int{}}
	c.srv = fap.New(&engine.Backend{Manager: qm, Start: c.start, Identify: c.identify}, fap.Options{Clock: clk, Log: log})
	return c
}

// serve accepts the clients of one port until ctx ends. A port that is closed takes no more of them, and those that came
// through it stay.
func (c *clients) serve(ctx context.Context, name string, l net.Listener) error {
	return c.srv.Serve(ctx, &loopbackOnly{Listener: l, ctx: ctx, log: c.log, name: name})
}

// quiesce tells the clients that the queue manager ends.
func (c *clients) quiesce() { c.srv.Quiesce(wire.QMQuiesce) }

// start starts an instance of a channel, within its limits.
func (c *clients) start(_ context.Context, p fap.Peer) (*fap.Instance, error) {
	sc, chlType := c.qm.ServerConn(p.Channel)
	switch chlType {
	case "":
		return nil, &fap.Refusal{Code: wire.CodeNoChannel, Err: errors.New("no such channel; DEFINE CHANNEL(" + p.Channel +
			") CHLTYPE(SVRCONN) makes it")}
	case "SVRCONN":
	default:
		return nil, &fap.Refusal{Code: wire.CodeWrongType, Err: fmt.Errorf("it is of type %s, clients need a SVRCONN", chlType)}
	}
	host, _, err := net.SplitHostPort(p.Addr.String())
	if err != nil {
		return nil, err
	}
	if err := c.count(&sc, host); err != nil {
		return nil, err
	}
	return &fap.Instance{Channel: sc.Name, QMgr: c.qm.Name(), QMID: c.qm.ID(), Heartbeat: sc.Heartbeat, MaxMsg: sc.MaxMsg,
		ShareCnv: sc.ShareCnv, PlainPasswords: true, Close: func() { c.uncount(sc.Name, host) }}, nil
}

// count takes one of the instances that MAXINST and MAXINSTC allow.
func (c *clients) count(sc *qmgr.ServerConn, host string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := c.inst[sc.Name]
	all := 0
	for _, n := range by {
		all += n
	}
	if all >= int(sc.MaxInst) {
		return fmt.Errorf("%d instances run, which is its MAXINST", all)
	}
	if n := by[host]; n >= int(sc.MaxInstC) {
		return fmt.Errorf("%d instances of %s run, which is its MAXINSTC", n, host)
	}
	if by == nil {
		by = map[string]int{}
		c.inst[sc.Name] = by
	}
	by[host]++
	return nil
}

func (c *clients) uncount(channel, host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := c.inst[channel]
	if by[host]--; by[host] <= 0 {
		delete(by, host)
	}
	if len(by) == 0 {
		delete(c.inst, channel)
	}
}

// identify takes the client at its word; MCAUSER of the channel comes before what it says.
func (c *clients) identify(_ context.Context, r fap.ConnectRequest) (auth.Identity, error) {
	id := auth.Identity{User: r.User, UID: -1, Origin: "channel " + r.Instance.Channel}
	if r.Auth != nil && r.Auth.User != "" {
		id.User = r.Auth.User
	}
	if sc, _ := c.qm.ServerConn(r.Instance.Channel); sc.MCAUser != "" {
		id.User = sc.MCAUser
	}
	return id, nil
}

// loopbackOnly accepts peers of this machine. Its Accept ends with the context, not with the port: whoever accepts ends
// its sockets then.
type loopbackOnly struct {
	net.Listener
	ctx  context.Context
	log  *zerolog.Logger
	name string
}

func (l *loopbackOnly) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			<-l.ctx.Done()
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
			return nc, nil
		}
		l.log.Warn().Str(obs.FieldAMQ, "AMQ9209E").Str("listener", l.name).Stringer("peer", nc.RemoteAddr()).
			Msgf("connection from %s closed: channel authentication is not enforced yet, so only clients on this machine "+
				"are let in", nc.RemoteAddr())
		nc.Close()
	}
}
