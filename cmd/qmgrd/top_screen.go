package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/chzyer/readline"

	"github.com/qmgrd/qmgrd/internal/web"
)

// The terminal of top.

const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the other screen, no cursor
	leaveScreen = "\x1b[0m\x1b[?25h\x1b[?1049l"
	homeCursor  = "\x1b[H"
	clearRight  = "\x1b[K"
	resetStyle  = "\x1b[0m"
)

var styleCodes = map[topStyle]string{styleTitle: "\x1b[1m", styleHead: "\x1b[7m", styleHot: "\x1b[1m\x1b[31m", styleNote: "\x1b[2m"}

// plainCodes are for NO_COLOR: a nearly full queue is bold.
var plainCodes = map[topStyle]string{styleTitle: "\x1b[1m", styleHead: "\x1b[7m", styleHot: "\x1b[1m"}

// topScreen joins view, terminal and manager. Its fields stand for the outside.
type topScreen struct {
	view    *topView
	out     io.Writer
	size    func() (w, h int)
	keys    <-chan []byte // what was typed; closed at the end of input
	ticks   <-chan time.Time
	resized <-chan os.Signal
	fetch   func(context.Context) (*web.Top, error)
	codes   map[topStyle]string
}

// topTerminal runs the screen on a real terminal. Whatever ends it, the terminal is as it was before.
func (e *env) topTerminal(v *topView, interval time.Duration, in, out *os.File, fetch func(context.Context) (*web.Top, error)) error {
	var raw readline.RawMode
	if err := raw.Enter(); err != nil {
		return err
	}
	defer raw.Exit()
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	defer signal.Stop(winch)
	hang, stop := signal.NotifyContext(e.ctx, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	keys := make(chan []byte)
	// A read of a terminal cannot be ended; this one ends with the process, which follows at once.
	go func() {
		defer close(keys)
		for {
			buf := make([]byte, 128)
			n, err := in.Read(buf)
			if err != nil {
				return
			}
			select {
			case keys <- buf[:n]:
			case <-hang.Done():
				return
			}
		}
	}()
	codes := styleCodes
	if os.Getenv("NO_COLOR") != "" {
		codes = plainCodes
	}
	s := &topScreen{view: v, out: out, keys: keys, ticks: tick.C, resized: winch, fetch: fetch, codes: codes,
		size: func() (int, int) {
			w, h, err := readline.GetSize(int(out.Fd()))
			if err != nil || w <= 0 || h <= 0 {
				return 80, 24
			}
			return w, h
		}}
	return s.run(hang)
}

// run draws until q, the end of input or of ctx.
func (s *topScreen) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err = io.WriteString(s.out, enterScreen); err != nil {
		return err
	}
	defer func() {
		if _, e := io.WriteString(s.out, leaveScreen); err == nil {
			err = e
		}
	}()
	type answer struct {
		top *web.Top
		err error
	}
	answers := make(chan answer, 1)
	asking := false
	ask := func() {
		if asking {
			return // one question at a time, however slow the manager is
		}
		asking = true
		go func() {
			t, err := s.fetch(ctx)
			answers <- answer{t, err}
		}()
	}
	ask()
	for {
		if err := s.draw(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.ticks:
			ask()
		case <-s.resized:
		case a := <-answers:
			asking = false
			if a.err != nil {
				s.view.failed = a.err
			} else {
				s.view.feed(a.top)
			}
		case b, ok := <-s.keys:
			if !ok {
				return nil
			}
			for _, k := range decodeKeys(b) {
				if s.view.key(k) {
					return nil
				}
			}
		}
	}
}

// draw writes the whole screen in one piece; each line is cleared to its end, so nothing flickers.
func (s *topScreen) draw() error {
	w, h := s.size()
	var b strings.Builder
	b.WriteString(homeCursor)
	for i, l := range s.view.render(w, h) {
		if i > 0 {
			b.WriteString("\r\n")
		}
		code := s.codes[l.style]
		b.WriteString(code + l.text)
		if code != "" {
			b.WriteString(resetStyle)
		}
		b.WriteString(clearRight)
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}

var escapeKeys = []struct {
	seq string
	key topKey
}{
	{"\x1b[A", keyUp}, {"\x1bOA", keyUp}, {"\x1b[B", keyDown}, {"\x1bOB", keyDown}, {"\x1b[5~", keyPgUp}, {"\x1b[6~", keyPgDn},
	{"\x1b[H", keyHome}, {"\x1bOH", keyHome}, {"\x1b[1~", keyHome}, {"\x1b[F", keyEnd}, {"\x1bOF", keyEnd}, {"\x1b[4~", keyEnd},
}

// decodeKeys takes apart what one read of the terminal gave. Sequences of keys that mean nothing here are left out.
func decodeKeys(b []byte) []topKey {
	var out []topKey
next:
	for len(b) > 0 {
		if b[0] == 0x1b && len(b) > 1 && (b[1] == '[' || b[1] == 'O') {
			for _, e := range escapeKeys {
				if strings.HasPrefix(string(b), e.seq) {
					out, b = append(out, e.key), b[len(e.seq):]
					continue next
				}
			}
			n := 2
			for n < len(b) && (b[n] < 0x40 || b[n] > 0x7e) {
				n++
			}
			b = b[min(n+1, len(b)):]
			continue
		}
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		switch r {
		case 0x1b:
			out = append(out, keyEsc)
		case '\r', '\n':
			out = append(out, keyEnter)
		case 0x7f, '\b':
			out = append(out, keyBack)
		case 3, 4:
			out = append(out, keyInterrupt)
		case utf8.RuneError:
		default:
			out = append(out, topKey(r))
		}
	}
	return out
}
