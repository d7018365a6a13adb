package esql

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// Expressions, by precedence from low to high: OR, AND, NOT, comparisons, + and -, ||, * and /, the sign.

// expr reads an expression that gives one value.
func (p *parser) expr() expr { return p.one(p.anyExpr()) }

// anyExpr reads an expression that may give a list.
func (p *parser) anyExpr() expr {
	if !p.enter() {
		return &literal{p.t.pos, Value{}}
	}
	defer p.leave()
	return p.chainOf(p.andExpr, func(op string, at Pos, l, r expr) expr { return &logical{at, true, l, r} }, "OR")
}

// one refuses a list.
func (p *parser) one(x expr) expr {
	if l, ok := x.(listExpr); ok && l.isList() && !p.failed {
		what := "a SELECT gives a list, take one of it with THE(…)"
		if _, ok := x.(*path); ok {
			what = "[] is a list, it belongs into CARDINALITY, EXISTS, FOR, FROM, SELECT or a list assignment"
		}
		p.report(x.at(), "one value is wanted here: %s", what)
	}
	return x
}

// chainOf reads operands with left-associative operators between them, words or punctuation.
func (p *parser) chainOf(operand func() expr, build func(op string, at Pos, l, r expr) expr, ops ...string) expr {
	x := operand()
	for n := 0; !p.failed; n++ {
		op := ""
		for _, o := range ops {
			if p.t.word == o || p.t.punct(o) {
				op = o
			}
		}
		if op == "" {
			break
		}
		if n == maxChain {
			p.syntax(p.t.pos, "the expression is too long: use a variable")
		}
		at := p.t.pos
		p.advance()
		l := p.one(x)
		x = build(op, at, l, p.one(operand()))
	}
	return x
}

func newBinary(op string, at Pos, l, r expr) expr { return &binary{at, operatorOf(op), l, r} }

func (p *parser) andExpr() expr {
	return p.chainOf(p.notExpr, func(op string, at Pos, l, r expr) expr { return &logical{at, false, l, r} }, "AND")
}

func (p *parser) notExpr() expr {
	if at := p.t.pos; p.is("NOT") {
		p.advance()
		if !p.enter() {
			return &literal{at, Value{}}
		}
		defer p.leave()
		return &not{at, p.one(p.notExpr())}
	}
	return p.predicate()
}

func (p *parser) predicate() expr {
	x := p.sum()
	at := p.t.pos
	for _, op := range [...]string{"=", "<>", "<", ">", "<=", ">="} {
		if p.t.punct(op) {
			p.advance()
			return &binary{at, operatorOf(op), p.one(x), p.one(p.sum())}
		}
	}
	if p.accept("IS") {
		t := &isTest{Pos: at, x: p.one(x), not: p.accept("NOT")}
		if !p.isAny("NULL", "TRUE", "FALSE", "UNKNOWN", "INF", "INFINITY", "NAN", "NUM", "NUMBER") {
			p.expected("NULL", "TRUE", "FALSE", "UNKNOWN", "NUM")
		}
		t.what = p.t.word
		p.advance()
		return t
	}
	negated := p.is("NOT") && (p.look(1).word == "BETWEEN" || p.look(1).word == "IN" || p.look(1).word == "LIKE")
	if negated {
		p.advance()
	}
	switch {
	case p.accept("BETWEEN"):
		b := &between{Pos: at, x: p.one(x), not: negated, symmetric: p.accept("SYMMETRIC")}
		p.accept("ASYMMETRIC")
		b.lo = p.one(p.sum())
		p.need("AND")
		b.hi = p.one(p.sum())
		return b
	case p.accept("LIKE"):
		l := &like{Pos: at, x: p.one(x), not: negated, pattern: p.one(p.sum())}
		if p.accept("ESCAPE") {
			l.escape = p.one(p.sum())
		}
		return l
	case p.accept("IN"):
		l := &inList{Pos: at, x: p.one(x), not: negated}
		p.needPunct("(")
		for {
			l.list = append(l.list, p.expr())
			if !p.acceptPunct(",") || len(l.list) > maxChain {
				break
			}
		}
		p.needPunct(")")
		return l
	}
	return x
}

// sum, concat, product: the product's documentation puts || between them.
func (p *parser) sum() expr     { return p.chainOf(p.concat, newBinary, "+", "-") }
func (p *parser) concat() expr  { return p.chainOf(p.product, newBinary, "||") }
func (p *parser) product() expr { return p.chainOf(p.sign, newBinary, "*", "/") }

