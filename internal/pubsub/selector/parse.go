package selector

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Grammar, from the weakest binding to the strongest:
//
//	cond   = conj { OR conj }
//	conj   = neg { AND neg }
//	neg    = { NOT } pred
//	pred   = sum [ cmp sum | IS [NOT] NULL | [NOT] (BETWEEN sum AND sum | IN (string,…) | LIKE string [ESCAPE char]) ]
//	sum    = term { (+|-) term }
//	term   = factor { (*|/) factor }
//	factor = { +|- } (literal | identifier | "(" cond ")")
//
// One rule serves conditions and values, since "(" may open either; what may stand where is checked by want.

// MaxLen is the longest selector, in characters (MQ_SELECTOR_LENGTH).
const MaxLen = 10240

// Reason codes.
const (
	RCSyntax       = 2459 // MQRC_SELECTOR_SYNTAX_ERROR
	RCAlwaysFalse  = 2504 // MQRC_SELECTOR_ALWAYS_FALSE
	RCTooLong      = 2519 // MQRC_SELECTION_STRING_ERROR
	RCNotAvailable = 2551 // MQRC_SELECTION_NOT_AVAILABLE
)

// Error says why a selector is refused.
type Error struct {
	RC  int32
	Pos int // byte offset; -1 when the whole string is meant
	Why string
}

func (e *Error) Error() string {
	if e.Pos < 0 {
		return fmt.Sprintf("selector: %s (reason %d)", e.Why, e.RC)
	}
	return fmt.Sprintf("selector, at offset %d: %s (reason %d)", e.Pos, e.Why, e.RC)
}

func syntax(pos int, why string) *Error { return &Error{RC: RCSyntax, Pos: pos, Why: why} }

// Selector is a parsed selector.
type Selector struct {
	text string
	root node
}

// String is the selector as written.
func (s *Selector) String() string { return s.text }

// Parse reads a selector. An empty one selects everything, and is nil. One that asks for no property and is not true is
// refused with RCAlwaysFalse, one that asks for the message's body with RCNotAvailable.
func Parse(text string) (*Selector, error) {
	if len(text) > MaxLen && utf8.RuneCountInString(text) > MaxLen {
		return nil, &Error{RC: RCTooLong, Pos: -1, Why: fmt.Sprintf("longer than %d characters", MaxLen)}
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	p := &parser{lex: lexer{src: text}, seen: map[string]int{}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.cond()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, syntax(p.tok.pos, "unexpected "+p.describe())
	}
	if err := p.want(root, asCond, 0); err != nil {
		return nil, err
	}
	s := &Selector{text: text, root: root}
	if len(p.idents) == 0 && !s.Matches(None) {
		return nil, &Error{RC: RCAlwaysFalse, Pos: -1, Why: "it can never be true"}
	}
	return s, nil
}

type parser struct {
	lex    lexer
	tok    token
	seen   map[string]int
	idents []string
	depth  int
}

// maxDepth bounds the brackets that stand in one another.
const maxDepth = 1000

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) describe() string {
	if p.tok.kind == tokEnd {
		return "end of the selector"
	}
	return fmt.Sprintf("%q", p.lex.src[p.tok.pos:p.lex.pos])
}

func (p *parser) is(k tokKind, text string) bool { return p.tok.kind == k && p.tok.text == text }

// take moves past a token if it is the next one.
func (p *parser) take(k tokKind, text string) (bool, error) {
	if !p.is(k, text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(k tokKind, text string) error {
	ok, err := p.take(k, text)
	if err == nil && !ok {
		err = syntax(p.tok.pos, fmt.Sprintf("%s is missing before %s", text, p.describe()))
	}
	return err
}

func (p *parser) cond() (node, error) { return p.chain("OR", p.conj) }
func (p *parser) conj() (node, error) { return p.chain("AND", p.neg) }

// chain reads operands with AND or OR between them.
func (p *parser) chain(word string, operand func() (node, error)) (node, error) {
	pos := p.tok.pos
	n, err := operand()
	if err != nil || !p.is(tokWord, word) {
		return n, err
	}
	list := []node{n}
	for p.is(tokWord, word) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if n, err = operand(); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	for _, n := range list {
		if err := p.want(n, asCond, pos); err != nil {
			return nil, err
		}
	}
	return &logicNode{and: word == "AND", list: list}, nil
}

func (p *parser) neg() (node, error) {
	pos, flip, any := p.tok.pos, false, false
	for p.is(tokWord, "NOT") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		flip, any = !flip, true
	}
	n, err := p.pred()
	if err != nil || !any {
		return n, err
	}
	if err := p.want(n, asCond, pos); err != nil {
		return nil, err
	}
	return &notNode{n: n, flip: flip}, nil
}

var comparisons = map[string]op{"=": opEQ, "<>": opNE, "<": opLT, "<=": opLE, ">": opGT, ">=": opGE}

func (p *parser) pred() (node, error) {
	pos := p.tok.pos
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	if o, ok := comparisons[p.tok.text]; ok && p.tok.kind == tokOp {
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		return &cmpNode{op: o, a: left, b: right}, nil
	}
	if ok, err := p.take(tokWord, "IS"); err != nil {
		return nil, err
	} else if ok {
		not, err := p.take(tokWord, "NOT")
		if err == nil {
			err = p.expect(tokWord, "NULL")
		}
		if err == nil {
			err = p.want(left, asValue, pos)
		}
		return &nullNode{n: left, not: not}, err
	}
	not, err := p.take(tokWord, "NOT")
	if err != nil {
		return nil, err
	}
	var n node
	switch {
	case p.is(tokWord, "BETWEEN"):
		n, err = p.between(left, pos)
	case p.is(tokWord, "IN"):
		n, err = p.in(left, pos)
	case p.is(tokWord, "LIKE"):
		n, err = p.like(left, pos)
	case not:
		return nil, syntax(p.tok.pos, "BETWEEN, IN or LIKE is missing before "+p.describe())
	default:
		return left, nil
	}
	if err == nil && not {
		n = &notNode{n: n, flip: true}
	}
	return n, err
}

func (p *parser) between(left node, pos int) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	low, err := p.sum()
	if err != nil {
		return nil, err
	}
	if err := p.expect(tokWord, "AND"); err != nil {
		return nil, err
	}
	high, err := p.sum()
	if err != nil {
		return nil, err
	}
	for _, n := range []node{left, low, high} {
		if err := p.want(n, asNumber, pos); err != nil {
			return nil, err
		}
	}
	return &betweenNode{n: left, low: low, high: high}, nil
}

