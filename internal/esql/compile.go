package esql

import (
	"fmt"
	"sort"
	"strings"
)

// Compile: from a source to modules. Names of routines are resolved here, when all are known.

// ModuleKind says for which node a module is.
type ModuleKind uint8

// The kinds that are offered.
const (
	Compute ModuleKind = 1 + iota
	Filter
)

func (k ModuleKind) String() string {
	switch k {
	case Compute:
		return "COMPUTE"
	case Filter:
		return "FILTER"
	}
	return "DATABASE"
}

// Options are what a compilation needs beside the source.
type Options struct {
	// Constant gives the value of an MQ constant beside those that are built in; nil knows none.
	Constant func(name string) (Value, bool)
}

// Program is a compiled source.
type Program struct {
	modules  []*Module
	routines []*routine
	vars     []stmt // declarations outside of modules
	globals  int
}

// Module is what a Compute or Filter node runs.
type Module struct {
	Name string
	Kind ModuleKind
	Pos

	prog     *Program
	file     string
	routines []*routine
	vars     []stmt
	slots    int
	main     *routine
}

// Source is the text of one file.
type Source struct {
	File string
	Text []byte
}

// Compile reads one source. The error is of type Faults.
func Compile(file string, src []byte, o Options) (*Program, error) {
	return CompileAll([]Source{{file, src}}, o)
}

// CompileAll reads sources as one program: each knows the routines of all, and the declarations of those before it. The
// error is of type Faults.
func CompileAll(sources []Source, o Options) (*Program, error) {
	p := &parser{consts: o.Constant, prog: &Program{}, broken: map[*Module]bool{}}
	order := map[string]int{}
	for i, s := range sources {
		p.file = s.File
		order[s.File] = i
		if len(s.Text) > MaxSource {
			p.report(Pos{1, 1}, "the source has %d bytes, at most %d are offered: split it", len(s.Text), MaxSource)
			continue
		}
		p.src = strings.TrimPrefix(string(s.Text), "\uFEFF")
		p.toks = lex(p.src)
		p.i, p.t = 0, p.toks[0]
		p.source()
	}
	p.link()
	if len(p.faults) > 0 {
		sort.SliceStable(p.faults, func(i, j int) bool {
			a, b := p.faults[i], p.faults[j]
			if a.File != b.File {
				return order[a.File] < order[b.File]
			}
			return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
		})
		return nil, p.faults
	}
	return p.prog, nil
}

// Modules are in the order of the source.
func (p *Program) Modules() []*Module { return p.modules }

// Module finds one by its name, without regard to case.
func (p *Program) Module(name string) (*Module, bool) {
	for _, m := range p.modules {
		if strings.EqualFold(m.Name, name) {
			return m, true
		}
	}
	return nil, false
}

func find(list []*routine, name string) *routine {
	for _, r := range list {
		if strings.EqualFold(r.name, name) {
			return r
		}
	}
	return nil
}

// link gives every call its routine and checks who calls what.
func (p *parser) link() {
	for _, r := range p.prog.routines {
		p.linkRoutine(r, nil)
	}
	for _, m := range p.prog.modules {
		for _, r := range m.routines {
			p.linkRoutine(r, m)
		}
		m.main, p.file = find(m.routines, "Main"), m.file
		switch {
		case p.broken[m]:
		case m.main == nil:
			p.report(m.Pos, "module %s has no function Main(): that is what a node runs", m.Name)
		case len(m.main.params) > 0:
			p.report(m.main.Pos, "Main of module %s has parameters; a node gives none", m.Name)
		case m.main.result.kind == Null:
			p.report(m.main.Pos, "Main of module %s has no RETURNS BOOLEAN", m.Name)
		}
		for _, r := range m.routines {
			p.checkUses(m, r, r, map[*routine]bool{})
		}
	}
}

func (p *parser) linkRoutine(r *routine, m *Module) {
	p.file = r.file
	for _, c := range r.calls {
		if m != nil {
			c.routine = find(m.routines, c.name)
		}
		if c.routine == nil {
			c.routine = find(p.prog.routines, c.name)
		}
		if c.routine == nil {
			if !p.failedEver { // else it may be among what was skipped
				p.report(c.Pos, "there is no function or procedure %s", c.name)
			}
			continue
		}
		p.checkArgs(c)
	}
}

func (p *parser) checkArgs(c *userCall) {
	r := c.routine
	if c.value && r.result.kind == Null {
		p.report(c.Pos, "%s has no RETURNS and gives no value: CALL it", r.name)
	}
	if len(c.args) != len(r.params) {
		p.report(c.Pos, "%s has %d parameters, the call gives %d", r.name, len(r.params), len(c.args))
		return
	}
	for i, a := range c.args {
		par := r.params[i]
		target, isPath := a.(*path)
		switch {
		case par.v.typ.kind == refKind && (!isPath || target.v != nil && target.v.typ.kind < rowKind):
			p.report(a.at(), "parameter %s of %s is a REFERENCE: give a field, not a value", par.v.name, r.name)
		case par.out && !isPath:
			p.report(a.at(), "parameter %s of %s gives a value back: the argument must be a variable or a field", par.v.name, r.name)
		case par.out:
			p.checkTarget(target)
		}
	}
}

// checkUses finds names of the other module kind in routines that m calls outside of itself.
func (p *parser) checkUses(m *Module, r *routine, from *routine, seen map[*routine]bool) {
	if seen[r] {
		return
	}
	seen[r] = true
	p.file = r.file
	for _, u := range r.uses {
		if u.kind != m.Kind {
			p.report(u.Pos, "%s is for a %s module, but %s of the %s module %s comes here", u.name, u.kind, from.name, m.Kind, m.Name)
		}
	}
	for _, c := range r.calls {
		if c.routine != nil {
			p.checkUses(m, c.routine, from, seen)
		}
	}
}

// Fault reporting.

const maxFaults = 50

func (p *parser) report(at Pos, format string, args ...any) {
	if len(p.faults) < maxFaults {
		f := &Fault{File: p.file, Pos: at, Text: fmt.Sprintf(format, args...)}
		for _, have := range p.faults {
			if *have == *f {
				return
			}
		}
		p.faults = append(p.faults, f)
	}
}