func (p *parser) sign() expr {
	at := p.t.pos
	if !p.t.punct("-") && !p.t.punct("+") {
		return p.primary()
	}
	neg := p.t.punct("-")
	p.advance()
	if neg && p.t.kind == tNumber && p.t.text == "9223372036854775808" { // the smallest INTEGER
		p.advance()
		return &literal{at, Int(-1 << 63)}
	}
	if !p.enter() {
		return &literal{at, Value{}}
	}
	defer p.leave()
	x := p.one(p.sign())
	if !neg {
		return x
	}
	if l, ok := x.(*literal); ok {
		if v, err := negate(l.v); err == nil {
			return &literal{at, v}
		}
	}
	return &minus{at, x}
}

func (p *parser) primary() expr {
	t := p.t
	switch t.kind {
	case tNumber, tString, tBlob, tBit:
		p.advance()
		return &literal{t.pos, p.constant(t)}
	case tIdent:
		if t.word != "" {
			return p.wordExpr()
		}
		return p.nameExpr()
	}
	if p.t.punct("(") {
		p.advance()
		x := p.anyExpr()
		p.needPunct(")")
		return x
	}
	p.expected("a value, a name or (")
	return &literal{t.pos, Value{}}
}

func (p *parser) constant(t token) Value {
	switch t.kind {
	case tString:
		return char(t.text)
	case tBit:
		return Value{kind: Bit, s: t.text}
	case tBlob:
		b, _ := hex.DecodeString(t.text)
		return Bytes(b)
	}
	if strings.HasPrefix(t.text, "0x") || strings.HasPrefix(t.text, "0X") {
		n, err := strconv.ParseInt(t.text[2:], 16, 64)
		if err != nil {
			p.report(t.pos, "%s is more than an INTEGER holds", t.text)
		}
		return Int(n)
	}
	v, ok := parseNumber(t.text)
	if !ok {
		p.report(t.pos, "%s is no number that a DECIMAL or FLOAT holds", t.text)
	}
	return v
}

var literalKinds = map[string]Kind{"DATE": Date, "TIME": Time, "TIMESTAMP": Timestamp, "GMTTIME": GMTTime, "GMTTIMESTAMP": GMTTimestamp, "DECIMAL": Decimal}

// wordExpr is an expression that begins with an unquoted word.
func (p *parser) wordExpr() expr {
	t, next := p.t, p.look(1)
	if k, ok := literalKinds[t.word]; ok && next.kind == tString {
		p.advance()
		p.advance()
		v, err := castTo(char(next.text), typeOf(k), castOptions{})
		if err != nil {
			p.report(next.pos, "%v", err)
		}
		return &literal{t.pos, v}
	}
	switch t.word {
	case "NULL", "UNKNOWN":
		p.advance()
		return &literal{t.pos, Value{}}
	case "TRUE", "FALSE":
		p.advance()
		return &literal{t.pos, Bool(t.word == "TRUE")}
	case "CASE":
		return p.caseExpr()
	case "SELECT":
		return p.selectExpr(false)
	case "INTERVAL":
		if next.kind == tString || next.punct("-") || next.punct("+") {
			return p.intervalLiteral()
		}
	case "LIST":
		if next.punct("{") {
			return p.listConstructor()
		}
	}
	if next.punct("(") {
		return p.functionCall()
	}
	return p.nameExpr()
}

func (p *parser) intervalLiteral() expr {
	at := p.t.pos
	p.advance()
	neg := p.t.punct("-")
	if neg || p.t.punct("+") {
		p.advance()
	}
	s := p.t
	if s.kind != tString {
		p.expected("the interval in quotes")
	}
	p.advance()
	q := p.qualifier()
	if q.first == 0 {
		p.expected("YEAR", "MONTH", "DAY", "HOUR", "SECOND")
	}
	v, ok := parseInterval(s.text, q)
	if !ok && !p.failed {
		p.report(s.pos, "'%s' is no INTERVAL %s", shorten(s.text, 40), q)
	}
	if neg {
		v.n = -v.n
	}
	return &literal{at, v}
}

func (p *parser) caseExpr() expr {
	c := &caseExpr{Pos: p.t.pos}
	p.advance()
	if !p.is("WHEN") {
		c.subject = p.expr()
	}
	if !p.is("WHEN") {
		p.expected("WHEN")
	}
	for p.accept("WHEN") {
		x := p.expr()
		p.need("THEN")
		c.when = append(c.when, [2]expr{x, p.expr()})
	}
	if p.accept("ELSE") {
		c.other = p.expr()
	}
	p.need("END")
	return c
}

