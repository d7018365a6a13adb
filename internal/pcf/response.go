package pcf

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// response is the beginning of every message that answers the command.
func (q *Request) response(seq int32) mqi.CFMsg {
	m := mqi.CFMsg{Type: mqi.MQCFT_RESPONSE, Version: mqi.MQCFH_VERSION_1, Command: q.pcf, MsgSeqNumber: seq,
		Control: mqi.MQCFC_NOT_LAST}
	if q.xr {
		m.Version = mqi.MQCFH_VERSION_3
	}
	return m
}

// ErrorResponse is the answer to a command that was refused before it ran: the reason code, and which parameter it was.
func ErrorResponse(m *mqi.CFMsg, err error) mqi.CFMsg {
	q := &Request{pcf: m.Command, xr: m.Type == mqi.MQCFT_COMMAND_XR}
	out := q.response(1)
	out.Control = mqi.MQCFC_LAST
	out.CompCode, out.Reason = mqi.Reason(err)
	var p *paramError
	if errors.As(err, &p) {
		out.Params = append(out.Params, mqi.CFInt(mqi.MQIACF_PARAMETER_ID, p.id))
	}
	return out
}

// Responses gives the messages that answer the command, the last one marked as such: one for each object shown, or one
// that says what the command came to. It ends when yield returns false.
func (q *Request) Responses(r *attr.Reply, yield func(mqi.CFMsg) bool) {
	seq := int32(1)
	var waiting *mqi.CFMsg // sent when it is known whether it is the last
	over := false
	send := func(m mqi.CFMsg) bool {
		if over = over || waiting != nil && !yield(*waiting); over {
			return false
		}
		seq++
		waiting = &m
		return true
	}
	switch {
	case q.escape:
		q.escaped(r, &seq, send)
	case q.spec.names != 0 && !r.Failed():
		m := q.response(seq)
		m.Params = q.nameLists(r)
		send(m)
	case r.Rows != nil:
		for row := range r.Rows {
			m := q.response(seq)
			m.Params = append(q.authority(), rowParams(&row)...)
			if !send(m) {
				break
			}
		}
	}
	if over {
		return
	}
	said := waiting != nil // objects, or the lines of an Escape command: its outcome is in them
	if !said || r.CC != 0 && !q.escape {
		m := q.response(seq)
		m.CompCode, m.Reason = mqi.CC(r.CC), mqi.RC(r.RC)
		if r.Failed() && r.RC == 0 {
			m.Reason = mqi.MQRCCF_COMMAND_FAILED
		}
		if !send(m) {
			return
		}
	}
	if said && r.Failed() && seq > 2 {
		// What failed in more than one message ends with a summary: by it the vendor's classes tell.
		m := q.response(seq)
		m.CompCode, m.Reason = mqi.CCFailed, mqi.MQRCCF_COMMAND_FAILED
		if !send(m) {
			return
		}
	}
	waiting.Control = mqi.MQCFC_LAST
	yield(*waiting)
}

// authority gives what an answer about authorities has beside what MQSC shows.
func (q *Request) authority() []mqi.CFParam {
	switch q.pcf {
	case mqi.MQCMD_INQUIRE_AUTH_RECS:
		return []mqi.CFParam{mqi.CFString(mqi.MQCA_Q_MGR_NAME, padded(q.QMgr, mqi.MQ_Q_MGR_NAME_LENGTH)),
			mqi.CFInt(mqi.MQIACF_AUTH_OPTIONS, q.options)}
	case mqi.MQCMD_INQUIRE_ENTITY_AUTH:
		return []mqi.CFParam{mqi.CFString(mqi.MQCA_Q_MGR_NAME, padded(q.QMgr, mqi.MQ_Q_MGR_NAME_LENGTH))}
	}
	return nil
}

// nameLists gives the lists that an inquiry of names is answered with.
func (q *Request) nameLists(r *attr.Reply) []mqi.CFParam {
	var names []string
	var types []int32
	if r.Rows != nil {
		for row := range r.Rows {
			for i := range row.Items {
				it := &row.Items[i]
				switch {
				case it.Attr == nil:
				case it.Attr.Positional:
					names = append(names, padded(it.Val, it.Attr.MaxLen))
				case it.Key == "TYPE" || it.Key == "CHLTYPE":
					if e, ok := it.Attr.EnumByWord(it.Val); ok {
						types = append(types, e.Num)
					}
				}
			}
		}
	}
	out := []mqi.CFParam{mqi.CFStrings(q.spec.names, names...)}
	if q.spec.types != 0 && len(types) == len(names) {
		out = append(out, mqi.CFInts(q.spec.types, types...))
	}
	return out
}

// rowParams gives the parameters of one object that is shown.
func rowParams(row *attr.Row) []mqi.CFParam {
	out := make([]mqi.CFParam, 0, len(row.Items))
	var conn, extConn string
	at := -1
	for i := range row.Items {
		it := &row.Items[i]
		if a := it.Attr; a != nil && a.ID == mqi.MQBACF_CONNECTION_ID && (it.Key == "CONN" || it.Key == "EXTCONN") {
			if it.Key == "CONN" {
				conn = it.Val
			} else {
				extConn = it.Val
			}
			if at < 0 {
				at = len(out)
				out = append(out, mqi.CFParam{})
			}
			continue
		}
		if p, ok := itemParam(it); ok {
			out = append(out, p)
		}
	}
	if at >= 0 {
		id, _ := hex.DecodeString(extConn + conn)
		out[at] = mqi.CFBytes(mqi.MQBACF_CONNECTION_ID, id)
	}
	return out
}

