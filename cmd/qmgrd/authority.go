package main

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/daemon"
)

// setmqaut and dspmqaut are SET AUTHREC and DISPLAY ENTAUTH in other words: what is shown of a user is what its groups may do, too.

// authTypes are the words of -t.
var authTypes = map[string]string{
	"qmgr": "QMGR", "queue": "QUEUE", "q": "QUEUE", "topic": "TOPIC", "top": "TOPIC", "channel": "CHANNEL",
	"chl": "CHANNEL", "clntconn": "CLNTCONN", "clcn": "CLNTCONN", "comminfo": "COMMINFO", "listener": "LISTENER",
	"lstr": "LISTENER", "namelist": "NAMELIST", "nl": "NAMELIST", "process": "PROCESS", "prcs": "PROCESS",
	"service": "SERVICE", "srvc": "SERVICE", "authinfo": "AUTHINFO", "rqmname": "RQMNAME",
}

// autError is a wrong command line of setmqaut and dspmqaut, which have a code for each thing that may be missing.
func autError(code int, err error) error { return &exitError{code: code, err: err, usage: true} }

// autCodes are their codes for a queue manager that cannot be reached.
var autCodes = map[error]int{daemon.ErrNotRunning: 40, daemon.ErrNoSuch: 72, daemon.ErrBadName: 72}

// authTarget is what both programs name: manager, profile, type and who.
type authTarget struct {
	cl      *client
	profile string
	objType string
	where   string // PROFILE(…) OBJTYPE(…)
	who     []string
	words   []string // +get -put
	remove  bool
}

// authArgs reads the command line. The +auth and -auth words are told from flags by what they follow: a word with a
// dash that is no flag takes an authority away.
func (e *env) authArgs(prog string, args []string, dir func(*parsed) (string, string, error)) (*authTarget, error) {
	var rest, words []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		f, _, _ := findFlag(autFlags, a)
		isWord := len(a) > 2 && (a[0] == '+' || a[0] == '-' && isAuthority(a[1:]))
		switch {
		case isWord:
			words = append(words, a)
		case f != nil && f.name[len(f.name)-1] == '=' && trimEq(f.name) == a && i+1 < len(args):
			rest = append(rest, a, args[i+1])
			i++
		default:
			rest = append(rest, a)
		}
	}
	p, err := e.parseMQ(prog, autFlags, rest)
	if err != nil {
		return nil, usageError(err)
	}
	if m, ok := p.flags["-m"]; ok {
		p.args = append(p.args, m)
	}
	objType, ok := authTypes[strings.ToLower(p.flags["-t"])]
	if !ok {
		if p.flags["-t"] == "" {
			return nil, autError(147, errors.New("-t, the object type, is missing"))
		}
		return nil, autError(148, fmt.Errorf("-t %q is not an object type: use queue, qmgr, topic, channel …", p.flags["-t"]))
	}
	t := &authTarget{profile: p.flags["-n"], objType: objType, words: words, remove: p.has("-remove")}
	if t.profile == "" && objType != "QMGR" {
		return nil, autError(146, errors.New("-n, the object or profile, is missing"))
	}
	for flag, key := range map[string]string{"-p": "PRINCIPAL", "-g": "GROUP"} {
		if v := p.flags[flag]; v != "" {
			t.who = append(t.who, key+"("+quote(v)+")")
		}
	}
	if len(t.who) == 0 {
		return nil, autError(149, errors.New("name a user with -p or a group with -g"))
	}
	if objType == "QMGR" {
		t.where = "OBJTYPE(QMGR)"
	} else {
		t.where = "PROFILE(" + quote(t.profile) + ") OBJTYPE(" + objType + ")"
	}
	d, qm, err := dir(p)
	if err != nil {
		return nil, coded(err, autCodes)
	}
	t.cl, err = connect(d, qm)
	return t, coded(err, autCodes)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// authorities are the words there are, with and without effect on one kind of object.
var authorities = strings.Fields("all alladm allmqi none altusr browse chg clr connect crt ctrl ctrlx dlt dsp get inq " +
	"passall passid pub put resume set setall setid sub system")

func isAuthority(w string) bool {
	w = strings.ToLower(w)
	i := sort.SearchStrings(sortedAuthorities, w)
	return i < len(sortedAuthorities) && sortedAuthorities[i] == w
}

var sortedAuthorities = func() []string {
	s := append([]string(nil), authorities...)
	sort.Strings(s)
	return s
}()

