package qmgr

import "github.com/qmgrd/qmgrd/internal/pubsub"

// Reading many retained publications. Of a new subscription's work this is the larger half, and most of it waits for memory: so it is
// done beside the search in the topic tree and the puts, a few hundred at a time, and used in the order of the search.

const (
	readAtOnce = 256 // publications that one goroutine reads
	readsAhead = 8   // how many such parts may be read and not used
	readHere   = 32  // so few are read at once
)

// retainedRead is a part of a search with what its publications are; of one that has gone the head is nil. With err reading has ended
// behind the heads there are.
type retainedRead struct {
	at     []pubsub.RetainedAt
	heads  []*msgHead
	bodies [][]byte
	err    error
	done   chan struct{} // nil: it has been read
}

func (r *retainedRead) run(m *Manager) {
	r.heads, r.bodies = make([]*msgHead, 0, len(r.at)), make([][]byte, 0, len(r.at))
	for i := range r.at {
		head, body, err := m.retainedMsg(&r.at[i])
		if err != nil {
			r.err = err
			return
		}
		r.heads, r.bodies = append(r.heads, head), append(r.bodies, body)
	}
}

// retainedReads are those of one search. Whoever uses it calls wait in the end: nothing may be read when the store is closed.
type retainedReads struct {
	m    *Manager
	list []*retainedRead
}

// start begins to read a page; last says that none follows.
func (q *retainedReads) start(at []pubsub.RetainedAt, last bool) {
	for len(at) > 0 {
		n := min(len(at), readAtOnce)
		r := &retainedRead{at: at[:n]}
		at = at[n:]
		q.list = append(q.list, r)
		if last && n <= readHere {
			r.run(q.m)
			continue
		}
		r.done = make(chan struct{})
		go func() {
			defer close(r.done)
			r.run(q.m)
		}()
	}
}

func (q *retainedReads) plenty() bool { return len(q.list) > readsAhead }

func (q *retainedReads) none() bool { return len(q.list) == 0 }

// next waits for the oldest part and gives it.
func (q *retainedReads) next() *retainedRead {
	r := q.list[0]
	q.list = q.list[1:]
	if r.done != nil {
		<-r.done
	}
	return r
}

func (q *retainedReads) wait() {
	for !q.none() {
		q.next()
	}
}
