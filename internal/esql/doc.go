// Package esql is the subset of ESQL in which Compute and Filter nodes of message flows are programmed: it compiles source
// text to modules and runs a module on a message tree.
//
// Compile reads a source and resolves every name once: variables become slots, labels numbers, functions pointers. A
// Module then runs on an Invocation, which holds the trees, the time and whatever else the program may see. docs/esql.md
// lists what the language offers and what it refuses.
//
// Invariants
//   - No source, however broken, panics or needs memory without a bound; what is refused names file, line, column, what was
//     found and what would do.
//   - A run ends: Limits bound its steps, depth, strings and trees, and Invocation.Interrupted is asked on the way.
//   - Input trees are never changed; a copy of an unparsed body shares its bytes and never shows later changes.
//   - A Program is immutable: any number of runs may use it at the same time.
//
// Package domain below has the parsers of bodies; this one knows them as the interface Domain.
//
// What never happens here: MQ, input and output, clocks, chance. They come in through Invocation.
// Start at Compile (compile.go), Module.Run (run.go), Node (node.go).
package esql
