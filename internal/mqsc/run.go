package mqsc

// Runs a script and writes runmqsc's report.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// Executor runs parsed commands; qmgr.Manager implements it.
type Executor interface {
	// Submit starts a command. Commands submitted one after the other take effect in that order.
	Submit(ctx context.Context, c *attr.Command) Pending
}

// Pending is a command under way.
type Pending interface {
	// Wait blocks until the command is done and durable. It is called once.
	Wait(ctx context.Context) *attr.Reply
}

// Limits of a run.
const (
	// MaxOutstanding is how many definitions may be under way, so that they share syncs.
	MaxOutstanding = 256
	// maxHeld is how much report text waits behind commands under way.
	maxHeld = 1 << 20
)

// RunOptions of Run.
type RunOptions struct {
	Echo        bool   // copy the script into the report
	Verify      bool   // check only; the Executor is not used and may be nil
	QMgr        string // for messages
	FirstNumber int    // number of the first command; 0 counts as 1
	Summary     bool   // write the three closing lines
	JSON        bool   // a JSON object for each command instead of the report
	PlainIDs    bool   // message ids without their severity letter: AMQ8006
	Each        Watcher
}

// Watcher is told of every command of a run in order: reply when it was executed, serr when it could not be read. Its error
// ends the run.
type Watcher interface {
	Command(src *Source, reply *attr.Reply, serr *SyntaxError) error
}

// Result counts what a script came to.
type Result struct {
	Commands     int
	SyntaxErrors int
	Failed       int
	Ended        bool // by END, QUIT or EXIT
}

// ExitCode is 0, or 10 when a command was wrong or failed.
func (r Result) ExitCode() int {
	if r.SyntaxErrors > 0 || r.Failed > 0 {
		return 10
	}
	return 0
}

// Add joins the counts of two runs.
func (r Result) Add(o Result) Result {
	return Result{r.Commands + o.Commands, r.SyntaxErrors + o.SyntaxErrors, r.Failed + o.Failed, o.Ended}
}

// Run reads a script to its end and writes its report to out. Definitions are pipelined, every other command waits
// for those before it. All replies are written before a read of in that may block. The error is one of reading,
// writing or ctx; commands that were refused are only counted. After an error commands may still be under way: they take
// effect though nobody waits for them.
func Run(ctx context.Context, in io.Reader, out io.Writer, ex Executor, o RunOptions) (Result, error) {
	r := &runner{ctx: ctx, out: &dirtyWriter{w: out}, ex: ex, o: o, next: max(1, o.FirstNumber)}
	r.w = bufio.NewWriterSize(r.out, 16<<10)
	rd := NewReader(in, r.sync)
	for !r.res.Ended {
		line, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// What was submitted runs; its replies belong into the report.
			return r.res, errors.Join(err, r.sync())
		}
		if err := r.line(&line); err != nil {
			return r.res, err
		}
	}
	if err := r.drain(0); err != nil {
		return r.res, err
	}
	if o.Summary && !o.JSON {
		WriteSummary(r.w, r.res)
	}
	return r.res, r.flush()
}

type runner struct {
	ctx  context.Context
	out  *dirtyWriter
	w    *bufio.Writer // over out
	ex   Executor
	o    RunOptions
	res  Result
	next int // number of the next command

	queue       []entry // what has to be written after the first command under way
	outstanding int
	held        int // bytes of text in queue
}

// entry is a piece of the report: text, or a command under way.
type entry struct {
	text string
	cmd  *attr.Command
	src  *Source
	pend Pending
}

// line echoes a line and starts its commands.
func (r *runner) line(l *Line) error {
	if r.o.Echo && !r.o.JSON && !l.Silent {
		if err := r.write(echoLine(l, r.next)); err != nil {
			return err
		}
	}
	for _, s := range l.Commands {
		r.next++
		if !s.Over && IsEnd(s.Text) {
			r.res.Ended = true
			return nil
		}
		r.res.Commands++
		if err := r.command(s); err != nil {
			return err
		}
	}
	return nil
}

// echoLine copies a line of the script, with a number when a command starts on it.
func echoLine(l *Line, num int) string {
	if l.Starts {
		return fmt.Sprintf("%6d : %s\n", num, l.Text)
	}
	return "       : " + l.Text + "\n"
}

// command parses and starts one command.
func (r *runner) command(s *Source) error {
	if text, ok := helpFor(s); ok {
		return r.write(r.helpText(s, text))
	}
	cmd, serr := ParseSource(s)
	if serr != nil {
		r.res.SyntaxErrors++
		if r.o.Each != nil {
			if err := r.drain(0); err != nil {
				return err
			}
			if err := r.o.Each.Command(s, nil, serr); err != nil {
				return err
			}
		}
		if r.o.JSON {
			return r.write(jsonSyntaxError(s, serr))
		}
		return r.write(r.plain(syntaxBlock(serr)))
	}
	if r.o.Verify {
		if r.o.JSON {
			return r.write(jsonReply(s, cmd, &attr.Reply{}))
		}
		return nil
	}
	if !pipelined(cmd) {
		if err := r.drain(0); err != nil {
			return err
		}
		return r.reply(entry{cmd: cmd, src: s, pend: r.ex.Submit(r.ctx, cmd)})
	}
	if err := r.drain(MaxOutstanding - 1); err != nil {
		return err
	}
	r.queue = append(r.queue, entry{cmd: cmd, src: s, pend: r.ex.Submit(r.ctx, cmd)})
	r.outstanding++
	return nil
}

