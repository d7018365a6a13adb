package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// A detached manager is this program again in a session of its own. It writes to a pipe, descriptor 3: "ready", or why
// it is not. Its log goes to errors/qmgrd.log, in bounded files, and what the runtime itself says to errors/qmgrd.out.

const (
	// detachedEnv tells the child that descriptor 3 is the pipe.
	detachedEnv = "QMGRD_DETACHED"
	detachedFD  = 3
	readyWord   = "ready"
	// detachTimeout bounds the wait for a start that replays a long log.
	detachTimeout = 10 * time.Minute
	logName       = "qmgrd.log"
	outName       = "qmgrd.out"
	maxLog        = 16 << 20 // bytes of one of three files
)

// Detach starts prog with args and returns when the manager it runs is ready.
func Detach(ctx context.Context, dataDir, qm, prog string, args []string) error {
	dir, err := find(dataDir, qm)
	if err != nil {
		return err
	}
	if up, err := running(dir); err != nil {
		return err
	} else if up {
		return fmt.Errorf("%w: %s", ErrRunning, qm)
	}
	outFile := filepath.Join(dir, errorsDir, outName)
	if err := os.MkdirAll(filepath.Dir(outFile), 0o750); err != nil {
		return err
	}
	out, err := os.OpenFile(outFile, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command(prog, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), detachedEnv+"=1")
	cmd.Dir = "/"
	detachFrom(cmd)
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	return awaitReady(ctx, cmd, r, outFile)
}

// awaitReady reads what the child says. A child that ends without a word has its log shown.
func awaitReady(ctx context.Context, cmd *exec.Cmd, r *os.File, logFile string) error {
	ctx, cancel := context.WithTimeout(ctx, detachTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	// The word comes in a line of its own: whoever else has the pipe open then is not waited for.
	in := bufio.NewReader(r)
	said, err := in.ReadString('\n')
	if strings.TrimSpace(said) == readyWord && ctx.Err() == nil {
		return cmd.Process.Release()
	}
	if err == nil {
		var rest []byte
		rest, err = io.ReadAll(in)
		said += string(rest)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the queue manager (process %d) is not ready yet; see %s", cmd.Process.Pid, logFile)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_ = cmd.Wait() // its code is the failure that said tells
	if msg := strings.TrimSpace(said); msg != "" {
		return newDetachError(cmd.ProcessState.ExitCode(), msg)
	}
	tail, _ := os.ReadFile(logFile)
	return &DetachError{Code: cmd.ProcessState.ExitCode(), Text: fmt.Sprintf("the queue manager ended before it was "+
		"ready (%s); %s says:\n%s", cmd.ProcessState, logFile, last(tail, 2048))}
}

func last(b []byte, n int) string {
	if len(b) > n {
		b = b[len(b)-n:]
	}
	return strings.ToValidUTF8(string(b), "?")
}

// DetachError is what a detached start failed with.
type DetachError struct {
	Code int
	Text string
	kind error
}

func (e *DetachError) Error() string { return e.Text }

// Is lets a detached failure be told like one in the foreground.
func (e *DetachError) Is(target error) bool { return target != nil && target == e.kind }

// failures are what a detached start may fail with that a command wants to tell, by the code it is written with.
var failures = map[string]error{"running": ErrRunning, "script": ErrScript, "missing": ErrNoSuch, "name": ErrBadName,
	"store": ErrStore}

// newDetachError takes what Failed wrote apart: a code, a colon, the text.
func newDetachError(exit int, said string) *DetachError {
	if code, text, ok := strings.Cut(said, ": "); ok {
		if kind, ok := failures[code]; ok {
			return &DetachError{exit, text, kind}
		}
		if code == otherFailure {
			return &DetachError{Code: exit, Text: text}
		}
	}
	return &DetachError{Code: exit, Text: said}
}

const otherFailure = "other"

// Detached is the parent's end of a detached start; nil when this process was not started that way.
type Detached struct{ pipe *os.File }

// NewDetached takes the pipe over.
func NewDetached() *Detached {
	if os.Getenv(detachedEnv) == "" {
		return nil
	}
	os.Unsetenv(detachedEnv)
	// The programs of services must not have it: the parent would wait for them.
	syscall.CloseOnExec(detachedFD)
	return &Detached{os.NewFile(detachedFD, "detached")}
}

// Log is where a detached manager's log goes.
func (d *Detached) Log(dataDir, qm string) (io.WriteCloser, error) {
	name := filepath.Join(paths.Dir(dataDir, qm), errorsDir, logName)
	return obs.OpenRotating(maxLog, name, name+".1", name+".2")
}

// Ready tells the parent that it may return.
func (d *Detached) Ready() { d.say(readyWord) }

// Failed tells the parent why it must not.
func (d *Detached) Failed(err error) {
	code := otherFailure
	for c, kind := range failures {
		if errors.Is(err, kind) {
			code = c
		}
	}
	d.say(code + ": " + err.Error())
}

func (d *Detached) say(text string) {
	_, _ = io.WriteString(d.pipe, text+"\n") // the parent may have gone
	d.pipe.Close()
}

// AbsArgs makes the paths of flags absolute, for a child that runs elsewhere.
func AbsArgs(names []string) ([]string, error) {
	out := make([]string, len(names))
	for i, n := range names {
		abs, err := filepath.Abs(n)
		if err != nil {
			return nil, err
		}
		out[i] = abs
	}
	return out, nil
}