func (e *env) setmqaut(args []string) error { return e.setAuthority(args, mqmName) }

func (e *env) setAuthority(args []string, dir func(*parsed) (string, string, error)) error {
	t, err := e.authArgs("setmqaut", args, dir)
	if err != nil {
		return err
	}
	var add, rmv []string
	for _, w := range t.words {
		if !isAuthority(w[1:]) {
			return autError(151, fmt.Errorf("%s is not an authority: use %s", w, strings.Join(authorities, " ")))
		}
		if w[0] == '+' {
			add = append(add, strings.ToUpper(w[1:]))
		} else {
			rmv = append(rmv, strings.ToUpper(w[1:]))
		}
	}
	if !t.remove && len(add)+len(rmv) == 0 {
		return autError(150, errors.New("name authorities, such as +get -put, or -remove"))
	}
	for _, who := range t.who {
		cmd := "SET AUTHREC " + t.where + " " + who
		if t.remove {
			cmd = "DELETE AUTHREC " + t.where + " " + who
		} else {
			if len(add) > 0 {
				cmd += " AUTHADD(" + strings.Join(add, ",") + ")"
			}
			if len(rmv) > 0 {
				cmd += " AUTHRMV(" + strings.Join(rmv, ",") + ")"
			}
		}
		r, err := t.cl.mqsc(e.ctx, cmd)
		if err != nil {
			return coded(err, autCodes)
		}
		if r.CC != 0 {
			return withCode(exitRefused, errors.New(strings.TrimSpace(r.text())))
		}
	}
	fmt.Fprintln(e.stdout, "the command completed successfully")
	return nil
}

func (e *env) dspmqaut(args []string) error { return e.showAuthority(args, mqmName) }

func (e *env) showAuthority(args []string, dir func(*parsed) (string, string, error)) error {
	t, err := e.authArgs("dspmqaut", args, dir)
	if err != nil {
		return err
	}
	for _, who := range t.who {
		list, err := t.cl.authList(e.ctx, "DISPLAY ENTAUTH "+strings.Replace(t.where, "PROFILE(", "OBJNAME(", 1)+" "+who)
		if err != nil {
			return coded(err, autCodes)
		}
		entity := strings.SplitN(who, "'", 3)[1]
		name := t.profile
		if name == "" {
			name = t.cl.qm
		}
		if len(list) == 0 {
			fmt.Fprintf(e.stdout, "entity %s has no authorities for object %s\n", entity, name)
			continue
		}
		fmt.Fprintf(e.stdout, "entity %s has the following authorities for object %s:\n", entity, name)
		for _, a := range list {
			fmt.Fprintf(e.stdout, "\t%s\n", strings.ToLower(a))
		}
	}
	return nil
}

func (e *env) setmqautCmd() *cobra.Command {
	return &cobra.Command{Use: "setmqaut -m QM -n PROFILE -t TYPE (-p USER|-g GROUP) (+AUTH|-AUTH|-remove)...",
		Short: "change authority records", DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error { return e.ownAut(c, args, e.setAuthority) }}
}

func (e *env) dspmqautCmd() *cobra.Command {
	return &cobra.Command{Use: "dspmqaut -m QM -n PROFILE -t TYPE (-p USER|-g GROUP)",
		Short: "show authority records", DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error { return e.ownAut(c, args, e.showAuthority) }}
}

// ownAut takes --data out of the arguments and gives qmgrd's exit codes.
func (e *env) ownAut(c *cobra.Command, args []string, run func([]string, func(*parsed) (string, string, error)) error) error {
	data := ""
	var rest []string
	for i := 0; i < len(args); i++ {
		v, joined := strings.CutPrefix(args[i], "--data=")
		switch {
		case joined:
			data = v
		case args[i] == "--data" && i+1 < len(args):
			i++
			data = args[i]
		case args[i] == "--help" || args[i] == "-h":
			return c.Help()
		default:
			rest = append(rest, args[i])
		}
	}
	if data != "" {
		if err := c.Root().PersistentFlags().Set("data", data); err != nil {
			return err
		}
	}
	err := run(rest, func(p *parsed) (string, string, error) {
		dir, err := dataDir(c)
		if err != nil || len(p.args) == 1 {
			return dir, strings.Join(p.args, ""), err
		}
		qm, err := defaultQM(dir)
		return dir, qm, err
	})
	var x *exitError
	if errors.As(err, &x) && x.code != exitRefused {
		return withCode(exitNothing, x.err)
	}
	return err
}
