package daemon

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

// onePort is a host with a single port, on which one listener is bound at a time.
type onePort struct{ bound string }

func (p *onePort) Start(name, addr string, _ int) (string, error) {
	if p.bound != "" {
		return "", fmt.Errorf("%s is bound to %s", p.bound, addr)
	}
	p.bound = name
	return addr, nil
}

func (p *onePort) Stop(string) error {
	p.bound = ""
	return nil
}

// Developer objects get port 1414, whether create -p has given it to another listener or not, and at every start.
func TestDevListener(t *testing.T) {
	for name, script := range map[string]string{"fresh": "", "create -p": "DEFINE LISTENER(SYSTEM.LISTENER.TCP.1) TRPTYPE(TCP) CONTROL(QMGR)"} {
		t.Run(name, func(t *testing.T) {
			log := zerolog.New(io.Discard)
			dir := t.TempDir()
			for start := range 3 {
				st, err := store.Open(storeOptions(dir, Config{}))
				if err != nil {
					t.Fatal(err)
				}
				host := &onePort{}
				o := qmgr.Options{Name: "QM1", Dir: dir, Store: st, Clock: clock.Real(), Log: &log, User: "x", Listeners: host}
				if start == 0 {
					if err := qmgr.Create(o); err != nil {
						t.Fatal(err)
					}
				}
				qm, err := qmgr.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				d := &daemon{opt: Options{Name: "QM1", Dev: true}, qm: qm, log: &log, keys: &keys{log: &log, home: o.Dir}}
				if start == 0 && script != "" {
					mustRun(t, qm, script)
				}
				if err := qm.Start(context.Background()); err != nil {
					t.Fatal(err)
				}
				if start == 2 && host.bound != "DEV.LISTENER.TCP" {
					t.Errorf("the queue manager has bound %q", host.bound)
				}
				if err := d.runDev(context.Background(), &dev{objects: true}); err != nil {
					t.Fatal(err)
				}
				if host.bound != "DEV.LISTENER.TCP" {
					t.Errorf("start %d: %q is bound", start, host.bound)
				}
				if start == 2 && script == "" && strings.Contains(shown(t, qm, "DISPLAY LISTENER(*)"), portListener) {
					t.Error("another listener was made")
				}
				if err := qm.Stop(context.Background(), store.Immediate); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func shown(t *testing.T, qm *qmgr.Manager, text string) string {
	t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		t.Fatal(serr)
	}
	var b strings.Builder
	if err := mqsc.WriteReply(&b, c, qm.Execute(context.Background(), c, auth.System("x"))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A queue manager that a container brings takes clients: by the developer objects, or else by a listener of its own.
func TestCreation(t *testing.T) {
	for _, c := range []struct {
		o     Options
		noDev bool
		port  int
	}{
		{Options{Create: true}, false, 0},
		{Options{Create: true, Dev: true}, false, 0},
		{Options{Create: true, Dev: true}, true, 1414},
		{Options{Container: true}, false, 1414},
		{Options{Container: true, Dev: true}, false, 0},
		{Options{Container: true, Dev: true}, true, 1414},
		{Options{Container: true, Dev: true, Listen: ":1500"}, true, 0},
	} {
		t.Setenv("MQ_DEV", map[bool]string{true: "false"}[c.noDev])
		c.o.Name = "QM1"
		if got := c.o.Creation(); got.Port != c.port || got.Name != "QM1" {
			t.Errorf("%+v, MQ_DEV=false %v: port %d, want %d", c.o, c.noDev, got.Port, c.port)
		}
	}
}
