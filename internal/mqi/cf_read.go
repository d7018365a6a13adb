package mqi

import (
	"errors"
	"fmt"
)

// ParseCF reads one message in PCF and gives what follows it. The error carries the reason code that a reply to the
// command has; the header's fields are there as far as they could be read, so that there can be a reply.
func ParseCF(b []byte, c Coding) (CFMsg, []byte, error) {
	r := newPCFReader(b, c, "MQCFH", MQRCCF_CFH_LENGTH_ERROR)
	var m CFMsg
	m.Type = r.i32()
	n := r.i32()
	m.Version, m.Command, m.MsgSeqNumber, m.Control = r.i32(), r.i32(), r.i32(), r.i32()
	m.CompCode, m.Reason = CC(r.i32()), RC(r.i32())
	count := int(r.i32())
	switch {
	case r.err != nil:
	case n != MQCFH_STRUC_LENGTH:
		r.fail(fmt.Errorf("%w: StrucLength %d", errLength, n))
	case m.Version < MQCFH_VERSION_1 || m.Version > MQCFH_CURRENT_VERSION:
		r.failRC(MQRCCF_CFH_VERSION_ERROR, fmt.Errorf("%w %d", errVersion, m.Version))
	case count < 0:
		r.failRC(MQRCCF_CFH_PARM_COUNT_ERROR, fmt.Errorf("%d parameters", count))
	case count > r.rest()/minCFLength:
		r.failRC(MQRCCF_PARM_COUNT_TOO_BIG, fmt.Errorf("%d parameters in %d bytes", count, r.rest()))
	}
	m.Params = r.cfParams(count, 0)
	return m, r.tail(), r.err
}

func (r *hdrReader) cfParams(count, depth int) []CFParam {
	if r.err != nil || count == 0 {
		return nil
	}
	out := make([]CFParam, 0, min(count, 64)) // the count is the sender's word until the parameters are there
	for i := 0; i < count && r.err == nil; i++ {
		if p := r.cfParam(depth); r.err == nil {
			out = append(out, p)
		}
	}
	return out
}

// cfParam reads one parameter structure, and those of its group.
func (r *hdrReader) cfParam(depth int) CFParam {
	at := r.off
	var p CFParam
	r.name = "MQCFH"
	if r.rest() < minCFLength {
		r.failRC(MQRCCF_PARM_COUNT_TOO_BIG, errShort)
		return p
	}
	p.Type = r.i32()
	n := int(r.i32())
	s := cfShapeOf(p.Type)
	if s == nil {
		r.off = at
		r.failRC(MQRCCF_STRUCTURE_TYPE_ERROR, fmt.Errorf("type %d", p.Type))
		return p
	}
	r.name, r.rc = s.name, s.rc
	if n < s.fixed || n > len(r.b)-at || n%4 != 0 {
		r.fail(fmt.Errorf("%w: StrucLength %d", errLength, n))
		return p
	}
	body := *r // reads the structure alone
	body.b = r.b[:at+n]
	p.ID = body.i32()
	count := body.cfBody(&p, depth)
	if body.err == nil && body.off != at+n && p.Type != MQCFT_STRING && p.Type != MQCFT_STRING_LIST &&
		p.Type != MQCFT_BYTE_STRING && p.Type != MQCFT_STRING_FILTER && p.Type != MQCFT_BYTE_STRING_FILTER {
		body.fail(fmt.Errorf("%w: StrucLength %d", errLength, n))
	}
	r.err, r.off = body.err, at+n
	if p.Type == MQCFT_GROUP {
		p.Params = r.cfParams(count, depth+1)
	}
	return p
}

