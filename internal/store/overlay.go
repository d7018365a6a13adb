package store

import (
	"slices"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// overlay holds the table entries that are submitted but not yet in the state file, so that Get and Range see them.
// A key has one version per unit that wrote it; the newest counts. A unit that fails takes its versions along.
type overlay struct {
	mu     invariants.RankedRW[invariants.Leaf]
	tables map[Table]map[string][]version
}

type version struct {
	unit  uint64
	val   []byte
	unset bool
}

func (o *overlay) add(num uint64, t *Tx) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range t.ops {
		op := &t.ops[i]
		if op.kind != opSet && op.kind != opUnset {
			continue
		}
		if o.tables == nil {
			o.tables = map[Table]map[string][]version{}
		}
		tab := o.tables[op.table]
		if tab == nil {
			tab = map[string][]version{}
			o.tables[op.table] = tab
		}
		tab[string(op.a)] = append(tab[string(op.a)], version{num, op.b, op.kind == opUnset})
	}
}

// remove forgets unit num: it is in the state file now, or it failed.
func (o *overlay) remove(num uint64, t *Tx) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range t.ops {
		op := &t.ops[i]
		if op.kind != opSet && op.kind != opUnset {
			continue
		}
		tab := o.tables[op.table]
		vs := slices.DeleteFunc(tab[string(op.a)], func(v version) bool { return v.unit == num })
		if len(vs) == 0 {
			delete(tab, string(op.a))
		} else {
			tab[string(op.a)] = vs
		}
	}
}

// get returns the newest version of key; ok is false when there is none and the state file decides.
func (o *overlay) get(t Table, key []byte) (v version, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	vs := o.tables[t][string(key)]
	if len(vs) == 0 {
		return version{}, false
	}
	return vs[len(vs)-1], true
}

// keys returns the keys in [from, to) that have a version, in no order. They are bounded by what waits to be
// committed.
func (o *overlay) keys(t Table, from, to []byte) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var out []string
	for k := range o.tables[t] {
		if k >= string(from) && (to == nil || k < string(to)) {
			out = append(out, k)
		}
	}
	return out
}