func (p *parser) in(left node, pos int) (node, error) {
	if err := p.want(left, asString, pos); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect(tokOp, "("); err != nil {
		return nil, err
	}
	n := &inNode{n: left}
	for {
		s, err := p.str()
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, String(s))
		if ok, err := p.take(tokOp, ","); err != nil {
			return nil, err
		} else if !ok {
			return n, p.expect(tokOp, ")")
		}
	}
}

func (p *parser) like(left node, pos int) (node, error) {
	if err := p.want(left, asString, pos); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := p.tok.pos
	pattern, err := p.str()
	if err != nil {
		return nil, err
	}
	escape := rune(-1)
	if ok, err := p.take(tokWord, "ESCAPE"); err != nil {
		return nil, err
	} else if ok {
		at := p.tok.pos
		s, err := p.str()
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(s) != 1 {
			return nil, syntax(at, "ESCAPE needs a string of one character")
		}
		escape, _ = utf8.DecodeRuneInString(s)
	}
	toks, ok := likePattern(pattern, escape)
	if !ok {
		return nil, syntax(at, "the escape character at the end of the pattern escapes nothing")
	}
	return &likeNode{n: left, pattern: toks}, nil
}

// str reads a string literal.
func (p *parser) str() (string, error) {
	if p.tok.kind != tokLit || p.tok.val.kind != KindString {
		return "", syntax(p.tok.pos, "a string in single quotes is expected, not "+p.describe())
	}
	s := p.tok.val.str
	return s, p.advance()
}

func (p *parser) sum() (node, error)  { return p.arith("+-", p.term) }
func (p *parser) term() (node, error) { return p.arith("*/", p.factor) }

// arith reads operands with operators of one strength between them.
func (p *parser) arith(ops string, operand func() (node, error)) (node, error) {
	pos := p.tok.pos
	left, err := operand()
	for err == nil && p.tok.kind == tokOp && strings.Contains(ops, p.tok.text) {
		o := p.tok.text[0]
		if err = p.advance(); err != nil {
			break
		}
		var right node
		if right, err = operand(); err != nil {
			break
		}
		if err = p.want(left, asNumber, pos); err == nil {
			err = p.want(right, asNumber, pos)
		}
		left = &arithNode{op: o, a: left, b: right}
	}
	return left, err
}

func (p *parser) factor() (node, error) {
	pos, minus, sign := p.tok.pos, false, false
	for p.is(tokOp, "+") || p.is(tokOp, "-") {
		sign = true
		minus = minus != (p.tok.text == "-")
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.tok.min && !minus {
		return nil, syntax(p.tok.pos, "number above the range of a long")
	}
	n, err := p.primary()
	if err != nil || !sign {
		return n, err
	}
	if err := p.want(n, asNumber, pos); err != nil {
		return nil, err
	}
	if minus {
		n = &negNode{n: n}
	}
	return n, nil
}

func (p *parser) primary() (node, error) {
	t := p.tok
	switch {
	case t.kind == tokLit:
		return &litNode{v: t.val}, p.advance()
	case t.kind == tokWord && (t.text == "TRUE" || t.text == "FALSE"):
		return &litNode{v: Bool(t.text == "TRUE")}, p.advance()
	case t.kind == tokIdent:
		n, err := p.ident(t)
		if err != nil {
			return nil, err
		}
		return n, p.advance()
	case p.is(tokOp, "("):
		if p.depth++; p.depth > maxDepth {
			return nil, syntax(t.pos, fmt.Sprintf("more than %d brackets in one another", maxDepth))
		}
		defer func() { p.depth-- }()
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.cond()
		if err != nil {
			return nil, err
		}
		return n, p.expect(tokOp, ")")
	}
	return nil, syntax(t.pos, "a property, a literal or a bracket is expected, not "+p.describe())
}

// ident notes a property. What lies below Root, but not in Root.MQMD, is the body.
func (p *parser) ident(t token) (node, error) {
	switch {
	case strings.HasSuffix(t.text, ".") || strings.Contains(t.text, ".."):
		return nil, syntax(t.pos, fmt.Sprintf("%q is not a property name", t.text))
	case t.text == "Root" || strings.HasPrefix(t.text, "Root.") && !strings.HasPrefix(t.text, "Root.MQMD."):
		return nil, &Error{RC: RCNotAvailable, Pos: t.pos, Why: fmt.Sprintf("%q asks for the message's body, which needs an extended selection provider", t.text)}
	}
	if field, ok := strings.CutPrefix(t.text, mqmdPrefix); ok && mqmdFields[field] == nil {
		return nil, syntax(t.pos, fmt.Sprintf("MQMD has no field %q; names of fields are case-sensitive", field))
	}
	name := Name(t.text)
	i, ok := p.seen[name]
	if !ok {
		i = len(p.idents)
		p.seen[name] = i
		p.idents = append(p.idents, name)
	}
	return &identNode{name: p.idents[i]}, nil
}
