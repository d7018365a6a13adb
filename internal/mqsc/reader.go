package mqsc

// Reads physical lines with a bound on memory and gives them to a Joiner.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const bom = "\xef\xbb\xbf"

// Reader reads a script line by line.
type Reader struct {
	br    *bufio.Reader
	join  Joiner
	first bool
	done  bool
	err   error
}

// NewReader makes a Reader. beforeRead, when not nil, is called before each read of in, which may block: whoever
// writes the report then has the chance to bring it up to date.
func NewReader(in io.Reader, beforeRead func() error) *Reader {
	if beforeRead != nil {
		in = &hookReader{in: in, hook: beforeRead}
	}
	return &Reader{br: bufio.NewReaderSize(in, 64<<10), first: true}
}

type hookReader struct {
	in   io.Reader
	hook func() error
}

func (h *hookReader) Read(p []byte) (int, error) {
	if err := h.hook(); err != nil {
		return 0, err
	}
	return h.in.Read(p)
}

// Next gives the next line. At the end of the input a command that waits for its continuation is given with a silent
// line; then io.EOF. After another error a pending command is dropped: what was cut off must not run.
func (r *Reader) Next() (Line, error) {
	if r.done {
		return Line{}, r.err
	}
	text, long, last, err := r.readLine()
	if err != nil {
		r.done, r.err = true, err
		if !errors.Is(err, io.EOF) {
			return Line{}, err
		}
		if text == "" {
			return r.finish()
		}
	}
	if r.first {
		r.first = false
		text = strings.TrimPrefix(text, bom)
	}
	line := r.join.add(text, long, last)
	if len(line.Text) > maxEcho {
		line.Text = strings.ToValidUTF8(line.Text[:maxEcho], "") + " ..."
	}
	if r.done && r.join.Pending() {
		line.Commands = append(line.Commands, r.join.Finish())
	}
	return line, nil
}

func (r *Reader) finish() (Line, error) {
	if s := r.join.Finish(); s != nil {
		return Line{Silent: true, Commands: []*Source{s}}, nil
	}
	return Line{}, r.err
}

// readLine reads up to the next line feed. When the line is longer than maxLine, long is set, text is its beginning
// and last its last nonblank character. At the end of the input it gives what is left with io.EOF.
func (r *Reader) readLine() (text string, long bool, last byte, err error) {
	var buf []byte
	for {
		chunk, err := r.br.ReadSlice('\n')
		ended := err == nil
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		if t := bytes.TrimRight(chunk, " \t\r\v\f"); len(t) > 0 {
			last = t[len(t)-1]
		}
		if room := maxLine - len(buf); len(chunk) > room {
			long = true
			chunk = chunk[:room]
		}
		buf = append(buf, chunk...)
		if ended || (err != nil && !errors.Is(err, bufio.ErrBufferFull)) {
			return strings.TrimSuffix(string(buf), "\r"), long, last, err
		}
	}
}
