package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// services implements qmgr.ServiceHost: it runs the programs of SERVICE objects as children of this process. The texts
// it is handed have their inserts replaced. No lock is held while a file is opened or a program started.
type services struct {
	log      *zerolog.Logger
	dir      string
	clk      clock.Clock
	mu       invariants.Mutex
	servers  map[string]*exec.Cmd // nil while it is being started
	helpers  map[*exec.Cmd]bool   // STOPCMDs under way
	ending   bool
	children sync.WaitGroup // servers and STOPCMDs
}

// serviceGrace is how long the programs of services may take to end before they are killed.
const serviceGrace = 5 * time.Second

func newServices(log *zerolog.Logger, dir string, clk clock.Clock) *services {
	return &services{log: log, dir: dir, clk: clk, servers: map[string]*exec.Cmd{}, helpers: map[*exec.Cmd]bool{}}
}

var errEnding = errors.New("the queue manager is ending")

// reserve takes a server's place, so that it is not started twice.
func (h *services) reserve(s qmgr.ServiceSpec) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending {
		return errEnding
	}
	if !s.Server {
		return nil
	}
	if c, ok := h.servers[s.Name]; ok && c != nil {
		return fmt.Errorf("service %s runs already as process %d", s.Name, c.Process.Pid)
	} else if ok {
		return fmt.Errorf("service %s is being started", s.Name)
	}
	h.servers[s.Name] = nil
	h.children.Add(1)
	return nil
}

// Start runs STARTCMD with STARTARG.
func (h *services) Start(s qmgr.ServiceSpec) (int, error) {
	if err := h.reserve(s); err != nil {
		return 0, err
	}
	cmd, err := h.command(s, s.StartCmd, s.StartArg)
	if err == nil {
		err = cmd.Start()
	}
	h.mu.Lock()
	if s.Server {
		delete(h.servers, s.Name)
	}
	switch {
	case !s.Server:
	case err != nil:
		h.children.Done()
	default:
		h.servers[s.Name] = cmd
		h.noteChildren()
		if h.ending { // it came too late for stopAll
			_ = terminate(cmd.Process)
		}
	}
	h.mu.Unlock()
	if err != nil {
		closeOutputs(cmd)
		h.log.Error().Str(obs.FieldAMQ, "AMQ5032E").Str("service", s.Name).Err(err).
			Msgf("service %s cannot start %s", s.Name, s.StartCmd)
		return 0, err
	}
	h.log.Info().Str(obs.FieldAMQ, "AMQ5028I").Str("service", s.Name).Int("pid", cmd.Process.Pid).
		Msgf("service %s started as process %d", s.Name, cmd.Process.Pid)
	go h.wait(s, cmd)
	return cmd.Process.Pid, nil
}

// wait collects the child; it ends with it. The program of a SERVTYPE(COMMAND) service is its own master: it may outlive
// the queue manager, and this goroutine with it.
func (h *services) wait(s qmgr.ServiceSpec, cmd *exec.Cmd) {
	_ = cmd.Wait() // the exit code below says the same
	closeOutputs(cmd)
	exit := cmd.ProcessState.ExitCode()
	h.log.Info().Str(obs.FieldAMQ, "AMQ5029I").Str("service", s.Name).Int("exit", exit).
		Msgf("the program of service %s ended, exit code %d", s.Name, exit)
	if !s.Server {
		return
	}
	h.mu.Lock()
	if h.servers[s.Name] == cmd {
		delete(h.servers, s.Name)
		h.noteChildren()
	}
	h.mu.Unlock()
	if s.Ended != nil {
		s.Ended(exit)
	}
	h.children.Done()
}

