package qmgr

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Reading many retained publications. Of a new subscription's work this is the larger half, and most of it waits for memory: so it is
// done beside the search in the topic tree and the puts, a few hundred at a time, and used in the order of the search.

const (
	readAtOnce = 256 // publications that one goroutine reads
	readsAhead = 8   // how many such parts may be read and not used
	readHere   = 32  // so few are read at once
)

// retainedRead is a part of a search with what its publications are. With err reading has failed.
type retainedRead struct {
	at   []pubsub.RetainedAt      // with the numbers of those that were read, which may be newer
	got  *[readAtOnce]retainedMsg // by place in at
	err  error
	done chan struct{} // nil: it has been read

	panicked any // what went wrong in the goroutine that read, or searched; it is for who waits (next)
}

// retainedMsg is a publication that was read; there is false when its topic has none any more.
type retainedMsg struct {
	there bool
	head  msgHead
	body  []byte
}

// readBuffers are used again: a search of a million topics needs those of a few parts only.
var readBuffers = sync.Pool{New: func() any { return new([readAtOnce]retainedMsg) }}

// over gives the memory back.
func (r *retainedRead) over() {
	if r.got != nil {
		clear(r.got[:len(r.at)])
		readBuffers.Put(r.got)
		r.got = nil
	}
}

func (r *retainedRead) run(m *Manager) {
	r.read(m)
	for i := range r.at {
		if r.err == nil && !r.got[i].there {
			r.err = m.readAgain(&r.at[i], &r.got[i])
		}
	}
}

// read reads what the tree named, as far as it is there still.
func (r *retainedRead) read(m *Manager) {
	r.got = readBuffers.Get().(*[readAtOnce]retainedMsg)
	size := 0
	for i := range r.at {
		size += maxKeyRoom(r.at[i].Topic)
	}
	keys, places, room := make([][]byte, 0, len(r.at)), make([]int, 0, len(r.at)), make([]byte, 0, size)
	for i := range r.at {
		at := &r.at[i]
		if !inStore(at.Ref) {
			if r.err = m.readMem(at.Ref, &r.got[i]); r.err != nil {
				return
			}
			continue
		}
		from := len(room)
		room = appendRetainedKey(room, at.Topic)
		keys, places = append(keys, room[from:]), append(places, i)
	}
	if len(keys) == 0 {
		return
	}
	var bodies slabBytes
	var like *msgHead
	r.err = m.opt.Store.GetMany(retainedTable, keys, func(k int, v []byte) error {
		at, msg := &r.at[places[k]], &r.got[places[k]]
		ref, _, _, rest, err := cutRetained(v)
		if err != nil {
			return fmt.Errorf("%q: %w", at.Topic, err)
		}
		head, body, err := cutHead(rest)
		if err == nil {
			err = msg.head.decode(head, true, like)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", at.Topic, err)
		}
		at.Ref, msg.body, msg.there, like = ref, bodies.keep(body), true, &msg.head
		return nil
	})
}

func (r *retainStore) inMem(ref pubsub.RetainedRef) (head, body []byte, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mem.get(ref)
}

// readMem reads a nonpersistent one.
func (m *Manager) readMem(ref pubsub.RetainedRef, msg *retainedMsg) error {
	head, body, ok := m.retain.inMem(ref)
	if !ok {
		return nil
	}
	return msg.set(head, body)
}

func (msg *retainedMsg) set(head, body []byte) error {
	msg.body, msg.there = body, true
	return msg.head.decode(head, true, nil)
}

