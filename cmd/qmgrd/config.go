package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/daemon"
)

// dmpmqcfg and dspmqver: what a queue manager has and what this program is.

// dmpmqcfg prints all or a part of a queue manager as MQSC.
func (e *env) dmpmqcfg(args []string) error {
	p, err := e.parseMQ("dmpmqcfg", cfgFlags, args)
	if err != nil {
		return usageError(err)
	}
	if m, ok := p.flags["-m"]; ok {
		p.args = append(p.args, m)
	}
	q := url.Values{"all": {strconv.FormatBool(p.has("-a"))}, "mq-only": {"true"}}
	for flag, word := range map[string]string{"-x": "export", "-t": "type", "-n": "name", "-o": "format"} {
		if v, ok := p.flags[flag]; ok {
			q.Set(word, v)
		}
	}
	switch f := p.flags["-o"]; f {
	case "", "mqsc", "1line", "setmqaut":
	default:
		return usageError(fmt.Errorf("-o %s is not built here: use mqsc, 1line or setmqaut", f))
	}
	dir, qm, err := mqmName(p)
	if err != nil {
		return coded(err, dmpCodes)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return coded(err, dmpCodes)
	}
	resp, err := cl.do(e.ctx, http.MethodGet, "/qmgrd/export", q, nil)
	var r *refusal
	switch {
	case errors.As(err, &r) && r.status == http.StatusBadRequest:
		return usageError(r)
	case errors.As(err, &r):
		return err
	case err != nil:
		return coded(err, dmpCodes)
	}
	defer resp.Body.Close()
	_, err = io.Copy(e.stdout, resp.Body)
	return err
}

// dmpCodes: 10 is a command that failed, 20 nothing done [?].
var dmpCodes = map[error]int{daemon.ErrNoSuch: exitNothing, daemon.ErrNotRunning: exitNothing, daemon.ErrBadName: exitNothing}

// versionRow is a line of dspmqver, and its bit in -f.
type versionRow struct {
	bit         int
	name, value string
}

// versionRows are what qmgrd has of the vendor's list. Version is the command level's, because scripts compare it; Level is
// the version of qmgrd.
func versionRows() []versionRow {
	return []versionRow{{1, "Name", "qmgrd"}, {2, "Version", daemon.VRMF}, {4, "Level", daemon.Version},
		{8, "BuildType", "Production"}, {16, "Platform", "qmgrd for " + runtime.GOOS + " (" + runtime.GOARCH + ")"},
		{32, "Mode", strconv.Itoa(strconv.IntSize) + "-bit"}, {64, "O/S", runtime.GOOS},
		{2048, "MaxCmdLevel", strings.ReplaceAll(strings.TrimSuffix(daemon.VRMF, ".0"), ".", "")}}
}

func (e *env) dspmqver(args []string) error {
	p, err := e.parseMQ("dspmqver", verFlags, args)
	if err != nil {
		return usageError(err)
	}
	if len(p.args) > 0 {
		return usageError(fmt.Errorf("%q is one argument too many", p.args[0]))
	}
	bits := 0
	if v, ok := p.flags["-f"]; ok {
		known := 0
		for _, r := range versionRows() {
			known |= r.bit
		}
		if bits, err = strconv.Atoi(v); err != nil || bits <= 0 || bits&known == 0 {
			return usageError(fmt.Errorf("-f %s: add up bits of what is wanted", v))
		}
	}
	for _, r := range versionRows() {
		switch {
		case bits != 0 && bits&r.bit == 0:
		case p.has("-b"):
			fmt.Fprintln(e.stdout, r.value)
		default:
			fmt.Fprintf(e.stdout, "%-12s %s\n", r.name+":", r.value)
		}
	}
	return nil
}