// cfBody reads what follows the parameter's identifier; for a group it gives the number of parameters in it.
func (r *hdrReader) cfBody(p *CFParam, depth int) int {
	switch p.Type {
	case MQCFT_INTEGER:
		p.Ints = []int64{int64(r.i32())}
	case MQCFT_INTEGER64:
		r.i32()
		p.Ints = []int64{r.i64()}
	case MQCFT_INTEGER_LIST:
		p.Ints = r.cfInts(4, func() int64 { return int64(r.i32()) })
	case MQCFT_INTEGER64_LIST:
		p.Ints = r.cfInts(8, r.i64)
	case MQCFT_INTEGER_FILTER:
		p.Op = r.i32()
		p.Ints = []int64{int64(r.i32())}
	case MQCFT_STRING:
		p.CCSID = r.i32()
		p.Strings = []string{r.cfString(p.CCSID, r.i32(), MQRCCF_CFST_STRING_LENGTH_ERR)}
	case MQCFT_STRING_FILTER:
		p.Op, p.CCSID = r.i32(), r.i32()
		p.Strings = []string{r.cfString(p.CCSID, r.i32(), MQRCCF_CFSF_FILTER_VAL_LEN_ERR)}
	case MQCFT_STRING_LIST:
		r.cfStrings(p)
	case MQCFT_BYTE_STRING:
		p.Bytes = r.cfBytes(MQRCCF_CFBS_STRING_LENGTH_ERR)
	case MQCFT_BYTE_STRING_FILTER:
		p.Op = r.i32()
		p.Bytes = r.cfBytes(MQRCCF_CFBF_FILTER_VAL_LEN_ERR)
	case MQCFT_GROUP:
		return r.cfGroup(depth)
	}
	return 0
}

func (r *hdrReader) cfInts(size int, read func() int64) []int64 {
	n := int(r.i32())
	if r.err == nil && (n < 0 || n != r.rest()/size) {
		r.failRC(MQRCCF_CFIL_COUNT_ERROR, fmt.Errorf("%d values in %d bytes", n, r.rest()))
	}
	if r.err != nil {
		return nil
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = read()
	}
	return out
}

// cfString reads a string of n bytes in ccsid. NULs at its end are padding; blanks count.
func (r *hdrReader) cfString(ccsid, n int32, rc RC) string {
	if r.err == nil && (n < 0 || int(n) > r.rest()) {
		r.failRC(rc, fmt.Errorf("%w: %d", errLength, n))
	}
	b := r.take(int(n))
	if r.err != nil {
		return ""
	}
	cs := r.cfCharset(ccsid)
	if r.err != nil {
		return ""
	}
	if !cs.Wide() {
		for len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
	}
	s, ok := cs.Decode(b)
	if !ok {
		r.failRC(MQRCCF_PARM_VALUE_ERROR, errText)
	}
	return s
}

// cfCharset is that of a structure's strings. One that is not known is refused even where there are no strings.
func (r *hdrReader) cfCharset(ccsid int32) Charset {
	if ccsid == MQCCSI_DEFAULT || r.err != nil {
		return r.cs
	}
	enc := int32(MQENC_NORMAL)
	if r.o == littleEndian {
		enc = MQENC_REVERSED
	}
	cs, ok := LookupCharset(ccsid, enc)
	if !ok {
		r.failRC(MQRCCF_CCSID_ERROR, fmt.Errorf("CCSID %d", ccsid))
	}
	return cs
}

func (r *hdrReader) cfStrings(p *CFParam) {
	p.CCSID = r.i32()
	r.cfCharset(p.CCSID)
	count, n := int(r.i32()), int(r.i32())
	switch {
	case r.err != nil:
	case count < 0:
		r.failRC(MQRCCF_CFSL_COUNT_ERROR, fmt.Errorf("%d strings", count))
	case n < 0:
		r.failRC(MQRCCF_CFSL_STRING_LENGTH_ERR, fmt.Errorf("%w: %d", errLength, n))
	case n == 0 && count > maxBlankStrings || n > 0 && count > r.rest()/n:
		r.failRC(MQRCCF_CFSL_TOTAL_LENGTH_ERROR, fmt.Errorf("%d strings of %d bytes in %d", count, n, r.rest()))
	}
	for i := 0; i < count && r.err == nil; i++ {
		p.Strings = append(p.Strings, r.cfString(p.CCSID, int32(n), MQRCCF_CFSL_STRING_LENGTH_ERR))
	}
}

func (r *hdrReader) cfBytes(rc RC) []byte {
	n := r.i32()
	if r.err == nil && (n < 0 || int(n) > r.rest()) {
		r.failRC(rc, fmt.Errorf("%w: %d", errLength, n))
	}
	if b := r.take(int(n)); len(b) > 0 {
		return append([]byte(nil), b...)
	}
	return nil
}

func (r *hdrReader) cfGroup(depth int) int {
	n := int(r.i32())
	switch {
	case r.err != nil:
	case depth >= maxGroupDepth:
		r.fail(errors.New("groups stand too deep in each other"))
	case n < 0 || n > maxCFParams:
		r.failRC(MQRCCF_CFGR_PARM_COUNT_ERROR, fmt.Errorf("%d parameters", n))
	}
	return n
}
