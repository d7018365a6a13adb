package main

// Flags as runmqsc has them: single letters in any order, values attached or behind, the queue manager's name among them.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxWait is the greatest value of -w, in seconds.
const maxWait = 999999

type flags struct {
	noEcho  bool          // -e
	verify  bool          // -v
	wait    time.Duration // -w
	zos     bool          // -x
	gateway string        // -m
	client  bool          // -c
	user    string        // -u
	file    string        // -f
	ccdt    bool          // -n
	prompt  string        // -p
	data    string        // --data
	json    bool          // --json
	help    bool
	qmgr    string
}

const usage = `Usage: runmqsc [-e] [-v] [-c] [-w seconds] [-u user] [-f file] [-p prompt] [--json]
               [--data dir] [queue manager]
  -e          do not copy the commands into the report
  -v          check the commands, run nothing; needs no queue manager
  -c          connect as a client, where MQSERVER says: CHANNEL/TCP/host(port), or else the
              channel definition table in JSON that MQCCDTURL names (file:///...), with TLS by
              MQSSLKEYR. The command server of the queue manager executes the commands
  -w seconds  give up when no reply comes for so long
  -u user     user id; the password is asked for, or is the first line of the input.
              Both are checked as CHCKLOCL of the CONNAUTH object says
  -f file     read commands from a file
  -p prompt   prompt of the terminal, also MQPROMPT; +QMNAME+ stands for the name
  --json      one JSON object a line for each command
  --data dir  data directory, also QMGRD_DATA
Without a name: QMGRD_QM, the default queue manager (crtmqm -q), or the only one there is.
Not built, and refused: -n, -x, and -m with the name of another queue manager.
`

// parseFlags reads the arguments.
func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			for _, a := range args {
				if err := f.name(a); err != nil {
					return nil, err
				}
			}
			args = nil
		case strings.HasPrefix(arg, "--"):
			args, err = f.long(arg[2:], args)
		case len(arg) > 1 && arg[0] == '-':
			args, err = f.short(arg[1:], args)
		default:
			err = f.name(arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, f.check()
}

func (f *flags) name(a string) error {
	if f.qmgr != "" {
		return fmt.Errorf("two queue managers are named: %s and %s", f.qmgr, a)
	}
	if a == "" {
		return errors.New("the queue manager's name is empty")
	}
	f.qmgr = a
	return nil
}

func (f *flags) long(arg string, rest []string) ([]string, error) {
	name, val, has := strings.Cut(arg, "=")
	switch name {
	case "json":
		f.json = true
	case "help":
		f.help = true
	case "data":
		if !has {
			if len(rest) == 0 {
				return nil, errors.New("--data needs a directory")
			}
			val, rest = rest[0], rest[1:]
		}
		f.data = val
		return rest, nil
	default:
		return nil, fmt.Errorf("unknown flag --%s", name)
	}
	if has {
		return nil, fmt.Errorf("flag --%s takes no value", name)
	}
	return rest, nil
}

// short reads a cluster of letters; a letter with a value takes the rest of it, or the next argument.
func (f *flags) short(letters string, rest []string) ([]string, error) {
	for i := 0; i < len(letters); i++ {
		c := letters[i]
		switch c {
		case 'e':
			f.noEcho = true
		case 'v':
			f.verify = true
		case 'x':
			f.zos = true
		case 'c':
			f.client = true
		case 'n':
			f.ccdt = true
		case 'h', '?':
			f.help = true
		case 'w', 'm', 'u', 'f', 'p':
			val := letters[i+1:]
			if val == "" {
				if len(rest) == 0 {
					return nil, fmt.Errorf("flag -%c needs a value", c)
				}
				val, rest = rest[0], rest[1:]
			}
			return rest, f.set(c, val)
		default:
			return nil, fmt.Errorf("unknown flag -%c", c)
		}
	}
	return rest, nil
}

func (f *flags) set(c byte, val string) error {
	switch c {
	case 'w':
		n, err := strconv.Atoi(val)
		if err != nil || n < 1 || n > maxWait {
			return fmt.Errorf("-w %s: give seconds between 1 and %d", val, maxWait)
		}
		f.wait = time.Duration(n) * time.Second
	case 'm':
		f.gateway = val
	case 'u':
		f.user = val
	case 'f':
		f.file = val
	case 'p':
		f.prompt = val
	}
	return nil
}

// check refuses flags that do not go together. With -v, -w and -x are ignored.
func (f *flags) check() error {
	if f.help || f.verify {
		return nil
	}
	switch {
	case f.gateway != "" && f.wait == 0:
		return errors.New("-m needs -w")
	case f.client && f.wait != 0:
		return errors.New("-c and -w exclude each other")
	}
	return nil
}
