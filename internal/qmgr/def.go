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
	own    []ownVal // what differs from the table's defaults, by place
	extra  string   // what the kind keeps beside its attributes (subExtra)
}

// ownVal is the value of one attribute: canonical text. A manager has thousands of objects with a dozen of them each, of
// nearly a hundred attributes.
type ownVal struct {
	at   int // in Schema.Attrs
	text string
}

// val returns the value of the attribute at a place in Schema.Attrs.
func (d *Def) val(i int) string {
	for j := range d.own {
		if at := d.own[j].at; at == i {
			return d.own[j].text
		} else if at > i {
			break
		}
	}
	return d.Schema.Attrs[i].Default
}

// setVal changes it. Only before the Def is stored in an Object.
func (d *Def) setVal(i int, text string) {
	j := 0
	for j < len(d.own) && d.own[j].at < i {
		j++
	}
	there := j < len(d.own) && d.own[j].at == i
	switch {
	case there:
		d.own[j].text = text
	case text != d.Schema.Attrs[i].Default:
		d.own = slices.Insert(d.own, j, ownVal{i, text})
	}
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

// ownRoom is how many values differ from the table's, as a rule.
const ownRoom = 8

// newDef makes a definition with the table's defaults.
func newDef(kind attr.Kind, name string) (*Def, error) {
	s, ok := attr.SchemaOf(kind)
	if !ok {
		return nil, fmt.Errorf("qmgr: no attribute table for %s", kind)
	}
	d := &Def{Kind: kind, Name: name, Schema: s, own: make([]ownVal, 0, ownRoom)}
	d.fix()
	return d, nil
}

// fix writes what follows from kind and name: the positional attribute and the type.
func (d *Def) fix() {
	if i := d.Schema.NameIndex(); i >= 0 {
		// The name of a record is a key whose first part is what is shown.
		shown, _, _ := strings.Cut(d.Name, keySep)
		d.setVal(i, shown)
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
	c.own = slices.Clone(d.own)
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
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return "", nil, false
	}
	return string(b[w : w+int(n)]), b[w+int(n):], true
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

// decoder reads stored definitions. Keywords and values recur in thousands of objects, so it keeps one string of each
// short one.
type decoder struct{ seen map[string]string }

// Bounds of decoder.seen.
const (
	maxShared  = 24
	mostShared = 4096
)

// text is takeText that shares strings.
func (c *decoder) text(b []byte) (string, []byte, bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return "", nil, false
	}
	raw, rest := b[w:w+int(n)], b[w+int(n):]
	if s, ok := c.seen[string(raw)]; ok { // the conversion allocates nothing
		return s, rest, true
	}
	s := string(raw)
	if len(s) <= maxShared && len(c.seen) < mostShared {
		if c.seen == nil {
			c.seen = map[string]string{}
		}
		c.seen[s] = s
	}
	return s, rest, true
}

func (c *decoder) def(b []byte) (*Def, store.QID, error) {
	if len(b) == 0 || b[0] != defVersion {
		return nil, 0, errBadDef
	}
	kind, b, ok := c.text(b[1:])
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
	d, err := newDef(attr.Kind(kind), name)
	if err != nil {
		return nil, 0, err
	}
	for len(b) > 0 {
		var k, v string
		if k, b, ok = c.text(b); !ok {
			return nil, 0, errBadDef
		}
		if v, b, ok = c.text(b); !ok {
			return nil, 0, errBadDef
		}
		if k == extraKey {
			d.extra = v
			continue
		}
		d.set(k, v)
	}
	return d, store.QID(id), nil
}
