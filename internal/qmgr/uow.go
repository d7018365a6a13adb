package qmgr

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// uow is a unit of work: the intents for the store, and the entries whose state changes when it ends. A verb outside
// syncpoint uses one of its own.
type uow struct {
	tx   store.Tx
	puts []putRef // in the order of tx.Put, so that Ticket.Locs fits
	gets []getRef
	n    int // messages that count against MAXUMSGS
	born time.Time
	num  uint64    // of a connection's, for operators
	told time.Time // when the log last said that the unit goes on for long; under Conn.mu
	skip int       // 1 + place in gets of the message with MARK_SKIP_BACKOUT, skipN parts of it

	skipN  int
	places map[*groupPos]groupPos // of handles in logical order, as they were before the unit

	host    any      // who commits, for wakers
	by      *Conn    // who collects the gets that the unit wakes
	quiet   bool     // the queue manager's own event messages: they cause no events
	latched bool     // made while objects are latched: what it causes to queues waits in later
	later   []func() // to be done, in order, when the latches are let go

	fired  []*firing // trigger messages that are put when the unit ends
	firing []*firing // those of them that submit has put

	many  bool      // heads share memory
	heads slabBytes // what they share

	scratch []byte // of encode

	only struct { // memory of batches that are one
		b    batch
		list [1]*batch
	}

	retained []*retainedOp // retained publications that change with the unit
	sent     []*pubsub.Sub // subscriptions that get a message by it, for NUMMSGS

	lost lostPuts

	ended bool // committed, joined to another one or taken back
	back  bool // given back
}

type putRef struct {
	q    *Queue
	slot uint32
}

type getRef struct {
	q    *Queue
	slot uint32
	seq  store.Seq
	pers bool
	head []byte // as got; for the backout count
	back int32  // backout count as got
}

// cause does what the unit causes beside itself: changes of queues, for which they are latched. One who holds latches would
// wait for himself, so what he causes waits until he has let them go.
func (u *uow) cause(do func()) {
	if u.latched {
		u.later = append(u.later, do)
		return
	}
	do()
}

// unlatched does what waited for the latches.
func (u *uow) unlatched() {
	for len(u.later) > 0 { // doing it may cause more
		list := u.later
		u.later = nil
		for _, do := range list {
			do()
		}
	}
}

// part makes a unit that will be joined to this one, or given back alone.
func (u *uow) part() *uow { return &uow{quiet: u.quiet, latched: u.latched} }

func (u *uow) put(q *Queue, slot uint32, seq store.Seq, r store.Rec) {
	u.tx.Put(q.qid, seq, r)
	u.puts = append(u.puts, putRef{q, slot})
}

// grow makes room for n more puts, of many.
func (u *uow) grow(n int) {
	u.many = true
	u.tx.Grow(n)
	if cap(u.puts)-len(u.puts) < n {
		u.puts, u.sent = slices.Grow(u.puts, max(n, cap(u.puts))), slices.Grow(u.sent, max(n, cap(u.sent)))
	}
}

// encode is encodeHead; of many heads some lie together.
func (u *uow) encode(h *msgHead) []byte {
	if !u.many {
		return encodeHead(h)
	}
	u.scratch = appendHead(u.scratch[:0], h)
	return u.heads.keep(u.scratch)
}

func (u *uow) get(g getRef) {
	u.tx.Remove(g.q.qid, g.seq, g.pers)
	u.gets = append(u.gets, g)
}

// begun returns the connection's unit of work, starting one.
func (c *Conn) begun() *uow {
	if c.work == nil {
		u := &uow{born: c.m.opt.Clock.Now(), num: c.m.units.Add(1)}
		c.mu.Lock()
		c.work = u
		c.mu.Unlock()
	}
	return c.work
}

// room says whether another n messages fit into the connection's unit of work.
func (c *Conn) room(n int) mqi.RC {
	if c.opt.Internal { // the queue manager's own moves have a bound of their own
		return 0
	}
	if c.work != nil {
		n += c.work.n
	}
	if n > c.m.limits().maxUMsgs {
		return mqi.MQRC_SYNCPOINT_LIMIT_REACHED
	}
	return 0
}

// commitReason is 2003 when the store refused a unit, which has been backed out, and 2009 when nobody knows whether it
// is on disk: the store has failed, the queue manager ends, and the next start tells.
func commitReason(err error) mqi.RC {
	if errors.Is(err, store.ErrFailed) {
		return mqi.MQRC_CONNECTION_BROKEN
	}
	return mqi.MQRC_BACKED_OUT
}

