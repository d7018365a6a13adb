package mqi

import "fmt"

// DH is the distribution header: behind an MQXQH it names the destinations, all on one transmission queue, of a message that was
// put to a distribution list.
type DH struct {
	Encoding        int32 // of what follows
	CodedCharSetID  int32
	Format          string
	Flags           int32 // MQDHF_*
	PutMsgRecFields int32 // MQPMRF_*: which fields the records have
	Objects         []OR
	Records         []PMR // none, or one for each object
}

// pmrFields are the fields of a put-message record, in their order.
var pmrFields = [...]struct {
	bit  int32
	size int
	of   func(*PMR) []byte // nil: Feedback, a number
}{
	{MQPMRF_MSG_ID, MQ_MSG_ID_LENGTH, func(r *PMR) []byte { return r.MsgID[:] }},
	{MQPMRF_CORREL_ID, MQ_CORREL_ID_LENGTH, func(r *PMR) []byte { return r.CorrelID[:] }},
	{MQPMRF_GROUP_ID, MQ_GROUP_ID_LENGTH, func(r *PMR) []byte { return r.GroupID[:] }},
	{MQPMRF_FEEDBACK, 4, nil},
	{MQPMRF_ACCOUNTING_TOKEN, MQ_ACCOUNTING_TOKEN_LENGTH, func(r *PMR) []byte { return r.AccountingToken[:] }},
}

// ParseDH reads an MQDH with its records and gives what follows it.
func ParseDH(b []byte, c Coding) (DH, []byte, error) {
	var h DH
	r := newReader(b, c, "MQDH", MQRC_DH_ERROR)
	r.id("DH  ")
	r.version(MQDH_VERSION_1, MQDH_CURRENT_VERSION)
	n := int(r.i32())
	if r.err == nil && (n < MQDH_CURRENT_LENGTH || n > len(b)) {
		r.off -= 4
		r.fail(fmt.Errorf("%w: StrucLength %d, %d bytes are there", errLength, n, len(b)))
	}
	h.Encoding, h.CodedCharSetID, h.Format, h.Flags = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH), r.i32()
	h.PutMsgRecFields = r.i32()
	count, objects, records := int(r.i32()), int(r.i32()), int(r.i32())
	if r.err != nil {
		return h, nil, r.err
	}
	r.b = b[:n]
	size := 0
	for _, f := range pmrFields {
		if h.PutMsgRecFields&f.bit != 0 {
			size += f.size
		}
	}
	if r.records(objects, count, MQ_Q_NAME_LENGTH+MQ_Q_MGR_NAME_LENGTH) {
		h.Objects = make([]OR, count)
		for i := range h.Objects {
			h.Objects[i] = OR{r.str(MQ_Q_NAME_LENGTH), r.str(MQ_Q_MGR_NAME_LENGTH)}
		}
	}
	if records != 0 && size > 0 && r.records(records, count, size) {
		h.Records = make([]PMR, count)
		for i := range h.Records {
			r.pmr(&h.Records[i], h.PutMsgRecFields)
		}
	}
	return h, b[n:], r.err
}

// records goes to where count records of a size begin, if they are all in the structure.
func (r *hdrReader) records(off, count, size int) bool {
	if r.err != nil || count == 0 {
		return false
	}
	if count < 0 || off < MQDH_CURRENT_LENGTH || off > len(r.b) || count > (len(r.b)-off)/size {
		r.fail(fmt.Errorf("%w: %d records of %d bytes at %d", errLength, count, size, off))
		return false
	}
	r.off = off
	return true
}

func (r *hdrReader) pmr(p *PMR, fields int32) {
	for _, f := range pmrFields {
		switch {
		case fields&f.bit == 0:
		case f.of == nil:
			p.Feedback = r.i32()
		default:
			copy(f.of(p), r.take(f.size))
		}
	}
}

// Append appends the structure with its records.
func (h *DH) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQDH")
	at := len(dst)
	w.str("DH", 4)
	w.i32(MQDH_CURRENT_VERSION, 0, h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.Flags, h.PutMsgRecFields, int32(len(h.Objects)), 0, 0)
	if len(h.Objects) > 0 {
		w.setI32(at+40, len(w.b)-at)
	}
	for i := range h.Objects {
		w.str(h.Objects[i].ObjectName, MQ_Q_NAME_LENGTH)
		w.str(h.Objects[i].ObjectQMgrName, MQ_Q_MGR_NAME_LENGTH)
	}
	if len(h.Records) > 0 {
		w.setI32(at+44, len(w.b)-at)
	}
	for i := range h.Records {
		w.pmr(&h.Records[i], h.PutMsgRecFields)
	}
	w.setI32(at+8, len(w.b)-at)
	return w.done(dst)
}

func (w *hdrWriter) pmr(p *PMR, fields int32) {
	for _, f := range pmrFields {
		switch {
		case fields&f.bit == 0:
		case f.of == nil:
			w.i32(p.Feedback)
		default:
			w.raw(f.of(p))
		}
	}
}
