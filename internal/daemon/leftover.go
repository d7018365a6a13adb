package daemon

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/qmgrd/qmgrd/internal/obs"
)

// The programs of SERVTYPE(SERVER) services outlive a queue manager that was killed. What runs is written down with its
// start time, so that a process number that was given to somebody else since is not taken for it, and the next start ends
// what is left before it starts a second copy.

const childrenName = "services.pids"

// childStart tells when a process was started, in the system's own unit; "" when there is none or the system does not say.
func childStart(pid int) string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// The name in brackets may hold anything; field 22 is counted behind it. A zombie runs no more.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 || f[0] == "Z" {
		return ""
	}
	return f[19]
}

// noteChildren writes down which servers run. h.mu is held. It is not synced: a machine that restarts has none of them.
func (h *services) noteChildren() {
	var b strings.Builder
	for name, c := range h.servers {
		if c != nil {
			if at := childStart(c.Process.Pid); at != "" {
				fmt.Fprintf(&b, "%d %s %s\n", c.Process.Pid, at, name)
			}
		}
	}
	path := filepath.Join(h.dir, childrenName)
	if b.Len() == 0 {
		_ = os.Remove(path)
		return
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o640); err != nil {
		h.log.Warn().Str(obs.FieldAMQ, "AMQ5029W").Err(err).
			Msg("which service programs run could not be written down: if the queue manager is killed the next start does not end them")
	}
}

// endLeftovers ends the programs that an earlier run of the queue manager left behind.
func (h *services) endLeftovers() {
	path := filepath.Join(h.dir, childrenName)
	b, err := os.ReadFile(path)
	if err != nil {
		return // an orderly end removed it
	}
	type child struct {
		pid      int
		at, name string
	}
	var left []child
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if len(f) != 3 {
			continue
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil || pid <= 1 || f[1] == "" || childStart(pid) != f[1] {
			continue
		}
		left = append(left, child{pid, f[1], f[2]})
		h.log.Warn().Str(obs.FieldAMQ, "AMQ5029W").Str("service", f[2]).Int("pid", pid).
			Msgf("the program of service %s (process %d) is left over from an earlier run of the queue manager and is ended", f[2], pid)
		signalTo(pid, syscall.SIGTERM)
	}
	for waited := time.Duration(0); len(left) > 0; waited += leftoverPoll {
		still := left[:0]
		for _, c := range left {
			if childStart(c.pid) == c.at {
				if waited >= serviceGrace {
					signalTo(c.pid, os.Kill)
				}
				still = append(still, c)
			}
		}
		if left = still; len(left) == 0 || waited > 2*serviceGrace {
			break
		}
		<-h.clk.After(leftoverPoll)
	}
	for _, c := range left {
		h.log.Error().Str(obs.FieldAMQ, "AMQ5029E").Str("service", c.name).Int("pid", c.pid).
			Msgf("the program of service %s (process %d), left over from an earlier run, cannot be ended", c.name, c.pid)
	}
	_ = os.Remove(path)
}

func signalTo(pid int, sig os.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(sig) // that it is gone is what is wanted
	}
}

const leftoverPoll = 20 * time.Millisecond
