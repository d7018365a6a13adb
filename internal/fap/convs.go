package fap

import (
	"fmt"

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

// startConv opens a conversation; the answer stands on the new conversation.
func (k *socket) startConv(h wire.Header, a *wire.Socket) error {
	l := k.link.Load()
	k.mu.Lock()
	n := len(k.convs)
	_, used := k.convs[a.Conv]
	k.mu.Unlock()
	full := n >= int(l.convs) || !k.connected.Load() // before it has connected a peer has one
	if full || used || a.Conv == 0 {
		k.refuse(wire.CodeConvID)
		return fmt.Errorf("conversation %d cannot start: %d are open, %d were agreed", a.Conv, n, l.convs)
	}
	if err := k.awaitEnded(int(l.convs)); err != nil {
		return err
	}
	if err := k.outRoom(); err != nil {
		return err
	}
	k.newConv(a.Conv)
	r := h
	r.Magic, r.Type, r.Flags, r.Conv, r.Req = wire.TSHM, wire.StatusData, 0, a.Conv, 0
	return k.write(r, wire.API{}, &wire.Status{})
}

// endConv is the client's END_CONV, in the reader. The conversation's place and id are free at once; it cleans up by itself.
func (k *socket) endConv(id uint32) {
	k.mu.Lock()
	c := k.convs[id]
	if c != nil {
		delete(k.convs, id)
		k.ending++
	}
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
	defer k.mu.Unlock()
	if k.convs[c.id] == c { // the socket has ended, not the client the conversation
		delete(k.convs, c.id)
		return
	}
	k.ending--
	select {
	case k.fewer <- struct{}{}:
	default:
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
