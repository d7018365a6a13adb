package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/web"
)

// The exit codes of the MQ programs (interface.md §1, from general knowledge). 71 is everything else that failed, as
// those programs report unexpected errors.
const exitUnexpected = 71

var (
	crtCodes = map[error]int{daemon.ErrExists: 8, daemon.ErrBadName: 72, daemon.ErrBadOption: 36}
	strCodes = map[error]int{daemon.ErrRunning: 5, daemon.ErrNoSuch: 16, daemon.ErrBadName: 72}
	endCodes = map[error]int{daemon.ErrNotRunning: 40, daemon.ErrNoSuch: 16, daemon.ErrBadName: 72}
	dltCodes = map[error]int{daemon.ErrRunning: 5, daemon.ErrNoSuch: 16, daemon.ErrBadName: 72}
	dspCodes = map[error]int{daemon.ErrNoSuch: 72, daemon.ErrBadName: 72}
)

// amqIDs are the message identifiers that scripts look for in what these programs say.
var amqIDs = []struct {
	err error
	id  string
}{{daemon.ErrExists, "AMQ8110E"}, {daemon.ErrNoSuch, "AMQ8118E"}, {daemon.ErrNotRunning, "AMQ8146E"},
	{daemon.ErrRunning, "AMQ8137E"}, {daemon.ErrBadName, "AMQ8158E"}, {fs.ErrPermission, "AMQ8135E"}}

// coded gives a program's error its exit code and its message identifier.
func coded(err error, codes map[error]int) error {
	if err == nil {
		return nil
	}
	code := codeOf(err, codes, exitUnexpected)
	for _, m := range amqIDs {
		if errors.Is(err, m.err) {
			return withCode(code, fmt.Errorf("%s: %w", m.id, err))
		}
	}
	return withCode(code, err)
}

// usageError is a wrong command line; the MQ programs end with 36 then [?].
func usageError(err error) error { return &exitError{code: 36, err: err, usage: true} }

func (e *env) crtmqm(args []string) error {
	p, err := e.parseMQ("crtmqm", crtFlags, args)
	if err != nil {
		return usageError(err)
	}
	if len(p.args) != 1 {
		return usageError(errors.New("name one queue manager"))
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return coded(err, nil)
	}
	o := daemon.CreateOptions{DataDir: dir, Name: p.args[0], DeadQ: p.flags["-u"], DefXmitQ: p.flags["-d"],
		Descr: p.flags["-c"]}
	for flag, to := range map[string]*int{"-p": &o.Port, "-x": &o.MaxUMsgs, "-h": &o.MaxHandles} {
		if v, ok := p.flags[flag]; ok {
			if *to, err = strconv.Atoi(v); err != nil {
				return usageError(fmt.Errorf("flag %s needs a number, not %q", flag, v))
			}
		}
	}
	if err := e.create(o); err != nil {
		return coded(err, crtCodes)
	}
	if p.has("-q") {
		return coded(paths.SetDefault(dir, o.Name), nil)
	}
	return nil
}

func (e *env) strmqm(args []string) error {
	p, err := e.parseMQ("strmqm", strFlags, args)
	if err != nil {
		return usageError(err)
	}
	dir, qm, err := mqmName(p)
	if err != nil {
		return coded(err, strCodes)
	}
	err = e.start(startFlags{opt: daemon.Options{Name: qm, DataDir: dir}, detach: true, level: "info"})
	if err != nil {
		return coded(err, strCodes)
	}
	fmt.Fprintf(e.stdout, "queue manager %s started\n", qm)
	return nil
}

func (e *env) endmqm(args []string) error {
	p, err := e.parseMQ("endmqm", endFlags, args)
	if err != nil {
		return usageError(err)
	}
	dir, qm, err := mqmName(p)
	if err != nil {
		return coded(err, endCodes)
	}
	mode, err := stopMode(p.has("-c"), p.has("-i"), p.has("-p"))
	if err != nil {
		return usageError(err)
	}
	for _, flag := range []string{"-t", "-tp"} {
		if v, ok := p.flags[flag]; ok {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || p.has("-t") && p.has("-tp") {
				return usageError(errors.New("give one of -t and -tp, with a number of seconds"))
			}
			if err := e.stopWithin(dir, qm, stopQuery(mode, p.has("-r")), time.Duration(n)*time.Second, flag == "-tp"); err != nil {
				return coded(err, endCodes)
			}
			fmt.Fprintf(e.stdout, "queue manager %s ended\n", qm)
			return nil
		}
	}
	// endmqm -i and -p return when the end is there, -c and no flag at once; -w waits.
	wait := p.has("-w") || mode != "quiesce"
	if err := e.stopWith(dir, qm, stopQuery(mode, p.has("-r")), wait); err != nil {
		return coded(err, endCodes)
	}
	if wait {
		fmt.Fprintf(e.stdout, "queue manager %s ended\n", qm)
	} else {
		fmt.Fprintf(e.stdout, "quiesce request accepted; queue manager %s ends when all work is complete\n", qm)
	}
	return nil
}

// immediateGrace is what an immediate stop may take before -tp ends the process.
const immediateGrace = 3 * time.Second

