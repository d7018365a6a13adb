package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Bounds of the door.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	maxMessage     = 100 << 20 // the largest MAXMSGL
	maxJSON        = 1 << 20   // a command and its parameters
	maxRequests    = 1024      // at a time
	maxUrgent      = 64        // of those that have slots of their own
)

// Status is what qmgrd status --json shows.
type Status struct {
	Name      string     `json:"name"`
	Status    string     `json:"status"`
	PID       int        `json:"pid"`
	Socket    string     `json:"socket"`
	Listeners []Listener `json:"listeners"`
	HTTP      string     `json:"http"`
	Warnings  []string   `json:"warnings,omitempty"` // what should run and does not
}

// Listener is a bound port.
type Listener struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// Options of New. Status and Stop are the daemon's.
type Options struct {
	Manager *qmgr.Manager
	Store   store.Store
	Name    string
	Clock   clock.Clock
	Log     *zerolog.Logger
	Admins  Admins
	Status  func() Status
	Stop    func(store.StopMode)
	// Reconnect asks that clients which connect again by themselves are sent away when the queue manager ends.
	Reconnect func()
	// Commands is the command server; nil where there is none.
	Commands CommandServer
	// LoopbackAdmin gives requests over TCP the rights of the manager's own user (--http-insecure).
	LoopbackAdmin bool
}

// Server is the HTTP door of one manager.
type Server struct {
	opt     Options
	log     *zerolog.Logger
	http    *http.Server
	metrics *prometheus.Registry
	started time.Time
	open    sync.WaitGroup
	slots   chan struct{} // one for each request under way
	urgent  chan struct{} // one for each of an urgent path
	timeout time.Duration // paceTimeout; tests make it short
	idle    atomic.Int64  // streams whose sender is idle
	ending  chan struct{} // closed by Shutdown and Close
	once    sync.Once
}

// New makes the door; Serve opens it.
func New(o Options) *Server {
	s := &Server{opt: o, log: o.Log, started: o.Clock.Now(), ending: make(chan struct{}),
		slots: make(chan struct{}, maxRequests), urgent: make(chan struct{}, maxUrgent), timeout: paceTimeout}
	s.metrics = obs.NewRegistry(s.samples)
	s.http = &http.Server{
		Handler:           s.guard(s.routes()),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       s.connContext,
		ErrorLog:          stdlog.New(io.Discard, "", 0), // what it would say is of broken peers
	}
	return s
}

// Serve answers on l until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown stops listening, lets requests end until ctx is over, then cuts them.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(func() { close(s.ending) })
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	s.open.Wait()
	return err
}

// Close cuts every connection.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.ending) })
	return s.http.Close()
}

// handler is a request handler whose error becomes the reply; it must not have written anything then.
type handler func(w http.ResponseWriter, r *http.Request) error

// newMux makes a mux, to which handle adds routes; any other answers as nowhere does.
func (s *Server) newMux() (mux *http.ServeMux, handle func(pattern string, h handler)) {
	mux = http.NewServeMux()
	handle = func(pattern string, h handler) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	handle("/", func(w http.ResponseWriter, r *http.Request) error { return nowhere(mux, w, r) })
	return mux, handle
}

