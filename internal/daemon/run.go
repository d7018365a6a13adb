package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/web"
)

// daemon is one running manager with everything around it.
type daemon struct {
	opt    Options
	dir    string
	cfg    Config
	clk    clock.Clock
	log    *zerolog.Logger
	errlog *obs.ErrorLog
	notify notifier
	act    *activation
	lock   io.Closer

	group     *obs.Group
	listeners *listeners
	clients   *clients
	keys      *keys
	services  *services
	commands  *commandServer
	store     store.Store
	qm        *qmgr.Manager
	web       *web.Server
	sock      *paths.Listener
	httpAddr  string
	metricsAt string // address of the metrics, when a container asks for them

	before string       // how the last process ended; a start that fails says no more than that
	status atomic.Value // string
	stops  chan StopRequest
	// reconnect says that the end sends away the clients that connect again by themselves (endmqm -r).
	reconnect atomic.Bool
}

// Run starts a manager, says when it is ready, and returns when it has ended. An error before ready means that
// nothing was started.
func Run(ctx context.Context, o Options) error {
	dir, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	d := &daemon{opt: o, dir: dir, clk: clock.Real(), notify: newNotifier(clock.Real()), act: newActivation(),
		stops: make(chan StopRequest, 4)}
	defer d.act.closeRest()
	if d.opt.Exit == nil {
		d.opt.Exit = os.Exit
	}
	if d.lock, err = lock(dir, o.Name); err != nil {
		return err
	}
	defer d.lock.Close()
	if err := d.start(ctx); err != nil {
		return errors.Join(err, d.abandon())
	}
	return d.serve(ctx)
}

// prepare finds the manager's folder, and makes the manager when asked to.
func prepare(ctx context.Context, o Options) (string, error) {
	dir, err := find(o.DataDir, o.Name)
	if errors.Is(err, ErrNoSuch) && o.Create {
		_, err = Create(ctx, o.Creation())
		if err != nil && !errors.Is(err, ErrExists) {
			return "", err
		}
		return find(o.DataDir, o.Name)
	}
	return dir, err
}

// start brings everything up to the point where the doors can open.
func (d *daemon) start(ctx context.Context) error {
	d.status.Store(StatusStarting)
	cfg, err := ReadConfig(d.dir)
	if err != nil {
		return err
	}
	d.cfg = cfg
	tuneMemory(cfg, os.Getenv)
	d.before = leftBehind(d.dir)
	if err := writeState(d.dir, state{StatusRunning, os.Getpid()}); err != nil {
		return err
	}
	if d.errlog, err = obs.OpenErrorLog(filepath.Join(d.dir, errorsDir), d.opt.Name, VRMF, cfg.ErrorLogSize,
		d.clk.Now); err != nil {
		return err
	}
	d.log = obs.NewLogger(d.opt.Log, d.opt.LogLevel, d.opt.Name, d.errlog)
	for _, w := range cfg.Warnings {
		d.log.Warn().Str(obs.FieldAMQ, "AMQ7090W").Msg(w)
	}
	d.group = obs.NewGroup(context.WithoutCancel(ctx), d.log)
	d.listeners = newListeners(d.group, d.log, d.act)
	d.services = newServices(d.log, d.dir, d.clk)
	d.services.endLeftovers()
	so := storeOptions(d.dir, cfg)
	if d.opt.FS != nil {
		so.FS = d.opt.FS
	}
	so.Clock, so.AcceptLoss = d.clk, d.opt.AcceptLoss
	so.Notice = func(text string) { d.log.Warn().Str(obs.FieldAMQ, "AMQ7048W").Msg(text) }
	if d.store, err = store.Open(so); err != nil {
		d.log.Error().Str(obs.FieldAMQ, "AMQ7017E").Err(err).Msg("the store cannot be opened")
		return d.storeError(err)
	}
	dev, err := d.devSetup()
	if err != nil {
		return err
	}
	d.keys = &keys{log: d.log, home: d.dir, pass: cfg.KeyPasswordFile}
	loaded := loading(os.Getenv)
	d.qm, err = qmgr.Open(d.managerOptions())
	loaded()
	if err != nil {
		return err
	}
	d.log.Info().Str(obs.FieldAMQ, "AMQ5041I").Msgf("queue manager %s is starting", d.opt.Name)
	if err := d.qm.Start(ctx); err != nil {
		return err
	}
	if err := d.loadKeys(); err != nil {
		// Channels without TLS work; those with it refuse their clients, and say why.
		d.log.Error().Str(obs.FieldAMQ, "AMQ9657E").Err(err).Msg("keys and certificates cannot be used")
	}
	if err := d.runDev(ctx, dev); err != nil {
		return err
	}
	if err := d.runScripts(ctx); err != nil {
		return err
	}
	d.startCommandServer(ctx)
	return d.openDoors()
}

// storeError says what to do about a store that cannot be opened.
func (d *daemon) storeError(err error) error {
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return fmt.Errorf("%w: another process, perhaps qmgrd check, has the data of %s open: %v", ErrRunning, d.opt.Name, err)
	case errors.Is(err, store.ErrCorrupt):
		return fmt.Errorf("the data of queue manager %s is damaged: %w. qmgrd check %s lists every fault; restore the directory "+
			"from a backup, or start with --accept-loss: it gives up what is damaged, and everything that was written after it", d.opt.Name, err, d.opt.Name)
	}
	return err
}

