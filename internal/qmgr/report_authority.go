package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// Whose authority a report is put with. The queue manager lends its own to nobody: a message names its reply-to queue freely,
// and who may not put there does not reach it by a report either.

// putter is who answers for the reports of arrival of a message: whoever puts it, or nil for the user in the message, when
// somebody who may do anything puts it for another: the queue manager itself, a dead-letter handler. more is what he needs
// beside PUT: a report carries the identity of its message on, and another's than his own is only his to pass with PASSID.
func (c *Conn) putter(md *mqi.MD) (who *auth.Identity, more auth.Auth) {
	own := c.who.User != "" && md.UserIdentifier == contextUser(c.who.User)
	switch {
	case c.opt.Internal, c.who.Admin && !own:
		return nil, 0
	case own, md.UserIdentifier == "":
		return &c.who, 0
	}
	return &c.who, auth.PassID
}

// contextIdentity is the user of a message's identity context. Blank is nobody.
func (m *Manager) contextIdentity(user string) *auth.Identity {
	user = strings.TrimRight(user, " \x00")
	if user == "" {
		return &auth.Identity{UID: -1}
	}
	a := m.Account(user)
	return &auth.Identity{User: user, UID: -1, Groups: a.Groups, Admin: a.Admin}
}

// arrived are the reports of arrival of a message that the connection puts.
func (c *Conn) arrived(head *msgHead, body []byte) []*report {
	list := c.m.arrivalReports(head, body)
	for _, r := range list {
		r.who, r.more = c.putter(&head.md)
	}
	return list
}

// mayReport checks the authority for a report, as MQOPEN of its queue for output would. A queue that cannot be put to anyway
// is none of its business.
func (m *Manager) mayReport(r *report) mqi.RC {
	if r.checked {
		return 0
	}
	who := r.who
	if who == nil {
		who = m.contextIdentity(r.head.md.UserIdentifier)
	}
	n, made := m.reportNeed(r.queue, r.qmgr, who)
	if n == nil || r.more == 0 && made.by(who.User) {
		return 0
	}
	n.auth |= r.more
	lacks, by := m.missing(who, n)
	if lacks == 0 {
		return 0
	}
	e := mqi.Event{Qualifier: mqi.MQRQ_OPEN_NOT_AUTHORIZED, Options: mqi.MQOO_OUTPUT, ObjectType: mqi.MQOT_Q, QName: r.queue,
		ObjectQMgr: r.qmgr, ApplName: m.opt.Name, ApplType: mqi.MQAT_QMGR}
	m.deny(&denial{op: "report", need: *n, lacks: lacks, by: by, user: who.User, event: e})
	return mqi.MQRC_NOT_AUTHORIZED
}

// reportNeed is the authority that a put by these names needs, and who made the queue; nil when nothing can be put there.
func (m *Manager) reportNeed(qName, qmName string, who *auth.Identity) (*need, *maker) {
	if who.Admin {
		return nil, nil
	}
	r, rc := m.namespace().resolve(qmName, qName, mqi.MQOO_OUTPUT)
	if rc != 0 || r.base == nil {
		return nil, nil
	}
	if r.remote && qmName != "" && qmName != m.opt.Name {
		if have, _ := m.authRecords().Has("RQMNAME", qmName, who.User, who.Groups); have != 0 {
			return &need{objType: "RQMNAME", name: qmName, auth: auth.Put}, nil
		}
		return &need{objType: "QUEUE", name: r.base.Name, auth: auth.Put}, nil
	}
	return &need{objType: "QUEUE", name: r.path[0].Name, auth: auth.Put}, r.path[0].made.Load()
}

// publishedReports leaves of the reports that a publication asks for those that its publisher may have: the copies carry the
// subscribers' identities, which must not vouch for a queue that a stranger chose.
func (c *Conn) publishedReports(head *msgHead) {
	const asked = mqi.MQRO_COA_WITH_FULL_DATA | mqi.MQRO_COD_WITH_FULL_DATA | mqi.MQRO_EXPIRATION_WITH_FULL_DATA |
		mqi.MQRO_EXCEPTION_WITH_FULL_DATA
	if head.md.Report&asked == 0 {
		return
	}
	who, more := c.putter(&head.md)
	r := &report{head: head, queue: head.md.ReplyToQ, qmgr: head.md.ReplyToQMgr, who: who, more: more}
	if c.m.mayReport(r) != 0 {
		head.md.Report &^= asked
	}
}

// sendReport puts a report in the unit of work. When the reply-to queue cannot take it, or is not for the user, it goes to the
// dead-letter queue, and when that cannot either, it is dropped: a report never fails the call that made it. One that says
// MQRO_DISCARD_MSG itself, as who asked for it wanted, is dropped at once.
func (m *Manager) sendReport(u *uow, r *report) {
	rc := m.mayReport(r)
	if rc == 0 {
		rc = m.putAs(u, r.queue, r.qmgr, r.head, r.body)
	} else if r.head.md.Report&mqi.MQRO_DISCARD_MSG != 0 {
		m.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ8077W").Str("qmgr", m.opt.Name).Str("queue", r.queue).Int32("rc", int32(rc)).
			Msg("report message dropped, as its options say: its user may not put it")
		return
	}
	if rc != 0 {
		m.bury(u, "report message", rc, r.queue, r.qmgr, r.head, r.body)
	}
}
