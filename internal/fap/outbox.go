package fap

import (
	"net"
	"sync"

	"github.com/qmgrd/qmgrd/internal/fap/direct"
	"github.com/qmgrd/qmgrd/internal/invariants"
)

const (
	// maxOut is how much may wait for a peer that reads slowly before whoever writes for it by itself waits too. Streams stop
	// far earlier, at streamBuffer.
	maxOut = 256 << 10
	// maxOutKept is the largest buffer that is used again.
	maxOutKept = 128 << 10
	// flushRounds bounds how often one goroutine writes what others have added meanwhile.
	flushRounds = 4
)

// outbox is what a socket still has to write. Adding to it never waits for the network, and nor does flush: what the kernel
// does not take at once is written by a goroutine of its own, which lives as long as it takes. So whoever puts a message can
// send it to its getter, however slow that is.
//
// Its buffer is its own only while something waits in it: what goes to many sockets one after the other goes through one
// buffer, which stays in the processor's cache.
//
// mu is held for memory work only. Whoever sets writing is the only one who writes, without mu.
type outbox struct {
	nc     net.Conn
	direct *direct.Conn // nil: every write may wait (TLS)
	wg     *sync.WaitGroup
	failed func(error)
	room   func() // called when all is written after full has said yes

	mu      invariants.Ranked[invariants.Leaf]
	empty   sync.Cond
	buf     []byte  // of box
	box     *outBuf // nil: there is no buffer
	rest    int     // bytes that the goroutine has to write
	writing bool    // somebody writes, and goes on with what is added meanwhile
	asked   bool    // room is to be called
	hold    hold
	err     error
}

// outBuf is a buffer of whatever outbox has something to write.
type outBuf struct{ b []byte }

var outBufs = sync.Pool{New: func() any { return &outBuf{make([]byte, 0, readBuffer)} }}

// reuse gives a buffer back with what has become of its memory.
func (x *outBuf) reuse(b []byte) {
	if x != nil && cap(b) <= maxOutKept {
		x.b = b[:0]
		outBufs.Put(x)
	}
}

func (o *outbox) init(nc net.Conn, wg *sync.WaitGroup, failed func(error), room func()) {
	o.nc, o.wg, o.failed, o.room = nc, wg, failed, room
	o.empty.L = &o.mu
	o.direct = direct.New(nc)
}

// add lets fn append to the buffer, with the outbox locked. What a panic of fn has appended counts for nothing.
func (o *outbox) add(fn func(b []byte) []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.box == nil {
		o.box = outBufs.Get().(*outBuf)
		o.buf = o.box.b
	}
	o.buf = fn(o.buf)
	if o.err != nil {
		o.buf = o.buf[:0]
	}
	return o.err
}

// flush writes what there is, as far as that goes without waiting.
func (o *outbox) flush() {
	invariants.Blocking("a write to a socket") // it does not wait, but it is one
	o.mu.Lock()
	if o.writing || len(o.buf) == 0 || o.err != nil {
		o.mu.Unlock()
		return
	}
	o.writing = true
	for n := 0; len(o.buf) > 0 && o.err == nil; n++ {
		b, box := o.swap()
		if o.direct == nil || n == flushRounds {
			o.later(b, b, box)
			return
		}
		o.mu.Unlock()
		done, err := o.direct.TryWrite(b)
		o.mu.Lock()
		if err == nil && done < len(b) {
			o.later(b, b[done:], box)
			return
		}
		o.keep(b, box, err)
	}
	o.over()
}

// swap takes what is to be written. Under mu.
func (o *outbox) swap() ([]byte, *outBuf) {
	b, box := o.buf, o.box
	o.buf, o.box = nil, nil
	o.hold.n = 0
	return b, box
}

// keep gives a written buffer back. Under mu.
func (o *outbox) keep(b []byte, box *outBuf, err error) {
	if err != nil && o.err == nil {
		o.err = err
		o.buf, o.box = nil, nil
		o.wg.Go(func() { o.failed(err) }) // not under mu; the socket has not ended, as for later
	}
	box.reuse(b)
}

// later leaves the rest to a goroutine. Called under mu, which it releases.
func (o *outbox) later(b, rest []byte, box *outBuf) {
	if o.err != nil {
		o.over()
		return
	}
	o.rest = len(rest)
	o.wg.Add(1) // the socket has not ended: close, which comes first, sets err
	o.mu.Unlock()
	go func() {
		defer o.wg.Done()
		for {
			err := o.send(rest)
			o.mu.Lock()
			o.rest = 0
			o.keep(b, box, err)
			if len(o.buf) == 0 || o.err != nil {
				o.over()
				return
			}
			b, box = o.swap()
			rest = b
			o.rest = len(rest)
			o.mu.Unlock()
		}
	}()
}

// send writes and waits as long as it takes.
func (o *outbox) send(b []byte) error {
	invariants.Blocking("a write to a socket")
	_, err := o.nc.Write(b)
	return err
}

// over ends the writing. Called under mu, which it releases.
func (o *outbox) over() {
	o.writing = false
	o.rest = 0
	tell := o.asked
	o.asked = false
	o.empty.Broadcast()
	o.mu.Unlock()
	if tell {
		o.room()
	}
}

// much reports whether n bytes or more wait. A flush may take them away.
func (o *outbox) much(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.buf)+o.rest >= n && o.err == nil
}

// full reports whether n bytes or more wait although somebody writes. If so room is called when all is written.
func (o *outbox) full(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := o.writing && len(o.buf)+o.rest >= n && o.err == nil
	o.asked = o.asked || full
	return full
}

// drain waits until all is written, or cannot be.
func (o *outbox) drain() error {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && o.err == nil {
		invariants.BlockingBut(&o.mu, "a write to a socket")
		o.empty.Wait()
	}
	return o.err
}

// close ends it: nothing is written any more.
func (o *outbox) close(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.buf, o.box = nil, nil
	o.hold.stop()
	o.empty.Broadcast()
}
