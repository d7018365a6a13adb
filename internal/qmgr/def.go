package qmgr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/store"
)

// keySep stands between the parts of the made-up names of records.
const keySep = attr.ListSep

// Def is an object's definition at one moment. Immutable once it is stored in an Object.
type Def struct {
	Kind   attr.Kind
	Name   string
	Schema *attr.Schema
	own    ownVals // what differs from the table's defaults
	extra  string  // what the kind keeps beside its attributes (subExtra)
}

// ownVals are values of attributes, canonical texts, behind each other by place: a byte with the place in Schema.Attrs, the
// length, the text. A manager has thousands of objects with half a dozen of them each, of nearly a hundred attributes.
type ownVals string

// longText stands for the length of a text of so many bytes or more; that follows in four bytes.
const longText = 255

// next cuts the first value off.
func (o ownVals) next() (at int, text string, rest ownVals) {
	n, head := int(o[1]), 2
	if n == longText {
		n, head = int(o[2])<<24|int(o[3])<<16|int(o[4])<<8|int(o[5]), 6
	}
	return int(o[0]), string(o[head : head+n]), o[head+n:]
}

func appendOwn[T string | []byte](b []byte, at int, text T) []byte {
	if len(text) < longText {
		b = append(b, byte(at), byte(len(text)))
	} else {
		b = binary.BigEndian.AppendUint32(append(b, byte(at), longText), uint32(len(text)))
	}
	return append(b, text...)
}

// val returns the value of the attribute at a place in Schema.Attrs.
func (d *Def) val(i int) string {
	for o := d.own; o != ""; {
		at, text, rest := o.next()
		if at == i {
			return text
		}
		if at > i {
			break
		}
		o = rest
	}
	return d.Schema.Attrs[i].Default
}

// setVal changes it. Only before the Def is stored in an Object.
func (d *Def) setVal(i int, text string) {
	if d.val(i) == text {
		return
	}
	before, behind := ownVals(""), d.own
	for o := d.own; o != ""; {
		at, _, rest := o.next()
		if at > i {
			break
		}
		if behind = rest; at == i {
			break
		}
		before, o = d.own[:len(d.own)-len(rest)], rest
	}
	b := append(make([]byte, 0, len(d.own)+len(text)+6), before...)
	if text != d.Schema.Attrs[i].Default {
		b = appendOwn(b, i, text)
	}
	d.own = ownVals(append(b, behind...))
}

// Get returns an attribute's canonical text, "" when the kind has no such attribute.
func (d *Def) Get(keyword string) string {
	if i, ok := d.Schema.Index(keyword); ok {
		return d.val(i)
	}
	return ""
}

