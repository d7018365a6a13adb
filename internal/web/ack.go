package web

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Acknowledgements: the reader of a get stream says in the body of its request how far it has come, a number in a line of
// its own: so many messages of the stream are its own now. Only those are committed. What was written to a socket is not:
// it may lie in a buffer for ever.

// errReaderGone ends a stream whose reader has closed its side before it acknowledged what it was sent.
var errReaderGone = errors.New("the reader has gone")

// acks follows what the reader acknowledges.
type acks struct {
	mu    invariants.Mutex
	n     int
	err   error         // why no more come
	more  chan struct{} // signalled when n or err changed
	ended chan struct{} // closed when the goroutine has ended
}

// wantsAcks reads ack= of a query.
func wantsAcks(q url.Values, browse, must bool) (bool, error) {
	yes, err := yesNoOf("ack", q)
	if err == nil && must && !browse && q.Get("ack") == "" {
		err = refuse("MQWB0104E", "ack is missing: with ack=yes messages are taken when the reader acknowledges them in the "+
			"body of its request, with ack=no when they are on their way to it")
	}
	return yes && !browse, err
}

// duplex lets a stream be refused while its sender has more to say: otherwise net/http reads the body to its end first, and
// the two sides wait for each other.
func duplex(w http.ResponseWriter) {
	_ = http.NewResponseController(w).EnableFullDuplex() // newStream says it where it cannot be
	w.Header().Set("Connection", "close")
}

// readAcks reads them from the body until that ends.
func readAcks(r *http.Request) *acks {
	a := &acks{more: make(chan struct{}, 1), ended: make(chan struct{})}
	if b, ok := r.Body.(*pacedBody); ok {
		b.always = true // the reader may be a person with a pager
	}
	go func() {
		defer close(a.ended)
		in := bufio.NewReaderSize(r.Body, 512)
		for {
			line, err := in.ReadSlice('\n')
			n := 0
			if err == nil {
				n, err = strconv.Atoi(strings.TrimSpace(string(line)))
			}
			if errors.Is(err, io.EOF) {
				err = errReaderGone
			}
			a.set(n, err)
			if err != nil {
				return
			}
		}
	}()
	return a
}

func (a *acks) set(n int, err error) {
	a.mu.Lock()
	a.n, a.err = max(a.n, n), err
	a.mu.Unlock()
	select {
	case a.more <- struct{}{}:
	default:
	}
}

func (a *acks) now() (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n, a.err
}

// wait returns when n messages are acknowledged, or will never be.
func (a *acks) wait(broken <-chan struct{}, n int) (int, error) {
	for {
		got, err := a.now()
		if got >= n || err != nil {
			return got, err
		}
		select {
		case <-a.more:
		case <-broken:
			return got, errReaderGone
		}
	}
}

// settle commits what is acknowledged, after waiting until all of atLeast is.
func (g *getter) settle(atLeast int) error {
	got, werr := g.acks.wait(g.x.c.Done(), atLeast)
	if got = min(got, g.n); got > g.taken {
		at := g.marks[got-g.taken-1]
		if err := g.x.c.CommitTo(g.r.Context(), at.Since(g.base)); err != nil {
			return err
		}
		g.marks, g.base, g.taken = g.marks[got-g.taken:], at, got
	}
	if g.taken >= atLeast {
		return nil
	}
	return werr
}

// ackGrace is how long the acknowledgements of a reader that has gone, or takes nothing more, may take to be read.
const ackGrace = time.Second

// failed commits what the reader had acknowledged when a stream ends with an error; the rest comes back.
func (g *getter) failed(err error) error {
	if g.acks == nil {
		return err
	}
	select {
	case <-g.acks.ended:
	case <-g.s.opt.Clock.After(ackGrace):
	case <-g.x.c.Done():
	}
	return errors.Join(err, g.settle(0))
}

// sent notes a message that was written and is to be acknowledged.
func (g *getter) sent() { g.marks = append(g.marks, g.x.c.Mark().After(g.base)) }
