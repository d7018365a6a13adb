package mq

import (
	"context"
	"errors"

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
	InquireMode    OpenMode = mqi.MQOO_INQUIRE
	SetMode        OpenMode = mqi.MQOO_SET
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

	model string // of the queue that was made
}

// Queue is an open queue.
type Queue struct {
	c     *Conn
	name  string
	mode  OpenMode
	opt   OpenOptions
	h     handle
	ahead *readAhead
}

// Open opens a queue (MQOPEN).
func (c *Conn) Open(ctx context.Context, name string, mode OpenMode) (*Queue, error) {
	return c.OpenWith(ctx, name, mode, OpenOptions{})
}

// OpenWith opens a queue with options.
func (c *Conn) OpenWith(ctx context.Context, name string, mode OpenMode, o OpenOptions) (*Queue, error) {
	q := &Queue{c: c, name: name, mode: mode, opt: o}
	err := c.openFirst(ctx, "MQOPEN", name, q, func() error { return q.open(ctx, name) })
	if isFailed(err) {
		return nil, err
	}
	return q, err
}

// openFirst runs the verb that opens r.
func (c *Conn) openFirst(ctx context.Context, op, object string, r reopener, open func() error) error {
	if err := c.lock(ctx, op, object); err != nil {
		return err
	}
	defer c.unlock()
	if err := c.revive(ctx, op, object); err != nil {
		return err
	}
	err := open()
	for c.again(ctx, op, object, true, &err) {
		err = open()
	}
	if !isFailed(err) {
		c.opened(r)
	}
	return err
}

// open sends MQOPEN. With the token.
func (q *Queue) open(ctx context.Context, name string) error {
	o := &q.opt
	od := mqi.DefaultOD()
	od.Version, od.ObjectName, od.ObjectQMgrName, od.SelectionString = 4, name, o.QueueManager, o.Selector
	if o.DynamicName != "" {
		od.DynamicQName = o.DynamicName
	}
	opts := int32(q.mode)
	if o.AlternateUser != "" {
		od.AlternateUserID = o.AlternateUser
		opts |= mqi.MQOO_ALTERNATE_USER_AUTHORITY
	}
	if !o.AllowQuiesce {
		opts |= mqi.MQOO_FAIL_IF_QUIESCING
	}
	r, err := q.c.roundTrip(ctx, "MQOPEN", name, wire.MQOPEN, 0, &wire.Open{OD: od, Options: opts})
	if isFailed(err) {
		return err
	}
	b, ok := r.body.(*wire.Open)
	if !ok {
		return fail("MQOPEN", name, unexpected, nil)
	}
	if b.OD.ObjectName != name { // the name was that of a model queue
		o.model, o.DynamicName = name, b.OD.ObjectName
	}
	q.name, q.h.hobj = b.OD.ObjectName, r.api.Hobj
	q.startAhead(q.mode&ReadAhead != 0)
	return err
}

// reopen opens the queue on a new connection; a dynamic queue is made again, or found, by its name.
func (q *Queue) reopen(ctx context.Context) error {
	if q.opt.model == "" {
		return failedOnly(q.open(ctx, q.name))
	}
	err := q.open(ctx, q.opt.model)
	if errors.Is(err, objectExists) {
		if err = q.open(ctx, q.name); errors.Is(err, UnknownObject) { // it has just gone with the old connection
			err = fail("MQOPEN", q.name, ObjectInUse, err)
		}
	}
	return failedOnly(err)
}

const (
	objectExists Reason = mqi.MQRC_OBJECT_ALREADY_EXISTS
	notEmpty     Reason = mqi.MQRC_Q_NOT_EMPTY
)

func failedOnly(err error) error {
	if isFailed(err) {
		return err
	}
	return nil
}

