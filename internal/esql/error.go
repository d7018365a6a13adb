package esql

import (
	"fmt"
	"strings"
)

// What can go wrong: faults of a source, found by Compile, and exceptions of a run.

// Pos is a place in a source; lines and columns start at 1, a column is a character.
type Pos struct{ Line, Col int }

// Fault is one thing that Compile refuses.
type Fault struct {
	File string
	Pos
	Text string
}

func (f *Fault) Error() string {
	if f.File == "" {
		return fmt.Sprintf("%d:%d: %s", f.Line, f.Col, f.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Text)
}

// Faults are all that Compile found, in the order of the source.
type Faults []*Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, x := range f {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// The numbers of the product's catalogue that are used here. 0 is an exception to which it gives no number that is known.
const (
	NumFilterReturn = 4003 // a Filter module returned what is not BOOLEAN
	NumTerminal     = 4009 // PROPAGATE to a terminal that does not exist
	NumStatement    = 2488 // the wrapper that says which statement failed
	NumIndex        = 2434 // an index that is not INTEGER
	NumCast         = 2521 // a value that cannot become the type that is wanted
	NumUser         = 2951 // THROW without MESSAGE
	NumParser       = 5009 // a body that its parser refuses
)

// Insert is one value that belongs to an exception.
type Insert struct {
	Kind Kind
	Text string
}

// Exception is what ends a run. It is the leaf of an ExceptionList; the nodes around it are the caller's to add.
type Exception struct {
	Type     string // element of the ExceptionList: UserException, ParserException, ConversionException, RecoverableException
	Number   int
	Severity int64
	Catalog  string
	Text     string
	Inserts  []Insert

	File, Module, Function string
	Pos
	Statement string // the statement's text, cut
	Cause     error  // what a caller puts below it
}

func (e *Exception) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Col)
	}
	if e.Number != 0 {
		fmt.Fprintf(&b, "BIP%d: ", e.Number)
	}
	b.WriteString(e.Text)
	for i, in := range e.Inserts {
		if i == 8 {
			fmt.Fprintf(&b, ", and %d more", len(e.Inserts)-i)
			break
		}
		b.WriteString([]string{": ", ", "}[min(i, 1)] + in.Text)
	}
	return b.String()
}

func (e *Exception) Unwrap() error { return e.Cause }

// fail makes an exception without a place; the statement that it leaves adds it.
func fail(number int, format string, args ...any) *Exception {
	return &Exception{Type: "RecoverableException", Number: number, Severity: 3, Catalog: "BIPmsgs", Text: fmt.Sprintf(format, args...)}
}

func castFault(format string, args ...any) *Exception {
	e := fail(NumCast, format, args...)
	e.Type = "ConversionException"
	return e
}

// AddException appends err to an ExceptionList as the product shows it: a RecoverableException for the statement with the
// exception itself inside. It returns the innermost element.
func AddException(list *Node, err error, label string) *Node {
	e, ok := err.(*Exception)
	if !ok {
		return addRecord(list, &Exception{Type: "RecoverableException", Severity: 3, Catalog: "BIPmsgs", Text: err.Error()}, label)
	}
	outer := list
	if e.Line > 0 {
		w := fail(NumStatement, "a statement of %s failed", e.where())
		w.File, w.Pos, w.Function = e.File, e.Pos, e.where()
		w.Inserts = []Insert{{Character, e.where()}, {Character, fmt.Sprintf("%d.%d", e.Line, e.Col)}, {Character, e.Statement}}
		outer = addRecord(list, w, label)
	}
	leaf := addRecord(outer, e, label)
	if e.Cause != nil {
		return AddException(leaf, e.Cause, label)
	}
	return leaf
}

func (e *Exception) where() string {
	if e.Module == "" {
		return e.Function
	}
	return e.Module + "." + e.Function
}

func addRecord(list *Node, e *Exception, label string) *Node {
	n := list.Append(&Node{Type: TypeName, Name: e.Type})
	n.AppendValue("File", Char(e.File))
	n.AppendValue("Line", Int(int64(e.Line)))
	n.AppendValue("Function", Char(e.where()))
	n.AppendValue("Type", Char(""))
	n.AppendValue("Name", Char(""))
	n.AppendValue("Label", Char(label))
	n.AppendValue("Catalog", Char(e.Catalog))
	n.AppendValue("Severity", Int(e.Severity))
	n.AppendValue("Number", Int(int64(e.Number)))
	n.AppendValue("Text", Char(e.Text))
	for _, in := range e.Inserts {
		i := n.Append(&Node{Type: TypeName, Name: "Insert"})
		i.AppendValue("Type", Int(int64(in.Kind)))
		i.AppendValue("Text", Char(in.Text))
	}
	return n
}