func (s *Server) routes() http.Handler {
	mux, handle := s.newMux()
	for _, v := range []string{"v1", "v2", "v3"} {
		base := "/ibmmq/rest/" + v
		handle("POST "+base+"/admin/action/qmgr/{qm}/mqsc", s.admin(s.forQM(s.postMQSC)))
		handle("GET "+base+"/admin/qmgr", s.admin(s.getQmgrs))
		handle("GET "+base+"/admin/qmgr/{qm}", s.admin(s.forQM(s.getQmgr)))
		msg := base + "/messaging/qmgr/{qm}/queue/{q}/message"
		handle("POST "+msg, s.forQM(meant(s.postMessage)))
		handle("DELETE "+msg, s.forQM(meant(s.deleteMessage)))
		handle("GET "+msg, s.forQM(s.getMessage))
		handle("GET "+msg+"list", s.forQM(s.getMessageList))
		handle("POST "+base+"/messaging/qmgr/{qm}/topic/{topic}/message", s.forQM(meant(s.postPublication)))
	}
	handle("GET /healthz", s.getHealth)
	handle("GET /readyz", s.getReady)
	handle("GET /metrics", s.admin(s.getMetrics))
	handle("GET /qmgrd/status", s.admin(s.getStatus))
	handle("POST /qmgrd/stop", s.admin(meant(s.postStop)))
	handle("GET /qmgrd/top", s.admin(s.getTop))
	handle("GET /qmgrd/cmdserv", s.admin(s.getCommandServer))
	handle("POST /qmgrd/cmdserv", s.admin(meant(s.postCommandServer)))
	handle("GET /qmgrd/transactions", s.admin(s.getTransactions))
	handle("POST /qmgrd/transactions", s.admin(meant(s.postTransaction)))
	handle("GET /qmgrd/export", s.admin(s.getExport))
	handle("POST /qmgrd/put", meant(s.postPut))
	handle("POST /qmgrd/get", meant(s.postGet))
	handle("POST /qmgrd/deadletters", s.admin(meant(s.postDeadLetters)))
	handle("POST /qmgrd/undeliverable", s.admin(meant(s.postUndeliverable)))
	handle("POST /qmgrd/publish", meant(s.postPublish))
	handle("POST /qmgrd/subscribe", meant(s.postSubscribe))
	return mux
}

// tracked knows whether a reply has begun.
type tracked struct {
	http.ResponseWriter
	begun   bool
	rc      *http.ResponseController
	clk     clock.Clock
	timeout time.Duration
	body    *pacedBody
}

func (t *tracked) WriteHeader(code int) {
	t.begun = true
	t.ResponseWriter.WriteHeader(code)
}

func (t *tracked) Write(p []byte) (int, error) {
	t.begun = true
	t.bound()
	invariants.Blocking("a write of a reply")
	return t.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (t *tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// guard bounds and counts requests, and keeps a panic to its request.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := &tracked{ResponseWriter: rw}
		s.pace(w, r)
		if s.opt.LoopbackAdmin && !fromHere(r) {
			s.fail(w, r, refuse("MQWB0119E", "Host %s, Origin %s", clip(r.Host), clip(r.Header.Get("Origin"))))
			return
		}
		slots := s.slots
		if urgent[r.URL.Path] {
			slots = s.urgent
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			s.fail(w, r, refuse("MQWB0111E", "queue manager %s has %d requests under way and takes no more",
				s.opt.Name, cap(slots)))
			return
		}
		s.open.Add(1)
		defer s.open.Done()
		defer func() {
			p := recover()
			switch {
			case p == nil:
				return
			case p != http.ErrAbortHandler:
				s.log.Error().Str(obs.FieldAMQ, "AMQ6125E").Str("path", r.URL.Path).Str("stack", string(debug.Stack())).
					Msgf("internal error in a request: %v", p)
			}
			if w.begun || p == http.ErrAbortHandler {
				panic(http.ErrAbortHandler) // the reader must not take what it has for the whole
			}
			s.fail(w, r, refuse("MQWB0112E", "internal error"))
		}()
		next.ServeHTTP(w, r)
	})
}

// urgent are the paths that an operator needs most when everything else is busy: they have slots of their own.
var urgent = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, "/qmgrd/status": true, "/qmgrd/stop": true}

// fromHere reports whether a request over TCP that needs no password (--http-insecure) was meant for this machine: a page in
// a browser here must not be able to send one, be it from another origin or by a name that its owner lets resolve to
// loopback.
func fromHere(r *http.Request) bool {
	if !loopbackHost(r.Host) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return false
		}
	}
	return true
}

// loopbackHost reports whether a Host header is localhost or a literal address of loopback, with or without a port.
func loopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// admin lets administrators through.
func (s *Server) admin(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if id := identityOf(r); !id.Admin {
			s.log.Warn().Str(obs.FieldAMQ, "AMQ7077W").Str("user", id.User).Str("path", r.URL.Path).
				Msgf("user %s is no administrator of this queue manager", id.User)
			return refuse("MQWB0102E", "user %s is not an administrator of queue manager %s", id.User, s.opt.Name)
		}
		return h(w, r)
	}
}