// commitError is what a verb answers when the unit that it was to commit is not committed. That it has been backed out is a warning:
// the unit is over, as it is after a commit.
func commitError(op, object string, err error) error {
	if err == nil {
		return nil
	}
	e := mqi.Wrap(op, object, commitReason(err), err)
	if e.RC == mqi.MQRC_BACKED_OUT {
		e.CC = mqi.CCWarning
	}
	return e
}

// Commit ends the unit of work and makes it durable (MQCMIT). With 2003 it has been backed out, with 2009 its outcome
// is not known.
func (c *Conn) Commit(ctx context.Context) error {
	if err := c.begin("MQCMIT", c.m.opt.Name); err != nil {
		return err
	}
	defer c.verb.Unlock()
	if rc := c.coordinated(); rc != 0 {
		return mqi.E("MQCMIT", c.m.opt.Name, rc)
	}
	err := c.commitWork()
	c.unitDone(didCommit, err)
	return commitError("MQCMIT", c.m.opt.Name, err)
}

// Backout ends the unit of work as if it had not been, but for the backout counts (MQBACK).
func (c *Conn) Backout(ctx context.Context) error {
	if err := c.begin("MQBACK", c.m.opt.Name); err != nil {
		return err
	}
	defer c.verb.Unlock()
	if rc := c.coordinated(); rc != 0 {
		return mqi.E("MQBACK", c.m.opt.Name, rc)
	}
	c.backoutWork(true)
	c.unitDone(didBackout, nil)
	return nil
}

// Begin starts a global unit of work (MQBEGIN). There are no other resource managers here, so it warns with 2121.
func (c *Conn) Begin(ctx context.Context, bo *mqi.BO) error {
	if err := c.begin("MQBEGIN", c.m.opt.Name); err != nil {
		return err
	}
	defer c.verb.Unlock()
	switch {
	case bo.Version != 1:
		return mqi.E("MQBEGIN", c.m.opt.Name, mqi.MQRC_BO_ERROR)
	case bo.Options != 0:
		return mqi.E("MQBEGIN", c.m.opt.Name, mqi.MQRC_OPTIONS_ERROR)
	case c.work != nil || c.xa.active != nil:
		return mqi.E("MQBEGIN", c.m.opt.Name, mqi.MQRC_UOW_IN_PROGRESS)
	}
	c.begun()
	return mqi.Warn("MQBEGIN", c.m.opt.Name, mqi.MQRC_NO_EXTERNAL_PARTICIPANTS)
}

// endWork takes the unit of work off the connection.
func (c *Conn) endWork() *uow {
	u := c.work
	c.mu.Lock()
	c.work = nil
	c.mu.Unlock()
	return u
}

func (c *Conn) commitWork() error {
	u := c.endWork()
	if u == nil {
		return nil
	}
	u.by = c.collector()
	err := c.m.commitUnlessLost(u)
	if err != nil {
		u.forgetPlaces()
	}
	return err
}

// backoutWork backs the unit of work out. asked says that it is the application that wants that, and goes on: the message that it got with
// MARK_SKIP_BACKOUT is then in a unit of work of its own.
func (c *Conn) backoutWork(asked bool) {
	u := c.endWork()
	if u == nil {
		return
	}
	if asked {
		if kept := u.splitSkipped(); kept != nil {
			defer c.m.confirmSkipped(kept) // when there is room again
			c.mu.Lock()
			c.work = kept
			c.mu.Unlock()
		}
	}
	if c.opt.Internal { // no application has had the messages: that is no backout to count
		c.m.withdraw(u)
	} else {
		c.m.undo(u)
	}
	u.forgetPlaces()
}

// remember notes a handle's place in logical order when the unit first moves it.
func (u *uow) remember(g *groupPos) {
	if u.places == nil {
		u.places = map[*groupPos]groupPos{}
	}
	if _, there := u.places[g]; !there {
		u.places[g] = *g
	}
}

// forgetPlaces takes the handles of a unit that was backed out back to where they were.
func (u *uow) forgetPlaces() {
	for g, before := range u.places {
		*g = before
	}
}

// splitSkipped moves the message got with MARK_SKIP_BACKOUT to a unit of work of its own.
func (u *uow) splitSkipped() *uow {
	if u.skip == 0 {
		return nil
	}
	i, end := u.skip-1, u.skip-1+u.skipN
	kept := &uow{n: u.skipN, born: u.born, num: u.num}
	for _, g := range u.gets[i:end] {
		kept.get(g)
	}
	u.gets = append(u.gets[:i], u.gets[end:]...)
	return kept
}

