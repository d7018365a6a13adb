// Package web is the HTTP door: administration and messaging as the vendor's REST interface has them, the script
// stream of runmqsc, health and metrics, and the paths under /qmgrd/ that our own commands use.
//
// Invariants
//   - The caller of the local socket is who its peer credentials say; nothing in a request changes that.
//   - A slow reader or writer holds no lock and no message that others wait for.
//   - Every body has a bound, but for a script, which is read as it runs.
//
// What never happens here: the meaning of a command or a message. Start at Server (server.go).
package web
