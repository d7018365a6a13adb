// Package crashtest proves that nothing acknowledged is lost, doubled or torn: T-KILL, T-POWER, T-IOERR, T-CORRUPT and
// the leak checks of docs/robustness.md, at the level of a whole queue manager.
//
// It holds tests only. Each part is one program with a budget (budget_test.go): the same code runs a share in
// `make test`, the numbers of docs/robustness.md in `make crash`, and the large ones in `make release-check`. Every part
// prints its seed and its counts; a seed that found a bug is kept in testdata/crash/seeds.txt and runs first from then on.
package crashtest
