package esql

// Statements that change trees: SET, CREATE, DELETE, MOVE, ATTACH, DETACH.

func (s *setStmt) exec(m *machine) (flow, error) {
	if s.part != "" {
		return flow{}, s.setPart(m)
	}
	if s.target.many {
		return flow{}, m.storeList(s.target, s.x)
	}
	if src, ok := s.x.(*path); ok && !s.target.scalar() && !(src.scalar()) && (src.v == nil || src.v.typ.kind != nsKind) {
		return flow{}, m.storeField(s.target, src)
	}
	if l, ok := s.x.(listExpr); ok && !s.target.scalar() {
		if _, isPath := l.(*path); !isPath {
			return flow{}, m.storeOne(s.target, l)
		}
	}
	if c, ok := s.x.(*listCall); ok && c.name == "THE" && !s.target.scalar() {
		return flow{}, m.storeOne(s.target, c.of)
	}
	v, err := s.x.eval(m)
	if err != nil {
		return flow{}, err
	}
	return flow{}, m.store(s.target, v)
}

// setPart changes the type, the names or only the value of a field.
func (s *setStmt) setPart(m *machine) error {
	v, err := s.x.eval(m)
	if err != nil {
		return err
	}
	n, err := m.ensure(s.target)
	if err != nil {
		return err
	}
	if s.part == "VALUE" {
		if v.IsNull() {
			if n.Type == TypeName && n.first == nil {
				n.Type = TypeNameValue
			}
			m.mem = max(0, m.mem-n.value.size())
			n.value = v
			return nil
		}
		return m.setValue(n, v)
	}
	return setName(n, s.part, v)
}

func setName(n *Node, part string, v Value) error {
	if part == "TYPE" {
		if v.kind != Integer {
			return fail(0, "TYPE is %s, an INTEGER like XMLNSC.Attribute is wanted", v)
		}
		n.Type = Type(v.n)
		return nil
	}
	if v.kind != Character && !v.IsNull() {
		return fail(0, "%s is %s %s, a CHARACTER is wanted", part, v.kind, v)
	}
	if part == "NAME" {
		n.Name = v.s
	} else {
		n.Namespace = v.s
	}
	return nil
}

// storeField is SET field = field: value and children are copied; what does not exist deletes.
func (m *machine) storeField(target, src *path) error {
	from, err := m.find(src)
	if err != nil {
		return err
	}
	if from == nil {
		return m.deleteTarget(target)
	}
	if from.value.IsNull() && from.first == nil && from.lazy == nil && from.Type.Class() == TypeNameValue {
		return m.deleteTarget(target) // a field that holds NULL
	}
	to, err := m.ensureLike(target, from)
	if err != nil {
		return err
	}
	return m.copyInto(to, from, false)
}

// ensureLike is ensure, but a target that ends with * takes name and type of the source when it must be made: the usual
// CopyMessageHeaders says SET OutputRoot.*[i] = InputRoot.*[i].
func (m *machine) ensureLike(target *path, src *Node) (*Node, error) {
	last := len(target.elems) - 1
	if last < 0 || !target.elems[last].any {
		return m.ensure(target)
	}
	front := *target
	front.elems = target.elems[:last]
	parent, err := m.ensure(&front)
	if err != nil {
		return nil, err
	}
	w, err := m.matcher(&target.elems[last])
	if err != nil {
		return nil, err
	}
	n, count, err := m.among(parent, &w)
	if n != nil || err != nil {
		return n, err
	}
	w.any, w.nsAny, w.name, w.ns = false, false, src.Name, src.Namespace
	if !w.hasType {
		w.hasType, w.typ = true, src.Type
	}
	if n, err = m.makeChild(parent, &w, count); err == nil && src.Domain != "" {
		n.Domain = src.Domain
	}
	return n, err
}

