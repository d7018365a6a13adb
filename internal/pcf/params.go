package pcf

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// param takes one parameter of the message.
func (b *builder) param(p *mqi.CFParam) error {
	codes := cfCodes[p.Type]
	if isFilter(p.Type) {
		return b.filter(p)
	}
	if b.taken[p.ID] {
		return nil
	}
	if b.cmd.Verb == "DISPLAY" {
		if done, err := b.inquiry(p); done {
			return err
		}
	}
	row, key := b.row(p.ID)
	if row == nil {
		rc := codes.unknown
		if b.class == "CHANNEL" && otherChannels[p.ID] != 0 {
			rc = otherChannels[p.ID]
		}
		return b.q.refuse(rc, p.ID, "%s of %s has no such parameter", mqi.Name("MQCMD", b.q.pcf), b.cmd.Kind)
	}
	b.seen[key] = true
	val, err := b.value(row, p)
	if err != nil {
		return err
	}
	par := attr.Param{Key: key, Val: val, HasValue: true, Attr: row}
	if b.cmd.Verb == "DISPLAY" && (row.Type == attr.TFlag || row.Type == attr.TGroup) {
		par.Val, par.HasValue = "", false
		if val == "NO" {
			return nil
		}
	}
	b.cmd.Params = append(b.cmd.Params, par)
	return nil
}

func isFilter(typ int32) bool {
	return typ == mqi.MQCFT_INTEGER_FILTER || typ == mqi.MQCFT_STRING_FILTER || typ == mqi.MQCFT_BYTE_STRING_FILTER
}

// given finds a parameter that is a value; a filter bears the number of what it filters by.
func (b *builder) given(id int32) *mqi.CFParam {
	for i := range b.m.Params {
		if p := &b.m.Params[i]; p.ID == id && !isFilter(p.Type) {
			return p
		}
	}
	return nil
}

// unique refuses a parameter that is given twice.
func (b *builder) unique() error {
	ids := map[int32]bool{}
	for i := range b.m.Params {
		p := &b.m.Params[i]
		if isFilter(p.Type) {
			continue
		}
		if ids[p.ID] {
			return b.q.refuse(cfCodes[p.Type].twice, p.ID, "the parameter is given twice")
		}
		ids[p.ID] = true
	}
	return nil
}

// row finds the attribute that a parameter is, among those that the command takes.
func (b *builder) row(id int32) (*attr.Attr, string) {
	for _, k := range b.kinds {
		s, ok := attr.SchemaOf(k)
		if !ok {
			continue
		}
		for i := range s.Attrs {
			a := &s.Attrs[i]
			if a.ID == id && id != 0 && !a.Positional && b.takes(a) {
				return a, a.Name
			}
		}
	}
	return nil, ""
}

// takes reports whether the command takes an attribute with a value. An inquiry takes only what chooses objects; by other
// values they are chosen with a filter.
func (b *builder) takes(a *attr.Attr) bool {
	v := b.cmd.Spec
	if v.Verb != "DISPLAY" {
		return v.Allows(b.cmd.Kind, a.Name)
	}
	if slices.Contains(v.Optional, a.Name) || slices.Contains(selectors, a.Name) {
		return true
	}
	own, ok := attr.SchemaOf(attr.Kind(v.Verb + " " + v.Object))
	if ok {
		_, ok = own.Lookup(a.Name)
	}
	return ok
}

// selectors are the keywords that choose objects although the command's list does not say so.
var selectors = []string{"TYPE", "CHLTYPE", "AUTHTYPE", "SUBID"}

// inquiry takes the parameters that only inquiries have. It reports whether p was one.
func (b *builder) inquiry(p *mqi.CFParam) (bool, error) {
	switch {
	case p.ID == attrLists[b.cmd.Object] && p.ID != 0:
		return true, b.attributes(p)
	case p.ID == mqi.MQIACH_CHANNEL_INSTANCE_TYPE && b.cmd.Object == "CHSTATUS":
		word, ok := instanceTypes[p.Int()]
		if !ok {
			return true, b.q.refuse(mqi.MQRCCF_CHL_INST_TYPE_ERROR, p.ID, "%d is no instance type", p.Int())
		}
		b.ask(word)
		return true, nil
	case b.cmd.Object == "AUTHREC" || b.cmd.Object == "ENTAUTH":
		return b.authority(p)
	}
	return false, nil
}

