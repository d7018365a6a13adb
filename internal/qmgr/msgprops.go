package qmgr

import (
	"bytes"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Message properties. Those of an MQRFH2 that the application put stay in the data; those of a message handle are kept beside it
// (msgHead.props). A get gives both as the queue's PROPCTL and the MQGMO_PROPERTIES_ options say.

// shaped is a message as its getter sees it.
type shaped struct {
	md    mqi.MD
	data  []byte
	props []mqi.Property
	to    *msgHandle // gets the properties
}

// keep gives the properties to the getter's message handle.
func (s *shaped) keep() {
	if s.to != nil {
		s.to.fill(s.props)
	}
}

// shape makes the descriptor and the data that the getter gets. It changes nothing.
func (g *getting) shape(head *msgHead, body []byte) *shaped {
	out := &g.out
	*out = shaped{md: head.md, data: body, to: g.handle}
	md := &out.md
	if md.Expiry = mqi.MQEI_UNLIMITED; head.expire != 0 { // reading the clock for each message is not for nothing
		md.Expiry = expiryLeft(g.c.m.opt.Clock.Now(), head.expire)
	}
	if c := g.propControl(); len(head.props) > 0 || hasHeader(md.Format) {
		if !c.Handle && plainGetter(c) && md.Format != mqi.MQFMT_RF_HEADER_2 && onlyPubsub(head.props) {
			return out.inVersion(g.md.Version) // the usual publication, without reading its properties
		}
		beside, err := mqi.DecodeProps(head.props)
		if err == nil {
			out.data, out.props = mqi.DeliverProps(md, body, beside, c)
		}
	}
	return out.inVersion(g.md.Version)
}

// propCtl is the PROPCTL in force: that of an alias is its own.
func (h *handle) propCtl() string {
	if o := h.res.path[0]; o.Queue == nil {
		return o.Def().Get("PROPCTL")
	}
	return h.queue.cfg.Load().propCtl
}

func (g *getting) propControl() mqi.PropControl {
	ctl, ok := propControls[g.h.propCtl()]
	if !ok {
		ctl = mqi.MQPROP_COMPATIBILITY
	}
	return mqi.PropControl{Queue: ctl, Options: g.gmo.Options, Handle: g.handle != nil}
}

// plainGetter reports a getter of the old kind, who sees properties of JMS and the like only.
func plainGetter(c mqi.PropControl) bool {
	const given = mqi.MQGMO_PROPERTIES_FORCE_MQRFH2 | mqi.MQGMO_PROPERTIES_IN_HANDLE
	return (c.Queue == mqi.MQPROP_COMPATIBILITY || c.Queue == mqi.MQPROP_NONE) && c.Options&given == 0
}

// hasHeader reports the formats that an MQRFH2 can be in or behind.
func hasHeader(format string) bool {
	switch format {
	case mqi.MQFMT_RF_HEADER_2, mqi.MQFMT_RF_HEADER_1, mqi.MQFMT_DEAD_LETTER_HEADER, mqi.MQFMT_XMIT_Q_HEADER:
		return true
	}
	return false
}

// inVersion gives a getter with a version 1 descriptor what that has no room for as an MQMDE in front of the data.
func (s *shaped) inVersion(version int32) *shaped {
	md := &s.md
	if version < 2 && mqi.NeedsMDE(md) {
		e := mqi.MDE{Encoding: md.Encoding, CodedCharSetID: md.CodedCharSetID, Format: md.Format, GroupID: md.GroupID,
			MsgSeqNumber: md.MsgSeqNumber, Offset: md.Offset, MsgFlags: md.MsgFlags, OriginalLength: md.OriginalLength}
		c := mqi.NativeCoding(mqi.DefaultCCSID)
		if b, err := e.Append(make([]byte, 0, mqi.MQMDE_CURRENT_LENGTH+len(s.data)), c); err == nil {
			s.data = append(b, s.data...)
			md.Format, md.Encoding, md.CodedCharSetID = mqi.MQFMT_MD_EXTENSION, c.Encoding, c.CCSID
		}
	}
	if md.Version = version; version < 2 {
		md.GroupID, md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength = mqi.ID{}, 1, 0, 0, -1
	}
	return s
}

// extension takes the version 2 fields from an MQMDE that stands in front of the data of a version 1 put.
func extension(md *mqi.MD, body []byte) ([]byte, mqi.RC) {
	if md.Version >= 2 || md.Format != mqi.MQFMT_MD_EXTENSION {
		return body, 0
	}
	e, rest, err := mqi.ParseMDE(body, mqi.Coding{Encoding: md.Encoding, CCSID: orDefault(md.CodedCharSetID)})
	if err != nil || e.CodedCharSetID <= 0 && e.CodedCharSetID != mqi.MQCCSI_INHERIT {
		return body, mqi.MQRC_MDE_ERROR
	}
	md.Version = 2
	md.GroupID, md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength = e.GroupID, e.MsgSeqNumber, e.Offset, e.MsgFlags,
		e.OriginalLength
	if md.Format = e.Format; e.Encoding != 0 {
		md.Encoding = e.Encoding
	}
	if e.CodedCharSetID > 0 {
		md.CodedCharSetID = e.CodedCharSetID
	}
	return rest, 0
}

func orDefault(ccsid int32) int32 {
	if ccsid == mqi.MQCCSI_Q_MGR {
		return mqi.DefaultCCSID
	}
	return ccsid
}

// putProps gives a message the properties of the put's message handles, and checks all of its properties: that they are not
// longer than MAXPROPL (2478), that none is required that is not known (2490), that the message is no segment (2443).
func (c *Conn) putProps(head *msgHead, pmo *mqi.PMO, body []byte, local bool) mqi.RC {
	props, strict, rc := c.propsToPut(pmo)
	if rc != 0 {
		return rc
	}
	if len(props) > 0 {
		head.props = mqi.EncodeProps(props)
	}
	md := &head.md
	if len(props) > 0 && md.MsgFlags&segmentFlags != 0 {
		return mqi.MQRC_SEGMENTATION_NOT_ALLOWED
	}
	limit := -1
	if d := c.m.qmgrDef(); d.Get("MAXPROPL") != "NOLIMIT" {
		limit = numAttr(d, "MAXPROPL", -1)
	}
	if !strict && limit < 0 && !(hasHeader(md.Format) && (bytes.Contains(body, mqFolder) || bytes.Contains(body, mqFolderAttr))) {
		return 0 // nothing to check: the data is not looked into
	}
	if hasHeader(md.Format) {
		m := *md
		m.CodedCharSetID = orDefault(m.CodedCharSetID)
		inData, _, err := mqi.SplitProps(&m, body, strict)
		if err != nil {
			_, rc := mqi.Reason(err)
			return rc
		}
		props = append(append([]mqi.Property(nil), props...), inData...)
	}
	if limit >= 0 && mqi.PropsLength(props) > limit {
		return mqi.MQRC_PROPERTIES_TOO_BIG
	}
	if _, bad := mqi.RequiredProp(props, local); bad {
		return mqi.MQRC_UNSUPPORTED_PROPERTY
	}
	return 0
}

// The folder mq is the one whose elements say that a property must be understood.
var mqFolder, mqFolderAttr = []byte("<mq>"), []byte("<mq ")

// propsToPut are the properties of the handles that an MQPMO of version 3 names. strict: the put uses properties.
func (c *Conn) propsToPut(pmo *mqi.PMO) (props []mqi.Property, strict bool, rc mqi.RC) {
	if pmo.Version < 3 {
		return nil, false, 0
	}
	var given, fresh *msgHandle
	if given, rc = c.msgHandle(pmo.OriginalMsgHandle); rc != 0 {
		return nil, false, rc
	}
	if fresh, rc = c.msgHandle(pmo.NewMsgHandle); rc != 0 {
		return nil, false, rc
	}
	copied := map[int32]int32{mqi.MQACTP_FORWARD: mqi.MQCOPY_FORWARD, mqi.MQACTP_REPLY: mqi.MQCOPY_REPLY,
		mqi.MQACTP_REPORT: mqi.MQCOPY_REPORT}
	switch {
	case given == nil && fresh == nil:
		return nil, false, 0
	case pmo.Action == mqi.MQACTP_NEW:
		if given == nil {
			given = fresh
		}
		return given.props.All(), true, 0
	case given == nil: // a message made of another needs that one's handle
		return nil, false, mqi.MQRC_HMSG_ERROR
	}
	props = mqi.CopyProps(given.props.All(), copied[pmo.Action])
	if fresh != nil {
		props = overlayProps(fresh.props.All(), props)
	}
	return props, true, 0
}

// overlayProps gives first, and of second what has other names.
func overlayProps(first, second []mqi.Property) []mqi.Property {
	out := append([]mqi.Property(nil), first...)
	names := map[string]bool{}
	for i := range first {
		names[first[i].Name] = true
	}
	for _, p := range second {
		if !names[p.Name] {
			out = append(out, p)
		}
	}
	return out
}
