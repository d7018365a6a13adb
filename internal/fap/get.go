package fap

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// get serves MQGET. While it waits, the client may end it from another conversation (SPI NOTIFY).
func (c *conv) get(m call, a wire.API, b *wire.Get) error {
	ctx, done := c.waiting(false)
	md, gmo := b.MD, b.GMO
	limit := c.k.link.Load().maxMsg
	body, total, err := c.conn.Get(ctx, a.Hobj, &md, &gmo, min(int(b.MaxLength), limit))
	woken := done()
	if c.ctx.Err() != nil && failed(err) {
		return c.ctx.Err() // the socket or the conversation ended: nobody waits for an answer
	}
	if failed(err) && woken != 0 {
		err = mqi.E("MQGET", gmo.ResolvedQName, woken)
	}
	if _, rc := mqi.Reason(err); rc == mqi.MQRC_TRUNCATED_MSG_FAILED && total > limit {
		err = mqi.E("MQGET", gmo.ResolvedQName, mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL)
	}
	c.doneGet(wire.MQGET)
	if failed(err) {
		body, total = nil, 0
	}
	md.Version, gmo.Version = b.MD.Version, b.GMO.Version
	r := &wire.GetReply{MD: md, GMO: gmo, DataLength: int32(total), Data: body}
	return c.reply(m.h, api(err, a.Hobj), r)
}

// waiting makes the context of a verb that may wait. done returns the reason with which the client ended it, or 0.
func (c *conv) waiting(stream bool) (ctx context.Context, done func() mqi.RC) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	c.stopIt, c.asides = cancel, stream
	switch {
	case stream && (len(c.in) > 0 || c.wakeStream != 0):
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gets == 0 {
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
