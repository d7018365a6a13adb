package mqi

// Conversion of message data, what MQGMO_CONVERT does with the formats that the queue manager knows.

// maxHeaders is how many headers may stand before the application's data.
const maxHeaders = 16

// header is a structure that says what follows it.
type header interface {
	// follows gives the place of the fields that describe the data behind the header.
	follows() (format *string, encoding, ccsid *int32)
	Append(dst []byte, c Coding) ([]byte, error)
}

func (h *DLH) follows() (*string, *int32, *int32)  { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *RFH) follows() (*string, *int32, *int32)  { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *RFH2) follows() (*string, *int32, *int32) { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *MDE) follows() (*string, *int32, *int32)  { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *WIH) follows() (*string, *int32, *int32)  { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *DH) follows() (*string, *int32, *int32)   { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *EPH) follows() (*string, *int32, *int32)  { return &h.Format, &h.Encoding, &h.CodedCharSetID }
func (h *XQH) follows() (*string, *int32, *int32) {
	return &h.MD.Format, &h.MD.Encoding, &h.MD.CodedCharSetID
}

// parseHeader reads the header that a format announces; nil for a format that is no header.
func parseHeader(format string, b []byte, c Coding) (header, []byte, error) {
	switch format {
	case MQFMT_DEAD_LETTER_HEADER:
		h, rest, err := ParseDLH(b, c)
		return &h, rest, err
	case MQFMT_DIST_HEADER:
		h, rest, err := ParseDH(b, c)
		return &h, rest, err
	case MQFMT_XMIT_Q_HEADER:
		h, rest, err := parseXQH(b, c)
		return &h, rest, err
	case MQFMT_MD_EXTENSION:
		h, rest, err := ParseMDE(b, c)
		return &h, rest, err
	case MQFMT_RF_HEADER_1:
		h, rest, err := ParseRFH(b, c)
		return &h, rest, err
	case MQFMT_RF_HEADER_2:
		h, rest, err := ParseRFH2(b, c)
		return &h, rest, err
	case MQFMT_EMBEDDED_PCF:
		h, rest, err := ParseEPH(b, c)
		return &h, rest, err
	case MQFMT_WORK_INFO_HEADER:
		h, rest, err := ParseWIH(b, c)
		return &h, rest, err
	}
	return nil, nil, nil
}

// Convert converts the data of a message to another encoding and CCSID, header by header. It gives the data to return
// and why it is not, or not all of it, converted: then MQGET ends with a warning. md and the headers always describe the
// data as it is now. room is the space in the application's buffer, negative for any.
func Convert(md *MD, body []byte, to Coding, room int) ([]byte, RC) {
	c := conversion{to: to}
	is := described(md)
	out, rc := c.run(md, body)
	if room >= 0 && len(out) > room && len(out) > len(body) {
		md.Encoding, md.CodedCharSetID = is.Encoding, is.CCSID
		return body, MQRC_CONVERTED_MSG_TOO_BIG
	}
	return out, rc
}

// ConvertTruncated is Convert for MQGMO_ACCEPT_TRUNCATED_MSG: what has no room in the buffer is left out (2079), a character
// that is only there in part too. cut says that there was more of the message than body. length is that of the message when
// it was not cut before.
func ConvertTruncated(md *MD, body []byte, to Coding, room int, cut bool) (out []byte, length int, rc RC) {
	c := conversion{to: to, cut: cut}
	out, rc = c.run(md, body)
	length = len(out)
	if length > room {
		cut = true
		if text := length - c.text; text < room { // where the text begins
			out = out[:text+len(c.charset.whole(out[text:room]))]
		} else {
			out = out[:room]
		}
	}
	if rc == 0 && cut {
		rc = MQRC_TRUNCATED_MSG_ACCEPTED
	}
	return out, length, rc
}

// conversion is one Convert.
type conversion struct {
	to      Coding
	cut     bool    // the data is not all of the message
	text    int     // how many bytes of text the converted data ends with,
	charset Charset // and what they are in
}

// described is what a message's data is in.
func described(md *MD) Coding {
	return Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID}
}

