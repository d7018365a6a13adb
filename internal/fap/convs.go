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
	most := int(k.link.Load().convs)
	free, waits := k.place(a.Conv, most)
	if !free {
		k.refuse(wire.CodeConvID)
		return fmt.Errorf("conversation %d cannot start: it is open, or as many are as were agreed: %d", a.Conv, most)
	}
	if waits {
		return nil
	}
	if err := k.awaitEnded(most); err != nil {
		return err
	}
	if err := k.outRoom(); err != nil {
		return err
	}
	return k.openConv(h, a.Conv)
}

// place reports whether a conversation may start, and whether it waits for the first.
func (k *socket) place(id uint32, most int) (free, waits bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, used := k.convs[id]
	free = len(k.convs)+len(k.early) < most && len(k.early) < maxEarlyConvs && !used && id != 0 && !slices.Contains(k.early, id)
	waits = k.trying() > 0 && !k.connected.Load()
	if free && waits {
		k.early = append(k.early, id)
	}
	return free, waits
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
	for _, id := range k.takeEarly() {
		if err := k.openConv(k.plain(wire.StatusData), id); err != nil {
			return err
		}
	}
	return nil
}

// takeEarly takes those out that are to be opened now.
func (k *socket) takeEarly() (ids []uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.connected.Load():
		ids, k.early = k.early, nil
	case len(k.early) > 0 && k.trying() == 0:
		ids, k.early = k.early[:1], k.early[1:]
	}
	return ids
}

// endConv is the client's END_CONV, in the reader. The conversation's place and id are free at once; it cleans up by itself.
func (k *socket) endConv(id uint32) {
	c := k.takeOut(id)
	if c == nil {
		return
	}
	k.asm.Drop(id)
	_ = k.out.add(func(b []byte) []byte { c.gone = true; return b }) // nothing is added
	c.cancel(errEndConv)
}

// takeOut takes a conversation out of those that are open, or are to be.
func (k *socket) takeOut(id uint32) *conv {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.early = slices.DeleteFunc(k.early, func(e uint32) bool { return e == id })
	c := k.convs[id]
	if c == nil {
		return nil
	}
	delete(k.convs, id)
	k.ending++
	if c.turnedAway {
		k.turnedAway--
	}
	return c
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
