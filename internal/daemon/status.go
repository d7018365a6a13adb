package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/web"
)

// askTimeout bounds how long a manager may take to say how it is.
const askTimeout = 5 * time.Second

// StatusOf says how a manager is: from the manager itself when it runs, from what it left behind when not.
func StatusOf(ctx context.Context, dataDir, qm string) (web.Status, error) {
	dir, err := find(dataDir, qm)
	if err != nil {
		return web.Status{}, err
	}
	st := web.Status{Name: qm, Socket: paths.Socket(dataDir, qm), Listeners: []web.Listener{}}
	// The manager itself first: a member of the administrators' group may open the socket, but not the lock.
	if got, err := ask(ctx, st.Socket); err == nil {
		return got, nil
	}
	left, lerr := readState(dir)
	up, err := running(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		st.Status = "Status not available"
		return st, nil
	case err != nil:
		return st, err
	case up:
		got, err := ask(ctx, st.Socket)
		switch {
		case err == nil:
			return got, nil // it has become ready since
		case errors.Is(err, errNoAnswer) && left.Status == StatusRunning:
			st.Status = StatusRunning // its door is open: it is busy
		default:
			st.Status = StatusStarting // no socket yet, or none any more
		}
		st.PID = left.PID
		return st, nil
	}
	st.Status = endedAs(left, lerr)
	return st, nil
}

// endedAs is how a process ended by what it left in its state file.
func endedAs(left state, err error) string {
	if err != nil || left.Status == StatusRunning {
		return StatusEndedCrashed
	}
	return left.Status
}

// leftBehind is how the last process that held the lock ended.
func leftBehind(dir string) string { return endedAs(readState(dir)) }

// errNoAnswer: the socket is open, and nobody answered as expected or in time.
var errNoAnswer = errors.New("the queue manager is busy")

func ask(ctx context.Context, socket string) (web.Status, error) {
	var st web.Status
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	connected := false
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := paths.DialUnix(ctx, socket)
		connected = err == nil
		return c, err
	}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://qmgrd/qmgrd/status", nil)
	if err != nil {
		return st, err
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil && connected {
		err = fmt.Errorf("%w: %v", errNoAnswer, err)
	}
	if err != nil {
		return st, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: status: %s", errNoAnswer, resp.Status)
	}
	if err != nil {
		return st, err
	}
	return st, json.Unmarshal(b, &st)
}

// Statuses says how every manager of a data directory is.
func Statuses(ctx context.Context, dataDir string) ([]web.Status, error) {
	names, err := paths.List(dataDir)
	if err != nil {
		return nil, err
	}
	out := make([]web.Status, 0, len(names))
	for _, n := range names {
		st, err := StatusOf(ctx, dataDir, n)
		if errors.Is(err, ErrNoSuch) {
			continue // deleted since
		}
		if errors.Is(err, fs.ErrPermission) {
			out = append(out, web.Status{Name: n, Status: "Status not available", Listeners: []web.Listener{},
				Warnings: []string{err.Error()}})
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, nil
}

// WaitEnded returns when no process holds the manager any more.
func WaitEnded(ctx context.Context, dataDir, qm string) error {
	dir := paths.Dir(dataDir, qm)
	for {
		up, err := running(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !up {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Check verifies a stopped manager's data.
func Check(dataDir, qm string) ([]store.Problem, error) {
	dir, err := find(dataDir, qm)
	if err != nil {
		return nil, err
	}
	l, err := lock(dir, qm)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if _, err := ReadConfig(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, iniName), err)
	}
	ps, err := store.Check(dir, vfs.OS())
	return append(checkPlaces(dir), ps...), err
}

// checkPlaces reports what stands in the way of a start beside the store: a file for a directory, or the other way round.
func checkPlaces(dir string) []store.Problem {
	var out []store.Problem
	for name, wantDir := range map[string]bool{errorsDir: true, stateName: false} {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		switch {
		case err != nil: // a start makes it
		case wantDir && !st.IsDir():
			out = append(out, store.Problem{File: path, Where: "file", What: "a directory is wanted here"})
		case !wantDir && !st.Mode().IsRegular():
			out = append(out, store.Problem{File: path, Where: "file", What: "an ordinary file is wanted here"})
		}
	}
	return out
}
