// Package engine joins the client protocol to the queue manager: a fap.Backend over qmgr.Manager.
//
// It decides nothing: which channels there are, and who a client is, comes from the functions of Backend.
package engine

import (
	"context"
	"net"
	"os"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// Backend serves clients of one queue manager. All fields but the last are required.
type Backend struct {
	Manager *qmgr.Manager
	// Start starts an instance of a server-connection channel; its error refuses the peer (fap.Refusal names the status).
	Start func(ctx context.Context, p fap.Peer) (*fap.Instance, error)
	// Identify says who a client is, from its credentials and what the channel prescribes; its error answers MQCONN.
	Identify func(ctx context.Context, r fap.ConnectRequest) (auth.Identity, error)
	// Connected is told of each client that Identify let in and the queue manager did not refuse.
	Connected func(r fap.ConnectRequest, id auth.Identity)
}

// Channel implements fap.Backend.
func (b *Backend) Channel(ctx context.Context, p fap.Peer) (*fap.Instance, error) {
	return b.Start(ctx, p)
}

// Connect implements fap.Backend.
func (b *Backend) Connect(ctx context.Context, r fap.ConnectRequest) (fap.Conn, error) {
	id, err := b.Identify(ctx, r)
	if err != nil {
		return nil, err
	}
	c, err := b.Manager.Connect(ctx, id, qmgr.ConnectOptions{ApplName: r.ApplName, ApplType: r.ApplType,
		ApplDesc: applDesc, PID: os.Getpid(), Channel: r.Instance.Channel, ConnName: host(r.Peer.Addr), Options: r.Options,
		Broken: r.Broken, Collects: true, Whole: true})
	if err != nil {
		return nil, err
	}
	if b.Connected != nil {
		b.Connected(r, id)
	}
	return conn{c}, nil
}

// applDesc is what DISPLAY CONN says of a client beside its own name.
const applDesc = "IBM MQ Channel"

// host is an address without its port, as CONNAME shows it.
func host(a net.Addr) string {
	h, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return h
}

// conn is a fap.Conn: the handles of the engine are those of the wire.
type conn struct{ *qmgr.Conn }

// asked are the attributes that a client wants to know of a queue that it opens.
var asked = []int32{mqi.MQIA_DEF_PERSISTENCE, mqi.MQIA_DEF_PUT_RESPONSE_TYPE, mqi.MQIA_DEF_READ_AHEAD,
	mqi.MQIA_PROPERTY_CONTROL}

func (c conn) Open(ctx context.Context, od *mqi.OD, options int32) (int32, wire.Defaults, error) {
	h, err := c.Conn.Open(ctx, od, options)
	if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
		return 0, wire.Defaults{}, err
	}
	return int32(h), c.defaults(od, h), err
}

// defaults are part of the answer to MQOPEN, so they need no authority of the client's. An object that has no such
// attributes gets those of MQ.
func (c conn) defaults(od *mqi.OD, h qmgr.Handle) wire.Defaults {
	d := wire.Defaults{PutResponse: mqi.MQPRT_SYNC_RESPONSE}
	if od.ObjectType != mqi.MQOT_Q {
		return d
	}
	v := c.Conn.OpenedAttrs(h, asked)
	if len(v) != len(asked) {
		return d
	}
	for i, p := range [...]*int32{&d.Persistence, &d.PutResponse, &d.ReadAhead, &d.PropertyControl} {
		if v[i] >= 0 { // negative: not of this kind of queue
			*p = v[i]
		}
	}
	return d
}

func (c conn) Close(ctx context.Context, hobj, options int32) error {
	return c.Conn.Close(ctx, qmgr.Handle(hobj), options)
}

// Put leaves out the message handles of the options: they are the client's own, and their properties are in the data.
func (c conn) Put(ctx context.Context, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	defer withoutHandles(pmo)()
	return c.Conn.Put(ctx, qmgr.Handle(hobj), md, pmo, body)
}

