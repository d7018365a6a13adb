package esql

import (
	"time"
)

// A run: what the caller gives to it, and the machine that executes statements.

// Invocation is all that a run sees. Trees that are nil are made, and are there when Run returns.
type Invocation struct {
	// A Filter's Root, LocalEnvironment and ExceptionList are the input trees.
	InputRoot, InputLocalEnvironment, InputExceptionList    *Node
	OutputRoot, OutputLocalEnvironment, OutputExceptionList *Node
	Environment                                             *Node

	Now              time.Time // CURRENT_TIMESTAMP and the others for the whole run; its location is the local time zone
	Seed             uint64    // where RAND and the UUIDs begin
	MessageFlowLabel string
	NodeLabel        string
	QueueManagerName string
	BrokerName       string

	Domain   func(name string) (Domain, bool) // parsers for PARSE and ASBITSTREAM
	Charsets Charsets
	Host     Host

	// Interrupted ends the run with its error; it is asked every thousand steps.
	Interrupted func() error
	Limits      Limits
}

// Host is what a run may do to the world.
type Host interface {
	// Propagate runs the path behind a terminal. The trees are the run's own, they are cleared when it returns.
	Propagate(p Propagation) error
	Log(r LogRecord)
	Sleep(d time.Duration) error
}

// Propagation is what PROPAGATE gives away.
type Propagation struct {
	Terminal                                 string // OUT, OUT1 to OUT4, FAILURE
	Message, LocalEnvironment, ExceptionList *Node
	Finalize                                 bool // bring headers and Properties into line first
}

// LogKind says where a record came from.
type LogKind uint8

// LOG EVENT, LOG USER TRACE, and what the run itself warns of.
const (
	LogEvent LogKind = iota
	LogUserTrace
	LogWarning
)

// LogRecord is one line for a log.
type LogRecord struct {
	Kind     LogKind
	Severity int64
	Catalog  string
	Number   int64
	Text     string
	Values   []string
	Module   string
	Pos
}

// Limits bound a run; 0 stands for the default.
type Limits struct {
	Steps  int64 // statements and loop turns, and the elements that are passed on the way, 64 for a step
	Depth  int   // calls inside of calls
	Memory int64 // bytes of trees and variables that the run made and still holds
	String int64 // bytes of one value
	Turns  int64 // loop turns without PROPAGATE after which a warning is logged
}

var defaultLimits = Limits{Steps: 1e9, Depth: 256, Memory: 512 << 20, String: 100 << 20, Turns: 1e6}

func (l Limits) orDefault() Limits {
	d := defaultLimits
	if l.Steps > 0 {
		d.Steps = l.Steps
	}
	if l.Depth > 0 {
		d.Depth = l.Depth
	}
	if l.Memory > 0 {
		d.Memory = l.Memory
	}
	if l.String > 0 {
		d.String = l.String
	}
	if l.Turns > 0 {
		d.Turns = l.Turns
	}
	return d
}

// Outcome is what a module's Main decided.
type Outcome uint8

// For a Filter the terminal. For a Compute True propagates the output trees to Out, everything else does not.
const (
	False Outcome = iota
	True
	Unknown
)

func (o Outcome) String() string { return [...]string{"FALSE", "TRUE", "UNKNOWN"}[o] }

// variable is one slot.
type variable struct {
	v     Value
	node  *Node // of a REFERENCE or ROW
	moved bool  // LASTMOVE
}

type flowKind uint8

const (
	flowNext flowKind = iota
	flowReturn
	flowLeave
	flowIterate
)

// flow says how execution goes on.
type flow struct {
	kind  flowKind
	label int
}

type machine struct {
	inv    *Invocation
	mod    *Module
	lim    Limits
	rt     *routine
	vars   []variable // of all frames
	base   int        // where the current one begins
	module []variable
	global []variable

	args []Value // see builtinCall

	steps, turns, mem int64
	check             int64 // the number of steps at which tick looks around
	warned            bool
	depth             int
	ret               Value
	returned          bool
	rand              uint64
	zone              int64
	local             int64 // now, as a local TIMESTAMP
}