// authority takes the parameters of inquiries of authorities that MQSC words otherwise: PRINCIPAL or GROUP for an entity
// and its type, MATCH for the options.
func (b *builder) authority(p *mqi.CFParam) (bool, error) {
	set := func(key, val string) {
		row, _ := b.cmd.Spec.Attr(b.cmd.Kind, key)
		b.seen[key] = true
		b.cmd.Params = append(b.cmd.Params, attr.Param{Key: key, Val: val, HasValue: true, Attr: row})
	}
	switch p.ID {
	case mqi.MQIACF_ENTITY_TYPE:
		return true, nil // read with the name
	case mqi.MQCACF_ENTITY_NAME:
		typ := b.given(mqi.MQIACF_ENTITY_TYPE)
		switch {
		case trimName(p.Text()) == "": // all entities
		case typ == nil:
			return true, b.q.refuse(mqi.MQRCCF_ENTITY_TYPE_MISSING, p.ID, "MQIACF_ENTITY_TYPE is missing")
		case typ.Int() == mqi.MQZAET_PRINCIPAL:
			set("PRINCIPAL", trimName(p.Text()))
		case typ.Int() == mqi.MQZAET_GROUP:
			set("GROUP", trimName(p.Text()))
		default:
			return true, b.q.refuse(mqi.MQRCCF_PARM_VALUE_ERROR, typ.ID, "%d is no type of an entity", typ.Int())
		}
		return true, nil
	case mqi.MQIACF_AUTH_OPTIONS:
		b.q.options = int32(p.Int())
		if b.cmd.Object != "AUTHREC" {
			return true, nil
		}
		switch o := p.Int(); {
		case o&mqi.MQAUTHOPT_ENTITY_SET != 0:
			set("MATCH", "MEMBERSHIP")
		case o&mqi.MQAUTHOPT_NAME_EXPLICIT != 0:
			set("MATCH", "EXACT")
		case o&(mqi.MQAUTHOPT_NAME_ALL_MATCHING|mqi.MQAUTHOPT_NAME_AS_WILDCARD) != 0:
			set("MATCH", "PROFILE")
		default:
			return true, b.q.refuse(mqi.MQRCCF_PARM_VALUE_ERROR, p.ID, "options %d choose no records", o)
		}
		return true, nil
	}
	return false, nil
}

// attributes takes the list of attributes to show.
func (b *builder) attributes(p *mqi.CFParam) error {
	if p.Type != mqi.MQCFT_INTEGER_LIST && p.Type != mqi.MQCFT_INTEGER {
		return b.q.refuse(cfCodes[p.Type].unknown, p.ID, "the list of attributes is no MQCFIL")
	}
	seen := map[int64]bool{}
	for _, id := range p.Ints {
		if seen[id] {
			return b.q.refuse(mqi.MQRCCF_CFIL_DUPLICATE_VALUE, p.ID, "attribute %d is asked for twice", id)
		}
		seen[id] = true
		if id == mqi.MQIACF_ALL {
			b.ask("ALL")
			continue
		}
		if row := b.nameRow(); row != nil && id == int64(row.ID) {
			if len(p.Ints) == 1 {
				b.askRow(row.Name, row) // the name is always shown; to ask for it alone is to ask for no more
			}
			continue
		}
		row := b.shown(int32(id))
		if row == nil {
			return b.q.refuse(mqi.MQRCCF_PARM_VALUE_ERROR, p.ID, "%s has no attribute %d", b.cmd.Object, id)
		}
		b.ask(row.Name)
	}
	return nil
}

// shown finds the row of an attribute that the inquiry can show.
func (b *builder) shown(id int32) *attr.Attr {
	for _, k := range b.kinds {
		s, ok := attr.SchemaOf(k)
		if !ok {
			continue
		}
		for i := range s.Attrs {
			if a := &s.Attrs[i]; a.ID == id && a.Display != attr.No && !a.Positional {
				return a
			}
		}
	}
	return nil
}

// ask adds a keyword to the list of what to show.
func (b *builder) ask(key string) {
	row, _ := b.cmd.Spec.Attr(b.cmd.Kind, key)
	b.askRow(key, row)
}

func (b *builder) askRow(key string, row *attr.Attr) {
	if b.seen[key] {
		return
	}
	b.seen[key] = true
	b.cmd.Params = append(b.cmd.Params, attr.Param{Key: key, Attr: row})
}

// asked reports whether attributes were chosen.
func (b *builder) asked() bool {
	return slices.ContainsFunc(b.cmd.Params, func(p attr.Param) bool {
		return !p.HasValue && p.Key != "CURRENT" && p.Key != "SAVED" && p.Key != "SHORT"
	})
}

