package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/web"
)

func (e *env) createCmd() *cobra.Command {
	var o daemon.CreateOptions
	c := &cobra.Command{Use: "create QM", Short: "make a queue manager", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if o.DataDir, err = dataDir(c); err != nil {
				return err
			}
			o.Name = args[0]
			return e.create(o)
		}}
	c.Flags().StringVarP(&o.DeadQ, "dead-letter-queue", "u", "", "`queue` for messages that cannot be delivered")
	c.Flags().StringVarP(&o.DefXmitQ, "default-transmission-queue", "d", "", "default transmission `queue`")
	c.Flags().IntVarP(&o.Port, "port", "p", 0, "make a listener on `port` that starts with the queue manager")
	return c
}

func (e *env) create(o daemon.CreateOptions) error {
	n, err := daemon.Create(e.ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "queue manager %s created in %s\n", o.Name, o.DataDir)
	fmt.Fprintf(e.stdout, "default objects of %s: %d created. 0 replaced. 0 failed.\n", o.Name, n)
	return nil
}

// startFlags are the flags of start, and what they were given as, for a detached child.
type startFlags struct {
	opt    daemon.Options
	detach bool
	level  string
}

func (e *env) startCmd() *cobra.Command {
	var f startFlags
	c := &cobra.Command{Use: "start [QM]", Short: "run a queue manager", Args: cobra.MaximumNArgs(1),
		Long: "start runs a queue manager in the foreground. It prints one line, ready, on standard output when it\n" +
			"accepts work; its log goes to standard error. SIGINT ends it quiesced, SIGTERM immediately, a second\n" +
			"signal preemptively.\n\n" +
			"Without QM it is $MQ_QMGR_NAME, made when it is missing, as a container wants it. --dev makes the objects and\n" +
			"users that tutorials assume, and runs the scripts of /etc/mqm: docs/dev-setup.md.",
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if f.opt.DataDir, err = dataDir(c); err != nil {
				return err
			}
			if len(args) == 0 {
				if err := nameFromEnv(&f.opt); err != nil {
					return err
				}
				return e.start(f)
			}
			f.opt.Name = args[0]
			return e.start(f)
		}}
	c.Flags().BoolVar(&f.opt.Create, "create", false, "make the queue manager when it is missing")
	c.Flags().BoolVar(&f.opt.Dev, "dev", false, "make the developer objects, and users by MQ_APP_PASSWORD and MQ_ADMIN_PASSWORD")
	c.Flags().StringVar(&f.opt.Listen, "listen", "", "listen for clients and channels at `host:port`")
	c.Flags().StringVar(&f.opt.HTTP, "http", "", "open the HTTP interface at `host:port` too")
	c.Flags().BoolVar(&f.opt.HTTPInsecure, "http-insecure", false, "let everybody on this machine use --http on loopback")
	c.Flags().StringArrayVar(&f.opt.Scripts, "mqsc", nil, "run this MQSC `file`, or the *.mqsc of a directory, before the doors open")
	c.Flags().BoolVar(&f.opt.Lenient, "mqsc-lenient", false, "log a failing command of --mqsc and go on")
	c.Flags().BoolVar(&f.opt.LowLatency, "low-latency", false, "let no processor of the machine sleep while clients send much (/dev/cpu_dma_latency)")
	c.Flags().BoolVar(&f.opt.AcceptLoss, "accept-loss", false, "start on damaged data: give up what is damaged and everything that was written after it")
	c.Flags().BoolVar(&f.detach, "detach", false, "return when the queue manager is ready")
	c.Flags().StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	return c
}

// nameFromEnv takes what a container is told by its environment. LICENSE is for the vendor's image; it needs no answer
// here.
func nameFromEnv(o *daemon.Options) error {
	if o.Name = os.Getenv("MQ_QMGR_NAME"); o.Name == "" {
		return errors.New("which queue manager? Name it, or set MQ_QMGR_NAME")
	}
	o.Create, o.Container = true, true
	return nil
}