// Run executes the module's Main. The error is an *Exception, or what Host or Interrupted returned.
func (m *Module) Run(inv *Invocation) (Outcome, error) {
	for _, t := range []**Node{&inv.InputRoot, &inv.InputLocalEnvironment, &inv.InputExceptionList, &inv.OutputRoot,
		&inv.OutputLocalEnvironment, &inv.OutputExceptionList, &inv.Environment} {
		if *t == nil {
			*t = NewRoot()
		}
	}
	_, offset := inv.Now.Zone()
	x := &machine{inv: inv, mod: m, lim: inv.Limits.orDefault(), rt: m.main, rand: inv.Seed, zone: int64(offset) * usSecond,
		module: make([]variable, m.slots), global: make([]variable, m.prog.globals), vars: make([]variable, m.main.slots)}
	x.local = inv.Now.UnixMicro() + x.zone
	for _, list := range [2][]stmt{m.prog.vars, m.vars} {
		if _, err := x.exec(list); err != nil {
			return False, err
		}
	}
	if _, err := x.execOne(m.main.body); err != nil {
		return False, err
	}
	return x.outcome(), nil
}

// outcome: END without RETURN propagates.
func (m *machine) outcome() Outcome {
	switch {
	case m.ret.IsTrue(), !m.returned && m.mod.Kind == Compute:
		return True
	case m.ret.IsNull():
		return Unknown
	}
	return False
}

// exec runs statements in turn.
func (m *machine) exec(list []stmt) (flow, error) {
	for _, s := range list {
		f, err := m.execOne(s)
		if err != nil || f.kind != flowNext {
			return f, err
		}
	}
	return flow{}, nil
}

func (m *machine) execOne(s stmt) (flow, error) {
	err := m.tick()
	var f flow
	if err == nil {
		f, err = s.exec(m)
	}
	if err != nil {
		err = m.locate(err, s.where())
	}
	return f, err
}

// locate says in an exception where it happened, once.
func (m *machine) locate(err error, at *stmtPos) error {
	e, ok := err.(*Exception)
	if !ok || e.Line > 0 {
		return err
	}
	c := *e // it may be one that is shared
	c.File, c.Pos, c.Function = at.file, at.Pos, m.rt.name
	c.Module = m.mod.Name
	c.Statement = oneLine(at.text)
	return &c
}

// oneLine is a statement's text without line ends, cut.
func oneLine(s string) string {
	s = shorten(s, 400)
	out := make([]rune, 0, len(s))
	blank := false
	for _, r := range s {
		if r == ' ' || r == '\t' || r == '\n' || r == '\r' {
			blank = true
			continue
		}
		if blank && len(out) > 0 {
			out = append(out, ' ')
		}
		blank = false
		out = append(out, r)
	}
	return shorten(string(out), 200)
}

// tick counts a step.
func (m *machine) tick() error {
	if m.steps++; m.steps < m.check {
		return nil
	}
	m.check = min(m.steps+1000, m.lim.Steps+1)
	if m.steps > m.lim.Steps {
		return fail(0, "the program took more than %d steps: does a loop never end?", m.lim.Steps)
	}
	if m.inv.Interrupted != nil {
		return m.inv.Interrupted()
	}
	return nil
}

// work counts what one step does beside itself, elements that it passes and the like: 64 of them are a step.
func (m *machine) work(n int64) { m.steps += n >> 6 }

// turn counts a loop turn.
func (m *machine) turn(at Pos) error {
	m.turns++
	if m.turns == m.lim.Turns && !m.warned && m.inv.Host != nil {
		m.warned = true
		m.inv.Host.Log(LogRecord{Kind: LogWarning, Severity: 2, Text: "a loop made " + Int(m.turns).String() + " turns without PROPAGATE", Module: m.mod.Name, Pos: at})
	}
	return m.tick()
}

