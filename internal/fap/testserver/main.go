// Command testserver serves the client protocol from queues in memory, for tests with real clients.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testserver:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("testserver", flag.ContinueOnError)
	addr := f.String("listen", "127.0.0.1:0", "address; the one really bound is printed")
	name := f.String("qmgr", "QM1", "queue manager's name")
	queues := f.String("queues", "Q1,Q2", "local queues")
	share := f.Int("sharecnv", 10, "SHARECNV")
	plain := f.Bool("plain", true, "clients may send readable passwords")
	beat := f.Int("hbint", 300, "HBINT")
	level := f.Uint("level", 0, "highest protocol level, 0 for the highest known")
	user := f.String("user", "", "user:password that is asked for")
	if err := f.Parse(args); err != nil {
		return err
	}
	m := memory.New(*name, strings.Split(*queues, ",")...)
	m.Instance.ShareCnv, m.Instance.Heartbeat, m.Instance.PlainPasswords = int32(*share), int32(*beat), *plain
	m.Instance.Level = byte(*level)
	if u, p, ok := strings.Cut(*user, ":"); ok {
		m.Users = map[string]string{u: p}
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := zerolog.New(os.Stderr).Level(zerolog.DebugLevel)
	return fap.Serve(ctx, l, m, fap.Options{Log: &log})
}
