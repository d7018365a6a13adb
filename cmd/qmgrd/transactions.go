package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// trnCmd shows and settles units of work that a transaction manager has prepared and left.
func (e *env) trnCmd() *cobra.Command {
	c := &cobra.Command{Use: "trn", Short: "show and settle prepared units of work (dspmqtrn, rsvmqtrn)",
		Long: "trn is for two-phase units of work (XA): a prepared one waits for its transaction manager, over restarts too.\n" +
			"When that does not come back, an operator settles it; the transaction manager is told when it does."}
	c.AddCommand(e.trnListCmd(), e.trnResolveCmd())
	return c
}

func (e *env) trnListCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "list QM", Short: "show prepared units of work", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			list, err := e.transactions(dir, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(e.stdout).Encode(list)
			}
			return e.printTransactions(list)
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (e *env) trnResolveCmd() *cobra.Command {
	return &cobra.Command{Use: "resolve QM NUMBER commit|backout|forget", Short: "settle a prepared unit of work",
		Long: "resolve commits a prepared unit of work or backs it out in place of its transaction manager, which is told of it\n" +
			"when it asks (XA_HEURCOM, XA_HEURRB) and then forgets it; forget does that when no transaction manager comes.",
		Args: cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			n, err := trnNumber(args[1])
			if err != nil {
				return err
			}
			return e.resolve(dir, args[0], n, args[2])
		}}
}

// trnNumber reads 7, 0.7 or 0,7.
func trnNumber(s string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.Replace(s, ",", ".", 1), "0."), 10, 53)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no number of a transaction", s)
	}
	return n, nil
}

func (e *env) transactions(dir, qm string) ([]qmgr.Transaction, error) {
	cl, err := connect(dir, qm)
	if err != nil {
		return nil, err
	}
	resp, err := cl.do(e.ctx, http.MethodGet, "/qmgrd/transactions", url.Values{}, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list []qmgr.Transaction
	return list, json.NewDecoder(resp.Body).Decode(&list)
}

func (e *env) resolve(dir, qm string, n uint64, action string) error {
	switch action {
	case qmgr.ResolveCommit, qmgr.ResolveBack, qmgr.ResolveForget:
	default:
		return fmt.Errorf("%q: commit, backout or forget", action)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return err
	}
	resp, err := cl.do(e.ctx, http.MethodPost, "/qmgrd/transactions",
		url.Values{"number": {strconv.FormatUint(n, 10)}, "action": {action}}, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (e *env) printTransactions(list []qmgr.Transaction) error {
	for _, t := range list {
		_, err := fmt.Fprintf(e.stdout, "TRANSACTION(0.%d) STATE(%s) XA_FORMATID[%08X] XA_GTRID[%s] XA_BQUAL[%s]\n"+
			"   PREPARED(%s) USERID(%s) APPLTAG(%s) PUTS(%d) GETS(%d) QUEUES(%s)\n",
			t.Number, t.State, uint32(t.Format), t.Global, t.Branch, t.Prepared.Format(time.RFC3339), t.User, t.Appl, t.Puts, t.Gets,
			strings.Join(t.Queues, " "))
		if err != nil {
			return err
		}
	}
	return nil
}

// The exit codes of dspmqtrn and rsvmqtrn [?, from general knowledge].
const (
	exitNoTransactions = 102
	exitUnknownTrn     = 85
)

var trnCodes = map[error]int{daemon.ErrNotRunning: 40, daemon.ErrNoSuch: 72, daemon.ErrBadName: 72}

var dspmqtrnFlags = []mqFlag{{name: "-m="}, {name: "-e"}, {name: "-h"}, {name: "-i"}, {name: "-a"}, {name: "-q", inert: true}}

// dspmqtrn shows prepared transactions, with -h those that an operator has settled, with -a both. There are none that this
// queue manager coordinates itself (-i).
func (e *env) dspmqtrn(args []string) error {
	p, err := e.parseMQ("dspmqtrn", dspmqtrnFlags, args)
	if err != nil {
		return usageError(err)
	}
	dir, qm, err := trnQM(p)
	if err != nil {
		return coded(err, trnCodes)
	}
	all, err := e.transactions(dir, qm)
	if err != nil {
		return coded(err, trnCodes)
	}
	settled := p.has("-h") || p.has("-a")
	prepared := p.has("-e") || p.has("-a") || !p.has("-h") && !p.has("-i")
	var list []qmgr.Transaction
	for _, t := range all {
		if t.State == "PREPARED" && prepared || t.State != "PREPARED" && settled {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return withCode(exitNoTransactions, fmt.Errorf("queue manager %s has no such transactions", qm))
	}
	return e.printTransactions(list)
}

var rsvmqtrnFlags = []mqFlag{{name: "-m="}, {name: "-c="}, {name: "-b="}, {name: "-f="},
	{name: "-a", refused: "there are no transactions that this queue manager coordinates"},
	{name: "-r=", refused: "there are no resource managers that this queue manager coordinates"}}

// rsvmqtrn settles a transaction: -c commits, -b backs out, -f forgets.
func (e *env) rsvmqtrn(args []string) error {
	p, err := e.parseMQ("rsvmqtrn", rsvmqtrnFlags, args)
	if err != nil {
		return usageError(err)
	}
	var action, number string
	for flag, a := range map[string]string{"-c": qmgr.ResolveCommit, "-b": qmgr.ResolveBack, "-f": qmgr.ResolveForget} {
		v, ok := p.flags[flag]
		if !ok {
			continue
		}
		if action != "" {
			return usageError(errors.New("give one of -c, -b and -f"))
		}
		action, number = a, v
	}
	if action == "" {
		return usageError(errors.New("-c, -b or -f with the number of a transaction is missing; dspmqtrn shows them"))
	}
	n, err := trnNumber(number)
	if err != nil {
		return usageError(err)
	}
	dir, qm, err := trnQM(p)
	if err != nil {
		return coded(err, trnCodes)
	}
	err = e.resolve(dir, qm, n, action)
	var r *refusal
	if errors.As(err, &r) && r.RC == int32(mqi.MQRC_UOW_NOT_AVAILABLE) {
		return withCode(exitUnknownTrn, err)
	}
	return coded(err, trnCodes)
}

// trnQM is the queue manager of -m, or the default one.
func trnQM(p *parsed) (dir, qm string, err error) {
	if v, ok := p.flags["-m"]; ok {
		p.args = append(p.args, v)
	}
	return mqmName(p)
}
