package esql

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Evaluation of expressions.

func (x *literal) eval(*machine) (Value, error) { return x.v, nil }

func (x *binary) eval(m *machine) (Value, error) {
	l, err := x.l.eval(m)
	if err != nil {
		return l, err
	}
	r, err := x.r.eval(m)
	if err != nil {
		return r, err
	}
	switch x.op {
	case opAdd, opSub, opMul, opDiv:
		return arith(x.op, l, r)
	case opConcat:
		return m.concat(l, r)
	}
	if l.IsNull() || r.IsNull() {
		return Value{}, nil
	}
	return m.relation(x.op, l, r)
}

func (m *machine) relation(op operator, l, r Value) (Value, error) {
	c, err := int(cmp64(l.n, r.n)), error(nil)
	if l.kind != Integer || r.kind != Integer {
		if c, err = compare(l, r, m.zone); err != nil {
			return Value{}, err
		}
	}
	switch op {
	case opEQ:
		return Bool(c == 0), nil
	case opNE:
		return Bool(c != 0), nil
	case opLT:
		return Bool(c == -1), nil
	case opGT:
		return Bool(c == 1), nil
	case opLE:
		return Bool(c == -1 || c == 0), nil
	}
	return Bool(c == 1 || c == 0), nil
}

func (m *machine) concat(l, r Value) (Value, error) {
	if l.IsNull() || r.IsNull() {
		return Value{}, nil
	}
	if l.kind != r.kind || !l.kind.isString() {
		return Value{}, fail(0, "%s || %s: %s and %s cannot be joined: CAST to CHARACTER", l, r, l.kind, r.kind)
	}
	if err := m.checkSize(int64(len(l.s)) + int64(len(r.s))); err != nil {
		return Value{}, err
	}
	return Value{kind: l.kind, s: l.s + r.s}, nil
}

// eval stops as soon as the result is fixed.
func (x *logical) eval(m *machine) (Value, error) {
	l, err := x.l.eval(m)
	if err != nil {
		return l, err
	}
	lv, lk, err := truth(l)
	if err != nil || lk && lv == x.or {
		return Bool(lv), err
	}
	r, err := x.r.eval(m)
	if err != nil {
		return r, err
	}
	rv, rk, err := truth(r)
	switch {
	case err != nil:
		return Value{}, err
	case rk && rv == x.or:
		return Bool(x.or), nil
	case !lk || !rk:
		return Value{}, nil
	}
	return Bool(!x.or), nil
}

func (x *not) eval(m *machine) (Value, error) {
	v, err := x.x.eval(m)
	if err != nil {
		return v, err
	}
	b, known, err := truth(v)
	if !known || err != nil {
		return Value{}, err
	}
	return Bool(!b), nil
}

func (x *minus) eval(m *machine) (Value, error) {
	v, err := x.x.eval(m)
	if err != nil {
		return v, err
	}
	return negate(v)
}

func (x *isTest) eval(m *machine) (Value, error) {
	if x.what == "NULL" {
		is, err := m.isNull(x.x)
		return Bool(is != x.not), err
	}
	v, err := x.x.eval(m)
	if err != nil {
		return v, err
	}
	is := false
	switch x.what {
	case "TRUE", "FALSE", "UNKNOWN":
		b, known, err := truth(v)
		if err != nil {
			return Value{}, err
		}
		is = known && b == (x.what == "TRUE") && x.what != "UNKNOWN" || !known && x.what == "UNKNOWN"
	case "INF", "INFINITY":
		is = v.kind == Float && math.IsInf(v.float(), 0)
	case "NAN":
		is = v.kind == Float && math.IsNaN(v.float())
	default:
		is = v.kind.isNumber() && (v.kind != Float || !math.IsNaN(v.float()) && !math.IsInf(v.float(), 0))
	}
	return Bool(is != x.not), nil
}

// isNull: a field is NULL when it does not exist, or has neither value nor children.
func (m *machine) isNull(x expr) (bool, error) {
	if p, ok := x.(*path); ok && !p.scalar() {
		n, err := m.find(p)
		return n == nil || n.value.IsNull() && n.first == nil && n.lazy == nil, err
	}
	v, err := x.eval(m)
	return v.IsNull(), err
}

func (x *between) eval(m *machine) (Value, error) {
	var v [3]Value
	for i, e := range [3]expr{x.x, x.lo, x.hi} {
		var err error
		if v[i], err = e.eval(m); err != nil {
			return Value{}, err
		}
	}
	in, err := m.inRange(v[0], v[1], v[2])
	if x.symmetric && err == nil && !in.IsTrue() {
		var other Value
		if other, err = m.inRange(v[0], v[2], v[1]); other.IsTrue() || in.kind == Boolean {
			in = other
		}
	}
	if err != nil || in.IsNull() {
		return Value{}, err
	}
	return Bool(in.IsTrue() != x.not), nil
}

