package attr

//go:generate go run gen/main.go
//go:generate go run gendoc/main.go

import (
	"sort"
	"strings"
	"sync"
)

// commonKind holds the options that many commands share: ALL, WHERE, IGNSTATE, PURGE …
const commonKind Kind = "*"

// unions are kinds made of others: DISPLAY CHANNEL without CHLTYPE takes the keywords of every channel type.
var unions = [...]struct {
	kind   Kind
	prefix string // kinds that begin so
	list   []Kind // or these
}{
	{kind: "CHANNEL", prefix: "CHANNEL("},
	{kind: "AUTHINFO", prefix: "AUTHINFO("},
	{kind: "QUEUE", list: []Kind{"QLOCAL", "QALIAS", "QREMOTE", "QMODEL"}},
	{kind: "QSTATUS", prefix: "QSTATUS TYPE("},
	{kind: "TPSTATUS", prefix: "TPSTATUS TYPE("},
}

// aliases are objects that are another's under a second name.
var aliases = [...][2]Kind{{"QCLUSTER", "QUEUE"}, {"TCLUSTER", "TOPIC"}}

var (
	schemaOnce  sync.Once
	schemaIndex map[Kind]*Schema

	unionMu sync.Mutex
	unionBy = map[Kind]*Schema{}
)

// SchemaOf returns the rows of a kind. Beside the kinds of Kinds it knows "CHANNEL",
// "AUTHINFO", "QUEUE", "QSTATUS" and "TPSTATUS" (the rows of all their types), "QCLUSTER", "TCLUSTER", and the options of a
// command as "STOP CHANNEL".
func SchemaOf(k Kind) (*Schema, bool) {
	schemaOnce.Do(func() {
		m := make(map[Kind]*Schema, len(schemas))
		for i := range schemas {
			m[schemas[i].Kind] = &schemas[i]
		}
		schemaIndex = m
	})
	if s := schemaIndex[k]; s != nil {
		return s, true
	}
	for _, a := range aliases {
		if a[0] == k {
			return SchemaOf(a[1])
		}
	}
	s := unionOf(k)
	return s, s != nil
}

func unionOf(k Kind) *Schema {
	unionMu.Lock()
	defer unionMu.Unlock()
	if s := unionBy[k]; s != nil {
		return s
	}
	for _, u := range unions {
		if u.kind != k {
			continue
		}
		s := &Schema{Kind: k}
		for i := range schemas {
			if u.prefix != "" && strings.HasPrefix(string(schemas[i].Kind), u.prefix) {
				s.merge(schemas[i].Attrs)
			}
		}
		for _, part := range u.list {
			s.merge(schemaIndex[part].Attrs)
		}
		unionBy[k] = s
		return s
	}
	return nil
}

// merge adds the rows that s has not yet, and widens those it has to what either allows.
func (s *Schema) merge(rows []Attr) {
	for _, r := range rows {
		i := 0
		for i < len(s.Attrs) && s.Attrs[i].Name != r.Name {
			i++
		}
		if i == len(s.Attrs) {
			s.Attrs = append(s.Attrs, r)
			continue
		}
		a := &s.Attrs[i]
		a.Min, a.Max, a.MaxLen = min(a.Min, r.Min), max(a.Max, r.Max), max(a.MaxLen, r.MaxLen)
		if len(r.Enum) == 0 || len(a.Enum) == len(r.Enum) && &a.Enum[0] == &r.Enum[0] {
			continue
		}
		enum := append([]EnumVal(nil), a.Enum...)
		for _, e := range r.Enum {
			if _, ok := (&Attr{Enum: enum}).EnumByWord(e.Word); !ok {
				enum = append(enum, e)
			}
		}
		a.Enum = enum
	}
}

// Kinds returns the kinds of objects and displays, in table order.
func Kinds() []Kind {
	var out []Kind
	for i := range schemas {
		if k := schemas[i].Kind; k != commonKind && !isCommandKind(k) {
			out = append(out, k)
		}
	}
	return out
}

// isCommandKind reports whether a kind holds the options of one command: "STOP CHANNEL", but not "QSTATUS TYPE(QUEUE)".
func isCommandKind(k Kind) bool {
	return strings.Contains(string(k), " ") && !strings.Contains(string(k), "(")
}

// Index returns the place of a keyword; synonyms and the NO form of a flag lead to the same row.
func (s *Schema) Index(keyword string) (int, bool) {
	s.once.Do(func() {
		m := make(map[string]int, len(s.Attrs)+8)
		for i := range s.Attrs {
			a := &s.Attrs[i]
			m[a.Name] = i
			for _, w := range a.Syn {
				m[w] = i
			}
			if a.Neg != "" {
				m[a.Neg] = i
			}
		}
		s.index = m
	})
	i, ok := s.index[keyword]
	return i, ok
}