// confirmSkipped makes the report of delivery once more that a message in such a unit asks for: the first one has been backed out.
func (m *Manager) confirmSkipped(u *uow) {
	head, err := decodeHead(u.gets[0].head)
	if err != nil || head.md.Report&mqi.MQRO_COD == 0 {
		return // it has been read before
	}
	if len(u.gets) > 1 {
		head.joined()
	}
	var body []byte
	for i := range u.gets {
		rec, err := m.opt.Store.Read(u.gets[i].q.qid, u.gets[i].seq, store.Loc{})
		if err != nil {
			m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).Str("queue", u.gets[i].q.obj.Name).Msg("no report of delivery: the message cannot be read")
			return
		}
		body = append(body, rec.Body...)
	}
	for _, r := range m.deliveryReports(head, body) {
		m.sendReport(u, r)
		u.n++
	}
}

// commit makes a unit durable and then lets everybody see it. On failure it is undone without counting a backout.
func (m *Manager) commit(u *uow) error {
	t := m.submit(u)
	if t == nil {
		return nil
	}
	// The unit ends whatever the caller's context does: nobody may see it half.
	return m.settle(u, t.Wait(context.Background()))
}

// submit begins to make a unit durable; nil when there is nothing to do.
func (m *Manager) submit(u *uow) store.Ticket {
	u.ended = true
	if u.tx.Len() == 0 && len(u.retained) == 0 {
		return nil
	}
	handed := false
	defer func() {
		if !handed { // a panic: nobody would end it
			m.refuse(u)
		}
	}()
	u.firing = u.fired
	m.fire(u, u.firing)
	u.tx.Await(u.host)
	t := m.submitUnit(u)
	handed = true
	return t
}

// refuse undoes a unit that the store has not taken, or not kept.
func (m *Manager) refuse(u *uow) {
	defer m.unfire(u, u.firing)
	defer m.giveBack(u)
	m.retain.failed(u.retained)
}

// settle ends a unit that the store has answered.
func (m *Manager) settle(u *uow, err error) error {
	m.noteStore(&u.tx, err)
	if err != nil {
		m.refuse(u)
		return err
	}
	defer m.reveal(u)
	m.retain.done(u.retained)
	return nil
}

// reveal lets everybody see a unit that is durable: its puts, and that what it got is gone. Where the puts lie nobody keeps: 16
// bytes a message are too much for what they save.
func (m *Manager) reveal(u *uow) {
	now := m.opt.Clock.Now()
	for _, s := range u.sent {
		s.Delivered(1, now)
	}
	var late store.Tx // what was put on a queue that has been deleted meanwhile
	m.revealAll(u, u.batches(), now, &late)
	m.removeLate(&late)
}

// revealAll goes on when something panics: what is durable is not to stay hidden.
func (m *Manager) revealAll(u *uow, list []*batch, now time.Time, late *store.Tx) {
	i := 0
	defer func() {
		if i < len(list) && list[i].again() {
			m.revealAll(u, list[i:], now, late)
		} else if i < len(list) {
			m.revealAll(u, list[i+1:], now, late)
		}
	}()
	for ; i < len(list); i++ {
		if b := list[i]; u.revealOn(b, now, late) {
			u.cause(func() { m.recheck(b.q) })
		}
	}
}

// removeLate takes away what was put on a queue that is no more, or would have come back to it. Until that is durable a start finds
// the messages without a queue, and drops them.
func (m *Manager) removeLate(tx *store.Tx) {
	if tx.Len() == 0 {
		return
	}
	if err := m.opt.Store.Submit(tx).Wait(context.Background()); err != nil && !errors.Is(err, store.ErrClosed) {
		m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).
			Msg("messages of a queue that was deleted meanwhile could not be removed; the next start removes them")
	}
}

// undo backs a unit out: puts vanish, gets come back with their backout count raised. The count is durable before the
// message can be got again.
func (m *Manager) undo(u *uow) {
	defer m.fireBackedOut(u)
	defer m.giveBack(u)
	if len(u.gets) > 0 {
		var tx store.Tx
		for i := range u.gets {
			if g := &u.gets[i]; !g.q.isDead() { // else giveBack removes it
				tx.SetHead(g.q.qid, g.seq, withBackout(g.head, g.back+1), g.pers)
			}
		}
		if tx.Len() > 0 {
			if err := m.opt.Store.Submit(&tx).Wait(context.Background()); err != nil {
				m.opt.Log.Error().Err(err).Str("qmgr", m.opt.Name).Msg("backout counts could not be written")
			}
		}
	}
}

