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
	"strings"

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
		if wantsHelp(name, args[1:]) {
			fmt.Fprintf(e.stdout, "usage: %s\n", usages[name])
			return exitDone
		}
		return e.exit(name, prog.run(e, args[1:]))
	}
	root := e.root()
	nameArgs(root)
	root.SetArgs(args[1:])
	return e.exit("qmgrd", root.ExecuteContext(ctx))
}

// exitError carries an exit code. A nil err was reported already.
type exitError struct {
	code  int
	err   error
	usage bool // show the usage line of an MQ name behind it
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
	return &exitError{code: code, err: err}
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
	text := err.Error()
	usage, mq := usages[name]
	if mq {
		text = inMQWords.Replace(text)
	}
	fmt.Fprintf(e.stderr, "%s: %s\n", name, text)
	if mq && x != nil && x.usage {
		fmt.Fprintf(e.stderr, "usage: %s\n", usage)
	}
	return code
}

// inMQWords makes hints of who came by an MQ name name MQ programs.
var inMQWords = strings.NewReplacer("qmgrd start --", "qmgrd start --", "qmgrd create ", "crtmqm ", "qmgrd start ", "strmqm ", "set QMGRD_QM", "set QMGRD_QM or make a default with crtmqm -q")

// codeOf finds the MQ program's exit code of a daemon error: existing, missing, running, stopped, badly named.
func codeOf(err error, codes map[error]int, other int) int {
	for _, k := range []error{daemon.ErrExists, daemon.ErrNoSuch, daemon.ErrRunning, daemon.ErrNotRunning,
		daemon.ErrBadName, daemon.ErrScript, daemon.ErrBadOption} {
		if c, ok := codes[k]; ok && errors.Is(err, k) {
			return c
		}
	}
	return other
}
