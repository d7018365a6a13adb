// Package xmitq is about messages on their way to another queue manager: the headers in front of them (MQXQH, MQMDE,
// MQDLH), built and read, and which way a put takes when there are two, the transmission queue of a channel and
// SYSTEM.QSG.TRANSMIT.QUEUE of intra-group queuing.
//
// Invariants
//   - Whatever is built here is read here to the same values, in either byte order.
//   - A short message is never diverted to the channel's queue, a long one never to the shared queue.
//
// What never happens here: sending, putting, looking up objects. The caller resolves names and hands in what it found.
// Start at Candidates (choose.go) and Header (header.go).
package xmitq
