package mqsc

import (
	"fmt"
	"strings"
)

// SyntaxError says what is wrong with a command and where.
type SyntaxError struct {
	Pos, End  int      // byte offsets in the command's text: where the fault begins, where reading stopped
	Line, Col int      // physical line and column of Pos, from 1, columns in characters; 0 without a script
	ID        string   // AMQ8405I; AMQ8569E for filters, AMQ8426I for a verb alone
	Text      string   // what is wrong
	Hint      string   // what to do
	Segment   string   // the command up to End
	Syntax    []string // lines of help: the command's form; with AMQ8426I the words that may stand here
}

// syntaxID is the message of every syntax error.
const syntaxID = "AMQ8405I"

func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString(e.ID + ": ")
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Col)
	}
	b.WriteString(e.Text)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// complete fills what follows from the command's text.
func (e *SyntaxError) complete(s *Source) *SyntaxError {
	if e.ID == "" {
		e.ID = syntaxID
	}
	e.Pos = max(0, min(e.Pos, len(s.Text)))
	e.End = max(e.Pos, min(e.End, len(s.Text)))
	e.Segment = s.Text[:e.End]
	if s.marks != nil {
		e.Line, e.Col = s.Place(e.Pos)
	}
	return e
}
