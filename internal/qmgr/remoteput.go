package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

// What the queue manager puts in front of a message that doesn't go to its queue: MQXQH on a transmission queue, MQDLH
// on the dead-letter queue. The structures are built by package xmitq.

// ccsid is the queue manager's coded character set.
func (m *Manager) ccsid() int32 { return m.limits().ccsid }

// envelope wraps a message for a transmission queue. The outer descriptor has an identifier of its own and carries the
// message's as CorrelId. Properties kept beside the data travel in front of it as an MQRFH2.
func (m *Manager) envelope(r *resolved, h *msgHead, body []byte) (*msgHead, []byte) {
	in := *h
	body = m.propsToData(&in, body)
	out := in
	var hdr []byte
	out.md, hdr = xmitq.Wrap(&in.md, r.qName, r.qmName, m.ccsid())
	out.md.MsgID = m.newID("AMQ ")
	return &out, append(hdr, body...)
}

// propsToData moves a message's properties into an MQRFH2 at the front of the data: what leaves the queue manager has no
// place beside it.
func (m *Manager) propsToData(h *msgHead, body []byte) []byte {
	if len(h.props) == 0 {
		return body
	}
	props, err := mqi.DecodeProps(h.props)
	if err == nil {
		body, err = mqi.JoinProps(&h.md, body, props)
	}
	if err != nil { // a CCSID no header can be written in: the data stays as it is
		m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).Msg("properties are not sent with a message")
		return body
	}
	h.props = nil
	return body
}

// deadLetter puts a dead-letter header in front of a message.
func (m *Manager) deadLetter(rc mqi.RC, qName, qmName string, h *msgHead, body []byte) (*msgHead, []byte) {
	out := *h
	date, tod := putDateTime(m.opt.Clock.Now())
	var hdr []byte
	out.md, hdr = xmitq.Bury(&h.md, xmitq.DeadLetter{Reason: int32(rc), DestQName: qName, DestQMgrName: qmName,
		PutApplType: mqi.MQAT_QMGR, PutApplName: cut(m.opt.Name, mqi.MQ_PUT_APPL_NAME_LENGTH), PutDate: date,
		PutTime: tod}, m.ccsid())
	return &out, append(hdr, body...)
}

// bury puts a message on the dead-letter queue, as part of u. False: there is none, or it does not take the message; the
// log then has the reason.
func (m *Manager) bury(u *uow, what string, rc mqi.RC, qName, qmName string, h *msgHead, body []byte) bool {
	warn := m.opt.Log.Warn().Str("qmgr", m.opt.Name).Str("queue", qName).Int32("rc", int32(rc))
	dlq := m.qmgrDef().Get("DEADQ")
	if blank(dlq) {
		warn.Msg(what + " dropped: its queue does not take it and DEADQ is blank")
		return false
	}
	if qmName == "" {
		qmName = m.opt.Name
	}
	dead, deadBody := m.deadLetter(rc, qName, qmName, h, body)
	if rc2 := m.putAs(u, dlq, "", dead, deadBody); rc2 != 0 {
		warn.Str("deadq", dlq).Int32("deadrc", int32(rc2)).
			Msg(what + " dropped: neither its queue nor the dead-letter queue takes it")
		return false
	}
	return true
}
