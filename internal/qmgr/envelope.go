package qmgr

import (
	"encoding/binary"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Headers the queue manager itself puts in front of a message: MQXQH on a transmission queue, MQDLH on the dead-letter
// queue, MQMDE for what a version 1 descriptor has no room for. All in little-endian, MQENC_NATIVE here.

// envelope wraps a message for a transmission queue. The outer descriptor has an identifier of its own and carries the
// message's as CorrelId.
func (m *Manager) envelope(r *resolved, h *msgHead, body []byte) (*msgHead, []byte) {
	in := h.md
	var mde []byte
	if in.Version >= 2 && (!in.GroupID.IsZero() || in.MsgSeqNumber != 1 || in.Offset != 0 || in.MsgFlags != 0 ||
		in.OriginalLength != -1) {
		mde = appendMDE(nil, &in)
		in.Format = mqi.MQFMT_MD_EXTENSION
	}
	b := make([]byte, 0, mqi.MQXQH_CURRENT_LENGTH+len(mde)+len(body))
	b = append(b, "XQH "...)
	b = appendInt(b, mqi.MQXQH_CURRENT_VERSION)
	b = appendChars(b, r.qName, mqi.MQ_Q_NAME_LENGTH)
	b = appendChars(b, r.qmName, mqi.MQ_Q_MGR_NAME_LENGTH)
	b = appendMD1(b, &in)
	b = append(b, mde...)
	b = append(b, body...)

	out := *h
	o := &out.md
	o.Version = 1
	o.CorrelID = h.md.MsgID
	o.MsgID = m.newID("AMQ ")
	o.Report, o.Feedback, o.MsgType = 0, 0, mqi.MQMT_DATAGRAM
	o.Format = mqi.MQFMT_XMIT_Q_HEADER
	o.Encoding, o.CodedCharSetID = mqi.MQENC_NATIVE, int32(numAttr(m.qmgrDef(), "CCSID", 1208))
	o.ReplyToQ, o.ReplyToQMgr = "", ""
	o.GroupID, o.MsgSeqNumber, o.Offset, o.MsgFlags, o.OriginalLength = mqi.ID{}, 1, 0, 0, -1
	return &out, b
}

// deadLetter puts a dead-letter header in front of a message.
func (m *Manager) deadLetter(rc mqi.RC, qName, qmName string, h *msgHead, body []byte) (*msgHead, []byte) {
	out := *h
	md := &out.md
	b := make([]byte, 0, mqi.MQDLH_CURRENT_LENGTH+len(body))
	b = append(b, "DLH "...)
	b = appendInt(b, mqi.MQDLH_CURRENT_VERSION)
	b = appendInt(b, int32(rc))
	b = appendChars(b, qName, mqi.MQ_Q_NAME_LENGTH)
	b = appendChars(b, qmName, mqi.MQ_Q_MGR_NAME_LENGTH)
	b = appendInt(b, md.Encoding)
	b = appendInt(b, md.CodedCharSetID)
	b = appendChars(b, md.Format, mqi.MQ_FORMAT_LENGTH)
	b = appendInt(b, mqi.MQAT_QMGR)
	b = appendChars(b, cut(m.opt.Name, mqi.MQ_PUT_APPL_NAME_LENGTH), mqi.MQ_PUT_APPL_NAME_LENGTH)
	date, tod := putDateTime(m.opt.Clock.Now())
	b = appendChars(b, date, mqi.MQ_PUT_DATE_LENGTH)
	b = appendChars(b, tod, mqi.MQ_PUT_TIME_LENGTH)
	b = append(b, body...)
	md.Format = mqi.MQFMT_DEAD_LETTER_HEADER
	md.Encoding, md.CodedCharSetID = mqi.MQENC_NATIVE, int32(numAttr(m.qmgrDef(), "CCSID", 1208))
	return &out, b
}

func appendInt(b []byte, v int32) []byte { return binary.LittleEndian.AppendUint32(b, uint32(v)) }

// appendChars appends a character field, padded with blanks or cut to n bytes.
func appendChars(b []byte, s string, n int) []byte {
	s = cut(s, n)
	b = append(b, s...)
	for i := len(s); i < n; i++ {
		b = append(b, ' ')
	}
	return b
}

// appendMD1 appends a version 1 MQMD, 324 bytes.
func appendMD1(b []byte, md *mqi.MD) []byte {
	b = append(b, "MD  "...)
	for _, v := range [...]int32{1, md.Report, md.MsgType, md.Expiry, md.Feedback, md.Encoding, md.CodedCharSetID} {
		b = appendInt(b, v)
	}
	b = appendChars(b, md.Format, mqi.MQ_FORMAT_LENGTH)
	b = appendInt(b, md.Priority)
	b = appendInt(b, md.Persistence)
	b = append(b, md.MsgID[:]...)
	b = append(b, md.CorrelID[:]...)
	b = appendInt(b, md.BackoutCount)
	b = appendChars(b, md.ReplyToQ, mqi.MQ_Q_NAME_LENGTH)
	b = appendChars(b, md.ReplyToQMgr, mqi.MQ_Q_MGR_NAME_LENGTH)
	b = appendChars(b, md.UserIdentifier, mqi.MQ_USER_ID_LENGTH)
	b = append(b, md.AccountingToken[:]...)
	b = appendChars(b, md.ApplIdentityData, mqi.MQ_APPL_IDENTITY_DATA_LENGTH)
	b = appendInt(b, md.PutApplType)
	b = appendChars(b, md.PutApplName, mqi.MQ_PUT_APPL_NAME_LENGTH)
	b = appendChars(b, md.PutDate, mqi.MQ_PUT_DATE_LENGTH)
	b = appendChars(b, md.PutTime, mqi.MQ_PUT_TIME_LENGTH)
	return appendChars(b, md.ApplOriginData, mqi.MQ_APPL_ORIGIN_DATA_LENGTH)
}

// appendMDE appends an MQMDE, 72 bytes, with the format of the data behind it.
func appendMDE(b []byte, md *mqi.MD) []byte {
	b = append(b, "MDE "...)
	for _, v := range [...]int32{mqi.MQMDE_CURRENT_VERSION, mqi.MQMDE_CURRENT_LENGTH, md.Encoding, md.CodedCharSetID} {
		b = appendInt(b, v)
	}
	b = appendChars(b, md.Format, mqi.MQ_FORMAT_LENGTH)
	b = appendInt(b, mqi.MQMDEF_NONE)
	b = append(b, md.GroupID[:]...)
	for _, v := range [...]int32{md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength} {
		b = appendInt(b, v)
	}
	return b
}
