package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// services implements qmgr.ServiceHost: it runs the programs of SERVICE objects as children of this process.
type services struct {
	log      *zerolog.Logger
	name     string
	dir      string
	mu       sync.Mutex
	servers  map[string]*exec.Cmd
	children sync.WaitGroup
}

func newServices(log *zerolog.Logger, name, dir string) *services {
	return &services{log: log, name: name, dir: dir, servers: map[string]*exec.Cmd{}}
}

// expand replaces the inserts of a SERVICE's texts.
func (h *services) expand(s string, pid int) string {
	return strings.NewReplacer(
		"+QMNAME+", h.name,
		"+MQ_Q_MGR_NAME+", h.name,
		"+MQ_Q_MGR_DATA_PATH+", h.dir,
		"+MQ_DATA_PATH+", h.dir,
		"+MQ_SERVER_PID+", strconv.Itoa(pid),
	).Replace(s)
}

// Start runs STARTCMD with STARTARG.
func (h *services) Start(s qmgr.ServiceSpec) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.servers[s.Name]; ok {
		return c.Process.Pid, fmt.Errorf("service %s runs already as process %d", s.Name, c.Process.Pid)
	}
	cmd, err := h.command(s, s.StartCmd, s.StartArg, 0)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		closeOutputs(cmd)
		h.log.Error().Str(obs.FieldAMQ, "AMQ5032E").Str("service", s.Name).Err(err).
			Msgf("service %s cannot start %s", s.Name, s.StartCmd)
		return 0, err
	}
	if s.Server {
		h.servers[s.Name] = cmd
	}
	h.log.Info().Str(obs.FieldAMQ, "AMQ5028I").Str("service", s.Name).Int("pid", cmd.Process.Pid).
		Msgf("service %s started as process %d", s.Name, cmd.Process.Pid)
	h.children.Add(1)
	go h.wait(s, cmd)
	return cmd.Process.Pid, nil
}

// wait collects the child; it ends with it.
func (h *services) wait(s qmgr.ServiceSpec, cmd *exec.Cmd) {
	defer h.children.Done()
	_ = cmd.Wait() // the exit code below says the same
	closeOutputs(cmd)
	exit := cmd.ProcessState.ExitCode()
	h.mu.Lock()
	if h.servers[s.Name] == cmd {
		delete(h.servers, s.Name)
	}
	h.mu.Unlock()
	h.log.Info().Str(obs.FieldAMQ, "AMQ5029I").Str("service", s.Name).Int("exit", exit).
		Msgf("the program of service %s ended, exit code %d", s.Name, exit)
	if s.Server && s.Ended != nil {
		s.Ended(exit)
	}
}

// Stop runs STOPCMD; a server without one is sent SIGTERM.
func (h *services) Stop(s qmgr.ServiceSpec) error {
	h.mu.Lock()
	server := h.servers[s.Name]
	h.mu.Unlock()
	pid := 0
	if server != nil {
		pid = server.Process.Pid
	}
	if s.StopCmd == "" || h.expand(s.StopCmd, pid) == "+MQ_SERVER_PID+" {
		if server == nil {
			return fmt.Errorf("service %s has no STOPCMD and no running program", s.Name)
		}
		return terminate(server.Process)
	}
	cmd, err := h.command(s, s.StopCmd, s.StopArg, pid)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		closeOutputs(cmd)
		return err
	}
	h.children.Add(1)
	go func() {
		defer h.children.Done()
		_ = cmd.Wait()
		closeOutputs(cmd)
	}()
	return nil
}

func (h *services) command(s qmgr.ServiceSpec, prog, arg string, pid int) (*exec.Cmd, error) {
	prog = h.expand(strings.TrimSpace(prog), pid)
	if prog == "" {
		return nil, fmt.Errorf("service %s names no program", s.Name)
	}
	args, err := splitArgs(h.expand(arg, pid))
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", s.Name, err)
	}
	cmd := exec.Command(prog, args...)
	cmd.Dir = h.dir
	if cmd.Stdout, err = output(h.expand(s.Stdout, pid)); err != nil {
		return cmd, err
	}
	if s.Stderr == s.Stdout {
		cmd.Stderr = cmd.Stdout
	} else if cmd.Stderr, err = output(h.expand(s.Stderr, pid)); err != nil {
		return cmd, err
	}
	return cmd, nil
}

// output opens a service's file for appending; a blank name is /dev/null.
func output(name string) (*os.File, error) {
	if strings.TrimSpace(name) == "" {
		name = os.DevNull
	}
	return os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
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

// stopAll ends the servers that are still there and waits for every child.
func (h *services) stopAll() {
	h.mu.Lock()
	for _, c := range h.servers {
		_ = terminate(c.Process)
	}
	h.mu.Unlock()
}