func (e *env) start(f startFlags) error {
	level, err := zerolog.ParseLevel(f.level)
	if err != nil {
		return fmt.Errorf("--log-level %s: use debug, info, warn or error", f.level)
	}
	f.opt.LogLevel = level
	if f.detach {
		return e.warnings(f, e.startDetached(f))
	}
	parent := daemon.NewDetached()
	sigs := make(chan os.Signal, 4)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(sigs)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	f.opt.Log = e.stderr
	if parent != nil {
		log, err := parent.Log(f.opt.DataDir, f.opt.Name)
		if err != nil {
			parent.Failed(err)
			return err
		}
		defer log.Close()
		f.opt.Log = log
	}
	f.opt.Stops = daemon.ForwardSignals(ctx, sigs)
	started := false
	f.opt.Ready = func() {
		started = true
		if parent != nil {
			parent.Ready()
			return
		}
		fmt.Fprintln(e.stdout, "ready")
	}
	err = daemon.Run(ctx, f.opt)
	switch {
	case err == nil:
		return nil
	case parent != nil && !started:
		parent.Failed(err)
	case errors.Is(err, daemon.ErrStore):
		return withCode(exitRefused, err)
	}
	return err
}

// startDetached makes the manager here, where its failure can be shown, and starts this program again for the rest.
func (e *env) startDetached(f startFlags) error {
	_, err := daemon.StatusOf(e.ctx, f.opt.DataDir, f.opt.Name)
	if errors.Is(err, daemon.ErrNoSuch) && f.opt.Create {
		_, err = daemon.Create(e.ctx, f.opt.Creation())
		if errors.Is(err, daemon.ErrExists) {
			err = nil // somebody else has just made it; whose start came first is told below
		}
	}
	if err != nil {
		return err
	}
	scripts, err := daemon.AbsArgs(f.opt.Scripts)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"start", f.opt.Name, "--data", f.opt.DataDir, "--log-level", f.level}
	if f.opt.Listen != "" {
		args = append(args, "--listen", f.opt.Listen)
	}
	if f.opt.Dev {
		args = append(args, "--dev")
	}
	if f.opt.LowLatency {
		args = append(args, "--low-latency")
	}
	if f.opt.HTTP != "" {
		args = append(args, "--http", f.opt.HTTP)
	}
	if f.opt.HTTPInsecure {
		args = append(args, "--http-insecure")
	}
	for _, s := range scripts {
		args = append(args, "--mqsc", s)
	}
	if f.opt.Lenient {
		args = append(args, "--mqsc-lenient")
	}
	if f.opt.AcceptLoss {
		args = append(args, "--accept-loss")
	}
	return daemon.Detach(e.ctx, f.opt.DataDir, f.opt.Name, self, args)
}

func (e *env) stopCmd() *cobra.Command {
	var quiesce, immediate, preempt, wait, reconnect bool
	c := &cobra.Command{Use: "stop QM", Short: "end a queue manager", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			mode, err := stopMode(quiesce, immediate, preempt)
			if err != nil {
				return err
			}
			return e.stopWith(dir, args[0], stopQuery(mode, reconnect), wait)
		}}
	c.Flags().BoolVarP(&quiesce, "quiesce", "c", false, "wait until applications have disconnected (default)")
	c.Flags().BoolVarP(&immediate, "immediate", "i", false, "end running calls and back out units of work")
	c.Flags().BoolVarP(&preempt, "preemptive", "p", false, "end without waiting for anything")
	c.Flags().BoolVarP(&wait, "wait", "w", false, "return when the queue manager has ended")
	c.Flags().BoolVarP(&reconnect, "reconnect", "r", false, "send clients away that connect again by themselves")
	return c
}

func stopMode(quiesce, immediate, preempt bool) (string, error) {
	n, mode := 0, "quiesce"
	for _, m := range []struct {
		on   bool
		word string
	}{{quiesce, "quiesce"}, {immediate, "immediate"}, {preempt, "preemptive"}} {
		if m.on {
			n++
			mode = m.word
		}
	}
	if n > 1 {
		return "", errors.New("give one of -c, -i and -p")
	}
	return mode, nil
}

func stopQuery(mode string, reconnect bool) url.Values {
	q := url.Values{"mode": {mode}}
	if reconnect {
		q.Set("reconnect", "true")
	}
	return q
}

