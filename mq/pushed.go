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
	partial map[int32]*wire.Async // messages of which more parts come
}

// ahead is one handle that reads ahead.
type ahead struct {
	q     chan *wire.Async // as many as the window can hold
	notes chan int32       // values of Q_STATE replies
}

// windowMessages bounds how many messages of a handle may be under way, windowBytes their bytes; the server keeps to the
// bytes, and counts a descriptor for each.
const (
	windowBytes    = 256 << 10
	sizeDescriptor = 364
	windowMessages = windowBytes/sizeDescriptor + 2
)

func (p *pushed) init() { p.ahead, p.partial = map[int32]*ahead{}, map[int32]*wire.Async{} }

func (p *pushed) register(hobj int32) *ahead {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &ahead{q: make(chan *wire.Async, windowMessages), notes: make(chan int32, 1)}
	p.ahead[hobj] = a
	return a
}

func (p *pushed) forget(hobj int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ahead, hobj)
}

var errWindow = errors.New("the server sent more than was asked for")

// add takes a message, or a part of one.
func (p *pushed) add(h wire.Header, m *wire.Async) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Segment > 0 {
		first := p.partial[m.Hobj]
		if first == nil {
			return errors.New("the server sent a later part of a message before the first")
		}
		first.Data = append(first.Data, m.Data...)
		if len(first.Data) > maxMessage+room {
			return errWindow
		}
		m = first
	}
	if h.Flags&wire.FlagLast == 0 {
		p.partial[m.Hobj] = m
		return nil
	}
	delete(p.partial, m.Hobj)
	a := p.ahead[m.Hobj]
	if a == nil {
		return nil // the handle was closed meanwhile
	}
	select {
	case a.q <- m:
		return nil
	default:
		return errWindow
	}
}

// note takes the answer to a request that wanted to know whether there is a message.
func (p *pushed) note(n *wire.Notify) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.ahead[n.Hobj]
	if a == nil || n.Code != wire.NoteQStateReply {
		return
	}
	select {
	case a.notes <- n.Value:
	default:
	}
}
