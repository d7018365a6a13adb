// Command runmqsc runs MQSC commands on a queue manager: from a pipe, a file or a terminal.
//
// It talks HTTP to the manager's local socket and knows no object itself; -v checks a script without a manager.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