// charge accounts for memory that the run holds; a negative number gives back.
func (m *machine) charge(n int64) error {
	m.mem = max(0, m.mem+n)
	if m.mem > m.lim.Memory {
		return fail(0, "the program holds more than %d bytes of trees and variables", m.lim.Memory)
	}
	return nil
}

// checkSize bounds one value.
func (m *machine) checkSize(n int64) error {
	if n > m.lim.String {
		return fail(0, "a value of %d bytes is longer than the %d that are offered", n, m.lim.String)
	}
	return nil
}

// Variables.

func (m *machine) slot(v *variableRef) *variable {
	switch {
	case v.module:
		return &m.module[v.slot]
	case v.slot < 0:
		return &m.global[-1-v.slot]
	}
	return &m.vars[m.base+v.slot]
}

// assign gives a scalar variable a value, cast to its type.
func (m *machine) assign(ref *variableRef, v Value) error {
	if v.kind != ref.typ.kind || ref.typ.precision > 0 || ref.typ.kind == Interval {
		t := ref.typ
		if t.kind == nsKind {
			t.kind = Character
		}
		var err error
		if v, err = castTo(v, t, m.castOptions()); err != nil {
			return err
		}
	}
	s := m.slot(ref)
	if d := v.size() - s.v.size(); d != 0 {
		if err := m.charge(d); err != nil {
			return err
		}
	}
	s.v = v
	return nil
}

func (m *machine) castOptions() castOptions {
	return castOptions{zone: m.zone, charsets: m.inv.Charsets}
}

// call runs a routine in a new frame.
func (m *machine) call(c *userCall) (Value, error) {
	r := c.routine
	if m.depth >= m.lim.Depth {
		return Value{}, fail(0, "calls are nested more than %d deep: does %s call itself for ever?", m.lim.Depth, r.name)
	}
	args := make([]variable, len(r.params))
	for i, par := range r.params {
		if err := m.argument(par, c.args[i], &args[i]); err != nil {
			return Value{}, err
		}
	}
	caller, base, ret, returned := m.rt, m.base, m.ret, m.returned
	m.base, m.rt = len(m.vars), r
	m.vars = append(m.vars, make([]variable, r.slots)...)
	m.ret, m.returned = Value{}, false
	m.depth++
	var err error
	for i, par := range r.params {
		if s := m.slot(par.v); par.v.typ.kind < rowKind && err == nil {
			err = m.assign(par.v, args[i].v)
		} else {
			*s = args[i]
		}
	}
	if err == nil {
		_, err = m.execOne(r.body)
	}
	result := m.ret
	for i, par := range r.params {
		args[i] = *m.slot(par.v)
	}
	for _, v := range m.vars[m.base:] {
		m.mem = max(0, m.mem-v.v.size())
	}
	m.depth--
	clear(m.vars[m.base:])
	m.vars, m.base, m.rt, m.ret, m.returned = m.vars[:m.base], base, caller, ret, returned
	if err != nil {
		return Value{}, err
	}
	for i, par := range r.params {
		if par.out {
			if err := m.giveBack(c.args[i].(*path), args[i]); err != nil {
				return Value{}, err
			}
		}
	}
	if r.result.kind != Null && r.result.kind < rowKind {
		return castTo(result, r.result, m.castOptions())
	}
	return result, nil
}

func (m *machine) argument(par param, x expr, to *variable) error {
	if par.v.typ.kind == refKind {
		n, err := m.find(x.(*path))
		if n == nil && err == nil {
			n, err = m.startOf(x.(*path))
		} else {
			to.moved = true
		}
		to.node = n
		return err
	}
	if !par.in {
		return nil
	}
	var err error
	to.v, err = x.eval(m)
	return err
}

// giveBack stores an OUT or INOUT parameter.
func (m *machine) giveBack(target *path, a variable) error {
	switch {
	case a.node != nil && target.v != nil && target.v.typ.kind == refKind && len(target.elems) == 0:
		s := m.slot(target.v)
		s.node, s.moved = a.node, a.moved
		return nil
	case a.node != nil:
		return nil
	}
	return m.store(target, a.v)
}
