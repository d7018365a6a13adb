package mqi

import "encoding/binary"

// The properties of a message as it is put and got: in MQRFH2 folders in front of its data, or beside it.

// SplitProps takes the properties out of the MQRFH2 headers of a message. It gives them and the data without their
// folders; md then says what the data begins with. Folders that hold no properties stay. strict fails for a header (2334)
// or a folder (2421) that is not well formed, as a put by an application that uses properties does; else such stays in
// the data as it is.
func SplitProps(md *MD, body []byte, strict bool) ([]Property, []byte, error) {
	s := splitter{strict: strict}
	is := Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID}
	format, is, out, err := s.split(md.Format, body, is, 0)
	if err != nil {
		return nil, body, err
	}
	md.Format, md.Encoding, md.CodedCharSetID = format, is.Encoding, is.CCSID
	return s.props, out, nil
}

type splitter struct {
	strict bool
	props  []Property
}

func (s *splitter) split(format string, b []byte, c Coding, depth int) (string, Coding, []byte, error) {
	if !mayPrecedeProps(format) && format != MQFMT_RF_HEADER_2 || depth == maxHeaders {
		return format, c, b, nil
	}
	h, rest, err := parseHeader(format, b, c)
	if err != nil {
		if s.strict && format == MQFMT_RF_HEADER_2 {
			return format, c, b, err
		}
		return format, c, b, nil
	}
	kept := 0
	r, isRFH2 := h.(*RFH2)
	changed := false
	if isRFH2 {
		was := len(r.Folders)
		if err := s.takeFolders(r); err != nil {
			return format, c, b, err
		}
		kept = len(r.Folders)
		changed = kept != was
	}
	inFormat, enc, ccsid := h.follows()
	e, cc := next(*enc, *ccsid, c.Encoding, c.CCSID)
	was := Coding{Encoding: e, CCSID: cc}
	newFormat, is, data, err := s.split(*inFormat, rest, was, depth+1)
	switch {
	case err != nil:
		return format, c, b, err
	case isRFH2 && kept == 0 && changed:
		return newFormat, is, data, nil
	case !changed && newFormat == *inFormat && is == was && same(data, rest):
		return format, c, b, nil
	}
	*inFormat, *enc, *ccsid = newFormat, is.Encoding, is.CCSID
	out, err := h.Append(make([]byte, 0, len(b)), c)
	if err != nil {
		return format, c, b, err
	}
	return format, c, append(out, data...), nil
}

// takeFolders moves the header's properties over and leaves its other folders.
func (s *splitter) takeFolders(r *RFH2) error {
	var keep []string
	for _, f := range r.Folders {
		if _, props := folderHead(f); props {
			list, err := FolderProps(f)
			if err == nil {
				s.props = append(s.props, list...)
				continue
			}
			if s.strict {
				return err
			}
		} else if name, _ := folderHead(f); name == "" && s.strict {
			_, err := FolderProps(f)
			return err
		}
		keep = append(keep, f)
	}
	r.Folders = keep
	return nil
}

// mayPrecedeProps reports the headers that an MQRFH2 made by the queue manager stands behind.
func mayPrecedeProps(format string) bool {
	return format == MQFMT_XMIT_Q_HEADER || format == MQFMT_DEAD_LETTER_HEADER || format == MQFMT_RF_HEADER_1
}

// JoinProps puts properties in front of a message's data as an MQRFH2, or in the one that is there: its folders stay byte
// for byte, but for a folder that gets further properties. md then says what the data begins with.
func JoinProps(md *MD, body []byte, props []Property) ([]byte, error) {
	if len(props) == 0 {
		return body, nil
	}
	format, is, out, err := join(md.Format, body, Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID}, props, 0)
	if err != nil {
		return body, err
	}
	md.Format, md.Encoding, md.CodedCharSetID = format, is.Encoding, is.CCSID
	return out, nil
}

