package mq

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Topic is a topic that is open for publishing.
type Topic struct{ q Queue }

// OpenTopic opens a topic string for publishing.
func (c *Conn) OpenTopic(ctx context.Context, topic string) (*Topic, error) {
	t := &Topic{Queue{c: c, name: topic}}
	err := c.openFirst(ctx, "MQOPEN", topic, t, func() error { return t.open(ctx) })
	if isFailed(err) {
		return nil, err
	}
	return t, err
}

// open sends MQOPEN. With the token.
func (t *Topic) open(ctx context.Context) error {
	od := mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, t.q.name
	r, err := t.q.c.roundTrip(ctx, "MQOPEN", t.q.name, wire.MQOPEN, 0,
		&wire.Open{OD: od, Options: mqi.MQOO_OUTPUT | mqi.MQOO_FAIL_IF_QUIESCING})
	if !isFailed(err) {
		t.q.h.hobj = r.api.Hobj
	}
	return err
}

func (t *Topic) reopen(ctx context.Context) error { return failedOnly(t.open(ctx)) }

// PubOptions of a publication.
type PubOptions struct {
	PutOptions
	Retain bool // keep it for subscribers that come later
}

// Publish publishes a message (MQPUT).
func (t *Topic) Publish(ctx context.Context, m *Message, o PubOptions) error {
	if o.Retain {
		o.Flags |= mqi.MQPMO_RETAIN
	}
	return t.q.Put(ctx, m, o.PutOptions)
}

// Publish publishes one message to a topic string without opening it first (MQPUT1).
func (c *Conn) Publish(ctx context.Context, topic string, m *Message, o PubOptions) error {
	od := mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, topic
	if o.Retain {
		o.Flags |= mqi.MQPMO_RETAIN
	}
	return c.putOne(ctx, &od, topic, m, &o.PutOptions)
}

// Close closes the topic.
func (t *Topic) Close(ctx context.Context) error { return t.q.closeAs(ctx, t, &t.q.h, mqi.MQCO_NONE) }

// SubOptions of Subscribe.
type SubOptions struct {
	Topic       string // with wildcards: + for one level, # for any number
	TopicObject string // TOPIC object that Topic lies below
	Name        string // of the subscription; required when Durable
	Durable     bool   // outlives the connection; an existing one is resumed, if it is to the same topic
	Selector    string
	UserData    string
	Expiry      time.Duration // 0: never
	NewOnly     bool          // no retained publications
	OnRequest   bool          // retained publications only when asked for with Request
	// ReadAhead lets the queue manager send publications before they are asked for, as the mode of a queue does.
	ReadAhead bool
	// Queue gets the publications; nil: one that the queue manager makes and removes.
	Queue *Queue
}

// Subscription is a subscription with the queue that its publications come to.
type Subscription struct {
	Queue
	o     SubOptions
	hsub  handle
	topic string // as the queue manager resolved it
}

// Subscribe makes a subscription (MQSUB).
func (c *Conn) Subscribe(ctx context.Context, o SubOptions) (*Subscription, error) {
	s := &Subscription{Queue: Queue{c: c, name: o.Topic}, o: o}
	err := c.openFirst(ctx, "MQSUB", o.Topic, s, func() error { return s.subscribe(ctx) })
	if isFailed(err) {
		return nil, err
	}
	if o.TopicObject == "" && s.topic != "" && s.topic != o.Topic {
		// MQSO_RESUME does not compare them, and the caller would wait for something else.
		return nil, fail("MQSUB", o.Name, mqi.MQRC_TOPIC_NOT_ALTERABLE, s.Close(ctx))
	}
	return s, err
}

func (o *SubOptions) sd() mqi.SD {
	sd := mqi.DefaultSD()
	sd.ObjectString, sd.ObjectName, sd.SubName = o.Topic, o.TopicObject, o.Name
	sd.SelectionString, sd.SubUserData = o.Selector, o.UserData
	if o.Expiry > 0 {
		sd.SubExpiry = int32(min((o.Expiry+tenth-1)/tenth, 1<<31-1))
	}
	sd.Options = mqi.MQSO_CREATE | mqi.MQSO_FAIL_IF_QUIESCING | mqi.MQSO_WILDCARD_TOPIC
	for _, f := range [...]struct {
		on   bool
		flag int32
	}{{o.Durable, mqi.MQSO_DURABLE | mqi.MQSO_RESUME}, {o.NewOnly, mqi.MQSO_NEW_PUBLICATIONS_ONLY},
		{o.OnRequest, mqi.MQSO_PUBLICATIONS_ON_REQUEST}, {o.Queue == nil, mqi.MQSO_MANAGED},
		{o.ReadAhead, mqi.MQSO_READ_AHEAD}} {
		if f.on {
			sd.Options |= f.flag
		}
	}
	return sd
}

// subscribe sends MQSUB. With the token.
func (s *Subscription) subscribe(ctx context.Context) error {
	var hobj int32
	if s.o.Queue != nil {
		hobj = s.o.Queue.h.hobj
	}
	r, err := s.c.roundTrip(ctx, "MQSUB", s.name, wire.MQSUB, hobj, &wire.Sub{SD: s.o.sd()})
	if isFailed(err) {
		return err
	}
	b, ok := r.body.(*wire.Sub)
	if !ok {
		return fail("MQSUB", s.name, unexpected, nil)
	}
	s.h.hobj, s.hsub.hobj, s.topic = r.api.Hobj, b.Hsub, b.SD.ResObjectString
	s.startAhead(s.o.ReadAhead && s.o.Queue == nil)
	return err
}

func (s *Subscription) reopen(ctx context.Context) error { return failedOnly(s.subscribe(ctx)) }

// Request asks for the retained publications (MQSUBRQ) and returns their number.
func (s *Subscription) Request(ctx context.Context) (int, error) {
	r, err := s.c.call(ctx, "MQSUBRQ", s.name, wire.MQSUBRQ, &s.hsub, &wire.SubRq{Action: mqi.MQSR_ACTION_PUBLICATION,
		SRO: mqi.DefaultSRO()})
	if b, ok := r.body.(*wire.SubRq); ok {
		return int(b.SRO.NumPubs), err
	}
	return 0, err
}

// Close closes the subscription. A durable one stays, and gathers publications until it is resumed.
func (s *Subscription) Close(ctx context.Context) error { return s.end(ctx, mqi.MQCO_NONE) }

// Remove closes the subscription for good, also a durable one.
func (s *Subscription) Remove(ctx context.Context) error { return s.end(ctx, mqi.MQCO_REMOVE_SUB) }

func (s *Subscription) end(ctx context.Context, options int32) error {
	err := s.closeAs(ctx, s, &s.hsub, options)
	if s.o.Queue == nil { // the queue is the subscription's
		if cerr := s.closeAs(ctx, s, &s.h, mqi.MQCO_NONE); err == nil {
			err = cerr
		}
	}
	return err
}
