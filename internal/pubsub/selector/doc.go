// Package selector reads and evaluates message selectors: the subset of SQL92 conditions with which MQSUB, MQOPEN,
// DEFINE SUB and JMS consumers choose messages by their properties.
//
// Invariants
//   - Logic has three values. A property that is not there is NULL, and only TRUE selects.
//   - A Selector is never changed after Parse and may be used by many goroutines.
//
// What never happens here: decoding of messages. The caller hands in properties by name; Message gives those of a
// message descriptor.
// Start at Parse (parse.go), then Selector.Matches (eval.go).
package selector
