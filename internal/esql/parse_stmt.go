package esql

import "strings"

// Statements.

// notOffered are statements that are refused by name.
var notOffered = map[string]string{
	"INSERT": "databases are outside of this profile", "UPDATE": "databases are outside of this profile",
	"PASSTHRU": "databases are outside of this profile", "COMMIT": "the flow's unit of work decides",
	"ROLLBACK": "throw an exception to back out", "EVAL": "write the expression itself", "RESIGNAL": "handlers are level 3",
	"SLEEP": "call it as a function: SET x = SLEEP(100)",
}

func (p *parser) statement() stmt {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	label := ""
	if p.t.kind == tIdent && p.look(1).punct(":") {
		switch p.look(2).word {
		case "BEGIN", "WHILE", "REPEAT", "LOOP":
			label, _ = p.name("label")
			p.advance()
		}
	}
	switch p.t.word {
	case "BEGIN":
		return p.block(label)
	case "WHILE", "REPEAT", "LOOP":
		return p.loop(label)
	}
	return p.simple()
}

func (p *parser) simple() stmt {
	switch p.t.word {
	case "DECLARE":
		return p.declare()
	case "SET":
		return p.set()
	case "CREATE":
		return p.create()
	case "DELETE":
		return p.delete()
	case "IF":
		return p.ifStatement()
	case "CASE":
		return p.caseStatement()
	case "FOR":
		return p.forStatement()
	case "MOVE":
		return p.move()
	case "CALL":
		return p.call()
	case "PROPAGATE":
		return p.propagate()
	case "THROW":
		return p.throw()
	case "LOG":
		return p.log()
	case "RETURN":
		return p.returnStatement()
	case "LEAVE", "ITERATE":
		return p.jump()
	case "ATTACH":
		return p.attach()
	case "DETACH":
		s := &detachStmt{stmtPos: p.start()}
		p.advance()
		s.ref = p.reference("DETACH")
		p.finish(&s.stmtPos)
		return s
	}
	if why, ok := notOffered[p.t.word]; ok {
		p.refuse(p.t.word, why)
	} else if p.t.kind == tIdent && p.t.word != "" && p.look(1).punct("=") {
		p.syntax(p.t.pos, "found "+p.t.text+" =, an assignment begins with SET")
	} else {
		p.expected("a statement like SET, IF, CALL or RETURN")
	}
	return nil
}

func (p *parser) start() stmtPos {
	return stmtPos{Pos: p.t.pos, file: p.file, text: p.src[min(p.t.off, len(p.src)):]}
}

// finish cuts the statement's text at its last token.
func (p *parser) finish(s *stmtPos) {
	if p.i > 0 && !p.failed {
		s.text = s.text[:max(0, p.toks[p.i-1].end-(len(p.src)-len(s.text)))]
	}
}

// statements reads up to one of the words, which it leaves.
func (p *parser) statements(until ...string) []stmt {
	keep, scope := len(p.vars), p.scope
	p.scope = keep
	var out []stmt
	for !p.failed && !p.isAny(until...) {
		if p.t.kind == tEOF {
			p.expected(append([]string{"a statement"}, until...)...)
			break
		}
		if s := p.statement(); s != nil {
			out = append(out, s)
		}
		if !p.failed && !p.acceptPunct(";") {
			p.expected("; at the end of the statement")
		}
	}
	p.vars, p.scope = p.vars[:min(keep, len(p.vars))], scope
	return out
}

func (p *parser) block(label string) stmt {
	s := &block{stmtPos: p.start()}
	p.advance()
	p.finish(&s.stmtPos)
	if p.accept("NOT") {
		p.need("ATOMIC")
	} else {
		p.accept("ATOMIC")
	}
	s.label = p.pushLabel(label, false)
	s.body = p.statements("END")
	p.need("END")
	p.endLabel(label)
	return s
}

func (p *parser) pushLabel(label string, loop bool) int {
	if label == "" {
		return 0
	}
	p.nextLabel++
	p.labels = append(p.labels, labelled{label, p.nextLabel, loop})
	return p.nextLabel
}

// endLabel takes the label that may be repeated behind END.
func (p *parser) endLabel(label string) {
	if label == "" {
		return
	}
	if len(p.labels) > 0 {
		p.labels = p.labels[:len(p.labels)-1]
	}
	if p.t.kind == tIdent {
		if !strings.EqualFold(p.t.text, label) {
			p.expected("; or the label " + label)
		}
		p.advance()
	}
}

