package esql

// Paths at run time: finding elements, making them, changing them.

const nodeSize = 200 // bytes that an element takes, about

func (n *Node) size() int64 {
	return nodeSize + int64(len(n.Name)+len(n.Namespace)) + n.value.size()
}

// treeSize is the size of what is below n.
func (n *Node) treeSize() int64 {
	s := int64(0)
	for c := n.first; c != nil; c = step(c, n) {
		s += c.size()
	}
	return s
}

// startOf is the element at which a path begins; it is never nil.
func (m *machine) startOf(p *path) (*Node, error) {
	if p.v != nil {
		if n := m.slot(p.v).node; n != nil {
			return n, nil
		}
		if p.v.typ.kind >= rowKind && p.v.typ.kind != nsKind { // used before its DECLARE ran
			return m.inv.Environment, fail(0, "%s is used before its DECLARE", p.v.name)
		}
		return m.inv.Environment, fail(0, "%s is a variable of type %s and has no fields", p.v.name, p.v.typ)
	}
	if n := m.rootOf(p.root); n != nil {
		return n, nil
	}
	return m.inv.InputRoot, nil // an empty message has no body
}

func (m *machine) rootOf(r rootID) *Node {
	switch r {
	case rootInputRoot:
		return m.inv.InputRoot
	case rootInputBody:
		return m.inv.InputRoot.last
	case rootInputProperties:
		return m.inv.InputRoot.Child("Properties")
	case rootInputLE:
		return m.inv.InputLocalEnvironment
	case rootInputEL:
		return m.inv.InputExceptionList
	case rootOutputRoot:
		return m.inv.OutputRoot
	case rootOutputLE:
		return m.inv.OutputLocalEnvironment
	case rootOutputEL:
		return m.inv.OutputExceptionList
	}
	return m.inv.Environment
}

// matcher is a path element with everything evaluated.
type matcher struct {
	typ        Type
	hasType    bool
	nsAny, any bool
	ns, name   string
	index      indexMode
	n          int64
}

func (m *machine) matcher(e *pathElem) (matcher, error) {
	w := matcher{typ: e.fixed, hasType: e.hasType, nsAny: e.nsMode == nsAny, any: e.any, name: e.name, index: e.index}
	if e.typ != nil {
		v, err := e.typ.eval(m)
		if err != nil {
			return w, err
		}
		if v.kind != Integer {
			return w, fail(0, "an element type is %s, an INTEGER like XMLNSC.Attribute is wanted", v)
		}
		w.typ = Type(v.n)
	}
	if e.nsMode == nsExpr {
		s, err := m.text(e.ns, "a namespace")
		if err != nil {
			return w, err
		}
		w.ns = s
	}
	if e.nameOf != nil {
		s, err := m.text(e.nameOf, "a field name")
		if err != nil {
			return w, err
		}
		w.name = s
	}
	if e.n != nil {
		v, err := e.n.eval(m)
		if err != nil {
			return w, err
		}
		if v.kind != Integer {
			return w, fail(NumIndex, "an index is %s %s: it must be an INTEGER, CAST it", v.kind, v)
		}
		if v.n < 1 {
			return w, fail(NumIndex, "an index begins with 1, %d is none", v.n)
		}
		w.n = v.n
	}
	return w, nil
}

// text evaluates an expression that must be CHARACTER.
func (m *machine) text(x expr, what string) (string, error) {
	v, err := x.eval(m)
	if err != nil {
		return "", err
	}
	if v.kind != Character {
		return "", fail(0, "%s is %s %s, a CHARACTER is wanted", what, v.kind, v)
	}
	return v.s, nil
}

func (w *matcher) matches(c *Node) bool {
	if !w.any && c.Name != w.name || !w.nsAny && c.Namespace != w.ns {
		return false
	}
	return !w.hasType || typeMatches(w.typ, c.Type)
}

// typeMatches: a general type fits all of its class, and what a domain makes by default fits what has no more than a class.
func typeMatches(want, have Type) bool {
	if want == have {
		return true
	}
	if want.Class() != have.Class() {
		return false
	}
	return want == want.Class() || have == have.Class() && (want == XMLNSCField || want == XMLNSCFolder || want == JSONObject)
}

// among finds the child of n that the matcher means, nil when there is none. count is the number of matches seen from the
// left when an index was counted.
func (m *machine) among(n *Node, w *matcher) (found *Node, count int64, err error) {
	if n.lazy != nil {
		if err := m.expand(n); err != nil {
			return nil, 0, err
		}
	}
	want, passed := max(w.n, 1), int64(0)
	c, next := n.first, (*Node).Next
	if w.index == indexRight || w.index == indexLast {
		c, next = n.last, (*Node).Prev
	}
	for ; c != nil; c = next(c) {
		passed++
		if w.matches(c) {
			if count++; count == want {
				break
			}
		}
	}
	m.work(passed)
	return c, count, nil
}

func (m *machine) expand(n *Node) error {
	if err := n.expand(m.lim.Memory / nodeSize); err != nil {
		return err
	}
	return m.charge(n.treeSize())
}

// find follows a path; nil when it does not resolve.
func (m *machine) find(p *path) (*Node, error) {
	n, err := m.startOf(p)
	if err != nil || p.v == nil && m.rootOf(p.root) == nil {
		return nil, err
	}
	for i := range p.elems {
		w, err := m.matcher(&p.elems[i])
		if err != nil {
			return nil, err
		}
		if n, _, err = m.among(n, &w); n == nil || err != nil {
			return nil, err
		}
	}
	return n, nil
}

