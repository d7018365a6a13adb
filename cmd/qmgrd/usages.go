package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/daemon"
)

// usages are the command lines of the MQ names, shown for -?, -h and --help, and behind what is wrong with one.
var usages = map[string]string{
	"crtmqm": "crtmqm [-q] [-u DEADQ] [-d XMITQ] [-p PORT] [-c TEXT] [-h HANDLES] [-x MESSAGES] QM",
	"strmqm": "strmqm [QM]",
	"endmqm": "endmqm [-c | -w | -i | -p] [-r] [-t SECONDS | -tp SECONDS] [QM]",
	"dspmq":  "dspmq [-m QM] [-a] [-o all|status|default|standby] [-x]",
	"dltmqm": "dltmqm QM",
	"dmpmqcfg": "dmpmqcfg [-m QM] [-a] [-x object|sub|chlauth|authrec|all] [-t TYPE] [-n NAME] [-o mqsc|1line|setmqaut] [QM]\n" +
		"TYPE: all authinfo channel clntconn comminfo lstr namelist process queue qmgr srvc topic",
	"dspmqver": "dspmqver [-a] [-b] [-f BITS]\n" +
		"BITS, added up: 1 name, 2 version, 4 level, 8 build type, 16 platform, 32 mode, 64 operating system, 2048 command level",
	"setmqaut":     "setmqaut -m QM [-n PROFILE] -t TYPE (-p USER | -g GROUP)... (+AUTH | -AUTH | -remove)...",
	"dspmqaut":     "dspmqaut -m QM [-n PROFILE] -t TYPE (-p USER | -g GROUP)",
	"amqsput":      "amqsput QUEUE [QM]",
	"amqsget":      "amqsget QUEUE [QM]",
	"amqsbcg":      "amqsbcg QUEUE [QM]",
	"amqspub":      "amqspub TOPIC [QM]",
	"amqssub":      "amqssub TOPIC [QM]",
	"chkmqready":   "chkmqready [QM]",
	"chkmqhealthy": "chkmqhealthy [QM]",
	"chkmqstarted": "chkmqstarted [QM]",
	"runmqtrm":     "runmqtrm [-m QM] [-q QUEUE]",
	"strmqcsv":     "strmqcsv [QM]",
	"dspmqcsv":     "dspmqcsv [QM]",
	"endmqcsv":     "endmqcsv [-c | -i] [QM]",
	"dspmqtrn":     "dspmqtrn [-m QM] [-e] [-h] [-i] [-a]",
	"rsvmqtrn":     "rsvmqtrn [-m QM] -c NUMBER | -b NUMBER | -f NUMBER",
	"runmqdlq":     "runmqdlq [QUEUE [QM]] < RULES",
	"mqrc":         "mqrc NUMBER | 0xNUMBER | MQRC_NAME | AMQnnnn",
}

// wantsHelp reports whether the command line of an MQ name asks for its usage. -h does, where it is no flag of the program (crtmqm,
// dspmqtrn).
func wantsHelp(name string, args []string) bool {
	own := strings.Contains(usages[name], "[-h")
	for _, a := range args {
		if a == "-?" || a == "--help" || a == "-h" && !own {
			return true
		}
	}
	return false
}

// nameArgs makes every command of qmgrd say which argument is missing or too many, by its Use line.
func nameArgs(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Args == nil || c.DisableFlagParsing {
			continue
		}
		c.Args = argsOf(c.Use)
	}
}

// argsOf checks arguments against a usage such as "put QM QUEUE" or "status [QM]".
func argsOf(use string) cobra.PositionalArgs {
	var need []string
	most := 0
	for _, w := range strings.Fields(use)[1:] {
		most++
		if !strings.HasPrefix(w, "[") {
			need = append(need, w)
		}
	}
	return func(c *cobra.Command, args []string) error {
		usage := "usage: qmgrd " + use + " (flags: qmgrd " + c.Name() + " --help)"
		switch {
		case len(args) < len(need):
			return fmt.Errorf("%s is missing; %s", strings.Join(need[len(args):], " and "), usage)
		case len(args) > most:
			return fmt.Errorf("%q is one argument too many; %s", args[most], usage)
		}
		return nil
	}
}

// warnings tells who started a detached queue manager what of it does not run, such as a listener whose port is taken.
func (e *env) warnings(f startFlags, err error) error {
	if err != nil {
		return err
	}
	st, err := daemon.StatusOf(e.ctx, f.opt.DataDir, f.opt.Name)
	for _, w := range st.Warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", w)
	}
	return err
}