func (e *env) stop(dir, qm, mode string, wait bool) error {
	return e.stopWith(dir, qm, stopQuery(mode, false), wait)
}

func (e *env) stopWith(dir, qm string, how url.Values, wait bool) error {
	cl, err := connect(dir, qm)
	if err != nil {
		return err
	}
	resp, err := cl.do(e.ctx, http.MethodPost, "/qmgrd/stop", how, nil)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body) // the answer is its status
	resp.Body.Close()
	if wait {
		return daemon.WaitEnded(e.ctx, dir, qm)
	}
	return nil
}

func (e *env) statusCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "status [QM]", Short: "show queue managers and how they are", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			list, err := e.statuses(dir, args)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(e.stdout).Encode(list)
			}
			e.printStatuses(list)
			return nil
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "JSON with process, socket and addresses")
	return c
}

func (e *env) statuses(dir string, names []string) ([]web.Status, error) {
	if len(names) == 0 {
		return daemon.Statuses(e.ctx, dir)
	}
	st, err := daemon.StatusOf(e.ctx, dir, names[0])
	return []web.Status{st}, err
}

func (e *env) printStatuses(list []web.Status) {
	for _, st := range list {
		fmt.Fprintf(e.stdout, "QMNAME(%s) STATUS(%s)\n", st.Name, st.Status)
		for _, w := range st.Warnings {
			fmt.Fprintf(e.stderr, "%s: %s\n", st.Name, w)
		}
	}
}

func (e *env) deleteCmd() *cobra.Command {
	return &cobra.Command{Use: "delete QM", Short: "remove a stopped queue manager and all its messages",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			return e.remove(dir, args[0])
		}}
}

func (e *env) remove(dir, qm string) error {
	if err := daemon.Delete(dir, qm); err != nil {
		return err
	}
	if def, err := paths.Default(dir); err == nil && def == qm {
		if err := paths.SetDefault(dir, ""); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.stdout, "queue manager %s deleted\n", qm)
	return nil
}

func (e *env) exportCmd() *cobra.Command {
	var all, mqOnly bool
	var file string
	c := &cobra.Command{Use: "export QM", Short: "print the MQSC that makes the same objects again",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			return e.export(dir, args[0], all, mqOnly, file)
		}}
	c.Flags().BoolVar(&all, "all", false, "every attribute, and the SYSTEM objects")
	c.Flags().BoolVar(&mqOnly, "mq-only", false, "without the verbs that only qmgrd knows")
	c.Flags().StringVarP(&file, "output", "o", "", "write to `file`")
	return c
}

// export writes to a file under another name first, so that a failure leaves the old one.
func (e *env) export(dir, qm string, all, mqOnly bool, file string) error {
	cl, err := connect(dir, qm)
	if err != nil {
		return err
	}
	q := url.Values{"all": {fmt.Sprint(all)}, "mq-only": {fmt.Sprint(mqOnly)}}
	resp, err := cl.do(e.ctx, http.MethodGet, "/qmgrd/export", q, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if file == "" {
		_, err = io.Copy(e.stdout, resp.Body)
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".export-")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, resp.Body)
	if err = errors.Join(err, f.Chmod(0o640), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (e *env) checkCmd() *cobra.Command {
	return &cobra.Command{Use: "check QM", Short: "verify what a stopped queue manager has on disk",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			problems, err := daemon.Check(dir, args[0])
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintln(e.stdout, p)
			}
			if n := len(problems); n > 0 {
				return withCode(exitRefused, fmt.Errorf("%d faults in %s", n, args[0]))
			}
			fmt.Fprintf(e.stdout, "%s: clean\n", args[0])
			return nil
		}}
}

func (e *env) versionCmd() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "print version, platform and Go version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.version() }}
}

func (e *env) version() error {
	_, err := fmt.Fprintf(e.stdout, "Name:     qmgrd\nVersion:  %s\nLevel:    %s\nPlatform: %s/%s\nGo:       %s\n",
		daemon.Version, daemon.VRMF, runtime.GOOS, runtime.GOARCH, strings.TrimPrefix(runtime.Version(), "go"))
	return err
}
