package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/chzyer/readline"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// Exit codes: 0 all done and 10 some refused come from mqsc.Result.
const exitNothing = 20

// banner is the first line of a report. Tools go by the second.
const banner = "qmgrd runmqsc: MQSC commands for qmgrd queue managers."

// scriptDoor is how a queue manager is reached: its local socket, or as a client.
type scriptDoor interface {
	// probe sees whether the manager answers at all, before any input is read.
	probe(ctx context.Context) error
	// script sends a script and copies its report to out as it comes to be. wait, when not 0, is how long a reply may take
	// once the script is sent.
	script(ctx context.Context, in io.Reader, out io.Writer, o mqsc.RunOptions, wait time.Duration) (mqsc.Result, error)
	login(user, password string)
	name() string // of the queue manager, once it has answered
	close()
}

// session is one call of the program.
type session struct {
	f      *flags
	in     io.Reader
	out    io.Writer
	err    io.Writer
	dir    string // data directory
	qmgr   string
	door   scriptDoor
	openTT func(in io.Reader, out io.Writer, s *session) (lineReader, bool) // nil: never a terminal
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	if err != nil {
		fmt.Fprintf(stderr, "runmqsc: %v\n%s", err, usage)
		return exitNothing
	}
	if f.help {
		fmt.Fprint(stdout, usage)
		return 0
	}
	s := &session{f: f, in: stdin, out: stdout, err: stderr, openTT: openTerminal}
	return s.run(ctx)
}

func (s *session) run(ctx context.Context) int {
	if what := s.notBuilt(); what != "" {
		return s.refuse(what)
	}
	if s.f.file != "" {
		file, err := os.Open(s.f.file)
		if err != nil {
			return s.refuse(err.Error())
		}
		defer file.Close()
		if s.f.user == "" {
			s.in = file
		} else {
			s.in = &passwordFirst{from: s.in, rest: file}
		}
	}
	if s.f.verify {
		return s.verify(ctx)
	}
	if err := s.open(); err != nil {
		return s.refuse(err.Error())
	}
	defer s.door.close()
	var tt lineReader
	if s.openTT != nil && s.f.file == "" && !s.f.json {
		tt, _ = s.openTT(s.in, s.out, s)
	}
	if tt != nil {
		defer tt.Close()
	}
	if err := s.password(tt); err != nil {
		return s.refuse(err.Error())
	}
	err := s.door.probe(ctx)
	s.qmgr = s.door.name()
	s.start("Starting MQSC for queue manager " + s.qmgr + ".")
	if err != nil {
		return s.unavailable(err)
	}
	if tt != nil {
		return s.interactive(ctx, tt)
	}
	return s.piped(ctx)
}

// open chooses the door.
func (s *session) open() error {
	if s.f.client {
		return s.openClient()
	}
	if err := s.resolve(); err != nil {
		return err
	}
	s.door = newDoor(paths.Socket(s.dir, s.qmgr), s.qmgr)
	return nil
}

// notBuilt names what this version does not do, so that nobody waits for it.
func (s *session) notBuilt() string {
	switch {
	case s.f.verify:
		return ""
	case s.f.ccdt:
		return "-n: editing a client channel definition table is not built yet (issue: client channel tables)"
	case s.f.zos:
		return "-x: a target on z/OS is not built yet (issue: remote administration through the command queue)"
	case s.f.gateway != "" && s.f.qmgr != "" && s.f.gateway != s.f.qmgr:
		return "-m: going through another queue manager is not built yet (issue: remote administration through the command queue)"
	}
	return ""
}

// refuse says why nothing could be done.
func (s *session) refuse(why string) int {
	fmt.Fprintf(s.err, "runmqsc: %s\n", why)
	return exitNothing
}

// start writes the start lines.
func (s *session) start(second string) {
	if !s.f.json {
		fmt.Fprintf(s.out, "%s\n%s\n\n\n", banner, second)
	}
}

// resolve finds the data directory and the queue manager.
func (s *session) resolve() error {
	dir, err := paths.DataDir(s.f.data)
	if err != nil {
		return err
	}
	s.dir, s.qmgr = dir, s.f.qmgr
	if s.qmgr == "" {
		s.qmgr = s.f.gateway
	}
	if s.qmgr == "" {
		s.qmgr = os.Getenv("QMGRD_QM")
	}
	if s.qmgr != "" {
		return paths.ValidName(s.qmgr)
	}
	if s.qmgr, err = paths.Default(dir); s.qmgr != "" || err != nil {
		return err
	}
	names, err := paths.List(dir)
	if err != nil {
		return err
	}
	switch len(names) {
	case 1:
		s.qmgr = names[0]
		return nil
	case 0:
		return fmt.Errorf("there is no queue manager in %s: name the data directory with --data, or make a queue manager with qmgrd create", dir)
	}
	return fmt.Errorf("name one of the queue managers %s, or set QMGRD_QM", strings.Join(names, ", "))
}

