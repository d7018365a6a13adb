package pcf

import (
	"context"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

const (
	// serverName is what the command server's connection is called, as in the vendor's product.
	serverName = "amqpcsea"
	// maxMessage is the longest message a queue can hold, so that none is too long to be got out of the way.
	maxMessage = 104857600
	// maxCommand is the longest message that is looked into; the command queue's own MAXMSGL is far below.
	maxCommand = 4 << 20
	// maxBackouts is how often a message is tried whose unit of work could not be committed.
	maxBackouts = 3
)

// Server is the command server: it gets commands from the command queue, one at a time, has them executed with the
// authority of the user in the message, and replies. A command, its replies and the get are one unit of work; long
// answers are committed in parts.
type Server struct {
	m    *qmgr.Manager
	clk  clock.Clock
	log  *zerolog.Logger
	user string

	mu      invariants.Ranked[invariants.Door]
	c       *qmgr.Conn // nil while it does not run
	stop    context.CancelFunc
	stopped chan struct{}
}

// NewServer makes a command server that connects as user, the queue manager's own.
func NewServer(m *qmgr.Manager, clk clock.Clock, log *zerolog.Logger, user string) *Server {
	return &Server{m: m, clk: clk, log: log, user: user}
}

// Running reports whether it reads commands.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c != nil
}

// Start opens the command queue and has loop called on a goroutine of the caller's (spawn); the loop ends with Stop, with
// the context that spawn gives it, when the queue manager ends, or when the queue cannot be read any more.
func (s *Server) Start(ctx context.Context, spawn func(loop func(context.Context) error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c != nil {
		return ErrServerRuns
	}
	c, in, err := s.open(ctx)
	if err != nil {
		return fmt.Errorf("command server: %w", err)
	}
	own, stop := context.WithCancel(context.Background())
	s.c, s.stop, s.stopped = c, stop, make(chan struct{})
	done := s.stopped
	s.m.SetRunning(qmgr.PartCommandServer, true)
	s.log.Info().Str(obs.FieldAMQ, "AMQ8219I").Str("queue", s.m.CommandQueue()).Msg("command server status: Running")
	spawn(func(outer context.Context) error {
		defer close(done)
		defer s.ended(c)
		defer context.AfterFunc(outer, stop)()
		s.loop(own, c, in)
		return nil
	})
	return nil
}

// ErrServerRuns is the answer to a second Start.
var ErrServerRuns = fmt.Errorf("the command server runs already")

func (s *Server) open(ctx context.Context) (*qmgr.Conn, qmgr.Handle, error) {
	c, err := s.m.Connect(ctx, auth.System(s.user), qmgr.ConnectOptions{ApplName: serverName, ApplType: mqi.MQAT_QMGR,
		PID: os.Getpid()})
	if err != nil {
		return nil, 0, err
	}
	od := mqi.DefaultOD()
	od.ObjectName = s.m.CommandQueue()
	in, err := c.Open(ctx, &od, mqi.MQOO_INPUT_EXCLUSIVE|mqi.MQOO_SAVE_ALL_CONTEXT|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		c.Break()
		return nil, 0, err
	}
	return c, in, nil
}

// Stop ends the loop after the command in hand, and returns when it has ended or ctx has.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	stop, done := s.stop, s.stopped
	s.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Server) ended(c *qmgr.Conn) {
	c.Break() // what is not committed is backed out; a command in that state comes again
	s.m.SetRunning(qmgr.PartCommandServer, false)
	s.log.Info().Str(obs.FieldAMQ, "AMQ8219I").Msg("command server status: Stopped")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	s.c, s.stop = nil, nil
}

// loop takes one message after the other until ctx ends or there is no way on.
func (s *Server) loop(ctx context.Context, c *qmgr.Conn, in qmgr.Handle) {
	for failures := 0; ctx.Err() == nil; {
		md, body, err := s.next(ctx, c, in)
		if err != nil {
			s.cannotGet(ctx, err)
			return
		}
		// A command that was begun is brought to its end, whatever becomes of the server.
		work := context.WithoutCancel(ctx)
		j := &job{s: s, ctx: work, c: c, md: md, body: body}
		j.run()
		if err := j.close(); err == nil {
			failures = 0
			continue
		} else if ended(c) { // the queue manager stops, or STOP CONN: the command comes again
			return
		} else if failures++; failures > maxBackouts {
			s.log.Error().Str(obs.FieldAMQ, "AMQ8509E").Err(err).Msg("the command server ends: units of work cannot be committed")
			return
		}
	}
}

// next waits for a message.
func (s *Server) next(ctx context.Context, c *qmgr.Conn, in qmgr.Handle) (*mqi.MD, []byte, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.Version = 2
	gmo.Version, gmo.WaitInterval = 4, mqi.MQWI_UNLIMITED
	gmo.Options = mqi.MQGMO_WAIT | mqi.MQGMO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING | mqi.MQGMO_NO_PROPERTIES
	body, _, err := c.Get(ctx, in, &md, &gmo, maxMessage)
	if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
		return nil, nil, err
	}
	return &md, body, nil
}

// cannotGet says why the loop ends, when it was nobody's wish.
func (s *Server) cannotGet(ctx context.Context, err error) {
	switch _, rc := mqi.Reason(err); rc {
	case mqi.MQRC_Q_MGR_QUIESCING, mqi.MQRC_Q_MGR_STOPPING, mqi.MQRC_CONNECTION_QUIESCING:
		return
	}
	if ctx.Err() == nil {
		s.log.Error().Str(obs.FieldAMQ, "AMQ8508E").Err(err).Str("queue", s.m.CommandQueue()).
			Msg("the command server ends: it cannot get from its queue; strmqcsv starts it again when that is mended")
	}
}

func ended(c *qmgr.Conn) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// identity is who a command acts for: the user that the message says, with what this system knows of it. Who may name
// another user in a message is decided by the authority to set its context. A name that is too long for a message comes as
// UNKNOWN, which has the rights of nobody: such users give commands by other ways.
func (s *Server) identity(md *mqi.MD) auth.Identity {
	id := auth.Identity{User: md.UserIdentifier, UID: -1, Origin: qmgr.OriginCommandQueue}
	if md.UserIdentifier == qmgr.UnknownUser {
		s.log.Warn().Str(obs.FieldAMQ, "AMQ8077W").Str("appl", md.PutApplName).
			Msgf("a command of user %s: the sender's name has more than %d characters, or is not known", qmgr.UnknownUser, mqi.MQ_USER_ID_LENGTH)
		return id
	}
	a := s.m.Account(md.UserIdentifier)
	id.Groups, id.Admin = a.Groups, a.Admin
	return id
}