// Int returns a numeric attribute, -1 when the value is a word or absent.
func (d *Def) Int(keyword string) int64 {
	n, err := strconv.ParseInt(d.Get(keyword), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// Yes reports whether a flag is set.
func (d *Def) Yes(keyword string) bool { return d.Get(keyword) == "YES" }

// newDef makes a definition with the table's defaults.
func newDef(kind attr.Kind, name string) (*Def, error) {
	s, ok := attr.SchemaOf(kind)
	if !ok {
		return nil, fmt.Errorf("qmgr: no attribute table for %s", kind)
	}
	d := &Def{Kind: kind, Name: name, Schema: s}
	d.fix()
	return d, nil
}

// shown is the value of the positional attribute: the name of a record is a key whose first part is what is shown. That of a
// subscription may hold any character.
func (d *Def) shown() string {
	if d.Kind == "SUB" {
		return d.Name
	}
	name, _, _ := strings.Cut(d.Name, keySep)
	return name
}

// fix writes what follows from kind and name: the positional attribute and the type.
func (d *Def) fix() {
	if i := d.Schema.NameIndex(); i >= 0 {
		d.setVal(i, d.shown())
	}
	switch {
	case isQueue(d.Kind):
		d.set("TYPE", string(d.Kind))
	case isChannel(d.Kind):
		d.set("CHLTYPE", subtype(d.Kind))
	case classOf(d.Kind) == ClassAuthinfo:
		d.set("AUTHTYPE", subtype(d.Kind))
	}
}

// clone returns a copy that may be changed until it is stored.
func (d *Def) clone() *Def {
	c := *d
	return &c
}

// set changes an attribute; unknown keywords are ignored. Only before the Def is stored in an Object.
func (d *Def) set(keyword, val string) {
	if i, ok := d.Schema.Index(keyword); ok {
		d.setVal(i, val)
	}
}

// stampAltered writes ALTDATE and ALTTIME.
func (d *Def) stampAltered(now time.Time) {
	d.set("ALTDATE", mqDate(now))
	d.set("ALTTIME", d.timeText(now))
}

// stampCreated writes CRDATE and CRTIME too.
func (d *Def) stampCreated(now time.Time) {
	d.set("CRDATE", mqDate(now))
	d.set("CRTIME", d.timeText(now))
	d.stampAltered(now)
}

// timeText is a time in the kind's form: subscriptions print colons, everything else dots.
func (d *Def) timeText(t time.Time) string {
	if d.Kind == "SUB" {
		return t.Format("15:04:05")
	}
	return mqTime(t)
}

func mqDate(t time.Time) string { return t.Format("2006-01-02") }
func mqTime(t time.Time) string { return t.Format("15.04.05") }

// Stored form of a definition: version, kind, name, QID, then the attributes that differ from the table's defaults
// as keyword and value. A keyword that a later version no longer knows is skipped.
const defVersion = 1

// extraKey stands where a keyword stands, for Def.extra; no keyword begins so.
const extraKey = "\x00extra"

var errBadDef = errors.New("qmgr: stored definition is damaged")

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func takeText(b []byte) (string, []byte, bool) {
	raw, rest, ok := takeRaw(b)
	return string(raw), rest, ok
}

func (d *Def) encode(id store.QID) []byte {
	b := make([]byte, 0, 160)
	b = append(b, defVersion)
	b = appendText(b, string(d.Kind))
	b = appendText(b, d.Name)
	b = binary.AppendUvarint(b, uint64(id))
	for i := range d.Schema.Attrs {
		a := &d.Schema.Attrs[i]
		if d.val(i) == a.Default || a.Positional {
			continue
		}
		b = appendText(b, a.Name)
		b = appendText(b, d.val(i))
	}
	if d.extra != "" {
		b = appendText(b, extraKey)
		b = appendText(b, d.extra)
	}
	return b
}

// decoder reads stored definitions, thousands one after the other.
type decoder struct {
	vals []storedVal
	buf  []byte
}

// storedVal is a value as it stands in the stored form.
type storedVal struct {
	at   int
	text []byte
}

func takeRaw(b []byte) (raw, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	return b[w : w+int(n)], b[w+int(n):], true
}

// own packs the values that were read; of two for one place the later counts.
func (c *decoder) own() ownVals {
	slices.SortStableFunc(c.vals, func(x, y storedVal) int { return x.at - y.at })
	c.buf = c.buf[:0]
	for i, v := range c.vals {
		if i+1 == len(c.vals) || c.vals[i+1].at != v.at {
			c.buf = appendOwn(c.buf, v.at, v.text)
		}
	}
	return ownVals(c.buf)
}

func (c *decoder) def(b []byte) (*Def, store.QID, error) {
	if len(b) == 0 || b[0] != defVersion {
		return nil, 0, errBadDef
	}
	rawKind, b, ok := takeRaw(b[1:])
	if !ok {
		return nil, 0, errBadDef
	}
	name, b, ok := takeText(b)
	if !ok {
		return nil, 0, errBadDef
	}
	id, w := binary.Uvarint(b)
	if w <= 0 {
		return nil, 0, errBadDef
	}
	b = b[w:]
	schema, ok := attr.SchemaOf(attr.Kind(rawKind))
	if !ok {
		return nil, 0, fmt.Errorf("qmgr: no attribute table for %s", rawKind)
	}
	d := &Def{Kind: schema.Kind, Name: name, Schema: schema}
	c.vals = c.vals[:0]
	if i := schema.NameIndex(); i >= 0 {
		c.vals = append(c.vals, storedVal{i, []byte(d.shown())})
	}
	for len(b) > 0 {
		var k, v []byte
		if k, b, ok = takeRaw(b); !ok {
			return nil, 0, errBadDef
		}
		if v, b, ok = takeRaw(b); !ok {
			return nil, 0, errBadDef
		}
		if string(k) == extraKey {
			d.extra = string(v)
		} else if i, ok := schema.Index(string(k)); ok {
			c.vals = append(c.vals, storedVal{i, v})
		}
	}
	d.own = c.own()
	d.fix()
	return d, store.QID(id), nil
}