func (r *runner) helpText(s *Source, text string) string {
	if r.o.JSON {
		return jsonText(s, text)
	}
	return r.plain(text)
}

func (r *runner) plain(text string) string {
	if r.o.PlainIDs {
		return plainIDs(text)
	}
	return text
}

// pipelined reports the commands whose replies may be awaited later.
func pipelined(c *attr.Command) bool {
	switch c.Verb {
	case "DEFINE", "ALTER", "DELETE", "SET":
		return true
	}
	return false
}

// write puts text behind whatever is under way.
func (r *runner) write(text string) error {
	if r.outstanding == 0 {
		_, err := r.w.WriteString(text)
		return err
	}
	r.queue = append(r.queue, entry{text: text})
	r.held += len(text)
	if r.held > maxHeld {
		return r.drain(0)
	}
	return nil
}

// drain writes the report until at most keep commands are under way.
func (r *runner) drain(keep int) error {
	n := 0
	for ; n < len(r.queue) && (r.outstanding > keep || r.outstanding == 0 || r.queue[n].pend == nil); n++ {
		e := r.queue[n]
		r.queue[n] = entry{}
		if e.pend == nil {
			r.held -= len(e.text)
			if _, err := r.w.WriteString(e.text); err != nil {
				return err
			}
			continue
		}
		if err := r.reply(e); err != nil {
			return err
		}
		r.outstanding--
	}
	r.queue = append(r.queue[:0], r.queue[n:]...)
	return nil
}

// reply waits for a command and writes what it came to.
func (r *runner) reply(e entry) error {
	reply := e.pend.Wait(r.ctx)
	if reply == nil {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("no reply to %s %s", e.cmd.Verb, e.cmd.Object)
	}
	if reply.Failed() {
		r.res.Failed++
	}
	if r.o.Each != nil {
		if err := r.o.Each.Command(e.src, reply, nil); err != nil {
			return err
		}
	}
	if r.o.JSON {
		_, err := r.w.WriteString(jsonReply(e.src, e.cmd, reply))
		return err
	}
	writeReply(r.w, e.cmd, reply, r.o.PlainIDs) // r.w keeps the first error for flush
	return nil
}

// sync brings the report up to date before the input may block.
func (r *runner) sync() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if err := r.drain(0); err != nil {
		return err
	}
	return r.flush()
}

// flush sends what is written.
func (r *runner) flush() error {
	if err := r.w.Flush(); err != nil {
		return err
	}
	return r.out.flush()
}

// dirtyWriter knows whether something was written since the last flush of an HTTP response.
type dirtyWriter struct {
	w     io.Writer
	dirty bool
}

func (d *dirtyWriter) Write(p []byte) (int, error) {
	d.dirty = true
	return d.w.Write(p)
}

func (d *dirtyWriter) flush() error {
	if !d.dirty {
		return nil
	}
	d.dirty = false
	switch f := d.w.(type) {
	case interface{ FlushError() error }:
		return f.FlushError()
	case interface{ Flush() }:
		f.Flush()
	}
	return nil
}

// WriteSummary writes the three closing lines.
func WriteSummary(w io.Writer, r Result) {
	var b strings.Builder
	switch r.Commands {
	case 0:
		b.WriteString("No MQSC commands read.\n")
	case 1:
		b.WriteString("One MQSC command read.\n")
	default:
		fmt.Fprintf(&b, "%d MQSC commands read.\n", r.Commands)
	}
	switch r.SyntaxErrors {
	case 0:
		b.WriteString("No commands have a syntax error.\n")
	case 1:
		b.WriteString("One command has a syntax error.\n")
	default:
		fmt.Fprintf(&b, "%d commands have a syntax error.\n", r.SyntaxErrors)
	}
	switch r.Failed {
	case 0:
		b.WriteString("All valid MQSC commands were processed.\n")
	case 1:
		b.WriteString("One valid MQSC command could not be processed.\n")
	default:
		fmt.Fprintf(&b, "%d valid MQSC commands could not be processed.\n", r.Failed)
	}
	_, _ = io.WriteString(w, b.String())
}

// syntaxBlock is the report of a syntax error.
func syntaxBlock(e *SyntaxError) string {
	var b strings.Builder
	if e.ID == listID { // a verb alone
		return wordList(e.Syntax)
	}
	m := attr.Message{ID: e.ID}
	if e.ID == filterID {
		m.Inserts = []string{printable(e.Text)}
	}
	b.WriteString(messageLine(m) + "\n")
	b.WriteString(printable(clip(e.Segment)) + "\n\n")
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Col)
	}
	b.WriteString(printable(e.Text))
	if e.Hint != "" {
		b.WriteString("; " + printable(e.Hint))
	}
	b.WriteByte('\n')
	if len(e.Syntax) > 0 {
		b.WriteString(messageLine(attr.Message{ID: "AMQ8427I"}) + "\n\n")
		for _, s := range e.Syntax {
			b.WriteString("  " + s + "\n")
		}
	}
	return b.String()
}

// clip keeps the end of a long segment, where the fault is.
func clip(s string) string {
	const most = 2048
	if len(s) <= most {
		return s
	}
	return "... " + strings.ToValidUTF8(s[len(s)-most:], "")
}
