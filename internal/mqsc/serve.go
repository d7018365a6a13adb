package mqsc

// The agreement between runmqsc and the HTTP door: query parameters of a script's request, trailers of its response.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// Trailers of the response to a script.
const (
	TrailerCommands     = "Qmgrd-Mqsc-Commands"
	TrailerSyntaxErrors = "Qmgrd-Mqsc-Syntax-Errors"
	TrailerFailed       = "Qmgrd-Mqsc-Failed"
	TrailerEnded        = "Qmgrd-Mqsc-Ended"
)

// TrailerNames is what the Trailer header of the response announces.
var TrailerNames = strings.Join([]string{TrailerCommands, TrailerSyntaxErrors, TrailerFailed, TrailerEnded}, ", ")

// OptionsOf reads the options of a request: echo=no, first=N, summary=no, json=yes, verify=yes, plainids=yes.
func OptionsOf(q url.Values) (RunOptions, error) {
	o := RunOptions{Echo: true, Summary: true, FirstNumber: 1}
	for _, p := range []struct {
		key string
		to  *bool
	}{{"echo", &o.Echo}, {"summary", &o.Summary}, {"json", &o.JSON}, {"verify", &o.Verify}, {"plainids", &o.PlainIDs}} {
		switch v := q.Get(p.key); strings.ToLower(v) {
		case "":
		case "yes":
			*p.to = true
		case "no":
			*p.to = false
		default:
			return o, fmt.Errorf("parameter %s=%q: use yes or no", p.key, v)
		}
	}
	if v := q.Get("first"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 999999999 {
			return o, fmt.Errorf("parameter first=%q: use a number from 1", v)
		}
		o.FirstNumber = n
	}
	return o, nil
}

// Query is the reverse of OptionsOf.
func (o RunOptions) Query() url.Values {
	q := url.Values{}
	if !o.Echo {
		q.Set("echo", "no")
	}
	if !o.Summary {
		q.Set("summary", "no")
	}
	if o.JSON {
		q.Set("json", "yes")
	}
	if o.Verify {
		q.Set("verify", "yes")
	}
	if o.PlainIDs {
		q.Set("plainids", "yes")
	}
	if o.FirstNumber > 1 {
		q.Set("first", strconv.Itoa(o.FirstNumber))
	}
	return q
}

// SetTrailers hands the counts to set, http.Header.Set for one.
func (r Result) SetTrailers(set func(key, value string)) {
	set(TrailerCommands, strconv.Itoa(r.Commands))
	set(TrailerSyntaxErrors, strconv.Itoa(r.SyntaxErrors))
	set(TrailerFailed, strconv.Itoa(r.Failed))
	ended := "no"
	if r.Ended {
		ended = "yes"
	}
	set(TrailerEnded, ended)
}

// ResultOf reads the counts back; false when they are not there, as after a broken connection.
func ResultOf(get func(key string) string) (Result, bool) {
	var r Result
	for _, p := range []struct {
		key string
		to  *int
	}{{TrailerCommands, &r.Commands}, {TrailerSyntaxErrors, &r.SyntaxErrors}, {TrailerFailed, &r.Failed}} {
		n, err := strconv.Atoi(get(p.key))
		if err != nil || n < 0 {
			return Result{}, false
		}
		*p.to = n
	}
	switch strings.ToLower(get(TrailerEnded)) {
	case "yes", "true", "1":
		r.Ended = true
	}
	return r, true
}

// UntilEnd passes a script through up to its END, QUIT or EXIT: whoever sends it need not send, or wait for, more.
func UntilEnd(in io.Reader) io.Reader {
	return &untilEnd{r: NewReader(in, nil)}
}

type untilEnd struct {
	r    *Reader
	buf  []byte // read but not passed on
	line []byte // beginning of the current line, at most maxLine
	long bool
	end  bool
	err  error
}

// Read gives all complete lines that are at hand, so that they travel together.
func (u *untilEnd) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(u.buf) == 0 {
			if u.end || u.err != nil {
				break
			}
			if n > 0 && u.r.br.Buffered() == 0 {
				break // the next read may block
			}
			u.fill()
		}
		c := copy(p[n:], u.buf)
		u.buf = u.buf[c:]
		n += c
	}
	if n > 0 {
		return n, nil
	}
	if u.end {
		return 0, io.EOF
	}
	return 0, u.err
}

// fill reads on to the next line end.
func (u *untilEnd) fill() {
	chunk, err := u.r.br.ReadSlice('\n')
	u.buf = append(u.buf[:0], chunk...)
	ended := err == nil
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		u.err = err
	}
	if room := maxLine - len(u.line); len(chunk) > room {
		u.long, chunk = true, chunk[:room]
	}
	u.line = append(u.line, chunk...)
	if !ended {
		return
	}
	text := strings.TrimPrefix(strings.TrimRight(string(u.line), "\r\n"), bom)
	line := u.r.join.add(text, u.long, 0)
	u.line, u.long = u.line[:0], false
	for _, s := range line.Commands {
		if !s.Over && IsEnd(s.Text) {
			u.end = true
		}
	}
}
