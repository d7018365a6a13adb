package main

// The terminal: prompt, continuation, history, completion.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chzyer/readline"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// lineReader is what the interactive loop needs of a terminal.
type lineReader interface {
	ReadLine(prompt string) (string, error) // errInterrupt with what was typed so far, io.EOF
	ReadPassword(prompt string) (string, error)
	Remember(line string) // puts a line into the history
	Plain() bool          // has no completion and no history
	Close() error
}

var errInterrupt = errors.New("interrupted")

// continuation is the prompt inside a command.
const continuation = "  > "

// namesWait is how long completion waits for the manager, and mostNames how many names it offers.
const (
	namesWait = 2 * time.Second
	mostNames = 200
)

// interactive runs commands line by line.
func (s *session) interactive(ctx context.Context, tt lineReader) int {
	if tt.Plain() {
		fmt.Fprintln(s.out, mqsc.MessageLine(attr.Message{ID: "AMQ8521I"}, plainIDs()))
	}
	var (
		join  mqsc.Joiner
		total mqsc.Result
		lines []string // of the pending command
	)
	prompt := s.prompt()
	for !total.Ended {
		p := prompt
		if join.Pending() {
			p = continuation
		}
		text, err := tt.ReadLine(p)
		if errors.Is(err, errInterrupt) && (join.Pending() || text != "") {
			join, lines = mqsc.Joiner{}, nil // drop what is half typed; on an empty line it ends the session
			continue
		}
		if err != nil {
			if rest := join.Finish(); rest != nil {
				total = s.typed(ctx, lines, total)
			}
			s.echo("       : \n")
			break
		}
		line := join.Add(text)
		lines = append(lines, text)
		if join.Pending() {
			continue
		}
		s.remember(tt, lines)
		switch {
		case len(line.Commands) == 0: // comment or blank line
			s.echo("       : " + text + "\n")
		case len(line.Commands) == 1 && mqsc.IsEnd(line.Commands[0].Text):
			s.echo(fmt.Sprintf("%6d : %s\n", total.Commands+1, text))
			total.Ended = true
		default:
			total = s.typed(ctx, lines, total)
		}
		lines = nil
		if ctx.Err() != nil {
			break
		}
	}
	mqsc.WriteSummary(s.out, total)
	return total.ExitCode()
}

// typed sends the lines of a complete command.
func (s *session) typed(ctx context.Context, lines []string, total mqsc.Result) mqsc.Result {
	o := mqsc.RunOptions{Echo: !s.f.noEcho, FirstNumber: total.Commands + 1, PlainIDs: plainIDs()}
	res, err := s.door.script(ctx, strings.NewReader(strings.Join(lines, "\n")+"\n"), s.out, o, s.f.wait)
	if err != nil {
		s.broken(err)
		res = mqsc.Result{Commands: 1, Failed: 1}
	}
	return total.Add(res)
}

func (s *session) echo(line string) {
	if !s.f.noEcho {
		fmt.Fprint(s.out, line)
	}
}

// remember keeps a command in the history, unless it holds a secret.
func (s *session) remember(tt lineReader, lines []string) {
	text := strings.Join(lines, "\n")
	up := strings.ToUpper(text)
	for _, word := range []string{"PASSWORD", "LDAPPWD", "KEYRPWD", "INITKEY", "SSLKEYP"} {
		if strings.Contains(up, word) {
			return
		}
	}
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			tt.Remember(l)
		}
	}
}

// prompt gives the prompt of -p or MQPROMPT with its inserts: +QMNAME+, +MQ_HOST_NAME+, +MQ_DATE+, +MQ_TIME+, or a
// variable of the environment.
func (s *session) prompt() string {
	text := s.f.prompt
	if text == "" {
		text = os.Getenv("MQPROMPT")
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "+")
		name, after, closed := strings.Cut(rest, "+")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if !closed {
			b.WriteString("+" + rest)
			return b.String()
		}
		b.WriteString(s.insert(name))
		text = after
	}
}

func (s *session) insert(name string) string {
	switch name {
	case "QMNAME":
		return s.qmgr
	case "MQ_HOST_NAME":
		host, err := os.Hostname()
		if err != nil {
			return ""
		}
		return host
	case "MQ_DATE":
		return time.Now().Format(time.DateOnly)
	case "MQ_TIME":
		return time.Now().Format(time.TimeOnly)
	}
	return os.Getenv(name)
}

