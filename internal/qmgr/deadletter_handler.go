package qmgr

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

// deadHandler works through a dead-letter queue by a rule table. Each message is looked at with a browse; what a rule
// does with it is one unit of work.
type deadHandler struct {
	c     *Conn
	t     *DeadLetterTable
	queue string
	in    Handle
	say   func(format string, args ...any)
	state map[mqi.Token]*deadState
}

// deadState is what is remembered of a message between passes.
type deadState struct {
	rule  int       // place in rules to go on at
	tries int       // of that rule's action
	next  time.Time // not before
	done  bool      // no rule has anything to do with it: it stays
	seen  bool      // in this pass
}

// deadLetter is one message of the queue, taken apart.
type deadMessage struct {
	md    mqi.MD // as it lies on the queue
	body  []byte
	inner mqi.MD // as it was
	dlh   xmitq.DeadLetter
	data  []byte
}

// maxDeadBuffer is the longest message the handler takes.
const maxDeadBuffer = 104857600

// HandleDeadLetters runs the dead-letter handler (runmqdlq) until its rule table lets it end, or ctx does. queue may be
// blank: INPUTQ of the table, else DEADQ. say is told what is done with each message.
func (m *Manager) HandleDeadLetters(ctx context.Context, id auth.Identity, queue string, t *DeadLetterTable,
	say func(format string, args ...any)) error {
	if queue == "" {
		queue = t.InputQ
	}
	if queue == "" {
		queue = m.qmgrDef().Get("DEADQ")
	}
	if queue == "" {
		return mqi.Wrap("MQOPEN", m.opt.Name, mqi.MQRC_UNKNOWN_OBJECT_NAME,
			fmt.Errorf("no queue was named, the rule table has no INPUTQ, and DEADQ is blank"))
	}
	if t.InputQM != "" && t.InputQM != m.opt.Name {
		return mqi.Wrap("MQCONN", t.InputQM, mqi.MQRC_Q_MGR_NAME_ERROR, fmt.Errorf("INPUTQM is not this queue manager"))
	}
	c, err := m.Connect(ctx, id, ConnectOptions{ApplName: "runmqdlq"})
	if err != nil {
		return err
	}
	defer c.Break()
	od := mqi.DefaultOD()
	od.ObjectName = queue
	in, err := c.Open(ctx, &od, mqi.MQOO_INPUT_AS_Q_DEF|mqi.MQOO_BROWSE|mqi.MQOO_SAVE_ALL_CONTEXT|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		return err
	}
	h := &deadHandler{c: c, t: t, queue: queue, in: in, say: say, state: map[mqi.Token]*deadState{}}
	for {
		if err := h.pass(ctx); err != nil {
			return err
		}
		more, err := h.wait(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// pass looks at every message once.
func (h *deadHandler) pass(ctx context.Context) error {
	for _, st := range h.state {
		st.seen = false
	}
	opt := int32(mqi.MQGMO_BROWSE_FIRST)
	for {
		d, token, err := h.browse(ctx, opt, 0)
		switch _, rc := mqi.Reason(err); {
		case rc == mqi.MQRC_NO_MSG_AVAILABLE:
			for tok, st := range h.state {
				if !st.seen {
					delete(h.state, tok)
				}
			}
			return nil
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		opt = mqi.MQGMO_BROWSE_NEXT
		st := h.state[token]
		if st == nil {
			st = &deadState{}
			h.state[token] = st
		}
		st.seen = true
		if err := h.treat(ctx, d, st); err != nil {
			return err
		}
	}
}

// browse reads a message and leaves it.
func (h *deadHandler) browse(ctx context.Context, opt int32, wait time.Duration) (*deadMessage, mqi.Token, error) {
	d := &deadMessage{md: mqi.DefaultMD()}
	d.md.Version = 2
	gmo := mqi.DefaultGMO()
	gmo.Version, gmo.MatchOptions = 3, mqi.MQMO_NONE
	gmo.Options = opt | mqi.MQGMO_FAIL_IF_QUIESCING | mqi.MQGMO_PROPERTIES_FORCE_MQRFH2
	if wait != 0 {
		gmo.Options |= mqi.MQGMO_WAIT
		gmo.WaitInterval = int32(wait / time.Millisecond)
	}
	var err error
	d.body, _, err = h.c.Get(ctx, h.in, &d.md, &gmo, maxDeadBuffer)
	if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
		return nil, gmo.MsgToken, err
	}
	return d, gmo.MsgToken, nil
}

// treat does with the message under the cursor what its rules say.
func (h *deadHandler) treat(ctx context.Context, d *deadMessage, st *deadState) error {
	now := h.c.m.opt.Clock.Now()
	if st.done || now.Before(st.next) {
		return nil
	}
	var err error
	if d.inner, d.dlh, d.data, err = takeApart(d); err != nil {
		h.say("message %X stays: it has no dead-letter header", d.md.MsgID[:])
		st.done = true
		return nil
	}
	for ; st.rule < len(h.t.rules); st.rule, st.tries = st.rule+1, 0 {
		r := &h.t.rules[st.rule]
		if !r.fits(d) {
			continue
		}
		if r.action == deadIgnore {
			h.say("message %X stays: rule of line %d ignores it", d.md.MsgID[:], r.line)
			st.done = true
			return nil
		}
		rc, err := h.act(ctx, d, r)
		if err != nil || rc == 0 {
			st.done = true
			return err
		}
		st.tries++
		h.say("message %X: the action of line %d failed with reason %d (%s), try %d of %d", d.md.MsgID[:], r.line, int32(rc),
			rc.Name(), st.tries, r.retry)
		if st.tries < r.retry {
			st.next = now.Add(h.t.RetryInt)
			return nil
		}
	}
	h.say("message %X stays: no rule is left for it", d.md.MsgID[:])
	st.done = true
	return nil
}

func takeApart(d *deadMessage) (mqi.MD, xmitq.DeadLetter, []byte, error) {
	if d.md.Format != mqi.MQFMT_DEAD_LETTER_HEADER {
		return mqi.MD{}, xmitq.DeadLetter{}, nil, mqi.E("read", "MQDLH", mqi.MQRC_DLH_ERROR)
	}
	return xmitq.Exhume(&d.md, d.body)
}

// fits reports whether every pattern of the rule fits the message.
func (r *deadRule) fits(d *deadMessage) bool {
	for key, pattern := range r.patterns {
		if !wild(pattern, d.value(key)) {
			return false
		}
	}
	return true
}

// value is what a pattern is compared with. What the message was put with is in MQDLH.
func (d *deadMessage) value(key string) string {
	num := func(n int32) string { return strconv.Itoa(int(n)) }
	switch key {
	case "APPLIDAT":
		return d.md.ApplIdentityData
	case "APPLNAME":
		return d.dlh.PutApplName
	case "APPLTYPE":
		return num(d.dlh.PutApplType)
	case "DESTQ":
		return d.dlh.DestQName
	case "DESTQM":
		return d.dlh.DestQMgrName
	case "FORMAT":
		return d.dlh.Format
	case "MSGTYPE":
		return num(d.md.MsgType)
	case "PERSIST":
		return num(d.md.Persistence)
	case "REASON":
		return num(d.dlh.Reason)
	case "REPLYQ":
		return d.md.ReplyToQ
	case "REPLYQM":
		return d.md.ReplyToQMgr
	}
	return d.md.UserIdentifier
}

// target is where an action puts the message; ok is false when it puts it nowhere.
func (r *deadRule) target(d *deadMessage) (queue, qmgr string, ok bool) {
	if r.action == deadDiscard {
		return "", "", false
	}
	if r.action == deadRetry {
		return d.dlh.DestQName, d.dlh.DestQMgrName, true
	}
	words := func(v, dest, reply string) string {
		switch v {
		case "&DESTQ", "&DESTQM":
			return dest
		case "&REPLYQ", "&REPLYQM":
			return reply
		}
		return v
	}
	return words(r.fwdQ, d.dlh.DestQName, d.md.ReplyToQ), words(r.fwdQM, d.dlh.DestQMgrName, d.md.ReplyToQMgr), true
}

// act takes the message under the cursor and puts it where the rule says, in one unit of work. The reason code says why
// the message is still there; an error ends the handler.
func (h *deadHandler) act(ctx context.Context, d *deadMessage, r *deadRule) (mqi.RC, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version, gmo.Version, gmo.MatchOptions = 2, 2, mqi.MQMO_NONE
	gmo.Options = mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_SYNCPOINT | mqi.MQGMO_PROPERTIES_FORCE_MQRFH2
	if _, _, err := h.c.Get(ctx, h.in, &md, &gmo, maxDeadBuffer); err != nil {
		switch cc, rc := mqi.Reason(err); {
		case rc == mqi.MQRC_NO_MSG_UNDER_CURSOR:
			return 0, nil // somebody else took it
		case cc == mqi.CCFailed:
			return rc, nil
		}
	}
	queue, qmgr, ok := r.target(d)
	if ok {
		if rc := h.put(ctx, d, r, queue, qmgr); rc != 0 {
			return rc, h.c.Backout(ctx)
		}
	}
	if err := h.c.Commit(ctx); err != nil {
		return 0, err
	}
	if ok {
		h.say("message %X put on %s by the rule of line %d", d.md.MsgID[:], queueAt(queue, qmgr), r.line)
	} else {
		h.say("message %X discarded by the rule of line %d", d.md.MsgID[:], r.line)
	}
	return 0, nil
}

func queueAt(queue, qmgr string) string {
	if qmgr == "" {
		return queue
	}
	return queue + " at " + qmgr
}

// put puts the message on its new queue, with its context and by PUTAUT with the authority of its user, and without MQDLH when it goes to where it was meant for or
// the rule says HEADER(NO).
func (h *deadHandler) put(ctx context.Context, d *deadMessage, r *deadRule, queue, qmgr string) mqi.RC {
	md, body := d.inner, d.data
	if r.action == deadForward && !r.noHeader {
		md, body = d.md, d.body
	}
	md.Version = 2
	od, pmo := mqi.DefaultOD(), mqi.DefaultPMO()
	od.ObjectName, od.ObjectQMgrName = queue, qmgr
	pmo.Options = mqi.MQPMO_SYNCPOINT | mqi.MQPMO_PASS_ALL_CONTEXT
	pmo.Context = int32(h.in)
	if r.context {
		pmo.Options |= mqi.MQPMO_ALTERNATE_USER_AUTHORITY
		od.AlternateUserID = d.md.UserIdentifier
	}
	cc, rc := mqi.Reason(h.c.Put1(ctx, &od, &md, &pmo, body))
	if cc != mqi.CCFailed {
		return 0
	}
	return rc
}

// wait waits for something to do; false: the handler ends.
func (h *deadHandler) wait(ctx context.Context) (bool, error) {
	now := h.c.m.opt.Clock.Now()
	wait := h.t.Wait
	for _, st := range h.state {
		if !st.done {
			// Only the interval between two tries is waited for then.
			d := max(st.next.Sub(now), time.Millisecond)
			if wait <= 0 || d < wait {
				wait = d
			}
		}
	}
	switch {
	case ctx.Err() != nil || wait == 0:
		return false, nil
	case wait < 0: // nothing to do: look again from the start at times, for a message may come before the cursor
		wait = h.t.RetryInt
	}
	_, _, err := h.browse(ctx, mqi.MQGMO_BROWSE_NEXT, wait)
	switch _, rc := mqi.Reason(err); {
	case rc == mqi.MQRC_NO_MSG_AVAILABLE:
		return h.t.Wait < 0 || h.retries(), nil
	case rc == mqi.MQRC_Q_MGR_QUIESCING, rc == mqi.MQRC_Q_MGR_STOPPING, rc == mqi.MQRC_CONNECTION_BROKEN:
		return false, nil
	}
	return err == nil, err
}

// retries reports whether a message waits for another try.
func (h *deadHandler) retries() bool {
	for _, st := range h.state {
		if !st.done {
			return true
		}
	}
	return false
}
