package esql

import (
	"slices"
	"strings"
)

// The parser: recursive descent over the tokens. The first syntax fault of a routine makes every later token the end of the
// source, so that all loops end; parsing then goes on behind the routine.

type parser struct {
	file   string
	src    string
	toks   []token
	i      int
	t      token // the current token; tEOF for ever after a fault
	failed bool

	consts     func(string) (Value, bool)
	prog       *Program
	mod        *Module
	rt         *routine
	vars       []*variableRef // what is declared, innermost last
	scope      int            // where the innermost scope starts in vars
	labels     []labelled
	nextLabel  int
	routines   int
	depth      int
	faults     Faults
	failedEver bool
	broken     map[*Module]bool
}

type labelled struct {
	name string
	id   int
	loop bool
}

const (
	maxDepth = 200  // nested statements and parentheses
	maxChain = 5000 // operators on one level, items of a list
	maxNames = 3000 // variables that are known at one place, routines and modules of a source
)

// reserved cannot be the name of a variable: the words that the product reserves, and those without which a fault could not be told
// from a name. FIELD, FILTER, SET and the like are names in real modules.
var reserved = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`ALL AND AS ASYMMETRIC BEGIN BETWEEN BOTH CALL CASE CREATE DECLARE DISTINCT DO ELSE ELSEIF END FALSE FOR
		FROM IF IN IS ITEM LEADING LEAVE LIKE NOT NULL OF OR RETURN RETURNS SELECT SYMMETRIC THE THEN THROW TO TRAILING TRUE UNKNOWN WHEN
		WHERE WHILE`) {
		reserved[w] = true
	}
}

// Tokens.

func (p *parser) advance() {
	if !p.failed && p.t.kind != tEOF {
		p.i++
		p.t = p.toks[p.i]
	}
}

// look is a later token.
func (p *parser) look(n int) token {
	if p.failed || p.i+n >= len(p.toks) {
		return token{kind: tEOF}
	}
	return p.toks[p.i+n]
}

func (p *parser) is(word string) bool { return p.t.word == word }

func (p *parser) isAny(words ...string) bool {
	return p.t.word != "" && slices.Contains(words, p.t.word)
}

func (t token) punct(s string) bool { return t.kind == tPunct && t.text == s }

func (p *parser) accept(word string) bool {
	if p.t.word == word {
		p.advance()
		return true
	}
	return false
}

func (p *parser) acceptPunct(s string) bool {
	if p.t.punct(s) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) need(words ...string) {
	for i, w := range words {
		if !p.accept(w) {
			p.expected(strings.Join(words[i:], " "))
			return
		}
	}
}

func (p *parser) needPunct(s string) {
	if !p.acceptPunct(s) {
		p.expected(s)
	}
}

// expected is the syntax fault: what stands here is none of these.
func (p *parser) expected(what ...string) {
	if p.failed {
		return
	}
	if p.t.kind == tBad {
		p.syntax(p.t.pos, p.t.text)
		return
	}
	list := what[0]
	for i := 1; i < min(len(what), 5); i++ {
		sep := ", "
		if i == min(len(what), 5)-1 {
			sep = " or "
		}
		list += sep + what[i]
	}
	p.syntax(p.t.pos, "found "+p.t.String()+", expected "+list)
}

func (p *parser) syntax(at Pos, text string) {
	if !p.failed {
		p.report(at, "%s", text)
		p.failed, p.failedEver = true, true
		if p.mod != nil {
			p.broken[p.mod] = true
		}
		p.t = token{kind: tEOF, pos: p.t.pos, off: p.t.off}
	}
}

// refuse is a fault that names a feature which is not offered.
func (p *parser) refuse(feature, instead string) {
	if instead != "" {
		instead = ": " + instead
	}
	p.syntax(p.t.pos, feature+" is not offered"+instead)
}

func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.syntax(p.t.pos, "nested too deeply: use a variable or a procedure")
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// name reads an identifier that a program may choose.
func (p *parser) name(what string) (string, Pos) {
	t := p.t
	if t.kind != tIdent || reserved[t.word] {
		if t.word != "" && !p.failed {
			p.syntax(t.pos, t.text+` is a reserved word and no `+what+`: write "`+t.text+`" or another name`)
			return "", t.pos
		}
		p.expected(what)
		return "", t.pos
	}
	p.advance()
	return t.text, t.pos
}

// Sources, modules, routines.

