package fap

import (
	"bytes"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// Puts that stand one behind the other in the read buffer are served in one go, so that publications among them go out together.

// putNow serves MQPUT in the reader, and the puts without answer that follow one and can be gathered or repeated.
func (c *conv) putNow(m call) (served bool, err error) {
	var next call
	size, follows := 0, false
	if c.gatherer != nil {
		next, size, follows = c.following()
	}
	if !follows {
		_, served, err = c.putOne(m, c.blocks)
		return served, err
	}
	c.gatherer.Gather()
	hobj, served, err := c.putOne(m, false)
	for follows && served && err == nil && (c.again || c.gatherer.Gathered() > 0) {
		m = next
		c.k.takePut(m, size)
		c.turn.follow = c.gatherer.Gathered() >= followFrom // the next one may find no room and send them
		if hobj, served, err = c.putOne(m, false); !served && err == nil {
			c.sendGathered(hobj)
			return true, c.queue(m)
		}
		next, size, follows = c.following()
	}
	c.sendGathered(hobj)
	return served, err
}

// putAgain serves an MQPUT as the one before it, if it differs from that in nothing but its data.
func (c *conv) putAgain(m call) (hobj int32, served bool) {
	if !c.again {
		return 0, false
	}
	if m.h.Req = c.putHead.Req; m.h != c.putHead {
		return 0, false
	}
	hobj, data, ok := c.puts.Again(m.body)
	if !ok || len(data) > c.k.link.Load().maxMsg {
		return 0, false
	}
	c.taker = nil
	if !c.repeater.PutAgain(c, data) {
		return 0, false
	}
	c.overtaken(hobj)
	return hobj, true
}

// sendGathered ends what putNow began.
func (c *conv) sendGathered(hobj int32) {
	n := c.gatherer.Gathered()
	c.turn.follow = n >= followFrom
	_ = c.gatherer.Deliver(c)
	c.turn.follow = false
	if n == 0 {
		return
	}
	c.runWoken()
	c.flow.n += n - 1
	c.overtaken(hobj)
}

// overtaken has the reader wait for a getter that its puts have overtaken.
func (c *conv) overtaken(hobj int32) {
	c.flow.of = c.passer
	if c.flow.put(hobj, c.taker) {
		c.turn.ahead = &c.flow
	}
}

// putOne serves one MQPUT in the reader; one that waits for the disk only with block.
func (c *conv) putOne(m call, block bool) (hobj int32, served bool, err error) {
	if hobj, served = c.putAgain(m); served {
		return hobj, true, nil
	}
	c.again = false
	codec, ok := m.h.Codec()
	if !ok {
		return 0, true, c.badStructure(m, ccsidError(m.h.CCSID))
	}
	if c.puts == nil {
		c.puts = &wire.PutDecoder{}
	}
	c.putHead = m.h
	a, b, err := c.puts.Decode(m.body, codec)
	if err != nil {
		return 0, true, c.badStructure(m, err)
	}
	switch {
	case c.prompt.Prompt(a.Hobj, &b.MD, &b.PMO):
		err = c.put(m, a, b, true)
	case !block:
		return a.Hobj, false, nil
	default:
		b.Data = bytes.Clone(b.Data) // the store keeps it
		c.turn.flush()
		c.waitDisk(func() { err = c.put(m, a, b, false) })
	}
	b.Data = nil
	return a.Hobj, true, err
}

// following is the next message in the read buffer, and its size there, if it is a whole MQPUT of a conversation that goes on.
func (c *conv) following() (m call, size int, ok bool) {
	k := c.k
	h, body, size, whole, err := wire.CutSegment(k.in.bytes(), k.link.Load().transmission)
	ok = whole && err == nil && h.Type == wire.MQPUT && h.Conv == c.id && h.Flags&wire.FlagWhole == wire.FlagWhole && c.ctx.Err() == nil
	return call{h: h, body: body, lent: true}, size, ok
}

// takePut takes it out of the buffer.
func (k *socket) takePut(m call, size int) {
	k.in.skip(size)
	k.counts.received(m.h.Size() + len(m.body))
	k.counts.calls.Add(1)
	k.counts.lastCall.Store(k.lastRead.Load())
}
