package store

import "slices"

// Tx collects the intents of one unit of work. It owns no lock and touches no disk until Submit.
type Tx struct {
	ops        []op
	bytes      int
	persistent bool
	awaited    bool
	by         any // who waits
	room       int // 1 + bytes that Admit kept for it; 0: none
}

type opKind uint8

const (
	opPut opKind = iota + 1
	opRemove
	opHead
	opSet
	opUnset
	opDropQueue
)

type op struct {
	kind       opKind
	persistent bool
	shrinks    bool // the entry that it replaces is longer
	table      Table
	q          QID
	s          Seq
	a, b       []byte // head and body, or key and value
}

// Put adds a message. Head and Body must not be changed afterwards. The same Body slice put on several queues in
// one unit may be stored once.
func (t *Tx) Put(q QID, s Seq, r Rec) {
	t.add(op{kind: opPut, q: q, s: s, a: r.Head, b: r.Body, persistent: r.Persistent})
}

// Remove takes a message away. persistent is what it was put with.
func (t *Tx) Remove(q QID, s Seq, persistent bool) {
	t.add(op{kind: opRemove, q: q, s: s, persistent: persistent})
}

// SetHead replaces a live message's head (backout count).
func (t *Tx) SetHead(q QID, s Seq, head []byte, persistent bool) {
	t.add(op{kind: opHead, q: q, s: s, a: head, persistent: persistent})
}

// DropQueue removes every message of a queue.
func (t *Tx) DropQueue(q QID) { t.add(op{kind: opDropQueue, q: q, persistent: true}) }

// Set writes a table entry.
func (t *Tx) Set(table Table, key, val []byte) {
	t.add(op{kind: opSet, table: table, a: key, b: val, persistent: true})
}

// Shrink is Set of an entry that is there with a longer value: it gives room back, so it is possible on a full disk.
func (t *Tx) Shrink(table Table, key, val []byte) {
	t.add(op{kind: opSet, table: table, a: key, b: val, persistent: true, shrinks: true})
}

// Unset removes a table entry; absent is fine.
func (t *Tx) Unset(table Table, key []byte) {
	t.add(op{kind: opUnset, table: table, a: key, persistent: true})
}

// Await promises that Wait of the unit's ticket follows its Submit at once, in the same goroutine and without an end of its own.
// The waiter may then do the work, also that of others: by is what those who have left theirs (Ticket.Leave) are told.
func (t *Tx) Await(by any) { t.awaited, t.by = true, by }

// Len is the number of intents, Bytes their size without overhead.
func (t *Tx) Len() int   { return len(t.ops) }
func (t *Tx) Bytes() int { return t.bytes }

// Persistent reports whether the unit needs the disk.
func (t *Tx) Persistent() bool { return t.persistent }

// Adds reports whether the unit keeps something on disk that was not there before.
func (t *Tx) Adds() bool {
	return slices.ContainsFunc(t.ops, func(o op) bool {
		return o.persistent && (o.kind == opPut || o.kind == opSet && !o.shrinks)
	})
}

// Grow makes room for n more intents, and doubles what there is, so that many do not have to be moved again and again.
func (t *Tx) Grow(n int) {
	if cap(t.ops)-len(t.ops) < n {
		t.ops = slices.Grow(t.ops, max(n, cap(t.ops)))
	}
}

func (t *Tx) add(o op) {
	t.ops = append(t.ops, o)
	t.bytes += len(o.a) + len(o.b)
	t.persistent = t.persistent || o.persistent
}