// Put1 is as Put.
func (c conn) Put1(ctx context.Context, od *mqi.OD, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	defer withoutHandles(pmo)()
	return c.Conn.Put1(ctx, od, md, pmo, body)
}

// Consuming implements fap.Watched.
func (c conn) Consuming(state int32) {
	s, ok := map[int32]qmgr.Consumption{0: qmgr.ConsumptionStopped, 2: qmgr.ConsumptionStarted, 3: qmgr.ConsumptionSuspended}[state]
	if ok {
		c.Conn.Consuming(s)
	}
}

// Consumer implements fap.Watched.
func (c conn) Consumer(hobj int32, there bool) bool { return c.Conn.Consumer(qmgr.Handle(hobj), there) }

// CountAsync implements fap.Statuser.
func (c conn) CountAsync(hobj int32, object string, md *mqi.MD, pmo *mqi.PMO, err error) {
	c.Conn.CountRefused(qmgr.Handle(hobj), object, md, pmo, err)
}

// withoutHandles takes the message handles out of the options until the function that it returns is called.
func withoutHandles(pmo *mqi.PMO) (back func()) {
	original, fresh := pmo.OriginalMsgHandle, pmo.NewMsgHandle
	pmo.OriginalMsgHandle, pmo.NewMsgHandle = mqi.MQHM_NONE, mqi.MQHM_NONE
	return func() { pmo.OriginalMsgHandle, pmo.NewMsgHandle = original, fresh }
}

// Get gives properties for a message handle of the client's in an MQRFH2, of which the client fills it.
func (c conn) Get(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) ([]byte, int, error) {
	defer insteadOfHandle(gmo)()
	return c.Conn.Get(ctx, qmgr.Handle(hobj), md, gmo, max)
}

// GetAhead is as Get.
func (c conn) GetAhead(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) ([]byte, int, error) {
	defer insteadOfHandle(gmo)()
	body, total, err := c.Conn.GetAhead(ctx, qmgr.Handle(hobj), md, gmo, max)
	return body, total, held(err)
}

func held(err error) error {
	if err == qmgr.ErrHeld {
		return fap.ErrHeld
	}
	return err
}

// insteadOfHandle is propsInData until the function that it returns is called.
func insteadOfHandle(gmo *mqi.GMO) (back func()) {
	handle, options := gmo.MsgHandle, gmo.Options
	propsInData(gmo)
	return func() { gmo.MsgHandle, gmo.Options = handle, options }
}

// propsInData asks for properties in the data where the client wants them in a handle of its own.
func propsInData(gmo *mqi.GMO) {
	gmo.MsgHandle = mqi.MQHM_NONE
	if gmo.Options&mqi.MQGMO_PROPERTIES_IN_HANDLE != 0 {
		gmo.Options = gmo.Options&^mqi.MQGMO_PROPERTIES_IN_HANDLE | mqi.MQGMO_PROPERTIES_FORCE_MQRFH2
	}
}

func (c conn) Inq(ctx context.Context, hobj int32, selectors []int32, maxInts, maxChars int) ([]int32, []byte, error) {
	return c.Conn.Inq(ctx, qmgr.Handle(hobj), selectors, maxInts, maxChars)
}

func (c conn) Set(ctx context.Context, hobj int32, selectors, ints []int32, chars []byte) error {
	return c.Conn.Set(ctx, qmgr.Handle(hobj), selectors, ints, chars)
}

func (c conn) Subscribe(ctx context.Context, sd *mqi.SD, hobj int32) (queue, hsub int32, err error) {
	q, s, err := c.Conn.Subscribe(ctx, sd, qmgr.Handle(hobj))
	return int32(q), int32(s), err
}

func (c conn) SubRequest(ctx context.Context, hsub, action int32, sro *mqi.SRO) error {
	return c.Conn.SubRequest(ctx, qmgr.Handle(hsub), action, sro)
}