// Stop runs STOPCMD; a server without one is sent SIGTERM.
func (h *services) Stop(s qmgr.ServiceSpec) error {
	h.mu.Lock()
	server := h.servers[s.Name]
	h.mu.Unlock()
	if s.StopCmd == "" {
		if server == nil {
			return fmt.Errorf("service %s has no STOPCMD and no running program", s.Name)
		}
		return terminate(server.Process)
	}
	h.mu.Lock()
	if h.ending {
		h.mu.Unlock()
		return errEnding
	}
	h.children.Add(1)
	h.mu.Unlock()
	cmd, err := h.command(s, s.StopCmd, s.StopArg)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.children.Done()
		closeOutputs(cmd)
		return err
	}
	h.mu.Lock()
	h.helpers[cmd] = true
	h.mu.Unlock()
	go func() {
		defer h.children.Done()
		_ = cmd.Wait()
		closeOutputs(cmd)
		h.mu.Lock()
		delete(h.helpers, cmd)
		h.mu.Unlock()
	}()
	return nil
}

func (h *services) command(s qmgr.ServiceSpec, prog, arg string) (*exec.Cmd, error) {
	if prog = strings.TrimSpace(prog); prog == "" {
		return nil, fmt.Errorf("service %s names no program", s.Name)
	}
	args, err := splitArgs(arg)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", s.Name, err)
	}
	cmd := exec.Command(prog, args...)
	cmd.Dir = h.dir
	out, err := output("STDOUT", s.Stdout)
	if err != nil {
		return cmd, err
	}
	cmd.Stdout, cmd.Stderr = out, out
	if s.Stderr != s.Stdout {
		cmd.Stderr = nil
		if out, err = output("STDERR", s.Stderr); err != nil {
			return cmd, err
		}
		cmd.Stderr = out
	}
	return cmd, nil
}

// output opens a service's file for appending; a blank name is /dev/null. It never waits: a pipe that nobody reads is
// refused.
func output(what, name string) (*os.File, error) {
	if strings.TrimSpace(name) == "" {
		name = os.DevNull
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
	if errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%s: %s is a pipe that nobody reads", what, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	// The program must not find it in that mode.
	raw, err := f.SyscallConn()
	if err == nil {
		var serr error
		if err = raw.Control(func(fd uintptr) { serr = syscall.SetNonblock(int(fd), false) }); err == nil {
			err = serr
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %s: %w", what, name, err)
	}
	return f, nil
}

func closeOutputs(cmd *exec.Cmd) {
	if cmd == nil {
		return
	}
	for _, w := range []any{cmd.Stdout, cmd.Stderr} {
		if f, ok := w.(*os.File); ok && f != nil {
			f.Close()
		}
	}
}

// splitArgs splits at blanks; double quotes keep them.
func splitArgs(s string) ([]string, error) {
	var out []string
	var cur strings.Builder
	inWord, inQuote := false, false
	for _, r := range s {
		switch {
		case r == '"':
			inQuote, inWord = !inQuote, true
		case !inQuote && (r == ' ' || r == '\t'):
			if inWord {
				out, inWord = append(out, cur.String()), false
				cur.Reset()
			}
		default:
			cur.WriteRune(r)
			inWord = true
		}
	}
	if inQuote {
		return nil, fmt.Errorf("a double quote is open at the end of %q", s)
	}
	if inWord {
		out = append(out, cur.String())
	}
	return out, nil
}

// signalAll asks the servers that are still there to end.
func (h *services) signalAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = true
	for _, c := range h.servers {
		if c != nil {
			_ = terminate(c.Process)
		}
	}
}

// stopAll ends the servers that are still there and waits for them and for STOPCMDs; those that take longer than
// serviceGrace are killed.
func (h *services) stopAll() {
	h.signalAll()
	gone := make(chan struct{})
	go func() { h.children.Wait(); close(gone) }()
	select {
	case <-gone:
		return
	case <-h.clk.After(serviceGrace):
	}
	h.mu.Lock()
	for name, c := range h.servers {
		if c != nil {
			h.log.Warn().Str(obs.FieldAMQ, "AMQ5029I").Str("service", name).Int("pid", c.Process.Pid).
				Msgf("the program of service %s did not end in %v and is killed", name, serviceGrace)
			_ = c.Process.Kill()
		}
	}
	for c := range h.helpers {
		_ = c.Process.Kill()
	}
	h.mu.Unlock()
	<-gone
}
