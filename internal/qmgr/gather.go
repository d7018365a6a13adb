package qmgr

import (
	"slices"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Publications that follow one another and go to the same subscriptions are sent together: to the first subscription all of them, then
// to the next. What a delivery has to look at lies in the processor's cache then for all but the first, and a subscriber's socket
// is written to once.

const (
	// gatherMost bounds the publications that wait, and gatherCopies their copies: the last subscriber waits for all of them, which is
	// some 60 ms. Half as many cut what arrives together into more writes, each of which wakes up its subscriber.
	gatherMost   = 64
	gatherCopies = 32 << 10
)

// gathered are publications that have been put and whose copies are still to be made.
type gathered struct {
	on   bool
	list []*publication
	subs []*pubsub.Sub
}

// Gather says that PutBy may leave the copies of a publication without answer to Deliver, which has to be called before any other
// verb of the connection, and before a body that was lent is used again. Everything else has been done and checked then, and the
// delivery rule of such a publication does not ask what becomes of its copies.
func (c *Conn) Gather() { c.gather.on = true }

// Gathered is how many publications wait for Deliver. It is asked between verbs by whoever calls them.
func (c *Conn) Gathered() int { return len(c.gather.list) }

// gatherIn takes a publication along, and says how many subscriptions it is for.
func (c *Conn) gatherIn(p *publication) int {
	g := &c.gather
	subs := p.recipients(c.m.topics.tree.Match(c.matches[:0], p.topic))
	c.matches = subs
	if len(g.list) > 0 && (len(g.list) >= gatherMost || len(g.list)*len(subs) >= gatherCopies || !slices.Equal(subs, g.subs)) {
		_ = c.deliverGathered() // what failed has been counted
	}
	if len(subs) == 0 {
		return 0
	}
	if len(g.list) == 0 {
		g.subs = append(g.subs[:0], subs...)
	}
	g.list = append(g.list, p)
	return len(subs)
}

// overdueCopies sends what was gathered before something that is not taken along.
func (c *Conn) overdueCopies() {
	if len(c.gather.list) > 0 {
		_ = c.deliverGathered() // what failed has been counted
	}
}

// Deliver sends what was gathered. by goes to the Wakers, as in PutBy. An error is the store's.
func (c *Conn) Deliver(by any) error {
	c.gather.on = false
	if len(c.gather.list) == 0 {
		return nil
	}
	if err := c.begin("MQPUT", ""); err != nil {
		c.gather = gathered{} // the connection has ended meanwhile, and its publisher is told of nothing
		return err
	}
	defer c.verb.Unlock()
	c.host = by
	err := c.deliverGathered()
	c.host = nil
	return err
}

// deliverGathered is called in a verb, with the host set.
func (c *Conn) deliverGathered() error {
	g, m := &c.gather, c.m
	n, name := len(g.list), g.list[0].topic
	u := &uow{by: c.collector()}
	defer m.leftover(u)
	for _, s := range g.subs {
		past := false // a copy lies on the queue: the others have to queue behind it
		handed := 0
		for _, p := range g.list {
			if p.by = c.host; past {
				p.by = nil
			}
			switch rc := m.sendCopy(u, p, s); {
			case rc != 0: // it does without
			case p.handed:
				handed++
			default:
				u.sent = append(u.sent, s)
				past = true
			}
		}
		if handed > 0 {
			s.Delivered(handed, m.opt.Clock.Now())
		}
	}
	clear(g.list)
	clear(g.subs)
	g.list, g.subs = g.list[:0], g.subs[:0]
	err := m.commit(u)
	if err != nil { // they have been counted as put
		err = storeReason("MQPUT", name, err)
		for range n {
			c.async.Undo()
			c.countAsync(nil, mqi.MQOT_TOPIC, name, &mqi.MD{}, &mqi.PMO{Options: mqi.MQPMO_ASYNC_RESPONSE}, err) // outside syncpoint
		}
	}
	return err
}
