package qmgr

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// maxPasses bounds how often a get without wait, that must look into messages, starts again because others came
// meanwhile.
const maxPasses = 100

// getting is one MQGET on its way.
type getting struct {
	c                       *Conn
	h                       *handle
	q                       *Queue
	md                      *mqi.MD
	gmo                     *mqi.GMO
	match                   *match
	max                     int // bytes the caller has room for
	browse                  bool
	until                   time.Time // end of the wait; zero: for ever
	wantCCSID, wantEncoding int32
	missedSlot              uint32
	seen                    uint64     // Queue.served when the search from the start began
	passes                  int        // searches from the start
	msg                     readMsg    // that was read last, and
	out                     shaped     // how it is given
	handle                  *msgHandle // gets the properties
	markUntil               int64      // end of the cooperative mark that a browse makes
	parked                  *Waiting   // how it waits; nil: in its goroutine
	matching                match      // what match points to
	spare, later            sparing    // what it leaves to others, and what when it waits on behind a message that it was handed
	missed                  place      // a message whose hash fitted but whose identifiers did not: go on behind it
}

// found is a message chosen under the queue's lock.
type found struct {
	slot    uint32
	e       entry
	claimed bool     // hidden from others, together with more
	more    []*found // COMPLETE_MSG: the segments that follow
	self    [1]*found
}

// all are the parts of a logical message, the first one first.
func (f *found) all() []*found {
	f.self[0] = f
	if len(f.more) == 0 {
		return f.self[:]
	}
	return append([]*found{f}, f.more...)
}

// size is how long the message is as the queue knows it.
func (f *found) size() int {
	n := int(f.e.size)
	for _, x := range f.more {
		n += int(x.e.size)
	}
	return n
}

// Get gets or browses a message (MQGET) into at most max bytes. It returns the data, cut to max when the message was
// longer (2079, 2080), and the message's full length. A completion with a warning is an *mqi.Error with CCWarning.
func (c *Conn) Get(ctx context.Context, hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int) (data []byte, n int, err error) {
	return c.get(ctx, hobj, md, gmo, max, nil)
}