// storeOne is SET field = the first of a list of elements.
func (m *machine) storeOne(target *path, l listExpr) error {
	nodes, owned, err := l.list(m)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		return m.deleteTarget(target)
	}
	if owned && len(nodes) > 1 {
		m.release(nodes[1:])
	}
	if n := nodes[0]; n.first == nil && n.lazy == nil {
		return m.store(target, n.value)
	}
	to, err := m.ensure(target)
	if err != nil {
		return err
	}
	return m.copyInto(to, nodes[0], owned)
}

// storeList is SET field[] = list: the fields that were there go, the new ones take their name.
func (m *machine) storeList(target *path, x expr) error {
	var nodes []*Node
	var owned bool
	var err error
	if l, ok := x.(listExpr); ok {
		if nodes, owned, err = l.list(m); err != nil {
			return err
		}
	}
	last := len(target.elems) - 1
	front := *target
	front.elems, front.many = target.elems[:last], false
	parent, err := m.ensure(&front)
	if err != nil {
		return err
	}
	w, err := m.matcher(&target.elems[last])
	if err != nil {
		return err
	}
	if w.any && len(nodes) > 0 {
		return fail(0, "*[] has no name for the new fields: write one")
	}
	made := make([]*Node, 0, len(nodes))
	for _, n := range nodes { // copied before anything is deleted: the source may be the target
		c := &Node{Type: TypeName, Namespace: w.ns, Name: w.name}
		if w.hasType {
			c.Type = w.typ
		}
		c.parent = parent // for its domain
		err := m.charge(c.size())
		if err == nil {
			err = m.copyInto(c, n, owned)
		}
		if c.parent = nil; err != nil {
			return err
		}
		made = append(made, c)
	}
	if err := m.deleteTarget(target); err != nil {
		return err
	}
	for _, c := range made {
		parent.Append(c)
	}
	return nil
}

func (s *createStmt) exec(m *machine) (flow, error) {
	at, err := m.ensure(s.of)
	if err != nil {
		return flow{}, err
	}
	if s.pos == posField {
		if err = s.fill(m, at); err == nil && s.as != nil {
			*m.slot(s.as) = variable{node: at, moved: true}
		}
		return flow{}, err
	}
	if at.parent == nil && (s.pos == posPrevious || s.pos == posNext) {
		return flow{}, fail(0, "%s is the root of a tree and has no siblings", s.of.name)
	}
	n := &Node{Type: TypeName}
	if s.repeat {
		n.Type, n.Name, n.Namespace = at.Type, at.Name, at.Namespace
	}
	if s.domain != nil {
		name, err := m.text(s.domain, "DOMAIN")
		if err != nil {
			return flow{}, err
		}
		if n.Domain = name; name == "" {
			n.Domain = "BLOB" // what the product calls no parser at all
		}
		n.Name = n.Domain
	}
	if err := m.charge(n.size()); err != nil {
		return flow{}, err
	}
	n.parent = at // for its domain, until it has its place
	if s.pos == posPrevious || s.pos == posNext {
		n.parent = at.parent
	}
	err = s.fill(m, n)
	n.parent = nil
	if err != nil {
		return flow{}, err
	}
	if err := m.expandFor(at, s.pos); err != nil {
		return flow{}, err
	}
	place(n, s.pos, at)
	if s.as != nil {
		*m.slot(s.as) = variable{node: n, moved: true}
	}
	return flow{}, nil
}

// expandFor parses what a new child would stand beside.
func (m *machine) expandFor(at *Node, pos position) error {
	if (pos == posFirst || pos == posLast) && at.lazy != nil {
		return m.expand(at)
	}
	return nil
}

func place(n *Node, pos position, at *Node) {
	switch pos {
	case posFirst:
		at.insert(n, nil, at.first)
	case posLast:
		at.insert(n, at.last, nil)
	case posPrevious:
		at.parent.insert(n, at.prev, at)
	case posNext:
		at.parent.insert(n, at, at.next)
	}
}

