package selector

import (
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokKind tells tokens apart. Operators and punctuation are their own characters in token.text.
type tokKind uint8

const (
	tokEnd tokKind = iota
	tokIdent
	tokWord // a keyword, in capitals
	tokLit
	tokOp
)

type token struct {
	kind tokKind
	text string
	val  Value
	pos  int // byte offset, for messages
	// min marks the one exact literal that is in range only behind a minus: 9223372036854775808.
	min bool
}

var keywords = map[string]bool{"NULL": true, "TRUE": true, "FALSE": true, "NOT": true, "AND": true, "OR": true,
	"BETWEEN": true, "LIKE": true, "IN": true, "IS": true, "ESCAPE": true}

type lexer struct {
	src string
	pos int
}

// next reads one token.
func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n\f", l.src[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{pos: start}, nil
	}
	switch c := l.src[start]; {
	case c == '\'':
		return l.quoted()
	case c == '"':
		return l.bytes()
	case isDigit(c), c == '.' && start+1 < len(l.src) && isDigit(l.src[start+1]):
		return l.number()
	case strings.IndexByte("=(),+-*/", c) >= 0:
		l.pos++
		return token{kind: tokOp, text: l.src[start:l.pos], pos: start}, nil
	case c == '<' || c == '>':
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '=' || c == '<' && l.src[l.pos] == '>') {
			l.pos++
		}
		return token{kind: tokOp, text: l.src[start:l.pos], pos: start}, nil
	}
	return l.word()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// word reads an identifier or a keyword.
func (l *lexer) word() (token, error) {
	start := l.pos
	for l.pos < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if r == utf8.RuneError && n <= 1 {
			return token{}, syntax(l.pos, "not valid UTF-8")
		}
		first := l.pos == start
		if !(unicode.IsLetter(r) || r == '_' || r == '$' || !first && (unicode.IsDigit(r) || r == '.')) {
			break
		}
		l.pos += n
	}
	if l.pos == start {
		r, _ := utf8.DecodeRuneInString(l.src[start:])
		return token{}, syntax(start, "unexpected "+strconv.QuoteRune(r))
	}
	s := l.src[start:l.pos]
	if up := strings.ToUpper(s); keywords[up] {
		return token{kind: tokWord, text: up, pos: start}, nil
	}
	return token{kind: tokIdent, text: s, pos: start}, nil
}

// quoted reads a string literal; two quotes inside are one.
func (l *lexer) quoted() (token, error) {
	start := l.pos
	var b strings.Builder
	for {
		i := strings.IndexByte(l.src[l.pos+1:], '\'')
		if i < 0 {
			return token{}, syntax(start, "string literal without its closing quote")
		}
		b.WriteString(l.src[l.pos+1 : l.pos+1+i])
		l.pos += i + 2
		if l.pos == len(l.src) || l.src[l.pos] != '\'' {
			return token{kind: tokLit, val: String(b.String()), pos: start}, nil
		}
		b.WriteByte('\'')
	}
}

// bytes reads a byte string, "0x…" with its double quotes.
func (l *lexer) bytes() (token, error) {
	start := l.pos
	end := strings.IndexByte(l.src[start+1:], '"')
	if end < 0 {
		return token{}, syntax(start, "byte string without its closing double quote")
	}
	s := l.src[start+1 : start+1+end]
	l.pos = start + end + 2
	if len(s) < 4 || s[0] != '0' || s[1]|0x20 != 'x' {
		return token{}, syntax(start, "double quotes hold a byte string only, as in \"0x0A1B\"; strings stand in single quotes")
	}
	b, err := hex.DecodeString(s[2:])
	if err != nil {
		return token{}, syntax(start, "a byte string needs pairs of hexadecimal digits")
	}
	return token{kind: tokLit, val: Bytes(b), pos: start}, nil
}

// number reads an exact literal (decimal, 0x hexadecimal, octal behind a leading zero, an L at the end does nothing)
// or an approximate one (with a point or an exponent).
func (l *lexer) number() (token, error) {
	start := l.pos
	if s := l.src[start:]; len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		l.pos += 2
		l.skip(func(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' })
		return l.exact(start, l.src[start+2:l.pos], 16)
	}
	l.skip(isDigit)
	approx := false
	if l.at('.') {
		approx = true
		l.pos++
		l.skip(isDigit)
	}
	if l.at('e') || l.at('E') {
		approx = true
		if l.pos++; l.at('+') || l.at('-') {
			l.pos++
		}
		l.skip(isDigit)
	}
	s := l.src[start:l.pos]
	if !approx {
		if len(s) > 1 && s[0] == '0' {
			return l.exact(start, s[1:], 8)
		}
		return l.exact(start, s, 10)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !(errors.Is(err, strconv.ErrRange) && f == 0) {
		return token{}, syntax(start, strconv.Quote(s)+" is not a number in the range of a double")
	}
	return l.end(token{kind: tokLit, val: Float(f), pos: start})
}

func (l *lexer) at(c byte) bool { return l.pos < len(l.src) && l.src[l.pos] == c }

func (l *lexer) skip(ok func(byte) bool) {
	for l.pos < len(l.src) && ok(l.src[l.pos]) {
		l.pos++
	}
}

func (l *lexer) exact(start int, digits string, base int) (token, error) {
	if l.at('l') || l.at('L') {
		l.pos++
	}
	u, err := strconv.ParseUint(digits, base, 64)
	switch {
	case err != nil && base == 8 && strings.ContainsAny(digits, "89"):
		return token{}, syntax(start, "a number with a leading zero is octal; 8 and 9 are no octal digits")
	case err != nil || base == 10 && u > math.MaxInt64+1:
		return token{}, syntax(start, strconv.Quote(l.src[start:l.pos])+" is not a number in the range of a long")
	}
	return l.end(token{kind: tokLit, val: Int(int64(u)), pos: start, min: base == 10 && u == math.MaxInt64+1})
}

// end refuses a literal that runs into a name, as in 12abc.
func (l *lexer) end(t token) (token, error) {
	r, n := utf8.DecodeRuneInString(l.src[l.pos:])
	if n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' || r == '.') {
		return token{}, syntax(t.pos, "a number is followed by "+strconv.QuoteRune(r))
	}
	return t, nil
}
