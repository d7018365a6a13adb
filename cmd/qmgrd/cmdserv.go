package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/daemon"
)

// The programs that start, end and show the command server: strmqcsv, endmqcsv, dspmqcsv. On this platform MQSC has no
// command for it.

var csvCodes = map[error]int{daemon.ErrNotRunning: exitNothing, daemon.ErrNoSuch: exitNothing, daemon.ErrBadName: exitNothing}

func (e *env) strmqcsv(args []string) error {
	p, err := e.parseMQ("strmqcsv", []mqFlag{{name: "-a", inert: true}}, args)
	if err != nil {
		return withCode(exitNothing, err)
	}
	return e.controlCommandServer(p, "start", "started", "runs already")
}

func (e *env) endmqcsv(args []string) error {
	p, err := e.parseMQ("endmqcsv", []mqFlag{{name: "-c", inert: true}, {name: "-i", inert: true}}, args)
	if err != nil {
		return withCode(exitNothing, err)
	}
	return e.controlCommandServer(p, "stop", "ended", "does not run")
}

// controlCommandServer says what was done; that nothing was to be done ends with 10, as the vendor's programs do.
func (e *env) controlCommandServer(p *parsed, action, did, already string) error {
	st, err := e.commandServer(p, http.MethodPost, url.Values{"action": {action}})
	if err != nil {
		return err
	}
	if !st.Changed {
		return withCode(exitRefused, fmt.Errorf("the command server of %s %s", st.Name, already))
	}
	_, err = fmt.Fprintf(e.stdout, "the command server of %s %s\n", st.Name, did)
	return err
}

func (e *env) dspmqcsv(args []string) error {
	p, err := e.parseMQ("dspmqcsv", nil, args)
	if err != nil {
		return withCode(exitNothing, err)
	}
	st, err := e.commandServer(p, http.MethodGet, url.Values{})
	if err != nil {
		return err
	}
	word := map[string]string{"RUNNING": "Running", "STOPPED": "Stopped"}[st.Status]
	_, err = fmt.Fprintln(e.stdout, "AMQ8219I: "+attr.MessageText("AMQ8219I", word))
	return err
}

type commandServerState struct {
	Name    string
	Status  string
	Changed bool
}

func (e *env) commandServer(p *parsed, method string, q url.Values) (*commandServerState, error) {
	dir, qm, err := mqmName(p)
	if err != nil {
		return nil, coded(err, csvCodes)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return nil, coded(err, csvCodes)
	}
	resp, err := cl.do(e.ctx, method, "/qmgrd/cmdserv", q, nil)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return nil, withCode(exitNothing, err)
	case err != nil:
		return nil, coded(err, csvCodes)
	}
	defer resp.Body.Close()
	var st commandServerState
	return &st, json.NewDecoder(resp.Body).Decode(&st)
}
