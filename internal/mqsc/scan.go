package mqsc

// The shape of a command: words, brackets, quotes. Knows no keyword.

import (
	"strings"
)

// maxDepth bounds nested brackets in an unquoted value.
const maxDepth = 32

// item is one value between brackets.
type item struct {
	text     string // quotes removed, doubled quotes made single; an unquoted one is folded to upper case
	quoted   bool
	pos, end int // in the command's text, with its quotes
}

// rawParam is a keyword and what stands in the brackets behind it.
type rawParam struct {
	key      string // as written
	pos      int
	end      int // behind the closing bracket, or behind the keyword
	items    []item
	brackets bool
}

// rawCommand is a command in its shape.
type rawCommand struct {
	text   string
	verb   rawParam
	object rawParam // with the name in its brackets
	params []rawParam
}

// scanner walks a command's text.
type scanner struct {
	s string
	i int
}

// skip passes blanks and commas, which are the same outside quotes.
func (c *scanner) skip() {
	for c.i < len(c.s) && (isBlank(c.s[c.i]) || c.s[c.i] == ',') {
		c.i++
	}
}

// scanCommand splits text into verb, object and parameters. A verb alone has an empty object.
func scanCommand(text string) (*rawCommand, *SyntaxError) {
	c := &scanner{s: text}
	raw := &rawCommand{text: text}
	var err *SyntaxError
	c.skip()
	if raw.verb, err = c.word(); err != nil {
		return raw, err
	}
	c.skip()
	if c.i == len(c.s) {
		return raw, nil
	}
	if raw.object, err = c.param(); err != nil {
		return raw, err
	}
	for {
		c.skip()
		if c.i == len(c.s) {
			return raw, nil
		}
		p, err := c.param()
		if err != nil {
			return raw, err
		}
		raw.params = append(raw.params, p)
	}
}

// word reads a keyword.
func (c *scanner) word() (rawParam, *SyntaxError) {
	p := rawParam{pos: c.i}
	for c.i < len(c.s) && !isBlank(c.s[c.i]) && !strings.ContainsRune(",()';", rune(c.s[c.i])) {
		c.i++
	}
	p.key, p.end = c.s[p.pos:c.i], c.i
	if p.key != "" {
		return p, nil
	}
	if c.i == len(c.s) {
		return p, c.fail(p.pos, "the command is empty", "give one MQSC command")
	}
	switch c.s[c.i] {
	case ')':
		return p, c.fail(p.pos, "a closing bracket without an opening one", "remove it")
	case '(':
		return p, c.fail(p.pos, "a bracket without a keyword before it", "write KEYWORD(value)")
	case '\'':
		return p, c.fail(p.pos, "a quoted string where a keyword must be", "write KEYWORD('value')")
	default:
		return p, c.fail(p.pos, "a semicolon inside a command", "a command in this form holds one command only")
	}
}

// param reads a keyword and the brackets behind it, when there are any.
func (c *scanner) param() (rawParam, *SyntaxError) {
	p, err := c.word()
	if err != nil {
		return p, err
	}
	c.blanks()
	if c.i < len(c.s) && c.s[c.i] == '(' {
		open := c.i
		c.i++
		p.brackets = true
		if p.items, err = c.items(open); err != nil {
			return p, err
		}
		p.end = c.i
	}
	return p, nil
}

func (c *scanner) blanks() {
	for c.i < len(c.s) && isBlank(c.s[c.i]) {
		c.i++
	}
}

// items reads values up to the closing bracket.
func (c *scanner) items(open int) ([]item, *SyntaxError) {
	var list []item
	for {
		c.skip()
		if c.i == len(c.s) {
			return nil, c.fail(open, "the bracket is not closed", "add )")
		}
		var it item
		var err *SyntaxError
		switch c.s[c.i] {
		case ')':
			c.i++
			return list, nil
		case '\'':
			it, err = c.quoted()
		default:
			it, err = c.bare()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, it)
	}
}

// quoted reads a string in quotes; two quotes in it are one.
func (c *scanner) quoted() (item, *SyntaxError) {
	it := item{quoted: true, pos: c.i}
	var b strings.Builder
	c.i++
	for {
		n := strings.IndexByte(c.s[c.i:], '\'')
		if n < 0 {
			c.i = len(c.s)
			return it, c.fail(it.pos, "the quoted string is not closed",
				"add a quote; to go on with the string on the next line, end the line with + or -")
		}
		b.WriteString(c.s[c.i : c.i+n])
		c.i += n + 1
		if c.i == len(c.s) || c.s[c.i] != '\'' {
			break
		}
		b.WriteByte('\'')
		c.i++
	}
	it.text, it.end = b.String(), c.i
	if c.i < len(c.s) && !isBlank(c.s[c.i]) && c.s[c.i] != ',' && c.s[c.i] != ')' {
		return it, c.fail(c.i, "text directly behind a quoted string", "inside a string a quote is written twice: ''")
	}
	return it, nil
}

// bare reads a value without quotes; brackets in it are matched: HOST(1414).
func (c *scanner) bare() (item, *SyntaxError) {
	it := item{pos: c.i}
	var open []int
	for ; c.i < len(c.s); c.i++ {
		ch := c.s[c.i]
		if len(open) == 0 && (isBlank(ch) || ch == ',' || ch == ')') {
			break
		}
		switch ch {
		case '(':
			if len(open) == maxDepth {
				return it, c.fail(c.i, "too many nested brackets", "put the value in quotes")
			}
			open = append(open, c.i)
		case ')':
			open = open[:len(open)-1]
		case '\'':
			return it, c.fail(c.i, "a quote inside a value", "put the whole value in quotes")
		}
	}
	if len(open) > 0 {
		return it, c.fail(open[len(open)-1], "the bracket is not closed", "add )")
	}
	it.end = c.i
	text := c.s[it.pos:it.end]
	if n := templateAt(text); n >= 0 {
		return it, c.fail(it.pos+n, "an unrendered template", templateHint)
	}
	it.text = upper(text)
	return it, nil
}

func (c *scanner) fail(pos int, text, hint string) *SyntaxError {
	return &SyntaxError{Pos: pos, End: c.i, Text: text, Hint: hint}
}

// templateHint says what a literal ${ or {{ means.
const templateHint = "this script is a template: give its variables their values (envsubst, helm template) before running it"

// templateAt gives the place of a template's variable in s, -1 when there is none.
func templateAt(s string) int {
	at := strings.Index(s, "${")
	if n := strings.Index(s, "{{"); n >= 0 && (at < 0 || n < at) {
		at = n
	}
	return at
}

// upper folds a-z only: other letters have no upper case in every code page.
func upper(s string) string {
	for i := 0; i < len(s); i++ {
		if 'a' <= s[i] && s[i] <= 'z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'a' <= b[i] && b[i] <= 'z' {
					b[i] -= 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
