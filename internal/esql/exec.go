package esql

import (
	"strings"
)

// Execution of statements.

func (s *block) exec(m *machine) (flow, error) {
	f, err := m.exec(s.body)
	if f.kind == flowLeave && s.label != 0 && f.label == s.label {
		return flow{}, err
	}
	return f, err
}

func (s *declareStmt) exec(m *machine) (flow, error) {
	var v Value
	if s.init != nil && s.vars[0].typ.kind != rowKind {
		var err error
		if v, err = s.init.eval(m); err != nil {
			return flow{}, err
		}
	}
	for _, ref := range s.vars {
		switch ref.typ.kind {
		case refKind:
			n, err := m.find(s.ref)
			if err != nil {
				return flow{}, err
			}
			moved := n != nil
			if n == nil { // points to where the path begins, LASTMOVE says FALSE
				if n, err = m.startOf(s.ref); err != nil {
					return flow{}, err
				}
			}
			*m.slot(ref) = variable{node: n, moved: moved}
		case rowKind:
			*m.slot(ref) = variable{node: &Node{Type: TypeName, Name: ref.name}}
			if s.init != nil {
				if err := m.fillItem(m.slot(ref).node, s.init); err != nil {
					return flow{}, err
				}
			}
		default:
			if err := m.assign(ref, v); err != nil {
				return flow{}, err
			}
		}
	}
	return flow{}, nil
}

func (s *ifStmt) exec(m *machine) (flow, error) {
	yes, err := m.condition(s.cond)
	switch {
	case err != nil:
		return flow{}, err
	case yes:
		return m.exec(s.then)
	}
	return m.exec(s.els)
}

func (s *caseStmt) exec(m *machine) (flow, error) {
	var subject Value
	if s.subject != nil {
		var err error
		if subject, err = s.subject.eval(m); err != nil {
			return flow{}, err
		}
	}
	for _, w := range s.when {
		hit, err := m.when(s.subject != nil, subject, w.x)
		if err != nil {
			return flow{}, err
		}
		if hit {
			return m.exec(w.body)
		}
	}
	return m.exec(s.other)
}

func (s *loopStmt) exec(m *machine) (flow, error) {
	for {
		if err := m.turn(s.Pos); err != nil {
			return flow{}, err
		}
		if s.while != nil {
			if yes, err := m.condition(s.while); !yes || err != nil {
				return flow{}, err
			}
		}
		f, err := m.exec(s.body)
		if err != nil {
			return f, err
		}
		if done, out := loopFlow(f, s.label); done {
			return out, nil
		}
		if s.until != nil {
			if yes, err := m.condition(s.until); yes || err != nil {
				return flow{}, err
			}
		}
	}
}

// loopFlow says whether a loop ends after its body, and what it hands on then.
func loopFlow(f flow, label int) (done bool, out flow) {
	switch {
	case f.kind == flowNext, f.kind == flowIterate && f.label == label:
		return false, flow{}
	case f.kind == flowLeave && f.label == label:
		return true, flow{}
	}
	return true, f
}

func (s *forStmt) exec(m *machine) (flow, error) {
	nodes, err := m.all(s.of)
	if err != nil {
		return flow{}, err
	}
	for _, n := range nodes {
		if err := m.turn(s.Pos); err != nil {
			return flow{}, err
		}
		if n.parent == nil && len(s.of.elems) > 0 {
			continue // the loop itself has deleted it
		}
		*m.slot(s.v) = variable{node: n, moved: true}
		f, err := m.exec(s.body)
		if err != nil || f.kind != flowNext {
			return f, err
		}
	}
	return flow{}, nil
}

func (s *callStmt) exec(m *machine) (flow, error) {
	v, err := m.call(s.call)
	if err == nil && s.into != nil {
		err = m.store(s.into, v)
	}
	return flow{}, err
}

func (s *returnStmt) exec(m *machine) (flow, error) {
	m.returned = true
	if s.x == nil {
		m.ret = Value{}
		return flow{kind: flowReturn}, nil
	}
	var err error
	m.ret, err = s.x.eval(m)
	m.returned = true
	if v := m.ret; err == nil && m.depth == 0 && v.kind != Boolean && !v.IsNull() {
		number := 0
		if m.mod.Kind == Filter {
			number = NumFilterReturn
		}
		err = fail(number, "Main of module %s returns %s %s, a BOOLEAN is wanted", m.mod.Name, v.kind, v)
	}
	return flow{kind: flowReturn}, err
}

func (s *jumpStmt) exec(*machine) (flow, error) {
	if s.iterate {
		return flow{kind: flowIterate, label: s.label}, nil
	}
	return flow{kind: flowLeave, label: s.label}, nil
}

