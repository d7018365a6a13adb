package qmgr

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// CLEAR TOPICSTR. Few retained publications are taken out of the store one by one. For many, the store is given one entry that says
// what is cleared: the publications that fit a filter, up to a number. When that is durable they are gone, for a start as
// well, and the command is over. Their entries are removed afterwards (retained_sweep.go), and the record of the clear after
// the last of them.

// clearOneByOne is how many publications are cleared without such a record.
var clearOneByOne = 5 * pubsub.PageRows

// cleared is a CLEAR TOPICSTR of many.
type cleared struct {
	filter *pubsub.Filter
	upTo   uint64 // number of the change; those with higher ones stay
}

// covers reports whether a publication in the store is gone by it.
func (c *cleared) covers(topic string, ref pubsub.RetainedRef) bool {
	return uint64(ref)>>1 <= c.upTo && c.filter.Match(topic)
}

// clearRetained removes the retained publications of the topics that fit a filter.
func (m *Manager) clearRetained(f *pubsub.Filter) error {
	var found []pubsub.RetainedAt
	for p := (pubsub.Page{}); !p.Done(); {
		var page []pubsub.RetainedAt
		page, p = m.topics.tree.RetainedMatching(f, p)
		if found = append(found, page...); len(found) > clearOneByOne {
			return m.clearByRecord(f, found[0].Topic)
		}
	}
	if len(found) == 0 {
		return nil
	}
	u := &uow{}
	for i := range found {
		u.retained = append(u.retained, &retainedOp{topic: found[i].Topic})
	}
	return m.commit(u)
}

// clearByRecord is the way for many. one of them is removed at once: the store lets units pass that give room back, also on a disk
// that is full.
func (m *Manager) clearByRecord(f *pubsub.Filter, one string) error {
	r := &m.retain
	c := &cleared{filter: f}
	var tx store.Tx
	m.opt.Store.Admit(&tx, len(f.String())+maxKeyRoom(one)+64)
	well := false // also when something panics: nobody waits for the clear then
	defer func() { r.cleared(c, well) }()
	var t store.Ticket
	r.under(func() {
		r.last++
		c.upTo = r.last
		k, v := c.entry()
		tx.Set(retainedTable, k, v)
		tx.Unset(retainedTable, retainedKey(one))
		r.clearing = append(r.clearing, c)
		t = m.opt.Store.Submit(&tx) // behind all changes with lower numbers
	})
	err := t.Wait(context.Background())
	m.noteStore(nil, err)
	if err == nil {
		r.forget(c)
		well = true
	}
	return err
}

// cleared ends what clearByRecord began.
func (r *retainStore) cleared(c *cleared, well bool) {
	r.under(func() {
		r.clearing = slices.DeleteFunc(r.clearing, func(x *cleared) bool { return x == c })
		if well {
			r.swept = append(r.swept, c)
		}
		r.inForce.Broadcast()
	})
	if well {
		r.sweepSoon()
	}
}

// forget takes what a durable clear has cleared out of the tree and the memory. Until it is through, the clear is in r.clearing, so a
// new subscription waits.
func (r *retainStore) forget(c *cleared) {
	r.under(func() {
		for topic, list := range r.flight { // submitted before the clear, and so durable: what is in force is the clear
			if uint64(list[0].ref)>>1 < c.upTo && c.filter.Match(topic) {
				r.setFlight(topic, slices.DeleteFunc(list, func(op *retainedOp) bool { return uint64(op.ref)>>1 < c.upTo }))
			}
		}
		r.inForce.Broadcast()
	})
	upTo := pubsub.RetainedRef(c.upTo << 1)
	for p := (pubsub.Page{}); !p.Done(); {
		r.under(func() {
			var gone []pubsub.RetainedRef
			gone, p = r.tree.ClearMatching(c.filter, upTo, p)
			for _, ref := range gone {
				r.mem.remove(ref)
			}
		})
	}
}

// The entry of a clear: its number, which rises, is the key; the value is a version and the filter.
const (
	clearedPrefix  = 'c' // of keys; publications have others
	clearedVersion = 1
)

func isClearedKey(k []byte) bool { return len(k) == 9 && k[0] == clearedPrefix }

func (c *cleared) key() []byte { return binary.BigEndian.AppendUint64([]byte{clearedPrefix}, c.upTo) }

func (c *cleared) entry() (k, v []byte) {
	return c.key(), append([]byte{clearedVersion}, c.filter.String()...)
}

func decodeCleared(k, v []byte) (*cleared, error) {
	if len(v) == 0 || v[0] != clearedVersion {
		return nil, errRetained
	}
	f, err := pubsub.ParseFilter(string(v[1:]), pubsub.SchemeTopic)
	if err != nil {
		return nil, err
	}
	return &cleared{filter: f, upTo: binary.BigEndian.Uint64(k[1:])}, nil
}

// gone reports whether a publication in the store has been cleared.
func gone(list []*cleared, topic string, ref pubsub.RetainedRef) bool {
	return slices.ContainsFunc(list, func(c *cleared) bool { return c.covers(topic, ref) })
}