func (p *parser) loop(label string) stmt {
	s := &loopStmt{stmtPos: p.start()}
	word := p.t.word
	p.advance()
	if word == "WHILE" {
		s.while = p.expr()
		p.finish(&s.stmtPos)
		p.need("DO")
	} else {
		p.finish(&s.stmtPos)
	}
	s.label = p.pushLabel(label, true)
	if word == "REPEAT" {
		s.body = p.statements("UNTIL")
		p.need("UNTIL")
		s.until = p.expr()
	} else {
		s.body = p.statements("END")
	}
	p.need("END", word)
	p.endLabel(label)
	return s
}

func (p *parser) declare() stmt {
	s := &declareStmt{stmtPos: p.start()}
	p.advance()
	if p.isAny("CONTINUE", "EXIT") && p.look(1).word == "HANDLER" || p.is("HANDLER") && p.look(1).word == "FOR" {
		p.refuse("DECLARE HANDLER", "level 3; exceptions go to the flow's Catch and Failure terminals")
	}
	type decl struct {
		name string
		at   Pos
	}
	var names []decl
	for {
		name, at := p.name("variable name")
		names = append(names, decl{name, at})
		if !p.acceptPunct(",") || len(names) > maxDepth {
			break
		}
	}
	external := false
	switch {
	case p.is("SHARED"):
		p.report(p.t.pos, "DECLARE … SHARED is not offered: level 3; keep values in the messages or on a queue")
		p.advance()
	case p.accept("EXTERNAL"):
		external = true
	}
	frozen := p.accept("CONSTANT") || external
	t := declType{}
	switch {
	case p.accept("NAMESPACE"):
		t.kind, frozen = nsKind, true
		s.init = p.expr()
	case p.accept("REFERENCE"):
		t.kind = refKind
		p.need("TO")
		s.ref = p.fieldRef()
	default:
		p.accept("CONSTANT")
		t = p.declType()
		switch {
		case p.t.punct(";"):
		case t.kind == rowKind:
			s.init = p.anyExpr()
		default:
			s.init = p.expr()
		}
		if s.init == nil && frozen && t.kind != rowKind && !external {
			p.expected("the value of the CONSTANT")
		}
	}
	p.finish(&s.stmtPos)
	for _, n := range names { // now: a name is not known in its own initial value
		v := p.define(n.name, n.at, t)
		v.frozen = frozen
		s.vars = append(s.vars, v)
	}
	return s
}

func (p *parser) ifStatement() stmt {
	s := &ifStmt{stmtPos: p.start()}
	p.advance()
	s.cond = p.expr()
	p.finish(&s.stmtPos)
	p.need("THEN")
	s.then = p.statements("ELSEIF", "ELSE", "END")
	switch {
	case p.is("ELSEIF"):
		if !p.enter() {
			return s
		}
		s.els = []stmt{p.ifStatement()} // takes END IF
		p.leave()
		return s
	case p.accept("ELSE"):
		s.els = p.statements("END")
	}
	p.need("END", "IF")
	return s
}

func (p *parser) caseStatement() stmt {
	s := &caseStmt{stmtPos: p.start()}
	p.advance()
	if !p.is("WHEN") {
		s.subject = p.expr()
	}
	p.finish(&s.stmtPos)
	if !p.is("WHEN") {
		p.expected("WHEN")
	}
	for p.accept("WHEN") {
		x := p.expr()
		p.need("THEN")
		s.when = append(s.when, caseArm{x, p.statements("WHEN", "ELSE", "END")})
	}
	if p.accept("ELSE") {
		s.other = p.statements("END")
	}
	p.need("END", "CASE")
	return s
}

func (p *parser) forStatement() stmt {
	s := &forStmt{stmtPos: p.start()}
	p.advance()
	name, at := p.name("loop variable")
	p.need("AS")
	s.of = p.fieldRef()
	p.finish(&s.stmtPos)
	if s.of.scalar() {
		p.report(s.of.Pos, "%s is a variable of type %s and no list of fields", s.of.name, s.of.v.typ)
	}
	p.need("DO")
	keep, scope := len(p.vars), p.scope
	p.scope = keep
	if p.rt != nil {
		s.v = p.define(name, at, declType{kind: refKind})
	}
	s.body = p.statements("END")
	p.vars, p.scope = p.vars[:min(keep, len(p.vars))], scope
	p.need("END", "FOR")
	return s
}