// Lookup returns the row of a keyword.
func (s *Schema) Lookup(keyword string) (*Attr, bool) {
	i, ok := s.Index(keyword)
	if !ok {
		return nil, false
	}
	return &s.Attrs[i], true
}

// NameIndex returns the place of the row of the object's name, -1 for kinds without one (QMGR). It is not always the first.
func (s *Schema) NameIndex() int {
	for i := range s.Attrs {
		if s.Attrs[i].Positional {
			return i
		}
	}
	return -1
}

// NameAttr returns the row of the object's name, nil for kinds without one.
func (s *Schema) NameAttr() *Attr {
	if i := s.NameIndex(); i >= 0 {
		return &s.Attrs[i]
	}
	return nil
}

// Defaults returns a new object's values, by place in Attrs.
func (s *Schema) Defaults() []string {
	out := make([]string, len(s.Attrs))
	for i := range s.Attrs {
		out[i] = s.Attrs[i].Default
	}
	return out
}

// EnumByWord finds a word of the enumeration.
func (a *Attr) EnumByWord(word string) (*EnumVal, bool) {
	for i := range a.Enum {
		if a.Enum[i].Word == word {
			return &a.Enum[i], true
		}
	}
	return nil, false
}

// EnumByNum finds the word of a number.
func (a *Attr) EnumByNum(n int32) (*EnumVal, bool) {
	for i := range a.Enum {
		if a.Enum[i].HasNum && a.Enum[i].Num == n {
			return &a.Enum[i], true
		}
	}
	return nil, false
}

// IsList reports whether the value is several items joined by ListSep.
func (a *Attr) IsList() bool {
	return a.Type == TListName || a.Type == TListString || a.Type == TListEnum
}

// Takes reports whether a keyword names this row, and whether it is its NO form.
func (a *Attr) Takes(keyword string) (ok, no bool) {
	if keyword == a.Name {
		return true, false
	}
	if a.Neg != "" && keyword == a.Neg {
		return true, true
	}
	for _, s := range a.Syn {
		if s == keyword {
			return true, false
		}
	}
	return false, false
}

type foreignWord struct{ object, keyword, platform string }

// ForeignPlatform names the platform that alone has a keyword of an object: "z/OS" for STGCLASS of QLOCAL.
func ForeignPlatform(object, keyword string) (platform string, ok bool) {
	for _, f := range foreignWords {
		if f.keyword == keyword && (f.object == object || object == "QUEUE" && strings.HasPrefix(f.object, "Q")) {
			return f.platform, true
		}
	}
	return "", false
}

type messageRow struct{ id, text string }

// MessageTemplate returns the text of a message; %1 %2 … stand for its inserts.
func MessageTemplate(id string) (string, bool) {
	i := sort.Search(len(messages), func(i int) bool { return messages[i].id >= id })
	if i < len(messages) && messages[i].id == id {
		return messages[i].text, true
	}
	return "", false
}

// MessageIDs returns the ids of all messages, in order.
func MessageIDs() []string {
	ids := make([]string, len(messages))
	for i := range messages {
		ids[i] = messages[i].id
	}
	return ids
}

// MessageText returns the text of a message with its inserts in place. An id without a text gives its inserts alone.
func MessageText(id string, inserts ...string) string {
	t, ok := MessageTemplate(id)
	if !ok {
		return strings.Join(inserts, " ")
	}
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] == '%' && i+1 < len(t) && t[i+1] >= '1' && t[i+1] <= '9' {
			i++
			if n := int(t[i] - '1'); n < len(inserts) {
				b.WriteString(inserts[n])
			}
			continue
		}
		b.WriteByte(t[i])
	}
	return b.String()
}

// Text returns the message's text with its inserts in place.
func (m Message) Text() string { return MessageText(m.ID, m.Inserts...) }

// KeyValue is an attribute with its canonical value.
type KeyValue struct{ Key, Val string }

// SystemObject is an object that a new queue manager has.
type SystemObject struct {
	Name     string
	Kind     Kind
	Attrs    []KeyValue // what differs from the kind's defaults
	Descr    string
	Priority int  // 1 used now, 2 for later parts
	QSG      bool // made with the queue-sharing group, not before
}

// SystemObjects returns them in table order. The slice is shared: do not change it.
func SystemObjects() []SystemObject { return systemObjects[:] }