func (p *parser) source() {
	known := len(p.prog.modules) + len(p.prog.routines) + len(p.prog.vars)
	if p.is("BROKER") {
		p.advance()
		p.need("SCHEMA")
		p.dotted()
		p.acceptPunct(";")
	}
	for p.is("PATH") {
		p.advance()
		p.dotted()
		for p.acceptPunct(",") {
			p.dotted()
		}
		p.needPunct(";")
	}
	for !p.failed && p.t.kind != tEOF {
		p.definition()
		if p.failed {
			p.resync()
		}
	}
	if p.mod != nil {
		if !p.failedEver {
			p.report(p.t.pos, "found %s, expected END MODULE; of %s", p.t, p.mod.Name)
		}
		p.endModule()
	}
	if len(p.faults) == 0 && known == len(p.prog.modules)+len(p.prog.routines)+len(p.prog.vars) {
		p.report(Pos{1, 1}, "the source defines nothing: expected CREATE COMPUTE MODULE, CREATE FILTER MODULE, CREATE FUNCTION or CREATE PROCEDURE")
	}
}

func (p *parser) dotted() {
	for {
		if p.t.kind != tIdent {
			p.expected("a schema name")
			return
		}
		p.advance()
		if !p.acceptPunct(".") {
			return
		}
	}
}

// resync goes to the next definition behind a fault.
func (p *parser) resync() {
	p.failed, p.rt, p.depth, p.labels = false, nil, 0, nil
	for p.i < len(p.toks)-1 {
		p.i++
		p.t = p.toks[p.i]
		next := p.look(1).word
		switch {
		case p.is("CREATE") && slices.Contains([]string{"FUNCTION", "PROCEDURE", "COMPUTE", "FILTER", "DATABASE"}, next):
			if next != "FUNCTION" && next != "PROCEDURE" {
				p.endModule()
			}
			return
		case p.is("END") && next == "MODULE":
			return
		}
	}
	p.t = p.toks[len(p.toks)-1]
}

func (p *parser) endModule() {
	p.mod = nil
	p.vars = slices.DeleteFunc(p.vars, func(v *variableRef) bool { return v.module })
	p.scope = 0
}

func (p *parser) definition() {
	switch next := p.look(1).word; {
	case p.is("END") && p.mod != nil:
		p.need("END", "MODULE")
		p.needPunct(";")
		if !p.failed {
			p.endModule()
		}
	case p.is("DECLARE"):
		s := p.declare()
		p.needPunct(";")
		if p.mod != nil {
			p.mod.vars = append(p.mod.vars, s)
		} else {
			p.prog.vars = append(p.prog.vars, s)
		}
	case p.is("CREATE") && (next == "FUNCTION" || next == "PROCEDURE"):
		p.routine()
	case p.is("CREATE") && p.mod == nil && slices.Contains([]string{"COMPUTE", "FILTER", "DATABASE"}, next):
		p.module()
	case p.mod != nil:
		p.expected("CREATE FUNCTION", "CREATE PROCEDURE", "DECLARE", "END MODULE")
	default:
		p.expected("CREATE COMPUTE MODULE", "CREATE FILTER MODULE", "CREATE FUNCTION", "CREATE PROCEDURE", "DECLARE")
	}
}

func (p *parser) module() {
	p.advance()
	m := &Module{prog: p.prog, file: p.file, Kind: Compute}
	switch p.t.word {
	case "DATABASE": // read on as if it were another one, for the faults inside
		p.report(p.t.pos, "a DATABASE module is not offered: databases are outside of this profile, use COMPUTE")
	case "FILTER":
		m.Kind = Filter
	}
	p.advance()
	p.need("MODULE")
	m.Name, m.Pos = p.name("module name")
	if p.failed {
		return
	}
	if len(p.prog.modules) >= maxNames {
		p.syntax(m.Pos, "too many modules: split the source")
		return
	}
	if _, twice := p.prog.Module(m.Name); twice {
		p.report(m.Pos, "there are two modules %s", m.Name)
	}
	p.prog.modules = append(p.prog.modules, m)
	p.mod = m
	p.scope = len(p.vars)
}

func (p *parser) routine() {
	p.advance()
	r := &routine{file: p.file, function: p.is("FUNCTION")}
	p.advance()
	r.name, r.Pos = p.name("routine name")
	list := &p.prog.routines
	if p.mod != nil {
		list = &p.mod.routines
	}
	if find(*list, r.name) != nil && !p.failed {
		p.report(r.Pos, "there are two routines %s", r.name)
	}
	if p.routines++; p.routines > maxNames {
		p.syntax(r.Pos, "too many routines: split the source")
		return
	}
	*list = append(*list, r)
	p.rt = r
	keep, scope := len(p.vars), p.scope
	p.scope = keep
	p.params(r)
	if p.accept("RETURNS") {
		r.result = p.declType()
		if p.accept("NOT") {
			p.need("NULL")
		} else {
			p.accept("NULLABLE")
		}
	}
	if p.accept("LANGUAGE") {
		if !p.is("ESQL") {
			p.refuse("LANGUAGE "+p.t.text, "routines are written in ESQL")
		}
		p.advance()
	}
	if p.isAny("EXTERNAL", "DYNAMIC") {
		p.refuse("an external routine", "write its body in ESQL")
	}
	r.body = p.statement()
	p.acceptPunct(";")
	p.vars, p.scope = p.vars[:min(keep, len(p.vars))], scope
	if !p.failed {
		p.rt = nil
	}
}

