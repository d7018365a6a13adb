package fap

import "time"

// turn is what a goroutine that runs conversations has written and not flushed: the answers on its own socket, and the messages
// for getters on others. It belongs to that goroutine.
type turn struct {
	home    *socket
	touched []*socket
	bytes   int   // put into their outboxes
	waited  bool  // for one of them somebody waits, or may
	put     bool  // a put was answered
	ahead   *flow // whose getter the reader has overtaken
	follow  bool  // each socket gets many messages one after the other: it is written to when the next one's turn comes
}

const (
	// followFrom is how many messages make it worth a write of their own, followBytes how much.
	followFrom  = 4
	followBytes = 16 << 10
)

// turnBytes is how much one turn gathers for other sockets before it flushes them: many messages in a write are cheaper, but
// not when they have left the processor's cache meanwhile.
const turnBytes = 16 << 20

// touch notes a socket in whose outbox n bytes were put. Of several turns that touch a socket each flushes it.
func (t *turn) touch(k *socket, n int) {
	t.waited = t.waited || k != t.home
	t.push(k, n)
}

// push is touch for a message that nobody waits for.
func (t *turn) push(k *socket, n int) {
	if k == t.home {
		return
	}
	if t.bytes += n; k.touchedBy.Load() == t {
		return
	}
	if t.follow && t.bytes-n >= followBytes {
		t.flushTouched()
		t.bytes = n
	}
	k.touchedBy.Store(t)
	t.touched = append(t.touched, k)
}

// flushMuch flushes the other sockets when much has come together.
func (t *turn) flushMuch() {
	if t.bytes >= turnBytes {
		t.flushTouched()
	}
}

// flush is called before the goroutine waits for anything.
func (t *turn) flush() {
	t.home.out.flush()
	t.flushOthers(t.put && !t.waited && len(t.touched) == 1)
}

func (t *turn) flushTouched() { t.flushOthers(false) }

// flushOthers flushes the other sockets, or with soon leaves to their outboxes when that is, and begins anew.
func (t *turn) flushOthers(soon bool) {
	for _, k := range t.touched {
		k.touchedBy.CompareAndSwap(t, nil)
		if soon {
			k.out.flushSoon(k.s.opt.Clock)
		} else {
			k.out.flush()
		}
	}
	clear(t.touched)
	t.touched, t.bytes, t.waited, t.put = t.touched[:0], 0, false, false
}

// Puts that are not answered come faster than any getter's window opens. Rather than laying the messages on the queue, and
// taking them from there again, which costs several times what handing them over does, the reader waits a moment for a getter
// that it has overtaken: for flowWait at most, once in so many messages. A wait in vain doubles that number, so that a getter
// that is slow holds up nobody. While getters take at least half of what is put, though, and not much lies on the queue, it waits
// again until the queue is empty: else every message would have to queue behind those that lie there, for ever.
const (
	flowEvery = 32
	flowMost  = 1 << 16
	flowWait  = 2 * time.Millisecond
	flowDepth = 4096
)

// flow is what a conversation has handed to the getter of a queue that it puts on.
type flow struct {
	of    Passer // nil: nobody knows what passes the queue
	hobj  int32
	taker *conv
	n     int // messages since the last wait
	every int // to let pass before the next

	put0, got0 uint64 // messages that had been put on the queue and got from it at the last look
}

// put notes a put that is not answered. handed is to whom it went, nil: on the queue. It reports whether to wait.
func (f *flow) put(hobj int32, handed *conv) bool {
	if handed != nil && (f.hobj != hobj || f.taker != handed) {
		if f.hobj != hobj {
			f.put0, f.got0 = 0, 0
		}
		f.hobj, f.taker, f.n, f.every = hobj, handed, 0, flowEvery
	}
	f.n++
	if handed != nil {
		f.every = max(flowEvery, f.every/2) // it has caught up by itself
	}
	if handed != nil || f.taker == nil || f.hobj != hobj || f.n < f.every {
		return false
	}
	f.n = 0
	return true
}

// waited notes whether a wait was of use.
func (f *flow) waited(useful bool) {
	switch near := f.near(); {
	case useful:
		f.every = flowEvery
	case near:
		f.n, f.every = flowEvery, flowEvery // the next message waits too
	default:
		f.every = min(2*f.every, flowMost)
	}
}

// near looks at the queue, and reports whether its getters have all but kept up since the last look.
func (f *flow) near() bool {
	if f.of == nil {
		return false
	}
	put, got, depth := f.of.Passed(f.hobj)
	near := 2*(got-f.got0) >= put-f.put0 && depth <= flowDepth
	f.put0, f.got0 = put, got
	return near
}

// catchUp waits until the getter that was overtaken waits for a message again.
func (k *socket) catchUp() {
	f := k.turn.ahead
	c := f.taker
	k.turn.ahead = nil
	k.turn.flush()
	c.mu.Lock()
	if !c.owned && c.ready || c.ended {
		c.mu.Unlock()
		return
	}
	if c.caught == nil {
		c.caught = make(chan struct{})
	}
	caught := c.caught
	c.mu.Unlock()
	k.notReading(func() {
		select {
		case <-caught:
			f.waited(true)
		case <-k.s.opt.Clock.After(flowWait):
			f.waited(false)
		case <-c.ctx.Done():
			f.waited(false)
		case <-k.ctx.Done():
		}
	})
}
