// Package fap is the client channel: it accepts the vendor's clients, and turns their segments into verbs of a Backend.
//
// Invariants
//   - A reply that says "done" follows the backend's answer, never before it.
//   - Each socket's goroutines belong to it and have ended when Serve returns; a panic ends its socket only.
//   - Before a peer has connected (MQCONN) it costs a few goroutines, a read buffer, and a few times maxEarly bytes: of messages
//     that are not whole, of those that wait for their turn, and of answers that it does not read; for at most Options.Handshake.
//     Afterwards each of its conversations may have one of the largest messages under way, and maxOut of answers.
//   - Verbs of one conversation run one after the other, in the order in which they came; conversations of one socket do
//     not wait for each other.
//   - A conversation has one owner at most, who alone touches its state (conv.go). Others may kick it.
//   - Writing waits for no peer (outbox.go), and whoever waits for anything has flushed what it wrote (turn.go). Who answers a peer
//     waits until it has read, when much is written (outRoom): then it is read no further.
//   - What a peer has told once, user id and proposal, does not change afterwards: other goroutines look at it without a lock.
//   - A lock under which more is done than fields are set is given back by defer, since a panic is no end of the process.
//
// What never happens here: layouts of bytes (package wire), decisions about queues or users (the Backend).
// Start at Serve (server.go), then socket.go, handshake.go, conv.go; gets that wait are in get.go and resume.go, those that stream
// in stream.go.
package fap
