package daemon

import (
	"context"
	"time"

	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/pcf"
)

// startCommandServer makes the command server, and starts it unless SCMDSERV(MANUAL) says that somebody else will. A queue
// manager without it is of use, so what keeps it from starting is logged and no more.
func (d *daemon) startCommandServer(ctx context.Context) {
	name, _ := account()
	d.commands = &commandServer{d: d, srv: pcf.NewServer(d.qm, d.clk, d.log, name)}
	if d.qm.CommandServerControl() == "MANUAL" {
		return
	}
	if err := d.commands.Start(ctx); err != nil {
		d.log.Error().Str(obs.FieldAMQ, "AMQ8508E").Err(err).Str("queue", d.qm.CommandQueue()).
			Msg("the command server cannot start; strmqcsv starts it when that is mended")
	}
}

// commandServer implements web.CommandServer: strmqcsv, endmqcsv and dspmqcsv come through the socket.
type commandServer struct {
	d   *daemon
	srv *pcf.Server
}

// Start starts it; its loop ends with the daemon's group.
func (s *commandServer) Start(ctx context.Context) error {
	return s.srv.Start(ctx, func(loop func(context.Context) error) { s.d.group.Go("command server", loop) })
}

// Stop ends it after the command in hand, within a bound.
func (s *commandServer) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, commandServerGrace)
	defer cancel()
	return s.srv.Stop(ctx)
}

// Running reports whether it reads commands.
func (s *commandServer) Running() bool { return s.srv.Running() }

// commandServerGrace bounds how long endmqcsv waits for the command in hand, which may wait for a full reply queue.
const commandServerGrace = 30 * time.Second
