package mqi

import "fmt"

// Append appends a message in PCF.
func (m *CFMsg) Append(dst []byte, c Coding) ([]byte, error) {
	w := newPCFWriter(dst, c, "MQCFH")
	w.i32(m.Type, MQCFH_STRUC_LENGTH, m.Version, m.Command, m.MsgSeqNumber, m.Control, int32(m.CompCode), int32(m.Reason),
		int32(len(m.Params)))
	w.cfParams(m.Params, c.Encoding, 0)
	return w.done(dst)
}

func (w *hdrWriter) cfParams(params []CFParam, enc int32, depth int) {
	for i := range params {
		w.cfParam(&params[i], enc, depth)
	}
}

func (w *hdrWriter) cfParam(p *CFParam, enc int32, depth int) {
	at := len(w.b)
	w.i32(p.Type, 0, p.ID)
	switch p.Type {
	case MQCFT_INTEGER:
		w.i32(int32(p.int(0)))
	case MQCFT_INTEGER64:
		w.i32(0)
		w.i64(p.int(0))
	case MQCFT_INTEGER_LIST:
		w.i32(int32(len(p.Ints)))
		for _, v := range p.Ints {
			w.i32(int32(v))
		}
	case MQCFT_INTEGER64_LIST:
		w.i32(int32(len(p.Ints)))
		for _, v := range p.Ints {
			w.i64(v)
		}
	case MQCFT_INTEGER_FILTER:
		w.i32(p.Op, int32(p.int(0)))
	case MQCFT_STRING, MQCFT_STRING_FILTER:
		if p.Type == MQCFT_STRING_FILTER {
			w.i32(p.Op)
		}
		s := w.cfCharset(p, enc).Append(nil, p.string(0))
		w.i32(p.CCSID, int32(len(s)))
		w.raw(s)
	case MQCFT_STRING_LIST:
		w.cfStrings(p, enc)
	case MQCFT_BYTE_STRING, MQCFT_BYTE_STRING_FILTER:
		if p.Type == MQCFT_BYTE_STRING_FILTER {
			w.i32(p.Op)
		}
		w.i32(int32(len(p.Bytes)))
		w.raw(p.Bytes)
	case MQCFT_GROUP:
		w.i32(int32(len(p.Params)))
	default:
		w.fail(MQRCCF_STRUCTURE_TYPE_ERROR, fmt.Errorf("type %d", p.Type))
	}
	with := byte(0)
	if p.Type == MQCFT_STRING || p.Type == MQCFT_STRING_LIST || p.Type == MQCFT_STRING_FILTER {
		with = w.cfCharset(p, enc).Blank()
	}
	w.pad(at, with)
	w.setI32(at+4, len(w.b)-at)
	if p.Type != MQCFT_GROUP {
		return
	}
	if depth >= maxGroupDepth {
		w.fail(MQRCCF_CFGR_LENGTH_ERROR, fmt.Errorf("groups stand too deep in each other"))
		return
	}
	w.cfParams(p.Params, enc, depth+1)
}

// cfStrings writes the strings of a list, padded with blanks to the length of the longest.
func (w *hdrWriter) cfStrings(p *CFParam, enc int32) {
	cs := w.cfCharset(p, enc)
	longest := 0
	items := make([][]byte, len(p.Strings))
	for i, s := range p.Strings {
		items[i] = cs.Append(nil, s)
		longest = max(longest, len(items[i]))
	}
	if longest == 0 && len(items) > 0 {
		longest = len(cs.Append(nil, " ")) // a list of blank strings has a length too
	}
	w.i32(p.CCSID, int32(len(items)), int32(longest))
	blank := cs.Append(nil, " ")
	for _, b := range items {
		for len(b) < longest {
			b = append(b, blank...)
		}
		w.raw(b[:longest])
	}
}

func (w *hdrWriter) cfCharset(p *CFParam, enc int32) Charset {
	if p.CCSID == MQCCSI_DEFAULT {
		return w.cs
	}
	cs, ok := LookupCharset(p.CCSID, enc)
	if !ok {
		w.fail(MQRC_TARGET_CCSID_ERROR, fmt.Errorf("CCSID %d", p.CCSID))
		return w.cs
	}
	return cs
}

func (p *CFParam) int(i int) int64 {
	if i < len(p.Ints) {
		return p.Ints[i]
	}
	return 0
}

func (p *CFParam) string(i int) string {
	if i < len(p.Strings) {
		return p.Strings[i]
	}
	return ""
}

// Int gives the number of an MQCFIN or MQCFIN64, or the value of a filter; 0 when it has none.
func (p *CFParam) Int() int64 { return p.int(0) }

// Text gives the text of an MQCFST or the value of a filter; "" when it has none.
func (p *CFParam) Text() string { return p.string(0) }

// Find gives the parameter with an identifier, nil when the message has none.
func (m *CFMsg) Find(id int32) *CFParam {
	for i := range m.Params {
		if m.Params[i].ID == id {
			return &m.Params[i]
		}
	}
	return nil
}
