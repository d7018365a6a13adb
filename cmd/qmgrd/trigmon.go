package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The trigger monitor: it waits on an initiation queue and starts the program of each trigger message with a shell, as
//
//	APPLICID 'the MQTMC2' ENVRDATA
//
// so that ENVRDATA(&) starts it in the background; otherwise the monitor waits for its end. A program that cannot be
// started leaves its trigger message on the dead-letter queue.

const (
	defaultInitQ = "SYSTEM.DEFAULT.INITIATION.QUEUE"
	// initWait is how long one request waits for a trigger message, in seconds; then the monitor asks again.
	initWait = 24 * 3600
	// What a shell ends with when a program is not there or may not be run.
	shellNotFound, shellNotRunnable = 127, 126
)

func (e *env) trigmonCmd() *cobra.Command {
	var queue string
	c := &cobra.Command{Use: "trigmon QM", Short: "start programs that trigger messages name (runmqtrm)",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			cl, err := connect(dir, args[0])
			if err != nil {
				return err
			}
			return e.trigmon(cl, queue)
		}}
	c.Flags().StringVarP(&queue, "queue", "q", defaultInitQ, "initiation `queue`")
	return c
}

// runmqtrm takes -m QM and -q QUEUE.
func (e *env) runmqtrm(args []string) error {
	p, err := e.parseMQ("runmqtrm", []mqFlag{{name: "-m="}, {name: "-q="}}, args)
	if err != nil {
		return usageError(err)
	}
	if m, ok := p.flags["-m"]; ok {
		p.args = append(p.args, m)
	}
	dir, qm, err := mqmName(p)
	if err != nil {
		return withCode(exitNothing, err)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return withCode(exitNothing, err)
	}
	queue := p.flags["-q"]
	if queue == "" {
		queue = defaultInitQ
	}
	return e.trigmon(cl, queue)
}

// trigmon runs until the queue manager ends or the queue gives nothing any more.
func (e *env) trigmon(cl *client, queue string) error {
	fmt.Fprintf(e.stdout, "trigger monitor waits for trigger messages on %s of %s\n", queue, cl.qm)
	for {
		q := url.Values{"queue": {queue}, "browse": {"no"}, "appl": {"runmqtrm"}}
		_, err := e.take(cl, q, messageFlags{wait: initWait}, func(_ []byte, m *received) error {
			body, err := m.bytes()
			if err != nil {
				return err
			}
			return e.startTriggered(cl, queue, m, body)
		})
		if err != nil {
			return err
		}
	}
}

// startTriggered starts what one trigger message asks for. Only an error of the connection ends the monitor.
func (e *env) startTriggered(cl *client, queue string, m *received, body []byte) error {
	bury := func(why int32, text string, args ...any) error {
		fmt.Fprintf(e.stderr, "qmgrd: trigger message on %s: %s\n", queue, fmt.Sprintf(text, args...))
		q := url.Values{"queue": {queue}, "format": {m.Format},
			"encoding": {strconv.Itoa(int(m.Encoding))}, "ccsid": {strconv.Itoa(int(m.CodedCharSetID))}, "reason": {strconv.Itoa(int(why))}, "appl": {"runmqtrm"}}
		resp, err := cl.do(e.ctx, http.MethodPost, "/qmgrd/undeliverable", q, strings.NewReader(string(body)))
		var refused *refusal
		if errors.As(err, &refused) {
			fmt.Fprintf(e.stderr, "qmgrd: the trigger message is lost, the dead-letter queue does not take it: %v\n", refused)
			return nil
		}
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	if m.Format != mqi.MQFMT_TRIGGER {
		return bury(mqi.MQFB_TM_ERROR, "its format is %q, not %q", m.Format, mqi.MQFMT_TRIGGER)
	}
	tm, _, err := mqi.ParseTM(body, mqi.Coding{Encoding: m.Encoding, CCSID: m.CodedCharSetID})
	switch {
	case err != nil:
		return bury(mqi.MQFB_TM_ERROR, "%v", err)
	case tm.ApplType != mqi.MQAT_UNIX:
		return bury(mqi.MQFB_APPL_TYPE_ERROR, "process %s has application type %d; programs here are of APPLTYPE(UNIX)",
			tm.ProcessName, tm.ApplType)
	case strings.TrimSpace(tm.ApplID) == "":
		return bury(mqi.MQFB_APPL_CANNOT_BE_STARTED, "process %s of queue %s has no APPLICID", tm.ProcessName, tm.QName)
	}
	line, err := triggerCommand(&tm, cl.qm)
	if err != nil {
		return bury(mqi.MQFB_TM_ERROR, "%v", err)
	}
	fmt.Fprintf(e.stdout, "queue %s: starting %s\n", tm.QName, tm.ApplID)
	cmd := exec.CommandContext(e.ctx, "/bin/sh", "-c", line)
	cmd.Stdout, cmd.Stderr = e.stdout, e.stderr
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() != shellNotFound && ended.ExitCode() != shellNotRunnable:
		fmt.Fprintf(e.stdout, "queue %s: %s ended with exit code %d\n", tm.QName, tm.ApplID, ended.ExitCode())
	case err != nil:
		return bury(mqi.MQFB_APPL_CANNOT_BE_STARTED, "%s could not be started: %v", tm.ApplID, err)
	}
	return nil
}

// triggerCommand is the shell's command line: the MQTMC2 is one argument, whatever characters are in it.
func triggerCommand(tm *mqi.TM, qm string) (string, error) {
	c := tm.TMC2(qm)
	arg, err := c.Append(nil, 1208)
	if err != nil {
		return "", err
	}
	quoted := "'" + strings.ReplaceAll(string(arg), "'", `'\''`) + "'"
	return strings.TrimSpace(tm.ApplID + " " + quoted + " " + tm.EnvData), nil
}
