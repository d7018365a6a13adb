package fap

import (
	"bytes"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// Puts that stand one behind the other in the read buffer are served in one go, so that publications among them go out together.

// putNow serves MQPUT in the reader, and the publications without answer that follow one.
func (c *conv) putNow(m call) (served bool, err error) {
	if c.gatherer == nil || !c.k.putFollows(c) {
		_, served, err = c.putOne(m, c.blocks)
		return served, err
	}
	c.gatherer.Gather()
	hobj, served, err := c.putOne(m, false)
	for served && err == nil && c.gatherer.Gathered() > 0 && c.k.putFollows(c) {
		m = c.k.nextPut()
		c.turn.follow = c.gatherer.Gathered() >= followFrom // the next one may find no room and send them
		if hobj, served, err = c.putOne(m, false); !served && err == nil {
			c.sendGathered(hobj)
			return true, c.queue(m)
		}
	}
	c.sendGathered(hobj)
	return served, err
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
	if c.flow.put(hobj, c.taker) {
		c.turn.ahead = &c.flow
	}
}

// putOne serves one MQPUT in the reader; one that waits for the disk only with block.
func (c *conv) putOne(m call, block bool) (hobj int32, served bool, err error) {
	codec, ok := m.h.Codec()
	if !ok {
		return 0, true, c.badStructure(m, ccsidError(m.h.CCSID))
	}
	if c.puts == nil {
		c.puts = &wire.PutDecoder{}
	}
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

// putFollows reports whether the next message in the read buffer is a whole MQPUT of a conversation that goes on.
func (k *socket) putFollows(c *conv) bool {
	h, _, _, whole, err := wire.CutSegment(k.in.bytes(), k.link.Load().transmission)
	return whole && err == nil && h.Type == wire.MQPUT && h.Conv == c.id && h.Flags&wire.FlagWhole == wire.FlagWhole &&
		c.ctx.Err() == nil
}

// nextPut takes it.
func (k *socket) nextPut() call {
	h, body, size, _, _ := wire.CutSegment(k.in.bytes(), k.link.Load().transmission)
	k.in.skip(size)
	k.counts.received(h.Size() + len(body))
	k.counts.calls.Add(1)
	k.counts.lastCall.Store(k.lastRead.Load())
	return call{h: h, body: body, lent: true}
}