// names asks the manager for the names of objects that begin so.
func (s *session) names(object, prefix string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), namesWait)
	defer cancel()
	switch object {
	case "QLOCAL", "QALIAS", "QREMOTE", "QMODEL", "QUEUE", "QSTATUS", "CHANNEL", "CHSTATUS", "TOPIC", "SUB", "PROCESS",
		"NAMELIST", "LISTENER", "LSSTATUS", "SERVICE", "SVSTATUS", "AUTHINFO", "COMMINFO", "SBSTATUS":
	default:
		return nil
	}
	show := map[string]string{"QSTATUS": "QLOCAL", "CHSTATUS": "CHANNEL", "LSSTATUS": "LISTENER", "SVSTATUS": "SERVICE", "SBSTATUS": "SUB"}
	if o := show[object]; o != "" {
		object = o
	}
	var out bytes.Buffer
	cmd := fmt.Sprintf("DISPLAY %s('%s*')\n", object, strings.ReplaceAll(prefix, "'", "''"))
	if _, err := s.door.script(ctx, strings.NewReader(cmd), &out, mqsc.RunOptions{JSON: true}, 0); err != nil {
		return nil
	}
	var doc struct{ Objects []map[string]any }
	if json.Unmarshal(out.Bytes(), &doc) != nil {
		return nil
	}
	key := strings.ToLower(object)
	if strings.HasPrefix(key, "q") {
		key = "queue"
	}
	var names []string
	for _, o := range doc.Objects {
		if n, ok := o[key].(string); ok && len(names) < mostNames {
			names = append(names, n)
		}
	}
	return names
}

// completer offers what may follow.
type completer struct {
	s       *session
	pending func() string // the command's lines before this one
}

// Do implements readline.AutoCompleter.
func (c *completer) Do(line []rune, pos int) ([][]rune, int) {
	typed := string(line[:pos])
	got := mqsc.Complete(c.pending() + typed)
	words := got.Words
	if got.Names != "" {
		words = c.s.names(got.Names, got.Prefix)
		if len(words) == 0 {
			// bare names are in upper case
			words = c.s.names(got.Names, strings.ToUpper(got.Prefix))
		}
	}
	lower := got.Names == "" && got.Prefix != "" && got.Prefix == strings.ToLower(got.Prefix)
	n := len([]rune(got.Prefix))
	var out [][]rune
	for _, w := range words {
		if lower { // keywords have no case: go on as it was begun
			w = strings.ToLower(w)
		}
		if r := []rune(w); len(r) >= n {
			tail := r[n:]
			if got.Names == "" && !strings.HasSuffix(w, "(") && !strings.HasSuffix(w, " ") {
				tail = append(tail, ' ')
			}
			out = append(out, tail)
		}
	}
	return out, n
}

func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && readline.IsTerminal(int(f.Fd()))
}

// openTerminal gives the terminal that in is, if it is one.
func openTerminal(in io.Reader, out io.Writer, s *session) (lineReader, bool) {
	if !isTerminal(in) {
		return nil, false
	}
	if os.Getenv("TERM") == "dumb" {
		return &plainTerminal{in: bufio.NewReader(in), out: out}, true
	}
	t := &terminal{}
	cfg := &readline.Config{Prompt: s.prompt(), HistoryFile: historyFile(), DisableAutoSaveHistory: true,
		InterruptPrompt: "^C", EOFPrompt: "", HistoryLimit: 1000,
		FuncGetWidth: screenWidth,
		AutoComplete: &completer{s: s, pending: func() string { return t.pending }}}
	rl, err := readline.NewEx(cfg)
	if err != nil {
		return &plainTerminal{in: bufio.NewReader(in), out: out}, true
	}
	t.rl = rl
	return t, true
}

// screenWidth is the terminal's width; one that says 0, as a pseudo-terminal does that nobody gave a size, has 80.
func screenWidth() int {
	if w := readline.GetScreenWidth(); w > 0 {
		return w
	}
	return 80
}

// historyFile is where commands are kept between sessions, "" when there is no place for it.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "runmqsc") // not qmgrd: that is a data directory
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	name := filepath.Join(dir, "history")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // readline would make it for all to read
	if err != nil {
		return ""
	}
	f.Close()
	return name
}

// terminal edits lines.
type terminal struct {
	rl      *readline.Instance
	pending string
}

func (t *terminal) ReadLine(prompt string) (string, error) {
	if prompt != continuation {
		t.pending = ""
	}
	t.rl.SetPrompt(prompt)
	line, err := t.rl.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return line, errInterrupt
	}
	t.pending += strings.TrimRight(strings.TrimRight(line, " "), "+-") + " "
	return line, err
}

func (t *terminal) ReadPassword(prompt string) (string, error) {
	b, err := t.rl.ReadPassword(prompt)
	return string(b), err
}

func (t *terminal) Remember(line string) { _ = t.rl.SaveHistory(line) } // without a history it goes on
func (t *terminal) Plain() bool          { return false }
func (t *terminal) Close() error         { return t.rl.Close() }

// plainTerminal is a terminal that cannot edit.
type plainTerminal struct {
	in  *bufio.Reader
	out io.Writer
}

func (t *plainTerminal) ReadLine(prompt string) (string, error) {
	fmt.Fprint(t.out, prompt)
	line, err := t.in.ReadString('\n')
	if err != nil && line == "" {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func (t *plainTerminal) ReadPassword(prompt string) (string, error) { return t.ReadLine(prompt) }
func (t *plainTerminal) Remember(string)                            {}
func (t *plainTerminal) Plain() bool                                { return true }
func (t *plainTerminal) Close() error                               { return nil }
