package fap

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// get serves MQGET. While it waits, the client may end it from another conversation (SPI NOTIFY). served is false when it would
// have to wait in a goroutine, and this is not the conversation's.
func (c *conv) get(m call, a wire.API, b *wire.Get) (served bool, err error) {
	if c.waiter != nil {
		if served, err := c.getHeld(m, a, b); served || err != nil {
			return served, err
		}
	}
	if !c.mayWait() {
		return false, nil
	}
	return true, c.getHere(m, a, b)
}

// getRoom is how much of a message an MQGET wants.
func (c *conv) getRoom(b *wire.Get) int { return min(int(b.MaxLength), c.k.link.Load().maxMsg) }

// getHere waits in this goroutine.
func (c *conv) getHere(m call, a wire.API, b *wire.Get) error {
	ctx, done := c.waiting(false)
	md, gmo := b.MD, b.GMO
	limit := c.getRoom(b)
	body, total, err := c.conn.Get(ctx, a.Hobj, &md, &gmo, limit)
	woken := done()
	g := heldGet{h: m.h, hobj: a.Hobj, max: limit, md: md, gmo: gmo, mdVersion: b.MD.Version, gmoVersion: b.GMO.Version}
	return c.answerGet(&g, body, total, woken, err)
}

// answerGet sends what a get has come to. woken is the reason with which the client ended it, or 0.
func (c *conv) answerGet(g *heldGet, body []byte, total int, woken mqi.RC, err error) error {
	if c.ctx.Err() != nil && failed(err) {
		return c.ctx.Err() // the socket or the conversation ended: nobody waits for an answer
	}
	if failed(err) && woken != 0 {
		err = mqi.E("MQGET", g.gmo.ResolvedQName, woken)
	}
	if _, rc := mqi.Reason(err); rc == mqi.MQRC_TRUNCATED_MSG_FAILED && total > c.k.link.Load().maxMsg {
		err = mqi.E("MQGET", g.gmo.ResolvedQName, mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL)
	}
	c.doneGet(wire.MQGET)
	if failed(err) {
		body, total = nil, 0
	}
	if len(body) > g.max {
		body = body[:max(g.max, 0)] // of one that stays
	}
	if n := min(total, g.max); len(body) < n { // a character that had no room: the rest of the buffer is zeros
		body = append(make([]byte, 0, n), body...)[:n]
	}
	r := &c.getReply
	*r = wire.GetReply{MD: g.md, GMO: g.gmo, DataLength: int32(total), Data: body}
	r.MD.Version, r.GMO.Version = g.mdVersion, g.gmoVersion
	err = c.reply(g.h, api(err, g.hobj), r)
	r.Data = nil
	return err
}

// heldGet is an MQGET that waits without a goroutine.
type heldGet struct {
	wait                  Wait
	active                bool
	state                 WaitState
	h                     wire.Header
	hobj                  int32
	max                   int // bytes that are wanted
	md                    mqi.MD
	gmo                   mqi.GMO
	mdVersion, gmoVersion int32
}

// mayWait reports whether the owner is the conversation's own goroutine.
func (c *conv) mayWait() bool { return c.turn == &c.mine }

// getHeld starts a get that needs no goroutine while it waits. served is false when it is not of that kind.
func (c *conv) getHeld(m call, a wire.API, b *wire.Get) (served bool, err error) {
	g := &c.held1
	if g.wait == nil {
		g.wait = c.waiter.NewWait(&waker{c: c})
	}
	g.h, g.hobj, g.max = m.h, a.Hobj, c.getRoom(b)
	g.md, g.gmo, g.mdVersion, g.gmoVersion = b.MD, b.GMO, b.MD.Version, b.GMO.Version
	body, total, s, err := g.wait.Get(a.Hobj, &g.md, &g.gmo, g.max)
	if s == Unfit {
		return false, nil
	}
	return true, c.goOn(body, total, s, err)
}

// goOn takes the get that is held as far as it goes now.
func (c *conv) goOn(body []byte, total int, s WaitState, err error) error {
	g := &c.held1
	if s == Blocks && c.blocks {
		c.turn.flush()
		c.waitDisk(func() { body, total, s, err = g.wait.Finish(true) })
	}
	g.state = s
	c.mu.Lock()
	woken := c.wake
	if s == Waits && woken != 0 {
		c.mu.Unlock()
		g.wait.Cancel()
		err = mqi.E("MQGET", g.gmo.ResolvedQName, woken)
		s = Over
		c.mu.Lock()
	}
	c.held = s != Over
	c.kicked = c.kicked || s == Blocks
	c.mu.Unlock()
	if was := g.active; was != (s != Over) {
		g.active = !was
		c.countWait(g.active)
	}
	if s != Over {
		return nil
	}
	return c.answerGet(g, body, total, woken, err)
}

// resumeGet looks at the get that is held.
func (c *conv) resumeGet() error {
	g := &c.held1
	if !g.active {
		return nil
	}
	if g.state == Blocks {
		return c.goOn(nil, 0, Blocks, nil)
	}
	body, total, s, err := g.wait.Resume()
	return c.goOn(body, total, s, err)
}

// countWait keeps the number of waits that an unshared client is to be told about.
func (c *conv) countWait(more bool) {
	n := 1
	if !more {
		n = -1
	}
	c.waitsNow += n
	c.k.waits.Add(int32(n))
}

// waiting makes the context of a verb that may wait. done returns the reason with which the client ended it, or 0.
func (c *conv) waiting(stream bool) (ctx context.Context, done func() mqi.RC) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	c.stopIt, c.asides = cancel, stream
	switch {
	case stream && (len(c.in) > 0 || c.kicked || c.wakeStream != 0):
		cancel(errMoved)
	case !stream && c.wake != 0:
		cancel(errWoken)
	}
	c.mu.Unlock()
	c.k.waits.Add(1)
	return ctx, func() mqi.RC {
		c.k.waits.Add(-1)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stopIt, c.asides = nil, false
		cancel(nil)
		if stream {
			return 0
		}
		return c.wake
	}
}

// doneGet notes that a get has been answered.
func (c *conv) doneGet(t wire.Type) {
	if t != wire.MQGET {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gets--
	c.wake = 0
}

// wakeGet ends the get that waits, or that has arrived and will begin; a streamed one when there is no other.
func (c *conv) wakeGet(rc mqi.RC) {
	defer c.kick()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.gets == 0 && rc == mqi.MQRC_NO_MSG_AVAILABLE:
		return // it was for an MQGET, which has its answer: no stream ends for want of a message
	case c.gets == 0:
		c.wakeStream, c.wakeUpTo = rc, c.reqs
		if c.stopIt != nil && c.asides {
			c.stopIt(errWoken)
		}
		select {
		case c.poke <- struct{}{}:
		default:
		}
		return
	}
	c.wake = rc
	if c.stopIt != nil && !c.asides {
		c.stopIt(errWoken)
	}
}
