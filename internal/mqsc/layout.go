package mqsc

// runmqsc's layout of replies: facts/mqsc.md §4. Scripts compare this byte for byte.

import (
	"bufio"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/attr"
)

const (
	indent     = "   "
	colWidth   = 37 // first column; a longer item stands alone
	col2Max    = 36 // a longer item does not go into the second column
	listIndent = "        "
)

// WriteReply writes what a command came to: its rows, then its messages.
func WriteReply(w io.Writer, cmd *attr.Command, r *attr.Reply) error {
	b := bufio.NewWriter(w)
	writeReply(b, cmd, r, false)
	return b.Flush()
}

// writeReply writes a reply; plain leaves the severity letters out.
func writeReply(b *bufio.Writer, cmd *attr.Command, r *attr.Reply, plain bool) {
	if r.Rows != nil {
		for row := range r.Rows {
			writeRow(b, cmd, &row, plain)
		}
	}
	for _, m := range r.Msgs {
		b.WriteString(MessageLine(m, plain))
		b.WriteByte('\n')
	}
	for _, l := range r.Text {
		if plain {
			l = plainIDs(l)
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
}

// MessageLine is a message with its id, which ends in the severity letter unless plain.
func MessageLine(m attr.Message, plain bool) string {
	return messageID(m.ID, plain) + ": " + m.Text()
}

func messageLine(m attr.Message) string { return MessageLine(m, false) }

func messageID(id string, plain bool) string {
	if plain {
		return strings.TrimRight(id, "IWEST")
	}
	return id
}

var idLine = regexp.MustCompile(`(?m)^(AMQ[0-9]{4})[IWEST]: `)

// plainIDs takes the severity letters off the message lines of a help text or the report of a syntax error.
func plainIDs(text string) string { return idLine.ReplaceAllString(text, "$1: ") }

// columns lays items out in two columns.
type columns struct {
	w       *bufio.Writer
	pending string // item in the first column of the open line
	open    bool
}

func writeRow(w *bufio.Writer, cmd *attr.Command, row *attr.Row, plain bool) {
	title := row.Title
	if title == "" {
		title = attr.Message{ID: row.ID}.Text()
	}
	w.WriteString(messageID(row.ID, plain) + ": " + title + "\n")
	c := &columns{w: w}
	for i := range row.Items {
		it := &row.Items[i]
		switch {
		case ownLines(it.Key):
			c.list(it)
		case cmd != nil && cmd.Object == "CONN" && endsLine(it):
			c.add(ItemText(it))
			c.flush()
		default:
			c.add(ItemText(it))
		}
	}
	c.flush()
}

// ownLines reports the lists that are written one value to a line.
func ownLines(key string) bool { return key == "NAMES" || key == "USERLIST" || key == "ADDRLIST" }

// endsLine reports the items of DISPLAY CONN that stand alone.
func endsLine(it *attr.Item) bool {
	return it.Key == "CONN" || it.Key == "EXTCONN" || it.Key == "TYPE" && it.Val == "CONN"
}

// add places the next item.
func (c *columns) add(text string) {
	n := utf8.RuneCountInString(text)
	switch {
	case c.open && n <= col2Max:
		c.w.WriteString(indent + pad(c.pending) + indent + text + "\n")
		c.open = false
		return
	case c.open:
		c.flush()
		c.alone(text)
	case n > colWidth:
		c.alone(text)
	default:
		c.pending, c.open = text, true
	}
}

func (c *columns) alone(text string) { c.w.WriteString(indent + text + "\n") }

// flush ends a line that holds a first item only.
func (c *columns) flush() {
	if c.open {
		c.alone(pad(c.pending))
		c.open = false
	}
}

// list writes a list one value to a line. After a list of one value the next item may share its line.
func (c *columns) list(it *attr.Item) {
	c.flush()
	vals := splitList(it.Val)
	if len(vals) < 2 {
		c.add(ItemText(it))
		return
	}
	c.alone(it.Key + "(" + printable(vals[0]))
	for i, v := range vals[1:] {
		end := ""
		if i == len(vals)-2 {
			end = ")"
		}
		c.w.WriteString(listIndent + "," + printable(v) + end + "\n")
	}
}

func pad(s string) string {
	if n := utf8.RuneCountInString(s); n < colWidth {
		return s + strings.Repeat(" ", colWidth-n)
	}
	return s
}

// ItemText is an attribute as DISPLAY writes it: KEY(value), or the bare word of a flag.
func ItemText(it *attr.Item) string {
	if it.Attr != nil && it.Attr.Type == attr.TFlag {
		if it.Val == "NO" && it.Attr.Neg != "" {
			return it.Attr.Neg
		}
		return it.Key
	}
	return it.Key + "(" + printable(displayValue(it)) + ")"
}

// displayValue is the text between the brackets.
func displayValue(it *attr.Item) string {
	v := it.Val
	switch {
	case it.Attr != nil && it.Attr.Type == attr.TPair:
		return pairText(it.Key, v)
	case strings.TrimSpace(v) == "":
		return " "
	case it.Attr != nil && it.Attr.Hidden:
		return HiddenMask
	}
	return strings.ReplaceAll(v, attr.ListSep, ",")
}

// pairText writes two numbers; QTIME has a blank behind its comma, and every pair without values.
func pairText(key, v string) string {
	one, two, ok := strings.Cut(v, attr.ListSep)
	if !ok {
		one, two, _ = strings.Cut(v, ",")
	}
	one, two = strings.TrimSpace(one), strings.TrimSpace(two)
	switch {
	case one == "" && two == "":
		return " , "
	case key == "QTIME":
		return one + ", " + two
	}
	return one + "," + two
}

// printable shows characters that do not print as dots, so that no value can break a line or a terminal.
func printable(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return strings.Map(func(r rune) rune {
				if unicode.IsPrint(r) && r != utf8.RuneError {
					return r
				}
				return '.'
			}, s)
		}
	}
	return s
}

// splitList gives the items of a list's canonical text.
func splitList(v string) []string {
	if v == "" {
		return nil
	}
	return strings.Split(v, attr.ListSep)
}
