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

	next := every
	idle := time.Duration(k.s.opt.Clock.Now().UnixNano() - k.lastRead.Load())
	limit := every + min(every, beatGrace)
	switch {
	case shared && idle >= limit:
		k.cancel(errSilent)
		return
	case shared && idle >= every:
		next = limit - idle
		k.sendBeat()
	case shared:
		next = every - idle
	case k.waits.Load() > 0:
		k.sendBeat()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.beat.Reset(max(next, time.Millisecond))
	}
}

// sendBeat asks the peer for a sign of life. While a message is being written the peer hears enough, and a lock that a
// stuck writer holds must not stop the timer.
func (k *socket) sendBeat() {
	if !k.wmu.TryLock() {
		return
	}
	defer k.wmu.Unlock()
	h := k.plain(wire.Heartbeat)
	h.Flags |= wire.FlagConfirm
	if err := wire.WriteMessage(k.nc, h, nil, k.link.Load().transmission); err != nil {
		k.cancel(err)
	}
}
