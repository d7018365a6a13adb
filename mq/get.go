package mq

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Forever waits until there is a message or the context ends.
const Forever time.Duration = -1

// GetOptions of a get or browse. The zero value takes the first message, outside syncpoint, and does not wait.
type GetOptions struct {
	Wait      time.Duration // for a message; Forever, or 0 for not at all
	Syncpoint bool          // part of the unit of work

	// Zero identifiers match every message.
	MsgID    ID
	CorrelID ID
	GroupID  ID

	// MaxLength is the longest body that is wanted, 0 for any. A longer message stays on its queue, with reason
	// TruncatedFailed, unless Truncate is set: then its rest is dropped, with the warning TruncatedAccepted.
	MaxLength int
	Truncate  bool

	// Properties gives the message's properties in Message.Properties, and its Body without them. Otherwise PROPCTL of the
	// queue decides; an MQRFH2 with properties is part of the Body then. MaxLength counts the properties too.
	Properties bool

	LogicalOrder bool // the messages of a group, and the segments of a message, one after the other
	WholeGroups  bool // only of groups that are complete
	Assemble     bool // segments to one message

	Convert      bool // to the code page and encoding of this program: UTF-8, little endian
	UnderCursor  bool // the message that was browsed last
	AllowQuiesce bool
	// Flags are further MQGMO_* options.
	Flags int32
}

func (o *GetOptions) gmo() (mqi.GMO, mqi.MD) {
	g, md := mqi.DefaultGMO(), mqi.DefaultMD()
	g.Version, md.Version = 4, 2
	md.CodedCharSetID = ccsidUTF8
	g.Options = o.Flags
	if o.Syncpoint {
		g.Options |= mqi.MQGMO_SYNCPOINT
	} else if o.Flags&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT == 0 {
		g.Options |= mqi.MQGMO_NO_SYNCPOINT
	}
	g.WaitInterval = 0
	if o.Wait != 0 {
		g.Options |= mqi.MQGMO_WAIT
		g.WaitInterval = mqi.MQWI_UNLIMITED
		if o.Wait > 0 {
			g.WaitInterval = int32(min((o.Wait+time.Millisecond-1)/time.Millisecond, 1<<31-1))
		}
	}
	for _, f := range [...]struct {
		on   bool
		flag int32
	}{{o.Convert, mqi.MQGMO_CONVERT}, {o.Truncate, mqi.MQGMO_ACCEPT_TRUNCATED_MSG}, {o.UnderCursor, mqi.MQGMO_MSG_UNDER_CURSOR},
		{!o.AllowQuiesce, mqi.MQGMO_FAIL_IF_QUIESCING}, {o.Properties, mqi.MQGMO_PROPERTIES_FORCE_MQRFH2},
		{o.LogicalOrder, mqi.MQGMO_LOGICAL_ORDER}, {o.WholeGroups, mqi.MQGMO_ALL_MSGS_AVAILABLE},
		{o.Assemble, mqi.MQGMO_COMPLETE_MSG}} {
		if f.on {
			g.Options |= f.flag
		}
	}
	g.MatchOptions = 0
	md.MsgID, md.CorrelID, md.GroupID = mqi.ID(o.MsgID), mqi.ID(o.CorrelID), mqi.ID(o.GroupID)
	for _, f := range [...]struct {
		id   ID
		flag int32
	}{{o.MsgID, mqi.MQMO_MATCH_MSG_ID}, {o.CorrelID, mqi.MQMO_MATCH_CORREL_ID}, {o.GroupID, mqi.MQMO_MATCH_GROUP_ID}} {
		if f.id != (ID{}) {
			g.MatchOptions |= f.flag
		}
	}
	return g, md
}

// plain reports whether messages that the queue manager chose to send ahead will do.
func (o *GetOptions) plain() bool {
	return !o.Syncpoint && !o.UnderCursor && o.Flags == 0 && o.MsgID == ID{} && o.CorrelID == ID{} && o.GroupID == ID{} &&
		o.MaxLength == 0 && !o.Convert && !o.LogicalOrder && !o.WholeGroups && !o.Assemble
}

// Get gets a message (MQGET). Without one the error is NoMsgAvailable, at once or after the wait.
func (q *Queue) Get(ctx context.Context, o GetOptions) (*Message, error) {
	m := new(Message)
	if err := q.get(ctx, m, &o); isFailed(err) || stays(err) {
		return nil, err
	} else {
		return m, err
	}
}

// GetInto is Get into a message that the program has, for those that get many: its Body is overwritten, and grows when it is too
// small. After an error other than a warning its fields are not to be used.
func (q *Queue) GetInto(ctx context.Context, m *Message, o GetOptions) error {
	*m = Message{Body: m.Body[:0]}
	return q.get(ctx, m, &o)
}

