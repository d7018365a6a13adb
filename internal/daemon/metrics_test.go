package daemon

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

// MQ_ENABLE_METRICS opens the metrics of a start that takes a container's environment, and of no other; where the port is taken
// the start goes on.
func TestContainerMetrics(t *testing.T) {
	var text strings.Builder
	log, quiet := zerolog.New(&text), zerolog.Nop()
	st := store.OpenMem()
	o := qmgr.Options{Name: "QM1", Store: st, Clock: clock.Real(), Log: &quiet, User: "x"}
	if err := qmgr.Create(o); err != nil {
		t.Fatal(err)
	}
	qm, err := qmgr.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := qm.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	d := &daemon{opt: Options{Name: "QM1"}, qm: qm, store: st, log: &log, clk: clock.Real(), group: obs.NewGroup(ctx, &quiet)}
	d.listeners = newListeners(d.group, &quiet, nil)
	d.status.Store(StatusRunning)
	t.Cleanup(func() {
		end()
		if err := d.group.Wait(); err != nil {
			t.Error(err)
		}
		if err := qm.Stop(context.Background(), store.Immediate); err != nil {
			t.Error(err)
		}
	})
	const free = "127.0.0.1:0"
	t.Setenv("MQ_ENABLE_METRICS", "true")
	d.openMetrics(free)
	d.opt.Dev = true
	t.Setenv("MQ_ENABLE_METRICS", "false")
	d.openMetrics(free)
	if d.metricsAt != "" {
		t.Fatal("metrics were opened though nobody asked for them")
	}
	t.Setenv("MQ_ENABLE_METRICS", "true")
	d.openMetrics(free)
	c := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get("http://" + d.metricsAt + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(b), "ibmmq_qmgr_status") {
		t.Errorf("%v %s", err, b)
	}
	taken := d.metricsAt
	d.openMetrics(taken)
	if !strings.Contains(text.String(), "there are no metrics on "+taken) {
		t.Errorf("a port that is taken is not told of: %s", &text)
	}
}
