package store

import (
	"bytes"
	"errors"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Many entries of a table in one go: one look at what is under way, one transaction of the state file with the keys in its order,
// and one buffer for what is read from the log.

// GetMany implements Store.
func (b *base) GetMany(table Table, keys [][]byte, fn func(i int, v []byte) error) error {
	if err := b.refuse(); err != nil {
		return err
	}
	rest, err := b.ov.many(table, keys, fn)
	if err != nil {
		return err
	}
	return b.state.many(table, keys, rest, fn)
}

// GetMany implements Store.
func (s *logStore) GetMany(table Table, keys [][]byte, fn func(i int, v []byte) error) error {
	if err := s.refuse(); err != nil {
		return err
	}
	s.aside.ask(len(keys))
	rest, err := s.ov.many(table, keys, fn)
	if err != nil {
		return err
	}
	// What leaves the delta from here on is in the state file when that is asked.
	rest, logged := s.delta.many(table, keys, rest)
	if err := s.readMany(table, keys, logged, fn); err != nil {
		return err
	}
	return s.state.many(table, keys, rest, fn)
}

// readMany reads entries that the log has.
func (s *logStore) readMany(table Table, keys [][]byte, at []loggedKey, fn func(i int, v []byte) error) error {
	var buf []byte
	for _, e := range at {
		v, err := s.files.readOver(&buf, e.val)
		if errors.Is(err, errMoved) {
			v, err = s.Get(table, keys[e.i])
		}
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err == nil {
			err = fn(e.i, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readOver is read into a buffer that is used again.
func (l *files) readOver(buf *[]byte, r ref) ([]byte, error) {
	if int64(cap(*buf)) < int64(r.n) {
		*buf = make([]byte, max(int(r.n), 1024))
	}
	return l.readTo((*buf)[:r.n], r)
}

// many gives the keys that have a version to fn, and returns the places of the others.
func (o *overlay) many(t Table, keys [][]byte, fn func(i int, v []byte) error) (rest []int, err error) {
	rest = make([]int, 0, len(keys))
	var here []int
	var vals [][]byte
	o.mu.RLock()
	tab := o.tables[t]
	for i, k := range keys {
		vs := tab[string(k)]
		switch {
		case len(vs) == 0:
			rest = append(rest, i)
		case !vs[len(vs)-1].unset:
			here, vals = append(here, i), append(vals, vs[len(vs)-1].val)
		}
	}
	o.mu.RUnlock()
	for n, i := range here {
		if err := fn(i, vals[n]); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// loggedKey is the place of a key among those asked for, and of its value in the log.
type loggedKey struct {
	i   int
	val ref
}

// many says which of the places have a value in the log, and which the log knows nothing of.
func (d *delta) many(t Table, keys [][]byte, places []int) (rest []int, at []loggedKey) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	rest = places[:0]
next:
	for _, i := range places {
		for _, g := range d.gens() {
			e, ok := g.tables[t].get(keys[i])
			if !ok {
				continue
			}
			if !e.unset {
				at = append(at, loggedKey{i, e.val})
			}
			continue next
		}
		rest = append(rest, i)
	}
	return rest, at
}

// many gives the entries that the state file has of some of the keys.
func (s *state) many(table Table, keys [][]byte, places []int, fn func(i int, v []byte) error) error {
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	name := tableBucket(table)
	var given error // fn's, which is passed on as it is
	err := s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(name)
		if b == nil {
			return nil
		}
		c := b.Cursor()
		key := []byte{'k'}
		for _, i := range places {
			key = append(key[:1], keys[i]...)
			k, rec := c.Seek(key)
			if !bytes.Equal(k, key) {
				continue
			}
			val, err := openRecord(s.path, name, key, rec)
			if err != nil {
				return err
			}
			if given = fn(i, val); given != nil {
				return nil
			}
		}
		return nil
	})
	return errors.Join(err, given)
}