// inRange is lo <= v AND v <= hi.
func (m *machine) inRange(v, lo, hi Value) (Value, error) {
	out := Bool(true)
	for i, side := range [2]Value{lo, hi} {
		if v.IsNull() || side.IsNull() {
			out = Value{}
			continue
		}
		r, err := m.relation([2]operator{opGE, opLE}[i], v, side)
		if err != nil {
			return Value{}, err
		}
		if !r.IsTrue() {
			return r, nil
		}
	}
	return out, nil
}

func (x *inList) eval(m *machine) (Value, error) {
	v, err := x.x.eval(m)
	if err != nil {
		return v, err
	}
	unknown := v.IsNull()
	for _, e := range x.list {
		o, err := e.eval(m)
		if err != nil {
			return o, err
		}
		if v.IsNull() || o.IsNull() {
			unknown = true
			continue
		}
		if eq, err := m.relation(opEQ, v, o); err != nil || eq.IsTrue() {
			return Bool(!x.not), err
		}
	}
	if unknown {
		return Value{}, nil
	}
	return Bool(x.not), nil
}

func (x *like) eval(m *machine) (Value, error) {
	var v [3]Value
	v[2] = char(`\`)
	for i, e := range [3]expr{x.x, x.pattern, x.escape} {
		if e == nil {
			continue
		}
		var err error
		if v[i], err = e.eval(m); err != nil {
			return Value{}, err
		}
		if v[i].IsNull() {
			return Value{}, nil
		}
		if v[i].kind != Character {
			return Value{}, fail(0, "LIKE is for CHARACTER, not for %s %s", v[i].kind, v[i])
		}
	}
	if utf8.RuneCountInString(v[2].s) != 1 {
		return Value{}, fail(0, "ESCAPE is one character, not %s", v[2])
	}
	esc, _ := utf8.DecodeRuneInString(v[2].s)
	is, err := m.likeMatch(v[0].s, v[1].s, esc)
	return Bool(is != x.not), err
}

// likeMatch goes back to the last % only, so it is quadratic at worst; that counts as steps.
func (m *machine) likeMatch(s, pattern string, esc rune) (bool, error) {
	starP, starS := -1, 0
	i, j := 0, 0
	for n := 1; i < len(s) || j < len(pattern); n++ {
		if n&0xffff == 0 {
			m.work(1 << 16)
			if err := m.tick(); err != nil {
				return false, err
			}
		}
		if j < len(pattern) {
			p, n := utf8.DecodeRuneInString(pattern[j:])
			literal := false
			k := j + n
			if p == esc && k < len(pattern) {
				p, n = utf8.DecodeRuneInString(pattern[k:])
				k, literal = k+n, true
			}
			if p == '%' && !literal {
				starP, starS, j = k, i, k
				continue
			}
			if i < len(s) {
				c, w := utf8.DecodeRuneInString(s[i:])
				if c == p || p == '_' && !literal {
					i, j = i+w, k
					continue
				}
			}
		}
		if starP < 0 || starS >= len(s) {
			return false, nil
		}
		_, w := utf8.DecodeRuneInString(s[starS:])
		starS += w
		i, j = starS, starP
	}
	return true, nil
}

func (x *caseExpr) eval(m *machine) (Value, error) {
	var subject Value
	if x.subject != nil {
		var err error
		if subject, err = x.subject.eval(m); err != nil {
			return subject, err
		}
	}
	for _, w := range x.when {
		hit, err := m.when(x.subject != nil, subject, w[0])
		if err != nil {
			return Value{}, err
		}
		if hit {
			return w[1].eval(m)
		}
	}
	if x.other == nil {
		return Value{}, nil
	}
	return x.other.eval(m)
}

// when decides one WHEN: equal to the subject, or true.
func (m *machine) when(hasSubject bool, subject Value, x expr) (bool, error) {
	v, err := x.eval(m)
	if err != nil {
		return false, err
	}
	if hasSubject {
		if subject.IsNull() || v.IsNull() {
			return false, nil
		}
		v, err = m.relation(opEQ, subject, v)
		return v.IsTrue(), err
	}
	b, _, err := truth(v)
	return b, err
}

// condition is TRUE only; NULL and FALSE are not taken.
func (m *machine) condition(x expr) (bool, error) { return m.when(false, Value{}, x) }

func (x *castExpr) eval(m *machine) (Value, error) {
	vs := make([]Value, len(x.of))
	for i, e := range x.of {
		var err error
		if vs[i], err = e.eval(m); err != nil {
			return Value{}, err
		}
	}
	o := m.castOptions()
	if x.ccsid != nil {
		v, err := x.ccsid.eval(m)
		if err != nil || v.kind != Integer {
			return Value{}, orFail(err, "CCSID is %s, an INTEGER is wanted", v)
		}
		o.page, o.hasCCSID = v.n, true
	}
	if x.format != nil {
		s, err := m.text(x.format, "FORMAT")
		if err != nil {
			return Value{}, err
		}
		o.format, o.hasFormat = s, true
	}
	var v Value
	var err error
	if len(vs) > 1 {
		v, err = castMany(vs, x.to)
	} else {
		v, err = castTo(vs[0], x.to, o)
	}
	if err != nil && x.other != nil {
		return x.other.eval(m)
	}
	if err == nil {
		err = m.checkSize(v.size())
	}
	return v, err
}

// orFail is err, or a new exception when that is nil.
func orFail(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fail(0, format, args...)
}

func (x *path) eval(m *machine) (Value, error) {
	if x.v != nil && len(x.elems) == 0 && x.v.typ.kind != refKind && x.v.typ.kind != rowKind {
		return m.slot(x.v).v, nil
	}
	n, err := m.find(x)
	if n == nil || err != nil {
		return Value{}, err
	}
	return n.value, nil
}

func (x *path) isList() bool { return x.many }

func (x *path) list(m *machine) ([]*Node, bool, error) {
	n, err := m.all(x)
	return n, false, err
}

func (x *fieldCall) eval(m *machine) (Value, error) {
	if x.of.scalar() {
		if x.name == "FIELDVALUE" {
			return x.of.eval(m)
		}
		return Value{}, fail(0, "%s: %s is a variable of type %s and no field", x.name, x.of.name, x.of.v.typ)
	}
	n, err := m.find(x.of)
	if err != nil {
		return Value{}, err
	}
	if x.name == "SAMEFIELD" {
		o, err := m.find(x.with)
		return Bool(n != nil && n == o), err
	}
	if n == nil {
		return Value{}, nil
	}
	switch x.name {
	case "FIELDNAME":
		return char(n.Name), nil
	case "FIELDNAMESPACE":
		return char(n.Namespace), nil
	case "FIELDTYPE":
		return Int(int64(n.Type)), nil
	}
	return n.value, nil
}

func (x *lastMove) eval(m *machine) (Value, error) { return Bool(m.slot(x.ref).moved), nil }

func (x *userCall) eval(m *machine) (Value, error) { return m.call(x) }

func (x *listCall) eval(m *machine) (Value, error) {
	nodes, owned, err := x.of.list(m)
	if err != nil {
		return Value{}, err
	}
	if owned {
		defer m.release(nodes)
	}
	switch x.name {
	case "CARDINALITY":
		return Int(int64(len(nodes))), nil
	case "EXISTS":
		return Bool(len(nodes) > 0), nil
	case "SINGULAR":
		return Bool(len(nodes) == 1), nil
	}
	if len(nodes) == 0 {
		return Value{}, nil
	}
	return nodes[0].value, nil
}

// release gives back what a list took that nobody keeps.
func (m *machine) release(nodes []*Node) {
	for _, n := range nodes {
		m.mem = max(0, m.mem-n.size()-n.treeSize())
	}
}

func (x *bitStream) eval(m *machine) (Value, error) {
	n, err := m.find(x.of)
	if n == nil || err != nil {
		return Value{}, err
	}
	o, err := m.parseOptions(&x.parse)
	if err != nil {
		return Value{}, err
	}
	if data, have, ok := n.Unparsed(); ok && (o.CCSID == 0 || o.CCSID == have.CCSID) {
		return Bytes(data), nil
	}
	name := n.domainName()
	d, err := m.domain(name)
	if err != nil {
		return Value{}, err
	}
	b, err := d.Serialize(n, o)
	if err != nil {
		return Value{}, fail(0, "%s cannot be written as %s: %v", n.Path(), name, err)
	}
	return Bytes(b), m.checkSize(int64(len(b)))
}

func (m *machine) domain(name string) (Domain, error) {
	if m.inv.Domain != nil {
		if d, ok := m.inv.Domain(name); ok {
			return d, nil
		}
	}
	if name == "" {
		return nil, fail(0, "the field belongs to no domain, so there is no form for its bytes")
	}
	return nil, fail(0, "there is no parser for the domain %s: use XMLNSC, JSON, BLOB, MQMD, MQRFH2 or Properties", char(name))
}

// parseOptions evaluates what PARSE and ASBITSTREAM say.
func (m *machine) parseOptions(c *parseClause) (ParseOptions, error) {
	o := ParseOptions{MaxNodes: m.lim.Memory / nodeSize}
	for _, e := range []struct {
		x  expr
		to *int64
	}{{c.encoding, &o.Encoding}, {c.ccsid, &o.CCSID}} {
		if e.x == nil {
			continue
		}
		v, err := e.x.eval(m)
		if err != nil || v.kind != Integer && !v.IsNull() {
			return o, orFail(err, "ENCODING and CCSID are INTEGER, not %s", v)
		}
		*e.to = v.n
	}
	for _, e := range []struct {
		x  expr
		to *string
	}{{c.set, &o.Set}, {c.typ, &o.Type}, {c.format_, &o.Format}} {
		if e.x == nil {
			continue
		}
		v, err := e.x.eval(m)
		if err != nil || v.kind != Character && !v.IsNull() {
			return o, orFail(err, "SET, TYPE and FORMAT are CHARACTER, not %s", v)
		}
		*e.to = v.s
	}
	if l, ok := c.options.(*literal); ok {
		o.FolderOnly = strings.Contains(l.v.s, "FOLDERBITSTREAM")
	}
	return o, nil
}
