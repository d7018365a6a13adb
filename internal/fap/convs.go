package fap

import (
	"fmt"
	"slices"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// The conversations of a socket, as its client starts and ends them.

func (k *socket) conv(id uint32) *conv {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.convs[id]
}

// alone reports whether one conversation has the socket for itself.
func (k *socket) alone() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.convs) == 1
}

// action serves SOCKET_ACTION.
func (k *socket) action(h wire.Header, body []byte) error {
	_, b, err := decode(h, body)
	if err != nil {
		return err
	}
	a := b.(*wire.Socket)
	switch a.Action {
	case wire.StartConv:
		return k.startConv(h, a)
	case wire.EndConv:
		k.endConv(a.Conv)
		if h.Flags&wire.FlagClose != 0 {
			return errGoodbye
		}
	}
	return nil // the others are answers, or ask for nothing that the server does
}

// maxEarlyConvs is how many conversations may wait for the first to connect: four bytes each.
const maxEarlyConvs = 1024

// startConv opens a conversation; the answer stands on the new conversation. Before it has connected a peer has one at a time: programs
// of many threads start others meanwhile, and these wait for their answer until the first has connected, was refused, or is gone.
func (k *socket) startConv(h wire.Header, a *wire.Socket) error {
	l := k.link.Load()
	k.mu.Lock()
	n := len(k.convs) + len(k.early)
	_, used := k.convs[a.Conv]
	free := n < int(l.convs) && len(k.early) < maxEarlyConvs && !used && a.Conv != 0 && !slices.Contains(k.early, a.Conv)
	wait := k.trying() > 0 && !k.connected.Load()
	if free && wait {
		k.early = append(k.early, a.Conv)
	}
	k.mu.Unlock()
	if !free {
		k.refuse(wire.CodeConvID)
		return fmt.Errorf("conversation %d cannot start: %d are open, %d were agreed", a.Conv, n, l.convs)
	}
	if wait {
		return nil
	}
	if err := k.awaitEnded(int(l.convs)); err != nil {
		return err
	}
	if err := k.outRoom(); err != nil {
		return err
	}
	return k.openConv(h, a.Conv)
}

// openConv opens a conversation that the client wants, and tells it in the style of a header.
func (k *socket) openConv(h wire.Header, id uint32) error {
	k.newConv(id)
	h.Magic, h.Type, h.Flags, h.Conv, h.Req = wire.TSHM, wire.StatusData, 0, id, 0
	return k.write(h, wire.API{}, &wire.Status{})
}

// trying is how many conversations have not been refused yet, or still clean up. mu is held.
func (k *socket) trying() int { return len(k.convs) - k.turnedAway + k.ending }

// turnAway notes that the MQCONN of a conversation was refused before any has connected: it holds up no others. The Java client ends
// it only when those that it starts at the same time have had their answer.
func (k *socket) turnAway(c *conv) error {
	k.mu.Lock()
	if k.convs[c.id] == c && !c.turnedAway {
		c.turnedAway = true
		k.turnedAway++
	}
	k.mu.Unlock()
	return k.startEarly()
}

// startEarly opens the conversations that waited for the first to connect; when that was refused or is gone, the next in its place.
func (k *socket) startEarly() error {
	if k.ctx.Err() != nil {
		return nil
	}
	k.mu.Lock()
	ids := k.early
	switch {
	case k.connected.Load():
		k.early = nil
	case len(ids) > 0 && k.trying() == 0:
		ids, k.early = ids[:1], ids[1:]
	default:
		ids = nil
	}
	k.mu.Unlock()
	for _, id := range ids {
		if err := k.openConv(k.plain(wire.StatusData), id); err != nil {
			return err
		}
	}
	return nil
}

// endConv is the client's END_CONV, in the reader. The conversation's place and id are free at once; it cleans up by itself.
func (k *socket) endConv(id uint32) {
	k.mu.Lock()
	c := k.convs[id]
	if c != nil {
		delete(k.convs, id)
		k.ending++
		if c.turnedAway {
			k.turnedAway--
		}
	}
	k.early = slices.DeleteFunc(k.early, func(e uint32) bool { return e == id })
	k.mu.Unlock()
	if c == nil {
		return
	}
	k.asm.Drop(id)
	_ = k.out.add(func(b []byte) []byte { c.gone = true; return b }) // nothing is added
	c.cancel(errEndConv)
}

// awaitEnded waits until fewer than n conversations still clean up: a client that starts and ends them faster than that is
// held up, and does not gather them here.
func (k *socket) awaitEnded(n int) error {
	for {
		k.mu.Lock()
		few := k.ending < n
		k.mu.Unlock()
		if few {
			return nil
		}
		k.turn.flush()
		k.notListening(func() {
			select {
			case <-k.fewer:
			case <-k.ctx.Done():
			}
		})
		if err := k.ctx.Err(); err != nil {
			return err
		}
	}
}

// forget is called when a conversation has cleaned up.
func (k *socket) forget(c *conv) {
	k.mu.Lock()
	over := k.convs[c.id] == c // the socket has ended, not the client the conversation
	if over {
		delete(k.convs, c.id)
	} else {
		k.ending--
	}
	k.mu.Unlock()
	if over {
		return
	}
	select {
	case k.fewer <- struct{}{}:
	default:
	}
	if err := k.startEarly(); err != nil {
		k.cancel(err)
	}
}

// had reports whether there has been such a conversation, as far as ids tell: clients count them upwards.
func (k *socket) had(id uint32) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return id > 0 && id <= k.lastConv
}

// add puts a message of the conversation into the outbox.
func (c *conv) add(h wire.Header, a wire.API, b wire.Body) error { return c.k.addFor(c, h, a, b) }
