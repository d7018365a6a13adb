package store

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
)

// entries is what a generation of the delta knows of a table: for each key its value's place, or that it is gone. There may be half a
// million, and a collector that follows a pointer for each of them has more to do than who writes them; so the keys lie one behind
// another in long pieces, and the rest has no pointers. Nothing is ever taken out. The zero value is empty.
type entries struct {
	slots []uint32 // 1 + the number of a row, 0 is free; their number is a power of two
	rows  [][]entryRow
	n     int
	text  [][]byte // keys
	free  []byte   // rest of the last of text
}

const (
	entryRows = 512      // in a piece; the first one begins small, since most tables have a few
	entryText = 32 << 10 // a piece of text is no longer, but for one key that is
)

// entryRow is one key with what is known of it.
type entryRow struct {
	hash       uint32
	text, from uint32 // where the key lies
	n          uint32 // its length
	val        ref
	unset      bool
}

// genEntry is a table entry: its value's place, or that it is gone.
type genEntry struct {
	val   ref
	unset bool
}

var entrySeed = maphash.MakeSeed()

func entryHash(key []byte) uint32 { return uint32(maphash.Bytes(entrySeed, key)) }

func (t *entries) row(i int) *entryRow { return &t.rows[i/entryRows][i%entryRows] }

// key is memory of the table, which never changes.
func (t *entries) key(r *entryRow) []byte {
	if r.n == 0 {
		return nil
	}
	return t.text[r.text][r.from : r.from+r.n : r.from+r.n]
}

// find is the row of a key, nil for none, and the slot where it is or belongs.
func (t *entries) find(h uint32, key []byte) (*entryRow, uint32) {
	mask := uint32(len(t.slots) - 1)
	for s := h & mask; ; s = (s + 1) & mask {
		i := t.slots[s]
		if i == 0 {
			return nil, s
		}
		if r := t.row(int(i - 1)); r.hash == h && string(t.key(r)) == string(key) {
			return r, s
		}
	}
}

// get may be asked of no table.
func (t *entries) get(key []byte) (genEntry, bool) {
	if t == nil || t.n == 0 {
		return genEntry{}, false
	}
	r, _ := t.find(entryHash(key), key)
	if r == nil {
		return genEntry{}, false
	}
	return genEntry{r.val, r.unset}, true
}

// set keeps a copy of the key.
func (t *entries) set(key []byte, e genEntry) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	h := entryHash(key)
	r, s := t.find(h, key)
	if r == nil {
		r = t.add()
		t.slots[s] = uint32(t.n)
		r.hash = h
		t.keep(r, key)
	}
	r.val, r.unset = e.val, e.unset
}

// add is a new row, the last.
func (t *entries) add() *entryRow {
	last := len(t.rows) - 1
	if last < 0 || len(t.rows[last]) == entryRows {
		room := entryRows
		if last++; last == 0 {
			room = 8
		}
		t.rows = append(t.rows, make([]entryRow, 0, room))
	}
	t.rows[last] = append(t.rows[last], entryRow{})
	t.n++
	return t.row(t.n - 1)
}

func (t *entries) keep(r *entryRow, key []byte) {
	if len(key) == 0 {
		return
	}
	if len(key) > len(t.free) {
		t.free = make([]byte, max(min(entryText, 32*t.n), len(key)))
		t.text = append(t.text, t.free)
	}
	r.text, r.n = uint32(len(t.text)-1), uint32(len(key))
	r.from = uint32(len(t.text[r.text]) - len(t.free))
	t.free = t.free[copy(t.free, key):]
}

func (t *entries) grow() {
	t.slots = make([]uint32, max(16, 2*len(t.slots)))
	mask := uint32(len(t.slots) - 1)
	for i := range t.n {
		s := t.row(i).hash & mask
		for t.slots[s] != 0 {
			s = (s + 1) & mask
		}
		t.slots[s] = uint32(i + 1)
	}
}

// each gives all rows in no order.
func (t *entries) each(fn func(*entryRow)) {
	if t == nil {
		return
	}
	for i := range t.n {
		fn(t.row(i))
	}
}

// sorted is the numbers of all rows in the order of their keys.
func (t *entries) sorted() []uint32 {
	if t == nil {
		return nil
	}
	// Keys of a table begin alike. The bytes behind that decide nearly always, and are compared as a number.
	type place struct {
		next uint64
		i    uint32
	}
	all, alike := make([]place, t.n), t.alike()
	for i := range all {
		var next [8]byte
		copy(next[:], t.key(t.row(i))[alike:])
		all[i] = place{be.Uint64(next[:]), uint32(i)}
	}
	slices.SortFunc(all, func(a, b place) int {
		if a.next != b.next {
			return cmp.Compare(a.next, b.next)
		}
		return bytes.Compare(t.key(t.row(int(a.i))), t.key(t.row(int(b.i))))
	})
	out := make([]uint32, len(all))
	for i := range all {
		out[i] = all[i].i
	}
	return out
}

// alike is how many bytes all keys begin with.
func (t *entries) alike() int {
	if t.n == 0 {
		return 0
	}
	first := t.key(t.row(0))
	n := len(first)
	t.each(func(r *entryRow) {
		k := t.key(r)
		n = min(n, len(k))
		for i := range n {
			if k[i] != first[i] {
				n = i
				break
			}
		}
	})
	return n
}