func (p *parser) call() stmt {
	s := &callStmt{stmtPos: p.start()}
	p.advance()
	if t := p.schemaCall(); t.text != "" {
		s.call = p.userCall(t.text, t.pos)
	} else {
		s.call = p.userCall(p.name("procedure name"))
	}
	if p.accept("INTO") {
		s.call.value = true
		s.into = p.fieldRef()
		p.checkTarget(s.into)
	}
	p.finish(&s.stmtPos)
	return s
}

func (p *parser) userCall(name string, at Pos) *userCall {
	c := &userCall{Pos: at, name: name}
	p.needPunct("(")
	for !p.failed && !p.t.punct(")") {
		if len(c.args) > 0 {
			p.needPunct(",")
		}
		c.args = append(c.args, p.expr())
		if len(c.args) > maxDepth {
			p.syntax(at, "too many arguments")
		}
	}
	p.needPunct(")")
	if p.rt != nil {
		p.rt.calls = append(p.rt.calls, c)
	} else {
		p.report(at, "%s: a declaration outside of routines cannot call one", name)
	}
	return c
}

func (p *parser) propagate() stmt {
	s := &propagateStmt{stmtPos: p.start()}
	p.use("PROPAGATE", Compute)
	p.advance()
	if p.accept("TO") {
		if p.is("LABEL") {
			p.refuse("PROPAGATE TO LABEL", "level 3; use PROPAGATE TO TERMINAL 'out1'")
		}
		p.need("TERMINAL")
		s.terminal = p.expr()
	}
	for !p.failed {
		switch {
		case p.accept("ENVIRONMENT"):
			s.env = p.fieldRef()
		case p.accept("MESSAGE"):
			s.msg = p.fieldRef()
		case p.accept("EXCEPTION"):
			s.exc = p.fieldRef()
		case p.accept("FINALIZE"):
			s.noFinalize = p.defaultOrNone()
		case p.accept("DELETE"):
			s.noClear = p.defaultOrNone()
		default:
			p.finish(&s.stmtPos)
			return s
		}
	}
	return s
}

func (p *parser) defaultOrNone() bool {
	if p.accept("DEFAULT") {
		return false
	}
	p.need("NONE")
	return true
}

func (p *parser) throw() stmt {
	s := &throwStmt{stmtPos: p.start()}
	p.advance()
	p.accept("USER")
	p.need("EXCEPTION")
	p.messageClauses(s)
	p.finish(&s.stmtPos)
	return s
}

// messageClauses reads what THROW and LOG share, in any order.
func (p *parser) messageClauses(s *throwStmt) {
	for !p.failed {
		switch {
		case p.accept("SEVERITY"):
			s.severity = p.expr()
		case p.accept("CATALOG"):
			s.catalog = p.expr()
		case p.accept("MESSAGE"):
			s.message = p.expr()
		case p.accept("VALUES"):
			p.needPunct("(")
			for !p.failed && !p.t.punct(")") {
				if len(s.values) > 0 {
					p.needPunct(",")
				}
				s.values = append(s.values, p.expr())
				if len(s.values) > maxChain {
					p.syntax(p.t.pos, "too many values")
				}
			}
			p.needPunct(")")
		default:
			return
		}
	}
}

func (p *parser) log() stmt {
	s := &logStmt{throwStmt: throwStmt{stmtPos: p.start()}}
	p.advance()
	if p.accept("USER") {
		p.need("TRACE")
		s.user = true
	} else if !p.accept("EVENT") {
		p.expected("EVENT", "USER TRACE")
	}
	p.messageClauses(&s.throwStmt)
	p.finish(&s.stmtPos)
	return s
}

func (p *parser) returnStatement() stmt {
	s := &returnStmt{stmtPos: p.start()}
	p.advance()
	if !p.t.punct(";") {
		s.x = p.expr()
		if p.rt != nil && p.rt.result.kind == Null {
			p.report(s.x.at(), "%s has no RETURNS and cannot give a value", p.rt.name)
		}
	}
	p.finish(&s.stmtPos)
	return s
}

func (p *parser) jump() stmt {
	s := &jumpStmt{stmtPos: p.start(), iterate: p.is("ITERATE")}
	word := p.t.word
	p.advance()
	name, at := p.name("label")
	for i := len(p.labels) - 1; i >= 0 && s.label == 0; i-- {
		if l := p.labels[i]; strings.EqualFold(l.name, name) && (l.loop || !s.iterate) {
			s.label = l.id
		}
	}
	if s.label == 0 && !p.failed {
		p.report(at, "%s %s: no loop around this has the label %s", word, name, name)
	}
	p.finish(&s.stmtPos)
	return s
}