func (c *Conn) get(ctx context.Context, hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int, ahead func(*getting)) (data []byte, n int,
	err error) {
	if err := c.begin("MQGET", ""); err != nil {
		return nil, 0, err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQGET", hobj)
	if err != nil {
		return nil, 0, err
	}
	defer func() { c.getDone(h, md, gmo, n, err) }()
	g := &getting{}
	if over, err := g.start(c, h, md, gmo, max); over {
		return nil, 0, err
	}
	if ahead != nil {
		ahead(g)
	}
	return g.run(ctx)
}

// start checks a get, and readies it. over says that the verb ends with this.
func (g *getting) start(c *Conn, h *handle, md *mqi.MD, gmo *mqi.GMO, max int) (over bool, err error) {
	fail := func(rc mqi.RC) (bool, error) { return true, mqi.E("MQGET", h.name, rc) }
	if md.Version < 1 || md.Version > 2 {
		return fail(mqi.MQRC_MD_ERROR)
	}
	if max < 0 {
		return fail(mqi.MQRC_BUFFER_LENGTH_ERROR)
	}
	rc := c.checkGetOptions(h, gmo)
	if rc == 0 {
		rc = h.check()
	}
	if rc == 0 {
		rc = h.res.aliasGet()
	}
	if rc != 0 {
		return fail(rc)
	}
	if done, warn, bad := h.unmark(gmo); bad != 0 {
		return fail(bad)
	} else if warn != 0 {
		return true, mqi.Warn("MQGET", h.name, warn)
	} else if done {
		return true, nil
	}
	*g = getting{c: c, h: h, q: h.queue, md: md, gmo: gmo, max: max, browse: gmo.Options&getBrowse != 0,
		wantCCSID: md.CodedCharSetID, wantEncoding: md.Encoding, parked: g.parked}
	if rc = g.prepare(); rc == 0 {
		rc = g.checkUOW()
	}
	if rc != 0 {
		return fail(rc)
	}
	if w := gmo.WaitInterval; w >= 0 {
		g.until = c.m.opt.Clock.Now().Add(time.Duration(w) * time.Millisecond)
	}
	return false, nil
}

// prepare makes the match, and checks it against the handle's place in logical order.
func (g *getting) prepare() mqi.RC {
	o, h := g.gmo.Options, g.h
	t := &g.matching
	rc := t.read(g.md, g.gmo)
	if rc != 0 {
		return rc
	}
	if rc = g.handleOfProps(); rc != 0 {
		return rc
	}
	logical := o&mqi.MQGMO_LOGICAL_ORDER != 0
	if o&(mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_BROWSE_NEXT) != 0 {
		if o&mqi.MQGMO_BROWSE_NEXT != 0 && h.browsed && h.browseLogical != logical {
			return mqi.MQRC_INCONSISTENT_BROWSE
		}
		h.browsed, h.browseLogical = true, logical
	}
	if o&(mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR) != 0 {
		*t = match{} // the cursor decides alone
	} else {
		t.unmarked = o&mqi.MQGMO_UNMARKED_BROWSE_MSG != 0
		t.sel = h.sel
		t.whole = o&mqi.MQGMO_ALL_MSGS_AVAILABLE != 0
		t.wholeMsg = o&(mqi.MQGMO_ALL_SEGMENTS_AVAILABLE|mqi.MQGMO_ALL_MSGS_AVAILABLE) != 0
		if logical {
			t.logical = h.logicalPlace(o)
			if t.logical.contradicts(t) {
				return mqi.MQRC_MATCH_OPTIONS_ERROR
			}
		}
	}
	t.complete = o&mqi.MQGMO_COMPLETE_MSG != 0
	g.match = t
	return 0
}

// checkUOW refuses what the unit of work has no room for.
func (g *getting) checkUOW() mqi.RC {
	o := g.gmo.Options
	l := g.match.logical
	switch {
	case !g.browse && l != nil && l.inside() && l.sync != g.inWork(l.pers == mqi.MQPER_PERSISTENT):
		return mqi.MQRC_INCONSISTENT_UOW
	case g.browse || o&(mqi.MQGMO_SYNCPOINT|mqi.MQGMO_SYNCPOINT_IF_PERSISTENT) == 0:
		return 0
	case o&mqi.MQGMO_MARK_SKIP_BACKOUT != 0 && g.c.work != nil && g.c.work.skip != 0:
		return mqi.MQRC_SECOND_MARK_NOT_ALLOWED
	}
	return g.c.room(1)
}

// inWork reports whether the get is part of the connection's unit of work.
func (g *getting) inWork(pers bool) bool {
	o := g.gmo.Options
	return o&mqi.MQGMO_SYNCPOINT != 0 || o&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT != 0 && pers
}

// run looks, waits when asked to, and looks again, until there is an answer.
func (g *getting) run(ctx context.Context) ([]byte, int, error) {
	for {
		f, w, err := g.look()
		if err != nil {
			return nil, 0, err
		}
		if w != nil {
			if f, err = g.answered(g.waitFor(ctx, w)); err != nil {
				return nil, 0, err
			}
		}
		if f != nil {
			data, n, again, err := g.fetch(f)
			if !again {
				return data, n, err
			}
		}
		if rc := g.stopped(ctx); rc != 0 { // there may be many to look into, or to discard
			return nil, 0, g.ended(rc)
		}
	}
}

// stopped is why a get that looks into one message after the other, or discards them, is not to go on.
func (g *getting) stopped(ctx context.Context) mqi.RC {
	select {
	case <-g.c.broken:
		return g.c.end
	case <-ctx.Done():
		return mqi.MQRC_CONNECTION_BROKEN
	default:
		return 0
	}
}

// answered turns what a wait has ended with into a message; nil means look again.
func (g *getting) answered(r waitResult) (*found, error) {
	switch {
	case r.rc != 0:
		return nil, g.ended(r.rc)
	case r.look && r.slot == 0:
		return nil, nil
	case r.look:
		return g.shown(r), nil
	}
	return g.claimed(r), nil
}

func (g *getting) lookOnce(s *search, now time.Time) (*found, *waiter, mqi.RC) {
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	return g.lookLocked(s, now)
}

// look searches once. It returns a message, or a waiter that has been registered, or an error, or (after discarding
// expired messages) nothing.
func (g *getting) look() (*found, *waiter, error) {
	now := g.c.m.opt.Clock.Now()
	s := search{h: g.h, match: g.match, after: g.missed, now: now.UnixMilli()}
	if g.gmo.Options&mqi.MQGMO_MARK_BROWSE_CO_OP != 0 {
		g.markUntil = g.c.m.markEnd(now) // before the lock: the registry's comes first
	}
	f, w, rc := g.lookOnce(&s, now)
	if len(s.dead) > 0 {
		if err := g.c.m.discard(g.q, s.dead); err != nil && f == nil && w == nil {
			return nil, nil, storeReason("MQGET", g.h.name, err)
		}
	}
	if rc != 0 {
		return nil, nil, g.ended(rc)
	}
	return f, w, nil
}

func (g *getting) lookLocked(s *search, now time.Time) (*found, *waiter, mqi.RC) {
	q, o := g.q, g.gmo.Options
	switch {
	case q.dead:
		return nil, nil, mqi.MQRC_Q_DELETED
	case q.damaged:
		return nil, nil, mqi.MQRC_OBJECT_DAMAGED
	case q.cfg.Load().getInhibited:
		return nil, nil, mqi.MQRC_GET_INHIBITED
	}
	slot, rc := g.find(s)
	if rc != 0 {
		return nil, nil, rc
	}
	switch {
	case slot != 0 && g.match.certain() && g.spare.holds(q.slab.at(slot).flags):
		return nil, nil, rcHeld
	case slot != 0:
		return g.choose(s, slot), nil, 0
	case len(s.dead) > 0:
		return nil, nil, 0
	case g.match.byToken && g.match.unmarked && q.tokenMarked(s):
		return nil, nil, mqi.MQRC_MSG_MARKED_BROWSE_CO_OP
	case g.missed.set && q.served != g.seen && g.looksAgain(now):
		// While messages were looked into one by one, another became visible, perhaps before the place reached.
		g.missed = place{}
		return nil, nil, 0
	case o&mqi.MQGMO_WAIT == 0 || g.late(now):
		g.passedLock()
		return nil, nil, mqi.MQRC_NO_MSG_AVAILABLE
	case o&mqi.MQGMO_FAIL_IF_QUIESCING != 0 && g.c.quiescing() != 0:
		return nil, nil, g.c.quiescing()
	case g.h.check() != 0: // while it looked: nobody would end its wait
		return nil, nil, g.h.check()
	case g.h.res.aliasGet() != 0:
		return nil, nil, g.h.res.aliasGet()
	}
	g.passedLock()
	g.missed = place{}
	w := &waiter{h: g.h, match: g.match, quiet: o&mqi.MQGMO_FAIL_IF_QUIESCING != 0, kind: g.waitKind(),
		spare: g.spare, later: g.later}
	if g.parked != nil {
		g.parked.register(w)
	} else {
		w.ch = make(chan waitResult, 1)
	}
	q.wait.add(w)
	return nil, w, 0
}

// find is the place of the message under the cursor, or of the next one that fits; 0: there is none.
func (g *getting) find(s *search) (slot uint32, rc mqi.RC) {
	q, o := g.q, g.gmo.Options
	if o&(mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR) != 0 {
		if slot = q.underCursor(g.h, s.now); slot == 0 {
			return 0, mqi.MQRC_NO_MSG_UNDER_CURSOR
		}
		if p := q.parts.of(slot); g.match.complete && p.segment() && p.offset != 0 {
			return 0, mqi.MQRC_INVALID_MSG_UNDER_CURSOR
		} else if g.match.complete && !q.placeFits(s, slot) {
			return 0, mqi.MQRC_NO_MSG_AVAILABLE
		}
		return slot, 0
	}
	if !s.after.set {
		g.seen = q.served
		g.passes++
	}
	switch {
	case s.after.set && q.slab.valid(g.missedSlot, s.after.seq):
		s.from = g.missedSlot
	case o&mqi.MQGMO_BROWSE_NEXT != 0 && !s.after.set:
		s.after, s.from = g.h.cur.at, g.h.cur.slot
	}
	if g.match.byToken && g.missed.set { // behind the message that a token names there is no other
		return 0, 0
	}
	return q.find(s), 0
}

// passedLock gives up the lock that the handle holds: a browse has gone on from that message, though to no other.
func (g *getting) passedLock() {
	if g.gmo.Options&(mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_BROWSE_NEXT) != 0 {
		g.q.unlock(g.h)
	}
}

// looksAgain reports whether a get that has looked into all there was may do so once more.
func (g *getting) looksAgain(now time.Time) bool {
	if g.gmo.Options&mqi.MQGMO_WAIT != 0 {
		return !g.late(now)
	}
	return g.passes < maxPasses
}

// late reports whether the wait is over.
func (g *getting) late(now time.Time) bool { return !g.until.IsZero() && !now.Before(g.until) }

func (g *getting) waitKind() waitKind {
	switch t := g.match; {
	case g.browse:
		return waitBrowse
	case !t.plain():
		return waitLook
	case t.byMsg:
		return waitMsg
	case t.byCor:
		return waitCor
	}
	return waitAny
}

// choose notes the message, and hides it when it is to be taken. A message that will not be taken because the buffer
// is too small stays in sight, and so do one that must be looked into first and one that is left to others.
func (g *getting) choose(s *search, slot uint32) *found {
	q := g.q
	f := &found{slot: slot, e: *q.slab.at(slot)}
	if p := q.parts.of(slot); g.match.complete && p.segment() && p.offset == 0 {
		slots, _ := q.segments(s, p)
		for _, x := range slots[1:] {
			f.more = append(f.more, &found{slot: x, e: *q.slab.at(x)})
		}
	}
	if !g.browse && g.match.sure() && !g.spare.holds(f.e.flags) && !g.tooSmall(f.size()) {
		q.claimAll(f)
	}
	return f
}

func (q *Queue) claimAll(f *found) {
	f.claimed = true
	q.claim(f.slot)
	for _, x := range f.more {
		q.claim(x.slot)
	}
}

// moveTo does what a successful browse does to cursor, lock and marks.
func (h *handle) moveTo(q *Queue, f *found, o int32, markUntil int64) {
	slot := f.slot
	if o&mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR == 0 {
		q.standOn(h, slot)
	}
	if o&mqi.MQGMO_LOCK != 0 {
		q.setLock(h, f.all())
	} else if o&mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR == 0 {
		q.unlock(h)
	}
	if o&mqi.MQGMO_MARK_BROWSE_HANDLE != 0 {
		q.markHandle(h, slot)
	}
	if o&mqi.MQGMO_MARK_BROWSE_CO_OP != 0 {
		q.markCoop(slot, markUntil)
	}
}

// markEnd is when a cooperative mark made now runs out: after MARKINT; 0 never.
func (m *Manager) markEnd(now time.Time) int64 {
	d := m.qmgrDef()
	if d.Get("MARKINT") == "NOLIMIT" {
		return 0
	}
	return now.UnixMilli() + int64(numAttr(d, "MARKINT", 5000))
}

// tooSmall reports whether a message of n bytes stays because the buffer is too short and truncation is not accepted.
func (g *getting) tooSmall(n int) bool {
	return n > g.max && g.gmo.Options&mqi.MQGMO_ACCEPT_TRUNCATED_MSG == 0
}

// claimed turns a message that was claimed for a waiter into a found one. nil means: it does not fit, look again.
func (g *getting) claimed(r waitResult) *found {
	q := g.q
	defer q.dropLate()
	q.mu.Lock()
	defer q.mu.Unlock()
	f := &found{slot: r.slot, e: *q.slab.at(r.slot), claimed: true}
	if q.dead {
		q.unclaim(r.slot)
		return nil
	}
	if e := f.e.expire; e != 0 && e <= g.c.m.opt.Clock.Now().UnixMilli() { // since it was claimed
		q.unclaim(r.slot)
		return nil // the search that follows discards it
	}
	if g.tooSmall(f.size()) {
		q.unclaim(r.slot)
		f.e.flags &^= fClaimed
		f.claimed = false
	}
	return f
}

// shown is the message that has arrived for a get with a selector, which looks into it without a search of the queue. nil
// when it went to somebody else.
func (g *getting) shown(r waitResult) *found {
	q, now := g.q, g.c.m.opt.Clock.Now().UnixMilli()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.slab.valid(r.slot, r.seq) || !q.available(&search{h: g.h, match: g.match, now: now}, r.slot) {
		return nil
	}
	g.seen = r.seen // what came after it is to be looked for
	return &found{slot: r.slot, e: *q.slab.at(r.slot)}
}

// waitFor waits for the waiter's answer. Whatever ends the wait first, the waiter is out of the queue afterwards.
func (g *getting) waitFor(ctx context.Context, w *waiter) waitResult {
	var timer clock.Timer
	if !g.until.IsZero() {
		d := g.until.Sub(g.c.m.opt.Clock.Now())
		timer = g.c.m.opt.Clock.AfterFunc(d, func() { g.q.endWait(w, mqi.MQRC_NO_MSG_AVAILABLE) })
		defer timer.Stop()
	}
	if remark := g.unmarkTimer(w); remark != nil {
		defer remark.Stop()
	}
	why := mqi.RC(mqi.MQRC_CONNECTION_BROKEN)
	invariants.Blocking("waiting for a message")
	select {
	case r := <-w.ch:
		return r
	case <-ctx.Done():
	case <-g.c.broken:
		why = g.c.end
	}
	g.q.endWait(w, why)
	r := <-w.ch
	if g.abandon(r) {
		r = waitResult{rc: why}
	}
	return r
}

// abandon gives back what was claimed for a wait in its last moment: nobody would take it.
func (g *getting) abandon(r waitResult) bool {
	if r.slot == 0 || r.look {
		return false
	}
	g.q.under(func() {
		if g.q.slab.valid(r.slot, r.seq) {
			g.q.unclaim(r.slot)
		}
	})
	g.q.dropLate()
	return true
}

// unmarkTimer wakes a browser that waits for unmarked messages when the first cooperative mark runs out.
func (g *getting) unmarkTimer(w *waiter) clock.Timer {
	if !g.match.unmarked || !g.h.cooperates() {
		return nil
	}
	var first int64
	g.q.under(func() {
		for _, m := range g.q.coop {
			if m.until != 0 && (first == 0 || m.until < first) {
				first = m.until
			}
		}
	})
	if first == 0 {
		return nil
	}
	d := time.UnixMilli(first).Sub(g.c.m.opt.Clock.Now())
	return g.c.m.opt.Clock.AfterFunc(max(d, 0), func() {
		g.q.under(func() { g.q.wait.end(w, waitResult{look: true}) })
	})
}

// endWait ends a wait unless it has ended.
func (q *Queue) endWait(w *waiter, rc mqi.RC) {
	q.under(func() { q.wait.end(w, waitResult{rc: rc}) })
}
