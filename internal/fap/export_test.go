package fap

import (
	"maps"
	"slices"
)

// Unsent is the most that any socket has to write.
func (s *Server) Unsent() int {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.sockets))
	s.mu.Unlock()
	n := 0
	for _, k := range all {
		k.out.mu.Lock()
		n = max(n, len(k.out.buf)+k.out.rest)
		k.out.mu.Unlock()
	}
	return n
}

// InboxLen is how many messages of a conversation wait for their turn.
const InboxLen = inboxLen

// MaxOut is what a socket may have to write, about.
const MaxOut = maxOut

// Streams is of how many handles the conversations of all sockets keep what was asked for; -1 while one of them is at work.
func (s *Server) Streams() int {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.convs))
	s.mu.Unlock()
	n := 0
	for _, c := range all {
		w := &waker{c: c}
		if !w.Own() {
			return -1
		}
		n += len(c.streams.open)
		w.Disown()
	}
	return n
}
