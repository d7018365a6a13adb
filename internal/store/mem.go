package store

import (
	"bytes"
	"context"
	"errors"
	"sort"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// OpenMem returns a store that keeps nothing: for tests, and the model of what a store does.
func OpenMem() Store {
	return &memStore{
		tables: map[Table]map[string][]byte{},
		pers:   newVolatile(0, nil),
		vol:    newVolatile(0, nil),
		failed: make(chan struct{}),
	}
}

type memStore struct {
	mu      invariants.RankedRW[invariants.Store]
	tables  map[Table]map[string][]byte
	pers    *volatile // the persistent messages
	vol     *volatile
	closed  bool
	commits uint64
	failed  chan struct{}
}

// Admit implements Store.
func (m *memStore) Admit(t *Tx, _ int) {
	invariants.Blocking("waiting for room in the store")
	t.room = 1
}

func (m *memStore) Submit(t *Tx) Ticket {
	if t.room == 0 {
		invariants.Blocking("waiting for room in the store")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return refused(ErrClosed)
	}
	u := &unit{tx: t, done: alreadyDone}
	staged, err := m.vol.stage(t)
	if err != nil {
		return refused(err)
	}
	m.vol.apply(t, staged)
	for i := range t.ops {
		m.applyPersistent(&t.ops[i])
	}
	m.commits++
	return u
}

func (m *memStore) applyPersistent(op *op) {
	p := m.pers
	switch {
	case op.kind == opSet:
		if m.tables[op.table] == nil {
			m.tables[op.table] = map[string][]byte{}
		}
		m.tables[op.table][string(op.a)] = op.b
	case op.kind == opUnset:
		delete(m.tables[op.table], string(op.a))
	case op.kind == opDropQueue:
		p.dropQueue(op.q)
	case !op.persistent:
	case op.kind == opPut:
		p.insert(op.q, op.s, &stagedPut{vrec: vrec{op.a, op.b}}, 1)
	case op.kind == opRemove:
		p.remove(op.q, op.s)
	case op.kind == opHead:
		p.setHead(op.q, op.s, op.a)
	}
}

// putLocs gives a store without places the Locs its callers expect.
func putLocs(t *Tx) []Loc {
	var locs []Loc
	for i := range t.ops {
		if t.ops[i].kind == opPut {
			locs = append(locs, Loc{Len: uint32(len(t.ops[i].b))})
		}
	}
	return locs
}

func (m *memStore) Commit(ctx context.Context, t *Tx) ([]Loc, error) {
	k := m.Submit(t)
	if err := k.Wait(ctx); err != nil {
		return nil, err
	}
	return k.Locs(), nil
}

// InMemory implements Store.
func (m *memStore) InMemory(QID, Seq) bool { return true }

func (m *memStore) Read(q QID, s Seq, _ Loc) (Rec, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return Rec{}, ErrClosed
	}
	if r, ok, err := m.vol.read(q, s); ok {
		return r, err
	}
	r, ok, err := m.pers.read(q, s)
	if !ok {
		return Rec{}, ErrNotFound
	}
	r.Persistent = true
	return r, err
}

func (m *memStore) Live(fn func(Live) error) error {
	for _, q := range m.pers.qids() {
		for _, s := range m.pers.seqs(q) {
			l, ok, err := m.pers.live(q, s)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			l.Persistent = true
			if err := fn(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memStore) Get(table Table, key []byte) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	v, ok := m.tables[table][string(key)]
	if !ok {
		return nil, ErrNotFound
	}
	return bytes.Clone(append([]byte{}, v...)), nil
}

func (m *memStore) GetMany(table Table, keys [][]byte, fn func(i int, v []byte) error) error {
	for i, k := range keys {
		v, err := m.Get(table, k)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err == nil {
			err = fn(i, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *memStore) Range(table Table, from, to []byte, fn func(k, v []byte) error) error {
	m.mu.RLock()
	if m.closed {
		m.mu.RUnlock()
		return ErrClosed
	}
	type kv struct {
		k string
		v []byte
	}
	var all []kv
	for k, v := range m.tables[table] {
		if k >= string(from) && (to == nil || k < string(to)) {
			all = append(all, kv{k, append([]byte{}, v...)})
		}
	}
	m.mu.RUnlock()
	sort.Slice(all, func(i, j int) bool { return all[i].k < all[j].k })
	for _, e := range all {
		if err := fn([]byte(e.k), e.v); err != nil {
			return err
		}
	}
	return nil
}

func (m *memStore) Checkpoint(context.Context) error { return nil }

func (m *memStore) Close(StopMode, func(QID) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.closed = true
	return nil
}

func (m *memStore) Failed() <-chan struct{} { return m.failed }

func (m *memStore) Stats() Stats {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := Stats{Commits: m.commits}
	s.MemoryMessages, s.MemoryBytes = m.vol.stats()
	return s
}
