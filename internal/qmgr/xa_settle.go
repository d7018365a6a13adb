package qmgr

import (
	"context"
	"errors"
	"sort"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// The second half of XA: prepare, commit, rollback, recover, forget.
//
// Prepare writes the unit's messages and one record that names them, in one unit of the store: from then on the messages
// are there, hidden, and what was got stays locked. Commit removes the record and what was got, rollback the record and what
// was put. So a prepared unit is there as a whole or not at all at every moment.

// hold makes a branch busy for a connection that wants to settle it. A branch that is not the connection's user's is there for
// those only who may settle it.
func (c *Conn) hold(verb string, x XID, may func(b *branch) XARet) (*branch, XARet) {
	all := c.xaOthers(verb, x)
	return c.m.xa.hold(x, func(b *branch) bool { return all || b.of(c) }, may)
}

// hold is the same for whoever sees the branch.
func (s *xaState) hold(x XID, sees func(b *branch) bool, may func(b *branch) XARet) (*branch, XARet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.branches[x]
	switch {
	case b == nil, !sees(b):
		return nil, XANotA
	case b.busy:
		return nil, XAProto
	}
	if rc := may(b); rc != XAOK {
		return nil, rc
	}
	b.busy = true
	return b, XAOK
}

// release ends the hold: the branch is in another state, or, with 0, gone.
func (s *xaState) release(b *branch, state branchState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseLocked(b, state)
}

func (s *xaState) releaseLocked(b *branch, state branchState) {
	b.busy, b.state = false, state
	if state == 0 {
		s.drop(b)
	}
}

// settle runs fn, which releases the branch that is held. If it panics instead, the branch is as before: its connection's end undoes it
// unless it is prepared.
func (s *xaState) settle(b *branch, fn func() XARet) XARet {
	over := false
	defer func() {
		if !over {
			s.lapse(b)
		}
	}()
	rc := fn()
	over = true
	return rc
}

func (s *xaState) lapse(b *branch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.busy {
		b.busy = false
	}
}

// heuristic is what the verbs answer for a branch that an operator has settled.
func (b *branch) heuristic() XARet {
	switch b.state {
	case branchCommitted:
		return XAHeurCom
	case branchRolledBack:
		return XAHeurRB
	}
	return XAOK
}

// XAPrepare is xa_prepare.
func (c *Conn) XAPrepare(_ context.Context, x XID) XARet {
	if rc := c.xaBegin(true); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	m := c.m
	b, rc := c.hold("xa_prepare", x, func(b *branch) XARet {
		if b.state != branchIdle {
			return XAProto
		}
		return XAOK
	})
	if rc != XAOK {
		return rc
	}
	return m.xa.settle(b, func() XARet { return c.prepareHeld(b) })
}

func (c *Conn) prepareHeld(b *branch) XARet {
	m, u := c.m, b.work
	switch {
	case b.failed, u != nil && u.lost.n > 0: // a put of it failed that nobody was told of
		m.undoBranch(c, b)
		c.unitDone(didBackout, nil)
		return XARBRollback
	case u == nil || u.tx.Len() == 0 && len(u.retained) == 0:
		m.xa.release(b, 0)
		return XAReadOnly
	}
	if err := m.prepare(b); err != nil {
		m.giveBack(u)
		m.unfire(u, u.fired)
		b.forgetPlaces(c)
		m.xa.release(b, 0)
		c.unitDone(didCommit, err)
		return lostOr(err, XARBRollback)
	}
	m.xa.release(b, branchPrepared)
	return XAOK
}

// prepare makes a unit durable without letting anybody see it.
func (m *Manager) prepare(b *branch) error {
	u := b.work
	w := &preparedWork{puts: u.puts, gets: u.gets, fired: u.fired, sent: u.sent}
	for _, op := range u.retained {
		w.retained = append(w.retained, *op)
	}
	now := m.opt.Clock.Now()
	m.xa.mu.Lock() // for those who look on (DISPLAY CONN)
	b.since, b.prepared = now, w
	m.xa.mu.Unlock()
	tx := u.tx.TakePuts()
	tx.Set(store.TableIndoubt, b.xid.key(), b.encode(branchPrepared))
	t := m.opt.Store.Submit(&tx)
	err := t.Wait(context.Background())
	m.noteStore(&tx, err)
	if err != nil {
		return err
	}
	return nil
}

// lostOr is what a verb answers when the store failed: with the manager itself gone nobody knows, else it is rc.
func lostOr(err error, rc XARet) XARet {
	if errors.Is(err, store.ErrFailed) || errors.Is(err, store.ErrClosed) {
		return XARMFail
	}
	return rc
}

// isOf reports whether a branch is the connection's. Another connection may end meanwhile and leave its branches.
func (s *xaState) isOf(b *branch, c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return b.conn == c
}

// forgetPlaces takes the handles of the connection that did the work back; those of another are its own business.
func (b *branch) forgetPlaces(c *Conn) {
	if b.work != nil && c.m.xa.isOf(b, c) {
		b.work.forgetPlaces()
	}
}

// undoBranch rolls a branch back that is held and not prepared.
func (m *Manager) undoBranch(c *Conn, b *branch) {
	if b.work != nil {
		m.undo(b.work)
		b.forgetPlaces(c)
	}
	m.xa.release(b, 0)
}

// XACommit is xa_commit, with TMOnePhase of a branch that is not prepared.
func (c *Conn) XACommit(_ context.Context, x XID, flags int32) XARet {
	if rc := c.xaBegin(true); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	if flags != TMNoFlags && flags != TMOnePhase {
		return XAInval
	}
	once := flags == TMOnePhase
	b, rc := c.hold("xa_commit", x, func(b *branch) XARet {
		if rc := b.heuristic(); rc != XAOK {
			return rc
		}
		if once && b.state != branchIdle || !once && b.state != branchPrepared {
			return XAProto
		}
		return XAOK
	})
	if rc != XAOK {
		return rc
	}
	return c.m.xa.settle(b, func() XARet {
		if once {
			return c.commitOnce(b)
		}
		err := c.m.commitPrepared(b, 0)
		c.unitDone(didCommit, err)
		if err != nil { // it stays prepared: the coordinator tries again
			return lostOr(err, XARMErr)
		}
		return XAOK
	})
}

// commitOnce commits a branch without a first phase.
func (c *Conn) commitOnce(b *branch) XARet {
	if b.failed || b.work != nil && b.work.lost.n > 0 {
		c.m.undoBranch(c, b)
		c.unitDone(didBackout, nil)
		return XARBRollback
	}
	var err error
	if b.work != nil {
		if err = c.m.commit(b.work); err != nil {
			b.forgetPlaces(c)
		}
	}
	c.m.xa.release(b, 0)
	c.unitDone(didCommit, err)
	if err != nil {
		return lostOr(err, XARBRollback)
	}
	return XAOK
}

// commitPrepared commits a branch that is held. With leave its outcome is kept until somebody forgets it.
func (m *Manager) commitPrepared(b *branch, leave branchState) error {
	w := b.prepared
	u := &uow{puts: w.puts[:len(w.puts):len(w.puts)], gets: w.gets, sent: w.sent}
	for i := range w.retained {
		op := w.retained[i]
		u.retained = append(u.retained, &op)
	}
	for i := range w.gets {
		g := &w.gets[i]
		u.tx.Remove(g.q.qid, g.seq, g.pers)
	}
	b.record(&u.tx, leave)
	t := m.submitUnit(u)
	err := t.Wait(context.Background())
	m.noteStore(&u.tx, err)
	if err != nil {
		m.retain.failed(u.retained)
		m.giveBack(&uow{puts: u.puts[len(w.puts):]}) // copies for subscriptions that came after the prepare
		m.xa.release(b, branchPrepared)
		return err
	}
	defer b.settled(m, leave) // it is durable: a panic behind this must not have it committed once more
	m.revealPrepared(w, u)
	m.fireAlone(w.fired)
	if w.recovered {
		m.triggerRecovered(w.puts)
	}
	return nil
}

// revealPrepared shows what a committed branch has put, and takes away what it has got.
func (m *Manager) revealPrepared(w *preparedWork, u *uow) {
	defer m.reveal(u)
	m.retain.done(u.retained)
	if w.recovered {
		looksAgain(w.puts)
	}
}

// rollbackPrepared rolls a branch back that is held.
func (m *Manager) rollbackPrepared(b *branch, leave branchState) error {
	w := b.prepared
	err := m.opt.Store.Submit(b.undoTx(leave, true)).Wait(context.Background())
	if errors.Is(err, store.ErrFull) { // the backout counts take room, the rest gives it back
		err = m.opt.Store.Submit(b.undoTx(leave, false)).Wait(context.Background())
	}
	m.noteStore(nil, err)
	if err != nil {
		m.xa.release(b, branchPrepared)
		return err
	}
	u := &uow{puts: w.puts, gets: w.gets, fired: w.fired}
	m.giveBack(u)
	m.fireBackedOut(u)
	b.settled(m, leave)
	return nil
}

// undoTx takes the branch's puts and record away, and raises the backout counts of its gets.
func (b *branch) undoTx(leave branchState, count bool) *store.Tx {
	tx := &store.Tx{}
	for _, p := range b.prepared.puts {
		p.q.under(func() {
			e := p.q.slab.at(p.slot)
			tx.Remove(p.q.qid, e.seq, e.flags&fPersistent != 0)
		})
	}
	for i := range b.prepared.gets {
		g := &b.prepared.gets[i]
		switch {
		case g.q.isDead():
			tx.Remove(g.q.qid, g.seq, g.pers)
		case count:
			tx.SetHead(g.q.qid, g.seq, withBackout(g.head, g.back+1), g.pers)
		}
	}
	b.record(tx, leave)
	return tx
}

// record adds what becomes of the branch's record to the unit that settles it.
func (b *branch) record(tx *store.Tx, leave branchState) {
	if leave == 0 {
		tx.Unset(store.TableIndoubt, b.xid.key())
		return
	}
	tx.Shrink(store.TableIndoubt, b.xid.key(), b.encode(leave)) // without the messages' names
}

// settled ends the hold of a branch whose outcome is in force.
func (b *branch) settled(m *Manager, leave branchState) {
	m.xa.mu.Lock()
	defer m.xa.mu.Unlock()
	b.prepared, b.work = nil, nil
	m.xa.releaseLocked(b, leave)
}

// looksAgain has the queues of messages that a restart found prepared looked at again when the messages are seen: whether they
// triggered is not known any more.
func looksAgain(puts []putRef) {
	for _, p := range puts {
		p.q.mu.Lock()
		p.q.watch.missed = true
		p.q.mu.Unlock()
	}
}

// triggerRecovered makes the trigger messages that each of such messages is for.
func (m *Manager) triggerRecovered(puts []putRef) {
	u := &uow{}
	for _, p := range puts {
		if p.q.cfg.Load().watch.trigger == mqi.MQTT_EVERY {
			m.trigger(u, p.q, true)
		}
	}
	m.fireAlone(u.fired)
}

// XARollback is xa_rollback, of a branch that has been ended or prepared.
func (c *Conn) XARollback(_ context.Context, x XID) XARet {
	if rc := c.xaBegin(true); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	b, rc := c.hold("xa_rollback", x, func(b *branch) XARet {
		if rc := b.heuristic(); rc != XAOK {
			return rc
		}
		if b.state == branchActive {
			return XAProto
		}
		return XAOK
	})
	if rc != XAOK {
		return rc
	}
	return c.m.xa.settle(b, func() XARet { return c.rollbackHeld(b) })
}

func (c *Conn) rollbackHeld(b *branch) XARet {
	if b.state != branchPrepared {
		c.m.undoBranch(c, b)
		c.unitDone(didBackout, nil)
		return XAOK
	}
	work, mine := b.work, c.m.xa.isOf(b, c)
	if err := c.m.rollbackPrepared(b, 0); err != nil {
		return lostOr(err, XARMErr)
	}
	if mine && work != nil {
		work.forgetPlaces()
	}
	c.unitDone(didBackout, nil)
	return XAOK
}

// XAForget is xa_forget: the coordinator has seen what an operator decided.
func (c *Conn) XAForget(_ context.Context, x XID) XARet {
	if rc := c.xaBegin(true); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	all := c.xaOthers("xa_forget", x)
	return c.m.forgetBranch(x, func(b *branch) bool { return all || b.of(c) })
}

func (m *Manager) forgetBranch(x XID, sees func(b *branch) bool) XARet {
	b, rc := m.xa.hold(x, sees, func(b *branch) XARet {
		if b.heuristic() == XAOK {
			return XAProto
		}
		return XAOK
	})
	if rc != XAOK {
		return rc
	}
	return m.xa.settle(b, func() XARet {
		var tx store.Tx
		b.record(&tx, 0)
		if err := m.opt.Store.Submit(&tx).Wait(context.Background()); err != nil {
			m.noteStore(nil, err)
			m.xa.release(b, b.state)
			return lostOr(err, XARMErr)
		}
		m.xa.release(b, 0)
		return XAOK
	})
}

// XARecover lists the branches that wait for an outcome or for being forgotten, at most max of them and
// only those that the connection may settle. A scan begins with TMStartRScan, each call goes on behind the one before, TMEndRScan ends it.
func (c *Conn) XARecover(_ context.Context, max int, flags int32) ([]XID, XARet) {
	if rc := c.xaBegin(true); rc != XAOK {
		return nil, rc
	}
	defer c.verb.Unlock()
	if max < 0 || flags&^(TMStartRScan|TMEndRScan) != 0 || flags&TMStartRScan == 0 && !c.xa.scanning {
		return nil, XAInval
	}
	if flags&TMStartRScan != 0 {
		c.xa.scanned = 0
	}
	var out []XID
	all := c.mayRecover()
	for _, b := range c.m.xa.waiting() {
		if b.num > c.xa.scanned && len(out) < max && (all || b.of(c)) {
			out = append(out, b.xid)
			c.xa.scanned = b.num
		}
	}
	c.xa.scanning = flags&TMEndRScan == 0
	return out, XAOK
}

// waiting lists copies of the branches that are prepared or settled by an operator, the oldest first.
func (s *xaState) waiting() []branch {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []branch
	for _, b := range s.branches {
		if b.state >= branchPrepared {
			out = append(out, *b)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].num < out[j].num })
	return out
}