// itemParam gives the parameter of one attribute; false for what PCF does not show: keywords without a number, and
// passwords.
func itemParam(it *attr.Item) (mqi.CFParam, bool) {
	a := it.Attr
	none := mqi.CFParam{}
	switch {
	case a == nil || a.ID == 0 || a.Hidden:
		return none, false
	case a.ID == mqi.MQIACH_CHANNEL_INSTANCE_TYPE:
		for n, word := range instanceTypes {
			if word == it.Key {
				return mqi.CFInt(a.ID, int32(n)), it.Val != "NO"
			}
		}
		return none, false
	case a.ID == mqi.MQBACF_EXTERNAL_UOW_ID:
		return mqi.CFBytes(a.ID, xidBytes(it.Val)), true
	case a.ID == mqi.MQBACF_Q_MGR_UOW_ID:
		return mqi.CFBytes(a.ID, numberedUOW(it.Val)), true
	case isBytes(a.ID):
		b, err := hex.DecodeString(it.Val)
		if err != nil {
			b = []byte(it.Val) // a text, as CONNTAG is
		}
		return mqi.CFBytes(a.ID, b), true
	case isInt(a.ID):
		return intParam(a, it.Val)
	case a.IsList():
		items := splitList(it.Val)
		for i := range items {
			items[i] = padded(items[i], fixedLength(a))
		}
		return mqi.CFStrings(a.ID, items...), true
	case a.Type == attr.TDate:
		return mqi.CFString(a.ID, padded(it.Val, mqi.MQ_DATE_LENGTH)), true
	case a.Type == attr.TTime:
		return mqi.CFString(a.ID, padded(it.Val, mqi.MQ_TIME_LENGTH)), true
	}
	return mqi.CFString(a.ID, padded(it.Val, fixedLength(a))), true
}

// xidBytes is an XA identifier, which MQSC shows as text, as the XID structure has it: format, lengths of the two parts, the parts.
// Nothing when there is none.
func xidBytes(text string) []byte {
	part := func(key string) []byte {
		_, v, _ := strings.Cut(text, key+"[")
		v, _, _ = strings.Cut(v, "]")
		b, _ := hex.DecodeString(v)
		return b
	}
	format, global, branch := part("XA_FORMATID"), part("XA_GTRID"), part("XA_BQUAL")
	if len(format) != 4 {
		return nil
	}
	out := binary.BigEndian.AppendUint32(format, uint32(len(global)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(branch)))
	return append(append(out, global...), branch...)
}

// numberedUOW is the queue manager's number of a unit of work, high.low in MQSC, as eight bytes.
func numberedUOW(text string) []byte {
	high, low, _ := strings.Cut(text, ".")
	var out []byte
	for _, s := range []string{high, low} {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	return out
}

// fixedLength is the length that a text comes in, filled with blanks; 0 for texts of variable length.
func fixedLength(a *attr.Attr) int {
	const longest = 264 // connection names; longer texts have no fixed field
	if a.MaxLen > longest {
		return 0
	}
	return a.MaxLen
}

func padded(s string, n int) string {
	if len(s) < n {
		return s + strings.Repeat(" ", n-len(s))
	}
	return s
}

func splitList(v string) []string {
	if v == "" {
		return nil
	}
	return strings.Split(v, attr.ListSep)
}

// intParam gives an attribute whose parameter is a number, or numbers.
func intParam(a *attr.Attr, val string) (mqi.CFParam, bool) {
	if family := optionFamilies[a.ID]; family != "" {
		return mqi.CFInt(a.ID, optionBits(family, splitList(val))), true
	}
	if val == "" && (a.Type == attr.TPair || a.ID == mqi.MQIACF_OLDEST_MSG_AGE) {
		return notAvailable(a), true
	}
	if a.IsList() || a.Type == attr.TPair {
		p := mqi.CFParam{Type: mqi.MQCFT_INTEGER_LIST, ID: a.ID}
		items := splitList(val)
		if a.Type == attr.TPair && len(items) == 1 {
			items = strings.Split(val, ",")
		}
		for _, w := range items {
			n, ok := wordNumber(a, strings.TrimSpace(w))
			if !ok {
				return p, false
			}
			p.Ints = append(p.Ints, n)
		}
		return p, true
	}
	n, ok := wordNumber(a, val)
	switch {
	case !ok:
		return mqi.CFParam{}, false
	case n != int64(int32(n)):
		return mqi.CFInt64(a.ID, n), true
	}
	return mqi.CFInt(a.ID, int32(n)), true
}

// notAvailable is a measurement that MQSC shows blank, since monitoring is off or nothing was measured yet. Programs read its number,
// or both of its numbers, without looking whether they are there.
func notAvailable(a *attr.Attr) mqi.CFParam {
	if a.Type == attr.TPair {
		return mqi.CFInts(a.ID, mqi.MQMON_NOT_AVAILABLE, mqi.MQMON_NOT_AVAILABLE)
	}
	return mqi.CFInt(a.ID, mqi.MQMON_NOT_AVAILABLE)
}

// wordNumber is the number of a word of the attribute, or of digits.
func wordNumber(a *attr.Attr, val string) (int64, bool) {
	if e, ok := a.EnumByWord(val); ok && e.HasNum {
		return int64(e.Num), true
	}
	if a.Type == attr.TFlag && len(a.Enum) == 0 || a.Type == attr.TGroup {
		if val == "NO" {
			return 0, true
		}
		return 1, true
	}
	n, err := strconv.ParseInt(val, 10, 64)
	return n, err == nil
}

// optionBits adds up options that are shown by their names.
func optionBits(family string, names []string) int32 {
	var sum int32
	for _, name := range names {
		for bit := 0; bit < 31; bit++ {
			if mqi.Name(family, 1<<bit) == name {
				sum |= 1 << bit
			}
		}
	}
	return sum
}
