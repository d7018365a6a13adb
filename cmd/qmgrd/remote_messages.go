package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/web"
	"github.com/qmgrd/qmgrd/mq"
)

// remoteBatch is how many messages share a unit of work, when they are at hand together.
const remoteBatch = 100

// tenth is the unit of --expiry.
const tenth = 100 * time.Millisecond

// template is the message that the flags of put and publish describe.
func (f *messageFlags) template(c *cobra.Command) (*mq.Message, error) {
	m := mq.NewText("")
	if f.file {
		m = mq.NewMessage(nil)
	}
	if c.Flags().Changed("persistent") {
		m.Persistence = map[bool]mq.Persistence{true: mq.Persistent, false: mq.NonPersistent}[f.persistent]
	}
	if c.Flags().Changed("priority") {
		m.Priority = f.priority
	}
	m.Expiry = time.Duration(f.expiry) * tenth
	m.ReplyTo, m.ReplyToQMgr, _ = strings.Cut(f.replyTo, "@")
	id, err := f.id()
	m.CorrelID = id
	return m, err
}

// id is --correlid.
func (f *messageFlags) id() (id mq.ID, err error) {
	b, err := hex.DecodeString(f.correlID)
	copy(id[:], b)
	return id, err
}

// remotePut puts what stands in standard input.
func (e *env) remotePut(c *cobra.Command, r *remoteFlags, qm string, f messageFlags, what target) error {
	m, err := f.template(c)
	if err != nil {
		return err
	}
	conn, err := e.session(r, qm)
	if err != nil {
		return err
	}
	p := &remotePutter{e: e, ctx: e.ctx, c: conn, json: f.json, m: m}
	p.put, err = what.open(e.ctx, conn)
	if err == nil {
		err = p.all(f)
	}
	err = closeRemote(e.ctx, conn, err)
	if err != nil && p.accepted > 0 {
		err = withCode(exitRefused, fmt.Errorf("%w (accepted before it: %s)", err, counted(p.accepted, "message")))
	}
	return err
}

// target is where messages are put.
type target struct {
	queue, topic string
	retain       bool
}

func (t target) open(ctx context.Context, c *mq.Conn) (func(*mq.Message) error, error) {
	unit := mq.PutOptions{Syncpoint: true}
	if t.queue != "" {
		q, err := c.Open(ctx, t.queue, mq.Output)
		return func(m *mq.Message) error { return remoteError(q.Put(ctx, m, unit)) }, remoteError(err)
	}
	topic, err := c.OpenTopic(ctx, t.topic)
	return func(m *mq.Message) error {
		return remoteError(topic.Publish(ctx, m, mq.PubOptions{PutOptions: unit, Retain: t.retain}))
	}, remoteError(err)
}

// remotePutter puts messages in units of work. What it has reported is committed.
type remotePutter struct {
	e        *env
	ctx      context.Context
	c        *mq.Conn
	put      func(*mq.Message) error
	json     bool
	m        *mq.Message // what all begin as
	pending  []mq.ID
	accepted int
}

func (p *remotePutter) all(f messageFlags) error {
	if f.file {
		b, err := io.ReadAll(io.LimitReader(p.e.stdin, maxLine+1))
		if err == nil && len(b) > maxLine {
			err = fmt.Errorf("the input has more than %d bytes", maxLine)
		}
		if err != nil {
			return err
		}
		return errors.Join(p.one(b), p.commit())
	}
	in := bufio.NewReaderSize(p.e.stdin, 64<<10)
	for n := 0; f.count == 0 || n < f.count; n++ {
		if in.Buffered() == 0 || len(p.pending) >= remoteBatch {
			if err := p.commit(); err != nil {
				return err
			}
		}
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.one(line)
		}
		if err != nil {
			return errors.Join(err, p.commit()) // those before it are good
		}
	}
	return p.commit()
}

func (p *remotePutter) one(body []byte) error {
	m := *p.m
	m.Body = body
	err := p.put(&m)
	if errors.Is(err, mq.SyncpointLimit) && len(p.pending) > 0 { // MAXUMSGS is less than a batch
		if err = p.commit(); err == nil {
			m = *p.m
			m.Body = body
			err = p.put(&m)
		}
	}
	if err != nil {
		return err
	}
	p.pending = append(p.pending, m.MsgID)
	return nil
}

func (p *remotePutter) commit() error {
	if len(p.pending) == 0 {
		return nil
	}
	if err := p.c.Commit(p.ctx); err != nil {
		return remoteError(err)
	}
	p.accepted += len(p.pending)
	for _, id := range p.pending {
		if !p.json {
			break
		}
		if _, err := fmt.Fprintf(p.e.stdout, "{\"messageId\":\"%x\"}\n", id[:]); err != nil {
			return err
		}
	}
	p.pending = p.pending[:0]
	return nil
}

// remoteGet gets or browses a queue.
func (e *env) remoteGet(r *remoteFlags, qm, queue string, browse bool, f messageFlags) error {
	mode := mq.Input
	if browse {
		mode = mq.BrowseMode
	}
	wait := time.Duration(f.wait * float64(time.Second))
	return e.remoteTake(r, qm, "messages", queue, f, wait, browse, func(c *mq.Conn) (*mq.Queue, error) { return c.Open(e.ctx, queue, mode) })
}

// remoteSubscribe prints publications. Without a wait of its own it goes on until it is ended.
func (e *env) remoteSubscribe(r *remoteFlags, qm string, o mq.SubOptions, f messageFlags, wait time.Duration) error {
	return e.remoteTake(r, qm, "publications", o.Topic, f, wait, false, func(c *mq.Conn) (*mq.Queue, error) {
		s, err := c.Subscribe(e.ctx, o)
		if err != nil {
			return nil, err
		}
		return &s.Queue, nil
	})
}