func (c *conversion) run(md *MD, body []byte) ([]byte, RC) {
	switch c.to.CCSID {
	case MQCCSI_Q_MGR, MQCCSI_APPL:
		c.to.CCSID = DefaultCCSID
	}
	out, is, rc := c.part(md.Format, body, described(md), 0)
	md.Encoding, md.CodedCharSetID = is.Encoding, is.CCSID
	return out, rc
}

// part converts data from its first header on, and says what its beginning is in afterwards. Where there is nothing to convert
// that stays as it was.
func (c *conversion) part(format string, b []byte, from Coding, depth int) ([]byte, Coding, RC) {
	if len(b) == 0 {
		return b, from, 0
	}
	h, rest, err := parseHeader(format, b, from)
	if err != nil {
		return b, from, c.unreadable(convertReason(err))
	}
	if h == nil {
		return c.last(format, b, from)
	}
	if depth == maxHeaders {
		return b, from, MQRC_FORMAT_ERROR
	}
	inner, enc, ccsid := h.follows()
	e, id := next(*enc, *ccsid, from.Encoding, from.CCSID)
	was := Coding{Encoding: e, CCSID: id}
	data, is, rc := c.part(*inner, rest, was, depth+1)
	if from == c.to && is == was && same(data, rest) {
		return b, from, rc // not a byte of it differs
	}
	*enc, *ccsid = is.Encoding, is.CCSID
	if p, ok := h.(*EPH); ok {
		inCCSID(p.Msg.Params, c.to.CCSID)
	}
	to := c.to
	out, err := h.Append(make([]byte, 0, len(b)+64), to)
	if grows(convertReason(err), to) { // then the header is in what the queue manager has, and what follows as it was asked for
		if to = NativeCoding(DefaultCCSID); rc == 0 {
			rc = MQRC_PARTIALLY_CONVERTED
		}
		out, err = h.Append(out[:0], to)
	}
	if err != nil {
		return b, from, convertReason(err)
	}
	return append(out, data...), to, rc
}

// grows reports a header whose character fields have no room for themselves in a code page, UTF-16 for example.
func grows(rc RC, to Coding) bool {
	cs, known := LookupCharset(to.CCSID, to.Encoding)
	return rc == MQRC_CONVERTED_STRING_TOO_BIG || rc == MQRC_TARGET_CCSID_ERROR && known && cs.Wide()
}

// unreadable is the reason of a structure that cannot be read: none when the end of it has been cut off. It stays as it was.
func (c *conversion) unreadable(rc RC) RC {
	if c.cut && rc == MQRC_FORMAT_ERROR {
		return 0
	}
	return rc
}

// same reports whether two slices are one.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// last converts data that no further header stands before.
func (c *conversion) last(format string, b []byte, from Coding) ([]byte, Coding, RC) {
	to := c.to
	if from == to {
		return b, from, 0
	}
	var out []byte
	var rc RC
	switch format {
	case MQFMT_STRING:
		out, rc = c.lastText(b, from)
	case MQFMT_ADMIN, MQFMT_EVENT, MQFMT_PCF:
		if out, rc = convertPCF(b, from, to); c.unreadable(rc) != rc {
			return b, from, 0
		}
	case MQFMT_TRIGGER:
		t, rest, err := ParseTM(b, from)
		if err != nil || len(rest) > 0 {
			return b, from, c.unreadable(MQRC_FORMAT_ERROR)
		}
		out, err = t.Append(nil, to)
		rc = convertReason(err)
	default: // binary data, or a format of the application's own
		rc = MQRC_FORMAT_ERROR
	}
	if rc != 0 {
		return b, from, rc
	}
	return out, to, 0
}

// lastText converts the text at the end of a message. When that has been cut the last character may be there in part: it goes.
func (c *conversion) lastText(b []byte, from Coding) ([]byte, RC) {
	if src, ok := LookupCharset(from.CCSID, from.Encoding); ok && c.cut {
		src.byteOrder(b, true)
		b = src.whole(b)
	}
	out, rc := convertText(b, from, c.to)
	if rc == 0 {
		c.text = len(out)
		c.charset, _ = LookupCharset(c.to.CCSID, c.to.Encoding)
	}
	return out, rc
}

