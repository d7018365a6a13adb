package esql

// The built-in functions: those with plain arguments in a table, those with words between them by their own parsers.

// builtin is a function of plain arguments. NULL among them gives NULL, unless nulls is set.
type builtin struct {
	name     string
	usage    string
	min, max int
	nulls    bool
	f        func(m *machine, a []Value) (Value, error)
}

var builtins = map[string]*builtin{}

func register(name, usage string, min, max int, f func(m *machine, a []Value) (Value, error)) *builtin {
	b := &builtin{name: name, usage: usage, min: min, max: max, f: f}
	builtins[name] = b
	return b
}

// notFunctions are refused by name, with what to do instead.
var notFunctions = map[string]string{
	"EVAL": "write the expression itself", "PASSTHRU": "databases are outside of this profile", "BITSTREAM": "use ASBITSTREAM",
	"COUNT": "use CARDINALITY", "SUM": "add in a FOR loop", "MAX": "compare in a FOR loop", "MIN": "compare in a FOR loop",
	"FOR": "use the FOR statement",
}

func (x *builtinCall) eval(m *machine) (Value, error) {
	base := len(m.args) // a stack for the arguments of all calls that are under way
	defer func() { m.args = m.args[:base] }()
	for _, a := range x.args {
		v, err := a.eval(m)
		if err != nil {
			return Value{}, err
		}
		if v.IsNull() && !x.f.nulls {
			return Value{}, nil
		}
		m.args = append(m.args, v)
	}
	v, err := x.f.f(m, m.args[base:])
	if err == nil && v.kind.isString() {
		err = m.checkSize(v.size())
	}
	return v, err
}

// wrongArg is the exception for an argument of the wrong type.
func wrongArg(function string, v Value, want string) error {
	return fail(0, "%s: %s %s, %s is wanted", function, v.kind, v, want)
}

// syntaxFunctions parse what stands between the parentheses.
var syntaxFunctions map[string]func(p *parser, t token) expr

func init() { // here, as the parsers refer to the table
	syntaxFunctions = map[string]func(p *parser, t token) expr{
		"SUBSTRING": (*parser).substring, "POSITION": (*parser).positionOf, "TRIM": (*parser).trim, "OVERLAY": (*parser).overlay,
		"EXTRACT": (*parser).extract, "ROUND": (*parser).round, "THE": (*parser).the, "CARDINALITY": (*parser).listFunction,
		"EXISTS": (*parser).listFunction, "SINGULAR": (*parser).listFunction, "FIELDNAME": (*parser).fieldFunction,
		"FIELDNAMESPACE": (*parser).fieldFunction, "FIELDTYPE": (*parser).fieldFunction, "FIELDVALUE": (*parser).fieldFunction,
		"SAMEFIELD": (*parser).fieldFunction, "LASTMOVE": (*parser).lastMove, "ASBITSTREAM": (*parser).asBitStream, "ROW": (*parser).row,
	}
}

// callOf builds a call of a function that the table holds under a name of its own; nil arguments are left out.
func callOf(t token, name string, args ...expr) expr {
	c := &builtinCall{Pos: t.pos, f: builtins[name]}
	for _, a := range args {
		if a != nil {
			c.args = append(c.args, a)
		}
	}
	return c
}

func (p *parser) substring(t token) expr {
	s := p.expr()
	name := ""
	var x, n expr
	switch {
	case p.accept("FROM"), p.acceptPunct(","):
		name = "SUBSTRING FROM"
	case p.accept("BEFORE"):
		name = "SUBSTRING BEFORE"
	case p.accept("AFTER"):
		name = "SUBSTRING AFTER"
	default:
		p.expected("FROM", "BEFORE", "AFTER")
		return s
	}
	x = p.expr()
	if p.accept("FOR") || name == "SUBSTRING FROM" && p.acceptPunct(",") {
		n = p.expr()
	}
	return callOf(t, name, s, x, n)
}