// startAhead begins to read ahead on the present connection. Messages that have come are kept.
func (q *Queue) startAhead(on bool) {
	if !on {
		return
	}
	if q.ahead == nil {
		q.ahead = &readAhead{ahead: &ahead{}}
	}
	*q.ahead = readAhead{ahead: q.ahead.ahead}
	q.c.pushed.register(q.h.hobj, q.ahead.ahead)
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

// Delete closes a permanent dynamic queue and deletes it; purge also when there are messages on it. One that is not empty, or in
// use by a unit of work, stays, and open: reason 2055.
func (q *Queue) Delete(ctx context.Context, purge bool) error {
	if purge {
		return q.close(ctx, mqi.MQCO_DELETE_PURGE)
	}
	return q.close(ctx, mqi.MQCO_DELETE)
}

func (q *Queue) close(ctx context.Context, options int32) error {
	return q.closeAs(ctx, q, &q.h, options)
}

// closeAs closes h, which is r's.
func (q *Queue) closeAs(ctx context.Context, r reopener, h *handle, options int32) error {
	c := q.c
	if err := c.lock(ctx, "MQCLOSE", q.name); err != nil {
		return err
	}
	defer c.unlock()
	if c.opt.Reconnect != nil && !c.alive() && options == mqi.MQCO_NONE {
		c.forget(r) // it is closed
		return nil
	}
	_, err := c.once(ctx, "MQCLOSE", q.name, wire.MQCLOSE, h, &wire.Close{Options: options}, true)
	if errors.Is(err, notEmpty) { // it is open still
		return err
	}
	c.forget(r)
	if q.ahead != nil && h == &q.h && !isFailed(err) {
		c.pushed.forget(h.hobj)
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
	LogicalOrder bool // the queue manager numbers the messages of a group, and the segments of a message (Message.Flags)
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
	if o.LogicalOrder {
		p.Options |= mqi.MQPMO_LOGICAL_ORDER
	}
	if !o.AllowQuiesce {
		p.Options |= mqi.MQPMO_FAIL_IF_QUIESCING
	}
	return p
}

// Put puts a message (MQPUT) and fills in what the queue manager made of its descriptor.
func (q *Queue) Put(ctx context.Context, m *Message, o PutOptions) error {
	c := q.c
	if err := c.lock(ctx, "MQPUT", q.name); err != nil {
		return err
	}
	defer c.unlock()
	if err := c.beginPut(ctx, "MQPUT", q.name, m, &o); err != nil {
		return err
	}
	err := c.put(ctx, q.name, q.h.hobj, m, &o)
	for c.again(ctx, "MQPUT", q.name, false, &err) {
		err = c.put(ctx, q.name, q.h.hobj, m, &o)
	}
	return err
}

// beginPut checks what can be checked before a put is sent.
func (c *Conn) beginPut(ctx context.Context, op, object string, m *Message, o *PutOptions) error {
	if err := c.revive(ctx, op, object); err != nil {
		return err
	}
	if len(m.Body) > c.maxMsg {
		return fail(op, object, MsgTooBigForChannel, nil)
	}
	return c.enter(op, object, o.Syncpoint)
}

// put sends an MQPUT. With the token.
func (c *Conn) put(ctx context.Context, object string, hobj int32, m *Message, o *PutOptions) error {
	const op = "MQPUT"
	b := &c.putBuf
	b.PMO, b.Data = o.pmo(), m.Body
	m.md(&b.MD)
	defer func() { b.Data = nil }()
	if err := m.withProperties(b); err != nil {
		return fail(op, object, reasonOf(err), err)
	}
	c.req++
	if o.Async {
		c.async = true
		if err := c.sendPut(hobj, b, false); err != nil {
			return fail(op, object, ConnectionBroken, c.why(err))
		}
		return nil
	}
	calls.Add(1)
	defer calls.Add(-1)
	c.role.want()
	defer c.role.release()
	if err := c.sendPut(hobj, b, true); err != nil {
		return fail(op, object, ConnectionBroken, c.why(err))
	}
	s, err := c.answer(ctx)
	if err != nil {
		return c.abandon(ctx, op, object, err)
	}
	a, err := m.tookFrom(c.link, &s)
	if err != nil {
		return c.garbled(ctx, op, object, err)
	}
	return codes(a, op, object)
}

// Put1 puts one message without opening the queue first (MQPUT1).
func (c *Conn) Put1(ctx context.Context, queue string, m *Message, o PutOptions) error {
	od := mqi.DefaultOD()
	od.Version, od.ObjectName = 4, queue
	return c.putOne(ctx, &od, queue, m, &o)
}

// putOne is MQPUT1 to what od names.
func (c *Conn) putOne(ctx context.Context, od *mqi.OD, name string, m *Message, o *PutOptions) error {
	if err := c.lock(ctx, "MQPUT1", name); err != nil {
		return err
	}
	defer c.unlock()
	if err := c.beginPut(ctx, "MQPUT1", name, m, o); err != nil {
		return err
	}
	err := c.put1(ctx, od, name, m, o)
	for c.again(ctx, "MQPUT1", name, false, &err) {
		err = c.put1(ctx, od, name, m, o)
	}
	return err
}

// put1 sends an MQPUT1. With the token.
func (c *Conn) put1(ctx context.Context, od *mqi.OD, queue string, m *Message, o *PutOptions) error {
	b := &wire.Put1{OD: *od, Put: wire.Put{PMO: o.pmo(), Data: m.Body}}
	m.md(&b.MD)
	if err := m.withProperties(&b.Put); err != nil {
		return fail("MQPUT1", queue, reasonOf(err), err)
	}
	if o.Async {
		c.req++
		c.async = true
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
