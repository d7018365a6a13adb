package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// Errors that the commands turn into exit codes.
var (
	ErrExists     = errors.New("the queue manager exists already")
	ErrNoSuch     = errors.New("there is no such queue manager")
	ErrBadName    = errors.New("the name is not allowed")
	ErrRunning    = errors.New("the queue manager is running")
	ErrNotRunning = errors.New("the queue manager is not running")
	// ErrStore: the store refused to accept more work while the manager ran.
	ErrStore = errors.New("the store failed")
)

// Status words as dspmq prints them.
const (
	StatusStarting     = "Starting"
	StatusRunning      = "Running"
	StatusQuiescing    = "Quiescing"
	StatusEndingNow    = "Ending immediately"
	StatusEndingHard   = "Ending preemptively"
	StatusEndedNormal  = "Ended normally"
	StatusEndedNow     = "Ended immediately"
	StatusEndedHard    = "Ended preemptively"
	StatusEndedCrashed = "Ended unexpectedly"
)

const (
	iniName   = "qm.ini"
	lockName  = "lock"
	stateName = "qmstatus.json"
	errorsDir = "errors"
)

// state is qmstatus.json: what the last process that held the lock said of itself.
type state struct {
	Status string `json:"status"`
	PID    int    `json:"pid"`
}

func readState(dir string) (state, error) {
	var s state
	b, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(b, &s)
}

// stateSize is what qmstatus.json always has, so that a full disk does not keep a manager from saying how it ended.
const stateSize = 128

// writeState overwrites qmstatus.json. It is not synced: what it says of a machine that lost power is not asked for,
// and half of it reads as a crash.
func writeState(dir string, s state) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	b = append(b, bytes.Repeat([]byte{' '}, max(0, stateSize-1-len(b)))...)
	b = append(b, '\n')
	f, err := os.OpenFile(filepath.Join(dir, stateName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o640)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return errors.Join(err, f.Close())
}

// find returns the folder of a manager that exists.
func find(dataDir, qm string) (string, error) {
	if err := paths.ValidName(qm); err != nil {
		return "", fmt.Errorf("%w: %v", ErrBadName, err)
	}
	dir := paths.Dir(dataDir, qm)
	_, err := os.Stat(filepath.Join(dir, iniName))
	switch {
	case err == nil:
		return dir, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w: %s in %s; qmgrd create %s makes it", ErrNoSuch, qm, dataDir, qm)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%w: run it as root, as the user of queue manager %s, or as a member of its administrators' "+
			"group (qm.ini)", err, qm)
	default:
		return "", err
	}
}

// lock takes the manager's lock for this process.
func lock(dir, qm string) (io.Closer, error) {
	c, err := vfs.OS().Lock(filepath.Join(dir, lockName))
	if errors.Is(err, vfs.ErrLocked) {
		who := ""
		if s, err := readState(dir); err == nil && s.PID > 0 {
			who = fmt.Sprintf(" (process %d)", s.PID)
		}
		return nil, fmt.Errorf("%w: %s%s holds %s", ErrRunning, qm, who, dir)
	}
	return c, err
}

// running reports whether some process holds the manager's lock.
func running(dir string) (bool, error) { return vfs.Locked(filepath.Join(dir, lockName)) }

// Delete removes a stopped manager and everything it kept.
func Delete(dataDir, qm string) error {
	dir, err := find(dataDir, qm)
	if err != nil {
		return err
	}
	l, err := lock(dir, qm)
	if err != nil {
		return err
	}
	defer l.Close()
	// Under another name first: a removal that is cut short leaves no half manager.
	gone := filepath.Join(dataDir, fmt.Sprintf("%s%s-%d", deletePrefix, paths.Folder(qm), os.Getpid()))
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	if err := vfs.OS().SyncDir(dataDir); err != nil {
		return err
	}
	sweep(dataDir)
	return os.RemoveAll(gone)
}

// Prefixes of folders under way: a manager that is being made, and one that is being removed.
const (
	createPrefix = ".create-"
	deletePrefix = ".delete-"
	// sweepAfter is the age of a .create- folder that nobody can be working on any more.
	sweepAfter = time.Hour
)

// sweep removes what a creation or removal that was cut short has left. That it cannot is no failure of what calls it.
func sweep(dataDir string) {
	names, err := vfs.OS().List(dataDir)
	if err != nil {
		return
	}
	for _, n := range names {
		dir := filepath.Join(dataDir, n)
		switch {
		case strings.HasPrefix(n, deletePrefix):
		case strings.HasPrefix(n, createPrefix):
			if st, err := os.Lstat(dir); err != nil || clock.Real().Now().Sub(st.ModTime()) < sweepAfter {
				continue
			}
		default:
			continue
		}
		_ = os.RemoveAll(dir)
	}
}
