package mqi

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Coding says how the numbers and characters of a piece of message data are written: MQMD.Encoding and CodedCharSetId.
type Coding struct{ Encoding, CCSID int32 }

// NativeCoding is what the queue manager builds its own headers in.
func NativeCoding(ccsid int32) Coding { return Coding{Encoding: MQENC_NATIVE, CCSID: ccsid} }

// littleEndian is compared with, to tell the order of a reader.
var littleEndian byteOrder = binary.LittleEndian

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// order is the byte order of an encoding's integers; nil when it has none that is known.
func (c Coding) order() byteOrder {
	switch c.Encoding & MQENC_INTEGER_MASK {
	case MQENC_INTEGER_NORMAL:
		return binary.BigEndian
	case MQENC_INTEGER_REVERSED:
		return binary.LittleEndian
	}
	return nil
}

var (
	errShort   = errors.New("the data ends inside the structure")
	errStrucID = errors.New("no such structure identifier here")
	errVersion = errors.New("unknown version")
	errLength  = errors.New("a length that cannot be")
	errText    = errors.New("bytes that are no characters of the coded character set")
)

// hdrReader reads one structure. Its first error stays, and what is read after it is zero.
type hdrReader struct {
	b    []byte
	off  int
	o    byteOrder
	cs   Charset
	name string
	rc   RC // of a structure that is wrong
	err  error
}

func newReader(b []byte, c Coding, name string, rc RC) *hdrReader {
	r := newPCFReader(b, c, name, rc)
	if r.cs.Wide() {
		r.failRC(MQRC_SOURCE_CCSID_ERROR, fmt.Errorf("CCSID %d in a structure with character fields", c.CCSID))
	}
	return r
}

// newPCFReader reads structures without fixed character fields, which can be beside text in UTF-16.
func newPCFReader(b []byte, c Coding, name string, rc RC) *hdrReader {
	r := &hdrReader{b: b, name: name, rc: rc, o: c.order()}
	var ok bool
	r.cs, ok = LookupCharset(c.CCSID, c.Encoding)
	switch {
	case r.o == nil:
		r.o = binary.BigEndian
		r.failRC(MQRC_SOURCE_INTEGER_ENC_ERROR, fmt.Errorf("encoding %d", c.Encoding))
	case !ok:
		r.failRC(MQRC_SOURCE_CCSID_ERROR, fmt.Errorf("CCSID %d", c.CCSID))
	}
	return r
}

func (r *hdrReader) fail(err error) { r.failRC(r.rc, err) }

func (r *hdrReader) failRC(rc RC, err error) {
	if r.err == nil {
		r.err = Wrap("read", r.name, rc, fmt.Errorf("offset %d: %w", r.off, err))
	}
}

func (r *hdrReader) rest() int { return len(r.b) - r.off }

func (r *hdrReader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > r.rest() {
		r.fail(errShort)
		return nil
	}
	p := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return p
}

func (r *hdrReader) i32() int32 {
	if p := r.take(4); p != nil {
		return int32(r.o.Uint32(p))
	}
	return 0
}

func (r *hdrReader) i64() int64 {
	if p := r.take(8); p != nil {
		return int64(r.o.Uint64(p))
	}
	return 0
}

// str reads a character field. Bytes that are no characters are taken as they come: a header is not refused for them.
func (r *hdrReader) str(n int) string {
	s, _ := r.cs.Field(r.take(n))
	return s
}

// id reads an eye-catcher, which may be in ASCII or EBCDIC whatever the CCSID.
func (r *hdrReader) id(want string) {
	if p := r.take(4); p != nil && string(p) != want && string(ebcdic37(want)) != string(p) {
		r.off -= 4
		r.fail(errStrucID)
	}
}

func (r *hdrReader) version(lo, hi int32) int32 {
	v := r.i32()
	if r.err == nil && (v < lo || v > hi) {
		r.off -= 4
		r.fail(fmt.Errorf("%w %d", errVersion, v))
	}
	return v
}

// tail is what follows the structure.
func (r *hdrReader) tail() []byte {
	if r.err != nil {
		return nil
	}
	return r.b[r.off:]
}

func ebcdic37(s string) []byte {
	cs, _ := LookupCharset(37, MQENC_NORMAL)
	return cs.Append(make([]byte, 0, len(s)), s)
}

