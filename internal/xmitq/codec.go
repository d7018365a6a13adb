package xmitq

import (
	"encoding/binary"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// One description of each structure serves for writing and for reading, so the two cannot drift apart.

// codec writes fields to the end of buf, or reads them from its beginning.
type codec struct {
	buf     []byte
	order   binary.ByteOrder
	reading bool
	short   bool // the data ended within the structure
}

// orderOf gives the byte order of an Encoding; only its integer part counts in these structures.
func orderOf(encoding int32) binary.ByteOrder {
	if encoding&mqi.MQENC_INTEGER_MASK == mqi.MQENC_INTEGER_REVERSED {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

func writer(dst []byte, encoding int32) *codec { return &codec{buf: dst, order: orderOf(encoding)} }

func reader(src []byte, encoding int32) *codec {
	return &codec{buf: src, order: orderOf(encoding), reading: true}
}

// next cuts n bytes off what is read; zeros when there are not so many.
func (c *codec) next(n int) []byte {
	if len(c.buf) < n {
		c.short, c.buf = true, nil
		return make([]byte, n)
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

func (c *codec) int(v *int32) {
	if c.reading {
		*v = int32(c.order.Uint32(c.next(4)))
		return
	}
	var b [4]byte
	c.order.PutUint32(b[:], uint32(*v))
	c.buf = append(c.buf, b[:]...)
}

// chars is a character field of n bytes, padded with blanks; on reading it ends at a null too.
func (c *codec) chars(s *string, n int) {
	if c.reading {
		b := string(c.next(n))
		if i := strings.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		*s = strings.TrimRight(b, " ")
		return
	}
	v := (*s)[:min(len(*s), n)]
	c.buf = append(c.buf, v...)
	c.buf = append(c.buf, strings.Repeat(" ", n-len(v))...)
}

func (c *codec) bytes(b []byte) {
	if c.reading {
		copy(b, c.next(len(b)))
		return
	}
	c.buf = append(c.buf, b...)
}

// head is the identifier and version at the start of a structure. It reports whether they are the ones expected.
func (c *codec) head(id string, version int32) bool {
	gotID, got := strings.TrimRight(id, " "), version
	c.chars(&gotID, 4)
	c.int(&got)
	return !c.short && gotID == strings.TrimRight(id, " ") && got == version
}

// md1 is MQMD version 1, 324 bytes.
func (c *codec) md1(md *mqi.MD) bool {
	ok := c.head("MD  ", 1)
	for _, v := range []*int32{&md.Report, &md.MsgType, &md.Expiry, &md.Feedback, &md.Encoding, &md.CodedCharSetID} {
		c.int(v)
	}
	c.chars(&md.Format, mqi.MQ_FORMAT_LENGTH)
	c.int(&md.Priority)
	c.int(&md.Persistence)
	c.bytes(md.MsgID[:])
	c.bytes(md.CorrelID[:])
	c.int(&md.BackoutCount)
	c.chars(&md.ReplyToQ, mqi.MQ_Q_NAME_LENGTH)
	c.chars(&md.ReplyToQMgr, mqi.MQ_Q_MGR_NAME_LENGTH)
	c.chars(&md.UserIdentifier, mqi.MQ_USER_ID_LENGTH)
	c.bytes(md.AccountingToken[:])
	c.chars(&md.ApplIdentityData, mqi.MQ_APPL_IDENTITY_DATA_LENGTH)
	c.int(&md.PutApplType)
	c.chars(&md.PutApplName, mqi.MQ_PUT_APPL_NAME_LENGTH)
	c.chars(&md.PutDate, mqi.MQ_PUT_DATE_LENGTH)
	c.chars(&md.PutTime, mqi.MQ_PUT_TIME_LENGTH)
	c.chars(&md.ApplOriginData, mqi.MQ_APPL_ORIGIN_DATA_LENGTH)
	return ok && !c.short
}

// data describes what follows a structure.
type data struct {
	encoding, ccsid int32
	format          string
}

// mde is MQMDE, 72 bytes: the fields of MQMD version 2.
func (c *codec) mde(next *data, md *mqi.MD) bool {
	length, flags := int32(mqi.MQMDE_CURRENT_LENGTH), int32(mqi.MQMDEF_NONE)
	ok := c.head("MDE ", mqi.MQMDE_CURRENT_VERSION)
	c.int(&length)
	c.int(&next.encoding)
	c.int(&next.ccsid)
	c.chars(&next.format, mqi.MQ_FORMAT_LENGTH)
	c.int(&flags)
	c.bytes(md.GroupID[:])
	for _, v := range []*int32{&md.MsgSeqNumber, &md.Offset, &md.MsgFlags, &md.OriginalLength} {
		c.int(v)
	}
	return ok && !c.short && length == mqi.MQMDE_CURRENT_LENGTH
}
