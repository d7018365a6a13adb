package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/store"
)

// StopRequest asks a running manager to end.
type StopRequest struct {
	Mode store.StopMode
	Why  string // for the log: "SIGTERM", "a command"
}

// preemptGrace is what a preemptive stop waits for the tidy way before the process ends as it stands.
const preemptGrace = 2 * time.Second

var (
	stoppingWords = map[store.StopMode]string{store.Quiesce: StatusQuiescing, store.Immediate: StatusEndingNow,
		store.Preempt: StatusEndingHard}
	endedWords = map[store.StopMode]string{store.Quiesce: StatusEndedNormal, store.Immediate: StatusEndedNow,
		store.Preempt: StatusEndedHard}
)

// request hands a stop request over. One more than anybody needs is dropped: a stop is under way then.
func (d *daemon) request(r StopRequest) {
	select {
	case d.stops <- r:
	default:
	}
}

// serve says ready, and runs until a stop request, a failed store or a failed loop.
func (d *daemon) serve(ctx context.Context) error {
	d.group.Go("socket", func(context.Context) error { return d.web.Serve(d.sock) })
	d.group.Go("watchdog", func(c context.Context) error { return d.notify.watchdog(c, d.alive) })
	if d.opt.Stops != nil {
		d.group.Go("signals", d.forward)
	}
	d.ready()
	first := StopRequest{Mode: store.Immediate}
	var fault error
	select {
	case first = <-d.stops:
	case <-ctx.Done():
		first.Why = "the caller"
	case <-d.store.Failed():
		first = StopRequest{Mode: store.Preempt, Why: "the store"}
		fault = fmt.Errorf("%w: a write or sync failed; qmgrd check %s says what is on disk", ErrStore, d.opt.Name)
		d.log.Error().Str(obs.FieldAMQ, "AMQ6119S").Msg("a write or sync of the store failed: the queue manager ends")
	case <-d.group.Context().Done():
		first.Why = "a loop"
		fault = context.Cause(d.group.Context())
		d.log.Error().Str(obs.FieldAMQ, "AMQ5008E").Err(fault).Msg("a part of the queue manager ended")
	}
	return errors.Join(fault, d.stop(first, fault))
}

func (d *daemon) alive() bool {
	select {
	case <-d.store.Failed():
		return false
	default:
		return true
	}
}

// forward takes requests from outside.
func (d *daemon) forward(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case r, ok := <-d.opt.Stops:
			if !ok {
				return nil
			}
			d.request(r)
		}
	}
}

// sendAway breaks the connections of clients that connect again by themselves, if that was asked for.
func (d *daemon) sendAway() {
	if d.reconnect.Load() {
		d.clients.srv.Reconnect()
	}
}

// stop ends the manager. Further requests while it ends can only make it quicker, or send clients away.
func (d *daemon) stop(r StopRequest, fault error) error {
	d.status.Store(stoppingWords[r.Mode])
	d.log.Info().Str("why", r.Why).Msgf("queue manager %s: %s", d.opt.Name, stoppingWords[r.Mode])
	d.group.Go("quiesce clients", func(context.Context) error {
		d.clients.quiesce()
		d.sendAway()
		return nil
	})
	d.notify.send("STOPPING=1\nSTATUS=" + stoppingWords[r.Mode])
	ctx, quicker := context.WithCancel(context.Background())
	defer quicker()
	type outcome struct {
		mode store.StopMode
		err  error
	}
	done := make(chan outcome, 1)
	go func() { done <- outcome{r.Mode, d.qm.Stop(ctx, r.Mode)} }()
	var hard <-chan time.Time
	if r.Mode == store.Preempt {
		hard = d.clk.After(preemptGrace)
	}
	mode := r.Mode
	for {
		select {
		case o := <-done:
			return d.ended(mode, errors.Join(o.err, fault) != nil, o.err)
		case <-hard:
			d.exit(mode, fault)
		case n := <-d.stops:
			d.sendAway()
			if n.Mode <= mode {
				continue
			}
			mode = n.Mode
			d.status.Store(stoppingWords[mode])
			d.log.Info().Str("why", n.Why).Msgf("queue manager %s: %s", d.opt.Name, stoppingWords[mode])
			quicker()
			if mode == store.Preempt {
				d.exit(mode, fault)
			}
		}
	}
}

// faultCode is the exit code of a process that ends as it stands because of a fault; run's error gives the same.
const faultCode = 10

// exit ends the process as it stands: what was acknowledged is on disk.
func (d *daemon) exit(mode store.StopMode, fault error) {
	word, code := endedWords[mode], 0
	if fault != nil {
		word, code = StatusEndedCrashed, faultCode
	}
	d.services.signalAll()
	_ = writeState(d.dir, state{word, 0}) // the process ends whatever comes of it
	d.opt.Exit(code)
}

// ended closes the doors that had to stay open while the manager was ending, so that status could be asked.
func (d *daemon) ended(mode store.StopMode, failed bool, err error) error {
	d.group.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	errs := []error{err}
	if mode == store.Preempt {
		errs = append(errs, d.web.Close())
	} else if serr := d.web.Shutdown(ctx); serr != nil && !errors.Is(serr, context.DeadlineExceeded) {
		errs = append(errs, serr)
	}
	d.sock.Close() // closed by Shutdown as a rule; this removes the file in any case
	d.listeners.closeAll()
	d.services.stopAll()
	errs = append(errs, d.group.Wait())
	word := endedWords[mode]
	if failed {
		word = StatusEndedCrashed
	}
	if err != nil {
		d.log.Error().Str(obs.FieldAMQ, "AMQ7017E").Err(err).Msg("the end of the queue manager did not go as it should")
	}
	d.log.Info().Str(obs.FieldAMQ, "AMQ8004I").Msgf("queue manager %s ended: %s", d.opt.Name, word)
	if err := writeState(d.dir, state{word, 0}); err != nil {
		d.log.Warn().Err(err).Msg("how the queue manager ended could not be written down")
	}
	errs = append(errs, d.errlog.Close())
	return errors.Join(errs...)
}

// signalMode is what a signal asks for: SIGINT quiesces, SIGTERM ends at once, a second one preempts.
func signalMode(s os.Signal, n int) store.StopMode {
	switch {
	case n > 1:
		return store.Preempt
	case s == os.Interrupt:
		return store.Quiesce
	}
	return store.Immediate
}

// ForwardSignals turns signals into stop requests until ctx ends.
func ForwardSignals(ctx context.Context, sigs <-chan os.Signal) <-chan StopRequest {
	out := make(chan StopRequest)
	go func() {
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case s := <-sigs:
				select {
				case out <- StopRequest{Mode: signalMode(s, n), Why: s.String()}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}