func (p *parser) castExpr(at Pos) expr {
	c := &castExpr{Pos: at}
	for {
		c.of = append(c.of, p.expr())
		if !p.acceptPunct(",") || len(c.of) > 6 {
			break
		}
	}
	p.need("AS")
	c.to = p.declType()
	if c.to.kind == rowKind {
		p.report(at, "CAST AS ROW is not offered")
	}
	for !p.failed && !p.t.punct(")") {
		switch {
		case p.accept("CCSID"):
			c.ccsid = p.expr()
		case p.accept("ENCODING"): // bytes have one order here
			p.expr()
		case p.accept("FORMAT"):
			c.format = p.expr()
		case p.accept("DEFAULT"):
			c.other = p.expr()
		default:
			p.expected("CCSID", "FORMAT", "DEFAULT", ")")
		}
	}
	p.needPunct(")")
	return c
}

func (p *parser) selectExpr(the bool) expr {
	s := &selectExpr{Pos: p.t.pos, one: the}
	p.advance()
	if p.isAny("COUNT", "SUM", "MAX", "MIN") && p.look(1).punct("(") {
		p.refuse("SELECT "+p.t.word, "count with CARDINALITY, add in a FOR loop")
	}
	// The items name correlations of FROM, which comes later: read FROM first, then come back.
	itemsAt := p.i
	p.skipTo("FROM")
	p.need("FROM")
	keep, scope := len(p.vars), p.scope
	p.scope = keep
	for !p.failed {
		s.from = append(s.from, p.fromItem())
		if !p.acceptPunct(",") || len(s.from) == 16 {
			break
		}
	}
	fromEnd := p.i
	p.back(itemsAt)
	p.selectItems(s)
	if !p.is("FROM") {
		p.expected("FROM")
	}
	p.back(fromEnd)
	if p.accept("WHERE") {
		s.where = p.expr()
	}
	p.vars, p.scope = p.vars[:min(keep, len(p.vars))], scope
	return s
}

// skipTo goes to a word outside of parentheses.
func (p *parser) skipTo(word string) {
	for level := 0; !p.failed && p.t.kind != tEOF && !p.t.punct(";"); p.advance() {
		switch {
		case p.t.punct("(") || p.t.punct("{") || p.t.punct("["):
			level++
		case p.t.punct(")") || p.t.punct("}") || p.t.punct("]"):
			level--
			if level < 0 {
				return
			}
		case level == 0 && p.is(word):
			return
		}
	}
}

func (p *parser) back(i int) {
	if !p.failed {
		p.i = i
		p.t = p.toks[i]
	}
}

func (p *parser) fromItem() fromItem {
	f := fromItem{of: p.fieldRef()}
	if p.failed {
		return f
	}
	name, at := "", f.of.Pos
	if p.accept("AS") {
		name, at = p.name("correlation name")
	} else if n := len(f.of.elems); n > 0 {
		name = f.of.elems[n-1].name
	} else {
		name = f.of.name
	}
	if p.rt == nil {
		p.report(at, "SELECT belongs into a routine")
		return f
	}
	f.slot = p.define(name, at, declType{kind: refKind}).slot
	return f
}

func (p *parser) selectItems(s *selectExpr) {
	switch {
	case p.acceptPunct("*"):
		s.star = true
		return
	case p.accept("ITEM"):
		s.item = true
		s.items = []selectItem{{x: p.expr()}}
		return
	}
	s.items = p.items()
}

// items reads expr [AS name] with commas between.
func (p *parser) items() []selectItem {
	var out []selectItem
	for !p.failed {
		it := selectItem{x: p.expr()}
		if p.accept("AS") {
			if p.t.kind != tIdent {
				p.expected("a field name")
			}
			it.name = p.t.text
			p.advance()
		} else if f, ok := it.x.(*path); ok {
			if it.name = f.name; len(f.elems) > 0 {
				it.name = f.elems[len(f.elems)-1].name
			}
		}
		out = append(out, it)
		if !p.acceptPunct(",") || len(out) > maxChain {
			break
		}
	}
	return out
}

func (p *parser) listConstructor() expr {
	l := &listCons{Pos: p.t.pos}
	p.advance()
	p.advance()
	for !p.failed && !p.t.punct("}") {
		if len(l.items) > 0 {
			p.needPunct(",")
		}
		l.items = append(l.items, p.anyExpr())
		if len(l.items) > maxChain {
			p.syntax(l.Pos, "the LIST is too long")
		}
	}
	p.needPunct("}")
	return l
}
