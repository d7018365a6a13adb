package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/paths"
)

func (e *env) dlqhandlerCmd() *cobra.Command {
	return &cobra.Command{Use: "dlqhandler QM [QUEUE]", Short: "work through a dead-letter queue by the rules on standard input (runmqdlq)",
		Long: "dlqhandler reads a rule table from standard input and treats the messages of a dead-letter queue by it:\n" +
			"ACTION(RETRY), ACTION(FWD), ACTION(DISCARD) or ACTION(IGNORE) for messages that fit the patterns of a rule.\n" +
			"Without QUEUE it takes INPUTQ of the rule table, else DEADQ of the queue manager. WAIT(NO) ends it when\n" +
			"nothing is left to do; WAIT(YES), the default, keeps it waiting.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			queue := ""
			if len(args) > 1 {
				queue = args[1]
			}
			return e.dlqhandler(dir, args[0], queue)
		}}
}

// runmqdlq takes [QUEUE [QM]].
func (e *env) runmqdlq(args []string) error {
	p, err := e.parseMQ("runmqdlq", []mqFlag{{name: "-u=", inert: true}}, args)
	if err != nil {
		return usageError(err)
	}
	queue := ""
	if len(p.args) > 0 {
		queue, p.args = p.args[0], p.args[1:]
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return withCode(exitNothing, err)
	}
	qm := ""
	if len(p.args) > 0 {
		qm = p.args[0]
	} else if qm, err = defaultQM(dir); err != nil {
		return withCode(exitNothing, err)
	}
	return e.dlqhandler(dir, qm, queue)
}

// dlqhandler sends the rule table and prints what is done with each message.
func (e *env) dlqhandler(dir, qm, queue string) error {
	cl, err := connect(dir, qm)
	if err != nil {
		return err
	}
	resp, err := cl.do(e.ctx, http.MethodPost, "/qmgrd/deadletters", url.Values{"queue": {queue}}, e.stdin)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return e.readLines(resp.Body, func(line []byte) error {
		var m struct{ Text string }
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		_, err := fmt.Fprintln(e.stdout, m.Text)
		return err
	})
}
