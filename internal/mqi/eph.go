package mqi

import "fmt"

// EPH is the embedded PCF header: a PCF message in front of a message's data.
type EPH struct {
	Encoding       int32 // of what follows
	CodedCharSetID int32
	Format         string
	Flags          int32 // MQEPH_CCSID_EMBEDDED
	Msg            CFMsg
}

// ephHead is the length of the header before its PCF.
const ephHead = MQEPH_STRUC_LENGTH_FIXED - MQCFH_STRUC_LENGTH

// ParseEPH reads an MQEPH with its parameters and gives what follows it.
func ParseEPH(b []byte, c Coding) (EPH, []byte, error) {
	var h EPH
	r := newReader(b, c, "MQEPH", MQRC_EPH_ERROR)
	r.id("EPH ")
	r.version(MQEPH_VERSION_1, MQEPH_CURRENT_VERSION)
	n := int(r.i32())
	h.Encoding, h.CodedCharSetID, h.Format, h.Flags = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH), r.i32()
	if r.err == nil && (n < MQEPH_STRUC_LENGTH_FIXED || n > len(b)) {
		r.fail(fmt.Errorf("%w: StrucLength %d", errLength, n))
	}
	if r.err != nil {
		return h, nil, r.err
	}
	m, rest, err := ParseCF(b[ephHead:n], c)
	if err == nil && len(rest) > 0 {
		r.fail(fmt.Errorf("%w: %d bytes behind the last parameter", errLength, len(rest)))
		err = r.err
	}
	h.Msg = m
	return h, b[n:], err
}

// Append appends the structure.
func (h *EPH) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQEPH")
	at := len(dst)
	w.str("EPH", 4)
	w.i32(MQEPH_CURRENT_VERSION, 0, h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.Flags)
	if w.err != nil {
		return dst, w.err
	}
	out, err := h.Msg.Append(w.b, c)
	if err != nil {
		return dst, err
	}
	w.b = out
	w.setI32(at+8, len(out)-at)
	return out, nil
}
