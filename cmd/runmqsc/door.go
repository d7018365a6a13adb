package main

// The manager's local socket, as a client sees it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// maxErrorBody is the most of an error's answer that is read.
const maxErrorBody = 64 << 10

// errNoReply is the end of a -w.
var errNoReply = errors.New("no reply came in the time that -w gives")

// refusedError is an answer other than 200.
type refusedError struct {
	id   string // AMQ message that fits, or ""
	text string
}

func (e *refusedError) Error() string { return e.text }

// door sends scripts to one manager.
type door struct {
	socket, qmgr   string
	user, password string
	http           *http.Client
}

func newDoor(socket, qmgr string) *door {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return paths.DialUnix(ctx, socket) },
		// A script's response begins when its first reply is there, which may be long after the request.
		DisableCompression: true,
	}
	return &door{socket: socket, qmgr: qmgr, http: &http.Client{Transport: t}}
}

func (d *door) login(user, password string) { d.user, d.password = user, password }
func (d *door) name() string                { return d.qmgr }
func (d *door) close()                      { d.http.CloseIdleConnections() }

// probe implements scriptDoor.
func (d *door) probe(ctx context.Context) error {
	conn, err := paths.DialUnix(ctx, d.socket)
	if err != nil {
		return err
	}
	return conn.Close()
}

// script implements scriptDoor.
func (d *door) script(ctx context.Context, in io.Reader, out io.Writer, o mqsc.RunOptions, wait time.Duration) (mqsc.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	guard := newGuard(wait, func() { cancel(errNoReply) })
	defer guard.stop()

	u := url.URL{Scheme: "http", Host: "qmgrd", Path: "/ibmmq/rest/v3/admin/action/qmgr/" + d.qmgr + "/mqsc",
		RawPath: "/ibmmq/rest/v3/admin/action/qmgr/" + url.PathEscape(d.qmgr) + "/mqsc", RawQuery: o.Query().Encode()}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), io.NopCloser(guard.input(in)))
	if err != nil {
		return mqsc.Result{}, err
	}
	req.ContentLength = -1
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set("ibm-mq-rest-csrf-token", "runmqsc")
	if d.user != "" {
		req.SetBasicAuth(d.user, d.password)
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return mqsc.Result{}, because(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return mqsc.Result{}, refusal(resp)
	}
	if _, err := io.Copy(guard.output(out), resp.Body); err != nil {
		return mqsc.Result{}, because(ctx, err)
	}
	res, ok := mqsc.ResultOf(resp.Trailer.Get)
	if !ok {
		return res, fmt.Errorf("queue manager %s ended the connection before the script was done", d.qmgr)
	}
	return res, nil
}

// because prefers the reason of a cancelled context to what the transport makes of it.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// refusal turns an error's answer into an error.
func refusal(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return err
	}
	e := &refusedError{text: strings.TrimSpace(string(body))}
	var doc struct {
		Error []struct{ Message string } `json:"error"`
	}
	if json.Unmarshal(body, &doc) == nil && len(doc.Error) > 0 {
		e.text = doc.Error[0].Message
	}
	if e.text == "" {
		e.text = resp.Status
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.id = "AMQ8135E"
	case http.StatusNotFound:
		e.id = "AMQ8118E"
	case http.StatusServiceUnavailable:
		e.id = "AMQ8146E"
	}
	return e
}

// guard ends a run when replies stay away. It runs from the end of the input on, as typing takes its time.
type guard struct {
	wait  time.Duration
	timer *time.Timer
	armed atomic.Bool
}

func newGuard(wait time.Duration, expired func()) *guard {
	g := &guard{wait: wait}
	if wait > 0 {
		g.timer = time.AfterFunc(wait, expired)
		g.timer.Stop()
	}
	return g
}

func (g *guard) stop() {
	if g.timer != nil {
		g.timer.Stop()
	}
}

type guardedInput struct {
	in io.Reader
	g  *guard
}

func (g *guard) input(in io.Reader) io.Reader {
	if g.timer == nil {
		return in
	}
	return &guardedInput{in, g}
}

func (r *guardedInput) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && r.g.armed.CompareAndSwap(false, true) {
		r.g.timer.Reset(r.g.wait)
	}
	return n, err
}

type guardedOutput struct {
	out io.Writer
	g   *guard
}

func (g *guard) output(out io.Writer) io.Writer {
	if g.timer == nil {
		return out
	}
	return &guardedOutput{out, g}
}

func (w *guardedOutput) Write(p []byte) (int, error) {
	if w.g.armed.Load() {
		w.g.timer.Reset(w.g.wait)
	}
	return w.out.Write(p)
}
