// Package mqsc is the MQSC language: it joins lines to commands, parses and checks them against the tables of
// package attr, runs scripts and writes replies in runmqsc's layout, and writes definitions that parse back.
//
// Invariants
//   - Every attr.Command that leaves Parse has known keywords and canonical values; nothing behind it checks syntax.
//   - No input, however long or broken, panics or needs memory without a bound.
//   - A report's lines are in the order of the script, whatever the order in which commands end.
//
// What never happens here: the meaning of a command. Objects, authority and storage are behind Executor.
// Start at Run (run.go) for scripts, Parse (parse.go) for one command, WriteReply (layout.go) for output.
package mqsc
