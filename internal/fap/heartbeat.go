package fap

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
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
	now := clock.Ticks(k.s.opt.Clock.Now())
	k.lastRead.Store(now)
	k.busyAt = now
	if next := k.firstTick(); next > 0 {
		k.s.agenda.set(k, next)
	}
}

// beatEvery is the interval of heartbeats, 0 for none.
func (k *socket) beatEvery() time.Duration {
	l := k.link.Load()
	if l.heartbeat <= 0 && !l.shared {
		return waitBeat
	}
	return l.heartbeat
}

func (k *socket) firstTick() time.Duration { return sooner(k.beatEvery(), k.inst.Disconnect) }

// sooner is the lesser of two intervals of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// tick looks at the socket when its time has come, and says when next. It must not wait: it is called for all sockets in
// turn.
func (k *socket) tick() {
	now := clock.Ticks(k.s.opt.Clock.Now())
	next := time.Duration(0)
	if every := k.beatEvery(); every > 0 {
		n, ask, silent := k.beatDue(now, every)
		if silent {
			k.cancel(errSilent)
			return
		}
		next = n
		if ask { // when the next look is fixed: the peer may answer at once
			defer k.sendBeat()
		}
	}
	if limit := k.inst.Disconnect; limit > 0 {
		n := k.idleDue(now, limit)
		if n <= 0 {
			k.cancel(errIdle)
			return
		}
		next = sooner(next, n)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed && next > 0 {
		k.s.agenda.set(k, next)
	}
}

// beatDue says when to look again, whether to ask the peer, and whether it has been silent for too long.
func (k *socket) beatDue(now int64, every time.Duration) (next time.Duration, ask, silent bool) {
	idle := time.Duration(now - k.lastRead.Load())
	limit := every + min(every, beatGrace)
	switch shared := k.link.Load().shared; {
	case k.deaf.Load():
		return every, true, false // nobody hears the peer just now, but it is to hear us
	case !shared:
		return every, k.waits.Load() > 0, false
	case idle >= limit:
		return 0, false, true
	case idle >= every:
		return limit - idle, true, false
	}
	return every - idle, false, false
}

// waitDisk runs what may wait for the disk.
func (c *conv) waitDisk(fn func()) {
	if c.turn != &c.k.turn {
		fn()
		return
	}
	c.k.notListening(fn)
}

// notListening runs what keeps the reader from its peer for as long as verbs take, which may wait for the disk. Meanwhile a peer is not
// silent because nobody listens.
func (k *socket) notListening(fn func()) {
	k.deaf.Store(true)
	defer func() {
		k.lastRead.Store(clock.Ticks(k.s.opt.Clock.Now()))
		k.deaf.Store(false)
	}()
	k.notReading(fn)
}

// idleDue is how long the instance may still be without a call; 0 or less: no longer. While a get waits it is not idle.
func (k *socket) idleDue(now int64, limit time.Duration) time.Duration {
	if k.waits.Load() > 0 || k.deaf.Load() {
		k.busyAt = now
		return limit / 4
	}
	return limit - time.Duration(now-max(k.busyAt, k.counts.lastCall.Load()))
}

// sendBeat asks the peer for a sign of life.
func (k *socket) sendBeat() {
	h := k.plain(wire.Heartbeat)
	h.Flags |= wire.FlagConfirm
	if err := k.guarded("heartbeat", func() error { return k.write(h, wire.API{}, &wire.Empty{}) }); err != nil {
		k.cancel(err)
	}
}
