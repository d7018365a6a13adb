package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sort"

	"github.com/qmgrd/qmgrd/internal/store"
)

// History makes random units and knows, in the most naive way, what a store must hold after them.
type History struct {
	Rand *rand.Rand
	next [hQueues]store.Seq
	msgs map[msgID]message
	tabs map[string]string // table byte + key
}

const hQueues = 4

type msgID struct {
	q store.QID
	s store.Seq
}

type message struct {
	head, body string
	persistent bool
}

// Unit is a random unit of work that can be applied to the model and to a store.
type Unit struct{ ops []hop }

type hop struct {
	kind       string
	id         msgID
	m          message
	table      store.Table
	key, value string
}

// NewHistory starts empty.
func NewHistory(seed uint64) *History {
	return &History{Rand: rand.New(rand.NewPCG(seed, 42)), msgs: map[msgID]message{}, tabs: map[string]string{}}
}

func (h *History) text(maxLen int) string {
	n := h.Rand.IntN(maxLen)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(h.Rand.IntN(256))
	}
	return string(b)
}

func (h *History) ids() []msgID {
	ids := make([]msgID, 0, len(h.msgs))
	for id := range h.msgs {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		return ids[i].q < ids[j].q || ids[i].q == ids[j].q && ids[i].s < ids[j].s
	})
	return ids
}

// Next makes a unit of one to six intents.
func (h *History) Next() Unit {
	var u Unit
	ids := h.ids()
	taken := map[msgID]bool{}
	for range 1 + h.Rand.IntN(6) {
		r := h.Rand.IntN(100)
		var id msgID
		if len(ids) > 0 {
			id = ids[h.Rand.IntN(len(ids))]
		}
		old := !taken[id] && len(ids) > 0
		switch {
		case r < 45:
			q := h.Rand.IntN(hQueues)
			h.next[q]++
			size := 300
			switch h.Rand.IntN(40) {
			case 0:
				size = 3 << 20
			case 1, 2:
				size = 200 << 10
			}
			m := message{h.text(60), h.text(size), h.Rand.IntN(3) > 0}
			u.ops = append(u.ops, hop{kind: "put", id: msgID{store.QID(q + 1), h.next[q]}, m: m})
		case r < 70 && old:
			taken[id] = true
			u.ops = append(u.ops, hop{kind: "remove", id: id, m: h.msgs[id]})
		case r < 78 && old:
			taken[id] = true
			m := h.msgs[id]
			m.head = h.text(90)
			u.ops = append(u.ops, hop{kind: "head", id: id, m: m})
		case r < 79:
			u.ops = append(u.ops, hop{kind: "drop", id: msgID{q: store.QID(1 + h.Rand.IntN(hQueues))}})
			return u // what follows could name a message of that queue
		case r < 92:
			u.ops = append(u.ops, hop{kind: "set", table: store.Table(1 + h.Rand.IntN(3)),
				key: fmt.Sprint(h.Rand.IntN(30)), value: h.text(500)})
		default:
			u.ops = append(u.ops, hop{kind: "unset", table: store.Table(1 + h.Rand.IntN(3)),
				key: fmt.Sprint(h.Rand.IntN(30))})
		}
	}
	return u
}

// Tx builds the unit for a store.
func (u Unit) Tx() *store.Tx {
	t := &store.Tx{}
	for _, o := range u.ops {
		switch o.kind {
		case "put":
			t.Put(o.id.q, o.id.s, rec(o.m.head, o.m.body, o.m.persistent))
		case "remove":
			t.Remove(o.id.q, o.id.s, o.m.persistent)
		case "head":
			t.SetHead(o.id.q, o.id.s, []byte(o.m.head), o.m.persistent)
		case "drop":
			t.DropQueue(o.id.q)
		case "set":
			t.Set(o.table, []byte(o.key), []byte(o.value))
		case "unset":
			t.Unset(o.table, []byte(o.key))
		}
	}
	return t
}