func join(format string, b []byte, c Coding, props []Property, depth int) (string, Coding, []byte, error) {
	if mayPrecedeProps(format) && depth < maxHeaders {
		h, rest, err := parseHeader(format, b, c)
		if err != nil {
			return newRFH2(format, b, c, props)
		}
		in, enc, ccsid := h.follows()
		e, cc := next(*enc, *ccsid, c.Encoding, c.CCSID)
		newFormat, is, data, err := join(*in, rest, Coding{Encoding: e, CCSID: cc}, props, depth+1)
		if err != nil {
			return format, c, b, err
		}
		*in, *enc, *ccsid = newFormat, is.Encoding, is.CCSID
		out, err := h.Append(make([]byte, 0, len(b)+256), c)
		return format, c, append(out, data...), err
	}
	if format == MQFMT_RF_HEADER_2 {
		if h, rest, err := ParseRFH2(b, c); err == nil {
			out, err := mergeRFH2(&h, b, rest, c, props)
			return format, c, out, err
		}
	}
	return newRFH2(format, b, c, props)
}

func newRFH2(format string, b []byte, c Coding, props []Property) (string, Coding, []byte, error) {
	h := RFH2{Encoding: c.Encoding, CodedCharSetID: c.CCSID, Format: format, NameValueCCSID: 1208, Folders: PropFolders(props)}
	is := c
	if cs, ok := LookupCharset(c.CCSID, c.Encoding); !ok || cs.Wide() {
		is.CCSID = DefaultCCSID
	}
	if is.order() == nil {
		is.Encoding = MQENC_NATIVE
	}
	out, err := h.Append(make([]byte, 0, len(b)+256), is)
	return MQFMT_RF_HEADER_2, is, append(out, b...), err
}

// mergeRFH2 adds properties to a header. When none of them belongs in a folder that is there, the folders' bytes are kept
// and the new ones stand behind them.
func mergeRFH2(h *RFH2, b, rest []byte, c Coding, props []Property) ([]byte, error) {
	add := PropFolders(props)
	merged := *h
	merged.Folders = append([]string(nil), h.Folders...)
	touched := false
	var fresh []string
	for _, f := range add {
		name, _ := folderHead(f)
		i := folderIndex(h.Folders, name)
		if i < 0 {
			fresh = append(fresh, f)
			continue
		}
		have, err := FolderProps(h.Folders[i])
		if err != nil {
			return nil, err
		}
		extra, err := FolderProps(f)
		if err != nil {
			return nil, err
		}
		p := NewProps(have)
		for _, x := range extra {
			if at := p.find(x.Name, 0); at >= 0 {
				p.list[at] = x
				continue
			}
			p.list = append(p.list, x)
		}
		merged.Folders[i] = PropFolders(p.list)[0]
		touched = true
	}
	merged.Folders = append(merged.Folders, fresh...)
	if touched {
		out, err := merged.Append(make([]byte, 0, len(b)+256), c)
		return append(out, rest...), err
	}
	tail := RFH2{NameValueCCSID: h.NameValueCCSID, Folders: fresh}
	built, err := tail.Append(nil, c)
	if err != nil {
		return nil, err
	}
	built = built[MQRFH_STRUC_LENGTH_FIXED_2:]
	head := len(b) - len(rest)
	out := make([]byte, 0, len(b)+len(built))
	out = append(append(append(out, b[:head]...), built...), rest...)
	c.order().PutUint32(out[8:], uint32(head+len(built)))
	return out, nil
}

func folderIndex(folders []string, name string) int {
	for i, f := range folders {
		if n, _ := folderHead(f); n == name {
			return i
		}
	}
	return -1
}

// EncodeProps and DecodeProps keep properties beside a stored message: each folder's length and text.
func EncodeProps(props []Property) []byte {
	var b []byte
	for _, f := range PropFolders(props) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// DecodeProps reads what EncodeProps made.
func DecodeProps(b []byte) ([]Property, error) {
	var out []Property
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, Wrap("read", "properties", MQRC_RFH_FORMAT_ERROR, errShort)
		}
		n := int(binary.LittleEndian.Uint32(b))
		list, err := FolderProps(string(b[4 : 4+n]))
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
		b = b[4+n:]
	}
	return out, nil
}

// PropsLength is what MAXPROPL is compared with: the length of the properties as they travel.
func PropsLength(props []Property) int {
	n := 0
	for _, f := range PropFolders(props) {
		n += 4 + (len(f)+3)&^3
	}
	return n
}
