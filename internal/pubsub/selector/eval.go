package selector

// Evaluation: every node gives a value; a condition gives TRUE, FALSE or NULL for unknown.

// Properties gives the values of a message's properties by name; NULL for those it does not have. Names are
// case-sensitive.
type Properties interface {
	Property(name string) Value
}

// Map is a set of properties.
type Map map[string]Value

// Property returns NULL for a name that is not in the map.
func (m Map) Property(name string) Value { return m[name] }

// None has no properties.
var None Properties = Map(nil)

// Matches reports whether a message is selected. A nil selector selects everything.
func (s *Selector) Matches(p Properties) bool { return s.Eval(p) == True }

// Eval gives the selector's value for a message.
func (s *Selector) Eval(p Properties) Truth {
	if s == nil {
		return True
	}
	return s.root.eval(p).logic()
}

type node interface {
	eval(Properties) Value
	// fits reports whether the node can stand where something of a sort is needed. A property can always.
	fits(sort) bool
}

type sort uint8

const (
	asCond   sort = iota // TRUE, FALSE, unknown
	asNumber             // operand of arithmetic
	asString             // left of IN and LIKE
	asValue              // left of IS NULL: not a condition
)

var sortNames = [...]string{"a condition", "a number", "a string", "a property"}

// want refuses what can be seen to be of the wrong type before there is any message.
func (p *parser) want(n node, s sort, pos int) error {
	if n.fits(s) {
		return nil
	}
	return syntax(pos, sortNames[s]+" is expected here")
}

func fromTruth(t Truth) Value {
	if t == Unknown {
		return Value{}
	}
	return Bool(t == True)
}

type litNode struct{ v Value }

func (n *litNode) eval(Properties) Value { return n.v }
func (n *litNode) fits(s sort) bool {
	switch s {
	case asCond:
		return n.v.kind == KindBool
	case asNumber:
		return n.v.number()
	case asString:
		return n.v.kind == KindString
	}
	return true
}

type identNode struct{ name string }

func (n *identNode) eval(p Properties) Value { return p.Property(n.name) }
func (n *identNode) fits(sort) bool          { return true }

// isCond is embedded by nodes that are conditions.
type isCond struct{}

func (isCond) fits(s sort) bool { return s == asCond }

// isNumber is embedded by nodes that are numbers.
type isNumber struct{}

func (isNumber) fits(s sort) bool { return s == asNumber || s == asValue }

type logicNode struct {
	isCond
	and  bool
	list []node
}

func (n *logicNode) eval(p Properties) Value {
	t := truth(n.and)
	for _, c := range n.list {
		v := c.eval(p).logic()
		if n.and {
			t = t.and(v)
		} else {
			t = t.or(v)
		}
		if t == truth(!n.and) { // nothing that follows can change it
			break
		}
	}
	return fromTruth(t)
}

// notNode stands for a run of NOTs; flip says their number is odd.
type notNode struct {
	isCond
	n    node
	flip bool
}

func (n *notNode) eval(p Properties) Value {
	t := n.n.eval(p).logic()
	if n.flip {
		t = t.not()
	}
	return fromTruth(t)
}

type cmpNode struct {
	isCond
	op   op
	a, b node
}

func (n *cmpNode) eval(p Properties) Value { return fromTruth(compare(n.op, n.a.eval(p), n.b.eval(p))) }

type nullNode struct {
	isCond
	n   node
	not bool
}

func (n *nullNode) eval(p Properties) Value { return Bool(n.n.eval(p).IsNull() != n.not) }

type betweenNode struct {
	isCond
	n, low, high node
}

func (n *betweenNode) eval(p Properties) Value {
	v := n.n.eval(p)
	return fromTruth(compare(opGE, v, n.low.eval(p)).and(compare(opLE, v, n.high.eval(p))))
}

type inNode struct {
	isCond
	n    node
	list []Value
}

func (n *inNode) eval(p Properties) Value {
	v := n.n.eval(p)
	if v.IsNull() {
		return Value{}
	}
	for _, s := range n.list {
		if compare(opEQ, v, s) == True {
			return Bool(true)
		}
	}
	return Bool(false)
}

type arithNode struct {
	isNumber
	op   byte
	a, b node
}

func (n *arithNode) eval(p Properties) Value { return arith(n.op, n.a.eval(p), n.b.eval(p)) }

type negNode struct {
	isNumber
	n node
}

func (n *negNode) eval(p Properties) Value {
	switch v := n.n.eval(p); v.kind {
	case KindInt:
		return Int(-v.num)
	case KindFloat:
		return Float(-v.flt)
	}
	return Value{}
}

type likeNode struct {
	isCond
	n       node
	pattern []likeTok
}

func (n *likeNode) eval(p Properties) Value {
	v := n.n.eval(p)
	switch {
	case v.IsNull():
		return Value{}
	case !v.text():
		return Bool(false)
	}
	return Bool(likeMatch(n.pattern, []rune(v.str)))
}

// likeTok is one character of a pattern; one and run are '_' and '%'.
type likeTok struct {
	r        rune
	one, run bool
}

// likePattern reads a pattern; false if it ends in its escape character.
func likePattern(s string, escape rune) ([]likeTok, bool) {
	var out []likeTok
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			out = append(out, likeTok{r: r})
			escaped = false
		case r == escape:
			escaped = true
		case r == '%':
			if len(out) == 0 || !out[len(out)-1].run {
				out = append(out, likeTok{run: true})
			}
		case r == '_':
			out = append(out, likeTok{one: true})
		default:
			out = append(out, likeTok{r: r})
		}
	}
	return out, !escaped
}

// likeMatch goes back to the latest '%' only.
func likeMatch(toks []likeTok, s []rune) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(toks) && toks[p].run:
			star, mark = p, i
			p++
		case p < len(toks) && (toks[p].one || toks[p].r == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(toks) && toks[p].run {
		p++
	}
	return p == len(toks)
}
