package esql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lexer: a source becomes a slice of tokens, which the parser looks into as far as it likes.

type tokenKind uint8

const (
	tEOF    tokenKind = iota
	tIdent            // plain or quoted
	tNumber           // INTEGER, DECIMAL or FLOAT literal
	tString           // character literal
	tBlob             // X'…'
	tBit              // B'…'
	tPunct
	tBad // what the lexer refuses; text says why
)

type token struct {
	kind tokenKind
	text string // of an identifier its name, of a literal its content, of punctuation itself
	word string // an unquoted identifier in upper case: what keywords are compared with
	off  int    // where it starts in the source
	end  int
	pos  Pos
}

// MaxSource bounds a source.
const MaxSource = 1 << 20

type lexer struct {
	src  string
	off  int
	line int
	bol  int // where the line starts
	// The last place that was asked for: columns are counted from there.
	seen, col int
}

// lex never fails: what is no token is a tBad.
func lex(src string) []token {
	l := &lexer{src: strings.TrimPrefix(src, "\uFEFF"), line: 1, col: 1}
	out := make([]token, 0, len(src)/6+8)
	for {
		t := l.next()
		out = append(out, t)
		if t.kind == tEOF {
			return out
		}
	}
}

func (l *lexer) next() token {
	if bad, ok := l.space(); !ok {
		return bad
	}
	t := token{off: l.off, pos: l.pos(l.off)}
	switch c := l.peek(0); {
	case l.off >= len(l.src):
		t.kind = tEOF
	case (c|0x20 == 'x' || c|0x20 == 'b') && l.peek(1) == '\'':
		l.off++
		l.bytes(&t, c|0x20)
	case c == '\'':
		t.kind = tString
		l.quoted(&t, '\'')
	case c == '"':
		t.kind = tIdent
		l.quoted(&t, '"')
		if t.kind == tIdent && t.text == "" {
			t.kind, t.text = tBad, `"" is no name`
		}
	case c >= '0' && c <= '9' || c == '.' && isDigit(l.peek(1)):
		l.number(&t)
	default:
		l.wordOrPunct(&t)
	}
	t.end = l.off
	return t
}

func (l *lexer) peek(n int) byte {
	if l.off+n < len(l.src) {
		return l.src[l.off+n]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) pos(off int) Pos {
	if l.seen < l.bol {
		l.seen, l.col = l.bol, 1
	}
	l.col += utf8.RuneCountInString(l.src[l.seen:off])
	l.seen = off
	return Pos{l.line, l.col}
}

// newlines accounts for what was passed.
func (l *lexer) newlines(from int) {
	for i := from; i < l.off; i++ {
		if l.src[i] == '\n' {
			l.line++
			l.bol = i + 1
		}
	}
}

// space skips blanks and comments.
func (l *lexer) space() (token, bool) {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case c == '\n':
			l.off++
			l.line++
			l.bol = l.off
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.off++
		case c == '-' && l.peek(1) == '-':
			n := strings.IndexByte(l.src[l.off:], '\n')
			if n < 0 {
				n = len(l.src) - l.off
			}
			l.off += n
		case c == '/' && l.peek(1) == '*':
			start := token{kind: tBad, text: "a comment /* without its end */", off: l.off, pos: l.pos(l.off)}
			from := l.off
			if !l.comment() {
				start.end = l.off
				return start, false
			}
			l.newlines(from)
		default:
			r, n := utf8.DecodeRuneInString(l.src[l.off:])
			if !unicode.IsSpace(r) {
				return token{}, true
			}
			l.off += n
		}
	}
	return token{}, true
}

// comment skips one, and those inside of it: real modules comment out code that has comments.
func (l *lexer) comment() bool {
	for depth := 0; l.off < len(l.src); {
		switch {
		case l.peek(0) == '/' && l.peek(1) == '*':
			depth++
			l.off += 2
		case l.peek(0) == '*' && l.peek(1) == '/':
			l.off += 2
			if depth--; depth == 0 {
				return true
			}
		default:
			l.off++
		}
	}
	return false
}