func convertText(b []byte, from, to Coding) ([]byte, RC) {
	src, ok := LookupCharset(from.CCSID, from.Encoding)
	if !ok {
		return nil, MQRC_SOURCE_CCSID_ERROR
	}
	dst, ok := LookupCharset(to.CCSID, to.Encoding)
	b = src.byteOrder(b, dst.Wide())
	switch {
	case !ok:
		return nil, MQRC_TARGET_CCSID_ERROR
	case src.Wide() && from.order() == nil:
		return nil, MQRC_SOURCE_INTEGER_ENC_ERROR
	case dst.Wide() && to.order() == nil:
		return nil, MQRC_TARGET_INTEGER_ENC_ERROR
	case src.ccsid == dst.ccsid && (!src.Wide() || src.wide == dst.wide):
		return b, 0
	}
	text, ok := src.Decode(b)
	if !ok {
		return nil, MQRC_NOT_CONVERTED
	}
	return dst.Append(make([]byte, 0, len(b)), text), 0
}

func convertPCF(b []byte, from, to Coding) ([]byte, RC) {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		m, rest, err := ParseCF(b, from)
		if err == nil {
			inCCSID(m.Params, to.CCSID)
			out, err = m.Append(out, to)
		}
		if err != nil {
			return nil, convertReason(err)
		}
		b = rest
	}
	return out, 0
}

// inCCSID marks the strings that say what they are in as being in ccsid.
func inCCSID(params []CFParam, ccsid int32) {
	for i := range params {
		if params[i].CCSID != MQCCSI_DEFAULT {
			params[i].CCSID = ccsid
		}
		inCCSID(params[i].Params, ccsid)
	}
}

// convertReason is the reason code of MQGET for a structure that could not be read or built.
func convertReason(err error) RC {
	if err == nil {
		return 0
	}
	switch _, rc := Reason(err); rc {
	case MQRC_SOURCE_CCSID_ERROR, MQRC_SOURCE_INTEGER_ENC_ERROR, MQRC_TARGET_CCSID_ERROR, MQRC_TARGET_INTEGER_ENC_ERROR,
		MQRC_CONVERTED_STRING_TOO_BIG:
		return rc
	case MQRCCF_CCSID_ERROR:
		return MQRC_SOURCE_CCSID_ERROR
	case MQRCCF_PARM_VALUE_ERROR, MQRC_RFH_STRING_ERROR:
		return MQRC_NOT_CONVERTED
	}
	return MQRC_FORMAT_ERROR
}

// WIH is the work information header.
type WIH struct {
	Encoding       int32 // of what follows
	CodedCharSetID int32
	Format         string
	Flags          int32
	ServiceName    string
	ServiceStep    string
	MsgToken       Token
}

const (
	wihServiceName = 32
	wihServiceStep = 8
	wihReserved    = 32
)

// ParseWIH reads an MQWIH (120 bytes) and gives what follows it.
func ParseWIH(b []byte, c Coding) (WIH, []byte, error) {
	r := newReader(b, c, "MQWIH", MQRC_WIH_ERROR)
	r.id("WIH ")
	r.version(MQWIH_VERSION_1, MQWIH_CURRENT_VERSION)
	if n := r.i32(); r.err == nil && n != MQWIH_CURRENT_LENGTH {
		r.fail(errLength)
	}
	var h WIH
	h.Encoding, h.CodedCharSetID, h.Format, h.Flags = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH), r.i32()
	h.ServiceName, h.ServiceStep = r.str(wihServiceName), r.str(wihServiceStep)
	copy(h.MsgToken[:], r.take(len(h.MsgToken)))
	r.take(wihReserved)
	return h, r.tail(), r.err
}

// Append appends the structure.
func (h *WIH) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQWIH")
	w.str("WIH", 4)
	w.i32(MQWIH_CURRENT_VERSION, MQWIH_CURRENT_LENGTH, h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.Flags)
	w.str(h.ServiceName, wihServiceName)
	w.str(h.ServiceStep, wihServiceStep)
	w.raw(h.MsgToken[:])
	w.str("", wihReserved)
	return w.done(dst)
}
