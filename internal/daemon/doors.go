package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/web"
)

// openSocket opens admin.sock, for its owner alone or for the administrators' group too.
func (d *daemon) openSocket() error {
	dirMode, sockMode, gid := os.FileMode(0o700), os.FileMode(0o600), -1
	if g := d.cfg.AdminGroup; g != "" {
		grp, err := user.LookupGroup(g)
		if err != nil {
			return fmt.Errorf("qm.ini: AdminSocket: Group=%s: %w", g, err)
		}
		if gid, err = strconv.Atoi(grp.Gid); err != nil {
			return fmt.Errorf("qm.ini: AdminSocket: Group=%s: %w", g, err)
		}
		dirMode, sockMode = 0o750, 0o660
	}
	var err error
	if d.sock, err = paths.ListenUnix(paths.Socket(d.opt.DataDir, d.opt.Name)); err != nil {
		return err
	}
	name := paths.Socket(d.opt.DataDir, d.opt.Name)
	errs := []error{os.Chmod(name, sockMode)}
	if gid >= 0 {
		errs = append(errs, os.Chown(name, -1, gid), os.Chown(d.dir, -1, gid))
	}
	errs = append(errs, os.Chmod(d.dir, dirMode))
	return errors.Join(errs...)
}

// errHTTP is why --http is refused: a door on the network needs TLS and a password, which this version lacks.
var errHTTP = errors.New("--http needs TLS and a password or client certificate, which this version does not have " +
	"yet; for a test on this machine bind it to loopback and add --http-insecure")

// openHTTP opens the same handler on TCP: loopback only, and only when the operator says that it may be open.
func (d *daemon) openHTTP() error {
	host, _, err := net.SplitHostPort(d.opt.HTTP)
	if err != nil {
		return fmt.Errorf("--http %s: %w", d.opt.HTTP, err)
	}
	if !d.opt.HTTPInsecure || !isLoopback(host) {
		return errHTTP
	}
	l := d.act.take(d.opt.HTTP)
	if l == nil {
		if l, err = net.Listen("tcp", d.opt.HTTP); err != nil {
			return fmt.Errorf("--http %s: %w", d.opt.HTTP, err)
		}
	}
	d.httpAddr = l.Addr().String()
	srv := web.New(d.webOptions(true))
	d.log.Warn().Str("address", d.httpAddr).Msg("everybody on this machine may administer this queue manager (--http-insecure)")
	d.group.Go("http", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { srv.Close() })
		defer stop()
		return srv.Serve(l)
	})
	return nil
}

// metricsAddr is where containers of the vendor's have their metrics.
const metricsAddr = ":9157"

// openMetrics opens the metrics alone where a container's environment asks for them. A port that is taken ends no start: the queue
// manager is worth more than its figures.
func (d *daemon) openMetrics(addr string) {
	if !d.opt.Dev && !d.opt.Container || !strings.EqualFold(os.Getenv("MQ_ENABLE_METRICS"), "true") {
		return
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		d.log.Error().Err(err).Msgf("MQ_ENABLE_METRICS: there are no metrics on %s; free the port, or scrape /metrics of --http or admin.sock", addr)
		return
	}
	d.metricsAt = l.Addr().String()
	d.log.Info().Str("address", d.metricsAt).Msg("metrics for Prometheus, without password, at /metrics (MQ_ENABLE_METRICS)")
	srv := web.NewMetrics(d.webOptions(false))
	d.group.Go("metrics", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { srv.Close() })
		defer stop()
		return srv.Serve(l)
	})
}

// isLoopback takes literal addresses and localhost only: another name may resolve to anything tomorrow.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
