package mqi

import "fmt"

// XQH is the transmission queue header: where a message goes, and its own descriptor.
type XQH struct {
	RemoteQName    string
	RemoteQMgrName string
	MD             MD // version 1; the fields of version 2 travel in an MQMDE behind it
}

// ParseXQH reads an MQXQH (428 bytes) and gives what follows it. An MQMDE behind it is folded into MD, which then is
// version 2 and describes the data behind the MQMDE.
func ParseXQH(b []byte, c Coding) (XQH, []byte, error) {
	h, rest, err := parseXQH(b, c)
	if err != nil || h.MD.Format != MQFMT_MD_EXTENSION {
		return h, rest, err
	}
	e, rest, err := ParseMDE(rest, Coding{Encoding: h.MD.Encoding, CCSID: h.MD.CodedCharSetID})
	if err != nil {
		return h, nil, err
	}
	m := &h.MD
	m.Version = 2
	m.GroupID, m.MsgSeqNumber, m.Offset, m.MsgFlags = e.GroupID, e.MsgSeqNumber, e.Offset, e.MsgFlags
	m.OriginalLength = e.OriginalLength
	m.Encoding, m.CodedCharSetID = next(e.Encoding, e.CodedCharSetID, m.Encoding, m.CodedCharSetID)
	m.Format = e.Format
	return h, rest, nil
}

// parseXQH reads the header alone.
func parseXQH(b []byte, c Coding) (XQH, []byte, error) {
	r := newReader(b, c, "MQXQH", MQRC_XQH_ERROR)
	r.id("XQH ")
	r.version(MQXQH_VERSION_1, MQXQH_CURRENT_VERSION)
	var h XQH
	h.RemoteQName, h.RemoteQMgrName = r.str(MQ_Q_NAME_LENGTH), r.str(MQ_Q_MGR_NAME_LENGTH)
	h.MD = r.md()
	if r.err == nil && h.MD.Version != 1 {
		r.fail(fmt.Errorf("the descriptor inside has version %d", h.MD.Version))
	}
	return h, r.tail(), r.err
}

// Append appends the structure, with an MQMDE when the descriptor is version 2 and says more than version 1 can.
func (h *XQH) Append(dst []byte, c Coding) ([]byte, error) {
	m := h.MD
	var e *MDE
	if NeedsMDE(&m) {
		e = &MDE{Encoding: m.Encoding, CodedCharSetID: m.CodedCharSetID, Format: m.Format, GroupID: m.GroupID,
			MsgSeqNumber: m.MsgSeqNumber, Offset: m.Offset, MsgFlags: m.MsgFlags, OriginalLength: m.OriginalLength}
		m.Format, m.Encoding, m.CodedCharSetID = MQFMT_MD_EXTENSION, c.Encoding, c.CCSID
	}
	m.Version = 1
	w := newWriter(dst, c, "MQXQH")
	w.str("XQH", 4)
	w.i32(MQXQH_CURRENT_VERSION)
	w.str(h.RemoteQName, MQ_Q_NAME_LENGTH)
	w.str(h.RemoteQMgrName, MQ_Q_MGR_NAME_LENGTH)
	w.md(&m)
	out, err := w.done(dst)
	if err != nil || e == nil {
		return out, err
	}
	if out, err = e.Append(out, c); err != nil {
		return dst, err
	}
	return out, nil
}

// next gives the encoding and CCSID of the data behind a header: what its fields say, or where they inherit what the
// header itself is in.
func next(enc, ccsid, hdrEnc, hdrCCSID int32) (int32, int32) {
	if ccsid == MQCCSI_INHERIT {
		ccsid = hdrCCSID
	}
	if enc == MQENC_AS_PUBLISHED {
		enc = hdrEnc
	}
	return enc, ccsid
}
