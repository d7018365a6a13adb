package pcf

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

const (
	// replyBatch is how many replies are committed at a time: a client reads the first ones while more are made, and no
	// unit of work grows with the number of objects.
	replyBatch = 100
	// fullTries and fullPause bound how long a full reply queue is waited for.
	fullTries = 50
	fullPause = 100 * time.Millisecond
)

// job is one message of the command queue.
type job struct {
	s    *Server
	ctx  context.Context
	c    *qmgr.Conn
	md   *mqi.MD
	body []byte
	head mqi.CFMsg // as far as it could be read

	out     qmgr.Handle // the reply queue; 0 not open yet
	outErr  error       // why it cannot be opened
	pending int         // replies since the last commit
	tries   int         // waits for a full reply queue that are left
	err     error       // a commit that failed
	mute    bool        // replies went nowhere, not even to the dead-letter queue: said once
}

// run executes the message's command. Whatever it holds, the message does not come again: a panic is answered like any
// other refusal.
func (j *job) run() {
	j.tries = fullTries
	defer func() {
		if p := recover(); p != nil {
			j.s.log.Error().Str(obs.FieldAMQ, "AMQ6125E").Str("stack", string(debug.Stack())).
				Msgf("internal error in a command of the command queue: %v", p)
			m := ErrorResponse(&j.head, mqi.Wrap("PCF", "", mqi.MQRC_UNEXPECTED_ERROR, errors.New("internal error")))
			j.reply(&m)
		}
	}()
	if j.md.BackoutCount >= maxBackouts {
		j.bury(j.md, j.body, j.s.m.CommandQueue(), "", mqi.MQRC_BACKED_OUT, "it was backed out again and again")
		return
	}
	if len(j.body) > maxCommand {
		j.bury(j.md, j.body, j.s.m.CommandQueue(), "", mqi.MQRCCF_MSG_LENGTH_ERROR, "it is too long to be a command")
		return
	}
	if j.md.MsgType == mqi.MQMT_REPORT { // its text is a stranger's, its user whoever it is about
		j.bury(j.md, j.body, j.s.m.CommandQueue(), "", mqi.MQRCCF_CFH_TYPE_ERROR, "a report message is no command")
		return
	}
	var q *Request
	var err error
	q, j.head, err = Parse(j.md.Format, j.body, mqi.Coding{Encoding: j.md.Encoding, CCSID: j.md.CodedCharSetID}, j.s.m.KindOf)
	if err != nil {
		j.refuse(err)
		return
	}
	j.s.log.Debug().Str("user", j.md.UserIdentifier).Msgf("command queue: %s", q)
	q.QMgr = j.s.m.Name()
	r := j.execute(q)
	q.Responses(r, func(m mqi.CFMsg) bool {
		j.reply(&m)
		return j.err == nil
	})
}

func (j *job) execute(q *Request) *attr.Reply {
	id := j.s.identity(j.md)
	if q.Command.Verb == "RESET" && q.Command.Object == "QSTATS" && !q.escape {
		return j.s.m.ResetQStats(j.ctx, q.Command, id)
	}
	return j.s.m.Execute(j.ctx, q.Command, id)
}

// refuse answers a message that is no command. One that asks for no reply is kept on the dead-letter queue, so that its
// sender's mistake can be found.
func (j *job) refuse(err error) {
	_, rc := mqi.Reason(err)
	if !j.wantsReply() {
		j.bury(j.md, j.body, j.s.m.CommandQueue(), "", rc, err.Error())
		return
	}
	m := ErrorResponse(&j.head, err)
	if j.head.Command == mqi.MQCMD_ESCAPE {
		m = EscapeError(&j.head, err)
	}
	j.reply(&m)
}

func (j *job) wantsReply() bool {
	return j.md.MsgType == mqi.MQMT_REQUEST && strings.TrimSpace(j.md.ReplyToQ) != ""
}

// reply puts one response; when that fails it goes to the dead-letter queue.
func (j *job) reply(m *mqi.CFMsg) {
	if !j.wantsReply() || j.err != nil {
		return
	}
	md := j.replyMD()
	coding := mqi.NativeCoding(j.s.m.CCSID())
	body, err := m.Append(nil, coding)
	if err != nil {
		j.s.log.Error().Str(obs.FieldAMQ, "AMQ8507E").Err(err).Msg("a reply of the command server cannot be built")
		return
	}
	md.Encoding, md.CodedCharSetID = coding.Encoding, coding.CCSID
	if err = j.put(&md, body); err != nil && j.err == nil {
		_, rc := mqi.Reason(err)
		j.bury(&md, body, j.md.ReplyToQ, j.md.ReplyToQMgr, rc, err.Error())
	}
	if j.pending++; j.pending >= replyBatch {
		j.commit()
	}
}