func (p *parser) params(r *routine) {
	p.needPunct("(")
	for !p.failed && !p.t.punct(")") {
		if len(r.params) > 0 {
			p.needPunct(",")
		}
		if len(r.params) == maxDepth {
			p.syntax(p.t.pos, "too many parameters")
		}
		par := param{in: true}
		switch {
		case p.accept("INOUT"):
			par.out = true
		case p.accept("OUT"):
			par.out, par.in = true, false
		default:
			p.accept("IN")
		}
		name, at := p.name("parameter name")
		frozen := p.accept("CONSTANT")
		t := declType{kind: refKind}
		switch {
		case p.accept("REFERENCE"):
		case p.accept("NAMESPACE"):
			t.kind = nsKind
		default:
			t = p.declType()
		}
		if t.kind == rowKind {
			p.report(at, "a ROW parameter is not offered: give a REFERENCE to it")
		}
		par.v = p.define(name, at, t)
		par.v.frozen = frozen
		r.params = append(r.params, par)
	}
	p.needPunct(")")
}

// Names.

// define makes a variable in the innermost scope.
func (p *parser) define(name string, at Pos, t declType) *variableRef {
	v := &variableRef{Pos: at, name: name, typ: t}
	if len(p.vars) >= maxNames {
		p.syntax(at, "too many variables")
		return v
	}
	for _, have := range p.vars[p.scope:] {
		if have.name == name && name != "" {
			p.report(at, "%s is declared twice here, first at %d:%d", name, have.Line, have.Col)
			break
		}
	}
	switch {
	case p.rt != nil:
		v.slot = p.rt.slots
		p.rt.slots++
	case p.mod != nil:
		v.slot, v.module = p.mod.slots, true
		p.mod.slots++
	default:
		v.slot = -1 - p.prog.globals
		p.prog.globals++
	}
	p.vars = append(p.vars, v)
	return v
}

// lookup finds a variable: by the very name, else without regard to case.
func (p *parser) lookup(name string) *variableRef {
	for i := len(p.vars) - 1; i >= 0; i-- {
		if p.vars[i].name == name {
			return p.vars[i]
		}
	}
	for i := len(p.vars) - 1; i >= 0; i-- {
		if strings.EqualFold(p.vars[i].name, name) {
			return p.vars[i]
		}
	}
	return nil
}

// declType reads a scalar type or ROW.
func (p *parser) declType() declType {
	t := declType{}
	switch p.t.word {
	case "BOOLEAN":
		t.kind = Boolean
	case "INTEGER", "INT":
		t.kind = Integer
	case "FLOAT":
		t.kind = Float
	case "DECIMAL", "DEC":
		p.advance()
		t.kind = Decimal
		p.precision(&t)
		return t
	case "CHARACTER", "CHAR":
		t.kind = Character
	case "BLOB":
		t.kind = Blob
	case "BIT":
		t.kind = Bit
	case "DATE":
		t.kind = Date
	case "TIME":
		t.kind = Time
	case "TIMESTAMP":
		t.kind = Timestamp
	case "GMTTIME":
		t.kind = GMTTime
	case "GMTTIMESTAMP":
		t.kind = GMTTimestamp
	case "INTERVAL":
		p.advance()
		t.kind = Interval
		t.unit = p.qualifier()
		return t
	case "ROW":
		t.kind = rowKind
	default:
		p.expected("a type like CHARACTER, INTEGER, BOOLEAN, BLOB or REFERENCE TO")
	}
	p.advance()
	return t
}

func (p *parser) precision(t *declType) {
	if !p.acceptPunct("(") {
		return
	}
	t.precision = p.smallNumber(1, maxDigits)
	if p.acceptPunct(",") {
		t.scale = p.smallNumber(0, t.precision)
	}
	p.needPunct(")")
}

func (p *parser) smallNumber(lo, hi int64) int64 {
	v, ok := parseNumber(p.t.text)
	if p.t.kind != tNumber || !ok || v.kind != Integer || v.n < lo || v.n > hi {
		p.expected("a number from " + Int(lo).String() + " to " + Int(hi).String())
		return lo
	}
	p.advance()
	return v.n
}

// qualifier reads YEAR TO MONTH and the like; nothing is no qualifier.
func (p *parser) qualifier() unit {
	first := unitOf(p.t.word)
	if first == 0 {
		return unit{}
	}
	at := p.t.pos
	p.advance()
	last := first
	if p.accept("TO") {
		if last = unitOf(p.t.word); last == 0 {
			p.expected("MONTH", "HOUR", "MINUTE", "SECOND")
		}
		p.advance()
	}
	if last < first || (first <= uMonth) != (last <= uMonth) {
		p.syntax(at, "an INTERVAL goes from YEAR to MONTH or from DAY to SECOND, the larger unit first")
	}
	return unit{first, last}
}