// value gives the canonical value of a parameter.
func (b *builder) value(row *attr.Attr, p *mqi.CFParam) (string, error) {
	text, ok := b.raw(row, p)
	if !ok {
		return "", b.q.refuse(cfCodes[p.Type].unknown, p.ID, "%s cannot be given as %s", row.Name, mqi.CFName(p.Type))
	}
	if text == "" && row.Type != attr.TString && row.Type != attr.TName && row.Type != attr.THex && !row.IsList() {
		return "", b.q.refuse(b.valueError(row, p), p.ID, "%s: %w", row.Name, errValue)
	}
	if row.Type == attr.TFlag || row.Type == attr.TGroup {
		return text, nil
	}
	if row.IsList() && slices.ContainsFunc(p.Strings, func(s string) bool { return strings.Contains(s, attr.ListSep) }) {
		return "", b.q.refuse(b.valueError(row, p), p.ID, "%s: an item holds the control character X'1F'", row.Name)
	}
	check := attr.CheckValue
	if b.cmd.Verb == "DISPLAY" {
		check = attr.CheckShown
	}
	val, err := check(row, text)
	if err != nil {
		return "", b.q.refuse(b.valueError(row, p), p.ID, "%w", err)
	}
	return val, nil
}

func (b *builder) valueError(row *attr.Attr, p *mqi.CFParam) mqi.RC {
	if rc, ok := valueErrors[p.ID]; ok {
		return rc
	}
	for _, s := range p.Strings {
		if row.MaxLen > 0 && len(trimName(s)) > row.MaxLen {
			if p.Type == mqi.MQCFT_STRING_LIST {
				return mqi.MQRCCF_CFSL_STRING_LENGTH_ERR
			}
			return mqi.MQRCCF_CFST_STRING_LENGTH_ERR
		}
	}
	switch {
	case p.Type == mqi.MQCFT_STRING_LIST && row.MaxItems > 0 && len(p.Strings) > row.MaxItems:
		return mqi.MQRCCF_CFSL_COUNT_ERROR
	case p.Type == mqi.MQCFT_STRING && row.Type == attr.TName:
		return mqi.MQRCCF_OBJECT_NAME_ERROR
	case row.Define == attr.Yes || row.Alter == attr.Yes:
		return mqi.MQRCCF_ATTR_VALUE_ERROR
	}
	return mqi.MQRCCF_PARM_VALUE_ERROR
}

// raw gives the value in MQSC's words; false when the structure is not what the attribute takes. Numbers that are no word
// of the attribute give the empty text.
func (b *builder) raw(row *attr.Attr, p *mqi.CFParam) (string, bool) {
	switch row.Type {
	case attr.TInt, attr.TIntOrEnum, attr.TEnum, attr.TFlag, attr.TGroup:
		switch p.Type {
		case mqi.MQCFT_INTEGER, mqi.MQCFT_INTEGER64:
			return number(row, p.Int()), true
		case mqi.MQCFT_INTEGER_LIST: // one value where a list may stand
			if len(p.Ints) == 1 {
				return number(row, p.Ints[0]), true
			}
		}
		return "", false
	case attr.TListEnum, attr.TPair:
		if p.Type != mqi.MQCFT_INTEGER_LIST && p.Type != mqi.MQCFT_INTEGER {
			return "", false
		}
		words := make([]string, len(p.Ints))
		for i, n := range p.Ints {
			if words[i] = number(row, n); words[i] == "" {
				return "", true
			}
		}
		return strings.Join(words, attr.ListSep), true
	case attr.TListName, attr.TListString:
		if p.Type != mqi.MQCFT_STRING_LIST && p.Type != mqi.MQCFT_STRING {
			return "", false
		}
		items := make([]string, 0, len(p.Strings))
		for _, s := range p.Strings {
			if s = trimName(s); s != "" {
				items = append(items, s)
			}
		}
		return strings.Join(items, attr.ListSep), true
	case attr.THex:
		if p.Type == mqi.MQCFT_BYTE_STRING {
			return strings.ToUpper(hex.EncodeToString(p.Bytes)), true
		}
	}
	if p.Type != mqi.MQCFT_STRING {
		return "", false
	}
	if row.Type == attr.TString && row.MaxLen >= longText {
		return p.Text(), true
	}
	return trimName(p.Text()), true
}

// number gives the word of a number, or its digits where the attribute takes numbers.
func number(row *attr.Attr, n int64) string {
	if e, ok := row.EnumByNum(int32(n)); ok && int64(e.Num) == n {
		return e.Word
	}
	switch row.Type {
	case attr.TFlag, attr.TGroup:
		if len(row.Enum) == 0 {
			if n == 0 {
				return "NO"
			}
			return "YES"
		}
	case attr.TInt, attr.TIntOrEnum, attr.TPair:
		return strconv.FormatInt(n, 10)
	}
	return ""
}

