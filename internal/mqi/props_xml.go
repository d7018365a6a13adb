package mqi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The text of MQRFH2 folders: the part of XML that they use. encoding/xml takes more than a folder may hold, and a
// folder is read for each message that is selected, so this is a reader of its own.

// element is one element of a folder: a value or a group.
type element struct {
	name  string
	attrs []elementAttr
	text  string
	kids  []*element
}

type elementAttr struct{ name, value string }

func (e *element) attr(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

const (
	// maxElementDepth is how deep groups may stand in a folder.
	maxElementDepth = 64
	// maxElements is how many elements a folder may have.
	maxElements = 1 << 16
)

var errFolder = errors.New("the folder is not well formed")

type folderParser struct {
	s string
	i int
	n int // elements so far
}

// parseFolder reads the text of one folder.
func parseFolder(text string) (*element, error) {
	p := &folderParser{s: text}
	p.blanks()
	e, err := p.element(0)
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.i < len(p.s) {
		return nil, p.bad("text behind the folder")
	}
	return e, nil
}

func (p *folderParser) bad(what string) error {
	return fmt.Errorf("%w: %s at offset %d", errFolder, what, p.i)
}

func (p *folderParser) blanks() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n\x00", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *folderParser) eat(s string) bool {
	if strings.HasPrefix(p.s[p.i:], s) {
		p.i += len(s)
		return true
	}
	return false
}

// name reads a name: up to a blank or a character that means something.
func (p *folderParser) name() string {
	at := p.i
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n<>/='\"&", p.s[p.i]) < 0 {
		p.i++
	}
	return p.s[at:p.i]
}

// tag reads the beginning of an element up to its > and tells whether it ends there too.
func (p *folderParser) tag() (e *element, empty bool, err error) {
	if !p.eat("<") {
		return nil, false, p.bad("no element begins")
	}
	e = &element{name: p.name()}
	if e.name == "" || !utf8.ValidString(e.name) {
		return nil, false, p.bad("an element without a name")
	}
	for {
		p.blanks()
		if p.eat("/>") {
			return e, true, nil
		}
		if p.eat(">") {
			return e, false, nil
		}
		a := elementAttr{name: p.name()}
		p.blanks()
		if a.name == "" || !p.eat("=") {
			return nil, false, p.bad("no attribute")
		}
		p.blanks()
		if a.value, err = p.quoted(); err != nil {
			return nil, false, err
		}
		e.attrs = append(e.attrs, a)
	}
}

func (p *folderParser) quoted() (string, error) {
	if p.i < len(p.s) && (p.s[p.i] == '\'' || p.s[p.i] == '"') {
		at := p.i + 1
		if n := strings.IndexByte(p.s[at:], p.s[p.i]); n >= 0 {
			p.i = at + n + 1
			return p.unescape(p.s[at : at+n])
		}
	}
	return "", p.bad("an attribute's value is not in quotes")
}

func (p *folderParser) element(depth int) (*element, error) {
	if p.n++; p.n > maxElements || depth > maxElementDepth {
		return nil, p.bad("more elements than a folder may have")
	}
	e, empty, err := p.tag()
	if err != nil || empty {
		return e, err
	}
	for {
		n := strings.IndexByte(p.s[p.i:], '<')
		if n < 0 {
			return nil, p.bad("element " + e.name + " has no end")
		}
		text, err := p.unescape(p.s[p.i : p.i+n])
		if err != nil {
			return nil, err
		}
		p.i += n
		e.text += text
		if p.eat("</") {
			name := p.name()
			p.blanks()
			if name != e.name || !p.eat(">") {
				return nil, p.bad("element " + e.name + " ends as " + name)
			}
			break
		}
		kid, err := p.element(depth + 1)
		if err != nil {
			return nil, err
		}
		e.kids = append(e.kids, kid)
	}
	if len(e.kids) > 0 {
		if strings.Trim(e.text, " \t\r\n") != "" {
			return nil, p.bad("element " + e.name + " has a value and elements")
		}
		e.text = ""
	}
	return e, nil
}

func (p *folderParser) unescape(s string) (string, error) {
	if strings.IndexByte(s, '&') < 0 {
		return s, nil
	}
	var b strings.Builder
	for s != "" {
		n := strings.IndexByte(s, '&')
		if n < 0 {
			break
		}
		b.WriteString(s[:n])
		name, rest, ok := strings.Cut(s[n+1:], ";")
		r, known := entity(name)
		if !ok || !known {
			return "", p.bad("an & that begins no reference")
		}
		b.WriteRune(r)
		s = rest
	}
	b.WriteString(s)
	return b.String(), nil
}

func entity(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if h, hex := strings.CutPrefix(digits, "x"); hex {
		digits, base = h, 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	return rune(n), err == nil && utf8.ValidRune(rune(n))
}

var textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
var attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", "'", "&apos;")

// write appends the element's text.
func (e *element) write(b *strings.Builder) {
	b.WriteString("<" + e.name)
	for _, a := range e.attrs {
		b.WriteString(" " + a.name + "='" + attrEscaper.Replace(a.value) + "'")
	}
	b.WriteString(">")
	b.WriteString(textEscaper.Replace(e.text))
	for _, k := range e.kids {
		k.write(b)
	}
	b.WriteString("</" + e.name + ">")
}
