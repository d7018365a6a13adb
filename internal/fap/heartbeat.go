package fap

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

const (
	// beatGrace is added to the heartbeat interval before a silent peer is given up; short intervals are doubled instead.
	beatGrace = time.Minute
	// waitBeat is how often an unshared client that waits in a get hears of us when no heartbeat was agreed: it gives up
	// after 5 seconds.
	waitBeat = 2 * time.Second
)

// startHeartbeats begins to watch the peer.
//
// On a shared socket either end asks after an interval of silence. On an unshared one the client never asks, and only
// listens while a get waits: then the server sends one each interval.
func (k *socket) startHeartbeats() {
	l := k.link.Load()
	every := l.heartbeat
	if every <= 0 {
		if l.shared {
			return
		}
		every = waitBeat
	}
	k.lastRead.Store(k.s.opt.Clock.Now().UnixNano())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.beat = k.s.opt.Clock.AfterFunc(every, func() { k.tick(every, l.shared) })
}

// tick runs once an interval. It belongs to the socket like its other goroutines.
func (k *socket) tick(every time.Duration, shared bool) {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return
	}
	k.wg.Add(1)
	k.mu.Unlock()
	defer k.wg.Done()

	next, ask := every, false
	idle := time.Duration(k.s.opt.Clock.Now().UnixNano() - k.lastRead.Load())
	limit := every + min(every, beatGrace)
	switch {
	case shared && idle >= limit:
		k.cancel(errSilent)
		return
	case shared && idle >= every:
		next, ask = limit-idle, true
	case shared:
		next = every - idle
	default:
		ask = k.waits.Load() > 0
	}
	k.mu.Lock()
	if !k.closed {
		k.beat.Reset(max(next, time.Millisecond))
	}
	k.mu.Unlock()
	if ask {
		k.sendBeat()
	}
}

// sendBeat asks the peer for a sign of life. It may wait for a writer that is stuck; the next tick, which does not send a
// second one meanwhile, then ends the socket and frees both.
func (k *socket) sendBeat() {
	if !k.beating.CompareAndSwap(false, true) {
		return
	}
	defer k.beating.Store(false)
	h := k.plain(wire.Heartbeat)
	h.Flags |= wire.FlagConfirm
	if err := k.write(h, wire.API{}, &wire.Empty{}); err != nil {
		k.cancel(err)
	}
}
