package xmitq

import (
	"fmt"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Header is what MQXQH says: where a message goes, and its descriptor. MD has the fields of version 2 too; they travel
// in an MQMDE behind the header when they say anything.
type Header struct {
	RemoteQName    string
	RemoteQMgrName string
	MD             mqi.MD
}

// needsMDE reports whether a descriptor says more than version 1 has room for.
func needsMDE(md *mqi.MD) bool {
	return md.Version >= mqi.MQMD_VERSION_2 && (!md.GroupID.IsZero() || md.MsgSeqNumber != 1 || md.Offset != 0 || md.MsgFlags != 0 ||
		md.OriginalLength != mqi.MQOL_UNDEFINED)
}

// HeaderLen is how much longer a message becomes on a transmission queue.
func HeaderLen(md *mqi.MD) int {
	if needsMDE(md) {
		return mqi.MQXQH_CURRENT_LENGTH + mqi.MQMDE_CURRENT_LENGTH
	}
	return mqi.MQXQH_CURRENT_LENGTH
}

// AppendHeader appends MQXQH, and MQMDE if it is needed, in this machine's encoding (MQENC_NATIVE). ccsid is the queue
// manager's.
func AppendHeader(dst []byte, h *Header, ccsid int32) []byte {
	md := h.MD
	next := data{md.Encoding, md.CodedCharSetID, md.Format}
	mde := needsMDE(&md)
	if mde {
		md.Encoding, md.CodedCharSetID, md.Format = mqi.MQENC_NATIVE, ccsid, mqi.MQFMT_MD_EXTENSION
	}
	c := writer(dst, mqi.MQENC_NATIVE)
	c.header(h, &md)
	if mde {
		c.mde(&next, &md)
	}
	return c.buf
}

// header is MQXQH, 428 bytes.
func (c *codec) header(h *Header, md *mqi.MD) bool {
	ok := c.head("XQH ", mqi.MQXQH_CURRENT_VERSION)
	c.chars(&h.RemoteQName, mqi.MQ_Q_NAME_LENGTH)
	c.chars(&h.RemoteQMgrName, mqi.MQ_Q_MGR_NAME_LENGTH)
	return c.md1(md) && ok
}

// ParseHeader takes the header off a message of a transmission queue. encoding is that of the message's own descriptor.
// The rest is the message as it was put; it shares data's memory. A message that does not begin with a whole header is
// refused with 2260, one whose extension is damaged with 2248.
func ParseHeader(msg []byte, encoding int32) (h Header, rest []byte, err error) {
	c := reader(msg, encoding)
	md := mqi.DefaultMD()
	if !c.header(&h, &md) {
		return Header{}, nil, malformed("MQXQH", mqi.MQRC_XQH_ERROR, len(msg), mqi.MQXQH_CURRENT_LENGTH, msg)
	}
	md.Version = mqi.MQMD_VERSION_1
	if md.Format == mqi.MQFMT_MD_EXTENSION {
		at := c.buf
		e := reader(at, md.Encoding)
		var next data
		if !e.mde(&next, &md) {
			return Header{}, nil, malformed("MQMDE", mqi.MQRC_MDE_ERROR, len(at), mqi.MQMDE_CURRENT_LENGTH, at)
		}
		md.Version = mqi.MQMD_VERSION_2
		md.Encoding, md.CodedCharSetID, md.Format = next.encoding, next.ccsid, next.format
		c = e
	}
	h.MD = md
	return h, c.buf, nil
}

// malformed says what is wrong with a structure.
func malformed(name string, rc mqi.RC, have, need int, msg []byte) error {
	var why error
	if have < need {
		why = fmt.Errorf("%d bytes, %d needed", have, need)
	} else {
		why = fmt.Errorf("begins with % x; check that it was put with this header and converted to the queue manager's encoding", msg[:8])
	}
	return mqi.Wrap("read", name, rc, why)
}

// Wrap makes the message that goes to a transmission queue: the descriptor it is put with, and the header to put in
// front of its data. The caller gives the new descriptor its MsgID; its CorrelID is the message's MsgID. What it asks of reports
// is the message's, but for arrival and delivery, which are its destination's: nothing of that kind may come from here.
func Wrap(md *mqi.MD, remoteQ, remoteQMgr string, ccsid int32) (mqi.MD, []byte) {
	hdr := AppendHeader(nil, &Header{remoteQ, remoteQMgr, *md}, ccsid)
	out := mqi.DefaultMD()
	out.Report, out.MsgType, out.Feedback = md.Report&^mqi.MQRO_ACCEPT_UNSUP_IF_XMIT_MASK, md.MsgType, md.Feedback
	out.ReplyToQ, out.ReplyToQMgr = md.ReplyToQ, md.ReplyToQMgr
	out.Expiry, out.Priority, out.Persistence = md.Expiry, md.Priority, md.Persistence
	out.CorrelID = md.MsgID
	out.Format, out.CodedCharSetID = mqi.MQFMT_XMIT_Q_HEADER, ccsid
	out.UserIdentifier, out.AccountingToken, out.ApplIdentityData = md.UserIdentifier, md.AccountingToken, md.ApplIdentityData
	out.PutApplType, out.PutApplName, out.ApplOriginData = md.PutApplType, md.PutApplName, md.ApplOriginData
	out.PutDate, out.PutTime = md.PutDate, md.PutTime
	return out, hdr
}

// DeadLetter is what MQDLH says. Encoding, CodedCharSetID and Format describe the data behind it.
type DeadLetter struct {
	Reason         int32
	DestQName      string
	DestQMgrName   string
	Encoding       int32
	CodedCharSetID int32
	Format         string
	PutApplType    int32
	PutApplName    string
	PutDate        string
	PutTime        string
}

// deadLetter is MQDLH, 172 bytes.
func (c *codec) deadLetter(d *DeadLetter) bool {
	ok := c.head("DLH ", mqi.MQDLH_CURRENT_VERSION)
	c.int(&d.Reason)
	c.chars(&d.DestQName, mqi.MQ_Q_NAME_LENGTH)
	c.chars(&d.DestQMgrName, mqi.MQ_Q_MGR_NAME_LENGTH)
	c.int(&d.Encoding)
	c.int(&d.CodedCharSetID)
	c.chars(&d.Format, mqi.MQ_FORMAT_LENGTH)
	c.int(&d.PutApplType)
	c.chars(&d.PutApplName, mqi.MQ_PUT_APPL_NAME_LENGTH)
	c.chars(&d.PutDate, mqi.MQ_PUT_DATE_LENGTH)
	c.chars(&d.PutTime, mqi.MQ_PUT_TIME_LENGTH)
	return ok && !c.short
}

// AppendDeadLetter appends MQDLH in this machine's encoding.
func AppendDeadLetter(dst []byte, d *DeadLetter) []byte {
	c := writer(dst, mqi.MQENC_NATIVE)
	c.deadLetter(d)
	return c.buf
}

// Bury makes the dead-letter message of md: the descriptor it is put with, and the header to put in front of its data.
// d says why and where to; what describes the data is taken from md.
func Bury(md *mqi.MD, d DeadLetter, ccsid int32) (mqi.MD, []byte) {
	d.Encoding, d.CodedCharSetID, d.Format = md.Encoding, md.CodedCharSetID, md.Format
	out := *md
	out.Encoding, out.CodedCharSetID, out.Format = mqi.MQENC_NATIVE, ccsid, mqi.MQFMT_DEAD_LETTER_HEADER
	return out, AppendDeadLetter(nil, &d)
}

// ParseDeadLetter takes MQDLH off a message of the dead-letter queue. encoding is that of its descriptor. A message that
// does not begin with a whole MQDLH is refused with 2141.
func ParseDeadLetter(msg []byte, encoding int32) (d DeadLetter, rest []byte, err error) {
	c := reader(msg, encoding)
	if !c.deadLetter(&d) {
		return DeadLetter{}, nil, malformed("MQDLH", mqi.MQRC_DLH_ERROR, len(msg), mqi.MQDLH_CURRENT_LENGTH, msg)
	}
	return d, c.buf, nil
}

// Exhume is the inverse of Bury: the descriptor and the data of the message as it was.
func Exhume(md *mqi.MD, msg []byte) (mqi.MD, DeadLetter, []byte, error) {
	d, rest, err := ParseDeadLetter(msg, md.Encoding)
	if err != nil {
		return mqi.MD{}, d, nil, err
	}
	out := *md
	out.Encoding, out.CodedCharSetID, out.Format = d.Encoding, d.CodedCharSetID, d.Format
	return out, d, rest, nil
}
