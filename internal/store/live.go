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

// walkLive merges the state file, the log's index (may be nil) and the nonpersistent messages. Nothing may change the state
// file meanwhile.
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
	heads, err := b.state.walkHeads()
	if err != nil {
		return err
	}
	defer heads.close()
	for _, q := range slices.Compact(qs) {
		if err := b.walkQueue(q, heads, src, fn); err != nil {
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

func (b *base) walkQueue(q QID, heads *headWalk, src liveSource, fn func(Live) error) error {
	r, err := heads.read(q)
	if err != nil {
		return err
	}
	if r != nil {
		defer r.stop()
	}
	st := &storedLive{s: b.state, r: r, q: q, src: src}
	cs := []*cursor{{fill: st.from}}
	seqs := b.vol.seqs(q)
	cs = append(cs, &cursor{fill: func(Seq) (out []Live, _ error) {
		n := min(len(seqs), chunkKeys)
		for _, s := range seqs[:n] {
			l, ok, err := b.vol.live(q, s)
			if err != nil {
				return nil, err
			}
			if ok {
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

// storedLive reads the messages of a queue in the state file that still count.
type storedLive struct {
	s   *state
	r   *headReader // nil for a queue with a few messages, which are read through bbolt
	q   QID
	src liveSource
	out []Live
}

func (l *storedLive) from(from Seq) ([]Live, error) {
	l.out = l.out[:0]
	for len(l.out) == 0 {
		var heads []storedHead
		var err error
		if l.r != nil {
			heads, err = l.r.next()
		} else {
			heads, err = l.s.heads(l.q, from)
		}
		if err != nil || len(heads) == 0 {
			return nil, err
		}
		for i := range heads {
			if err := l.add(&heads[i]); err != nil {
				return nil, err
			}
		}
		if from = heads[len(heads)-1].s + 1; from == 0 {
			break
		}
	}
	return l.out, nil
}

func (l *storedLive) add(h *storedHead) error {
	if l.src != nil {
		gone, head, err := l.src.hidden(l.q, h.s)
		if err != nil || gone {
			return err
		}
		if head != nil {
			h.head = head
		}
	}
	l.out = append(l.out, Live{Q: l.q, S: h.s, L: Loc{Len: h.bodyLen}, Head: h.head, BodyLen: h.bodyLen, Persistent: true})
	return nil
}
