package qmgr

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

const accountingQueue = "SYSTEM.ADMIN.ACCOUNTING.QUEUE"

// account is what a connection did since it began, or since its last accounting message. Under statsState.mu.
type account struct {
	since  time.Time
	seq    int32
	verbs  bool // mqi is counted
	mqi    counts
	queues map[*Queue]*queueCounts
}

// accounted says what of a connection (nil: none) is accounted for: its verbs, and those on a queue (nil: none). With
// ACCTCONO(ENABLED) the options it connected with come first.
func (c *Conn) accounted(cfg *eventCfg, q *Queue) (verbs, onQueue bool) {
	if c == nil || c.opt.Internal {
		return false, false
	}
	verbs = cfg.acctMQI
	onQueue = q != nil && switchedOn(cfg.acctQ, q.cfg.Load().watch.acctQ)
	if !cfg.acctOverride {
		return verbs, onQueue
	}
	switch o := c.opt.Options; {
	case o&mqi.MQCNO_ACCOUNTING_MQI_ENABLED != 0:
		verbs = true
	case o&mqi.MQCNO_ACCOUNTING_MQI_DISABLED != 0:
		verbs = false
	}
	switch o := c.opt.Options; {
	case o&mqi.MQCNO_ACCOUNTING_Q_ENABLED != 0:
		onQueue = q != nil && cfg.acctQ != "NONE"
	case o&mqi.MQCNO_ACCOUNTING_Q_DISABLED != 0:
		onQueue = false
	}
	return verbs, onQueue
}

// account counts a verb for the connection's accounting messages. Under statsState.mu.
func (c *Conn) account(q *Queue, verbs, onQueue bool, d *deed) {
	a := c.acct
	if a == nil {
		a = &account{since: c.born}
		c.acct = a
	}
	if verbs {
		a.verbs = true
		a.mqi.add(d)
	}
	if !onQueue {
		return
	}
	qc := a.queues[q]
	if qc == nil {
		if a.queues == nil {
			a.queues = map[*Queue]*queueCounts{}
		}
		qc = &queueCounts{}
		a.queues[q] = qc
	}
	qc.add(d)
	switch now := c.m.opt.Clock.Now(); {
	case d.kind == didOpen && qc.opened.IsZero():
		qc.opened = now
	case d.kind == didClose:
		qc.closed = now
	}
}

// overdue reports whether the account has lasted for ACCTINT: it is written then, though the connection goes on.
func (a *account) overdue(cfg *eventCfg, now time.Time) bool {
	return now.Sub(a.since) >= time.Duration(numAttr(cfg.def, "ACCTINT", 1800))*time.Second
}

// writeAccount puts the accounting messages of a connection; how it ended is MQDISCONNECT_*, -1 when it goes on.
func (c *Conn) writeAccount(how int32) {
	st := &c.m.ev.stats
	now := c.m.opt.Clock.Now()
	st.mu.Lock()
	a := c.acct
	if a == nil {
		st.mu.Unlock()
		return
	}
	c.acct = &account{since: now, seq: a.seq + 1}
	if how >= 0 {
		c.acct = nil
	}
	st.mu.Unlock()
	head := append(c.m.intervalParams(a.since, now), c.accountParams(a, how, now)...)
	if a.verbs {
		c.m.putPCF(accountingQueue, mqi.MQFMT_ADMIN, counted(mqi.MQCFT_ACCOUNTING, mqi.MQCMD_ACCOUNTING_MQI,
			append(head[:len(head):len(head)], a.mqi.params(false)...)))
	}
	c.m.putQueues(accountingQueue, mqi.MQCFT_ACCOUNTING, mqi.MQCMD_ACCOUNTING_Q, head, a.queues, accountingOf)
}

// accountParams say whose account it is.
func (c *Conn) accountParams(a *account, how int32, now time.Time) []mqi.CFParam {
	p := []mqi.CFParam{
		mqi.CFBytes(mqi.MQBACF_CONNECTION_ID, c.id[:]),
		mqi.CFInt(mqi.MQIACF_SEQUENCE_NUMBER, a.seq),
		mqi.CFString(mqi.MQCACF_APPL_NAME, c.opt.ApplName),
		mqi.CFInt(mqi.MQIACF_PROCESS_ID, int32(c.opt.PID)), mqi.CFInt(mqi.MQIACF_THREAD_ID, int32(c.opt.TID)),
		mqi.CFString(mqi.MQCACF_USER_IDENTIFIER, contextUser(c.who.User)),
		mqi.CFString(mqi.MQCAMO_CONN_DATE, mqDate(c.born)), mqi.CFString(mqi.MQCAMO_CONN_TIME, mqTime(c.born)),
	}
	if c.opt.Channel != "" {
		p = append(p, mqi.CFString(mqi.MQCACH_CONNECTION_NAME, c.opt.ConnName),
			mqi.CFString(mqi.MQCACH_CHANNEL_NAME, c.opt.Channel))
	}
	if how >= 0 {
		p = append(p, mqi.CFString(mqi.MQCAMO_DISC_DATE, mqDate(now)), mqi.CFString(mqi.MQCAMO_DISC_TIME, mqTime(now)),
			mqi.CFInt(mqi.MQIAMO_DISC_TYPE, how))
	}
	return p
}

// accountingOf is the group of one queue.
func accountingOf(q *Queue, c *queueCounts) mqi.CFParam {
	p := queueNamed(q)
	stamp := func(date, tod int32, t time.Time) {
		if !t.IsZero() {
			p = append(p, mqi.CFString(date, mqDate(t)), mqi.CFString(tod, mqTime(t)))
		}
	}
	stamp(mqi.MQCAMO_OPEN_DATE, mqi.MQCAMO_OPEN_TIME, c.opened)
	stamp(mqi.MQCAMO_CLOSE_DATE, mqi.MQCAMO_CLOSE_TIME, c.closed)
	q0 := mqi.MQOT_Q
	p = append(p, mqi.CFInt(mqi.MQIAMO_OPENS, c.opens[q0]), mqi.CFInt(mqi.MQIAMO_CLOSES, c.closes[q0]))
	p = append(p, c.moves()...)
	p = append(p, pair(mqi.MQIAMO_PUT_MIN_BYTES, c.put.min), pair(mqi.MQIAMO_PUT_MAX_BYTES, c.put.max),
		pair(mqi.MQIAMO_GET_MIN_BYTES, c.get.min), pair(mqi.MQIAMO_GET_MAX_BYTES, c.get.max),
		pair(mqi.MQIAMO_BROWSE_MIN_BYTES, c.browse.min), pair(mqi.MQIAMO_BROWSE_MAX_BYTES, c.browse.max),
		longs(mqi.MQIAMO64_Q_TIME_AVG, c.average(0), c.average(1)),
		longs(mqi.MQIAMO64_Q_TIME_MIN, c.timeMin[:]...), longs(mqi.MQIAMO64_Q_TIME_MAX, c.timeMax[:]...))
	return mqi.CFGroup(mqi.MQGACF_Q_ACCOUNTING_DATA, p...)
}
