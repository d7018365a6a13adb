package qmgr

import (
	"context"
)

// Mark is a place in a connection's unit of work: what was done before it can be committed alone (CommitTo). A door whose
// reader acknowledges messages one by one needs that; no MQI verb has it.
type Mark struct{ ops, puts, gets, n, fired, retained, sent, lost int }

// Mark is the end of the unit of work as it is now.
func (c *Conn) Mark() Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.work
	if u == nil {
		return Mark{}
	}
	return Mark{u.tx.Len(), len(u.puts), len(u.gets), u.n, len(u.fired), len(u.retained), len(u.sent), u.lost.n}
}

// Since is m after everything before base was committed.
func (m Mark) Since(base Mark) Mark {
	return Mark{m.ops - base.ops, m.puts - base.puts, m.gets - base.gets, m.n - base.n, m.fired - base.fired,
		m.retained - base.retained, m.sent - base.sent, m.lost - base.lost}
}

// After is m, made in a unit of work that began at base, as counted from where base is counted.
func (m Mark) After(base Mark) Mark { return m.Since(Mark{}.Since(base)) }

// CommitTo commits what the unit of work did before a mark; the rest goes on as the unit of work. Errors are those of
// Commit, and of the first part alone.
func (c *Conn) CommitTo(_ context.Context, m Mark) error {
	if err := c.begin("MQCMIT", c.m.opt.Name); err != nil {
		return err
	}
	defer c.verb.Unlock()
	u := c.endWork()
	if u == nil {
		return nil
	}
	if rest := u.split(m); rest != nil {
		c.mu.Lock()
		c.work = rest
		c.mu.Unlock()
	}
	err := c.m.commitUnlessLost(u)
	c.unitDone(didCommit, err)
	return commitError("MQCMIT", c.m.opt.Name, err)
}

// split cuts what follows a mark off; nil when nothing does.
func (u *uow) split(m Mark) *uow {
	if m.ops >= u.tx.Len() && m.gets >= len(u.gets) && m.puts >= len(u.puts) && m.retained >= len(u.retained) && m.lost >= u.lost.n {
		return nil
	}
	rest := &uow{n: u.n - m.n, born: u.born, num: u.num, told: u.told, places: u.places, quiet: u.quiet}
	rest.tx = u.tx.Split(m.ops)
	u.puts, rest.puts = splitSlice(u.puts, m.puts)
	u.gets, rest.gets = splitSlice(u.gets, m.gets)
	u.fired, rest.fired = splitSlice(u.fired, m.fired)
	u.retained, rest.retained = splitSlice(u.retained, m.retained)
	u.sent, rest.sent = splitSlice(u.sent, m.sent)
	if u.skip > m.gets {
		rest.skip, rest.skipN, u.skip, u.skipN = u.skip-m.gets, u.skipN, 0, 0
	}
	u.lost, rest.lost = u.lost.split(m.lost)
	u.n, u.places = m.n, nil
	return rest
}

// splitSlice makes two slices of one that do not grow into each other.
func splitSlice[T any](s []T, n int) (front, back []T) {
	n = min(n, len(s))
	return s[:n:n], append([]T(nil), s[n:]...)
}