// Apply plays the unit on the model.
func (h *History) Apply(u Unit) {
	for _, o := range u.ops {
		switch o.kind {
		case "put", "head":
			h.msgs[o.id] = o.m
		case "remove":
			delete(h.msgs, o.id)
		case "drop":
			for id := range h.msgs {
				if id.q == o.id.q {
					delete(h.msgs, id)
				}
			}
		case "set":
			h.tabs[string(rune(o.table))+o.key] = o.value
		case "unset":
			delete(h.tabs, string(rune(o.table))+o.key)
		}
	}
}

// Keep is the model's NPMCLASS(HIGH): the odd queues.
func (h *History) Keep(q store.QID) bool { return q%2 == 1 }

// Restart plays a Close and an Open on the model.
func (h *History) Restart(m store.StopMode) {
	for id, msg := range h.msgs {
		if !msg.persistent && (m == store.Preempt || !h.Keep(id.q)) {
			delete(h.msgs, id)
		}
	}
}

// Clone returns a model with the same content; it shares no state.
func (h *History) Clone() *History {
	c := &History{Rand: h.Rand, next: h.next, msgs: map[msgID]message{}, tabs: map[string]string{}}
	for k, v := range h.msgs {
		c.msgs[k] = v
	}
	for k, v := range h.tabs {
		c.tabs[k] = v
	}
	return c
}

// Compare checks everything in a store just opened.
func (h *History) Compare(s store.Store) error {
	ids, n := h.ids(), 0
	locs := map[msgID]store.Loc{}
	err := s.Live(func(l store.Live) error {
		id := msgID{l.Q, l.S}
		m, ok := h.msgs[id]
		switch {
		case !ok:
			return fmt.Errorf("message %v should not be there", id)
		case n >= len(ids) || ids[n] != id:
			return fmt.Errorf("message %v at place %d is out of order or doubled", id, n)
		case string(l.Head) != m.head || int(l.BodyLen) != len(m.body) || l.Persistent != m.persistent:
			return fmt.Errorf("message %v: head %d bytes, body %d, persistent %v; want %d, %d, %v", id, len(l.Head),
				l.BodyLen, l.Persistent, len(m.head), len(m.body), m.persistent)
		}
		locs[id] = l.L
		n++
		return nil
	})
	if err != nil {
		return err
	}
	if n != len(ids) {
		return fmt.Errorf("%d messages, want %d", n, len(ids))
	}
	return h.compare(s, locs)
}

// CompareReads checks what Read, Get and Range answer.
func (h *History) CompareReads(s store.Store) error { return h.compare(s, nil) }

func (h *History) compare(s store.Store, locs map[msgID]store.Loc) error {
	for id, m := range h.msgs {
		r, err := s.Read(id.q, id.s, locs[id])
		if err != nil {
			return fmt.Errorf("read %v: %w", id, err)
		}
		if string(r.Head) != m.head || string(r.Body) != m.body || r.Persistent != m.persistent {
			return fmt.Errorf("read %v: another message", id)
		}
	}
	n := 0
	for table := store.Table(1); table <= 3; table++ {
		var last []byte
		err := s.Range(table, nil, nil, func(k, v []byte) error {
			want, ok := h.tabs[string(rune(table))+string(k)]
			if !ok || want != string(v) {
				return fmt.Errorf("table %d key %s: wrong value (known: %v)", table, k, ok)
			}
			if last != nil && bytes.Compare(last, k) >= 0 {
				return fmt.Errorf("table %d key %s is out of order", table, k)
			}
			last = bytes.Clone(k)
			n++
			return nil
		})
		if err != nil {
			return err
		}
	}
	if n != len(h.tabs) {
		return fmt.Errorf("%d table entries, want %d", n, len(h.tabs))
	}
	return nil
}

// ComparePersistent is Compare for a store that came up after a crash: nonpersistent messages may be there or not,
// but never others than the model knows.
func (h *History) ComparePersistent(s store.Store) error {
	c := h.Clone()
	seen := map[msgID]bool{}
	if err := s.Live(func(l store.Live) error { seen[msgID{l.Q, l.S}] = true; return nil }); err != nil {
		return err
	}
	for id, m := range h.msgs {
		if !m.persistent && !seen[id] {
			delete(c.msgs, id)
		}
	}
	return c.Compare(s)
}