// revealOn does it for one queue. late gets what was put on one that has been deleted; missed says that a trigger is to be looked
// at again.
func (u *uow) revealOn(b *batch, now time.Time, late *store.Tx) (missed bool) {
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	b.q.wait.by = u.by
	defer func() { b.q.wait.by = nil }()
	for b.shown < len(b.puts) {
		p := u.puts[b.puts[b.shown]]
		b.shown++
		if b.q.dead {
			e := b.q.slab.at(p.slot)
			late.Remove(b.q.qid, e.seq, e.flags&fPersistent != 0)
			b.q.drop(p.slot)
			continue
		}
		b.q.show(p.slot, now)
	}
	for b.removed < len(b.gets) {
		g := &u.gets[b.gets[b.removed]]
		b.removed++
		b.q.remove(g.slot)
	}
	return len(b.puts) > 0 && b.q.watch.missed
}

// leftover is deferred by who makes a unit of his own: when a panic keeps it from being committed, joined to another one or taken back,
// nothing of it is to stay behind.
func (m *Manager) leftover(u *uow) {
	if !u.ended && (len(u.puts) > 0 || len(u.gets) > 0 || len(u.fired) > 0) {
		m.withdraw(u)
	}
}

// withdraw takes back what a verb that failed has done, and the trigger messages it would have caused.
func (m *Manager) withdraw(u *uow) {
	u.ended = true
	m.giveBack(u)
	m.unfire(u, u.fired)
	u.fired = nil
}

// giveBack removes the unit's puts and returns its gets, but for those of queues that have been deleted meanwhile.
func (m *Manager) giveBack(u *uow) {
	if u.back { // by a commit that a panic has ended
		return
	}
	u.back = true
	var late store.Tx
	u.giveBackAll(u.batches(), &late)
	m.removeLate(&late)
}

// giveBackAll goes on when something panics.
func (u *uow) giveBackAll(list []*batch, late *store.Tx) {
	i := 0
	defer func() {
		if i < len(list) && list[i].again() {
			u.giveBackAll(list[i:], late)
		} else if i < len(list) {
			u.giveBackAll(list[i+1:], late)
		}
	}()
	for ; i < len(list); i++ {
		u.giveBackOn(list[i], late)
	}
}

func (u *uow) giveBackOn(b *batch, late *store.Tx) {
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	for b.shown < len(b.puts) {
		p := u.puts[b.puts[b.shown]]
		b.shown++
		b.q.drop(p.slot)
	}
	for b.removed < len(b.gets) {
		g := &u.gets[b.gets[b.removed]]
		b.removed++
		if b.q.dead {
			late.Remove(b.q.qid, g.seq, g.pers)
			b.q.remove(g.slot)
		} else {
			b.q.restore(g.slot)
		}
	}
}

// batch is what a unit did on one queue.
type batch struct {
	q          *Queue
	puts, gets []int

	shown, removed int // how many of them are done: who goes on after a panic does not do one twice
	tries          int
}

// again reports whether what a panic has kept from its end is worth another try.
func (b *batch) again() bool {
	b.tries++
	return b.tries < 10 && b.shown+b.removed < len(b.puts)+len(b.gets)
}

var onlyOne = []int{0}

// single is the list of one batch.
func (u *uow) single(b batch) []*batch {
	u.only.b = b
	u.only.list[0] = &u.only.b
	return u.only.list[:]
}

// batches sorts a unit's work by queue, in QID order (LOCKS.md).
func (u *uow) batches() []*batch {
	switch { // most units are one put or one get
	case len(u.puts) == 1 && len(u.gets) == 0:
		return u.single(batch{q: u.puts[0].q, puts: onlyOne})
	case len(u.gets) == 1 && len(u.puts) == 0:
		return u.single(batch{q: u.gets[0].q, gets: onlyOne})
	}
	var out []*batch
	var byQueue map[*Queue]*batch // only when there are many
	of := func(q *Queue) *batch {
		if byQueue != nil {
			if b := byQueue[q]; b != nil {
				return b
			}
		} else {
			for _, b := range out {
				if b.q == q {
					return b
				}
			}
		}
		b := &batch{q: q}
		if out = append(out, b); len(out) > 16 {
			if byQueue == nil {
				byQueue = map[*Queue]*batch{}
				for _, b := range out {
					byQueue[b.q] = b
				}
			}
			byQueue[q] = b
		}
		return b
	}
	for i := range u.puts {
		b := of(u.puts[i].q)
		b.puts = append(b.puts, i)
	}
	for i := range u.gets {
		b := of(u.gets[i].q)
		b.gets = append(b.gets, i)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].q.qid < out[j].q.qid })
	return out
}

func (q *Queue) isDead() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dead
}