// readAgain is for a publication that was not there: it has been replaced, or cleared, since the tree named it. Under the lock what
// the tree names can be read, but for one whose entry a change under way has taken out of the store already: until that is in
// force the topic has neither, so it is waited for.
func (m *Manager) readAgain(at *pubsub.RetainedAt, msg *retainedMsg) error {
	r := &m.retain
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		now, there := r.tree.Retained(at.Topic)
		switch {
		case !there:
			return nil
		case !inStore(now.Ref):
			head, body, ok := r.mem.get(now.Ref)
			if !ok {
				return nil
			}
			*at = now
			return msg.set(head, body)
		case !r.leaving(at.Topic):
			k := retainedKey(at.Topic)
			v, err := m.opt.Store.Get(retainedTable, k)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			op, err := decodeRetained(k, v)
			if err != nil {
				return fmt.Errorf("%q: %w", at.Topic, err)
			}
			*at = now
			at.Ref = op.ref // which may be newer
			return msg.set(op.head, op.body)
		}
		invariants.BlockingBut(&r.mu, "waiting for a retained publication that is being replaced")
		r.inForce.Wait()
	}
}

// leaving reports whether the store's entry of a topic is gone by a change that is not in force yet.
func (r *retainStore) leaving(topic string) bool {
	list := r.flight[topic]
	return len(list) > 0 && !inStore(list[len(list)-1].ref)
}

// slabBytes copies many short texts into few pieces of memory. Each keeps the others of its piece alive, so the pieces are small.
type slabBytes struct{ room []byte }

const (
	slabPiece = 4 << 10
	slabShort = 512 // longer ones have memory of their own
)

func (s *slabBytes) keep(b []byte) []byte {
	if len(b) == 0 || len(b) > slabShort {
		return append([]byte(nil), b...)
	}
	if cap(s.room)-len(s.room) < len(b) {
		s.room = make([]byte, 0, slabPiece)
	}
	from := len(s.room)
	s.room = append(s.room, b...)
	return s.room[from:len(s.room):len(s.room)]
}

// retainedReads are those of one search: the search goes on beside them, and beside who uses what has been read. Whoever uses it
// calls wait in the end: nothing may be read when the store is closed.
type retainedReads struct {
	m     *Manager
	parts chan *retainedRead // in the order of the search; closed at its end
	quit  chan struct{}      // closed by wait
}

// search begins to search and read. A first page that is all of it is read here and now, when that is little.
func (q *retainedReads) search(f *pubsub.Filter) {
	tree := q.m.topics.tree
	found, p := tree.RetainedForSub(f, pubsub.Page{})
	q.parts, q.quit = make(chan *retainedRead, readsAhead), make(chan struct{})
	if p.Done() && len(found) <= readHere {
		defer close(q.parts)
		if len(found) > 0 {
			r := &retainedRead{at: found}
			r.run(q.m)
			q.parts <- r
		}
		return
	}
	go func() {
		defer close(q.parts)
		defer func() {
			if wrong := recover(); wrong != nil {
				q.give(&retainedRead{panicked: wrong})
			}
		}()
		for q.start(found) && !p.Done() {
			found, p = tree.RetainedForSub(f, p)
		}
	}()
}

// start begins to read a page, in parts. It returns false when nobody wants them any more.
func (q *retainedReads) start(at []pubsub.RetainedAt) bool {
	for part := range slices.Chunk(at, readAtOnce) {
		r := &retainedRead{at: part, done: make(chan struct{})}
		go func() {
			defer close(r.done)
			defer func() { r.panicked = recover() }()
			r.run(q.m)
		}()
		if !q.give(r) {
			<-r.done
			r.over()
			return false
		}
	}
	return true
}

func (q *retainedReads) give(r *retainedRead) bool {
	select {
	case q.parts <- r:
		return true
	case <-q.quit:
		return false
	}
}

// next waits for the oldest part and gives it, nil after the last.
func (q *retainedReads) next() *retainedRead {
	r := <-q.parts
	if r != nil && r.done != nil {
		<-r.done
	}
	if r != nil && r.panicked != nil {
		panic(r.panicked)
	}
	return r
}

// wait ends the search.
func (q *retainedReads) wait() {
	close(q.quit)
	for r := range q.parts {
		if r.done != nil {
			<-r.done
		}
		r.over()
	}
}

var errRetained = errors.New("entry of a retained publication is damaged")
