package fap

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// inlineMessages is how many messages of streams the reader, or who put a message, sends before it leaves the rest to the
// conversation's goroutine.
const (
	inlineMessages = 64
	wokenMessages  = 2
	ownMessages    = 256
)

// resumeAll looks at all gets that wait, after a wake. Without block it is not the conversation's goroutine that runs it.
func (c *conv) resumeAll(block bool) error {
	if c.conn == nil || c.ctx.Err() != nil {
		return nil
	}
	if err := c.resumeGet(); err != nil {
		return err
	}
	if c.waiter == nil || c.streams.slow {
		return nil
	}
	if rc, upTo := c.woken(); rc != 0 {
		if err := c.endWaits(rc, upTo); err != nil {
			return err
		}
	}
	for _, st := range c.streams.open {
		if !st.parked && !st.blocks {
			continue
		}
		if err := c.resumeStream(st); err != nil {
			return err
		}
	}
	n := wokenMessages
	if block {
		n = ownMessages
	}
	return c.startStreams(n)
}

// resumeStream goes on with the get of a stream.
func (c *conv) resumeStream(st *stream) error {
	if st.blocks {
		return c.streamed(st, nil, 0, Blocks, nil)
	}
	body, total, s, err := st.wait.Resume()
	return c.streamed(st, body, total, s, err)
}

// streamed does what a get of a stream has come to.
func (c *conv) streamed(st *stream, body []byte, total int, s WaitState, err error) error {
	if s == Blocks && c.mayWait() {
		c.turn.flush()
		body, total, s, err = st.wait.Finish(false)
	}
	if parked := s == Waits; parked != st.parked {
		st.parked = parked
		c.countWait(parked)
	}
	st.blocks = s == Blocks
	switch s {
	case Blocks:
		c.askGoroutine()
		return nil
	case Unfit:
		c.streams.slow = true
		c.unparkAll()
		c.askGoroutine()
		return nil
	case Waits:
		return c.served(st, nil)
	}
	if err == ErrHeld {
		return c.hold(st)
	}
	if err := c.served(st, err); err != nil {
		return err
	}
	rc, err := c.send(st, &st.md, &st.gmo, body, total, err)
	if err != nil || rc == 0 {
		return err
	}
	return c.cannot(st, rc)
}

// askGoroutine has the conversation's goroutine go on.
func (c *conv) askGoroutine() {
	if c.mayWait() {
		return
	}
	c.mu.Lock()
	c.kicked = true
	c.mu.Unlock()
}

// startStreams sends at most n messages that are there to those who asked for them, and lets the gets of the others wait. What
// is left goes on in the conversation's goroutine.
func (c *conv) startStreams(n int) error {
	if c.conn == nil {
		return nil
	}
	if c.waiter == nil || c.streams.slow {
		if c.streams.ready() {
			c.askGoroutine()
		}
		return nil
	}
	for _, st := range c.streams.open {
		for c.streams.wants(st) && !st.parked && !st.blocks && !c.pausing(st) && c.ctx.Err() == nil {
			if c.k.fullOfStreams() {
				return nil // hasRoom goes on
			}
			if n == 0 {
				c.mu.Lock()
				c.kicked = true
				c.mu.Unlock()
				return nil
			}
			n--
			st.md, st.gmo = st.wanted(true)
			body, total, s, err := c.getOf(st)
			if err := c.streamed(st, body, total, s, err); err != nil || c.streams.slow {
				return err
			}
		}
		if st.parked && !c.streams.wants(st) {
			c.unpark(st)
		}
	}
	return nil
}

// getOf starts the get of a stream.
func (c *conv) getOf(st *stream) ([]byte, int, WaitState, error) {
	room := c.room(st, &st.gmo)
	if st.readsAhead() {
		return st.wait.GetAhead(st.req.Hobj, &st.md, &st.gmo, room, st.asked)
	}
	return st.wait.Get(st.req.Hobj, &st.md, &st.gmo, room)
}