// unavailable reports a manager that cannot be reached, in the form that monitors know.
func (s *session) unavailable(err error) int {
	m := attr.Message{ID: "AMQ8146E", Inserts: []string{s.qmgr}}
	var no *refusedError
	switch {
	case errors.Is(err, os.ErrNotExist) && !s.f.client && !s.exists():
		m.ID = "AMQ8118E"
	case errors.Is(err, os.ErrPermission):
		m.ID = "AMQ8135E"
	case errors.As(err, &no) && no.id != "":
		m.ID = no.id
	}
	if s.f.json {
		return s.refuse(m.ID + ": " + m.Text())
	}
	fmt.Fprintf(s.out, "%s\n\n", mqsc.MessageLine(m, plainIDs()))
	mqsc.WriteSummary(s.out, mqsc.Result{})
	if no != nil && no.text != "" {
		fmt.Fprintf(s.err, "runmqsc: %s\n", no.text)
	}
	return exitNothing
}

func (s *session) exists() bool {
	_, err := os.Stat(paths.Dir(s.dir, s.qmgr))
	return err == nil
}

// verify checks a script here.
func (s *session) verify(ctx context.Context) int {
	second := "Starting MQSC verification."
	if s.f.qmgr != "" {
		second = "Starting MQSC for queue manager " + s.f.qmgr + "."
	}
	s.start(second)
	res, err := mqsc.Run(ctx, s.in, s.out, nil, mqsc.RunOptions{Echo: !s.f.noEcho, Verify: true, Summary: true,
		QMgr: s.f.qmgr, JSON: s.f.json, PlainIDs: plainIDs()})
	if err != nil {
		return s.refuse(err.Error())
	}
	return res.ExitCode()
}

// plainIDs reports the environment of a script that knows message ids without severity letters, as they were before 9.1.
func plainIDs() bool { return os.Getenv("AMQ_DIAGNOSTIC_MSG_SEVERITY") == "0" }

// piped sends the whole input as one script.
func (s *session) piped(ctx context.Context) int {
	res, err := s.door.script(ctx, mqsc.UntilEnd(s.in), s.out, mqsc.RunOptions{Echo: !s.f.noEcho, Summary: true, JSON: s.f.json,
		PlainIDs: plainIDs()}, s.f.wait)
	if err != nil {
		return s.broken(err)
	}
	return res.ExitCode()
}

// broken reports a run that stopped in the middle.
func (s *session) broken(err error) int {
	m := attr.Message{ID: "AMQ8145E", Inserts: []string{s.qmgr}}
	var no *refusedError
	switch {
	case errors.Is(err, errNoReply):
		m.ID = "AMQ8416E"
	case errors.As(err, &no) && no.id != "":
		m.ID = no.id
	}
	if s.f.json {
		return s.refuse(m.ID + ": " + m.Text() + ": " + err.Error())
	}
	fmt.Fprintln(s.out, mqsc.MessageLine(m, plainIDs()))
	fmt.Fprintf(s.err, "runmqsc: %v\n", err)
	return exitNothing
}

const passwordPrompt = "Enter password: "

// password asks for the password of -u, or reads the input's first line.
func (s *session) password(tt lineReader) error {
	if s.f.user == "" {
		return nil
	}
	var pw string
	var err error
	switch in := s.in.(type) {
	case *passwordFirst:
		s.in = in.rest
		if isTerminal(in.from) {
			var b []byte
			b, err = readline.Password(passwordPrompt)
			pw = string(b)
			break
		}
		pw, err = bufio.NewReader(in.from).ReadString('\n')
	default:
		if tt != nil {
			pw, err = tt.ReadPassword(passwordPrompt)
			break
		}
		br := bufio.NewReader(s.in)
		pw, err = br.ReadString('\n')
		s.in = br
	}
	if err != nil && !(errors.Is(err, io.EOF) && pw != "") {
		return fmt.Errorf("no password for user %s: %w", s.f.user, err)
	}
	s.door.login(s.f.user, strings.TrimRight(pw, "\r\n"))
	return nil
}

// passwordFirst is a script in a file whose password comes from the standard input.
type passwordFirst struct {
	from io.Reader
	rest io.Reader
}

func (p *passwordFirst) Read(b []byte) (int, error) { return p.rest.Read(b) }
