package main

// -c: a queue manager reached as a client. Commands are parsed here, sent as Escape commands to the command server, and its
// answers are written as they come.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/mq"
)

const (
	commandQueue = "SYSTEM.ADMIN.COMMAND.QUEUE"
	replyModel   = "SYSTEM.MQSC.REPLY.QUEUE"
	replyName    = "RUNMQSC.*"
	// replyTime is how long an answer may take.
	replyTime = 60 * time.Second
	// expiryMore is what a command lives on beyond that, when nobody waits for its answer any more.
	expiryMore = time.Second
	// endTime is how long the end of the connection may take.
	endTime = 2 * time.Second
)

// clientDoor sends scripts over a client connection.
type clientDoor struct {
	places         []mq.Options // to try in turn
	qmgr           string       // as asked for; blank: whatever the channel reaches
	user, password string

	conn    *mq.Conn
	replies *mq.Queue
}

func (d *clientDoor) login(user, password string) { d.user, d.password = user, password }

// probe connects, to the first address that answers.
func (d *clientDoor) probe(ctx context.Context) error {
	var err error
	for _, o := range d.places {
		o.QueueManager, o.User, o.Password, o.ApplName = d.qmgr, d.user, d.password, "runmqsc"
		d.conn, err = mq.Connect(ctx, o)
		if err == nil {
			break
		}
		if !errors.Is(err, mq.HostNotAvailable) {
			return clientRefusal(err)
		}
	}
	if err != nil {
		return clientRefusal(err)
	}
	d.qmgr = d.conn.QueueManager()
	d.replies, err = d.conn.OpenWith(ctx, replyModel, mq.InputExclusive, mq.OpenOptions{DynamicName: replyName})
	return clientRefusal(err)
}

func (d *clientDoor) name() string { return d.qmgr }

// close ends the connection in order; else the queue manager's log would have a client that was lost.
func (d *clientDoor) close() {
	if d.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	_ = d.conn.Disconnect(ctx) // the answers have come, or their lack is told
	d.conn.Close()
}

// clientRefusal names the message that fits a reason code.
func clientRefusal(err error) error {
	if err == nil {
		return nil
	}
	r := &refusedError{id: "AMQ8146E", text: err.Error()}
	switch {
	case errors.Is(err, mq.NotAuthorized):
		r.id = "AMQ8135E"
	case errors.Is(err, mq.QMgrNameError):
		r.id = "AMQ8118E"
	case errors.Is(err, mq.QMgrQuiescing):
		r.id = "AMQ8156E"
	case errors.Is(err, mq.ConnectionBroken):
		r.id = "AMQ8145E"
	case errors.Is(err, mq.KeyRepositoryError):
		r.text += "; " + keysVariable + " names a PKCS#12 or PEM file with them"
	}
	return r
}

// script runs a script; wait is not used, as -c and -w exclude each other.
func (d *clientDoor) script(ctx context.Context, in io.Reader, out io.Writer, o mqsc.RunOptions, _ time.Duration) (mqsc.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o.QMgr = d.qmgr
	res, err := mqsc.Run(ctx, in, out, &remote{d: d, fail: cancel}, o)
	return res, because(ctx, err)
}

// remote is an mqsc.Executor that asks the command server.
type remote struct {
	d    *clientDoor
	fail context.CancelCauseFunc // ends the run: no command can be sent, or no answer comes
}

// Submit sends a command. Commands are executed in the order of their messages.
func (r *remote) Submit(ctx context.Context, c *attr.Command) mqsc.Pending {
	p := &sent{r: r}
	esc := mqi.CFMsg{Type: mqi.MQCFT_COMMAND, Version: mqi.MQCFH_VERSION_1, Command: mqi.MQCMD_ESCAPE, MsgSeqNumber: 1,
		Control: mqi.MQCFC_LAST, Params: []mqi.CFParam{mqi.CFInt(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC),
			mqi.CFString(mqi.MQCACF_ESCAPE_TEXT, c.Text)}}
	body, err := esc.Append(nil, coding)
	if err == nil {
		m := mq.NewMessage(body)
		m.Type, m.Format, m.CCSID, m.Encoding = mq.Request, mqi.MQFMT_ADMIN, coding.CCSID, coding.Encoding
		m.ReplyTo, m.Expiry, m.Persistence = r.d.replies.Name(), replyTime+expiryMore, mq.NonPersistent
		err = r.d.conn.Put1(ctx, commandQueue, m, mq.PutOptions{})
		p.id = m.MsgID
	}
	p.err = clientRefusal(err)
	return p
}

var coding = mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: 1208}

// sent is a command on its way.
type sent struct {
	r   *remote
	id  mq.ID
	err error
}

// Wait collects the answers; nil when there can be none, which ends the run.
func (p *sent) Wait(ctx context.Context) *attr.Reply {
	if p.err != nil {
		p.r.fail(p.err)
		return nil
	}
	reply := &attr.Reply{}
	for {
		m, err := p.r.d.replies.Get(ctx, mq.GetOptions{Wait: replyTime, CorrelID: p.id, Convert: true})
		switch {
		case errors.Is(err, mq.NoMsgAvailable):
			p.r.fail(errNoReply)
			return nil
		case err != nil:
			p.r.fail(clientRefusal(err))
			return nil
		}
		f, _, err := mqi.ParseCF(m.Body, mqi.Coding{Encoding: m.Encoding, CCSID: m.CCSID})
		if err != nil {
			p.r.fail(fmt.Errorf("the command server's answer cannot be read: %w", err))
			return nil
		}
		if reply.CC < int32(f.CompCode) {
			reply.CC, reply.RC = int32(f.CompCode), int32(f.Reason)
		}
		if t := f.Find(mqi.MQCACF_ESCAPE_TEXT); t != nil {
			reply.Text = append(reply.Text, strings.Split(strings.TrimRight(t.Text(), "\x00\n"), "\n")...)
		}
		if f.Control == mqi.MQCFC_LAST {
			return reply
		}
	}
}

// openClient makes the door of -c.
func (s *session) openClient() error {
	places, err := clientPlaces(os.Getenv)
	if err != nil {
		return err
	}
	s.qmgr = s.f.qmgr
	s.door = &clientDoor{places: places, qmgr: s.f.qmgr}
	return nil
}
