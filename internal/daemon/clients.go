package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/engine"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// clients serves the client protocol on every port that is bound.
type clients struct {
	qm   *qmgr.Manager
	log  *zerolog.Logger
	clk  clock.Clock
	srv  *fap.Server
	keys *keys
	// plainEverywhere lets passwords come in clear from other machines too.
	plainEverywhere bool

	mu   invariants.Mutex
	inst map[string]map[string]int // running instances by channel and client address
}

func newClients(qm *qmgr.Manager, log *zerolog.Logger, clk clock.Clock, k *keys) *clients {
	c := &clients{qm: qm, log: log, clk: clk, keys: k, inst: map[string]map[string]int{}}
	c.srv = fap.New(&engine.Backend{Manager: qm, Start: c.start, Identify: c.identify}, fap.Options{Clock: clk, Log: log})
	return c
}

// serve accepts the clients of one port until ctx ends. A port that is closed takes no more of them, and those that came
// through it stay.
func (c *clients) serve(ctx context.Context, name string, l net.Listener) error {
	d := newDoorway(ctx, c, name, l)
	defer d.wg.Wait()
	return c.srv.Serve(ctx, d)
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
	if err := checkTLS(&sc, p.TLS); err != nil {
		c.sslEvent(&sc, host, err)
		return nil, err
	}
	if err := c.count(&sc, host); err != nil {
		return nil, err
	}
	return &fap.Instance{Channel: sc.Name, QMgr: c.qm.Name(), QMID: c.qm.ID(), Heartbeat: sc.Heartbeat, MaxMsg: sc.MaxMsg,
		ShareCnv: sc.ShareCnv, PlainPasswords: c.plainPasswords(p.Addr), Close: func() { c.uncount(sc.Name, host) }}, nil
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