func (p *parser) positionOf(t token) expr {
	what := p.one(p.sum()) // not an expression: IN would be taken for the predicate
	p.need("IN")
	s := p.expr()
	from, times := expr(&literal{t.pos, Value{}}), expr(&literal{t.pos, Int(1)})
	if p.accept("FROM") {
		from = p.expr()
	}
	if p.accept("REPEAT") {
		times = p.expr()
	}
	return callOf(t, "POSITION", what, s, from, times)
}

func (p *parser) trim(t token) expr {
	name := "TRIM BOTH"
	switch {
	case p.accept("LEADING"):
		name = "TRIM LEADING"
	case p.accept("TRAILING"):
		name = "TRIM TRAILING"
	default:
		p.accept("BOTH")
	}
	var what expr
	if !p.is("FROM") {
		what = p.expr()
	}
	if p.accept("FROM") {
		return callOf(t, name, p.expr(), what)
	}
	return callOf(t, name, what)
}

func (p *parser) overlay(t token) expr {
	s := p.expr()
	p.need("PLACING")
	with := p.expr()
	p.need("FROM")
	from := p.expr()
	var n expr
	if p.accept("FOR") {
		n = p.expr()
	}
	return callOf(t, "OVERLAY", s, with, from, n)
}

func (p *parser) extract(t token) expr {
	word := p.t.word
	if _, ok := extractFields[word]; !ok {
		p.expected("YEAR", "MONTH", "DAY", "HOUR", "MINUTE or SECOND")
	}
	field := &literal{p.t.pos, char(word)}
	p.advance()
	p.need("FROM")
	return callOf(t, "EXTRACT", field, p.expr())
}

func (p *parser) round(t token) expr {
	x := p.expr()
	var places expr = &literal{t.pos, Int(0)}
	if p.acceptPunct(",") {
		places = p.expr()
	}
	mode := roundHalfEven
	if p.accept("MODE") {
		r, ok := roundings[p.t.word]
		if mode = r; !ok {
			p.expected("ROUND_HALF_UP", "ROUND_HALF_EVEN", "ROUND_UP", "ROUND_DOWN", "ROUND_CEILING")
		}
		p.advance()
	}
	return callOf(t, "ROUND", x, places, &literal{t.pos, Int(int64(mode))})
}

// listArgument reads what stands for a list of fields.
func (p *parser) listArgument(t token) listExpr {
	if p.t.punct("(") { // CARDINALITY((SELECT …))
		p.advance()
		if !p.enter() {
			return &listCons{Pos: t.pos}
		}
		l := p.listArgument(t)
		p.leave()
		p.needPunct(")")
		return l
	}
	x := p.anyExpr()
	if f, ok := x.(*path); ok && f.scalar() {
		p.report(x.at(), "%s: %s is a variable of type %s and no list of fields", t.word, f.name, f.v.typ)
	}
	l, ok := x.(listExpr)
	if !ok {
		if !p.failed {
			p.report(x.at(), "%s takes a list: a field with [], a SELECT or LIST{…}", t.word)
		}
		return &listCons{Pos: t.pos}
	}
	return l
}

func (p *parser) listFunction(t token) expr {
	return &listCall{Pos: t.pos, name: t.word, of: p.listArgument(t)}
}

func (p *parser) the(t token) expr {
	if p.is("SELECT") {
		return p.selectExpr(true)
	}
	return p.listFunction(t)
}

func (p *parser) fieldFunction(t token) expr {
	f := &fieldCall{Pos: t.pos, name: t.word, of: p.fieldRef()}
	if t.word == "SAMEFIELD" {
		p.needPunct(",")
		f.with = p.fieldRef()
	}
	return f
}

func (p *parser) lastMove(t token) expr {
	return &lastMove{t.pos, p.reference("LASTMOVE")}
}

func (p *parser) asBitStream(t token) expr {
	b := &bitStream{Pos: t.pos, of: p.fieldRef()}
	p.parseOptions(&b.parse)
	return b
}

func (p *parser) row(t token) expr {
	return &rowExpr{Pos: t.pos, items: p.items()}
}