// replyMD is a response's descriptor: identifiers by the command's report options, the rest as the command had it.
func (j *job) replyMD() mqi.MD {
	md, in := mqi.DefaultMD(), j.md
	md.Version = 2
	md.MsgType, md.Format = mqi.MQMT_REPLY, mqi.MQFMT_ADMIN
	md.Priority, md.Persistence = in.Priority, in.Persistence
	md.CorrelID = in.MsgID
	if in.Report&mqi.MQRO_PASS_CORREL_ID != 0 {
		md.CorrelID = in.CorrelID
	}
	if in.Report&mqi.MQRO_PASS_MSG_ID != 0 {
		md.MsgID = in.MsgID
	}
	if in.Report&mqi.MQRO_PASS_DISCARD_AND_EXPIRY != 0 {
		md.Expiry = in.Expiry
		md.Report = in.Report & mqi.MQRO_DISCARD_MSG
	}
	return md
}

// put puts a reply with the authority of the command's user, who must not reach through the command server what is closed
// to him.
func (j *job) put(md *mqi.MD, body []byte) error {
	if err := j.openReply(); err != nil {
		return err
	}
	for {
		pmo := mqi.DefaultPMO()
		pmo.Options = mqi.MQPMO_SYNCPOINT
		err := j.c.Put(j.ctx, j.out, md, &pmo, body)
		cc, rc := mqi.Reason(err)
		switch {
		case cc != mqi.CCFailed:
			return nil
		case rc == mqi.MQRC_SYNCPOINT_LIMIT_REACHED && j.pending > 0:
			if j.commit(); j.err != nil {
				return j.err
			}
		case rc == mqi.MQRC_Q_FULL && j.tries > 0:
			// What is committed can be read, and makes room.
			if j.commit(); j.err != nil {
				return j.err
			}
			j.tries--
			if !j.pause() {
				return err
			}
		default:
			return err
		}
	}
}

// pause waits a little; false when the connection has ended.
func (j *job) pause() bool {
	select {
	case <-j.s.clk.After(fullPause):
		return true
	case <-j.c.Done():
		return false
	}
}

func (j *job) openReply() error {
	if j.out != 0 || j.outErr != nil {
		return j.outErr
	}
	od := mqi.DefaultOD()
	od.Version = 3
	od.ObjectName, od.ObjectQMgrName = j.md.ReplyToQ, j.md.ReplyToQMgr
	od.AlternateUserID = j.md.UserIdentifier
	j.out, j.outErr = j.c.Open(j.ctx, &od, mqi.MQOO_OUTPUT|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
	if cc, _ := mqi.Reason(j.outErr); cc != mqi.CCFailed {
		j.outErr = nil
	}
	return j.outErr
}

// bury puts what has no other place on the dead-letter queue. Without one it is gone, and the log says so: the command was
// executed, so it must not come again for the sake of its reply.
func (j *job) bury(md *mqi.MD, body []byte, queue, qmgr string, rc mqi.RC, why string) {
	err := j.c.Undeliverable(j.ctx, md, body, strings.TrimSpace(queue), strings.TrimSpace(qmgr), rc, true)
	if _, full := mqi.Reason(err); full == mqi.MQRC_SYNCPOINT_LIMIT_REACHED && j.pending > 0 {
		if j.commit(); j.err != nil {
			return
		}
		err = j.c.Undeliverable(j.ctx, md, body, strings.TrimSpace(queue), strings.TrimSpace(qmgr), rc, true)
	}
	switch {
	case err != nil && ended(j.c): // nothing is lost: all of it is backed out
		j.err = err
		return
	case j.mute:
		return
	}
	j.mute = true // of many replies that meet the same obstacle the first is told about
	ev := j.s.log.Warn().Str("user", j.md.UserIdentifier).Str("queue", strings.TrimSpace(queue)).Int32("rc", int32(rc)).Str("why", why)
	if err != nil {
		ev.Str(obs.FieldAMQ, "AMQ8507E").Err(err).Msg("a message of the command server can be put nowhere and is discarded: " +
			"neither on its queue nor on the dead-letter queue")
		return
	}
	ev.Str(obs.FieldAMQ, "AMQ8505W").Msg("a message of the command server is on the dead-letter queue")
}

// commit makes what was done so far last.
func (j *job) commit() {
	j.pending = 0
	if err := j.c.Commit(j.ctx); err != nil && j.err == nil {
		j.err = fmt.Errorf("committing a command of user %s: %w", j.md.UserIdentifier, err)
	}
}

// close ends the unit of work.
func (j *job) close() error {
	if j.out != 0 {
		if err := j.c.Close(j.ctx, j.out, mqi.MQCO_NONE); err != nil {
			j.s.log.Debug().Err(err).Msg("closing a reply queue")
		}
	}
	if j.err == nil {
		j.commit()
	}
	if j.err != nil {
		// The message comes again, until it has done so too often.
		_ = j.c.Backout(j.ctx)
	}
	return j.err
}
