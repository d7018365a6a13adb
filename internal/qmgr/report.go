package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

// report is a report message on its way to the reply-to queue of the message it tells about.
type report struct {
	head  *msgHead
	body  []byte
	queue string
	qmgr  string

	who     *auth.Identity // whose authority it needs; nil: the user's in its context
	more    auth.Auth      // beside PUT
	checked bool           // by who made it
}

// reportData is how much of the message a report with data carries.
const reportData = 100

// expiredReport is how long, in tenths of a second, a report lasts that a message has expired and that is to expire as that does.
const expiredReport = 600

// wantsReport says whether the queue must look at the message's descriptor when it is got or expires.
func wantsReport(r int32) bool { return r&(mqi.MQRO_COD|mqi.MQRO_EXPIRATION) != 0 }

// arrivalReports, deliveryReports and expiryReports make the COA, COD and expiration reports a message asks for.
func (m *Manager) arrivalReports(h *msgHead, body []byte) []*report {
	return m.reports(h, body, mqi.MQRO_COA, mqi.MQRO_COA_WITH_FULL_DATA, mqi.MQFB_COA)
}

func (m *Manager) deliveryReports(h *msgHead, body []byte) []*report {
	return m.reports(h, body, mqi.MQRO_COD, mqi.MQRO_COD_WITH_FULL_DATA, mqi.MQFB_COD)
}

// expiryReports on a transmission queue tell about the message itself, not about its envelope.
func expiryReports(m *Manager, h *msgHead, body []byte) []*report {
	if h.md.Format == delayFormat {
		if out, data, _, err := undelayed(h, body); err == nil {
			h, body = out, data
		}
	}
	if h.md.Format == mqi.MQFMT_XMIT_Q_HEADER {
		if x, rest, err := xmitq.ParseHeader(body, h.md.Encoding); err == nil {
			h, body = &msgHead{md: x.MD, expire: h.expire}, rest
		}
	}
	return m.reports(h, body, mqi.MQRO_EXPIRATION, mqi.MQRO_EXPIRATION_WITH_FULL_DATA, mqi.MQFB_EXPIRATION)
}

func (m *Manager) reports(h *msgHead, body []byte, want, full, feedback int32) []*report {
	md := &h.md
	if md.Report&want == 0 || md.ReplyToQ == "" {
		return nil
	}
	r := &report{head: &msgHead{md: mqi.DefaultMD()}, queue: md.ReplyToQ, qmgr: md.ReplyToQMgr}
	to := &r.head.md
	to.MsgType = mqi.MQMT_REPORT
	to.Feedback = feedback
	to.Priority, to.Persistence = md.Priority, md.Persistence
	to.MsgID = m.newID("AMQ ")
	if md.Report&mqi.MQRO_PASS_MSG_ID != 0 {
		to.MsgID = md.MsgID
	}
	to.CorrelID = md.MsgID
	if md.Report&mqi.MQRO_PASS_CORREL_ID != 0 {
		to.CorrelID = md.CorrelID
	}
	if md.Report&mqi.MQRO_PASS_DISCARD_AND_EXPIRY != 0 {
		to.Report = md.Report & mqi.MQRO_DISCARD_MSG
		if r.head.expire = h.expire; feedback == mqi.MQFB_EXPIRATION { // no time is left of its message's
			r.head.expire = expiryAt(m.opt.Clock.Now(), expiredReport)
		}
		to.Expiry = expiryLeft(m.opt.Clock.Now(), r.head.expire)
	}
	to.Version, to.GroupID, to.MsgSeqNumber, to.Offset = md.Version, md.GroupID, md.MsgSeqNumber, md.Offset
	to.MsgFlags, to.OriginalLength = md.MsgFlags, md.OriginalLength
	if md.MsgFlags&segmentFlags != 0 && to.OriginalLength < 0 { // so that who sent the segments knows which are confirmed
		to.OriginalLength = int32(len(body))
	}
	to.UserIdentifier, to.AccountingToken, to.ApplIdentityData = md.UserIdentifier, md.AccountingToken,
		md.ApplIdentityData
	to.CodedCharSetID = m.ccsid()
	to.ReplyToQMgr = m.opt.Name
	// The bits above want say how much data: none, the first 100 bytes, all.
	if data := md.Report & full &^ want; data != 0 {
		r.body = body
		if n := headersLength(md, body) + reportData; data != full&^want && len(body) > n {
			r.body = body[:n]
		}
		to.Format, to.CodedCharSetID, to.Encoding = md.Format, md.CodedCharSetID, md.Encoding
	}
	now := m.opt.Clock.Now()
	to.PutApplType, to.PutApplName = mqi.MQAT_QMGR, cut(m.opt.Name, mqi.MQ_PUT_APPL_NAME_LENGTH)
	to.PutDate, to.PutTime = putDateTime(now)
	r.head.putNanos = now.UnixNano()
	return []*report{r}
}