// filter takes WHERE.
func (b *builder) filter(p *mqi.CFParam) error {
	codes := cfCodes[p.Type]
	operatorRC := map[int32]mqi.RC{mqi.MQCFT_INTEGER_FILTER: mqi.MQRCCF_CFIF_OPERATOR_ERROR,
		mqi.MQCFT_STRING_FILTER: mqi.MQRCCF_CFSF_OPERATOR_ERROR, mqi.MQCFT_BYTE_STRING_FILTER: mqi.MQRCCF_CFBF_OPERATOR_ERROR}[p.Type]
	row := b.shown(p.ID)
	switch {
	case b.cmd.Verb != "DISPLAY" || row == nil:
		return b.q.refuse(codes.unknown, p.ID, "%s has no attribute %d to filter by", mqi.Name("MQCMD", b.q.pcf), p.ID)
	case b.cmd.Where != nil:
		return b.q.refuse(mqi.MQRCCF_TOO_MANY_FILTERS, p.ID, "a command has one filter")
	}
	f := &attr.Filter{Key: row.Name, Attr: row}
	for _, o := range filterOps {
		if o.num == p.Op {
			f.Op = o.word
		}
	}
	if !slices.Contains(operators(row), f.Op) {
		return b.q.refuse(operatorRC, p.ID, "operator %d is none for %s", p.Op, row.Name)
	}
	switch p.Type {
	case mqi.MQCFT_INTEGER_FILTER:
		f.Val = number(row, p.Int())
		if f.Val == "" || !isInt(row.ID) {
			return b.q.refuse(b.valueError(row, p), p.ID, "%d is no value of %s", p.Int(), row.Name)
		}
	case mqi.MQCFT_BYTE_STRING_FILTER:
		f.Val = strings.ToUpper(hex.EncodeToString(p.Bytes))
	default:
		f.Val = trimName(p.Text())
	}
	b.cmd.Where = f
	return nil
}

// operators are those that MQSC has for an attribute.
func operators(row *attr.Attr) []string {
	compare := []string{"LT", "GT", "EQ", "NE", "LE", "GE"}
	switch {
	case row.IsList():
		return []string{"CT", "EX", "CTG", "EXG"}
	case row.Type == attr.TEnum, row.Type == attr.TFlag:
		return []string{"EQ", "NE"}
	case row.Type == attr.TInt, row.Type == attr.TIntOrEnum:
		return compare
	}
	return append(compare, "LK", "NL")
}

// connection takes the identifier of a connection: 24 bytes, of which MQSC shows the last 8 as the name and the first 16
// as EXTCONN. An inquiry may have a generic one instead, a number of first bytes.
func (b *builder) connection() error {
	b.taken[mqi.MQBACF_GENERIC_CONNECTION_ID] = true
	p := b.given(mqi.MQBACF_CONNECTION_ID)
	if p == nil {
		g := b.given(mqi.MQBACF_GENERIC_CONNECTION_ID)
		if g == nil || b.cmd.Verb != "DISPLAY" {
			return b.missing("MQBACF_CONNECTION_ID is missing")
		}
		b.cmd.Name, b.cmd.HasName = "*", true
		if first := min(len(g.Bytes), extConnBytes); first > 0 {
			row := b.shownNamed("EXTCONN")
			val := strings.ToUpper(hex.EncodeToString(g.Bytes[:first]))
			op := "LK"
			if first == extConnBytes {
				op = "EQ"
			} else {
				val += "*"
			}
			b.cmd.Where = &attr.Filter{Key: "EXTCONN", Op: op, Val: val, Attr: row}
		}
		if len(g.Bytes) > extConnBytes {
			b.cmd.Name = strings.ToUpper(hex.EncodeToString(g.Bytes[extConnBytes:])) + "*"
		}
		return nil
	}
	if p.Type != mqi.MQCFT_BYTE_STRING || len(p.Bytes) != mqi.MQ_CONNECTION_ID_LENGTH {
		return b.q.refuse(mqi.MQRCCF_CONNECTION_ID_ERROR, p.ID, "a connection identifier has %d bytes", mqi.MQ_CONNECTION_ID_LENGTH)
	}
	b.cmd.Name, b.cmd.HasName = strings.ToUpper(hex.EncodeToString(p.Bytes[extConnBytes:])), true
	if strings.Trim(b.cmd.Name, "0") == "" && b.cmd.Verb == "DISPLAY" {
		b.cmd.Name = "*"
	}
	return nil
}

// extConnBytes is the part of a connection identifier that EXTCONN shows.
const extConnBytes = 16

func (b *builder) shownNamed(key string) *attr.Attr {
	s, _ := attr.SchemaOf(b.cmd.Kind)
	row, _ := s.Lookup(key)
	return row
}

// The ranges of parameter identifiers.
func isInt(id int32) bool   { return id > 0 && id <= mqi.MQIA_LAST }
func isBytes(id int32) bool { return id >= mqi.MQBACF_FIRST && id < mqi.MQGACF_FIRST }

// String shows a request in logs.
func (q *Request) String() string {
	if q.Command == nil {
		return mqi.Name("MQCMD", q.pcf)
	}
	return fmt.Sprintf("%s: %s", mqi.Name("MQCMD", q.pcf), mqsc.ShownText(q.Command))
}