func (e *env) remoteTake(r *remoteFlags, qm, what, from string, f messageFlags, wait time.Duration, browse bool,
	open func(*mq.Conn) (*mq.Queue, error)) error {
	id, err := f.id()
	if err != nil {
		return err
	}
	c, err := e.session(r, qm)
	if err != nil {
		return err
	}
	t := &remoteTaker{e: e, c: c, f: f, out: bufio.NewWriterSize(e.stdout, 64<<10)}
	t.o = mq.GetOptions{CorrelID: id, Wait: wait, Properties: f.json, Syncpoint: !browse}
	if t.q, err = open(c); err == nil && browse {
		err = t.browse(e.ctx)
	} else if err == nil {
		err = t.get(e.ctx)
	}
	if err = closeRemote(e.ctx, c, remoteError(err)); err == nil && t.n < f.count {
		err = withCode(exitRefused, fmt.Errorf("%d of %d %s came from %s", t.n, f.count, what, from))
	}
	return err
}

// remoteTaker prints messages. Those that it has taken are committed once they are printed.
type remoteTaker struct {
	e       *env
	c       *mq.Conn
	q       *mq.Queue
	o       mq.GetOptions
	f       messageFlags
	out     *bufio.Writer
	n       int
	pending int
}

func (t *remoteTaker) full() bool { return t.f.count > 0 && t.n >= t.f.count }

func (t *remoteTaker) browse(ctx context.Context) error {
	for m, err := range t.q.Browse(ctx, t.o) {
		if err == nil {
			err = t.print(m)
		}
		if err == nil {
			err = t.out.Flush()
		}
		if err != nil || t.full() {
			return err
		}
	}
	return nil
}

func (t *remoteTaker) get(ctx context.Context) error {
	for !t.full() {
		o := t.o
		if t.pending > 0 {
			o.Wait = 0 // only with what is at hand
		}
		m, err := t.q.Get(ctx, o)
		switch {
		case t.pending > 0 && (errors.Is(err, mq.NoMsgAvailable) || errors.Is(err, mq.SyncpointLimit)):
			err = t.commit(ctx)
		case errors.Is(err, mq.NoMsgAvailable):
			return nil
		case err == nil:
			t.pending++
			if err = t.print(m); err == nil && t.pending >= ackEvery {
				err = t.commit(ctx)
			}
		case !errors.Is(err, mq.ConnectionBroken): // what was got before it is ours, printed or about to be
			err = errors.Join(err, t.commit(ctx))
		}
		if err != nil {
			return err
		}
	}
	return t.commit(ctx)
}

func (t *remoteTaker) commit(ctx context.Context) error {
	if err := t.out.Flush(); err != nil || t.pending == 0 {
		return err
	}
	t.pending = 0
	return t.c.Commit(ctx)
}

func (t *remoteTaker) print(m *mq.Message) error {
	t.n++
	if t.f.json {
		j := json.NewEncoder(t.out)
		j.SetEscapeHTML(false)
		return j.Encode(jsonMessage(m))
	}
	_, err := t.out.Write(m.Body)
	if err == nil && !t.f.file {
		err = t.out.WriteByte('\n')
	}
	return err
}

// knownProperties have names of their own in JSON.
var knownProperties = map[string]string{"mqps.Top": "MQTopicString", "mqps.Sud": "MQSubUserData", "mqps.Ret": "MQIsRetained"}

// jsonMessage is the message as get --json has it of a queue manager on this machine.
func jsonMessage(m *mq.Message) *web.Message {
	j := &web.Message{MessageID: hex.EncodeToString(m.MsgID[:]), CorrelationID: hex.EncodeToString(m.CorrelID[:]),
		GroupID: hex.EncodeToString(m.GroupID[:]), Persistence: mqi.MQPER_NOT_PERSISTENT, Priority: int32(m.Priority),
		Expiry: mqi.MQEI_UNLIMITED, Format: m.Format, Encoding: m.Encoding, CodedCharSetID: m.CCSID, MessageType: m.Type,
		ReplyToQueue: m.ReplyTo, ReplyToQmgr: m.ReplyToQMgr, UserIdentifier: m.User, BackoutCount: m.BackoutCount,
		Properties: map[string]any{}, Report: m.Report, Feedback: m.Feedback, PutApplType: m.ApplType, PutApplName: m.Appl,
		AccountingToken: hex.EncodeToString(m.AccountingToken[:]), ApplIdentityData: m.ApplIdentity, ApplOriginData: m.ApplOrigin,
		MsgSeqNumber: m.Seq, Offset: m.Offset, MsgFlags: m.Flags, OriginalLength: m.OriginalLength}
	if m.Persistence == mq.Persistent {
		j.Persistence = mqi.MQPER_PERSISTENT
	}
	if m.Expiry > 0 {
		j.Expiry = int32(m.Expiry / tenth)
	}
	if !m.PutTime.IsZero() {
		j.PutDate = m.PutTime.Format("20060102")
		j.PutTime = strings.Replace(m.PutTime.Format("150405.00"), ".", "", 1)
	}
	for name, v := range m.Properties.All() {
		if known := knownProperties[name]; known != "" {
			name = known
		}
		switch f := v.(type) {
		case float64:
			v = web.JSONFloat(f)
		case float32:
			v = web.JSONFloat(float64(f))
		}
		j.Properties[name] = v
	}
	if utf8.Valid(m.Body) {
		text := string(m.Body)
		j.Body = &text
	} else {
		j.BodyBase64 = m.Body
	}
	return j
}
