package mqsc

// Joins physical lines to commands: continuation, comments, semicolons, quotes. No grammar.

import (
	"strings"
	"unicode/utf8"
)

// Limits of the reader.
const (
	// MaxCommand is the longest command after joining, in bytes (MQ_COMMAND_MQSC_LENGTH).
	MaxCommand = 32768
	// maxLine is the most of one physical line that is held; the rest of a longer one is read and dropped.
	maxLine = 256 << 10
	// maxEcho is the most of one physical line that is copied to the report.
	maxEcho = 64 << 10
)

// Source is the text of one command with the places its parts came from.
type Source struct {
	Text string // joined, without continuation signs and without the blanks around it
	Over bool   // longer than MaxCommand; Text is its beginning
	Long bool   // a physical line of it was longer than the reader holds

	marks []mark
}

// mark says where the text from byte off on stands in the input.
type mark struct {
	off  int
	line int
	col  int // characters before it in the physical line
}

// Place gives the physical line and column (both from 1, columns in characters) of a byte offset in Text.
func (s *Source) Place(off int) (line, col int) {
	off = min(off, len(s.Text))
	m := mark{line: 1}
	for _, k := range s.marks {
		if k.off > off {
			break
		}
		m = k
	}
	return m.line, m.col + utf8.RuneCountInString(s.Text[m.off:off]) + 1
}

// Line is one physical line as it goes into the report, with the commands that end on it.
type Line struct {
	Text     string // without its line end
	Starts   bool   // a command starts on it: it is echoed with that command's number
	Silent   bool   // not a line of the input: nothing to echo
	Commands []*Source
}

// Joiner builds commands from lines. The zero value is ready.
type Joiner struct {
	num   int // physical lines so far
	buf   []byte
	marks []mark
	cont  byte // sign that the last line of the command ended with
	quote bool // inside a quoted string
	over  bool
	long  bool
}

// Pending reports whether a command has begun and waits for its continuation.
func (j *Joiner) Pending() bool { return len(j.buf) > 0 }

// InQuote reports whether the pending command stands inside a quoted string.
func (j *Joiner) InQuote() bool { return j.quote }

// Add takes the next physical line.
func (j *Joiner) Add(text string) Line { return j.add(text, false, 0) }

// Finish ends a pending command at the end of the input.
func (j *Joiner) Finish() *Source { return j.end() }

// add takes a line; long means that only its beginning is in text, and last is then its true last nonblank character.
func (j *Joiner) add(text string, long bool, last byte) Line {
	j.num++
	line := Line{Text: text}
	start := firstNonblank(text, 0)
	if start == len(text) || text[start] == '*' {
		return line // blank lines and comments belong to no command, also between the parts of one
	}
	idle := !j.Pending()
	if !idle && j.cont == '-' {
		start = 0
	}
	end := lastNonblank(text)
	if !long {
		last = text[end-1]
	}
	var cont byte
	if last == '+' || last == '-' {
		cont = last
		if !long {
			end--
		}
	}
	if long {
		j.long, j.over = true, true
	}
	at := start
	for i := start; i < end; i++ {
		switch {
		case text[i] == '\'':
			j.quote = !j.quote
		case text[i] == ';' && !j.quote && !long:
			j.take(text, at, i)
			if s := j.end(); s != nil {
				line.Commands = append(line.Commands, s)
			}
			at = firstNonblank(text, i+1)
			if at < len(text) && text[at] == '*' {
				at, cont = end, 0 // a remark behind the semicolon
			}
			i = at - 1
		}
	}
	if at < end {
		j.take(text, at, end)
	}
	j.cont = cont
	line.Starts = idle && (len(line.Commands) > 0 || j.Pending())
	if cont == 0 {
		if s := j.end(); s != nil {
			line.Commands = append(line.Commands, s)
		}
	}
	return line
}

// take adds text[from:to] to the pending command.
func (j *Joiner) take(text string, from, to int) {
	if len(j.buf) == 0 {
		from = min(firstNonblank(text, from), to)
	}
	if from >= to {
		return
	}
	if room := MaxCommand - len(j.buf); to-from > room {
		j.over = true
		to = from + room
	}
	if from < to {
		j.marks = append(j.marks, mark{off: len(j.buf), line: j.num, col: utf8.RuneCountInString(text[:from])})
		j.buf = append(j.buf, text[from:to]...)
	}
}

// end gives the pending command, nil when there is none, and starts anew.
func (j *Joiner) end() *Source {
	n := lastNonblank(string(j.buf))
	var s *Source
	if n > 0 {
		s = &Source{Text: string(j.buf[:n]), Over: j.over, Long: j.long, marks: j.marks}
	}
	j.buf, j.marks = j.buf[:0], nil
	j.cont, j.quote, j.over, j.long = 0, false, false, false
	return s
}

// isBlank reports the characters that separate like a blank outside quotes; the comma is one for the parser only.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

func firstNonblank(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

// lastNonblank gives the length of s without the blanks at its end.
func lastNonblank(s string) int {
	n := len(s)
	for n > 0 && isBlank(s[n-1]) {
		n--
	}
	return n
}

// IsEnd reports the commands that end the input.
func IsEnd(text string) bool {
	return strings.EqualFold(text, "END") || strings.EqualFold(text, "QUIT") || strings.EqualFold(text, "EXIT")
}
