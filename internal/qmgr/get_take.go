package qmgr

import (
	"context"
	"errors"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// The second half of MQGET: a message that was chosen is read, looked into, taken and given to the caller.

// readMsg is a message that was read: of several segments the first one's head, and all of their data.
type readMsg struct {
	head *msgHead
	recs []store.Rec // of each part
	body []byte
	warn mqi.RC
	one  [1]store.Rec
}

// fetch reads the chosen message and takes it. again means that it turned out not to be the one.
func (g *getting) fetch(f *found) (data []byte, n int, again bool, err error) {
	over := false
	defer func() {
		if !over { // a panic: what was claimed and not taken is somebody else's
			g.giveUp(f)
		}
	}()
	data, n, again, err = g.fetched(f)
	over = true
	return data, n, again, err
}

func (g *getting) fetched(f *found) (data []byte, n int, again bool, err error) {
	msg, err := g.read(f)
	switch {
	case errors.Is(err, store.ErrNotFound) && !f.claimed && !g.still(f): // gone in the meantime
		return nil, 0, true, nil
	case err != nil:
		if errors.Is(err, errHead) || errors.Is(err, store.ErrCorrupt) {
			g.setAside(f, err)
		}
		g.giveUp(f)
		if errors.Is(err, store.ErrNotFound) && g.q.isDead() { // deleted since the message was chosen
			return nil, 0, false, mqi.E("MQGET", g.h.name, mqi.MQRC_Q_DELETED)
		}
		if errors.Is(err, errHead) {
			return nil, 0, false, mqi.Wrap("MQGET", g.h.name, mqi.MQRC_OBJECT_DAMAGED, err)
		}
		return nil, 0, false, storeReason("MQGET", g.h.name, err)
	case !g.match.accepts(&msg.head.md) || !g.match.selects(msg.head, msg.body):
		g.missed, g.missedSlot = place{prio: f.e.prio, seq: f.e.seq, set: true}, f.slot
		g.giveUp(f)
		return nil, 0, true, nil
	}
	if g.spare.holds(f.e.flags) { // of those that had to be looked into
		g.giveUp(f)
		return nil, 0, false, ErrHeld
	}
	out := g.shape(msg.head, msg.body)
	fits := !g.tooSmall(len(out.data))
	switch {
	case !fits:
		g.leave(f)
	case !g.browse && !f.claimed && !g.claimNow(f), g.browse && !g.moveNow(f):
		return nil, 0, true, nil // somebody else was faster
	}
	if fits && !g.browse {
		if err := g.take(f, msg); err != nil {
			return nil, 0, false, err
		}
	}
	data, n, err = g.give(f, fits)
	return data, n, false, err
}

// give gives the caller the message that is in msg and out.
func (g *getting) give(f *found, fits bool) ([]byte, int, error) {
	warn := g.moveOn(&g.msg, fits)
	data, n, err := g.deliver(f, &g.msg, &g.out)
	if err == nil && warn != 0 {
		err = mqi.Warn("MQGET", g.h.name, warn)
	}
	return data, n, err
}

// read reads all parts of a message.
func (g *getting) read(f *found) (*readMsg, error) {
	msg := &g.msg
	*msg = readMsg{}
	msg.recs = msg.one[:0]
	for i, x := range f.all() {
		rec, err := g.c.m.opt.Store.Read(g.q.qid, x.e.seq, store.Loc{})
		if err != nil {
			return nil, err
		}
		head, err := g.decode(rec.Head, i)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			msg.head, msg.body = head, rec.Body
		} else if msg.warn = unlike(&msg.head.md, &head.md); msg.warn != 0 {
			g.cutOff(f, i)
			break
		} else {
			if i == 1 {
				msg.body = append(make([]byte, 0, f.size()), msg.body...)
			}
			msg.body = append(msg.body, rec.Body...)
		}
		msg.recs = append(msg.recs, rec)
	}
	if msg.warn == 0 && len(f.more) > 0 {
		msg.head.joined()
	}
	return msg, nil
}

// joined is for the head of the first of several segments that are given as one: that is the only segment.
func (h *msgHead) joined() { h.md.MsgFlags |= segmentFlags }

// decode is decodeHead of the nth part. A place for gets has two heads, in turn: what a message has in common with the one before
// is not made again.
func (g *getting) decode(b []byte, n int) (*msgHead, error) {
	if g.parked == nil || n > 0 {
		return decodeHead(b)
	}
	pair := &g.parked.heads
	pair[0], pair[1] = pair[1], pair[0]
	if pair[0] == nil {
		pair[0] = &msgHead{}
	}
	return pair[0], pair[0].decode(b, true, pair[1])
}

