package esql

import "strings"

// Statements that change trees: SET, CREATE, DELETE, MOVE, ATTACH.

func (p *parser) set() stmt {
	s := &setStmt{stmtPos: p.start()}
	p.advance()
	s.target = p.fieldRef()
	p.checkTarget(s.target)
	if p.isAny("TYPE", "NAMESPACE", "NAME", "VALUE") {
		s.part = p.t.word
		if s.target.scalar() {
			p.syntax(p.t.pos, "SET "+s.target.name+" "+s.part+": a variable of type "+s.target.v.typ.String()+" has only a value")
		}
		p.advance()
	}
	p.needPunct("=")
	switch s.part {
	case "TYPE":
		s.x = p.typeExpr()
	case "":
		s.x = p.anyExpr()
		p.checkSet(s)
	default:
		s.x = p.expr()
	}
	p.finish(&s.stmtPos)
	return s
}

// checkSet refuses a list where a value is wanted, and the reverse.
func (p *parser) checkSet(s *setStmt) {
	l, _ := s.x.(listExpr)
	isList := l != nil && l.isList()
	_, isRow := s.x.(*rowExpr)
	switch {
	case isList && s.target.scalar():
		p.report(s.x.at(), "a list cannot become the variable %s of type %s: take one of it with THE(…)", s.target.name, s.target.v.typ)
	case isList && !s.target.many:
		p.report(s.x.at(), "a list cannot become one field: write %s[] on the left, or THE(…) on the right", s.target)
	case s.target.many && !isList && !isNull(s.x):
		p.report(s.x.at(), "%s takes a list: give a SELECT, a LIST{…} or a field with []", s.target)
	case isRow && s.target.scalar():
		p.report(s.x.at(), "a ROW cannot become the variable %s of type %s", s.target.name, s.target.v.typ)
	}
}

func isNull(x expr) bool {
	l, ok := x.(*literal)
	return ok && l.v.IsNull()
}

// String is the path for a message.
func (t *path) String() string {
	out := t.name
	for _, e := range t.elems {
		switch {
		case e.any:
			out += ".*"
		case e.nameOf != nil:
			out += ".{…}"
		default:
			out += "." + e.name
		}
	}
	if t.many {
		out += "[]"
	}
	return out
}

// scalar says that the path is a variable which holds one value.
func (t *path) scalar() bool { return t.v != nil && t.v.typ.kind < rowKind }

// checkTarget refuses to change what cannot be changed.
func (p *parser) checkTarget(t *path) {
	if c := correlation[strings.ToUpper(t.name)]; t.v == nil && p.mod != nil && c.kind != 0 && c.kind != p.mod.Kind {
		return // that is reported already
	}
	switch {
	case t.v != nil && t.v.frozen && (t.scalar() || t.v.typ.kind == nsKind):
		p.report(t.Pos, "%s is CONSTANT and keeps its value", t.v.name)
	case t.v == nil && !t.root.writable():
		what := "is an input and cannot be changed: change the output tree"
		if p.mod != nil && p.mod.Kind == Filter {
			what = "cannot be changed in a Filter: use a Compute node"
		}
		p.report(t.Pos, "%s %s", t.name, what)
	}
}

func (r rootID) writable() bool {
	return r == rootVar || r == rootInputLE || r >= rootOutputRoot
}

func (p *parser) positionWord() (position, bool) {
	pos := posField
	switch p.t.word {
	case "PREVIOUSSIBLING":
		pos = posPrevious
	case "NEXTSIBLING":
		pos = posNext
	case "FIRSTCHILD":
		pos = posFirst
	case "LASTCHILD":
		pos = posLast
	default:
		return pos, false
	}
	p.advance()
	return pos, true
}

// fieldOrPosition reads FIELD f or FIRSTCHILD OF f.
func (p *parser) fieldOrPosition() (position, *path) {
	pos, ok := p.positionWord()
	if ok {
		p.need("OF")
	} else if !p.accept("FIELD") {
		p.expected("FIELD", "FIRSTCHILD OF", "LASTCHILD OF", "PREVIOUSSIBLING OF", "NEXTSIBLING OF")
	}
	f := p.fieldRef()
	p.checkTarget(f)
	if f.many {
		p.report(f.Pos, "[] is a list: one element is wanted here")
	}
	if f.scalar() {
		p.report(f.Pos, "%s is a variable of type %s and no field", f.name, f.v.typ)
	}
	return pos, f
}

func (p *parser) create() stmt {
	s := &createStmt{stmtPos: p.start()}
	p.advance()
	if p.isAny("FUNCTION", "PROCEDURE", "COMPUTE", "FILTER", "MODULE") {
		p.syntax(p.t.pos, "a routine or module cannot begin inside of another: is END; missing before?")
	}
	s.pos, s.of = p.fieldOrPosition()
	if p.accept("AS") {
		s.as = p.reference("CREATE … AS")
	}
	if p.is("DOMAIN") {
		if s.pos == posField {
			p.syntax(p.t.pos, "DOMAIN is not for CREATE FIELD: use CREATE LASTCHILD OF and the like")
		}
		p.advance()
		s.domain = p.expr()
	}
	if p.is("REPEAT") {
		if s.pos != posPrevious && s.pos != posNext {
			p.syntax(p.t.pos, "REPEAT is for CREATE PREVIOUSSIBLING and NEXTSIBLING only")
		}
		p.advance()
		s.repeat = true
	}
	s.names = p.nameClauses()
	if p.accept("VALUE") {
		s.value = p.expr()
	}
	if p.accept("FROM") {
		s.from = p.fieldRef()
	}
	if p.is("PARSE") {
		if s.pos == posField {
			p.syntax(p.t.pos, "PARSE is not for CREATE FIELD: use CREATE LASTCHILD OF and the like")
		}
		p.advance()
		c := p.parseClause()
		s.parse = &c
	}
	if p.isAny("TYPE", "NAMESPACE", "NAME") {
		p.syntax(p.t.pos, p.t.word+" stands too late: the order is AS, DOMAIN, REPEAT, TYPE, NAMESPACE, NAME, VALUE, FROM, PARSE")
	}
	p.finish(&s.stmtPos)
	return s
}

