package qmgr

import (
	"context"
	"errors"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
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
	seen                    uint64 // Queue.served when the search from the start began
	passes                  int    // searches from the start
	markUntil               int64  // end of the cooperative mark that a browse makes
	missed                  place  // a message whose hash fitted but whose identifiers did not: go on behind it
}

// found is a message chosen under the queue's lock.
type found struct {
	slot uint32
	e    entry
}

// Get gets or browses a message (MQGET) into at most max bytes. It returns the data, cut to max when the message was
// longer (2079, 2080), and the message's full length. A completion with a warning is an *mqi.Error with CCWarning.
func (c *Conn) Get(ctx context.Context, hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int) (data []byte, n int, err error) {
	if err := c.begin("MQGET", ""); err != nil {
		return nil, 0, err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQGET", hobj)
	if err != nil {
		return nil, 0, err
	}
	defer func() { c.getDone(h, md, gmo, n, err) }()
	fail := func(rc mqi.RC) ([]byte, int, error) { return nil, 0, mqi.E("MQGET", h.name, rc) }
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
		return nil, 0, mqi.Warn("MQGET", h.name, warn)
	} else if done {
		return nil, 0, nil
	}
	t, rc := newMatch(md, gmo)
	if rc != 0 {
		return fail(rc)
	}
	if gmo.Options&(mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR) != 0 {
		t = &match{} // the cursor decides alone
	} else {
		t.unmarked = gmo.Options&mqi.MQGMO_UNMARKED_BROWSE_MSG != 0
		t.sel = h.sel
		if gmo.Options&mqi.MQGMO_LOGICAL_ORDER != 0 {
			t.logical = h.logicalPlace(gmo.Options)
		}
		t.whole = gmo.Options&mqi.MQGMO_ALL_MSGS_AVAILABLE != 0
	}
	g := &getting{c: c, h: h, q: h.queue, md: md, gmo: gmo, match: t, max: max, browse: gmo.Options&getBrowse != 0,
		wantCCSID: md.CodedCharSetID, wantEncoding: md.Encoding}
	if rc := g.checkUOW(); rc != 0 {
		return fail(rc)
	}
	return g.run(ctx)
}

// checkUOW refuses what the unit of work has no room for.
func (g *getting) checkUOW() mqi.RC {
	o := g.gmo.Options
	switch {
	case g.browse || o&(mqi.MQGMO_SYNCPOINT|mqi.MQGMO_SYNCPOINT_IF_PERSISTENT) == 0:
		return 0
	case o&mqi.MQGMO_MARK_SKIP_BACKOUT != 0 && g.c.work != nil && g.c.work.skip != 0:
		return mqi.MQRC_SECOND_MARK_NOT_ALLOWED
	}
	return g.c.room(1)
}

// run looks, waits when asked to, and looks again, until there is an answer.
func (g *getting) run(ctx context.Context) ([]byte, int, error) {
	if w := g.gmo.WaitInterval; w >= 0 {
		g.until = g.c.m.opt.Clock.Now().Add(time.Duration(w) * time.Millisecond)
	}
	for {
		f, w, err := g.look()
		if err != nil {
			return nil, 0, err
		}
		if w != nil {
			r := g.waitFor(ctx, w)
			switch {
			case r.rc != 0:
				return nil, 0, mqi.E("MQGET", g.h.name, r.rc)
			case r.look:
				continue
			}
			f = g.claimed(r)
		}
		if f == nil {
			continue
		}
		data, n, again, err := g.fetch(f)
		if !again {
			return data, n, err
		}
	}
}