func (q *Queue) get(ctx context.Context, m *Message, o *GetOptions) error {
	const op = "MQGET"
	c := q.c
	if err := ctx.Err(); err != nil {
		return fail(op, q.name, NoMsgAvailable, context.Cause(ctx))
	}
	if err := c.lock(ctx, op, q.name); err != nil {
		return err
	}
	defer c.unlock()
	err := c.revive(ctx, op, q.name)
	if err == nil {
		err = c.enter(op, q.name, o.Syncpoint || o.Flags&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT != 0)
	}
	if err != nil {
		return err
	}
	err = q.getOnce(ctx, m, o)
	for c.again(ctx, op, q.name, true, &err) {
		err = q.getOnce(ctx, m, o)
	}
	if o.Properties && !isFailed(err) && !stays(err) {
		m.splitProperties()
	}
	return err
}

func (q *Queue) getOnce(ctx context.Context, m *Message, o *GetOptions) error {
	if q.ahead != nil && o.plain() {
		return q.getAhead(ctx, m, o)
	}
	b := &q.c.getBuf
	b.GMO, b.MD = o.gmo()
	if b.MaxLength = int32(o.MaxLength); b.MaxLength <= 0 {
		b.MaxLength = int32(q.c.maxMsg)
	}
	return q.c.get(ctx, m, q.name, q.h.hobj, b)
}

// stays reports a warning by its code with which the message has stayed on its queue.
func stays(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Reason == TruncatedFailed
}

func (c *Conn) get(ctx context.Context, m *Message, object string, hobj int32, b *wire.Get) error {
	const op = "MQGET"
	c.role.want()
	defer c.role.release()
	c.req++
	if err := c.send(wire.MQGET, c.req, hobj, b); err != nil {
		return fail(op, object, ConnectionBroken, c.why(err))
	}
	s, err := c.answer(ctx)
	switch {
	case err == nil:
		return c.gotten(ctx, m, object, &s)
	case ctx.Err() != nil && c.alive():
		return c.cancelGet(ctx, m, object)
	}
	return c.abandon(ctx, op, object, err)
}

// gotten reads what an MQGET answered; a warning comes with the message.
func (c *Conn) gotten(ctx context.Context, m *Message, object string, s *segment) error {
	a, ok, err := m.gotFrom(c.link, s)
	if err != nil {
		return c.garbled(ctx, "MQGET", object, err)
	}
	m.Body = m.Body[:min(len(m.Body), int(c.getBuf.MaxLength))] // behind a truncated one there may be padding
	if err := codes(a, "MQGET", object); err != nil || ok {
		return err
	}
	return fail("MQGET", object, unexpected, nil)
}

// cancelTime is how long the server may take to end a get that waits.
const cancelTime = 5 * time.Second

var errNoCancel = errors.New("the server did not end the get that waits")

// cancelGet has the server end the get that waits. Its answer may still be a message: that is no error then, since the
// message has left its queue.
func (c *Conn) cancelGet(ctx context.Context, m *Message, object string) error {
	h := c.header(wire.SPI, c.req)
	h.Flags = wire.FlagConfirm
	note := &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1, OutLength: 12,
		Part: &wire.SPINotifyIn{Options: 1, Reason: int32(NoMsgAvailable), Connection: c.names.id}}
	if err := c.sendH(h, wire.API{}, note); err != nil {
		return fail("MQGET", object, ConnectionBroken, c.why(err))
	}
	limit, cancel := context.WithTimeoutCause(context.Background(), cancelTime, errNoCancel)
	defer cancel()
	var result error
	for range 2 { // answers: of the get and of the notification, in any order
		s, err := c.answer(limit)
		if err != nil {
			return c.abandon(limit, "MQGET", object, err)
		}
		if s.h.Type == wire.MQGET.Reply() {
			result = c.gotten(ctx, m, object, &s)
		}
	}
	if errors.Is(result, NoMsgAvailable) {
		return fail("MQGET", object, NoMsgAvailable, context.Cause(ctx))
	}
	return result
}

// Messages gets one message after the other, until there is none within o.Wait, an error, or the loop's end. Only an error
// other than NoMsgAvailable is handed to the loop; the end of ctx is one.
func (q *Queue) Messages(ctx context.Context, o GetOptions) iter.Seq2[*Message, error] {
	return q.each(ctx, func() (*Message, error) { return q.Get(ctx, o) })
}

// Browse goes through the messages without taking them, from the first. The queue must be open with BrowseMode. With o.Wait
// it goes on to those that come.
func (q *Queue) Browse(ctx context.Context, o GetOptions) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		o.Syncpoint = false
		flags := o.Flags
		o.Flags = flags | mqi.MQGMO_BROWSE_FIRST
		q.each(ctx, func() (*Message, error) {
			m, err := q.Get(ctx, o)
			if !isFailed(err) {
				o.Flags = flags | mqi.MQGMO_BROWSE_NEXT
			}
			return m, err
		})(yield)
	}
}

func (q *Queue) each(ctx context.Context, next func() (*Message, error)) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for {
			m, err := next()
			if errors.Is(err, NoMsgAvailable) && ctx.Err() == nil {
				return
			}
			if !yield(m, err) || isFailed(err) {
				return
			}
		}
	}
}
