package store

import (
	"slices"

	bolt "go.etcd.io/bbolt"
)

// used reports whether the state file holds anything at all.
func (s *state) used() (used bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		k, _ := tx.Cursor().First()
		used = k != nil
		return nil
	})
	return used, err
}

// liveSource is a further origin of live persistent messages: the log store's index of what is not in the state
// file yet.
type liveSource interface {
	queues() []QID
	// from returns up to some messages of q with a number of s or more, in order; empty is the end.
	from(q QID, s Seq) ([]Live, error)
	// hidden reports that the state file's copy of a message counts no more, or returns a newer head for it.
	hidden(q QID, s Seq) (gone bool, head []byte, err error)
}

// walkLive merges the state file, the log's index (may be nil) and the nonpersistent messages.
func (b *base) walkLive(src liveSource, fn func(Live) error) error {
	qs, err := b.state.queues()
	if err != nil {
		return err
	}
	qs = append(qs, b.vol.qids()...)
	if src != nil {
		qs = append(qs, src.queues()...)
	}
	slices.Sort(qs)
	defer b.state.forget()
	for _, q := range slices.Compact(qs) {
		if err := b.walkQueue(q, src, fn); err != nil {
			return err
		}
	}
	return nil
}

// cursor steps through one origin of a queue's messages.
type cursor struct {
	fill func(Seq) ([]Live, error)
	buf  []Live
	next Seq
	end  bool
}

func (c *cursor) peek() (*Live, error) {
	if len(c.buf) == 0 && !c.end {
		var err error
		if c.buf, err = c.fill(c.next); err != nil {
			return nil, err
		}
		if len(c.buf) == 0 {
			c.end = true
		} else {
			c.next = c.buf[len(c.buf)-1].S + 1
			c.end = c.next == 0
		}
	}
	if len(c.buf) == 0 {
		return nil, nil
	}
	return &c.buf[0], nil
}

func (b *base) walkQueue(q QID, src liveSource, fn func(Live) error) error {
	cs := []*cursor{{fill: func(s Seq) ([]Live, error) { return b.storedLive(q, s, src) }}}
	seqs := b.vol.seqs(q)
	cs = append(cs, &cursor{fill: func(Seq) (out []Live, _ error) {
		n := min(len(seqs), chunkKeys)
		for _, s := range seqs[:n] {
			if l, ok := b.vol.live(q, s); ok {
				out = append(out, l)
			}
		}
		seqs = seqs[n:]
		return out, nil
	}})
	if src != nil {
		cs = append(cs, &cursor{fill: func(s Seq) ([]Live, error) { return src.from(q, s) }})
	}
	for {
		var first *cursor
		var at Live
		for _, c := range cs {
			l, err := c.peek()
			if err != nil {
				return err
			}
			if l != nil && (first == nil || l.S < at.S) {
				first, at = c, *l
			}
		}
		if first == nil {
			return nil
		}
		first.buf = first.buf[1:]
		if err := fn(at); err != nil {
			return err
		}
	}
}

// storedLive reads the next messages of the state file that still count.
func (b *base) storedLive(q QID, from Seq, src liveSource) ([]Live, error) {
	for {
		heads, err := b.state.heads(q, from)
		if err != nil || len(heads) == 0 {
			return nil, err
		}
		var out []Live
		for _, h := range heads {
			if src != nil {
				gone, head, err := src.hidden(q, h.s)
				if err != nil {
					return nil, err
				}
				if gone {
					continue
				}
				if head != nil {
					h.head = head
				}
			}
			out = append(out, Live{Q: q, S: h.s, L: Loc{Len: h.bodyLen}, Head: h.head, BodyLen: h.bodyLen,
				Persistent: true})
		}
		if len(out) > 0 {
			return out, nil
		}
		if from = heads[len(heads)-1].s + 1; from == 0 {
			return nil, nil
		}
	}
}
