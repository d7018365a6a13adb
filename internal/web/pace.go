package web

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
)

// A request must make progress: a body of which nothing comes, and a reply of which nothing is taken, for paceTimeout
// ends with its connection, so that broken peers cannot keep the slots. The sender of a stream may be idle where nothing is
// half said (between two messages, or at the keyboard), as long as not too many are.

const (
	paceTimeout = time.Minute
	maxIdle     = maxRequests / 2 // streams that may be idle for as long as they like
)

// pacedBody is a request's body with a deadline for each read.
type pacedBody struct {
	io.ReadCloser
	rc      *http.ResponseController
	clk     clock.Clock
	timeout time.Duration
	idle    *atomic.Int64 // reads without a deadline, of all requests

	patient atomic.Bool // the next read may take as long as it likes
	always  bool        // so may every one
	over    bool        // the body has ended: what is read now is not ours to bound

	mu    invariants.Mutex
	ended bool
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.over {
		return b.ReadCloser.Read(p)
	}
	at := b.clk.Now().Add(b.timeout)
	if b.patient.Swap(false) || b.always {
		if b.idle.Add(1) <= maxIdle {
			at = time.Time{}
		}
		defer b.idle.Add(-1)
	}
	b.mu.Lock()
	if !b.ended {
		_ = b.rc.SetReadDeadline(at) // where there is none the reads are not of a connection
	}
	b.mu.Unlock()
	n, err := b.ReadCloser.Read(p)
	b.over = err != nil
	return n, err
}

// end makes the read under way, and every later one, return.
func (b *pacedBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	_ = b.rc.SetReadDeadline(b.clk.Now())
}

// pace bounds how long the reads of r's body and the writes of its reply may wait.
func (s *Server) pace(w *tracked, r *http.Request) {
	w.rc, w.clk, w.timeout = http.NewResponseController(w.ResponseWriter), s.opt.Clock, s.timeout
	_ = w.rc.SetWriteDeadline(time.Time{}) // the last request on this connection left one
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	w.body = &pacedBody{ReadCloser: r.Body, rc: w.rc, clk: s.opt.Clock, timeout: s.timeout, idle: &s.idle}
	r.Body = w.body
}

// patient lets the next read of a request's body wait for its sender.
func patient(r *http.Request) {
	if b, ok := r.Body.(*pacedBody); ok {
		b.patient.Store(true)
	}
}

// bound sets the deadline of a write.
func (t *tracked) bound() {
	if t.rc != nil {
		_ = t.rc.SetWriteDeadline(t.clk.Now().Add(t.timeout))
	}
}

// FlushError is for http.ResponseController.
func (t *tracked) FlushError() error {
	t.begun = true
	t.bound()
	invariants.Blocking("a write of a reply")
	return http.NewResponseController(t.ResponseWriter).Flush()
}