func storeOptions(dir string, cfg Config) store.Options {
	return store.Options{Dir: dir, FS: vfs.OS(), MemoryLimit: cfg.MemoryLimit, SegmentSize: cfg.SegmentSize}
}

func (d *daemon) managerOptions() qmgr.Options {
	name, group := account()
	return qmgr.Options{Name: d.opt.Name, Dir: d.dir, Store: d.store, Clock: d.clk, Log: d.log, User: name,
		Group: group, Version: Version, Inserts: d.cfg.Inserts, Listeners: d.listeners, Services: d.services,
		Security: securityHost{d}, HostNames: hostNames}
}

// account is the user and group this process runs as; numbers where the system has no names for them.
func account() (name, group string) {
	name, group = strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid())
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return name, group
}

// openDoors opens the socket, --listen and --http, in this order, and then lets connections in.
func (d *daemon) openDoors() error {
	d.web = web.New(d.webOptions(false))
	if err := d.openSocket(); err != nil {
		return err
	}
	if d.opt.Listen != "" {
		if _, err := d.listeners.Start(commandLineListener, d.opt.Listen, 0); err != nil {
			return fmt.Errorf("--listen %s: %w", d.opt.Listen, err)
		}
	}
	if d.opt.HTTP != "" {
		if err := d.openHTTP(); err != nil {
			return err
		}
	}
	d.openMetrics(metricsAddr)
	d.clients = newClients(d.qm, d.log, d.clk, d.keys, d.lowLatency())
	d.clients.plainEverywhere = d.cfg.PlainPasswords || d.opt.Dev
	d.clients.maxChannels, d.clients.maxActive = int(d.cfg.MaxChannels), int(d.cfg.MaxActiveChannels)
	d.qm.SetClientHost(d.clients)
	d.listeners.open(d.clients.serve)
	return nil
}

// lowLatency keeps the processors awake while clients send much, if that is wanted. The result is told of what they send.
func (d *daemon) lowLatency() (arrived func()) {
	if !d.cfg.LowLatency && !d.opt.LowLatency {
		return nil
	}
	a := newAwake(d.clk, d.log, keepAwake)
	if !a.possible() {
		return nil
	}
	d.group.Go("low latency", a.watch)
	return a.note
}

// commandLineListener is the name of what --listen binds; no LISTENER object can have it.
const commandLineListener = "--listen"

func (d *daemon) webOptions(loopbackAdmin bool) web.Options {
	return web.Options{Manager: d.qm, Store: d.store, Name: d.opt.Name, Clock: d.clk, Log: d.log,
		Admins:    web.Admins{UID: os.Getuid(), Group: d.cfg.AdminGroup},
		Status:    d.statusNow,
		Stop:      func(m store.StopMode) { d.request(StopRequest{Mode: m, Why: "a command"}) },
		Reconnect: func() { d.reconnect.Store(true) }, Commands: d.commands, LoopbackAdmin: loopbackAdmin}
}

// statusNow is what status shows.
func (d *daemon) statusNow() web.Status {
	st := web.Status{Name: d.opt.Name, Status: d.status.Load().(string), PID: os.Getpid(),
		Socket: paths.Socket(d.opt.DataDir, d.opt.Name), Listeners: []web.Listener{}, HTTP: d.httpAddr}
	for _, b := range d.listeners.bound() {
		st.Listeners = append(st.Listeners, web.Listener(b))
	}
	st.Warnings = d.listeners.warnings()
	return st
}

// ready tells everybody.
func (d *daemon) ready() {
	d.status.Store(StatusRunning)
	d.log.Info().Str(obs.FieldAMQ, "AMQ5051I").Int("pid", os.Getpid()).Str("version", Version).
		Msgf("queue manager %s accepts work", d.opt.Name)
	d.notify.send("READY=1\nSTATUS=Running\nMAINPID=" + strconv.Itoa(os.Getpid()))
	if d.opt.Ready != nil {
		d.opt.Ready()
	}
	d.group.Go("memory", func(context.Context) error { debug.FreeOSMemory(); return nil }) // what loading left behind
}

// abandon takes down a start that failed.
func (d *daemon) abandon() error {
	var errs []error
	if d.sock != nil {
		d.sock.Close()
	}
	if d.group != nil {
		d.group.Stop()
		d.listeners.closeAll()
		d.services.stopAll()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	switch {
	case d.qm != nil:
		errs = append(errs, d.qm.Stop(ctx, store.Immediate))
	case d.store != nil:
		// Nothing was loaded: what the store kept must stay kept for the next start.
		errs = append(errs, d.store.Close(store.Immediate, func(store.QID) bool { return true }))
	}
	if d.group != nil {
		errs = append(errs, d.group.Wait())
	}
	if d.errlog != nil {
		errs = append(errs, writeState(d.dir, state{d.before, 0}), d.errlog.Close())
	}
	return errors.Join(errs...)
}

// stopGrace bounds how long the parts of a stop may take that should take no time.
const stopGrace = 10 * time.Second
