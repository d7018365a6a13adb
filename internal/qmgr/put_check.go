package qmgr

import (
	"strconv"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// roKnown are the report options there are. The masks say what happens to the others.
const roKnown = mqi.MQRO_EXCEPTION_WITH_FULL_DATA | mqi.MQRO_EXPIRATION_WITH_FULL_DATA | mqi.MQRO_COA_WITH_FULL_DATA |
	mqi.MQRO_COD_WITH_FULL_DATA | mqi.MQRO_PAN | mqi.MQRO_NAN | mqi.MQRO_ACTIVITY | mqi.MQRO_PASS_MSG_ID |
	mqi.MQRO_PASS_CORREL_ID | mqi.MQRO_DISCARD_MSG | mqi.MQRO_PASS_DISCARD_AND_EXPIRY

// acctUnixNumericID is the type of an accounting token that holds a numeric user id (last byte of the token).
const acctUnixNumericID = 6

const mfKnown = mqi.MQMF_SEGMENTATION_ALLOWED | mqi.MQMF_SEGMENT | mqi.MQMF_LAST_SEGMENT | mqi.MQMF_MSG_IN_GROUP |
	mqi.MQMF_LAST_MSG_IN_GROUP

// maxOffset is the highest MQMD.Offset, and where a logical message ends at the latest.
const maxOffset = 999999999

// checkPutMD checks a message descriptor for a put. A priority above the highest stays in the field, with a warning:
// it counts as the highest. remote says that the message is for another queue manager.
func checkPutMD(md *mqi.MD, remote bool) (warn, fail mqi.RC) {
	switch t := md.MsgType; {
	case t == mqi.MQMT_REQUEST, t == mqi.MQMT_REPLY, t == mqi.MQMT_REPORT, t == mqi.MQMT_DATAGRAM,
		t == mqi.MQMT_MQE_FIELDS, t == mqi.MQMT_MQE_FIELDS_FROM_MQE,
		t >= mqi.MQMT_APPL_FIRST && t <= mqi.MQMT_APPL_LAST:
	default:
		return 0, mqi.MQRC_MSG_TYPE_ERROR
	}
	switch {
	case md.Expiry != mqi.MQEI_UNLIMITED && md.Expiry <= 0:
		return 0, mqi.MQRC_EXPIRY_ERROR
	case md.Feedback < 0 || md.Feedback > mqi.MQFB_APPL_LAST:
		return 0, mqi.MQRC_FEEDBACK_ERROR
	}
	warn, fail = checkReport(md.Report, remote)
	if fail != 0 {
		return 0, fail
	}
	switch p := md.Priority; {
	case p == mqi.MQPRI_PRIORITY_AS_Q_DEF, p >= 0 && p <= 9:
	case p > 9:
		warn = mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM
	default:
		return 0, mqi.MQRC_PRIORITY_ERROR
	}
	switch md.Persistence {
	case mqi.MQPER_NOT_PERSISTENT, mqi.MQPER_PERSISTENT, mqi.MQPER_PERSISTENCE_AS_Q_DEF:
	default:
		return 0, mqi.MQRC_PERSISTENCE_ERROR
	}
	if md.ReplyToQ == "" && (md.MsgType == mqi.MQMT_REQUEST || md.Report&(mqi.MQRO_EXCEPTION|mqi.MQRO_EXPIRATION|
		mqi.MQRO_COA|mqi.MQRO_COD|mqi.MQRO_PAN|mqi.MQRO_NAN|mqi.MQRO_ACTIVITY) != 0) {
		return 0, mqi.MQRC_MISSING_REPLY_TO_Q
	}
	trimMD(md)
	return warn, 0
}

// checkReport refuses what is unknown of some options; others are accepted, and a third kind is when another queue manager, which may
// know them, is to get the message.
func checkReport(r int32, remote bool) (warn, fail mqi.RC) {
	for _, base := range [...][2]int32{
		{mqi.MQRO_EXCEPTION, mqi.MQRO_EXCEPTION_WITH_FULL_DATA}, {mqi.MQRO_EXPIRATION, mqi.MQRO_EXPIRATION_WITH_FULL_DATA},
		{mqi.MQRO_COA, mqi.MQRO_COA_WITH_FULL_DATA}, {mqi.MQRO_COD, mqi.MQRO_COD_WITH_FULL_DATA},
	} {
		if r&base[1] != 0 && r&base[0] == 0 {
			return 0, mqi.MQRC_REPORT_OPTIONS_ERROR
		}
	}
	switch unknown := r &^ roKnown; {
	case unknown == 0:
		return 0, 0
	case unknown&mqi.MQRO_REJECT_UNSUP_MASK != 0, unknown&mqi.MQRO_ACCEPT_UNSUP_IF_XMIT_MASK != 0 && !remote:
		return 0, mqi.MQRC_REPORT_OPTIONS_ERROR
	}
	return mqi.MQRC_UNKNOWN_REPORT_OPTION, 0
}

// checkV2 checks the fields of version 2 for a message of n bytes, and completes OriginalLength. remote says that the message is for
// another queue manager.
func checkV2(md *mqi.MD, n int, remote bool) mqi.RC {
	if md.Version < 2 {
		return 0
	}
	unknown := md.MsgFlags &^ mfKnown
	switch {
	case unknown&mqi.MQMF_REJECT_UNSUP_MASK != 0, unknown&mqi.MQMF_ACCEPT_UNSUP_IF_XMIT_MASK != 0 && !remote:
		return mqi.MQRC_MSG_FLAGS_ERROR
	case md.MsgSeqNumber < 1 || md.MsgSeqNumber > 999999999:
		return mqi.MQRC_MSG_SEQ_NUMBER_ERROR
	case md.Offset < 0 || md.Offset > maxOffset:
		return mqi.MQRC_OFFSET_ERROR
	case !originalLength(md, n):
		return mqi.MQRC_ORIGINAL_LENGTH_ERROR
	case n == 0 && md.MsgFlags&segmentFlags == mqi.MQMF_SEGMENT:
		return mqi.MQRC_SEGMENT_LENGTH_ZERO
	case md.MsgFlags&segmentFlags != 0 && int64(md.Offset)+int64(n) > maxOffset:
		return mqi.MQRC_OFFSET_ERROR
	}
	return 0
}

// originalLength completes OriginalLength, which says something of segments only: how long they are, and in reports on them how long
// the segment was that the report tells about.
func originalLength(md *mqi.MD, n int) bool {
	switch seg := md.MsgFlags & segmentFlags; {
	case seg == 0:
		md.OriginalLength = mqi.MQOL_UNDEFINED
	case md.MsgType != mqi.MQMT_REPORT:
		md.OriginalLength = int32(n)
	case seg == mqi.MQMF_SEGMENT && md.OriginalLength == 0:
		return false
	default:
		return int64(md.OriginalLength) >= int64(n)
	}
	return true
}

// trimMD cuts character fields to the lengths of the structure.
func trimMD(md *mqi.MD) {
	for _, f := range [...]struct {
		s *string
		n int
	}{
		{&md.Format, 8}, {&md.ReplyToQ, 48}, {&md.ReplyToQMgr, 48}, {&md.UserIdentifier, 12}, {&md.ApplIdentityData, 32},
		{&md.PutApplName, 28}, {&md.PutDate, 8}, {&md.PutTime, 8}, {&md.ApplOriginData, 4},
	} {
		*f.s = cut(*f.s, f.n)
	}
}

// cut shortens a text to n bytes at most, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// setContext gives the message its identity and origin context, after checking that the handle may have them so.
func (c *Conn) setContext(h *handle, md *mqi.MD, pmo *mqi.PMO) mqi.RC {
	const (
		setAll   = mqi.MQOO_SET_ALL_CONTEXT
		setID    = setAll | mqi.MQOO_SET_IDENTITY_CONTEXT
		passAll  = setAll | mqi.MQOO_PASS_ALL_CONTEXT
		passID   = setID | passAll | mqi.MQOO_PASS_IDENTITY_CONTEXT
		contexts = putContexts
	)
	given := *md
	c.identityContext(md)
	c.originContext(md)
	switch pmo.Options & contexts {
	case mqi.MQPMO_NO_CONTEXT:
		copyIdentity(md, &mqi.MD{})
		copyOrigin(md, &mqi.MD{})
	case mqi.MQPMO_SET_IDENTITY_CONTEXT:
		if h.opts&setID == 0 {
			return mqi.MQRC_NOT_OPEN_FOR_SET_IDENT
		}
		copyIdentity(md, &given)
	case mqi.MQPMO_SET_ALL_CONTEXT:
		if h.opts&setAll == 0 {
			return mqi.MQRC_NOT_OPEN_FOR_SET_ALL
		}
		copyIdentity(md, &given)
		copyOrigin(md, &given)
	case mqi.MQPMO_PASS_IDENTITY_CONTEXT, mqi.MQPMO_PASS_ALL_CONTEXT:
		all := pmo.Options&mqi.MQPMO_PASS_ALL_CONTEXT != 0
		switch {
		case all && h.opts&passAll == 0:
			return mqi.MQRC_NOT_OPEN_FOR_PASS_ALL
		case !all && h.opts&passID == 0:
			return mqi.MQRC_NOT_OPEN_FOR_PASS_IDENT
		}
		from, rc := c.passed(Handle(pmo.Context))
		if rc != 0 {
			return rc
		}
		copyIdentity(md, from)
		if all {
			copyOrigin(md, from)
		}
	}
	return 0
}

// passed returns the context saved by another handle of the connection.
func (c *Conn) passed(n Handle) (*mqi.MD, mqi.RC) {
	c.mu.Lock()
	h := c.handles[n]
	c.mu.Unlock()
	switch {
	case h == nil || h.opts&mqi.MQOO_SAVE_ALL_CONTEXT == 0:
		return nil, mqi.MQRC_CONTEXT_HANDLE_ERROR
	case h.saved == nil || !h.saved.valid:
		return nil, mqi.MQRC_CONTEXT_NOT_AVAILABLE
	}
	return &h.saved.md, 0
}

// UnknownUser stands in messages for a user whose name is too long for the descriptor, as in the vendor's product. Cut to its
// first 12 characters such a name might be somebody else's. It is the name of nobody: there are no rights for it.
const UnknownUser = "UNKNOWN"

// contextUser is a user's name as messages carry it.
func contextUser(user string) string {
	if len(user) > mqi.MQ_USER_ID_LENGTH {
		return UnknownUser
	}
	return user
}

func (c *Conn) identityContext(md *mqi.MD) {
	md.UserIdentifier = contextUser(c.who.User)
	md.AccountingToken = mqi.Account{}
	if c.who.UID >= 0 {
		if c.token == (mqi.Account{}) {
			uid := strconv.Itoa(c.who.UID)
			c.token[0] = byte(len(uid))
			copy(c.token[1:], uid)
			c.token[31] = acctUnixNumericID
		}
		md.AccountingToken = c.token
	}
	md.ApplIdentityData = ""
}

func (c *Conn) originContext(md *mqi.MD) {
	md.PutApplType = c.opt.ApplType
	md.PutApplName = cut(c.opt.ApplName, mqi.MQ_PUT_APPL_NAME_LENGTH)
	md.PutDate, md.PutTime = c.m.stamps.of(c.m.opt.Clock.Now())
	md.ApplOriginData = ""
}

func copyIdentity(to, from *mqi.MD) {
	to.UserIdentifier, to.AccountingToken, to.ApplIdentityData = from.UserIdentifier, from.AccountingToken,
		from.ApplIdentityData
}

func copyOrigin(to, from *mqi.MD) {
	to.PutApplType, to.PutApplName, to.PutDate, to.PutTime, to.ApplOriginData = from.PutApplType, from.PutApplName,
		from.PutDate, from.PutTime, from.ApplOriginData
}
