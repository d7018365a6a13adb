// Package wire is the bytes of the client channel protocol: segments and everything that stands in them, both ways.
//
// Invariants
//   - A decoder never reads past its segment, never panics, and allocates no more than has arrived.
//   - A length that the peer wrote is checked against what is there before it is used.
//   - Decoding what an encoder wrote gives the same values.
//
// What never happens here: sockets, goroutines, verbs, decisions. The server is package fap; the structures of the MQI
// are package mqi. Start at Header (segment.go), Body (body.go) and the table of testdata/*.hex.
package wire
