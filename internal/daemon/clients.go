package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/engine"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
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
	// maxActive and maxChannels are MaxActiveChannels and MaxChannels of qm.ini; 0: no such limit.
	maxActive, maxChannels int
	repeats                *obs.Repeats
	early                  early

	mu     invariants.Mutex
	active int                       // running instances
	inst   map[string]map[string]int // by channel and client address
	who    map[*fap.Instance]*client // what the queue manager knows of them
}

// client is what the last MQCONN of an instance told.
type client struct{ user, appl string }

// newClients makes the door of the clients. arrived, if not nil, is called whenever they have sent something.
func newClients(qm *qmgr.Manager, log *zerolog.Logger, clk clock.Clock, k *keys, arrived func()) *clients {
	c := &clients{qm: qm, log: log, clk: clk, keys: k, inst: map[string]map[string]int{}, who: map[*fap.Instance]*client{},
		repeats: obs.NewRepeats(func(d time.Duration, f func()) func() bool { return clk.AfterFunc(d, f).Stop })}
	c.srv = fap.New(c.backend(), fap.Options{Clock: clk, Log: log, Repeats: c.repeats, Arrived: arrived})
	return c
}

func (c *clients) backend() *engine.Backend {
	return &engine.Backend{Manager: c.qm, Start: c.start, Identify: c.identify, Connected: c.connected}
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
	i := &fap.Instance{Channel: sc.Name, QMgr: c.qm.Name(), QMID: c.qm.ID(), Heartbeat: sc.Heartbeat, MaxMsg: sc.MaxMsg,
		ShareCnv: sc.ShareCnv, Disconnect: time.Duration(sc.Disconnect) * time.Second, PlainPasswords: c.plainPasswords(p.Addr)}
	i.Close = func() { c.uncount(i, host) }
	c.mu.Lock()
	c.who[i] = &client{}
	c.mu.Unlock()
	return i, nil
}

// limit is the refusal of a client for want of an instance.
func limit(id, format string, a ...any) error {
	return &fap.Refusal{Code: wire.CodeChannelUnavailable, ID: id, Err: fmt.Errorf(format, a...)}
}

// count takes one of the instances that the channel and qm.ini allow. A channel that is stopped allows none.
func (c *clients) count(sc *qmgr.ServerConn, host string) error {
	qualifier, err := c.tryCount(sc, host)
	if qualifier != 0 && c.qm != nil {
		c.qm.LimitReached(sc.Name, host, qualifier)
	}
	return err
}

func (c *clients) tryCount(sc *qmgr.ServerConn, host string) (qualifier int32, err error) {
	if sc.Stopped {
		return 0, limit("AMQ9558E", "it is stopped; START CHANNEL(%s) lets clients in", sc.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	by := c.inst[sc.Name]
	all := 0
	for _, n := range by {
		all += n
	}
	switch {
	case c.maxChannels > 0 && c.active >= c.maxChannels:
		return mqi.MQRQ_MAX_CHANNELS, limit("AMQ9513E", "%d channels are in use, which is MaxChannels of qm.ini", c.active)
	case c.maxActive > 0 && c.active >= c.maxActive:
		return mqi.MQRQ_MAX_ACTIVE_CHANNELS, limit("AMQ9513E", "%d channels are active, which is MaxActiveChannels of qm.ini", c.active)
	case all >= int(sc.MaxInst):
		return mqi.MQRQ_SVRCONN_INST_LIMIT, limit("AMQ9489E", "%d instances run, which is its MAXINST", all)
	case by[host] >= int(sc.MaxInstC):
		return mqi.MQRQ_CLIENT_INST_LIMIT, limit("AMQ9490E", "%d instances of %s run, which is its MAXINSTC", by[host], host)
	}
	if by == nil {
		by = map[string]int{}
		c.inst[sc.Name] = by
	}
	by[host]++
	c.active++
	return 0, nil
}

func (c *clients) uncount(i *fap.Instance, host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.who, i)
	c.active--
	by := c.inst[i.Channel]
	if by[host]--; by[host] <= 0 {
		delete(by, host)
	}
	if len(by) == 0 {
		delete(c.inst, i.Channel)
	}
}
