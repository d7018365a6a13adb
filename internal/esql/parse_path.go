package esql

import "strings"

// Field references, names and function calls.

// correlation are the names that a node gives, with the kind of module that has them; 0 is both.
var correlation = map[string]struct {
	root rootID
	kind ModuleKind
}{
	"INPUTROOT": {rootInputRoot, Compute}, "INPUTBODY": {rootInputBody, Compute}, "INPUTPROPERTIES": {rootInputProperties, Compute},
	"INPUTLOCALENVIRONMENT": {rootInputLE, Compute}, "INPUTDESTINATIONLIST": {rootInputLE, Compute}, "INPUTEXCEPTIONLIST": {rootInputEL, Compute},
	"OUTPUTROOT": {rootOutputRoot, Compute}, "OUTPUTLOCALENVIRONMENT": {rootOutputLE, Compute}, "OUTPUTDESTINATIONLIST": {rootOutputLE, Compute},
	"OUTPUTEXCEPTIONLIST": {rootOutputEL, Compute},
	"ROOT":                {rootInputRoot, Filter}, "BODY": {rootInputBody, Filter}, "PROPERTIES": {rootInputProperties, Filter},
	"LOCALENVIRONMENT": {rootInputLE, Filter}, "DESTINATIONLIST": {rootInputLE, Filter}, "EXCEPTIONLIST": {rootInputEL, Filter},
	"ENVIRONMENT": {rootEnvironment, 0},
}