// fill applies the clauses of CREATE to an element.
func (s *createStmt) fill(m *machine, n *Node) error {
	if s.from != nil {
		src, err := m.find(s.from)
		if err == nil && src != nil {
			if s.pos != posField && n.domainName() == "" {
				n.Domain = src.Domain
			}
			if n.Name == "" {
				n.Name, n.Namespace, n.Type = src.Name, src.Namespace, src.Type
			}
			err = m.copyInto(n, src, false)
		}
		if err != nil {
			return err
		}
	}
	if err := m.applyNames(&s.names, n); err != nil {
		return err
	}
	if s.value != nil {
		v, err := s.value.eval(m)
		if err != nil {
			return err
		}
		if err := m.setValue(n, v); err != nil {
			return err
		}
	}
	switch {
	case s.parse == nil:
		return nil
	case s.domain != nil:
		return m.parseInto(n, s.parse)
	}
	return s.parseElement(m, n)
}

// parseElement is PARSE without DOMAIN: the parser is that of the tree around, and n becomes the element that the bytes hold.
func (s *createStmt) parseElement(m *machine, n *Node) error {
	top := &Node{Name: n.domainName(), Domain: n.domainName()}
	if err := m.parseInto(top, s.parse); err != nil {
		return err
	}
	src := top.last
	if src == nil {
		return nil
	}
	n.Type, n.Namespace, n.Name = src.Type, src.Namespace, src.Name
	src.parent = n.parent // of the same domain: its types stay
	err := m.copyInto(n, src, true)
	src.parent = nil
	if err != nil {
		return err
	}
	return m.applyNames(&s.names, n)
}

func (m *machine) parseInto(n *Node, c *parseClause) error {
	v, err := c.data.eval(m)
	if err != nil || v.IsNull() {
		return err
	}
	if v.kind != Blob {
		return fail(0, "PARSE takes a BLOB, not %s %s: CAST(… AS BLOB CCSID 1208)", v.kind, v)
	}
	o, err := m.parseOptions(c)
	if err != nil {
		return err
	}
	d, err := m.domain(n.Domain)
	if err != nil {
		return err
	}
	n.SetUnparsed(d, []byte(v.s), o)
	return m.expand(n)
}

func (m *machine) applyNames(c *nameClause, n *Node) error {
	if c.identity != nil {
		w, err := m.matcher(c.identity)
		if err != nil {
			return err
		}
		n.Name, n.Namespace = w.name, w.ns
		if w.hasType {
			n.Type = w.typ
		}
		return nil
	}
	for _, part := range [3]struct {
		x    expr
		name string
	}{{c.typ, "TYPE"}, {c.ns, "NAMESPACE"}, {c.name, "NAME"}} {
		if part.x == nil {
			continue
		}
		v, err := part.x.eval(m)
		if err == nil {
			err = setName(n, part.name, v)
		}
		if err != nil {
			return err
		}
	}
	return m.charge(int64(len(n.Name) + len(n.Namespace)))
}

func (s *deleteStmt) exec(m *machine) (flow, error) {
	n, err := m.find(s.of)
	if n == nil || err != nil {
		return flow{}, err
	}
	switch s.pos {
	case posFirst, posLast:
		if err := m.expandFor(n, s.pos); err != nil {
			return flow{}, err
		}
		if s.pos == posFirst {
			n = n.first
		} else {
			n = n.last
		}
	case posPrevious:
		n = n.prev
	case posNext:
		n = n.next
	}
	if n == nil {
		return flow{}, nil
	}
	if s.of.v != nil {
		if err := m.mutable(n); err != nil {
			return flow{}, err
		}
	}
	m.remove(n)
	return flow{}, nil
}