// unlike is the reason why a segment cannot be joined to the first one.
func unlike(first, md *mqi.MD) mqi.RC {
	switch {
	case first.CodedCharSetID != md.CodedCharSetID:
		return mqi.MQRC_INCONSISTENT_CCSIDS
	case first.Encoding != md.Encoding:
		return mqi.MQRC_INCONSISTENT_ENCODINGS
	}
	return 0
}

// cutOff gives back the segments from the nth on: those before are what the getter gets.
func (g *getting) cutOff(f *found, n int) {
	rest := f.more[n-1:]
	f.more = f.more[:n-1]
	if !f.claimed {
		return
	}
	defer g.q.dropLate()
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	for _, x := range rest {
		g.q.unclaim(x.slot)
	}
}

// still reports whether the message is where it was found.
func (g *getting) still(f *found) bool {
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	for _, x := range f.all() {
		if !g.q.slab.valid(x.slot, x.e.seq) || g.q.slab.at(x.slot).flags&hidden != 0 {
			return false
		}
	}
	return true
}

// claimNow claims a message that has been looked into, unless it went to somebody else meanwhile.
func (g *getting) claimNow(f *found) bool {
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	for _, x := range f.all() {
		if !g.q.slab.valid(x.slot, x.e.seq) {
			return false
		}
		e := g.q.slab.at(x.slot)
		if e.flags&hidden != 0 || e.flags&fLocked != 0 && e.owner != g.h.id {
			return false
		}
	}
	g.q.claimAll(f)
	return true
}

// moveNow puts the cursor on a message that has been looked into, with the lock and marks that were asked for, unless it
// went to somebody else meanwhile.
func (g *getting) moveNow(f *found) bool {
	q, o := g.q, g.gmo.Options
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, x := range f.all() {
		if !q.slab.valid(x.slot, x.e.seq) {
			return false
		}
		e := q.slab.at(x.slot)
		if e.flags&hidden != 0 || e.flags&fLocked != 0 && e.owner != g.h.id {
			return false
		}
	}
	if g.match.unmarked && q.marked(g.h, f.slot, g.c.m.opt.Clock.Now().UnixMilli()) {
		return false
	}
	g.h.moveTo(q, f, o, g.markUntil)
	return true
}

// leave lets a message stay that does not fit. A browse of the first then stands before it.
func (g *getting) leave(f *found) {
	g.giveUp(f)
	if g.browse && g.gmo.Options&mqi.MQGMO_BROWSE_FIRST != 0 {
		g.q.under(func() { g.q.setCursor(g.h, cursor{}) })
	}
}

// giveUp returns a message that was claimed in vain.
func (g *getting) giveUp(f *found) {
	if !f.claimed {
		return
	}
	defer g.q.dropLate()
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	for _, x := range f.all() {
		g.q.unclaim(x.slot)
		g.seen++ // the message served just now is no news
	}
	f.claimed = false
}

// take removes the message, in the connection's unit of work or durably at once.
func (g *getting) take(f *found, msg *readMsg) error {
	parts := f.all()
	head := msg.head
	inWork := g.inWork(f.e.flags&fPersistent != 0)
	reports := g.c.m.deliveryReports(head, msg.body)
	n := len(parts) + len(reports)
	if n == 1 && !inWork && f.e.flags&fPersistent == 0 {
		return g.takeNow(f, head)
	}
	u := &uow{}
	if inWork {
		if rc := g.c.room(n); rc != 0 {
			g.giveUp(f)
			return mqi.E("MQGET", g.h.name, rc)
		}
		u = g.c.begun()
		u.n += n
	} else if len(parts) > 1 && f.e.flags&fPersistent != 0 && g.c.work != nil {
		g.giveUp(f) // persistent segments need a unit of work of their own
		return mqi.E("MQGET", g.h.name, mqi.MQRC_UOW_NOT_AVAILABLE)
	}
	if !inWork {
		defer g.c.m.leftover(u)
	}
	now := g.c.m.opt.Clock.Now()
	var room [1]getRef
	refs := room[:0]
	for i, x := range parts {
		h := head
		if i > 0 {
			var err error
			if h, err = decodeHead(msg.recs[i].Head); err != nil {
				h = head // read a moment ago: it can be read
			}
		}
		refs = append(refs, getRef{q: g.q, slot: x.slot, seq: x.e.seq, pers: x.e.flags&fPersistent != 0, head: msg.recs[i].Head,
			back: h.md.BackoutCount})
	}
	fx := g.leaves(now, head, parts...)
	for _, ref := range refs {
		u.get(ref)
	}
	g.c.m.afterGet(g.q, &fx)
	for _, r := range reports {
		g.c.m.sendReport(u, r)
	}
	if inWork {
		if g.gmo.Options&mqi.MQGMO_MARK_SKIP_BACKOUT != 0 {
			u.skip, u.skipN = len(u.gets)-len(parts)+1, len(parts)
		}
		return nil
	}
	if w := g.parked; w != nil && w.late.allowed && n == 1 {
		return w.settle(f, u)
	}
	return storeReason("MQGET", g.h.name, g.c.m.commit(u))
}