// specials are names without parentheses that give a value.
var specials = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_GMTDATE CURRENT_GMTTIME CURRENT_GMTTIMESTAMP
		LOCAL_TIMEZONE MESSAGEFLOWLABEL NODELABEL QUEUEMANAGERNAME BROKERNAME EXECUTIONGROUPLABEL`) {
		specials[w] = true
	}
}

// use notes that something belongs to one kind of module.
func (p *parser) use(name string, kind ModuleKind) {
	switch {
	case kind == 0 || p.failed:
	case p.mod == nil && p.rt != nil:
		p.rt.uses = append(p.rt.uses, use{p.t.pos, name, kind})
	case p.mod != nil && p.mod.Kind != kind:
		p.report(p.t.pos, "%s is for a %s module, this is a %s module%s", name, kind, p.mod.Kind, otherName(name, kind))
	}
}

// otherName says what the same thing is called in the other kind.
func otherName(name string, kind ModuleKind) string {
	c, ok := correlation[strings.ToUpper(name)]
	if !ok {
		return ""
	}
	for _, n := range []string{"InputRoot", "InputBody", "InputProperties", "InputLocalEnvironment", "InputExceptionList", "Root", "Body",
		"Properties", "LocalEnvironment", "ExceptionList"} {
		if o := correlation[strings.ToUpper(n)]; o.root == c.root && o.kind != kind {
			return ": write " + n
		}
	}
	return ""
}

// nameExpr is a name in an expression: a variable, a tree, a special name or a constant.
func (p *parser) nameExpr() expr {
	t := p.t
	if f := p.startOfPath(); f != nil {
		p.pathElems(f)
		return f
	}
	if name := p.schemaCall(); name.text != "" {
		return p.valueOf(p.userCall(name.text, name.pos))
	}
	if t.word == "SQL" && p.look(1).punct(".") && specials[p.look(2).word] { // SQL.BrokerName
		p.advance()
		p.advance()
		t = p.t
	}
	switch {
	case specials[t.word]:
		p.advance()
		return &special{t.pos, t.word}
	case strings.HasPrefix(t.word, "SQLCODE"), strings.HasPrefix(t.word, "SQLSTATE"), strings.HasPrefix(t.word, "SQLERRORTEXT"), strings.HasPrefix(t.word, "SQLNATIVEERROR"):
		p.refuse(t.text, "there are no databases and handlers here")
		return &literal{t.pos, Value{}}
	}
	if typ, ok := p.typeName(); ok {
		return &literal{t.pos, Int(int64(typ))}
	}
	if f, ok := builtins[t.word]; ok && f.min == 0 { // UUIDASCHAR without parentheses
		p.advance()
		return &builtinCall{Pos: t.pos, f: f}
	}
	if v, ok := constantNamed(t.word); ok {
		p.advance()
		return &literal{t.pos, v}
	}
	if p.consts != nil && t.word != "" {
		if v, ok := p.consts(t.word); ok {
			p.advance()
			return &literal{t.pos, v}
		}
	}
	return p.unknown()
}

// schemaCall skips the schema of a.b.routine( and gives the routine's name: within a source the name alone is enough.
func (p *parser) schemaCall() token {
	n := 0
	for p.look(n).kind == tIdent && p.look(n+1).punct(".") {
		n += 2
	}
	if n == 0 || p.look(n).kind != tIdent || !p.look(n+1).punct("(") {
		return token{}
	}
	for ; n > 0; n-- {
		p.advance()
	}
	t := p.t
	p.advance()
	return t
}

// unknown reports the name that stands here and reads the path behind it, so that later faults are found.
func (p *parser) unknown() *path {
	t := p.t
	f := &path{Pos: t.pos, root: rootEnvironment, name: t.text}
	if t.kind != tIdent || reserved[t.word] {
		p.expected("a value or a field")
		return f
	}
	hint := ""
	if t.word == "DATABASE" {
		hint = ": databases are outside of this profile"
	} else if next := p.look(1); next.punct(".") || next.punct("[") {
		hint = ": a path begins with a declared variable or a tree like " + map[bool]string{true: "Root", false: "InputRoot"}[p.mod != nil && p.mod.Kind == Filter]
	} else if strings.HasPrefix(t.word, "MQ") {
		hint = ": no MQ constant has this name"
	}
	p.report(t.pos, "%s is not declared%s", t.text, hint)
	p.advance()
	p.pathElems(f)
	return f
}

// typeDomains are the words before the dot of an element type; most have no types here, and are refused by name.
var typeDomains = map[string]bool{"XMLNSC": true, "JSON": true, "MQRFH2": true, "MQRFH2C": true, "XML": true, "XMLNS": true, "MRM": true,
	"SOAP": true, "MIME": true}

// typeName reads the name of an element type: XMLNSC.Attribute, NameValue.
func (p *parser) typeName() (Type, bool) {
	word, n := p.t.word, 1
	if p.look(1).punct(".") && typeDomains[word] {
		word, n = word+"."+p.look(2).word, 3
		if _, ok := typeNames[word]; !ok {
			p.report(p.t.pos, "%s", "the element type "+p.t.text+"."+p.look(2).text+" is not offered: use XMLNSC.Field, .Attribute, .Folder, .CDataField, .NamespaceDecl, .XmlDeclaration, JSON.Array or JSON.Object")
			for range 3 {
				p.advance()
			}
			return 0, true
		}
	}
	t, ok := typeNames[word]
	for ; ok && n > 0; n-- {
		p.advance()
	}
	return t, ok
}

// typeExpr reads an element type: its name or an INTEGER.
func (p *parser) typeExpr() expr {
	at := p.t.pos
	if p.lookup(p.t.text) == nil || p.look(1).punct(".") {
		if t, ok := p.typeName(); ok {
			return &literal{at, Int(int64(t))}
		}
	}
	return p.expr()
}

// fieldRef reads a path where only a path will do.
func (p *parser) fieldRef() *path {
	if f := p.startOfPath(); f != nil {
		p.pathElems(f)
		return f
	}
	return p.unknown()
}

// startOfPath reads a variable or the name of a tree, nil when this is neither.
func (p *parser) startOfPath() *path {
	if p.t.kind != tIdent {
		return nil
	}
	f := &path{Pos: p.t.pos, name: p.t.text}
	if v := p.lookup(p.t.text); v != nil {
		f.v = v
		p.advance()
		return f
	}
	c, ok := correlation[strings.ToUpper(p.t.text)]
	if !ok {
		return nil
	}
	f.root = c.root
	p.use(p.t.text, c.kind)
	if p.rt == nil && !p.failed {
		p.report(p.t.pos, "%s cannot be used outside of a routine", p.t.text)
	}
	p.advance()
	return f
}

func (p *parser) pathElems(f *path) {
	for p.t.punct(".") {
		at := p.t.pos
		p.advance()
		e := p.pathElem()
		if f.many {
			p.syntax(at, "[] is a list, a path ends with it")
		}
		f.many = e.index == indexAll
		f.elems = append(f.elems, e)
		if len(f.elems) > maxDepth {
			p.syntax(at, "the path is too long: use a REFERENCE")
		}
		if f.scalar() && len(f.elems) == 1 {
			p.report(at, "%s is a variable of type %s and has no fields", f.name, f.v.typ)
		}
	}
	if p.t.punct("[") && len(f.elems) == 0 {
		p.syntax(p.t.pos, "an index belongs to a field: write "+f.name+".*[…]")
	}
}

func (p *parser) pathElem() pathElem {
	e := pathElem{Pos: p.t.pos}
	if p.t.punct("[") {
		e.any, e.nsMode = true, nsAny
		p.index(&e)
		return e
	}
	if p.acceptPunct("(") {
		e.typ, e.hasType = p.typeExpr(), true
		if l, ok := e.typ.(*literal); ok {
			e.fixed = Type(l.v.n)
			e.typ = nil
			if l.v.kind != Integer {
				p.report(l.Pos, "an element type is wanted, like XMLNSC.Attribute")
			}
		}
		p.needPunct(")")
		if p.t.punct(".") || p.t.punct("[") || p.t.punct("=") { // (XMLNSC.Attribute)[1]: any name
			e.any, e.nsMode = true, nsAny
			p.index(&e)
			return e
		}
	}
	p.elemName(&e)
	p.index(&e)
	return e
}

// wellKnown are the prefixes that XML itself declares.
var wellKnown = map[string]string{"xml": "http://www.w3.org/XML/1998/namespace", "xmlns": "http://www.w3.org/2000/xmlns/"}

// elemName reads [namespace:]name, each a word, an expression in braces, or *.
func (p *parser) elemName(e *pathElem) {
	if p.acceptPunct(":") { // no namespace, said in so many words
		p.part(e, nil)
		return
	}
	first := p.t
	p.part(e, &e.nsMode)
	if !p.t.punct(":") || p.failed {
		return
	}
	p.advance()
	switch {
	case e.any:
		e.nsMode = nsAny
	case e.nameOf != nil:
		e.nsMode, e.ns = nsExpr, e.nameOf
	case first.punct("{"):
		e.nsMode, e.ns = nsExpr, &literal{first.pos, char(e.name)}
	default:
		e.nsMode = nsExpr
		v := p.lookup(first.text)
		switch {
		case v == nil && wellKnown[first.text] != "":
			e.ns = &literal{first.pos, char(wellKnown[first.text])}
		case v == nil:
			p.report(first.pos, "the namespace prefix %s is not declared: DECLARE %s NAMESPACE 'urn:…'", first.text, first.text)
			e.ns = &literal{first.pos, char("")}
		case v.typ.kind != nsKind && v.typ.kind != Character:
			p.report(first.pos, "%s is of type %s, a NAMESPACE is wanted before the colon", v.name, v.typ)
			fallthrough
		default:
			e.ns = &path{Pos: first.pos, name: v.name, v: v}
		}
	}
	e.any, e.name, e.nameOf = false, "", nil
	p.part(e, nil)
}

// part reads a name; a lone * is any name in any namespace.
func (p *parser) part(e *pathElem, ns *nsMode) {
	switch {
	case p.acceptPunct("*"):
		e.any = true
		if ns != nil {
			*ns = nsAny
		}
	case p.acceptPunct("{"):
		e.nameOf = p.expr()
		p.needPunct("}")
		if l, ok := e.nameOf.(*literal); ok && l.v.kind == Character {
			e.name, e.nameOf = l.v.s, nil
		}
	case p.t.kind == tIdent:
		e.name = p.t.text
		p.advance()
	case p.t.kind == tString:
		p.syntax(p.t.pos, "a field name has double quotes: \""+shorten(p.t.text, 40)+"\"")
	default:
		p.expected("a field name", "*", "{", "(")
	}
	if ns != nil && !e.any {
		*ns = nsNone
	}
}

func (p *parser) index(e *pathElem) {
	if !p.acceptPunct("[") {
		return
	}
	switch {
	case p.acceptPunct("]"):
		e.index = indexAll
		return
	case p.acceptPunct("<"):
		e.index = indexLast
	case p.acceptPunct(">"):
		e.index = indexFirst
	default:
		e.index = indexLeft
	}
	if p.t.punct("]") {
		p.advance()
		return
	}
	switch e.index {
	case indexLast:
		e.index = indexRight
	case indexFirst:
		e.index = indexLeft
	}
	at := p.t.pos
	e.n = p.expr()
	if l, ok := e.n.(*literal); ok {
		switch {
		case l.v.kind == Character && (l.v.s == "<" || l.v.s == ">"):
			p.report(at, "an index in quotes is a CHARACTER (BIP2434): write [%s]", l.v.s)
		case l.v.kind != Integer:
			p.report(at, "an index is an INTEGER, not %s %s", l.v.kind, l.v)
		case l.v.n < 1:
			p.report(at, "an index begins with 1, %d is none", l.v.n)
		}
	}
	p.needPunct("]")
}

// functionCall is a name with parentheses behind it.
func (p *parser) functionCall() expr {
	t := p.t
	if t.word == "CAST" {
		p.advance()
		p.advance()
		return p.castExpr(t.pos)
	}
	if p.ownRoutine(t.text) {
		p.advance()
		return p.valueOf(p.userCall(t.text, t.pos))
	}
	if parse, ok := syntaxFunctions[t.word]; ok {
		p.advance()
		p.advance()
		x := parse(p, t)
		p.needPunct(")")
		return x
	}
	if f, ok := builtins[t.word]; ok {
		p.advance()
		p.advance()
		return p.builtinArgs(f, t)
	}
	if why, ok := notFunctions[t.word]; ok {
		p.refuse(t.text, why)
		return &literal{t.pos, Value{}}
	}
	if t.kind == tIdent && !reserved[t.word] {
		p.advance()
		return p.valueOf(p.userCall(t.text, t.pos))
	}
	p.expected("a value")
	return &literal{t.pos, Value{}}
}

func (p *parser) valueOf(c *userCall) expr {
	c.value = true
	return c
}

// ownRoutine says that the source defines a routine of this name before: it hides a built-in function.
func (p *parser) ownRoutine(name string) bool {
	return p.mod != nil && find(p.mod.routines, name) != nil || find(p.prog.routines, name) != nil
}

func (p *parser) builtinArgs(f *builtin, t token) expr {
	c := &builtinCall{Pos: t.pos, f: f}
	for !p.failed && !p.t.punct(")") {
		if len(c.args) > 0 {
			p.needPunct(",")
		}
		c.args = append(c.args, p.expr())
		if len(c.args) > f.max {
			break
		}
	}
	if n := len(c.args); !p.failed && (n < f.min || n > f.max) {
		want := Int(int64(f.min)).String()
		if f.max > f.min {
			want += " to " + Int(int64(f.max)).String()
		}
		p.syntax(t.pos, f.name+" takes "+want+" arguments: "+f.usage)
	}
	p.needPunct(")")
	return c
}
