// Package attr is data: every MQSC object kind, attribute, command and message is one row here, and parser, checks,
// DISPLAY, export, help, completion, PCF and documents are made from the rows.
//
// The rows are tables/*.tsv; go generate turns them into tables_gen.go. Nothing here behaves.
package attr

import "sync"

// Kind is the object column of the tables: "QLOCAL", "QMGR", "CHANNEL(SDR)", "QSTATUS TYPE(HANDLE)".
type Kind string

// Type says how a value is written and checked.
type Type uint8

const (
	TName       Type = iota + 1 // MQ object name, at most MaxLen characters
	TString                     // any characters, at most MaxLen
	TInt                        // Min..Max
	TEnum                       // one of Enum
	TIntOrEnum                  // Min..Max or one of Enum
	THex                        // hexadecimal digits, at most MaxLen
	TPair                       // two values in one pair of brackets
	TListName                   // list of names
	TListString                 // list of strings
	TListEnum                   // list of Enum words
	TFlag                       // no brackets: SHARE/NOSHARE; the value is "YES" or "NO"
	TDate                       // yyyy-mm-dd, set by the queue manager
	TTime                       // hh.mm.ss, set by the queue manager
	TGroup                      // selects a group of attributes on DISPLAY, not stored
)

// Use says where a keyword may stand.
type Use uint8

const (
	No       Use = iota
	Yes          // stored attribute
	Option       // steers the command, not stored
	Selector     // chooses objects, not stored
)

// EnumVal is one word of an enumeration. Num is its MQ constant; HasNum is false where there is none. ShowOnly words are
// shown, or choose objects on DISPLAY, but cannot be set.
type EnumVal struct {
	Word     string
	Const    string
	Num      int32
	HasNum   bool
	ShowOnly bool
}

// Attr is one row: a keyword of one object kind.
type Attr struct {
	Name       string
	Syn        []string // other spellings
	Neg        string   // the NO form of a flag, "NOSHARE"; "" when it has none
	Type       Type
	Min, Max   int64
	MaxLen     int // characters; for lists of one item
	MaxItems   int
	Enum       []EnumVal
	Default    string // canonical text; lists joined by ListSep
	Required   bool
	Define     Use // also SET
	Alter      Use
	Display    Use
	PCF        string // MQCA_…, "" when none
	ID         int32
	ZOS        bool   // only on z/OS in the vendor's product
	Scope      string // seed scope: c s0 … s4
	Hidden     bool   // shown as asterisks
	Positional bool   // the object's name
	Generic    bool   // a name that may hold or end in *
	AsText     bool   // hexadecimal digits that may also be given as characters in quotes
	Doc        string
}

// ListSep joins the items of a list value in its canonical text.
const ListSep = "\x1f"

// Schema is all rows of one kind, in table order, which is the order DISPLAY prints in.
type Schema struct {
	Kind  Kind
	Attrs []Attr
	once  sync.Once      // makes index
	index map[string]int // keyword, synonyms and NO forms → place in Attrs
}

// Command is one MQSC command after parsing: every keyword is known, every value is in its canonical text and
// range, required keywords are there.
type Command struct {
	Verb    string // DEFINE, never DEF
	Object  string // QLOCAL, CHANNEL, QSTATUS …
	Kind    Kind   // rows in force; for CHANNEL without CHLTYPE "CHANNEL"
	Name    string // in the brackets behind the object; folded unless it was quoted
	HasName bool
	Params  []Param
	Where   *Filter
	Text    string // as written, joined to one line; for messages
	Spec    *Verb
}

// Param is a keyword with its value.
type Param struct {
	Key      string // canonical
	Val      string // canonical text; lists joined by ListSep; flags "YES"/"NO"; "" when HasValue is false
	HasValue bool   // false in a DISPLAY's attribute list
	Attr     *Attr  // nil for keywords that have no row (ALL, IGNSTATE, PURGE …)
}

// Get returns the value of a parameter.
func (c *Command) Get(key string) (string, bool) {
	for i := range c.Params {
		if c.Params[i].Key == key {
			return c.Params[i].Val, true
		}
	}
	return "", false
}

// Has reports whether the keyword was given.
func (c *Command) Has(key string) bool { _, ok := c.Get(key); return ok }

// Filter is WHERE(KEY OP VALUE).
type Filter struct {
	Key, Op, Val string // Op is LT GT EQ NE LE GE LK NL CT EX CTG EXG
	Attr         *Attr
}

// Verb is one row of the command table: a verb with an object.
type Verb struct {
	Verb, Object string
	Required     []string // "KEY"; "A|B" one of them; "A?K=V,W" A when K has one of the values; "~…" see Missing
	Optional     []string // keywords beside the object's own rows
	Display      []string // attributes that DISPLAY takes
	NeedName     NameRule
	Priority     int    // 3: z/OS only
	Success      string // message id, "AMQ8006I"
	PCF          string
	PCFNum       int32
}

// NameRule says whether brackets with a name follow the object.
type NameRule uint8

const (
	NameNone     NameRule = iota // no brackets
	NameRequired                 // a name
	NameGeneric                  // a name that may end in *
	NameOptional                 // may be left out
)

// Reply is what a command came to. Rows is nil unless the command shows something; it may be walked once.
type Reply struct {
	CC   int32
	RC   int32
	Msgs []Message // printed after the rows
	Text []string  // lines as another queue manager wrote them, instead of both
	Rows func(yield func(Row) bool)
}

// Failed reports whether the command counts as not processed.
func (r *Reply) Failed() bool { return r.CC == 2 }

// Message is one AMQ message with its inserts; the text is in the message table.
type Message struct {
	ID      string   // with severity letter: AMQ8006I
	Inserts []string // in the order of the text
}

// Row is one object shown.
type Row struct {
	ID    string // message id of its first line
	Title string // overrides the message table's text when not empty
	Items []Item // in print order
}

// Item is one attribute of a Row.
type Item struct {
	Key  string
	Val  string // canonical; lists joined by ListSep
	Attr *Attr  // nil for keys without a row
}