// leaves takes the parts of a message from the queue, and returns what follows from that.
func (g *getting) leaves(now time.Time, head *msgHead, parts ...*found) outcome {
	g.q.mu.Lock()
	defer g.q.mu.Unlock()
	for _, x := range parts {
		g.q.take(x.slot, g.c.num)
	}
	parts[0].claimed = false
	g.q.stats.get(now, head.putNanos)
	return g.q.departed(now)
}

// takeNow is take of a nonpersistent message outside syncpoint.
func (g *getting) takeNow(f *found, head *msgHead) error {
	q, m := g.q, g.c.m
	now := m.opt.Clock.Now()
	fx := g.leaves(now, head, f)
	over := false
	defer func() {
		if !over { // a panic
			m.giveBackOne(q, f)
		}
	}()
	m.afterGet(q, &fx)
	var tx store.Tx
	tx.Remove(q.qid, f.e.seq, false)
	err := m.opt.Store.Submit(&tx).Wait(context.Background()) // it is over: nothing of it meets the disk
	over = true
	m.noteStore(nil, err)
	if err != nil {
		m.giveBackOne(q, f)
		return storeReason("MQGET", g.h.name, err)
	}
	q.under(func() { q.remove(f.slot) })
	return nil
}

func (m *Manager) giveBackOne(q *Queue, f *found) {
	u := &uow{}
	u.get(getRef{q: q, slot: f.slot, seq: f.e.seq})
	m.giveBack(u)
}

// moveOn moves the handle's place in logical order behind the message. It returns a warning when the message was not got in
// the order that was begun.
func (g *getting) moveOn(msg *readMsg, fits bool) mqi.RC {
	l := g.match.logical
	if l == nil {
		switch {
		case msg.warn != 0:
			return msg.warn
		case g.browse:
			return g.h.browseGroup.unfinished()
		case !g.h.getGroup.inside():
			return 0
		}
		md := msg.head.md
		md.Persistence = g.h.getGroup.pers // a get takes what is there
		return g.h.getGroup.astray(&md, g.inWork(msg.head.md.Persistence == mqi.MQPER_PERSISTENT))
	}
	if !fits {
		return msg.warn
	}
	md := &msg.head.md
	sync := g.inWork(md.Persistence == mqi.MQPER_PERSISTENT)
	if sync && !g.browse {
		g.c.begun().remember(l)
	}
	p := part{group: md.GroupID, seq: md.MsgSeqNumber, offset: md.Offset, flags: md.MsgFlags, size: int32(len(msg.body))}
	l.got(&p, md.Persistence, sync)
	return msg.warn
}

// deliver fills what the caller gets.
func (g *getting) deliver(f *found, msg *readMsg, out *shaped) ([]byte, int, error) {
	*g.md = out.md
	if g.h.opts&mqi.MQOO_SAVE_ALL_CONTEXT != 0 && !g.tooSmall(len(out.data)) {
		g.h.saved = &savedContext{md: msg.head.md, valid: !g.browse}
	}
	body, n := out.data, len(out.data)
	g.fillGMO(f, msg.head)
	if g.tooSmall(n) {
		if !g.c.opt.Whole {
			body = body[:g.max]
		}
		g.returned(min(n, g.max))
		return body, n, mqi.Warn("MQGET", g.h.name, mqi.MQRC_TRUNCATED_MSG_FAILED)
	}
	out.keep()
	var rc mqi.RC
	if n > g.max {
		body, rc = body[:g.max], mqi.MQRC_TRUNCATED_MSG_ACCEPTED
	}
	if g.gmo.Options&mqi.MQGMO_CONVERT != 0 && len(body) > 0 {
		body, n, rc = g.convert(body, n)
	}
	g.returned(len(body))
	if rc != 0 {
		return body, n, mqi.Warn("MQGET", g.h.name, rc)
	}
	return body, n, nil
}

// convert is MQGMO_CONVERT of what the getter gets of a message of n bytes.
func (g *getting) convert(body []byte, n int) ([]byte, int, mqi.RC) {
	to := mqi.Coding{Encoding: g.wantEncoding, CCSID: g.wantCCSID}
	if g.gmo.Options&mqi.MQGMO_ACCEPT_TRUNCATED_MSG == 0 {
		out, rc := mqi.Convert(g.md, body, to, g.max)
		return out, len(out), rc
	}
	cut := n > len(body)
	out, length, rc := mqi.ConvertTruncated(g.md, body, to, g.max, cut)
	if !cut {
		n = length
	}
	return out, n, rc
}

// returned tells how many bytes the getter gets.
func (g *getting) returned(n int) {
	if g.gmo.Version >= 3 {
		g.gmo.ReturnedLength = int32(n)
	}
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
	}
}
