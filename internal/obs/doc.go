// Package obs is what an operator sees of a running manager: the JSON log, the error log with AMQ identifiers, the
// metric registry and the named goroutine group.
//
// Nothing here decides anything, and nothing is global: two managers in one process have two of each.
package obs
