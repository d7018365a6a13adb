package obs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func fixed() time.Time { return time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC) }

func TestEventsReachTheErrorLog(t *testing.T) {
	dir := t.TempDir()
	el, err := OpenErrorLog(dir, "QM1", "9.4.1.0", 0, fixed)
	if err != nil {
		t.Fatal(err)
	}
	defer el.Close()
	var out bytes.Buffer
	log := NewLogger(&out, zerolog.InfoLevel, "QM1", el)
	log.Info().Msg("chatter")
	log.Info().Str(FieldAMQ, "AMQ5051I").Int("port", 1414).Msg("ready")
	log.Error().Err(errors.New("disk\nfull")).Msg("put failed")
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("JSON log has %d lines, want 3", n)
	}
	b, err := os.ReadFile(filepath.Join(dir, "AMQERR01.LOG"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{"AMQ5051I: ready", "port(1414)", "QMgr(QM1)", "EXPLANATION:", "ACTION:",
		"Time(2026-11-29T22:00:00.000Z)", "AMQ6109E: put failed: disk full"} {
		if !strings.Contains(text, want) {
			t.Errorf("error log lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "chatter") {
		t.Error("an event without identifier reached the error log")
	}
}

func TestErrorLogRotates(t *testing.T) {
	dir := t.TempDir()
	el, err := OpenErrorLog(dir, "QM1", "9.4.1.0", 2000, fixed)
	if err != nil {
		t.Fatal(err)
	}
	defer el.Close()
	for range 40 {
		el.Write("AMQ8003I", strings.Repeat("x", 100), nil)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(names) != 3 {
		t.Fatalf("files %v, want three", names)
	}
	for _, n := range names {
		if st, _ := os.Stat(n); st.Size() > 2000 {
			t.Errorf("%s has %d bytes, bound is 2000", n, st.Size())
		}
	}
}

func TestGroupTurnsPanicIntoError(t *testing.T) {
	var out bytes.Buffer
	g := NewGroup(context.Background(), NewLogger(&out, zerolog.InfoLevel, "QM1", nil))
	g.Go("waits", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	g.Go("breaks", func(context.Context) error { panic("boom") })
	err := g.Wait()
	if err == nil || !strings.Contains(err.Error(), "breaks: panic: boom") {
		t.Fatalf("Wait: %v", err)
	}
	if len(g.Running()) != 0 {
		t.Errorf("still running: %v", g.Running())
	}
	if !strings.Contains(out.String(), "AMQ6125E") {
		t.Error("the panic is not in the log")
	}
}

func TestGroupStopIsNoError(t *testing.T) {
	l := zerolog.Nop()
	g := NewGroup(context.Background(), &l)
	g.Go("loop", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	if r := g.Running(); len(r) != 1 {
		t.Errorf("running %v", r)
	}
	g.Stop()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func TestRegistryShowsSamples(t *testing.T) {
	r := NewRegistry(func(emit func(Sample)) {
		emit(Sample{Name: "ibmmq_queue_depth", Help: "h", Labels: []string{"queue"}, Values: []string{"A"}, Value: 7})
		emit(Sample{Name: "ibmmq_queue_depth", Help: "h", Labels: []string{"queue"}, Values: []string{"B"}, Value: 0})
	})
	fams, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fams {
		if f.GetName() == "ibmmq_queue_depth" {
			if len(f.Metric) != 2 || f.Metric[0].GetGauge().GetValue() != 7 {
				t.Errorf("family: %v", f)
			}
			return
		}
	}
	t.Error("ibmmq_queue_depth is missing")
}
