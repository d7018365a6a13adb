// Command qmgrd makes, runs, inspects and ends queue managers, and puts and gets messages. Called by the name of one
// of the MQ programs it stands in for (crtmqm, strmqm, amqsput …), it takes that program's flags and exit codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/qmgrd/qmgrd/internal/daemon"
)

// Exit codes of qmgrd's own commands (interface.md §1).
const (
	exitDone    = 0
	exitRefused = 10
	exitNothing = 20
)

func main() { os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// env is what a command may touch of the outside.
type env struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// run is main with everything injected.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &env{ctx, stdin, stdout, stderr}
	name := filepath.Base(args[0])
	if prog, ok := programs[name]; ok {
		return e.exit(name, prog.run(e, args[1:]))
	}
	root := e.root()
	root.SetArgs(args[1:])
	return e.exit("qmgrd", root.ExecuteContext(ctx))
}

// exitError carries an exit code. A nil err was reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// withCode gives an error its exit code; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// exit reports an error and returns the code.
func (e *env) exit(name string, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitNothing
	var x *exitError
	if errors.As(err, &x) {
		code = x.code
		if x.err == nil {
			return code
		}
	}
	fmt.Fprintf(e.stderr, "%s: %v\n", name, err)
	return code
}

// codeOf finds the MQ program's exit code of a daemon error: existing, missing, running, stopped, badly named.
func codeOf(err error, codes map[error]int, other int) int {
	for _, k := range []error{daemon.ErrExists, daemon.ErrNoSuch, daemon.ErrRunning, daemon.ErrNotRunning,
		daemon.ErrBadName, daemon.ErrScript} {
		if c, ok := codes[k]; ok && errors.Is(err, k) {
			return c
		}
	}
	return other
}
