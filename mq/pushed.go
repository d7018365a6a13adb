package mq

import (
	"errors"
	"sync"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// pushed holds the messages that the server sent ahead, by handle, and who waits for them.
type pushed struct {
	mu      sync.Mutex
	ahead   map[int32]*ahead
	partial map[int32]*waiting // messages of which more parts come
}

// ahead is one handle that reads ahead.
type ahead struct {
	q     []waiting // messages read while nobody asked for them, from head on
	head  int
	notes []int32 // values of Q_STATE replies
	shut  bool    // the server sends no more: the next message is for who asks for it
}

type waiting struct {
	arrival
	m *Message
}

// windowBytes bounds the messages of a handle that may be under way; the server keeps to it, and counts a descriptor for each.
const (
	windowBytes    = 1 << 20
	sizeDescriptor = 364
	windowMessages = windowBytes/sizeDescriptor + 2
)

func (p *pushed) init() { p.ahead, p.partial = map[int32]*ahead{}, map[int32]*waiting{} }

func (p *pushed) register(hobj int32, a *ahead) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.notes, a.shut = a.notes[:0], false
	p.ahead[hobj] = a
}

func (p *pushed) forget(hobj int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ahead, hobj)
	delete(p.partial, hobj)
}

var (
	errWindow = errors.New("the server sent more than was asked for")
	errPart   = errors.New("the server sent a later part of a message before the first")
)

// add takes a message, or a part of one, for the get that will ask for it.
func (p *pushed) add(l *link, s *segment) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiting{m: new(Message)}
	var err error
	if w.arrival, err = w.m.aheadFrom(l, s); err != nil {
		return err
	}
	if w.segment == 0 {
		w.m.Body = append([]byte(nil), w.data...)
	} else {
		first := p.partial[w.hobj]
		if first == nil {
			return errPart
		}
		first.m.Body = append(first.m.Body, w.data...)
		if len(first.m.Body) > maxMessage+room {
			return errWindow
		}
		w = first
	}
	w.data = nil
	if s.h.Flags&wire.FlagLast == 0 {
		p.partial[w.hobj] = w
		return nil
	}
	delete(p.partial, w.hobj)
	a := p.ahead[w.hobj]
	if a == nil {
		return nil // the handle was closed meanwhile
	}
	if len(a.q)-a.head >= windowMessages {
		return errWindow
	}
	a.q = append(a.q, *w)
	return nil
}

// pop takes the oldest message of a handle that waits, if there is one. shut says that none comes until it is asked for.
func (p *pushed) pop(a *ahead) (w waiting, ok, shut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.head == len(a.q) {
		return waiting{}, false, a.shut
	}
	w = a.q[a.head]
	a.q[a.head] = waiting{}
	if a.head++; a.head == len(a.q) {
		a.q, a.head = a.q[:0], 0
	}
	return w, true, false
}

// note takes the answer to a request that wanted to know whether there is a message, and the end of a window.
func (p *pushed) note(n *wire.Notify) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch a := p.ahead[n.Hobj]; {
	case a == nil:
	case n.Code == wire.NoteTxnPaused:
		a.shut = true
	case n.Code == wire.NoteQStateReply && len(a.notes) == 0:
		a.notes = append(a.notes, n.Value)
	}
}

// unshut forgets that the window is shut.
func (p *pushed) unshut(a *ahead) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.shut = false
}

// noted takes it out again.
func (p *pushed) noted(a *ahead) (int32, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(a.notes) == 0 {
		return 0, false
	}
	v := a.notes[0]
	a.notes = a.notes[:0]
	return v, true
}
