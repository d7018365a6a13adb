package mq

import (
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// seen is a character field that is nearly always the same from message to message: it is made a string once.
type seen struct{ raw, s string }

func (c *seen) of(b []byte) string {
	if string(b) != c.raw {
		c.raw = string(b)
		c.s = c.raw
		if i := strings.IndexByte(c.s, 0); i >= 0 {
			c.s = c.s[:i]
		}
		c.s = strings.TrimRight(c.s, " ")
	}
	return c.s
}

// fields are what the last message had. They belong to the reader.
type fields struct {
	format, user, appl, queue, replyQ, replyQMgr, identity, origin seen

	stamp [16]byte
	time  time.Time
}

func (f *fields) putTime(b []byte) time.Time {
	if string(b) != string(f.stamp[:]) {
		copy(f.stamp[:], b)
		f.time = putTime(string(b[:8]), string(b[8:]))
	}
	return f.time
}

// fill makes a message of a descriptor that lies in a segment. m.Body stays as it is.
func (m *Message) fill(f *fields, md wire.MDView, queue []byte, token mqi.Token) {
	m.Type, m.Priority, m.CCSID, m.Encoding, m.Flags = md.MsgType(), int(md.Priority()), md.CCSID(), md.Encoding(), md.Flags()
	m.Report, m.Feedback, m.ApplType, m.BackoutCount = md.Report(), md.Feedback(), md.ApplType(), md.Backouts()
	m.Persistence = NonPersistent
	if md.Persistence() == mqi.MQPER_PERSISTENT {
		m.Persistence = Persistent
	}
	m.Expiry = 0
	if e := md.Expiry(); e > 0 {
		m.Expiry = time.Duration(e) * tenth
	}
	m.Format, m.User, m.Appl, m.Queue = f.format.of(md.Format()), f.user.of(md.User()), f.appl.of(md.Appl()), f.queue.of(queue)
	m.ReplyTo, m.ReplyToQMgr = f.replyQ.of(md.ReplyToQ()), f.replyQMgr.of(md.ReplyQMgr())
	m.AccountingToken, m.ApplIdentity, m.ApplOrigin = md.Accounting(), f.identity.of(md.ApplIdentity()), f.origin.of(md.ApplOrigin())
	m.OriginalLength = md.OriginalLength()
	m.token = token
	m.fillTook(f, md)
}

// fillTook is what also the answer to a put has.
func (m *Message) fillTook(f *fields, md wire.MDView) {
	m.MsgID, m.CorrelID, m.GroupID = ID(md.MsgID()), ID(md.CorrelID()), ID(md.GroupID())
	m.Seq, m.Offset = md.Seq(), md.Offset()
	m.PutTime = f.putTime(md.PutStamp())
}

// setBody takes over data, which lies in s.
func (m *Message) setBody(s *segment, data []byte) {
	if s.own && cap(m.Body) == 0 {
		m.Body = data
		return
	}
	m.Body = append(m.Body[:0], data...)
}

// tookFrom reads the answer to an MQPUT.
func (m *Message) tookFrom(l *link, s *segment) (wire.API, error) {
	if s.h.Plain() && s.h.Type == wire.MQPUT.Reply() {
		if len(s.body) == sizeAPI {
			return wire.DecodeAPI(s.body, codec)
		}
		a, md, err := wire.ViewPutReply(s.body)
		if err == nil && a.CompCode != int32(Failed) {
			m.fillTook(&l.fields, md)
		}
		return a, err
	}
	a, b, err := s.decode(l)
	if p, ok := b.(*wire.PutReply); ok && err == nil && a.CompCode != int32(Failed) {
		m.took(&p.MD)
	}
	return a, err
}

// sizeAPI is the header of calls and their answers.
const sizeAPI = 16

// gotFrom reads the answer to an MQGET, and whether it has a message.
func (m *Message) gotFrom(l *link, s *segment) (wire.API, bool, error) {
	if s.h.Plain() && s.h.Type == wire.MQGET.Reply() {
		a, g, err := wire.ViewGetReply(s.body)
		if err != nil || a.CompCode == int32(Failed) || g.MD == nil {
			return a, false, err
		}
		m.fill(&l.fields, g.MD, g.Resolved, g.Token)
		m.setBody(s, returned(a, g.Data, g.Returned))
		return a, true, nil
	}
	a, b, err := s.decode(l)
	g, ok := b.(*wire.GetReply)
	if err != nil || !ok || a.CompCode == int32(Failed) {
		return a, false, err
	}
	m.got(&g.MD, g.GMO.ResolvedQName, g.GMO.MsgToken)
	m.setBody(s, returned(a, g.Data, g.GMO.ReturnedLength))
	return a, true, nil
}

// returned is what the buffer of an MQGET holds of a message that was cut: a character that had no room leaves zeros behind it.
func returned(a wire.API, data []byte, length int32) []byte {
	if a.Reason == int32(TruncatedAccepted) && length >= 0 && int(length) < len(data) {
		return data[:length]
	}
	return data
}

// arrival is what came with a message that was sent ahead.
type arrival struct {
	hobj, global, reason int32
	segment, status      uint16
	data                 []byte // in the segment
}

// none reports that it is no message, but the reason why none comes.
func (a *arrival) none(m *Message) bool { return a.reason != 0 && m.MsgID == ID{} }

// aheadFrom reads an ASYNC_MESSAGE; a later part has only data. m.Body is not set.
func (m *Message) aheadFrom(l *link, s *segment) (arrival, error) {
	if s.h.Plain() {
		v, err := wire.ViewAsync(s.body)
		if err == nil && v.Segment == 0 {
			m.fill(&l.fields, v.MD, v.Resolved, v.Token)
		}
		return arrival{v.Hobj, v.GlobalIndex, v.Reason, v.Segment, v.Status, v.Data}, err
	}
	_, b, err := s.decode(l)
	v, ok := b.(*wire.Async)
	if err != nil || !ok {
		return arrival{}, err
	}
	if v.Segment == 0 {
		m.got(&v.MD, v.Resolved, v.Token)
	}
	return arrival{v.Hobj, v.GlobalIndex, v.Reason, v.Segment, v.Status, v.Data}, nil
}
