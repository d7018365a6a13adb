package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// program is what qmgrd does when it is called by an MQ program's name.
type program struct {
	run func(e *env, args []string) error
}

// programs are the names; qmgrd links makes a link for each.
var programs = map[string]program{
	"crtmqm":       {(*env).crtmqm},
	"strmqm":       {(*env).strmqm},
	"endmqm":       {(*env).endmqm},
	"dspmq":        {(*env).dspmq},
	"dltmqm":       {(*env).dltmqm},
	"dmpmqcfg":     {(*env).dmpmqcfg},
	"dspmqver":     {(*env).dspmqver},
	"setmqaut":     {(*env).setmqaut},
	"dspmqaut":     {(*env).dspmqaut},
	"amqsput":      {(*env).amqsput},
	"amqsget":      {(*env).amqsget},
	"amqsbcg":      {(*env).amqsbcg},
	"amqspub":      {(*env).amqspub},
	"amqssub":      {(*env).amqssub},
	"chkmqready":   {(*env).chkmqready},
	"chkmqhealthy": {(*env).chkmqhealthy},
	"chkmqstarted": {(*env).chkmqstarted},
	"runmqtrm":     {(*env).runmqtrm},
	"runmqdlq":     {(*env).runmqdlq},
	"dspmqtrn":     {(*env).dspmqtrn},
	"rsvmqtrn":     {(*env).rsvmqtrn},
	"strmqcsv":     {(*env).strmqcsv},
	"endmqcsv":     {(*env).endmqcsv},
	"dspmqcsv":     {(*env).dspmqcsv},
	"mqrc":         {(*env).mqrc},
}

func (e *env) linksCmd() *cobra.Command {
	return &cobra.Command{Use: "links DIR", Short: "make links with the names of MQ programs in a directory",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.links(args[0]) }}
}

// links replaces only what is a link to a qmgrd: a real crtmqm stays.
func (e *env) links(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	names := make([]string, 0, len(programs))
	for n := range programs {
		names = append(names, n)
	}
	sort.Strings(names)
	to := map[string]string{}
	for _, n := range names {
		to[n] = self
	}
	if tool := filepath.Join(filepath.Dir(self), "runmqsc"); filepath.Dir(self) != filepath.Clean(dir) {
		if _, err := os.Stat(tool); err == nil { // it is a program of its own, built beside this one
			names = append(names, "runmqsc")
			to["runmqsc"] = tool
		}
	}
	for _, n := range names {
		self, link := to[n], filepath.Join(dir, n)
		old, err := os.Readlink(link)
		switch {
		case err == nil && old == self:
			continue
		case err == nil && filepath.Base(old) == filepath.Base(self):
			err = os.Remove(link)
		case errors.Is(err, os.ErrNotExist):
			err = nil
		default:
			err = fmt.Errorf("%s is there and is not a link to qmgrd; it stays as it is", link)
		}
		if err == nil {
			err = os.Symlink(self, link)
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(e.stdout, "%d links to %s made in %s\n", len(names), self, dir)
	return nil
}

// mqFlag is a flag of an MQ program.
type mqFlag struct {
	name  string // with its dash; a final "=" means that a value follows
	inert bool   // taken for the sake of scripts, without effect here

	refused string // why the flag is refused, "" when it is not
}

// parsed is an MQ program's command line.
type parsed struct {
	flags map[string]string   // the last value
	all   map[string][]string // every value
	args  []string
}

func (p *parsed) has(name string) bool { _, ok := p.flags[name]; return ok }

// parseMQ reads a command line of MQ style: flags of one dash and one or more letters anywhere, a value in the next
// argument or joined to a flag of one letter.
func (e *env) parseMQ(prog string, flags []mqFlag, args []string) (*parsed, error) {
	p := &parsed{flags: map[string]string{}, all: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			p.args = append(p.args, a)
			continue
		}
		f, val, joined := findFlag(flags, a)
		if f == nil {
			return nil, fmt.Errorf("flag %s is not known to %s", a, prog)
		}
		takes := f.name[len(f.name)-1] == '='
		if takes && !joined {
			if i++; i >= len(args) {
				return nil, fmt.Errorf("flag %s needs a value", a)
			}
			val = args[i]
		}
		if f.refused != "" {
			return nil, fmt.Errorf("flag %s is refused: %s", a, f.refused)
		}
		if f.inert {
			fmt.Fprintf(e.stderr, "%s: flag %s is taken and has no effect here\n", prog, a)
			continue
		}
		p.flags[trimEq(f.name)] = val
		p.all[trimEq(f.name)] = append(p.all[trimEq(f.name)], val)
	}
	return p, nil
}

func trimEq(name string) string {
	if name[len(name)-1] == '=' {
		return name[:len(name)-1]
	}
	return name
}

func findFlag(flags []mqFlag, a string) (f *mqFlag, val string, joined bool) {
	for i := range flags {
		if trimEq(flags[i].name) == a {
			return &flags[i], "", false
		}
	}
	for i := range flags {
		n := flags[i].name
		if len(n) == 3 && n[2] == '=' && a[:2] == n[:2] {
			return &flags[i], a[2:], true
		}
	}
	return nil, "", false
}

// mqmNames resolves the data directory and the one queue manager a program is for.
func mqmName(p *parsed) (dir, qm string, err error) {
	if dir, err = paths.DataDir(""); err != nil {
		return "", "", err
	}
	switch len(p.args) {
	case 1:
		return dir, p.args[0], nil
	case 0:
		qm, err = defaultQM(dir)
		return dir, qm, err
	}
	return "", "", fmt.Errorf("one queue manager is named at a time, not %d", len(p.args))
}

// defaultQM is the manager a command means that names none.
func defaultQM(dir string) (string, error) {
	for _, v := range []string{"QMGRD_QM", "MQ_QMGR_NAME"} {
		if qm := os.Getenv(v); qm != "" {
			return qm, nil
		}
	}
	if qm, err := paths.Default(dir); qm != "" || err != nil {
		return qm, err
	}
	names, err := paths.List(dir)
	if err != nil {
		return "", err
	}
	if len(names) != 1 {
		return "", fmt.Errorf("%w: name one, or set QMGRD_QM (%d queue managers in %s)", daemon.ErrNoSuch, len(names), dir)
	}
	return names[0], nil
}
