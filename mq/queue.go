package mq

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// OpenMode says what a queue is opened for, MQOO_*; modes are combined with |.
type OpenMode int32

// Modes of Open.
const (
	Input          OpenMode = mqi.MQOO_INPUT_AS_Q_DEF // DEFSOPT of the queue decides whether others may get too
	InputShared    OpenMode = mqi.MQOO_INPUT_SHARED
	InputExclusive OpenMode = mqi.MQOO_INPUT_EXCLUSIVE
	Output         OpenMode = mqi.MQOO_OUTPUT
	BrowseMode     OpenMode = mqi.MQOO_BROWSE
	// ReadAhead lets the queue manager send messages before they are asked for. They have left the queue then: those not
	// taken when the program ends are lost, so it is for messages that may be lost.
	ReadAhead OpenMode = mqi.MQOO_READ_AHEAD
)

// OpenOptions are what few programs need.
type OpenOptions struct {
	QueueManager  string // where the queue is; blank: let the name be resolved
	DynamicName   string // name of the queue made from a model queue; a * at its end is made unique
	AlternateUser string
	Selector      string // take only messages whose properties match
	AllowQuiesce  bool   // open even though the queue manager is ending
}

// Queue is an open queue.
type Queue struct {
	c     *Conn
	name  string
	hobj  int32
	ahead *readAhead
}

// Open opens a queue (MQOPEN).
func (c *Conn) Open(ctx context.Context, name string, mode OpenMode) (*Queue, error) {
	return c.OpenWith(ctx, name, mode, OpenOptions{})
}

// OpenWith opens a queue with options.
func (c *Conn) OpenWith(ctx context.Context, name string, mode OpenMode, o OpenOptions) (*Queue, error) {
	od := mqi.DefaultOD()
	od.Version, od.ObjectName, od.ObjectQMgrName, od.SelectionString = 4, name, o.QueueManager, o.Selector
	if o.DynamicName != "" {
		od.DynamicQName = o.DynamicName
	}
	opts := int32(mode)
	if o.AlternateUser != "" {
		od.AlternateUserID = o.AlternateUser
		opts |= mqi.MQOO_ALTERNATE_USER_AUTHORITY
	}
	if !o.AllowQuiesce {
		opts |= mqi.MQOO_FAIL_IF_QUIESCING
	}
	r, err := c.call(ctx, "MQOPEN", name, wire.MQOPEN, 0, &wire.Open{OD: od, Options: opts})
	if isFailed(err) {
		return nil, err
	}
	b, ok := r.body.(*wire.Open)
	if !ok {
		return nil, fail("MQOPEN", name, unexpected, nil)
	}
	q := &Queue{c: c, name: b.OD.ObjectName, hobj: r.api.Hobj}
	if mode&ReadAhead != 0 {
		q.ahead = &readAhead{ahead: c.pushed.register(q.hobj)}
	}
	return q, err
}

// isFailed reports whether a verb did nothing; a warning has done its work.
func isFailed(err error) bool {
	if err == nil {
		return false
	}
	e, ok := err.(*Error)
	return !ok || e.Code != Warning
}

// Name is the queue's name: that of the new queue when a model queue was opened.
func (q *Queue) Name() string { return q.name }

// Close closes the queue (MQCLOSE). A temporary dynamic queue goes with the handle that made it.
func (q *Queue) Close(ctx context.Context) error { return q.close(ctx, mqi.MQCO_NONE) }

// Delete closes a permanent dynamic queue and deletes it; purge also when there are messages on it.
func (q *Queue) Delete(ctx context.Context, purge bool) error {
	if purge {
		return q.close(ctx, mqi.MQCO_DELETE_PURGE)
	}
	return q.close(ctx, mqi.MQCO_DELETE)
}

func (q *Queue) close(ctx context.Context, options int32) error {
	_, err := q.c.call(ctx, "MQCLOSE", q.name, wire.MQCLOSE, q.hobj, &wire.Close{Options: options})
	if q.ahead != nil && !isFailed(err) {
		q.c.pushed.forget(q.hobj)
	}
	return err
}

// PutOptions of a put. The zero value puts outside syncpoint and waits for the queue manager's word: a persistent message
// is on disk then.
type PutOptions struct {
	Syncpoint bool // part of the unit of work
	// Async does not wait: Flush tells whether all went well. The message's descriptor is not filled in.
	Async        bool
	NewCorrelID  bool
	AllowQuiesce bool
	// Flags are further MQPMO_* options.
	Flags int32
}

func (o *PutOptions) pmo() mqi.PMO {
	p := mqi.DefaultPMO()
	p.Version = 2
	p.Options = o.Flags | mqi.MQPMO_NO_SYNCPOINT
	if o.Syncpoint {
		p.Options = o.Flags | mqi.MQPMO_SYNCPOINT
	}
	if o.Async {
		p.Options |= mqi.MQPMO_ASYNC_RESPONSE
	}
	if o.NewCorrelID {
		p.Options |= mqi.MQPMO_NEW_CORREL_ID
	}
	if !o.AllowQuiesce {
		p.Options |= mqi.MQPMO_FAIL_IF_QUIESCING
	}
	return p
}

// Put puts a message (MQPUT) and fills in what the queue manager made of its descriptor.
func (q *Queue) Put(ctx context.Context, m *Message, o PutOptions) error {
	return q.c.put(ctx, "MQPUT", q.name, q.hobj, m, &o)
}

func (c *Conn) put(ctx context.Context, op, object string, hobj int32, m *Message, o *PutOptions) error {
	if len(m.Body) > c.maxMsg {
		return fail(op, object, MsgTooBigForChannel, nil)
	}
	if err := c.lock(ctx, op, object); err != nil {
		return err
	}
	defer c.unlock()
	b := &c.putBuf
	b.PMO, b.Data = o.pmo(), m.Body
	m.md(&b.MD)
	defer func() { b.Data = nil }()
	c.req++
	if o.Async {
		if err := c.sendPut(hobj, b, false); err != nil {
			return fail(op, object, ConnectionBroken, c.why(err))
		}
		return nil
	}
	c.role.want()
	defer c.role.release()
	if err := c.sendPut(hobj, b, true); err != nil {
		return fail(op, object, ConnectionBroken, c.why(err))
	}
	s, err := c.answer(ctx)
	if err != nil {
		return c.abandon(ctx, op, object, err)
	}
	a, err := m.tookFrom(&c.link, &s)
	if err != nil {
		return c.garbled(ctx, op, object, err)
	}
	return codes(a, op, object)
}

// Put1 puts one message without opening the queue first (MQPUT1).
func (c *Conn) Put1(ctx context.Context, queue string, m *Message, o PutOptions) error {
	if len(m.Body) > c.maxMsg {
		return fail("MQPUT1", queue, MsgTooBigForChannel, nil)
	}
	od := mqi.DefaultOD()
	od.Version, od.ObjectName = 4, queue
	b := &wire.Put1{OD: od, Put: wire.Put{PMO: o.pmo(), Data: m.Body}}
	m.md(&b.MD)
	if err := c.lock(ctx, "MQPUT1", queue); err != nil {
		return err
	}
	defer c.unlock()
	if o.Async {
		c.req++
		if err := c.sendGathered(wire.MQPUT1, b); err != nil {
			return fail("MQPUT1", queue, ConnectionBroken, c.why(err))
		}
		return nil
	}
	r, err := c.roundTrip(ctx, "MQPUT1", queue, wire.MQPUT1, 0, b)
	if p, ok := r.body.(*wire.Put1Reply); ok && !isFailed(err) {
		m.took(&p.MD)
	}
	return err
}