func (s *moveStmt) exec(m *machine) (flow, error) {
	ref := m.slot(s.ref)
	if s.to != nil {
		n, err := m.find(s.to)
		if err != nil {
			return flow{}, err
		}
		if ref.moved = n != nil; ref.moved {
			ref.node = n
		}
		return flow{}, nil
	}
	cur := ref.node
	if cur == nil {
		return flow{}, fail(0, "%s is used before its DECLARE", s.ref.name)
	}
	ref.moved = false
	w, err := s.wanted(m, cur)
	if err != nil {
		return flow{}, err
	}
	if err := m.expandFor(cur, s.pos); err != nil {
		return flow{}, err
	}
	n, next := moveFrom(cur, s.pos)
	for n != nil && !w.matches(n) {
		n = next(n)
	}
	ref = m.slot(s.ref) // evaluating names may have moved the slots
	if n != nil {
		ref.node, ref.moved = n, true
	}
	return flow{}, nil
}

// moveFrom is the first candidate and the way to the next one.
func moveFrom(cur *Node, pos position) (*Node, func(*Node) *Node) {
	switch pos {
	case posParent:
		return cur.parent, (*Node).Parent
	case posFirst:
		return cur.first, (*Node).Next
	case posLast:
		return cur.last, (*Node).Prev
	case posPrevious:
		return cur.prev, (*Node).Prev
	}
	return cur.next, (*Node).Next
}

// wanted is what MOVE stops at.
func (s *moveStmt) wanted(m *machine, cur *Node) (matcher, error) {
	w := matcher{any: true, nsAny: true}
	if s.repeatType {
		w.hasType, w.typ = true, cur.Type
	}
	if s.repeatName {
		w.any, w.nsAny, w.name, w.ns = false, false, cur.Name, cur.Namespace
	}
	if s.names.identity != nil {
		return m.matcher(s.names.identity)
	}
	if s.names.typ != nil {
		v, err := s.names.typ.eval(m)
		if err != nil || v.kind != Integer {
			return w, orFail(err, "TYPE is %s, an INTEGER like XMLNSC.Attribute is wanted", v)
		}
		w.hasType, w.typ = true, Type(v.n)
	}
	if s.names.ns != nil {
		ns, err := m.text(s.names.ns, "NAMESPACE")
		if err != nil {
			return w, err
		}
		w.nsAny, w.ns = false, ns
	}
	if s.names.name != nil {
		name, err := m.text(s.names.name, "NAME")
		if err != nil {
			return w, err
		}
		w.any, w.name = false, name
	}
	return w, nil
}

func (s *attachStmt) exec(m *machine) (flow, error) {
	n := m.slot(s.ref).node
	at, err := m.ensure(s.to)
	if err != nil {
		return flow{}, err
	}
	switch {
	case n == nil:
		return flow{}, fail(0, "%s is used before its DECLARE", s.ref.name)
	case n.parent != nil:
		return flow{}, fail(0, "%s is still attached to %s: DETACH it first", s.ref.name, n.parent.Path())
	case at.root() == n:
		return flow{}, fail(0, "%s cannot be attached inside of itself", s.ref.name)
	case at.parent == nil && (s.pos == posPrevious || s.pos == posNext):
		return flow{}, fail(0, "%s is the root of a tree and has no siblings", s.to.name)
	case m.isRoot(n):
		return flow{}, fail(0, "%s points to the root of a tree, which cannot be attached", s.ref.name)
	}
	if err := m.expandFor(at, s.pos); err != nil {
		return flow{}, err
	}
	place(n, s.pos, at)
	return flow{}, nil
}

func (m *machine) isRoot(n *Node) bool {
	for r := rootInputRoot; r <= rootEnvironment; r++ {
		if n == m.rootOf(r) && n.parent == nil {
			return true
		}
	}
	return false
}

func (s *detachStmt) exec(m *machine) (flow, error) {
	n := m.slot(s.ref).node
	if n == nil || n.parent == nil {
		return flow{}, fail(0, "%s is attached to nothing", s.ref.name)
	}
	if err := m.mutable(n); err != nil {
		return flow{}, err
	}
	n.Detach()
	return flow{}, nil
}