// all gives the elements that a path with [] means.
func (m *machine) all(p *path) ([]*Node, error) {
	if !p.many {
		n, err := m.find(p)
		if n == nil || err != nil {
			return nil, err
		}
		return []*Node{n}, nil
	}
	last := len(p.elems) - 1
	front := *p
	front.elems, front.many = p.elems[:last], false
	n, err := m.find(&front)
	if n == nil || err != nil {
		return nil, err
	}
	w, err := m.matcher(&p.elems[last])
	if err != nil {
		return nil, err
	}
	if n.lazy != nil {
		if err := m.expand(n); err != nil {
			return nil, err
		}
	}
	var out []*Node
	passed := int64(0)
	for c := n.first; c != nil; c = c.next {
		if passed++; w.matches(c) {
			out = append(out, c)
		}
	}
	m.work(passed)
	return out, nil
}

// mutable refuses to change a tree that a program may only read.
func (m *machine) mutable(n *Node) error {
	r, passed := n, int64(0)
	for ; r.parent != nil; r = r.parent {
		passed++
	}
	m.work(passed)
	switch {
	case r == m.inv.InputRoot, r == m.inv.InputExceptionList && r != m.inv.OutputExceptionList:
		return fail(0, "%s belongs to an input tree and cannot be changed", n.Path())
	}
	return nil
}

// ensure follows a path and makes what is missing on it.
func (m *machine) ensure(p *path) (*Node, error) {
	n, err := m.startOf(p)
	if err == nil && p.v != nil && p.v.typ.kind == refKind {
		err = m.mutable(n)
	}
	if err != nil {
		return nil, err
	}
	for i := range p.elems {
		w, err := m.matcher(&p.elems[i])
		if err != nil {
			return nil, err
		}
		c, count, err := m.among(n, &w)
		if err == nil && c == nil {
			c, err = m.makeChild(n, &w, count)
		}
		if err != nil {
			return nil, err
		}
		n = c
	}
	return n, nil
}

// makeChild appends what the matcher did not find; an index may be one more than there are.
func (m *machine) makeChild(n *Node, w *matcher, count int64) (*Node, error) {
	switch {
	case w.any:
		return nil, fail(0, "%s has no such child, and * is no name for a new one", n.Path())
	case w.n > count+1:
		return nil, fail(0, "%s[%d] cannot be made in %s, which has %d of them: the next is [%d]", w.name, w.n, n.Path(), count, count+1)
	case w.nsAny:
		return nil, fail(0, "*:%s cannot be made in %s: say its namespace", w.name, n.Path())
	}
	c := &Node{Type: TypeName, Namespace: w.ns, Name: w.name}
	if w.hasType {
		c.Type = w.typ
	}
	if n == m.inv.OutputRoot {
		c.Domain = w.name
	}
	if err := m.charge(c.size()); err != nil {
		return nil, err
	}
	return n.Append(c), nil
}

// setValue gives an element a value.
func (m *machine) setValue(n *Node, v Value) error {
	if n.Type == TypeName {
		n.Type = TypeNameValue
	}
	if err := m.charge(v.size() - n.value.size()); err != nil {
		return err
	}
	n.value = v
	return nil
}

// empty takes away what is in and below an element.
func (m *machine) empty(n *Node) {
	m.mem = max(0, m.mem-n.treeSize()-n.value.size())
	n.clear()
}

// remove takes an element out of its tree; a root is emptied.
func (m *machine) remove(n *Node) {
	m.empty(n)
	if n.parent != nil {
		m.mem = max(0, m.mem-n.size())
		n.Detach()
	}
}

// store is SET target = v.
func (m *machine) store(target *path, v Value) error {
	if target.scalar() {
		return m.assign(target.v, v)
	}
	if v.IsNull() {
		return m.deleteTarget(target)
	}
	n, err := m.ensure(target)
	if err != nil {
		return err
	}
	if n.first != nil || n.lazy != nil {
		m.empty(n)
	}
	return m.setValue(n, v)
}

func (m *machine) deleteTarget(target *path) error {
	nodes, err := m.all(target)
	for _, n := range nodes {
		if target.v != nil && err == nil {
			err = m.mutable(n)
		}
		if err == nil {
			m.remove(n)
		}
	}
	return err
}

// copyInto makes n hold what src holds; its own name and place stay. owned src is used up.
func (m *machine) copyInto(n, src *Node, owned bool) error {
	if n == src {
		return nil
	}
	from, to := src.domainName(), n.domainName()
	generic := from != "" && to != "" && from != to
	if src.lazy != nil && generic {
		if err := m.expand(src); err != nil {
			return err
		}
	}
	tmp := src
	if !owned { // src may lie inside of n, or the reverse
		tmp = src.alone(generic)
		tmp.copyChildren(src, generic)
		if err := m.charge(tmp.treeSize() + tmp.value.size()); err != nil {
			return err
		}
	}
	m.empty(n)
	n.value, n.lazy = tmp.value, tmp.lazy
	for c := tmp.first; c != nil; {
		next := c.next
		c.parent, c.prev, c.next = nil, nil, nil
		if n == m.inv.OutputRoot && c.Domain == "" {
			c.Domain = c.Name
		}
		n.Append(c)
		c = next
	}
	tmp.first, tmp.last = nil, nil
	if owned {
		m.mem = max(0, m.mem-nodeSize)
	}
	m.retype(n, tmp)
	return nil
}

// retype: an element without a particular type becomes folder or field as its new content says.
func (m *machine) retype(n, src *Node) {
	if n.Type != TypeName && n.Type != TypeNameValue {
		return
	}
	switch src.Type {
	case JSONArray, JSONObject, XMLNSCCDataField:
		n.Type = src.Type
		return
	}
	n.Type = TypeName
	if n.first == nil && n.lazy == nil && src.Type.Class() == TypeNameValue {
		n.Type = TypeNameValue
	}
}
