//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"syscall"
)

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// detachFrom makes a child that outlives its parent's terminal and session.
func detachFrom(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
