package qmgr

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/store"
)

// testTime is when the managers of these tests are created.
var testTime = time.Date(2026, 5, 14, 14, 38, 28, 0, time.UTC)

// fakePorts stands in for the network.
type fakePorts struct {
	started map[string]string
	fail    error
}

func (p *fakePorts) Start(name, addr string, _ int) (string, error) {
	if p.fail != nil {
		return "", p.fail
	}
	if p.started == nil {
		p.started = map[string]string{}
	}
	p.started[name] = addr
	return addr, nil
}

func (p *fakePorts) Stop(name string) error { delete(p.started, name); return nil }

// admin is who gives the commands of the tests.
var admin = auth.Identity{User: "root", Admin: true}

// objRig is a manager on a store that stays when the manager is opened again.
type objRig struct {
	t     *testing.T
	m     *Manager
	st    store.Store
	clk   *clock.Fake
	ports *fakePorts
	opt   Options
}

// decodeDef reads one stored definition.
func decodeDef(b []byte) (*Def, store.QID, error) { return (&decoder{}).def(b) }

// vals returns all values by place.
func (d *Def) vals() []string {
	out := make([]string, len(d.Schema.Attrs))
	for i := range out {
		out[i] = d.val(i)
	}
	return out
}

func newObjRig(t *testing.T, change ...func(*Options)) *objRig {
	t.Helper()
	log := zerolog.Nop()
	r := &objRig{t: t, st: store.OpenMem(), clk: clock.NewFake(testTime), ports: &fakePorts{}}
	r.opt = Options{Name: "QM1", Dir: "/data/QM1", Store: r.st, Clock: r.clk, Log: &log, User: "root", Version: "test", Listeners: r.ports}
	for _, f := range change {
		f(&r.opt)
	}
	r.st = r.opt.Store
	if err := Create(r.opt); err != nil {
		t.Fatal(err)
	}
	r.open()
	return r
}

func (r *objRig) open() {
	r.t.Helper()
	m, err := Open(r.opt)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := m.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.m = m
	r.t.Cleanup(func() { m.cancel(); m.stopMessaging(); m.wg.Wait() })
}

// Submit makes the rig an executor of scripts.
func (r *objRig) Submit(ctx context.Context, c *attr.Command) mqsc.Pending {
	return r.m.Submit(ctx, c, admin)
}

// script runs MQSC and returns the report.
func (r *objRig) script(text string) (string, mqsc.Result) {
	r.t.Helper()
	var out bytes.Buffer
	res, err := mqsc.Run(context.Background(), strings.NewReader(text), &out, r, mqsc.RunOptions{Echo: true, Summary: true, QMgr: "QM1"})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.String(), res
}

// cmd runs one command.
func (r *objRig) cmd(text string) *attr.Reply {
	r.t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		r.t.Fatalf("%s: %v", text, serr)
	}
	return r.m.Execute(context.Background(), c, admin)
}

// ok runs one command that must succeed.
func (r *objRig) ok(text string) *attr.Reply {
	r.t.Helper()
	rep := r.cmd(text)
	if rep.Failed() {
		r.t.Fatalf("%s: %s", text, replyText(rep))
	}
	return rep
}

// refuse runs one command that must fail with a message.
func (r *objRig) refuse(id, text string) *attr.Reply {
	r.t.Helper()
	rep := r.cmd(text)
	if !rep.Failed() || len(rep.Msgs) == 0 || rep.Msgs[0].ID != id {
		r.t.Fatalf("%s: got %s, want failure %s", text, replyText(rep), id)
	}
	if rep.RC == 0 {
		r.t.Fatalf("%s: failure without a reason code", text)
	}
	return rep
}

// show runs a DISPLAY and returns its rows as KEY(value) texts.
func (r *objRig) show(text string) []string {
	r.t.Helper()
	rep := r.ok(text)
	var out []string
	for row := range rep.Rows {
		var b []string
		for i := range row.Items {
			b = append(b, mqsc.ItemText(&row.Items[i]))
		}
		out = append(out, strings.Join(b, " "))
	}
	return out
}

// want checks a DISPLAY row by row.
func (r *objRig) want(text string, rows ...string) {
	r.t.Helper()
	got := r.show(text)
	if strings.Join(got, "\n") != strings.Join(rows, "\n") {
		r.t.Errorf("%s:\ngot\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(rows, "\n"))
	}
}

func replyText(r *attr.Reply) string {
	if len(r.Msgs) == 0 {
		return "no message"
	}
	return r.Msgs[0].ID + " " + r.Msgs[0].Text()
}
