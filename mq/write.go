package mq

import (
	"encoding/binary"
	"io"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Puts that are not answered are gathered. The rule is: one that follows no other within closely leaves at once, so that a lone put
// never waits, nor one whose program has waited for what came of the last one. Those that follow closely leave together: when
// writeFull bytes have come together, with the next verb that has an answer, when none has followed for gatherAfter, and gatherMost
// after the first of them at the latest.
const (
	writeFull   = 60 << 10
	closely     = 15 * time.Microsecond // less than any answer takes
	gatherAfter = 50 * time.Microsecond
	gatherMost  = 500 * time.Microsecond
	// writeKept is the largest buffer that is kept for the next message.
	writeKept = 256 << 10
)

// writer is the sending half of a link.
type writer struct {
	mu      sync.Mutex
	b       []byte    // not written yet
	last    time.Time // when something was written without an answer to wait for
	flushed uint64    // how often b was written
	kick    chan struct{}
	flusher bool // runs
	idle    bool // and waits for kick
}

func (w *writer) init() { w.kick = make(chan struct{}, 1) }

// send writes one message.
func (l *link) send(t wire.Type, req uint32, hobj int32, b wire.Body) error {
	return l.sendH(l.header(t, req), wire.API{Hobj: hobj}, b)
}

func (l *link) sendH(h wire.Header, a wire.API, b wire.Body) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.out.b = wire.AppendMessage(l.out.b, h, a, b, codec, l.size)
	return l.out.flush(l.w)
}

// sendPut writes an MQPUT. Without now it may be gathered with others.
func (l *link) sendPut(hobj int32, p *wire.Put, now bool) error {
	w := &l.out
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.addPut(hobj, p) {
		w.b = wire.AppendMessage(w.b, l.header(wire.MQPUT, l.req), wire.API{Hobj: hobj}, p, codec, l.size)
	}
	if now {
		return w.flush(l.w)
	}
	return l.gather()
}

// form is the last MQPUT up to its data. Programs put many messages that differ in nothing before it.
type form struct {
	hobj    int32
	options int32 // MQPMO, of which a put sets nothing else
	md      mqi.MD
	b       []byte
}

// addPut appends an MQPUT that fits into one segment. With the lock.
func (l *link) addPut(hobj int32, p *wire.Put) bool {
	w, f := &l.out, &l.form
	if f.b == nil || f.hobj != hobj || f.options != p.PMO.Options || f.md != p.MD {
		head := wire.Put{MD: p.MD, PMO: p.PMO}
		b, whole := wire.AppendPut(f.b[:0], l.header(wire.MQPUT, 0), hobj, &head, codec, l.size)
		if !whole {
			return false
		}
		f.hobj, f.options, f.md, f.b = hobj, p.PMO.Options, p.MD, b[:len(b)-4] // without the length of the data
	}
	pad := -len(p.Data) & 3
	n := len(f.b) + 4 + len(p.Data) + pad
	if n > l.size {
		return false
	}
	at := len(w.b)
	w.b = append(w.b, f.b...)
	h := w.b[at:]
	binary.BigEndian.PutUint32(h[4:], uint32(n))
	api := l.headerSize()
	if l.shared {
		binary.BigEndian.PutUint32(h[12:], l.req)
	}
	binary.BigEndian.PutUint32(h[api:], uint32(n))
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(p.Data)))
	w.b = append(w.b, p.Data...)
	w.b = append(w.b, "\x00\x00\x00"[:pad]...)
	return true
}

func (l *link) headerSize() int {
	h := l.header(wire.MQPUT, 0)
	return h.Size()
}

// sendGathered writes another message that has no answer.
func (l *link) sendGathered(t wire.Type, b wire.Body) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.out.b = wire.AppendMessage(l.out.b, l.header(t, l.req), wire.API{}, b, codec, l.size)
	return l.gather()
}

// flush writes what was gathered. With the lock.
func (w *writer) flush(nc io.Writer) error {
	if len(w.b) == 0 {
		return nil
	}
	_, err := nc.Write(w.b)
	w.flushed++
	if w.b = w.b[:0]; cap(w.b) > writeKept {
		w.b = nil
	}
	return err
}

// gather applies the rule above to what has just been added. With the lock.
func (l *link) gather() error {
	w := &l.out
	now := time.Now()
	lone := now.Sub(w.last) > closely
	w.last = now
	if lone || len(w.b) >= writeFull {
		return w.flush(l.w)
	}
	if !w.flusher {
		w.flusher = true
		l.running.Go(l.flushLater)
	} else if w.idle {
		w.idle = false
		w.kick <- struct{}{}
	}
	return nil
}

// flushLater writes what is gathered and not followed by more. It looks after gatherAfter, and while the puts go on every
// gatherMost; with nothing to write it sleeps.
func (l *link) flushLater() {
	w := &l.out
	t := time.NewTimer(gatherAfter)
	defer t.Stop()
	seen, looks := ^uint64(0), 0
	for {
		select {
		case <-t.C:
		case <-l.ended:
			return
		}
		w.mu.Lock()
		next := gatherMost
		switch {
		case len(w.b) == 0:
			w.idle = true
		case seen == w.flushed && looks > 0 || time.Since(w.last) > gatherAfter:
			if err := w.flush(l.w); err != nil {
				w.mu.Unlock()
				l.close(err)
				return
			}
			w.idle = true
		default: // they go on: what is there now must be gone at the next look
			seen = w.flushed
			looks++
		}
		idle := w.idle
		w.mu.Unlock()
		if idle {
			select {
			case <-w.kick:
			case <-l.ended:
				return
			}
			looks, next = 0, gatherAfter
		}
		t.Reset(next)
	}
}