// maxReportHeaders bounds the headers looked at in front of the data.
const maxReportHeaders = 16

// headersLength is how many bytes of MQ headers stand in front of a message's data. They do not count as data of a
// report. What cannot be read is data.
func headersLength(md *mqi.MD, body []byte) int {
	format, c, rest := md.Format, mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID}, body
	for range maxReportHeaders {
		var next mqi.Coding
		var after []byte
		var err error
		follows := format
		switch format {
		case mqi.MQFMT_DEAD_LETTER_HEADER:
			var h mqi.DLH
			h, after, err = mqi.ParseDLH(rest, c)
			follows, next = h.Format, mqi.Coding{Encoding: h.Encoding, CCSID: h.CodedCharSetID}
		case mqi.MQFMT_RF_HEADER_2:
			var h mqi.RFH2
			h, after, err = mqi.ParseRFH2(rest, c)
			follows, next = h.Format, mqi.Coding{Encoding: h.Encoding, CCSID: h.CodedCharSetID}
		case mqi.MQFMT_RF_HEADER_1:
			var h mqi.RFH
			h, after, err = mqi.ParseRFH(rest, c)
			follows, next = h.Format, mqi.Coding{Encoding: h.Encoding, CCSID: h.CodedCharSetID}
		case mqi.MQFMT_MD_EXTENSION:
			var h mqi.MDE
			h, after, err = mqi.ParseMDE(rest, c)
			follows, next = h.Format, mqi.Coding{Encoding: h.Encoding, CCSID: h.CodedCharSetID}
		default:
			return len(body) - len(rest)
		}
		if err != nil {
			break
		}
		if next.CCSID == mqi.MQCCSI_INHERIT {
			next.CCSID = c.CCSID
		}
		format, c, rest = follows, next, after
	}
	return len(body) - len(rest)
}

// putAs puts a message of the queue manager's own by name, as part of u.
func (m *Manager) putAs(u *uow, qName, qmName string, head *msgHead, body []byte) mqi.RC {
	r, rc := m.namespace().resolve(qmName, qName, mqi.MQOO_OUTPUT)
	switch {
	case rc != 0:
		return rc
	case r.base == nil:
		return mqi.MQRC_Q_TYPE_ERROR
	}
	if rc := r.putAllowed(); rc != 0 {
		return rc
	}
	cfg := r.base.Queue.cfg.Load()
	h := *head
	h.deliver = deliverAt(h.md.Priority)
	if cfg.fifo {
		h.deliver = cfg.defPrty
	}
	if h.md.Persistence == mqi.MQPER_PERSISTENT && cfg.deftype == "TEMPDYN" {
		return mqi.MQRC_PERSISTENT_NOT_ALLOWED
	}
	n := len(body)
	if r.remote {
		n += xmitq.HeaderLen(&h.md)
	}
	if n > cfg.maxMsgL {
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q
	}
	out := &h
	if r.remote {
		out, body = m.envelope(r, &h, body)
	}
	return m.enqueue(u, r.base.Queue, out, body, 0)
}