// hdrWriter builds one structure.
type hdrWriter struct {
	b    []byte
	o    byteOrder
	cs   Charset
	name string
	err  error
}

func newWriter(dst []byte, c Coding, name string) *hdrWriter {
	w := newPCFWriter(dst, c, name)
	if w.cs.Wide() {
		w.fail(MQRC_TARGET_CCSID_ERROR, fmt.Errorf("CCSID %d in a structure with character fields", c.CCSID))
	}
	return w
}

func newPCFWriter(dst []byte, c Coding, name string) *hdrWriter {
	w := &hdrWriter{b: dst, name: name, o: c.order()}
	var ok bool
	w.cs, ok = LookupCharset(c.CCSID, c.Encoding)
	switch {
	case w.o == nil:
		w.o = binary.BigEndian
		w.fail(MQRC_TARGET_INTEGER_ENC_ERROR, fmt.Errorf("encoding %d", c.Encoding))
	case !ok:
		w.fail(MQRC_TARGET_CCSID_ERROR, fmt.Errorf("CCSID %d", c.CCSID))
	}
	return w
}

func (w *hdrWriter) fail(rc RC, err error) {
	if w.err == nil {
		w.err = Wrap("build", w.name, rc, err)
	}
}

func (w *hdrWriter) i32(v ...int32) {
	for _, x := range v {
		w.b = w.o.AppendUint32(w.b, uint32(x))
	}
}

func (w *hdrWriter) i64(v int64)  { w.b = w.o.AppendUint64(w.b, uint64(v)) }
func (w *hdrWriter) raw(p []byte) { w.b = append(w.b, p...) }

func (w *hdrWriter) setI32(at int, v int) { w.o.PutUint32(w.b[at:], uint32(v)) }

func (w *hdrWriter) str(s string, n int) {
	var fits bool
	if w.b, fits = w.cs.AppendField(w.b, s, n); !fits {
		w.fail(MQRC_CONVERTED_STRING_TOO_BIG, fmt.Errorf("%q does not fit in %d bytes", s, n))
	}
}

// pad fills up to a multiple of four bytes, counted from at.
func (w *hdrWriter) pad(at int, with byte) {
	for (len(w.b)-at)%4 != 0 {
		w.b = append(w.b, with)
	}
}

// done gives what was built. When it could not be built as asked the bytes are what dst held.
func (w *hdrWriter) done(dst []byte) ([]byte, error) {
	if w.err != nil {
		return dst, w.err
	}
	return w.b, nil
}

// ParseMD reads a message descriptor of version 1 (324 bytes) or 2 (364 bytes) at the beginning of b, and gives what
// follows it.
func ParseMD(b []byte, c Coding) (MD, []byte, error) {
	r := newReader(b, c, "MQMD", MQRC_MD_ERROR)
	m := r.md()
	return m, r.tail(), r.err
}

func (r *hdrReader) md() MD {
	var m MD
	r.id("MD  ")
	m.Version = r.version(1, 2)
	m.Report, m.MsgType, m.Expiry, m.Feedback = r.i32(), r.i32(), r.i32(), r.i32()
	m.Encoding, m.CodedCharSetID = r.i32(), r.i32()
	m.Format = r.str(MQ_FORMAT_LENGTH)
	m.Priority, m.Persistence = r.i32(), r.i32()
	copy(m.MsgID[:], r.take(MQ_MSG_ID_LENGTH))
	copy(m.CorrelID[:], r.take(MQ_CORREL_ID_LENGTH))
	m.BackoutCount = r.i32()
	m.ReplyToQ, m.ReplyToQMgr = r.str(MQ_Q_NAME_LENGTH), r.str(MQ_Q_MGR_NAME_LENGTH)
	m.UserIdentifier = r.str(MQ_USER_ID_LENGTH)
	copy(m.AccountingToken[:], r.take(MQ_ACCOUNTING_TOKEN_LENGTH))
	m.ApplIdentityData = r.str(MQ_APPL_IDENTITY_DATA_LENGTH)
	m.PutApplType = r.i32()
	m.PutApplName = r.str(MQ_PUT_APPL_NAME_LENGTH)
	m.PutDate, m.PutTime = r.str(MQ_PUT_DATE_LENGTH), r.str(MQ_PUT_TIME_LENGTH)
	m.ApplOriginData = r.str(MQ_APPL_ORIGIN_DATA_LENGTH)
	m.MsgSeqNumber, m.OriginalLength = 1, -1 // what version 1 stands for
	if m.Version >= 2 {
		r.mdExtension(&m)
	}
	return m
}

