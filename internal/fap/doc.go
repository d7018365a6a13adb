// Package fap is the client channel: it accepts the vendor's clients, and turns their segments into verbs of a Backend.
//
// Invariants
//   - A reply that says "done" follows the backend's answer, never before it.
//   - Each socket's goroutines belong to it and have ended when Serve returns; a panic ends its socket only.
//   - Before a peer has connected (MQCONN) it costs one goroutine, a read buffer and at most maxEarly bytes, for at most
//     Options.Handshake.
//   - Verbs of one conversation run one after the other, in the order in which they came; conversations of one socket do
//     not wait for each other.
//   - A conversation has one owner at most, who alone touches its state (conv.go). Others may kick it.
//   - Writing waits for no peer (outbox.go), and whoever waits for anything has flushed what it wrote (turn.go).
//
// What never happens here: layouts of bytes (package wire), decisions about queues or users (the Backend).
// Start at Serve (server.go), then socket.go, handshake.go, conv.go; gets that wait are in get.go and resume.go, those that stream
// in stream.go.
package fap