// stream lets the goroutine serve the streams. more reports that it is to come back.
func (c *conv) stream() (more bool, err error) {
	if c.conn == nil {
		return false, nil
	}
	if err := c.remind(); err != nil {
		return false, err
	}
	if c.waiter != nil && !c.streams.slow {
		if err := c.startStreams(ownMessages); err != nil {
			return false, err
		}
		if c.streams.slow {
			return true, nil // one of them has turned out to be: nobody else would serve it
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.kicked, nil
	}
	if rc, upTo := c.woken(); rc != 0 {
		return true, c.endWaits(rc, upTo)
	}
	if !c.streams.ready() {
		return false, nil
	}
	return true, c.pump()
}

// fullOfStreams reports that the peer has to read before more is streamed to it. hasRoom is called then.
func (k *socket) fullOfStreams() bool {
	if !k.out.much(streamBuffer) {
		return false
	}
	k.out.flush()
	return k.out.full(streamBuffer)
}

// hasRoom is called when the outbox, which was too full for streams, is empty.
func (k *socket) hasRoom() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.convs {
		c.kick()
	}
}

// pause leaves a stream alone for a while.
func (c *conv) pause(st *stream, d time.Duration) {
	clk := c.k.s.opt.Clock
	st.until = clk.Now().Add(d)
	if st.alarm == nil {
		st.alarm = clk.AfterFunc(d, c.kick)
	} else {
		st.alarm.Reset(d)
	}
}

// endPause ends it. An alarm that is not stopped would keep the conversation in memory beyond its end.
func (st *stream) endPause() {
	if st.until = (time.Time{}); st.alarm != nil {
		st.alarm.Stop()
	}
}

func (c *conv) pausing(st *stream) bool {
	return !st.until.IsZero() && c.k.s.opt.Clock.Now().Before(st.until)
}

// unpark ends the wait of a stream.
func (c *conv) unpark(st *stream) {
	if st.parked || st.blocks {
		st.wait.Cancel()
	}
	if st.parked {
		c.countWait(false)
	}
	st.parked, st.blocks = false, false
}

func (c *conv) unparkAll() {
	for _, st := range c.streams.open {
		c.unpark(st)
	}
}

// cancelWaits ends all gets that wait, before the connection does.
func (c *conv) cancelWaits() {
	c.unparkAll()
	g := &c.held1
	if !g.active {
		return
	}
	g.wait.Cancel()
	g.active = false
	c.countWait(false)
	c.mu.Lock()
	c.held = false
	c.mu.Unlock()
}

// wants reports whether a stream is open for a message.
func (s *streams) wants(st *stream) bool {
	return st.open && (s.started || st.req.Flags&wire.ReqCallback == 0)
}

// waker is told of the get that waits for a stream, or, without one, for an MQGET.
type waker struct {
	c  *conv
	st *stream
}

// Wake implements Waker. by is the conversation whose verb has caused it: its goroutine sends the message.
func (w *waker) Wake(by any) {
	c := w.c
	from, ok := by.(*conv)
	if !ok || from == c {
		c.kick()
		return
	}
	if c.claim(false) {
		c.visit(from, func() error { return c.resumeAll(false) })
	}
}

// Settled implements Waker. The message goes out before the answer of whoever has settled it: so the client's next get is there
// before the next put, and both share a sync again.
func (w *waker) Settled(by any) {
	w.Wake(by)
	if _, ok := by.(*conv); ok {
		w.c.k.out.flush()
	}
}

// Own implements Waker.
func (w *waker) Own() bool {
	c := w.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owned || c.ended || c.kicked || c.ctx.Err() != nil || len(c.in) > 0 && !c.held {
		return false
	}
	c.owned = true
	return true
}

// Disown implements Waker.
func (w *waker) Disown() { w.c.release() }

// Take implements Waker.
func (w *waker) Take(by any, body []byte, total int, err error) {
	c, from := w.c, by.(*conv)
	from.taker = c
	c.visit(from, func() error {
		if w.st != nil {
			return c.handed(w.st, body, total, err)
		}
		g := &c.held1
		g.wait.Cancel() // it has its message
		return c.goOn(body, total, Over, err)
	})
}

// handed sends a message that a stream was given while its get waits, which goes on if more may come.
func (c *conv) handed(st *stream, body []byte, total int, gerr error) error {
	rc, err := c.send(st, &st.md, &st.gmo, body, total, gerr)
	switch {
	case err != nil:
		return err
	case rc != 0:
		c.unpark(st)
		return c.cannot(st, rc)
	case !c.streams.wants(st):
		c.unpark(st)
	case c.k.fullOfStreams():
		c.unpark(st) // hasRoom goes on
	}
	return nil
}