// forQM checks the queue manager in the path.
func (s *Server) forQM(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if qm := r.PathValue("qm"); qm != s.opt.Name {
			return refuse("MQWB0009E", "queue manager %q is not here, this is %s", qm, s.opt.Name)
		}
		return h(w, r)
	}
}

// meant asks for the header that a page in a browser cannot send by accident.
func meant(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, ok := r.Header[http.CanonicalHeaderKey("ibm-mq-rest-csrf-token")]; !ok {
			return refuse("MQWB0100E", "the header ibm-mq-rest-csrf-token is missing")
		}
		return h(w, r)
	}
}

// stopModes are the words of POST /qmgrd/stop.
var stopModes = map[string]store.StopMode{
	"": store.Quiesce, "quiesce": store.Quiesce, "immediate": store.Immediate, "preemptive": store.Preempt,
}

func (s *Server) postStop(w http.ResponseWriter, r *http.Request) error {
	word := r.URL.Query().Get("mode")
	mode, ok := stopModes[word]
	if !ok {
		return refuse("MQWB0104E", "mode=%s: use quiesce, immediate or preemptive", word)
	}
	writeJSON(w, http.StatusAccepted, map[string]string{"name": s.opt.Name, "status": "stopping"})
	_ = http.NewResponseController(w).Flush() // the caller may have gone; the stop stands
	if s.opt.Reconnect != nil && r.URL.Query().Get("reconnect") == "true" {
		s.opt.Reconnect()
	}
	s.opt.Stop(mode)
	return nil
}

func (s *Server) getStatus(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.opt.Status())
	return nil
}

// getHealth says that the process answers.
func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, map[string]string{"name": s.opt.Name, "status": "live"})
	return nil
}

// getReady says that work is accepted.
func (s *Server) getReady(w http.ResponseWriter, _ *http.Request) error {
	if st := s.opt.Status().Status; st != "Running" {
		return refuse("MQWB0111E", "queue manager %s is %s", s.opt.Name, st)
	}
	if s.opt.Manager.DiskFull() {
		return refuse("MQWB0113E", "queue manager %s runs, but its disk is full: nothing that needs room is accepted", s.opt.Name)
	}
	writeJSON(w, http.StatusOK, map[string]string{"name": s.opt.Name, "status": "ready"})
	return nil
}

// qmgrEntry is a queue manager as the vendor's admin path shows it.
type qmgrEntry struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

func (s *Server) entry() qmgrEntry {
	st := s.opt.Status().Status
	if st == "Running" {
		st = "running"
	}
	return qmgrEntry{s.opt.Name, st}
}

func (s *Server) getQmgrs(w http.ResponseWriter, r *http.Request) error { return s.getQmgr(w, r) }

func (s *Server) getQmgr(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, map[string][]qmgrEntry{"qmgr": {s.entry()}})
	return nil
}

// readBody reads a body of at most limit bytes.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, refuse("MQWB0106E", "the body has %d bytes, at most %d are taken", r.ContentLength, limit)
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, refuse("MQWB0106E", "the body has more than %d bytes", limit)
	}
	return b, nil
}

// stream is a response that is sent piece by piece.
type stream struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// newStream begins one. The connection is closed behind it: when a full duplex handler leaves some of the request's body
// unread, net/http reads it to its end and then watches the connection for the reader's going away, beside the reading of
// the next request.
func newStream(w http.ResponseWriter) (*stream, error) {
	rc := http.NewResponseController(w)
	if err := rc.EnableFullDuplex(); err != nil {
		return nil, err
	}
	w.Header().Set("Connection", "close")
	return &stream{w, rc}, nil
}

// FlushError sends what was written.
func (s *stream) FlushError() error { return s.rc.Flush() }

// endReads ends the reading of a request's body when ch is closed, so that a stream whose sender is idle does not
// outlive what it is for. The caller must call the result.
func (s *Server) endReads(w http.ResponseWriter, ch <-chan struct{}) (stop func()) {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
		case <-ch:
			if t, ok := w.(*tracked); ok && t.body != nil {
				t.body.end()
				return
			}
			// Where it cannot be set the connection is cut a little later.
			_ = http.NewResponseController(w).SetReadDeadline(s.opt.Clock.Now())
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