// mdExtension reads the fields of version 2, which are also the end of MQMDE.
func (r *hdrReader) mdExtension(m *MD) {
	copy(m.GroupID[:], r.take(MQ_GROUP_ID_LENGTH))
	m.MsgSeqNumber, m.Offset, m.MsgFlags, m.OriginalLength = r.i32(), r.i32(), r.i32(), r.i32()
}

// AppendMD appends a message descriptor in its version.
func AppendMD(dst []byte, m *MD, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQMD")
	w.md(m)
	return w.done(dst)
}

func (w *hdrWriter) md(m *MD) {
	w.str("MD", 4)
	w.i32(m.Version, m.Report, m.MsgType, m.Expiry, m.Feedback, m.Encoding, m.CodedCharSetID)
	w.str(m.Format, MQ_FORMAT_LENGTH)
	w.i32(m.Priority, m.Persistence)
	w.raw(m.MsgID[:])
	w.raw(m.CorrelID[:])
	w.i32(m.BackoutCount)
	w.str(m.ReplyToQ, MQ_Q_NAME_LENGTH)
	w.str(m.ReplyToQMgr, MQ_Q_MGR_NAME_LENGTH)
	w.str(m.UserIdentifier, MQ_USER_ID_LENGTH)
	w.raw(m.AccountingToken[:])
	w.str(m.ApplIdentityData, MQ_APPL_IDENTITY_DATA_LENGTH)
	w.i32(m.PutApplType)
	w.str(m.PutApplName, MQ_PUT_APPL_NAME_LENGTH)
	w.str(m.PutDate, MQ_PUT_DATE_LENGTH)
	w.str(m.PutTime, MQ_PUT_TIME_LENGTH)
	w.str(m.ApplOriginData, MQ_APPL_ORIGIN_DATA_LENGTH)
	if m.Version >= 2 {
		w.mdExtension(m)
	}
}

func (w *hdrWriter) mdExtension(m *MD) {
	w.raw(m.GroupID[:])
	w.i32(m.MsgSeqNumber, m.Offset, m.MsgFlags, m.OriginalLength)
}

// MDE carries the version 2 fields of a descriptor in the data of a message whose own descriptor is version 1.
type MDE struct {
	Encoding       int32 // of what follows
	CodedCharSetID int32
	Format         string
	Flags          int32
	GroupID        ID
	MsgSeqNumber   int32
	Offset         int32
	MsgFlags       int32
	OriginalLength int32
}

// NeedsMDE reports whether a version 1 copy of the descriptor would lose something.
func NeedsMDE(m *MD) bool {
	return m.Version >= 2 && (!m.GroupID.IsZero() || m.MsgSeqNumber != 1 || m.Offset != 0 || m.MsgFlags != 0 ||
		m.OriginalLength != -1)
}

// ParseMDE reads an MQMDE (72 bytes) and gives what follows it.
func ParseMDE(b []byte, c Coding) (MDE, []byte, error) {
	r := newReader(b, c, "MQMDE", MQRC_MDE_ERROR)
	r.id("MDE ")
	r.version(MQMDE_VERSION_2, MQMDE_CURRENT_VERSION)
	if n := r.i32(); r.err == nil && n != MQMDE_CURRENT_LENGTH {
		r.fail(fmt.Errorf("%w: %d", errLength, n))
	}
	var h MDE
	h.Encoding, h.CodedCharSetID, h.Format, h.Flags = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH), r.i32()
	var m MD
	r.mdExtension(&m)
	h.GroupID, h.MsgSeqNumber, h.Offset = m.GroupID, m.MsgSeqNumber, m.Offset
	h.MsgFlags, h.OriginalLength = m.MsgFlags, m.OriginalLength
	return h, r.tail(), r.err
}

// Append appends the structure.
func (h *MDE) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQMDE")
	w.str("MDE", 4)
	w.i32(MQMDE_CURRENT_VERSION, MQMDE_CURRENT_LENGTH, h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.Flags)
	w.mdExtension(&MD{GroupID: h.GroupID, MsgSeqNumber: h.MsgSeqNumber, Offset: h.Offset, MsgFlags: h.MsgFlags,
		OriginalLength: h.OriginalLength})
	return w.done(dst)
}