// terminals of PROPAGATE, by name and by number.
var terminals = map[string]string{"FAILURE": "FAILURE", "OUT": "OUT", "OUT1": "OUT1", "OUT2": "OUT2", "OUT3": "OUT3", "OUT4": "OUT4", "NOWHERE": ""}
var terminalNumbers = map[int64]string{-1: "FAILURE", 0: "OUT", 1: "OUT1", 2: "OUT2", 3: "OUT3", 4: "OUT4", -2: ""}

func (s *propagateStmt) exec(m *machine) (flow, error) {
	to, err := s.terminalName(m)
	if err != nil {
		return flow{}, err
	}
	p := Propagation{Terminal: to, Message: m.inv.OutputRoot, LocalEnvironment: m.inv.OutputLocalEnvironment,
		ExceptionList: m.inv.OutputExceptionList, Finalize: !s.noFinalize}
	for _, t := range [3]struct {
		of *path
		to **Node
	}{{s.msg, &p.Message}, {s.env, &p.LocalEnvironment}, {s.exc, &p.ExceptionList}} {
		if t.of == nil {
			continue
		}
		n, err := m.find(t.of)
		if err != nil || n == nil {
			return flow{}, orFail(err, "PROPAGATE: %s does not exist", t.of.name)
		}
		*t.to = n
	}
	if to != "" {
		if m.inv.Host == nil {
			return flow{}, fail(0, "PROPAGATE: the module runs without a flow")
		}
		if err := m.inv.Host.Propagate(p); err != nil {
			return flow{}, err
		}
	}
	m.turns = 0
	if !s.noClear {
		for _, n := range [3]*Node{m.inv.OutputRoot, m.inv.OutputLocalEnvironment, m.inv.OutputExceptionList} {
			m.empty(n)
		}
	}
	return flow{}, nil
}

func (s *propagateStmt) terminalName(m *machine) (string, error) {
	if s.terminal == nil {
		return "OUT", nil
	}
	v, err := s.terminal.eval(m)
	if err != nil {
		return "", err
	}
	name, ok := "", false
	switch v.kind {
	case Character:
		name, ok = terminals[strings.ToUpper(v.s)]
	case Integer:
		name, ok = terminalNumbers[v.n]
	default:
		return "", fail(0, "TO TERMINAL is %s %s, a CHARACTER like 'out1' or an INTEGER is wanted", v.kind, v)
	}
	if !ok {
		return "", fail(NumTerminal, "there is no terminal %s: use 'out', 'out1' to 'out4', 'failure' or 'nowhere'", v)
	}
	return name, nil
}

func (s *throwStmt) exec(m *machine) (flow, error) {
	r, inserts, err := s.record(m, NumUser)
	if err != nil {
		return flow{}, err
	}
	return flow{}, &Exception{Type: "UserException", Number: int(r.Number), Severity: r.Severity, Catalog: r.Catalog, Text: "a user exception", Inserts: inserts}
}

// record evaluates the clauses of THROW and LOG.
func (s *throwStmt) record(m *machine, number int64) (LogRecord, []Insert, error) {
	r := LogRecord{Severity: 1, Catalog: "BIPmsgs", Number: number, Module: m.mod.Name, Pos: s.Pos}
	for _, c := range [2]struct {
		x  expr
		to *int64
	}{{s.severity, &r.Severity}, {s.message, &r.Number}} {
		if c.x == nil {
			continue
		}
		v, err := c.x.eval(m)
		if err != nil {
			return r, nil, err
		}
		if v, err = castTo(v, typeOf(Integer), castOptions{}); err != nil || v.IsNull() {
			return r, nil, orFail(err, "SEVERITY and MESSAGE are INTEGER, not NULL")
		}
		*c.to = v.n
	}
	if s.catalog != nil {
		name, err := m.text(s.catalog, "CATALOG")
		if err != nil {
			return r, nil, err
		}
		r.Catalog = name
	}
	var inserts []Insert
	for _, x := range s.values {
		v, err := x.eval(m)
		if err != nil {
			return r, nil, err
		}
		in := Insert{v.kind, v.display()}
		if v.IsNull() {
			in.Text = "NULL"
		}
		inserts = append(inserts, in)
		r.Values = append(r.Values, in.Text)
	}
	return r, inserts, nil
}

func (s *logStmt) exec(m *machine) (flow, error) {
	r, _, err := s.record(m, 0)
	if err != nil || m.inv.Host == nil {
		return flow{}, err
	}
	if s.user {
		r.Kind = LogUserTrace
	}
	m.inv.Host.Log(r)
	return flow{}, nil
}