// look searches once. It returns a message, or a waiter that has been registered, or an error, or (after discarding
// expired messages) nothing.
func (g *getting) look() (*found, *waiter, error) {
	now := g.c.m.opt.Clock.Now()
	s := search{h: g.h, match: g.match, after: g.missed, now: now.UnixMilli(), get: !g.browse,
		lock: g.gmo.Options&mqi.MQGMO_LOCK != 0}
	if g.gmo.Options&mqi.MQGMO_MARK_BROWSE_CO_OP != 0 {
		g.markUntil = g.c.m.markEnd(now) // before the lock: the registry's comes first
	}
	g.q.mu.Lock()
	f, w, rc := g.lookLocked(&s, now)
	g.q.mu.Unlock()
	if len(s.dead) > 0 {
		if err := g.c.m.discard(g.q, s.dead); err != nil && f == nil && w == nil {
			return nil, nil, storeReason("MQGET", g.h.name, err)
		}
	}
	if rc != 0 {
		return nil, nil, mqi.E("MQGET", g.h.name, rc)
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
	var slot uint32
	switch {
	case o&(mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR) != 0:
		if slot = q.underCursor(g.h, s.now); slot == 0 {
			return nil, nil, mqi.MQRC_NO_MSG_UNDER_CURSOR
		}
	default:
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
		slot = q.find(s)
	}
	switch {
	case slot != 0:
		return g.choose(slot), nil, 0
	case len(s.dead) > 0:
		return nil, nil, 0
	case g.missed.set && q.served != g.seen && (o&mqi.MQGMO_WAIT != 0 || g.passes < maxPasses):
		// While messages were looked into one by one, another became visible, perhaps before the place reached.
		g.missed = place{}
		return nil, nil, 0
	case o&mqi.MQGMO_WAIT == 0 || !g.until.IsZero() && !now.Before(g.until):
		return nil, nil, mqi.MQRC_NO_MSG_AVAILABLE
	case o&mqi.MQGMO_FAIL_IF_QUIESCING != 0 && g.c.m.rt.quiescing.Load():
		return nil, nil, mqi.MQRC_Q_MGR_QUIESCING
	}
	g.missed = place{}
	w := &waiter{h: g.h, match: g.match, quiet: o&mqi.MQGMO_FAIL_IF_QUIESCING != 0, ch: make(chan waitResult, 1),
		kind: g.waitKind()}
	q.wait.add(w)
	return nil, w, 0
}

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
// is too small stays in sight, and so does one that must be looked into first.
func (g *getting) choose(slot uint32) *found {
	q := g.q
	f := &found{slot: slot, e: *q.slab.at(slot)}
	switch {
	case !g.browse:
		if g.match.plain() && !g.tooSmall(int(f.e.size)) {
			q.claim(slot)
		}
	case g.tooSmall(int(f.e.size)) && g.gmo.Options&mqi.MQGMO_BROWSE_FIRST != 0:
		q.setCursor(g.h, cursor{})
	}
	return f
}

// moveTo does what a successful browse does to cursor, lock and marks.
func (h *handle) moveTo(q *Queue, slot uint32, o int32, markUntil int64) {
	if o&mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR == 0 {
		q.standOn(h, slot)
	}
	if o&mqi.MQGMO_LOCK != 0 {
		q.setLock(h, slot)
	} else if h.lock.set && o&mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR == 0 {
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
	q.mu.Lock()
	defer q.mu.Unlock()
	f := &found{slot: r.slot, e: *q.slab.at(r.slot)}
	if q.dead {
		q.slab.at(r.slot).flags &^= fClaimed
		q.unlink(r.slot)
		return nil
	}
	if g.tooSmall(int(f.e.size)) {
		q.unclaim(r.slot)
		f.e.flags &^= fClaimed
	}
	return f
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
	select {
	case r := <-w.ch:
		return r
	case <-ctx.Done():
	case <-g.c.broken:
	}
	g.q.endWait(w, mqi.MQRC_CONNECTION_BROKEN)
	r := <-w.ch
	if r.slot != 0 { // claimed in the last moment: nobody would take it
		g.q.mu.Lock()
		if g.q.slab.valid(r.slot, r.seq) {
			g.q.unclaim(r.slot)
		}
		g.q.mu.Unlock()
		r = waitResult{rc: mqi.MQRC_CONNECTION_BROKEN}
	}
	return r
}

// unmarkTimer wakes a browser that waits for unmarked messages when the first cooperative mark runs out.
func (g *getting) unmarkTimer(w *waiter) clock.Timer {
	if !g.match.unmarked || !g.h.cooperates() {
		return nil
	}
	g.q.mu.Lock()
	first := int64(0)
	for _, m := range g.q.coop {
		if m.until != 0 && (first == 0 || m.until < first) {
			first = m.until
		}
	}
	g.q.mu.Unlock()
	if first == 0 {
		return nil
	}
	d := time.UnixMilli(first).Sub(g.c.m.opt.Clock.Now())
	return g.c.m.opt.Clock.AfterFunc(max(d, 0), func() {
		g.q.mu.Lock()
		g.q.wait.end(w, waitResult{look: true})
		g.q.mu.Unlock()
	})
}

// endWait ends a wait unless it has ended.
func (q *Queue) endWait(w *waiter, rc mqi.RC) {
	q.mu.Lock()
	q.wait.end(w, waitResult{rc: rc})
	q.mu.Unlock()
}

// fetch reads the chosen message and takes it. again means that it turned out not to be the one.
func (g *getting) fetch(f *found) (data []byte, n int, again bool, err error) {
	rec, err := g.c.m.opt.Store.Read(g.q.qid, f.e.seq, f.e.loc)
	var head *msgHead
	if err == nil {
		head, err = decodeHead(rec.Head)
	}
	taking := !g.browse && !g.tooSmall(int(f.e.size))
	claimed := taking && g.match.plain()
	switch {
	case errors.Is(err, store.ErrNotFound) && !claimed && !g.still(f): // gone in the meantime
		return nil, 0, true, nil
	case err != nil:
		g.giveUp(f, claimed)
		if errors.Is(err, errHead) {
			return nil, 0, false, mqi.Wrap("MQGET", g.h.name, mqi.MQRC_OBJECT_DAMAGED, err)
		}
		return nil, 0, false, storeReason("MQGET", g.h.name, err)
	case !g.match.accepts(&head.md) || !g.match.selects(head, rec.Body) || !g.groupThere(&head.md):
		g.missed, g.missedSlot = place{prio: f.e.prio, seq: f.e.seq, set: true}, f.slot
		g.giveUp(f, claimed)
		return nil, 0, true, nil
	case taking && !claimed && !g.claimNow(f), g.browse && !g.tooSmall(int(f.e.size)) && !g.moveNow(f):
		return nil, 0, true, nil // somebody else was faster
	}
	if taking {
		if err := g.take(f, rec, head); err != nil {
			return nil, 0, false, err
		}
	}
	if g.match.logical != nil && !g.tooSmall(int(f.e.size)) {
		g.match.logical.got(&head.md)
	}
	data, n, err = g.deliver(f, head, rec.Body)
	return data, n, false, err
}

// still reports whether the message is where it was found.
func (g *getting) still(f *found) bool {
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	return g.q.slab.valid(f.slot, f.e.seq) && g.q.slab.at(f.slot).flags&hidden == 0
}

// claimNow claims a message that has been looked into, unless it went to somebody else meanwhile.
func (g *getting) claimNow(f *found) bool {
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	if !g.q.slab.valid(f.slot, f.e.seq) {
		return false
	}
	e := g.q.slab.at(f.slot)
	if e.flags&hidden != 0 || e.flags&fLocked != 0 && e.owner != g.h.id {
		return false
	}
	g.q.claim(f.slot)
	return true
}

// moveNow puts the cursor on a message that has been looked into, with the lock and marks that were asked for, unless it
// went to somebody else meanwhile.
func (g *getting) moveNow(f *found) bool {
	q, o := g.q, g.gmo.Options
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.slab.valid(f.slot, f.e.seq) {
		return false
	}
	e := q.slab.at(f.slot)
	if e.flags&hidden != 0 || o&mqi.MQGMO_LOCK != 0 && e.flags&fLocked != 0 && e.owner != g.h.id ||
		g.match.unmarked && q.marked(g.h, f.slot, g.c.m.opt.Clock.Now().UnixMilli()) {
		return false
	}
	g.h.moveTo(q, f.slot, o, g.markUntil)
	return true
}

// giveUp returns a message that was claimed in vain.
func (g *getting) giveUp(f *found, claimed bool) {
	if !claimed {
		return
	}
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	g.q.unclaim(f.slot)
	g.seen++ // the message served just now is no news
}

// take removes the message, in the connection's unit of work or durably at once.
func (g *getting) take(f *found, rec store.Rec, head *msgHead) error {
	o := g.gmo.Options
	pers := f.e.flags&fPersistent != 0
	inWork := o&mqi.MQGMO_SYNCPOINT != 0 || o&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT != 0 && pers
	reports := g.c.m.deliveryReports(head, rec.Body)
	u := &uow{}
	if inWork {
		if rc := g.c.room(1 + len(reports)); rc != 0 {
			g.giveUp(f, true)
			return mqi.E("MQGET", g.h.name, rc)
		}
		u = g.c.begun()
		u.n += 1 + len(reports)
	}
	g.q.mu.Lock()
	g.q.take(f.slot, g.c.num)
	g.q.stats.get(g.c.m.opt.Clock.Now(), head.putNanos)
	fx := g.q.departed(g.c.m.opt.Clock.Now())
	g.q.mu.Unlock()
	g.c.m.afterGet(g.q, &fx)
	u.get(getRef{q: g.q, slot: f.slot, seq: f.e.seq, pers: pers, head: rec.Head, back: head.md.BackoutCount})
	for _, r := range reports {
		g.c.m.sendReport(u, r)
	}
	if inWork {
		if o&mqi.MQGMO_MARK_SKIP_BACKOUT != 0 {
			u.skip = len(u.gets)
		}
		return nil
	}
	return storeReason("MQGET", g.h.name, g.c.m.commit(u))
}

// deliver fills what the caller gets.
func (g *getting) deliver(f *found, head *msgHead, body []byte) ([]byte, int, error) {
	now := g.c.m.opt.Clock.Now()
	version := g.md.Version
	*g.md = head.md
	g.md.Version = version
	g.md.Expiry = expiryLeft(now, head.expire)
	if version < 2 {
		g.md.GroupID, g.md.MsgSeqNumber, g.md.Offset, g.md.MsgFlags, g.md.OriginalLength = mqi.ID{}, 1, 0, 0, -1
	}
	if g.h.opts&mqi.MQOO_SAVE_ALL_CONTEXT != 0 {
		g.h.saved = &savedContext{md: head.md, valid: !g.browse}
	}
	g.fillGMO(f, head)
	body = g.showProps(head, body)
	if len(body) > g.max {
		if g.tooSmall(len(body)) {
			return body[:g.max], len(body), mqi.Warn("MQGET", g.h.name, mqi.MQRC_TRUNCATED_MSG_FAILED)
		}
		return body[:g.max], len(body), mqi.Warn("MQGET", g.h.name, mqi.MQRC_TRUNCATED_MSG_ACCEPTED)
	}
	if g.gmo.Options&mqi.MQGMO_CONVERT != 0 {
		out, rc := mqi.Convert(g.md, body, mqi.Coding{Encoding: g.wantEncoding, CCSID: g.wantCCSID}, g.max)
		if rc != 0 {
			return out, len(out), mqi.Warn("MQGET", g.h.name, rc)
		}
		body = out
	}
	return body, len(body), nil
}

func (g *getting) fillGMO(f *found, head *msgHead) {
	gmo, flags := g.gmo, head.md.MsgFlags
	gmo.ResolvedQName = g.q.obj.Name
	if gmo.Version >= 2 {
		gmo.GroupStatus, gmo.SegmentStatus, gmo.Segmentation = mqi.MQGS_NOT_IN_GROUP, mqi.MQSS_NOT_A_SEGMENT,
			mqi.MQSEG_INHIBITED
		switch {
		case flags&mqi.MQMF_LAST_MSG_IN_GROUP != 0:
			gmo.GroupStatus = mqi.MQGS_LAST_MSG_IN_GROUP
		case flags&mqi.MQMF_MSG_IN_GROUP != 0:
			gmo.GroupStatus = mqi.MQGS_MSG_IN_GROUP
		}
		switch {
		case flags&mqi.MQMF_LAST_SEGMENT != 0:
			gmo.SegmentStatus = mqi.MQSS_LAST_SEGMENT
		case flags&mqi.MQMF_SEGMENT != 0:
			gmo.SegmentStatus = mqi.MQSS_SEGMENT
		}
		if flags&mqi.MQMF_SEGMENTATION_ALLOWED != 0 {
			gmo.Segmentation = mqi.MQSEG_ALLOWED
		}
	}
	if gmo.Version >= 3 {
		gmo.MsgToken = makeToken(g.q.qid, f.slot, f.e.seq)
		gmo.ReturnedLength = int32(min(int(f.e.size), g.max))
	}
}
