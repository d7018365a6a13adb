package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// The exit codes of the MQ programs (interface.md §1, from general knowledge). 71 is everything else that failed, as
// those programs report unexpected errors.
const exitUnexpected = 71

var (
	crtCodes = map[error]int{daemon.ErrExists: 8, daemon.ErrBadName: 72}
	strCodes = map[error]int{daemon.ErrRunning: 5, daemon.ErrNoSuch: 16, daemon.ErrBadName: 72}
	endCodes = map[error]int{daemon.ErrNotRunning: 40, daemon.ErrNoSuch: 16, daemon.ErrBadName: 72}
	dltCodes = map[error]int{daemon.ErrRunning: 5, daemon.ErrNoSuch: 16, daemon.ErrBadName: 72}
	dspCodes = map[error]int{daemon.ErrNoSuch: 72, daemon.ErrBadName: 72}
)

// coded gives a program's error its exit code.
func coded(err error, codes map[error]int) error {
	if err == nil {
		return nil
	}
	return withCode(codeOf(err, codes, exitUnexpected), err)
}

// usageError is a wrong command line; the MQ programs end with 36 then [?].
func usageError(err error) error { return withCode(36, err) }

func (e *env) crtmqm(args []string) error {
	p, err := e.parseMQ("crtmqm", []mqFlag{{name: "-u="}, {name: "-d="}, {name: "-p="}, {name: "-c="}, {name: "-x="},
		{name: "-h="}, {name: "-q", inert: true}, {name: "-z", inert: true}, {name: "-lc", inert: true},
		{name: "-ll", inert: true}, {name: "-lla", inert: true}, {name: "-lln", inert: true}, {name: "-lf=", inert: true},
		{name: "-lp=", inert: true}, {name: "-ls=", inert: true}, {name: "-ld=", inert: true}, {name: "-md=", inert: true},
		{name: "-g=", inert: true}, {name: "-t=", inert: true}, {name: "-oa=", inert: true}, {name: "-si", inert: true}}, args)
	if err != nil {
		return usageError(err)
	}
	if len(p.args) != 1 {
		return usageError(errors.New("usage: crtmqm [-u DEADQ] [-d XMITQ] [-p PORT] [-c TEXT] [-h HANDLES] [-x MESSAGES] QM"))
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
	return coded(e.create(o), crtCodes)
}

func (e *env) strmqm(args []string) error {
	p, err := e.parseMQ("strmqm", []mqFlag{{name: "-z", inert: true}, {name: "-ns", inert: true}, {name: "-d=", inert: true},
		{name: "-x", inert: true}, {name: "-f", inert: true}, {name: "-c", inert: true}, {name: "-r", inert: true},
		{name: "-si", inert: true}}, args)
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
	p, err := e.parseMQ("endmqm", []mqFlag{{name: "-c"}, {name: "-w"}, {name: "-i"}, {name: "-p"},
		{name: "-z", inert: true}, {name: "-r", inert: true}, {name: "-s", inert: true}, {name: "-x", inert: true},
		{name: "-tp", inert: true}, {name: "-t=", inert: true}}, args)
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
	// endmqm -i and -p return when the end is there, -c and no flag at once; -w waits.
	wait := p.has("-w") || mode != "quiesce"
	if err := e.stop(dir, qm, mode, wait); err != nil {
		return coded(err, endCodes)
	}
	if wait {
		fmt.Fprintf(e.stdout, "queue manager %s ended\n", qm)
	} else {
		fmt.Fprintf(e.stdout, "quiesce request accepted; queue manager %s ends when all work is complete\n", qm)
	}
	return nil
}

func (e *env) dspmq(args []string) error {
	p, err := e.parseMQ("dspmq", []mqFlag{{name: "-m="}, {name: "-a"}, {name: "-n", inert: true}, {name: "-o="},
		{name: "-s"}, {name: "-x", inert: true}}, args)
	if err != nil {
		return usageError(err)
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return coded(err, nil)
	}
	var names []string
	if m, ok := p.flags["-m"]; ok {
		names = []string{m}
	}
	list, err := e.statuses(dir, names)
	if err != nil {
		return coded(err, dspCodes)
	}
	if p.has("-a") {
		up := list[:0]
		for _, st := range list {
			if st.PID != 0 {
				up = append(up, st)
			}
		}
		list = up
	}
	e.printStatuses(list)
	return nil
}

func (e *env) dltmqm(args []string) error {
	p, err := e.parseMQ("dltmqm", []mqFlag{{name: "-z", inert: true}}, args)
	if err != nil {
		return usageError(err)
	}
	if len(p.args) != 1 {
		return usageError(errors.New("usage: dltmqm QM"))
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return coded(err, nil)
	}
	return coded(e.remove(dir, p.args[0]), dltCodes)
}

func (e *env) dmpmqcfg(args []string) error {
	p, err := e.parseMQ("dmpmqcfg", []mqFlag{{name: "-m="}, {name: "-a"}, {name: "-z", inert: true},
		{name: "-o=", inert: true}, {name: "-x=", inert: true}, {name: "-n=", inert: true}, {name: "-t=", inert: true},
		{name: "-s=", inert: true}, {name: "-c=", inert: true}, {name: "-r=", inert: true}, {name: "-u=", inert: true}}, args)
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
	return e.export(dir, qm, p.has("-a"), true, "")
}

func (e *env) dspmqver(args []string) error {
	_, err := e.parseMQ("dspmqver", []mqFlag{{name: "-a", inert: true}, {name: "-b", inert: true}, {name: "-p=", inert: true},
		{name: "-f=", inert: true}, {name: "-i", inert: true}, {name: "-v", inert: true}}, args)
	if err != nil {
		return usageError(err)
	}
	return e.version()
}

func (e *env) chkmqready(args []string) error   { return e.probe("/readyz", args) }
func (e *env) chkmqhealthy(args []string) error { return e.probe("/healthz", args) }

// probe ends with 0 or 1, as a container's probes expect.
func (e *env) probe(path string, args []string) error {
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
	return resp.Body.Close()
}
