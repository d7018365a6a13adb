package fap

import (
	"errors"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A client that connects again by itself opens its objects and makes its subscriptions as before, from the descriptors of its
// first calls: what those calls answered is what it asks for. So replies to subscribe verbs keep the strings of the request.

// subOptions are the options of SPI SUBSCRIBE as MQSUB takes them. A client that connects again adds MQSO_RESUME to a durable
// subscription's options, although it had asked for MQSO_ALTER, which MQSUB refuses together. The subscription is as it left
// it, so to resume it is all there is to do.
func subOptions(o int32) int32 {
	const durable = mqi.MQSO_DURABLE | mqi.MQSO_RESUME | mqi.MQSO_ALTER
	if o&durable == durable {
		o &^= mqi.MQSO_ALTER
	}
	return o
}

// errReconnect ends the sockets of clients that are to connect again. They are told nothing: a connection that breaks is what
// makes them.
var errReconnect = errors.New("the client is to connect again: the queue manager ends")

// noteReconnect remembers that a conversation asked for automatic reconnection.
func (k *socket) noteReconnect(options int32) {
	if options&(mqi.MQCNO_RECONNECT|mqi.MQCNO_RECONNECT_Q_MGR) != 0 {
		k.again.Store(true)
	}
}

// Reconnect breaks the connections of clients that connect again by themselves, and returns their number. Others stay.
func (s *Server) Reconnect() int {
	s.mu.Lock()
	all := make([]*socket, 0, len(s.sockets))
	for k := range s.sockets {
		all = append(all, k)
	}
	s.mu.Unlock()
	n := 0
	for _, k := range all {
		if k.again.Load() && k.ctx.Err() == nil { // one that ends already is not sent away, and perhaps has connected again
			n++
			k.cancel(errReconnect)
		}
	}
	return n
}
