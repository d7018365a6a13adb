// Command testserver serves the client protocol for tests with real clients: from queues in memory, or with -engine from a
// queue manager that keeps nothing. Everybody is let in, so it listens on the loopback interface only.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/engine"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/pcf"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testserver:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("testserver", flag.ContinueOnError)
	port := f.Int("port", 0, "port; the address really bound is printed")
	name := f.String("qmgr", "QM1", "queue manager's name")
	queues := f.String("queues", "Q1,Q2", "local queues")
	share := f.Int("sharecnv", 10, "SHARECNV")
	plain := f.Bool("plain", true, "clients may send readable passwords")
	beat := f.Int("hbint", 300, "HBINT")
	user := f.String("user", "", "user:password that is asked for; only without -engine")
	level := f.Uint("level", 0, "highest protocol level, 0 for the highest known")
	real := f.Bool("engine", false, "serve a queue manager")
	if err := f.Parse(args); err != nil {
		return err
	}
	m := memory.New(*name, strings.Split(*queues, ",")...)
	m.Instance.ShareCnv, m.Instance.Heartbeat, m.Instance.PlainPasswords = int32(*share), int32(*beat), *plain
	m.Instance.Level = byte(*level)
	if u, p, ok := strings.Cut(*user, ":"); ok {
		m.Users = map[string]string{u: p}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := zerolog.New(os.Stderr).Level(zerolog.DebugLevel)
	var b fap.Backend = m
	if *real {
		qm, err := manager(ctx, *name, strings.Split(*queues, ","), &log)
		if err != nil {
			return err
		}
		var loops sync.WaitGroup
		defer loops.Wait()
		defer qm.Stop(context.Background(), store.Immediate)
		srv := pcf.NewServer(qm, clock.Real(), &log, "root")
		if err := srv.Start(ctx, func(loop func(context.Context) error) { loops.Go(func() { _ = loop(ctx) }) }); err != nil {
			return err
		}
		b = &engine.Backend{Manager: qm, Start: m.Channel,
			Identify: func(_ context.Context, r fap.ConnectRequest) (auth.Identity, error) {
				return auth.Identity{User: r.User, Admin: true, Origin: "channel " + r.Instance.Channel}, nil
			}}
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return fap.Serve(ctx, l, b, fap.Options{Log: &log})
}

// manager creates a queue manager with its SYSTEM objects and the queues named.
func manager(ctx context.Context, name string, queues []string, log *zerolog.Logger) (*qmgr.Manager, error) {
	o := qmgr.Options{Name: name, Dir: "memory", Store: store.OpenMem(), Clock: clock.Real(), Log: log, User: "root",
		Version: "test"}
	if err := qmgr.Create(o); err != nil {
		return nil, err
	}
	m, err := qmgr.Open(o)
	if err != nil {
		return nil, err
	}
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	for _, q := range queues {
		cmd, serr := mqsc.ParseCommand("DEFINE QLOCAL(" + q + ") DESCR('a test queue')")
		if serr != nil {
			return nil, fmt.Errorf("queue %s: %v", q, serr)
		}
		if r := m.Execute(ctx, cmd, auth.System("root")); r.Failed() {
			return nil, fmt.Errorf("queue %s: %v", q, r.Msgs)
		}
	}
	return m, nil
}