// quoted reads '…' or "…", in which the quote is written twice.
func (l *lexer) quoted(t *token, q byte) {
	from := l.off
	l.off++
	start := l.off
	doubled := false
	for {
		n := strings.IndexByte(l.src[l.off:], q)
		if n < 0 {
			l.off = len(l.src)
			l.newlines(from)
			t.kind, t.text = tBad, "a quote "+string(q)+" without its end"
			return
		}
		l.off += n + 1
		if l.peek(0) != q {
			break
		}
		l.off++
		doubled = true
	}
	t.text = l.src[start : l.off-1]
	if doubled {
		t.text = strings.ReplaceAll(t.text, string([]byte{q, q}), string(q))
	}
	l.newlines(from)
	if !utf8.ValidString(t.text) {
		t.kind, t.text = tBad, "bytes that are not UTF-8: save the source as UTF-8"
	}
}

func (l *lexer) bytes(t *token, prefix byte) {
	l.quoted(t, '\'')
	if t.kind == tBad {
		return
	}
	t.kind = tBlob
	digits, name := "0123456789abcdefABCDEF", "hexadecimal digits in pairs"
	if prefix == 'b' {
		t.kind, digits, name = tBit, "01", "digits 0 and 1"
	}
	if strings.Trim(t.text, digits) != "" || t.kind == tBlob && len(t.text)%2 != 0 {
		t.kind, t.text = tBad, "'"+shorten(t.text, 40)+"' has not only "+name
	}
}

func (l *lexer) number(t *token) {
	t.kind = tNumber
	start := l.off
	if l.peek(0) == '0' && l.peek(1)|0x20 == 'x' {
		l.off += 2
		for strings.IndexByte("0123456789abcdefABCDEF", l.peek(0)) >= 0 && l.peek(0) != 0 {
			l.off++
		}
	} else {
		for isDigit(l.peek(0)) {
			l.off++
		}
		if l.peek(0) == '.' && isDigit(l.peek(1)) {
			for l.off++; isDigit(l.peek(0)); {
				l.off++
			}
		}
		if e := l.peek(0) | 0x20; e == 'e' && (isDigit(l.peek(1)) || (l.peek(1) == '+' || l.peek(1) == '-') && isDigit(l.peek(2))) {
			for l.off += 2; isDigit(l.peek(0)); {
				l.off++
			}
		}
	}
	t.text = l.src[start:l.off]
	if r, _ := utf8.DecodeRuneInString(l.src[l.off:]); isLetter(r) {
		t.kind, t.text = tBad, "a letter behind the number "+t.text
	}
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) && r != utf8.RuneError }

func (l *lexer) wordOrPunct(t *token) {
	start := l.off
	for l.off < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.off:])
		if !isLetter(r) && (l.off == start || !unicode.IsDigit(r)) {
			break
		}
		l.off += n
	}
	if l.off > start {
		t.kind, t.text = tIdent, l.src[start:l.off]
		t.word = strings.ToUpper(t.text)
		return
	}
	t.kind = tPunct
	for _, p := range [...]string{"<>", "<=", ">=", "||"} {
		if strings.HasPrefix(l.src[l.off:], p) {
			l.off += 2
			t.text = p
			return
		}
	}
	r, n := utf8.DecodeRuneInString(l.src[l.off:])
	l.off += n
	t.text = l.src[start:l.off]
	if !strings.ContainsRune("()[]{}.,;:=<>+-*/", r) || r == utf8.RuneError {
		t.kind = tBad
		switch r {
		case utf8.RuneError:
			t.text = "bytes that are not UTF-8: save the source as UTF-8"
		case '!':
			t.text = "!: not equal is written <>"
		default:
			t.text = "the character " + string(r)
		}
	}
}

// String is the token for a message.
func (t token) String() string {
	switch t.kind {
	case tEOF:
		return "the end of the source"
	case tString:
		return "'" + shorten(t.text, 40) + "'"
	case tBlob:
		return "X'" + shorten(t.text, 40) + "'"
	case tBit:
		return "B'" + shorten(t.text, 40) + "'"
	}
	return shorten(t.text, 60)
}
