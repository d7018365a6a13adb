package mqi

import (
	"errors"
	"fmt"
	"strings"
)

// RFH is the rules and formatting header, version 1: a string of names and values in the header's own CCSID.
type RFH struct {
	Encoding        int32 // of what follows
	CodedCharSetID  int32
	Format          string
	Flags           int32
	NameValueString string
}

// RFH2 is the rules and formatting header, version 2: folders of elements.
type RFH2 struct {
	Encoding       int32 // of what follows
	CodedCharSetID int32
	Format         string
	Flags          int32
	NameValueCCSID int32    // of the folders: 1208, 1200, 13488 or 17584
	Folders        []string // each the text of one NameValueData, without its padding
}

// ParseRFH reads an MQRFH, version 1, and gives what follows it.
func ParseRFH(b []byte, c Coding) (RFH, []byte, error) {
	var h RFH
	r, area := parseRFHHead(b, c, MQRFH_VERSION_1, MQRFH_STRUC_LENGTH_FIXED)
	h.Encoding, h.CodedCharSetID, h.Format, h.Flags = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH), r.i32()
	if r.err != nil {
		return h, nil, r.err
	}
	text, ok := r.cs.Decode(r.take(area))
	if !ok {
		r.failRC(MQRC_RFH_STRING_ERROR, errText)
	}
	h.NameValueString = strings.TrimRight(text, " \x00")
	return h, r.tail(), r.err
}

// parseRFHHead reads what both versions begin with, and gives the length of what follows the fixed part.
func parseRFHHead(b []byte, c Coding, version int32, fixed int) (*hdrReader, int) {
	r := newReader(b, c, "MQRFH", MQRC_RFH_ERROR)
	r.id("RFH ")
	r.version(version, version)
	n := int(r.i32())
	if r.err == nil && (n < fixed || n > len(b)) {
		r.off -= 4
		r.fail(fmt.Errorf("%w: StrucLength %d, %d bytes are there", errLength, n, len(b)))
	}
	return r, n - fixed
}

// Append appends the structure.
func (h *RFH) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQRFH")
	at := len(dst)
	w.str("RFH", 4)
	w.i32(MQRFH_VERSION_1, 0, h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.Flags)
	w.raw(w.cs.Append(nil, h.NameValueString))
	w.pad(at, w.cs.Blank())
	w.setI32(at+8, len(w.b)-at)
	return w.done(dst)
}

// maxFolders bounds the folders of one header.
const maxFolders = 1024

// ParseRFH2 reads an MQRFH2 and gives what follows it. Folders are not looked into.
func ParseRFH2(b []byte, c Coding) (RFH2, []byte, error) {
	var h RFH2
	r, area := parseRFHHead(b, c, MQRFH_VERSION_2, MQRFH_STRUC_LENGTH_FIXED_2)
	h.Encoding, h.CodedCharSetID, h.Format, h.Flags = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH), r.i32()
	h.NameValueCCSID = r.i32()
	if r.err != nil {
		return h, nil, r.err
	}
	cs, err := folderCharset(h.NameValueCCSID, c.Encoding)
	if err != nil {
		r.failRC(MQRC_SOURCE_CCSID_ERROR, err)
	}
	for end := r.off + area; r.err == nil && r.off < end; {
		n := int(r.i32())
		if r.err == nil && (n < 0 || n > end-r.off || n%4 != 0) {
			r.off -= 4
			r.fail(fmt.Errorf("%w: NameValueLength %d", errLength, n))
		}
		text, ok := cs.Decode(r.take(n))
		switch {
		case r.err != nil:
		case !ok:
			r.failRC(MQRC_RFH_FORMAT_ERROR, errText)
		case len(h.Folders) == maxFolders:
			r.fail(errors.New("too many folders"))
		default:
			h.Folders = append(h.Folders, strings.TrimRight(text, " \x00"))
		}
	}
	return h, r.tail(), r.err
}

func folderCharset(ccsid, enc int32) (Charset, error) {
	cs, ok := LookupCharset(ccsid, enc)
	if !ok || !cs.utf8 && !cs.Wide() {
		return cs, fmt.Errorf("NameValueCCSID %d is none of 1208, 1200, 13488, 17584", ccsid)
	}
	return cs, nil
}

// Append appends the structure. Each folder is padded with blanks to a multiple of four bytes.
func (h *RFH2) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQRFH2")
	at := len(dst)
	w.str("RFH", 4)
	w.i32(MQRFH_VERSION_2, 0, h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.Flags, h.NameValueCCSID)
	cs, err := folderCharset(h.NameValueCCSID, c.Encoding)
	if err != nil {
		w.fail(MQRC_TARGET_CCSID_ERROR, err)
	}
	for _, f := range h.Folders {
		lenAt := len(w.b)
		w.i32(0)
		w.raw(cs.Append(nil, f))
		for (len(w.b)-lenAt)%4 != 0 {
			w.raw(cs.Append(nil, " "))
		}
		w.setI32(lenAt, len(w.b)-lenAt-4)
	}
	w.setI32(at+8, len(w.b)-at)
	return w.done(dst)
}