// stopWithin asks for an end in one way, and for a harder one when the time is over: immediate, then with hard
// preemptive.
func (e *env) stopWithin(dir, qm string, how url.Values, limit time.Duration, hard bool) error {
	if err := e.stopWith(dir, qm, how, false); err != nil {
		return err
	}
	steps := []string{"immediate"}
	if hard {
		steps = append(steps, "preemptive")
	}
	for _, next := range steps {
		ctx, cancel := context.WithTimeout(e.ctx, limit)
		err := daemon.WaitEnded(ctx, dir, qm)
		cancel()
		if err == nil {
			return nil
		}
		if !errors.Is(err, context.DeadlineExceeded) || e.ctx.Err() != nil {
			return err
		}
		if err := e.stop(dir, qm, next, false); err != nil && !errors.Is(err, daemon.ErrNotRunning) {
			return err
		}
		limit = immediateGrace
	}
	return daemon.WaitEnded(e.ctx, dir, qm)
}

// dspmqShows are the attributes that dspmq -o adds, in the order in which they are printed.
var dspmqShows = map[string][]string{"all": {"STATUS", "DEFAULT", "STANDBY"}, "status": {"STATUS"}, "default": {"DEFAULT"},
	"standby": {"STANDBY"}}

func (e *env) dspmq(args []string) error {
	p, err := e.parseMQ("dspmq", dspmqFlags, args)
	if err != nil {
		return usageError(err)
	}
	show := map[string]bool{}
	for _, o := range p.all["-o"] {
		keys, ok := dspmqShows[o]
		if !ok {
			return usageError(fmt.Errorf("-o %s is not built here: use all, status, default or standby", o))
		}
		for _, k := range keys {
			show[k] = true
		}
	}
	if len(show) == 0 {
		show["STATUS"] = true
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return coded(err, nil)
	}
	list, err := e.dspmqList(dir, p.flags["-m"])
	if err != nil {
		return coded(err, dspCodes)
	}
	def, err := paths.Default(dir)
	if err != nil {
		return coded(err, nil)
	}
	for _, st := range list {
		if p.has("-a") && st.PID == 0 {
			continue
		}
		line := "QMNAME(" + st.Name + ")"
		for _, c := range [][2]string{{"STATUS", st.Status}, {"DEFAULT", yesNo(st.Name == def)}, {"STANDBY", "Not permitted"}} {
			if show[c[0]] {
				line += " " + c[0] + "(" + c[1] + ")"
			}
		}
		fmt.Fprintln(e.stdout, line)
		if p.has("-x") && st.PID != 0 {
			host, err := os.Hostname()
			if err != nil {
				return coded(err, nil)
			}
			fmt.Fprintf(e.stdout, "    INSTANCE(%s) MODE(Active)\n", host)
		}
	}
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// dspmqList finds one queue manager, those that a generic name fits, or all.
func (e *env) dspmqList(dir, name string) ([]web.Status, error) {
	prefix, generic := strings.CutSuffix(name, "*")
	if name != "" && !generic {
		return e.statuses(dir, []string{name})
	}
	list, err := e.statuses(dir, nil)
	if err != nil {
		return nil, err
	}
	out := list[:0]
	for _, st := range list {
		if strings.HasPrefix(st.Name, prefix) {
			out = append(out, st)
		}
	}
	if len(out) == 0 && name != "" {
		return nil, fmt.Errorf("%w: %s in %s", daemon.ErrNoSuch, name, dir)
	}
	return out, nil
}

func (e *env) dltmqm(args []string) error {
	p, err := e.parseMQ("dltmqm", dltFlags, args)
	if err != nil {
		return usageError(err)
	}
	if len(p.args) != 1 {
		return usageError(errors.New("name one queue manager"))
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return coded(err, nil)
	}
	if err := e.remove(dir, p.args[0]); err != nil {
		return coded(err, dltCodes)
	}
	return nil
}

func (e *env) chkmqready(args []string) error   { return e.probe("/readyz", args, hasPort) }
func (e *env) chkmqstarted(args []string) error { return e.probe("/readyz", args, nil) }
func (e *env) chkmqhealthy(args []string) error { return e.probe("/healthz", args, nil) }

// hasPort fails where clients find no port open, as the vendor's chkmqready does. Who may not ask for the status, is told
// what /readyz says.
func hasPort(ctx context.Context, cl *client) error {
	resp, err := cl.do(ctx, http.MethodGet, "/qmgrd/status", url.Values{}, nil)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var st web.Status
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil {
		return err
	}
	if len(st.Listeners) == 0 {
		return errors.New("no port is open for clients; START LISTENER, or start with --listen")
	}
	return nil
}

// probe ends with 0 or 1, as a container's probes expect. also is asked when the answer was yes.
func (e *env) probe(path string, args []string, also func(context.Context, *client) error) error {
	dir, qm, err := mqmName(&parsed{args: args})
	if err != nil {
		return withCode(1, err)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return withCode(1, err)
	}
	resp, err := cl.do(e.ctx, http.MethodGet, path, url.Values{}, nil)
	if err != nil {
		return withCode(1, err)
	}
	resp.Body.Close()
	if also != nil {
		if err := also(e.ctx, cl); err != nil {
			return withCode(1, err)
		}
	}
	return nil
}