func (p *parser) nameClauses() nameClause {
	var c nameClause
	if p.accept("IDENTITY") {
		e := p.pathElem()
		if e.index != indexNone || e.any || e.nsMode == nsAny {
			p.report(e.Pos, "IDENTITY names one element: no index and no *")
		}
		c.identity = &e
		return c
	}
	if p.accept("TYPE") {
		c.typ = p.typeExpr()
	}
	if p.accept("NAMESPACE") {
		if p.t.punct("*") {
			p.syntax(p.t.pos, "NAMESPACE * is not offered: leave NAMESPACE away")
		}
		c.ns = p.nsValue()
	}
	if p.accept("NAME") {
		c.name = p.expr()
	}
	return c
}

// nsValue reads a namespace where an expression stands: a NAMESPACE constant may be named.
func (p *parser) nsValue() expr {
	if v := p.lookup(p.t.text); p.t.kind == tIdent && v != nil && v.typ.kind == nsKind {
		x := &path{Pos: p.t.pos, name: v.name, v: v}
		p.advance()
		return x
	}
	return p.expr()
}

// parseClause reads PARSE( or ASBITSTREAM( arguments behind the first: by keyword or by place.
func (p *parser) parseClause() parseClause {
	var c parseClause
	p.needPunct("(")
	c.data = p.expr()
	p.parseOptions(&c)
	p.needPunct(")")
	return c
}

func (p *parser) parseOptions(c *parseClause) {
	places := []*expr{&c.encoding, &c.ccsid, &c.set, &c.typ, &c.format_, &c.options}
	for n := 0; !p.failed && p.acceptPunct(","); n++ {
		if n == len(places) {
			p.expected(")")
			return
		}
		if !p.t.punct(",") && !p.t.punct(")") {
			*places[n] = p.optionExpr()
		}
	}
	for !p.failed && !p.t.punct(")") {
		i := -1
		for j, w := range []string{"ENCODING", "CCSID", "SET", "TYPE", "FORMAT", "OPTIONS"} {
			if p.is(w) {
				i = j
			}
		}
		if i < 0 {
			p.expected("ENCODING", "CCSID", "SET", "TYPE", ")")
			return
		}
		p.advance()
		*places[i] = p.optionExpr()
	}
}

// optionExpr takes the names of options, which are no variables.
func (p *parser) optionExpr() expr {
	if p.isAny("ROOTBITSTREAM", "FOLDERBITSTREAM", "VALIDATENONE", "VALIDATEDEFERRED", "VALIDATEIMMEDIATE", "VALIDATE") {
		x := &literal{p.t.pos, char(p.t.word)}
		for p.advance(); p.acceptPunct("+"); p.advance() {
			x.v.s += " " + p.t.word
		}
		return x
	}
	return p.expr()
}

func (p *parser) delete() stmt {
	s := &deleteStmt{stmtPos: p.start()}
	p.advance()
	if p.is("FROM") {
		p.refuse("DELETE FROM", "databases are outside of this profile")
	}
	s.pos, s.of = p.fieldOrPosition()
	p.finish(&s.stmtPos)
	return s
}

// reference reads the name of a REFERENCE variable.
func (p *parser) reference(what string) *variableRef {
	name, at := p.name("REFERENCE variable")
	v := p.lookup(name)
	switch {
	case p.failed:
	case v == nil:
		p.report(at, "%s is not declared: DECLARE %s REFERENCE TO a field", name, name)
	case v.typ.kind != refKind:
		p.report(at, "%s is of type %s, %s needs a REFERENCE", name, v.typ, what)
	default:
		return v
	}
	return &variableRef{Pos: at, name: name, typ: declType{kind: refKind}}
}

func (p *parser) move() stmt {
	s := &moveStmt{stmtPos: p.start()}
	p.advance()
	s.ref = p.reference("MOVE")
	if p.accept("TO") {
		s.to = p.fieldRef()
		p.finish(&s.stmtPos)
		return s
	}
	pos, ok := p.positionWord()
	if s.pos = pos; !ok {
		if !p.accept("PARENT") {
			p.expected("TO", "PARENT", "NEXTSIBLING", "PREVIOUSSIBLING", "FIRSTCHILD")
		}
		s.pos = posParent
	}
	if p.accept("REPEAT") {
		s.repeatType, s.repeatName = p.accept("TYPE"), p.accept("NAME")
		if !s.repeatType && !s.repeatName {
			s.repeatType, s.repeatName = true, true
		}
	} else {
		s.names = p.nameClauses()
	}
	p.finish(&s.stmtPos)
	return s
}

func (p *parser) attach() stmt {
	s := &attachStmt{stmtPos: p.start()}
	p.advance()
	s.ref = p.reference("ATTACH")
	p.need("TO")
	s.to = p.fieldRef()
	p.checkTarget(s.to)
	p.need("AS")
	pos, ok := p.positionWord()
	if s.pos = pos; !ok {
		p.expected("FIRSTCHILD", "LASTCHILD", "PREVIOUSSIBLING", "NEXTSIBLING")
	}
	p.finish(&s.stmtPos)
	return s
}
