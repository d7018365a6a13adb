package esql

// SELECT, ROW and LIST: expressions that give elements.

func (x *selectExpr) isList() bool { return !x.one }

func (x *selectExpr) eval(m *machine) (Value, error) {
	nodes, owned, err := x.list(m)
	if err != nil || len(nodes) == 0 {
		return Value{}, err
	}
	v := nodes[0].value
	if owned {
		m.release(nodes)
	}
	return v, nil
}

// list joins the FROM items; what is made belongs to no tree.
func (x *selectExpr) list(m *machine) ([]*Node, bool, error) {
	var out []*Node
	err := x.join(m, 0, &out)
	if err != nil {
		m.release(out)
		return nil, false, err
	}
	return out, true, nil
}

func (x *selectExpr) join(m *machine, i int, out *[]*Node) error {
	if i == len(x.from) {
		if x.where != nil {
			if yes, err := m.condition(x.where); !yes || err != nil {
				return err
			}
		}
		n, err := x.row(m)
		if n != nil {
			*out = append(*out, n)
		}
		return err
	}
	nodes, err := m.all(x.from[i].of)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := m.turn(x.Pos); err != nil {
			return err
		}
		m.vars[m.base+x.from[i].slot] = variable{node: n, moved: true}
		if err := x.join(m, i+1, out); err != nil || x.one && len(*out) > 0 {
			return err
		}
	}
	return nil
}

// row makes one element of the result.
func (x *selectExpr) row(m *machine) (*Node, error) {
	row := &Node{Type: TypeName}
	if err := m.charge(row.size()); err != nil {
		return nil, err
	}
	if x.star {
		for _, f := range x.from {
			if err := m.copyChildrenOf(row, m.vars[m.base+f.slot].node); err != nil {
				return nil, err
			}
		}
		return row, nil
	}
	if x.item {
		return row, m.fillItem(row, x.items[0].x)
	}
	return row, m.fillRow(row, x.items)
}

func (m *machine) copyChildrenOf(row, src *Node) error {
	if src.lazy != nil {
		if err := m.expand(src); err != nil {
			return err
		}
	}
	tmp := &Node{}
	tmp.copyChildren(src, false)
	if err := m.charge(tmp.treeSize()); err != nil {
		return err
	}
	for c := tmp.first; c != nil; {
		next := c.next
		row.Append(c)
		c = next
	}
	return nil
}

// fillItem makes n hold the value of an expression; a field is copied as a whole.
func (m *machine) fillItem(n *Node, x expr) error {
	if p, ok := x.(*path); ok && !p.scalar() && (p.v == nil || p.v.typ.kind != nsKind) {
		src, err := m.find(p)
		if src == nil || err != nil {
			return err
		}
		return m.copyInto(n, src, false)
	}
	if l, ok := x.(listExpr); ok {
		if _, isPath := l.(*path); !isPath {
			nodes, owned, err := l.list(m)
			if err != nil || len(nodes) == 0 {
				return err
			}
			return m.copyInto(n, nodes[0], owned)
		}
	}
	v, err := x.eval(m)
	if err != nil {
		return err
	}
	n.Type = TypeNameValue
	return m.setValue(n, v)
}

func (m *machine) fillRow(row *Node, items []selectItem) error {
	for _, it := range items {
		c := &Node{Type: TypeName, Name: it.name}
		if err := m.charge(c.size()); err != nil {
			return err
		}
		row.Append(c)
		if err := m.fillItem(c, it.x); err != nil {
			return err
		}
	}
	return nil
}

func (x *rowExpr) isList() bool { return false }

func (x *rowExpr) eval(*machine) (Value, error) {
	return Value{}, fail(0, "a ROW is no value: assign it to a field")
}

func (x *rowExpr) list(m *machine) ([]*Node, bool, error) {
	row := &Node{Type: TypeName}
	if err := m.charge(row.size()); err != nil {
		return nil, false, err
	}
	return []*Node{row}, true, m.fillRow(row, x.items)
}

func (x *listCons) isList() bool { return true }

func (x *listCons) eval(*machine) (Value, error) {
	return Value{}, fail(0, "a LIST is no value: assign it to a field with []")
}

func (x *listCons) list(m *machine) ([]*Node, bool, error) {
	out := make([]*Node, 0, len(x.items))
	for _, it := range x.items {
		n := &Node{Type: TypeName}
		if err := m.charge(n.size()); err != nil {
			return nil, false, err
		}
		if err := m.fillItem(n, it); err != nil {
			return nil, false, err
		}
		out = append(out, n)
	}
	return out, true, nil
}
